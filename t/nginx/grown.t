#!/usr/bin/perl

# Whose memory has grown: the resource grown, of an nginx whose clock goes ten
# times as fast (t/lib/jpp_clock.c).
#
# Not here: what is a rise, and what only comes and goes (t/unit).

use JppTest;

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on; }';


sub grown($nginx, $query = '') {
    return $nginx->json("/debug/pprof/grown?format=json&top=100$query");
}


sub owner($grown, $name) {
    my ($owner) = grep { $_->{owner} =~ $name } @{ $grown->{owners} };

    return $owner;
}


test 'connections that hold more and more' => sub {
    my $nginx = JppNginx->start(
        workers => 2,
        preload => [ JppRun::preloads(), $JppRun::clock ],
        env => { JPP_CLOCK => 10 },
        http => 'client_header_buffer_size 256k; client_header_timeout 10h;',
        server => "server_name growing; $tree");

    my $first;

    ok(wait_until(sub { ($first = grown($nginx))->{interval} == 5 }),
       'points of five seconds');
    like($first->{text}, qr/^(?:No rate is known yet: it needs 6 points, and (?#
                          )\d are recorded|No owner keeps growing)$/,
         'at first no rate is known');

    # a header that does not end

    my (@clients, $grown);

    my $text = qr/^server growing(?: \(nginx\.conf:\d+\))? grows by (?#
                 )\S+ [MG]iB an hour/;

    ok(wait_until(sub {
        push @clients, my $client = $nginx->client;

        $client->write("GET /x HTTP/1.1\r\nHost: growing\r\nX: "
                       . 'x' x 200_000);
        select undef, undef, undef, 0.1;

        ($grown = grown($nginx))->{text} =~ $text;
    }), 'the owner is named');

    my $server = owner($grown, qr/^server growing$/);

    ok($server->{rising}, 'it rises');
    is($grown->{owners}[0]{owner}, 'server growing', 'first of all');
    cmp_ok($server->{now}, '<=', @clients * 300_000, 'not more than it holds');
    cmp_ok($server->{now} - $server->{then}, '>=', 1 << 20, 'it has more now');
    cmp_ok($server->{per_hour}, '>', $server->{error}, 'a rate, and its error');
    ok($grown->{all}{rising}, 'so does all of nginx');

    my $table = $nginx->get('/debug/pprof/grown?cols=1000')->{body};

    like($table, qr/$text/, 'a sentence');
    like($table, qr/^since \S+Z, [\d.]+ s ago: nginx held /m,
         'since when');
    like($table, qr/^ *\S+ [KM]iB +\d+ % .* server growing /m, 'and a table');
    is_deeply([ grep { length > 80 }
                split /\n/, $nginx->get('/debug/pprof/grown')->{body} ], [],
              'in lines of 80 columns');

    my $since = grown($nginx, '&since=5s');

    cmp_ok($since->{seconds}, '>=', 5, 'since five seconds');
    cmp_ok(grown($nginx, '&since=7d')->{seconds}, '>', $since->{seconds},
           'since all times');

    # what the owners held outlives the workers

    kill 'KILL', $_ for $nginx->worker_pids;

    ok(owner(grown($nginx), qr/^server growing$/)->{now} > 1 << 20,
       'after the worker was killed, too');

    $nginx->stop(alerts => 'exited on signal 9');
};


test 'nothing grows' => sub {
    my $nginx = JppNginx->start(
        preload => [ JppRun::preloads(), $JppRun::clock ],
        env => { JPP_CLOCK => 10 }, server => $tree);

    my $grown;

    ok(wait_until(sub { ($grown = grown($nginx))->{text} !~ /^No rate/ }),
       'a rate is known');
    is($grown->{text}, 'No owner keeps growing', 'and it is none');

    $nginx->stop;
};


test 'parameters' => sub {
    my $nginx = JppNginx->start(server => $tree);

    is_answer($nginx->get('/debug/pprof/grown?since=5'), 400,
              'since must be a time such as 90s, 15m, 2h or 7d', 'no time');
    is($nginx->get('/debug/pprof/grown?format=html')->{status}, 400,
       'two formats');
};
