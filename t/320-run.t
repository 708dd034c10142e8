#!/usr/bin/perl

# ./dev run as a new user would see it: it ends well, shows a profile, and
# leaves nothing behind.

use strict;
use warnings;

use Cwd qw( abs_path );
use File::Basename;
use IO::Socket::INET;
use Test::More;


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

for ($port, $tls) {
    ok(!IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $_),
       "nobody listens on $_ any more");
}

# a port that is taken

my $taken = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1',
                                  LocalPort => $port, ReuseAddr => 1)
    or die "listen: $!\n";

$out = `sh tools/run.sh --once 2>&1 </dev/null`;

isnt($? >> 8, 0, 'a port that is taken is a failure');
like($out, qr/\b$port\b.*JPP_PORT/s, 'which names the port, and the cure');
is(scalar(split /\n/, $out), 1, 'in one line') or diag($out);

done_testing();


sub free_port {
    my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
        or die "listen: $!\n";

    return $socket->sockport();
}
