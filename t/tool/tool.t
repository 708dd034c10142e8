#!/usr/bin/perl

# The tool: each option, each exit code, each sentence; and that a failure
# leaves nothing behind.  Dumps, good and bad, cut and damaged, are rows of
# t/unit/jpp_heap_test.c.
#
# The tool is $JPP_BUILD/jemalloc-pprof, or in build/.  Nothing is built here.

use JppTest;
use Fcntl qw(:mode);
use IO::Handle;
use JppDump qw( counts dump_of gzipped maps megabytes stack );
use JppProfile qw( read_profile );
use JppTool qw( $dir $tool finish gives keeps_contract listing refuses run
                start );
use POSIX qw(mkfifo);

$ENV{LC_ALL} = 'C';

my $more = '(see jemalloc-pprof --help)';
my $folded = "libc.so.6+0x1300;jpp-no-prog+0x300;jpp-no-prog+0x200";

my $one = spew("$dir/one.heap", dump_of());
my $two = spew("$dir/two.heap",
               dump_of(stacks => stack(counts(2, 300), 0x400201)));
my $accum = spew("$dir/accum.heap", dump_of(
    stacks => stack(counts(1, 10, 4, 40), 0x400201)
              . stack(counts(0, 0, 3, 30), 0x400301)));

# a real one, from another kernel

my $real = "$root/t/data/nginx-530.heap";
my @real = ('--any-kernel', $real);

sub profile($bytes) { return read_profile(checked($bytes, '--print')) }
sub files($profile) { return join ' ', sort keys %{ $profile->{labels}{file} } }


