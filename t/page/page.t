#!/usr/bin/perl

# format=html: the bytes of the page, and what a real browser makes of it.
# What it shows is compared with go tool pprof and with format=top, row by row.
#
# The pages are files here, made by the tool; t/page/nginx.t has those of nginx.

use JppTest;
use Compress::Zlib ();
use Digest::SHA qw( sha256 );
use JppBrowser;
use JppRecorded qw( recorded );
use JppRows qw( compare pprof_rows table_rows );
use JppTool qw( $dir finish run start );
use MIME::Base64 qw( decode_base64 encode_base64 );

$ENV{PPROF_TMPDIR} = $dir;
$ENV{PPROF_BINARY_PATH} = $dir;
$ENV{LC_ALL} = 'C';

my ($one, $cxx, $two) = recorded($dir, qw( nginx-530 cxx-530 nginx-160k ));

my %page = (one => page($one), cxx => page($cxx),
            difference => page("--base=$one", $two));
my $browser = JppBrowser->start;


# The name of a page of the tool, with these arguments.

my $n_pages;

sub page(@arguments) {
    my $path = "$dir/page-" . ++$n_pages . '.html';

    run('--any-kernel', '--format=html', '-o', $path, @arguments);
    die "no page of @arguments\n" unless -s $path;

    return $path;
}


# What another program prints.

sub output {
    return finish(start({}, @_))->{out};
}


# Opens the page NAME at FRAGMENT, and waits until it is drawn.

