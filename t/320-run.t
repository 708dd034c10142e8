#!/usr/bin/perl

# ./dev run as a new user would see it: it shows what README.md shows, ends
# well, and leaves nothing behind, whenever it is told to end.

use strict;
use warnings;

use Cwd qw( abs_path );
use File::Basename;
use File::Temp;
use IO::Socket::INET;
use POSIX qw( :sys_wait_h setsid );
use Test::More;
use Time::HiRes qw( time );

use lib dirname(__FILE__) . '/lib';

use JppNginx qw( wait_until slurp );
use JppShown qw( shown_blocks shown_pattern );

my $top = dirname(dirname(abs_path(__FILE__)));

chdir $top or die "$top: $!\n";

my ($port, $tls) = map { free_port() } 1 .. 2;

$ENV{JPP_PORT} = $port;
$ENV{JPP_TLS_PORT} = $tls;

# what is for the suites' own nginx is not for this one

delete @ENV{qw( MALLOC_CONF LD_PRELOAD )};

my $out = `sh tools/run.sh --once 2>&1 </dev/null`;

is($?, 0, 'it ends well') or diag($out);

like($out, qr/^ +inuse_space: .* in \d+ stacks/m, 'it shows the top');
like($out, qr/^ +[0-9.]+ [KM]iB .* ngx_alloc$/m, 'with names');
like($out, qr{ all workers: 4/4}, 'of all workers');
like($out, qr/^ +worker $_: inuse_space: /m, "and of worker $_") for 0 .. 3;
like($out, qr{http://127\.0\.0\.1:$port/debug/pprof/}, 'it says where');
like($out, qr{^ *go tool pprof -top http://}m, 'and what to type');
like($out, qr/errors=0 /, 'the traffic had no errors');

is_free();

# Ctrl-C, as a terminal sends it: to all of them

my $log = File::Temp->new;
my $logs = ($ENV{JPP_BUILD} // 'build') . "/run/$port/logs";

for (
    [ 'before it does anything', sub { 1 } ],
    [ 'as it writes the configuration', sub { -e $logs } ],
    [ 'as nginx starts', sub { -s "$logs/nginx.pid" } ],
    [ 'as the traffic begins', sub { -e "$logs/load" } ],
    [ 'as it waits for that', sub { slurp("$log") =~ /^Ctrl-C ends it/m } ],
) {
    my ($when, $is_now) = @$_;

    subtest "Ctrl-C $when" => sub { interrupted($is_now) };
}

# the last of these printed all that there is to read

my ($said) = slurp("$log") =~ /(.*^Ctrl-C ends it\.\n)/ms;

like($said // '', shown_pattern($_->{output}), "what README.md shows of it")
    for shown('README.md', './dev run');

# a port that is taken

my $taken = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1',
                                  LocalPort => $port, ReuseAddr => 1)
    or die "listen: $!\n";

$out = `sh tools/run.sh --once 2>&1 </dev/null`;

isnt($? >> 8, 0, 'a port that is taken is a failure');
like($out, qr/\b$port\b.*JPP_PORT/s, 'which names the port, and the cure');
is(scalar(split /\n/, $out), 1, 'in one line') or diag($out);

done_testing();


# The steps of a document that show what COMMAND says.

sub shown {
    my ($document, $command) = @_;

    my @steps = grep { $_->{command} eq "$command\n" }
                map { @{ $_->{steps} } } shown_blocks($document);

    die "$document does not show $command\n" if !@steps;

    return @steps;
}


sub is_free {
    for ($port, $tls) {
        ok(!IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $_),
           "nobody listens on $_ any more");
    }
}


# It is a session of its own, which is interrupted once IS_NOW is true.

sub interrupted {
    my ($is_now) = @_;

    system 'rm', '-rf', $logs;

    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        setsid();
        $SIG{INT} = 'DEFAULT';

        open STDIN, '<', '/dev/null' or POSIX::_exit(126);
        open STDOUT, '>', "$log" or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);

        exec 'sh', 'tools/run.sh' or POSIX::_exit(127);
    }

    # until there is such a group nobody would be told

    wait_until(sub { getpgrp($pid) == $pid });

    ok(wait_until($is_now), 'it comes so far') or diag(slurp("$log"));

    my $start = time();

    kill 'INT', -$pid;

    my $has_ended = wait_until(sub { waitpid($pid, WNOHANG) == $pid }, 20);
    my $status = $?;

    ok($has_ended, 'it ends') or kill 'KILL', -$pid;
    cmp_ok(time() - $start, '<', 10, 'soon');

    # by the signal itself, as long as there is nothing to clean up

    ok($status == POSIX::SIGINT || $status >> 8 == 130, 'by the signal')
        or diag("status $status\n", slurp("$log"));

    wait_until(sub { !session($pid) }, 2);

    my @left = session($pid);

    is(scalar @left, 0, 'nothing of it runs')
        or diag(map { "$_ " . JppNginx::title($_) . "\n" } @left);
    is_free();
}


# Who is in the session of LEADER: the sixth field of its line.

sub session {
    my ($leader) = @_;

    return grep {
        my $stat = eval { slurp("/proc/$_/stat") } // '';

        $stat =~ /.*\) [^Z] \d+ \d+ (\d+) / && $1 == $leader;
    } map { m{/(\d+)$} } glob '/proc/[0-9]*';
}


sub free_port {
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
        or die "listen: $!\n";

    return $socket->sockport();
}
