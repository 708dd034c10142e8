#!/usr/bin/perl

# Findings where nobody asks for memory: in the error log, once as they rise; in
# status, and in the comments of profiles.
#
# Not here: the numbers at which each rule begins to hold (t/unit), memory
# (nginx/memory.t), the page (page/console.t).

use JppTest;

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on; }';

# some 10 MB of configuration
my $large = large_map(12000);

# where memory is limited by version 1
my $cgroup = '/sys/fs/cgroup/memory';


sub logged($nginx, $id) {
    return slurp("$nginx->{prefix}/logs/error.log")
           =~ /^.*? (\[\w+\] .*jemalloc_pprof: finding $id: .*)$/mg;
}


# Those that RESOURCE has.

sub findings($nginx, $resource) {
    return { map { $_->{id} => $_ }
             @{ $nginx->json("/debug/pprof/$resource")->{findings} } };
}


# How many connections an example of docs/memory.md has, and the line that it
# shows, with numbers that may be others.

sub example($name) {
    my ($text) = slurp("$root/docs/memory.md")
                 =~ /^### \Q$name\E\n(.*?)^##/ms
        or die "docs/memory.md has no example \"$name\"\n";
    my ($connections) = $text =~ /^ *worker_connections (\d+);$/m;
    my ($line) = $text =~ /^(!.*)$/m;

    $line =~ s/(\d+(?:\.\d+)? [KMG]iB)|([^\d]+|\d+)/
               defined $1 ? '[\d.]+ [KMG]iB' : quotemeta $2/ge;

    return ($connections, qr/^$line$/m);
}


sub comments($nginx) {
    return $nginx->get('/debug/pprof/heap?format=top&cols=1000')->{body};
}


# By two at once, by a form, and what is no finding.

