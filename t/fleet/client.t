#!/usr/bin/perl

# Clients, as a worker sees them: they wait, read slowly, pipeline requests,
# come in numbers, ask for the same, and leave at any moment.  Only the client
# that asked for a job waits for it, and no job outlives its client.
#
# Not here: HTTP/2 and TLS (fleet/client-http2.t); real clients (nginx/pprof.t);
# clients that leave a request which nginx still needs (fleet/leaving.t); what a
# client hears when a worker ends (fleet/worker.t), is late (fleet/peer.t) or is
# reloaded (fleet/reload.t).

use JppTest;
use JppFleet qw( connections fleet held is_at_rest is_well
                 status wait_for );

my $heap = '/debug/pprof/heap';
my $fine = qr/^(?:200|429)$/;
my $n_some = 8;
my $n_jobs = 32;

# jemalloc_pprof_max_size where dumps are large, and how much of that a worker
# may have in memory
my $max_size = 8 * 1024 * 1024;
my $total = 4 * $max_size;

# what connections may take in addition: less than one more answer
my $spare = 1024 * 1024;

my $too_many = 'this worker has too many requests for profiles at once: try '
               . "again in a second, with fewer scrapers\n";


test 'a difference', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $dump = $nginx->get("$heap?format=jemalloc")->{body};

    # one stack more than before, another less

    $dump =~ s/1: 16777216/3: 50331648/g;
    $dump =~ s/2: 67108864/1: 33554432/g;
    spew("$nginx->{prefix}/second", $dump);

    for (1, 2) {
        my $client = $nginx->client;

        $nginx->fake('');
        $client->send_request("$heap?seconds=1&format=folded");
        ok(wait_for($nginx->worker, 1, 0), 'the first dump was taken');
        $nginx->fake("dump $nginx->{prefix}/second\n");

        my $answer = $client->response;

        is($answer->{status}, 200, 'an answer');
        is_deeply([ sort $answer->{body} =~ /;(\w+ -?\d+)$/mg ],
                  [ 'jpp_fake_alpha 33554432', 'jpp_fake_beta -33554432' ],
                  'what was added and what was freed, and nothing else');
    }

    is_at_rest($nginx->worker, 'after both');
};


test 'a difference blocks nobody', 'jemalloc' => sub {
    my $nginx = JppNginx->start;
    my $pid = $nginx->worker;
    my $client = $nginx->asking("$heap?seconds=60");

    ok(wait_for($pid, 1, 0), 'a difference is in its pause');

    for my $path ('/fine', $heap, '/debug/pprof/status', "$heap?format=text",
                  "$heap?seconds=1&format=top")
    {
        is($nginx->get($path)->{status}, 200, "$path is answered meanwhile")
            for 1 .. 3;
    }

    ok(!$client->hears(0), 'the pause is not over');
    $client->leave;

    like($nginx->get("$heap?seconds=1&format=top&cols=1000")->{body},
         qr/ \(difference\): /, 'a pause ends with a difference');
    is_at_rest($pid, 'at the end');
};


test 'clients that leave', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $pid = $nginx->worker;

    # a pause ends at once

    for my $how ('leave', 'break_off') {
        my @clients = $nginx->clients($n_jobs, "$heap?seconds=60");
        $_->hears(0.01) for @clients;
        ok(wait_until(sub { connections($nginx) == $n_jobs
                            && held($pid) > 0 && threads($pid) == 1 }),
           'all wait');
        $_->$how for @clients;
        is_at_rest($pid, "$how, in a pause");
    }

    # before the worker has read the request

    for my $how ('leave', 'break_off') {
        $nginx->asking("$heap?seconds=60")->$how for 1 .. $n_jobs + 1;

        # a later client is answered later

        is($nginx->get('/fine')->{status}, 200, 'all were read');
        is_at_rest($pid, "$how, at once");
    }

    # while they wait for a dump, for another request's or for their own

    for my $how ('leave', 'break_off') {
        $nginx->fake("hold 1\n");

        my $first = $nginx->asking($heap);

        ok(wait_for($pid, 1, 1), 'one is dumped');

        for (1 .. 3) {
            my @clients = $nginx->clients($n_some, $heap);
            is(scalar(grep { $_->hears(0.02) } @clients), 0,
               'all wait for the dump');
            $_->$how for @clients;
            wait_until(sub { connections($nginx) == 1 });
        }

        # a dump that has begun cannot be stopped

        $first->$how;
        ok(wait_until(sub { connections($nginx) == 0 }),
           "$how: all have left");
        is(threads($pid), 2, "$how: the dump goes on");
        $nginx->fake('');
        is_at_rest($pid, "$how, in the dump");
        is($nginx->get($heap)->{status}, 200, 'and the next is served');
    }

    is($nginx->worker, $pid, 'by the same worker');
};


