#!/usr/bin/perl

# Are the units able to fail?  Changes the core in one place at a time, in a
# copy of the sources, and runs the units that reach the changed line until one
# of them fails.
#
#     perl tools/mutants.pl [N] [SEED]
#
# Prints the mutants that no unit noticed, and fails if fewer than 90 of 100
# were.  The same seed draws the same mutants of the same sources.
#
# A mutant is not counted, and another one is drawn in its place, if there is
# nothing to notice: it does not compile, it compiles to the same object, or it
# moves the bound between two expressions that are equal there, as in
# a < b ? a : b or if (a < b) { a = b; }.

use FindBin;
use lib "$FindBin::RealBin/../t/lib";

use JppPerl;
use JppRun qw( slurp spew );

use Cwd;
use File::Basename;
use File::Copy qw( copy );
use File::Find;
use File::Path qw( make_path remove_tree );
use POSIX qw( WNOHANG );
use Storable qw( retrieve store );
use Time::HiRes qw( sleep time );


my $goal = 90;

my $tree = 'build/mutants';

# What is copied, and what of it is changed: the core, whose tests are units.

my @sources = grep { -e } qw( src proto tools bench/generate t/unit t/lib
                              t/data t/fuzz );
my @core = sort glob('src/core/*/*.c');

# An operator stands between blanks.

my %operators = (
    '<'  => '<=',
    '<=' => '<',
    '>'  => '>=',
    '>=' => '>',
    '==' => '!=',
    '!=' => '==',
    '&&' => '||',
    '||' => '&&',
    '+'  => '-',
    '-'  => '+',
    '+=' => '-=',
    '-=' => '+=',
);

# What is returned instead; of anything else it is 0.

my %returned = (
    'true'   => 'false',
    'false'  => 'true',
    '0'      => '1',
    'JPP_OK' => 'JPP_ERR_SYS',
    'NULL'   => undef,
);

# A unit that runs so many times longer than when its lines are counted, and so
# many seconds, hangs.

