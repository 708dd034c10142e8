#!/usr/bin/perl

# The mixed load, with good and bad manners:
#
#     load.pl SECONDS [ACTOR...]
#
# Each actor is a process, or several, that does its thing in batches until
# the time is over: it opens connections, gets them somewhere, and leaves them
# in one way or another.  "modules" among the arguments adds the locations of
# Debian's modules; "quic" adds an actor that needs $TRUTH_H3, a client.

use strict;
use warnings;

use IO::Socket::INET;
use IO::Socket::SSL;
use List::Util qw(shuffle);
use POSIX qw(_exit);
use Socket qw(:DEFAULT TCP_NODELAY IPPROTO_TCP);
use Time::HiRes qw(time sleep);

$SIG{PIPE} = 'IGNORE';
$| = 1;

my ($seconds, @wanted) = @ARGV;
my %wanted = map { $_ => 1 } @wanted;
my $end = time + $seconds;
my $address = '127.92.53.2';

my %actors = (
    keepalive => [ 2, \&keepalive ],
    aborts    => [ 2, \&aborts ],
    pipeline  => [ 1, \&pipeline ],
    slow      => [ 2, \&slow ],
    uploads   => [ 2, \&uploads ],
    tls       => [ 2, \&tls ],
    handshake => [ 1, \&handshakes ],
    http2     => [ 3, \&http2 ],
    h2load    => [ 1, \&h2load ],
    nghttp    => [ 1, \&nghttp ],
    websocket => [ 1, \&websocket ],
    stream    => [ 1, \&stream ],
    udp       => [ 1, \&udp ],
    mail      => [ 2, \&mail ],
    idle      => [ 1, \&idle ],
);

my @hosts = qw(main.test main.test main.test other.test a.wild.test
               x.re.test nobody.test);

my @paths = qw(
    /static/small /static/big /static/missing /static/deep/page.html
    /static/deep/exact /internal/x /if /if?a=1 /try /rewrite/small /small /big
    /unbuffered /slow/some /slow/trickle /slow/hang /slow/die /slow/reset
    /slow/cut /slow/huge /failing/some /failing/fail /named-upstream /tls
    /tls-once /hidden /aside /cached /cached?1 /slice /auth /mirror /ssi
    /addition /gzip /sub /push /limited /delay /fastcgi /aio /post /
);

my @module_paths = qw(
    /lua/say /lua/socket /lua/socket /lua/timer /lua/capture
    /lua/thread /lua/body /lua/raw /lua/phases /js/filters /js/say /js/sub
    /js/fetch /perl /perl/sleep /echo
);

push @paths, @module_paths, @module_paths if delete $wanted{modules};

if (delete $wanted{quic}) {
    $actors{quic} = [ 1, \&quic ];
}

my @children;

for my $name (sort keys %actors) {
    next if %wanted && !$wanted{$name};

    my ($processes, $act) = @{$actors{$name}};
    push @children, actor($name, $act, $_) for 1 .. $processes;
}

waitpid $_, 0 for @children;


# What an actor dies of is the peer's doing most of the time: it starts anew.

sub actor {
    my ($name, $act, $number) = @_;
    my $pid = fork // die "fork: $!\n";

    return $pid if $pid;

    srand $number * 1000 + length $name;
    my $times = 0;

    while (time < $end) {
        eval {
            local $SIG{ALRM} = sub { die "late\n" };
            alarm 6;
            $act->();
            $times++;
        };
        alarm 0;
        sleep 0.01;
    }

    print "$name $times\n";
    _exit(0);
}


sub pick {
    return $_[rand @_];
}


sub chance {
    return rand() < $_[0];
}


sub dial {
    my ($port, %options) = @_;

    my $socket = IO::Socket::INET->new(PeerAddr => $address, Timeout => 2,
                                       PeerPort => $port, %options)
        or die "connect: $!\n";
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;

    return $socket;
}


sub dials {
    my ($n, $port, %options) = @_;

    return map { dial($port, %options) } 1 .. $n;
}


# One way of leaving a connection, or another.

sub leave {
    my ($socket) = @_;
    my $way = rand;

    if ($way < 0.4) {
        setsockopt $socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0);

    } elsif ($way < 0.6) {
        shutdown $socket, 1;
        sleep 0.005;
    }

    close $socket;
}


