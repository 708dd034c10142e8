#!/usr/bin/perl

# Jobs outlive nothing: clients that leave, workers that end, reloads, binary
# upgrades.  And nobody waits for a job but the one who asked for it.

use strict;
use warnings;

use File::Basename;
use File::Temp;
use Test::More;
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__) . '/lib';

use JppNginx qw( free_port wait_until slurp spew
                 descriptors threads memory );
use JppRun qw( subtests );

# what hangs ends
alarm 500;

my $heap = '/debug/pprof/heap';
my $fine = qr/^(?:200|429)$/;
my $n_some = 8;
my $n_jobs = 32;

my %texts = (
    429 => 'too many profiles are asked of this worker at once: try again in '
           . "a second, with fewer scrapers\n",
    503 => 'this worker is shutting down: ask again, another one will '
           . "answer\n",
);

subtests(
    'a difference' => [ \&difference, 'fake' ],
    'a difference blocks nobody' => [ \&unblocked, 'jemalloc' ],
    'clients that leave' => [ \&leaving, 'fake' ],
    'clients that leave at any moment' => [ \&any_moment, 'fake' ],
    'a slow reader' => [ \&slow_reader, 'fake' ],
    'pipelined requests' => [ \&pipelined, 'fake' ],
    'the end of a worker' => [ \&ends, 'fake' ],
    'what is said at the end' => [ \&last_words, 'fake' ],
    'a reload' => [ \&reloads, 'fake' ],
    'a reload without the module' => [ \&unloaded, 'fake',
                                       'loaded' ],
    'a dump that hangs' => [ \&hangs, 'fake' ],
    'many at once' => [ \&many, 'jemalloc' ],
    'many with a pause' => [ \&many_paused, 'jemalloc' ],
    'without a master' => [ \&no_master, 'fake' ],
    'helpers of the cache' => [ \&helpers, 'jemalloc' ],
    'a binary upgrade' => [ \&upgrade, 'jemalloc' ],
    'a worker that is killed' => [ \&killed, 'fake' ],
    'HTTP/2' => [ \&http2, 'fake', 'curl' ],
    'streams that are reset' => [ \&reset_streams, 'fake' ],
    'TLS' => [ \&tls, 'fake', 'curl', 'openssl' ],
);


# The dumps that a worker holds, beside that of what it inherited.

sub dumps {
    my ($pid) = @_;

    return JppNginx::dumps($pid) - 1;
}


# Until N dumps are held, and a thread is at work or none is.

sub wait_for {
    my ($pid, $n, $is_at_work) = @_;

    return wait_until(sub {
        dumps($pid) == $n && threads($pid) == 1 + $is_at_work
    }, 20);
}


# No job is left: neither a dump nor a thread.

sub is_at_rest {
    my ($pid, $what) = @_;

    ok(wait_for($pid, 0, 0), "$what: no dump and no thread is left");
}


sub difference {
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
                  'what was added and what went, and nothing else');
    }

    is_at_rest($nginx->worker, 'both');
    $nginx->stop;
}


sub unblocked {
    my $nginx = JppNginx->start;
    my $pid = $nginx->worker;
    my $client = $nginx->client;

    $client->send_request("$heap?seconds=2&format=top");
    ok(wait_for($pid, 1, 0), 'it waits');

    for my $path ('/fine', $heap, '/debug/pprof/status', "$heap?format=text") {
        is($nginx->get($path)->{status}, 200, "$path meanwhile") for 1 .. 3;
    }

    ok(!$client->hears(0), 'it still waits');

    my $answer = $client->response;

    is($answer->{status}, 200, 'and is answered');
    like($answer->{body}, qr/ \(difference\): /, 'with a difference');
    is_at_rest($pid, 'at the end');
    $nginx->stop;
}


