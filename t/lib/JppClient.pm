package JppClient;

# The HTTP client of the suites: a connection that hides nothing, for requests
# one after the other, and for clients that pipeline, read slowly, send nothing
# or leave.  Every wait has an end.
#
# An answer is a hash: status, head (text), headers (by names in lower case; a
# list where a name comes more than once; also as header), body.  Its status is
# 0 where there is none, or only a part of one.

use JppPerl;

use IO::Select;
use Socket qw( :DEFAULT IPPROTO_TCP TCP_NODELAY SO_LINGER );
use Time::HiRes qw(time);

# seconds, against a hang, unless a client has its own
my $patience = 60;


# HOW: port, or unix, a path; window, the receive buffer in bytes; patience.

sub new($class, %how) {
    my $self = bless { %how, buffer => '', methods => [] }, $class;

    my ($family, $address) = defined $how{unix}
        ? (PF_UNIX, pack_sockaddr_un($how{unix}))
        : (PF_INET, pack_sockaddr_in($how{port}, INADDR_LOOPBACK));

    socket($self->{socket}, $family, SOCK_STREAM, 0) or die "socket: $!";

    setsockopt($self->{socket}, SOL_SOCKET, SO_RCVBUF, $how{window})
        if $how{window};
    setsockopt($self->{socket}, IPPROTO_TCP, TCP_NODELAY, 1)
        if $family == PF_INET;

    connect($self->{socket}, $address) or die "connect: $!";

    return $self;
}


# A frame of HTTP/2: length, type, flags, stream (RFC 9113).

sub frame($type, $flags, $stream, $payload) {
    my $n = length $payload;

    return pack('CnCCNa*', $n >> 16, $n & 0xffff, $type, $flags, $stream,
                $payload);
}


# A connection of HTTP/2 that begins with SETTINGS.

sub http2($class, $settings, %how) {
    my $self = $class->new(%how);

    $self->write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                 . frame(4, 0, 0, $settings));

    return $self;
}


# A GET as a stream of that, or a POST with a BODY that does not end; fields are
# literals (RFC 7541), except those that have a number.

sub send_stream($self, $stream, $path, $body = '') {
    my ($method, $flags) = $body eq '' ? ("\x82", 5) : ("\x83", 4);

    $self->write(frame(1, $flags, $stream, "$method\x86\x04"
                       . chr(length $path) . "$path\x01\x09localhost"));
    $self->write(frame(0, 0, $stream, $body)) if $body ne '';
}


# HOW: method (GET), headers (text), body, close (no second request).

sub send_request($self, $path, %how) {
    my $method = $how{method} // (defined $how{body} ? 'POST' : 'GET');
    my $text = "$method $path HTTP/1.1\r\nHost: localhost\r\n"
               . ($how{headers} // '');

    $text .= "Connection: close\r\n" if $how{close};
    $text .= 'Content-Length: ' . length($how{body}) . "\r\n"
        if defined $how{body}
           && $text !~ /^(?:Transfer-Encoding|Content-Length):/mi;

    push @{ $self->{methods} }, $method;

    return $self->write("$text\r\n" . ($how{body} // ''));
}


sub write($self, $text) {
    local $SIG{PIPE} = 'IGNORE';

    while (length $text) {
        my $n = syswrite $self->{socket}, $text, 65536;

        return 0 unless defined $n;
        substr $text, 0, $n, '';
    }

    return 1;
}


# A request and its answer.

sub get($self, $path, %how) {
    $self->send_request($path, %how);

    return $self->response;
}


# The same with METHOD TARGET, then headers; a body is the last, as a reference.

sub ask($self, $method, $target, @headers) {
    my $body = ref $headers[-1] ? ${ pop @headers } : undef;

    return $self->get($target, method => $method, body => $body,
                      headers => join '', map { "$_\r\n" } @headers);
}


# The answer to the oldest request of send_request().

sub response($self) {
    return $self->answer(shift @{ $self->{methods} });
}


# The next answer, to METHOD, without the 100 that may precede it.

sub answer($self, $method) {
    my %answer = (status => 0, head => '', headers => {}, body => '');

    $answer{header} = $answer{headers};

    $self->fill(sub { $self->{buffer} =~ /\r\n\r\n/ }) or return \%answer;

    $self->{buffer} =~ s/\A(.*?\r\n)\r\n//s;
    $answer{head} = $1;

    my ($status) = $answer{head} =~ m{\AHTTP/1\.[01] (\d+)};

    return \%answer if !defined $status;
    return $self->answer($method) if $status == 100;

    read_headers(\%answer);

    my $has_no_body = $method eq 'HEAD' || $status == 204 || $status == 304;

    $answer{status} = $status if $has_no_body || $self->read_body(\%answer);

    return \%answer;
}


sub read_headers($answer) {
    my $headers = $answer->{headers};

    while ($answer->{head} =~ /^([\w-]+):[ \t]*(.*?)\r$/mg) {
        push @{ $headers->{lc $1} }, $2;
    }

    $_ = @$_ == 1 ? $_->[0] : $_ for values %$headers;
}


sub read_body($self, $answer) {
    my $len = $answer->{headers}{'content-length'};

    if (defined $len) {
        my $is_whole = $self->fill(sub { length $self->{buffer} >= $len });

        $answer->{body} = substr $self->{buffer}, 0, $len, '';

        return $is_whole;
    }

    if (($answer->{headers}{'transfer-encoding'} // '') eq 'chunked') {
        return $self->read_chunks($answer);
    }

    $self->fill(sub { 0 });
    $answer->{body} = $self->{buffer};
    $self->{buffer} = '';

    return $self->{is_closed};
}


sub read_chunks($self, $answer) {
    for ( ;; ) {
        $self->fill(sub { $self->{buffer} =~ /\A[0-9a-f]+\r\n/i }) or return 0;

        $self->{buffer} =~ s/\A([0-9a-f]+)\r\n//i;
        my $len = hex $1;

        $self->fill(sub { length $self->{buffer} >= $len + 2 }) or return 0;
        $answer->{body} .= substr $self->{buffer}, 0, $len;
        substr $self->{buffer}, 0, $len + 2, '';

        return 1 if $len == 0;
    }
}


# Reads until IS_ENOUGH; false: the other side closed, or time is up.

sub fill($self, $is_enough) {
    my $end = time() + ($self->{patience} // $patience);

    until ($is_enough->()) {
        return 0 if $self->{is_closed} || time() > $end;
        $self->read_some($end - time());
    }

    return 1;
}


# What comes within SECONDS, at most MAX bytes; the number of bytes.

sub read_some($self, $seconds, $max = undef) {
    return 0 unless $self->hears_more($seconds);

    my $n = sysread $self->{socket}, $self->{buffer}, $max // 262144,
                    length $self->{buffer};

    $self->{is_closed} = 1 unless $n;

    return $n // 0;
}


# Whether anything, or the end, comes within SECONDS.

sub hears($self, $seconds) {
    return length $self->{buffer} || $self->hears_more($seconds);
}


sub hears_more($self, $seconds) {
    return !!IO::Select->new($self->{socket})->can_read($seconds);
}


sub leave($self) {
    close $self->{socket};
}


# Closes the connection by a reset.

sub break_off($self) {
    setsockopt($self->{socket}, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0);
    close $self->{socket};
}


1;
