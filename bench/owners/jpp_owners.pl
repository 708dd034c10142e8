#!/usr/bin/perl

# Whom samples belong to: how much of them is known, and whether it is true.
#
#     jpp_owners.pl [PART...]
#
# A PART is one of
#
#     heap        memory by the module's sampler, one kind of request at a time
#     mixed       the same, all at once: each has as much as it has alone
#     cpu         CPU time, one kind at a time
#
# and all are measured where none is named.  A kind is static, gzip, proxy, ssi,
# upload, lua, tls or http2; KINDS names some of them.
#
# The truth is that nothing else is asked for: a sample of any other location is
# wrong.  Before a request has a location none is right; that is the server's.
# It fails where less than 99 % (CPU: 95 %) has a server, where less than 95 %
# (90 %) of what has a location has the right one, or more than 0.1 % a wrong
# one.  JPP_SECONDS is how long a kind is watched (3).

use strict;
use warnings;

use Fcntl qw( O_RDWR );
use File::Basename;
use POSIX ();
use Test::More;
use Time::HiRes qw( sleep time );

use lib dirname(__FILE__) . '/../../t/lib';

use JppNginx qw( free_port spew );
use JppRun qw( $build lua_modules preloads printed );

my $tree = '/debug/pprof';
my $seconds = $ENV{JPP_SECONDS} // 3;
my $text = join '', map { 'line ' . $_ * 7919 * $_ . "\n" } 1 .. 2000;
my $here = dirname(__FILE__) . '/..';

# what a kind asks for, and the locations that serve it
my %kinds = (
    static => [ 'load', '/static/text', qw( /static/ ) ],
    gzip => [ 'load', '/gzip/text', qw( /gzip/ ) ],
    proxy => [ 'load', '/proxy/text', qw( /proxy/ ) ],
    ssi => [ 'load', '/ssi/page', qw( /ssi/ /part/ ) ],
    lua => [ 'load', '/lua/', qw( /lua/ ) ],
    upload => [ 'upload', '/upload/', qw( /upload/ ) ],
    tls => [ 'tls', '/secret/', qw( /secret/ ) ],
    http2 => [ 'http2', '/stream/text', qw( /stream/ ) ],
);

my %bounds = (heap => [ 99, 95 ], mixed => [ 99, 95 ], cpu => [ 95, 90 ]);
my $wrong_most = 0.1;

my @kinds = $ENV{KINDS} ? split(' ', $ENV{KINDS}) : sort keys %kinds;
my %parts = (heap => \&heap, mixed => \&mixed, cpu => \&cpu);

$SIG{PIPE} = 'IGNORE';

plan('no_plan');

my ($tls, $h2) = (free_port(), free_port());
my $upstream = JppNginx->start(preload => [], conf => 'prof:false',
                               module => 0, server => <<'END');
client_max_body_size 0;
location / { return 200 "an answer of the upstream's"; }
END
my $nginx = start();

$parts{$_}->() for @ARGV ? @ARGV : qw( heap mixed cpu );

$nginx->stop;
$upstream->stop;


sub start {
    my $back = "http://127.0.0.1:$upstream->{port}";
    my $nginx = JppNginx->start(connections => 512, main => lua_modules(),
        preload => [ preloads() ], conf => 'prof:false',
        http => <<"HTTP", server => <<"SERVER");
jemalloc_pprof_source sampler;
jemalloc_pprof_sample 1k;
jemalloc_pprof_owners on;
access_log off;
HTTP
server_name main.example;
location /debug/pprof/ { jemalloc_pprof control=on; }
location /static/ { alias html/; }
location /gzip/ { gzip on; gzip_types *; alias html/; }
location /proxy/ { proxy_pass $back; }
location /ssi/ { ssi on; ssi_types *; alias html/; }
location /part/ { alias html/; }
location /upload/ { proxy_pass $back; client_max_body_size 0; }
location /lua/ {
    content_by_lua_block {
        local s = ""
        for i = 1, 200 do s = (s .. i):sub(-100) end
        ngx.say(s)
    }
}
SERVER

    mkdir "$nginx->{prefix}/html";
    spew("$nginx->{prefix}/html/text", $text);
    spew("$nginx->{prefix}/html/page",
         'one <!--# include virtual="/part/text" --> two');
    spew("$nginx->{prefix}/body", $text x 20);

    system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x "
           . "-keyout $nginx->{prefix}/key.pem "
           . "-out $nginx->{prefix}/cert.pem 2>$nginx->{prefix}/openssl.err")
        == 0 or die "no certificate\n";

    $nginx->reload(http => "$nginx->{http}\n" . <<"END");
server {
    listen 127.0.0.1:$tls ssl;
    server_name tls.example;
    ssl_certificate cert.pem;
    ssl_certificate_key key.pem;
    location /secret/ { return 200 "secret"; }
}
server {
    listen 127.0.0.1:$h2 http2;
    server_name h2.example;
    location /stream/ { gzip on; gzip_types *; alias html/; }
}
END
    return $nginx;
}


# One turn of a kind, which returns when it is done.

sub command {
    my ($kind) = @_;
    my ($how, $path) = @{ $kinds{$kind} };
    my $port = $nginx->{port};

    return "$build/bench/jpp_load -c 8 -n 400 -H 'Accept-Encoding: gzip' "
           . "'http://127.0.0.1:$port$path'" if $how eq 'load';
    return "perl $here/jpp_clients.pl each 40 'https://127.0.0.1:$tls$path'"
        if $how eq 'tls';
    return "nghttp -n -m 40 -H 'accept-encoding: gzip' "
           . "'http://127.0.0.1:$h2$path'" if $how eq 'http2';
    return 'for i in 1 2 3 4 5 6 7 8 9 10; do curl -s --noproxy "*" -o '
           . "/dev/null -T $nginx->{prefix}/body "
           . "'http://127.0.0.1:$port$path'; done";
}


