#!/usr/bin/perl

# tools/lint.pl finds what breaks a rule: each tree here breaks one, and the
# same tree without that breaks none.

use JppTest;

# a repository of one's own, whoever started this
delete @ENV{ grep { /^GIT_/ } keys %ENV };

my $adapter = 'src/nginx/resource/ngx_http_jpp_a';
my $walk = 'src/nginx/walk/ngx_http_jpp_pools_walk';


for (
    [ 'nothing', {}, '' ],

    [ 'a function of 100 lines',
      { 'src/core/base/jpp_a.c' => source('jpp_a', 100) }, '' ],

    [ 'a function of 101 lines',
      { 'src/core/base/jpp_a.c' => source('jpp_a', 101) },
      'src/core/base/jpp_a.c:6: a function of more than 100 lines' ],

    [ 'a function of 101 lines in the module',
      { 'ngx_http_x_module.c' => source('x', 101) },
      'ngx_http_x_module.c:6: a function of more than 100 lines' ],

    [ 'a function of 101 lines of a test',
      { 't/unit/jpp_a_test.c' => source('a', 101) }, '' ],

    [ 'a file of 1000 lines',
      { 'src/core/base/jpp_a.c' => comments(1000) }, '' ],

    [ 'a file of 1001 lines',
      { 'src/core/base/jpp_a.c' => comments(1001) },
      'src/core/base/jpp_a.c:1001: a file of more than 1000 lines' ],

    [ 'a room above',
      { 'src/core/base/jpp_a.h' => header('jpp_a', 'jpp_b'),
        'src/core/fleet/jpp_b.h' => header('jpp_b') },
      'src/core/base/jpp_a.h:9: src/core/fleet is above src/core/base' ],

    [ 'a room below',
      { 'src/core/base/jpp_a.h' => header('jpp_a'),
        'src/core/fleet/jpp_b.h' => header('jpp_b', 'jpp_a') }, '' ],

    [ 'a circle of three',
      { 'src/core/base/jpp_a.h' => header('jpp_a', 'jpp_b'),
        'src/core/base/jpp_b.h' => header('jpp_b', 'jpp_c'),
        'src/core/base/jpp_c.h' => header('jpp_c', 'jpp_a') },
      "jpp_a.[ch]:1: a circle with jpp_c\n"
      . "jpp_b.[ch]:1: a circle with jpp_a\n"
      . 'jpp_c.[ch]:1: a circle with jpp_b' ],

    [ 'a circle by way of a source file',
      { 'src/core/base/jpp_a.h' => header('jpp_a'),
        'src/core/base/jpp_a.c' => qq{\n#include "jpp_b.h"\n},
        'src/core/base/jpp_b.h' => header('jpp_b', 'jpp_a') },
      "jpp_a.[ch]:1: a circle with jpp_b\n"
      . 'jpp_b.[ch]:1: a circle with jpp_a' ],

    [ 'a function that no header declares',
      { 'src/core/base/jpp_a.c' => source('jpp_a', 3, 'int') },
      'src/core/base/jpp_a.c:5: jpp_a() is not declared in its header' ],

    [ 'a function that another header declares',
      { 'src/core/base/jpp_a.h' => header('jpp_a'),
        'src/core/base/jpp_a.c' => source('jpp_a', 3, 'int'),
        'src/core/base/jpp_b.h' => header('jpp_b') . "\nint jpp_a(void);\n" },
      'src/core/base/jpp_a.c:5: jpp_a() is not declared in its header' ],

    [ 'a function that its own header declares',
      { 'src/core/base/jpp_a.h' => header('jpp_a') . "\nint jpp_a(void);\n",
        'src/core/base/jpp_a.c' => source('jpp_a', 3, 'int') }, '' ],

    [ 'a file that the map lacks',
      { 'src/core/base/jpp_a.h' => header('jpp_a'),
        'docs/files.md' => map_of('') },
      'docs/files.md:1: its map is old: ./dev map' ],

    [ 'a map with the first sentence of a header',
      { 'src/core/base/jpp_a.h' => header('jpp_a'),
        'docs/files.md' => map_of("\n| `src/core/base` | |\n|---|---|\n"
                                         . "| `jpp_a` | One |\n\n") }, '' ],

    [ 'an answer whose result is returned',
      { "$adapter.c" => sending('    return a_send(r);') }, '' ],

    [ 'an answer whose result is compared',
      { "$adapter.c" => sending('    if (a_send(r) != NGX_OK) {',
                                       '        return NGX_ERROR;', '    }') },
      "$adapter.c:13: a_send() sends an answer: return its result" ],

    [ 'one whose result is kept, and compared',
      { "$adapter.c" => sending('    rc = a_send(r);',
                                       '    if (rc == NGX_OK) {',
                                       '        return a_more(r);', '    }') },
      "$adapter.c:13: a_send() sends an answer: return its result" ],

    [ 'one whose result is kept for nginx',
      { "$adapter.c" => sending('    rc = a_send(r);',
                                       '    if (rc == NGX_DONE) {',
                                       '        a_more(r);', '    }',
                                       '    return rc;') }, '' ],

    [ 'a walk that needs a resource',
      { "$walk.c" => "#include \"$adapter.h\"\n" =~ s{src.*/}{}r,
        "$adapter.h" => header('ngx_http_jpp_a') },
      "$walk.c:1: src/nginx/resource is above src/nginx/walk" ],

    (map { my $file = $_;
           ([ "80 columns of $file", { $file => columns(80) }, '' ],
            [ "81 columns of $file", { $file => columns(81) },
              "$file:1: more than 80 columns" ])
         } qw( t/nginx/a.t t/lib/JppA.pm tools/a.pl tools/a.sh bench/a.sh
               dev )),

    [ '81 columns of data', { 't/data/a.text' => columns(81) }, '' ],

    [ 'a library of any architecture',
      { 't/nginx/a.t' => "glob '/usr/" . "lib/*/liba.so';\n" },
      't/nginx/a.t:1: a library by pattern: the loader and '
      . 'gcc -print-file-name find that of this architecture' ],

    [ 'a tab in a suite', { 't/nginx/a.t' => "#\ta\n" },
      't/nginx/a.t:1: a tab' ],

    [ 'a suite that is not done', { 't/nginx/a.t' => '# TO' . "DO: all\n" },
      't/nginx/a.t:1: work left undone' ],

    [ 'a suite of processes with its head', { 't/fleet/a.t' => suite() }, '' ],

    [ 'one that does not say what is elsewhere',
      { 't/fleet/a.t' => suite() =~ s/^# Not here.*\n//mr },
      't/fleet/a.t:1: its first comment has no "Not here:"' ],

    [ 'one that says so too late',
      { 't/fleet/a.t' => suite() =~ s/^#\n/\n/mr },
      't/fleet/a.t:1: its first comment has no "Not here:"' ],

    [ 'one that says nothing else',
      { 't/fleet/a.t' => suite() =~ s/^# One\.\n#\n//mr },
      't/fleet/a.t:1: does not open with a comment' ],

    [ 'one without a comment', { 't/fleet/a.t' => "#!/usr/bin/perl\n\n1;\n" },
      "t/fleet/a.t:1: does not open with a comment\n"
      . 't/fleet/a.t:1: its first comment has no "Not here:"' ],

    [ 'a suite of requests without one', { 't/nginx/a.t' => "1;\n" }, '' ],

    [ 'imports that are used',
      { 't/nginx/a.t' => imports('slurp', '$root', '@all')
                       . 'slurp("$root/a", "${root}b", @all);' . "\n" }, '' ],

    [ 'imports that are not',
      { 't/nginx/a.t' => imports('slurp', '$root')
                       . '$slurp = a($rooted); # root, $slurp' . "\n" },
      "t/nginx/a.t:1: does not use slurp of JppA\n"
      . 't/nginx/a.t:1: does not use $root of JppA' ],

    [ 'a helper of JppRun, in its place',
      { 't/lib/JppRun.pm' => run_module() }, '' ],

    [ 'a helper of JppRun that a suite defines',
      { 't/lib/JppRun.pm' => run_module(),
        't/nginx/a.t' => function('slurp', 2) },
      "t/nginx/a.t:1: slurp() is JppRun's" ],

    [ 'the same function in two files',
      { 't/nginx/a.t' => function('a', 1), 't/pools/a.t' => function('b', 1) },
      't/pools/a.t:1: b() is that of t/nginx/a.t' ],

    [ 'other functions of the same name',
      { 't/nginx/a.t' => function('a', 1), 't/pools/a.t' => function('a', 2) },
      '' ],
) {
    my ($title, $files, $expected) = @$_;

    is(lint($files), $expected eq '' ? '' : "$expected\n", $title);
}



# What lint prints about a tree of FILES, by path.

sub lint($files) {
    my $tree = tempdir(CLEANUP => 1);

    for my $path (keys %$files) {
        make_path(dirname("$tree/$path"));
        spew("$tree/$path", $files->{$path});
    }

    my $said = `cd $tree && git init -q . && perl $root/tools/lint.pl 2>&1`;

    is($? != 0, $said ne '', 'its status says whether it complains');

    return $said;
}


# A file with one function, whose braces are N lines apart.

sub source($name, $n, $type = undef) {
    return "\n/* One. */\n\n" . ($type // 'static int') . "\n$name(void)\n{\n"
           . "    ;\n" x ($n - 1) . "}\n";
}


# A function that sends an answer, and one that calls it in LINES.

sub sending(@lines) {
    return "\nstatic ngx_int_t\na_send(ngx_http_request_t *r)\n{\n"
           . "    return ngx_http_send_header(r);\n}\n\n\n"
           . "static ngx_int_t\na_step(ngx_http_request_t *r)\n{\n"
           . join('', map { "$_\n" } '', @lines) . "}\n";
}


sub comments($n) {
    return "/* One. */\n" x $n;
}


sub header($name, @includes) {
    my $guard = '_' . uc($name) . '_H_INCLUDED_';

    return "\n/* One. */\n\n\n#ifndef $guard\n#define $guard\n\n\n"
           . join('', map { qq{#include "$_.h"\n} } @includes)
           . "\n\n#endif\n";
}


sub columns($n) {
    return '#' x $n . "\n";
}


# The head of a suite of processes.

sub suite {
    return "#!/usr/bin/perl\n\n# One.\n#\n# Not here: two (201).\n\n";
}


sub imports(@names) {
    return "use JppA qw( @names );\n";
}


sub run_module {
    return 'our @EXPORT_OK = qw( slurp );' . "\n\n\n" . function('slurp', 1);
}


# A function in Perl, whose body is the number N.

sub function($name, $n) {
    return "sub $name {\n    $n;\n}\n";
}


sub map_of($rows) {
    return "<!-- the map: ./dev map writes it -->\n$rows"
           . "<!-- end of the map -->\n";
}
