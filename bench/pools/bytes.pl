#!/usr/bin/perl

# Whether the walk is right to the byte, and how much of the load it names:
#
#     bytes.pl NGINX [JEMALLOC]
#
# NGINX is one with the truth, not stripped, on a jemalloc that records every
# allocation.  It is brought into a state by clients that hold still, and then
# walks and dumps its heap in one event.  The dump is classified by stack: what
# ngx_palloc.c allocated is in a pool.  Ends with 1 where the sums differ, or
# where less is named than is asked for.

use strict;
use warnings;
no warnings 'portable';

use Cwd qw(abs_path getcwd);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use IO::Socket::INET;
use IO::Socket::SSL;
use POSIX qw(_exit);
use Socket qw(:DEFAULT);
use Time::HiRes qw(time sleep);

@ARGV or die "usage: bytes.pl NGINX [JEMALLOC]\n";
my ($nginx, $jemalloc) = @ARGV;
$jemalloc //= 'libjemalloc.so.2';

my $here = abs_path(dirname($0));
my $dir = getcwd() . '/build/pools/bytes';
my $address = '127.92.53.3';
my ($master, $files, $backend, @clients);
my $failed = 0;

# Kinds and classes by the numbers of jpp_pools_table.h.

my $header = slurp("$here/../../src/core/read/jpp_pools_table.h");
my %kind = numbers('JPP_POOLS_CLIENT_CONNECTION = 0', 'jpp_pools_kind_t');
my %class = numbers('JPP_POOLS_ITSELF = 0', 'jpp_pools_class_t');

# A state: its name, what brings it about, how much of the growth has to have a
# server, and how much a location: a connection has none.

my @states = (
    [ 'a small configuration, newborn', sub { } ],
    [ '1000 idle, keepalive', \&idle, 95, 0 ],
    [ '100 slow proxied downloads', \&downloads, 99, 99 ],
    [ '200 HTTP/2 with 5 streams each', \&http2, 98, 0 ],
    [ '100 WebSocket, 100 stream sessions', \&upgraded ],
);

END { kill 'KILL', grep { $_ } $master, $files }

printf "%-35s %11s %11s %11s %8s %8s\n", '', 'the walk', 'by stacks',
       'growth', 'server', 'location';

for my $state (@states) {
    my ($name, $act, @least) = @$state;

    start();
    my $before = ask();
    $act->();
    settle();
    my $after = ask();
    report($name, $before, $after, @least);
    stop();
}

exit $failed;


sub slurp {
    my ($path) = @_;

    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    my $text = <$fh>;

    return $text;
}


# The constants of an enum: { name => number }.

sub numbers {
    my ($first, $type) = @_;
    my ($body) = $header =~ /(\b\Q$first\E.*?)\} \Q$type\E;/s
        or die "bytes.pl: no $type in jpp_pools_table.h\n";
    my $n = 0;

    $body =~ s{/\*.*?\*/}{}gs;

    return map { ($_ => $n++) } $body =~ /\b(JPP_\w+)/g;
}


sub write_file {
    my ($name, $text) = @_;

    open my $fh, '>', "$dir/$name" or die "$dir/$name: $!\n";
    print $fh $text;
    close $fh or die "$dir/$name: $!\n";
}


sub start {
    remove_tree($dir);
    make_path("$dir/html");
    chmod 0777, $dir or die "chmod: $!\n";

    write_file('html/big', 'b' x 20_000_000);
    write_file('stderr', '');

    system("openssl req -x509 -newkey rsa:2048 -nodes -days 30"
           . " -subj /CN=main.test -keyout $dir/key.pem -out $dir/cert.pem"
           . " 2>/dev/null") == 0 or die "bytes.pl: openssl failed\n";

    my $conf = slurp("$here/bytes.conf.in");
    $conf =~ s/DIR/$dir/g;
    write_file('nginx.conf', $conf);
    write_file('backend.log', '');

    # the backend ends with its standard input; files come from another nginx

    open $backend, '|-', "perl $here/backend.pl $address >$dir/backend.log 2>&1"
        or die "bytes.pl: no backend: $!\n";
    wait_for(sub { slurp("$dir/backend.log") =~ /ready/ }, 'the backend');

    write_file('files.conf', "worker_rlimit_nofile 8192;\n"
        . "pid $dir/files.pid;\nevents { worker_connections 4096; }\n"
        . "http { access_log off; send_timeout 600s; server {\n"
        . "listen $address:8210 backlog=4096; root $dir/html; } }\n");
    $files = nginx('files');

    local $ENV{TRUTH_ASK} = "$dir/ask";
    local $ENV{LD_PRELOAD} = $jemalloc;
    local $ENV{MALLOC_CONF} = 'prof:true,prof_active:true,lg_prof_sample:0';

    $master = nginx('nginx');
}


