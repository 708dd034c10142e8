package JppNginxClient;

# A connection to a server, for clients that pipeline, read slowly, say
# nothing or leave.  Every wait has an end.

use strict;
use warnings;

use IO::Select;
use Socket qw( :DEFAULT IPPROTO_TCP TCP_NODELAY SO_LINGER );
use Time::HiRes qw(time);

# seconds, against a hang
my $patience = 60;


# HOW: port; window, the receive buffer in bytes.

sub new {
    my ($class, %how) = @_;

    my $self = bless { %how, buffer => '' }, $class;

    socket($self->{socket}, PF_INET, SOCK_STREAM, 0) or die "socket: $!";

    setsockopt($self->{socket}, SOL_SOCKET, SO_RCVBUF, $how{window})
        if $how{window};
    setsockopt($self->{socket}, IPPROTO_TCP, TCP_NODELAY, 1);

    connect($self->{socket}, sockaddr_in($how{port}, INADDR_LOOPBACK))
        or die "connect: $!";

    return $self;
}


# HOW: method (GET), headers (text), body, close (no second request).

sub send_request {
    my ($self, $path, %how) = @_;

    my $method = $how{method} // (defined $how{body} ? 'POST' : 'GET');
    my $text = "$method $path HTTP/1.1\r\nHost: localhost\r\n"
               . ($how{headers} // '');

    $text .= "Connection: close\r\n" if $how{close};
    $text .= 'Content-Length: ' . length($how{body}) . "\r\n"
        if defined $how{body};

    push @{ $self->{methods} }, $method;

    return $self->write("$text\r\n" . ($how{body} // ''));
}


sub write {
    my ($self, $text) = @_;

    local $SIG{PIPE} = 'IGNORE';

    while (length $text) {
        my $n = syswrite $self->{socket}, $text;

        return 0 unless defined $n;
        substr $text, 0, $n, '';
    }

    return 1;
}


sub get {
    my ($self, $path, %how) = @_;

    $self->send_request($path, %how);

    return $self->response;
}


# The answer to the oldest request: status, headers (names in lower case),
# text (of the headers), body.  Status 0: there is none, or only a part of one.

sub response {
    my ($self) = @_;
    my %answer = (status => 0, headers => {}, text => '', body => '');

    my $method = shift @{ $self->{methods} };

    $self->fill(sub { $self->{buffer} =~ /\r\n\r\n/ }) or return \%answer;

    $self->{buffer} =~ s/^(.*?)\r\n\r\n//s;
    $answer{text} = $1;

    my ($status) = $answer{text} =~ m{^HTTP/1\.1 (\d+)};

    while ($answer{text} =~ /^([\w-]+): *(.*?)\r?$/mg) {
        $answer{headers}{lc $1} = $2;
    }

    my $is_whole = $method eq 'HEAD'
                   || $self->read_body(\%answer);

    $answer{status} = $status if $is_whole;

    return \%answer;
}


sub read_body {
    my ($self, $answer) = @_;

    my $len = $answer->{headers}{'content-length'};

    if (defined $len) {
        $self->fill(sub { length $self->{buffer} >= $len }) or return 0;
        $answer->{body} = substr $self->{buffer}, 0, $len, '';
        return 1;
    }

    if (($answer->{headers}{'transfer-encoding'} // '') eq 'chunked') {
        return $self->read_chunks($answer);
    }

    $self->fill(sub { 0 });
    $answer->{body} = $self->{buffer};
    $self->{buffer} = '';

    return $self->{is_closed};
}


sub read_chunks {
    my ($self, $answer) = @_;

    for ( ;; ) {
        $self->fill(sub { $self->{buffer} =~ /^[0-9a-f]+\r\n/i }) or return 0;

        $self->{buffer} =~ s/^([0-9a-f]+)\r\n//i;
        my $len = hex $1;

        $self->fill(sub { length $self->{buffer} >= $len + 2 }) or return 0;
        $answer->{body} .= substr $self->{buffer}, 0, $len;
        substr $self->{buffer}, 0, $len + 2, '';

        return 1 if $len == 0;
    }
}


# Reads until IS_ENOUGH; false: the other side closed, or time is up.

sub fill {
    my ($self, $is_enough) = @_;
    my $end = time() + $patience;

    until ($is_enough->()) {
        return 0 if $self->{is_closed} || time() > $end;
        $self->read_some($end - time());
    }

    return 1;
}


# What comes within SECONDS, at most MAX bytes; the number of bytes.

sub read_some {
    my ($self, $seconds, $max) = @_;

    return 0 unless IO::Select->new($self->{socket})->can_read($seconds);

    my $n = sysread $self->{socket}, $self->{buffer}, $max // 262144,
                    length $self->{buffer};

    $self->{is_closed} = 1 unless $n;

    return $n // 0;
}


# Whether anything, or the end, comes within SECONDS.

sub hears {
    my ($self, $seconds) = @_;

    return length $self->{buffer}
           || !!IO::Select->new($self->{socket})->can_read($seconds);
}


sub leave {
    my ($self) = @_;

    close $self->{socket};
}


# Without a farewell: the server gets a reset.

sub break_off {
    my ($self) = @_;

    setsockopt($self->{socket}, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0);
    close $self->{socket};
}


1;
