#!/usr/bin/perl

# Clients that leave while nginx has plans of its own with their requests: a
# post_action, or a body that it discards.
#
# Not here: clients that leave a plain GET (fleet/client.t).

use JppTest;
use IO::Select;
use JppFleet qw( connections held wait_for );

my $heap = '/debug/pprof/heap';


# The profile of a client that has left ends while its post_action still runs:
# the two have nothing to do with each other.

test 'a post_action', 'fake' => sub {
    my $upstream = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
                                         LocalPort => 0, Listen => 64)
        or die "listen: $!";
    my $port = $upstream->sockport;

    my $nginx = JppNginx->start(fake => '', server => <<"EOF");
        location /debug/pprof/ { jemalloc_pprof; post_action \@log; }
        location /other/ { jemalloc_pprof; }
        location \@log { proxy_pass http://127.0.0.1:$port; }
EOF
    my $pid = $nginx->worker;

    my %ways = (
        'a pause' => [ '', "$heap?seconds=10" ],
        'a dump' => [ "hang 6\n", $heap ],
    );

    for my $name (sort keys %ways) {
        my ($fake, $path) = @{ $ways{$name} };

        $nginx->fake($fake);

        my @clients = $nginx->clients(4, $path);
        ok(wait_until(sub { connections($nginx) == 4 && held($pid) > 0 }),
           "$name: it has begun");
        $_->leave for @clients;

        my @asked = map { accepted($upstream) } @clients;

        is(scalar(grep { defined } @asked), 4, "$name: the action begins");

        # nothing is left of the profile, and the actions run

        $nginx->fake('');
        ok(wait_until(sub { threads($pid) == 1 }), 'the profile ends');
        is($nginx->get('/other/heap?seconds=3')->{status}, 200,
           'others are served');

        my @ended = IO::Select->new(@asked)->can_read(0);

        is(scalar @ended, 0, 'none of the actions was cut off');

        for (@asked) {
            syswrite $_, "HTTP/1.0 204 No Content\r\n\r\n";
            close $_;
        }

        ok(wait_until(sub { 4 == grep { /"GET \Q$path\E HTTP/ && / 204 / }
                            split /\n/, $nginx->access_log }),
           'each is logged with the status of its action')
            or diag($nginx->access_log);
    }

    is($nginx->worker, $pid, 'by the same worker');
};


# The next connection, with its request read.

sub accepted($listener) {
    IO::Select->new($listener)->can_read(60) or return;

    my $socket = $listener->accept;
    my $text = '';

    while ($text !~ /\r\n\r\n/) {
        IO::Select->new($socket)->can_read(60) or return;
        sysread $socket, $text, 4096, length $text or return;
    }

    return $socket;
}


# nginx reads such a body to discard it, and stops reading then.

test 'bodies that come late', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $pid = $nginx->worker;
    my $length = "Content-Length: 4\r\n";

    my %bodies = (
        'whole' => [ $length, 'body' ],
        'a part' => [ $length, 'bo' ],
        'none' => [ $length, '' ],
        'chunked' => [ "Transfer-Encoding: chunked\r\n",
                       "4\r\nbody\r\n0\r\n\r\n" ],
        'broken chunks' => [ "Transfer-Encoding: chunked\r\n", "x\r\n" ],
    );

    for my $name (sort keys %bodies) {
        my ($headers, $body) = @{ $bodies{$name} };

        for my $how ('leave', 'break_off') {
            my @clients = $nginx->clients(32, "$heap?seconds=60",
                                          headers => $headers);
            sleep 0.05;
            $_->write($body) for @clients;
            sleep 0.05;
            $_->$how for @clients;

            # one that were left would take the room of another

            ok(wait_until(sub { connections($nginx) == 0
                                && wait_for($pid, 0, 0) }),
               "$name, $how: all have left");

            my @more = $nginx->clients(32, $heap);
            is(scalar(grep { $_->response->{status} == 200 } @more), 32,
               'and others have their room');
        }
    }

    # a client that stays is answered, whatever it has sent

    my $client = $nginx->asking("$heap?seconds=1", headers => $length);

    sleep 0.05;
    $client->write('body');
    is($client->response->{status}, 200, 'a client that stays is answered');
    is($client->get('/fine')->{status}, 200, 'and again');

    is($nginx->worker, $pid, 'by the same worker');
};