sub nginx {
    my ($name) = @_;
    my $pid = fork // die "fork: $!\n";

    if (!$pid) {
        open STDERR, '>', "$dir/stderr";
        exec $nginx, '-p', "$dir/", '-c', "$name.conf", '-e', "$dir/error.log",
             '-g', 'daemon off;'
            or _exit(1);
    }

    wait_for(sub { -s "$dir/$name.pid" }, "nginx ($name)");

    return $pid;
}


sub wait_for {
    my ($is_there, $what) = @_;

    for (1 .. 400) {
        return if $is_there->();
        sleep 0.05;
    }

    die "bytes.pl: $what does not come: " . slurp("$dir/stderr") . "\n";
}


sub stop {
    close $_ for splice @clients;

    for my $pid ($master, $files) {
        kill 'TERM', $pid;
        waitpid $pid, 0;
        $pid = 0;
    }

    close $backend;
}


# What the walk has found, and what the heap has, at one moment.

sub ask {
    unlink "$dir/ask.heap", "$dir/ask.rows";
    write_file('ask', '');
    wait_for(sub { !-e "$dir/ask" }, 'an answer');

    my %answer = (pools => 0, stacks => by_stacks());

    for (split /\n/, slurp("$dir/ask.rows")) {
        my ($what, @fields) = split /\t/;

        if ($what eq 'total') {
            $answer{total} = $fields[0];
            next;
        }

        next if $what ne 'row';

        my ($kind, $class, $server, $location, $third, $n, $bytes) = @fields;

        next if $class == $class{JPP_POOLS_ITSELF};

        $answer{pools} += $bytes;
        $answer{server} += $bytes if $server ne '';
        $answer{location} += $bytes if $location ne '' && $location !~ /^\(/;
    }

    return \%answer;
}


# The bytes of all stacks on which nginx's allocator of pools called malloc().

sub by_stacks {
    my ($base, @functions) = functions();
    my $text = slurp("$dir/ask.heap");
    my $sum = 0;

    while ($text =~ /^@ ([^\n]*)\n\s+t\*: \d+: (\d+)/gm) {
        my ($stack, $bytes) = ($1, $2);

        $sum += $bytes if grep { is_pool($_, @functions) }
                          map { hex($_) - $base } split ' ', $stack;
    }

    return $sum;
}


sub is_pool {
    my ($address, @functions) = @_;

    return grep { $address > $_->[0] && $address <= $_->[1] } @functions;
}


# Where nginx begins in memory, and the functions of ngx_palloc.c, by symbols.

my @functions;

sub functions {
    my ($worker) = slurp("/proc/$master/task/$master/children") =~ /(\d+)/;
    my ($base) = slurp("/proc/$worker/maps") =~ /^(\w+)-\w+ \S+ 0+ .*nginx$/m
        or die "bytes.pl: nginx is not mapped\n";

    if (!@functions) {
        my %wanted = map { $_ => 1 }
            qw(ngx_create_pool ngx_palloc ngx_pnalloc ngx_pcalloc ngx_pmemalign
               ngx_palloc_small ngx_palloc_block ngx_palloc_large);

        for (split /\n/, qx(nm -S $nginx)) {
            my ($start, $size, $type, $name) = split ' ';
            next if !defined $name || !$wanted{$name =~ s/\..*//r};
            push @functions, [ hex $start, hex($start) + hex $size ];
        }

        @functions or die "bytes.pl: $nginx has no symbols\n";
    }

    return (hex $base, @functions);
}


sub report {
    my ($name, $before, $after, @least) = @_;
    my $growth = $after->{total} - $before->{total};

    my @parts = map {
        $growth > 0 ? 100 * (($after->{$_} // 0) - ($before->{$_} // 0))
                      / $growth : 0
    } qw(server location);

    printf "%-35s %11d %11d %11d %6.1f %% %6.1f %%\n", $name,
           $after->{pools}, $after->{stacks}, $growth, @parts;

    for my $answer ($before, $after) {
        next if $answer->{pools} == $answer->{stacks};
        printf "    the walk has %d bytes that the heap does not have\n",
               $answer->{pools} - $answer->{stacks};
        $failed = 1;
    }

    for (0 .. 1) {
        next if $parts[$_] >= ($least[$_] // 0);
        print "    less than $least[$_] %\n";
        $failed = 1;
    }
}


# Until two walks say the same.

sub settle {
    my $last = -1;

    for (1 .. 40) {
        my $answer = ask();
        return if $answer->{total} == $last;
        $last = $answer->{total};
        sleep 0.3;
    }

    die "bytes.pl: this state does not settle\n";
}


sub dial {
    my ($port) = @_;

    my $socket = IO::Socket::INET->new(PeerAddr => $address, Timeout => 5,
                                       PeerPort => $port)
        or die "$address:$port: $!\n";
    push @clients, $socket;

    return $socket;
}


sub idle {
    for (1 .. 1000) {
        my $socket = dial(8201);

        syswrite $socket, "GET /ok HTTP/1.1\r\nHost: main.test\r\n\r\n";
        sysread $socket, my $data, 1000;
    }
}


sub downloads {
    for (1 .. 100) {
        my $socket = IO::Socket::INET->new(Proto => 'tcp') or die "$!\n";

        setsockopt $socket, SOL_SOCKET, SO_RCVBUF, 4096;
        connect $socket, pack_sockaddr_in(8201, inet_aton($address))
            or die "connect: $!\n";
        syswrite $socket, "GET /slow/big HTTP/1.1\r\nHost: main.test\r\n\r\n";
        push @clients, $socket;
    }
}


sub frame {
    my ($type, $flags, $stream, $data) = @_;

    return substr(pack('N', length $data), 1)
           . pack('CCN', $type, $flags, $stream) . $data;
}


sub literal {
    my $text = '';

    while (my ($name, $value) = splice @_, 0, 2) {
        $text .= "\x00" . chr(length $name) . $name
                 . chr(length $value) . $value;
    }

    return $text;
}


# A window of 0 keeps all streams.

sub http2 {
    for (1 .. 200) {
        my $socket = IO::Socket::SSL->new(PeerAddr => $address,
            PeerPort => 8202, SSL_verify_mode => SSL_VERIFY_NONE,
            SSL_hostname => 'main.test', SSL_alpn_protocols => [ 'h2' ])
            or die "tls: $SSL_ERROR\n";

        my $text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                   . frame(4, 0, 0, pack 'nN', 4, 0);

        for (1 .. 5) {
            $text .= frame(1, 5, 2 * $_ - 1, literal(':method' => 'GET',
                ':scheme' => 'https', ':path' => '/streams/big',
                ':authority' => 'main.test'));
        }

        syswrite $socket, $text;
        push @clients, $socket;
    }
}


sub upgraded {
    for (1 .. 100) {
        my $socket = dial(8201);

        syswrite $socket, "GET /ws HTTP/1.1\r\nHost: main.test\r\n"
                          . "Upgrade: websocket\r\nConnection: upgrade\r\n\r\n";
        sysread $socket, my $data, 1000;
        syswrite $socket, 'frame';

        my $session = dial(8203);
        syswrite $session, "GET /ws HTTP/1.1\r\n\r\n";
        sysread $session, $data, 1000;
    }
}
