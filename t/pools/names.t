#!/usr/bin/perl

# Pools and requests of 5,000 locations, of which each has a name of 4 KB with
# control bytes and bytes that are no UTF-8, in a server with such names, too:
# in every format.
#
# Not here: what the names are of (pools/pools.t, pools/requests.t), how they
# are bounded (t/unit/jpp_pools_table_test.c), and what the page makes of them
# (page/page.t).

use JppTest;
use Compress::Zlib;

my $pools = '/debug/pprof/pools';

# past 2,000 names the rest has one
my $n_locations = 5000;
my $n_clients = 2100;

my $odd = "\x1b[1m\x07\xff\xfe<b>\xc3";
my $shown = '\\x1b[1m\\x07\\xff\\xfe<b>\\xc3';
my $tail = 'x' x 3980;


# The name of a location begins with its number: a request that begins as it
# does is for that.

sub start {
    my $locations = join '', map {
        "location \"/$_/$odd$tail\" {\n    limit_rate 1;\n"
        . "    return 200 'a slow answer';\n}\n"
    } 1 .. $n_locations;

    my $nginx = JppNginx->start(
        conf => 'prof:false', connections => 8192, level => 'error',
        http => 'large_client_header_buffers 4 8k; access_log off;',
        server => "server_name \"s$odd.example\";\n$locations"
                  . 'location /debug/pprof/ { jemalloc_pprof; }');

    my @clients = map { $nginx->asking("/$_/" . escaped($odd) . $tail) }
                  1 .. $n_clients;

    ok($_->read_some(20, 1), 'an answer') || last for $clients[-1];

    return ($nginx, @clients);
}


# One line of text after the other, as a terminal takes it.

sub is_clean($text, $name) {
    my $copy = $text;

    unlike($text, qr/[\x00-\x08\x0b-\x1f\x7f]/, "$name: no control bytes");
    ok(utf8::decode($copy), "$name: UTF-8");
}


test 'every format', 'jemalloc' => sub {
    my ($nginx, @clients) = start();

    my %body = map {
        my $answer = $nginx->get("$pools?format=$_&n=1000&cols=1000");

        is($answer->{status}, 200, $_) or diag($answer->{body});
        $_ => $answer->{body};
    } qw( pprof folded top html svg );

    is(checked($body{pprof}, '--pools'), '', 'pprof: the contract');

    is_clean($body{$_}, $_) for qw( folded top html svg );

    my $pprof = Compress::Zlib::memGunzip($body{pprof});

    like($pprof, qr{location /1/\Q$shown\Ex}, 'pprof: the names');
    unlike($pprof, qr/\x1b\[1m|\xff\xfe</, 'pprof: nothing else of them');

    # every name is there, escaped, and none is cut

    my %at = map { $_ => 1 }
             $body{folded} =~ m{;location /(\d+)/\Q$shown$tail\E;request;}g;

    cmp_ok(scalar keys %at, '>=', 1900, 'folded: the names');
    like($body{folded}, qr/;location \(other locations\);request;/,
         'and one for the rest');
    like($body{folded}, qr/^http;server s\Q$shown\E\.example;/m,
         'that of the server');
    like($body{top}, qr{location\n +/\d+/\\x1b.*\.{3}x{99,};\n +(?#
                       )request \(nginx\.conf:\d+\)$}m,
         'top: the names, as far as 1000 columns go');
    unlike($body{svg}, qr/<b>/, 'svg: no markup');
    unlike($body{html}, qr/\[1m\S{0,20}<b>/, 'html: nor there');

    for ([ 'requests', 'request' ], [ 'requests', 'connection' ],
         [ 'locations', 'location' ], [ 'locations', 'server' ])
    {
        my ($resource, $by) = @$_;
        my $query = "/debug/pprof/$resource?by=$by&top=1000";
        my $text = $nginx->get("$query&format=top&cols=1000")->{body};
        my $json = $nginx->get("$query&format=json")->{body};
        my $rows = decode_json($json)->{rows};
        my $what = "$resource, by $by";

        is_clean($text, $what);
        is_clean($json, "$what, JSON");

        # nobody's memory has a row among locations

        @$rows = grep { $_->{server} !~ /^\(/ } @$rows;

        cmp_ok(scalar @$rows, '>=', 1, "$what: rows");
        is(scalar(grep { index($_->{server}, "s$shown.example") == 0 } @$rows),
           scalar @$rows, "$what: the server");
        next if $by eq 'server' || $by eq 'connection';

        cmp_ok(scalar(grep { $_->{location} =~ m{^/\d+/\Q$shown\Ex+$} }
                      @$rows), '>=', 900, "$what: the locations");
    }
};
