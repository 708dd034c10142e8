#!/usr/bin/perl

# What a fleet may cost: several workers that do not answer, how much is asked
# and kept in memory at a time, numbers of workers, and others that stand in
# the way.

use strict;
use warnings;

use File::Basename;
use List::Util qw(max);
use Test::More;
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__) . '/lib';

use JppNginx qw( wait_until free_port slurp spew threads
                 memory dumps sockets profile partly );
use JppRun qw( subtests );

# what hangs ends
alarm 300;

my $heap = '/debug/pprof/heap';

# seconds: of a question, and what may be added by the report
my $timeout = 2;
my $more = 0.5;

# jemalloc_pprof_max_size where dumps are large, and how much of that a worker
# may have in memory
my $max_size = 8 * 1024 * 1024;
my $total = 4 * $max_size;

# what connections may take beside it: less than one more answer
my $spare = 1024 * 1024;

subtests(
    'several that are stopped' => [ \&stopped, 'fake' ],
    'no more than two questions at a time' => [ \&two_at_a_time, 'fake' ],
    'answers that nobody reads' => [ \&unread, 'fake' ],
    'dumps that do not fit' => [ \&too_many, 'fake' ],
    'a difference of dumps that just fit' => [ \&just_fit, 'fake' ],
    'a difference, and one that ended' => [ \&ended, 'fake' ],
    'many workers, before and after a reload'
        => [ \&crowd, 'fake', 'memory' ],
    'one who imitates a worker'
        => [ \&imitated, 'fake', 'root', 'setpriv' ],
    'a flood that does not end'
        => [ \&flooded, 'fake', 'root', 'setpriv' ],
);


sub start {
    my ($directives, %how) = @_;

    return JppNginx->start(fake => '', server => <<"EOF", %how);
        location /debug/pprof/ {
            jemalloc_pprof control=on;
            $directives
        }
        location = /pid { return 200 \$pid; }
        location /file { root .; }
EOF
}


# N clients of one worker for as long as they live, and who that is.

sub clients_of_one {
    my ($nginx, $n) = @_;
    my %clients;

    for ( ;; ) {
        my $client = $nginx->client;
        my $pid = $client->get('/pid')->{body};

        push @{ $clients{$pid} }, $client;

        return ($pid, @{ $clients{$pid} }) if @{ $clients{$pid} } == $n;
    }
}


# Why workers are missing, by pid; they are as many as the header says.

sub missing {
    my ($answer, $what) = @_;
    my ($n, $of) = partly($answer) =~ m{^(\d+)/(\d+)$} or return {};
    my @comments = @{ profile($answer)->{comments} };

    my %why = map { /^worker \d+ pid (\d+) is missing: (.+)$/ ? ($1, $2) : () }
              @comments;

    is($of - $n, scalar keys %why, "$what: as many as are missing are named")
        or diag(partly($answer), map { "\n$_" } @comments);

    return \%why;
}


# What status says of how many were asked, how many answered, and why not all.

sub status {
    my ($client) = @_;
    my $text = $client->get('/debug/pprof/status')->{body};
    my ($there, $missing) = $text =~ /^(.*?)"missing": (\[.*?\])/s;

    return { counts => [ $there =~ /"asked": (\d+),\s+"answered": (\d+)/ ],
             pids => [ $there =~ /"pid": (\d+)/g ],
             why => [ $missing =~ /"why": "(.*?)"/g ] };
}


# Within five seconds all workers answer, and hold nothing of anybody.

sub is_well {
    my ($nginx, $what) = @_;
    my $all = "$nginx->{workers}/$nginx->{workers}";
    my $answer;

    ok(wait_until(sub {
        $answer = $nginx->get($heap);

        return $answer->{status} == 200 && partly($answer) eq $all
               && !grep { dumps($_) != 1 || threads($_) != 1 }
                   $nginx->worker_pids;
    }, 5), "$what: all is well again")
        or diag("$answer->{status} ", partly($answer), ' of ',
                join ', ', map { "$_: @{[ dumps($_) ]}" } $nginx->worker_pids);
}


# Those that do not answer do not keep the others from being asked.

