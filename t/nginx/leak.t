#!/usr/bin/perl

# A worker keeps nothing of a request, however it ended; and the profiler is not
# in its own profiles.  This suite measures, and runs alone.
#
# Not here: what is kept of workers (fleet/worker.t) or of configurations
# (fleet/reload.t, fleet/reloads.t).
#
# JPP_SOAK=1 has ten thousand profiles.

use JppTest;
no warnings 'portable';

my $soak = $ENV{JPP_SOAK};
my $n_workers = 3;

# each has more than 20 requests
my $warm_up = 200;
my $rounds = $soak ? 1000 : 600;

my $heap = '/debug/pprof/heap';

plan skip_all => 'no jemalloc for this nginx' unless has_jemalloc();
plan tests => 3;


# Freed memory is given back at once here, so that RSS is what is in use, and
# there is one arena: a second one has tables of 100 kB, and comes at any time.
# After the warm-up jemalloc's own tables have the size they keep.
#
# Each worker has a third of the requests, and its part in the profiles that the
# others are asked for.  Of its N requests that are measured a leak of 100 bytes
# in each would be 100 * N; half of that is allowed to RSS, which comes in pages
# and slabs, and a quarter to what jemalloc says is allocated.  In that a small
# object counts 16 KiB where it happens to be sampled, and those of the requests
# and connections at work may be, one time or the other.  A mapping of
# jemalloc's may be split or joined.

