#!/usr/bin/perl

# ./dev mutants: which changes of a small core its units notice, which they do
# not, and which are none.

use JppTest;
use File::Copy qw( copy );

# seconds until a unit that goes on for ever is ended

$ENV{JPP_PATIENCE} = 4;

my $core = <<'END';
int jpp_small(int n);
int jpp_ends(void);
int jpp_least(int a, int b);

int
jpp_small(int n)
{
    if (n < 3) {
        return 1;
    }

    return 0;
}
END

# All that can be changed: the bound, the condition, and what is returned.

my $lives = <<'END';
src/core/base/jpp_small.c:8
    -     if (n < 3) {
    +     if (n <= 3) {
END

for (
    [ 'a unit that looks on both sides of the bound',
      $core, 'jpp_small(2) == 1 && jpp_small(3) == 0',
      0, '', '4 of 4 mutants killed, 100.0 %' ],

    [ 'one that looks beside it',
      $core, 'jpp_small(2) == 1 && jpp_small(4) == 0',
      1, $lives, '3 of 4 mutants killed, 75.0 %' ],

    [ 'what does not end',
      "$core\n\nint\njpp_ends(void)\n{\n    volatile int  i = 0;\n\n"
      . "    while (i != 0) { }\n\n    return 0;\n}\n",
      'jpp_small(2) == 1 && jpp_small(3) == 0 && jpp_ends() == 0',
      0, '', '7 of 7 mutants killed, 100.0 %' ],

    [ 'what lies beyond an array',
      "$core\n\nint  jpp_n = 3;\n\n\nint\njpp_ends(void)\n{\n"
      . "    int         i, sum;\n    static int  a[] = { 1, 2, 3 };\n\n"
      . "    for (i = 0, sum = 0; i < jpp_n; i++) {\n        sum += a[i];\n"
      . "    }\n\n    return sum;\n}\n",
      'jpp_small(2) == 1 && jpp_small(3) == 0 && jpp_ends() == 6',
      0, '', '7 of 7 mutants killed, 100.0 %' ],

    [ 'what lies beyond what is allocated',
      "#include <stdlib.h>\n$core\n\nint  jpp_n = 3;\n\n\nint\n"
      . "jpp_ends(void)\n{\n"
      . "    int  i, sum, *a = calloc(3, sizeof(int));\n\n    a[0] = 1;\n"
      . "    for (i = 0, sum = 0; i < jpp_n; i++) {\n        sum += a[i];\n"
      . "    }\n\n    free(a);\n\n    return sum;\n}\n",
      'jpp_small(2) == 1 && jpp_small(3) == 0 && jpp_ends() == 1',
      0, '', '7 of 7 mutants killed, 100.0 %' ],

    [ 'what is no change',
      "$core\n\nint\njpp_least(int a, int b)\n{\n"
      . "    if (a > b) {\n        a = b;\n    }\n\n"
      . "    return a * 2 + 0 + (a < b ? a : b);\n}\n",
      'jpp_small(2) == 1 && jpp_small(3) == 0 && jpp_least(3, 2) == 6'
      . ' && jpp_least(1, 2) == 3',
      0, '', '7 of 7 mutants killed, 100.0 %' ],
) {
    my ($name, $text, $check, $status, $living, $sum) = @$_;

    subtest $name => sub {
        my $tree = tree($text, $check);
        my ($is, $said) = mutants($tree, 20, 7);

        is($is, $status, 'its status');
        is($said, ($living ? "$living\n" : '') . "$sum, seed 7\n",
           'what is said');
    };
}

subtest 'a seed draws the same' => sub {
    my $tree = tree($core, '1');
    my (undef, $first) = mutants($tree, 2, 1);
    my (undef, $again) = mutants($tree, 2, 1);
    my %all = map { (mutants($tree, 2, $_))[1] =~ s/, seed.*//sr => 1 } 2 .. 6;

    like($first, qr/^0 of 2 mutants killed, 0\.0 %, seed 1$/m, 'as many');
    is($again, $first, 'and the same');
    cmp_ok(scalar keys %all, '>', 1, 'which other seeds do not');
};

subtest 'a unit that fails without a change' => sub {
    my ($status, $said) = mutants(tree($core, '0'), 1, 1);

    isnt($status, 0, 'notices nothing');
    like($said, qr/^mutants: jpp_small_test fails without a change: run /,
         'its sentence');
};

for (
    [ 'many', 1 ], [ 0, 1 ], [ 1, 'all' ], [ 1, 2, 3 ],
) {
    my ($status, $said) = mutants($root, @$_);

    isnt($status, 0, "@$_: refused");
    like($said, qr/^usage: \.\/dev mutants \[N\] \[SEED\]/,
         "@$_: its sentence");
}



# A core of one file with TEXT, and a unit that CHECKs.

sub tree($text, $check) {
    my $tree = File::Temp->newdir;

    make_path(map { "$tree/$_" } qw( src/core/base t/unit tools ));

    spew("$tree/src/core/base/jpp_small.c", $text);
    spew("$tree/t/unit/jpp_small_test.c", <<"END");
int jpp_small(int n);
int jpp_ends(void);
int jpp_least(int a, int b);

int  (*volatile jpp_linked)(int n) = jpp_small;

int
main(void)
{
    return $check ? 0 : 1;
}
END
    spew("$tree/tools/core.mk", <<'END');
dirs := $(shell mkdir -p $(OUT)/core/base $(OUT)/t)
strict := -Wall -Wextra -Werror

beside_units: $(OUT)/libjpp.a

$(OUT)/core/base/%.o: src/core/base/%.c; $(CC) $(FLAGS) $(strict) -c -o $@ $<

$(OUT)/libjpp.a: $(OUT)/core/base/jpp_small.o; rm -f $@; ar rcs $@ $^

$(OUT)/t/%: t/unit/%.c $(OUT)/libjpp.a; $(CC) $(FLAGS) -o $@ $^
END

    return $tree;
}


sub mutants($tree, @arguments) {
    my $said = `cd '$tree' && perl '$root/tools/mutants.pl' @arguments 2>&1`;

    return ($? >> 8, $said);
}
