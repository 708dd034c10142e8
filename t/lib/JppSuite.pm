package JppSuite;

# What the suites with nginx share: an environment where ./dev has set none,
# blocks that are made from tables, the contents of profiles, an HTTP client
# that hides nothing.
#
# To be loaded before Test::Nginx::Socket.

use JppPerl;

use Exporter qw(import);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use Time::HiRes qw( sleep time );

use JppClient;
use JppProfile qw( checked read_profile totals );
use JppRun qw( $build free_port slurp spew );

our @EXPORT_OK = qw( $build $dir $port blocks contract dial fleets profile
                     quiet_log settled slurp spew table totals );

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


# A connection, for requests one after the other.

sub dial {
    return JppClient->new(port => $_[0] // $port);
}


1;
