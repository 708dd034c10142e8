#!/usr/bin/perl

# What nginx passes the mixed load on to: a server that trickles, hangs, dies
# and echoes, for HTTP, WebSocket, mail, UDP and DNS:
#
#     backend.pl [ADDRESS]
#
# It serves until its standard input ends, so that it never outlives who started
# it.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use Socket;
use Time::HiRes qw(time);

$SIG{PIPE} = 'IGNORE';

my $address = shift // '127.92.53.2';
my $select = IO::Select->new(\*STDIN);

my (%listening, %udp, %of, @timers);

my %greeting = (
    8134 => "220 back\r\n",
    8135 => "* OK back\r\n",
    8136 => "+OK back\r\n",
);

for my $port (8111, keys %greeting) {
    my $socket = IO::Socket::INET->new(LocalAddr => $address, Listen => 1024,
        LocalPort => $port, ReuseAddr => 1, Blocking => 0)
        or die "$address:$port: $!\n";

    $listening{$socket} = $port;
    $select->add($socket);
}

for my $port (8125, 8126) {
    my $socket = IO::Socket::INET->new(LocalAddr => $address, Proto => 'udp',
        LocalPort => $port) or die "$address:$port: $!\n";

    $udp{$socket} = $port;
    $select->add($socket);
}

# who starts it waits for this line

$| = 1;
print "ready\n";

my %answers = (
    some    => sub { later($_[0], rand 0.05, sub { ok($_[0], 'x' x 2000) }) },
    trickle => \&trickle,
    hang    => sub { },
    die     => sub { finish($_[0]) },
    reset   => \&reset_client,
    cut     => sub { out($_[0], head(100_000) . 'x' x 5000); leave($_[0]) },
    swallow => sub { later($_[0], rand 0.1, sub { ok($_[0], 'thanks') }) },
    ws      => \&upgrade,
    allow   => sub { later($_[0], rand 0.03, sub { ok($_[0], '') }) },
    mail    => \&mail,
    huge    => sub { ok($_[0], 'x' x 300_000) },
    fail    => \&fail,
);

for ( ;; ) {
    my $wait = @timers ? $timers[0][0] - time : 1;

    for my $socket ($select->can_read($wait < 0 ? 0 : $wait)) {
        exit 0 if $socket == \*STDIN;

        if ($listening{$socket}) {
            welcome($socket);

        } elsif ($udp{$socket}) {
            datagram($socket);

        } else {
            incoming($socket);
        }
    }

    while (@timers && $timers[0][0] <= time) {
        my ($when, $client, $work) = @{shift @timers};
        $work->($client) if !$client->{gone};
    }

    flush($_) for grep { length $_->{out} } values %of;
}


