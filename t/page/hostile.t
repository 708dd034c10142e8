#!/usr/bin/perl

# The page against what is meant to harm it: profiles whose few bytes stand for
# many, links of others; and what people and servers do at the wrong moment.
#
# The server of the refresh is a function that takes the place of fetch().

use JppTest;
use JppBrowser;
use JppPage;
use JppProto qw( field number proto varint );
use JppTool qw( $dir );
use MIME::Base64 qw( encode_base64 );

my $damaged = 'This is no profile, or it is cut or damaged: fetch it again.';

# three stacks of two processes

my %small = (types => [qw( inuse_objects count inuse_space bytes )],
             names => [qw( main work malloc )],
             samples => [[[3, 2, 1], [1, 100], pid => '7'],
                         [[2, 1], [2, 50], pid => '8'],
                         [[3, 1], [3, 30], pid => '8']]);
my $small = proto(%small);


sub said {
    return js('document.getElementById("say").textContent');
}


# What the page says of a profile with these FIELDS more.

sub says($fields, $sentence, $name) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    show(proto(%small, fields => sub { $fields }));
    is(said(), $sentence, $name);
}


# The number is no text, but all that follows was taken for it, again and again.

test 'numbers where messages are wanted' => sub {
    says(number(6, 0) x 100_000, '', 'strings');
    is(js('page.m.after.reduce((a, b) => a + b)'), 180,
       'and the profile is there');
    says($_->[1], $damaged, $_->[0])
        for ['a group', varint(100 << 3 | 3) . "\0" x 20],
            ['a negative length', varint(100 << 3 | 2) . varint(-2)],
            ['a list that ends in a number', field(13, "\x80") . number(14, 1)];
};


test 'few bytes that stand for many' => sub {
    my $many = '32 million frames and values: select fewer workers, or use go '
               . 'tool pprof.';

    # the field 2^28 of a label

    says(field(2, field(1, "\1") . field(2, "\1\1")
               . field(3, number(1, 1) . number(2**28, 7))), '',
         'a far field is no row of empty ones');
    is(js('Math.max(...sets.labels.map((set) => set.size))'), 1, 'nor a label');

    # a location with functions inlined, and stacks of it

    my $inlined = sub {
        return field(4, number(1, 9)
                        . field(4, number(1, 2)) x $_[0]);
    };
    my $sample = field(2, field(1, "\x09") . field(2, "\1\1"));

    says($inlined->(5000) . $sample, 'A stack has more than 4096 frames.',
         'inlined functions are frames');
    says($inlined->(4000) . $sample x 9000, "The profile has more than $many",
         'whose sum is bounded');

    # names are said once, and stand in many places

    my $long = 'n' x 100_000;

    show(proto(%small, names => ['main', $long, 'malloc']));
    is(js('Math.max(...frames.names.map((n) => n.length))'),
       16384, 'a name is cut');
    show(proto(%small, file => $long, fields => sub {
        join '', map { field(4, number(1, $_) . number(2, 1)
                                . number(3, $_)) } 10 .. 3000
    }));
    is(said(), "The profile has more than $many", 'places in a file');
    show(proto(%small, fields => sub {
        my $comment = $_[0]->($long);
        number(13, $comment) x 3000
    }));
    is(said(), "The profile has more than $many", 'comments');
};


test 'more bytes than there may be' => sub {
    show($small);
    like(js('readProfile(new Uint8Array(2 ** 28 + 1))
                        .catch((error) => error.message)'),
         qr/^The profile has more than 256 MiB/, 'a file that is not packed');
};


test 'addresses of 64 bits' => sub {
    show(proto(%small, names => [undef, 'work', 'malloc'], fields => sub {
        field(4, number(1, 9) . number(3, -10485760))
        . field(2, field(1, "\x09") . field(2, "\1\1"));
    }));
    is_deeply(js('frames.names.filter((name) =>
                             /0x[^1]/.test(name))'),
              ['+0xffffffffff600000'], 'the vsyscall page');
    is(said(), '', 'no complaint');
};


# What is there can be used, and the sentence stays.

test 'a profile that cannot be read' => sub {
    show('hello, world');
    is(said(), $damaged, 'a sentence');

    $browser->press('#graph', qw( 1 4 0 i k n m b Enter Escape ArrowDown ));
    $browser->run('for (const one of document.querySelectorAll(
        "#views button, #keep, #opened, #drop, #k, #i")) one.click();
        document.getElementById("s").value = "x";
        document.getElementById("s").dispatchEvent(new Event("input"));
        for (const what of ["pb.gz", "html", "svg"]) save(what);
        dispatchEvent(new PopStateEvent("popstate"))');
    $browser->run('document.getElementById("graph").dispatchEvent(
        new WheelEvent("wheel", { ctrlKey: true, deltaY: 9 }))');
    is(said(), $damaged, 'which stays');
    $browser->is_quiet;

    spew("$dir/small.pb", $small);
    $browser->type('#file', "$dir/small.pb");
    $browser->wait_for('return page.profile');
    is(said(), '', 'until a file is opened');
};