# A hundred clients leave at moments between the request and its answer.

test 'clients that leave at any moment', 'fake' => sub {

    # after half a body nginx waits for the rest

    my $nginx = JppNginx->start(fake => "hang 0.02\nlarge 1\n",
                                http => 'keepalive_timeout 1s;');
    my $pid = $nginx->worker;
    my @urls = ($heap, "$heap?format=jemalloc", "$heap?seconds=1",
                "$heap?format=top&seconds=1", '/debug/pprof/symbol');

    for my $i (0 .. 99) {
        my $client = $nginx->client(window => 4096);
        my $url = $urls[$i % @urls];
        my $body = $url =~ /symbol/ ? '0x1+' x 1000 . '0x2' : undef;

        $client->send_request($url, body => $body);
        sleep 0.0015 * $i / @urls;
        $i % 2 ? $client->break_off : $client->leave;
    }

    # half a body, also for a resource that takes none

    for my $path ('/debug/pprof/symbol', $heap) {
        my $client = $nginx->upload($path, 1000, '0x1+0x2');

        sleep 0.02;
        $client->break_off;
    }

    is_at_rest($pid, 'a hundred have left');
    ok(wait_until(sub { connections($nginx) == 0 }), 'no connection is left');

    $nginx->fake('');
    is($nginx->get($heap)->{status}, 200, 'the next is served');
    is($nginx->worker, $pid, 'by the same worker');
};


# All workers apply a change, even those that had not been asked when the client
# left: two at a time are asked.

test 'a change that outlives its client', 'fake' => sub {
    my $control = '/debug/pprof/control';
    my $nginx = fleet('jemalloc_pprof_timeout 60s;', workers => 6, fake => '');
    my @clients = map { $nginx->client } 1 .. 3;

    # three workers are busy with a dump

    $nginx->fake("hold 1\n");
    $clients[$_]->send_request("$heap?worker=$_") for 0 .. 2;
    ok(wait_until(sub { $nginx->dumping == 3 }), 'three are busy');

    my $leaves = $nginx->asking($control, body => 'active=off');

    ok(wait_until(sub { connections($nginx) == 4 }), 'the change is sent');
    ok(!$leaves->hears(0.15), 'and not answered');
    $leaves->break_off;
    ok(wait_until(sub { connections($nginx) == 3 }), 'the client left');
    $nginx->fake('');

    my $status;

    ok(wait_until(sub {
        $status = status($nginx);

        return @{ $status->{active} } == 6
               && !grep { $_ eq 'true' } @{ $status->{active} };
    }), 'all workers are off') or diag($status->{text});

    is($_->response->{status}, 200, 'the busy ones answered') for @clients;
};


# A body that nobody reads keeps its own bytes, and nothing else.

test 'a slow parser', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $pid = $nginx->worker;

    $nginx->get($heap);

    my $before = memory($pid, 'VmRSS');

    $nginx->fake("large 43\n");

    for (1, 2) {
        my $slow = $nginx->asking("$heap?format=jemalloc", window => 4096);

        ok($slow->hears(30), 'the answer begins');
        is_at_rest($pid, 'while it is sent');

        # pages are given back after their mapping is gone

        ok(wait_until(sub { memory($pid, 'VmRSS') < $before + 60e6 }),
           'memory: no more than the body needs');

        for my $path ('/fine', "$heap?format=top") {
            is($nginx->get($path)->{status}, 200, "$path meanwhile");
        }

        my $answer = $slow->response;

        is_answer($answer, 200, qr/\[vsyscall\]\n\z|\n\z/,
                  'the rest of the answer');
        is(length $answer->{body}, $answer->{headers}{'content-length'},
           'all of its bytes');
        undef $slow;

        ok(wait_until(sub { memory($pid, 'VmRSS') < $before + 16e6 }),
           'its memory is freed');
    }

    # a client that leaves in the middle

    my $slow = $nginx->asking("$heap?format=jemalloc", window => 4096);

    ok($slow->hears(30), 'another answer begins');
    $slow->read_some(10, 100000) for 1 .. 3;
    $slow->break_off;
    ok(wait_until(sub { memory($pid, 'VmRSS') < $before + 16e6 }),
       'a client that leaves has its memory freed');
};


