#!/usr/bin/perl

# The rules of the house for the page's own source: lines, functions, nothing
# unused, nothing that makes HTML of a string; what is served; and eslint.

use JppTest;

my $web = "$root/src/web";
my $dir = tempdir(CLEANUP => 1);
my ($list) = slurp("$root/tools/page.sh") =~ /^SCRIPTS="([^"]+)"/m;
my @scripts = split ' ', $list;
my %text = map { $_ => slurp("$web/$_") } @scripts;
my $all = join '', map { $text{$_} } @scripts;


test 'files' => sub {
    my @there = map { s{.*/}{}r } glob "$web/*";

    is_deeply([sort @there],
              [sort @scripts, qw( console.css console.js page.html page.css
                                  picture.css )],
              'every file is a part of the page, the picture or the console');

    like($text{$_}, qr{\A(?:'use strict';\n\n)?/\*\n \* }, "$_ has a head")
        for @scripts;
};


test 'lines' => sub {
    for my $file (glob "$web/*") {
        my @lines = split /\n/, slurp($file);
        my @wrong = grep { $lines[$_ - 1] =~ /^.{81}|\t|[ \t]$/ }
                    1 .. @lines;

        is_deeply(\@wrong, [], "$file: 80 columns, no tabs");
        cmp_ok(scalar @lines, '<=', 500, 'at most 500 lines');
    }
};


# Each is used, and none is longer than 40 lines.

test 'functions' => sub {
    my %names = map { $_ => 1 } $all =~ /^(?:async )?function (\w+)/mg;
    my @unused = grep { my $n = () = $all =~ /\b$_\b/g; $n < 2 }
                 sort keys %names;

    cmp_ok(scalar keys %names, '>', 100, 'there are functions');
    is_deeply(\@unused, [], 'all of them are used');

    my @long;

    while ($all =~ /^(?:async )?function (\w+)(.*?)^\}/msg) {
        my ($name, $n) = ($1, $2 =~ tr/\n//);
        push @long, "$name: $n lines" if $n > 40;
    }

    is_deeply(\@long, [], 'none is longer than 40 lines');
};


# With Trusted Types these would throw, the first time that somebody sees them.

test 'what it must not do' => sub {
    my @found = $all =~ /(\b(?:innerHTML|outerHTML\s*=|insertAdjacentHTML|eval
                             |document\.write|new\ Function|setAttribute
                             \(['"]on|XMLHttpRequest|WebSocket|importScripts)
                         \b)/xg;

    is_deeply(\@found, [], 'no string becomes HTML or code');
    unlike($all, qr{https?://(?!www\.w3\.org/)}, 'and no address is foreign');
};


# The source is served without comments, empty lines and indents.

test 'what is served' => sub {
    my ($page) = macro('JPP_PAGE_PARTS') =~ m{<script>\n(.*)</script>}s;

    is_same('the page', $all, $page);
    is_same('the console', slurp("$web/console.js"),
            macro('JPP_CONSOLE_SCRIPT') =~ s/\A\n//r);

    for my $file (glob "$web/*.js") {
        my @wrong = grep { tr/`// % 2 || /\\$/ } split /\n/, slurp($file);

        is_deeply(\@wrong, [], "$file: no literal spans lines");
    }
};


# Alpine's sed makes the same of it.

test 'other machines' => sub {
    my ($busybox) = grep { -x } map { "$_/busybox" } split /:/, $ENV{PATH};

    plan skip_all => 'no busybox: ./dev test installs it' unless $busybox;

    symlink $busybox, "$dir/sed";

    my $made = `PATH='$dir':"\$PATH" sh '$root/tools/page.sh' '$web' 2>&1`;

    ok($made eq slurp("$build/proto/jpp_page.h"),
       'busybox makes the same page');
};


# The text that the literals of a macro are.

sub macro($name) {
    my ($lines) = slurp("$build/proto/jpp_page.h")
                  =~ /#define $name .*\\\n((?:.*\n)*?)\n/;

    return join '', map { s/\\(.)/$1 eq 'n' ? "\n" : $1/ger }
                $lines =~ /^"((?:[^"\\]|\\.)*)"/mg;
}


# The lines are those of the source, and so is the syntax tree.

sub is_same($name, $source, $served) {
    my $npm = "$root/build/npm/node_modules";
    my $lines = $source =~ s{^ */\*.*?\*/\n}{}gmsr =~ s/^(?: +|\n)//gmr;

    ok($served eq $lines, "$name: comments and indents are left out");

    SKIP: {
        skip "no $npm/espree: npm could not fetch eslint", 1
            unless -d "$npm/espree";

        spew("$dir/source.js", $source);
        spew("$dir/served.js", $served);
        spew("$dir/broken.js", $served =~ s/(\w+)\.length\b/document.length/r);
        spew("$dir/same.cjs", "const npm = '$npm', dir = '$dir';\n" . <<'END');
const fs = require('fs'), espree = require(`${npm}/espree`);
const isPlace = (key) => key === 'start' || key === 'end';

const [source, served, broken] = ['source', 'served', 'broken'].map((name) =>
    JSON.stringify(espree.parse(fs.readFileSync(`${dir}/${name}.js`, 'utf8'),
        { ecmaVersion: 2023 }), (key, value) =>
        (isPlace(key) ? undefined : value instanceof RegExp
            || typeof value === 'bigint' ? String(value) : value)));

console.log(source.length > 10000, source === served, source === broken);
END
        like(`node '$dir/same.cjs' 2>&1`, qr/\Atrue true false\n\z/,
             "$name: what is served means the same");
    }
}


test 'eslint' => sub {
    my $eslint = "$root/build/npm/node_modules/eslint/bin/eslint.js";

    plan skip_all => "no $eslint: npm could not fetch eslint"
        unless -f $eslint;

    spew("$dir/page.js", $all);
    spew("$dir/eslint.config.mjs", <<'END');
const browser = ['window', 'document', 'location', 'history', 'navigator',
    'fetch', 'URL', 'URLSearchParams', 'Blob', 'TextDecoder', 'performance',
    'DecompressionStream', 'ResizeObserver', 'DOMParser', 'atob', 'btoa',
    'console', 'matchMedia', 'getComputedStyle', 'localStorage', 'setTimeout',
    'clearTimeout', 'requestAnimationFrame', 'addEventListener', 'innerWidth',
    'innerHeight', 'devicePixelRatio'];

export default [{
    languageOptions: {
        sourceType: 'script',
        ecmaVersion: 2023,
        globals: Object.fromEntries(browser.map((name) => [name, 'readonly'])),
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: Object.fromEntries(['no-undef', 'no-unused-vars', 'eqeqeq',
        'no-var', 'prefer-const', 'no-shadow', 'no-eval', 'no-implied-eval',
        'no-loop-func', 'no-fallthrough', 'no-redeclare', 'no-self-compare',
        'no-unreachable', 'no-useless-escape', 'no-control-regex',
        'use-isnan', 'valid-typeof', 'no-constant-binary-expression',
        'no-unsafe-finally', 'no-return-assign', 'no-throw-literal']
        .map((rule) => [rule, 'error'])),
}];
END

    my $said = `cd '$dir' && node '$eslint' --no-color page.js 2>&1`;

    is($?, 0, 'eslint has nothing to say') or diag($said);
};
