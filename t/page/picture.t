#!/usr/bin/perl

# format=svg: what is in the picture, that it is well-formed whatever the names
# are, that it has bounds, and that README's is what the tool makes today.

use JppTest;
use Digest::SHA qw( sha256 );
use JppBrowser;
use JppDump qw( dump_of );
use JppRecorded qw( recorded );
use JppTool qw( $dir run );
use MIME::Base64 qw( encode_base64 );

$ENV{LC_ALL} = 'C';

my ($one, $two) = recorded($dir, qw( nginx-530 nginx-160k ));

my $browser = JppBrowser::is_there() ? JppBrowser->start : undef;


sub picture(@arguments) {
    my $how = ref $arguments[0] ? shift @arguments : {};
    my $run = run($how, '--any-kernel', '--format=svg', @arguments);

    is($run->{exit}, 0, "a picture: @arguments") or diag($run->{err});

    return $run->{out};
}


# The boxes of a picture: name, x, y, width, class, title.

sub boxes($svg) {
    my @boxes;

    while ($svg =~ m{<path\ class="([^"]*)"\ d="M([\d.]+)\ (\d+)h([\d.]+)
                     [^"]*"><title>([^<]*)</title>}gx) {
        my %box = (class => $1, x => $2, y => $3, width => $4, title => $5);

        push @boxes, { %box, name => $box{title} =~ s/: .*//r };
    }

    return @boxes;
}


# A browser takes it for XML without an error, and nothing in it complains.

