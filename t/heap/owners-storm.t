#!/usr/bin/perl

# Whom samples belong to, while connections come and go, are reset, kept, used
# again by clients of other servers, TLS ends slowly, workers are killed and the
# configuration is reloaded, and everything is asked for all the time: nobody
# crashes, and no sample belongs to another server or location.
#
# The truth is in the samples: each server, and two locations, allocate in sizes
# that nobody else has; and only some call OpenSSL and zlib.
#
# JPP_SOAK=1 does it for a minute; a larger number is one of seconds.  ./dev
# truth owners does it under the sanitizers.
#
# Not here: one location at a time (heap/owners.t, time/owners.t), how much has
# an owner (bench/owners).

use JppTest;

my $soak = $ENV{JPP_SOAK} // 0;
my $seconds = $soak > 1 ? $soak : $soak ? 60 : 5;

my $tree = '/debug/pprof';
my $dir = File::Temp->newdir;

my %ports = map { $_ => free_port() } qw( main second tls h2 );

# whose objects of a size are: a server's, or a location's of it
my %sizes = (
    5008 => [ 'main.example' ],
    6000 => [ 'second.example' ],
    7008 => [ 'tls.example' ],
    8000 => [ 'h2.example' ],
    1104 => [ 'main.example' ],
    1504 => [ 'second.example' ],
    1808 => [ 'tls.example' ],
    24016 => [ 'main.example', '/packed/' ],
    30016 => [ 'second.example', '/packed/too/' ],
);

