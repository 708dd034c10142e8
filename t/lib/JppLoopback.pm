package JppLoopback;

# Loaded by a suite before Test::Nginx::Socket: makes the server of Test::Nginx
# listen on the loopback alone, where it would listen on every address of the
# machine.
#
# Suites have the bare port as $TEST_NGINX_SERVER_PORT and, in requests and
# expectations, as $ServerPortForClient.

use JppPerl;

require Test::Nginx::Util;


my $check = \&Test::Nginx::Util::test_config_version;
my $port = $Test::Nginx::Util::ServerPortForClient;

$ENV{TEST_NGINX_SERVER_PORT} = $port;
$ENV{TEST_NGINX_STREAM_PORT} //= $port + 1;
$Test::Nginx::Util::ServerPort = "127.0.0.1:$port";

# with a reload it asks the server for its version, at an address of its own

{
    no warnings qw( redefine prototype );

    *Test::Nginx::Util::test_config_version = sub {
        local $Test::Nginx::Util::ServerPort = $port;
        return $check->(@_);
    };
}


1;
