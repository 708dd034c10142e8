package JppSuite;

# What the suites with nginx share: an environment where ./dev has set none,
# blocks that are made from tables, the contents of profiles, an HTTP client
# that hides nothing, and an nginx of one's own for what Test::Nginx cannot do:
# another allocator, other options of jemalloc, the output at the start.
#
# To be loaded before Test::Nginx::Socket.

use JppPerl;

use Exporter qw(import);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use POSIX ();
use Time::HiRes qw( sleep time );

use JppClient;
use JppProfile qw( checked read_profile totals );
use JppRun qw( $build $fake free_port is_alive slurp spew wait_until );

our @EXPORT_OK = qw( $build $dir $port $resources blocks contract dial
                     fake_jemalloc fleets holds is_static nginx_test options
                     profile quiet_log serve settled slurp spew table totals );

# what hangs is ended by this: seconds
my $patience;

# Each has its own place and port: several may run at a time.

BEGIN {
    $patience = 30;

    my $root = $ENV{TEST_NGINX_SERVROOT} // "$build/servroot";

    $ENV{TEST_NGINX_SERVROOT} = "$root-" . ($0 =~ s/\W+/-/gr);
    $ENV{TEST_NGINX_SERVER_PORT} //= free_port();
    $ENV{TEST_NGINX_TIMEOUT} //= $patience;
    $ENV{MALLOC_CONF} //= 'prof:true,prof_active:true,lg_prof_sample:12';
}

require JppLoopback;

our $port = $ENV{TEST_NGINX_SERVER_PORT};

our $dir = tempdir('jpp-suite-XXXXXX', TMPDIR => 1, CLEANUP => 1);

# the workers may run as another user
chmod 0755, $dir;

# The resources, as sentences name them.

