# The resources besides profiles: symbol, cmdline, status and the console, from
# the tree and by an explicit name.

use JppTest;
use Digest::SHA qw(sha256_base64);
use POSIX qw(strftime);
use Sys::Hostname;
use JppNginx qw( profile );

my $nginx = JppNginx->start(server => <<'END');
gzip on;
gzip_types *;
gzip_min_length 1;
location /a/ { jemalloc_pprof; }
location /named/symbol/ { jemalloc_pprof symbol; }
location ~ \.cmd$ { jemalloc_pprof cmdline worker=self; }
location = /health { jemalloc_pprof status symbolize=off; }
location = /exact/symbol { jemalloc_pprof; }
location /prefix/cmdline { jemalloc_pprof; }
END

my $cmdline = join "\0", binary(), '-p', "$nginx->{prefix}/", '-e',
                   'logs/error.log', '-c', 'nginx.conf';

# Content-Type, what is true of the body, and where it is served.

my $plain = 'text/plain; charset=utf-8';

my @resources = (
    [ $plain, sub { is($_[0], "num_symbols: 1\n", 'its body') },
      qw( /a/symbol /a/pprof/symbol /a/worker/self/symbol
          /a/worker/0/pprof/symbol /named/symbol/any /exact/symbol ) ],
    [ $plain, sub { is($_[0], $cmdline, 'its body') },
      qw( /a/cmdline /a/pprof/cmdline /a/worker/self/cmdline /x.cmd
          /prefix/cmdline ) ],
    [ 'application/json', \&status,
      qw( /a/status /a/pprof/status /a/worker/0/status /health ) ],
    [ 'text/html; charset=utf-8', \&console, '/a/' ],
);
my @symbols = grep { /symbol/ } map { @$_[2 .. $#$_] } @resources;


for my $resource (@resources) {
    my ($type, $check, @uris) = @$resource;

    for my $uri (@uris) {
        test "GET and HEAD $uri" => sub {
            for (1, 2) {
                my $answer = asked($type, 'GET', $uri);

                is($answer->{headers}{'content-length'},
                   length $answer->{body}, 'its length');
                $check->($answer->{body});
                is(asked($type, 'HEAD', $uri)->{body}, '', 'HEAD has no body');
            }
        };
    }
}


sub asked($type, $method, $uri, @body) {
    my $answer = $nginx->ask($method, $uri, 'Accept-Encoding: gzip', @body);
    my $headers = $answer->{headers};

    is($answer->{status}, 200, "$method $uri");
    is($headers->{'content-type'}, $type, 'its type');
    is($headers->{'x-content-type-options'}, 'nosniff', 'as it is');
    is($headers->{'cache-control'}, 'no-store', 'not kept');
    is_deeply([ grep { defined $headers->{$_} }
                     qw( content-encoding content-disposition x-go-pprof etag
                         last-modified ) ], [], 'no other headers');

    return $answer;
}


test 'addresses that are not mapped, or none' => sub {
    my $zeros = '0' x 16;

    for my $uri (@symbols[ 0, 4 ]) {
        is(asked($plain, 'POST', $uri, \$_)->{body}, "num_symbols: 1\n",
           "addresses '$_'")
            for '0', '0x0', '0x1+0x2', "0x${zeros}", "0x${zeros}0", 'zz',
                '0xzz', '+', '+++', '0x', '-1', '0x1,0x2', "0x1\t0x2",
                '0x1%2B0x2', '%', '%zz', '%2', 'ffffffffffffffff',
                '18446744073709551616', '<script>', 'num_symbols: 7';
    }
};


# The names of addresses are those in a profile, however they are asked for.

test 'names of addresses' => sub {
    my $lines = profile($nginx->get('/a/heap'))->{'locations lines'};
    my %names = map { /^\d+: 0x([0-9a-f]+) .*?F=\d+ (.+)$/ } @$lines;
    my @asked = sort keys %names;
    my %ten = map { $_ => $names{$_} } @asked[ 0 .. 9 ];

    cmp_ok(scalar @asked, '>=', 10, 'names');

    for my $uri (@symbols) {
        for (
            [ 'POST', '', join '+', map { "0x$_" } @asked ],
            [ 'POST', '', join '+', map { sprintf '0x%016s', $_ } @asked ],
            [ 'POST', '', join '+', map { uc } @asked ],
            [ 'POST', '', join "\n", @asked, @asked, '0x1', '' ],
            [ 'POST', '', join '%2B', map { "0x$_" } @asked ],
            [ 'POST', '?0x1+0x2', join ', ', @asked ],
            [ 'GET', '?' . join '+', map { "0x$_" } sort keys %ten ],
        ) {
            my ($method, $query, $body) = @$_;
            my $answer = $nginx->ask($method, "$uri$query",
                                     defined $body ? \$body : ());
            my ($first, @rest) = split /\n/, $answer->{body};
            my $expected = defined $body ? \%names : \%ten;

            is($answer->{status}, 200, "$method $uri " . substr $query, 0, 20);
            is($first, 'num_symbols: 1', 'its first line');
            is(scalar @rest, keys %$expected, 'a line for each');
            is_deeply({ map { /^0x([0-9a-f]+) (.+)$/ } @rest }, $expected,
                      'the same names');
        }
    }
};


# Is everything in the status true?

sub status($body) {
    my $status = decode_json($body);
    my ($version) = slurp("$root/src/core/base/jpp_version.h")
                    =~ /define JPP_VERSION\s+"(.*)"/;
    my ($nginx) = `@{[ binary() ]} -v 2>&1` =~ m{/([\d.]+)};
    my ($worker, @others) = @{ delete $status->{workers} };

    # what the last profile said, if there was one

    like(delete $status->{unnamed} // '0 of 0 addresses have no name (',
         qr/^\d+ of \d+ addresses have no name \(/, 'unnamed');

    # the sizes are of the machine, and others may press it

    my $is_pressed = qr/^(?:pressure|stalls)$/;
    my $verdict = delete $status->{verdict};

    $status->{findings} = [ grep { $_->{id} !~ $is_pressed }
                            @{ $status->{findings} } ];

    ok($verdict->{id} =~ $is_pressed
       || $verdict->{severity} eq 'Healthy'
          && $verdict->{text} =~ /^1 worker holds \d+\.\d MiB/, 'verdict')
        or diag("$verdict->{severity}: $verdict->{text}");

    is_deeply($status, {
        module => $version, nginx => $nginx, host => lc hostname(),
        asked => 1, answered => 1, missing => [], findings => [],
    }, 'status');
    is(scalar @others, 0, 'one worker');

    my %is = map { $_ => delete $worker->{$_} }
             qw( pid generation started jemalloc unwinder cost stats problems );

    is_deeply($worker, {
        worker => 0, exiting => JSON::PP::false, allocator => 'jemalloc',
        state => 'ready', active => JSON::PP::true, lg_sample => 12,
        prof_accum => JSON::PP::false, source => 'jemalloc',
        sampler => undef, in_step => undef, last_error => undef,
        complete_since => undef, gap => undef, stall_ms => 100,
        owners => JSON::PP::true,
        lua => { layout => undef, reason => 'nginx has no Lua module',
                 http => undef, stream => undef,
                 locations_without_code_cache => 0 },
    }, 'its worker');

    # the suites' rate is for tests

    is_deeply([ map { $_->{id} } @{ $is{problems} } ], [ 'fine' ], 'problems');
    is(slurp("/proc/$is{pid}/comm"), "nginx\n", 'pid');
    cmp_ok($is{generation}, '>=', 1, 'generation');
    like($is{jemalloc}, qr/^\d+\.\d+\.\d+$/, 'jemalloc');
    is($is{unwinder}{name},
       $is{jemalloc} =~ /^5\.3\.[01]$/ ? 'module' : 'jemalloc', 'unwinder');

    # the machine's clock may be set while this runs, but not by much

    cmp_ok($is{started}, 'le', strftime('%FT%TZ', gmtime(time() + 60)),
           'start');
    cmp_ok($is{started}, 'ge', strftime('%FT%TZ', gmtime(time() - 3600)),
           'this hour');
    stats($is{stats});
}


sub stats($stats) {
    is_deeply([ sort keys %$stats ],
              [ qw( active allocated mapped metadata resident retained ) ],
              'members of stats');
    cmp_ok($stats->{allocated}, '>=', 10000, 'allocated');
    cmp_ok($stats->{active}, '>=', $stats->{allocated}, 'active');
    cmp_ok($stats->{mapped}, '>=', $stats->{resident}, 'mapped');
    is($stats->{resident} % 4096, 0, 'resident');
}


# The page fetches nothing from outside, its style and script are those that its
# policy allows, and its links lead somewhere.

sub console($page) {
    my $policy = $nginx->ask('HEAD', '/a/')->{headers}
                       {'content-security-policy'};
    my %hash;

    unlike($page, qr/[^\n -~]/, 'ASCII');

    for (qw( script style )) {
        ok($page =~ s{<$_>(.*)</$_>}{}s, "a $_");
        $hash{$_} = sha256_base64($1);
        $hash{$_} .= '=' while length($hash{$_}) % 4;
    }

    unlike($page, qr/<(?:script|link|img|iframe|object|form|base)\b|
                     \bon[a-z]+=|\bsrc=|url\(|\@import|javascript:/ix,
           'runs and fetches nothing');
    unlike($page, qr/&(?!(?:amp|lt|gt|quot|#39);).{9}/, 'escaped');
    is($policy, "default-src 'none'; script-src 'sha256-$hash{script}'; "
                . "style-src 'sha256-$hash{style}'; img-src blob:; "
                . "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                . "frame-ancestors 'none'; trusted-types 'none'; "
                . "require-trusted-types-for 'script'", 'its policy');

    my %links = map { s/&amp;/&/gr => 1 } $page =~ /href="(.*?)"/g;

    ok($links{$_}, "a link to $_")
        for qw( heap allocs status cmdline symbol heap?format=top heap?debug=1
                heap?format=html heap?format=svg heap?format=folded
                heap?seconds=30 heap?format=jemalloc&worker=self );
    is($nginx->ask(/seconds/ ? 'HEAD' : 'GET', "/a/$_")->{status}, 200, $_)
        for sort keys %links;

    my $status = $nginx->json('/a/status');

    isnt(index($page, $_), -1, $_)
        for "0 <small>pid $status->{workers}[0]{pid}</small>",
            "\">nginx $status->{nginx}, jemalloc_pprof module "
            . "$status->{module}, 1 of 1 workers answered",
            '<dt>control (POST)</dt>',
            'then go back. jemalloc forgets its samples at each change.'
            . "\n<pre>curl -d lg_sample=14 &quot;\${URL}control&quot;\n"
            . 'curl -d lg_sample=19 &quot;${URL}control&quot;</pre>';
}


test 'the console has no other place' => sub {
    my $answer = $nginx->get('/a/worker/self/');

    is_answer($answer, 404, "no such resource here: use one of $resources",
              'in a worker');
};


$nginx->stop;
$nginx = JppNginx->start(workers => 4, server => <<'END');
location /a/ { jemalloc_pprof; }
location /late/ {
    jemalloc_pprof;
    jemalloc_pprof_timeout 500ms;
}
END

# in the order of their indexes
my @workers = @{ $nginx->settled(4, '/a/status')->{workers} };


test 'status and console of four workers' => sub {
    my $page = $nginx->get('/a/')->{body};

    is("@{[ map { $_->{worker} } @workers ]}", '0 1 2 3', 'in their order');
    is(scalar(uniq map { $_->{pid} } @workers), 4, 'four processes');
    like($page, qr/, 4 of 4 workers answered<\/p>/, 'the page');

    for my $worker (@workers) {
        is(slurp("/proc/$worker->{pid}/comm"), "nginx\n", 'of nginx');
        stats($worker->{stats});
        like($page, qr/>$worker->{worker} <small>pid $worker->{pid}</,
             'the page has it');

        for my $place ("worker/$worker->{worker}/status",
                       "status?worker=pid-$worker->{pid}")
        {
            my $one = $nginx->json("/a/$place");

            is($one->{asked}, 1, $place);
            is_deeply([ map { $_->{pid} } @{ $one->{workers} } ],
                      [ $worker->{pid} ], 'that worker');
        }
    }
};


# One of four is stopped: an answer says who is missing, and with strict=1 there
# is none.  At /late/ a worker has half a second.

test 'status and console of four workers, one of which is stopped' => sub {
    my $client = $nginx->client;
    my $self = ($nginx->workers_of($client, '/a'))[-1];
    my ($victim) = grep { $_->{pid} != $self } @workers;
    my ($number, $pid) = @$victim{qw( worker pid )};
    my $why = qr/no answer within 500\.0 ms \(jemalloc_pprof_timeout\): (?#
        )it is stopped, by a signal or a debugger \(state T[^()]*\)/;
    my $none = qr/\Ano worker answered in time: worker $number (?#
        )\(pid $pid\), $why\n\z/;
    my $partly = qr/\Aonly 3 of 4 workers answered, and strict=1 requires (?#
        )all: the error log and the answer without strict=1 say which are (?#
        )missing and why\n\z/;
    my $one = "worker=pid-$pid";

    is($client->get("/a/$_")->{status}, 200, $_)
        for qw( status?strict=1 ?strict=1 );

    halt($pid);

    for (
        [ 'status?strict=1', 503, $partly ], [ '?strict=1', 503, $partly ],
        [ "status?$one", 504, $none ], [ "?$one", 504, $none ],
        [ "status?$one&strict=1", 504, $none ], [ "heap?$one", 504, $none ],
    ) {
        my ($path, $code, $sentence) = @$_;
        my $answer = in_time($client, $path);

        is_answer($answer, $code, $sentence, $path);
    }

    my $status = decode_json(in_time($client, 'status?strict=0')->{body});
    my ($missing) = @{ $status->{missing} };
    my $page = in_time($client, '')->{body};

    is($status->{answered}, 3, 'three answered');
    is($missing->{pid}, $pid, 'that one is missing');
    like($missing->{why}, qr/\A$why\z/, 'why');
    like($page, qr/, 3 of 4 workers answered/, 'the page');
    like($page, $why, 'and why');

    kill 'CONT', $pid;
    $nginx->settled(4, '/a/status');
};


# The answer to PATH at /late/, once no worker that runs was too late: those of
# a busy machine may be.

sub in_time($client, $path) {
    my $answer;

    wait_until(sub {
        $answer = $client->get("/late/$path");

        return $answer->{body} !~ /only [012] of 4 |, [012] of 4 workers |(?#
                                  )"answered": [012],/;
    });

    return $answer;
}
