#!/usr/bin/perl

# ./dev bench ledger [STATE...]: how near the rows of memory?detail=ledger come
# to what the kernel says, in seven states of an nginx:
#
#     newborn, tls (1,000 idle connections), slow (100 downloads that are not
#     read, 16 buffers of 64k each), burst (200 uploads of 1 MiB that are over),
#     lua (a table of 60 MB), zone (512 MB, half filled), exiting (ten workers
#     of former configurations)
#
#     Pss      MiB, of all workers: the sum of smaps, as each read it
#     rows     their sum beside it, in per cent
#     kernel   smaps_rollup of all workers, read from outside afterwards, beside
#              that; in per cent.  What the ledger itself takes is gone by then
#     exact    of anonymous memory: in rows that are exact
#     certain  the same with the lower bounds of the others
#     unknown  of Pss
#     ms       that the kernel took for smaps and pages of one worker, the mean
#     most     the largest row

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";

use File::Temp qw( tempdir );
use IO::Socket::INET;
use IPC::Open3;
use JSON::PP qw( decode_json );
use JppNginx qw( slurp );
use List::Util qw( sum0 );
use Test::More;
use Time::HiRes qw( sleep );

my $tree = 'location /debug/pprof/ { jemalloc_pprof; }';
my $modules = '/usr/lib/nginx/modules';
my $mib = 1024 * 1024;

my @states = (
    [ newborn => \&newborn ],
    [ tls => \&tls ],
    [ slow => \&slow ],
    [ burst => \&burst ],
    [ lua => \&lua ],
    [ zone => \&zone ],
    [ exiting => \&exiting ],
);

my %wanted = map { $_ => 1 } @ARGV ? @ARGV : map { $_->[0] } @states;

$| = 1;
printf "%-8s %8s %8s %8s %7s %8s %8s %6s  %s\n", 'state', 'Pss', 'rows',
       'kernel', 'exact', 'certain', 'unknown', 'ms', 'most';

for my $state (@states) {
    my ($name, $code) = @$state;

    $code->($name) if $wanted{$name};
}

done_testing();


# The figures of NGINX.

