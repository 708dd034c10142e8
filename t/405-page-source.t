#!/usr/bin/perl

# The rules of the house for the page's own source: lines, functions, nothing
# unused, nothing that makes HTML of a string; its weight; and eslint.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use File::Temp qw( tempdir );
use JppRun qw( $build $root slurp spew );
use Test::More;

my $web = "$root/src/web";
my $dir = tempdir(CLEANUP => 1);
my ($list) = slurp("$root/tools/page.sh") =~ /^SCRIPTS="([^"]+)"/m;
my ($properties) = slurp("$root/tools/page.sh") =~ /^PROPERTIES="([^"]+)"/m;
my @scripts = split ' ', $list;
my @own = split ' ', $properties;
my %text = map { $_ => slurp("$web/$_") } @scripts;
my $all = join '', map { $text{$_} } @scripts;

subtest 'files' => \&check_files;
subtest 'lines' => \&check_lines;
subtest 'functions' => \&check_functions;
subtest 'what it must not do' => \&check_forbidden;
subtest 'what is served' => \&check_served;
subtest 'other machines' => \&check_machines;
subtest 'eslint' => \&check_eslint;

done_testing();


sub check_files {
    my @there = map { s{.*/}{}r } glob "$web/*";

    is_deeply([sort @there],
              [sort @scripts, qw( console.css console.js page.html page.css
                                  picture.css )],
              'every file is a part of the page, the picture or the console');

    like($text{$_}, qr{\A(?:'use strict';\n\n)?/\*\n \* }, "$_ has a head")
        for @scripts;
}


sub check_lines {
    for my $file (glob "$web/*") {
        my @lines = split /\n/, slurp($file);
        my @wrong = grep { $lines[$_ - 1] =~ /^.{81}|\t|[ \t]$/ }
                    1 .. @lines;

        is_deeply(\@wrong, [], "$file: 80 columns, no tabs");
        cmp_ok(scalar @lines, '<=', 500, 'at most 500 lines');
    }
}


# Each is used, and none is longer than 40 lines.

