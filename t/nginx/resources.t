# The resources besides profiles: symbol, cmdline, status and the console, from
# the tree and by an explicit name.

use JppPerl;


use Digest::SHA qw(sha256_base64);
use JppRun qw( $root halt wait_until );
use JppSuite qw( blocks dial fleets profile quiet_log settled slurp table );
use JSON::PP qw(decode_json);
use POSIX qw(strftime);
use Sys::Hostname;
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
quiet_log();
fleets();

my $config = <<'END';
location /a/ { jemalloc_pprof; }
location /named/symbol/ { jemalloc_pprof symbol; }
location ~ \.cmd$ { jemalloc_pprof cmdline worker=self; }
location = /health { jemalloc_pprof status symbolize=off; }
location = /exact/symbol { jemalloc_pprof; }
location /prefix/cmdline { jemalloc_pprof; }
END

my %places = (
    symbol => [ qw( /a/symbol /a/pprof/symbol /a/worker/self/symbol
                    /a/worker/0/pprof/symbol /named/symbol/any
                    /exact/symbol ) ],
    cmdline => [ qw( /a/cmdline /a/pprof/cmdline /a/worker/self/cmdline
                     /x.cmd /prefix/cmdline ) ],
    status => [ qw( /a/status /a/pprof/status /a/worker/0/status /health ) ],
    console => [ qw( /a/ ) ],
);

my %types = (
    symbol => 'text/plain; charset=utf-8',
    cmdline => 'text/plain; charset=utf-8',
    status => 'application/json',
    console => 'text/html; charset=utf-8',
);

my $servroot = server_root();

my $cmdline = join '\0', $ENV{TEST_NGINX_BINARY}, '-e',
              "$servroot/logs/error.log", '-p', "$servroot/", '-c',
              "$servroot/conf/nginx.conf";

my %bodies = (
    symbol => [ 'as_it_is', '"num_symbols: 1\n"' ],
    cmdline => [ 'as_it_is', "\"$cmdline\"" ],
    status => [ 'status', '"all true\n"' ],
    console => [ 'console', '"all good\n"' ],
);

my @places = map { my $what = $_;
                   map { [ $_, $types{$what}, @{ $bodies{$what} } ] }
                       @{ $places{$what} } } sort keys %places;

sub as_it_is { return $_[0] }

my $headers = <<'END';
--- response_headers
Content-Type: [% type %]
X-Content-Type-Options: nosniff
Cache-Control: no-store
!Content-Encoding
!Content-Disposition
!X-Go-Pprof
!ETag
!Last-Modified
END

my $served = <<END;
=== GET [% uri %]
--- config
$config
gzip on;
gzip_types *;
gzip_min_length 1;
--- request
GET [% uri %]
--- more_headers
Accept-Encoding: gzip
$headers
--- raw_response_headers_like eval
qr/^Content-Length: [1-9]\\d*\\r\$/m
--- response_body_filters eval
\\&main::[% filter %]
--- response_body eval
[% body %]
END

my $heads = <<END;
=== HEAD [% uri %]
--- config
$config
--- request
HEAD [% uri %]
$headers
--- response_body
END

# [ path, body ]: addresses that are not mapped, or no addresses

my $zeros = '0' x 16;

my @unknown = map { my $uri = $_; map { [ $uri, $_ ] } (
    '0', '0x0', '0x1+0x2', "0x${zeros}", "0x${zeros}0", 'zz', '0xzz', '+',
    '+++', '0x', '-1', '0x1,0x2', "0x1\t0x2", '0x1%2B0x2', '%', '%zz', '%2',
    'ffffffffffffffff', '18446744073709551616', '<script>', 'num_symbols: 7',
) } @{ $places{symbol} }[ 0, 4 ];

my $unknown = <<END;
=== POST [% uri %]: [% body %]
--- config
$config
--- request
POST [% uri %]
[% body %]
$headers
--- response_body
num_symbols: 1
END

$unknown =~ s/\[% type %\]/$types{symbol}/;


# The names of addresses are those in a profile, however they are asked for.