test 'formats' => sub {
    my $pprof = gives('pprof, when stdout is a file', qr/^\x1f\x8b\x08/, $one);

    keeps_contract('it is a profile', $pprof);
    gives('pprof, when asked for', $pprof, '--format=pprof', $one);
    gives('the same bytes again', $pprof, $one);

    gives('text', "heap profile: 1: 100 [0: 0] @ heap_v2/1\n"
          . "1: 100 [0: 0] @ 0x400201 0x400301 0x7f0000200301\n"
          . maps() =~ s/^0+|-\K0+//gmr, '--format=text', $one);
    gives('folded', "$folded 100\n", '--format=folded', $one);
    gives('top', qr/\Ainuse_space:\ 100\ B\ in\ 1\ stack.*\n
                    .*flat.*cum.*function\n
                    .*100\ B\ .*\ jpp-no-prog\+0x200\n/x,
          '--format=top', $one);

    gives('jemalloc', slurp($one), '--format=jemalloc', $one);
    gives('jemalloc, whatever the type', slurp($one), '--format=jemalloc',
          '--type=alloc_space', $one);
    gives('jemalloc, a real one', slurp($real), '--format=jemalloc', @real);

    my $cut = spew("$dir/cut.heap", substr dump_of(), 0, -1);

    refuses('jemalloc, but cut', 1, qr/^\Q$cut\E:\d+: the dump was cut/,
            '--format=jemalloc', $cut);
    unlink $cut;

    for my $format (qw( pprof text jemalloc folded top )) {
        my @args = ("--format=$format", @real);

        gives("$format is the same twice", run(@args)->{out}, @args);
    }
};


test 'types' => sub {
    gives('inuse_space', qr/ 100$/, '--format=folded', '--type=inuse_space',
          $one);
    gives('inuse_objects', qr/ 1$/, '--format=folded', '--type=inuse_objects',
          $one);
    gives('alloc_space', "jpp-no-prog+0x200 40\njpp-no-prog+0x300 30\n",
          '--format=folded', '--type=alloc_space', $accum);
    gives('alloc_objects', "jpp-no-prog+0x200 4\njpp-no-prog+0x300 3\n",
          '--format=folded', '--type=alloc_objects', $accum);
    gives('top of a type', qr/\Aalloc_objects: 7 in 2 stack/,
          '--format=top', '--type=alloc_objects', $accum);

    my $pprof = gives('pprof of a type', undef, '--type=alloc_space', $accum);

    is(profile($pprof)->{default}, 'alloc_space', 'its default type');
    keeps_contract('it is a profile', $pprof);

    refuses('a type that is not in the dump', 1,
            'alloc_space is not in this profile: jemalloc counts freed '
            . "memory only with prof_accum:true; the module's sampler always "
            . 'counts it: POST sampler=on to control',
            '--type=alloc_space', $one);
};


test 'other options' => sub {
    my @args = ('--format=folded', named($tool, 'main', '_start'));

    SKIP: {
        skip 'no nm', 3 if @args == 1;

        gives('with names', "_start;main 1\n", @args);
        gives('--symbolize=1', run(@args)->{out}, '--symbolize=1', @args);
        gives('--symbolize=0', qr/^(?:jemalloc-pprof\+0x[0-9a-f]+[; ]){2}1$/,
              '--symbolize=0', @args);
    }

    # the compiler knows the one of this architecture

    chomp(my $cxx = printed('gcc -print-file-name=libstdc++.so.6') // '');

    SKIP: {
        my $dump = named(abs_path($cxx) // '', '_ZSt9terminatev');

        skip 'no libstdc++.so.6', 1 if !$dump;
        gives('a name of C++', "std::terminate() 1\n", '--format=folded',
              $dump);
    }

    unlink "$dir/named.heap";

    my %size;

    for my $level (1 .. 9) {
        my $pprof = gives("--level=$level", undef, '--level', $level, @real);

        keeps_contract("it is a profile", $pprof);
        $size{$level} = length $pprof;
    }

    cmp_ok($size{9}, '<', $size{1}, '9 is smaller than 1');
    is(length gives('1 is the default', undef, @real), $size{1}, 'its size');

    gives('--version', qr/\Ajemalloc-pprof \d+\.\d+\.\d+\n\z/, '--version');

    my $help = gives('--help', qr/\Ausage: jemalloc-pprof /, '--help');

    gives('--help, whatever follows', $help, '--help', '--no-such');

    my ($examples) = $help =~ /^Examples:\n((?:  .*\n)+)\z/m;

    is(() = ($examples // '') =~ /^  jemalloc-pprof /mg, 3, 'three examples');
    like($help, qr/^ {20,}$_ {2,}\w/m, "it lists the format $_")
        for qw( pprof text jemalloc folded top );
    is(() = $help =~ /^.{80,}$/mg, 0, 'it fits a terminal');

    for my $option (qw( format type base symbolize level any-kernel output
                        help version )) {
        like($help, qr/--$option\b/, "it names --$option");
    }

    # one version in one place

    my ($version) = slurp("$root/src/core/base/jpp_version.h")
        =~ /JPP_VERSION\s+"(.*)"/;

    is(run('--version')->{out}, "jemalloc-pprof $version\n",
       '--version prints the version of the header');
    is(profile(run($one)->{out})->{comments}[-2], "jemalloc-pprof $version",
       'the version in a comment');
    is(profile(run($one)->{out})->{comments}[-1], "dump $one",
       'the dump in a comment');
};


# A dump with a stack of functions of the ELF file PATH, by their symbols, leaf
# first; nothing if nm does not list all of them.

sub named($path, @symbols) {
    my %at = map { /^([0-9a-f]+) \S ([^\s@]+)/ ? ($2 => hex $1) : () }
             `nm $path 2>/dev/null`, `nm -D $path 2>/dev/null`;
    my ($device, $inode) = (stat $path)[0, 1];

    return if grep { !$at{$_} } @symbols;

    my $start = 0x10000000;
    my $maps = sprintf "%x-%x r-xp 00000000 %02x:%02x %d %s\n", $start,
                       $start + -s $path, $device >> 8 & 0xfff,
                       $device & 0xff | $device >> 12 & 0xfff00, $inode, $path;

    return spew("$dir/named.heap", dump_of(
        stacks => stack(counts(1, 1), map { $start + $at{$_} + 2 } @symbols),
        maps => maps($maps)));
}


test 'how options are written' => sub {
    my $out = "$dir/spelled";

    gives('--key value', "$folded 100\n", '--format', 'folded', $one);
    gives('options behind files', "$folded 100\n", $one, '--format=folded');

    for my $args ([ '-o', $out ], [ "-o$out" ], [ "--output=$out" ],
                  [ '--output', $out ]) {

        gives("@$args", '', '--format=folded', @$args, $one);
        is(-e $out && slurp($out), "$folded 100\n", 'it is written');
        unlink $out;
    }

    chdir $dir or die;
    spew('--format=top', dump_of());

    gives('--', "$folded 100\n", '--format=folded', '--', '--format=top');
    gives('a file ./-x', "$folded 100\n", '--format=folded', './--format=top');

    unlink '--format=top';
    chdir $root or die;
};


test 'options that are refused' => sub {
    my %sentence = (
        '--format=x' => $formats,
        '--type=space' => 'type must be inuse_space, inuse_objects, '
                          . 'alloc_space or alloc_objects',
        '--symbolize=yes' => 'symbolize must be 0 or 1',
        '--sort=flats' => 'sort must be flat or cum',
        '--n=0' => 'n must be a whole number from 1 to 1000',
        '--callers=2' => 'callers must be 0 or 1',
        '--cols=19' => 'cols must be a whole number of columns from 20 to 1000',
        '--width=0' => 'width must be a whole number of pixels from 300 to '
                       . '8000',
        '--invert=2' => 'invert must be 0 or 1',
        '--level=0' => 'level must be 1 to 9',
        '--level=10' => 'level must be 1 to 9',
        '--level=' => 'level must be 1 to 9',
        '--nonsense' => 'unknown option --nonsense',
        '--nonsense=1' => 'unknown option --nonsense',
        '--forma=top' => 'unknown option --forma',
        '--debug=1' => 'unknown option --debug',
        '--seconds=1' => 'unknown option --seconds',
        '--worker=0' => 'unknown option --worker',
        '--strict=1' => 'unknown option --strict',
        '--=1' => 'unknown option --',
        '-x' => 'unknown option -x',
        '-top' => 'unknown option -top',
        '--help=1' => '--help takes no value',
        '--any-kernel=1' => '--any-kernel takes no value',
        '--pools=1' => '--pools takes no value',
        '--list=1' => '--list takes no value',
    );

    for my $option (sort keys %sentence) {
        refuses($option, 2, "$sentence{$option} $more", $option, $one);
    }

    for my $option (qw( format type symbolize sort n callers width cols
                        invert level base output member )) {
        refuses("--$option without", 2, "--$option needs a value $more", $one,
                "--$option");
    }

    my %value = ( format => 'top', type => 'inuse_space', symbolize => 1,
                  sort => 'cum', n => 1, callers => 0, level => 1,
                  width => 300, cols => 80, invert => 1,
                  base => $one, member => 'x', output => "$dir/never" );

    for my $option (sort keys %value) {
        refuses("--$option twice", 2, "--$option is given twice $more",
                ("--$option=$value{$option}") x 2, $one);
    }

    refuses('an empty name', 2, "--output needs a value $more", '-o', '', $one);
    refuses('-o without', 2, "--output needs a value $more", $one, '-o');
    refuses('-o and --output', 2, "--output is given twice $more", '-o',
            "$dir/never", "--output=$dir/never", $one);
    refuses('no file', 2, "no FILE given $more");
    refuses('no file but options', 2, "no FILE given $more",
            '--format=top', '--base', $one);
    refuses('stdin twice', 2, "stdin (-) is given twice $more", '-', '-');
    refuses('stdin as base too', 2, "stdin (-) is given twice $more",
            '--base=-', '-');

    my $not_one = 'format=jemalloc serves a single dump unchanged: choose one '
                  . "worker or file, and no difference $more";

    refuses('jemalloc of two', 2, $not_one, '--format=jemalloc', $one, $two);
    refuses('jemalloc and a base', 2, $not_one, '--format=jemalloc', $one,
            '--base', $two);

    refuses('4097 files', 2, "more than 4096 dumps $more", ($one) x 4097);
    refuses('4096 and a base', 2, "more than 4096 dumps $more", '--base', $one,
            ($one) x 4096);
    gives('4096 files', "$folded 409600\n", '--format=folded', ($one) x 4096);
};


test 'several files' => sub {
    my $pprof = gives('two files', undef, $one, $two);
    my $profile = profile($pprof);

    keeps_contract('it is a profile', $pprof);
    is(files($profile), "$one $two", 'a label says which');
    is(join(', ', @{ $profile->{comments} }[-2, -1]),
       "dump $one, dump $two", 'comments say which');

    is(files(profile(run($one)->{out})), '', 'one file has no label');
    is(@{ profile(run($one, $one)->{out})->{samples} }, 1,
       'a file that is given twice adds up');
    gives('folded', "$folded 100\njpp-no-prog+0x200 300\n",
          '--format=folded', $one, $two);
    gives('folded, the same one twice', "$folded 200\n", '--format=folded',
          $one, $one);
    gives('text', qr/\Aheap profile: 3: 400 \[0: 0\] @/, '--format=text',
          $one, $two);

    # a name is shown, not obeyed

    my $odd = spew("$dir/a \e[31mb\xff.heap", dump_of());
    like(files(profile(run($odd, $two)->{out})),
         qr{^\Q$dir\E/a \?\[31mb\?\.heap },
         'what is not text in a name');
    unlink $odd;
};


test 'a base' => sub {
    my $pprof = gives('the same as base', undef, '--base', $one, $one);
    my $profile = profile($pprof);

    keeps_contract('it is a profile', $pprof);
    is($profile->{samples}, undef, 'nothing is left');
    cmp_ok($profile->{duration}, '>', 0, 'it has a duration');
    is($profile->{comments}[-1], "dump $one (base)", 'a comment names it');
    gives('folded', '', '--format=folded', '--base', $one, $one);

    gives('a difference', "jpp-no-prog+0x200 300\n$folded -100\n",
          '--format=folded', '--base', $one, $two);
    gives('top says so', qr/\Ainuse_space \(difference\): 200 B in 2 stack/,
          '--format=top', '--base', $one, $two);

    # files that meet the base have no labels

    my $several = gives('two files and a base', undef, '--base', $one, $one,
                        $two);

    keeps_contract('it is a profile', $several);
    is(files(profile($several)), '', 'no label');
    is(@{ profile($several)->{samples} }, 1, 'and so one sample is left');

    gives('of a file that is in there', "jpp-no-prog+0x200 300\n",
          '--format=folded', '--base', $one, $one, $two);

    refuses('no such base', 1,
            "$dir/none: cannot be opened: No such file or directory",
            '--base', "$dir/none", $one);

    my $bad = spew("$dir/bad.heap", "no dump\n");

    refuses('a bad base', 1, "$bad:1: not a heap dump of jemalloc: it does "
            . 'not start with heap_v2/', '--base', $bad, $one);
    refuses('a bad file beside a good base', 1, qr/^\Q$bad\E:1: not a heap/,
            '--base', $one, $bad);
    refuses('the second of three', 1, qr/^\Q$bad\E:1: not a heap/, $one, $bad,
            $two);
    unlink $bad;
};


test 'time' => sub {
    my $second = 1_000_000_000;

    utime 1000, 1_700_000_000, $one;
    utime 1000, 1_700_000_060, $two;

    my $time = sub { profile(run(@_)->{out}) };

    is($time->($one)->{time}, 1_700_000_000 * $second, 'of the file');
    is($time->($one)->{duration}, 0, 'a snapshot has no duration');
    is($time->($two, $one)->{time}, 1_700_000_060 * $second,
       'of the newest file');
    is($time->({ stdin => $two }, '-')->{time}, 1_700_000_060 * $second,
       'of a file on stdin');

    my $difference = $time->('--base', $one, $two);

    is($difference->{time}, 1_700_000_060 * $second, 'not of the base');
    is($difference->{duration}, 60 * $second, 'the time since the base');
    is($time->('--base', $two, $one)->{duration}, 1,
       'a base that is newer');

    my $before = int(time) * $second;
    my $now = through_pipe($one, '-')->{out};

    cmp_ok(profile($now)->{time}, '>=', $before, 'of a pipe: now');
    cmp_ok(profile($now)->{time}, '<=', (time + 1) * $second, 'and not later');

    utime undef, undef, $one, $two;
};


# The tool, with FILE on its stdin, in pieces.

sub through_pipe($file, @args) {
    my $data = slurp($file);
    my $size = 1 + int length($data) / 7;

    pipe my $parser, my $writer or die;

    my $writes = fork() // die;

    if ($writes == 0) {
        close $parser;
        $writer->autoflush(1);

        for (my $pos = 0; $pos < length $data; $pos += $size) {
            print $writer substr $data, $pos, $size;
            sleep 0.002;
        }

        POSIX::_exit(0);
    }

    close $writer;

    my $result = finish(start({ stdin => $parser }, $tool, @args));

    waitpid $writes, 0;

    return $result;
}


test 'stdin' => sub {
    gives('a file', "$folded 100\n", { stdin => $one }, '--format=folded',
          '-');
    is(through_pipe($one, '--format=folded', '-')->{out}, "$folded 100\n",
       'a pipe');
    is(through_pipe($real, '--format=text', '--any-kernel', '-')->{out},
       run('--format=text', @real)->{out}, 'a pipe, a large dump');
    is(through_pipe($one, '--format=folded', '--base=-', $two)->{out},
       "jpp-no-prog+0x200 300\n$folded -100\n", 'the base');

    my $profile = profile(run({ stdin => $one }, '-', $two)->{out});

    is(files($profile), "$two stdin", 'its label');
    is($profile->{comments}[-2], 'dump stdin', 'its comment');

    refuses('nothing', 1, 'stdin:1: the dump is empty', '-');
    refuses('something else', 1, qr/^stdin:1: not a heap dump of jemalloc/,
            { stdin => '/etc/passwd' }, '-');
    refuses('a directory', 1, 'stdin: cannot be read: Is a directory',
            { stdin => $dir }, '-');
    for my $args ([ '-' ], [ $one, '-' ], [ '-o', "$dir/never", '-' ]) {
        refuses("closed, @$args", 1, 'stdin: cannot be read: Bad file '
                . 'descriptor', { before => sub { close STDIN } }, @$args);
    }
};


test 'files that cannot be read' => sub {
    my $none = "$dir/none";

    refuses('not there', 1,
            "$none: cannot be opened: No such file or directory", $none);
    refuses('no directory', 1, "$one/x: cannot be opened: Not a directory",
            "$one/x");
    refuses('an empty name', 1,
            qr/^: cannot be opened: No such file or directory$/, '');
    refuses('control characters', 1, qr{^\Q$dir/a?[31mb?: cannot be opened},
            "$dir/a\e[31mb\n");
    refuses('a long name', 1, qr/: cannot be opened: File name too long$/,
            "$dir/" . 'x' x 5000);
    refuses('a directory', 1, "$dir: cannot be read: Is a directory", $dir);
    refuses('no size', 1, qr{^/proc/self/status:1: not a heap dump},
            '/proc/self/status');
    refuses('a device', 1, '/dev/null:1: the dump is empty', '/dev/null');

    # a FIFO

    mkfifo("$dir/fifo", 0600) or die;

    my $run = start({}, $tool, '--format=folded', "$dir/fifo");

    # spew() would replace it by a file

    open my $fh, '>', "$dir/fifo" or die "fifo: $!";
    print $fh dump_of();
    close $fh;

    is(finish($run)->{out}, "$folded 100\n", 'a FIFO');
    unlink "$dir/fifo";

    check_forbidden();
};


# Root may read everything, so become nobody there.

sub check_forbidden {
    my $how = {};
    my $secret = spew("$dir/secret.heap", dump_of());

    chmod 0, $secret or die;

    if ($> == 0) {
        chmod 0711, $dir;
        $how->{before} = sub { $) = '65534 65534'; ($<, $>) = (65534, 65534) };
    }

    SKIP: {
        skip 'nobody may not run the tool', 1
            if run($how, '--version')->{exit} != 0;

        refuses('forbidden', 1, "$secret: cannot be opened: Permission denied",
                $how, $secret);
    }

    unlink $secret;
}


# The list of a kernel has lines that are not executable, and a known end.

test 'kernels' => sub {
    my ($tail) = slurp('/proc/self/maps') =~ /\s(\[\S+\])\n\z/;

    plan skip_all => 'this kernel ends its list with a file'
        if !defined $tail;

    my $listed = sub {
        return spew("$dir/kernel.heap",
                    dump_of(maps => maps(<<"END" . join '', @_)));
00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/jpp-no-prog
00500000-00600000 rw-p 00000000 08:01 11 /usr/sbin/jpp-no-prog
7f0000200000-7f0000300000 r-xp 00001000 08:01 13 /jpp-no/libc.so.6
END
    };

    my $end = 'ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0';
    my @args = ('--format=folded', "$dir/kernel.heap");

    $listed->("$end                  $tail\n");
    gives('the end that is known here', "$folded 100\n", @args);

    for my $last ('', "$end                  [other]\n") {
        my $line = $last eq '' ? 11 : 12;

        $listed->($last);
        refuses('another end', 1, "$dir/kernel.heap:$line: the maps section "
                . "does not end with \"$tail\", as it does on this kernel: the "
                . 'dump was cut, or comes from another kernel (if the latter: '
                . '--any-kernel)', @args);
        gives('another end, --any-kernel', "$folded 100\n", '--any-kernel',
              @args);
        refuses('another end of the base', 1, qr/kernel\.heap:$line: the maps/,
                "--base=$dir/kernel.heap", $one);
    }

    gives('a list that no kernel made', "$folded 100\n", '--format=folded',
          $one);
    unlink "$dir/kernel.heap";
};


test 'the output file' => sub {
    my $out = "$dir/out/p";
    my $mode = sub { sprintf '%04o', S_IMODE((lstat $_[0])[2]) };

    mkdir "$dir/out";

    my $want = gives('stdout', undef, $one);

    gives('-o', '', '-o', $out, $one);
    is(slurp($out), $want, 'the same bytes');
    is(listing("$dir/out"), 'p', 'and nothing else');
    is($mode->($out), sprintf('%04o', 0666 & ~umask), 'its mode');

    gives('under another umask', '', { before => sub { umask 077 } }, '-o',
          $out, $one);
    is($mode->($out), '0600', 'the umask decides the mode');

    spew($out, 'x' x 100_000);
    gives('over a file', '', '--format=folded', '-o', $out, $one);
    is(slurp($out), "$folded 100\n", 'nothing of the old file is left');

    spew($out, dump_of());
    gives('over its input', '', '--format=folded', '-o', $out, $out);
    is(slurp($out), "$folded 100\n", 'the input was read first');

    symlink 'p', "$dir/out/link" or die;
    gives('through a link', '', '-o', "$dir/out/link", $one);
    ok(-l "$dir/out/link", 'the link stays a link');
    is(slurp($out), $want, 'its target is written');
    is(listing("$dir/out"), 'link p', 'and nothing else');

    chdir "$dir/out" or die;
    gives('without a directory', '', '-o', 'q', $one);
    is(slurp('q'), $want, 'the file is in the working directory');
    chdir $root or die;
    unlink "$dir/out/q", "$dir/out/link";

    gives('-o -', $want, '-o', '-', $one);
    gives('-o /dev/stdout', $want, '-o', '/dev/stdout', $one);
    gives('-o /dev/null', '', '-o', '/dev/null', $one);
    ok(-c '/dev/null', 'it is still a device');

    mkfifo("$dir/out/fifo", 0600) or die;

    my $run = start({}, $tool, '-o', "$dir/out/fifo", $one);

    is(slurp("$dir/out/fifo"), $want, 'a FIFO');
    is(finish($run)->{exit}, 0, 'all is well');
    ok(-p "$dir/out/fifo", 'it is still a FIFO');
    unlink "$dir/out/fifo";

    gives('stderr may be closed', $want, { before => sub { close STDERR } },
          $one);
    gives('stdin may be closed', $want, { before => sub { close STDIN } },
          $one);
};


test 'outputs that fail' => sub {
    my $out = "$dir/out/p";

    spew($out, 'old');

    refuses('no such directory', 1, "$dir/no/p: cannot create a file in its "
            . 'directory: No such file or directory', '-o', "$dir/no/p", $one);
    refuses('a directory', 1, "$dir/out: cannot be written: Is a directory",
            '-o', "$dir/out", $one);

    symlink 'nothing', "$dir/out/link" or die;
    refuses('a link to nothing', 1, "$dir/out/link: a symbolic link to a file "
            . 'that does not exist', '-o', "$dir/out/link", $one);
    unlink "$dir/out/link";

    for my $bad ("$dir/none", $dir, '/etc/passwd') {
        refuses("no profile of $bad", 1, qr/^\Q$bad\E:/, '-o', $out, $bad);
        is(listing("$dir/out"), 'p', 'nothing new is left');
        is(slurp($out), 'old', 'what was there stays');
    }

    refuses('no such type', 1, qr/^alloc_space is not/, '-o', $out,
            '--type=alloc_space', $one);
    is(listing("$dir/out"), 'p', 'nothing new is left');

    my $limit = sub {
        exec 'sh', '-c', 'ulimit -f 1; exec "$@"', 'sh', $tool, '-o', $out,
             '--format=text', @real;
    };

    refuses('a file that gets too large', 1,
            "$out: the report cannot be written: File too large",
            { before => $limit });
    is(listing("$dir/out"), 'p', 'nothing new is left');
    is(slurp($out), 'old', 'what was there stays');

    SKIP: {
        skip 'no /dev/full', 5 if !-c '/dev/full';

        my $full = 'the report cannot be written: No space left on device';

        refuses('-o /dev/full', 1, "/dev/full: $full", '-o', '/dev/full',
                $one);
        ok(-c '/dev/full', 'it is still a device');
        refuses('stdout', 1, "stdout: $full", { stdout => '/dev/full' }, $one);
        refuses('stdout, much', 1, "stdout: $full",
                { stdout => '/dev/full' }, '--format=text', @real);
        refuses('--help', 1, 'stdout: cannot be written: No space left on '
                . 'device', { stdout => '/dev/full' }, '--help');
    }

    for my $args ([ $one ], [ '--format=text', @real ]) {
        pipe my $parser, my $writer or die;
        close $parser;

        refuses("a closed pipe, @$args", 1,
                'stdout: the report cannot be written: Broken pipe',
                { stdout => $writer }, @$args);
    }

    refuses('closed', 1,
            'stdout: the report cannot be written: Bad file descriptor',
            { before => sub { close STDOUT } }, $one);
};


test 'a full disk' => sub {
    my $disk = "$dir/disk";

    mkdir $disk;

    plan skip_all => 'only root may mount' if $> != 0;
    plan skip_all => 'no tmpfs can be mounted here'
        if system("mount -t tmpfs -o size=16k jpp $disk 2>/dev/null") != 0;

    my @args = ('--format=text', '-o', "$disk/p", @real);

    refuses('a new file', 1, "$disk/p: the report cannot be written: No space "
            . 'left on device', @args);
    is(listing($disk), '', 'nothing is left');

    spew("$disk/p", 'old');
    refuses('over a file', 1, "$disk/p: the report cannot be written: No "
            . 'space left on device', @args);
    is(listing($disk), 'p', 'nothing new is left');
    is(slurp("$disk/p"), 'old', 'what was there stays');

    is(system("umount $disk"), 0, 'the disk goes');
    rmdir $disk;
};


# The dump does not end, so the tool stays in the middle of reading it.

sub in_the_middle($how) {
    pipe my $parser, my $writer or die;

    my $run = start({ %$how, stdin => $parser }, $tool, '--format=folded',
                    '-o', "$dir/out/new", '-');

    close $parser;
    $writer->autoflush(1);
    print $writer substr dump_of(), 0, 20;

    wait_until(sub { listing("$dir/out") =~ /jemalloc-pprof/ });

    return ($run, $writer);
}


test 'signals' => sub {
    for my $signal (qw( HUP INT TERM )) {
        my ($run, $writer) = in_the_middle({});

        like(listing("$dir/out"), qr/^\.jemalloc-pprof\.$run->{pid}\.0 p$/,
             "$signal finds a file that is being made");

        kill $signal, $run->{pid};

        my $result = finish($run);

        is($result->{signal}, POSIX->can("SIG$signal")->(),
           "$signal is what ends the tool");
        is($result->{err}, '', 'without a word');
        is(listing("$dir/out"), 'p', 'nothing is left');
    }

    # nohup

    my ($run, $writer) = in_the_middle({ before => sub {
        $SIG{HUP} = 'IGNORE';
    } });

    kill 'HUP', $run->{pid};
    print $writer substr dump_of(), 20;
    close $writer;

    is(finish($run)->{exit}, 0, 'a signal that was ignored stays ignored');
    is(slurp("$dir/out/new"), "$folded 100\n", 'all is well');
    is(listing("$dir/out"), 'new p', 'nothing else is left');
    unlink "$dir/out/new";
};


# script(1) gives the command a terminal, and its exit code with -e.

sub on_terminal($command) {
    return finish(start({}, 'script', '-qec', $command, '/dev/null'));
}


test 'terminals' => sub {
    plan skip_all => 'no script(1)'
        if system('script -qec true /dev/null >/dev/null 2>&1') != 0;

    like(on_terminal("$tool $one")->{out}, qr/\Ainuse_space: 100 B in 1 stack/,
         'top on a terminal');
    is(on_terminal("$tool -o $dir/out/t $one")->{out}, '', 'but not with -o');

    # its width: by COLUMNS, by the terminal, by the option

    for ([ '', 45, 45 ], [ '', 0, 80 ], [ 'COLUMNS=60 ', 45, 60 ],
         [ 'COLUMNS=x ', 45, 45 ], [ 'COLUMNS=60 ', 45, 33, '--cols=33' ])
    {
        my ($before, $size, $cols, @option) = @$_;
        my $out = on_terminal("stty cols $size; ${before}$tool @option "
                              . '--symbolize=0 t/data/hand.heap')->{out};
        my @widths = sort { $b <=> $a } map { s/\r//r =~ tr///c }
                     split /\n/, $out;

        ok($widths[0] <= $cols && $widths[0] > $cols - 12,
           "${before}at $size columns: $widths[0] of $cols @option");
    }

    like(slurp("$dir/out/t"), qr/^\x1f\x8b\x08/, 'which is pprof');
    unlink "$dir/out/t";
    like(on_terminal("$tool --format=text $one")->{out}, qr/\Aheap profile: /,
         'text when asked for');

    my $pprof = on_terminal("$tool --format=pprof $one");

    is($pprof->{out}, "jemalloc-pprof: pprof is binary and stdout is a "
       . "terminal: give -o FILE, or another format $more\r\n",
       'no binary to a terminal');
    is($pprof->{exit}, 2, 'its exit');

    # progress, of a dump with a thread of a long name

    my $large = spew("$dir/large.heap", dump_of(
        head => "  t*: 1: 1 [0: 0]\n  t0: 1: 1 [0: 0] "
                . megabytes(64, 'x') . "\n"));
    my $shown = on_terminal("$tool -o $dir/out/t $large")->{out};
    my $line = qr/\rreading \Q$large\E: \d+%/;

    like($shown, qr/\A(?:$line){5,102}\r\e\[K\z/, 'progress of a large file');
    is(() = $shown =~ /: 100%/g, 1, 'to its end');
    is(on_terminal("$tool -o $dir/out/t $one")->{out}, '',
       'no progress for a small file');
    gives('no progress without a terminal', '', '-o', "$dir/out/t", $large);

    spew($large, megabytes(64, 'x'));
    like(on_terminal("$tool $large")->{out},
         qr/\r\e\[Kjemalloc-pprof: \Q$large\E:1: not a heap dump of/,
         'the progress is erased before an error');
    unlink $large, "$dir/out/t";
};


END {
    system("umount $dir/disk 2>/dev/null") if $> == 0 && -d "$dir/disk";
}


test 'gzip' => sub {
    my $dump = slurp("$root/t/data/accum-530.heap");
    my $gz = gzipped($dump);
    my $file = spew("$dir/gzip.heap", $dump);
    my @args = ('--any-kernel', '--format=text');
    my $want = run(@args, $file)->{out};

    spew($file, $gz);
    gives('a dump', $want, @args, $file);
    gives('on stdin', $want, { stdin => $file }, @args, '-');

    # several gzip members are one file

    spew($file, gzipped(substr $dump, 0, 1000), gzipped(substr $dump, 1000));
    gives('two members', $want, @args, $file);
    gives('unpacked by format=jemalloc', $dump, '--any-kernel',
          '--format=jemalloc', $file);

    my $not_ours = qr/:1: not a heap dump of jemalloc: it does not start with /;
    my $damaged = qr/: gzip: the compressed data is damaged/;

    for ([ 'cut', substr($gz, 0, length($gz) / 2),
           qr/: gzip: the compressed data is incomplete$/ ],
         [ 'cut at 2', substr($gz, 0, 2), $not_ours ],
         [ 'garbage behind it', "${gz}garbage\n", $damaged ],
         [ 'damaged', $gz =~ s/.{6}\z/xxxxxx/sr, $damaged ],
         [ 'nothing', gzipped(''), qr/:1: the dump is empty$/ ],
         [ 'twice', gzipped($gz), $not_ours ],

         # 200 KB that become 200 MB

         [ 'a bomb', gzipped(megabytes(1, "\0")) x 200, $not_ours ],

         # a line number counts the lines of the dump

         [ 'a bad dump', gzipped(dump_of(stacks => "stack\n")),
           qr/:4: neither a stack nor the maps section$/ ])
    {
        my ($name, $bytes, $sentence) = @$_;

        spew($file, $bytes);
        refuses($name, 1, qr/^\Q$file\E$sentence/, $file);
    }

    refuses('a bad dump, by format=jemalloc', 1, qr/:4: neither a stack/,
            '--format=jemalloc', $file);
    unlink $file;
};


# What becomes large is refused with little memory for its size.

test 'a bomb' => sub {
    my $file = spew("$dir/bomb.heap", gzipped(megabytes(1, "\0")) x 200);
    my $limited = sub { exec 'sh', '-c', 'ulimit -v 200000; exec "$@"', 'sh',
                        $tool, @_ };

    plan skip_all => 'the tool was built to need much memory'
        if !run({ before => sub { $limited->('--version') } })->{out};

    refuses('with little memory', 1, "$file: the report needs more memory than "
            . 'it may take', { before => sub { $limited->($file) } });
    unlink $file;
};
