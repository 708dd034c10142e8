#!/usr/bin/perl

# Whom the memory of the sampler's samples belongs to: server and location, by
# labels and by frames, in every kind of request.
#
# The truth is what is asked for: one location at a time.
#
# Not here: owners without an nginx (t/unit/jpp_owners_test.c).

use JppTest;
use JppNginx qw( profile );

my $tree = '/debug/pprof';
my $asking = 'main.example /debug/pprof/';

my $server = <<'END';
server_name main.example;
location /debug/pprof/ { jemalloc_pprof control=on; }
END

test 'not switched on' => \&off;


sub start(%how) {
    my $server_more = delete $how{locations} // '';
    my $http_more = delete $how{http} // '';

    return JppNginx->start(preload => [], conf => 'prof:false',
                           http => "jemalloc_pprof_source sampler;\n"
                                   . "jemalloc_pprof_sample 1k;\n$http_more",
                           server => $server . $server_more, %how);
}


# Bytes by "server location", of TYPE; all since the last reset.

sub owners($nginx, $resource, $type) {
    my $answer = $nginx->get("$tree/$resource?format=folded&by=location&"
                             . "type=$type&symbolize=0");
    my %bytes;

    is($answer->{status}, 200, 'an answer');

    for my $line (split /\n/, $answer->{body}) {
        $line =~ /^server (.*?);location (.*?)(?:;.*)? (\d+)$/
            or fail("no owner: $line") or next;
        $bytes{"$1 $2"} += $3;
    }

    return \%bytes;
}


sub allocated { owners($_[0], 'allocs', 'alloc_space') }


# How much of BYTES, but for what the question itself took, is OWNER's; and of
# whom the rest is.

sub shares($bytes, $owner) {
    my %rest = %$bytes;
    my $sum = 0;

    delete $rest{$asking};
    $sum += $_ for values %rest;
    my $part = delete $rest{$owner} // 0;

    return ($sum, $sum ? $part / $sum : 0, \%rest);
}