sub acknowledged($nginx) {
    my @clients = $nginx->clients(2, '/debug/pprof/control',
                                  body => 'acknowledge=oom-kill');
    my @answers = map { decode_json($_->response->{body}) } @clients;

    is($answers[0]{id}, 'oom-kill', 'two acknowledge it');
    like($answers[0]{acknowledged}, qr/^20\S+Z$/, 'at a time');
    is_deeply($answers[1], $answers[0], 'both are told the same');

    my $finding = findings($nginx, 'status')->{'oom-kill'};

    is($finding->{acknowledged}, $answers[0]{acknowledged}, 'status has it');
    is($finding->{since}, $answers[0]{since}, 'and since when it holds');

    my $verdict = $nginx->calm;

    is($verdict->{id}, 'zone-full', 'another one takes first place');
    is($verdict->{owner}, 'zone keys', 'with its owner');
    is($verdict->{link}, 'memory?fields=zones', 'and its link');
    like($verdict->{since}, qr/^20\S+Z$/, 'and its time');
    like(table($nginx), qr/^since \S+, acknowledged at \S+Z$/m,
         'memory shows it as acknowledged');

    my $form = $nginx->ask('POST', '/debug/pprof/control',
        'Accept: text/html', \'acknowledge=zone-full');

    is($form->{status}, 303, 'a form of the console');

    my ($query) = ($form->{headers}{location} // '')
                  =~ m{^\./(\?ok=0&of=0&bytes=0&acknowledge=(.*))#\2$};

    my $page = $nginx->get('/debug/pprof/' . ($query // ''),
                           headers => "Accept: text/html\r\n")->{body};

    like($page, qr/The finding zone-full is acknowledged until it is over\./,
         'the console says what was done');
    like($page, qr/id="zone-full">.*?, acknowledged at \S+Z\.<\/p>/s,
         'and when');
    unlike($page, qr/value="zone-full"/, 'which needs no button any more');
    like($nginx->calm->{text}, qr/; [2-4] findings are acknowledged$/,
         'all are acknowledged');
    is($nginx->calm->{severity}, 'Healthy', 'which is as good as healthy');

    refused($nginx, 'acknowledge=swap', 409, qr/^the finding swap does not (?#
            )hold: it is over, or so new that it is /);
    refused($nginx, 'acknowledge=nothing', 400, qr/^acknowledge must be the (?#
            )id of a finding, as status lists them$/);
    refused($nginx, 'acknowledge=', 400, qr/^acknowledge must be the id of /);
    refused($nginx, 'acknowledge=swap&purge=1', 400, qr/^acknowledge is (?#
            )about a finding, snapshot about nginx, and the rest /);
    refused($nginx, 'acknowledge=swap&acknowledge=swap', 400,
            qr/^acknowledge is given twice: give it once$/);
}


sub refused($nginx, $query, $status, $like) {
    my $answer = $nginx->get("/debug/pprof/control?$query", body => '');

    is($answer->{status}, $status, $query);
    like($answer->{body} =~ s/\n$//r, $like, 'and why');
}


sub table($nginx) {
    return $nginx->get('/debug/pprof/memory?format=top&cols=1000')->{body};
}


test 'a zone that is full, and a worker that vanished' => sub {
    my $nginx = JppNginx->start(
        workers => 2,
        http => 'limit_req_zone $arg_key zone=keys:32k rate=1000r/s;',
        server => "$tree location /key { limit_req zone=keys burst=1000;
                                         empty_gif; }");
    my $client = $nginx->client;

    unlike(comments($nginx), qr/finding zone-full/, 'an empty zone');
    is(findings($nginx, 'status')->{'zone-full'}, undef, 'status has nothing');

    $client->get("/key?key=$_" . 'x' x 60) for 1 .. 300;

    ok(wait_until(sub { logged($nginx, 'zone-full') }, 30), 'is logged');

    my $line = (logged($nginx, 'zone-full'))[0] // '';

    like($line, qr/^\[warn\] /, 'as a warning');
    like($line, qr/: zone keys has .* left in whole pages, and .*\. Enlarge /,
         'with its numbers and what to do');

    my $finding = findings($nginx, 'status')->{'zone-full'};

    like($finding->{because}, qr/^zone keys has /, 'status has it');
    like($finding->{fix}, qr/^Enlarge /, 'and the fix');
    like(comments($nginx),
         qr/finding zone-full: a zone of shared memory is full: zone keys has /,
         'and so have profiles');

    # the worker that leads looks again, and finds more

    vanished($nginx);
    acknowledged($nginx);

    is(scalar(() = logged($nginx, 'zone-full')), 1, 'it is logged once');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


# Nobody asks: the worker that leads finds out.

sub vanished($nginx) {
    my (undef, $pid) = $nginx->worker_pids;

    is(scalar(() = logged($nginx, 'oom-kill')), 0, 'nobody has vanished');

    kill 'KILL', $pid;

    ok(wait_until(sub { logged($nginx, 'oom-kill') }, 30),
       'a worker that was killed is logged');

    my $line = (logged($nginx, 'oom-kill'))[0] // '';

    like($line, qr/^\[error\] /, 'as an error');
    like($line, qr/: at 20\S+Z worker \d \(pid $pid, with an RSS of (?#
                  )[\d.]+ MiB\) crashed or was killed; /,
         'by its name, with what it had');

    my $because = findings($nginx, 'memory')->{'oom-kill'}{because};

    like($because, qr/pid $pid, with an RSS/, 'memory has the same');
}


test 'a configuration that grows', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => $tree);

    $nginx->reload;
    is(findings($nginx, 'memory')->{'reload-leak'}, undef,
       'the same configuration');

    $nginx->configure(http => $large);
    $nginx->reload;

    ok(wait_until(sub { findings($nginx, 'memory')->{'reload-leak'} }),
       'a larger one is found');

    like(findings($nginx, 'memory')->{'reload-leak'}{because},
         qr/^new workers start with [\d.]+ MiB; workers of the previous (?#
            )configuration started with [\d.]+ [KM]iB$/,
         'with both sizes');
    ok(wait_until(sub { logged($nginx, 'reload-leak') }, 30), 'and logged');

    $nginx->reload;

    ok(wait_until(sub { !findings($nginx, 'memory')->{'reload-leak'} }),
       'not as it stays that large');
};


# Each worker has 25 MB of connections, and a client that is about to send the
# rest of a body, for which a worker waits.

test 'six reloads, and clients that stay', 'jemalloc' => sub {
    my ($connections, $line) = example('Old workers');
    my $nginx = JppNginx->start(connections => $connections, server => "$tree
        location /body { client_body_timeout 300s;
                         proxy_pass http://127.0.0.1:1; }");
    my @clients;

    is(findings($nginx, 'memory')->{'old-workers'}, undef, 'there are none');

    for (1 .. 6) {
        push @clients, $nginx->upload('/body', 10, '1');

        # an answer to somebody behind it: it was read

        $nginx->get('/debug/pprof/cmdline');
        $nginx->reload(is_kept => 1);
    }

    my $finding;

    ok(wait_until(sub {
        $finding = findings($nginx, 'memory')->{'old-workers'};
        return defined $finding && $finding->{because} =~ /^6 /;
    }), 'six wait for their clients');

    like($finding->{because}, qr/^6 exiting workers hold [\d.]+ MiB of /,
         'how much they hold');
    like($finding->{fix}, qr/worker_shutdown_timeout 10m;/, 'what to do');
    like(table($nginx), $line, 'as in the documentation');

    $_->leave for @clients;

    ok(wait_until(sub { !findings($nginx, 'memory')->{'old-workers'} }),
       'they end with their clients');
};


# Its limit is set above what it uses by then.

test 'a container near its limit', sub { -w $cgroup } => sub {
    my ($connections, $line) = example('A container near its limit');
    my $dir = "$cgroup/jpp-test-$$";

    mkdir $dir or die "$dir: $!";

    my $nginx = JppNginx->start(connections => $connections, run => [
        'sh', '-c', "echo \$\$ >$dir/cgroup.procs; exec \"\$@\"", 'sh' ]);

    is(findings($nginx, 'memory')->{'limit-near'}, undef, 'without a limit');

    my ($used) = slurp("$dir/memory.usage_in_bytes") =~ /^(\d+)/;

    open my $limit, '+<', "$dir/memory.limit_in_bytes" or die "limit: $!";
    print $limit int($used * 1.05);
    close $limit or die "limit: $!";

    my $finding = findings($nginx, 'memory')->{'limit-near'};

    ok($finding->{critical}, 'with one it is critical');

    my $table = table($nginx);

    like($table, $line, 'as in the documentation');
    like($table, qr/^ +bytes .*what\n.* exact  connection slots$/m,
         'and what the memory is');

    like($finding->{because},
         qr/^[\d.]+ [KM]iB of [\d.]+ MiB are left(?:; the workers (?#
            )grow by [\d.]+ \wiB an hour: .*)?$/, 'what is left');
    like($nginx->verdict->{text},
         qr/^[\d.]+ MiB of [\d.]+ MiB are connection slots (?#
            )\(worker_connections\); [\d.]+ [KM]iB of [\d.]+ MiB are left/,
         'and whose it is');
    ok(wait_until(sub { logged($nginx, 'limit-near') }, 30), 'it is logged');
    like((logged($nginx, 'limit-near'))[0], qr/^\[error\] .* Raise the limit /,
         'as an error, with what to do');

    $nginx->stop;
    rmdir $dir;
};


test 'a profile of few samples', 'jemalloc' => sub {
    my $nginx = JppNginx->start(
        http => $large, conf => 'prof:true,prof_active:true,lg_prof_sample:24');

    like(comments($nginx),
         qr/finding few-samples: the profile rests on few samples: \d+ in all/,
         'is said in its comments');
    is(findings($nginx, 'memory')->{'few-samples'}, undef,
       'memory has no profile');
    unlike($nginx->get('/debug/pprof/heap?format=top&cols=1000&origin=worker')
           ->{body},
           qr/few-samples/, 'a part of one is not rated');

    $nginx->stop;

    $nginx = JppNginx->start(http => $large);

    unlike(comments($nginx), qr/few-samples/, 'a finer rate has enough');
};


# 170 MB of connections, from before anybody sampled.

test 'a profile that lacks the most', 'jemalloc' => sub {
    my $nginx = JppNginx->start(
        conf => 'prof:true,prof_active:false,lg_prof_sample:16',
        connections => 400000, server => $tree);

    is($nginx->get('/debug/pprof/control', body => 'active=on')->{status}, 200,
       'now it is on');

    like(comments($nginx),
         qr/finding explains: .* allocated memory: [\d.]+ [KM]?i?B of \d\d\d\./,
         'what is missing is said');
};
