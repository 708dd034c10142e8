#!/usr/bin/perl

# The first line: faults planted as an operator meets them, each found by the
# verdict of status, the first line of memory?format=top, and that of the root,
# which is text for a client that does not ask for HTML.
#
# Not here: the sentence for each finding (t/unit/jpp_verdict_test.c), the page
# (page/console.t).

use strict;
use warnings;

use File::Basename;
use JSON::PP qw(decode_json);
use POSIX qw(mkfifo);
use Test::More;

use lib dirname(__FILE__) . '/../lib';

use JppNginx qw( spew wait_until );
use JppRun qw( lua_modules subtests );
use JppStalls qw( has_scripts );

# what hangs ends
alarm 300;

my $tree = 'location /debug/pprof/ { jemalloc_pprof; }';
my $accept = "Accept: */*\r\n";

subtests(
    'nothing is wrong' => [ \&healthy, 'jemalloc' ],
    'proxy buffers, and clients that read slowly' => [ \&buffers, 'jemalloc' ],
    'uploads in memory' => [ \&uploads, 'jemalloc' ],
    'headers of 1 MB' => [ \&headers, 'jemalloc' ],
    'a zone' => [ \&zone, 'jemalloc' ],
    'a zone that is full' => [ \&full, 'jemalloc' ],
    'a configuration of 30 MB' => [ \&configuration, 'jemalloc' ],
    'a stopped worker' => [ \&stopped, 'jemalloc' ],
    'Perl that sleeps' => [ \&slow, 'jemalloc', \&has_scripts ],
    'a regular expression of a location' => [ \&choosing, 'jemalloc' ],
    'a regular expression in a location' => [ \&matching, 'jemalloc' ],
    'a file that does not come' => [ \&reading, 'jemalloc', \&has_scripts ],
    'a table of Lua' => [ \&lua, 'jemalloc', sub { lua_modules() ne '' } ],
    'which clients get text' => [ \&accepts ],
);


# All first lines of NGINX are like LINE, and the text fits a terminal.

sub is_first {
    my ($nginx, $line, $owner) = @_;
    my $verdict = $nginx->verdict;
    my $text = "$verdict->{severity}: $verdict->{text}.";

    like($text, qr/^$line/, 'status');
    is($verdict->{owner}, $owner, 'the owner');

    my $memory = $nginx->get('/debug/pprof/memory?format=top')->{body};

    like($memory, qr/^$line/, 'memory');

    my $root = $nginx->get('/debug/pprof/', headers => $accept);

    like($root->{headers}{'content-type'}, qr{^text/plain}, 'the root is text');

    like($root->{body} =~ s/\n(?!\n)/ /gr, qr/^$line/, 'the root');

    my @long = grep { length > 80 } split /\n/, $root->{body};

    is_deeply(\@long, [], 'in lines of 80 columns');
}


sub healthy {
    my $nginx = JppNginx->start(workers => 2, server => $tree);

    is_first($nginx, qr/Healthy: 2 workers hold [\d.]+ MiB/,
             $nginx->verdict->{owner});

    my $root = $nginx->get('/debug/pprof/', headers => $accept)->{body};

    like($root, qr{^largest owners\n +[\d.]+ [KM]iB +\d+ %  \S}m,
         'owners of a few KiB are shown as such');
    like($root, qr/^  memory\?format=top +every byte/m, 'what to ask next');
    like($root, qr/^2 of 2 workers answered; nginx /m, 'who answered');

    $nginx->stop;
}