test 'links of others' => sub {
    for my $fragment (qw( l=pid%3D%25 l=%25&z=%25 g=nothing constructor=1
                          __proto__=1&toString=2&v=toString
                          d=x&i=x&e=x&o=x&k=x z=-1 z=Infinity s=%FF = &&&== ),
                      'p=' . 'p' x 10_000 . '&v=both')
    {
        show($small, $fragment);

        my $name = substr $fragment, 0, 40;

        is(said(), '', "#$name: no complaint");
        ok(js('page.scene !== null'), 'and a graph');
        is(js('Object.keys(state).join("")'),
           'vtzpsfxhrgkideocl', 'and no key of others');
    }

    is_deeply([js('frames.names.filter((name) =>
                              name.startsWith("no "))')], [[]],
              'nor a frame of theirs');

    for my $key (qw( f x h r )) {
        show($small, "$key=(");
        is(said(), 'Not a regular expression: (', "#$key: a bad filter");
        is(js('page.scene.trees[0].after[0]'), 180, 'filters nothing');
        $browser->click('#chips button');
        is(said() . js('state.' . $key), '', 'and can be taken away');
    }
};


test 'labels of any letters' => sub {
    my %of = ('a=b;c' => 'x,y', 'pid' => '1&2', '__proto__' => '%41',
              'a' => 'no');
    my $n = 1;
    my @samples = map { [[1], [1, $n *= 2], $_ => $of{$_}] } sort keys %of;

    for my $key (sort keys %of) {
        my ($value) = map { $_->[1][1] } grep { $_->[2] eq $key } @samples;

        show(proto(%small, samples => \@samples));
        $browser->run('[...document.querySelectorAll("#labels input")].find(
            (box) => box.name === arguments[0]).click()', $key);
        is(js('page.scene.trees[0].after[0]'), $value, "$key: what is chosen");
        is(js('[...document.querySelectorAll(
                          "#labels :checked")].map((box) => box.name).join()'),
           $key, 'and its box');
    }
};


# Filters are of one name; both is of every function that has it.

test 'names that are alike' => sub {
    my @names = ('read', 'Read', 'main', ['read', 2]);
    my $alike = proto(%small, files => ['/bin/a', '/lib/b.so'],
        names => \@names, samples => [[[1, 3], [1, 10]], [[2, 3], [1, 20]],
                                      [[4, 3], [1, 40]]]);

    show($alike);
    $browser->run('MENU["Ignore stacks with it"]({
        tree: page.scene.trees[0],
        node: [...page.scene.trees[0].frame].findIndex((frame) =>
            frames.names[frame] === "read") })');
    is(js('page.scene.trees[0].after[0]'), 20, 'another case is another name');

    show($alike, 'v=both&p=read');
    is(js("page.scene.trees[$_].after[0]"), 50,
       'functions of two files') for 0, 1;
};


# What lies below the window costs nothing.

test 'deep and wide' => sub {
    my @names = map { "f$_" } 1 .. 4000;

    show(proto(%small, names => \@names, samples => [map {
        my $i = $_;
        [[map { 1 + ($_ * $i) % 4000 } 1 .. 3000], [1, 10]]
    } 1 .. 19]));
    cmp_ok(js('page.scene.trees[0].n'), '>', 40_000, 'many frames');
    cmp_ok(js('Object.keys(
                          page.scene.trees[0].placed).length'), '<', 4000,
           'of which those in the window were looked at');
};


