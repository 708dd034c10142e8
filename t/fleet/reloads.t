#!/usr/bin/perl

# Reloads one after the other, faster than workers come and go, under constant
# requests for profiles: nothing adds up, least of all in the master.
#
# Not here: what one reload does (fleet/reload.t).
#
# JPP_SOAK=1 does a thousand.

use JppTest;

my $n_reloads = $ENV{JPP_SOAK} ? 1000 : 60;
my $n_scrapers = 4;

# bytes, after the first fifth: what is allocated once may still grow
my $may_grow = $ENV{JPP_SOAK} ? 256 * 1024 : 1024 * 1024;
my $n_workers = 2;

# seconds between two reloads
my $pause = 0.06;

my $heap = '/debug/pprof/heap';
my $exiting = "$heap?worker=exiting";
my @paths = ($heap, "$heap?format=folded", '/debug/pprof/status', $exiting);

# The answers that are allowed besides 200, as PATH: STATUS SENTENCE.  Only
# exiting workers may be missing, or end while they are asked.

my $gone = 'it exited before it answered|it no longer listens, so it has '
           . 'exited';

my @allowed = (
    qr/^\S+: 503 this worker is shutting down: ask again, another one will (?#
      )answer$/,
    qr/^\Q$exiting\E: 404 no such worker: status lists all workers$/,
    qr/^\Q$exiting\E: 503 (?:$gone)/,
    qr/^\Q$exiting\E: 503 no worker answered: worker N \(pid N\), (?:$gone)/,
);

plan skip_all => 'no jemalloc' unless has_jemalloc();
plan tests => 11 + @paths;

my $nginx = JppNginx->start(workers => $n_workers);

# tells the scrapers to end
my $enough = "$nginx->{prefix}/enough";

# what is allocated once

reload($_) for 1 .. 5;
is_settled();

my $master = $nginx->{pid};
my $n_descriptors = () = descriptors($master);
my %seen = map { $_ => 1 } $nginx->worker_pids;
my @scrapers = map { scraper($_) } 0 .. $n_scrapers - 1;
my @memory;

# what grows with every reload grows from the first fifth to the last

for my $part (1 .. 5) {
    for (1 .. $n_reloads / 5) {
        reload();
        $seen{$_} = 1 for $nginx->worker_pids;
    }

    is_settled();
    push @memory, memory($master, 'VmRSS');
}

my %answers = scraped(@scrapers);
my $n_profiles = 0;

diag(join "\n", map { "$answers{$_} of $_" } sort keys %answers);

$n_profiles += $answers{"$_: 200"} // 0 for @paths;

cmp_ok($n_profiles, '>', $n_reloads, 'profiles all the time');

for my $path (@paths) {
    cmp_ok($answers{"$path: 200"} // 0, '>', 0, "some of $path");
}

is_deeply([ grep { my $answer = $_;
                   $answer !~ /: 200$/ && !grep { $answer =~ $_ } @allowed }
                 sort keys %answers ], [],
          'the others say that no worker exits, or that one just did');

ok(is_settled(), 'the old workers are gone');
ok(wait_until(sub { descriptors($master) <= $n_descriptors }),
   "the master's descriptors are no more than before");
cmp_ok($memory[-1] - $memory[0], '<=', $may_grow,
       'and its memory does not grow');
diag("RSS of the master: @memory");

my @pids = $nginx->worker_pids;
my $status = $nginx->get('/debug/pprof/status')->{body};

is_deeply([ sort { $a <=> $b } $status =~ /"pid": (\d+)/g ], \@pids,
          'the table has the running workers, and no others') or diag($status);
is(scalar(sockets(grep { my $pid = $_; !grep { $_ == $pid } @pids }
                  keys %seen)), 0, 'no other worker listens');
is_deeply([ grep { !wait_until(sub { dumps($_) == 1 }) } @pids ], [],
          'they hold no dump but the baseline');
is(partly($nginx->get($heap)), "$n_workers/$n_workers", 'all of them answer');
unlike($nginx->error_log, qr/exited on signal|exited with code [1-9]/,
       'no worker crashed');

$nginx->stop;


sub reload {
    $nginx->signal('HUP');
    sleep $pause;
}


# As many workers as configured, and none that is shutting down.

sub is_settled {
    return wait_until(sub {
        my @pids = $nginx->worker_pids;

        return @pids == $n_workers
               && $n_workers == children($nginx->{pid})
               && !grep { title($_) =~ /shutting down/ } @pids;
    });
}


# A process that asks until $enough is there, and prints the answers it had.

sub scraper($i) {
    pipe my $parser, my $writer or die "pipe: $!";
    defined(my $pid = fork) or die "fork: $!";

    return [ $pid, $parser ] if $pid;

    my (%n, $test);

    close $parser;
    $test = getppid;

    # a file, since a signal would interrupt a request

    until (-e $enough || getppid != $test) {
        my $path = $paths[$i++ % @paths];
        my $answer = eval { $nginx->get($path) };

        $n{ "$path: " . ($answer ? ended($answer) : "error $@") }++;
    }

    syswrite $writer, join '', map { "$n{$_} $_\n" } sort keys %n;
    POSIX::_exit(0);
}


# The status, and the sentence of an error with N for its numbers.

sub ended($answer) {
    return '200' if $answer->{status} == 200;

    my ($line) = $answer->{body} =~ /^(.*)/;

    return "$answer->{status} " . ($line =~ s/\b\d+\b/N/gr);
}


sub scraped {
    my %n;

    # a busy machine serves fewer profiles in this time

    wait_until(sub {
        my $n = () = $nginx->access_log
                     =~ m{ /debug/pprof/heap\S* HTTP\S+ 200 }g;

        return $n > $n_reloads;
    });
    spew($enough, '');

    for (@_) {
        my ($pid, $parser) = @$_;

        /^(\d+) (.*)/ and $n{$2} += $1 while <$parser>;
        waitpid $pid, 0;
    }

    return %n;
}