sub show($name, $fragment = undef) {
    $browser->show("file://$page{$name}#" . ($fragment // ''));
}


sub block($html, $id) {
    my $tag = qq{<script type="application/octet-stream" id="$id">};

    return $html =~ m{$tag([A-Za-z0-9+/=]*)</script>} ? decode_base64($1)
                                                      : undef;
}


sub hash_of {
    return "'sha256-" . encode_base64(sha256($_[0]), '') . "'";
}


test 'the bytes' => sub {
    my $html = slurp($page{difference});
    my $pprof = run('--any-kernel', '--format=pprof', $one)->{out};
    my ($policy) = $html =~ /Content-Security-Policy" content="\s*(.*?)"/s;
    my ($style) = $html =~ m{<style>(.*)</style>}s;
    my ($script) = $html =~ m{<script>(.*)</script>}s;

    like($policy, qr/\Adefault-src 'none'; script-src \Q${\ hash_of($script)}/,
         'the script runs by its hash');
    like($policy, qr/style-src \Q${\ hash_of($style)};/, 'and so the style');
    is($policy =~ s/.*(?=connect-src)//sr,
       "connect-src 'self'; base-uri 'none'; form-action 'none'; "
       . "trusted-types 'none'; require-trusted-types-for 'script'",
       'and nothing else does anything');

    ok(block(slurp($page{one}), 'profile') eq $pprof,
       'its data is format=pprof, to the byte');
    is(block(slurp($page{one}), 'base'), undef, 'there is no base');
    ok(defined block($html, 'base'), 'with --base there is one');

    is($html =~ s/(id="(?:profile|base)">)[^<]*/$1/gr
            =~ s/nginx-160k/nginx-530/r =~ s/<script type[^\n]*base[^\n]*\n//r,
       slurp($page{one}) =~ s/(id="profile">)[^<]*/$1/gr,
       'two pages differ in title and data only');
    unlike($html, qr/[^\x20-\x7e\n]/, 'all of it is ASCII');

    my $code = slurp($page{one}) =~ s/^(.*id="profile">|<title>)[^<]*/$1/gmr;

    cmp_ok(length Compress::Zlib::memGzip($code), '<=', 24 * 1024,
           'its code has at most 24 KiB, gzipped');
};


test 'the title' => sub {
    my $name = "$dir/<script>alert(1)<\xffscript>&\"'.heap";

    spew($name, slurp($one));

    my $path = page($name);
    my $html = slurp($path);

    like($html, qr/<title>\n\Q$dir\E\/&lt;script&gt;alert\(1\)&lt;.script&gt;/,
         'the title is text');
    unlike($html, qr/<script>alert/, 'and nothing of it is HTML');

    $page{title} = $path;
    show('title');
    like($browser->text('#title'), qr/<script>alert\(1\)/, 'it is shown');
};


test 'tables and pprof' => sub {
    for my $name (qw( one cxx )) {
        spew("$dir/$name.pb.gz", block(slurp($page{$name}), 'profile'));

        for my $type (qw( inuse_space inuse_objects )) {
            show($name, "v=table&t=$type");
            compare("$name, $type", table_rows($browser), [0, 2],
                    pprof_rows($type, "$dir/$name.pb.gz"));
        }

        $browser->is_quiet;
    }

    # pprof hides those in the midst of a stack, too

    show('one', 'v=table&k=1');

    my $rows = table_rows($browser);
    my $left = pprof_rows('inuse_space', '-hide', 'passes memory on',
                          "$dir/one.pb.gz");

    delete @{$rows}{grep { !$left->{$_} } keys %$rows};
    compare('without what passes memory on', $rows, [0, 2], $left);
};


# What both show is text, so that it is the same text but for blanks.

test 'tables and format=top' => sub {
    for my $case (['--callers=0', ''], ['--callers=1', '&k=1']) {
        my ($option, $fragment) = @$case;
        my (%top, %page, $n_far);

        for (split /\n/, run('--any-kernel', '--format=top',
                             '--sort=cum', '--n=1000', $option, $one)->{out}) {
            next unless /^[ ]*(\S+[ ]\w+)[ ]+(\S+)%[ ]+(\S+[ ]\w+)[ ]+(\S+)%
                         [ ]+\S+[ ]+(?:-|\S+[ ]\w+)[ ]+(-|exact|\S+)
                         (?:[ ]%)?[ ][ ](.+)$/x;
            $top{"$6: $1 $2 $3 $4"} = $5;
        }

        show('one', "v=table$fragment");

        my $rows = table_rows($browser);

        for my $name (keys %$rows) {
            for (@{ $rows->{$name}{texts} }) {
                my ($flat, $flat_share, $cum, $cum_share, $rests) = @$_;

                s/ %$// for $flat_share, $cum_share;
                $page{"$name: $flat $flat_share $cum $cum_share"}
                    = ($rests =~ /\+- ([\d.]+)/)[0] // 'exact';
            }
        }

        is_deeply([sort keys %page], [sort keys %top],
                  "the rows are those of $option");

        for (sort keys %top) {
            next if ($page{$_} // '') eq $top{$_};
            my ($p, $q) = map { $_ eq 'exact' ? 0.05 : $_ } $page{$_} // -9,
                          $top{$_};
            diag("$_: +- $page{$_} in the page, $top{$_} in top"),
                $n_far++ if abs($p - $q) > 0.1 + 0.05 * $q;
        }

        is($n_far // 0, 0, 'and the errors agree');
    }
};


test 'a difference and pprof' => sub {
    spew("$dir/$_.pb.gz", block(slurp($page{difference}), $_))
        for qw( profile base );

    for my $type (qw( inuse_space inuse_objects )) {
        show('difference', "v=table&t=$type");
        compare($type, table_rows($browser), [0, 3],
                pprof_rows($type, '-diff_base', "$dir/base.pb.gz",
                           "$dir/profile.pb.gz"));
    }

    my $total = js('document.getElementById("sum").textContent');

    like($total, qr/-[\d,]+ since [\d,]+/, 'the sum says what changed');
};


test 'a difference of one process has its noise in grey' => sub {
    $page{same} = page("--base=$one", $one);
    show('same', 'v=table');

    my $rows = table_rows($browser);

    is_deeply([grep { $rows->{$_}{values}[3] != 0 } keys %$rows], [],
              'a dump against itself has not changed');

    show('difference', 'v=table');

    my @verdicts = @{ $browser->run(<<'END') };
return functionsOf(page.stacks, page.m).map(
    (entry) => [entry.cum.change, entry.cum.variance, entry.cum.isNoise]);
END
    my @wrong = grep { my ($change, $variance, $is_noise) = @$_;
                       ($is_noise ? 1 : 0)
                       != (abs($change) < 2 * sqrt($variance) ? 1 : 0) }
                @verdicts;

    is(scalar @wrong, 0, 'noise is what is below two standard errors');
    ok((grep { $_->[2] && $_->[0] != 0 } @verdicts), 'there is some');
    ok((grep { !$_->[2] } @verdicts), 'and not all is');
    like($browser->text('#table'), qr/noise/, 'the table says it');
};


# Boxes lie in their parents, do not overlap, and fill what is drawn.

test 'the flame graph' => sub {
    for my $fragment ('', 'i=1', 'd=after', 'd=before', 'e=1&o=1', 'k=1') {
        show('difference', $fragment);

        my $wrong = $browser->run(<<'END');
const [tree] = page.scene.trees, wrong = [];
for (let i = 0; i < tree.n; i++) {
    let end = tree.x[i], last = Infinity;
    for (const child of tree.open(i)) {
        if (tree.x[child] < end - 1e-6) wrong.push(`${child} overlaps`);
        if (tree.width[child] > last) {
            wrong.push(`${child} is wider than the one before`);
        }
        last = tree.width[child];
        end = tree.x[child] + tree.width[child];
    }
    if (end > tree.x[i] + tree.width[i] + 1e-6) wrong.push(`${i} is too small`);
}
return wrong;
END

        is_deeply($wrong, [], "the tree of #$fragment");
        cmp_ok(js('page.boxes.length'), '>', 50, 'and its boxes');
    }

    # what is drawn is there: pixels of other colours than the ground

    my $colours = $browser->run(<<'END');
const context = document.getElementById('canvas').getContext('2d');
const { data } = context.getImageData(0, 5, 1500, 1);
const seen = new Set();
for (let i = 0; i < data.length; i += 4) {
    seen.add(`${data[i]},${data[i + 1]},${data[i + 2]},${data[i + 3]}`);
}
return seen.size;
END
    cmp_ok($colours, '>', 1, 'the canvas has been painted');
};


test 'callers, both, owners' => sub {
    show('one', 'v=callers');
    is(js('page.scene.trees[0].after[0]'),
       js('page.m.after.reduce((a, b) => a + b)'), 'callers have all of it');
    is(js('page.choice.skip'), JSON::PP::true,
       'and begin behind the allocators');

    # both: callers and callees of one function have the same sum, its cum

    my $cum = pprof_rows('inuse_space', "$dir/one.pb.gz")->{SSL_new}[1];

    show('one', 'v=both&p=SSL_new');
    is(js("page.scene.trees[$_].after[0]"), $cum,
       'both: ' . (qw( callees callers ))[$_]) for 0, 1;

    # the function is in the middle of a window that is too low for all

    $browser->resize(1600, 500);
    show('one', 'v=both&p=CRYPTO_zalloc');

    my ($top, $y, $height) = @{ js('[page.view.top,
        page.scene.origin * ROW, page.view.height]') };

    cmp_ok($top, '>', 0, 'both: the window begins below the first caller');
    cmp_ok(abs($y - $top - $height / 2), '<=', $height / 2,
           'and has the function');
    $browser->resize(1600, 900);

    show('one', 'v=both');
    like($browser->text('#chips'), qr/Choose a function/, 'of no function');

    show('one', 'v=owners');
    like($browser->text('#table'), qr/nginx.*libssl\.so\.3.*libcrypto/s,
         'owners are modules');
    is(js('page.owners.reduce((n, one) => n
                      + one.cum.after, 0)'),
       js('page.m.after.reduce((a, b) => a + b)'), 'and own all of it');
};


sub total {
    return js('page.scene.trees[0].after[0]');
}


test 'search and filters' => sub {
    my $pb = "$dir/one.pb.gz";

    # pprof looks at files as well, where neighbours are named

    my %pprof = ('f=^SSL_' => '-focus=^SSL_', 'x=^SSL_' => '-ignore=^SSL_');

    show('one');
    my $all = total();

    for my $fragment (sort keys %pprof) {
        my $text = output(qw( go tool pprof -symbolize=none -top -unit=B
                               -nodefraction=0 -sample_index=inuse_space ),
                       "$pprof{$fragment}", $pb);
        my ($sum) = $text =~ /nodes accounting for (\d+)B/;

        show('one', $fragment);
        ok($sum, 'pprof has a sum');
        cmp_ok(total(), '<', $all, "$fragment leaves something out");
        is(total(), $sum, "$fragment: as pprof");
    }

    show('one', 'h=^ngx_');
    is(total(), $all, 'hiding frames keeps the sum');
    is(js('page.scene.trees[0].frame.filter((f) =>
                      frames.names[f].startsWith("ngx_")).length'), 0,
       'and they are gone');

    show('one', 'r=ngx_master_process_cycle');
    is($browser->run('const t = page.scene.trees[0];
                      return t.name(t.open(0)[0])'),
       'ngx_master_process_cycle', 'show from');

    # a match within a match counts once

    show('one', 's=.');
    like($browser->text('#found'), qr/, 100\.0 %$/, 'all is all');

    $browser->run('document.getElementById("s").value = ""');
    $browser->type('#s', 'SSL_new');
    like($browser->text('#found'), qr/^\d+ frames, \d/, 'matches are counted');

    my $found = $browser->text('#found');

    $browser->type('#s', '(');
    like($browser->text('#found'), qr/Not a regular expression: SSL_new\(/,
         'a bad expression says so');
};


# What nearly all stacks begin with is one frame, until somebody wants them.

test 'frames in common' => sub {
    my $first = 'const [tree] = page.scene.trees;
        return tree.name(tree.open(0)[0])';
    my $names = 'const [tree] = page.scene.trees;
        return [...tree.frame].map((frame) => frames.names[frame]).sort()';

    show('one', 'c=1');

    my $all = total();

    show('one');
    like($browser->run($first), qr/^\d+ frames in common\z/, 'one frame');
    is(total(), $all, 'nothing is lost');

    my $link = $browser->run('const [tree] = page.scene.trees;
        const [node] = tree.open(tree.open(0)[0]);
        return [tree.hash(node), tree.name(node)]');

    $browser->press('#graph', 'ArrowDown', 'Enter');
    is($browser->run($first), '_start', 'Enter shows them');
    is(js('state.c'), '1', 'which the address keeps');
    is($browser->run('const [tree] = page.scene.trees;
        return tree.name(tree.find(arguments[0]))', $link->[0]), $link->[1],
       'a link is good for both');

    $browser->click('#chips button');
    like($browser->run($first), qr/in common\z/, 'and back');

    show('one', 'v=callers');
    is_deeply([ grep { /in common/ } @{ $browser->run($names) } ], [],
              'callers are not folded');
};


test 'keys' => sub {
    show('one', 'c=1');
    $browser->press('#graph', 'ArrowDown');
    like($browser->text('#status'), qr/^_start: .* of all, .* samples, \+-/,
         'down is the largest callee, and is said');
    is(js('document.getElementById("status").ariaLive'), 'polite', 'aloud');

    $browser->press(undef, 'ArrowRight');
    unlike($browser->text('#status'), qr/^_start:/, 'right is its sibling');
    $browser->press(undef, 'ArrowLeft', 'ArrowUp');
    like($browser->text('#status'), qr/^all:/, 'up is its caller');

    $browser->press(undef, 'ArrowDown', 'ArrowDown', 'Enter');
    like(js('location.hash'), qr/^#z=[0-9a-f]+&c=1$/, 'Enter zooms');
    $browser->press(undef, 'Escape');
    is(js('state.z'), '', 'Escape zooms out');

    for (['2', 'callers'], ['4', 'table'], ['5', 'owners'], ['1', 'flame']) {
        $browser->press(undef, $_->[0]);
        is(js('state.v'), $_->[1], "key $_->[0]");
    }

    $browser->press('#graph', 'i');
    is(js('state.i'), '1', 'i turns it round');
    $browser->press('#graph', 'k');
    is(js('state.k'), '1', 'k skips allocators');
    $browser->press('#graph', '0');
    is(js('location.hash'), '', '0 is as at first');

    $browser->press('#graph', '/');
    is(js('document.activeElement.id'), 's', '/ searches');
    $browser->type('#s', 'ngx_output_chain');
    $browser->press('#graph', 'n');
    like($browser->text('#status'), qr/^ngx_output_chain:/, 'n is a match');
    my $first = js('page.at.node');
    $browser->press('#graph', 'n');
    isnt(js('page.at.node'), $first, 'n is the next one');
    $browser->press('#graph', 'N');
    is(js('page.at.node'), $first, 'N the one before');

    $browser->press('#graph', 'm');
    is(js('document.activeElement.textContent'), 'Zoom here', 'm is the menu');
    $browser->press(undef, 'ArrowDown', 'ArrowDown');
    is(js('document.activeElement.textContent'), 'Focus on it', 'with keys');
    $browser->press(undef, 'Enter');
    is(js('state.f'), '^ngx_output_chain$', 'which acts');
    $browser->press('#graph', 'm', 'Escape');
    is(js('document.activeElement.id'), 'graph', 'Escape closes it');

    $browser->press('#graph', 'b');
    is(js('state.v'), 'both', 'b is both of a function');
    $browser->press('#graph', '?');
    ok(js('document.getElementById("keys").open'), '? helps');
    $browser->click('#close');
};


# The middle of the frame NAME, in the window.

sub where($name) {
    return @{ $browser->run(<<'END', $name) };
const graph = document.getElementById('graph').getBoundingClientRect();
const { x, y, w } = page.boxes.find(({ tree, node }) =>
    frames.names[tree.frame[node]] === arguments[0]);
return [graph.left + Math.max(0, x) + Math.min(20, w / 2), graph.top + y + 9];
END
}


test 'the mouse' => sub {
    show('one');

    $browser->hover(where('ngx_init_cycle'));
    like($browser->text('#status'), qr/^ngx_init_cycle: /, 'pointing says it');

    $browser->click_at(where('ngx_init_cycle'));
    $browser->wait_for('return state.z !== ""');
    is(js('page.view.to - page.view.from'),
       $browser->run('const at = page.at; return at.tree.width[at.node]'),
       'a click zooms');
    is_deeply($browser->run(<<'END'), [1, 1, 1], 'a map shows where in all');
const all = document.getElementById("canvas"), ratio = devicePixelRatio;
const of = (canvas, x, y) => [...canvas.getContext("2d")
    .getImageData(x, y, 160 * ratio, 60 * ratio).data].map((byte) => byte >> 6);
const { map, view } = page, has = of(map.canvas, 0, 0);
const corner = of(all, (view.width - 176) * ratio, (view.height - 68) * ratio);
const alike = corner.filter((byte, i) => byte === has[i]).length;
return [map.is, has.some((byte) => byte > 0),
    alike > 0.8 * has.length && alike < has.length].map(Number);
END

    $browser->click_at(where('all'));
    $browser->wait_for('return state.z === ""');
    pass('a click on a caller zooms out');
    $browser->resize(1280, 2000);
    $browser->wait_for('return !page.map.is');
    pass('which is not there where all is shown');
    $browser->resize(1280, 900);

    $browser->click_at(where('ngx_init_cycle'), 2);
    $browser->wait_for('return !document.getElementById("menu").hidden');
    like($browser->text('#menu'), qr/Focus on it.*Copy its stack/s,
         'the right button is the menu');
    $browser->press(undef, 'Escape');

    sleep 1;
    $browser->click_at(where('ngx_init_cycle'), 0, 2);
    $browser->wait_for('return state.v === "both"');
    is(js('state.p'), 'ngx_init_cycle', 'a double click is both of it');
};


# A link finds its place in another profile of the program; Back goes back.

test 'links' => sub {
    show('one');
    $browser->click_at(where('ngx_init_cycle'));
    $browser->wait_for('return state.z !== ""');

    my $hash = js('location.hash');

    cmp_ok(length $hash, '<', 60, 'a link is short');
    $browser->call(POST => '/back');
    $browser->wait_for('return state.z === ""');
    pass('Back goes back');
    $browser->call(POST => '/forward');
    $browser->wait_for('return state.z !== ""');
    pass('Forward forward');

    show('difference', substr $hash, 1);
    is($browser->run('const at = page.at;
                      return frames.names[at.tree.frame[at.node]]'),
       'ngx_init_cycle', 'the link holds in another profile');

    show('one', 'v=nothing&t=nothing&z=zz&l=a%3D1&width=3');
    is(js('state.v'), 'flame', 'a bad link does no harm');
};


# Two files are a difference, the older one its base.

test 'files' => sub {
    spew("$dir/new.pb.gz", block(slurp($page{difference}), 'profile'));

    show('one');
    $browser->type('#file', "$dir/new.pb.gz");
    $browser->wait_for('return page.rows.length > 300');
    is(js('page.base'), undef, 'a file is opened');
    is($browser->text('#title'), 'new.pb.gz', 'and named');

    $browser->click('#keep');
    $browser->type('#file', $page{one});
    $browser->wait_for('return page.rows.length < 300');
    is(js('page.base'), undef, 'a page is a file, too');

    $browser->click('#keep');
    ok(js('page.base !== null'), 'kept as a baseline');
    ok(js('page.rows.length === page.profile.stacks.length
                      && page.m.variance.every((v) => v === 0)'),
       'of itself: no change, and no doubt');
    $browser->click('#drop');
    is(js('page.base'), undef, 'and dropped');

    # text of the same profile has as much, with names or with addresses

    show('one');

    my $sum = js('page.m.after.reduce((sum, value) => sum + value, 0)');
    my $n = js('page.rows.length');

    for my $format (qw( folded text jemalloc )) {
        my $path = "$dir/$format.txt";

        run('--any-kernel', "--format=$format", '-o', $path, $one);
        $browser->type('#file', $path);
        $browser->wait_for("return document.title === '$format.txt'");
        cmp_ok(abs(js('page.m.after.reduce((sum, value) => sum + value, 0)')
                   - $sum), '<', $sum / 1e5, "$format: all of its bytes");
        cmp_ok(js('page.rows.length'), '>=', $n * 0.9, 'in as many stacks');
    }

    like($browser->text('#status'), qr/^all: [\d.]+ MiB/, 'in their unit');
    ok(js('frames.names.some((name) => /^nginx\+0x[\da-f]+$/.test(name))'),
       'and an address is one of a file');

    for my $case (['no profile', 'hello, world', 'This is no profile'],
                  ['a dump that was cut', substr(slurp($one), 0, 3000),
                   'cut or damaged'],
                  ['cut', substr(slurp("$dir/new.pb.gz"), 0, 3000),
                   'cut or damaged'],
                  ['empty', '', 'This is no profile'],
                  ['no gzip', "\x1f\x8b" . 'x' x 100, 'damaged']) {
        my ($what, $bytes, $sentence) = @$case;

        spew("$dir/bad.pb.gz", $bytes);
        $browser->type('#file', "$dir/bad.pb.gz");
        $browser->wait_for('return document.getElementById("say")
                            .textContent !== ""');
        like($browser->text('#say'), qr/\Q$sentence/, "$what: a sentence");
        ok(js('page.rows.length > 0'), 'what was there stays');
        $browser->run('document.getElementById("say").textContent = ""');
    }
};


# What is saved is what was there: as pb.gz, as a page, as a picture.

test 'saving' => sub {
    show('difference', 'v=flame');

    my $saved = js('savedPage()');

    my $came = slurp($page{difference});

    for my $part (qr{(<style>.*</style>)}s, qr{(<script>.*</script>)}s,
                  qr{<title>\s*(.*?)\s*</title>}s, qr{(id="profile">.*?<)},
                  qr{(id="base">.*?<)}) {
        ok(($saved =~ $part)[0] eq ($came =~ $part)[0], "the same $part");
    }

    $page{saved} = spew("$dir/saved.html", $saved);
    show('saved', 'v=table');
    ok(js('page.base !== null && page.rows.length > 300'), 'and works');
    $browser->is_quiet;

    show('one');

    my $svg = js('pictureOf()');

    like($svg, qr/^<svg .*<title>ngx_init_cycle: \d.*<\/svg>\n\z/s,
         'a picture of the view');
    unlike($svg, qr/<script|<foreignObject/i, 'without a script');
    spew("$dir/picture.svg", $svg);
    $browser->open("file://$dir/picture.svg");
    is(js('document.documentElement.nodeName'), 'svg', 'which a browser shows');
};