our $resources = join ', ', slurp("$JppRun::root/src/nginx/resource/"
                                  . 'ngx_http_jpp_resources.c')
                            =~ /\{ ngx_string\("(\w+)"\), NGX_HTTP_/g;
$resources =~ s/, (\w+)\z/ and $1/;


# Is jemalloc part of nginx itself?

sub is_static {
    return ($ENV{TEST_NGINX_LOAD_MODULES} // '') eq '';
}


# The options of jemalloc: these behind those of the environment.

sub options {
    return join ',', $ENV{MALLOC_CONF}, @_;
}


# Blocks of Test::Nginx, one for each row of a table: in the template, [% key %]
# stands for the column of that name.

sub table($template, $keys, @rows) {
    my $text = '';

    for my $row (@rows) {
        my %value;

        @value{@$keys} = @$row;
        $text .= $template =~ s/\[% (\w+) %\]/$value{$1} \/\/ ''/ger . "\n";
    }

    return $text;
}


sub blocks {
    Test::Base::spec_string(join "", @_);
}


# The log of a block must have no alerts, unless the block says what it has.

sub quiet_log {
    Test::Nginx::Socket::add_block_preprocessor(sub {
        my ($block) = @_;

        $block->set_value('no_error_log', "[alert]\n[crit]\n[emerg]")
            if !defined $block->no_error_log && !defined $block->must_die;
    });
}


# A block may say how many workers it has, and its configuration where that is
# more than a location /a/.

sub fleets {
    Test::Nginx::Socket::add_block_preprocessor(sub {
        my $n = $_[0]->workers // 1;

        $_[0]->set_value(config => 'location /a/ { jemalloc_pprof; }')
            if !defined $_[0]->config;

        Test::Nginx::Socket::workers($n);

        # a reload makes no master where there is none

        Test::Nginx::Socket::master_process_enabled(
            $n > 1 || $ENV{TEST_NGINX_USE_HUP});
    });
}


# The status at PATH, once N workers of one generation answer and no others are
# left.

sub settled($path, $n) {
    my $end = time() + $patience;
    my $status;

    while (time() < $end) {
        $status = decode_json(dial()->ask('GET', $path)->{body});

        my %generations = map { $_->{generation} => 1 }
                          @{ $status->{workers} };

        return $status if $status->{asked} == $n && $status->{answered} == $n
                          && keys %generations == 1;
        sleep 0.05;
    }

    die "$status->{answered} of $status->{asked} workers, and not $n of $n";
}


# A filter for bodies: a profile as text, or why it is none.

sub contract($bytes) { return checked($bytes, '--heap', '--print') }


# The parts of a profile that tests look at.

sub profile($bytes) { return read_profile(contract($bytes)) }


# For serve(): the fake jemalloc, which does what FILE says.

sub fake_jemalloc($file, $keys) {
    die "no $fake: ./dev test makes it\n" unless -f $fake;

    spew($file, $keys);

    return (preload => $fake, env => { JPP_FAKE => $file });
}


# An nginx of one's own, with
#
#     config      in the server            http    before the server
#     main        outside of all blocks    level   of the log (info)
#     preload     a library                env     variables
#     options     of jemalloc              workers    1
#
# Returns an object, also where nginx did not start: then its pid is undefined.

my $n_servers = 0;

sub serve(%how) {
    my $self = bless {
        prefix => "$dir/nginx-" . $n_servers++,
        workers => $how{workers} // 1,
    };

    mkdir $_ or die "$_: $!"
        for map { "$self->{prefix}$_" } '', '/logs', '/html', '/temp';

    configure($self, %how);

    $self->{status} = start($self, \%how);

    return $self if $self->{status} != 0 || $how{arguments};

    # before its first worker the master misses signals

    $self->soon(sub { $self->log =~ /start worker process/ })
        or die 'no worker: ' . $self->log;

    $self->{pid} = slurp("$self->{prefix}/logs/nginx.pid") + 0;

    return $self;
}


# Runs nginx with ARGUMENTS, like "-t -q", in place of a start.

sub nginx_test($arguments, %how) {
    return serve(%how, arguments => $arguments);
}


sub configure($self, %how) {
    my $load = join "\n", map { "load_module $_;" }
               split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
    my $user = $> == 0 ? 'user root;' : '';
    my $temp = join "\n", map { "${_}_temp_path temp/$_;" }
               qw( client_body proxy fastcgi uwsgi scgi );

    $how{$_} //= '' for qw( main http config );
    $how{level} //= 'info';
    $how{workers} //= 1;

    spew("$self->{prefix}/nginx.conf", <<END);
$load
$user
worker_processes $how{workers};
pid logs/nginx.pid;
error_log logs/error.log $how{level};
$how{main}
events {
    worker_connections 64;
}
http {
    access_log off;
    keepalive_requests 10000;
    $temp
    $how{http}
    server {
        listen 127.0.0.1:$port;
        root html;
        $how{config}
    }
}
END
}


# The status of nginx; with 0 it is a daemon now.

sub start($self, $how) {
    my $pid = fork() // die "fork: $!";

    if ($pid == 0) {
        $ENV{LD_PRELOAD} = $how->{preload}
                           // $ENV{TEST_NGINX_LD_PRELOAD} // '';
        $ENV{MALLOC_CONF} = $how->{options} if defined $how->{options};
        $ENV{$_} = $how->{env}{$_} for keys %{ $how->{env} // {} };

        # some options make jemalloc write files
        chdir $self->{prefix} or POSIX::_exit(126);

        open STDOUT, '>', "$self->{prefix}/logs/stdout" or POSIX::_exit(126);
        open STDERR, '>', "$self->{prefix}/logs/stderr" or POSIX::_exit(126);

        exec $ENV{TEST_NGINX_BINARY}, '-p', "$self->{prefix}/",
             '-e', 'logs/error.log', '-c', 'nginx.conf',
             split(' ', $how->{arguments} // '')
            or POSIX::_exit(127);
    }

    waitpid $pid, 0;

    return $?;
}


# Reloads; returns once all old workers have exited.

sub reload($self) {
    my $before = () = $self->log =~ /worker process \d+ exited/g;

    kill 'HUP', $self->{pid};

    return $self->soon(sub {
        my $now = () = $self->log =~ /worker process \d+ exited/g;
        return $now >= $before + $self->{workers};
    });
}


sub stop($self) {
    kill 'QUIT', $self->{pid};

    my $has_ended = $self->soon(sub { !is_alive($self->{pid}) });

    kill 'KILL', $self->{pid} if !$has_ended;
    undef $self->{pid};

    return $has_ended;
}


sub soon($self, $condition) {
    return wait_until($condition, $patience);
}


sub log {
    return slurp($_[0]{prefix} . '/logs/error.log');
}


# What nginx wrote to stderr before it became a daemon.

sub said {
    return slurp($_[0]{prefix} . '/logs/stderr');
}


# The lines of the log that should not be there.

sub quiet($self) {
    return join '', grep { /\[(?:alert|crit|emerg)\]/ }
                    split /^/m, $self->log;
}


sub DESTROY($self) {
    local ($?, $!);
    $self->stop if $self->{pid};
}


# A connection, for requests one after the other.

sub dial {
    return JppClient->new(port => $_[0] // $port);
}


# The answers that have BYTES in them.

sub holds($bytes, @answers) {
    return grep { index("$_->{head}$_->{body}", $bytes) != -1 } @answers;
}


1;
