# Bad requests, and rare ones: queries, paths, methods, bodies, conditions,
# protocols.  No answer repeats what a client sent, and after each request the
# next one on the connection is answered.

use JppTest;
use JppNginx qw( profile );

# what is looked for in every answer
my $marker = 'qvzMARKERzvq';

my $dir = tempdir(CLEANUP => 1);
my $tls_port = free_port();
my $certificate = certificate();
my $server = JppNginx->start(server => <<"END");
listen 127.0.0.1:$tls_port ssl http2;
$certificate
large_client_header_buffers 4 32k;
client_max_body_size 20m;
location /a/ { jemalloc_pprof control=on; }
location /unlimited/ { jemalloc_pprof; client_max_body_size 0; }
location /small/ { jemalloc_pprof; client_max_body_size 1k; }
location /disk/ { jemalloc_pprof; client_body_in_file_only clean; }
location /buffer/ { jemalloc_pprof; client_body_buffer_size 1k; }
location /status { jemalloc_pprof; }
END
my $connection = $server->client;
my @answers;

my $none = "no such resource here: use one of $resources";

# A key, its error, and the values that it allows.

my @keys = (
    [ 'format', $formats,
      qw( pprof text jemalloc folded top ) ],
    [ 'debug', 'debug must be 0 (pprof) or 1 (text)', qw( 0 1 ) ],
    [ 'type', 'type must be inuse_space, inuse_objects, alloc_space or '
      . 'alloc_objects', qw( inuse_space inuse_objects ) ],
    [ 'symbolize', 'symbolize must be 0 or 1', qw( 0 1 ) ],
    [ 'gc', 'gc must be 0 or 1 (and has no effect here)', qw( 0 1 ) ],
    [ 'seconds', 'seconds must be a whole number from 1 to 300' ],
    [ 'worker', 'worker must be all, self, exiting, an index such as 0, or '
      . 'pid- and a process id', qw( 0 00 self all ) ],
    [ 'strict', 'strict must be 0 or 1', qw( 0 1 ) ],
    [ 'origin', 'origin must be all, worker or master',
      qw( all worker master ) ],
);


# One request; its answer has STATUS and a body like LIKE: if that is a string,
# the whole body.  Then the same connection is used for another one.

