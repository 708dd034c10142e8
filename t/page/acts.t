#!/usr/bin/perl

# What people do with the page, act by act: the wheel and drags, files that are
# dropped, saving, copying, the keyboard; and what they see of it: the colours
# of a difference, tables in parts, figures that few samples stand behind.

use JppTest;
use JppBrowser;
use JppPage;
use JppProto qw( field number proto );
use MIME::Base64 qw( decode_base64 encode_base64 );

# a heap that is sampled every 1000 bytes: what is large is certain

my %heap = (types => [qw( inuse_objects count inuse_space bytes )],
            names => [qw( main grows shrinks new gone same leaf )],
            fields => sub {
                return field(11, number(1, $_[0]->('space'))
                                 . number(2, $_[0]->('bytes')))
                       . number(12, 1000) . number(9, 1e18);
            });
my $now = heap([2, 90_000], [3, 10_000], [4, 5_000], [6, 20_000]);
my $before = heap([2, 30_000], [3, 40_000], [5, 5_000], [6, 20_000], [7, 100]);


# A profile with an object for each [function, bytes], called by main.

sub heap {
    return proto(%heap, samples => [map { [[$_->[0], 1], [1, $_->[1]]] } @_]);
}


# The node of the function NAME, as a script says it.

sub node($name) {
    return "[...page.scene.trees[0].frame].findIndex((frame) =>
            frames.names[frame] === '$name')";
}


sub window {
    return @{ js('[page.view.from, page.view.to]') };
}


# What is under the pointer stays there.

test 'the wheel' => sub {
    show($now);

    my $wheel = 'const box = document.getElementById("graph")
        .getBoundingClientRect();
        document.getElementById("graph").dispatchEvent(new WheelEvent("wheel",
            { ctrlKey: arguments[0], deltaY: arguments[1], cancelable: true,
              clientX: box.left + box.width / 4, clientY: box.top + 30 }))';
    my ($from, $to) = window();

    $browser->run($wheel, JSON::PP::false, -300);
    is_deeply([window()], [$from, $to], 'alone it scrolls');
    $browser->run($wheel, JSON::PP::true, -300);

    my ($left, $right) = window();

    cmp_ok(abs(($right - $left) * exp(1) / ($to - $from) - 1), '<', 1e-6,
           'with Ctrl it zooms in');
    cmp_ok(abs($left + ($right - $left) / 4 - $to / 4), '<', $to / 100,
           'at the pointer');
    $browser->run($wheel, JSON::PP::true, 3000);
    is_deeply([window()], [$from, $to], 'and out, to all of it');
    $browser->run($wheel, JSON::PP::true, -1e9);
    cmp_ok(js('page.view.to - page.view.from'), '>', 0,
           'or in as far as there is anything');
};


test 'drags' => sub {
    show($now);
    $browser->run('moveWindow(10000, 50000)');

    my $pull = 'const graph = document.getElementById("graph");
        for (const [type, x] of arguments[0]) {
            graph.dispatchEvent(new PointerEvent(type, { clientX: x,
                clientY: 200, buttons: 1, button: 0 }));
        }';
    my $width = js('page.view.width');

    $browser->run($pull, [['pointerdown', 300], ['pointermove', 200]]);
    is(js('Math.round(page.view.from)'),
       int(10_000 + 100 / $width * 50_000 + 0.5), 'the graph follows the hand');
    $browser->run($pull, [['pointermove', 900_000], ['pointerup', 900_000]]);
    is(js('page.view.from'), 0, 'to its end');
    is(js('state.z'), '', 'and nothing was clicked at');
    $browser->run($pull, [['pointerdown', 300], ['pointercancel', 300],
                          ['pointermove', 200]]);
    is(js('page.view.from'), 0, 'until the hand is gone');
};


test 'files that are dropped' => sub {
    show($now);
    $browser->run('const data = new DataTransfer();
        for (const [name, text] of arguments[0]) {
            data.items.add(new File([Uint8Array.from(atob(text), (c) =>
                c.charCodeAt(0))], name));
        }
        const event = new DragEvent("drop", { dataTransfer: data,
            bubbles: true, cancelable: true });
        document.body.dispatchEvent(event);
        window.isTaken = event.defaultPrevented;',
        [['one', encode_base64($before, '')],
         ['two', encode_base64($now, '')]]);
    $browser->wait_for('return page.base');
    is($browser->text('#title'), 'one, two', 'two files are a difference');
    is(js('isTaken'), JSON::PP::true,
       'and the browser does not open them itself');
};


