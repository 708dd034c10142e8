#!/usr/bin/perl

# The rules of the house, over every file that git knows or would add: prints
# each line that breaks one and ends with 1 if there was any.

use FindBin;
use lib "$FindBin::RealBin/../t/lib";

use JppPerl;

use File::Basename;

my $broken = 0;

my @files = grep { -f } split /\n/,
    `git ls-files --cached --others --exclude-standard`;

my @c = grep { /\.[ch]$/ } @files;

# The Perl and the shell of tests and tools.

my @scripts = grep {
    m{^(?:t|tools|bench)/.*\.(?:t|pm|pl|sh)$} || $_ eq 'dev'
} @files;

# Each foreign thing has one owner: what names it, and where that may be.

my @owners = (
    [ qr/#include\s*<(?:zlib|zconf)\.h>/, 'src/core/base/jpp_gzip.c' ],
    [ qr/#include\s*<(?:gelf|libelf|elf)\.h>/, 'src/core/elf/jpp_elf_read.c' ],
    [ qr/#include\s*[<"](?:protobuf-c|profile\.pb-c)/,
      'src/core/output/jpp_pprof.c' ],
    [ qr/__cxa_demangle/, 'src/core/symbol/jpp_names.c' ],
    [ qr/(?<!jpp_)mallctl\b|malloc_stats_print/,
      'src/core/heap/jpp_mallctl.c' ],
    [ qr/\bmemfd_create\s*\(/, 'src/core/process/jpp_memfd.c' ],
    [ qr{/proc/self/maps}, 'src/core/process/jpp_proc.c' ],
    [ qr{/proc/self/pagemap}, 'src/core/host/jpp_smaps.c' ],
    [ qr/\bmremap\s*\(/, 'src/core/base/jpp_arena.c' ],
    [ qr/\bSYS_clone\b/, 'src/core/process/jpp_copy.c' ],
    [ qr/\bdl_iterate_phdr\s*\(/, 'src/core/process/jpp_images.c' ],
    [ qr/\bsigaction\s*\(SIGPROF\b/, 'src/core/process/jpp_signal.c' ],
    [ qr/\bSIGXFSZ\b/, 'src/core/base/jpp_write.c' ],
);

# The rooms of src/, from the ground up: a file includes only what lies in its
# own room or in one before it.

my @rooms = ((map { "core/$_" } qw( base options elf profile read unwind process
                                    lua heap cpu stalls symbol output host
                                    report fleet diagnosis ledger answers )),
             'nginx',
             (map { "nginx/$_" } qw( ask walk serving worker http resource
                                     conf )));
my %floor = map { $rooms[$_] => $_ } 0 .. $#rooms;

# What may not stand in the core, and who may do it all the same: whether
# malloc() is jemalloc's is seen by calling it, and functions of nginx that pass
# memory on are known by name.

my @core = (
    [ qr/\bngx_|\bNGX_|<ngx/, 'nginx in the core',
      'src/core/output/jpp_wrappers.c' ],
    [ qr/\b(?:malloc|calloc|realloc|strdup|asprintf|qsort|fopen)\s*\(/,
      'memory from malloc in the core', 'src/core/heap/jpp_mallctl.c' ],
    [ qr/\b(?:assert|abort|exit|printf|fprintf|perror|puts)\s*\(/,
      'the core neither prints nor ends' ],
    [ qr/\b(?:strcpy|strcat|sprintf|gets|strtok|alloca)\s*\(/, 'no bounds' ],
);

# How many lines a file of src/ or the module may have, and a function there and
# elsewhere.

my ($max_file, $max_src, $max_function) = (1000, 100, 120);

# The look of C, by line.

my @look = (
    [ qr/\t/, 'a tab' ],
    [ qr/[ \t]$/, 'blanks at the end of a line' ],
    [ qr/^.{81,}/, 'more than 80 columns' ],
    [ qr/^[^"]*(?<![:"'])\/\//, 'a line comment' ],
    [ qr/\b(?:if|for|while|switch)\(/, 'a keyword without a blank behind it' ],
    [ qr/^\s+else\b/, 'else on a line of its own' ],
    [ qr/\)\{/, 'a brace without a blank before it' ],
    [ qr/\bTODO\b|\bFIXME\b|\bXXX\b/, 'work left undone' ],
);

# That of scripts: beside a library there may be one of another architecture.

my @script_look = (
    @look[0, 2, 7],
    [ qr{/usr/lib\*?/\*}, 'a library by pattern: the loader and gcc '
                          . '-print-file-name find that of this architecture' ],
);


for my $file (@files) {
    next unless -T $file;
    next if $file =~ m{^t/(?:data/[^/]+$|fuzz/corpus/)};

    my @lines = read_lines($file);

    complain($file, scalar @lines, 'no newline at the end')
        if @lines && $lines[-1] !~ /\n\z/;
    chomp @lines;

    check($file, \@lines, $look[1]);
    next unless $file =~ /\.[ch]$/;

    check($file, \@lines, @look);
    check($file, \@lines, @core) if $file =~ m{^src/core/};
    check_owners($file, \@lines);
    check_functions($file, \@lines) if $file =~ /\.c$/;
    check_header($file, \@lines) if $file =~ /\.h$/;
}

check_names();
check_includes();
check_declared();
check_sent();
check_map();
check_script($_, read_lines($_)) for @scripts;
check_imports($_) for grep { /\.(?:t|pm)$/ } @scripts;
check_helpers(grep { /\.(?:t|pm)$/ } @scripts);

exit $broken ? 1 : 0;


sub read_lines($file) {
    open my $fh, '<', $file or die "$file: $!\n";
    my @lines = <$fh>;

    return @lines;
}


sub complain($file, $line, $what) {
    print "$file:$line: $what\n";
    $broken = 1;
}


sub check($file, $lines, @rules) {
    for my $i (0 .. $#$lines) {

        my $code = $lines->[$i];

        # prose speaks of functions too

        my $is_comment = $code =~ m{^\s*(?:/\*|\*|[A-Za-z ,.()]+\*/)};

        for my $rule (@rules) {
            next if $is_comment && $rule->[1] =~ /core|ends|bounds|keyword/;
            next if ($rule->[2] // '') eq $file;
            complain($file, $i + 1, $rule->[1]) if $code =~ $rule->[0];
        }
    }
}


sub check_owners($file, $lines) {
    return if $file !~ m{^src/};

    for my $owner (@owners) {
        my ($pattern, $where) = @$owner;

        next if $file eq $where || $file eq $where =~ s/c$/h/r;

        for my $i (0 .. $#$lines) {
            next if $lines->[$i] =~ m{^\s*/?\*};

            complain($file, $i + 1, "only $where may do that")
                if $lines->[$i] =~ $pattern;
        }
    }
}


# Files and functions have an end, and two blank lines lie between functions.

sub check_functions($file, $lines) {
    my $is_ours = $file =~ m{^src/|_module\.c$};
    my $max = $is_ours ? $max_src : $max_function;
    my $start;

    complain($file, scalar @$lines, "a file of more than $max_file lines")
        if $file =~ m{^(?:src/|[^/]+$)} && @$lines > $max_file;

    for my $i (0 .. $#$lines) {

        $start = $i if $lines->[$i] eq '{';

        if ($lines->[$i] eq '}' && defined $start) {

            complain($file, $start + 1, "a function of more than $max lines")
                if $i - $start > $max;

            complain($file, $i + 1, 'no two blank lines behind a function')
                if $i < $#$lines
                   && $lines->[$i + 1] !~ /^#/
                   && ($lines->[$i + 1] ne ''
                       || ($lines->[$i + 2] // '') ne ''
                          && $lines->[$i + 2] !~ /^#/);

            undef $start;
        }
    }
}


# A header opens with what it is for, and is guarded.

sub check_header($file, $lines) {
    my ($name) = $file =~ m{([^/]+)\.h$};
    my $guard = '_' . uc($name) . '_H_INCLUDED_';

    complain($file, 1, 'does not open with a comment')
        if ($lines->[1] // '') !~ m{^/\*};

    complain($file, 1, "is not guarded by $guard")
        unless grep { $_ eq "#define $guard" } @$lines;
}


# Files carry our prefix: objects of two addons may land in one folder.

sub check_names {
    my %seen;

    for my $file (@c) {
        my ($name) = $file =~ m{([^/]+)$};

        complain($file, 1, 'its name has no prefix of ours')
            if $file =~ m{^src/} && $name !~ /^(?:jpp_|ngx_http_jpp(?=[_.]))/;

        complain($file, 1, "the same name as $seen{$name}")
            if $file =~ m{^src/} && $seen{$name};

        $seen{$name} = $file;
    }
}


# The table of rooms holds, and inside a room no two files need each other.

sub check_includes {
    my (%room, %needs);

    for my $file (@c) {
        $room{$2} = $1 if $file =~ m{^src/(.+)/([^/]+\.h)$};
    }

    for my $file (grep { m{^src/} } @c) {
        my ($room, $stem) = $file =~ m{^src/(.+)/([^/]+)\.[ch]$};

        complain($file, 1, "src/$room is no room of the table in tools/lint.pl")
            unless exists $floor{$room};

        my @lines = read_lines($file);

        for my $i (0 .. $#lines) {
            my ($name) = $lines[$i] =~ /^#include "([^"]+\.h)"/ or next;
            my $there = $room{$name} or next;

            complain($file, $i + 1, "src/$there is above src/$room")
                if ($floor{$there} // 0) > ($floor{$room} // 0);

            $needs{$stem}{ $name =~ s/\.h$//r } = 1;
        }
    }

    check_circle(\%needs, $_) for sort keys %needs;
    check_brought();
}


# A file includes nothing that another of its headers brings, but its own.

sub check_brought {
    my (%path, %brings);

    for my $file (grep { m{^src/} } @c) {
        my ($name) = $file =~ m{([^/]+)$};
        my %named = map { /^#include "([^"]+)"/ ? ($1 => 1) : () }
                    read_lines($file);

        $path{$name} = $file;
        $brings{$name} = \%named;
    }

    for my $name (sort keys %path) {
        my $own = $name =~ s/c$/h/r;

        for my $other (sort keys %{ $brings{$name} }) {
            my @next = grep { $_ ne $other } keys %{ $brings{$name} };
            my %seen;

            while (defined(my $one = shift @next)) {
                push @next, keys %{ $brings{$one} // {} } unless $seen{$one}++;
            }

            complain($path{$name}, 1, "$other comes with another header")
                if $seen{$other} && $other ne $own && $name ne 'jpp_core.h';
        }
    }
}


# Does something that STEM needs, directly or not, need STEM?

sub check_circle($needs, $stem) {
    my @next = sort keys %{ $needs->{$stem} };
    my %seen;

    while (defined(my $other = shift @next)) {
        next if $other eq $stem || $seen{$other}++;

        if ($needs->{$other}{$stem}) {
            complain("$stem.[ch]", 1, "a circle with $other");
            return;
        }

        push @next, sort keys %{ $needs->{$other} };
    }
}


# What others may call is declared in the header of the file that defines it; if
# it has none, in one of its room.

sub check_declared {
    for my $file (grep { m{^src/.*\.c$} } @c) {
        my $header = $file =~ s/c$/h/r;
        my ($room) = $file =~ m{(.*)/};

        my @headers = -e $header ? $header : grep { m{^$room/[^/]+\.h$} } @c;
        my $declared = join '', map { read_lines($_) } @headers;

        my @lines = read_lines($file);

        for my $i (1 .. $#lines) {
            my ($name) = $lines[$i] =~ /^(\w+)\(/ or next;

            next if $lines[$i - 1] !~ /^\w[\w *]*$/
                    || $lines[$i - 1] =~ /^static\b/;

            complain($file, $i + 1, "$name() is not declared in its header")
                unless $declared =~ /\b$name\(/;
        }
    }
}


# NGX_OK of a function that sends an answer means that it was sent.  Whoever
# takes it for "go on" sends another one, which loses the client's next request:
# so what such a function returns is returned, and not compared with NGX_OK.

sub check_sent {
    my @functions = map { functions_of($_) } grep { m{^src/nginx/.*\.c$} } @c;
    my %sends = (ngx_http_send_header => 1, ngx_http_output_filter => 1);
    my $n = 0;

    while ($n != keys %sends) {
        $n = keys %sends;

        for (@functions) {
            my ($name, $body) = @$_[2, 3];

            $sends{$name} = 1
                if grep { $sends{$_} } map { /\b(\w+)\(/g }
                   $body =~ /\breturn\b([^;]*);/g;
        }
    }

    for (@functions) {
        my ($file, $line, $name, $body) = @$_;

        while ($body =~ /\b(\w+)\(/g) {
            my ($called, $text) = ($1, substr $body, 0, $-[1]);
            my ($before) = $text =~ /([^;{}]*)\z/;

            next if !$sends{$called}
                    || $before =~ /\breturn\b|\bngx_http_finalize_request\(/
                    || $before =~ /\b(\w+) = \z/
                       && $body !~ /\b$1 [!=]= NGX_OK\b/;

            complain($file, $line + ($text =~ tr/\n//),
                     "$called() sends an answer: return its result");
        }
    }
}


# The functions of a file: it, the line of the opening brace, name, body without
# comments.

sub functions_of($file) {
    my $text = join '', read_lines($file);
    my @functions;

    $text =~ s{(/\*.*?\*/)}{ $1 =~ s/[^\n]//gr }gse;

    while ($text =~ /^(\w+)\([^;{]*\)\n\{\n(.*?)^\}/gms) {
        push @functions, [ $file, 1 + (substr($text, 0, $-[2]) =~ tr/\n//),
                           $1, $2 ];
    }

    return @functions;
}


# Documents have what tools/map.pl makes.

sub check_map {
    my $tool = dirname(__FILE__) . '/map.pl';

    for my $where ('docs/files.md', 'docs/jemalloc-pprof.1') {
        next unless grep { $_ eq $where } @files;

        my $map = qx{perl "$tool" $where -};

        complain($where, 1, 'its map is old: ./dev map')
            if $? != 0 || $map ne join '', read_lines($where);
    }
}


# The look of Perl and shell; and a suite of t/fleet says at its head what it is
# about, and where the rest is: there are many, and they share an actor.

sub check_script($file, @lines) {
    chomp @lines;
    check($file, \@lines, @script_look);

    return if $file !~ m{^t/fleet/};

    shift @lines if @lines && $lines[0] =~ /^#!/;
    shift @lines while @lines && $lines[0] eq '';

    my @head;

    push @head, shift @lines while @lines && $lines[0] =~ /^#/;

    complain($file, 1, 'does not open with a comment')
        if !@head || $head[0] =~ /^# Not here:/;
    complain($file, 1, 'its first comment has no "Not here:"')
        unless grep { /^# Not here: \S/ } @head;
}


# What is taken from t/lib is used.

sub check_imports($file) {
    my $text = join '', read_lines($file);
    my $import = qr/^use (Jpp\w+) qw\((.*?)\);\n/ms;
    my $rest = $text =~ s/$import//gr;

    while ($text =~ /$import/g) {
        my ($module, $names) = ($1, $2);

        for my $name (split ' ', $names) {
            my ($sigil, $word) = $name =~ /^(\W?)(\w+)$/;

            complain($file, 1, "does not use $name of $module")
                if $rest !~ ($sigil ? qr/\Q$sigil\E\{?$word\b/
                                    : qr/(?<![\w\$\@%>])$word\b/);
        }
    }
}


# A helper is defined once: what JppRun has no other file defines, and no two
# files have the same function.

sub check_helpers(@perl) {
    my ($run) = grep { m{/JppRun\.pm$} } @perl;
    my ($exported) = join('', $run ? read_lines($run) : ())
                     =~ /\@EXPORT_OK = qw\((.*?)\)/s;
    my %is_exported = map { $_ => 1 } split ' ', $exported // '';
    my %seen;

    for my $file (@perl) {
        my $text = join '', read_lines($file);

        while ($text =~ /^sub (\w+)(?:\(.*?\))? \{\n(.*?)^\}/msg) {
            my ($name, $body) = ($1, $2);

            $body =~ s/\s+/ /g;

            complain($file, 1, "$name() is JppRun's")
                if $is_exported{$name} && $file ne $run;
            complain($file, 1, "$name() is that of $seen{$body}")
                if $seen{$body};

            $seen{$body} = $file;
        }
    }
}