sub is_well_formed($svg, $name) {
    unlike($svg, qr/<script|<foreignObject|\son\w+=|href/i,
           "$name: nothing in it does anything");

    SKIP: {
        skip 'no chromium: ./dev test installs it', 2 unless $browser;

        spew("$dir/picture.svg", $svg);
        $browser->open("file://$dir/picture.svg");
        is(js('document.documentElement.nodeName + " "
                          + document.querySelectorAll("parsererror").length'),
           'svg 0', "$name: well-formed");
        is_deeply([$browser->complaints], [], "$name: no complaints");
    }
}


test 'what is in it' => sub {
    my $svg = picture($one);
    my @boxes = boxes($svg);
    my ($style) = $svg =~ m{<style>(.*?)</style>}s;

    like($svg, qr/\A<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="1200" /,
         '1200 pixels wide');
    like($svg, qr{<title>\Q$one\E,[ ]\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,[ ]
                  inuse_space[ ]5\.2[ ]MiB,[ ]1007[ ]samples,[ ]\+-[ ]0\.5[ ]%
                  </title>}x,
         'its title says what it rests on');
    like($svg, qr{<desc>ngx_alloc: 3\.2 MiB\nngx_memalign: 882\.3 KiB\n},
         'its description has the largest functions');
    like($svg, qr/role="img"/, 'and it is an image');
    like($style, qr/\@media \(prefers-color-scheme: dark\)/, 'for both themes');

    is($boxes[0]{title}, 'all: 5.2 MiB, 100.0 %, 1007 samples', 'the root');
    is($boxes[0]{width}, '1199.5', 'is as wide as the picture');
    cmp_ok(scalar @boxes, '>', 100, 'there are boxes');

    # a box lies within one of the row above

    my (%rows, $n_lost);

    push @{ $rows{$_->{y}} }, $_ for @boxes;

    for my $box (@boxes[1 .. $#boxes]) {
        my ($x, $end) = ($box->{x}, $box->{x} + $box->{width});

        $n_lost++ unless grep { $x >= $_->{x} - 0.2
                                && $end <= $_->{x} + $_->{width} + 0.7 }
                         @{ $rows{ $box->{y} - 18 } };
    }

    is($n_lost // 0, 0, 'each below its caller');

    my ($chain) = grep { $_->{name} eq 'ngx_output_chain' } @boxes;
    my ($share) = $chain->{title} =~ /, ([\d.]+) %/;

    cmp_ok(abs($chain->{width} - 12 * $share), '<', 2,
           'its width is its share');
    like($svg, qr{<text [^>]*>ngx_output_chain</text>}, 'its name is in it');
    like($svg, qr/>\d+ frames narrower than a pixel are not shown</,
         'what is not shown is said');

    my $hash = slurp("$build/proto/jpp_page.h");

    like($hash, qr/JPP_PICTURE_HASH +"sha256-\Q${\
         encode_base64(sha256($style), '')}\E"/,
         'the policy has the hash of its style');
    is_well_formed($svg, 'a picture');
};


test 'from the leaf on' => sub {
    my @boxes = boxes(picture('--invert=1', $one));
    my %second = map { $_->{name} => 1 } grep { $_->{y} == 44 } @boxes;

    ok($second{ngx_output_chain}, 'the holders come first');
    ok(!$second{CRYPTO_zalloc}, 'behind what passes memory on');
    ok((grep { $_->{name} eq 'main' && $_->{y} > 44 } @boxes), 'main last');

    @boxes = boxes(picture('--invert=1', '--callers=0', $one));
    ok((grep { $_->{name} eq 'CRYPTO_zalloc' && $_->{y} == 44 } @boxes),
       'callers=0 has all');
};


test 'a difference' => sub {
    my $svg = picture("--base=$one", $two);
    my @boxes = boxes($svg);
    my %class = map { $_->{name} => $_->{class} } @boxes;

    like($svg, qr{<title>[^<]*inuse_space 1\.9 MiB \(-3\.4 MiB\),}, 'its sum');
    like($class{SSL_new}, qr/^l\d/, 'less is blue');
    like($class{ngx_init_cycle}, qr/^m\d/, 'more is red');
    ok((grep { $_->{class} =~ /^n/ } @boxes), 'noise is grey');
    ok((grep { $_->{class} =~ /\bw\z/ } @boxes), 'new is outlined');
    ok((grep { $_->{class} =~ /\bg\z/ } @boxes), 'gone is dashed');
    like($boxes[0]{title}, qr/^all: 1\.9 MiB, .*, -3\.4 MiB since 5\.2 MiB$/,
         'a title says both sides');
    is_well_formed($svg, 'a difference');

    @boxes = boxes(picture("--base=$one", $one));
    is_deeply([grep { $_->{class} !~ /^[sh]$/ } @boxes], [],
              'a dump against itself is white');
};


# Names of files are foreign, and become names of functions without symbols.

test 'hostile names' => sub {
    my $name = "a<script>&\"'\xff\xe2\x80\xae\x1b]0;x" . '<' x 200;
    my $maps = "400000-401000 r-xp 00000000 08:01 12 /tmp/$name\n";

    my $svg = picture(spew("$dir/hostile.heap",
        "heap_v2/4096\n  t*: 1: 409600 [0: 0]\n  t0: 1: 409600 [0: 0]\n"
        . "@ 0x400123 0x400456\n  t*: 1: 409600 [0: 0]\n"
        . "  t0: 1: 409600 [0: 0]\n\nMAPPED_LIBRARIES:\n$maps"
        . "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
        . "[vsyscall]\n"));

    like($svg, qr/a&lt;script&gt;&amp;&quot;&#39;\?/, 'escaped');
    is_well_formed($svg, 'hostile names');
};


test 'bounds' => sub {
    for my $stacks (10_000, 100_000) {
        SKIP: {
            skip "no $build/bench/jpp_generate: ./dev bench makes it", 1
                unless -x "$build/bench/jpp_generate";

            system("'$build/bench/jpp_generate' -n $stacks -o '$dir/g.heap'");
            cmp_ok(length picture("$dir/g.heap"), '<', 480 * 1024,
                   "$stacks stacks: less than 480 KiB");
        }
    }

    my @widths = map { my $width = $_;
                       my @boxes = boxes(picture("--width=$width", $one));
                       cmp_ok($boxes[0]{width} + 0.5, '==', $width,
                              'its width');
                       scalar @boxes } 300, 1200, 8000;

    cmp_ok($widths[0], '<', $widths[1], 'a narrow picture has fewer boxes');
    cmp_ok($widths[1], '<', $widths[2], 'a wide one has more');
};


test 'nothing' => sub {
    my $svg = picture(spew("$dir/empty.heap", dump_of(stacks => '')));

    like($svg, qr/inuse_space 0 B, 0 samples</, 'no samples: nothing');
    is_well_formed($svg, 'nothing');
};


test 'the picture of README' => sub {
    my $picture = 'docs/heap.svg';
    my ($arguments, $file) = slurp("$root/docs/flame-graphs.md")
        =~ /^jemalloc-pprof --format=svg (.*) -o docs\/heap\.svg (\S+)$/m
        or die "docs do not say how the picture is made\n";

    like(slurp("$root/README.md"), qr/!\[[^\]]+\]\(docs\/heap\.svg\)/,
         'README shows it');

    # its title has the name of the dump

    my ($folder, $name) = $file =~ m{(.*)/(\S+)\.heap$};

    make_path("$dir/$folder");
    recorded("$dir/$folder", $name);

    my $now = picture({ before => sub { chdir $dir } },
                      split(' ', $arguments), $file);
    my $then = slurp("$root/$picture");

    # the time is that of the file, which git does not keep

    s/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/TIME/g for $now, $then;
    ok($now eq $then, "$picture is what the tool makes today");
};
