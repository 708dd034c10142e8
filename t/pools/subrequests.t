#!/usr/bin/perl

# Subrequests in a walk through pools: each is seen once, whether its turn to
# answer has come or not.
#
# Not here: whose memory that of a request is (pools/pools.t).

use JppTest;
use JppPools qw( below held );
use List::Util qw( sum0 );

my $list = '/debug/pprof/locations?format=json&by=upstream';

# the pages, and how many of their subrequests wait for the upstream
my %pages = (
    one => [ 1, include('/silent/') ],
    two => [ 2, include('/silent/') . include('/silent/') ],
    nested => [ 1, include('/pages/one') ],
    mixed => [ 3, include('/pages/two') . include('/silent/') ],
);

test 'one', 'jemalloc' => sub { page('one') };
test 'two at once', 'jemalloc' => sub { page('two') };
test 'one in another', 'jemalloc' => sub { page('nested') };
test 'one behind two in another', 'jemalloc' => sub { page('mixed') };


# Nothing refers to a subrequest in the background but its own connection, which
# is found by the log that it shares with its client and all others.

test 'many in the background', 'jemalloc' => sub {
    my $silent = silent();

    for (1 .. 4) {
        my $nginx = start($silent);
        my $client = $nginx->asking('/mirrored');

        ok(wait_until(sub {
            sum0(map { $_->{requests} } @{ $nginx->json($list)->{rows} })
                == 251;
        }), 'they wait');

        my $held = held($nginx);

        is(below($held, 'connection of'), 0, 'and none is called a module\'s')
            or diag(explain($held));

        $nginx->stop;
    }
};


sub include {
    return qq(<!--# include virtual="$_[0]" -->\n);
}


# An upstream that never answers: the kernel accepts for it.

sub silent {
    return IO::Socket::INET->new(Listen => 512, LocalAddr => '127.0.0.1')
           // die "no upstream: $!\n";
}


sub start($silent) {
    my $mirrors = join ' ', map { "mirror /silent/$_;" } 1 .. 250;

    return JppNginx->start(port => free_port(), connections => 1024,
        server => <<"CONF", http => <<"UPSTREAM");
location /debug/pprof/ { jemalloc_pprof; }
location /pages/ { root html; ssi on; ssi_types *; }
location /silent/ { proxy_pass http://silent; }
location /mirrored { $mirrors proxy_pass http://silent; }
CONF
upstream silent { server 127.0.0.1:@{[ $silent->sockport ]}; }
UPSTREAM
}


sub page($name) {
    my ($n, undef) = @{ $pages{$name} };

    my $silent = silent();
    my $nginx = start($silent);

    spew("$nginx->{prefix}/html/pages/$_", $pages{$_}[1]) for keys %pages;

    my $client = $nginx->asking("/pages/$name");

    my ($rows, @silent);

    ok(wait_until(sub {
        $rows = $nginx->json($list)->{rows};
        @silent = grep { $_->{upstream} ne '(none)' } @$rows;

        return @silent == 1 && $silent[0]{requests} >= $n;
    }), 'its subrequests wait') or diag(explain($rows));

    is($silent[0]{upstream}, 'silent', 'the upstream');
    is($silent[0]{requests}, $n, 'and each of them once');

    is($nginx->alerts, 0, 'no alerts');
    $nginx->stop;
}
