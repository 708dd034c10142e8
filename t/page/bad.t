#!/usr/bin/perl

# What the page makes of profiles that are not ours, of hostile ones, and of
# bytes that are none: a graph or a sentence, never nothing.

use JppTest;
use Compress::Zlib ();
use JppBrowser;
use JppPage;
use JppProto qw( field number proto );
use JppRows qw( compare pprof_rows table_rows );
use JppTool qw( $dir );


# A sample of time is a count, and the time of malloc() is its own.

test 'a profile of CPU time' => sub {
    my $cpu = proto(types => [qw( samples count cpu nanoseconds )],
        names => [qw( main work malloc )],
        samples => [[[2, 1], [100, 1e9]], [[3, 2, 1], [25, 25e7]]],
        fields => sub {
            field(11, number(1, $_[0]->('cpu'))
                      . number(2, $_[0]->('nanoseconds')))
            . number(12, 10_000_000) . number(10, 30e9);
        });

    show($cpu);
    like($browser->text('#sum'),
         qr/^cpu 1\.3 s in 30\.0 s, 2 stacks, 125 samples, \+- 8\.[29] %$/,
         'samples are counts');
    $browser->press('#graph', 'ArrowDown', 'ArrowDown', 'ArrowDown');
    is($browser->text('#status'), 'malloc: 250.0 ms, 20.0 % of all, '
       . '20.0 % of its caller, 25 samples, +- 20 %', 'a figure of time');

    for my $view (qw( callers table owners )) {
        show($cpu, "v=$view&k=1");
        is(js('page.choice.skip'), JSON::PP::false,
           "$view: nothing only passes time on");
    }
};


# What runtime/pprof writes, with labels and inlined functions.

