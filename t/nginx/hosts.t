# The host of a request, and the site of the page that sends it.
#
# A page of another site can make its own name resolve to this machine (DNS
# rebinding), and the browser then lets it read the answer: only the Host header
# shows it.  Under its own name it reads nothing, but its requests cost: only
# Sec-Fetch-Site shows them.

use JppTest;

my $dir = tempdir(CLEANUP => 1);
my $port = free_port();

my $why = 'the host of this request is not a name of this server, so a page of '
          . 'another site may have sent it (DNS rebinding): add the name to '
          . 'server_name, or use an IP address or localhost in the URL';

# what each answers to a GET, or to a POST of a form
my %resources = (
    '/a/' => 200, '/a/status' => 200, '/a/heap' => 200,
    '/a/allocs?format=top' => 200, '/a/cmdline' => 200, '/a/symbol' => 200,
    '/a/worker/0/heap' => 200, '/a/none' => 404, '/heap' => 200,
);

# addresses, localhost, and the names of the first server as nginx has them
my @ours = (
    '127.0.0.1', "127.0.0.1:$port", '192.0.2.7', '203.0.113.255:80',
    '[::1]', "[::1]:$port", '[2001:db8::7]:80',
    'localhost', 'localhost.', 'LocalHost:8081',
    'exact.example', 'EXACT.example:80', 'exact.example.',
    'a.head.example', 'a.b.head.example',
    'dot.example', 'a.dot.example',
    'tail.com', 'tail.co.uk', 'r123.example',
);

my @foreign = (
    'evil.example', "evil.example:$port", 'localhost.evil.example',
    'notlocalhost', 'a.localhost', 'exact.example.evil.example',
    'a.exact.example', 'head.example', 'ahead.example', 'adot.example',
    'tail', 'atail.com', 'rx.example', 'second.example.evil',
    '127.0.0.1.evil.example', '127.1', '0x7f000001', '[::1', '[evil]', '_',
    '1.2.3.256',
);

my $tls_port = free_port();
my $socket = "$dir/socket";
my $certificate = certificate();
my $locations = <<'END';
location /a/ { jemalloc_pprof control=on; }
location = /heap { jemalloc_pprof; }
END

# the first of an address has what no other one has

my $server = JppNginx->start(
    port => $port, workers => 2, server => <<"END", http => <<"END");
listen unix:$socket;
listen 127.0.0.1:$tls_port ssl http2;
$certificate
server_name exact.example *.head.example .dot.example tail.*
            "~^r[0-9]{1,3}\\.example\$";
$locations
END
server {
    listen 127.0.0.1:$port default_server;
    server_name default.example;
    $locations
}
server {
    listen 127.0.0.1:$port;
    server_name second.example;
    $locations
}
END

$server->settled(2, '/a/status');


# The client always sends a Host of its own.

