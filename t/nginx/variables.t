#!/usr/bin/perl

# The variables: their values beside those of memory, in a log and a map, and
# that they are looked up once a second at most, however many requests come.
#
# Not here: how the numbers are read (t/unit).

use JppTest;

my $values = 'return 200 "$jemalloc_allocated $jemalloc_active '
             . '$jemalloc_resident $jemalloc_rss_anon $jemalloc_worker";';


test 'values', 'jemalloc' => sub {
    my $nginx = JppNginx->start(
        workers => 2,
        server => "location /debug/pprof/ { jemalloc_pprof; }
                   location /values { $values }");

    for my $index (0, 1) {
        my ($allocated, $active, $resident, $anon, $worker);

        # they are a second old, and a worker grows as it answers

        ok(wait_until(sub {
            ($allocated, $active, $resident, $anon, my $of)
                = split / /, $nginx->get('/values')->{body};

            return 0 if $of != $index;

            my $memory = $nginx->get("/debug/pprof/memory?worker=$index");

            $worker = decode_json($memory->{body})->{workers}[0];

            return near($allocated, $worker->{jemalloc}{allocated})
                   && near($resident, $worker->{jemalloc}{resident})
                   && near($anon, $worker->{process}{rss_anon});
        }), "memory and the kernel say of worker $index what they say")
            or diag("$allocated, $resident, $anon");

        cmp_ok($allocated, '<=', $active, 'allocated is a part of active');
        cmp_ok($active, '<', $resident, 'which is a part of resident');
    }
};


sub near($is, $want) {
    return abs($is - $want) < $want / 2;
}


test 'nothing is served', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => "location /values { $values }");

    like($nginx->get('/values')->{body},
         qr/^[1-9]\d{5,} [1-9]\d{5,} [1-9]\d{5,} [1-9]\d{5,} 0$/,
         'the variables are there');
};


test 'a log', 'jemalloc' => sub {
    my $nginx = JppNginx->start(
        http => 'log_format memory "w=$jemalloc_worker a=$jemalloc_allocated";',
        server => 'location / { access_log logs/memory memory; empty_gif; }');

    $nginx->get('/');

    ok(wait_until(sub {
        slurp("$nginx->{prefix}/logs/memory") =~ /^w=0 a=[1-9]\d{5,}$/m;
    }), 'is written');
};


test 'a map' => sub {
    my $nginx = JppNginx->start(
        http => 'map $jemalloc_rss_anon $is_large { default no;
                                                    "~^[0-9]{6}" yes; }',
        server => 'location / { return 200 $is_large; }');

    is($nginx->get('/')->{body}, 'yes', 'chooses');
};


# Each look reads a file of the kernel, and a request reads none: recv() does
# not count.

test 'many requests' => sub {
    my $nginx = JppNginx->start(server => "location /values { $values }");
    my ($pid) = $nginx->worker_pids;
    my $client = $nginx->client;

    $client->get('/values');

    my $reads = reads($pid);
    my $time = time;

    $client->get('/values') for 1 .. 1000;

    cmp_ok(reads($pid) - $reads, '<=', 3 * (time - $time + 2),
           'a thousand requests, and some looks');
};


sub reads($pid) {
    return (slurp("/proc/$pid/io") =~ /^syscr: (\d+)/m)[0];
}


test 'no jemalloc', sub { !is_linked() } => sub {
    my $nginx = JppNginx->start(
        preload => [], conf => '',
        http => 'log_format memory "$jemalloc_active $jemalloc_rss_anon";',
        server => "access_log logs/memory memory;
                   location /values { $values }");

    like($nginx->get('/values')->{body}, qr/^   [1-9]\d{5,} 0$/,
         'what is not known is empty');
    ok(wait_until(sub {
        slurp("$nginx->{prefix}/logs/memory") =~ /^- [1-9]\d{5,}$/m;
    }), 'and a dash in a log');
};


# It has a row for each.

test 'the documentation' => sub {
    is_deeply([ slurp("$root/docs/variables.md") =~ /^\| `\$(\w+)` \|/mg ],
              [ slurp("$root/src/nginx/conf/ngx_http_jpp_variables.c")
                =~ /^    \{ ngx_string\("(\w+)"\)/mg ],
              'has all of them');
};
