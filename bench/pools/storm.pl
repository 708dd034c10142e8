#!/usr/bin/perl

# One storm: an nginx with the truth, the mixed load, a walk every 10 ms, and a
# reload every 15 seconds.
#
#     storm.pl NGINX SECONDS [modules] [quic] [again] [junk] [actor=NAME...]
#
# "modules" loads Debian's, "quic" adds HTTP/3, and "again" makes the first
# shutdown of each TLS connection wait.  "junk" preloads jemalloc, which fills
# what is freed with junk; all that walks is asked meanwhile, and a worker is
# killed every 10 seconds.  Prints what the walk found and what it did not, and
# ends with 1 where that is less than what is asked for.

use strict;
use warnings;

use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use IO::Socket::INET;
use POSIX qw(_exit);
use Time::HiRes qw(time sleep);

# At least so much of what lives has to be found.

my $found_at_least = 0.998;

# All that walks, asked with "junk".

my @walks = qw( pools requests?by=connection locations memory?format=top
                memory?detail=ledger );

@ARGV >= 2 or die "usage: storm.pl NGINX SECONDS [modules] [quic] [again]"
                  . " [junk]\n";
my ($nginx, $seconds, @options) = @ARGV;
my %option = map { $_ => 1 } @options;
my $askers = $option{junk} ? 4 : 0;
my @actors = map { /^actor=(.*)/ } @options;

my $here = abs_path(dirname($0));
my $dir = getcwd() . '/build/pools/run';
my $asan = qx(nm -D $nginx) =~ /__asan_init/;
my @pids;

END { kill 'KILL', @pids if @pids }

prepare();
my $backend = backend();
my $master = start();
storm();
stop();
exit report();


sub prepare {
    remove_tree($dir);
    make_path("$dir/html/deep", map { "$dir/$_" } qw(dav/dav body logs));

    # workers run as somebody else
    chmod 0777, $dir, "$dir/dav/dav", "$dir/logs" or die "chmod: $!\n";

    write_file('html/small', 'small');
    write_file('html/index.html', 'index');
    write_file('html/error', 'error');
    write_file('html/big', 'b' x 1_000_000);
    write_file('html/text', join "\n", map { "line $_ a" } 1 .. 20_000);
    write_file('html/deep/page.html', 'deep');
    write_file('html/ssi.html', join "\n",
               map { "<!--#include virtual=\"$_\" -->" }
                   qw(/small /static/small /slow/some /cached /auth));

    for my $n ('', 2) {
        system("openssl req -x509 -newkey rsa:2048 -nodes -days 30"
               . " -subj /CN=main.test -keyout $dir/key$n.pem"
               . " -out $dir/cert$n.pem 2>/dev/null") == 0
            or die "storm.pl: openssl made no certificate\n";
    }

    my $js = slurp("$here/truth.js");
    write_file('truth.js', $js);

    # a part whose mark is not among the options is left out

    my $conf = slurp("$here/nginx.conf.in");
    $conf =~ s/^\@(\w+) ?(.*\n)/$option{$1} ? $2 : ''/gme;
    $conf =~ s/DIR/$dir/g;
    $conf =~ s/WORKERS/2/g;
    write_file('nginx.conf', $conf);
}


sub write_file {
    my ($name, $text) = @_;

    open my $fh, '>', "$dir/$name" or die "$dir/$name: $!\n";
    print $fh $text;
    close $fh or die "$dir/$name: $!\n";
}


sub slurp {
    my ($path) = @_;

    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    my $text = <$fh>;

    return $text;
}


# The backend ends with its standard input.

sub backend {
    write_file('backend.log', '');

    open my $input, '|-', "perl $here/backend.pl >$dir/backend.log 2>&1"
        or die "storm.pl: no backend: $!\n";

    for (1 .. 100) {
        return $input if slurp("$dir/backend.log") =~ /ready/;
        sleep 0.05;
    }

    die "storm.pl: " . slurp("$dir/backend.log");
}


sub start {
    my $pid = fork // die "fork: $!\n";

    if (!$pid) {
        $ENV{TRUTH_REPORT} = "$dir/report";
        $ENV{TRUTH_AGAIN} = 1 if $option{again};

        if ($option{junk}) {
            $ENV{LD_PRELOAD} = 'libjemalloc.so.2';
            $ENV{MALLOC_CONF} = 'junk:true';
        }

        $ENV{ASAN_OPTIONS} = "log_path=$dir/logs/asan:detect_leaks=0"
                             . ":detect_odr_violation=0:abort_on_error=0";
        $ENV{UBSAN_OPTIONS} = "log_path=$dir/logs/asan:print_stacktrace=1";

        open STDERR, '>', "$dir/stderr";
        exec $nginx, '-p', "$dir/", '-c', 'nginx.conf', '-e', "$dir/error.log",
             '-g', 'daemon off;'
            or _exit(1);
    }

    push @pids, $pid;

    for (1 .. 200) {
        return $pid if -s "$dir/nginx.pid";
        sleep 0.1;
        last if waitpid($pid, 1);
    }

    die "storm.pl: nginx does not start: " . slurp("$dir/stderr");
}