sub colour($name) {
    return $browser->run("const [tree] = page.scene.trees;
        const c = colourOf(page.scene, { tree, node: "
                           . node($name) . " });
        return c === SAME ? 'same' : c === NOISE ? 'noise'
            : c >= MORE && c < LESS ? 'more ' + (c - MORE)
            : c >= LESS && c < MATCH ? 'less ' + (c - LESS) : String(c)");
}


test 'the colours of a difference' => sub {
    show($now, '', $before);

    # by the share of all that was there before

    my %want = (grows => 'more 3', shrinks => 'less 2', new => 'more 1',
                gone => 'less 1', same => 'same', leaf => 'noise');

    is(colour($_), $want{$_}, $_) for sort keys %want;

    is(js("fate({ tree: page.scene.trees[0],
                      node: " . node($_->[0]) . " })"), $_->[1],
       "$_->[0]: '$_->[1]'")
        for ['new', 'new'], ['gone', 'gone'], ['grows', ''], ['same', ''];

    like(colour('main'), qr/^more/, 'with what it calls main has more');
    $browser->run("change({ o: '1' })");
    is(colour('main'), 'same', 'and nothing itself');

    # of all there is a third more, so that what is the same has become less

    $browser->run("change({ o: '0', e: '1' })");
    like(colour('same'), qr/^less/, 'per cent of each');

    like($browser->text('#legend'),
         qr/more.*below 3.7 KiB.*above.*less.*unchanged.*noise.*outlined: (?#
            )new, hatched: gone/s, 'the legend says what colours mean');
};


test 'widths of a difference' => sub {
    my %want = (both => [90_000, 40_000, 5000, 5000],
                after => [90_000, 10_000, 5000, 0],
                before => [30_000, 40_000, 0, 5000]);

    for my $which (sort keys %want) {
        show($now, "d=$which", $before);
        is_deeply([map { js('page.scene.trees[0].width['
                                       . node($_) . ']') }
                       qw( grows shrinks new gone )], $want{$which}, $which);
    }
};


test 'a table in parts' => sub {
    my @names = map { sprintf 'f%04d', $_ } 1 .. 450;
    my $rows = 'return document.querySelectorAll("#table tbody tr").length';

    show(proto(%heap, names => \@names,
               samples => [map { [[$_], [1, 1000 + $_]] } 1 .. 450]),
         'v=table');
    is($browser->run($rows), 200, 'two hundred rows');
    is($browser->text('#table > button'), '250 more', 'and how many there are');
    $browser->click('#table > button');
    is($browser->run($rows), 400, 'two hundred more');
    $browser->click('#table > button');
    is($browser->run($rows), 450, 'and the rest');
    is(js('document.querySelectorAll("#table > button")
                      .length'), 0, 'no button is left');

    $browser->type('#s', 'f000');
    is($browser->run($rows), 9, 'a search leaves its matches');
    like(js('document.querySelector("tbody .name")
                        .textContent'), qr/^f000\d$/, 'by name');
    $browser->run('document.querySelector("tbody .name").click()');
    is(js('state.v + state.p'), 'bothf0009',
       'whose callers and callees are a click away');
};


test 'few samples' => sub {
    show(heap(map { [2, 100] } 1 .. 12));
    $browser->press('#graph', 'ArrowDown');
    unlike($browser->text('#status'), qr/few samples/, 'twelve samples');
    show(heap([2, 100]));
    $browser->press('#graph', 'ArrowDown');
    like($browser->text('#status'), qr/, 1 sample, \+- \d+ %, few samples$/,
         'one');
};


test 'copying' => sub {
    show($now);
    $browser->run('window.copied = [];
        navigator.clipboard.writeText = (text) => copied.push(text);
        const at = { tree: page.scene.trees[0],
                         node: ' . node('grows') . ' };
        MENU["Copy its name"](at);
        MENU["Copy its stack"](at);');
    is_deeply(js('copied'), ['grows', "grows\nmain"], 'a name and a stack');
};


test 'saving' => sub {
    show($now, '', $before);
    $browser->run('window.saved = [];
        URL.createObjectURL = (blob) => {
            saved.push(blob);
            return "blob:";
        };
        HTMLAnchorElement.prototype.click = function () {
            saved.push(this.download);
        };');

    my %starts = ('pb.gz' => $now, svg => '<svg xmlns=',
                  html => "<!DOCTYPE html>\n<html lang=\"en\">");

    for my $kind (sort keys %starts) {
        $browser->run('const save = document.getElementById("save");
                       save.value = arguments[0];
                       save.dispatchEvent(new Event("change"))', $kind);

        my ($type, $bytes, $name) = @{ $browser->run('const [blob, name] =
            saved.splice(0);
            return blob.arrayBuffer().then((bytes) => [blob.type,
                toBase64(new Uint8Array(bytes)), name])') };

        is($name, "profile-2001-09-09T014640.$kind", "$kind: by its time");
        ok(0 == index(decode_base64($bytes), $starts{$kind}), 'and as it is');
        is(js('document.getElementById("save").value'), '',
           'to be saved again');
    }

    $browser->run("change({ v: 'table' }); save('svg')");
    is_deeply(js('saved'), [], 'a table has no picture');
};


test 'every control by Tab' => sub {
    show($now, 'f=main', $before);

    my $wanted = js('[...document.querySelectorAll(
        "button, select, input, summary, [tabindex]")].filter((one) =>
            one.offsetParent && !one.disabled).map((one) => one.id
                || one.textContent)');
    my %seen;

    $browser->run('document.activeElement.blur()');

    for (1 .. @$wanted + 5) {
        $browser->press(undef, 'Tab');
        $seen{ $browser->run('const one = document.activeElement;
                              return one.id || one.textContent') } = 1;

        # a menu is opened by its key

        $browser->press(undef, 'Enter')
            if js('document.activeElement.matches(
                       ".choice:not([open]) > summary")');
    }

    cmp_ok(scalar @$wanted, '>', 20, 'there are controls');
    is_deeply([grep { !$seen{$_} } @$wanted], [], 'which Tab reaches');
};


test 'keys' => sub {
    show($now);
    $browser->run('document.getElementById("graph").dispatchEvent(
        new KeyboardEvent("keydown", { key: "f", ctrlKey: true, bubbles: true,
                                       cancelable: true }))');
    is(js('document.activeElement.id'), 's', 'Ctrl-F searches');
    $browser->type('#s', '4i');
    is(js('state.v + state.i + state.s'), 'flame04i',
       'letters of a search are no keys');

    $browser->press('#graph', '?');
    ok(js('document.getElementById("keys").open'), '? shows the keys');
    $browser->click('#close');
    ok(js('!document.getElementById("keys").open'), 'until they are closed');

    # each of them is said, and each that is said does something

    my %said = map { $_ => 1 } map { split /, | to |, / } @{
        js('[...document.querySelectorAll("#keys dt")]
                       .map((one) => one.textContent)') };

    is_deeply([grep { !$said{$_} } @{ js('[
        ...Object.keys(KEYS), "b", "m"].filter((key) => key !== "?")') }], [],
        'all of which it says');
};


test 'a hidden tab' => sub {
    show($now);
    $browser->run('window.asked = 0;
        window.fetch = async () => {
            asked++;
            return new Response(page.profile.bytes);
        };
        Object.defineProperty(document, "hidden", { get: () => window.isAway,
                                                    configurable: true });
        window.isAway = true;
        return refresh()');
    is(js('asked'), 0, 'asks for nothing');
    $browser->run('window.isAway = false; return refresh()');
    is(js('asked'), 1, 'until it is seen');
};


test 'the theme' => sub {
    my $choose = 'const select = document.getElementById("theme");
                  select.value = arguments[0];
                  select.dispatchEvent(new Event("change"))';

    show($now);
    $browser->run($choose, 'dark');
    show($now);
    is(js('document.getElementById("theme").value
                      + page.palette.text'), 'dark#f2f4f8', 'is remembered');
    $browser->run($choose, '');
    show($now);
    is(js('document.getElementById("theme").value'), '', 'and forgotten');
};


test 'motion' => sub {
    show($now);
    is_deeply(js('[...document.querySelectorAll("*")].filter(
        (one) => {
            const style = getComputedStyle(one);
            return style.transitionDuration !== "0s"
                || style.animationName !== "none";
        }).map((one) => one.outerHTML)'), [],
        'nothing does, for nobody');
};
