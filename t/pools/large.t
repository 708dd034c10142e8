#!/usr/bin/perl

# What the large allocations of requests are for, in states that requests are
# really in: nothing of them is "other", and the sum stays what it is.
#
# Not here: what a walk finds (pools/pools.t), the directives that bound it
# (pools/requests.t).

use JppTest;
use JppPools qw( below held sums );

my $k = 1024;
my $m = 1024 * $k;

my ($files_port, $port, $http2_port) = map { free_port() } 1 .. 3;

# what those who send slowly, or read nothing, are served by
my %ports = map {
    my $how = $_;

    ($how => backend(sub($client) { serve($how, $client) }));
} qw( hold deaf fastcgi scgi uwsgi memcached grpc image );

# of packages
my $image_filter = modules('ngx_http_image_filter_module');
my $mail = modules('ngx_mail_module');

# A state is a location, /NAME/, and its client, which asks for "path" there, a
# large file; "classes" are the least bytes of what it holds, there or in the
# locations "at".

my %states = (
    temp => {
        about => 'a temporary file takes what the buffers do not',
        conf => proxy('proxy_buffers 16 64k; proxy_busy_buffers_size 128k;'),
        classes => { 'upstream buffers' => 16 * 64 * $k },
    },
    done => {
        about => 'the upstream has sent everything',
        conf => proxy('proxy_buffers 64 64k; proxy_busy_buffers_size 128k;
                       proxy_max_temp_file_size 0;'),
        classes => { 'upstream buffers' => 1.5 * $m },
    },
    copied => {
        about => 'a file is copied, not sent by the kernel',
        conf => 'root html; sendfile off; output_buffers 4 64k;',
        classes => { 'output buffers' => 4 * 64 * $k },
    },
    copies => {
        about => 'so is a temporary file',
        conf => proxy('proxy_buffers 8 64k; proxy_busy_buffers_size 128k;
                       sendfile off; output_buffers 4 64k;'),
        classes => { 'upstream buffers' => 8 * 64 * $k },
    },
    gzip => {
        about => 'what comes is compressed',
        conf => proxy('gzip on; gzip_types *; gzip_buffers 8 64k;
                       proxy_buffers 16 64k; proxy_busy_buffers_size 128k;
                       proxy_max_temp_file_size 0;'),
        headers => "Accept-Encoding: gzip\r\n",
        classes => { 'upstream buffers' => 1 * $m,
                     'module ngx_http_gzip_filter_module' => 4 * 64 * $k },
    },
    sub => {
        about => 'words are replaced',
        conf => proxy('sub_filter 0 1; sub_filter_once off; sub_filter_types *;
                       proxy_buffers 16 64k; proxy_busy_buffers_size 128k;
                       proxy_max_temp_file_size 0;'),
        classes => { 'upstream buffers' => 16 * 64 * $k },
    },
    ssi => {
        about => 'a page has parts, and one waits for the other',
        conf => 'ssi on; ssi_types *; root html;',
        path => 'page', at => qr{/(?:ssi|part)/},
        classes => { 'upstream buffers' => 2 * 16 * 64 * $k },
    },
    auth => {
        about => 'somebody else was asked first',
        conf => 'auth_request /asked/;' . proxy('proxy_buffers 8 64k;
            proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;'),
        at => qr{/(?:auth|asked)/},
        classes => { 'upstream buffers' => 8 * 64 * $k,
                     'upstream header buffer' => 32 * $k },
    },
    cache => {
        about => 'a cache keeps it',
        conf => proxy('proxy_cache one; proxy_cache_valid any 1h;
                       proxy_buffers 16 64k; proxy_busy_buffers_size 128k;'),
        classes => { },
    },
    unbuffered => {
        about => 'nothing is buffered',
        conf => proxy('proxy_buffering off; proxy_buffer_size 64k;
                       proxy_buffers 4 64k;'),
        classes => { 'upstream header buffer' => 64 * $k },
    },
    slice => {
        about => 'it is asked for in slices',
        conf => 'slice 1m;' . proxy('proxy_set_header Range $slice_range;
            proxy_buffers 8 64k; proxy_busy_buffers_size 128k;
            proxy_max_temp_file_size 0;'),
        classes => { 'upstream buffers' => 8 * 64 * $k },
    },
    slices => {
        about => 'so it is by HTTP/2, and all slices are there at once',
        conf => 'slice 16k;' . proxy('proxy_set_header Range $slice_range;'),
        path => 'small', http2 => 1,
        classes => { 'upstream buffers' => 15 * 4 * $k },
    },
    ( map { $_ => {
        about => "the upstream speaks $_",
        conf => "${_}_pass 127.0.0.1:$ports{$_}; ${_}_buffers 8 64k;
                 ${_}_busy_buffers_size 128k; ${_}_max_temp_file_size 0;",
        classes => { 'upstream buffers' => 8 * 64 * $k },
    } } qw( fastcgi scgi uwsgi ) ),
    memcached => {
        about => 'the upstream speaks memcached',
        conf => "set \$memcached_key x; memcached_buffer_size 64k;
                 memcached_pass 127.0.0.1:$ports{memcached};",
        classes => { 'upstream header buffer' => 64 * $k },
    },
    grpc => {
        about => 'the upstream speaks gRPC',
        conf => "grpc_buffer_size 64k; grpc_pass 127.0.0.1:$ports{grpc};",
        classes => { 'upstream header buffer' => 64 * $k },
    },
    called => {
        about => 'a body is sent by gRPC, and nobody takes it',
        conf => "client_body_buffer_size 64k;
                 grpc_pass 127.0.0.1:$ports{deaf};",
        http2 => 1, body => 32_000,
        classes => { 'request body' => 32 * $k },
    },
    upload => {
        about => 'a body is in a file, and nobody takes it',
        conf => "client_body_buffer_size 64k;
                 proxy_pass http://127.0.0.1:$ports{deaf};",
        body => 4 * $m,
        classes => { 'request body' => 64 * $k },
    },
    passed => {
        about => 'a body is passed on as it comes, and nobody takes it',
        conf => "client_body_buffer_size 64k; proxy_request_buffering off;
                 proxy_pass http://127.0.0.1:$ports{deaf};",
        body => 4 * $m,
        classes => { 'request body' => 64 * $k },
    },
    mirror => {
        about => 'somebody else has had a copy',
        conf => 'mirror /asked/;' . proxy('proxy_buffers 8 64k;
            proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;'),
        at => qr{/(?:mirror|asked)/},
        classes => { 'upstream buffers' => 8 * 64 * $k,
                     'upstream header buffer' => 32 * $k },
    },
    accel => {
        about => 'an upstream names a file',
        conf => "proxy_pass http://127.0.0.1:$files_port/named/;",
        at => qr{/copied/},
        classes => { 'output buffers' => 4 * 64 * $k },
    },
    frames => {
        about => 'frames of HTTP/2 have what the upstream has sent',
        conf => proxy('proxy_buffers 64 64k; proxy_busy_buffers_size 128k;
                       proxy_max_temp_file_size 0;'),
        http2 => 1,
        classes => { 'upstream buffers' => 1.5 * $m },
    },
    preread => {
        about => 'a body comes before somebody has answered who is asked',
        conf => "auth_request /held/;
                 proxy_pass http://127.0.0.1:$ports{hold};",
        http2 => 1, body => 16000,
        classes => { 'request body' => 64 * $k },
    },
    said => {
        about => 'a value is the answer',
        conf => 'return 200 "$http_x_a$http_x_a$http_x_a$http_x_a";',
        headers => 'X-A: ' . 'x' x 15_000 . "\r\n",
        classes => { 'output buffers' => 50 * $k },
    },
);

$states{image} = {
    about => 'an image is not whole yet',
    conf => "image_filter size; image_filter_buffer 4m;
             proxy_pass http://127.0.0.1:$ports{image};",
    classes => { 'module ngx_http_image_filter_module' => $m },
} if $image_filter ne '';

test 'mail that waits for auth_http', \&has_mail => \&mail;


sub proxy($more) {
    return "proxy_pass http://127.0.0.1:$files_port/files/; $more";
}


sub start {
    my $locations = join '', map {
        "location /$_/ { $states{$_}{conf} }\n"
    } sort keys %states;

    my $nginx = JppNginx->start(
        conf => 'prof:false', connections => 512, main => $image_filter,
        http => <<"HTTP");
    large_client_header_buffers 8 16k;
    client_max_body_size 100m;
    proxy_cache_path cache keys_zone=one:1m;
    server {
        listen 127.0.0.1:$port sndbuf=32k;
        listen 127.0.0.1:$http2_port sndbuf=32k http2;
        server_name front;
        sendfile on;
        $locations
        location /part/ {
            proxy_pass http://127.0.0.1:$files_port/files/;
            proxy_buffers 16 64k;
            proxy_busy_buffers_size 128k;
            proxy_max_temp_file_size 0;
        }
        location /asked/ {
            proxy_pass http://127.0.0.1:$files_port/asked;
            proxy_buffer_size 32k;
            proxy_buffers 4 32k;
        }
        location /held/ { proxy_pass http://127.0.0.1:$ports{hold}; }
    }
    server {
        listen 127.0.0.1:$files_port;
        server_name files;
        sendfile on;
        location /files/ { root html; }
        location /named/ { add_header X-Accel-Redirect /copied/large;
                           return 200 "x"; }
        location /asked { return 204; }
    }
HTTP

    my $html = "$nginx->{prefix}/html";
    my $page = join '', map { "<!--# include virtual=\"/part/$_\" -->\n" }
                        qw( large small large );

    mkdir $_ for $html, map { "$html/$_" } 'files', keys %states;
    spew("$html/files/large", join '', map { rand() . "\n" } 1 .. 120_000);
    spew("$html/files/small", 'x' x (100 * $k));
    spew("$html/copied/large", 'x' x (8 * $m));
    spew("$html/ssi/page", $page);

    return $nginx;
}


# What STATE holds in large allocations: all of it, by name what it should have,
# and the rest.

sub classes($held, $name, $state) {
    my $at = $state->{at} // qr{/$name/};
    my $larges = "http;server [^;]*;location $at;.*;large;";

    return (all => below($held, $larges), map {
        ($_ => below($held, "$larges$_\$"))
    } 'other', keys %{ $state->{classes} });
}


test 'states', 'jemalloc' => sub {
    my $nginx = start();
    my @clients;

    for my $name (sort keys %states) {
        my $state = $states{$name};
        my %wanted = %{ $state->{classes} };
        my %before = classes(held($nginx), $name, $state);
        my %classes = (all => -1);

        push @clients, client($name, $state);

        # what it holds is there, and stays there

        wait_until(sub {
            my $last = $classes{all};

            select undef, undef, undef, 0.2;

            %classes = classes(held($nginx), $name, $state);
            $classes{$_} -= $before{$_} for keys %before;

            return $classes{all} == $last
                   && !grep { $classes{$_} < $wanted{$_} } keys %wanted;
        }, 10);

        is($classes{other}, 0, "$name: $state->{about}");
        cmp_ok($classes{$_}, '>=', $wanted{$_}, "$name: $_")
            for sort keys %wanted;
    }

    my ($sum, $total) = sums($nginx);

    is($sum, $total, 'all, to the byte');
};


sub has_mail {
    return $mail ne '' || `@{[ binary() ]} -V 2>&1` =~ /--with-mail(?![=\w])/;
}


# What asks auth_http has a pool of its own, which is found by what lies in it:
# not where each allocation has memory of its own, as under a sanitizer.

sub mail {
    my $smtp = free_port();
    my $nginx = JppNginx->start(conf => 'prof:false', main => <<"EOF");
$mail
mail {
    auth_http 127.0.0.1:$ports{hold}/auth;
    auth_http_timeout 1h;
    timeout 1h;
    server { listen 127.0.0.1:$smtp; protocol smtp; server_name a; }
}
EOF
    my $session = "mail;server 127.0.0.1:$smtp;session;pool blocks";
    my $client = JppClient->new(port => $smtp);

    for ([ '', 220 ], [ "EHLO a\r\n", 250 ]) {
        my ($line, $code) = @$_;

        $client->write($line);
        $client->{buffer} = '';
        ok($client->fill(sub { $client->{buffer} =~ /^$code .*\r\n/m }),
           "SMTP: $code");
    }

    my $before = below(held($nginx), $session);

    $client->write("AUTH PLAIN AGEAYg==\r\n");

    ok(wait_until(sub { is_connected($ports{hold}) }), 'auth_http is asked');

    my $held = held($nginx);

    my $is_found = !has_jemalloc() || cmp_ok(
        below($held, $session), '>=', $before + 2048,
        'its pool is of the session');

    is(below($held, 'connection of'), 0, 'its connection is');
    diag explain($held), $nginx->error_log if !$is_found;

    undef $client;
    $nginx->stop;
}


# Has anybody a connection to PORT of this machine?

sub is_connected {
    my $port = sprintf '%04X', @_;

    return slurp('/proc/net/tcp') =~ /^ *\d+: \S+ 0100007F:$port 01 /m;
}


# One that asks, and does not read.

sub client($name, $state) {
    my $path = "/$name/" . ($state->{path} // 'large');

    return http2_client($path, $state) if $state->{http2};

    my $client = JppClient->new(port => $port, window => 4096);

    if ($state->{body}) {
        $client->write("POST $path HTTP/1.1\r\nHost: a\r\n"
                       . "Content-Length: $state->{body}\r\n\r\n");
        $client->{socket}->blocking(0);

        my $left = $state->{body};

        # as much as is taken

        for (1 .. 200) {
            my $n = syswrite $client->{socket}, 'x' x ($left < 65536 ? $left
                                                                     : 65536);

            $left -= $n // 0;
            last if $left == 0;
            select undef, undef, undef, 0.01 if !$n;
        }

        return $client;
    }

    $client->send_request($path, headers => $state->{headers});

    return $client;
}


# It takes all there is, as far as HTTP/2 goes.

sub http2_client($path, $state) {
    my $client = JppClient->http2(pack('nN', 4, 0x7fffffff),
                                  port => $http2_port, window => 4096);

    $client->write(JppClient::frame(8, 0, 0, pack('N', 0x7fff0000)));
    $client->send_stream(1, $path, 'x' x ($state->{body} // 0));

    return $client;
}


# How an answer begins; that of gRPC by SETTINGS and a ":status 200".

sub heads {
    my $status = "Status: 200 OK\r\n\r\n";

    return (
        fastcgi => pack('CCnnCxa*', 1, 6, 1, length $status, 0, $status),
        scgi => $status,
        uwsgi => "HTTP/1.1 200 OK\r\n\r\n",
        memcached => "VALUE x 0 100000000\r\n",
        grpc => JppClient::frame(4, 0, 0, '')
                . JppClient::frame(1, 4, 1, "\x88"),
        image => "HTTP/1.0 200 OK\r\nContent-Type: image/gif\r\n"
                 . "Content-Length: $m\r\n\r\nGIF89a",
    );
}


# A server: "hold" answers nothing, "deaf" reads nothing; the others send more
# than anybody reads, each as it is spoken.

sub serve($how, $client) {
    sleep 250 if $how eq 'deaf';
    sysread $client, my $buffer, 65536;
    sleep 250 if $how eq 'hold';

    my $record = $how eq 'fastcgi'
                 ? sub { pack('CCnnCxa*', 1, 6, 1, length $_[0], 0, $_[0]) }
               : $how eq 'grpc' ? sub { JppClient::frame(0, 0, 1, $_[0]) }
               : sub { $_[0] };

    my %heads = heads();

    # an image is not whole
    my $n = $how eq 'image' ? 6 : 4000;

    print $client $heads{$how};
    print $client $record->('x' x 16384) or last for 1 .. $n;
    $client->flush;
    sleep 250;
}