sub buffers {
    my $nginx = JppNginx->start(
        workers => 1,
        server => <<"END");
            $tree
            server_name www;
            proxy_max_temp_file_size 0;
            location /file { root html; }
            location /export/ {
                proxy_pass http://127.0.0.1:\$server_port/file;
                proxy_buffer_size 64k;
                proxy_buffers 64 64k;
                proxy_busy_buffers_size 128k;
            }
END
    mkdir "$nginx->{prefix}/html";
    spew("$nginx->{prefix}/html/file", 'x' x (8 << 20));

    my @clients = map { $nginx->client(window => 4096) } 1 .. 12;

    $_->send_request('/export/x') for @clients;

    ok(wait_until(sub { $nginx->verdict->{text} =~ /12 requests/ }),
       'all are served');

    is_first($nginx, qr/Healthy: 1 worker holds [\d.]+ MiB[,;] .* upstream (?#
                        )buffers of location \/export\/ of www (?#
                        )\(proxy_buffers 64 64k; 12 requests of [34]\.\d MiB/,
             'upstream buffers of location /export/ of www');

    undef @clients;
    $nginx->stop;
}


sub uploads {
    my $nginx = JppNginx->start(
        workers => 1,
        server => <<"END");
            $tree
            server_name www;
            client_max_body_size 8m;
            location /upload {
                client_body_buffer_size 2m;
                proxy_pass http://127.0.0.1:1;
            }
END
    my @clients = map { $nginx->client } 1 .. 10;

    $_->write("POST /upload HTTP/1.1\r\nHost: www\r\nContent-Length: 2000000"
              . "\r\n\r\n" . 'x' x 100_000) for @clients;

    ok(wait_until(sub { $nginx->verdict->{text} =~ /10 requests/ }),
       'all are read');

    is_first($nginx, qr/Healthy: .* request bodies of location \/upload (?#
                        )of www \(client_body_buffer_size; 10 requests/,
             'request bodies of location /upload of www');

    undef @clients;
    $nginx->stop;
}


sub headers {
    my $nginx = JppNginx->start(
        workers => 1,
        server => "$tree server_name www; client_header_timeout 60s;
                   large_client_header_buffers 4 1m;");
    my @clients = map { $nginx->client } 1 .. 20;

    $_->write("GET / HTTP/1.1\r\nHost: www\r\nX-A: " . 'x' x 500_000)
        for @clients;

    ok(wait_until(sub { ($nginx->verdict->{owner} // '') =~ /header/ }),
       'all are read');

    is_first($nginx, qr/Healthy: .* client header buffers of .*(?#
                        )large_client_header_buffers/,
             $nginx->verdict->{owner});

    undef @clients;
    $nginx->stop;
}


sub zone {
    my $nginx = JppNginx->start(
        workers => 1,
        http => 'limit_req_zone $arg_key zone=perclient:8m rate=1r/m;',
        server => "$tree location /key {
                       limit_req zone=perclient burst=1000 nodelay;
                       empty_gif; }");
    my $client = $nginx->client;

    for (1 .. 30) {
        my $base = $_ * 1000;

        $client->write(join '', map {
            "GET /key?key=" . ($base + $_) . 'x' x 200
            . " HTTP/1.1\r\nHost: www\r\n\r\n"
        } 1 .. 300);
        $client->answer('GET') for 1 .. 300;
        $client = $nginx->client if $_ % 3 == 0;
    }

    is_first($nginx, qr/Healthy: .* of it zone perclient/, 'zone perclient');

    $nginx->stop;
}


sub full {
    my $nginx = JppNginx->start(
        workers => 1,
        http => 'limit_req_zone $arg_key zone=keys:32k rate=1000r/s;',
        server => "$tree location /key { limit_req zone=keys burst=1000;
                                         empty_gif; }");
    my $client = $nginx->client;

    $client->get("/key?key=$_" . 'x' x 60) for 1 .. 300;

    is_first($nginx, qr/Warning: zone keys has .* left in whole pages, and (?#
                        )refused \d+ allocations/, 'zone keys');

    $nginx->stop;
}


sub configuration {
    my $large = "map_hash_max_size 65536;\nmap_hash_bucket_size 512;\n"
        . "map \$uri \$large {\n"
        . join('', map { "\"/$_" . 'x' x 100 . "\" \"" . 'y' x 400 . "\";\n" }
                   1 .. 20000) . "}\n";
    my $nginx = JppNginx->start(workers => 2, server => $tree, http => $large);

    my $last = decode_json($nginx->get('/debug/pprof/status')->{body})
               ->{workers}[0]{generation};

    is_first($nginx,
             qr/Healthy: .* of it the configuration of generation $last/,
             "the configuration of generation $last");

    $nginx->stop;
}


sub stopped {
    my $nginx = JppNginx->start(
        workers => 2,
        server => 'location /debug/pprof/ { jemalloc_pprof;
                                            jemalloc_pprof_timeout 1s; }');
    my $client = $nginx->client;
    my ($pid) = $nginx->workers_of($client);

    $nginx->signal('STOP', $pid);

    my $status = decode_json($client->get('/debug/pprof/status')->{body});

    is($status->{verdict}{severity}, 'Critical', 'a worker is stopped');
    like($status->{verdict}{text}, qr/^worker \d \(pid $pid\) did not answer: /,
         'which one');

    my $root = $client->get('/debug/pprof/', headers => $accept)->{body};

    like($root, qr/^Critical: worker \d \(pid $pid\) did not answer: /,
         'the root');

    kill 'CONT', $pid;
    $nginx->stop;
}


# A location that takes long, and then one that does not come back.

sub slow {
    my $nginx = JppNginx->start(
        workers => 2,
        main => 'load_module '
                . '/usr/lib/nginx/modules/ngx_http_perl_module.so;',
        server => <<'END');
            location /debug/pprof/ {
                jemalloc_pprof;
                jemalloc_pprof_timeout 1s;
            }
            server_name www;
            location /slow/ {
                perl 'sub {
                    select undef, undef, undef, 0.7;
                    $_[0]->send_http_header;
                    $_[0]->print("slow\n");
                }';
            }
            location /stuck/ {
                perl 'sub {
                    my $n = 150;
                    while (! -e $_[0]->args && $n--) {
                        select undef, undef, undef, 0.2;
                    }
                    $_[0]->send_http_header;
                    $_[0]->print("stuck\n");
                }';
            }
END
    my $client = $nginx->client;

    $client->get('/slow/x') for 1 .. 2;

    is_first($nginx, qr/Warning: location \/slow\/ of www kept worker \d (?#
                        )\(pid \d+\) for [\d.]+ m?s, blocked in .*select (?#
                        ).*, called by Perl_pp_sselect .*; 2 stalls in (?#
                        )the last minute took 1\.\d s/,
             'location /slow/ of www');

    $client->send_request("/stuck/x?$nginx->{prefix}/done");

    ok(wait_until(sub { $nginx->verdict->{text} =~ /has kept it/ }), 'stuck');

    is_first($nginx, qr/Critical: worker \d \(pid \d+\) did not answer: (?#
                        ).*; location \/stuck\/ of www has kept it for (?#
                        )[\d.]+ m?s, blocked in .*Perl_pp_sselect/,
             'location /stuck/ of www');

    spew("$nginx->{prefix}/done", '');
    like($client->response->{body}, qr/^stuck/, 'it goes on');
    $nginx->stop;
}


# The name of the location is not what takes the time: nginx tries it, and finds
# another.

sub choosing {
    my $nginx = JppNginx->start(server => <<"END");
            $tree
            server_name www;
            location / { return 200 "root\\n"; }
            location ~ "(a+)+[b-d]" { return 200 "found\\n"; }
END
    backtracks($nginx, '/');

    is_first($nginx, qr/Warning: a regular expression of a "location ~" of (?#
                        )www kept worker 0 \(pid \d+\) for [\d.]+ m?s, (?#
                        )computing in .*pcre/,
             'a regular expression of a "location ~" of www');

    $nginx->stop;
}


sub matching {
    my $nginx = JppNginx->start(server => <<"END");
            $tree
            server_name www;
            location /search/ {
                if (\$arg_q ~ "(a+)+[b-d]") { return 403; }
                return 200 "found\\n";
            }
END
    backtracks($nginx, '/search/?q=');

    is_first($nginx, qr/Warning: location \/search\/ of www kept worker 0 (?#
                        )\(pid \d+\) for [\d.]+ m?s, computing in .*pcre/,
             'location /search/ of www');

    $nginx->stop;
}


# Twice half a second and more, on any machine.

sub backtracks {
    my ($nginx, $path) = @_;

    ok(wait_until(sub {
        $nginx->get($path . ('a' x 20 . '!') x 10);

        my $status = decode_json($nginx->get('/debug/pprof/status')->{body});

        return $status->{verdict}{id} eq 'stalls'
               && $status->{verdict}{text} =~ / computing in /;
    }), 'it takes a second');
}


# The open of a pipe waits for who writes, as that of a file for its disk.

sub reading {
    my $nginx = JppNginx->start(
        workers => 2,
        main => 'load_module '
                . '/usr/lib/nginx/modules/ngx_http_perl_module.so;',
        server => <<'END');
            location /debug/pprof/ {
                jemalloc_pprof;
                jemalloc_pprof_timeout 1s;
            }
            server_name www;
            location /read/ {
                perl 'sub {
                    open my $file, "<", $_[0]->args;
                    my $line = <$file>;
                    $_[0]->send_http_header;
                    $_[0]->print("read $line");
                }';
            }
END
    my $fifo = "$nginx->{prefix}/fifo";
    my $client = $nginx->client;

    mkfifo($fifo, 0666) or die "mkfifo: $!\n";
    chmod 0666, $fifo;
    $client->send_request("/read/x?$fifo");

    ok(wait_until(sub {
        $nginx->get('/debug/pprof/status')->{body} =~ / has kept it /
    }), 'stuck');

    is_first($nginx, qr/Critical: worker \d \(pid \d+\) did not answer: (?#
                        ).*; location \/read\/ of www has kept it for (?#
                        )[\d.]+ m?s, blocked in \w*open\w*/,
             'location /read/ of www');

    open(my $writer, '>', $fifo) or die "$fifo: $!\n";
    print $writer "a line\n";
    close $writer;

    like($client->response->{body}, qr/^read a line/, 'it goes on');
    $nginx->stop;
}


sub lua {
    my $nginx = JppNginx->start(
        workers => 1, main => lua_modules(),
        server => "$tree location = /grow {
                       content_by_lua_block {
                           kept = kept or {}
                           for i = 1, 1400000 do
                               kept[#kept + 1] = { i }
                           end
                           ngx.say(#kept)
                       } }");

    is($nginx->get('/grow')->{status}, 200, 'a table grows');

    is_first($nginx, qr/Warning: [\d.]+ MiB of [\d.]+ MiB are LuaJIT's (?#
                        )heap, most of it in worker 0 \(pid \d+\)/,
             "LuaJIT's heap");

    $nginx->stop;
}


sub accepts {
    my $nginx = JppNginx->start(workers => 1, server => $tree);

    my %type = (
        '' => 'text/html',
        "Accept: */*\r\n" => 'text/plain',
        "Accept: text/plain\r\n" => 'text/plain',
        "accept: TEXT/HTML;q=0.9, */*\r\n" => 'text/html',
        "Accept: application/xhtml+xml,text/html\r\n" => 'text/html',
        "Accept:\r\n" => 'text/plain',
    );

    for my $headers (sort keys %type) {
        my $answer = $nginx->get('/debug/pprof/', headers => $headers);

        like($answer->{headers}{'content-type'}, qr/^\Q$type{$headers}\E/,
             'with ' . ($headers =~ s/\s+$//r || 'no Accept'));
    }

    like($nginx->get('/debug/pprof/', headers => $accept, method => 'HEAD')
               ->{headers}{'content-type'}, qr{^text/plain}, 'HEAD');

    $nginx->stop;
}