# An answer is kept until it has been read, or its parser has left.

test 'answers that nobody reads', 'fake' => sub {
    my $nginx = fleet("jemalloc_pprof_max_size $max_size; "
                      . 'jemalloc_pprof_timeout 60s;', fake => '');
    my $pid = $nginx->worker;
    my $query = "$heap?format=jemalloc&worker=self";

    $nginx->fake("large 7\n");

    my $size = length $nginx->get($query)->{body};
    my $before = memory($pid, 'VmRSS');

    cmp_ok($size, '>', 7e6, 'a large answer');

    for my $how ('one after the other', 'at once') {
        my ($full, $refused) = unread_by($nginx, $query, $how);

        cmp_ok(@$full, '>=', 2, "$how: some are answered");
        cmp_ok(@$full * $size, '<=', $total, "$how: no more than fit");

        # pages are given back after their mapping is gone

        ok(wait_until(sub {
            memory($pid, 'VmRSS') < $before + $total + $spare;
        }), "$how: the worker has no more memory than that")
            or diag(memory($pid, 'VmRSS') - $before);
        cmp_ok(@$refused, '>=', 20, "$how: the others are refused");
        is_refused($_, $how) for @$refused;
        is($nginx->get('/debug/pprof/status')->{status}, 200,
           "$how: status is served");

        $_->break_off for @$full;

        # a part of an answer is what an allocator keeps, and ASan's shadow

        ok(wait_until(sub { memory($pid, 'VmRSS') < $before + $size * 3 / 4 }),
           "$how: it is freed")
            or diag(memory($pid, 'VmRSS') - $before);

        is($nginx->get($query)->{status}, 200, "$how: there is room again");
    }

    is($nginx->worker, $pid, 'by the same worker');
    $nginx->fake('');
    is_well($nginx, 'unread');
};


# Thirty clients that ask and do not read on: those that are answered, and what
# the others hear.

sub unread_by($nginx, $query, $how) {
    my @clients = map { $nginx->client(window => 4096) } 1 .. 30;
    my (@full, @refused);

    for my $client (@clients) {
        $client->send_request($query);
        $client->hears(60) if $how ne 'at once';
    }

    for my $client (@clients) {
        $client->read_some(60, 12);

        if ($client->{buffer} eq 'HTTP/1.1 200') {
            push @full, $client;

        } else {
            push @refused, $client->response;
        }
    }

    return (\@full, \@refused);
}


sub is_refused($answer, $what) {
    is($answer->{status}, 429, "$what: 429");
    like($answer->{headers}{'retry-after'} // '', qr/^[1-9]\d*$/,
         "$what: when to come back");
    like($answer->{body},
         qr/^dumps and answers would use more than/, "$what: the reason");
}


test 'pipelined requests', 'fake' => sub {
    my $nginx = JppNginx->start(fake => "hang 0.1\n");
    my $client = $nginx->client;
    my @paths = ("$heap?format=folded", '/fine', "$heap?seconds=1", $heap,
                 '/debug/pprof/nothing', "$heap?format=text", '/fine');

    for (1, 2) {
        $client->send_request($_) for @paths;

        my @answers = map { $client->response } @paths;

        is_deeply([ map { $_->{status} } @answers ],
                  [ 200, 200, 200, 200, 404, 200, 200 ], 'all are answered');
        like($answers[0]{body}, qr/;jpp_fake_beta 67108864$/m, 'the first');
        is($answers[1]{body}, "fine\n", 'the second');
        like($answers[5]{body}, qr/^heap profile: /, 'the sixth');
    }

    is_at_rest($nginx->worker, 'at the end');
};


