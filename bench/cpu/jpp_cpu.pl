#!/usr/bin/perl

# Profiles of CPU time and of the wall clock: what they cost, and whether they
# are true.
#
#     jpp_cpu.pl [PART...]
#
# A PART is one of
#
#     signal      what a signal costs, 20 frames deep
#     cost        CPU time of a worker per request, and requests a second, with
#                 a profile at 99 Hz, without one, and without one again
#     open        what opening and closing a window costs the event loop of a
#                 worker with 800 threads
#     leave       how long after its client has left a window is over
#     memory      what a worker has more, at most, during 30 seconds at 99 Hz
#     truth       a worker that burns known shares in three functions, for ten
#                 seconds at 999 Hz
#     overlap     eight profiles at once, of different lengths and frequencies,
#                 against the CPU time that the kernel counts
#     blocks      blocks of 300 ms that are slept, computed, and waited for in
#                 the kernel, in mode=wall
#
# and all are measured where none is named.  It fails where something is not
# true.  JPP_TURNS is how many turns of each sort cost takes (100).

use strict;
use warnings;

use File::Basename;
use File::Temp;
use List::Util qw( max min shuffle );
use POSIX ();
use Test::More;
use Time::HiRes qw( clock_gettime sleep time );

use lib dirname(__FILE__) . '/../../t/lib';

use JppNginx qw( memory slurp spew wait_until );
use JppProfile qw( checked read_profile );
use JppRun qw( $build $checker lua_modules preloads );
use JppStalls qw( block stalling %block_under );

my $list = '/debug/pprof/profile';
my $turns = $ENV{JPP_TURNS} // 100;

# seconds: of a turn, and what goes before it; before what is measured begins,
# and after
my $turn = 0.3;
my $pause = 0.1;
my $margin = 0.5;

# of the CPU time, in %
my $most = 1;

my $threads = 800;

# a bit of SIGPROF in the masks of /proc
my $sigprof = 1 << 26;

# of the time, in %
my %shares = (jpp_burn_one => 20, jpp_burn_two => 30, jpp_burn_three => 50);

# off by less, in %
my $exact = 3;
my $about = 20;

my @parts = qw( signal cost open leave memory truth overlap blocks );
my %parts = (signal => \&signal, cost => \&cost, open => \&opened,
             leave => \&left, memory => \&memory_of, truth => \&truth,
             overlap => \&overlap, blocks => \&blocks);

$SIG{PIPE} = 'IGNORE';

plan('no_plan');

$parts{$_}->() for @ARGV ? @ARGV : @parts;


sub signal {
    print map { "# $_\n" } split /\n/, `$build/bench/jpp_cpu_bench`;
    is($?, 0, 'no signal is lost');
}


# What a worker is busy with: a file that is compressed, a regular expression,
# a loop of Lua.

sub busy {
    my ($workers) = @_;
    my $modules = lua_modules();

    return JppNginx->start(workers => $workers, connections => 512,
        main => $modules, preload => [ "$build/bench/jpp_burn.so", preloads() ],
        conf => 'prof:false',
        http => <<'HTTP', server => <<'SERVER');
map $arg_x $slow { "~^(a|aa)+$" yes; default no; }
init_by_lua_block {
    ffi = require "ffi"
    ffi.cdef "void jpp_burn(unsigned, unsigned, unsigned, unsigned);"
}
access_log off;
HTTP
location /debug/pprof/ { jemalloc_pprof; }
location = /counts { stub_status; }
location /slow { return 200 "slow $slow\n"; }
location /lua {
    content_by_lua_block {
        local s = ""
        for i = 1, 200 do s = (s .. i):sub(-100) end
        ngx.say(s)
    }
}
location /text {
    gzip on;
    gzip_types text/plain;
    content_by_lua_block { ngx.say(("some text "):rep(1000)) }
}
location /burn {
    content_by_lua_block {
        local k = tonumber(ngx.var.arg_k)
        ffi.C.jpp_burn(200 * k, 300 * k, 500 * k, 1)
        ngx.say("burnt")
    }
}
SERVER
}


# The CPU time of all threads of PID, those included that have ended: that of
# getrusage(), in seconds.  It is the clock of clock_getcpuclockid().