# The kinds in the background, until quit().

sub load {
    return map {
        my $kind = $_;
        my $pid = fork() // die "fork: $!\n";

        if ($pid == 0) {
            my $is_over = 0;

            local $SIG{TERM} = sub { $is_over = 1 };
            open STDOUT, '>', '/dev/null';
            open STDERR, '>', '/dev/null';
            system(command($kind)) while !$is_over;
            POSIX::_exit(0);
        }

        $pid;
    } @_;
}


sub quit {
    kill 'TERM', @_;
    waitpid $_, 0 for @_;
}


sub reset_samples {
    my $answer = $nginx->get("$tree/control", method => 'POST',
                             body => 'reset=1');

    is($answer->{status}, 200, 'begun anew');
}


# What is in the folded ANSWER, by "server location".

sub owners {
    my ($answer) = @_;
    my %n;

    is($answer->{status}, 200, 'an answer');

    for my $line (split /\n/, $answer->{body}) {
        my ($server, $location, $n)
            = $line =~ /^server (.*?);location ([^;]*).* (\d+)$/
            or die "no owner: $line\n";

        $n{"$server $location"} += $n if $location ne '/debug/pprof/';
    }

    return \%n;
}


sub allocated {
    return owners($nginx->get("$tree/allocs?format=folded&by=location&"
                              . 'type=alloc_space&symbolize=0'));
}


sub judge {
    my ($part, $kind, $n) = @_;
    my ($known, $true) = @{ $bounds{$part} };
    my @right = @{ $kinds{$kind} }[2 .. $#{ $kinds{$kind} }];
    my ($all, $owned, $right, $wrong) = (0, 0, 0, 0);

    for my $owner (keys %$n) {
        my ($location) = $owner =~ / (\S.*)$/;

        # the loop itself, and threads, are for nobody

        next if $owner =~ /^\((?:event loop|other threads)\)/;

        $all += $n->{$owner};
        $owned += $n->{$owner} if $owner !~ /^\(/;

        if (grep { $_ eq $location } @right) {
            $right += $n->{$owner};

        } elsif ($location !~ /^\(/) {
            $wrong += $n->{$owner};
        }
    }

    my @shares = map { 100 * $_ / ($all || 1) } $owned, $right, $wrong;

    # a handshake is over before there is a location

    my $of = $right + $wrong ? 100 * $right / ($right + $wrong) : 100;

    printf "# %-6s %-7s %11d: %6.2f %% has a server, %6.2f %% the location, "
           . "%.3f %% a wrong one\n", $part, $kind, $all, @shares;

    cmp_ok($all, '>', 50, "$part, $kind: there is something");
    cmp_ok($shares[0], '>=', $known, 'servers');
    cmp_ok($of, '>=', $true, 'right locations');
    cmp_ok($shares[2], '<=', $wrong_most, 'wrong locations')
        or diag(explain($n));
}


sub heap {
    for my $kind (@kinds) {
        reset_samples();

        my @pids = load($kind);

        sleep($seconds);
        quit(@pids);
        judge('heap', $kind, allocated());
    }
}


# Bytes of a turn alone, and of as many turns while the others have theirs.

sub mixed {
    my (%alone, %sum);

    for my $way ('alone', 'mixed') {
        my $turns = 5;

        if ($way eq 'alone') {
            for my $kind (@kinds) {
                reset_samples();
                system(command($kind) . ' >/dev/null 2>&1') for 1 .. $turns;

                my $n = allocated();

                $alone{$_} = $n->{$_} for grep { !/\(/ } keys %$n;
            }

            next;
        }

        reset_samples();

        my @pids = map {
            my $kind = $_;
            my $pid = fork() // die "fork: $!\n";

            if ($pid == 0) {
                system(command($kind) . ' >/dev/null 2>&1') for 1 .. $turns;
                POSIX::_exit(0);
            }

            $pid;
        } @kinds;

        waitpid $_, 0 for @pids;

        my $n = allocated();

        for my $owner (sort keys %alone) {
            my $is = $n->{$owner} // 0;

            printf "# mixed  %-28s %11d, alone %11d: %+.1f %%\n", $owner, $is,
                   $alone{$owner}, 100 * ($is / $alone{$owner} - 1);
            $sum{all} += $alone{$owner};
            $sum{off} += abs($is - $alone{$owner});
        }

        my ($all, $known) = (0, 0);

        for my $owner (keys %$n) {
            next if $owner =~ /^\((?:event loop|other threads)\)/;

            $all += $n->{$owner};
            $known += $n->{$owner} if $owner !~ /^\(/;
        }

        cmp_ok(100 * $known / $all, '>=', $bounds{mixed}[0], 'servers');
        is_deeply([ grep { !/\(/ && !$alone{$_} } keys %$n ], [],
                  'no location that nobody has asked for');
        cmp_ok(100 * $sum{off} / $sum{all}, '<', 5, 'as much as alone');
    }
}


sub cpu {
    for my $kind (@kinds) {
        my @pids = load($kind);

        judge('cpu', $kind,
              owners($nginx->get("$tree/profile?seconds=$seconds&"
                                 . 'frequency=997&format=folded&by=location&'
                                 . 'type=samples&symbolize=0')));
        quit(@pids);
    }
}