sub stopped {
    my $nginx = start("jemalloc_pprof_timeout ${timeout}s;", workers => 4);
    my ($asker, $client) = clients_of_one($nginx, 1);
    my @others = grep { $_ != $asker } $nginx->worker_pids;

    is(partly($client->get($heap)), '4/4', 'before');

    for my $n (2, 3) {
        my @victims = @others[0 .. $n - 1];
        my $expected = 4 - $n . '/4';

        $nginx->signal('STOP', $_) for @victims;

        my $start = time();
        my $answer = $client->get($heap);
        my $time = time() - $start;

        is($answer->{status}, 200, "$n: an answer") or diag($answer->{body});
        cmp_ok($time, '>', $timeout - 0.1, "$n: no earlier than its deadline");
        cmp_ok($time, '<', $timeout + $more, "$n: and not much later");
        is(partly($answer), $expected, "$n: of all that live");
        is_deeply(missing($answer, $n), { map {
            ($_, 'no answer within 2000 ms (jemalloc_pprof_timeout)')
        } @victims }, "$n: and why not of the others");

        $start = time();

        my $status = status($client);

        cmp_ok(time() - $start, '<', $timeout + $more, "$n: status in time");
        is("@{ $status->{counts} }", '4 ' . (4 - $n), "$n: of as many");
        is(scalar(grep { /^no answer within 2000 ms/ } @{ $status->{why} }),
           $n, "$n: and why");

        $nginx->signal('CONT', $_) for @victims;
        is_well($nginx, "$n that go on");
    }

    $nginx->stop;
}


# A worker asks two at a time, however many questions it has.

sub two_at_a_time {
    my $nginx = start('jemalloc_pprof_timeout 20s;', workers => 6);
    my @selectors = ((map { "?worker=$_" } 0 .. 5), '', '?worker=self');
    my ($asker, @clients) = clients_of_one($nginx, scalar @selectors);
    my @pids = $nginx->worker_pids;
    my ($most, @last) = (0);

    is($clients[0]->get($heap)->{status}, 200, 'before');
    $nginx->fake("hang 0.3\n");

    for my $i (0 .. $#clients) {
        $clients[$i]->send_request("$heap$selectors[$i]");
    }

    # a dump that is there before and after a moment was there in it

    my $end = time() + 30;

    while (time() < $end && grep { !$_->hears(0) } @clients) {
        my %was = map { $_ => 1 } @last;

        @last = sleepers(@pids);
        $most = max($most, scalar grep { $was{$_} } @last);
        sleep 0.005;
    }

    my @answers = map { $_->response } @clients;

    is($most, 2, 'two dumps at a time, and never more');

    for my $i (0 .. $#answers) {
        is($answers[$i]{status}, 200, "an answer to $selectors[$i]")
            or diag($answers[$i]{body});
        like(partly($answers[$i]), qr{^(\d)/\1$}, 'of all that were asked');
    }

    $nginx->fake('');
    is_well($nginx, 'two at a time');
    $nginx->stop;
}


# The threads of PIDS that sleep, as they do in a dump that hangs: each dump has
# a thread of its own.

sub sleepers {
    return grep {
        my ($pid, $tid) = m{(\d+)/task/(\d+)};
        my $stat = eval { slurp("$_/stat") } // '';

        $pid != $tid && $stat =~ /\) S /
    } map { glob "/proc/$_/task/*" } @_;
}


# An answer is kept until it was read, or its reader left.

sub unread {
    my $nginx = start("jemalloc_pprof_max_size $max_size;");
    my $pid = $nginx->worker;
    my $query = "$heap?format=jemalloc&worker=self";

    $nginx->fake("large 7\n");

    my $size = length $nginx->get($query)->{body};
    my $before = memory($pid, 'VmRSS');

    cmp_ok($size, '>', 7e6, 'an answer that is large');

    for my $how ('one after the other', 'at once') {
        my ($full, $refused) = unread_by($nginx, $query, $how);

        cmp_ok(@$full, '>=', 2, "$how: some are answered");
        cmp_ok(@$full * $size, '<=', $total, "$how: as many as fit");
        cmp_ok(memory($pid, 'VmRSS'), '<', $before + $total + $spare,
               "$how: which is what they take");
        cmp_ok(@$refused, '>=', 20, "$how: the others are refused");
        is_refused($_, $how) for @$refused;
        is($nginx->get('/debug/pprof/status')->{status}, 200,
           "$how: status is told");

        $_->break_off for @$full;

        # half an answer is more than what an allocator keeps

        ok(wait_until(sub { memory($pid, 'VmRSS') < $before + $size / 2 }, 5),
           "$how: it is given back")
            or diag(memory($pid, 'VmRSS') - $before);

        is($nginx->get($query)->{status}, 200, "$how: and used again");
    }

    is($nginx->worker, $pid, 'it is the same worker');
    $nginx->fake('');
    is_well($nginx, 'unread');
    $nginx->stop;
}


