package JppNginx;

# An nginx under control: it has an environment, limits and preloads of its own;
# it is asked, sent signals, reloaded, measured and ended, by the end of its
# subtest at the latest.  Then no process may be left, and its error log must
# have no alert.
#
# JppRun chooses nginx, module and jemalloc.  With TEST_NGINX_USE_HUP every
# nginx is reloaded once before it is used.
#
# Everything listens on 127.0.0.1.  Times are bounds against a hang only.

use JppPerl;

use Exporter qw(import);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use JSON::PP qw(decode_json);
use List::Util qw(uniq);
use POSIX qw(:sys_wait_h SIGPROF);
use Test::More;
use Time::HiRes qw(sleep time);

use JppClient;
use JppProfile qw( contract read_profile );
use JppRun qw( $fake binary free_port has_fake has_jemalloc is_alive
               halt is_root loaded preloads slurp spew title wait_until );

our @EXPORT_OK = qw( has_fake has_jemalloc is_root free_port wait_until slurp
                     spew descriptors threads watchers mappings memory limit
                     dumps sockets cpu_time lowest profile partly escaped
                     children is_answer is_gone left_over options );

my $sampling = 'prof:true,prof_active:true,lg_prof_sample:12';

# seconds: what a location has as jemalloc_pprof_timeout that sets none.  It is
# less than a client waits, and more than a worker needs on a busy machine.
my $patience = 40;

# those that run: the pid of the test, the object and the subtest, by prefix
my %running;


# HOW, all of it optional:
#
#     main, events, http, server    pieces of configuration
#     bare                  1: what a server has besides its own is there in
#                           every nginx, without a single optional module
#     level                 of the error log (info)
#     workers               how many (1)
#     master                0: there is none
#     daemon                1: nobody's child, which a binary upgrade needs
#     module                0: it is neither loaded nor used
#     fake                  use the fake jemalloc, with this script
#     preload               a list in place of the environment's
#     conf                  MALLOC_CONF
#     env                   more of the environment
#     run                   a command that runs the one behind it

sub start($class, %how) {
    my $self = $class->launch([], %how);

    $self->wait_daemon if $self->{daemon};
    $self->wait_ready;
    $self->reload if $ENV{TEST_NGINX_USE_HUP} && $self->{master};

    return $self;
}


# Runs nginx with OPTIONS, like -t, in place of a start; its status is in
# {status}.

sub run($class, $options, %how) {
    my $self = $class->launch($options, %how);

    waitpid $self->{pid}, 0;
    $self->{status} = $?;
    delete $running{$self->{prefix}};

    return $self;
}


sub launch($class, $options, %how) {
    my $self = bless {
        workers => 1, master => 1, daemon => 0, module => 1,
        level => 'info',
        conf => $sampling, port => free_port(),
        prefix => tempdir('jpp-nginx-XXXXXX', TMPDIR => 1, CLEANUP => 1),
        %how
    }, $class;

    chmod 0755, $self->{prefix};

    # a sanitizer writes as the worker's user

    for my $dir ('logs', 'temp') {
        mkdir "$self->{prefix}/$dir";
        chmod 0777, "$self->{prefix}/$dir";
    }

    spew("$self->{prefix}/html/fine", "fine\n") if $self->{bare};

    $self->fake($self->{fake}) if defined $self->{fake};
    $self->configure;

    $running{$self->{prefix}} = [ $$, $self, $JppRun::subtest ];

    defined($self->{pid} = fork()) or die "fork: $!";

    if ($self->{pid} == 0) {
        $self->become(@$options);
    }

    return $self;
}


sub wait_daemon($self) {
    my $file = "$self->{prefix}/logs/nginx.pid";

    waitpid $self->{pid}, 0;

    $self->{pid} = wait_until(sub { -s $file && slurp($file) + 0 })
        or die $self->say_why('no daemon');
}