sub burnt { clock_gettime(~$_[0] << 3 | 2) }


# That of its main thread.

sub main_thread { (split ' ', slurp("/proc/$_[0]/schedstat"))[0] / 1e9 }


# A load of PATHS in the background, for SECONDS or until end().

sub load_beside {
    my ($nginx, $seconds, $connections, @paths) = @_;
    my $pid = fork() // die "fork: $!\n";

    return $pid if $pid != 0;

    open STDOUT, '>', '/dev/null';
    exec "$build/bench/jpp_load", '-c', $connections, '-t', $seconds,
         map { "http://127.0.0.1:$nginx->{port}$_" } @paths
        or POSIX::_exit(127);
}


sub end {
    my ($pid) = @_;

    kill 'KILL', $pid;
    waitpid $pid, 0;
}


# One worker, under a load that never pauses: only profiles come and go.  Each
# turn with one is compared with one without, beside it, and so is another one
# without: that shows what this machine can tell.

sub cost {
    my $nginx = busy(1);
    my ($pid) = $nginx->worker_pids;
    my $beside = load_beside($nginx, 3600, 8, qw( /fine /text /lua ));
    my $client = $nginx->client;
    my %is;

    sleep 2;

    for my $n (1 .. $turns) {
        for my $sort (shuffle qw( without with control )) {
            my $profile = $nginx->client;

            $profile->send_request("$list?seconds=60") if $sort eq 'with';
            sleep $pause;

            push @{ $is{$sort} }, turn($client, $pid);

            $profile->leave;
            sleep $pause;
        }
    }

    end($beside);

    for my $sort (qw( without with )) {
        printf "# %-8s %.0f requests a second, %.2f us of CPU time each, "
               . "%.3f %% of that in other threads\n", $sort,
               map { my $what = $_; median(map { $_->{$what} }
                                           @{ $is{$sort} }) }
                   qw( rate cpu others );
    }

    my %least;

    for my $sort (qw( with control )) {
        for my $what (qw( cpu rate )) {
            my @more = map { 100 * ($is{$sort}[$_]{$what}
                                    / $is{without}[$_]{$what} - 1) }
                           0 .. $turns - 1;
            my ($least, $greatest) = interval(@more);

            printf "# %-8s %-5s %+.2f %%, from %+.2f to %+.2f\n", $sort, $what,
                   median(@more), $least, $greatest;

            $least{"$sort $what"} = $least;
        }
    }

    print "# medians of $turns pairs, and where they lie in 95 cases of 100\n";

    cmp_ok($least{'with cpu'}, '<', $most, "the cost: at most $most %");

    $nginx->stop;
}


sub turn {
    my ($client, $pid) = @_;

    my ($begin, $n, $cpu, $own) = figures($client, $pid);
    sleep $turn;
    my ($end, $n_end, $cpu_end, $own_end) = figures($client, $pid);

    $n = $n_end - $n;
    $cpu = $cpu_end - $cpu;

    return { rate => $n / ($end - $begin), cpu => 1e6 * $cpu / $n,
             others => 100 * max(0, $cpu - ($own_end - $own)) / $cpu };
}


# The time, the requests so far, and the CPU time.

sub figures {
    my ($client, $pid) = @_;
    my ($n) = $client->get('/counts')->{body} =~ m{^ \d+ \d+ (\d+) $}m
        or die "no count\n";

    return (time(), $n, burnt($pid), main_thread($pid));
}


sub median {
    my @sorted = sort { $a <=> $b } @_;

    return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
}


# Where the median lies in 95 cases of 100: as many values are below it as heads
# come up.

