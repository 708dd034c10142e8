#!/usr/bin/perl

# The resource locations: what each location costs, by pools, heap and CPU, in
# one list; and what it says where one of them is missing.
#
# The truth is what the other resources answer.
#
# Not here: sums, order and forms (t/unit/jpp_locations_test.c); whose a sample
# is (heap/owners.t).

use JppTest;

my $tree = '/debug/pprof';

# what fills buffers
my $large = <<'END';
location /files/ { root html; }
location /large/ {
    proxy_pass http://127.0.0.1:PORT/files/;
    proxy_buffers 16 32k;
    proxy_buffer_size 32k;
    proxy_busy_buffers_size 64k;
    proxy_max_temp_file_size 0;
}
END


sub start(%how) {
    my $locations = delete $how{locations} // '';

    return JppNginx->start(preload => [], conf => 'prof:false', workers => 2,
                           http => "jemalloc_pprof_source sampler;\n"
                                   . "jemalloc_pprof_sample 1k;\n"
                                   . "jemalloc_pprof_owners on;\n",
                           server => "server_name main.example;\n"
                                     . "location $tree/ { jemalloc_pprof; }\n"
                                     . $locations, %how);
}


# Downloads from /large/, which fill its buffers, and stay.

sub downloads(%how) {
    my $port = free_port();
    my $nginx = start(port => $port, %how,
                      locations => ($large =~ s/PORT/$port/r)
                                   . ($how{locations} // ''));

    spew("$nginx->{prefix}/html/files/big", 'x' x (8 << 20));

    my @clients = $nginx->slow(4, '/large/big');

    ok(wait_until(sub {
        return bytes($nginx, '/large/') >= 4 * 16 * 32 * 1024;
    }), 'the downloads fill their buffers');

    return ($nginx, "127.0.0.1:$port", @clients);
}


sub json($nginx, $query = undef) {
    my $answer = $nginx->get("$tree/locations?format=json&$query");

    return { rows => [] } if $answer->{status} != 200;

    return decode_json($answer->{body});
}


# The requests, one by one, and the bytes of those in a location.

sub held($nginx) {
    return $nginx->json("$tree/requests?format=json&top=1000");
}


sub bytes($nginx, $location) {
    return sum0(map { $_->{bytes} } rows(held($nginx), $location));
}


sub rows($json, $location) {
    return grep { ($_->{location} // '') eq $location } @{ $json->{rows} };
}


test 'held and sampled' => sub {
    my ($nginx, undef, @clients) = downloads();
    my $json = json($nginx, '');
    my ($row) = rows($json, '/large/');

    is($json->{rows}[0]{location}, '/large/', 'what stands out is the first');
    is($row->{server}, 'main.example', 'its server');
    is($row->{requests}, 4, 'its requests');
    is($row->{held}{mostly}[0]{name}, 'upstream buffers', 'held for what');
    is($row->{held}{error_percent}, 0, 'which is exact');
    cmp_ok($row->{sampled}{bytes}, '>=', 4 * 16 * 32 * 1024,
           'sampled as much, in the same row');
    like($row->{sampled}{mostly}[0]{name}, qr/event_pipe|nginx\+0x/,
         "by a function: $row->{sampled}{mostly}[0]{name}");
    is($row->{cpu}, undef, 'nobody has looked at CPU time');
    like($json->{cpu}{why}, qr/^it was not measured$/, 'which is said');
    like($json->{cpu}{fix}, qr/^locations\?seconds=5 does, /, 'with the fix');
    ok((grep { /^samples with an owner: / } @{ $json->{sampled}{notes} }),
       'and how many samples have an owner');

    # the other resources agree

    is($row->{held}{bytes}, bytes($nginx, '/large/'),
       'requests have the same bytes');

    my $answer = $nginx->get("$tree/locations?cols=1000");

    is($answer->{status}, 200, 'a table');
    like($answer->{headers}{'content-type'}, qr{^text/plain}, 'is text');
    like($answer->{body}, qr/^\d+ rows: held \d\S* MiB, sampled \d\S* MiB \(/,
         'with sums');
    like($answer->{body},
         qr{^requests +held +sampled +error +server +location +held mostly +(?#
            )sampled mostly\n +4 +\d\S* MiB .* main\.example +/large/ }m,
         'and the location first');
    like($answer->{body}, qr/^held: \S+ \S+ more belong to no server: /m,
         'and the rest');

    my $with = json($nginx, 'seconds=1');

    SKIP: {
        skip('no CPU profiles here', 2) if $with->{cpu}{why};

        ok(defined $with->{cpu}{nanoseconds}, 'CPU time, if asked for');
        is((rows($with, '/large/'))[0]{held}{bytes}, $row->{held}{bytes},
           'beside the others');
    }
};


test 'by server, by upstream' => sub {
    my ($nginx, $upstream, @clients) = downloads();
    my $json = json($nginx, 'by=server');
    my ($server) = grep { $_->{server} eq 'main.example' } @{ $json->{rows} };

    is($server->{location}, undef, 'servers have no location');
    cmp_ok($server->{held}{bytes}, '>', 4 * 16 * 32 * 1024,
           'but all that their locations have');

    $json = json($nginx, 'by=upstream');

    my ($row) = grep { $_->{upstream} eq $upstream } @{ $json->{rows} };

    ok($row, "an upstream is a row: $upstream")
        or diag(explain($json->{rows}));
    cmp_ok($row->{held}{bytes}, '>', 4 * 16 * 32 * 1024, 'with its buffers');
    is($row->{server}, undef, 'and no server');
};


# Of the configuration: they become text, the same by all measures.

test 'names with any bytes' => sub {
    my $long = 'l' x 3000;
    my @names = ("/a\x1b[2Jb/", "/</script><b>/", "/\xff\xfe/", "/$long/");
    my $nginx = start(locations => join '', map {
        "location \"$_\" { client_body_buffer_size 64k; "
        . "proxy_pass http://127.0.0.1:1; }\n" } @names);

    # bodies that do not come: their buffers wait for them

    my @held = map { $nginx->upload($_, 60_000, 'x') }
               '/a%1B[2Jb/', '/%3C/script%3E%3Cb%3E/', '/%FF%FE/', "/$long/";

    wait_until(sub {
        4 <= grep { $_->{bytes} > 60000 } @{ held($nginx)->{rows} }
    });

    my $json = json($nginx, 'top=1000');
    my @want = ('/a\x1b[2Jb/', '/</script><b>/', '/\xff\xfe/');

    for my $name (@want) {
        my ($row) = rows($json, $name);

        cmp_ok($row->{held}{bytes} // 0, '>', 60000, "$name holds its buffer")
            or diag(join ' ', map { $_->{location} } @{ $json->{rows} });
    }

    my @longs = grep { $_->{location} =~ m{^/l+/?$} } @{ $json->{rows} };

    is(scalar @longs, 1, 'a long name is cut everywhere alike');

    for my $format (qw( top json )) {
        my $body = $nginx->get("$tree/locations?format=$format")->{body};

        unlike($body, qr/[^\n -~]/, "$format shows what may be");
    }

    for my $format (qw( top folded svg html )) {
        my $answer = $nginx->get("$tree/heap?by=location&format=$format");

        is($answer->{status}, 200, "heap, $format");
        unlike($answer->{body} =~ s{<script.*?</script>}{}gsr,
               qr/\x1b|\xff|\xfe/, 'shows what may be');
    }
};


# It serves nobody: no location is unknown because of it.

test 'what workers inherit', 'jemalloc' => sub {
    my $nginx = JppNginx->start(workers => 2,
        http => "jemalloc_pprof_owners on;\n" . large_map(5000),
        server => "location $tree/ { jemalloc_pprof; }");
    my ($row) = rows(json($nginx, ''), '(inherited)');

    is($row->{server}, '(inherited)', 'a row of what is inherited');
    cmp_ok($row->{sampled}{bytes}, '>', 1 << 20, 'has the configuration');
    like($nginx->get("$tree/heap?by=location&format=folded")->{body},
         qr/^server \(inherited\);location \(inherited\);/m,
         'and profiles have it so');

    like($nginx->get("$tree/heap?by=location&format=top&cols=1000")->{body},
         qr/^samples with an owner: \d+ of \d+ live samples$(?#
            )|^no sample has an owner; .*, inherited samples never$/m,
         'what says how many have an owner counts what there is');
};


test 'what is off' => sub {

    # no owners

    my $nginx = JppNginx->start(preload => [], conf => 'prof:false',
        http => 'jemalloc_pprof_source sampler; jemalloc_pprof_sample 1k;'
                . 'jemalloc_pprof_owners off;',
        server => "location $tree/ { jemalloc_pprof; }");

    $nginx->get('/fine') for 1 .. 50;

    my $text = $nginx->get("$tree/locations?cols=1000")->{body};

    like($text, qr/^sampled: no sample has an owner/m, 'no owners');
    like($text, qr/POST owners=on to control/, 'and the fix');
    $nginx->stop;

    # no samples

    $nginx = JppNginx->start(preload => [], conf => 'prof:false',
        server => "location $tree/ { jemalloc_pprof; }");
    $text = $nginx->get("$tree/locations?cols=1000")->{body};

    like($text, qr/^sampled: not known: \S.*: .*/m, 'no samples');
    like($text, qr/jemalloc_pprof_source sampler|libjemalloc/,
         'and the line to add');
    like($text, qr{^ *1 +\d.* $tree/ }m, 'what is held is there');

    my $json = json($nginx, '');

    is($json->{sampled}{bytes}, undef, 'null is not 0');
    ok($json->{sampled}{fix}, 'and JSON has a fix');
    is($json->{rows}[0]{sampled}, undef, 'in no row');
};


# What was allocated while jemalloc did not sample is held, and not sampled.

test 'since when it is sampled', 'jemalloc' => sub {
    my $control = '/control/control';
    my ($nginx, undef, @clients) = downloads(
        preload => undef, conf => 'prof:true,prof_active:false',
        http => "jemalloc_pprof_owners on;\n",
        locations => 'location /control/ { jemalloc_pprof control=on; }');
    my $time = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;
    my $began = qr/jemalloc began to sample then, or forgot its samples, in (?#
                  )2 of 2 workers, and memory allocated before is missing/;
    my $gap = qr/jemalloc's sampling was off from $time to $time in 2 of 2 (?#
                )workers, and memory allocated while it was off is missing/;

    like($nginx->get("$tree/locations?cols=1000")->{body},
         qr/^sampled: not known: profiling is not active: /m, 'not yet');

    is($nginx->get($control, body => 'active=on')->{status}, 200, 'on');

    my $text = $nginx->get("$tree/locations?strict=1&cols=1000")->{body};
    my ($row) = rows(json($nginx, ''), '/large/');

    cmp_ok($row->{sampled}{bytes}, '<', $row->{held}{bytes} / 2,
           'what was held before is not sampled');
    like($text, qr/^sampled: samples complete since $time: $began$/m,
         'which it says');
    unlike($text, qr/^held: samples/m, 'pools are complete');

    $nginx->get($control, body => "active=$_") for qw( off on );

    like($nginx->get("$tree/locations?cols=1000")->{body},
         qr/^sampled: samples complete since $time: $gap$/m,
         'off and on again');
    is(scalar(grep { /^samples complete since $time: $gap\z/ }
                   @{ json($nginx, '')->{sampled}{notes} }), 1, 'in JSON, too');

    my $answer = $nginx->get("$tree/locations?strict=1&cols=1000");

    is_answer($answer, 503,
              'strict=1 refuses: the samples of 2 of 2 workers lack '
              . "allocations from a time when jemalloc's sampling was off; "
              . 'POST reset=1 to control to begin with complete ones, or ask '
              . 'without strict=1 to see the time', 'strict=1 refuses that');

    $nginx->get($control, body => 'reset=1');
    $answer = $nginx->get("$tree/locations?strict=1&cols=1000");
    is_answer($answer, 200,
              qr/^sampled: samples complete since $time: $began$/m,
              'not after a reset');
};


test 'one worker that is stopped' => sub {
    my $nginx = start(locations => 'jemalloc_pprof_timeout 5s;');
    my ($stopped) = $nginx->workers_of($nginx->client);

    $nginx->signal('STOP', $stopped);

    # it has two questions to each worker, and one deadline

    my $start = time;
    my $text = $nginx->get("$tree/locations?cols=1000")->{body};

    cmp_ok(time - $start, '<', 10, 'both questions have one deadline');

    like($text, qr/^held: worker \d+ pid $stopped is missing: no answer /m,
         'what is held lacks it');
    like($text, qr/^sampled: worker \d+ pid $stopped is missing: no answer /m,
         'what is sampled, too');

    is_answer($nginx->get("$tree/locations?strict=1&cols=1000"), 503,
              qr/^only 1 of 2 workers answered/, 'strict=1');

    kill 'CONT', $stopped;
};


# While their CPU time is looked at: one that is killed is missing, and one that
# has to exit answers first.

test 'workers that end' => sub {
    my $nginx = start();
    my $client = $nginx->client;
    my ($other) = $nginx->workers_of($client);

    $client->send_request("$tree/locations?seconds=3");

    ok(wait_until(sub { threads($other) > 1 }),
       'it is asked for its CPU time');
    kill 'KILL', $other;

    my $answer = $client->response;

    is_answer($answer, 200, qr/^CPU: worker \d+ pid $other is missing: /m,
              'a worker is killed: the list comes');
    like($answer->{body}, qr/^held: |^ *\d+ +\S+ \S+ /m, 'there are rows');

    $client = $nginx->client;
    $client->send_request("$tree/locations?seconds=60");

    ok(wait_until(sub {
        my @pids = $nginx->worker_pids;

        @pids == 2 && @pids == grep { threads($_) > 1 } @pids
    }), 'both are asked');
    $nginx->signal('HUP');

    $answer = $client->response;

    is_answer($answer, 200, qr/, CPU \d/, 'a reload: the list comes early');

    $nginx->stop(alerts => qr/signal 9/);
};


# In each of the three questions; nothing of what they asked for is left.

test 'clients that leave' => sub {
    my $nginx = start(workers => 1);
    my ($worker) = $nginx->worker_pids;

    $nginx->get("$tree/locations?seconds=1");

    my $before = () = descriptors($worker);

    for my $wait (0, 0.05, 0.3, 1.1) {
        my $client = $nginx->asking("$tree/locations?seconds=1");

        select undef, undef, undef, $wait;
        $client->leave;
    }

    ok(wait_until(sub { $before >= (() = descriptors($worker)) }),
       'no descriptor is left');
    is($nginx->get("$tree/locations")->{status}, 200, 'others are answered');
    is(($nginx->worker_pids)[0], $worker, 'by the same worker');
};


test 'parameters' => sub {
    my $nginx = start();
    my %refused = (
        'by=request' => [ 400, qr/^the resource locations accepts by=/ ],
        'format=pprof' => [ 400, qr/^format must be top or json$/ ],
        'top=0' => [ 400, qr/^top must be / ],
        'seconds=x' => [ 400, qr/^seconds must be / ],
        'worker=77' => [ 404, qr/worker/ ],
    );

    for my $query (sort keys %refused) {
        my ($status, $sentence) = @{ $refused{$query} };
        is_answer($nginx->get("$tree/locations?$query"), $status, $sentence,
                  $query);
    }

    $nginx->get('/fine');

    is(scalar @{ json($nginx, 'top=1')->{rows} }, 1, 'one row');
    like($nginx->get("$tree/locations?top=1&cols=1000")->{body},
         qr/^rows left out: \d+; raise top \(at most 1000\)$/m,
         'and how many more');
};
