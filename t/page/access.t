#!/usr/bin/perl

# The page for everybody: no violation of axe-core in any view and theme, text
# that can be read on every colour, a window of 320 pixels, forced colours,
# paper.

use JppTest;
use JppBrowser;
use JppRecorded qw( recorded );
use JppTool qw( $dir run );

my ($one, $two) = recorded($dir, qw( nginx-530 nginx-160k ));

run('--any-kernel', '--format=html', '-o', "$dir/one.html", $one);
run('--any-kernel', '--format=html', '-o', "$dir/two.html", "--base=$one",
    $two);

my @views = ('v=flame', 'v=callers', 'v=both&p=SSL_new', 'v=table', 'v=owners');
my $browser = JppBrowser->start;


sub show($name, $fragment) {
    $browser->show("file://$dir/$name.html#$fragment");
}


test 'axe-core', 'axe' => sub {
    for my $theme (qw( light dark )) {
        $browser->media('', 'prefers-color-scheme' => $theme);

        for my $view (@views) {
            for my $name ($view =~ /flame|table/ ? qw( one two ) : 'one') {
                show($name, $view);
                $browser->run('openMenu(page.at, 100, 100)')
                    if $view eq 'v=callers';

                $browser->is_accessible("$theme, $view, $name");
            }
        }
    }
};


# WCAG's contrast of the text on each colour that a box may have.

test 'contrast' => sub {
    show('one', 'v=flame');

    my $least = $browser->run(<<'END');
const context = document.createElement('canvas')
    .getContext('2d', { willReadFrequently: true });
const light = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data]
        .map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const least = [];
for (const isDark of [false, true]) {
    const { fills, text } = makePalette(isDark, false);
    const all = fills.map((fill) => {
        const [a, b] = [light(fill), light(text)].sort((p, q) => q - p);
        return (a + 0.05) / (b + 0.05);
    });
    least.push(Math.min(...all));
}
return least;
END

    cmp_ok($_, '>=', 4.5, 'text on every colour of a box') for @$least;

    my $css = slurp("$root/src/web/picture.css");
    my ($day, $night) = $css =~ /(.*)\@media[^{]*\{(.*)/s;

    for ([$day, '14161b', 'light'], [$night, 'f2f4f8', 'dark']) {
        my ($rules, $text, $theme) = @$_;
        my @fills = $rules =~ /\.(?:x|n|s|o\d+|m\d|l\d)\{fill:#(\w+)\}/g;
        my @low = grep { contrast($_, $text) < 4.5 } @fills;

        is(scalar @fills, 25, "$theme: colours of a picture");
        is_deeply(\@low, [], 'and text on them');
    }
};


sub contrast {
    my @light = sort { $b <=> $a } map {
        my @c = map { $_ = hex($_) / 255;
                      $_ <= 0.04045 ? $_ / 12.92
                                    : (($_ + 0.055) / 1.055) ** 2.4 } /../g;
        0.2126 * $c[0] + 0.7152 * $c[1] + 0.0722 * $c[2];
    } @_;

    return ($light[0] + 0.05) / ($light[1] + 0.05);
}


# Nothing is lost: the page is no wider than the window, and every control can
# be reached.

test 'a narrow window' => sub {
    $browser->resize(320, 640);

    for my $view (@views) {
        show('two', $view);
        cmp_ok(js('document.documentElement.scrollWidth'),
               '<=', 320, "$view: no wider than the window");

        my $lost = $browser->run(<<'END');
return [...document.querySelectorAll(
    'header button, header select, header input')]
    .filter((one) => one.offsetParent && (one.getBoundingClientRect().right
        > 321 || one.getBoundingClientRect().left < 0))
    .map((one) => one.id);
END
        is_deeply($lost, [], 'no control is outside');

        is($browser->run('const name = document.querySelector("tbody th")
            .getBoundingClientRect(); return name.right <= 320'),
           JSON::PP::true, 'names are beside the first figures')
            if $view =~ /table|owners/;
        is($browser->run('const [one, name] = document.querySelectorAll(
            "tbody td, tbody th"); return one.getBoundingClientRect().right
            <= document.querySelector("tbody th").getBoundingClientRect().left
            && name !== undefined'), JSON::PP::true, 'and hide none of them')
            if $view =~ /table|owners/;

        next unless $view =~ /flame|callers|both/;
        cmp_ok(js('document.getElementById("graph")
                              .clientHeight'), '>', 200, 'the graph has room');
        cmp_ok(js('page.boxes.length'), '>', 10, 'and boxes');
    }

    $browser->is_quiet;
    $browser->resize(1600, 900);
};


sub ground {
    return js('getComputedStyle(document.body).backgroundColor');
}


test 'the theme' => sub {
    my %ground;

    for my $theme (qw( light dark )) {
        $browser->media('', 'prefers-color-scheme' => $theme);
        show('one', 'v=flame');
        $ground{$theme} = ground();
    }

    isnt($ground{light}, $ground{dark}, 'it follows the system');

    $browser->run('const select = document.getElementById("theme");
                   select.value = "light";
                   select.dispatchEvent(new Event("change"))');
    is(ground(), $ground{light}, 'unless one is chosen');
    like(js('page.palette.text'), qr/#14161b/, 'for the graph, too');

    $browser->media('', 'prefers-color-scheme' => 'light');
};


test 'forced colours' => sub {
    $browser->media('', 'forced-colors' => 'active');
    show('two', 'v=flame&s=SSL');
    is(js('page.palette.text'), 'CanvasText',
       'the graph has the colours of the system');
    cmp_ok(js('page.boxes.length'), '>', 10, 'and is drawn');
    $browser->media('');
};


test 'paper' => sub {
    show('one', 'v=table');
    $browser->media('print');
    is(js('getComputedStyle(document.getElementById("bar"))
                      .display'), 'none', 'controls are not printed');
    cmp_ok(js('document.getElementById("table")
                          .clientHeight'), '>', 900, 'the whole table is');

    # paper is light, whatever the screen is

    $browser->run('document.getElementById("theme").value = "dark";
                   setTheme()');
    $browser->media('screen');
    ok($browser->wait_for('return page.palette.text === "#f2f4f8"'),
       'a dark screen');
    $browser->media('print');
    $browser->wait_for('return page.palette.text === "#14161b"');
    like(js('getComputedStyle(document.body).color'),
         qr/^rgb\(20, 22, 27\)$/, 'is printed in black on white');
    $browser->media('');
};