sub interval {
    my @sorted = sort { $a <=> $b } @_;
    my $off = 0.98 * sqrt(@sorted);

    return ($sorted[max(0, @sorted / 2 - $off)],
            $sorted[min($#sorted, @sorted / 2 + $off)]);
}


# The request that opens the window, and the client's leaving, are in it.

sub opened {
    my $nginx = JppNginx->start(conf => 'prof:false',
        main => "thread_pool default threads=$threads;", server => <<'SERVER');
location /debug/pprof/ { jemalloc_pprof; }
location /aio/ { aio threads; }
SERVER
    my ($pid) = $nginx->worker_pids;

    for my $mode (qw( cpu wall )) {
        my %took;

        for (1 .. 20) {
            my $client = $nginx->client;
            my @own = main_thread($pid);

            $client->send_request("$list?seconds=60&mode=$mode");
            sleep $margin;
            push @own, main_thread($pid);

            $client->leave;
            sleep $margin;
            push @own, main_thread($pid);

            push @{ $took{opening} }, 1000 * ($own[1] - $own[0]);
            push @{ $took{closing} }, 1000 * ($own[2] - $own[1]);
        }

        for my $what (qw( opening closing )) {
            printf "# mode=%-4s %s: %.2f ms of the event loop, with %d "
                   . "threads\n", $mode, $what, median(@{ $took{$what} }),
                   $threads;
        }

        cmp_ok(median(@{ $took{opening} }), '<', 3, "mode=$mode: it does not "
               . 'wait for a look at all threads');
    }

    $nginx->stop;
}


# From the client's end to the end of the handler, which goes last.

sub left {
    my $nginx = busy(1);
    my ($pid) = $nginx->worker_pids;
    my $beside = load_beside($nginx, 3600, 8, qw( /fine /text /lua ));
    my @took;

    for (1 .. 20) {
        my $client = $nginx->client;

        $client->send_request("$list?seconds=60");
        wait_until(sub { has_handler($pid) }) or die "no window\n";

        my $begin = time();

        $client->leave;
        1 while has_handler($pid) && time() < $begin + 10;

        push @took, 1000 * (time() - $begin);
    }

    printf "# a window is over %.1f ms after its client has left, at most "
           . "%.1f ms\n", median(@took), max(@took);
    cmp_ok(max(@took), '<', 100, 'within 100 ms');

    end($beside);
    $nginx->stop;
}


sub has_handler {
    my ($pid) = @_;
    my ($caught) = slurp("/proc/$pid/status") =~ /^SigCgt:\s+\w+(\w{8})$/m;

    return hex($caught) & $sigprof;
}


# After a profile before, so that what remains of one is not counted.

sub memory_of {
    my $nginx = busy(1);
    my ($pid) = $nginx->worker_pids;
    my @paths = ('/fine', '/text', '/lua', '/slow?x=' . 'a' x 15 . 'b');
    my $beside = load_beside($nginx, 45, 8, @paths);

    $nginx->get("$list?seconds=5");
    sleep 1;

    my $before = 0;

    for (1 .. 50) {
        my $now = memory($pid, 'RssAnon');

        $before = $now if $now > $before;
        sleep 0.02;
    }

    my $client = $nginx->client;

    $client->send_request("$list?seconds=30&format=top", close => 1);

    my ($most, $end) = (0, time() + 30 - $margin);

    while (time() < $end) {
        my $now = memory($pid, 'RssAnon');

        $most = $now if $now > $most;
        sleep 0.02;
    }

    my ($stacks) = $client->response->{body} =~ / in (\d+) stacks/
        or die "no profile\n";

    printf "# 30 s at 99 Hz, %d stacks: %.0f KiB more in the worker, of %.1f "
           . "MiB\n", $stacks, ($most - $before) / 1024, $before / 2 ** 20;

    cmp_ok($most - $before, '<', 1 << 20, 'at most 1 MiB');

    end($beside);
    $nginx->stop;
}


# The functions take turns of 20 to 50 ms each, which is longer than a tick of
# the kernel, and of 2 to 5 ms, where a sample is like a draw from a hat.

sub truth {
    my $nginx = busy(1);

    for my $times (10, 1) {
        my $beside = load_beside($nginx, 20, 2, "/burn?k=$times");

        sleep $margin;

        shares($times, $nginx->get("$list?seconds=10&frequency=999"
                                   . '&format=folded')->{body});
        end($beside);
    }

    $nginx->stop;
}


sub shares {
    my ($times, $text) = @_;
    my ($sum, %is) = 0;

    for (split /\n/, $text) {
        my ($name, $value) = /;(jpp_burn_\w+)\b.* (\d+)$/ or next;

        $is{$name} += $value;
        $sum += $value;
    }

    for my $name (sort { $shares{$a} <=> $shares{$b} } keys %shares) {
        my ($true, $found) = ($shares{$name}, 100 * ($is{$name} // 0) / $sum);
        my $off = $times > 1 ? 100 * ($found / $true - 1) : $found - $true;
        my $of = $times > 1 ? 'the function' : 'all';

        printf "# %-15s %.2f s: %.2f %%, truly %.0f %%: off by %+.2f %% of "
               . "%s\n", $name, ($is{$name} // 0) / 1e9, $found, $true, $off,
               $of;
        cmp_ok(abs $off, '<', $exact, "$name: within $exact % of $of");
    }
}


# The worker's clock is read all the time, so that it is known for the moments
# at which a profile began and ended.  What the threads that write a profile do
# in less than a tenth of a second, the others do not see.

sub overlap {
    my $nginx = busy(1);
    my ($pid) = $nginx->worker_pids;
    my $beside = load_beside($nginx, 30, 2, '/burn?k=1');
    my @asked = ([ 3, 49 ], [ 4, 77 ], [ 5, 99 ], [ 6, 250 ], [ 7, 333 ],
                 [ 8, 500 ], [ 9, 999 ], [ 10, 1000 ]);

    sleep $margin;

    my (@waiting, @clock, $n);

    for my $n (0 .. $#asked) {
        my ($seconds, $frequency) = @{ $asked[$n] };
        my $client = $nginx->client;

        $client->send_request("$list?seconds=$seconds&frequency=$frequency"
                              , close => 1);
        push @waiting, { client => $client, seconds => $seconds,
                         frequency => $frequency };
        push @clock, read_clock($pid, 0.25);
    }

    push @clock, read_clock($pid, 11);

    for my $one (@waiting) {
        my $answer = $one->{client}->response;

        is($answer->{status}, 200, "$one->{seconds} s, $one->{frequency} Hz");

        my ($begin, $lasted, $sum) = measured($answer->{body});
        my $true = at($begin + $lasted, @clock) - at($begin, @clock);
        my $off = 100 * ($sum / $true - 1);

        printf "# %6.3f s at %4d Hz: %.3f s, truly %.3f s: off by %+.2f %%\n",
               $lasted, $one->{frequency}, $sum, $true, $off;
        cmp_ok(abs $off, '<', $exact, "within $exact %");
    }

    end($beside);
    $nginx->stop;
}


# When the profile of a worker began, how long it took, and the CPU time in it;
# all in seconds.

sub measured {
    my ($bytes) = @_;
    my $file = File::Temp->new;

    spew("$file", $bytes);

    my $sum = 0;
    my $text = `$checker --print $file`;

    $sum += $1 while $text =~ /^    \d+ (\d+):/mg;

    my $profile = read_profile(checked($bytes, '--print'));

    return ($profile->{time} / 1e9, $profile->{duration} / 1e9, $sum / 1e9);
}


# Pairs of the time and the worker's CPU time, for SECONDS.

sub read_clock {
    my ($pid, $seconds) = @_;
    my $end = time() + $seconds;
    my @clock;

    while (time() < $end) {
        push @clock, [ time(), burnt($pid) ];
        sleep 0.005;
    }

    return @clock;
}


sub at {
    my ($when, @clock) = @_;

    for (@clock) {
        return $_->[1] if $_->[0] >= $when;
    }

    die "the clock ends before the profile\n";
}


# Each in a profile of its own, under the function that took it.

sub blocks {
    my $nginx = stalling(stall => 'off', workers => 2);

    for my $how (qw( slept computed waited )) {
        my ($made, $found) = (0, 0);

        for (1 .. 10) {
            my $profile = $nginx->client;

            $profile->send_request("$list?seconds=2&mode=wall&format=folded",
                                   close => 1);
            sleep 0.3;
            $made += block($nginx, $how);

            my $text = $profile->response->{body};

            $found += $1 / 1e6
                while $text =~ /;\Q$block_under{$how}\E(?:;.*)? (\d+)$/mg;
        }

        my $off = 100 * ($found - $made) / $made;

        printf "# %-8s 10 blocks, %.0f ms in all, %.0f ms under %s: %+.1f %%\n",
               $how, $made, $found, $block_under{$how}, $off;
        cmp_ok(abs $off, '<', $about, "$how: within $about %");
    }

    $nginx->stop;
}