sub asked($name, $status, $like, @request) {
    my $answer = $connection->ask(@request);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $like = qr/\A\Q$like\E\n\z/ if defined $like && !ref $like;

    push @answers, $answer;

    my $is_good = $answer->{status} eq $status
                  && (!defined $like || $answer->{body} =~ $like)
                  && is_whole($answer, $request[0]);

    # nginx itself closes after what it cannot parse

    if ($answer->{head} =~ /^Connection: close\r$/m) {
        $is_good = 0 if $status !~ /^(?:400|405|413|414)$/;
        $connection = $server->client;
    }

    my $next = $connection->ask('GET', '/status');

    $is_good = 0 if $next->{status} != 200;
    $connection = $server->client if $next->{status} == 0;

    ok($is_good, $name)
        or diag("$answer->{head}\n" . substr($answer->{body}, 0, 200)
                . "\nthe next: $next->{status}, and not $status "
                . ($like // ''));

    return $answer;
}


# Every answer of the module has these headers, and no other answer has.

sub is_whole($answer, $method) {
    my $header = $answer->{headers};

    return 1 if !defined $header->{'x-content-type-options'};

    my $is_error = $answer->{status} != 200;
    my $len = $header->{'content-length'};

    return $header->{'x-content-type-options'} eq 'nosniff'
           && $header->{'cache-control'} eq 'no-store'
           && ($is_error ? ($header->{'x-go-pprof'} // '') eq '1'
                           && $header->{'content-type'}
                              eq 'text/plain; charset=utf-8'
                         : !defined $header->{'x-go-pprof'})
           && ($method eq 'HEAD' || length $answer->{body} == $len)
           && !grep { defined $header->{$_} }
                    qw( etag last-modified accept-ranges content-range
                        content-encoding transfer-encoding );
}


test 'values that are not allowed' => sub {
    my @bad = (
        '', '-1', '-0', '+1', '%2B1', '0x1', '1e0', '1.0', '1,0', '.', '%201',
        '1%20', '1+', '1s', '1m', '1%09', '%0d%0a1', '%00', '1%00', '%001',
        '%ff%fe', "\xff\xfe", "\xc3\xa4", '%c0%b1', '%', '1%', '%3', '%zz',
        '%u0031', 'true', 'on', 'ALL', 'Pprof', 'pprof,text', '"1"', "'1'",
        '<script>', $marker, "1$marker", '%71vzMARKERzvq', '4294967296',
        '4294967297', '18446744073709551617', '1' x 11, '1' x 300,
        $marker x 850, '%20' x 3000,
    );

    for my $key (@keys) {
        my ($name, $sentence) = @$key;

        asked("$name=" . shown($_), 400, $sentence, 'GET',
              "/a/heap?$name=$_") for @bad;

        asked("$name without a value", 400, $sentence, 'GET',
              "/a/heap?x=$marker&$name");

        asked("$name of $_", 400, $sentence, 'GET', "/a/$_?$name=$marker")
            for qw( allocs status cmdline symbol pprof/heap );

        # the path's worker comes before the query's

        asked("$name of a worker", $name eq 'worker' ? (200, undef)
                                                     : (400, $sentence),
              'GET', "/a/worker/self/heap?$name=$marker");

        asked("$name of the console", 400, $sentence, 'GET', "/a/?$name=x");
        asked("HEAD, $name", 400, undef, 'HEAD', "/a/heap?$name=$marker");
        asked("POST, $name", 400, $sentence, 'POST', "/a/symbol?$name=x",
              \"0x1+$marker");
    }

    asked("seconds=$_", 400, 'seconds must be a whole number from 1 to 300',
          'GET', "/a/heap?seconds=$_") for qw( 0 00 301 0000000301 86401 );

    asked("debug=2", 400, 'debug must be 0 (pprof) or 1 (text)', 'GET',
          '/a/heap?debug=2');
};


sub shown($value) {
    return $value =~ s/[^ -~]/./gr =~ s/^(.{30}).+/$1.../r;
}


test 'queries that are' => sub {
    my $ok = qr/\A(?:\x1f\x8b|heap|inuse_|\S+;)/;

    for my $key (@keys) {
        my ($name, undef, @allowed) = @$key;

        for my $value (@allowed) {
            asked("$name=$value", 200, $ok, 'GET', "/a/heap?$name=$value");
            asked("HEAD $name=$value", 200, undef, 'HEAD',
                  "/a/heap?$name=$value");

            my $encoded = join '', map { sprintf '%%%02x', ord } split //,
                          $value;

            asked("$name=$encoded", 200, $ok, 'GET',
                  "/a/heap?$name=$encoded&x=$marker");

            asked("$name=$value twice", 200, $ok, 'GET',
                  "/a/heap?$name=$value&$name=$marker");
        }
    }

    my @queries = (
        '', '?', '?&', '?&&&', '?=', "?=$marker", "?$marker", "?x=$marker",
        "?$marker=1&format=pprof", '?FORMAT=x', '?Format=x', '?format%00=x',
        '?format+=x', '?%20format=x', '?%ff=1', "?\xff=\xff", '?%=1', '?%zz=1',
        '?x;format=x', '?seconds_=x', "?$marker&%66ormat=%70prof",
        '?frequencies=x', '?' . 'a&' x 8000, '?x=' . $marker x 850,
        '?format=pprof#format=x',
    );

    asked('heap' . shown($_), 200, qr/\A\x1f\x8b/, 'GET', "/a/heap$_")
        for @queries;


    asked('top before text', 200, qr/\Ainuse_space:/, 'GET',
          '/a/heap?format=top&format=text');
    asked('text before top', 200, qr/\Aheap profile:/, 'GET',
          '/a/heap?format=text&format=top');
    asked('a bad one before a good one', 400,
          $formats, 'GET',
          "/a/heap?format=$marker&format=top");
    asked('an encoded key', 200, qr/\Ainuse_space:/, 'GET',
          '/a/heap?%66%6F%72mat=t%6fp');
    asked('format before debug', 200, qr/\Ainuse_space:/, 'GET',
          '/a/heap?debug=1&format=top');
};


test 'queries as a whole' => sub {
    my $long = 'the query is longer than 16384 bytes';

    asked('16384 bytes', 200, qr/\A\x1f\x8b/, 'GET',
          '/a/heap?' . 'x' x 16384);
    asked('16385 bytes', 400, $long, 'GET', '/a/heap?' . 'x' x 16385);
    asked('20000 bytes', 400, $long, 'GET', '/a/status?' . "&$marker" x 1600);
    asked('more than nginx has a buffer for', 414, undef, 'GET',
          '/a/heap?' . 'x' x 40000);
};


# [ path, status, body ]; without a body it is nginx that refuses.

test 'paths' => sub {
    my $json = qr/\A\{/;

    for (
        [ '/a/../a/status', 200, $json ],
        [ '/a/x/../status', 200, $json ],
        [ '/a/./status', 200, $json ],
        [ '/a//status', 200, $json ],
        [ '//a////status', 200, $json ],
        [ '/a/%2e%2e/a/status', 200, $json ],
        [ '/a%2fstatus', 200, $json ],
        [ '/a%2F%2Fstatus', 200, $json ],
        [ '/%61/%73tatus', 200, $json ],
        [ '/a/worker%2Fself%2Fstatus', 200, $json ],
        [ '/a/worker/self/../../status', 200, $json ],
        [ '/a/worker/x/../self/status', 200, $json ],
        [ '/a/status#heap', 200, $json ],
        [ 'http://localhost/a/status', 200, $json ],
        [ "http://$marker/a/status", 421, qr/\Athe host of this request/ ],

        [ '/a/status%3fformat=top', 404, $none ],
        [ '/a/status%20', 404, $none ],
        [ '/a/%20status', 404, $none ],
        [ '/a/status.', 404, $none ],
        [ '/a/status;a=b', 404, $none ],
        [ '/a/status%0a', 404, $none ],
        [ '/a/status%ff', 404, $none ],
        [ "/a/\xff\xfe", 404, $none ],
        [ '/a/STATUS', 404, $none ],
        [ '/a/status%2f', 404, $none ],
        [ '/a/%2573tatus', 404, $none ],
        [ "/a/$marker", 404, $none ],
        [ "/a/<script>$marker</script>", 404, $none ],
        [ '/a/' . $marker x 1000, 404, $none ],
        [ '/a/' . 'pprof/' x 2000 . 'heap', 404, $none ],
        [ '/a/worker/' . '1' x 5000 . '/heap', 404,
          'worker must be all, self, exiting, an index such as 0, or pid- and '
          . 'a process id' ],
        [ "/a/worker/$marker/heap", 404,
          'worker must be all, self, exiting, an index such as 0, or pid- and '
          . 'a process id' ],
        [ "/a/worker/%30/status", 200, $json ],
        [ '/statusx', 404, $none ],
        [ '/status/', 404, $none ],

        [ '/a/status%00', 400, undef ],
        [ '/a/%00', 400, undef ],
        [ '/a/worker/%00/status', 400, undef ],
        [ '/../../etc/passwd', 400, undef ],
        [ '/a/../../etc/passwd', 400, undef ],
        [ '/a/..%2f..%2fetc/passwd', 400, undef ],
        [ '/a/status%', 400, undef ],
        [ '/a/status%zz', 400, undef ],
        [ "/a/sta\0tus", 400, undef ],
        [ "/a/sta\x01tus", 400, undef ],
        [ 'status', 400, undef ],
        [ '*', 400, undef ],
    ) {
        my ($path, $status, $like) = @$_;

        asked(shown($path), $status, $like, 'GET', $path);
    }
};


test 'methods' => sub {
    my %allowed = (
        (map { $_ => 'GET, HEAD' } '', $resources =~ /(\w+)(?=,|$| and)/g),
        symbol => 'GET, HEAD, POST', control => 'POST',
    );

    my @methods = qw( GET HEAD POST PUT DELETE OPTIONS PATCH PROPFIND
                      PROPPATCH MKCOL COPY MOVE LOCK UNLOCK FOO M-SEARCH A_B );

    for my $resource (sort keys %allowed) {
        my $allow = $allowed{$resource};

        for my $method (@methods) {
            my $is_allowed = $allow =~ /\b$method\b/;

            # there is no Lua

            my $answer = asked(
                "$method $resource",
                !$is_allowed ? 405 : $resource eq 'lua' ? 501 : 200,
                $is_allowed || $method eq 'HEAD' ? undef
                : "the method is not allowed here: use $allow",
                $method, "/a/$resource?purge=1"
                         . ($resource eq 'control' ? '' : "&x=$marker")
                         . ($resource eq 'profile' ? '&seconds=1' : ''),
            );

            is($answer->{headers}{allow}, $is_allowed ? undef : $allow,
               "$method $resource: Allow");
        }

        # nginx itself refuses these

        asked("TRACE $resource", 405, qr/405 Not Allowed/, 'TRACE',
              "/a/$resource");
        asked("get $resource", 400, qr/400 Bad Request/, 'get',
              "/a/$resource");
    }

    asked('PUT of nothing', 404, $none, 'PUT', '/a/nothing');
    asked('POST of nothing', 404, $none, 'POST', '/a/nothing', \"$marker");
    asked('POST to a worker that is none', 404, undef, 'POST',
          '/a/worker/x/symbol', \"$marker");
};


# LEN bytes of addresses that are not mapped, and of the marker.

sub body_of($len) {
    return substr "0x1+$marker+" x ($len / 16 + 1), 0, $len;
}


sub chunked($body, $size) {
    return join('', map { sprintf "%x\r\n%s\r\n", length, $_ }
                    unpack "(a$size)*", $body) . "0\r\n\r\n";
}


test 'bodies to symbol' => sub {
    my $max = 1024 * 1024;
    my $too_large = "more than $max bytes of addresses: send fewer at once";

    for my $place (qw( /a/ /unlimited/ /disk/ /buffer/ )) {
        for my $len (0, 1, 100, 1023, 1024, 1025, 8192, 16384, 16385, 90000,
                     $max - 1, $max, $max + 1, 10_000_000)
        {
            my $body = body_of($len);
            my $is_good = $len <= $max;
            my @expected = $is_good ? (200, 'num_symbols: 1')
                                    : (413, $too_large);

            asked("$len bytes to $place", @expected, 'POST', "${place}symbol",
                  \$body);

            asked("$len bytes to $place in chunks", @expected, 'POST',
                  "${place}symbol", 'Transfer-Encoding: chunked',
                  \chunked($body, 50000));

            asked("$len bytes to $place, with Expect", @expected, 'POST',
                  "${place}symbol", 'Expect: 100-continue', \$body);
        }
    }

    my $body = body_of(1000);

    asked('chunks of a byte', 200, 'num_symbols: 1', 'POST', '/a/symbol',
          'Transfer-Encoding: chunked', \chunked($body, 1));

    asked('of another type', 200, 'num_symbols: 1', 'POST', '/a/symbol',
          'Content-Type: application/json', \'{"a":"<' . $marker . '>"}');

    asked('bytes', 200, 'num_symbols: 1', 'POST', '/a/symbol',
          \join '', map { chr } 0 .. 255);

    # in pieces, as a slow client sends them

    $connection->write("POST /a/symbol HTTP/1.1\r\nHost: localhost\r\n"
                       . "Content-Length: 30\r\n\r\n0x1+");
    select undef, undef, undef, 0.1;
    $connection->write('0x2+' . 'x' x 22);

    my $answer = $connection->answer('POST');

    is("$answer->{status} $answer->{body}", "200 num_symbols: 1\n",
       'a body in two parts');

    # a client that leaves while it sends takes nothing with it

    for my $n (0, 10, 100_000) {
        my $c = $server->client;

        $c->write("POST /a/symbol HTTP/1.1\r\nHost: localhost\r\n"
                  . "Content-Length: 200000\r\n\r\n" . 'x' x $n);
        $c->leave;
    }

    asked('after three that left', 200, qr/\A\{/, 'GET', '/a/status');

    asked('a length that is none', 400, qr/400 Bad Request/, 'POST',
          '/a/symbol', 'Content-Length: x', \'');
    asked('chunks that are none', 400, undef, 'POST', '/a/symbol',
          'Transfer-Encoding: chunked', \"zz\r\n$marker");
};


test 'bodies that no resource reads' => sub {
    for my $len (0, 1, 20_000, 10_000_000) {
        my $body = body_of($len);

        for (
            [ 'GET', 'heap', 200, qr/\A\x1f\x8b/ ],
            [ 'GET', 'heap?format=top', 200, qr/\Ainuse_space:/ ],
            [ 'HEAD', 'heap', 200, undef ],
            [ 'GET', 'status', 200, qr/\A\{/ ],
            [ 'GET', '', 200, qr/\A<!DOCTYPE html>/ ],
            [ 'GET', 'symbol', 200, 'num_symbols: 1' ],
            [ 'POST', 'heap', 405,
              'the method is not allowed here: use GET, HEAD' ],
            [ 'PUT', 'symbol', 405,
              'the method is not allowed here: use GET, HEAD, POST' ],
            [ 'GET', 'control', 405, 'the method is not allowed here: use '
              . 'POST' ],
            [ 'POST', 'nothing', 404, $none ],
            [ 'GET', 'nothing', 404, $none ],
            [ 'GET', 'heap?format=x', 400,
              $formats ],
        ) {
            my ($method, $what, $status, $like) = @$_;

            asked("$method $what with $len bytes", $status, $like, $method,
                  "/a/$what", \$body);
            asked("$method $what with $len bytes in chunks", $status, $like,
                  $method, "/a/$what", 'Transfer-Encoding: chunked',
                  \chunked($body, 50000));
            asked("$method $what with $len bytes, with Expect", $status, $like,
                  $method, "/a/$what", 'Expect: 100-continue', \$body);
        }
    }
};


# client_max_body_size is smaller than our limit.

test 'bodies that nginx refuses' => sub {
    my $body = body_of(1025);

    asked('1025 bytes where 1k are allowed', 413,
          qr/413 Request Entity Too Large/, 'POST', '/small/symbol', \$body);
    asked('in chunks', 413, qr/413 Request Entity Too Large/, 'POST',
          '/small/symbol', 'Transfer-Encoding: chunked',
          \chunked($body, 100));
    asked('30 MB', 413, qr/413 Request Entity Too Large/, 'POST', '/a/symbol',
          'Content-Length: 30000000', \'');
    asked('1024 bytes', 200, 'num_symbols: 1', 'POST', '/small/symbol',
          \substr $body, 1);
};


test 'conditions, ranges, encodings' => sub {
    my %like = (
        'heap' => qr/\A\x1f\x8b/, 'allocs' => qr/\A\x1f\x8b/,
        'heap?debug=1' => qr/\Aheap profile/, 'status' => qr/\A\{.*\}\n\z/s,
        '' => qr/\A<!DOCTYPE.*<\/html>\n\z/s, 'symbol' => 'num_symbols: 1',
        'cmdline' => qr/\0nginx\.conf\z/,
    );

    my $past = 'Thu, 01 Jan 1970 00:00:01 GMT';
    my $future = 'Fri, 31 Dec 2100 23:59:59 GMT';

    my @headers = (
        map({ [ "Range: $_" ] } 'bytes=0-1', 'bytes=-1', 'bytes=0-0,2-3',
            'bytes=1000000-', 'lines=1-2', "bytes=$marker"),
        [ 'Range: bytes=0-1', 'If-Range: "x"' ],
        [ 'Range: bytes=0-1', "If-Range: $future" ],
        map({ ([ "If-None-Match: $_" ], [ "If-Match: $_" ]) }
            '*', '"x"', 'W/"x"', "\"$marker\"", ''),
        map({ ([ "If-Modified-Since: $_" ], [ "If-Unmodified-Since: $_" ]) }
            $past, $future, $marker),
        map({ [ "Accept-Encoding: $_" ] } 'gzip', 'br', 'gzip;q=0', '*;q=0',
            'identity;q=0', 'zstd, gzip;q=1.0, *;q=0', $marker),
        [ 'Accept: text/html' ],
        [ 'TE: trailers, gzip' ], [ 'Origin: http://evil.example' ],
        [ "Cookie: $marker", "Referer: http://$marker/",
          "User-Agent: $marker", "X-Forwarded-For: $marker" ],
        [ 'X-Http-Method-Override: POST' ], [ 'Cache-Control: no-cache' ],
        [ map { "X-Header-$_: $marker" } 1 .. 50 ],
    );

    for my $what (sort keys %like) {
        asked("$what, $_->[0]", 200, $like{$what}, 'GET', "/a/$what", @$_)
            for @headers;
    }

    for my $type ('text/html', 'application/json', '*/*;q=0', $marker) {
        asked("$_, Accept: $type", 200, $like{$_}, 'GET', "/a/$_",
              "Accept: $type")
            for grep { length } sort keys %like;
    }

    asked("the root, Accept: $_", 200,
          qr/\A\w+: .*\n\n +bytes +% +largest owners/s,
          'GET', '/a/', "Accept: $_")
        for 'application/json', '*/*;q=0', $marker;

    asked('HEAD of a range', 200, undef, 'HEAD', '/a/heap',
          'Range: bytes=0-1');

    my $answer = asked('no origin is allowed', 200, undef, 'GET',
                       '/a/heap', 'Origin: http://evil.example');

    ok(!defined $answer->{headers}{'access-control-allow-origin'},
       'no header allows an origin');
};


test 'workers by their pid' => sub {
    my $status = decode_json($connection->ask('GET', '/status')->{body});
    my $pid = $status->{workers}[0]{pid};
    my $refused = 'no such worker: status lists all workers';

    for my $what ("worker/pid-$pid/heap", "heap?worker=pid-$pid",
                  "worker/pid-0$pid/allocs", "heap?worker=pid-0$pid",
                  "heap?worker=pid-$pid&worker=pid-1",
                  "worker/pid-$pid/heap?worker=pid-1")
    {
        my $answer = asked($what, 200, qr/\A\x1f\x8b/, 'GET', "/a/$what");
        my $profile = profile($answer);

        is_deeply({ map { ($_->{labels}{pid} // 'master') => 1 }
                        @{ $profile->{samples} } },
                  { $pid => 1, master => 1 }, 'is that worker');
    }

    for ('heap', 'status', '', 'allocs') {
        asked("another pid of '$_'", 404, $refused, 'GET',
              "/a/$_?worker=pid-1");
        asked("exiting of '$_'", 404, $refused, 'GET',
              "/a/$_?worker=exiting");
    }

    asked('the pid as an index', 404, $refused, 'GET', "/a/worker/$pid/heap");
    asked('control of nobody', 404, $refused, 'POST',
          '/a/control?worker=1&active=on');
};


test 'connections' => sub {
    my $c = $server->client;

    # many at once: the answers come in their order

    my @what = map { ("heap?format=top", 'status', "nothing/$_", 'heap',
                      'symbol?0x1', 'heap?seconds=0') } 1 .. 20;
    my @status = map { (200, 200, 404, 200, 200, 400) } 1 .. 20;

    my $host = 'Host: localhost';

    $c->write(join '', map { "GET /a/$_ HTTP/1.1\r\n$host\r\n\r\n" } @what);

    my @got = map { $c->answer('GET') } @what;

    is_deeply([ map { $_->{status} } @got ], \@status, 'pipelined requests');
    is(scalar(grep { $_->{body} =~ /\A\x1f\x8b/ } @got), 20, 'and profiles');
    like(contract($got[-3]{body}), qr/^types: /, 'that keep the contract');
    push @answers, @got;

    $c->write("GET /a/heap HTTP/1.1\r\n$host\r\n\r\n"
              . "POST /a/symbol HTTP/1.1\r\n$host\r\nContent-Length: 3\r\n"
              . "\r\n0x1HEAD /a/heap HTTP/1.1\r\n$host\r\n\r\n"
              . "GET /a/status HTTP/1.1\r\n$host\r\nConnection: close\r\n"
              . "\r\n");

    is_deeply([ map { $c->answer($_)->{status} } qw( GET POST HEAD GET GET ) ],
              [ 200, 200, 200, 200, 0 ], 'pipelined methods, then the end');

    # old ones

    $c = $server->client;
    $c->write("GET /a/heap HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");

    my $answer = $c->answer('GET');

    like(contract($answer->{body}), qr/^types: /, 'HTTP/1.0, kept alive');
    is($answer->{headers}{connection}, 'keep-alive', 'as requested');

    $c->write("GET /a/heap HTTP/1.0\r\n\r\n");
    $answer = $c->answer('GET');

    like(contract($answer->{body}), qr/^types: /, 'HTTP/1.0');
    is($c->answer('GET')->{status}, 0, 'closed');

    # slow ones

    $c = $server->client;

    for (split //, "GET /a/heap HTTP/1.1\r\nHost: localhost\r\n\r\n") {
        $c->write($_);
        select undef, undef, undef, 0.001;
    }

    like(contract($c->answer('GET')->{body}), qr/^types: /, 'byte by byte');

    # those that leave

    for my $what ('heap', 'heap?seconds=300', 'heap?seconds=1', 'symbol?0x1') {
        my $c = $server->client;
        $c->write("GET /a/$what HTTP/1.1\r\nHost: localhost\r\n\r\n");
        $c->leave;
    }

    asked('after four that left', 200, qr/\A\x1f\x8b/, 'GET', '/a/heap');

    asked('no host', 400, qr/400 Bad Request/, 'GET', '/a/heap', 'Host: b');
};


test 'TLS and HTTP/2' => sub {
    my $site = "https://127.0.0.1:$tls_port/a";

    for my $version ('--http1.1', '--http2') {
        my $curl = "curl -sS -k --noproxy '*' -m 60 $version";
        my $is = $version eq '--http2' ? '2' : '1.1';

        my $heap = `$curl '$site/heap'`;
        like(contract($heap), qr/^types: /, "heap by TLS, $version");

        is(`$curl -o /dev/null -w '%{http_version} %{http_code}' '$site/heap'`,
           "$is 200", 'the protocol that was requested');

        like(contract(scalar `$curl '$site/heap?seconds=1'`),
             qr/^duration: [1-9]/m, 'a difference');

        like(scalar `$curl -I '$site/heap'`,
             qr{^HTTP/$is 200.*^content-type: application/octet-stream\r$}msi,
             'HEAD');

        is(`$curl -d 0x1+$marker '$site/symbol'`, "num_symbols: 1\n", 'POST');
        is(`$curl -d 0x1+$marker '$site/nothing'`, "$none\n",
           'POST of nothing');

        my $large = spew("$dir/large", body_of(1024 * 1024));

        is(`$curl --data-binary '\@$large' '$site/symbol'`,
           "num_symbols: 1\n", 'a large POST');

        spew($large, body_of(1024 * 1024 + 1));

        is(`$curl --data-binary '\@$large' '$site/symbol'`,
           "more than 1048576 bytes of addresses: send fewer at once\n",
           'a POST that is too large');

        is(`$curl -H 'Content-Type: x' --data-binary '\@$large' '$site/heap'`,
           "the method is not allowed here: use GET, HEAD\n",
           'a large POST that is not allowed');

    }

    # several at once

    my $out = join ' ', map { "-o '$dir/out.$_' '$site/heap?x=$_'" } 1 .. 9;

    is(system("curl -sS -k --noproxy '*' -m 60 --http2 --parallel "
              . "--no-progress-meter $out"), 0, 'curl');

    is(scalar(grep { contract(slurp("$dir/out.$_")) =~ /^types: / }
                   1 .. 9), 9, 'nine streams of one connection');
};

is(scalar(@answers), scalar(grep { $_->{status} } @answers), 'all answered');
cmp_ok(scalar @answers, '>', 500, 'many answers');
is(scalar(grep { index("$_->{head}$_->{body}", $marker) != -1 } @answers), 0,
   'no answer repeats what was sent');

$server->stop;


# With an allocator that fails every dump, only a request that takes none
# succeeds.

test 'HEAD takes no dump' => sub {
    my $server = JppNginx->start(fake => "fail 28\n",
                                 server => 'location /a/ { jemalloc_pprof; }');
    my $c = $server->client;

    for (qw( heap allocs heap?format=top heap?debug=1 heap?format=jemalloc
             heap?seconds=300 pprof/heap ))
    {
        my $answer = $c->ask('HEAD', "/a/$_");

        is($answer->{status}, 200, "HEAD $_");
        ok(!defined $answer->{headers}{'jemalloc-pprof-workers'},
           'no worker was asked');
    }

    my $answer = $c->ask('GET', '/a/heap');

    is_answer($answer, 500,
              'jemalloc could not write the dump: it needs /proc to be '
              . 'visible, two more free descriptors (raise RLIMIT_NOFILE) '
              . 'and memory; perhaps: No space left on device', 'GET heap');
};
