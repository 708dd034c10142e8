#!/usr/bin/perl

# The resource pools where a walk takes many slices: pools that are too large
# for one, and what may happen between two of them.  A preloaded library
# (t/lib/jpp_walk.c) sees to it that it happens in the middle of a walk.
#
# Not here: what a walk finds (pools/pools.t); workers that end at any time
# (pools/ends.t).

use JppTest;
use JppPools qw( below held sums );

my $pools = '/debug/pprof/pools';
my $requests = '/debug/pprof/requests';
my $n = 200_000;

# Leaks: each value takes a block of the pool of its request, or an allocation
# of its own, as its length is below or above what fits.

my %leaks = (
    blocks => { length => 150, bytes => 256, frames => 'pool blocks',
                class => 'pool blocks' },
    larges => { length => 200, bytes => 208, frames => 'large;other',
                class => 'other' },
);

my $leaks = join '', map { leak($_) } sort keys %leaks;

my $has_walk = sub { -e $walk && preloads() };

test 'a pool of very many blocks', 'jemalloc', 'lua' => sub {
    large('blocks');
};
test 'a pool of very many large allocations', 'jemalloc', 'lua' => sub {
    large('larges');
};


sub leak($name) {
    return <<"CONF";
    location /$name {
        lua_check_client_abort on;
        set \$value '';
        content_by_lua_block {
            local text = ("x"):rep($leaks{$name}{length})
            for i = 1, $n do ngx.var.value = text end
            ngx.say("done")
            ngx.flush(true)
            ngx.sleep(60)
        }
    }
CONF
}


# An nginx, and what sets what happens to it in a walk: nothing without words.