sub leaving {
    my $nginx = JppNginx->start(fake => '');
    my $pid = $nginx->worker;

    # what a pause is made of ends at once

    for my $how ('leave', 'break_off') {
        my @clients = map { $nginx->client } 1 .. $n_jobs;

        $_->send_request("$heap?seconds=60") for @clients;
        $_->hears(0.01) for @clients;
        ok(wait_until(sub { connections($nginx) == $n_jobs
                            && dumps($pid) > 0 && threads($pid) == 1 }),
           'they wait');
        $_->$how for @clients;
        is_at_rest($pid, "$how, in a pause");
    }

    # before the worker has read what was asked

    for my $how ('leave', 'break_off') {
        for (1 .. $n_jobs + 1) {
            my $client = $nginx->client;

            $client->send_request("$heap?seconds=60");
            $client->$how;
        }

        # one that comes later is answered later

        is($nginx->get('/fine')->{status}, 200, 'all were read');
        is_at_rest($pid, "$how, at once");
    }

    # those that wait for a dump, of another request or of their own

    for my $how ('leave', 'break_off') {
        $nginx->fake("hang 2\n");

        my $first = $nginx->client;

        $first->send_request($heap);
        ok(wait_for($pid, 1, 1), 'one is dumped');

        for (1 .. 3) {
            my @clients = map { $nginx->client } 1 .. $n_some;

            $_->send_request($heap) for @clients;
            is(scalar(grep { $_->hears(0.02) } @clients), 0,
               'all of them wait');
            $_->$how for @clients;
            wait_until(sub { connections($nginx) <= 1 });
        }

        # the one that is at work cannot be stopped

        $first->$how;
        sleep 0.1;
        is(threads($pid), 2, "$how: the dump goes on");
        is_at_rest($pid, "$how, in the dump");

        $nginx->fake('');
        is($nginx->get($heap)->{status}, 200, 'and the next is served');
    }

    is($nginx->worker, $pid, 'by the same worker');
    $nginx->stop;
}


# Client connections of the worker.

