#!/usr/bin/perl

# The tool reads archives: snapshots of an nginx, and whatever else is a tar.
#
# Not here: archives that an nginx has written (t/nginx/snapshots.t).

use JppTest;
use JppDump qw( counts dump_of gzipped megabytes stack );
use JppProfile qw( read_profile );
use JppTool qw( $dir gives keeps_contract refuses run );

$ENV{LC_ALL} = 'C';

my $deep = 'libc.so.6+0x1300;jpp-no-prog+0x300;jpp-no-prog+0x200';
my $flat = 'jpp-no-prog+0x200';
my $other = dump_of(stacks => stack(counts(2, 300), 0x400201));
my $pools = slurp("$root/t/fuzz/corpus/jpp_pools/worker");

my $refused = '/a.tar.gz: the archive has';
my $hint = '(--list lists, --member=NAME reads one)';


# Names and data as a tar; a hash is more of a header.

sub tar(@members) {
    my $tar = '';

    while (my ($name, $data) = splice @members, 0, 2) {
        my $more = ref $members[0] ? shift @members : {};
        my $header = pack 'a100 a8 a8 a8 a12 a12 a8 a1 a100 a8 a247', $name,
                          '0000600', '0000000', '0000000',
                          $more->{size} // sprintf('%011o', length $data),
                          sprintf('%011o', $more->{time} // 1_000_000_000),
                          ' ' x 8, $more->{type} // '0', '', "ustar\x0000", '';

        substr $header, 148, 8, sprintf "%06o\0 ", unpack '%32C*', $header;
        $tar .= $header . $data . "\0" x (-length($data) % 512);
    }

    return $tar . "\0" x 1024;
}


sub archive($name, @members) {
    return spew("$dir/$name.tar.gz", gzipped(tar(@members)));
}


sub member($i, $pid, $suffix, $folder = 'heap') {
    return "$folder/worker-$i-pid-$pid-generation-1.$suffix";
}


# The tool's stacks, those of several workers added up, without what is zero.

sub stacks_are($name, $want, @args) {
    my $result = run('--format=folded', @args);
    my %sum;

    $sum{$1} += $2 while $result->{out} =~ /^(.*) (-?\d+)$/mg;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is_deeply({ map { $_ => $sum{$_} } grep { $sum{$_} } keys %sum }, $want,
              $name) or diag($result->{err});
}


sub profile($bytes) { return read_profile(checked($bytes, '--print')) }

sub labels($profile, $key) {
    return join ' ', sort keys %{ $profile->{labels}{$key} };
}


my @two = ('memory.txt' => "memory\n", member(0, 11, 'reply') => 'new',
           member(0, 11, 'dump') => dump_of(),
           member(1, 12, 'dump') => $other,
           member(0, 11, 'dump', 'pools') => $pools);

my $two = archive('two', @two);
my $one = archive('one', member(0, 11, 'dump') => dump_of());
my $dump = spew("$dir/plain.heap", dump_of());


test 'heaps' => sub {
    my $pprof = gives('pprof', undef, $two);
    my $profile = profile($pprof);

    keeps_contract('it is a profile', $pprof);
    is(labels($profile, 'worker'), '0 1', 'workers');
    is(labels($profile, 'pid'), '11 12', 'pids');
    is(labels($profile, 'generation'), '1', 'a generation');
    is(labels($profile, 'origin'), 'worker', 'no baseline');
    is(labels($profile, 'file'), '', 'one file needs no label');
    is($profile->{time}, 1_000_000_000 * 1e9, 'the time of the archive');
    is($profile->{comments}[-1], "archive $two", 'a comment');

    stacks_are('folded', { $flat => 300, $deep => 100 }, $two);
    gives('on stdin', "$deep 100\n", { stdin => $one }, '--format=folded',
          '-');
    gives('unchanged', dump_of(), '--format=jemalloc', $one);
    stacks_are('not packed', { $flat => 300, $deep => 100 },
               spew("$dir/two.tar", tar(@two)));

    refuses('two unchanged', 1, qr/^format=jemalloc serves a single dump /,
            '--format=jemalloc', $two);

    my $missing = archive('missing', @two[4, 5], member(3, 9, 'reply') => '?');

    like(run('--format=top', $missing)->{out},
         qr/^worker 3 \(pid 9\) of \Q$missing\E is missing: it has no dump$/m,
         'a worker without a dump');
};


test 'several' => sub {
    my $pprof = gives('two archives and a dump', undef, $one, $two, $dump);
    my $profile = profile($pprof);

    keeps_contract('it is a profile', $pprof);
    is(labels($profile, 'file'), "$one $dump $two", 'each has its label');
    stacks_are('folded', { $flat => 300, $deep => 300 }, $one, $two, $dump);

    gives('a base', "$flat 300\n", '--format=folded', "--base=$one", $two);
    stacks_are('a dump as base', { $flat => 300 }, "--base=$dump", $two);
    is(profile(run("--base=$two", $two)->{out})->{samples}, undef,
       'one from itself is nothing');

    refuses('one twice', 1, "$one: the archive is given twice: what its "
            . 'workers inherited would count twice', $one, $dump, $one);

    my $saved = "$dir/saved.pb.gz";
    run('-o', $saved, $dump);

    refuses('a saved profile beside it', 1, qr/: a dump and a saved profile /,
            @$_) for [ $saved, $one ], [ $one, $saved ], [ "--base=$saved",
                                                           $one ];
};


test 'pools' => sub {
    my $profile = profile(run('--pools', $two)->{out});

    is(labels($profile, 'worker'), '0', 'the worker');
    like(gives('top', undef, '--pools', '--format=top', $two),
         qr/^inuse_space: .* in \d+ places?$/m, 'places');
    gives('its types', qr/^unused_space: /, '--format=top',
          '--type=unused_space', '--pools', $two);
    gives('a table alone', qr/ \d+$/, '--pools', '--format=folded',
          spew("$dir/table", $pools));

    refuses('a type of heaps', 2, 'type must be unused_space, inuse_space or '
            . 'inuse_objects (see jemalloc-pprof --help)', '--pools',
            '--type=alloc_space', $two);
    refuses('a type of pools', 2, qr/^type must be inuse_space, /,
            '--type=unused_space', $two);
    refuses('none', 1, qr{^\Q$one\E: the archive has no table of pools (?#
            )\(pools/worker-\*\.dump\); it has heap/worker-0}, '--pools', $one);
    refuses('a dump', 1, qr/^\Q$dump\E.*: /, '--pools', $dump);
};


test 'members' => sub {
    my $nested = archive('nested', 'README' => 'read', 'a/two.tar.gz' =>
                         slurp($two), 'x.heap' => dump_of());

    gives('a list', "           4  README\n" . sprintf("%12d", -s $two)
          . "  a/two.tar.gz\n" . sprintf("%12d  x.heap\n", length dump_of()),
          '--list', $nested);
    gives('of one within', qr/\A +7  memory\.txt\n/, '--list',
          '--member=a/two.tar.gz', $nested);
    gives('of several', "$one:\n" . run('--list', $one)->{out} . "$two:\n"
          . run('--list', $two)->{out}, '--list', $one, $two);
    gives('of none', '', '--list', archive('empty', a => '', { type => '5' }));

    gives('a dump', "$deep 100\n", '--format=folded', '--member', 'x.heap',
          $nested);
    stacks_are('an archive', { $flat => 300, $deep => 100 },
               '--member=a/two.tar.gz', $nested);

    refuses('another', 1, "$nested: the archive has no member y; it has "
            . "README, a/two.tar.gz, x.heap $hint", '--member=y', $nested);
    refuses('what is no dump', 1, "$nested: README:1: not a heap dump of "
            . 'jemalloc: it does not start with heap_v2/', '--member=README',
            $nested);
    refuses("no archive: $_", 1, "$dump: not an archive (tar or tar.gz), whose "
            . 'members --list and --member show', $_, $dump)
        for '--list', '--member=x';
    refuses('a list of no archive within', 1, qr/: README: not an archive /,
            '--list', '--member=README', $nested);
    refuses('a list to a full disk', 1,
            'stdout: cannot be written: No space left on device',
            { stdout => '/dev/full' }, '--list', $one);
};


sub faulty($name, $sentence, @members) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $file = archive('a', @members);

    refuses($name, 1, ref $sentence ? $sentence : "$dir$refused $sentence",
            $file);
    unlink $file;
}


