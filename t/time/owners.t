#!/usr/bin/perl

# Whom the time of the CPU was spent for: server, location and upstream, by
# labels and by frames.
#
# The truth is what is asked for: one location at a time.
#
# Not here: memory (heap/owners.t); how true it is under a mixed load
# (bench/owners).

use JppTest;

my $tree = '/debug/pprof';
my $asked = 'seconds=1&frequency=500';

# so that gzip has its work
my $text = join '', map { 'line ' . $_ * 7919 * $_ . "\n" } 1 .. 4000;

my $server = <<'END';
server_name main.example;
location /debug/pprof/ { jemalloc_pprof control=on; }
location /gzip/ { gzip on; gzip_comp_level 9; gzip_types *; alias html/; }
END

test 'not switched on' => \&off;


sub start(%how) {
    my $owners = $how{owners} // 'on';
    my $nginx = JppNginx->start(preload => [], conf => 'prof:false',
        http => "jemalloc_pprof_owners $owners;\n" . ($how{http} // ''),
        server => $server . ($how{locations} // ''));

    spew("$nginx->{prefix}/html/text", $text);

    return $nginx;
}


# The answer to QUERY, while a child does what BESIDE does, again and again.

sub while_busy($nginx, $query, $beside) {
    my $child = busy(1, $beside);
    my $answer = $nginx->get("$tree/profile?$asked&$query");

    is($answer->{status}, 200, 'an answer');

    return $answer;
}


# The same while somebody asks for PATH.

sub asking($nginx, $path, $query) {
    my $client = $nginx->client;

    return while_busy($nginx, $query, sub {
        $client->get($path, headers => "Accept-Encoding: gzip\r\n");
    });
}


# Samples by the roots of a folded ANSWER, but for those of the question.

sub shares($answer) {
    my %n;

    for my $line (split /\n/, $answer->{body}) {
        my ($stack, $n) = $line =~ /^(.*) (\d+)$/ or die "no stack: $line\n";
        my @roots = grep { /^(?:server|location|upstream) / } split /;/, $stack;

        $n{join ';', @roots} += $n if !grep { m{/debug/pprof/} } @roots;
    }

    return \%n;
}


# More than a part of LEAST of ASK's samples is ROOT's, and the rest is nobody
# else's.  On a busy machine one sample may be worth a dozen: then some more are
# added to them.

sub is_of($ask, $root, $what, $least) {
    my (%n, $sum);

    for (1 .. 5) {
        my $more = $ask->();

        $n{$_} += $more->{$_} for keys %$more;
        $sum = sum0(values %n);

        last if $sum > 20 && ($n{$root} // 0) > $least * $sum;
    }

    my %rest = %n;
    my $part = delete $rest{$root} // 0;

    delete @rest{grep { /\(/ } keys %rest};

    cmp_ok($sum, '>', 20, "$what: $sum samples");
    cmp_ok($part, '>', $least * $sum, "$what has most of them")
        or diag(explain(\%n));
    is_deeply(\%rest, {}, 'and nobody else any') or diag(explain(\%n));
}


test 'one location at a time' => sub {
    my $upstream = JppNginx->start(preload => [], conf => 'prof:false',
                                   module => 0,
                                   server => 'location / { return 200 "'
                                             . 'u' x 2000 . '"; }');
    my $nginx = start(http => "upstream back { server 127.0.0.1:"
                              . "$upstream->{port}; }", locations => <<'END');
location /proxy/ { proxy_pass http://back; gzip on; gzip_types *; }
location /moved/ { rewrite ^ /gzip/text last; }
END
    my $folded = "format=folded&symbolize=0&type=samples";

    for my $path ('/gzip/text', '/moved/') {
        is_of(sub {
            my $n = shares(asking($nginx, $path, "$folded&by=location"));

            # the rewriting itself

            delete $n->{'server main.example;location /moved/'};
            return $n;
        }, 'server main.example;location /gzip/', $path, 0.9);
    }

    is_of(sub { shares(asking($nginx, '/gzip/text', "$folded&by=server")) },
          'server main.example', 'the server', 0.9);

    my $n = shares(asking($nginx, '/proxy/', "$folded&by=upstream"));

    cmp_ok($n->{'upstream back'} // 0, '>', 5, 'the upstream has some')
        or diag(explain($n));
    is(scalar(grep { /^upstream \w/ && $_ ne 'upstream back' } keys %$n), 0,
       'and no other') or diag(explain($n));
};


# They keep more on the stack than is looked at, between what they do and the
# connection.

test 'signatures of RSA', 'openssl' => sub {
    my $port = free_port();
    my $certificate = certificate();
    my $nginx = start(http => <<"END");
server {
    listen 127.0.0.1:$port ssl;
    server_name tls.example;
    $certificate
    ssl_protocols TLSv1.2;
    ssl_ciphers ECDHE-RSA-AES128-GCM-SHA256;
    location / { return 200 "secret"; }
}
END
    my $query = 'format=folded&symbolize=0&type=samples&by=server';
    my $load = "openssl s_time -connect 127.0.0.1:$port -new -time 1 -www / "
               . '2>&1';

    is_of(sub { shares(while_busy($nginx, $query, sub { printed($load) })) },
          'server tls.example', 'the handshakes', 0.9);
};


# Streams of two locations at once: one of them is busy.

test 'HTTP/2', 'nghttp' => sub {
    my $port = free_port();
    my $url = "http://127.0.0.1:$port";
    my $nginx = start(http => <<"END");
server {
    listen 127.0.0.1:$port http2;
    server_name h2.example;
    location /busy/ { gzip on; gzip_comp_level 9; gzip_types *; alias html/; }
    location /idle/ { return 200 "idle"; }
}
END
    my $load = join ' ', 'nghttp -n -H "accept-encoding: gzip"',
                    (map { ("'$url/busy/text?$_'", "$url/idle/$_") } 1 .. 40),
                    '2>&1';
    my $query = 'format=folded&symbolize=0&type=samples&by=location';

    is_of(sub {
        my $n = shares(while_busy($nginx, $query, sub { printed($load) }));

        # has some work

        delete $n->{'server h2.example;location /idle/'};
        return $n;
    }, 'server h2.example;location /busy/', 'the busy one', 0.8);
};


test 'labels' => sub {
    my $nginx = start();
    my $with = asking($nginx, '/gzip/text', 'owners=1');
    my ($n, $of) = checked($with->{body}, '--print')
                   =~ /samples with an owner: (\d+) of (\d+)/;

    cmp_ok($n // 0, '>', 0.95 * ($of // 1), 'a comment counts them');

    spew("$nginx->{prefix}/p.pb.gz", $with->{body});

    my $tags = printed("PPROF_TMPDIR=$nginx->{prefix} go tool pprof "
                       . '-symbolize=none -sample_index=samples -tags '
                       . "$nginx->{prefix}/p.pb.gz 2>&1") // '';

    like($tags, qr{^ location: Total .*\n.*: /gzip/$}m, 'pprof has locations');
    like($tags, qr{^ server: Total .*\n.*: main\.example$}m, 'and servers');

    unlike(checked($nginx->get("$tree/profile?seconds=1")->{body}, '--print'),
           qr/location:|server:|an owner/, 'none without asking');
};


test 'wall' => sub {
    my $nginx = start();
    my $query = 'mode=wall&format=folded&symbolize=0&type=samples&by=location';

    is_of(sub { shares(asking($nginx, '/gzip/text', $query)) },
          'server main.example;location /gzip/', 'wall', 0.6);
};


# Clients who never ask for anything.

test 'nobody' => sub {
    my $nginx = start();
    my $n = shares(while_busy($nginx, 'format=folded&symbolize=0&type=samples&'
                                      . 'by=location',
                              sub { $nginx->client->leave }));

    delete @$n{grep { /location \(/ } keys %$n};
    is_deeply($n, {}, 'no location has any of it');
};


sub off {
    my $nginx = start(owners => 'off');
    my $answer = asking($nginx, '/gzip/text', 'owners=1');

    my $how = "no sample has an owner; workers' samples have one unless owners "
              . 'are off (POST owners=on to control)';

    like(checked($answer->{body}, '--print'), qr/\Q$how\E/,
         'a comment says how to have them');
}