sub show {
    my ($name, $nginx) = @_;

    # the first question has workers touch what they need for it

    my ($answer) = reverse map {
        $nginx->client
              ->get('/debug/pprof/memory?detail=ledger&force=1')
    } 1, 2;
    my $all = decode_json($answer->{body});
    my $ledger = $all->{total}{ledger} // die "$name: $answer->{body}\n";
    my @rows = @{ $ledger->{rows} };
    my $outside = sum0(map { pss($_->{pid}) } @{ $all->{workers} });

    my %of = map { ($_->{what} => $_->{bytes}) } @rows;
    my @anonymous = grep { $_->{anonymous} } @rows;
    my $anonymous = sum0(map { $_->{bytes} } @anonymous);
    my $exact = sum0(map { $_->{how} eq 'exact' ? $_->{bytes} : 0 }
                     @anonymous);
    my $certain = $exact + sum0(map { $_->{least} // 0 } @anonymous);
    my $pss = $ledger->{pss};

    printf "%-8s %8.1f %7.2f%% %7.2f%% %6.1f%% %7.1f%% %7.2f%% %6.1f  %s\n",
           $name, $pss / $mib,
           100 * sum0(map { $_->{bytes} } @rows) / $pss,
           100 * $outside / $pss, 100 * $exact / $anonymous,
           100 * $certain / $anonymous, 100 * ($of{unknown} // 0) / $pss,
           $ledger->{read_us} / 1000 / $ledger->{workers},
           join ' ', grep { defined } @{ $rows[0] }{ 'what', 'name' };

    if ($ENV{JPP_ROWS}) {
        printf "    %12d %-8s %12s %s\n", @$_{ 'bytes', 'how' },
               $_->{held} // '-', $_->{what} . ' ' . ($_->{name} // '')
            for @rows;
    }
}


sub pss {
    my ($pid) = @_;

    return slurp("/proc/$pid/smaps_rollup") =~ /^Pss:\s+(\d+) kB/m ? $1 * 1024
                                                                   : 0;
}


sub start {
    my (%how) = @_;

    return JppNginx->start(connections => 4096,
        conf => 'prof:true,prof_active:true,lg_prof_sample:19', %how,
        server => $tree . ($how{server} // ''));
}


sub newborn {
    my ($name) = @_;
    my $nginx = start(workers => 4);

    show($name, $nginx);
    $nginx->stop;
}


sub tls {
    my ($name) = @_;
    my $key = tempdir(CLEANUP => 1) . '/key';
    my $port = JppNginx::free_port();

    system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
           . " -nodes -subj /CN=localhost -keyout $key -out $key.crt"
           . ' 2>/dev/null') == 0 or die "openssl: $?\n";

    my $nginx = start(http => 'keepalive_timeout 600s;',
        server => "listen 127.0.0.1:$port ssl;
                   ssl_certificate $key.crt; ssl_certificate_key $key;");

    my $pid = open3(my $in, my $out, '>&STDERR', $^X,
                    "$FindBin::RealBin/../jpp_clients.pl", 'hold', 1000,
                    "https://127.0.0.1:$port/fine");
    <$out>;

    show($name, $nginx);

    close $in;
    waitpid $pid, 0;
    $nginx->stop;
}


# A backend that has 16 MiB for everybody, and clients that read nothing.

sub slow {
    my ($name) = @_;
    my $dir = tempdir(CLEANUP => 1);

    open my $fh, '>', "$dir/large" or die "$dir/large: $!\n";
    truncate $fh, 16 * $mib;
    chmod 0755, $dir;

    my $backend = JppNginx->start(module => 0, connections => 1024,
                                  preload => [], server => "root $dir;");
    my $nginx = start(server => "location /large {
        proxy_buffers 16 64k; proxy_buffer_size 64k;
        proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;
        proxy_pass http://127.0.0.1:$backend->{port}; }");

    my @clients = map {
        my $client = $nginx->client(window => 4096);
        $client->send_request('/large');
        $client;
    } 1 .. 100;

    sleep 5;
    show($name, $nginx);

    $_->leave for @clients;
    $nginx->stop;
    $backend->stop;
}


sub burst {
    my ($name) = @_;
    my $nginx = start(
        conf => 'prof:true,prof_active:true,lg_prof_sample:19,'
                . 'dirty_decay_ms:-1,muzzy_decay_ms:0',
        server => 'location /up { client_body_buffer_size 1m;
                                  client_max_body_size 10m;
                                  proxy_pass http://127.0.0.1:1; }');
    my @clients = map { $nginx->client } 1 .. 200;

    $_->write("POST /up HTTP/1.1\r\nHost: localhost\r\nContent-Length: $mib"
              . "\r\n\r\n" . 'x' x ($mib - 1)) for @clients;
    sleep 1;
    $_->leave for @clients;
    sleep 1;

    show($name, $nginx);
    $nginx->stop;
}


sub lua {
    my ($name) = @_;
    my $nginx = start(
        main => "load_module $modules/ndk_http_module.so;
                 load_module $modules/ngx_http_lua_module.so;",
        server => 'location /grow { content_by_lua_block {
            leak = {}
            for i = 1, 300000 do
                leak[i] = string.rep("x", 150) .. i
            end
            ngx.say(#leak) } }');

    $nginx->get('/grow');
    show($name, $nginx);
    $nginx->stop;
}


# Keys of 30 KB: as many as fill half of the zone.

sub zone {
    my ($name) = @_;
    my $nginx = start(
        http => 'limit_req_zone $arg_key zone=keys:512m rate=1000r/s;
                 large_client_header_buffers 4 64k;',
        server => 'location /key { limit_req zone=keys burst=1000;
                                   empty_gif; }');
    my $client = $nginx->client;

    $client->get("/key?key=$_" . 'x' x 30_000) for 1 .. 8192;

    show($name, $nginx);
    $nginx->stop;
}


# Each has a request that is not over.

sub exiting {
    my ($name) = @_;
    my $nginx = start(server => 'location /slow { limit_rate 1;
                                  proxy_pass http://127.0.0.1:1; }');
    my @held;

    for (1 .. 10) {
        my $client = $nginx->client;

        $client->write("POST /slow HTTP/1.1\r\nHost: localhost\r\n"
                       . "Content-Length: 100000\r\n\r\nx");
        push @held, $client;
        sleep 0.3;
        $nginx->signal('HUP');
        sleep 0.7;
    }

    my $n = $nginx->worker_pids;

    print "# $n workers instead of 11\n" if $n != 11;

    show($name, $nginx);

    $_->leave for @held;
    $nginx->stop;
}