test 'a dump that hangs', 'fake' => sub {
    my $timeout = 5;
    my $nginx = JppNginx->start(fake => '', server => <<"EOF");
        location /debug/pprof/ {
            jemalloc_pprof control=on;
            jemalloc_pprof_timeout ${timeout}s;
        }
        location /short/ {
            jemalloc_pprof;
            jemalloc_pprof_timeout 100ms;
        }
EOF
    my $pid = $nginx->worker;
    my $late = "no worker answered in time: worker 0 (pid $pid), no answer "
               . "within $timeout.0 s (jemalloc_pprof_timeout): its "
               . "background thread is still busy\n";
    my %n;

    $nginx->fake("hold 1\n");

    # as many as are allowed, and four that have to come back

    my @clients = map { $nginx->client } 1 .. $n_jobs + 4;

    for my $client (@clients) {
        $client->send_request($heap);
        $client->hears(0.001);
    }

    # pages have room of their own, which is limited, too

    is($nginx->get('/debug/pprof/status')->{status}, 200, 'status meanwhile');

    my @pages = map { $nginx->client } 1 .. $n_jobs;

    for my $client (@pages) {
        $client->send_request('/debug/pprof/control', body => 'purge=1');
        $client->hears(0.001);
    }

    answers_busy($nginx->client->get('/debug/pprof/control',
                                     body => 'active=off'));
    undef @pages;

    for my $client (@clients) {
        my $answer = $client->response;

        $n{ $answer->{status} }++;
        answers_busy($answer) if $answer->{status} == 429;

        is($answer->{body}, $late, '504: its sentence')
            if $answer->{status} == 504;
    }

    is_deeply(\%n, { 504 => $n_jobs, 429 => 4 }, 'too late, or too many');
    is($nginx->get('/fine')->{status}, 200, 'other requests are served');
    is($nginx->get('/short/heap')->{status}, 504,
       'the thread is still in it');

    $nginx->fake('');
    is_at_rest($pid, 'afterwards');
    is($nginx->get($heap)->{status}, 200, 'profiles are served again') for 1, 2;
    like($nginx->get('/debug/pprof/status')->{body}, qr/"in_step": null/,
         'the control request that was refused has changed nothing');
    is($nginx->worker, $pid, 'the worker lives');
};


sub answers_busy($answer) {
    is($answer->{status}, 429, 'too many: 429');
    is($answer->{body}, $too_many, 'too many: its sentence');
    is($answer->{headers}{'retry-after'}, 1, 'too many: when to come back');
}


test 'many at once', 'jemalloc' => sub {
    my $nginx = JppNginx->start;
    my $pid = $nginx->worker;

    for my $n (9 .. 16, 24, 40, 40) {
        my @clients = map { $nginx->client } 1 .. $n;
        my (%n, @other);

        $_->send_request($heap) for @clients;

        for my $client (@clients) {
            my $answer = $client->response;

            $n{ $answer->{status} }++;
            push @other, $answer->{status} if $answer->{status} !~ $fine;
            answers_busy($answer) if $answer->{status} == 429;
        }

        is_deeply(\@other, [], "$n at once: 200 or 429");
        cmp_ok($n{200}, '>=', $n < $n_jobs ? $n : $n_jobs,
               "$n: as many as are allowed");
    }

    is_at_rest($pid, 'at the end');
    is($nginx->worker, $pid, 'the worker lives');
};


# Differences whose pauses end together.

test 'many with a pause', 'jemalloc' => sub {
    my $nginx = JppNginx->start;
    my @clients = map { $nginx->client } 1 .. 40;
    my %n;

    # the first has a pause for as long as it takes to send them all

    $_->send_request("$heap?seconds=3") for @clients;
    $n{ $_->response->{status} }++ for @clients;

    is($n{200}, $n_jobs, 'as many as are allowed');
    is($n{429}, 40 - $n_jobs, 'and no more');
    is_at_rest($nginx->worker, 'at the end');
};


# A worker takes one dump after the other, each for all clients that wait.

test 'many that ask for the same', 'fake' => sub {
    my $nginx = fleet('', workers => 2, fake => '');
    my $n = 20;

    is($nginx->get($heap)->{status}, 200, 'before');

    for (1, 2) {
        my $before = () = $nginx->dump_log;

        $nginx->fake("hold 1\n");

        my @clients = $nginx->clients($n, $heap);
        ok(wait_until(sub { connections($nginx) == $n }), 'all have asked');
        $nginx->wait_dumping($nginx->worker_pids);
        $nginx->fake('');

        my @answers = map { $_->response } @clients;

        is(scalar(grep { $_->{status} == 200 && partly($_) eq '2/2' } @answers),
           $n, 'all clients have an answer from both workers');

        my @begun = grep { $_->[1] eq 'begins' } $nginx->dump_log($before);

        cmp_ok(scalar @begun, '<', 2 * $n / 2,
               'with fewer than half as many dumps');
    }

    is_well($nginx, 'the same');
};
