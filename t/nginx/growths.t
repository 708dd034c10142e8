#!/usr/bin/perl

# Whether grown is right: twelve planted growths, each of which has to be the
# first row, and six loads that only come and go, of which nobody is to be
# named; and whether the limit is reached as soon as grown says.  The clock of
# nginx goes ten times as fast (t/lib/jpp_clock.c).
#
# JPP_SOAK=1 does all of that; otherwise it is one of each, which are cheap.
#
# Not here: the rows and the parameters of grown (nginx/grown.t), the shapes of
# a history (t/unit).

use JppTest;

use JppFleet qw( measured );
use JppSites qw( large_buffers slow_uploads streams );

my $is_long = $ENV{JPP_SOAK};

# where memory is limited by version 1
my $cgroup = '/sys/fs/cgroup/memory';

# so much faster the clock goes: nginx waits a tenth of what it is told to
my $speed = 10;
my %patient = (
    preload => [ JppRun::preloads(), $JppRun::clock ],
    env => { JPP_CLOCK => $speed },
    http => <<'CONF'
jemalloc_pprof_timeout 400s;
client_body_timeout 10h;
client_header_timeout 10h;
keepalive_timeout 10h;
proxy_read_timeout 10h;
send_timeout 10h;
CONF
);


sub grown($nginx) {
    return $nginx->json('/debug/pprof/grown?format=json&top=100');
}


# An nginx as JppSites has them, with CONF in its server and HTTP around it.

sub site($conf, $http = '', %how) {
    return JppSites::site(%patient, %how, conf => $conf,
                          http => $patient{http} . $http);
}


# N requests on one connection at once, and their answers: each for what PATH
# makes of a number of its own.

my $number = 0;

sub hurried($client, $n, $path) {
    $client->write(join '', map {
        'GET ' . $path->($number++) . " HTTP/1.1\r\nHost: a\r\n"
        . "X-Forwarded-For: 192.0.2.1\r\n\r\n"
    } 1 .. $n);

    $client->fill(sub { $n <= (() = $client->{buffer} =~ m{HTTP/1\.1 }g) })
        or die "no $n answers\n";
    $client->{buffer} = '';
}


# What is not there, with names of 500 bytes.

sub nothing($n) { return "/files/$n" . ('/' . 'x' x 99) x 5 }


# Calls STEP until OWNER is named as growing, and is the first row, after a rise
# of some time.  While there is one, owners are looked at more often than every
# minute.

sub grows($nginx, $owner, $step) {
    my ($grown, %others, $now, $looked, @between);
    my $begun = time();

    my $is_named = wait_until(sub {
        $step->();
        sleep 0.1;
        $grown = grown($nginx);

        my $one = $grown->{owners}[0] or return 0;
        my ($who) = $grown->{text} =~ /^(.*?)(?: \([^)]*\))? grows by /;

        if ($one->{now} != ($now // 0)) {
            push @between, (time() - $looked) * $speed if defined $looked;
            ($now, $looked) = ($one->{now}, time());
        }

        $others{$who}++ if defined $who && $who ne $owner;

        return defined $who && $who eq $owner && $one->{owner} eq $owner
               && $one->{rising} && $grown->{seconds} >= ($is_long ? 120 : 60);
    }, 120);

    ok($is_named, "$owner grows, and is the first row")
        or diag(explain($grown));
    cmp_ok(min(@between, 60), '<', 50, 'it is looked at often');

    measured(sprintf '%s: after %.0f s, looked at every %d s and more%s',
             $grown->{text}, time() - $begun, min(@between, 60),
             join '', map { "; before: $_" } sort keys %others);
}


# Nobody is named while STEP is called, from SETTLED seconds on.