sub check_functions {
    my %names = map { $_ => 1 } $all =~ /^(?:async )?function (\w+)/mg;
    my @unused = grep { my $n = () = $all =~ /\b$_\b/g; $n < 2 }
                 sort keys %names;

    cmp_ok(scalar keys %names, '>', 100, 'there are functions');
    is_deeply(\@unused, [], 'all of them are used');
    is_deeply([grep { $all !~ /[.{,\s]$_\b/ } @own], [],
              'and so are the properties that become short');

    SKIP: {
        skip 'no node', 1 if `node --version 2>&1` !~ /^v/;
        is(foreign(), '', 'which no object of the language has');
    }

    my @long;

    while ($all =~ /^(?:async )?function (\w+)(.*?)^\}/msg) {
        my ($name, $n) = ($1, $2 =~ tr/\n//);
        push @long, "$name: $n lines" if $n > 40;
    }

    is_deeply(\@long, [], 'none is longer than 40 lines');
}


# Properties of the page's own that objects of the language have, too: the page
# would lose those of the language.  It asks no URL for its origin.

sub foreign {
    spew("$dir/own.cjs", "const own = '@own'.split(' ');\n" . <<'END');
const all = [Array, BigInt, Boolean, Date, Error, Float64Array, Function,
    Int32Array, JSON, Map, Math, Number, Object, Promise, RegExp, Set, String,
    Uint8Array, URL, URLSearchParams, Blob, Response, TextDecoder,
    DecompressionStream].flatMap((one) => [one, one.prototype ?? {}]);

console.log(own.filter((name) => name !== 'origin'
    && all.some((one) => name in one)).join());
END

    return `node '$dir/own.cjs' 2>&1` =~ s/\n//r;
}


# With Trusted Types these would throw, the first time that somebody sees them.

sub check_forbidden {
    my @found = $all =~ /(\b(?:innerHTML|outerHTML\s*=|insertAdjacentHTML|eval
                             |document\.write|new\ Function|setAttribute
                             \(['"]on|XMLHttpRequest|WebSocket|importScripts)
                         \b)/xg;

    is_deeply(\@found, [], 'no string becomes HTML or code');
    unlike($all, qr{https?://(?!www\.w3\.org/)}, 'and no address is foreign');
}


# The programs that are served are those of the files but for blanks, comments
# and names.

sub check_served {
    my $page = macro('JPP_PAGE_PARTS');

    cmp_ok(length $page, '<=', 48 * 1024, 'the page weighs at most 48 KiB');
    is_same('the page', $all, $page =~ m{<script>\n(.*)</script>}s);
    is_same('the console', slurp("$web/console.js"),
            macro('JPP_CONSOLE_SCRIPT'));
}


# The tools of Alpine and of the BSDs make the same of it.

sub check_machines {
    my $made = slurp("$build/proto/jpp_page.h");

    for my $case (['busybox', qw( awk sed tr sort )],
                  ['original-awk', 'awk']) {
        my ($program, @names) = @$case;

        SKIP: {
            my ($path) = grep { -x } map { "$_/$program" }
                         split /:/, $ENV{PATH};

            skip "no $program: ./dev test installs it", 1 if !$path;

            mkdir "$dir/$program";
            symlink $path, "$dir/$program/$_" for @names;

            my $other = `PATH='$dir/$program':"\$PATH" \
                         sh '$root/tools/page.sh' '$web' 2>&1`;

            ok($other eq $made, "$program makes the same page");
        }
    }
}


# The text that the literals of a macro are.

sub macro {
    my ($name) = @_;
    my ($lines) = slurp("$build/proto/jpp_page.h")
                  =~ /#define $name .*\\\n((?:.*\n)*?)\n/;

    return join '', map { s/\\(.)/$1 eq 'n' ? "\n" : $1/ger }
                $lines =~ /^"((?:[^"\\]|\\.)*)"/mg;
}


# The syntax trees are the same but for const, which is served as let: eslint
# knows that nothing is assigned to it; and that one let declares what several
# did.  So is what each name means: a variable is one variable in the other, a
# property of the page's own has one name in the other, which no other property
# has, and whatever else is a name is the same in both.

sub is_same {
    my ($name, $source, $served) = @_;
    my $npm = "$root/build/npm/node_modules";

    SKIP: {
        skip "no $npm/espree: npm could not fetch eslint", 1
            unless -d "$npm/espree";

        spew("$dir/source.js", $source =~ s/\bconst\b/let/gr);
        spew("$dir/served.js", $served);
        spew("$dir/broken.js", $served =~ s/(\w+)\.length\b/document.length/r);
        spew("$dir/same.cjs", "const npm = '$npm', dir = '$dir';
const own = new Set('@own'.split(' '));\n" . <<'END');
const fs = require('fs'), espree = require(`${npm}/espree`);
const scopes = require(`${npm}/eslint-scope`);
const options = { ecmaVersion: 2023, sourceType: 'module' };

function read(name) {
    const text = fs.readFileSync(`${dir}/${name}.js`, 'utf8');
    const tree = espree.parse(text, { ...options, range: true });
    const variables = new Map();

    for (const scope of scopes.analyze(tree, options).scopes) {
        for (const one of scope.variables) {
            for (const name of one.identifiers) variables.set(name, one);
        }
        for (const { identifier, resolved } of scope.references) {
            if (resolved) variables.set(identifier, resolved);
        }
    }
    return { tree, variables };
}

function single(list) {
    return list.flatMap((one) => (one?.type === 'VariableDeclaration'
        ? one.declarations.map((each) => ({ ...one, declarations: [each] }))
        : [one]));
}

function compare(source, served) {
    const pairs = new Map(), names = [new Map(), new Map()];
    const isPair = (a, b) => {
        if (!a || !b) return a === b;
        if (!pairs.has(a) && !pairs.has(b)) pairs.set(a, b).set(b, a);
        return pairs.get(a) === b && pairs.get(b) === a;
    };
    const isName = (a, b) => {
        if (!names[0].has(a)) names[0].set(a, b);
        if (!names[1].has(b)) names[1].set(b, a);
        return names[0].get(a) === b && names[1].get(b) === a
            && (a === b || own.has(a));
    };
    const isSame = (a, b) => {
        if (!a || !b || typeof a !== 'object') return a === b;
        if (a instanceof RegExp) return String(a) === String(b);
        if (a.type === 'Identifier' && b.type === 'Identifier') {
            const [x, y] = [source.variables.get(a), served.variables.get(b)];
            return isPair(x, y) && (x !== undefined || isName(a.name, b.name));
        }
        if (Array.isArray(a)) [a, b] = [a, b].map(single);
        return Object.keys(a).length === Object.keys(b).length
            && Object.keys(a).every((key) => /^(start|end|range|shorthand)$/
                .test(key) || isSame(a[key], b[key]));
    };
    return [isSame(source.tree, served.tree), pairs.size > 40];
}

const [source, served, broken] = ['source', 'served', 'broken'].map(read);
console.log(...compare(source, served), ...compare(source, broken));
END
        like(`node '$dir/same.cjs' 2>&1`, qr/\Atrue true false \w+\n\z/,
             "$name: what is served means the same");
    }
}


sub check_eslint {
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
}