# Thirty clients that ask and do not read on: those that are answered, and the
# answers of the others.

sub unread_by {
    my ($nginx, $query, $how) = @_;
    my @clients = map { $nginx->client(window => 4096) } 1 .. 30;
    my (@full, @refused);

    for my $client (@clients) {
        $client->send_request($query);
        $client->hears(20) if $how ne 'at once';
    }

    for my $client (@clients) {
        $client->read_some(20, 12);

        if ($client->{buffer} eq 'HTTP/1.1 200') {
            push @full, $client;

        } else {
            push @refused, $client->response;
        }
    }

    return (\@full, \@refused);
}


sub is_refused {
    my ($answer, $what) = @_;

    is($answer->{status}, 429, "$what: too much");
    like($answer->{headers}{'retry-after'} // '', qr/^[1-9]\d*$/,
         "$what: until when");
    like($answer->{body},
         qr/^the dumps and answers in memory are more than/, "$what: and why");
}


# Of as many as fit: the others are told, and nobody is hurt.

sub too_many {
    my $nginx = start('jemalloc_pprof_max_size 1200k;', workers => 6);
    my @pids = $nginx->worker_pids;
    my $total = 4 * 1200 * 1024;
    my ($asker, $client) = clients_of_one($nginx, 1);

    $nginx->fake("large 1\n");

    for my $round (1 .. 3) {
        my $answer = $client->get($heap);
        my ($n) = partly($answer) =~ m{^(\d)/6$};

        is($answer->{status}, 200, "$round: an answer")
            or diag($answer->{body});
        cmp_ok($n // 0, '>=', 3, "$round: of some");
        cmp_ok(($n // 6) * 1e6, '<', $total, "$round: of as many as fit");

        my $why = missing($answer, $round);

        like($why->{$_}, qr/does not fit.*jemalloc_pprof_max_size/,
             "$round: why the others are missing") for keys %$why;
    }

    ok($client->get("$heap?format=top")->{body}
       =~ /^worker \d+ pid \d+ is missing: .*does not fit/m,
       'top says so as well');
    is($client->get("$heap?strict=1")->{status}, 503, 'strict: nothing');
    is($client->get("$heap?worker=$_")->{status}, 200, "$_ alone fits")
        for 0 .. 5;

    my $difference = $client->get("$heap?seconds=1");

    is($difference->{status}, 200, 'a difference')
        or diag($difference->{body});

    my $why = missing($difference, 'a difference');

    like($why->{$_}, qr/does not fit|did not answer the first time/,
         'a difference: why') for keys %$why;

    is_deeply([ $nginx->worker_pids ], \@pids, 'nobody ended');
    $nginx->fake('');
    is_well($nginx, 'too many');
    $nginx->stop;
}


# The dumps before and after are twice what a profile needs, and each comes
# with what was inherited, which is one and the same.

sub just_fit {
    for ([ '1200k', '' ], [ '1500k', "large 1\n" ]) {
        my ($max_size, $inherited) = @$_;
        my $nginx = start("jemalloc_pprof_max_size $max_size;", workers => 4,
                          fake => $inherited);
        my $total = 4 * 1024 * $max_size =~ s/k//r;

        $nginx->fake("large 1\n");

        my @sizes = map {
            length $nginx->get("$heap?format=jemalloc&worker=$_")->{body}
        } 0 .. 3;
        my $size = $sizes[0] + $sizes[1] + $sizes[2] + $sizes[3];

        cmp_ok($size, '>', 0.6 * $total, "$max_size: dumps that nearly");
        cmp_ok($size, '<', 0.95 * $total, 'fill what there is for them');

        for my $query ('', '?seconds=1', '?seconds=1&strict=1') {
            my $answer = $nginx->get("$heap$query");

            is($answer->{status}, 200, "$query: an answer")
                or diag($answer->{body});
            is(partly($answer), '4/4', "$query: of all");
        }

        $nginx->fake('');
        is_well($nginx, 'just fit');
        $nginx->stop;
    }
}


# One that was there at the beginning is asked for at the end, too.

sub ended {
    my $nginx = start('', workers => 2);
    my $slow = $nginx->client(window => 4096);
    my @before = $nginx->worker_pids;

    spew("$nginx->{prefix}/file", 'x' x 20e6);
    $slow->send_request('/file');
    ok($slow->hears(30), 'a slow reader');

    $nginx->reload(is_kept => 1);
    ok(wait_until(sub { $nginx->worker_pids == 3 }), 'one of the old is left');

    my %is_old = map { $_ => 1 } @before;
    my ($old) = grep { $is_old{$_} } $nginx->worker_pids;
    my @clients = map { $nginx->client } 1, 2;

    $clients[0]->send_request("$heap?seconds=2");
    $clients[1]->send_request("$heap?seconds=2&strict=1");
    sleep 0.7;
    $slow->break_off;
    ok(wait_until(sub { JppNginx::is_gone($old) }, 1), 'it ends meanwhile');

    my ($answer, $strict) = map { $_->response } @clients;

    is($answer->{status}, 200, 'an answer') or diag($answer->{body});
    is(partly($answer), '2/3', 'of two of three');
    is_deeply(missing($answer, 'ended'), { $old => 'it ended in the meantime' },
              'and why not of all');
    is($strict->{status}, 503, 'strict: nothing');
    ok($strict->{body} =~ /^only 2 of 3 workers answered, and strict=1 /,
       'and why');

    is_well($nginx, 'ended');
    $nginx->stop;
}


# Those before a reload and those after it are there at the same time.

sub crowd {
    my $port = free_port();
    my $n = 140;
    my $nginx = start('jemalloc_pprof_timeout 10s;', workers => $n,
                      http => "server { listen 127.0.0.1:$port reuseport; "
                              . 'location / { jemalloc_pprof; } }');

    $nginx->reload;
    is($nginx->worker_pids, $n, 'as many as before');

    # what is as it was inherited is told of no worker

    my $dump = $nginx->get("$heap?format=jemalloc&worker=self")->{body};

    $dump =~ s/\b1: 16777216\b/2: 33554432/g;
    $nginx->fake('dump ' . spew("$nginx->{prefix}/dump", $dump) . "\n");

    my $answer = $nginx->get($heap);

    is($answer->{status}, 200, 'an answer') or diag($answer->{body});
    is(partly($answer), "$n/$n", 'of all');
    is_deeply([ sort { $a <=> $b } keys %{ profile($answer)->{labels}{pid} } ],
              [ $nginx->worker_pids ], 'by name');

    my $status = status($nginx->client);

    is("@{ $status->{counts} }", "$n $n", 'status: of all');
    is_deeply([ sort { $a <=> $b } @{ $status->{pids} } ],
              [ $nginx->worker_pids ], 'status: by name');

    # each has a socket of its own here, and the kernel chooses among them

    my %selves;

    for (1 .. 300) {
        my $self = JppClient->new(port => $port)->get('/heap?worker=self',
                                                           close => 1);

        $selves{ "$self->{status} " . partly($self) }++;
    }

    is_deeply(\%selves, { '200 1/1' => 300 }, 'whoever is asked for itself');

    is(scalar(grep { /no row left/ } split /\n/, $nginx->error_log), 0,
       'there is room for all of them');
    $nginx->stop;
}


# A process that listens by the name it is given, and tells for each of those
# that connect how many bytes it was sent.

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


# A worker is gone, its row is not, and somebody else has its name.

sub imitated {
    my $nginx = start("jemalloc_pprof_timeout ${timeout}s;", workers => 2);
    my ($asker, $client) = clients_of_one($nginx, 1);
    my ($victim) = grep { $_ != $asker } $nginx->worker_pids;
    my ($name) = sockets($victim);
    my $file = spew("$nginx->{prefix}/imitator", imitator());

    # as whom the workers run

    my $nobody = getpwnam 'nobody';

    is(partly($client->get($heap)), '2/2', 'before');

    # it reaps nobody, and starts nobody

    $nginx->signal('STOP');
    $nginx->signal('KILL', $victim);
    ok(wait_until(sub { !sockets($victim) }), 'the name is free');

    is_imitated($client, $victim, $name, $file, $_) for 1, $nobody;

    $nginx->signal('CONT');
    ok(wait_until(sub {
        my @pids = $nginx->worker_pids;

        return @pids == 2 && !grep { $_ == $victim } @pids;
    }), 'another worker');
    is_well($nginx, 'imitated');
    $nginx->stop(alerts => qr/exited on signal 9|was locked by/);
}


sub is_imitated {
    my ($client, $victim, $name, $file, $uid) = @_;
    my $why = 'another process listens in its place';
    my $pid = open my $pipe, '-|', 'setpriv', '--reuid', $uid, '--regid', $uid,
                                   '--clear-groups', 'perl', $file, $name
        or die "setpriv: $!";

    is(scalar(<$pipe>), "listens\n", "uid $uid listens by the name");

    my $answer = $client->get($heap);

    is($answer->{status}, 200, "uid $uid: an answer");
    is(partly($answer), '1/2', "uid $uid: of the one who lives");
    like(missing($answer, "uid $uid")->{$victim} // '', qr/^$why/,
         "uid $uid: and why not of the other");

    my $alone = $client->get("$heap?worker=pid-$victim");

    is($alone->{status}, 503, "uid $uid: alone: nothing");
    like($alone->{body}, qr/$why/, "uid $uid: alone: and why");

    my $status = status($client);

    is("@{ $status->{counts} }", '2 1', "uid $uid: status: one of two");
    like($status->{why}[0] // '', qr/^$why/, "uid $uid: status: and why");

    $client->get('/debug/pprof/control?purge=1', method => 'POST',
                 body => '');

    # of those who connected nobody said a word

    my @told = map { scalar <$pipe> } 1 .. 4;

    is(join('', @told), "0\n" x 4, "uid $uid: is told nothing");

    kill 'KILL', $pid;
    close $pipe;
}


# Connects to NAMES for some seconds, as often as it can.

sub flooder {
    return <<'EOF';
    use Socket;

    my ($seconds, @names) = @ARGV;
    my ($end, $n, @all) = (time + $seconds, 0);

    while (time < $end) {
        for my $name (@names) {
            socket(my $s, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0)
                or die "socket: $!";
            $n++ if connect($s, pack 'Sxa*', AF_UNIX, $name);
            push @all, $s;
        }

        @all = () if @all > 500;
    }

    print "$n\n";
EOF
}


# They are turned away before they stand in anybody's way.

sub flooded {
    my $nginx = start("jemalloc_pprof_timeout ${timeout}s;", workers => 2);
    my @names = sockets($nginx->worker_pids);
    my $file = spew("$nginx->{prefix}/flooder", flooder());
    my (%answers, %why);
    my $longest = 0;

    is(scalar @names, 2, 'the names of both');

    # a process of its own second is up to one too short

    my @pipes = map {
        open my $pipe, '-|', 'setpriv --reuid 1 --regid 1 --clear-groups '
                             . "perl $file 4 @names" or die "setpriv: $!";
        $pipe
    } 1, 2;

    sleep 0.3;

    my $end = time() + 3;

    while (time() < $end) {
        my $start = time();
        my $answer = $nginx->get($heap);

        $answers{ "$answer->{status} " . partly($answer) }++;
        $why{$_} = 1 for grep { /missing/ } @{ profile($answer)->{comments} };
        $longest = max($longest, time() - $start);
        sleep 0.02;
    }

    my @counts = map { scalar(<$_>) // 0 } @pipes;

    close $_ for @pipes;

    is_deeply([ keys %answers ], [ '200 2/2' ], 'all of them, all the time')
        or diag((map { "$_: $answers{$_}\n" } sort keys %answers),
                map { "$_\n" } sort keys %why);
    cmp_ok($longest, '<', $timeout + $more, 'in time');
    cmp_ok($_, '>', 1000, 'many connections were made') for @counts;

    is_well($nginx, 'flooded');
    $nginx->stop;
}
