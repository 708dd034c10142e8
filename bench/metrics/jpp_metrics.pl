#!/usr/bin/perl

# ./dev bench metrics [PART...]: what metrics costs, and what the module costs
# an nginx that nobody asks for anything but metrics.
#
# The parts, all of them by default: scrapes, heap, loop, pairs, instructions.
#
#     scrape    from the request to the last byte, the median of many, ms
#     worker    CPU time of a scrape, of all threads of a worker, mean, ms
#     heap      what the answering worker has allocated more after all scrapes,
#               and how often it called malloc() for each, beside a request
#               for an empty picture
#     smaps     how often strace saw any of that opened
#     loop      with 8, 64 and 1,024 workers: the CPU time that the event loop
#               of the first worker, which looks at all, and of another takes
#               at each tick of the history; and that a page takes on the event
#               loop that answers it, where most of it is asking the others,
#               one by one.  1,024 workers take some 5 GB and a minute
#     pairs     requests a second of a worker with a location of this module
#               and a scrape every second, beside those of one without, in
#               turns of a second; and of two without, which is the noise.
#               One without sends a text as long in place of the metrics: what
#               a client takes of the same machine is in both
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

use File::Path qw(make_path);
use JppNginx qw( slurp spew );
use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw( sleep time );

my $sampling = 'prof:true,prof_active:true,lg_prof_sample:19';
my $served = 'location /debug/pprof/ { jemalloc_pprof; }';
my $picture = 'location /picture { empty_gif; }';
my $metrics = '/debug/pprof/metrics';

my @parts = @ARGV ? @ARGV : qw( scrapes heap loop pairs instructions );
my %parts = (scrapes => sub { scrapes($_) for 8, 64 }, heap => \&heap,
             loop => sub { event_loop($_) for 8, 64, 1024 },
             pairs => \&pairs, instructions => \&instructions);

for my $part (@parts) {
    ($parts{$part} or die 'a part is one of ' . join(' ', sort keys %parts)
                          . "\n")->();
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


# Seconds of quiet are whole ticks.

sub event_loop {
    my ($workers) = @_;
    my ($quiet, $n) = (30, $workers > 100 ? 5 : 20);

    # a thousand workers take a while to start

    local $JppRun::patience = 600;

    my $nginx = start(workers => $workers, connections => 512);
    my $client = $nginx->client;

    sleep 0.5 until $client->get($metrics)->{body}
                    =~ /^nginx_workers\{state="running"\} $workers$/m;

    my %pid = map { @$_{'worker', 'pid'} }
                  @{ decode_json($client->get('/debug/pprof/status')
                                 ->{body})->{workers} };
    my ($self) = @{ decode_json($client->get(
                    '/debug/pprof/status?worker=self')->{body})->{workers} };
    my @looked = map { main_cpu($pid{$_}) } 0, 1;

    sleep $quiet;
    @looked = map { ($_ - shift @looked) / $quiet * 5 }
                  map { main_cpu($pid{$_}) } 0, 1;

    printf "%d workers: a tick takes %.3f ms of the first event loop, %.3f of "
           . "another\n", $workers, @looked;

    for my $page ('status', 'metrics', 'memory', '') {
        my $cpu = main_cpu($self->{pid});

        $client->get("/debug/pprof/$page") for 1 .. $n;

        printf "    %-10s %.2f ms\n", $page || 'console',
               (main_cpu($self->{pid}) - $cpu) / $n;
    }

    $client->leave;
    $nginx->stop;
}


# Milliseconds that the event loop of PID ran.

sub main_cpu {
    my ($pid) = @_;

    return (split ' ', slurp("/proc/$pid/task/$pid/schedstat"))[0] / 1e6;
}


sub pairs {
    my $with = start(conf => 'prof:true,prof_active:false');
    my $text = $with->get($metrics)->{body};
    my ($without, $control) = map { start(
        server => "location /debug/pprof/ { } $picture",
        conf => 'prof:true,prof_active:false') } 1, 2;

    for my $nginx ($without, $control) {
        make_path("$nginx->{prefix}/html/debug/pprof");
        spew("$nginx->{prefix}/html$metrics", $text);
    }

    ratio('a scrape a second', $without, $with);
    ratio('the noise', $without, $control);

    $_->stop for $without, $control, $with;
}


# The median of many pairs, with what 95 of 100 such medians lie between.

sub ratio {
    my ($what, $first, $second) = @_;
    my ($n, @ratios) = $ENV{JPP_TURNS} // 100;

    for my $i (1 .. $n) {
        my @rates = map { rate($_) } $i % 2 ? ($first, $second)
                                            : ($second, $first);

        push @ratios, $i % 2 ? $rates[1] / $rates[0] : $rates[0] / $rates[1];
    }

    @ratios = sort { $a <=> $b } @ratios;

    printf "%s: %.2f %% of the requests/s (95 %%: %.2f to %.2f)\n", $what,
           map { 100 * $ratios[$n / 2 + $_ * sqrt($n)] } 0, -0.98, 0.98;
}


# Requests a second of NGINX in a second in which it is scraped.

sub rate {
    my ($nginx) = @_;
    my $address = "http://127.0.0.1:$nginx->{port}";
    my $load = "$FindBin::RealBin/../../build/bench/jpp_load";

    open my $loaded, '-|', $load, '-c', 8, '-t', 1, "$address/picture"
        or die "$load: $!";

    sleep 0.5;
    die "no page\n" if $nginx->get($metrics)->{status} != 200;

    my ($rate) = join('', <$loaded>) =~ /\brate=([\d.]+)/ or die;

    close $loaded or die "$load: some requests failed\n";

    return $rate;
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
                       '--toggle-collect=ngx_http_jpp_loop_measure');
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
    my $client = $nginx->client;
    my $begun = time;

    $work->($client);

    my $took = time - $begun;

    $client->leave;
    $nginx->stop;

    my ($n) = slurp($out) =~ /^summary: (\d+)$/m or die "nothing was counted\n";
    unlink $out;

    return ($n, $took);
}
