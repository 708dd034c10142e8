#!/usr/bin/perl

# Profiles of CPU time and of the wall clock: what they cost, and whether they
# are true.
#
#     jpp_cpu.pl [PART...]
#
# A PART is one of
#
#     signal      what a signal costs, 20 frames deep
#     cost        CPU time of workers per request, and requests a second, with a
#                 profile at 99 Hz and without, in turns
#     memory      what a worker has more, at most, during 30 seconds at 99 Hz
#     truth       a worker that burns known shares in three functions, for ten
#                 seconds at 999 Hz
#     overlap     eight profiles at once, of different lengths and frequencies,
#                 against the CPU time that the kernel counts
#     blocks      blocks of 300 ms that are slept, computed, and waited for in
#                 the kernel, in mode=wall
#
# and all are measured where none is named.  It fails where something is not
# true.  JPP_TURNS is how many pairs of turns cost takes (30).

use strict;
use warnings;

use Compress::Zlib;
use Fcntl qw( O_RDWR O_NONBLOCK );
use File::Basename;
use File::Temp;
use POSIX ();
use Test::More;
use Time::HiRes qw( clock_gettime sleep time );

use lib dirname(__FILE__) . '/../../t/lib';

use JppNginx qw( memory slurp spew );
use JppRun qw( $build $checker lua_modules preloads );
use JppStalls qw( stalling );

my $list = '/debug/pprof/profile';
my $turns = $ENV{JPP_TURNS} // 30;

# seconds: of a turn; before what is measured begins, and after
my $turn = 1;
my $margin = 0.5;

# of the time, in %
my %shares = (jpp_burn_one => 20, jpp_burn_two => 30, jpp_burn_three => 50);

# off by less, in %
my $exact = 3;
my $about = 20;

my @parts = qw( signal cost memory truth overlap blocks );
my %parts = (signal => \&signal, cost => \&cost, memory => \&memory_of,
             truth => \&truth, overlap => \&overlap, blocks => \&blocks);

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


# What jpp_load prints about a load of URLs, for SECONDS.

sub load {
    my ($nginx, $seconds, $connections, @paths) = @_;
    my $urls = join ' ', map { "'http://127.0.0.1:$nginx->{port}$_'" } @paths;

    return `$build/bench/jpp_load -c $connections -t $seconds $urls`;
}


# The same in the background, until end().

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


# One worker, so that all else runs on the other CPU.  Pairs of turns, of which
# the second one comes first every other time.

sub cost {
    my $nginx = busy(1);
    my ($pid) = $nginx->worker_pids;
    my %is;

    load($nginx, 2, 8, qw( /fine /text /lua ));

    for my $n (1 .. $turns) {
        for my $with ($n % 2 ? (0, 1) : (1, 0)) {
            push @{ $is{$with} }, turn($nginx, $pid, $with);
        }
    }

    my %ratios;

    for my $n (0 .. $turns - 1) {
        for my $what (qw( rate cpu )) {
            push @{ $ratios{$what} }, $is{1}[$n]{$what} / $is{0}[$n]{$what};
        }
    }

    for my $with (0, 1) {
        printf "# %-8s %.0f requests a second, %.1f us of CPU time each\n",
               $with ? '99 Hz' : 'without',
               median(map { $_->{rate} } @{ $is{$with} }),
               1e6 * median(map { $_->{cpu} } @{ $is{$with} });
    }

    for my $what (qw( rate cpu )) {
        my @sorted = sort { $a <=> $b } @{ $ratios{$what} };

        printf "# %-8s %+.2f %% with it: the median of %d pairs, the middle "
               . "half from %+.2f to %+.2f\n", $what,
               100 * (median(@sorted) - 1), scalar @sorted,
               map { 100 * ($sorted[$_ * $#sorted] - 1) } 0.25, 0.75;
    }

    printf "# others   %.3f %% of the CPU time is that of other threads, with "
           . "it; the signals are in that of the first\n",
           median(map { $_->{others} } @{ $is{1} });

    $nginx->stop;
}


# The load is within the profile's time, whose report is not in the turn.

sub turn {
    my ($nginx, $pid, $with) = @_;
    my $client = $nginx->client;

    if ($with) {
        $client->send_request("$list?seconds=" . ($turn + 1), close => 1);
        sleep 0.3;
    }

    my ($before, $own) = (burnt($pid), main_thread($pid));
    my ($n, $errors, $rate) = load($nginx, $turn, 8, qw( /fine /text /lua ))
                              =~ /requests=(\d+) errors=(\d+).* rate=([\d.]+)/
        or die "no load\n";
    my $cpu = burnt($pid) - $before;

    $own = main_thread($pid) - $own;

    is($client->response->{status}, 200, 'a profile') if $with;

    die "$errors errors\n" if $errors;

    return { rate => $rate, cpu => $cpu / $n, others => 100 * ($cpu - $own)
                                                        / $cpu };
}


sub median {
    my @sorted = sort { $a <=> $b } @_;

    return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
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

    # of profile.proto

    my %times = (9 => 0, 10 => 0);

    JppNginx::fields(Compress::Zlib::memGunzip($bytes), sub {
        my ($field, $value) = @_;

        $times{$field} = $value / 1e9 if exists $times{$field};
    });

    return (@times{9, 10}, $sum / 1e9);
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
    my %under = (slept => 'Perl_pp_sselect', computed => 'Perl_runops_standard',
                 waited => 'posix_spawn');
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
                while $text =~ /;\Q$under{$how}\E(?:;.*)? (\d+)$/mg;
        }

        my $off = 100 * ($found - $made) / $made;

        printf "# %-8s 10 blocks, %.0f ms in all, %.0f ms under %s: %+.1f %%\n",
               $how, $made, $found, $under{$how}, $off;
        cmp_ok(abs $off, '<', $about, "$how: within $about %");
    }

    $nginx->stop;
}


# One block: how long it took, ms.  The kernel's is held by us.

sub block {
    my ($nginx, $how) = @_;
    my $client = $nginx->client;
    my $begin = time();

    if ($how eq 'slept') {
        $client->get('/sleep/', close => 1);
        return 300;
    }

    my $path = "$nginx->{prefix}/" . ($how eq 'computed' ? 'go' : 'fifo');

    $client->send_request(($how eq 'computed' ? '/compute/?' : '/kernel/?')
                          . $path, close => 1);
    sleep 0.3;

    if ($how eq 'computed') {
        spew($path, '');
        $client->response;
        unlink $path;

    } else {
        sysopen my $fifo, $path, O_RDWR|O_NONBLOCK or die "$path: $!\n";
        $client->response;
    }

    return 1000 * (time() - $begin);
}
