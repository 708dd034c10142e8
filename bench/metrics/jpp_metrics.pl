#!/usr/bin/perl

# ./dev bench metrics [PART...]: what metrics costs, and what the module costs
# an nginx that nobody asks for anything but metrics.
#
# The parts, all of them by default: scrapes, heap, instructions.
#
#     scrape    from the request to the last byte, the median of many, ms
#     worker    CPU time of a scrape, of all threads of a worker, mean, ms
#     heap      what the answering worker has allocated more after all scrapes,
#               and how often it called malloc() for each, beside a request
#               for an empty picture
#     smaps     how often strace saw any of that opened
#     request   instructions of a request for an empty picture, without a
#               location of this module and with one, whose event loop is
#               measured and whose history is written
#               The clock is read by iterations of the event loop that take
#               more than a fraction of a millisecond, which are all of them
#               under valgrind, and few of a busy worker
#     second    instructions of the history, of a scrape, and what both are of
#               those of the requests that a worker can serve in a second
#
# Instructions are those of one nginx process under valgrind, a long run less a
# short one; what time alone costs is measured by itself and taken off, since
# valgrind makes it seem fifty times as much.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";

use JppNginx qw( slurp );
use Test::More;
use Time::HiRes qw( sleep time );

my $sampling = 'prof:true,prof_active:true,lg_prof_sample:19';
my $served = 'location /debug/pprof/ { jemalloc_pprof; }';
my $picture = 'location /picture { empty_gif; }';
my $metrics = '/debug/pprof/metrics';

my @parts = @ARGV ? @ARGV : qw( scrapes heap instructions );
my %parts = (scrapes => sub { scrapes($_) for 8, 64 }, heap => \&heap,
             instructions => \&instructions);

for my $part (@parts) {
    ($parts{$part} or die "a part is one of scrapes heap instructions\n")->();
}

done_testing();


sub start {
    my (%how) = @_;

    return JppNginx->start(conf => $sampling, level => 'warn',
                           server => "$served $picture", %how);
}


sub scrapes {
    my ($workers) = @_;
    my $n = $workers == 8 ? 500 : 100;
    my $nginx = start(workers => $workers, connections => 512);
    my $client = $nginx->client;

    sleep 0.1 until $client->get($metrics)->{body}
                    =~ /^nginx_workers\{state="running"\} $workers$/m;

    my @pids = $nginx->worker_pids;
    my $cpu = cpu(@pids);
    my (@took, $answer);

    for (1 .. $n) {
        my $begun = time;

        $answer = $client->get($metrics);
        push @took, 1000 * (time - $begun);
    }

    $cpu = cpu(@pids) - $cpu;
    @took = sort { $a <=> $b } @took;

    printf "%d workers: %.2f ms a scrape (the slowest of ten %.2f), %.3f ms "
           . "of CPU a worker, %d lines\n", $workers, $took[$n / 2],
           $took[$n * 0.9], $cpu / $n / $workers,
           scalar(() = $answer->{body} =~ /\n/g);

    smaps($client, @pids) if $workers == 8;

    $client->leave;
    $nginx->stop;
}


# Milliseconds that the threads of PIDS ran.

sub cpu {
    my $ns = 0;

    for my $pid (@_) {
        for my $file (glob "/proc/$pid/task/*/schedstat") {
            $ns += (split ' ', slurp($file))[0];
        }
    }

    return $ns / 1e6;
}


sub smaps {
    my ($client, @pids) = @_;
    my $log = "/tmp/jpp-bench-strace.$$";

    defined(my $strace = fork()) or die "fork: $!";

    if ($strace == 0) {
        exec 'strace', '-f', '-qq', '-e', 'trace=openat,open', '-o', $log,
             map { ('-p', $_) } @pids;
        die "strace: $!";
    }

    sleep 2;
    $client->get($metrics) for 1 .. 20;
    kill 'INT', $strace;
    waitpid $strace, 0;

    my $seen = slurp($log);
    unlink $log;

    printf "%d files opened in 20 scrapes, %d of them smaps\n",
           scalar(() = $seen =~ /open/g), scalar(() = $seen =~ /smaps/g);
}