sub connections {
    my ($nginx) = @_;
    my $pid = $nginx->worker;

    my %inodes = map { $_ => 1 } map { /^socket:\[(\d+)\]/ }
                 map { readlink("/proc/$pid/fd/$_") // '' } descriptors($pid);

    # those that are established

    return scalar grep { $_->[3] eq '01' && $inodes{ $_->[9] } }
           map { [ split ] } split /\n/, slurp("/proc/$pid/net/tcp");
}


# At a hundred moments between the request and its answer.

sub any_moment {

    # after a body that was broken off nginx waits for another request

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

    # half a body, also for one that takes none

    for my $path ('/debug/pprof/symbol', $heap) {
        my $client = $nginx->client;

        $client->write("POST $path HTTP/1.1\r\nHost: localhost\r\n"
                       . "Content-Length: 1000\r\n\r\n0x1+0x2");
        sleep 0.02;
        $client->break_off;
    }

    is_at_rest($pid, 'a hundred that left');
    ok(wait_until(sub { connections($nginx) == 0 }), 'no connection is left');

    $nginx->fake('');
    is($nginx->get($heap)->{status}, 200, 'the next is served');
    is($nginx->worker, $pid, 'by the same worker');
    $nginx->stop;
}


# A body that is not read holds its own bytes, and nothing else.

sub slow_reader {
    my $nginx = JppNginx->start(fake => '');
    my $pid = $nginx->worker;

    $nginx->get($heap);

    my $before = memory($pid, 'VmRSS');

    $nginx->fake("large 43\n");

    for (1, 2) {
        my $slow = $nginx->client(window => 4096);

        $slow->send_request("$heap?format=jemalloc");
        ok($slow->hears(30), 'the answer begins');
        is_at_rest($pid, 'as it is sent');

        # pages are given back after their mapping is gone

        ok(wait_until(sub { memory($pid, 'VmRSS') < $before + 60e6 }, 5),
           'memory: what the body needs');

        for my $path ('/fine', "$heap?format=top") {
            is($nginx->get($path)->{status}, 200, "$path meanwhile");
        }

        my $answer = $slow->response;

        is($answer->{status}, 200, 'it is read to its end');
        like($answer->{body}, qr/\[vsyscall\]\n\z|\n\z/, 'whole');
        is(length $answer->{body}, $answer->{headers}{'content-length'},
           'all of its bytes');
        undef $slow;

        ok(wait_until(sub { memory($pid, 'VmRSS') < $before + 16e6 }),
           'and its memory is given back');
    }

    # one that leaves in the middle

    my $slow = $nginx->client(window => 4096);

    $slow->send_request("$heap?format=jemalloc");
    ok($slow->hears(30), 'another answer begins');
    $slow->read_some(10, 100000) for 1 .. 3;
    $slow->break_off;
    ok(wait_until(sub { memory($pid, 'VmRSS') < $before + 16e6 }),
       'who leaves leaves no memory');
    $nginx->stop;
}


sub pipelined {
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
    $nginx->stop;
}


# How long a worker takes to end, beside one of an nginx without the module
# whose connections are in the same state.

sub ends {
    my %states = (
        'a dump hangs' => [ "hang 10\n", $heap, 1 ],
        'a job is paused' => [ '', "$heap?seconds=60", 1 ],
        'jobs are queued' => [ "hang 10\n", $heap, 5 ],
        'a reader is slow' => [ "large 20\n", "$heap?format=jemalloc", 1 ],
    );

    for my $name (sort keys %states) {
        for my $signal ('QUIT', 'TERM') {
            my (@with, @without);

            for (1 .. 3) {
                push @with, time_to_end($signal, 1, $name, @{ $states{$name} });
                push @without, time_to_end($signal, 0, $name,
                                           @{ $states{$name} });
            }

            my ($with, $without) = map { (sort { $a <=> $b } @$_)[1] }
                                   \@with, \@without;

            cmp_ok($with, '<', $without + 1,
                   sprintf '%s and %s: %.2f s, without the module %.2f s',
                   $name, $signal, $with, $without);
        }
    }
}


sub time_to_end {
    my ($signal, $with, $name, $keys, $path, $n) = @_;
    my $is_slow = $name =~ /slow/;

    my $nginx = JppNginx->start(
        module => $with, fake => '',
        server => ($with ? 'location /debug/pprof/ { jemalloc_pprof; }' : '')
                  . 'location /file { root .; }');
    my $pid = $nginx->worker;

    # not before: the master dumps as well, when it starts

    $nginx->fake($keys);

    spew("$nginx->{prefix}/file", 'x' x 20e6);

    my @clients = map { $nginx->client(window => $is_slow ? 4096 : 0) }
                  1 .. $n;

    if ($with) {
        $_->send_request($path) for @clients;

    } elsif ($is_slow) {
        $_->send_request("/file") for @clients;

    } else {
        $_->get('/fine') for @clients;
    }

    $is_slow ? $clients[0]->hears(30)
             : $with && wait_until(sub { dumps($pid) > 0 });

    # for those that queue behind it

    sleep 0.05;

    my $start = time();

    $nginx->signal($signal);

    # a reader has its time: here half a second

    if ($is_slow && $signal eq 'QUIT') {
        sleep 0.5;
        $_->break_off for @clients;
    }

    wait_until(sub { JppNginx::is_gone($pid) }, 20);

    my $time = time() - $start;

    $nginx->stop(is_told => 1);

    return $time;
}


sub last_words {
    for my $state ([ "hang 10\n", $heap, 5 ], [ '', "$heap?seconds=60", 5 ]) {
        my ($keys, $path, $n) = @$state;
        my $nginx = JppNginx->start(fake => $keys);
        my @clients = map { $nginx->client } 1 .. $n;

        $_->send_request($path) for @clients;
        wait_until(sub { connections($nginx) == $n
                         && dumps($nginx->worker) > 0 });
        sleep 0.05;
        $nginx->signal('QUIT');

        for my $client (@clients) {
            my $answer = $client->response;

            is($answer->{status}, 503, "$path: 503 at the end");
            is($answer->{body}, $texts{503}, 'its sentence');
        }

        $nginx->stop(is_told => 1);
    }
}


# The old worker ends, the new one serves.

sub reloads {
    my $nginx = JppNginx->start(fake => '');

    for my $state ([ '', "$heap?seconds=60", 503 ],
                   [ "hang 3\n", $heap, 503 ],
                   [ "hang 0.3\n", $heap, 200 ],
                   [ "large 20\n", "$heap?format=jemalloc", 200 ])
    {
        my ($keys, $path, $status) = @$state;
        my $n_threads = $keys =~ /hang/ ? 1 : 0;
        my $pid = $nginx->worker;
        my $client = $nginx->client(window => 4096);

        $nginx->fake($keys);
        $client->send_request($path);
        $keys =~ /large/ ? $client->hears(30)
                         : wait_until(sub { dumps($pid) > 0
                                            && threads($pid) == 1 + $n_threads
                           });

        # the master dumps, too, what it leaves to the new ones: in no time,
        # once the old one is in it

        sleep 0.2 if $keys eq "hang 3\n";
        $nginx->fake('');
        $nginx->reload(is_kept => 1);
        isnt($nginx->worker, $pid, "$path: a new worker");

        is($nginx->get($heap)->{status}, 200, 'it serves');

        my $answer = $client->response;

        is($answer->{status}, $status, "the old one's answer");
        is($answer->{body}, $texts{503}, 'says why') if $status == 503;
        ok(wait_until(sub { JppNginx::is_gone($pid) }, 10), 'and it is gone');
    }

    $nginx->stop;
}


sub hangs {
    my $nginx = JppNginx->start(fake => '', server => <<'EOF');
        location /debug/pprof/ {
            jemalloc_pprof control=on;
            jemalloc_pprof_timeout 500ms;
        }
EOF
    my $pid = $nginx->worker;
    my $late = "no worker answered in time: worker 0 (pid $pid), no answer "
               . "within 500 ms (jemalloc_pprof_timeout)\n";
    my %n;

    $nginx->fake("hang 2\n");

    # as many as there may be, and those that are told to come back

    my @clients = map { $nginx->client } 1 .. $n_jobs + 4;

    for my $client (@clients) {
        $client->send_request($heap);
        $client->hears(0.001);
    }

    # pages find room beside them, and are not too many either

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

        is($answer->{body}, $late, 'not done') if $answer->{status} == 504;
    }

    is_deeply(\%n, { 504 => $n_jobs, 429 => 4 }, 'too late, or too many');
    is($nginx->get('/fine')->{status}, 200, 'all else is served');
    is($nginx->get($heap)->{status}, 504, 'the thread is still in it');

    $nginx->fake('');
    is_at_rest($pid, 'afterwards');
    is($nginx->get($heap)->{status}, 200, 'and fine again') for 1, 2;
    like($nginx->get('/debug/pprof/status')->{body}, qr/"in_step": null/,
         'control that was told to come back has changed nothing');
    is($nginx->worker, $pid, 'the worker lives');
    $nginx->stop;
}


