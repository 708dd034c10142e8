#!/usr/bin/perl

# Whom the samples of jemalloc itself belong to: an owner is the last frame of a
# stack, which nobody sees.
#
# Not here: the module's sampler (heap/owners.t).

use JppTest;
use JppNginx qw( profile );

my $tree = '/debug/pprof';


sub start(%how) {
    my $owners = $how{owners} // 'on';

    return JppNginx->start(
        conf => 'prof:true,prof_active:true,lg_prof_sample:9,prof_accum:true',
        http => "jemalloc_pprof_owners $owners;\njemalloc_pprof_unwind on;\n",
        server => <<'END');
server_name main.example;
location /debug/pprof/ { jemalloc_pprof; }
location /gzip/ {
    gzip on; gzip_min_length 1; gzip_types *;
    return 200 "text text text text text text text text text text";
}
location /plain/ { return 200 "plain"; }
END
}


sub load($nginx, $path) {
    my $client = $nginx->client;

    $client->get($path, headers => "Accept-Encoding: gzip\r\n") for 1 .. 100;
}


# Bytes by location.

sub owners($folded) {
    my %bytes;

    $bytes{$1} += $2
        while $folded =~ /^server [^;]*;location ([^;]*);.* (\d+)$/mg;

    return \%bytes;
}


test 'by location' => sub {
    my $nginx = start();

    load($nginx, '/gzip/');

    my $answer = $nginx->get("$tree/allocs?format=folded&by=location&"
                             . 'type=alloc_space&symbolize=0&worker=0');
    my $bytes = owners($answer->{body});

    is($answer->{status}, 200, 'an answer');
    cmp_ok($bytes->{'/gzip/'} // 0, '>', 1_000_000, 'gzip has its location')
        or diag(explain($bytes));
    is($bytes->{'/plain/'}, undef, 'and nobody the other');
    cmp_ok($bytes->{'(no location)'} // 0, '>', 100_000,
           'what comes before has the server') or diag(explain($bytes));

    my ($said) = grep { /^samples with an owner/ }
                 @{ profile($nginx->get("$tree/heap?owners=1&worker=0"))
                    ->{comments} };

    ok($said, "a comment: $said");
};


# In no format, whether anybody asks for owners or not.

test 'never a frame' => sub {
    my $nginx = start();
    my $pseudo = qr/(?<!\+)\b0x2[0-7][0-9a-f]{2}\b/;

    load($nginx, '/gzip/');

    my $dump = $nginx->get("$tree/heap?format=jemalloc&worker=0")->{body};

    like($dump, qr/^@.* 0x20[0-9a-f]{2}$/m, 'the dump has them');
    like($dump, qr{^OWNERS:\n(?:.*\n)*main\.example\t/gzip/\t\tnginx\.conf:}m,
         'and their names');

    for my $query (qw( format=folded format=top format=text format=html
                       format=svg by=location&format=folded
                       by=server&format=top )) {
        my $answer = $nginx->get("$tree/allocs?$query&symbolize=0&worker=0");

        is($answer->{status}, 200, $query);
        unlike($answer->{body}, $pseudo, 'no such address');
        unlike($answer->{body}, qr/\b8(?:19[3-9]|2\d\d)\b.*\[unknown/,
               'nor in decimal');
    }
};


# Does the tool make stacks of FILE, and none with such a frame?

sub is_read($file, $what) {
    my $folded = printed("$build/jemalloc-pprof --format=folded "
                         . "--type=alloc_space --symbolize=0 $file 2>&1") // '';

    like($folded, qr/^\S.* \d+$/m, $what);
    unlike($folded, qr/(?<!\+)0x2[0-7]/, 'and shows no such frame');
}


test 'offline' => sub {
    my $nginx = start();

    load($nginx, '/gzip/');

    my $file = "$nginx->{prefix}/dump.heap";

    spew($file, $nginx->get("$tree/heap?format=jemalloc&worker=0")->{body});
    is_read($file, 'the tool reads it');

    # one that jemalloc has written by itself has no names

    spew($file, printed("sed '/^OWNERS:/,\$d' $file"));
    is_read($file, 'without names, too');
};


test 'not switched on' => sub {
    my $nginx = start(owners => 'off');

    load($nginx, '/gzip/');

    my $dump = $nginx->get("$tree/heap?format=jemalloc&worker=0")->{body};

    unlike($dump, qr/ 0x2[0-7][0-9a-f]{2}$/m, 'no such frame');
    unlike($dump, qr/^OWNERS:/m, 'and no names');
};
