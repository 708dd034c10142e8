#!/usr/bin/perl

# README.md and docs/ show true output: every block of commands is run, with a
# server in the state that its section describes, and prints what is shown.
# t/meta/run.t runs the two blocks about ./dev.
#
# nginx is $TEST_NGINX_BINARY with the modules of $TEST_NGINX_LOAD_MODULES.

use JppTest;
use JppSites qw( searching compressing shaking_hands looping crowded leaking
                 packing three_servers reporting large_buffers slow_uploads
                 idle_tls streams huge_configuration many_connections leak );
use JppStalls qw( backtracking sleeping waiting );
use JppShown qw( shown_blocks shown_pattern shown_script shown_parts );

my $dir = tempdir('jpp-shown-XXXXXX', TMPDIR => 1, CLEANUP => 1);

# what the documents recommend, with which nothing is wrong; and a rate at which
# the examples have something to show
my ($recommended) = slurp("$root/contrib/systemd/nginx.service.d/"
                          . 'jemalloc-pprof.conf')
                    =~ /^Environment=MALLOC_CONF=(.*)$/m;
my $fine = 'prof:true,prof_active:true,lg_prof_sample:14';

# seconds: commands are ended after so many
my $patience = 180;

my $clients = 40;

# The server for each document and heading.

my %states = (
    'README.md' => {
        'Example' => \&downloads,
        'Quick start' => undef,
    },
    'docs/cpu.md' => {
        'A regular expression that backtracks' => \&searching,
        'gzip at level 9' => \&compressing,
        'TLS handshakes' => \&shaking_hands,
        'A loop in Lua' => is_possible('lua') ? \&looping : undef,
    },
    'docs/http.md' => {
        'The root' => \&downloads,
        'status' => \&idle,
        'control' => \&idle,
    },
    'docs/install.md' => {
        'Debian and Ubuntu, as a file' => undef,
    },
    'docs/last-night.md' => {
        'A peak that has passed' => \&passed,
        'A worker that the kernel killed'
            => -w '/sys/fs/cgroup/memory' ? \&killed : undef,
        'Growth over a day' => \&growing,
        'Growth over reloads' => \&reloaded,
        'A cache that only looks like a leak' => \&filled,
    },
    'docs/memory.md' => {
        '' => \&downloads,
    },
    'docs/owners.md' => {
        'Cost of each location' => \&crowded,
        'A leak in a module' => is_possible('perl') ? \&leaking : undef,
        'gzip at level 9 in one location' => \&packing,
        'TLS handshakes of one server' => \&three_servers,
        'A location in Lua' => is_possible('lua') ? \&reporting : undef,
    },
    'docs/pools.md' => {
        'Large buffers in one location' => \&large_buffers,
        'Slow uploads' => \&slow_uploads,
        'Idle TLS' => \&idle_tls,
        'HTTP/2 streams' => \&streams,
        'A huge configuration' => \&huge_configuration,
        '50,000 connections' => \&many_connections,
        'A leak into a pool' => \&leak,
    },
    'docs/reading-a-heap.md' => {
        'An example' => \&downloads,
        'The table of functions' => \&fine,
        'A worked example' => \&alone,
    },
    'docs/security.md' => {
        'DNS rebinding' => \&idle,
    },
    'docs/stalls.md' => {
        'A sleep in a script' => is_possible('scripts') ? \&sleeping : undef,
        'A regular expression that backtracks'
            => is_possible('scripts') ? \&backtracking : undef,
        'A disk that does not answer'
            => is_possible('scripts') ? \&waiting : undef,
    },
    'docs/troubleshooting.md' => {
        'Switching profiling on' => \&malloc,
        'The error log' => \&idle,
        'Refused dumps' => \&idle,
    },
    'docs/two-in-the-morning.md' => {
        map { $_ => \&downloads }
            '1. What is wrong?', '2. Does every worker answer?',
            '3. Where is the memory?', '4. Whose is it?',
            '5. Which requests, and which directive?',
            '6. Does it grow, and in which function?', '7. Why is it slow?'
    },
);

plan skip_all => 'there is no jemalloc' unless has_jemalloc();
plan skip_all => 'there is no go' if system('go version >/dev/null 2>&1') != 0;

check_pattern();

