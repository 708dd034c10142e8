#!/usr/bin/perl

# A server on overlayfs, as in containers: the kernel lists another device for a
# mapping than stat() reports for its file.  That casts no doubt on a file, and
# no file is read again for every report.
#
# Not here: files that really are others (t/unit/jpp_symbolize_test.c,
# t/unit/jpp_loaded_test.c).

use JppTest;
use Compress::Zlib;

my $dir = tempdir(CLEANUP => 1);

my @overlay = ('unshare', '-m', 'sh', '-c', <<'END', 'sh', $dir);
mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" \
&& mount -t overlay -o "lowerdir=/usr,upperdir=$1/upper,workdir=$1/work" \
   overlay /usr && shift && exec "$@"
END

plan skip_all => 'there is no jemalloc' unless has_jemalloc();
plan skip_all => 'only root can mount an overlay' unless is_root();
plan skip_all => 'this nginx is not below /usr' unless binary() =~ m{^/usr/};
plan skip_all => 'no overlay can be mounted here'
    if system(@overlay, 'true') >> 8;

my (%plain, %overlay);

# on a busy machine a worker may read something of its own each time

for (1 .. 5) {
    %plain = measure();
    %overlay = measure(run => \@overlay);

    last if !grep { $overlay{reads}{$_} != $plain{reads}{$_} }
            keys %{ $plain{reads} };
}

isnt($overlay{devices}[0], $overlay{devices}[1],
     'a mapping and its file have different devices')
    or diag("both are $overlay{devices}[0]");

for my $what (sort keys %{ $plain{reads} }) {
    is($overlay{reads}{$what}, $plain{reads}{$what},
       "$what: as many reads as without overlayfs");
}

is_deeply($overlay{doubts}, [], 'no comment doubts a file');
is_deeply($plain{doubts}, [], 'or does without overlayfs');
cmp_ok($overlay{names}, '>', 5, "names: $overlay{names}");


# Once the files are known: the calls of read() for a request with names and for
# one without, but for those of the list of mappings, a page each; names and
# doubts; the device of the program, as the kernel lists it and as stat()
# reports it.

sub measure {
    my $nginx = JppNginx->start(@_);
    my (%result, %path);

    %path = (names => '/debug/pprof/heap',
             'build ids' => '/debug/pprof/heap?symbolize=0');

    for my $what (sort keys %path) {
        my $answer;

        $answer = $nginx->get($path{$what}) for 1 .. 3;

        is($answer->{status}, 200, "$what: 200");

        my @reads = map { reads($nginx, $path{$what}) } 1 .. 9;

        # the worker may have read something of its own besides

        ($result{reads}{$what}) = sort { $a <=> $b } @reads;
    }

    my $answer = $nginx->get('/debug/pprof/heap');
    my $text = Compress::Zlib::memGunzip($answer->{body});

    $result{names} = () = $text =~ /\bngx_\w+/g;
    $result{doubts} = [ $text =~ /((?:no names for|names may be wrong)(?#
                                    ) [^:]*)/g ];
    $result{devices} = devices($nginx->worker);

    $nginx->stop;

    return %result;
}


sub reads($nginx, $path) {
    my $before = count($nginx->worker);

    $nginx->get($path);

    return count($nginx->worker) - $before - pages($nginx->worker);
}


sub pages($pid) {
    my $n = 1;

    open my $fh, '<:raw', "/proc/$pid/maps" or die "maps: $!\n";
    $n++ while sysread $fh, my $page, 65536;

    return $n;
}


sub count($pid) {
    my ($n) = slurp("/proc/$pid/io") =~ /^syscr: (\d+)$/m;

    return $n;
}


sub devices($pid) {
    my ($listed) = slurp("/proc/$pid/maps") =~ /^\S+ \S+ \S+ (\S+) .*nginx$/m;
    my $dev = (stat "/proc/$pid/root" . readlink "/proc/$pid/exe")[0];

    return [ $listed, sprintf '%02x:%02x', $dev >> 8 & 0xfff, $dev & 0xff ];
}
