#!/usr/bin/perl

# Stalls: whether they are true, and what it costs to look for them.
#
#     jpp_stalls.pl [PART...]
#
# A PART is one of
#
#     truth       blocks of 300 ms that are slept, computed, and waited for in
#                 the kernel: how long they are in the profile, under the
#                 function that took them
#     loop        the instructions of an iteration of the event loop that is not
#                 watched, and of one that is, under callgrind
#     watcher     the CPU time of the watcher of an idle worker, and of a busy
#                 one
#
# and all are measured where none is named.  It fails where a block is not
# found, or is off by more than 20 %.  TEST_NGINX_LOAD_MODULES is another module
# than that of ./dev build.

use strict;
use warnings;

use File::Basename;
use POSIX ();
use Test::More;
use Time::HiRes qw( sleep time );

use lib dirname(__FILE__) . '/../../t/lib';

use JppNginx qw( wait_until );
use JppRun qw( slurp );
use JppStalls qw( block stalling stalls %block_under );

my $blocks = 20;
my $requests = 2000;
my $threshold = 100;
my $seconds = 10;

my %parts = (truth => \&truth, loop => \&loop, watcher => \&watcher);

plan('no_plan');

$parts{$_}->() for @ARGV ? @ARGV : qw( truth loop watcher );


sub truth {
    my $nginx = stalling(workers => 2);

    for my $how (qw( slept computed waited )) {
        my $before = taken($nginx, $block_under{$how});
        my $made = 0;

        for (1 .. $blocks) {
            $made += block($nginx, $how);
        }

        wait_until(sub { !grep { / so far, / } @{ (stalls($nginx))[0] } });

        my $found = taken($nginx, $block_under{$how}) - $before;
        my $off = 100 * ($found - $made) / $made;

        printf "# %-8s %d blocks, %.0f ms in all, %.0f ms under %s: %+.1f %%\n",
               $how, $blocks, $made, $found, $block_under{$how}, $off;
        ok(abs $off < 20, "$how: within 20 %");
    }

    $nginx->stop;
}


# What the profile has below FUNCTION so far, ms.

sub taken {
    my ($nginx, $function) = @_;
    my $sum = 0;

    for (@{ (stalls($nginx))[1] }) {
        my ($stack, $value) = /(.*) (\d+)$/;

        $sum += $value if $stack =~ /;\Q$function\E(?:;|$)/;
    }

    return $sum / 1e6;
}


# By the functions of the wrapper alone: what else runs is the same.

sub loop {
    my %is;
    my $prefix = 'ngx_http_jpp_loop_';

    for my $stall ('off', "${threshold}ms") {
        my $out = "/tmp/jpp-stalls-$$.callgrind";

        my $nginx = JppNginx->start(
            master => 0,
            http => $stall eq 'off' ? '' : "jemalloc_pprof_stall $stall;",
            server => 'location /debug/pprof/ { jemalloc_pprof; }',
            preload => [ '' ], conf => '',
            run => [ 'valgrind', '-q', '--tool=callgrind',
                     "--callgrind-out-file=$out", '--trace-children=yes' ]);

        my $client = $nginx->client;

        $client->get('/fine') for 1 .. $requests;

        $nginx->signal('QUIT');
        wait_until(sub { JppNginx::is_gone($nginx->{pid}) });

        my $text = `callgrind_annotate --threshold=100 $out 2>/dev/null`;
        my $own = 0;

        $text =~ s/,//g;
        $own += $1 while $text =~ /^\s*(\d+)\ \([^)]*\)\s+\S*:$prefix
                                   process\b/mgx;

        my ($calls) = slurp($out) =~ /^summary: (\d+)/m;

        unlink $out;
        $is{$stall} = $own;

        printf "# stall %-6s %d requests: %d instructions in the wrapper, %.1f "
               . "a request, of %d\n", $stall, $requests, $own,
               $own / $requests, $calls // 0;
    }

    ok($is{off} > 0, 'the wrapper was counted');
}


sub watcher {
    my $nginx = stalling(stall => "${threshold}ms");
    my ($pid) = $nginx->worker_pids;
    my $tid = wait_until(sub {
        (grep { slurp("/proc/$pid/task/$_/comm") eq "jpp-watch\n" }
         map { m{/(\d+)$} } glob "/proc/$pid/task/*")[0]
    });

    die "no watcher\n" unless $tid;

    for my $state ('idle', 'busy') {
        my @before = spent($pid, $tid);
        my $end = time() + $seconds;
        my $client = $nginx->client;
        my $n = 0;

        while (time() < $end) {
            $state eq 'busy' ? $n += !!$client->get('/fine') : sleep 0.1;
        }

        my @after = spent($pid, $tid);
        my ($nanos, $runs) = map { $after[$_] - $before[$_] } 0, 1;

        printf "# watcher of a worker that is %s: %.1f wake-ups a second, "
               . "%.1f us each, %.4f %% of a CPU (%d requests)\n", $state,
               $runs / $seconds, $nanos / $runs / 1000,
               100 * $nanos / 1e9 / $seconds, $n;
    }

    $nginx->stop;
}


# The time on the CPU in ns, and how often it got it.

sub spent {
    my ($pid, $tid) = @_;

    return (split ' ', slurp("/proc/$pid/task/$tid/schedstat"))[0, 2];
}