for my $document ('README.md', map { 'docs/' . basename($_) }
                                   glob("$root/docs/*.md"))
{
    my %blocks;

    push @{ $blocks{$_->{heading}} }, $_ for shown_blocks("$root/$document");

    my $states = $states{$document} // {};

    is_deeply([ sort keys %blocks ], [ sort keys %$states ],
              "$document: each section that shows output has a server");

    # sections that speak of the same server share one

    my %headings;

    push @{ $headings{$states->{$_} // ''} }, $_ for sort keys %blocks;

    for my $state (grep { defined } uniq values %$states) {
        my @headings = @{ $headings{$state} };

        next if join(', ', $document, @headings)
                !~ ($ENV{JPP_SUBTEST} // qr/./);

        subtest join(', ', $document, @headings) => sub {
            check($state, map { @{ $blocks{$_} } } @headings);
        };
    }
}



# The pattern of an output must not match everything.

sub check_pattern {

    my $shown = "one sample every 16 KiB, off by 1.5%\n[...]\n"
                . "  2.0 MiB  f+0x1f\n";
    my $pattern = shown_pattern($shown);

    like($shown, $pattern, 'the output as it is shown matches');
    like("one sample every 4 MiB, off by 20.5%\nmore\n 12.5 KiB   f+0xa\n",
         $pattern, 'the same with other numbers matches');

    unlike($shown =~ s/$_->[0]/$_->[1]/r, $pattern, "$_->[2] does not match")
        for [ '16 KiB', '16.0 KiB', 'a number with a point' ],
            [ 'KiB', 'kB', 'another sort of unit' ],
            [ 'every', 'each', 'another word' ],
            [ 'f\+', 'g+', 'another function' ],
            [ '1\.5%', '1.5', 'less of a line' ],
            [ '\z', "more\n", 'another line' ],
            [ '\A', "more\n", 'another line before' ];
}


sub check($state, @blocks) {
    my ($server, @clients) = $state->();
    my ($text, $is_done) = run($server, @blocks);
    my @parts = shown_parts($text);

    ok($is_done, 'the commands end') or diag($text);

    for my $step (map { @{ $_->{steps} } } @blocks) {
        my ($command) = $step->{command} =~ /(.*)/;

        like(shift @parts // '', shown_pattern($step->{output}), $command);
    }

    undef @clients;
    $server->stop(alerts => $server->{allowed});
}


# What the commands print, in a directory that looks like the top of the tree,
# so that they add nothing to that.

sub run($server, @blocks) {
    my $where = tempdir(DIR => $dir);

    symlink "$root/t", "$where/t" or die "$where: $!\n";
    symlink $build, "$where/build" or die "$where: $!\n";

    my $script = shown_script(@blocks);

    $script =~ s/127\.0\.0\.1:8081/127.0.0.1:$server->{port}/g;
    $script =~ s{/var/log/nginx/}{$server->{prefix}/logs/}g;

    spew("$where/script", "P=http://127.0.0.1:$server->{port}/debug/pprof\n",
         $script, "kill \$! 2>/dev/null\n");

    my $text = `cd $where && HOME=$where PPROF_TMPDIR=$where no_proxy='*' \\
                timeout $patience sh script </dev/null`;

    my $is_done = $? >> 8 != 124;

    $text =~ s/"host": ".*?"/"host": "web1"/g;

    return ($text, $is_done);
}


# A server with as many workers as the examples have.

sub server(%how) {
    my $port = free_port();

    my $server = JppNginx->start(workers => 4, conf => $fine,
                                 level => 'notice', port => $port,
                                 server => <<"CONF", %how);
server_name www.example.com;
location /files/ {
    root html;
}
location /large/ {
    proxy_pass http://127.0.0.1:$port/files/;
    proxy_buffers 64 64k;
    proxy_max_temp_file_size 0;
}
location /debug/pprof/ {
    jemalloc_pprof control=on;
}
CONF

    spew("$server->{prefix}/html/files/big.bin", 'x' x (20 << 20));

    return $server;
}


sub idle { server(conf => $recommended) }
sub fine { server() }
sub alone { server(workers => 1) }
sub malloc { server(preload => [ '' ]) }


# Slow clients, once all their buffers are full.

sub downloads {

    my $server = server();

    my @clients = $server->slow($clients, '/large/big.bin');

    ok(wait_until(sub {
        my $text = $server->get('/debug/pprof/heap?format=top')->{body};

        return $text =~ /: 1[5-9]\d\.\d MiB/;
    }), 'the downloads fill their buffers');

    return ($server, @clients);
}


# An nginx whose clock goes SPEED times as fast, and its snapshots.

sub fast($speed, %how) {
    return (preload => [ JppRun::preloads(), $JppRun::clock ],
            env => { JPP_CLOCK => $speed }, %how);
}


sub has_snapshot($server, $reason) {
    return wait_until(sub {
        my $list = $server->json('/debug/pprof/snapshots?format=json');
        return grep { $_->{reason} eq $reason } @{ $list->{snapshots} };
    });
}


# Downloads that have come and gone.

sub passed {
    my $server = server(fast(30));

    ok(has_snapshot($server, 'start'), 'a snapshot of the start');

    my @clients = $server->slow($clients, '/large/big.bin');

    ok(has_snapshot($server, 'growth'), 'the growth is recorded');

    $_->break_off for @clients;

    ok(wait_until(sub {
        $server->get("/debug/pprof/pools?format=folded")->{body}
            !~ m{location /large/};
    }), 'the downloads are gone');

    return $server;
}


# Uploads until the kernel kills a worker in a container of 128 MiB.

sub killed {
    my $dir = "/sys/fs/cgroup/memory/jpp-shown-$$";
    my $part = 'x' x 12_000_000;
    my @clients;

    mkdir $dir or die "$dir: $!";

    my $server = JppNginx->start(
        workers => 2, server => 'server_name www.example.com;
            location /debug/pprof/ { jemalloc_pprof; }
            location /fill { client_body_buffer_size 64m;
                             client_max_body_size 1g;
                             proxy_pass http://127.0.0.1:$server_port/none; }',
        run => [ 'sh', '-c', "echo \$\$ >$dir/cgroup.procs; exec \"\$\@\"",
                 'sh' ]);

    open my $limit, '+<', "$dir/memory.limit_in_bytes" or die "limit: $!";
    print $limit 128 << 20;
    close $limit or die "limit: $!";

    for (1 .. 60) {
        push @clients, $server->upload('/fill', 64_000_000, $part);
        last if slurp("$dir/memory.oom_control") =~ /oom_kill [1-9]/;
        sleep 1;
    }

    ok(has_snapshot($server, 'kill'), 'a worker was killed');
    ok(wait_until(sub {
        $server->get('/debug/pprof/events')->{body} =~ /kill /;
    }), 'which is an event');

    $server->{allowed} = 'exited on signal 9';

    return ($server, @clients);
}


# Headers that do not end: N of them, one each second of its day.

sub headers($server, $n) {
    return map {
        my $client = $server->client;

        $client->write("GET /x HTTP/1.1\r\nHost: growing\r\nX: "
                       . 'x' x 200_000);
        select undef, undef, undef, 0.05;

        $client;
    } 1 .. $n;
}


sub growing {
    my $server = JppNginx->start(fast(100,
        http => 'client_header_buffer_size 256k; client_header_timeout 30d;',
        server => 'server_name growing;
                   location /debug/pprof/ { jemalloc_pprof; }'));

    ok(has_snapshot($server, 'start'), 'a snapshot of the start');

    my @clients;

    ok(wait_until(sub {
        push @clients, headers($server, 10);
        $server->get('/debug/pprof/grown')->{body} =~ /^server growing.* grows/;
    }), 'it grows');

    return ($server, @clients);
}


sub filled {
    my $server = JppNginx->start(fast(100,
        http => 'client_header_buffer_size 256k; client_header_timeout 30d;',
        server => 'server_name growing;
                   location /debug/pprof/ { jemalloc_pprof; }'));
    my @clients = headers($server, 20);

    # until the rise is long past

    ok(wait_until(sub {
        $server->get('/debug/pprof/grown')->{body} =~ /^No owner keeps growing/;
    }), 'it does not grow any more');

    return ($server, @clients);
}


sub reloaded {
    my $server = server(fast(30));
    my @clients;

    ok(has_snapshot($server, 'start'), 'a snapshot of the start');

    for (1 .. 6) {
        push @clients, $server->slow(8, '/large/big.bin');
        $server->reload(is_kept => 1);
    }

    ok(wait_until(sub {
        $server->get('/debug/pprof/pools?format=top&worker=exiting')->{body}
            =~ m{location /large/};
    }), 'old workers hold memory');

    return ($server, @clients);
}