sub comes_and_goes($nginx, $step, $settled = 0) {
    my (@named, @held);
    my $begun = time() + $settled;
    my $seconds = $is_long ? 30 : 7;
    my $grown;

    while (time() < $begun + $seconds || $grown->{text} =~ /^No rate/) {
        $step->();
        sleep 0.1;
        $grown = grown($nginx);

        push @held, sum0(map { $_->{now} } @{ $grown->{owners} });
        push @named, sprintf '%.0f s: %s', time() - $begun, $grown->{text}
            if time() > $begun && $grown->{text} =~ / grows by /;
    }

    is_deeply(\@named, [], 'nobody grows');
    cmp_ok(max(@held), '>', min(@held) + (1 << 20),
           'but it has had more, and less');
    measured(sprintf 'from %.1f to %.1f MiB',
             map { $_ / (1 << 20) } min(@held), max(@held));
}


# Clients that ENTER makes, one after the other, and that leave at once.

sub bursts($enter) {
    my ($n, @clients);

    return sub {
        push @clients, $enter->() if $n++ % 20 < 15;
        @clients = () if $n % 20 == 0;
    };
}


# A reload, whose old worker one more of CLIENTS keeps.

sub kept($nginx, $clients) {
    push @$clients, $nginx->upload('/body', 10, '1');

    # an answer to somebody behind it: it was read

    $nginx->get('/debug/pprof/cmdline');
    $nginx->reload(is_kept => 1);
}