sub start(%how) {
    my $dir = File::Temp->newdir;

    chmod 0755, "$dir";

    my $nginx = JppNginx->start(
        conf => 'prof:false', preload => [ $walk, preloads() ],
        env => { JPP_WALK => "$dir/what" }, %how,
        main => 'env JPP_WALK; ' . ($how{main} // ''),
    );

    return ($nginx, sub { @_ ? spew("$dir/what", "@_") : unlink "$dir/what" });
}


# The sum is what jemalloc counts.

sub is_exact($nginx, $name) {
    my ($sum, $total, $held, $top) = sums($nginx);

    is($sum, $total, "$name: all, to the byte") or diag($top);

    return ($held, $top);
}


sub leaking($nginx, $path) {
    my $client = $nginx->asking($path);

    wait_until(sub { $client->read_some(1); $client->{buffer} =~ /done/ });

    return $client;
}


sub large($name) {
    my $leak = $leaks{$name};
    my $nginx = JppNginx->start(
        conf => 'prof:false', main => lua_modules(),
        http => 'request_pool_size 256;',
        server => "$leaks location /debug/pprof/ { jemalloc_pprof; }");
    my $client = leaking($nginx, "/$name");
    my ($held, $top) = is_exact($nginx, $name);
    my $at = "location /$name;request;";
    my ($bytes) = map { $held->{$_} } grep { /$at$leak->{frames}$/ }
                                      keys %$held;

    cmp_ok($bytes // 0, '>=', $n * $leak->{bytes}, 'all of them');
    like($top, qr/seen in (?:[2-9]|[1-9]\d+) slices/, 'in several slices');

    # and so has the one request

    my $all = below($held, $at);

    for my $by ('request', 'connection') {
        my $list = $nginx->get("$requests?format=json&top=1&by=$by")->{body};
        my $row = decode_json($list)->{rows}[0];

        cmp_ok($row->{bytes}, '>=', $all, "the largest $by");
        is($row->{mostly}{class}, $leak->{class}, 'what it holds');
        cmp_ok($row->{mostly}{bytes}, '>=', $n * $leak->{bytes},
               'and how much');
    }

    undef $client;

    ok(wait_until(sub { !grep { /$at/ } keys %{ held($nginx) } }),
       'nothing is left of it');
    is_exact($nginx, 'after that');

    $nginx->stop;
}


# The client leaves while the worker stands still in the middle of its pool.

test 'a pool that goes while it is counted', 'jemalloc', 'lua',
     $has_walk => sub {
    my ($nginx, $happens) = start(
        main => lua_modules(), http => 'request_pool_size 256;',
        server => "$leaks location /debug/pprof/ { jemalloc_pprof; }");
    my $client = leaking($nginx, '/larges');
    my ($pid) = $nginx->worker_pids;
    my $asking = $nginx->client;

    $happens->('stop', $pid, $n / 2);
    $asking->send_request("$pools?format=folded");

    ok(wait_until(sub { slurp("/proc/$pid/stat") =~ /\) T/ }),
       'the worker stands still');

    undef $client;
    kill 'CONT', $pid;

    my $answer = $asking->response;
    my ($bytes) = $answer->{body}
                  =~ m{;location /larges;request;large;other (\d+)$}m;

    is($answer->{status}, 200, 'it answers');
    cmp_ok($bytes // 0, '>=', $n / 2.1 * 208, 'with what it has counted');
    cmp_ok($bytes // 0, '<', $n * 208, 'which is not all');

    $happens->();
    is_exact($nginx, 'after that');
    is(join(' ', $nginx->worker_pids), $pid, 'it lives');
};


test 'a worker that is killed in a walk', 'jemalloc', $has_walk => sub {
    my ($nginx, $happens) = start(workers => 2);
    my $client = $nginx->client;
    my ($pid) = $nginx->workers_of($client);

    $happens->('kill', $pid, 1);

    my $top = $client->get("$pools?format=top&cols=1000");

    is($top->{headers}{'jemalloc-pprof-workers'}, '1/2', 'one is missing');
    like($top->{body}, qr/pid $pid .*exited/, 'which, and why')
        or diag($top->{body});

    my $both;

    $happens->();
    ok(wait_until(sub {
        $both = $client->get($pools);
        ($both->{headers}{'jemalloc-pprof-workers'} // '') eq '2/2';
    }), 'the next one answers');

    $nginx->stop(alerts => qr/exited on signal 9/);
};


# 700 locations with names of 4 KB, each with a request, take more than the two
# megabytes that a walk begins with.

test 'memory that ends in a walk', 'jemalloc', $has_walk => sub {
    my $locations = join '', map {
        "location /$_/" . 'x' x 3900 . " {\n    limit_rate 1;\n"
        . "    return 200 'a slow answer';\n}\n"
    } 1 .. 700;
    my ($nginx, $happens) = start(
        workers => 2, connections => 2048,
        http => 'large_client_header_buffers 4 8k;',
        server => "$locations location /debug/pprof/ { jemalloc_pprof; }");
    my $client = $nginx->client;
    my ($pid, $self) = $nginx->workers_of($client);

    # the other one accepts all of them

    $nginx->signal('STOP', $self);

    my @clients = map {
        my $slow = $nginx->asking("/$_/" . 'x' x 3900);

        $slow->read_some(5);
        $slow;
    } 1 .. 700;

    kill 'CONT', $self;

    $happens->('memory', $pid, 1);

    my $top = $client->get("$pools?format=top&cols=1000&n=1000&"
                           . "worker=pid-$pid");

    is_answer($top, 200, qr/^partial:[ ]1[ ]of[ ]1[ ]scans[ ]ended[ ]early,
              [ ][1-9]\d*[ ]connections[ ]were[ ]not[ ]seen:
              [ ]no[ ]memory[ ]was[ ]left[ ]for[ ]its
              [ ]results$/mx, 'an answer');
    like($top->{body}, qr/ outside pools; not seen, or since start$/m,
         'and does not take the rest for anything');

    $happens->();

    my $folded = $client->get("$pools?format=folded&worker=pid-$pid")->{body};

    unlike($folded, qr/not seen/, 'all of it, once there is more');
    is(() = $folded =~ m{;location /\d+/x+;request;pool}g, 700, 'to the last');

    $happens->('memory', $pid, 1);

    my $list = $client->get("$requests?format=json&worker=pid-$pid")->{body};
    my $partial = decode_json($list)->{partial}[0];

    is($partial->{pid}, $pid, 'so do requests');
    cmp_ok($partial->{missed}, '>', 0, 'how many');
    is($partial->{why}, 'no memory was left for its results', 'and why');
};