sub names($uri) {
    return sub {
        my $lines = profile($_[0])->{'locations lines'};

        my %names = map { /^\d+: 0x([0-9a-f]+) .*?F=\d+ (.+)$/ } @$lines;
        my @asked = sort keys %names;

        return "few names\n" if @asked < 10;

        my $c = dial();

        for (
            [ 'POST', '', join '+', map { "0x$_" } @asked ],
            [ 'POST', '', join '+', map { sprintf '0x%016s', $_ } @asked ],
            [ 'POST', '', join '+', map { uc } @asked ],
            [ 'POST', '', join "\n", @asked, @asked, '0x1', '' ],
            [ 'POST', '', join '%2B', map { "0x$_" } @asked ],
            [ 'POST', "?0x1+0x2", join ', ', @asked ],
            [ 'GET', '?' . join '+', map { "0x$_" } @asked[ 0 .. 9 ] ],
        ) {
            my ($method, $query, $body) = @$_;
            my %expected = $body ? %names
                                 : map { $_ => $names{$_} } @asked[ 0 .. 9 ];

            my $answer = $c->ask($method, "$uri$query",
                                 defined $body ? \$body : ());

            return "$answer->{status} to $method $uri$query\n"
                if $answer->{status} != 200;

            my ($first, @rest) = split /\n/, $answer->{body};
            my %got = map { /^0x([0-9a-f]+) (.+)$/ } @rest;

            return "another first line: $first\n"
                if $first ne 'num_symbols: 1';

            return scalar(@rest) . ' lines for ' . keys(%expected)
                   . " addresses\n" if @rest != keys %expected;

            for (keys %expected) {
                return ($got{$_} // '-') . " for $_, not $expected{$_}\n"
                    if $expected{$_} ne ($got{$_} // '');
            }
        }

        return "the same names\n";
    };
}

my $names = <<END;
=== names of addresses at [% uri %]
--- config
$config
--- request
GET /a/heap
--- response_body_filters eval
main::names('[% uri %]')
--- response_body
the same names
END


# Is everything in the status true?  The sentence says what is not.

sub status {
    my $status = eval { decode_json($_[0]) } // return "no JSON: $@\n";

    my ($version) = slurp("$root/src/core/base/jpp_version.h")
                    =~ /define JPP_VERSION\s+"(.*)"/;
    my ($nginx) = `$ENV{TEST_NGINX_BINARY} -v 2>&1` =~ m{/([\d.]+)};
    my ($lg_sample) = $ENV{MALLOC_CONF} =~ /lg_prof_sample:(\d+)/;

    my $workers = delete $status->{workers};

    # what the last profile said, if there was one

    my $unnamed = delete $status->{unnamed};

    return "unnamed $unnamed\n"
        if defined $unnamed
           && $unnamed !~ /^\d+ of \d+ addresses have no name \(/;

    # the sizes are of the machine, and others may press it

    my $verdict = delete $status->{verdict};

    $status->{findings} = [ grep { $_->{id} !~ /^(?:pressure|stalls)$/ }
                            @{ $status->{findings} } ];

    return "verdict $verdict->{severity}: $verdict->{text}\n"
        if $verdict->{id} !~ /^(?:pressure|stalls)$/
           && ($verdict->{severity} ne 'Healthy'
               || $verdict->{text} !~ /^1 worker holds \d+\.\d MiB/);

    my $wrong = differs($status, {
        module => $version, nginx => $nginx, host => lc hostname(),
        asked => 1, answered => 1, missing => [], findings => [],
    });

    return $wrong if $wrong;
    return scalar(@$workers) . " workers\n" if @$workers != 1;

    my $worker = $workers->[0];
    my $stats = delete $worker->{stats};

    my %is = map { $_ => delete $worker->{$_} }
             qw( pid generation started jemalloc unwinder cost );

    # the suites' rate is for tests

    my $problems = join ' ', map { $_->{id} } @{ delete $worker->{problems} };

    return "problems $problems\n"
        if $problems ne ($lg_sample < 15 ? 'fine' : '');

    $wrong = differs($worker, {
        worker => 0, exiting => JSON::PP::false, allocator => 'jemalloc',
        state => 'ready', active => JSON::PP::true, lg_sample => $lg_sample,
        prof_accum => JSON::PP::false, source => 'jemalloc',
        sampler => undef, in_step => undef, last_error => undef,
        complete_since => undef, gap => undef,
        stall_ms => 100,
        owners => JSON::PP::true,
    });

    return $wrong if $wrong;

    return "pid $is{pid}\n"
        if slurp("/proc/$is{pid}/comm") ne "nginx\n";

    return "generation $is{generation}\n" if $is{generation} < 1;
    return "jemalloc $is{jemalloc}\n" if $is{jemalloc} !~ /^\d+\.\d+\.\d+$/;

    return "unwinder $is{unwinder}{name}\n"
        if $is{unwinder}{name}
           ne ($is{jemalloc} =~ /^5\.3\.[01]$/ ? 'module' : 'jemalloc');

    # the machine's clock may be set while this runs, but not by much

    return "started $is{started}\n"
        if $is{started} gt strftime('%FT%TZ', gmtime(time() + 60))
           || $is{started} lt strftime('%FT%TZ', gmtime(time() - 3600));

    return stats($stats);
}


sub stats($stats) {
    return 'members ' . join(' ', sort keys %$stats) . "\n"
        if join(' ', sort keys %$stats)
           ne 'active allocated mapped metadata resident retained';

    return "allocated $stats->{allocated}, active $stats->{active}, resident "
           . "$stats->{resident}, mapped $stats->{mapped}\n"
        if $stats->{allocated} < 10000
           || $stats->{active} < $stats->{allocated}
           || $stats->{mapped} < $stats->{resident}
           || $stats->{resident} % 4096;

    return "all true\n";
}


sub differs($is, $expected) {
    my $json = JSON::PP->new->canonical->allow_nonref;
    my @keys = join ' ', sort keys %$is;

    return "members: @keys\n" if "@keys" ne join ' ', sort keys %$expected;

    for (sort keys %$expected) {
        my ($a, $b) = map { $json->encode($_) } $is->{$_}, $expected->{$_};

        return "$_: $a, not $b\n" if $a =~ s/"//gr ne $b =~ s/"//gr;
    }

    return '';
}


# Four workers, in the order of their indexes.

sub four {
    my $status = settled('/a/status', 4);
    my @workers = @{ $status->{workers} };
    my %pids = map { $_->{pid} => 1 } @workers;

    return "workers @{[ map { $_->{worker} } @workers ]}\n"
        if join(' ', map { $_->{worker} } @workers) ne '0 1 2 3';

    return "pids @{[ keys %pids ]}\n"
        if keys %pids != 4
           || grep { slurp("/proc/$_/comm") ne "nginx\n" } keys %pids;

    return "missing\n" if @{ $status->{missing} };

    for (@workers) {
        my $wrong = stats($_->{stats});
        return $wrong if $wrong ne "all true\n";
    }

    my $c = dial();
    my $page = $c->ask('GET', '/a/')->{body};

    return "the page: $page\n"
        if $page !~ /, 4 of 4 workers answered<\/p>/
           || grep { $page !~ />$_->{worker} <small>pid $_->{pid}</ }
                   @workers;

    for (@workers) {
        for my $place ("worker/$_->{worker}/status",
                       "status?worker=pid-$_->{pid}")
        {
            my $one = decode_json($c->ask('GET', "/a/$place")->{body});

            return "$place: another\n"
                if $one->{asked} != 1 || @{ $one->{workers} } != 1
                   || $one->{workers}[0]{pid} != $_->{pid};
        }
    }

    return "four\n";
}


# One of four is stopped: an answer says who is missing, and with strict=1 there
# is none.  At /late/ a worker has half a second.

sub late {
    my $status = settled('/a/status', 4);
    my $c = dial();
    my $self = decode_json($c->ask('GET', '/a/worker/self/status')->{body})
               ->{workers}[0];
    my ($victim) = grep { $_->{pid} != $self->{pid} }
                   @{ $status->{workers} };

    for (qw( status?strict=1 ?strict=1 )) {
        my $answer = $c->ask('GET', "/a/$_");

        return "$answer->{status} to $_\n" if $answer->{status} != 200;
    }

    halt($victim->{pid});

    my $wrong = eval { stopped($c, $victim) } // $@;

    kill 'CONT', $victim->{pid};
    settled('/a/status', 4);

    return $wrong || "late\n";
}


sub stopped($c, $victim) {
    my $why = qr/no answer within 500 ms \(jemalloc_pprof_timeout\): it is (?#
        )stopped, by a signal or a debugger \(state T[^()]*\)/;
    my $none = qr/\Ano worker answered in time: worker $victim->{worker} (?#
        )\(pid $victim->{pid}\), $why\n\z/;
    my $partly = qr/\Aonly 3 of 4 workers answered, and strict=1 requires (?#
        )all: the error log and the answer without strict=1 say which are (?#
        )missing and why\n\z/;
    my $one = "worker=pid-$victim->{pid}";

    for (
        [ 'status?strict=1', 503, $partly ], [ '?strict=1', 503, $partly ],
        [ "status?$one", 504, $none ], [ "?$one", 504, $none ],
        [ "status?$one&strict=1", 504, $none ], [ "heap?$one", 504, $none ],
    ) {
        my ($path, $code, $sentence) = @$_;
        my $answer = in_time($c, $path);

        return "$path: $answer->{status} $answer->{body}\n"
            if $answer->{status} != $code || $answer->{body} !~ $sentence;
    }

    my $status = decode_json(in_time($c, 'status?strict=0')->{body});
    my ($missing) = @{ $status->{missing} };

    return "missing: $missing->{why}\n"
        if $status->{answered} != 3 || $missing->{pid} != $victim->{pid}
           || $missing->{why} !~ /\A$why\z/;

    my $page = in_time($c, '')->{body};

    return "the page: $page\n"
        if $page !~ /, 3 of 4 workers answered/ || $page !~ $why;

    return '';
}


# The answer to PATH at /late/, once no worker that runs was too late: those of
# a busy machine may be.

sub in_time($c, $path) {
    my $answer;

    wait_until(sub {
        $answer = $c->ask('GET', "/late/$path");

        return $answer->{body} !~ /only [012] of 4 |, [012] of 4 workers |(?#
                                  )"answered": [012],/;
    });

    return $answer;
}


# The page fetches nothing from outside, its style and script are those that its
# policy allows, and its links lead somewhere.

sub console($page) {
    return "no ASCII\n" if $page =~ /[^\n -~]/;

    my $c = dial();
    my $policy = $c->ask('HEAD', '/a/')->{headers}{'content-security-policy'};
    my %hash;

    for (qw( script style )) {
        $page =~ s{<$_>(.*)</$_>}{}s or return "no $_\n";
        $hash{$_} = sha256_base64($1);
        $hash{$_} .= '=' while length($hash{$_}) % 4;
    }

    return "runs or fetches: $&\n"
        if $page =~ /<(?:script|link|img|iframe|object|form|base)\b|
                     \bon[a-z]+=|\bsrc=|url\(|\@import|javascript:/ix;
    return "not escaped: $&\n" if $page =~ /&(?!(?:amp|lt|gt|quot|#39);).{9}/;

    return "policy: $policy, and $hash{script}, $hash{style}\n"
        if $policy ne "default-src 'none'; "
                      . "script-src 'sha256-$hash{script}'; "
                      . "style-src 'sha256-$hash{style}'; img-src blob:; "
                      . "connect-src 'self'; base-uri 'none'; "
                      . "form-action 'none'; frame-ancestors 'none'; "
                      . "trusted-types 'none'; "
                      . "require-trusted-types-for 'script'";

    my @links = map { s/&amp;/&/gr } $page =~ /href="(.*?)"/g;

    for (qw( heap allocs status cmdline symbol heap?format=top heap?debug=1
             heap?format=html heap?format=svg heap?format=folded
             heap?seconds=30
             heap?format=jemalloc&worker=self ))
    {
        my $link = $_;
        return "no link to $link\n" if !grep { $_ eq $link } @links;
    }

    for (@links) {
        my $method = /seconds/ ? 'HEAD' : 'GET';
        my $answer = $c->ask($method, "/a/$_");

        return "$answer->{status} at $_\n" if $answer->{status} != 200;
    }

    my $status = decode_json($c->ask('GET', '/a/status')->{body});

    for ("0 <small>pid $status->{workers}[0]{pid}</small>",
         "\">nginx $status->{nginx}, jemalloc_pprof module "
         . "$status->{module}, 1 of 1 workers answered",
         '<dt>control (POST)</dt>',
         'for an hour, then go back. jemalloc forgets its samples both '
         . "times.\n<pre>curl -d lg_sample=14 &quot;\${URL}control&quot;\n"
         . 'curl -d lg_sample=19 &quot;${URL}control&quot;</pre>')
    {
        return "not in the page: $_\n" if index($page, $_) == -1;
    }

    return "all good\n";
}


blocks(<DATA>,
       table($served, [ qw( uri type filter body ) ], @places),
       table($heads, [ qw( uri type ) ], @places),
       table($unknown, [ qw( uri body ) ], @unknown),
       table($names, [ qw( uri ) ], map { [ $_ ] } @{ $places{symbol} }));

run_tests();

__DATA__

=== status and console of four workers
--- workers: 4
--- request
GET /a/status
--- response_body_filters eval
\&main::four
--- response_body
four



=== status and console of four workers, one of which is stopped
--- workers: 4
--- config
location /a/ { jemalloc_pprof; }
location /late/ {
    jemalloc_pprof;
    jemalloc_pprof_timeout 500ms;
}
--- request
GET /a/status
--- response_body_filters eval
\&main::late
--- response_body
late



=== the console has no other place
--- request
GET /a/worker/self/
--- error_code: 404
--- response_body eval
"no such resource here: use one of $JppRun::resources\n"