sub heap {
    my $nginx = start(conf => 'prof:true,prof_active:false');
    my $client = $nginx->client;

    # whatever is allocated once is there

    $client->get($metrics) for 1 .. 50;
    $client->get('/picture') for 1 .. 50;

    my @at = counts($client);

    $client->get('/picture') for 1 .. 1000;
    push @at, counts($client);

    $client->get($metrics) for 1 .. 1000;
    push @at, counts($client);

    printf "heap: %d bytes after 1000 pictures, %d after 1000 scrapes; "
           . "%.2f malloc() a picture, %.2f a scrape\n",
           $at[2] - $at[0], $at[4] - $at[2],
           ($at[3] - $at[1]) / 1000, ($at[5] - $at[3]) / 1000;

    $client->leave;
    $nginx->stop;
}


# What is allocated, and how often something was.

sub counts {
    my ($client) = @_;
    my $body = $client->get($metrics)->{body};

    return map { $body =~ /^nginx_jemalloc_$_\{worker="0"\} (\d+)$/m }
           'allocated_bytes', 'mallocs_total';
}


sub instructions {
    # a location more is one more to compare the URI with

    my @plain = part("location /debug/pprof/ { return 204; } $picture");
    my @module = part("$served $picture");

    my ($idle) = counted("$served $picture", sub { sleep 2 });
    my ($longer) = counted("$served $picture", sub { sleep 22 });
    my $second = ($longer - $idle) / 20;

    my ($ten) = counted("$served $picture", sub { scrape($_[0], 10) });
    my ($sixty) = counted("$served $picture", sub { scrape($_[0], 60) });
    my $scrape = ($sixty - $ten) / 50;

    my $request = $module[0] - $second * $module[1];
    my ($clock) = part("$served $picture",
                       '--toggle-collect=ngx_http_jemalloc_pprof_loop_measure');
    my $more = $request - $clock - $plain[0];
    my $capacity = capacity();

    printf "request: %d instructions, %+d with the module (%+.2f %%); and %d "
           . "where the clock is read\n",
           $plain[0], $more, 100 * $more / $plain[0], $clock;
    printf "second: %d instructions of the history, %d of a scrape: %.3f %% "
           . "of %d requests\n", $second, $scrape,
           100 * ($second + $scrape) / $capacity / $plain[0], $capacity;
}


# Requests that a worker can serve in a second of CPU time, with the kernel's
# part.

sub capacity {
    my $nginx = start(conf => 'prof:true,prof_active:false');
    my $client = $nginx->client;
    my @pids = $nginx->worker_pids;

    pictures($client, 1000);

    my $cpu = cpu(@pids);

    pictures($client, 10000);
    $cpu = cpu(@pids) - $cpu;

    $client->leave;
    $nginx->stop;

    return 10000 * 1000 / $cpu;
}


sub scrape {
    my ($client, $n) = @_;

    $client->get($metrics) for 1 .. $n;
}


# Instructions and seconds of a request, of SERVER; valgrind may have OPTIONS.

sub part {
    my ($server, @options) = @_;
    my ($few, $few_time) = counted($server, sub { pictures($_[0], 200) },
                                   @options);
    my ($many, $many_time) = counted($server, sub { pictures($_[0], 4200) },
                                     @options);

    return (($many - $few) / 4000, ($many_time - $few_time) / 4000);
}


sub pictures {
    my ($client, $n) = @_;

    $client->get('/picture') for 1 .. $n;
}


# Instructions of a single process that serves WORK, and how long that took.

sub counted {
    my ($server, $work, @options) = @_;
    my $out = "/tmp/jpp-bench-callgrind.$$";

    # samples come at random

    my $nginx = start(master => 0, server => $server,
                      conf => 'prof:true,prof_active:false', run => [
        'valgrind', '-q', '--tool=callgrind', '--trace-children=yes',
        "--callgrind-out-file=$out", @options ]);
    my $client = $nginx->client(timeout => 60);
    my $begun = time;

    $work->($client);

    my $took = time - $begun;

    $client->leave;
    $nginx->stop;

    my ($n) = slurp($out) =~ /^summary: (\d+)$/m or die "nothing was counted\n";
    unlink $out;

    return ($n, $took);
}