sub welcome {
    my ($listener) = @_;
    my $socket = $listener->accept or return;

    $socket->blocking(0);
    $select->add($socket);
    $of{$socket} = { socket => $socket, port => $listening{$listener},
                     in => '', out => $greeting{$listening{$listener}} // '' };
}


sub incoming {
    my ($socket) = @_;
    my $client = $of{$socket};
    my $n = sysread $socket, $client->{in}, 65536, length $client->{in};

    return finish($client) if !$n && !(!defined $n && $!{EAGAIN});

    if ($client->{echo}) {
        out($client, $client->{in});
        $client->{in} = '';

    } elsif ($client->{port} == 8111) {
        requests($client);

    } else {
        lines($client);
    }
}


# As many requests as are whole.

sub requests {
    my ($client) = @_;

    while (!$client->{busy} && $client->{in} =~ /\r\n\r\n/) {
        my $end = $+[0];
        my $head = substr $client->{in}, 0, $end;

        if ($head =~ /^Transfer-Encoding: *chunked/mi) {
            my $last = index $client->{in}, "0\r\n\r\n", $end - 2;
            $client->{in} = substr $client->{in}, 0, $end if $last < 0;
            return if $last < 0;
            $end = $last + 5;

        } elsif ($head =~ /^Content-Length: *(\d+)/mi) {
            return if length $client->{in} < $end + $1;
            $end += $1;
        }

        substr $client->{in}, 0, $end, '';

        my ($name) = $head =~ m{^\S+ /+(\w*)};
        my $answer = $answers{$name // ''}
                     // sub { ok($_[0], 'x' x rand 500) };

        $client->{head} = $head;
        $client->{busy} = 1;
        $answer->($client);
    }
}


sub lines {
    my ($client) = @_;

    while ($client->{in} =~ s/^([^\n]*)\n//) {
        my $line = $1;

        if ($client->{port} == 8135) {
            my ($tag) = $line =~ /^(\S+)/;
            out($client, $line =~ /\{\d+\}\s*$/ ? "+ OK\r\n"
                         : ($tag // 'a') . " OK done\r\n");

        } else {
            out($client, $client->{port} == 8134 ? "250 ok\r\n" : "+OK\r\n");
        }
    }
}


sub datagram {
    my ($socket) = @_;
    my $from = recv $socket, my $data, 2000, 0;

    return if !defined $from || rand() < 0.2;

    if ($udp{$socket} == 8126 && length $data > 16) {
        my $question = substr $data, 12;
        $data = substr($data, 0, 2) . pack('n5', 0x8180, 1, 1, 0, 0)
                . $question
                . pack('nnnNna4', 0xc00c, 1, 1, 1, 4, inet_aton($address));
    }

    send $socket, $data, 0, $from;
}


sub head {
    my ($length) = @_;

    return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
           . "Content-Length: $length\r\n\r\n";
}


sub ok {
    my ($client, $body) = @_;

    out($client, head(length $body) . $body);
    $client->{busy} = 0;
    requests($client);
}


sub fail {
    my ($client) = @_;

    out($client, "HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n");
    $client->{busy} = 0;
}


sub trickle {
    my ($client) = @_;

    out($client, head(20 * 1000));
    drop($client, 20);
}


sub drop {
    my ($client, $n) = @_;

    out($client, 'x' x 1000);
    return $client->{busy} = 0 if $n <= 1;

    later($client, 0.02, sub { drop($_[0], $n - 1) });
}


sub upgrade {
    my ($client) = @_;

    out($client, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                 . "Connection: upgrade\r\n\r\n");
    $client->{echo} = 1;
}


# Late, as those who answer such questions may be, and sometimes never.

sub mail {
    my ($client) = @_;
    my ($protocol) = $client->{head} =~ /^Auth-Protocol: (\w+)/mi;
    my $port = { smtp => 8134, imap => 8135, pop3 => 8136 }->{$protocol // ''};

    return if rand() < 0.05;

    my $status = rand() < 0.2 ? "no\r\nAuth-Wait: 1" : 'OK';

    later($client, rand 0.2, sub {
        out($_[0], "HTTP/1.0 200 OK\r\nAuth-Status: $status\r\n"
                   . "Auth-Server: $address\r\nAuth-Port: $port\r\n"
                   . "Auth-Pass: x\r\n\r\n");
        leave($_[0]);
    });
}


sub reset_client {
    my ($client) = @_;

    setsockopt $client->{socket}, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0);
    finish($client);
}


sub later {
    my ($client, $seconds, $work) = @_;

    @timers = sort { $a->[0] <=> $b->[0] }
              @timers, [ time + $seconds, $client, $work ];
}


sub out {
    my ($client, $data) = @_;
    $client->{out} .= $data;
}


# Closes when all is sent.

sub leave {
    my ($client) = @_;

    $client->{leaving} = 1;
    flush($client);
}


sub flush {
    my ($client) = @_;
    my $n = syswrite $client->{socket}, $client->{out};

    return finish($client) if !defined $n && !$!{EAGAIN};

    substr $client->{out}, 0, $n, '' if $n;
    finish($client) if $client->{leaving} && $client->{out} eq '';
}


sub finish {
    my ($client) = @_;

    return if $client->{gone}++;

    $select->remove($client->{socket});
    delete $of{$client->{socket}};
    close $client->{socket};
}