# The master lets the module go, with what it held for it, and takes it anew.

sub unloaded {
    my $nginx = JppNginx->start(fake => '', level => 'notice');
    my $master = $nginx->{pid};
    my $n = () = descriptors($master);

    for my $round (1 .. 3) {
        $nginx->reload(module => 0);
        unlike(slurp("/proc/$master/maps"), qr/jemalloc_pprof_module/,
               "$round: it is gone");
        is($nginx->get($heap)->{status}, 404, 'and serves nothing');
        cmp_ok(scalar(() = descriptors($master)), '<=', $n, 'or holds');

        $nginx->reload(module => 1);
        is($nginx->get($heap)->{status}, 200, 'it is there again');
        cmp_ok(scalar(() = descriptors($master)), '<=', $n,
               'with as much as before');
    }

    $nginx->stop;
}


sub answers_busy {
    my ($answer) = @_;

    is($answer->{status}, 429, 'too many');
    is($answer->{body}, $texts{429}, 'too many: its sentence');
    is($answer->{headers}{'retry-after'}, 1, 'too many: when to come back');
}


sub many {
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
               "$n: as many as there may be");
    }

    is_at_rest($pid, 'at the end');
    is($nginx->worker, $pid, 'the worker lives');
    $nginx->stop;
}


# Those with a pause come back together.

sub many_paused {
    my $nginx = JppNginx->start;
    my @clients = map { $nginx->client } 1 .. 40;
    my %n;

    for my $client (@clients) {
        $client->send_request("$heap?seconds=1");
        $client->hears(0.01);
    }

    $n{ $_->response->{status} }++ for @clients;

    is($n{200}, $n_jobs, 'as many as there may be');
    is($n{429}, 40 - $n_jobs, 'and no more');
    is_at_rest($nginx->worker, 'at the end');
    $nginx->stop;
}


sub no_master {
    for my $signal ('QUIT', 'TERM') {
        my $nginx = JppNginx->start(fake => '', master => 0);

        is($nginx->get("$heap?worker=all")->{status}, 200, 'a profile');

        my $client = $nginx->client;

        $client->send_request("$heap?seconds=60");
        ok(wait_for($nginx->worker, 1, 0), 'a job is paused');
        $nginx->signal($signal);
        ok(wait_until(sub { JppNginx::is_gone($nginx->{pid}) }, 10),
           "$signal: it ends");
        $nginx->stop(is_told => 1);
    }
}


# They have what they have without the module.