sub request {
    my ($path, %more) = @_;
    my $host = pick(@hosts);
    my $text = ($more{method} // 'GET') . " $path HTTP/1.1\r\nHost: $host\r\n";

    $text .= "X-$_: " . 'y' x rand(200) . "\r\n" for 1 .. rand 5;
    $text .= 'X-Long: ' . 'z' x 3000 . "\r\n" if chance(0.1);
    $text .= "$more{head}\r\n" if $more{head};

    return "$text\r\n";
}


# Whatever comes within a moment.

sub hear {
    my ($socket, $wait, $most) = @_;
    my $got = '';
    my $until = time + $wait;

    while (length $got < ($most // 1e6) && time < $until) {
        my $in = '';
        vec($in, fileno $socket, 1) = 1;
        last if !select $in, undef, undef, $until - time;

        my $n = sysread $socket, my $data, 65536;
        last if !$n;
        $got .= $data;
    }

    return $got;
}


# A response as a client reads it.

sub response {
    my ($socket) = @_;
    my $got = '';

    while (sysread $socket, my $data, 65536) {
        $got .= $data;
        my $body = index $got, "\r\n\r\n";
        next if $body < 0;

        if ($got =~ /^Content-Length: *(\d+)/mi) {
            return 1 if length($got) - $body - 4 >= $1;

        } elsif ($got =~ /\r\n0\r\n\r\n\z/ || $got =~ m{^HTTP/\S+ [23]04}) {
            return 1;
        }
    }

    return 0;
}


sub keepalive {
    my @sockets = dials(8, 8101);

    for (1 .. rand 12) {
        for my $socket (shuffle @sockets) {
            syswrite $socket, request(pick(@paths));
        }

        hear($_, 0.3, 1) for @sockets;
        hear($_, 0.02) for @sockets;
        sleep rand 0.3 if chance(0.1);
    }

    leave($_) for @sockets;
}


# In every phase: nothing, a part of a line, a part of a header, a whole
# request, a part of its answer.

sub aborts {
    my @sockets = dials(25, chance(0.2) ? 8104 : 8101);

    for my $socket (@sockets) {
        my $text = request(pick(@paths));

        $text = "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\n$text" if chance(0.1);
        $text = substr $text, 0, rand length $text if chance(0.5);

        syswrite $socket, $text if chance(0.9);
        hear($socket, 0.01, 1000) if chance(0.2);
        leave($socket) if chance(0.3);
    }

    sleep rand 0.1;
    leave($_) for grep { defined fileno $_ } @sockets;
}


sub pipeline {
    my @sockets = dials(6, 8101);

    for my $socket (@sockets) {
        syswrite $socket, join '', map { request(pick(@paths)) } 1 .. 8;
    }

    sleep rand 0.2;
    hear($_, rand 0.2) for grep { chance(0.7) } @sockets;
    leave($_) for @sockets;
}


# Parsers and writers that take their time.

sub slow {
    my @sockets = map {
        my $socket = dial(8101);
        setsockopt $socket, SOL_SOCKET, SO_RCVBUF, 4096;
        $socket;
    } 1 .. 10;

    my %text = map {
        $_ => request(pick(qw(/big /static/big /limited /slow/huge /slice /gzip
                              /unbuffered /aio)))
    } @sockets;

    for (1 .. 30) {
        for my $socket (@sockets) {
            syswrite $socket, substr $text{$socket}, 0, 20, '';
            hear($socket, 0.001, 500);
        }

        sleep 0.03;
    }

    leave($_) for @sockets;
}


sub uploads {
    my @sockets = dials(10, 8101);

    for my $socket (@sockets) {
        my $path = pick(qw(/upload /upload-now /dav/f /mirror /slow/swallow
                           /static/small /auth /lua/body));
        my $length = int rand chance(0.2) ? 2_000_000 : 60_000;
        my $method = $path =~ /dav/ ? 'PUT' : 'POST';

        $socket->blocking(0);

        if (chance(0.3)) {
            syswrite $socket, request($path, method => $method,
                                      head => 'Transfer-Encoding: chunked');
            syswrite $socket, sprintf "%x\r\n%s\r\n", 9000, 'x' x 9000
                for 1 .. rand 5;
            syswrite $socket, "0\r\n\r\n" if chance(0.7);

        } else {
            syswrite $socket, request($path, method => $method, head =>
                "Content-Length: $length"
                . (chance(0.2) ? "\r\nExpect: 100-continue" : ''));
            syswrite $socket, 'x' x (chance(0.6) ? $length : rand $length);
        }
    }

    for (1 .. 4) {
        syswrite $_, 'x' x 5000 for grep { chance(0.5) } @sockets;
        sleep rand 0.1;
    }

    hear($_, 0.05) for @sockets;
    leave($_) for @sockets;
}


my $sessions = IO::Socket::SSL::Session_Cache->new(50);

sub secure {
    my ($port, %options) = @_;
    my $name = pick(@hosts, '');

    return IO::Socket::SSL->new(PeerAddr => $address, PeerPort => $port,
        SSL_verify_mode => SSL_VERIFY_NONE, SSL_hostname => $name,
        SSL_session_cache => $sessions, Timeout => 2,
        chance(0.3) ? (SSL_version => 'TLSv1_2') : (), %options)
        // die "tls: $SSL_ERROR\n";
}


sub tls {
    my @sockets = map { secure(8102) } 1 .. 4;

    for (1 .. rand 5) {
        for my $socket (@sockets) {
            syswrite $socket, request(pick(@paths));
        }

        for my $socket (@sockets) {
            $socket->blocking(0);
            sleep 0.02;
            sysread $socket, my $data, 16000;
            $socket->blocking(1);
        }
    }

    part($_) for @sockets;
}


# A TLS connection can also end with an alert, or without one.

sub part {
    my ($socket) = @_;

    if (chance(0.5)) {
        setsockopt $socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0)
            if chance(0.5);
        $socket->close(SSL_no_shutdown => 1);

    } else {
        $socket->blocking(0);
        $socket->close(SSL_fast_shutdown => 1);
    }
}


# Handshakes that stop half way, and what is none.

sub handshakes {
    my @sockets = dials(12, pick(8102, 8102, 8121, 8123, 8133));

    my $hello = pack 'H*', '16030100c8010000c40303' . '5a' x 32 . '00'
                           . '0002002f' . '01000099';

    for my $socket (@sockets) {
        syswrite $socket, chance(0.2) ? request('/') : $hello if chance(0.8);
    }

    sleep rand 0.2;
    leave($_) for @sockets;

    my $socket = secure(pick(8102, 8121, 8133));
    part($socket);
}


# HTTP/2 by hand, for what no decent client does.

sub frame {
    my ($type, $flags, $stream, $data) = @_;

    return substr(pack('N', length $data), 1)
           . pack('CCN', $type, $flags, $stream) . $data;
}


sub hpack_length {
    my ($n) = @_;

    return chr $n if $n < 127;

    my $text = chr 127;
    $n -= 127;

    while ($n >= 128) {
        $text .= chr($n % 128 + 128);
        $n >>= 7;
    }

    return $text . chr $n;
}


# A literal, which the table of the connection may keep.

sub hpack {
    my $text = '';

    while (my ($name, $value) = splice @_, 0, 2) {
        $text .= (chance(0.3) ? "\x40" : "\x00")
                 . hpack_length(length $name) . $name
                 . hpack_length(length $value) . $value;
    }

    return $text;
}


sub stream_headers {
    my ($stream) = @_;
    my $post = chance(0.2);
    my $path = $post ? pick(qw(/upload /upload-now /static/small /mirror))
                     : pick(@paths);

    my $block = hpack(':method' => $post ? 'POST' : 'GET', ':scheme' => 'http',
        ':path' => $path, ':authority' => pick(@hosts),
        map { ("x-$_" => 'v' x rand 300) } 1 .. rand 8);

    my $flags = $post ? 0 : 1;
    my $cut = chance(0.2) ? int rand length $block : length $block;

    my $text = frame(1, $flags | ($cut == length $block ? 4 : 0), $stream,
                     substr $block, 0, $cut);

    # the rest, or what must not be there, or nothing

    if ($cut < length $block) {
        return $text if chance(0.2);
        $text .= frame(9, 4, $stream, substr $block, $cut);
    }

    if ($post && chance(0.8)) {
        $text .= frame(0, 0, $stream, 'd' x rand 9000) for 1 .. rand 3;
        $text .= frame(0, 1, $stream, '') if chance(0.7);
    }

    return $text;
}


sub http2 {
    my $encrypted = chance(0.5);

    my @sockets = map {
        $encrypted ? secure(8102, SSL_alpn_protocols => [ 'h2' ]) : dial(8103)
    } 1 .. 4;

    for my $socket (@sockets) {
        my $settings = pack 'nN', 4, chance(0.4) ? 0 : 100_000;
        $settings .= pack 'nN', 2, 0 if chance(0.5);

        syswrite $socket, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                          . frame(4, 0, 0, $settings) . frame(4, 1, 0, '');
    }

    my $stream = 1;

    for (1 .. rand 6) {
        for my $socket (@sockets) {
            my $text = '';

            for (1 .. 1 + rand 8) {
                $text .= stream_headers($stream);
                $text .= frame(3, 0, $stream, pack 'N', 8) if chance(0.2);
                $text .= frame(8, 0, $stream, pack 'N', 5000) if chance(0.5);
                $stream += 2;
            }

            $text .= frame(6, 0, 0, 'pingping') if chance(0.2);
            $text .= frame(8, 0, 0, pack 'N', 100_000) if chance(0.5);
            $text = substr $text, 0, rand length $text if chance(0.1);

            syswrite $socket, $text;
        }

        sleep rand 0.15;

        for my $socket (@sockets) {
            $socket->blocking(0);
            sysread $socket, my $data, 16000 for 1 .. 3;
            $socket->blocking(1);
        }
    }

    sleep rand 3.5 if chance(0.1);

    $encrypted ? part($_) : leave($_) for @sockets;
}


# Programs that are ended, some in the middle.

sub run {
    my ($wait, @command) = @_;
    my $pid = fork // die "fork: $!\n";

    if (!$pid) {
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', '/dev/null';
        exec @command or _exit(1);
    }

    my $until = time + $wait;

    while (waitpid($pid, 1) == 0) {
        if (time > $until) {
            kill chance(0.5) ? 'KILL' : 'TERM', $pid;
            waitpid $pid, 0;
            return;
        }

        sleep 0.02;
    }
}


sub h2load {
    my $base = chance(0.5) ? "https://$address:8102" : "http://$address:8103";

    run(0.2 + rand 1.5, 'h2load', '-n', 2000, '-c', 8, '-m', 8, '-w',
        pick(10, 16, 20), map { "$base$_" } (shuffle @paths)[0 .. 5]);
}


sub nghttp {
    run(0.1 + rand 2, 'nghttp', '-nasv', '-w', pick(8, 14),
        map { "https://$address:8102$_" } '/push', (shuffle @paths)[0 .. 5]);
}


sub quic {
    my @some = (shuffle @paths)[0 .. 10];

    run(1 + rand 4, $ENV{TRUTH_H3}, "$address:8102", 3, @some);
}


sub websocket {
    my @sockets = dials(10, 8101);

    syswrite $_, request('/ws', head =>
                         "Upgrade: websocket\r\nConnection: upgrade")
        for @sockets;

    for (1 .. rand 20) {
        syswrite $_, 'frame' x rand 500 for grep { chance(0.5) } @sockets;
        sleep rand 0.1;
        hear($_, 0.001) for @sockets;
    }

    leave($_) for @sockets;
}


sub stream {
    my @sockets = dials(8, pick(8120, 8120, 8123, 8124, 8127, 8128));

    syswrite $_, "GET /" . pick(qw(some trickle hang huge die ws))
                 . " HTTP/1.1\r\nHost: x\r\n\r\n" for @sockets;
    sleep rand 0.3;
    hear($_, 0.01) for grep { chance(0.5) } @sockets;
    leave($_) for @sockets;

    my $socket = secure(pick(8121, 8123));
    syswrite $socket, "GET /trickle HTTP/1.1\r\nHost: x\r\n\r\n";
    sleep rand 0.3;
    part($socket);
}


sub udp {
    for (1 .. 20) {
        my $socket = IO::Socket::INET->new(PeerAddr => $address,
            PeerPort => 8122, Proto => 'udp') or next;
        send $socket, 'datagram' x rand 50, 0;
        sleep rand 0.05;
    }
}


sub mail {
    my $port = pick(8130, 8131, 8132);

    my @lines = $port == 8130 ? ("EHLO x", "AUTH PLAIN AHUAcA==",
                                 "MAIL FROM:<a\@b>", "RCPT TO:<a\@b>", "NOOP")
              : $port == 8131 ? ("a CAPABILITY", "b LOGIN u p", "c NOOP")
              :                 ("CAPA", "USER u", "PASS p", "NOOP");

    my @sockets = dials(8, $port);
    hear($_, 0.02, 1) for @sockets;

    for my $line (@lines) {
        syswrite $_, "$line\r\n" for @sockets;
        sleep rand 0.1;

        for my $socket (splice @sockets, 0, chance(0.2) ? 2 : 0) {
            leave($socket);
        }
    }

    hear($_, 0.05) for @sockets;
    leave($_) for @sockets;
}


sub idle {
    my @sockets = dials(60, pick(8101, 8101, 8102, 8120, 8103));

    sleep 1 + rand 3;
    leave($_) for @sockets;
}