test 'steps for Back' => sub {
    show($small);

    $browser->run('window.steps = [];
        const push = history.pushState;
        history.pushState = (...all) => {
            steps.push(all[2]);
            push.apply(history, all);
        }');
    $browser->type('#s', 'malloc');
    is(js('location.hash'), '#s=malloc', 'what is typed');
    $browser->press('#graph', '4');
    is_deeply(js('steps'), ['#v=table&s=malloc'], 'is no step, a view is one');
};


# Answers of a server, in turn; the times that timers get are kept.

sub serve(@answers) {
    $browser->run(<<'END', @answers);
window.asked = [];
window.waits = [];
window.timers = [];
const answers = [...arguments];
window.fetch = async (url) => {
    asked.push(String(url));
    const [status, headers, body] = answers.length > 1 ? answers.shift()
        : answers[0];
    return new Response(Uint8Array.from(atob(body), (c) => c.charCodeAt(0)),
                        { status, headers });
};
window.setTimeout = (act, time) => {
    waits.push(time);
    timers.push(act);
};
END
}


sub answer($status, $body, %headers) {
    return [$status, { 'Content-Type' => 'text/plain', %headers },
            encode_base64($body, '')];
}


# Live, at so many seconds; the time until the next refresh, after one.

sub tick($seconds) {
    return $browser->run('document.getElementById("live").value = arguments[0];
        setLive(0);
        const n = waits.length;
        timers.at(-1)();
        return new Promise((done) => {
            const look = () => (waits.length > n ? done(waits.at(-1))
                : requestAnimationFrame(look));
            look();
        })', $seconds);
}


test 'a server that wants to wait' => sub {
    show($small);
    serve(answer(429, 'busy', 'Retry-After' => 7));
    is(tick('2'), 7000, 'as long as it says');
    is(said(), 'busy', 'and why');
    is(tick('30'), 30_000, 'or as long as people say');

    serve(answer(429, 'busy', 'Retry-After' => 99_999_999));
    is(tick('2'), 3_600_000, 'not longer than a timer can');
    serve(answer(429, 'busy', 'Retry-After' => 'tomorrow'));
    is(tick('2'), 5000, 'a time that is none');
    serve(answer(200, $small));
    is(tick('2'), 2000, 'then as before');
    is(said(), '', 'and nothing to complain about');
};


test 'answers for people' => sub {
    show($small);

    serve(answer(502, '<html><head><title>502</title>',
                 'Content-Type' => 'text/html'));
    js('refresh()');
    is(said(), 'The server answered 502.', 'nobody reads HTML');

    serve(answer(503, ''));
    js('refresh()');
    is(said(), 'The server answered 503.', 'nor nothing');

    serve(answer(200, '<html>log in'));
    js('refresh()');
    is(said(), $damaged, 'what is no profile');
    ok(js('page.rows.length === 3'), 'what was there stays');
};


# A file that was opened while an answer was on its way is what is shown.

test 'answers that come late' => sub {
    show($small);
    serve(answer(200, $small));
    spew("$dir/other.pb", proto(%small, samples => [[[1], [1, 5]]]));

    my $title = $browser->text('#title');

    $browser->run('const ask = window.fetch;
        window.fetch = async (url) => {
            await new Promise((go) => { window.go = go; });
            return ask(url);
        };
        document.getElementById("live").value = "2";
        window.late = refresh();');
    $browser->type('#file', "$dir/other.pb");
    $browser->wait_for('return page.rows.length === 1');
    $browser->run('go(); return late');
    is(js('page.rows.length'), 1, 'the file stays');
    is($browser->text('#title'), 'other.pb', 'and its name');
    is(js('document.getElementById("live").value'), '0', 'live is off');

    # asked for, the server's is back

    serve(answer(200, $small));
    $browser->press('#graph', 'r');
    $browser->wait_for('return page.rows.length === 3');
    is($browser->text('#title'), $title, 'and so is its name');

    # of two files the one that was opened last

    $browser->run('window.slow = new File([], "slow");
        slow.arrayBuffer = () => new Promise((go) => { window.go = go; });
        window.late = openFiles([slow])');
    $browser->type('#file', "$dir/other.pb");
    $browser->wait_for('return page.rows.length === 1');
    $browser->run('go(Uint8Array.from(atob(arguments[0]), (c) =>
        c.charCodeAt(0)).buffer); return late', encode_base64($small, ''));
    is(js('page.rows.length'), 1, 'the last one stays');
};


# The frame of the keyboard, a window moved by hand, a menu that is open.

test 'what a refresh leaves alone' => sub {
    show($small);
    serve(answer(200, $small));
    $browser->press('#graph', 'ArrowDown', 'ArrowDown');

    my $at = 'return [page.view.from, page.view.to, page.at.tree.name(
              page.at.node)]';

    $browser->run('moveWindow(20, 60)');

    my $before = $browser->run($at);

    $browser->run('document.querySelector("#labels details").open = true;
                   return refresh()');
    is_deeply($browser->run($at), $before, 'frame and window');
    ok(js('document.querySelector("#labels details").open'), 'an open menu');

    serve(answer(200, proto(%small, samples => [[[3, 2, 1], [1, 100],
                                                 pid => '9']])));
    js('refresh()');
    like(js('document.getElementById("labels").textContent'),
         qr/9/, 'a new value of a label is there to choose');
    $browser->run("change({ s: '' })");
    is(js('page.view.from'), 0, 'a change shows all');
};


test 'totals by type' => sub {
    show($small);
    serve(answer(200, $small),
          answer(200, proto(%small, samples => [[[1], [12, 90]]])));

    js('refresh().then(refresh)');

    my $points = 'return document.querySelector("#line")
                  .getAttribute("points")';

    is($browser->run($points), '0,1,2,10', 'bytes');
    $browser->run("change({ t: 'inuse_objects' })");
    is($browser->run($points), '0,10,2,1', 'objects are no bytes');
    js('Array.from({ length: 70 }).reduce((all) =>
                   all.then(refresh), Promise.resolve())');
    is(js('live.totals.length'), 60, 'of the last sixty');
};


test 'the focus' => sub {
    my $where = 'const one = document.activeElement;
                 return one.id || one.textContent';

    show($small, 'v=table');
    serve(answer(200, $small));
    $browser->run('document.querySelectorAll("#table thead button")[2]
                   .focus()');
    $browser->press(undef, 'Enter');
    is($browser->run($where), 'cum', 'a heading that sorts keeps it');
    js('refresh()');
    is($browser->run($where), 'cum', 'when there is a new profile, too');

    $browser->press('#table', '1');
    is($browser->run($where), 'graph', 'from the table to the graph');
    $browser->press(undef, '4');
    is($browser->run($where), 'table', 'and back');

    show($small, 'f=main&x=b');
    $browser->run('document.querySelector("#chips button").focus()');
    $browser->press(undef, 'Enter');
    like($browser->run($where), qr/^ignore b/, 'the next filter has it');
    $browser->press(undef, 'Enter');
    is($browser->run($where), 'graph', 'and then the graph');
};


test 'menus and the dialog' => sub {
    show($small);
    $browser->click('#labels summary');
    ok(js('!!document.querySelector(".choice[open]")'), 'a menu of a label');
    $browser->press('#labels input', 'Escape');
    ok(js('!document.querySelector(".choice[open]")'), 'Escape closes it');
    is(js('document.activeElement.tagName'), 'SUMMARY',
       'and the focus is at its name');
    $browser->click('#labels summary');
    $browser->click('#title');
    ok(js('!document.querySelector(".choice[open]")'),
       'so does a click elsewhere');

    $browser->press('#graph', '?');
    $browser->press(undef, '4');
    is(js('state.v'), 'flame', 'keys do nothing behind the dialog');
    $browser->press(undef, 'Escape');
    $browser->press('#graph', '4');
    is(js('state.v'), 'table', 'until it is closed');
};


test 'files' => sub {
    show($small);
    spew("$dir/$_.pb", $small) for qw( a b c );
    $browser->type('#file', join "\n", map { "$dir/$_.pb" } qw( a b c ));
    $browser->wait_for('return document.getElementById("say").textContent');
    is(said(), 'Open one profile, or two.', 'three are too many');

    $browser->type('#file', "$dir/a.pb");
    $browser->wait_for('return document.title === "a.pb"');

    my $saved = js('savedPage()');

    is(($saved =~ m{<title>(.*?)</title>}s)[0], 'a.pb',
       'a saved page is named after what it shows');
    $browser->run('document.title = "</title><script>$&"');
    like(js('savedPage()'),
         qr{<title>&#60;/title&#62;&#60;script&#62;\$&#38;</title>},
         'whatever that is');
};


# Text is of anybody, too.

test 'text' => sub {
    my $all = 'page.m.after.reduce((a, b) => a + b, 0)';

    show("a;<b>;c\x{e2}\x{80}\x{ae}d 7\n<b> -3\n");
    is(said(), '', 'folded stacks');
    is(js($all), 4, 'whose values may be below zero');
    ok(js('frames.names.includes("c\ufffdd")'), 'without what turns a name');

    show(join(';', 'a' .. 'z') . " 1\n" . ('f;' x 4096) . "f 1\n");
    is(said(), 'A stack has more than 4096 frames.', 'a deep stack');

    show("a;b 1\n\nc 2\n");
    is(said(), $damaged, 'a line that is none');

    show("heap_v2/1\n\@ 0xffffffffffffffff 0x2001 0x1\n  t*: 1: 5 [0: 0]\n"
         . "\@\n  t*: 2: 6 [0: 0]\n  t*: 9: 9 [9: 9]\nMAPPED_LIBRARIES:\n");
    is(js($all), 11, 'addresses of nothing, and a stack of none');

    show("heap_v2/0\n\@ 0x400000\n  t*: 99999999999999999999: 1 [1: 1]\n"
         . "MAPPED_LIBRARIES:\n0-ffffffffffffffffff r-xp 0 0:0 0 \e[31m\n");
    is(said(), '', 'numbers of any size');
};


test 'a baseline of another kind' => sub {
    my $cpu = proto(types => [qw( cpu nanoseconds )], names => ['main'],
                    samples => [[[1], [7]]]);

    show($small);
    js('openFiles(["cpu", "heap"].map((name, i) =>
        new File([Uint8Array.from(atob(arguments[i]), (c) =>
            c.charCodeAt(0))], name)))',
        map { encode_base64($_, '') } $cpu, $small);
    like($browser->text('#sum'), qr/since 0 B, which the baseline lacks/,
         'is said to lack the type');
};