test 'a profile of Go' => sub {
    my $file = "$root/t/data/go-cpu.pb.gz";

    $ENV{PPROF_TMPDIR} = $dir;

    show(slurp($file), 'v=table');
    compare('cpu', table_rows($browser), [0, 2], pprof_rows('cpu', $file));
    is_deeply([sort { $a cmp $b } @{ js('[...document
        .getElementById("g").options].map((option) => option.value)') }],
        ['', 'state', 'thread'], 'its labels are there to split by');

    for my $state (qw( cpu blocked )) {
        show(slurp($file), "v=table&l=state%3D$state");
        compare($state, table_rows($browser), [0, 2],
                pprof_rows('cpu', "-tagfocus=state=$state", $file));
    }
};


# The values of the label are the root frames, and the owners.

test 'split by a label' => sub {
    my @names = qw( main work idle );
    my $profile = proto(
        types => [qw( samples count cpu nanoseconds )], names => \@names,
        samples => [[[2, 1], [5, 5e9], location => '/api', thread => 'pool'],
                    [[3, 1], [2, 2e9], location => '/', thread => 'pool'],
                    [[2, 1], [1, 1e9]]]);

    for (['location', ['location /api', 5e9], ['location /', 2e9],
          ['no location', 1e9]],
         ['thread', ['thread pool', 7e9], ['no thread', 1e9]]) {
        my ($key, @owners) = @$_;

        show($profile, "g=$key");
        is_deeply(js('page.owners.map((one) =>
                                 [ownerName(one.owner), one.cum.after])'),
                  \@owners, "$key: owners");
        is_deeply($browser->run('const [tree] = page.scene.trees;
            return page.boxes.filter(({ node }) => tree.depth[node] === 1).map(
                ({ node }) => [frames.names[tree.frame[node]],
                    tree.after[node]])'), \@owners, 'which are the roots');
        is($browser->run('const [tree] = page.scene.trees;
            return page.boxes.filter(({ node }) => node > 0
                && colourOf(page.scene, { tree, node }) !== ownerColour(
                    tree.ownerOf(node, true), tree.frame[node] % 3)).length'),
           0, 'and give the colours');
        like($browser->text('#legend'), qr/\Q$owners[0][0]\E \d/,
             'the legend says which');
    }
};


# A colour that is in the graph is in the legend.

test 'owners that only call' => sub {
    show(proto(types => [qw( cpu nanoseconds )],
               files => ['/bin/prog', '/lib/b.so'],
               names => ['main', ['work', 2], 'idle'],
               samples => [[[2, 1], [5e9]], [[1], [0]]]));
    is(js('[...document.querySelectorAll("#legend li")]
                      .map((one) => one.textContent).join()'),
       'b.so 5.0 s,prog 0 ns', 'who has nothing');

    show(proto(types => [qw( cpu nanoseconds )],
               files => ['/bin/prog', '/lib/b.so', '/lib/unused'],
               names => ['main', ['work', 2], ['unused', 3]],
               samples => [[[2, 1], [5e9]]]));
    is(js('[...document.querySelectorAll("#legend li")]
                      .map((one) => one.textContent).join()'),
       'b.so 5.0 s,prog', 'who only calls');
};


# Every stall was seen.

test 'a profile of stalls' => sub {
    show(proto(types => [qw( stalls count delay nanoseconds )],
               names => [qw( main read )],
               samples => [[[2, 1], [3, 900_000_950]]]));
    like($browser->text('#sum'), qr/^delay 900\.0 ms, 1 stacks, exact$/,
         'exact');
};


test 'without names' => sub {
    show(proto(types => [qw( inuse_space bytes )], names => [undef, undef],
               samples => [[[2, 1], [100]]]));
    is_deeply(js('[...page.scene.trees[0].frame]
                             .map((frame) => frames.names[frame])'),
              ['all', 'prog+0x1000', 'prog+0x2000'], 'places in files');
};


# Exact numbers; owners are servers and locations.

test 'pools' => sub {
    my @names = ('http', 'server a', 'location /x', 'request', 'pool blocks',
                 'server b', 'client connection', '0-512');

    show(proto(file => '[nginx]', names => \@names,
               types => [qw( inuse_objects count inuse_space bytes
                             unused_space bytes )],
               samples => [[[8, 5, 4, 3, 2, 1], [4, 4096, 100]],
                           [[8, 5, 7, 6, 1], [1, 512, 7]]]),
         't=inuse_space');

    like($browser->text('#sum'), qr/inuse_space 4\.5 KiB, 2 stacks, exact$/,
         'exact');
    is_deeply(js('page.owners.map((one) =>
                                 [ownerName(one.owner), one.cum.after])'),
              [['location /x', 4096], ['server b', 512]],
              'owners are locations and servers');
    is($browser->run('const [tree] = page.scene.trees;
                      return ownerName(tree.ownerOf(tree.n - 1))'), 'server b',
       'and what is below them is theirs');
    is_deeply(js('[...document.getElementById("t").options]
                             .map((option) => option.value)'),
              [qw( inuse_objects inuse_space unused_space )], 'every type');
};


test 'no samples' => sub {
    show(proto(types => [qw( inuse_space bytes )]));
    is($browser->text('#sum'), 'The profile has no samples.', 'a sentence');

    for my $view (qw( flame callers both table owners )) {
        $browser->run("change({ v: '$view' })");
        is($browser->text('#say'), '', "$view has nothing to complain about");
    }
};


test 'values below zero' => sub {
    show(proto(types => [qw( inuse_space bytes )], names => [qw( main a b )],
               samples => [[[2, 1], [-300]], [[3, 1], [100]]]));
    is(js('page.scene.trees[0].after[0]'), -200,
       'a difference without its base has signs');
    is(js('page.scene.trees[0].width[0]'), 400, 'and widths');
    like($browser->text('#legend'), qr/more.*less/s, 'in red and blue');
};


test 'deep stacks' => sub {
    my @names = map { "f$_" } 1 .. 4096;

    show(proto(types => [qw( inuse_space bytes )], names => \@names,
               samples => [[[1 .. 4096], [100]]]));
    is(js('page.scene.trees[0].height'), 3, 'the innermost one is not folded');
    $browser->run('change({ c: "1" })');
    is(js('page.scene.trees[0].height'), 4097, '4096 frames');
    $browser->run('document.getElementById("graph").scrollTop = 1e6');
    $browser->wait_for('return page.view.top > 70000');
    cmp_ok(js('page.boxes.length'), '>', 5, 'to the last one');

    show(proto(types => [qw( inuse_space bytes )], names => \@names,
               samples => [[[1 .. 4096, 1], [100]]]));
    is($browser->text('#say'), 'A stack has more than 4096 frames.',
       'one more is refused');
};


test 'hostile names' => sub {
    my @names = ('</script><script>alert(1)</script>', '"\'><img src=x>',
                 'x' x 10_000, "\xff\xfe\x80", "a\xe2\x80\xaeb", "\0\n\x1b[1m",
                 '__proto__', 'constructor');

    for my $view (qw( flame callers both table owners )) {
        show(proto(types => [qw( inuse_space bytes )], names => \@names,
                   file => '/bin/<b>"&',
                   samples => [[[1 .. @names], [100]],
                               [[reverse 1 .. @names], [50]]]),
             "v=$view&p=__proto__");
        is($browser->text('#say'), '', "$view: no complaint");
        is(js('document.querySelectorAll("img, b").length
                          + document.scripts.length'), 1, 'no element of it');
        cmp_ok(js('document.documentElement.scrollWidth'),
               '<=', 1600, 'and the page is no wider');
        $browser->is_quiet;
    }

    show(proto(types => [qw( inuse_space bytes )], names => \@names,
               samples => [[[1 .. @names], [100]]]), 'v=table');

    my $text = js('document.getElementById("table").textContent');

    like($text, qr/<\/script><script>alert\(1\)<\/script>/, 'names are text');
    unlike($text, qr/[\x{202e}\0\x1b]/, 'that turns nothing round');
    like($text, qr/constructor/, 'whatever they mean to others');
};


test 'damaged' => sub {
    my $good = Compress::Zlib::memGzip(
        proto(types => [qw( inuse_space bytes )], names => [qw( main )],
              samples => [[[1], [1]]]));

    for (['nothing', ''], ['words', 'hello, world'],
         ['a cut profile', substr $good, 0, length($good) - 12],
         ['one with a changed byte', substr($good, 0, 12) . 'X'
                                     . substr $good, 13],
         ['an unknown location', proto(types => [qw( a b )],
                                       samples => [[[7], [1]]])],
         ['too few values', proto(types => [qw( a b c d )], names => ['main'],
                                  samples => [[[1], [1]]])],
         ['an endless number', "\x08" . "\xff" x 20],
         ['a message longer than all', "\x12\xff\xff\x03ab"]) {
        show($_->[1]);
        is($browser->text('#say'), 'This is no profile, or it is cut or '
           . 'damaged: fetch it again.', "$_->[0]: a sentence");
        $browser->is_quiet;
    }

    spew("$dir/bad.html", $page =~ s{(id="profile">)[^<]*}{$1****}r);
    $browser->open("file://$dir/bad.html");
    like($browser->text('#say'), qr/^This is no profile/, 'cut base64');
    $browser->complaints;
};


test 'too large' => sub {
    my ($deflate) = Compress::Zlib::deflateInit(-Level => 1,
                                                -WindowBits => 31);
    my $block = "\0" x (1 << 20);
    my $packed = join '', map { ($deflate->deflate($block))[0] } 1 .. 257;

    $packed .= ($deflate->flush)[0];

    show($packed);
    like($browser->text('#say'), qr/^The profile has more than 256 MiB: /,
         'a sentence');
};


test 'an old browser' => sub {
    $browser->devtools('Page.addScriptToEvaluateOnNewDocument',
                       { source => 'delete window.DecompressionStream' });
    like($browser->show("file://$dir/page.html",
                        'return document.getElementById("say").textContent'),
         qr/^This browser cannot unpack gzip: use one .* or format=svg\.$/,
         'without DecompressionStream: a sentence, and what to use');
};
