#!/usr/bin/perl

# What has happened to an nginx before anybody looked: the resource events,
# through reloads and crashes.
#
# Not here: the ring, and each source of events (t/unit); when findings rise and
# fall (nginx/findings.t).

use JppTest;

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on; }';
my $start = 'start nginx, or another build of this module, has started';
my $time = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;


sub events($nginx, $query = undef) {
    return $nginx->json('/debug/pprof/events?format=json&top=1000'
                        . ($query // ''));
}


# "EVENT TEXT" of each event, the oldest first.

sub told($nginx) {
    return [ map { "$_->{event} $_->{text}" }
             grep { $_->{event} !~ /stall|finding|over/ }
             reverse @{ events($nginx)->{events} } ];
}


sub change($nginx, $query) {
    return $nginx->get("/debug/pprof/control?$query", body => '')->{status};
}


test 'a life' => sub {
    my $nginx = JppNginx->start(
        workers => 2,
        http => 'limit_req_zone $arg_key zone=keys:32k rate=1000r/s;',
        server => "$tree location /key { limit_req zone=keys burst=1000;
                                         empty_gif; }");

    # it may have been reloaded already

    my @before = @{ told($nginx) };
    my $old = 1 + grep { /^reload / } @before;
    my $new = $old + 1;

    is($before[0], $start, 'a start');

    $nginx->reload;
    is(change($nginx, 'stall=200ms'), 200, 'a change');
    is(change($nginx, 'owners=off&worker=0'), 200, 'another');

    is_deeply(told($nginx),
              [ @before,
                "reload generation $new of the configuration",
                "ended the last worker of generation $old has exited",
                'control stall=200ms, in all workers',
                'control owners=off, in some workers' ],
              'a reload, and two changes');

    my ($victim) = $nginx->worker_pids;

    kill 'KILL', $victim;

    ok(wait_until(sub { events($nginx)->{counts}{crash} }), 'a crash is seen');

    my ($crash) = grep { $_->{event} eq 'crash' } @{ events($nginx)->{events} };

    is($crash->{pid}, $victim, 'whose it was');
    is($crash->{generation}, $new, 'of which generation');
    like($crash->{text}, qr/^the worker crashed or was killed, after \d+ s (?#
                           )and with an RSS of [\d.]+ MiB$/, 'in words');
    like($crash->{time}, qr/^$time$/, 'and when');

    # a zone that is full is a finding

    my $client = $nginx->client;

    $client->get('/key?key=' . $_ . 'x' x 800) for 1 .. 60;

    ok(wait_until(sub { grep { $_->{event} eq 'finding'
                               && $_->{text} =~ /^zone-full: zone keys / }
                        @{ events($nginx)->{events} } }), 'a finding is one');

    my $table = $nginx->get('/debug/pprof/events?cols=1000')->{body};

    like($table, qr/^time +event +worker +pid +text\n/, 'as a table');
    like($table, qr/^$time +crash +\d+ +$victim +the worker crashed /m,
         'with a row each');
    is_deeply([ grep { length > 80 }
                split /\n/, $nginx->get('/debug/pprof/events')->{body} ], [],
              'in lines of 80 columns');

    my $metrics = $nginx->get('/debug/pprof/metrics')->{body};

    like($metrics, qr/^nginx_events_total\{event="crash"\} 1$/m, 'counted');
    like($metrics, qr/^nginx_events_total\{event="control"\} 2$/m, 'each type');

    $nginx->stop(alerts => 'exited on signal 9');
};


test 'many changes' => sub {
    my $nginx = JppNginx->start(server => $tree);

    change($nginx, 'purge=1') for 1 .. 300;

    my $events = events($nginx);

    is($events->{counts}{control}, 300, 'all are counted');
    is(scalar(grep { $_->{event} ne 'stall' } @{ $events->{events} }), 256,
       'and 256 kept');
    like($nginx->get('/debug/pprof/events?cols=1000')->{body},
         qr/^2\d\d older events: top=1000 shows them$/m, '20 are shown');
};


# An event is whole, or it is not there.

test 'workers that are killed as they write' => sub {
    my $nginx = JppNginx->start(workers => 4, server => $tree);

    for (1 .. 40) {
        my @clients = $nginx->clients(4, '/debug/pprof/control',
                                      body => 'purge=1');

        my @pids = $nginx->worker_pids;

        kill 'KILL', $pids[rand @pids] if @pids;

        wait_until(sub { 4 == grep { 1 } $nginx->worker_pids });
    }

    my $events = events($nginx);
    my @odd = grep {
        "$_->{event} $_->{text}" !~ /^(?:\Q$start\E
            | control\ purge=1,\ in\ all\ workers
            | crash\ the\ worker\ crashed\ or\ was\ killed
              (?:,\ after\ \d+\ s\ and\ with\ an\ RSS\ of\ \S+\ MiB)?
            | (?:reload|ended|finding|over|stall)\ .+)$/x
            || $_->{time} !~ /^$time$/
    } @{ $events->{events} };

    is_deeply(\@odd, [], 'every event is whole');
    cmp_ok($events->{counts}{crash}, '>=', 20, 'of very many');

    $nginx->stop(alerts => 'exited on signal 9');
};


# A reload loads the module from another file, while a client keeps an old
# worker: both builds go on, each with its own events.

test 'another build of the module', 'jemalloc',
     sub { scalar loaded() } => sub {
    my ($version) = slurp("$root/src/core/base/jpp_version.h")
                    =~ /define JPP_VERSION\s+"(.*)"/;
    my $other = $version =~ tr/0-9/1-90/r;
    my $file = "$build/upgraded-$$.so";

    spew($file, slurp((loaded())[0]) =~ s/\Q$version\E/$other/gr);

    my $nginx = JppNginx->start(server => $tree);
    my $client = $nginx->client;

    change($nginx, 'purge=1');

    local $ENV{TEST_NGINX_LOAD_MODULES} = $file;

    $client->send_request('/debug/pprof/profile?seconds=2');
    $nginx->reload(is_kept => 1);

    is_deeply(told($nginx), [ $start ], 'its events begin anew');
    like($nginx->get('/debug/pprof/status')->{body},
         qr/"module": "\Q$other\E"/, 'the new build serves');
    is($client->response->{status}, 200, 'an old worker answers');

    $nginx->stop;
    unlink $file;
};


test 'parameters' => sub {
    my $nginx = JppNginx->start(server => $tree);

    is_answer($nginx->get('/debug/pprof/events?format=html'), 400,
              qr/^format must be top or json$/, 'there are two formats');
    is($nginx->get('/debug/pprof/events?top=0')->{status}, 400, 'no rows');

    my $head = $nginx->get('/debug/pprof/events', method => 'HEAD');

    is("$head->{status} $head->{headers}{'content-type'}",
       '200 text/plain; charset=utf-8', 'a head');
};