my ($slower, $patience) = (10, $ENV{JPP_PATIENCE} // 20);

# What is undefined ends a unit, as in `./dev test`.  The sanitizers see what
# the first build does not, but take longer, and some units do without them.
# A mutant may take 8 GB: the addresses of the sanitizers are more.

my @builds = (
    { out => 'build/plain', cc => 'gcc',
      flags => '-O2 -fsanitize=undefined,bounds-strict '
               . '-fsanitize-undefined-trap-on-error',
      limits => 'ulimit -c 0; ulimit -v 8000000' },

    { out => 'build/sanitized', cc => 'clang',
      flags => '-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined '
               . '-fno-sanitize-recover=undefined',
      limits => 'ulimit -c 0' },
);

# Counts which lines each unit runs.  _exit() would lose the counts.

my $counting = { out => 'build/counting', cc => 'gcc',
                 flags => '-O0 --coverage -D_exit=exit' };


my $n = $ARGV[0] // 60;
my $seed = $ARGV[1] // 1;

die "usage: ./dev mutants [N] [SEED]: how many, and which\n"
    if @ARGV > 2 || $n !~ /^[1-9]\d*$/ || $seed !~ /^\d+$/;

chomp(my $jobs = `nproc`);
$| = 1;

copy_tree();
chdir $tree or die "$tree: $!\n";

my @units = map { basename($_, '.c') } glob 't/unit/*_test.c';

make($counting, map { "$counting->{out}/t/$_" } @units)
    or die "mutants: the units do not build\n";

for my $build ($counting, @builds) {
    make($build, 'beside_units') or die "mutants: the core does not build\n";
}

my %units = units();
my @points = map { points($_) } @core;
my ($made, $killed) = (0, 0);

srand $seed;

while (@points && $made < $n) {
    my $point = splice @points, int rand @points, 1;
    my $lived = try($point) // next;

    $made++;
    $killed += !$lived;
    print_mutant($point) if $lived;
    print STDERR "$made of $n, $killed killed\r" if -t STDERR;
}

die "mutants: there is nothing to change\n" if $made == 0;

printf "%d of %d mutants killed, %.1f %%, seed %s\n", $killed, $made,
       100 * $killed / $made, $seed;

exit($killed * 100 >= $made * $goal ? 0 : 1);


# Files that are as they were keep their times, so that what was built of them
# stays.

sub copy_tree {
    my %is_there;

    find({ no_chdir => 1, wanted => sub {
        return unless -f;

        my $copy = "$tree/$_";

        $is_there{$copy} = 1;
        make_path(dirname($copy));

        if (!-e $copy || slurp($_) ne slurp($copy)) {
            copy($_, $copy) or die "$copy: $!\n";
        }
    } }, @sources);

    find({ no_chdir => 1, wanted => sub {
        unlink if -f && !$is_there{$_};
    } }, grep { -e } map { "$tree/$_" } @sources);
}


sub make($build, @targets) {
    return !system command($build) . " -j $jobs @targets";
}


sub command($build) {
    return "make -s -f tools/core.mk OUT=$build->{out} CC=$build->{cc} "
           . "'FLAGS=$build->{flags}'";
}


# The units: how long each runs, and which lines of which file.  They are kept
# until the unit is built again.

sub units {
    my %kept = map { $_ => "$counting->{out}/$_.kept" } @units;
    my $running = 0;

    for my $unit (@units) {
        my $is_kept = -e $kept{$unit}
                      && -M $kept{$unit} < -M "$counting->{out}/t/$unit";

        next if $is_kept;

        wait if $running++ >= $jobs;

        if ((fork // die "fork: $!\n") == 0) {
            store(count_lines($unit), $kept{$unit});
            POSIX::_exit(0);
        }
    }

    1 while wait > 0;

    return map { $_ => retrieve($kept{$_}) } @units;
}


sub count_lines($unit) {
    my $counts = getcwd . "/$counting->{out}/$unit.counts";
    my $start = time;
    my (%lines, @counts, $file);

    remove_tree($counts);

    system "ulimit -c 0; GCOV_PREFIX=$counts timeout 600 "
           . "$counting->{out}/t/$unit >/dev/null 2>&1";

    my $time = time - $start;

    find(sub {
        my $notes = s/gcda$/gcno/r;

        return if $notes eq $_;

        symlink $File::Find::dir =~ s/^\Q$counts\E//r . "/$notes", $notes;
        push @counts, $File::Find::name;
    }, -d $counts ? $counts : ());

    for (@counts ? `gcov -t @counts 2>/dev/null` : ()) {
        $file = $1 if /^ +-: +0:Source:(.*)/;
        $lines{$file}{$2} = $1 ne '#####' if /^ *(\d+|#####)\*?: *(\d+):/;
    }

    remove_tree($counts);

    return { time => $time, lines => \%lines };
}


# All places of FILE where there is something to change: where it begins, what
# stands there, and what is to.

sub points($file) {
    my $text = slurp($file);
    my $code = blank($text);
    my @points;

    while ($code =~ /(?<=\s)([-+<>=!&|]{1,2})(?=\s)/g) {
        push @points, [ $-[1], $1, $operators{$1} ]
            if $operators{$1} && !is_same_at_bound($code, $-[1]);
    }

    while ($code =~ /\b(?:if|while) (\(((?:[^()]++|(?1))*)\))/g) {
        push @points, [ $-[1], substr($text, $-[1], $+[1] - $-[1]),
                        "(!" . substr($text, $-[1], $+[1] - $-[1]) . ")" ];
    }

    while ($code =~ /\breturn ([^;]+);/g) {
        my $is = substr $text, $-[1], $+[1] - $-[1];
        my $other = exists $returned{$is} ? $returned{$is} : 0;

        push @points, [ $-[1], $is, $other ] if defined $other;
    }

    return map { { file => $file, at => $_->[0], is => $_->[1],
                   other => $_->[2],
                   line => 1 + substr($text, 0, $_->[0]) =~ tr/\n// } }
           sort { $a->[0] <=> $b->[0] } @points;
}


# Are both sides of the colon equal where both sides of the operator at AT are,
# or does one become the other, which it is?

sub is_same_at_bound($code, $at) {
    substr($code, 0, $at) =~ /([\w.>\[\]-]+) $/ or return 0;
    my ($left, $behind) = ($1, substr $code, $at);

    return 1 if $behind =~ /^[<>]=? ([\w.>\[\]-]+)\) \{\s+\Q$left\E = \1;\s+\}/;

    $behind =~ /^[<>]=? ([\w.>\[\]-]+)\)*\s+\?([^:;]+):([^;,\]]+?)\)*[;,\]]/
        or return 0;
    my ($right, @sides) = ($1, $2, $3);

    # strings are blank, which are not the same; a cast changes neither side

    return 0 if grep { /__/ } @sides;

    s/^\s+|\s+$|\(\w+\) //g, s/\b\Q$right\E\b/$left/g,
        s/^\Q$left\E - \Q$left\E$/0/, s/^\Q$left\E$/$right/ for @sides;

    return $sides[0] eq $sides[1];
}


