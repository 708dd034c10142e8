package JppRun;

# What every test needs that runs something: paths, files, free ports, waiting
# for a state, what is possible on this machine, and subtests.
#
# TEST_NGINX_BINARY, TEST_NGINX_LOAD_MODULES and TEST_NGINX_LD_PRELOAD choose
# the nginx, the module and the jemalloc of the suites; without them it is the
# machine's nginx with what ./dev build has made.
#
# Nothing here starts an nginx: JppNginx does.

use JppPerl;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename;
use File::Path qw( make_path );
use File::Temp;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Test::More;
use Time::HiRes qw( sleep time );

our @EXPORT_OK = qw( $root $build $fake $walk $checker $axe $formats $resources
                     slurp spew printed free_port wait_until title is_alive halt
                     is_possible has_fake has_jemalloc is_root binary loaded
                     preloads is_linked modules lua_modules
                     certificate large_map mounted backend busy test );

# what hangs is ended by this: seconds
our $patience = 30;

our $root = dirname(dirname(dirname(abs_path(__FILE__))));

# tests, and nginx, may change the directory
our $build = abs_path($ENV{JPP_BUILD} // "$root/build") // "$root/build";

our $fake = "$build/t/jpp_fake.so";
our $walk = "$build/t/jpp_walk.so";
our $clock = "$build/t/jpp_clock.so";
our $checker = "$build/t/jpp_contract";

# from npm
our $axe = "$root/build/npm/node_modules/axe-core/axe.min.js";

# The refusal of an unknown format.

our $formats = 'format must be '
               . join(', ', slurp("$root/src/core/output/jpp_formats.c")
                            =~ /\{ \.name = "(\w+)",/g)
                 =~ s/.*\K, / or /r;

# The resources, as sentences name them.

our $resources = join(', ', slurp("$root/src/nginx/resource/"
                                  . 'ngx_http_jpp_resources.c')
                            =~ /\{ ngx_string\("(\w+)"\), NGX_HTTP_/g)
                 =~ s/.*\K, / and /r;

if (!defined $ENV{TEST_NGINX_BINARY}) {
    $ENV{PATH} .= ':/usr/sbin';
    $ENV{TEST_NGINX_BINARY} = 'nginx';
    $ENV{TEST_NGINX_LOAD_MODULES}
        //= "$build/ngx_http_jemalloc_pprof_module.so";
    $ENV{TEST_NGINX_LD_PRELOAD} //= 'libjemalloc.so.2';
}


sub slurp($path) {
    open my $fh, '<:raw', $path or die "$path: $!";
    local $/;

    return <$fh> // '';
}


# What a command prints; undef if it fails.

sub printed($command) {
    my $output = `$command`;

    return $? == 0 ? $output : undef;
}


# In one step, since another process may be reading; its folder is made.
# Returns PATH.

sub spew($path, @data) {
    make_path(dirname($path));
    open my $fh, '>:raw', "$path.new" or die "$path: $!";
    print $fh @data;
    close $fh or die "$path: $!";
    rename "$path.new", $path or die "$path: $!";

    return $path;
}


# Below the ports that the kernel gives to clients.  Suites run side by side,
# and a port is free between a test and the next: until this process ends, a
# socket whose name has the port's number keeps the other suites off it.

my @reserved;

sub free_port {
    for (1 .. 100) {
        my $port = 10000 + int rand 20000;
        my $reserved = IO::Socket::UNIX->new(Local => "\0jpp-port-$port",
                                             Listen => 1) or next;

        IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port,
                              Listen => 1) or next;

        push @reserved, $reserved;
        return $port;
    }

    die "no port is free\n";
}


# Runs CODE a hundred times a second until it is true; returns its value.

sub wait_until($code, $seconds = undef) {
    my $end = time() + ($seconds // $patience);

    for ( ;; ) {
        my $value = $code->();

        return $value if $value || time() > $end;
        sleep 0.01;
    }
}


sub title($pid) {
    return eval { slurp("/proc/$pid/cmdline") } // '';
}


# A process that has ended may be a zombie until its parent waits for it.

sub is_alive($pid) {
    return (eval { slurp("/proc/$pid/stat") } // ') Z') !~ /\) [ZX]/;
}


sub is_still($pid) {
    return (eval { slurp("/proc/$pid/stat") } // ') T') =~ /\) [TXZ]/;
}


# Returns once PIDS are stopped.  They run on for a moment, in which the kernel
# may tell them of a connection, and nobody else.

sub halt(@pids) {
    kill 'STOP', @pids;

    return wait_until(sub { !grep { !is_still($_) } @pids });
}


# What may be missing on a machine, by the names that subtests use.

my %possible = (
    axe => sub { -f $axe },
    curl => sub { runs('curl --version') },
    fake => sub { -e $fake },
    go => sub { runs('go version') },
    jemalloc => sub { preloads() || is_linked() },
    jeprof => sub { runs('jeprof --version') && is_possible('curl') },
    loaded => \&loaded,
    lua => sub { lua_modules() ne '' },
    memory => \&has_memory,
    mount => sub { runs('unshare -m true') },
    nghttp => sub { runs('nghttp --version') },
    openssl => sub { runs('openssl version') },
    perl => sub { modules('ngx_http_perl_module') ne '' },
    root => sub { $> == 0 },
    scripts => sub { is_possible('perl') && is_possible('lua') },
    strace => sub { runs('strace -V') },
    setpriv => sub { runs('setpriv --version') },
);

my %known;

sub is_possible($what) {
    die "$what is in no table of conditions\n" unless $possible{$what};

    return $known{$what} //= $possible{$what}->() ? 1 : 0;
}


sub has_fake { is_possible('fake') }
sub has_jemalloc { is_possible('jemalloc') }
sub is_root { is_possible('root') }


sub runs($command) {
    return !system "$command >/dev/null 2>&1";
}


# For some hundred workers at a time, which share most of what they have.

sub has_memory {
    my ($available) = slurp('/proc/meminfo') =~ /^MemAvailable:\s+(\d+) kB/m;

    return ($available // 0) > 2 * 1024 * 1024;
}


sub binary {
    my $name = $ENV{TEST_NGINX_BINARY};

    return $name if $name =~ m{/};

    for my $dir (split(/:/, $ENV{PATH}), '/usr/sbin', '/usr/local/sbin') {
        return "$dir/$name" if -x "$dir/$name";
    }

    die "no $name: set TEST_NGINX_BINARY\n";
}


sub loaded { split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '' }
sub preloads { grep { length } split /[ :]/, $ENV{TEST_NGINX_LD_PRELOAD} // '' }


# What loads the modules NAMES, or at paths: those of packages that ./dev
# installs are for one nginx only; '' if they are not there, or for another one.

my %loads;

sub modules(@names) {
    my @files = map { m{/} ? $_ : "/usr/lib/nginx/modules/$_.so" } @names;
    my $loads = join '', map { "load_module $_;\n" } @files;

    return $loads{$loads} //= takes($loads) ? $loads : '';
}


sub takes($loads) {
    my $dir = File::Temp->newdir;

    spew("$dir/nginx.conf", "${loads}pid $dir/pid; events { }");

    # a sanitizer would complain about what nginx keeps

    return runs("ASAN_OPTIONS=detect_leaks=0 @{[ binary() ]} -t -p $dir/ "
                . "-c nginx.conf -e $dir/log");
}


sub lua_modules { modules(qw( ndk_http_module ngx_http_lua_module )) }


# Has this nginx a jemalloc of its own?  One under a sanitizer has none.

sub is_linked {
    return `ldd @{[ binary() ]} 2>/dev/null` =~ /libjemalloc/;
}


# What a server with TLS has in its configuration: a key of RSA.

my $keys;

sub certificate {
    if (!$keys) {
        $keys = File::Temp->newdir;
        system('openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '
               . "/CN=localhost -keyout $keys/key -out $keys/cert 2>/dev/null")
            and die "openssl has made no certificate\n";
    }

    return "ssl_certificate $keys/cert;\nssl_certificate_key $keys/key;\n";
}


# A map of N entries, each of 100 and 400 bytes: memory of a configuration.

sub large_map($n) {
    my $entries = join '', map { "/$_" . 'x' x 100 . ' ' . 'y' x 400 . ";\n" }
                       1 .. $n;

    return "map_hash_max_size 65536;\nmap_hash_bucket_size 512;\n"
           . "map \$uri \$large {\n$entries}\n";
}


# What runs the command behind it in a name space of its own, where mount has
# done ARGUMENTS.

sub mounted($arguments) {
    return [ qw( unshare -m sh -c ), "mount $arguments && exec \"\$@\"", 'sh' ];
}


# N processes that do CODE again and again, each with its number, until what is
# returned is gone.

sub busy($n, $code) {
    my $parent = $$;

    my @pids = map {
        my $number = $_;
        my $pid = fork() // die "fork: $!\n";

        if ($pid == 0) {
            setpgrp;
            srand $$;
            $SIG{PIPE} = 'IGNORE';
            eval { $code->($number); 1 } || sleep 0.01
                while getppid() == $parent;
            POSIX::_exit(0);
        }

        $pid;
    } 1 .. $n;

    return bless \@pids;
}


sub DESTROY($self) {
    local $?;

    kill 'KILL', map { -$_ } @$self;
    waitpid $_, 0 for @$self;
}


# The port of a server that calls CODE with each connection, in a process of its
# own, until the test ends.

my @backends;

sub backend($code) {
    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 512)
        or die "listen: $!\n";

    push @backends, busy(1, sub {
        $SIG{CHLD} = 'IGNORE';

        my $client = $socket->accept or return;

        return if fork();

        # nobody is left behind if the test dies
        alarm 250;
        $code->($client);
        POSIX::_exit(0);
    });

    return $socket->sockport;
}


# The subtest that runs now, and what is done at the end of each.

our $subtest;
our @ends;


# The subtest NAME, with what has to be possible, by a name of the table above
# or as code, and last its code.  With JPP_SUBTEST only those whose names are
# like it run.

sub test($name, @conditions) {
    my $code = pop @conditions;
    my $pattern = $ENV{JPP_SUBTEST} // '';

    # an empty pattern alone would be the last one that matched

    return if $name !~ /(?:$pattern)/;

    my @missing = grep { !(ref $_ ? $_->() : is_possible($_)) } @conditions;

    SKIP: {
        skip("$name: not possible here: @missing", 1) if @missing;

        subtest($name => sub {
            local $subtest = $name;

            $code->();
            $_->() for @ends;
        });
    }
}


1;