test 'faults' => sub {
    my $none = 'no heap dump of a worker (heap/worker-*.dump); it has';

    faulty('no file', "$none no file", heap => '', { type => '5' });
    faulty('no dump', "$none memory.json, README $hint",
           'memory.json' => '{}', 'README' => '');
    faulty('many members', qr/; it has (?:f{60}\d\d, )+f{60}\d\d \.\.\. \(--l/,
           map { ('f' x 60 . $_ => '') } 10 .. 99);
    faulty('a member twice', member(0, 11, 'dump') . ' twice',
           (member(0, 11, 'dump') => dump_of()) x 2);
    faulty('a dump that was cut', qr{^\Q$dir\E/a\.tar\.gz: heap/worker-0-(?#
           )pid-11-generation-1\.dump:\d+: the dump was cut},
           member(0, 11, 'dump') => substr dump_of(), 0, -1);
    faulty('many workers', 'more than 4096 workers',
           map { (member($_, $_, 'dump') => '') } 1 .. 4097);

    # whoever writes a name says nothing about whom it is of

    for my $name ('../heap/worker-0-pid-1-generation-1.dump',
                  '/heap/worker-0-pid-1-generation-1.dump',
                  'heap/worker-00-pid-1-generation-1.dump',
                  'heap/worker-0-pid--1-generation-1.dump',
                  'heap/worker-4294967296-pid-1-generation-1.dump',
                  'heap/worker-0-pid-99999999999999999999-generation-1.dump',
                  'heap/worker-0-pid-1-generation-1.dump.x',
                  'heap/worker--pid--generation-.dump')
    {
        faulty($name, "$none $name $hint", $name => dump_of());
    }

    faulty('a name of odd bytes', qr/it has a\?\[31mb%s|it has a\\x1b\[31mb%s/,
           "a\e[31mb%s\n" => '');
    gives('in a list', "           0  a\\x1b[31mb%s\\x0a\n", '--list',
          archive('odd', "a\e[31mb%s\n" => ''));

    my $damaged = tar(@two);

    substr $damaged, 600 + 512, 1, 'x';

    for ([ 'a size that is none', tar(a => '', { size => 'x' x 12 }),
           qr/: tar: what should be a header of ustar is something else$/ ],
         [ 'a size beyond the end', tar(a => '', { size => '77777777777' }),
           qr/: tar: the archive ends within a member$/ ],
         [ 'a damaged header', $damaged,
           qr/: tar: what should be a header of ustar is something else$/ ],
         [ 'a bomb', tar(a => '') . megabytes(1, "\0"),
           qr/: gzip: more than 1073741824 bytes unpacked$/, 1024 ])
    {
        my ($name, $bytes, $sentence, $more) = @$_;
        my $file = spew("$dir/a.tar.gz", gzipped($bytes),
                        gzipped(megabytes(1, "\0")) x ($more // 0));

        refuses($name, 1, qr/^\Q$file\E$sentence/, $file);
        unlink $file;
    }
};


# A newer version has more members, more in its replies, and other types.

test 'an archive of a newer version' => sub {
    my $new = archive('new', 'VERSION' => '99', 'stacks/1' => 'x',
                      'heap' => '', { type => '5' }, @two,
                      member(1, 12, 'reply') => 'x' x 5000,
                      member(1, 12, 'baseline') => dump_of(),
                      member(1, 12, 'more') => 'x');

    stacks_are('is read', { $flat => 300, $deep => 100 }, $new);
};


test 'cut at every byte' => sub {
    my $gz = slurp($one);
    my $tar = tar(member(0, 11, 'dump') => dump_of());
    my $file = "$dir/cut";
    my %said;

    for ([ $gz, 1, length($gz) - 1 ], [ $tar, 7, length($tar) - 1024 - 1 ]) {
        my ($bytes, $step, $last) = @$_;

        for (my $n = 0; $n <= $last; $n += $step) {
            spew($file, substr $bytes, 0, $n);

            my $result = run($file);

            $said{$result->{err} =~ s/^jemalloc-pprof: \Q$file\E(?::1)?: //r}++;
            $said{"$n: exit $result->{exit}, signal $result->{signal}"}++
                if $result->{exit} != 1 || $result->{signal} != 0;
        }
    }

    is_deeply([ sort keys %said ],
              [ "gzip: the compressed data is incomplete\n",
                "not a heap dump of jemalloc: it does not start with heap_v2/"
                . "\n", "tar: the archive ends within a member\n",
                "the dump is empty\n" ], 'one of few sentences');
};