sub become($self, @options) {
    my %env = (MALLOC_CONF => $self->{conf}, %{ $self->{env} // {} });

    my @preload = $self->{preload} ? @{ $self->{preload} }
                : defined $self->{fake} ? $fake : preloads();

    $env{LD_PRELOAD} = join ':', @preload if @preload;
    $env{JPP_FAKE} = "$self->{prefix}/fake" if defined $self->{fake};

    # sanitizers would complain about preloads, and about what nginx keeps

    $env{ASAN_OPTIONS} = 'verify_asan_link_order=0:detect_leaks=0'
                         . ":log_path=$self->{prefix}/logs/asan";
    $env{UBSAN_OPTIONS} = 'print_stacktrace=1';

    open STDIN, '<', '/dev/null';
    open STDOUT, '>', "$self->{prefix}/logs/out";
    open STDERR, '>&', \*STDOUT;

    # some options make jemalloc write files

    chdir $self->{prefix};

    my @nginx = (binary(), @options, '-p', "$self->{prefix}/", '-e',
                 'logs/error.log', '-c', 'nginx.conf');

    { exec @{ $self->{run} // [] }, '/usr/bin/env',
           (map { "$_=$env{$_}" } sort keys %env), @nginx };

    POSIX::_exit(127);
}


sub configure($self, %how) {
    %$self = (%$self, %how);

    my $loads = $self->{module}
                ? join '', map { "load_module $_;\n" } loaded() : '';
    my $user = is_root() ? 'user nobody nogroup;' : '';
    my $master = $self->{master} ? '' : 'master_process off;';
    my $daemon = 'daemon ' . ($self->{daemon} ? 'on;' : 'off;');
    my $env = defined $self->{fake} ? 'env JPP_FAKE;' : '';
    my $temp = join '', map { "    ${_}_temp_path temp/$_;\n" }
                   'client_body', $self->{bare} ? ()
                                  : qw( proxy fastcgi uwsgi scgi );
    my $fine = $self->{bare} ? 'root html;' : 'return 200 "fine\n";';
    my $server = $self->{server}
                 // ($self->{module}
                     ? 'location /debug/pprof/ { jemalloc_pprof; }' : '');

    my ($main, $events, $http) = map { $self->{$_} // '' }
                                 qw( main events http );
    my $timeout = $self->{module} && $http !~ /jemalloc_pprof_timeout/
                  ? "    jemalloc_pprof_timeout ${patience}s;" : '';
    my $connections = $self->{connections} // 256;

    spew("$self->{prefix}/nginx.conf", <<"EOF");
$loads
$user
$master
$env
$daemon
worker_processes $self->{workers};
pid logs/nginx.pid;
error_log logs/error.log $self->{level};
$main
events {
    worker_connections $connections;
    $events
}
http {
$temp
$timeout
    access_log logs/access.log;
    default_type text/plain;
    keepalive_requests 1000000;
$http
    server {
        listen 127.0.0.1:$self->{port};
        location = /fine { $fine }
$server
    }
}
EOF
}


# Changes what the fake jemalloc does; it always logs its dumps.

sub fake($self, $text) {
    spew("$self->{prefix}/fake", "log $self->{prefix}/logs/dumps\n$text");
}


# The log of the fake, from the line FROM on: pairs of a pid and "begins" or
# "ends".

sub dump_log($self, $from = undef) {
    my $log = "$self->{prefix}/logs/dumps";
    my @lines = -e $log ? split /\n/, slurp($log) : ();

    return map { [ split ] } @lines[ ($from // 0) .. $#lines ];
}


# The pids that are in a dump now: the running ones with more beginnings than
# ends.

sub dumping($self) {
    my %n;

    for ($self->dump_log) {
        my ($pid, $what) = @$_;

        $n{$pid} += $what eq 'begins' ? 1 : -1;
    }

    return grep { $n{$_} > 0 && is_alive($_) } keys %n;
}


# Waits until all of PIDS are in a dump.

sub wait_dumping($self, @pids) {
    return wait_until(sub {
        my %is_dumping = map { $_ => 1 } $self->dumping;

        return !grep { !$is_dumping{$_} } @pids;
    });
}


sub wait_ready($self) {
    my $is_ready = wait_until(sub {
        die $self->say_why('nginx ended') if is_gone($self->{pid});

        return $self->worker_pids == $self->{workers}
               && IO::Socket::INET->new(PeerAddr => '127.0.0.1',
                                        PeerPort => $self->{port});
    });

    die $self->say_why('nginx does not listen') unless $is_ready;

    # a worker is ready once it answers, not when it is forked

    $self->get('/fine');
}


sub say_why($self, $what) {
    my @lines = map { -e $_ ? split /\n/, slurp($_) : () }
                map { "$self->{prefix}/logs/$_" } qw( out error.log );

    splice @lines, 0, -20;

    return join "\n", $what, @lines, '';
}


# The workers of MASTER, those included that are exiting.

sub worker_pids($self, $master = undef) {
    my @pids = $self->{pid};

    return @pids unless $self->{master};

    @pids = sort { $a <=> $b }
            grep { title($_) =~ /^nginx: worker process/ }
            children($master // $self->{pid});

    return @pids;
}


# Those that do not answer CLIENT, and last the one that does.

sub workers_of($self, $client, $tree = '/debug/pprof') {
    my $status = $client->get("$tree/worker/self/status")->{body};
    my ($pid) = $status =~ /"pid": (\d+)/ or die "no status: $status\n";

    return ((grep { $_ != $pid } $self->worker_pids), $pid);
}


sub children($parent) {
    return grep {
        my $stat = -e "/proc/$_/stat" ? eval { slurp("/proc/$_/stat") } : '';

        ($stat // '') =~ /.*\) \S (\d+) / && $1 == $parent
    } map { m{/(\d+)$} } glob '/proc/[0-9]*';
}


# All processes of this nginx: those whose errors go to its log.  A machine may
# have very many others, with very many files.

sub processes($self) {
    my $log = "$self->{prefix}/logs/error.log";

    return grep { (readlink("/proc/$_/fd/2") // '') eq $log }
           map { m{/(\d+)$} } glob '/proc/[0-9]*';
}


# The worker that was started last.  Its pid may be lower than the others',
# since pids wrap around.

sub worker($self) {
    return (sort { started($a) <=> started($b) || $a <=> $b }
            $self->worker_pids)[-1];
}


# When PID was started, in ticks since the machine was: the 22nd field of its
# line, the 20th after its name.

sub started($pid) {
    my $stat = eval { slurp("/proc/$pid/stat") } // '';

    return (split ' ', $stat =~ s/.*\) //sr)[19] // 0;
}


sub signal($self, $name, $pid = undef) {
    $pid //= $self->{pid};

    return halt($pid) if $name eq 'STOP';

    kill $name, $pid;
}


# Reloads with what HOW changes; returns once the new workers serve and the old
# ones are gone, or, with is_kept, shutting down.

sub reload($self, %how) {
    my %old = map { $_ => 1 } $self->worker_pids;

    $self->configure(%how);
    $self->signal('HUP');

    wait_until(sub {
        $self->{workers} == grep { !$old{$_} } $self->worker_pids
    }) or die $self->say_why('no new workers');

    # an old worker accepts until it has the signal; a client may keep it longer

    my $is_old = $how{is_kept} ? qr/^nginx: worker process(?! is shutting)/
                               : qr/./;

    wait_until(sub { !grep { $old{$_} && title($_) =~ $is_old }
                     $self->worker_pids })
        or die $self->say_why('old workers do not end');

    $self->get('/fine');
}


# Once other workers have taken the place of PIDS, true.

sub replaced($self, @pids) {
    my %is_old = map { $_ => 1 } @pids;

    return wait_until(sub {
        my @now = $self->worker_pids;

        return @now == $self->{workers} && !grep { $is_old{$_} } @now;
    });
}


# For SECONDS, after each PAUSE, a worker is killed or the configuration is
# reloaded, by turns, and CODE called.  stop() has to allow for it.

sub storm($self, $seconds, $pause, $code = sub { }) {
    my %n;
    my $end = time() + $seconds;

    while (time() < $end) {
        for my $name ('KILL', 'HUP') {
            sleep $pause;
            $code->();

            my @pids = $name eq 'HUP' ? $self->{pid} : $self->worker_pids;

            $n{$name} += kill $name, $pids[rand @pids] if @pids;
        }
    }

    note("$n{KILL} workers killed, $n{HUP} reloads");
}


# The status at PATH, once N workers of one generation answer and no others are
# left.

sub settled($self, $n, $path = '/debug/pprof/status') {
    my $status;

    wait_until(sub {
        $status = $self->json($path);
        return $status->{asked} == $n && $status->{answered} == $n
               && 1 == uniq map { $_->{generation} } @{ $status->{workers} };
    }) or die "$status->{answered} of $status->{asked} workers, not $n\n";

    return $status;
}


# What nginx wrote to the terminal before it had a log.

sub said($self) {
    return slurp("$self->{prefix}/logs/out");
}


sub error_log($self) {
    return slurp("$self->{prefix}/logs/error.log");
}


sub access_log($self) {
    return slurp("$self->{prefix}/logs/access.log");
}


sub client($self, %how) {
    return JppClient->new(port => $self->{port}, %how);
}


# N clients that have asked for PATH.

sub clients($self, $n, $path, %how) {
    my @clients = map { $self->client(%how) } 1 .. $n;

    $_->send_request($path, %how) for @clients;

    return @clients;
}


# One of them.

sub asking($self, $path, %how) { return ($self->clients(1, $path, %how))[0] }


# Those that read no more than the first byte.

sub slow($self, $n, $path, %how) {
    return map {
        my $client = $self->asking($path, window => 4096, %how);

        $client->read_some(30, 1);
        $client;
    } 1 .. $n;
}


# A client that has sent PART of a body of LENGTH bytes, and waits.

sub upload($self, $path, $length, $part, $host = 'localhost') {
    my $client = $self->client;

    $client->write("POST $path HTTP/1.1\r\nHost: $host\r\n"
                   . "Content-Length: $length\r\n\r\n$part");

    return $client;
}


# One request over a connection of its own: status, headers, body.

sub get($self, $path, %how) {
    return $self->client->get($path, %how, close => 1);
}


# The same by METHOD TARGET, headers and a body, as in JppClient.

sub ask($self, @request) {
    return $self->client->ask(@request);
}


# The options of jemalloc: MORE behind those of every nginx.

sub options(@more) { return join ',', $sampling, @more }


# What PATH answers, as JSON.

sub json($self, $path) {
    my $answer = $self->get($path);

    return decode_json($answer->{body}) if $answer->{status} == 200;

    die "$path: $answer->{status} $answer->{body}\n";
}


# That of status.

sub verdict($self) { return $self->json('/debug/pprof/status')->{verdict} }


# The same once it is about nginx: on a busy machine any worker blocks, or waits
# for memory, which is said first until it is acknowledged.

sub calm($self) {
    my $verdict;

    wait_until(sub {
        $verdict = $self->verdict;
        return 1 if $verdict->{id} !~ /^(?:stalls|pressure)$/;

        $self->ask('POST', '/debug/pprof/control',
                   \"acknowledge=$verdict->{id}");
        return 0;
    });

    return $verdict;
}


# TEXT, any bytes, in a URI.

sub escaped($text) {
    return $text =~ s/([^\w.])/sprintf '%%%02x', ord $1/ger;
}


# Has PID ended?  An upgraded master is not our child, and may be a zombie.

sub is_gone($pid) {
    return waitpid($pid, WNOHANG) == $pid || !is_alive($pid);
}


# Ends nginx, and tests that it ends.  HOW: is_told (the test has sent the
# signal already); alerts, a pattern of lines that the log may have.

sub stop($self, %how) {
    my @wrong;

    $self->signal('TERM') unless $how{is_told};

    push @wrong, 'the master does not end'
        unless wait_until(sub { is_gone($self->{pid}) });

    wait_until(sub { !$self->processes });

    push @wrong, "process $_ is left: " . title($_) for $self->processes;
    push @wrong, $self->alerts($how{alerts});
    push @wrong, map { slurp($_) } glob "$self->{prefix}/logs/asan*";

    $self->kill_all;
    delete $running{$self->{prefix}};

    ok(!@wrong, 'nginx ends, and leaves a clean log and no process')
        or diag(join "\n", @wrong);
}


sub alerts($self, $allowed = undef) {
    return grep {
        /\[(?:alert|crit|emerg)\]|exited with (?:fatal )?code [1-9]/
        && !(defined $allowed && /$allowed/)
    } split /\n/, $self->error_log;
}


sub kill_all($self) {
    kill 'KILL', $self->processes;
    waitpid $self->{pid}, 0;
}


# A subtest ends with the end of every nginx that it has started.

push @JppRun::ends, sub {
    $_->[1]->stop for grep { ($_->[2] // '') eq $JppRun::subtest }
                      @running{ sort keys %running };
};


# A test that died leaves no process either.

END {
    my $status = $?;

    for my $entry (values %running) {
        my ($pid, $nginx) = @$entry;

        $nginx->kill_all if $pid == $$;
    }

    $? = $status;
}


# The descriptors of a process.

sub descriptors($pid) {
    return map { m{/(\d+)$} } glob "/proc/$pid/fd/*";
}


# Those of PID, but for the one that watches for stalls.

sub threads($pid) {
    return scalar(() = glob "/proc/$pid/task/*") - watchers($pid);
}


sub watchers($pid) {
    return scalar grep { (eval { slurp($_) } // '') eq "jpp-watch\n" }
                       glob "/proc/$pid/task/*/comm";
}


# What PID has set up for samples of time: handler, thread, timer.

sub left_over($pid) {
    my $status = slurp("/proc/$pid/status");
    my ($caught) = $status =~ /^SigCgt:\s+\w+(\w{8})$/m;
    my @left;

    push @left, 'a handler' if hex($caught) & 1 << SIGPROF - 1;
    push @left, 'a thread' if $status !~ /^Threads:\s+1$/m;
    push @left, 'a timer' if -r "/proc/$pid/timers"
                             && slurp("/proc/$pid/timers") =~ /^ID:/m;

    return join ', ', @left;
}


sub mappings($pid) {
    return scalar(() = slurp("/proc/$pid/maps") =~ /\n/g);
}


# How many dumps a process holds, open or mapped.  A worker keeps one, its
# baseline.

sub dumps($pid) {
    my %inodes;

    for (descriptors($pid)) {
        my $path = "/proc/$pid/fd/$_";

        $inodes{ (stat $path)[1] // 0 } = 1
            if (readlink($path) // '') =~ m{^/memfd:jemalloc-pprof};
    }

    my $maps = eval { slurp("/proc/$pid/maps") } // '';

    $inodes{$1} = 1 while $maps =~ m{ (\d+) +/memfd:jemalloc-pprof}g;

    return scalar keys %inodes;
}


# The names by which the workers PIDS listen.

sub sockets {
    my %is_ours = map { $_ => 1 } @_;

    return grep { /\.(\d+)\./ && $is_ours{$1} }
           slurp('/proc/net/unix') =~ / \@(jemalloc_pprof\.\S+)$/mg;
}


# The CPU time of a process, in seconds.

sub cpu_time($pid) {
    my @fields = split ' ', slurp("/proc/$pid/stat") =~ s/.*\) //sr;

    return ($fields[11] + $fields[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}


# The limit of open files that leaves PID exactly FREE descriptors.

sub lowest($free, $pid) {
    my %is_used = map { $_ => 1 } descriptors($pid);
    my $n = 0;

    for ( ;; $n++) {
        next if $is_used{$n};
        return $n if $free-- == 0;
    }
}


# ANSWER has STATUS, and a body like LIKE: a pattern, or a sentence and its end
# of line.

sub is_answer($answer, $status, $like, $what) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($answer->{status}, $status, $what);
    like($answer->{body}, ref $like ? $like : qr/\A\Q$like\E\n\z/,
         "$what: its text");
}


# How many workers answered, and how many were asked.

sub partly($answer) {
    return $answer->{headers}{'jemalloc-pprof-workers'} // 'none';
}


# The parts of an answer in pprof's format, which has to keep the contract of a
# heap.

sub profile($answer) {
    my $text = contract($answer->{body});

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    like($text, qr/^types: /, 'the profile keeps the contract');

    return read_profile($text);
}


# A figure of memory in /proc/PID/status, in bytes.

sub memory($pid, $what) {
    return slurp("/proc/$pid/status") =~ /^$what:\s+(\d+) kB/m ? $1 * 1024
                                                               : undef;
}


# Sets a soft limit of PID, by prlimit's name of it, and returns the old one.
# Not every root may do that to others, so PID's user does.

sub limit($pid, $what, $value) {
    my %id = slurp("/proc/$pid/status") =~ /^(Uid|Gid):\s+(\d+)/mg;

    my $as = is_root() ? "setpriv --reuid $id{Uid} --regid $id{Gid} "
                         . '--clear-groups ' : '';
    my $command = "${as}prlimit --pid $pid";

    chomp(my $was = `$command --$what --noheadings --output SOFT`);
    system("$command --$what=$value:") == 0 or die "prlimit: $?\n";

    return $was =~ s/\s//gr;
}


1;