sub ask($host, $method, $target, $body = undef, $connection = undef) {
    $connection //= $server->client;

    $connection->write(join("\r\n", "$method $target HTTP/1.1",
                            (defined $host ? "Host: $host" : ()),
                            'Connection: close',
                            (defined $body ? 'Content-Length: ' . length $body
                                           : ()), '', '') . ($body // ''));

    return $connection->answer($method);
}


# The settings of the workers, which no refused request may change.

sub state {
    my $status = decode_json(ask('localhost', 'GET', '/a/status')->{body});

    return join ' ', map { "$_->{worker}:$_->{active}:$_->{lg_sample}" }
                         @{ $status->{workers} };
}


test 'hosts that are ours' => sub {
    for my $host (@ours) {
        is(ask($host, 'GET', '/a/status')->{status}, 200, "$host: status");
        is(ask($host, 'POST', '/a/control', 'purge=1')->{status}, 200,
           "$host: control");
    }

    for my $uri (sort keys %resources) {
        is(ask("127.0.0.1:$port", 'GET', $uri)->{status}, $resources{$uri},
           $uri);
    }
};


# A page of another site may open what is shown in a tab, and nothing else;
# clients that are no browsers say nothing of that.

test 'pages of other sites' => sub {
    my $unseen = 'a page of another site sent this request, and would not '
                 . 'show the answer: paste the URL into the address bar, or '
                 . "use curl\n";
    my @visit = ('Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document');
    my @shown = ('/a/', '/a/status', '/a/memory', '/a/metrics', '/a/symbol',
                 '/a/requests', '/a/locations', '/a/heap?format=html',
                 '/a/allocs?format=svg', '/a/pools?format=top',
                 '/a/stalls?format=folded');
    my @saved = ('/a/heap', '/heap', '/a/pools', '/a/stalls',
                 '/a/heap?format=jemalloc&worker=0',
                 '/a/profile?seconds=300');

    for my $site (qw( cross-site same-site CROSS-SITE ), '') {
        for my $uri (@shown, @saved) {
            my $is_shown = grep { $_ eq $uri } @shown;

            for (
                [ 0 ], [ 0, 'Sec-Fetch-Mode: no-cors' ],
                [ 0, 'Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty' ],
                [ 0, $visit[0], 'Sec-Fetch-Dest: iframe' ],
                [ 0, $visit[0] ], [ 0, $visit[1] ],
                [ 0, @visit, 'Sec-Purpose: prefetch;prerender' ],
                [ 0, @visit, 'Purpose: prefetch' ], [ $is_shown, @visit ],
            ) {
                my ($is_served, @headers) = @$_;

                my $answer = $server->ask('GET', $uri, "Sec-Fetch-Site: $site",
                                         @headers);
                my $what = "$site $uri: @headers";

                is($answer->{status}, $is_served ? 200 : 403, $what);
                is($answer->{body}, $unseen, "$what: why") if !$is_served;
            }
        }
    }

    is($server->ask('POST', '/a/symbol', 'Sec-Fetch-Site: cross-site', @visit,
                   \'0x1')->{status}, 403, 'a form');
    is($server->ask('HEAD', '/a/heap', 'Sec-Fetch-Site: cross-site')->{status},
       403, 'headers alone');

    for my $uri (@shown, @saved[ 0 .. $#saved - 1 ]) {
        for ([ 'Sec-Fetch-Site: same-origin' ], [ 'Sec-Fetch-Site: none' ],
             [ 'Sec-Fetch-Mode: no-cors' ], [])
        {
            is($server->ask('GET', $uri, @$_)->{status}, 200, "$uri: @$_");
        }
    }
};


test 'hosts that are not ours' => sub {
    my $before = state();

    for my $host (@foreign) {
        for (
            [ 'GET', '/a/status' ], [ 'GET', '/a/heap' ],
            [ 'POST', '/a/control', 'active=off&lg_sample=14' ],
        ) {
            my $answer = ask($host, @$_);

            # newer nginx refuse what is no host at all themselves

            next if $host eq '[::1' && $answer->{status} == 400;

            is_answer($answer, 421, $why, "$host: @$_");
        }
    }

    for my $uri (sort keys %resources) {
        my $answer = ask('evil.example', 'GET', $uri);

        is_answer($answer, 421, $why, $uri);
        is($answer->{headers}{'cache-control'}, 'no-store', 'not kept');
        is(ask('evil.example', 'HEAD', $uri)->{status}, 421, "$uri: HEAD");
    }

    for (
        [ '/a/symbol', '0x1' ], [ '/a/symbol', 'x' x 100_000 ],
        [ '/a/control', 'active=off' ], [ '/a/control?active=off', '' ],
        [ '/a/worker/1/control', 'lg_sample=14' ],
    ) {
        my ($uri, $body) = @$_;

        is(ask('evil.example', 'POST', $uri, $body)->{status}, 421,
           "POST $uri");
    }

    is(state(), $before, 'nothing was changed');
};


test 'no host, and one in the request line' => sub {
    my $connection = $server->client;

    $connection->write("GET /a/status HTTP/1.0\r\n\r\n");
    is($connection->answer('GET')->{status}, 200, 'HTTP/1.0 without a host');

    $connection = $server->client;
    $connection->write("GET /a/status HTTP/1.0\r\nHost: evil.example\r\n\r\n");
    is($connection->answer('GET')->{status}, 421, 'with one');

    is(ask('localhost', 'GET', 'http://evil.example/a/status')->{status}, 421,
       'the request line counts');
    is(ask('evil.example', 'GET', 'http://localhost/a/status')->{status}, 200,
       'and the header does not');
};


# A name of one server is not valid for another.

test 'two servers at one address' => sub {
    is(ask('second.example', 'GET', '/a/status')->{status}, 200,
       'the second, by its name');
    is(ask('default.example', 'GET', '/a/status')->{status}, 200,
       'the default one, by its name');
    is(ask('third.example', 'GET', '/a/status')->{status}, 421,
       'the default one, by a name that no server has');
};


test 'HTTP/2' => sub {
    plan skip_all => 'this curl has no HTTP/2'
        if `curl --version` !~ /HTTP2/;

    for (
        [ 'exact.example', 200 ], [ 'localhost', 200 ],
        [ 'evil.example', 421 ],
    ) {
        my ($host, $status) = @$_;

        is(`curl -sk --http2 -o '$dir/h2' -w '%{http_version} %{http_code}' \\
                 --resolve '$host:$tls_port:127.0.0.1' \\
                 https://$host:$tls_port/a/status`, "2 $status",
           ":authority $host");
    }

    is(slurp("$dir/h2"), "$why\n", 'why');
};


# No page can reach a socket; a change still needs a name of the server.

test 'a socket is not a loopback' => sub {
    my $before = state();

    for (
        [ 'GET', '/a/heap', 'any', 200 ], [ 'GET', '/a/', 'any', 200 ],
        [ 'POST', '/a/control', 'any', 421 ],
        [ 'POST', '/a/control', 'exact.example', 200 ],
    ) {
        my ($method, $uri, $host, $status) = @$_;
        my $connection = JppClient->new(unix => $socket);

        is(ask($host, $method, $uri, $method eq 'POST' ? 'lg_sample=12' : undef,
               $connection)->{status}, $status, "$method $uri of $host");
    }

    is(state(), $before, 'nothing was changed');
};


like($server->error_log, qr/jemalloc_pprof: the host of this request is not/,
     'the log says it');

$server->stop;


test 'a server without a name' => sub {
    my $server = JppNginx->start(
        port => $port, server => 'location /a/ { jemalloc_pprof; }');

    is(ask('localhost', 'GET', '/a/status')->{status}, 200, 'localhost');
    is(ask("127.0.0.1:$port", 'GET', '/a/status')->{status}, 200, 'an address');
    is(ask('evil.example', 'GET', '/a/status')->{status}, 421, 'another');
};