sub is_of($nginx, $owner, $what, $least, @allowed) {
    my $bytes = allocated($nginx);
    my ($sum, $share, $rest) = shares($bytes, $owner);

    # what comes before a location, or after it

    delete @$rest{@allowed, grep { /^\(|\(no location\)$/ } keys %$rest};

    cmp_ok($sum, '>', 20_000, "$what: $sum bytes");
    cmp_ok($share, '>', $least, sprintf '%s: %.3f of it has its location',
                                        $what, $share);
    is_deeply($rest, {}, "$what: nothing of it has another's")
        or diag(explain($bytes));
}


sub reset_samples($nginx) {
    my $answer = $nginx->get("$tree/control", body => 'reset=1');

    is($answer->{status}, 200, 'begun anew');
}


test 'one location at a time' => sub {
    my $upstream = JppNginx->start(preload => [], conf => 'prof:false',
                                   module => 0,
                                   server => 'location /up/ { return 200 '
                                             . '"' . 'u' x 500 . '"; }');
    my $nginx = start(locations => <<"END");
location /plain/ { return 200 "plain"; }
location /gzip/ {
    gzip on; gzip_min_length 1; gzip_types *;
    return 200 "@{[ 'text ' x 200 ]}";
}
location /proxy/ { proxy_pass http://127.0.0.1:$upstream->{port}/up/; }
location /moved/ { rewrite ^ /plain/ last; }
location /failed/ { proxy_pass http://127.0.0.1:1; error_page 502 = \@saved; }
location \@saved { return 200 "saved"; }
location ~ ^/(one|two)/ { return 200 "regex"; }
END
    my %kinds = (
        '/plain/' => [ '/plain/' ],
        '/gzip/' => [ '/gzip/' ],
        '/proxy/' => [ '/proxy/' ],
        '/one/' => [ '^/(one|two)/' ],

        # a request that comes through two has some memory in each, and what
        # came before has the last

        '/moved/' => [ '/plain/', 'main.example /moved/' ],
        '/failed/' => [ '@saved', 'main.example /failed/' ],
    );

    for my $path (sort keys %kinds) {
        my ($location, @others) = @{ $kinds{$path} };
        my $client = $nginx->client;

        reset_samples($nginx);
        $client->get($path, headers => "Accept-Encoding: gzip\r\n")
            for 1 .. 150;

        is_of($nginx, "main.example $location", $path, 0.95, @others);
    }

    my ($said) = grep { /^samples with an owner/ }
                 @{ profile($nginx->get("$tree/heap?by=location"))
                    ->{comments} };
    my ($n, $of) = ($said // '') =~ /, (\d+) of (\d+) in all$/;

    cmp_ok($n, '>=', 0.99 * $of, "a comment: $said");
};


# The pages of one location have two parts of another, which takes a buffer of
# 24 KiB for each: that is its own, and nothing of the pages is.

test 'subrequests of another location' => sub {
    my $upstream = JppNginx->start(preload => [], conf => 'prof:false',
                                   module => 0,
                                   server => 'location / { return 200 "up"; }');
    my $nginx = start(locations => <<"END");
location /page/ { ssi on; ssi_types *; alias html/; }
location /part/ {
    proxy_pass http://127.0.0.1:$upstream->{port}/;
    proxy_buffer_size 24k;
    proxy_buffers 4 24k;
}
END
    spew("$nginx->{prefix}/html/text",
         'one <!--# include virtual="/part/1" --> two '
         . '<!--# include virtual="/part/2" --> three');

    my $client = $nginx->client;

    $client->get('/page/text') for 1 .. 5;
    reset_samples($nginx);
    is($client->get('/page/text')->{body}, 'one up two up three', 'a page')
        for 1 .. 50;

    my $bytes = allocated($nginx);
    my ($page, $part) = map { $bytes->{"main.example /$_/"} // 0 }
                        'page', 'part';

    cmp_ok($part, '>=', 100 * 24 * 1024, "the parts' own")
        or diag(explain($bytes));
    cmp_ok($part, '<', 130 * 24 * 1024, 'and little more')
        or diag(explain($bytes));
    cmp_ok($page, '>', 50 * 8 * 1024, 'the pages have the rest')
        or diag(explain($bytes));
};


# Connections that take turns, with events that nginx posts: everybody has what
# he has alone.

test 'several at once' => sub {
    my $nginx = start(workers => 2, events => 'accept_mutex on;',
                      locations => <<'END');
location /small/ { return 200 "small"; }
location /large/ {
    gzip on; gzip_min_length 1; gzip_types *;
    return 200 "large enough to be packed";
}
END
    my @clients = map { [ $nginx->client, $_ % 2 ? '/small/' : '/large/' ] }
                  1 .. 20;
    my %alone;

    for my $way ('alone', 'mixed') {
        reset_samples($nginx);

        for my $turn (1 .. 20) {
            for my $path ($way eq 'alone' ? ('/small/', '/large/') : '') {
                my @these = grep { $path eq '' || $_->[1] eq $path } @clients;

                $_->[0]->send_request($_->[1],
                                      headers => "Accept-Encoding: gzip\r\n")
                    for @these;
                $_->[0]->response for @these;
            }
        }

        my $bytes = allocated($nginx);

        for my $path ('/small/', '/large/') {
            my $is = $bytes->{"main.example $path"} // 0;

            $alone{$path} //= $is;
            cmp_ok($is, '>', 20_000, "$path, $way: $is bytes");
            cmp_ok(abs($is - $alone{$path}), '<', 0.2 * $alone{$path},
                   'as much as alone');
        }
    }

    cmp_ok($alone{'/large/'}, '>', 2 * $alone{'/small/'}, 'packing has more');
};


test 'TLS and HTTP/2', 'openssl' => sub {
    my ($tls, $h2) = (free_port(), free_port());
    my $certificate = certificate();
    my $nginx = start(http => <<"END");
server {
    listen 127.0.0.1:$tls ssl;
    listen 127.0.0.1:$h2 http2;
    server_name tls.example;
    $certificate
    location /secret/ { return 200 "secret"; }
    location /other/ { return 200 "other"; }
}
END

    my @curl = ('curl', '-sk', '--noproxy', '*', '-m', 20, '-o', '/dev/null');

    reset_samples($nginx);
    is(system(@curl, "https://127.0.0.1:$tls/secret/"), 0, 'TLS')
        for 1 .. 5;
    is_of($nginx, 'tls.example /secret/', 'handshakes', 0.9);

    my $has_http2 = (printed('curl -V') // '') =~ /HTTP2/;

    SKIP: {
        skip('a curl without HTTP/2', 25) if !$has_http2;

        reset_samples($nginx);
        is(system(@curl, '--http2-prior-knowledge',
                  "http://127.0.0.1:$h2/secret/"), 0, 'HTTP/2') for 1 .. 20;
        is_of($nginx, 'tls.example /secret/', 'streams', 0.75);
    }
};


# At once on one connection: each has its own, whatever was there before it had
# a location; what belongs to all of them is the server's.  Most of a stream is
# its pool, which is sampled for certain.

test 'streams of several locations', 'nghttp' => sub {
    my $port = free_port();
    my $nginx = start(http => <<"END");
server {
    listen 127.0.0.1:$port http2;
    server_name h2.example;
    request_pool_size 32k;
    limit_rate 400;
    location /one/ { return 200 "@{[ 'one ' x 100 ]}"; }
    location /two/ { return 200 "@{[ 'two ' x 100 ]}"; }
}
END
    my ($one, $two) = map { "http://127.0.0.1:$port/$_" } 'one', 'two';

    # each takes a second

    printed(join ' ', 'nghttp -n', (map { ("$one/$_", "$two/$_", "$two/x$_") }
                                    1 .. 30), '2>&1');

    my $bytes = allocated($nginx);
    my ($all_one, $all_two) = map { $bytes->{"h2.example /$_/"} // 0 }
                              'one', 'two';

    cmp_ok($all_one, '>', 100_000, 'one has its own') or diag(explain($bytes));
    cmp_ok(abs($all_two - 2 * $all_one), '<', 0.1 * $all_one,
           'and two, which was asked for twice as often')
        or diag(explain($bytes));
    ok($bytes->{'h2.example (no location)'}, 'the server has the rest');

    reset_samples($nginx);
    printed(join ' ', 'nghttp -n', (map { "$one/$_" } 1 .. 30), '2>&1');
    $bytes = allocated($nginx);

    cmp_ok($bytes->{'h2.example /one/'} // 0, '>', 100_000, 'one alone');
    is($bytes->{'h2.example /two/'}, undef, 'has nothing of the other');
};


# Idle connections: what they were accepted with has the location that came.

test 'what is held' => sub {
    my $nginx = start(locations => 'location /idle/ { return 200 "idle"; }');
    my @held = map { my $c = $nginx->client; $c->get('/idle/'); $c } 1 .. 60;
    my @silent = map { $nginx->client } 1 .. 60;

    # who was accepted last is settled by then

    $nginx->get('/fine') for 1 .. 2;

    my $bytes = owners($nginx, 'heap', 'inuse_space');

    cmp_ok($bytes->{'main.example /idle/'} // 0, '>', 15_000,
           'those that asked have their location');
    is($bytes->{'(unknown) (unknown)'}, undef, 'nobody is unknown');
    cmp_ok($bytes->{'main.example (no location)'} // 0, '>', 10_000,
           'those that never asked have the server') or diag(explain($bytes));
};


# Those after the first 2,000 are others; nobody has what belongs to them.

test 'very many locations' => sub {
    my ($n, $asked) = (10_000, 2200);
    my $nginx = start(locations => join '', map { <<"END" } 1 .. $n);
location /$_/ { return 200 "$_"; }
END
    my $client = $nginx->client;

    $client->get("/$_/") for 1 .. $asked;

    my $bytes = allocated($nginx);
    my @named = grep { m{^main\.example /\d+/$} } keys %$bytes;
    my $others = $bytes->{'(other servers) (other locations)'} // 0;

    cmp_ok(@named, '>', 1900, scalar(@named) . ' have a name');
    cmp_ok(@named, '<', 2000, 'and no more');
    cmp_ok($others, '>', 200 * 4096, "$others bytes are others'");

    my ($sum, $most) = (0, 0);

    for (map { $bytes->{$_} } @named) {
        $sum += $_;
        $most = $_ if $_ > $most;
    }

    cmp_ok($most, '<', 10 * $sum / @named, 'each has its own alone');
};


test 'very many connections' => sub {
    my $nginx = start(connections => 100_000, locations => <<'END');
location /plain/ { return 200 "plain"; }
END
    my @clients = map { $nginx->client } 1 .. 50;

    reset_samples($nginx);

    for (1 .. 5) {
        $_->get('/plain/') for @clients;
    }

    is_of($nginx, 'main.example /plain/', 'of 100,000 connections', 0.95);
};


test 'labels' => sub {
    my $nginx = start(locations => 'location /a/ { return 200 "a"; }');
    my $client = $nginx->client;

    $client->get('/a/') for 1 .. 200;

    my $with = $nginx->get("$tree/allocs?owners=1");
    my $without = $nginx->get("$tree/allocs");

    profile($with);
    ok(!(grep { $_ eq 'location' } @{ profile($without)->{strings} }),
       'none without asking');

    spew("$nginx->{prefix}/p.pb.gz", $with->{body});
    my $tags = printed("PPROF_TMPDIR=$nginx->{prefix} go tool pprof "
                       . '-symbolize=none -sample_index=alloc_space -tags '
                       . "$nginx->{prefix}/p.pb.gz 2>&1") // '';

    like($tags, qr{^ location: Total .*\n.*: /a/$}m, 'pprof has locations');
    like($tags, qr{^ server: Total .*\n.*: main\.example$}m, 'and servers');
};


test 'servers' => sub {
    my $port = free_port();

    # what a client asks for is localhost

    my $nginx = start(http => join '', map { <<"END" }
server {
    listen 127.0.0.1:$port;
    server_name $_;
    location / { return 200 "$_"; }
}
END
        'a.example', 'b.example localhost');

    my $client = JppClient->new(port => $port);

    $client->get('/') for 1 .. 150;

    my $folded = $nginx->get("$tree/allocs?format=folded&by=server&"
                             . 'type=alloc_space')->{body};
    my %bytes;

    $bytes{$1} += $2 while $folded =~ /^server (.*?);.* (\d+)$/mg;

    unlike($folded, qr/;location /, 'no locations');
    cmp_ok($bytes{'b.example'}, '>', 20_000, 'the server of its name');
    cmp_ok($bytes{'a.example'} // 0, '<', 0.05 * $bytes{'b.example'},
           'not the one that the address has without');
};


test 'without a location' => sub {
    my $nginx = start(http => '', locations => <<'END');
location /a/ { return 200 "a"; }
END

    for (1 .. 100) {
        my $client = $nginx->client;

        $client->write("nonsense\r\n\r\n");
        $client->hears(10);
    }

    my $bytes = allocated($nginx);

    cmp_ok($bytes->{'main.example (no location)'} // 0, '>', 20_000,
           'a request that is none') or diag(explain($bytes));
    is($bytes->{'main.example /a/'}, undef, 'has no location');
};


sub off {
    my $nginx = JppNginx->start(preload => [], conf => 'prof:false',
                             http => 'jemalloc_pprof_source sampler;'
                                     . 'jemalloc_pprof_owners off;'
                                     . 'jemalloc_pprof_sample 1k;',
                             server => $server);
    $nginx->get('/fine') for 1 .. 50;

    my $answer = $nginx->get("$tree/allocs?by=location");
    my @said = grep { /owner/ } @{ profile($answer)->{comments} };

    is_deeply(\@said, [ "no sample has an owner; workers' samples have one "
                        . 'unless owners are off (POST owners=on to control), '
                        . 'inherited samples never' ],
              'a comment says how to have them');
    is(join(' ', sort keys %{ allocated($nginx) }), '(unknown) (unknown)',
       'nobody is known');
    unlike($nginx->get("$tree/heap?format=jemalloc&worker=0")->{body},
           qr{\] owner\t}, 'and the dump has none');

    # what comes after they are switched on has them, and nothing before

    $nginx->get("$tree/control", body => 'reset=1&owners=on');
    $nginx->get('/fine') for 1 .. 200;

    my $bytes = allocated($nginx);

    cmp_ok($bytes->{'main.example /fine'}, '>', 20_000, 'switched on')
        or diag(explain($bytes));

    $nginx->get("$tree/control", body => 'owners=off');
    $nginx->get('/fine') for 1 .. 200;

    my $after = allocated($nginx);

    is($after->{'main.example /fine'}, $bytes->{'main.example /fine'},
       'switched off');
    cmp_ok($after->{'(unknown) (unknown)'}, '>', 20_000, 'nobody is known');
}


test 'bad questions' => sub {
    my $nginx = start();
    my %refused = (
        'heap?by=request'
            => qr/^a profile accepts by=server, by=location or by=upstream; /,
        'pools?by=server' => qr/^the stacks of pools begin with servers /,
        'heap?by=all' => qr/^by must be location, server or upstream; /,
        'heap?owners=yes' => qr/^owners must be 0 or 1$/,
        'heap?format=jemalloc&worker=0&by=server'
            => qr/^format=jemalloc serves a single dump unchanged, whose /,
        'heap?format=jemalloc&worker=0&owners=1'
            => qr/^format=jemalloc serves a single dump unchanged, whose /,
    );

    for my $query (sort keys %refused) {
        my $answer = $nginx->get("$tree/$query");

        is_answer($answer, 400, $refused{$query}, $query);
    }
};


sub folded($nginx, $worker) {
    return $nginx->get("$tree/allocs?worker=$worker&format=folded&by=location&"
                       . 'type=alloc_space')->{body};
}


# A location that is removed while its samples live: its worker still has it.

test 'over a reload' => sub {
    my $nginx = start(locations => 'location /gone/ { return 200 "gone"; }');
    my @held = map { my $c = $nginx->client; $c->get('/gone/'); $c } 1 .. 30;
    my $slow = $nginx->client;

    # keeps the worker

    $slow->write("GET /fine HTTP/1.1\r\nHost: x\r\n");
    $nginx->configure(server => "$server location /new/ { return 200 new; }");

    my ($old) = $nginx->worker_pids;

    $nginx->signal('HUP');
    wait_until(sub { $nginx->worker_pids > 1 });

    my $folded;

    # the old one may still accept some

    ok(wait_until(sub {
        $nginx->get('/new/') for 1 .. 20;
        $folded = folded($nginx, 0);
        $folded =~ m{^server main\.example;location /new/;}m
    }), 'the new worker knows its own');

    unlike($folded, qr{location /gone/;}, 'only');
    like(folded($nginx, "pid-$old"),
         qr{^server main\.example;location /gone/;}m,
         'the old worker knows its location');

    $slow->leave;
};
