#!/usr/bin/perl

# Processes that are no workers: they connect to workers, flood them, and listen
# in the place of one that is gone.  They are sent nothing, and keep no client
# from its answer.
#
# Not here: clients of HTTP (fleet/client.t), workers that misbehave
# (fleet/peer.t).
#
# JPP_SOAK=1 asserts times.

use JppTest;
use JppFleet qw( asker fleet is_well measured missing status );
use JppNginx qw( profile );

my $heap = '/debug/pprof/heap';

# seconds of a question, which a busy machine has to keep where times are not
# asserted
my $timeout = $ENV{JPP_SOAK} ? 2 : 40;
my $timeouts = "jemalloc_pprof_timeout ${timeout}s;";


# A process that connects to the sockets of workers, sends something and waits
# for an answer, a thousand times; and listens by a name that looks like theirs.
# It prints the number of connections, and of answers.

sub stranger {
    return <<'EOF';
    use Socket;

    my ($n, @names) = @ARGV;
    my ($n_answers, @all) = 0;

    $SIG{PIPE} = 'IGNORE';

    socket(my $own, AF_UNIX, SOCK_SEQPACKET, 0) or die "socket: $!";
    bind($own, pack 'Sxa*', AF_UNIX, $names[0] =~ s/\w+$/0123456789abcdef/r)
        or die "bind: $!";
    listen($own, 5);

    for my $i (1 .. $n) {
        for my $name (@names) {
            socket(my $s, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0)
                or die "socket: $!";
            connect($s, pack 'Sxa*', AF_UNIX, $name) or next;
            send($s, pack("C", $i % 256) x ($i % 300), 0);
            push @all, $s;
        }
    }

    $_->blocking(1) for @all;

    for my $s (@all) {
        my $length = '';

        setsockopt($s, SOL_SOCKET, SO_RCVTIMEO, pack 'l!l!', 5, 0);
        defined recv($s, my $data, 65536, 0) or next;
        $n_answers++ if length $data;
    }

    print scalar(@all), " $n_answers\n";
EOF
}