sub storm {
    my $load = fork // die "fork: $!\n";

    if (!$load) {
        open STDOUT, '>', "$dir/load.log";
        open STDERR, '>&', \*STDOUT;
        exec 'perl', "$here/load.pl", $seconds, @actors,
             (grep { $option{$_} } qw(modules quic)) or _exit(1);
    }

    push @pids, $load;
    push @pids, map { asker($_) } 1 .. $askers;

    my $reload = time + 15;
    my $death = time + 10;

    while (waitpid($load, 1) == 0) {
        if (time >= $reload) {
            kill 'HUP', $master;
            $reload = time + 15;
        }

        if ($option{junk} && time >= $death) {
            my @workers = split ' ',
                          slurp("/proc/$master/task/$master/children");

            kill 'KILL', $workers[rand @workers] if @workers;
            $death = time + 10;
        }

        sleep 0.1;
    }

    my @askers = splice @pids, -$askers, $askers;

    kill 'TERM', @askers;
    waitpid $_, 0 for @askers;
    pop @pids;
}


# Asks one after the other until it is told to end; writes how often it was
# answered with which status, where 0 is none: of a worker that was killed.  One
# that a reload ends, as it was asked, is leaving.

sub asker {
    my ($number) = @_;
    my $pid = fork // die "fork: $!\n";

    return $pid if $pid;

    my $is_over = 0;
    my %statuses;

    $SIG{TERM} = sub { $is_over = 1 };

    while (!$is_over) {
        for my $path (@walks) {
            $statuses{ask($path) . " $path"}++;
        }
    }

    write_file("asked.$number", join '', map { "$_\t$statuses{$_}\n" }
                                 sort keys %statuses);
    _exit(0);
}


sub ask {
    my ($path) = @_;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.92.53.2',
                                       PeerPort => 8101, Timeout => 5)
        or return 0;

    local $SIG{PIPE} = 'IGNORE';

    print $socket "GET /debug/pprof/$path HTTP/1.0\r\nHost: main.test\r\n\r\n";

    local $/;
    my $answer = <$socket> // '';

    return $answer =~ /this worker is shutting down/ ? 'leaving'
           : $answer =~ /^HTTP\S+ (\d+)/ ? $1 : 0;
}


sub stop {
    kill 'QUIT', $master;

    for (1 .. 300) {
        return @pids = () if waitpid($master, 1);
        sleep 0.1;
    }

    die "storm.pl: nginx does not end\n";
}


sub report {
    my (%n, %kinds, @rows, $walks, $slices);

    for (split /\n/, slurp("$dir/report")) {
        my ($what, @fields) = split /\t/;

        if ($what eq 'walks') {
            ($walks, $slices) = @fields;

        } elsif ($what eq 'count') {
            $n{$fields[0]} += $fields[2];
            $kinds{$fields[1]}{$fields[0]} = $fields[2];

        } else {
            push @rows, \@fields;
        }
    }

    my $live = $n{found} + $n{missed};
    my @asan = glob "$dir/logs/asan.*";
    my $killed = $option{junk} ? qr/exited on signal 9/ : qr/^$/;
    my @dead = grep { /exited on signal|exited with code [^0]/ && !/$killed/ }
               split /\n/, slurp("$dir/error.log");
    my @refused;

    printf "%d walks in %d slices; %d live pools, %d found, %.3f %%; %d false;"
           . "\n%d of a wrong kind; %d of a wrong owner of %d compared, %d"
           . " without one;\n%d said twice, %d moved meanwhile; %d reports of"
           . " sanitizers, %d workers dead\n",
           $walks, $slices, $live, $n{found},
           $live ? 100 * $n{found} / $live : 0,
           @n{qw(false kind owner)}, $n{owned} + $n{owner} + $n{nobody},
           @n{qw(nobody twice moved)}, scalar @asan, scalar @dead;

    for my $kind (sort keys %kinds) {
        my %of = %{$kinds{$kind}};

        printf "  %-22s %8d found %6d missed %8d owned %6d nobody's\n",
               $kind, @of{qw(found missed owned nobody)}
            if $of{found} + $of{missed};
    }

    printf "  %-6s %7d  %s: %s\n", @$_[0, 3, 1, 2]
        for sort { $b->[3] <=> $a->[3] } @rows;

    if ($option{junk}) {
        my %asked;

        for (map { split /\n/, slurp($_) } glob "$dir/asked.*") {
            my ($what, $n) = split /\t/;

            $asked{$what} += $n;
        }

        print "asked:\n", map { "  $asked{$_} x $_\n" } sort keys %asked;
        @refused = grep { !/^(?:200|0|leaving) / } keys %asked;
    }

    print "  $_\n" for @asan, @dead;

    return $live && $n{found} >= $found_at_least * $live
           && !$n{false} && !$n{twice} && !$n{kind} && !$n{owner}
           && !@asan && !@dead && !@refused
           ? 0 : 1;
}