my %growths = (
    'pool of a connection' => sub {
        my $nginx = site("set_real_ip_from 127.0.0.1;\n"
                         . "real_ip_header X-Forwarded-For;\n");
        my @clients = map { $nginx->client } 1 .. 5;

        grows($nginx, 'server www.example.com',
              sub { hurried($_, 500, sub ($n) { '/fine' }) for @clients });
    },

    'buffers of downloads' => sub {
        my ($nginx, @clients) = large_buffers(%patient);

        grows($nginx, 'location /video/ of www.example.com',
              sub { push @clients, $nginx->slow(1, '/video/big.bin') });
    },

    'bodies of uploads' => sub {
        my ($nginx, @clients) = slow_uploads(%patient);

        grows($nginx, 'location /upload/ of www.example.com', sub {
            push @clients, $nginx->upload('/upload/', 1 << 20, 'x');
        });
    },

    'TLS sessions' => sub {
        my ($port, $http) = JppSites::tls('tls.example.com');
        my $nginx = site('', "ssl_session_cache shared:sessions:16m;\n"
                             . "ssl_session_tickets off;\n"
                             . "ssl_session_timeout 10h;\n$http");
        my $busy = JppSites::handshakes($port);

        grows($nginx, 'zone sessions', sub { });
    },

    'old configurations' => sub {
        my $nginx = site('location /body { proxy_pass http://127.0.0.1:1; }',
                         large_map(2000), workers => 1);
        my @clients;

        grows($nginx, 'the configuration', sub {
            kept($nginx, \@clients);
            sleep 0.5;
        });
    },

    'zone of a limit' => sub {
        my $nginx = site('location /key { limit_req zone=keys burst=9 nodelay;
                                          empty_gif; }',
                         'limit_req_zone $arg_key zone=keys:64m rate=1r/m;');
        my $client = $nginx->client;

        # a key that was asked for once would be forgotten after a minute

        grows($nginx, 'zone keys', sub {
            hurried($client, 400, sub ($n) {
                '/key?key=' . int($n / 4) . 'x' x 900
            });
        });
    },

    'heap of C' => sub {
        my $nginx = site(<<'CONF', '', main => lua_modules(),
location /foreign/ {
    content_by_lua_block {
        local ffi = require "ffi"

        pcall(ffi.cdef, "void *calloc(size_t, size_t);")
        ngx.say(ffi.C.calloc(1, 20000) ~= nil)
    }
}
CONF
                         sampling => options());
        my $client = $nginx->client;

        grows($nginx, 'malloc memory of location /foreign/ of www.example.com',
              sub { hurried($client, 20, sub ($n) { '/foreign/' }) });
    },

    'heap of Perl' => sub {
        my $nginx = site(<<'CONF', '', main => modules('ngx_http_perl_module'),
location /a/ { perl 'sub { $_[0]->send_http_header; }'; }
location /session/ {
    perl 'sub {
        push @main::sessions, "x" x 20000;
        $_[0]->send_http_header;
    }';
}
CONF
                         sampling => options());
        my $client = $nginx->client;

        grows($nginx, 'malloc memory of location /session/ of www.example.com',
              sub {
            hurried($client, 40, sub ($n) { $n % 2 ? '/a/' : '/session/' });
        });
    },

    'heap of Lua' => sub {
        my $nginx = site(<<'CONF', '', main => lua_modules());
location /session/ {
    content_by_lua_block {
        local kept = package.loaded.kept or {}

        package.loaded.kept = kept
        kept[#kept + 1] = string.rep(ngx.var.request_id, 600)
        ngx.say(#kept)
    }
}
CONF
        my $client = $nginx->client;

        grows($nginx, "LuaJIT's heap",
              sub { hurried($client, 20, sub ($n) { '/session/' }) });
    },

    'heap of njs' => sub {
        my $dir = tempdir(CLEANUP => 1);

        chmod 0755, $dir;
        spew("$dir/js.js", <<'END');
function kept(r) {
    var list = [];

    for (var i = 0; i < 20; i++) {
        list.push('x'.repeat(10000 + i));
    }

    setTimeout(() => r.return(200, list.length), 1000000000);
}

export default { kept };
END
        my $nginx = site('location /kept/ { js_content js.kept; }',
                         "js_path $dir;\njs_import js from js.js;\n",
                         main => modules('ngx_http_js_module'),
                         sampling => options());
        my @clients;

        grows($nginx, 'malloc memory of location /kept/ of www.example.com',
              sub { push @clients, $nginx->asking('/kept/') });
    },

    'streams of HTTP/2' => sub {
        my ($nginx, $client, $port) = streams(%patient);
        my @clients = $client;
        my $n = 64;

        grows($nginx, 'location /slow/ of two.example.com', sub {
            if ($n == 128) {
                push @clients, JppClient->http2(pack('nN', 4, 0),
                                                port => $port);
                $n = 0;
            }

            $clients[-1]->send_stream(2 * $n++ + 1, '/slow/x');
        });
    },

    'cache of open files' => sub {
        my $nginx = site('location /files/ {
            root html;
            log_not_found off;
            open_file_cache max=1000000 inactive=10h;
            open_file_cache_errors on;
        }');
        my $client = $nginx->client;

        grows($nginx, 'the cache of open files', sub {
            hurried($client, 200, \&nothing);
        });
    },

    'heap of njs' => sub {
        my $dir = tempdir(CLEANUP => 1);

        chmod 0755, $dir;
        spew("$dir/js.js", <<'END');
function kept(r) {
    var list = [];

    for (var i = 0; i < 20; i++) {
        list.push('x'.repeat(10000 + i));
    }

    setTimeout(() => r.return(200, list.length), 1000000000);
}
export default { kept };
END
        my $nginx = site('location /kept/ { js_content js.kept; }',
                         "js_path $dir; js_import js from js.js;\n",
                         main => modules('ngx_http_js_module'),
                         sampling => options());
        my @clients;

        grows($nginx, 'malloc memory of location /kept/ of www.example.com',
              sub { push @clients, $nginx->asking('/kept/') });
    },
);


my %comings = (
    'bursts of downloads' => sub {
        my ($nginx, @clients) = large_buffers(%patient);

        comes_and_goes($nginx, bursts(sub {
            $nginx->slow(1, '/video/big.bin')
        }));
    },

    'bursts of uploads' => sub {
        my ($nginx, @clients) = slow_uploads(%patient);

        comes_and_goes($nginx, bursts(sub {
            $nginx->upload('/upload/', 1 << 20, 'x')
        }));
    },

    'connections that are kept' => sub {
        my $nginx = site("large_client_header_buffers 4 64k;\n"
                         . "connection_pool_size 64k;\n");
        my @clients;

        comes_and_goes($nginx, sub {
            push @clients, map { $nginx->client } 1 .. 5;
            $_->get('/fine') for @clients;
            (shift @clients)->leave while @clients > 40;
        });
    },

    'cache that is full' => sub {
        my $nginx = site('location /files/ {
            root html;
            log_not_found off;
            open_file_cache max=4000 inactive=10h;
            open_file_cache_errors on;
        }');
        my $client = $nginx->client;
        my $begun = time();

        wait_until(sub { @{ grown($nginx)->{owners} } });
        hurried($client, 200, \&nothing) for 1 .. 20;

        # what grew a moment ago may well go on

        comes_and_goes($nginx, sub { hurried($client, 200, \&nothing) },
                       2 * (time() - $begun));
    },

    'reloads' => sub {
        my $nginx = site('location /body { proxy_pass http://127.0.0.1:1; }',
                         large_map(2000), workers => 1);
        my @clients;

        comes_and_goes($nginx, sub {
            @clients = () if @clients == 4;
            kept($nginx, \@clients);
        });
    },

    'requests with large pools' => sub {
        my $nginx = site("request_pool_size 1m;\n"
                         . 'location /body { proxy_pass http://127.0.0.1:1; }');

        comes_and_goes($nginx, bursts(sub { $nginx->upload('/body', 2, 'x') }));
    },
);


sub used($dir) { return slurp("$dir/memory.usage_in_bytes") + 0 }


# Clients send a MiB five times a second, all of which is kept, until nine
# tenths of what was left below the limit are used.

sub forecast {
    my $dir = "$cgroup/jpp-growths-$$";

    mkdir $dir or die "$dir: $!\n";

    my ($nginx, @clients) = slow_uploads(%patient, run => [
        'sh', '-c', "echo \$\$ >$dir/cgroup.procs; exec \"\$@\"", 'sh' ]);
    my $limit = used($dir) + (120 << 20);

    open my $file, '+<', "$dir/memory.limit_in_bytes" or die "limit: $!\n";
    print $file $limit;
    close $file or die "limit: $!\n";

    my ($begun, $n) = (time(), 0);

    my $step = sub {
        for ( ; $n < (time() - $begun) * 5; $n++) {
            push @clients, $nginx->upload('/upload/', 1 << 20,
                                          'x' x ((1 << 20) - 1));
        }

        sleep 0.1;
    };

    my %span = (h => 3600, min => 60, s => 1);
    my ($text, $expected, $at, $left);

    wait_until(sub {
        $step->();
        ($at, $left) = (time(), $limit - used($dir));

        my $grown = grown($nginx);

        return 0 if $grown->{seconds} < 80;

        ($text) = $grown->{text} =~ /the limit of .* is reached in (.*)/;

        return defined $text;
    });

    $expected += $1 * $span{$2} while ($text // '') =~ /(\d+) (h|min|s)\b/g;

    ok(wait_until(sub { $step->(); $limit - used($dir) < $left / 10 }),
       'most of it is used');

    my $true = (time() - $at) * $speed
               * $left / ($left - ($limit - used($dir)));

    measured(sprintf 'the limit: %.0f s were expected, and it took %.0f s: '
             . '%+.0f %%', $expected, $true, ($expected / $true - 1) * 100);
    cmp_ok(abs($expected - $true), '<=', $true / 4, 'as soon as was said');

    $nginx->stop;
    rmdir $dir;
}


# What has to be possible, by the name of the growth.

my %needs = (
    'TLS sessions' => 'openssl',
    'heap of C' => 'lua',
    'heap of Lua' => 'lua',
    'heap of Perl' => 'perl',
    'heap of njs' => sub { modules('ngx_http_js_module') ne '' },
);

for my $name ($is_long ? sort keys %growths : 'zone of a limit') {
    test $name, $needs{$name} // (), $growths{$name};
}

for my $name ($is_long ? sort keys %comings : 'cache that is full') {
    test $name, $comings{$name};
}

test 'when the limit is reached', sub { -w $cgroup } => \&forecast if $is_long;