test 'many requests' => sub {
    my $nginx = JppNginx->start(
        workers => $n_workers,
        conf => 'prof:true,prof_active:true,lg_prof_sample:12,'
                . 'narenas:1,dirty_decay_ms:0,muzzy_decay_ms:0',
        level => 'error', http => 'access_log off;',
        server => 'location /debug/pprof/ { jemalloc_pprof control=on; }
                   location = /pid { return 200 $pid; }');

    my @pids = $nginx->worker_pids;
    my @clients = map { client_of($nginx, $_) } @pids;
    my $code = code_of($nginx);
    my $start = time();
    my ($n, $n_heaps, $n_wrong) = (0, 0, 0);
    my @before;

    for my $i (1 .. $warm_up + $rounds) {
        @before = map { measure($nginx, $_) } @pids, $nginx->{pid}
            if $i == $warm_up + 1;

        my @done = a_round($nginx, $clients[$i % @clients], $code);

        $n += $done[0];
        $n_heaps += $done[1];
        $n_wrong += $done[2];
    }

    my @after = map { measure($nginx, $_) } @pids, $nginx->{pid};

    cmp_ok($n, '>=', 10000, "$n requests");
    cmp_ok($n_heaps, '>=', $soak ? 10000 : 5000, "$n_heaps of them profiles");
    is($n_wrong, 0, 'each had the expected status');
    cmp_ok(time() - $start, '<', 600, 'within ten minutes') if $soak;
    is_deeply([ $nginx->worker_pids ], \@pids, 'from the same workers');

    my $measured = $n * $rounds / ($warm_up + $rounds) / $n_workers;

    for my $i (0 .. $n_workers) {
        grew($i < $n_workers ? "worker $i" : 'the master', $measured,
             $before[$i], $after[$i]);
    }

    $nginx->stop;
};


# What a process has more after N requests than before.

sub grew($who, $n, $before, $after) {
    my %allowed = (
        'descriptors' => 0, 'threads' => 0, 'mappings' => 20,
        'RSS' => 50 * $n, 'anonymous RSS' => 50 * $n,
        'bytes allocated' => 25 * $n + 16 * 16384,
    );

    for my $name (sort keys %$before) {
        my $more = $after->{$name} - $before->{$name};

        cmp_ok($more, '<=', $allowed{$name},
               "$who: $name, $before->{$name} before");
    }

    diag(sprintf '%s: RSS %d kB, %.1f bytes more for each of %d requests',
         $who, $before->{RSS} / 1024,
         ($after->{RSS} - $before->{RSS}) / $n, $n);
}


# The one worker that is not stopped accepts the connection.

sub client_of($nginx, $pid) {
    my @others = grep { $_ != $pid } $nginx->worker_pids;

    $nginx->signal('STOP', $_) for @others;

    my $client = $nginx->client;

    is($client->get('/pid')->{body}, $pid, "a client of $pid");
    $nginx->signal('CONT', $_) for @others;

    return $client;
}


# At rest: closed connections are gone, no thread is at work, and the only dump
# is the baseline.

sub measure($nginx, $pid) {
    my $is_worker = $pid != $nginx->{pid};
    my $last = -1;

    wait_until(sub {
        my $n = () = descriptors($pid);
        my $is_at_rest = $n == $last && threads($pid) == 1
                         && (!$is_worker || dumps($pid) == 1);

        $last = $n;

        return $is_at_rest;
    });

    my %there = (
        'descriptors' => scalar(() = descriptors($pid)),
        'threads' => threads($pid),
        'mappings' => mappings($pid),
        'RSS' => memory($pid, 'VmRSS'),
        'anonymous RSS' => memory($pid, 'RssAnon'),
    );

    return \%there if !$is_worker;

    # it has no figures as long as a dump is on, and may be late

    $there{'bytes allocated'} = wait_until(sub {
        my $path = "/debug/pprof/status?worker=pid-$pid";

        return ($nginx->get($path)->{body} =~ /"allocated": (\d+)/)[0];
    }) // die "no figures of $pid\n";

    return \%there;
}


sub code_of($nginx) {
    return slurp('/proc/' . $nginx->worker . '/maps') =~ /^(\w+)-\w+ r-x/m
           ? hex $1 : 0;
}


# Requests of all kinds: how many, how many of them profiles, and how many had
# another status than expected.

sub a_round($nginx, $client, $code) {
    my $addresses = join '+', map { sprintf '0x%x', $code + 64 * $_ } 0 .. 99;

    my @heaps = (
        ([ 200, $heap ]) x 4,
        [ 200, "$heap?symbolize=0" ],
        [ 200, "$heap?debug=1" ],
        [ 200, "$heap?format=jemalloc&worker=self" ],
        (map { [ 200, "$heap?format=$_" ] } qw( text folded top )),
        [ 200, '/debug/pprof/allocs' ],
    );

    my @requests = (
        @heaps,
        [ 200, '/debug/pprof/symbol', body => $addresses ],
        [ 200, '/debug/pprof/symbol?0x1+0x2' ],
        [ 200, '/debug/pprof/' ],
        [ 200, $heap, method => 'HEAD' ],
        [ 400, "$heap?format=nothing" ],
        [ 404, '/debug/pprof/nothing' ],
        [ 405, $heap, body => 'x' x 100 ],
        [ 200, '/debug/pprof/control', body => 'active=on&purge=1' ],
        [ 400, '/debug/pprof/control', body => 'lg_sample=1' ],
    );

    my $n_wrong = 0;

    for my $request (@requests) {
        my ($status, $path, %how) = @$request;

        $n_wrong++ if $client->get($path, %how)->{status} != $status;
    }

    $nginx->asking($_)->break_off for "$heap?seconds=60", $heap;

    return @requests + 2, scalar @heaps, $n_wrong;
}


# With one in 2^0 to 2^10 bytes sampled: between two dumps of a server at rest
# nothing is allocated, and nothing freed, that a dump could see.  All of them
# wait at the same time.

test 'two profiles in a row' => sub {
    my @servers = map {
        JppNginx->start(conf => "prof:true,prof_active:true,lg_prof_sample:$_")
    } 0 .. 10;
    my @clients = map { $_->client } @servers;

    # the first request allocates once

    $_->send_request("$heap?seconds=1") for @clients;
    $_->response for @clients;

    $_->send_request("$heap?seconds=1&format=folded") for @clients;

    for my $lg (0 .. 10) {
        my $client = $clients[$lg];
        my $answer = $client->response;

        is($answer->{status}, 200, "lg_prof_sample:$lg");
        is($answer->{body}, '', 'no difference');

        my $dump = $client->get("$heap?format=jemalloc")->{body};
        my @stacks = grep { $_->{live} } stacks_of_ours($client, $dump);

        is_deeply([ map { $_->{path} } @stacks ], [],
                  'the module has no live memory');
        $servers[$lg]->stop;
    }
};


# With prof_accum a dump has all that was ever allocated.  The module allocates
# one block, to prove that mallctl is malloc()'s; what a request takes from its
# pool is the request's.  Our threads are not sampled.

test 'what the module ever allocated' => sub {
    my $nginx = JppNginx->start(
        conf => 'prof:true,prof_active:true,lg_prof_sample:0,prof_accum:true',
        server => 'location /debug/pprof/ { jemalloc_pprof control=on; }');
    my $client = $nginx->client;
    my $code = code_of($nginx);

    for (1 .. 3) {
        my ($n, $n_heaps, $n_wrong) = a_round($nginx, $client, $code);

        is($n_wrong, 0, "$n requests");
    }

    is($client->get("$heap?seconds=1")->{status}, 200, 'and a difference');

    my $dump = $client->get("$heap?format=jemalloc")->{body};

    is_deeply([ map { $_->{path} } stacks_of_ours($client, $dump) ],
              [ 'jpp_mallctl_find' ], 'one block, which is freed');

    my ($header) = $dump =~ /^(heap_v2.*?)^@/ms;
    my %threads = $header =~ /^  (t\d+): (.*)$/mg;
    my @busy = grep { $threads{$_} !~ /^0: 0 \[0: 0\]/ } keys %threads;

    cmp_ok(scalar keys %threads, '>', 1, 'threads');
    is(scalar @busy, 1, 'only the event loop has allocated');
    $nginx->stop;
};


# The stacks of a raw dump that contain the module, a library that only the
# module uses, or the start of a thread; without those that pass through nginx's
# pools first.  What calls handlers for nginx is in most, and does not count.

sub stacks_of_ours($client, $dump) {
    my $is_ours = qr/^(?:ngx_http_jpp|jpp_)
                     |^(?:pthread_create|start_thread|clone)
                     |\@(?:ngx_http_jemalloc_pprof|libprotobuf-c|libelf)/x;
    my $is_pool = qr/^ngx_(?:p\w*alloc|pmemalign|create_pool)\@/;
    my $calls = qr/^ngx_http_jpp_(?:process_events|process_posted
                                   |expire_timers)\@/x;
    my $names = names($client, $dump);
    my @found;

    while ($dump =~ /^@((?: 0x\w+)*)\n  t\*: (\d+): \d+ \[/mg) {
        my ($addresses, $live) = ($1, $2);
        my @frames = grep { !/$calls/ } map { $names->{$_} }
                                        split ' ', $addresses;
        my ($first) = grep { $frames[$_] =~ $is_ours } 0 .. $#frames;

        next if !defined $first;
        next if grep { $frames[$_] =~ $is_pool } 0 .. $first;

        push @found, { live => $live, path => $frames[$first] =~ s/\@.*//r };
    }

    return @found;
}


# The addresses of a dump, as name@file.  A dump has return addresses, and the
# call lies a byte before.

sub names($client, $dump) {
    my %asked = map { $_ => sprintf '0x%x', hex($_) - 1 }
                $dump =~ / (0x\w+)(?=[ \w]*\n)/g;
    my %files = map { /^(\w+)-(\w+) r-xp .*?([^\/]*)$/
                      ? ("$1-$2" => $3) : () }
                split /\n/, $dump =~ s/.*MAPPED_LIBRARIES:\n//sr;
    my $answer = $client->get('/debug/pprof/symbol',
                              body => join '+', values %asked);
    my %names = $answer->{body} =~ /^(0x\w+) (.*)$/mg;

    is($answer->{status}, 200, scalar(keys %asked) . ' addresses have names');

    for my $address (keys %asked) {
        my $file = '';

        for my $range (keys %files) {
            my ($start, $end) = map { hex } split /-/, $range;

            $file = $files{$range}
                if hex($address) > $start && hex($address) <= $end;
        }

        $asked{$address} = ($names{ $asked{$address} } // '') . "\@$file";
    }

    return \%asked;
}