sub helpers {
    my %seen;

    for my $with (0, 1) {
        my $nginx = JppNginx->start(
            module => $with,
            http => 'proxy_cache_path cache keys_zone=zone:1m;');

        $nginx->get($heap) for 1 .. 3;

        for my $what ('cache manager', 'cache loader') {
            my ($pid) = wait_until(sub {
                my @pids = grep {
                    JppNginx::title($_) =~ /^nginx: $what process/
                } JppNginx::children($nginx->{pid});

                return @pids ? $pids[-1] : 0;
            });

            ok($pid, "a $what") or next;
            is(threads($pid), 1, "$what: one thread");

            push @{ $seen{$what} }, scalar grep {
                (readlink("/proc/$pid/fd/$_") // '') =~ /eventfd/
            } descriptors($pid);
        }

        $nginx->stop;
    }

    is($seen{$_}[1], $seen{$_}[0], "$_: no eventfd of ours")
        for sort keys %seen;
}


sub upgrade {
    for my $main ('env LD_PRELOAD; env MALLOC_CONF;', '') {
        my $nginx = JppNginx->start(main => $main, daemon => 1);
        my $old = $nginx->{pid};

        is($nginx->get($heap)->{status}, 200, 'before');
        $nginx->signal('USR2');

        my $file = "$nginx->{prefix}/logs/nginx.pid";
        my $new = wait_until(sub {
            my $pid = -e "$file.oldbin" && -e $file ? slurp($file) + 0 : 0;

            return $pid != $old && $pid;
        });

        ok($new, 'a new master') or return $nginx->stop;

        wait_until(sub { $nginx->worker_pids($new) > 0 });
        $nginx->signal('QUIT');
        ok(wait_until(sub { JppNginx::is_gone($old) }), 'the old one ends');

        $nginx->{pid} = $new;
        wait_until(sub { $nginx->get('/fine')->{status} == 200 });

        my $answer = $nginx->get($heap);

        if ($main) {
            is($answer->{status}, 200, 'with env it goes on');

        } elsif (JppNginx::is_linked()) {
            is($answer->{status}, 403, 'without env there are no options');
            like($answer->{body}, qr/^the profiling of jemalloc \S+ is off: /,
                 'which is said');

        } else {
            is($answer->{status}, 501, 'without env there is no jemalloc');
            like($answer->{body},
                 qr/^the malloc of this nginx is not jemalloc's: /,
                 'which is said');
        }

        like($answer->{body},
             qr/^ +env LD_PRELOAD; env MALLOC_CONF;$/m, 'and the cure')
            unless $main;

        $nginx->stop;
    }
}


sub killed {
    my $nginx = JppNginx->start(fake => '');

    for my $state ([ '', $heap ], [ "hang 5\n", $heap ],
                   [ '', "$heap?seconds=60" ])
    {
        my ($keys, $path) = @$state;
        my $pid = $nginx->worker;
        my $client = $nginx->client;

        $nginx->fake($keys);
        $client->send_request($path);
        wait_until(sub { dumps($pid) > 0 || $client->hears(0) });

        $nginx->signal('KILL', $pid);
        ok(wait_until(sub { ($nginx->worker // $pid) != $pid }),
           'there is a new worker');

        $nginx->fake('');
        is($nginx->get($heap)->{status}, 200, 'which serves');
    }

    $nginx->stop(alerts => qr/exited on signal 9/);
}


sub http2 {
    my $port = free_port();
    my $nginx = JppNginx->start(fake => "hang 0.05\n", http => <<"EOF");
    server {
        listen 127.0.0.1:$port http2;
        location = /fine { return 200 "fine\\n"; }
        location /debug/pprof/ { jemalloc_pprof; }
    }
EOF
    my $url = "http://127.0.0.1:$port$heap";
    my $curl = "curl -s --http2-prior-knowledge -m 30 -o $nginx->{prefix}/out "
               . "-w '%{http_code} %{http_version} %{size_download}\\n'";

    like(`$curl '$url?format=folded'`, qr/^200 2 [1-9]\d+$/, 'one');
    like(slurp("$nginx->{prefix}/out"), qr/;jpp_fake_beta 67108864$/m, 'whole');
    like(`$curl '$url?seconds=1'`, qr/^200 2 [1-9]\d+$/, 'a difference');
    like(`$curl -X DELETE '$url'`, qr/^405 2 /, 'an error');
    like(`$curl -d 0x1+0x2 '$url/../symbol'`, qr/^200 2 /, 'a body');

    # the whole of a large one, and one that is broken off

    $nginx->fake("large 20\n");

    my ($size) = `$curl '$url?format=jemalloc'` =~ /^200 2 (\d+)$/;

    cmp_ok($size // 0, '>', 20e6, 'a large one');

    system "curl -s --http2-prior-knowledge --limit-rate 1M -m 0.5 "
           . "-o /dev/null '$url?format=jemalloc'" for 1 .. 3;
    system "curl -s --http2-prior-knowledge -m 0.3 -o /dev/null "
           . "'$url?seconds=30'" for 1 .. 3;

    is_at_rest($nginx->worker, 'broken off');
    $nginx->stop;
}


# Streams of one connection that are reset, where the connection stays: a frame
# is length, type, flags, stream (RFC 9113); names and values of the header are
# literals (RFC 7541), but for what has a number.

sub reset_streams {
    my $port = free_port();
    my $nginx = JppNginx->start(fake => '', http => <<"EOF");
    server {
        listen 127.0.0.1:$port http2;
        location /debug/pprof/ { jemalloc_pprof; }
    }
EOF
    my $pid = $nginx->worker;
    my $client = JppClient->new(port => $port);
    my $stream = 1;

    $client->write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . frame(4, 0, 0, ''));

    for my $state ([ '', "$heap?seconds=60" ], [ "hang 0.5\n", $heap ]) {
        my ($keys, $path) = @$state;

        $nginx->fake($keys);

        for (1 .. 5) {
            my @streams = map { $stream + 2 * $_ } 0 .. $n_some - 1;

            $stream = $streams[-1] + 2;

            $client->write(frame(1, 5, $_, fields($path))) for @streams;
            wait_until(sub { dumps($pid) > 0 });
            $client->write(frame(3, 0, $_, pack 'N', 8)) for @streams;
            is_at_rest($pid, "$path, reset");
        }
    }

    $nginx->fake('');
    $client->write(frame(1, 5, $stream, fields("$heap?format=folded")));
    ok(wait_until(sub {
        $client->read_some(0.1);
        $client->{buffer} =~ /;jpp_fake_beta 67108864\n/;
    }), 'the next on that connection is answered');
    $nginx->stop;
}


sub frame {
    my ($type, $flags, $stream, $payload) = @_;

    return substr(pack('N', length $payload), 1)
           . pack('CCN', $type, $flags, $stream) . $payload;
}


sub fields {
    my ($path) = @_;

    # :method GET, :scheme http, :path, :authority

    return "\x82\x86" . "\x04" . chr(length $path) . $path
           . "\x01\x09localhost";
}


sub tls {
    my $port = free_port();
    my $dir = File::Temp->newdir;

    is(system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
              . "-subj /CN=localhost -keyout $dir/key -out $dir/cert "
              . '2>/dev/null'), 0, 'a certificate');

    my $nginx = JppNginx->start(fake => "hang 0.05\n", http => <<"EOF");
    server {
        listen 127.0.0.1:$port ssl http2;
        ssl_certificate $dir/cert;
        ssl_certificate_key $dir/key;
        location /debug/pprof/ { jemalloc_pprof; }
    }
EOF
    my $url = "https://127.0.0.1:$port$heap";
    my $curl = "curl -s -k -m 30 -o $nginx->{prefix}/out "
               . "-w '%{http_code} %{http_version} %{size_download}\\n'";

    # with one connection there are as many jobs as with many

    my @urls = map { "-o /dev/null '$url'" } 1 .. 20;
    my @statuses = `$curl --http2 -Z --parallel-max 20 @urls 2>/dev/null`
                   =~ /^(\d+) 2 /mg;

    is(scalar @statuses, 20, 'twenty streams are answered');
    is(scalar(grep { $_ != 200 } @statuses), 0, 'by 200');

    $nginx->fake("large 5\n");

    for my $option ('--http1.1', '--http2') {
        my ($version) = $option =~ /([\d.]+)$/;

        like(`$curl $option '$url?format=jemalloc'`,
             qr/^200 $version 5\d{6}$/, "$option: all of it");
        like(`$curl $option '$url?seconds=1'`, qr/^200 $version /,
             "$option: a difference");

        system "curl -s -k $option --limit-rate 500k -m 0.5 -o /dev/null "
               . "'$url?format=jemalloc'";
        system "curl -s -k $option -m 0.3 -o /dev/null '$url?seconds=30'";
        is_at_rest($nginx->worker, "$option: broken off");
    }

    $nginx->stop;
}