# and whose a function's samples are, or may be where that is not known
my %functions = (
    ngx_ssl_handshake => [ qr/^server tls\.example;/, qr/^server \(/ ],
    deflate => [ qr{^server (?:main|second)\.example;location /packed/},
                 qr/^server (?:\(|(?:main|second)\.example;location \()/ ],
);

my (%right, %wrong, %unknown);


test 'all at once', 'openssl' => sub {
    my $nginx = start();
    my @children = (busy(3, sub { clients(); sleep 0.01 }),
                    map { my $code = $_;
                          busy(1, sub { $code->($nginx); sleep 0.01 }) }
                        \&kept, \&handshakes, \&streams, \&questions,
                        \&profiles);


    $nginx->storm($seconds, 0.5, sub {
        for (0 .. 2) {
            judge_heap($nginx, $_ % 2);
            sleep 0.5;
        }
    });
    undef @children;

    ok(wait_until(sub { $nginx->worker_pids == 2 }), 'two workers are left');
    judge_heap($nginx, $_) for 0, 1;
    judge_cpu($_) for glob "$dir/cpu.*";
    verdict();
    $nginx->stop(alerts => qr/exited on signal 9/);
};


sub start {
    my $certificate = certificate();

    mkdir "$dir/html";
    chmod 0755, "$dir", "$dir/html";
    spew("$dir/html/text", join '', map { "line $_\n" } 1 .. 20_000);

    return JppNginx->start(preload => [], conf => 'prof:false', workers => 2,
        port => $ports{main}, connections => 64, level => 'notice',
        http => <<"END", server => <<"SERVER");
jemalloc_pprof_source sampler;
jemalloc_pprof_sample 1k;
jemalloc_pprof_owners on;
gzip_types *;
server {
    listen 127.0.0.1:$ports{second};
    server_name second.example;
    request_pool_size 6000;
    client_header_buffer_size 1504;
    location /small/ { return 200 "small"; }
    location /packed/too/ {
        gzip on;
        alias $dir/html/;
        output_buffers 1 30016;
    }
}
server {
    listen 127.0.0.1:$ports{tls} ssl;
    server_name tls.example;
    request_pool_size 7008;
    client_header_buffer_size 1808;
    $certificate
    location / { return 200 "secret"; }
}
server {
    listen 127.0.0.1:$ports{h2} http2;
    server_name h2.example;
    request_pool_size 8000;
    location /one/ { return 200 "one"; }
    location /two/ { return 200 "two"; }
}
END
server_name main.example;
request_pool_size 5008;
client_header_buffer_size 1104;
location $tree/ { jemalloc_pprof control=on; }
location /small/ { return 200 "small"; }
location /moved/ { rewrite ^ /small/ last; }
location /packed/ { gzip on; alias $dir/html/; output_buffers 1 24016; }
SERVER
}


# A connection to one server or the other, in good manners or bad ones.

sub clients {
    my $server = rand() < 0.5 ? 'main' : 'second';
    my $client = JppClient->new(port => $ports{$server});
    my $path = $server eq 'main'
               ? (qw( /small/ /moved/ /packed/text /none ))[rand 4]
               : (qw( /small/ /packed/too/text /none ))[rand 3];
    my @packed = (headers => "Accept-Encoding: gzip\r\n");
    my $way = rand;

    if ($way < 0.1) {
        $client->leave;

    } elsif ($way < 0.25) {
        $client->write(substr "GET $path HTTP/1.1\r\nHost: a\r\n", 0,
                       1 + rand 30);
        rand() < 0.5 ? $client->break_off : $client->leave;

    } elsif ($way < 0.4) {
        $client->send_request($path, @packed);
        $client->break_off;

    } else {
        $client->send_request($path, @packed) for 1 .. 2;
        $client->response for 1 .. 2;
    }
}


sub kept(@) {
    my $client = JppClient->new(port => $ports{main});

    $client->get($_ % 3 ? '/small/' : '/packed/text',
                 headers => "Accept-Encoding: gzip\r\n") for 1 .. 50;
}


sub handshakes(@) {
    system("openssl s_time -connect 127.0.0.1:$ports{tls} -new -time 1 -www / "
           . '>/dev/null 2>&1');
}


sub streams(@) {
    my @urls = map { "http://127.0.0.1:$ports{h2}$_" }
               qw( /one/ /two/ /none /one/1 );

    printed("timeout 2 nghttp -n -m 3 @urls 2>&1") // sleep 1;
}


sub questions($nginx) {
    $nginx->get("$tree/$_")
        for 'heap?by=location&format=top', 'locations', 'allocs?owners=1',
            'locations?seconds=1', 'heap?by=server&format=html',
            'heap?by=upstream&seconds=1', 'locations?by=server&format=json';
}


# What was found out about the CPU is read in the end.

sub profiles($nginx) {
    my $answer = $nginx->get("$tree/profile?seconds=1&frequency=500&"
                             . 'by=location&format=folded&type=samples');

    spew("$dir/cpu." . time(), $answer->{body}) if $answer->{status} == 200;
}


# The dump of a worker, which may have been killed: stacks of one size each.

sub judge_heap($nginx, $worker) {
    my $answer = eval {
        $nginx->get("$tree/allocs?format=jemalloc&worker=$worker")
    } or return;
    my (%owners, $size);

    return if $answer->{status} != 200;

    for my $line (split /\n/, $answer->{body}) {

        if ($line =~ /^  t(\d+): .* owner\t([^\t]*)\t([^\t]*)/) {
            $owners{$1} = [ $2, $3 ];

        } elsif ($line =~ /^  t\*: \d+: \d+ \[(\d+): (\d+)\]$/) {
            $size = $1 ? $2 / $1 : 0;

        } elsif ($line =~ /^  t(\d+): \d+: \d+ \[(\d+): \d+\]$/ && $2) {
            judge_size($size, $2, @{ $owners{$1} }) if $sizes{$size};
        }
    }
}


sub judge_size($size, $n, $server, $location) {
    my ($of, $at) = @{ $sizes{$size} };

    if ($server =~ /^\(/ || $server eq $of && $at && $location =~ /^\(/) {
        $unknown{$size} += $n;

    } elsif ($server eq $of && (!$at || $location eq $at)) {
        $right{$size} += $n;

    } else {
        $wrong{"$size bytes: $server $location"} += $n;
    }
}


sub judge_cpu($file) {
    open my $fh, '<', $file or die "$file: $!\n";

    while (my $line = <$fh>) {
        my ($stack, $n) = $line =~ /^(.*) (\d+)$/ or next;

        for my $function (keys %functions) {
            next if $stack !~ /;$function(?:;|$)/;

            my ($right, $unknown) = @{ $functions{$function} };

            if ($stack =~ $right) {
                $right{$function} += $n;

            } elsif ($stack =~ $unknown) {
                $unknown{$function} += $n;

            } else {
                $wrong{"$function: $stack"} += $n;
            }
        }
    }
}


# Without nghttp there are no streams; and few samples of the CPU in so short a
# time.

sub verdict {
    my @seen = grep { $_ != 8000 || is_possible('nghttp') } keys %sizes;

    for my $what (sort(@seen), sort keys %functions) {
        my ($right, $unknown) = ($right{$what} // 0, $unknown{$what} // 0);

        note("$what: $right are right, $unknown unknown");
        next if $what !~ /^\d/;

        cmp_ok($right, '>', 0, "$what bytes: some are right");
        cmp_ok($right, '>=', 0.98 * ($right + $unknown), 'nearly all');
    }

    note(sum0(values %right, values %unknown) . ' were judged');
    is_deeply(\%wrong, {}, 'and none is wrong') or diag(explain(\%wrong));
}