test 'one that connects', 'fake', 'root', 'setpriv' => sub {
    my $nginx = fleet($timeouts, workers => 2, fake => '');
    my @pids = $nginx->worker_pids;
    my @names = sockets(@pids);
    my ($uid, $gid) = (getpwnam 'nobody')[2, 3];
    my $file = spew("$nginx->{prefix}/stranger",
                    "use IO::Handle;\n" . stranger());

    $gid = getgrnam('nogroup') // $gid;
    is(scalar @names, 2, 'the names of both');

    for my $who ([ 1, 1 ], [ $uid, $gid ]) {
        my ($as, $group) = @$who;
        my $command = "setpriv --reuid $as --regid $group --clear-groups "
                      . "prlimit --nofile=4096 perl $file 500 @names";

        open my $pipe, '-|', $command or die "$command: $!";

        # meanwhile

        my $n = grep { my $answer = $nginx->get($heap);
                       $answer->{status} == 200 && partly($answer) eq '2/2'
                     } 1 .. 5;
        my ($n_connected, $n_answers) = split ' ', <$pipe> // '';

        ok(close $pipe, 'it ends');
        is($n, 5, "uid $as: profiles of both workers meanwhile");
        cmp_ok($n_connected // 0, '>', 100, 'it has made many connections');
        is($n_answers, 0, 'and was sent nothing');
        is_well($nginx, "uid $as");
    }

    is_deeply([ $nginx->worker_pids ], \@pids, 'the workers live');
};


# A process that listens by a name, and prints for each connection how many
# bytes it was sent.

sub imitator {
    return <<'EOF';
    use IO::Handle;
    use Socket;

    STDOUT->autoflush(1);
    $SIG{PIPE} = 'IGNORE';
    alarm 60;

    socket(my $own, AF_UNIX, SOCK_SEQPACKET, 0) or die "socket: $!";
    bind($own, pack 'Sxa*', AF_UNIX, $ARGV[0]) or die "bind: $!";
    listen($own, 5);
    print "listens\n";

    while (accept(my $s, $own)) {
        setsockopt($s, SOL_SOCKET, SO_RCVTIMEO, pack 'l!l!', 5, 0);
        send($s, "x" x 4096, 0);
        recv($s, my $data, 65536, 0);
        print length($data // ''), "\n";
    }
EOF
}


# A worker is gone, its row is still there, and another process has its name.

test 'one that imitates a worker', 'fake', 'root', 'setpriv' => sub {
    my $nginx = fleet($timeouts, workers => 2, fake => '');
    my ($asker, $client, $victim) = asker($nginx);
    my ($name) = sockets($victim);
    my $file = spew("$nginx->{prefix}/imitator", imitator());

    # the user of the workers

    my $nobody = getpwnam 'nobody';

    is(partly($client->get($heap)), '2/2', 'before');

    # a stopped master reaps no worker, and starts none

    $nginx->signal('STOP');
    $nginx->signal('KILL', $victim);
    ok(wait_until(sub { !sockets($victim) }), 'the name is free');

    is_imitated($client, $victim, $name, $file, $_) for 1, $nobody;

    $nginx->signal('CONT');
    ok($nginx->replaced($victim), 'another worker');
    is_well($nginx, 'imitated');
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
};


sub is_imitated($client, $victim, $name, $file, $uid) {
    my $why = 'another process listens in its place';
    my $pid = open my $pipe, '-|', 'setpriv', '--reuid', $uid, '--regid', $uid,
                                   '--clear-groups', 'perl', $file, $name
        or die "setpriv: $!";

    is(scalar(<$pipe>), "listens\n", "uid $uid has the name");

    my $answer = $client->get($heap);

    is($answer->{status}, 200, "uid $uid: an answer");
    is(partly($answer), '1/2', "uid $uid: of the worker that runs");
    like(missing($answer, "uid $uid")->{$victim} // '', qr/^$why/,
         "uid $uid: the reason for the other");

    is_answer($client->get("$heap?worker=pid-$victim"), 503, qr/$why/,
              "uid $uid: alone: no profile");

    my $status = status($client);

    is("@{ $status->{counts} }", '2 1', "uid $uid: status: one of two");
    like($status->{why}[0] // '', qr/^$why/, "uid $uid: status: the reason");

    $client->get('/debug/pprof/control', body => 'purge=1');

    # four connections, and not a byte

    my @sent = map { scalar <$pipe> } 1 .. 4;

    is(join('', @sent), "0\n" x 4, "uid $uid: it is sent nothing");

    kill 'KILL', $pid;
    close $pipe;
}


# Two processes connect as fast as they can, and keep their connections; they
# are turned away before they delay an answer.

sub flooder {
    return <<'EOF';
    use Socket;
    use Time::HiRes qw(time);

    my ($seconds, @names) = @ARGV;
    my ($end, $n, @all) = (time() + $seconds, 0);

    while (time() < $end) {
        for my $name (@names) {
            socket(my $s, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0)
                or die "socket: $!";
            $n++ if connect($s, pack 'Sxa*', AF_UNIX, $name);
            push @all, $s;
        }

        @all = () if @all > 1000;
    }

    print "$n\n";
EOF
}


test 'a flood', 'fake', 'root', 'setpriv' => sub {
    my $nginx = fleet($timeouts, workers => 2, fake => '');
    my @names = sockets($nginx->worker_pids);
    my $file = spew("$nginx->{prefix}/flooder", flooder());
    my (%answers, %why);

    is(scalar @names, 2, 'the names of both');

    my $command = 'setpriv --reuid 1 --regid 1 --clear-groups '
                  . "prlimit --nofile=4096 perl $file 4 @names";
    my @pipes = map { open my $pipe, '-|', $command or die "$command: $!";
                      $pipe } 1, 2;
    my $end = time() + 3.5;
    my @times;

    # with a worker that is too late it would be 1/2

    while (time() < $end) {
        my $start = time();
        my $answer = $nginx->get($heap);

        push @times, time() - $start;

        $answers{ "$answer->{status} " . partly($answer) }++;
        $why{$_} = 1 for grep { /missing/ } @{ profile($answer)->{comments} };
        sleep 0.01;
    }

    is_deeply([ keys %answers ], [ '200 2/2' ], 'every answer has both workers')
        or diag((map { "$_: $answers{$_}\n" } sort keys %answers),
                map { "$_\n" } sort keys %why);
    measured(sprintf 'flooded: %d answers; the longest %.2f s', scalar @times,
                     max(@times));
    cmp_ok(max(@times), '<', $timeout + 0.5, 'in time') if $ENV{JPP_SOAK};

    for my $pipe (@pipes) {
        cmp_ok(<$pipe> // 0, '>', 1000, 'it has made many connections');
        ok(close $pipe, 'it ends');
    }

    is_well($nginx, 'a flood');
};