# TEXT, of the same length, without comments, strings and the preprocessor's
# lines.

sub blank($text) {
    $text =~ s{(/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])+')
               |(^\#(?:\\\n|[^\n])*)}
              { my $is = $1 // $2; $is =~ s/[^\n]/_/g; $is }gemsx;

    return $text;
}


# Did no unit notice POINT?  undef if there is nothing to notice.

sub try($point) {
    my $text = slurp($point->{file});
    my $changed = (stat $point->{file})[9];
    my $mutant = $text;
    my $lived;

    substr($mutant, $point->{at}, length $point->{is}) = $point->{other};
    spew($point->{file}, $mutant);

    for my $build (@builds) {
        $lived = lives($build, $point);
        last unless $lived;
    }

    spew($point->{file}, $text);
    utime $changed, $changed, $point->{file};

    return $lived;
}


# Does no unit of BUILD notice POINT?

sub lives($build, $point) {
    my $object = $point->{file} =~ s{^src/(.*)\.c$}{$build->{out}/$1.o}r;
    my $compiled = slurp($object);
    my ($lived, $failed);

    if (system(command($build) . " $object 2>build/log") == 0
        && slurp($object) ne $compiled)
    {
        make($build, "$build->{out}/libjpp.a") or die "mutants: no archive\n";
        $failed = failing($build, likeliest($point));
        $lived = !$failed;
    }

    spew($object, $compiled);

    if ($failed && !$build->{passes}{$failed}++) {
        make($build, "$build->{out}/libjpp.a") or die "mutants: no archive\n";

        die "mutants: $failed fails without a change: run ",
            "$tree/$build->{out}/t/$failed\n"
            if failing($build, $failed);
    }

    return $lived;
}


# The units that reach POINT, or its file if none does: those first that have
# the most words of the file's name, then the fastest.

sub likeliest($point) {
    my ($file, $at) = @$point{qw( file line )};
    my @words = split /_/, basename($file, '.c');
    my (%common, %reaches);

    for my $unit (keys %units) {
        my $lines = $units{$unit}{lines}{$file} // next;

        # a line that is not counted belongs to the one before it

        my ($counted) = grep { defined $lines->{$_} } reverse 1 .. $at;
        my ($i, @unit) = (0, split /_/, $unit);

        $i++ while $i < @words && $words[$i] eq ($unit[$i] // '');

        $reaches{$unit} = $counted && $lines->{$counted};
        $common{$unit} = $i;
    }

    my @reaching = grep { $reaches{$_} } keys %reaches;

    return sort { $common{$b} <=> $common{$a}
                  || $units{$a}{time} <=> $units{$b}{time} || $a cmp $b }
           @reaching ? @reaching : keys %reaches;
}


# Which of the UNITS fails in BUILD?  As many run at a time as there are
# processors.

sub failing($build, @units) {
    my (%running, $failed);

    while (%running || (@units && !$failed)) {
        if (@units && !$failed && keys %running < $jobs) {
            my $unit = shift @units;

            make($build, "$build->{out}/t/$unit")
                or die "mutants: a unit cannot be linked\n";

            $running{start($build, $unit)} = {
                unit => $unit,
                ends => time + $patience + $slower * $units{$unit}{time},
            };
            next;
        }

        my $pid = waitpid -1, WNOHANG;

        if ($pid > 0) {
            $failed //= $running{$pid}{unit} if $?;
            delete $running{$pid};
            kill 'KILL', -$pid;

        } else {
            ($failed) = map { $_->{unit} } grep { $_->{ends} < time }
                        values %running unless $failed;
            sleep 0.01;
        }

        kill 'KILL', map { -$_ } keys %running if $failed;
    }

    return $failed;
}


# A process group of its own, so that all of it can be ended.

sub start($build, $unit) {
    my $pid = fork // die "fork: $!\n";

    if ($pid == 0) {
        setpgrp;
        exec 'sh', '-c', "$build->{limits}; "
             . "exec $build->{out}/t/$unit >/dev/null 2>&1";
    }

    return $pid;
}


sub print_mutant($point) {
    my ($file, $at, $is, $other) = @$point{qw( file at is other )};
    my $text = slurp($file);
    my $start = 1 + rindex $text, "\n", $at;
    my $end = index $text, "\n", $at + length $is;
    my $before = substr $text, $start, $end - $start;
    my $after = $before;

    substr($after, $at - $start, length $is) = $other;

    print "$file:$point->{line}\n", map({ "    - $_\n" } split /\n/, $before),
          map({ "    + $_\n" } split /\n/, $after), "\n";
}

