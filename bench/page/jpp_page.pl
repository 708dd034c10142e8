#!/usr/bin/perl

# ./dev bench page [weight] [10000] [100000]: what the page weighs, and what it
# costs in a browser with so many stacks; without arguments all of it.
#
#     load      from the script's first line to the first picture
#     load, CPU what the tab's main thread works for it, and to parse the page
#     grow      filters, sums, owners and the tree anew, and their picture
#     draw      one picture of 1600x900: the whole, searched, and zoomed
#     memory    of the tab's process, beside that of an empty page
#
# Each source file's weight is that of its lines in the page; gzip-ed, what the
# page would weigh less without them.
#
# Chromium without a window draws in software, so that no card is measured.
# Dumps are generated: random trees, the worst case; the real one is
# t/data/nginx-531.heap.
#
# JPP_REPEATST is another jemalloc-pprof: the pages of both are measured in
# turns, so that a busy machine is as unfair to one as to the other.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";

use Compress::Zlib ();
use JppBrowser;
use JppTool qw( $build $dir $root $tool run slurp );
use List::Util qw( max );
use Time::HiRes qw( time );

my @goals = ( [ 10_000, 150, 60, 8, 16, undef ],
              [ 100_000, 1000, undef, 8, undef, 150 ] );

my @tools = ($tool, $ENV{JPP_REPEATST} // ());

die "no chromium: apt-get install chromium chromium-driver\n"
    unless "@ARGV" eq 'weight' || JppBrowser::is_there();

my %is_wanted = map { $_ => 1 } @ARGV ? @ARGV
                                      : ('weight', map { $_->[0] } @goals);

sizes() if $is_wanted{weight};
speed(@$_) for grep { $is_wanted{$_->[0]} } @goals;


sub sizes {
    my $real = "$root/t/data/nginx-531.heap";

    run('--any-kernel', '--format=html', '-o', "$dir/real.html", $real);

    my $html = slurp("$dir/real.html");
    my $code = $html =~ s/^(.*id="profile">|<title>)[^<]*/$1/gmr;

    printf "code %.1f KiB, %.2f KiB gzip-ed (24)\n",
           length($code) / 1024, packed($code) / 1024;
    parts($code);
    printf "page of a real nginx %.1f KiB (96)\n", length($html) / 1024;

    run('--any-kernel', '--format=svg', '-o', "$dir/real.svg", $real);
    printf "picture of a real nginx %.1f KiB (80)\n",
           (-s "$dir/real.svg") / 1024;
}


# The served script has the lines of the files in turn, without comments and
# indents.

sub parts {
    my ($code) = @_;
    my ($list) = slurp("$root/tools/page.sh") =~ /^SCRIPTS="([^"]+)"/m;
    my ($script) = $code =~ m{<script>\n(.*)</script>}s;
    my ($style) = $code =~ m{<style>(.*)</style>}s;
    my %part = ('page.css' => $style, 'page.html' => $code
                =~ s{<script>\n.*</script>|<style>.*</style>}{}gsr);

    for my $file (split ' ', $list) {
        $part{$file} = slurp("$root/src/web/$file")
                       =~ s{^ */\*.*?\*/\n}{}gmsr =~ s/^(?: +|\n)//gmr;
        die "the page does not have $file as it is\n"
            if index($script, $part{$file}) < 0;
    }

    for (sort keys %part) {
        my $rest = $_ eq 'page.html' ? $style . $script
                                     : $code =~ s/\Q$part{$_}\E//r;

        printf "%-18s %5.1f KiB, %4.1f gzip-ed\n", $_,
               length($part{$_}) / 1024, (packed($code) - packed($rest)) / 1024;
    }
}


sub packed {
    my ($text) = @_;

    return length Compress::Zlib::memGzip($text);
}


sub speed {
    my ($stacks, $load, $grow, $draw, $late, $memory) = @_;
    my $dump = "$dir/$stacks.heap";

    system("'$build/bench/jpp_generate' -n $stacks -o '$dump'") == 0
        or die "no dump of $stacks stacks\n";

    for my $i (0 .. $#tools) {
        system($tools[$i], '--any-kernel', '--format=html', '-o',
               "$dir/$stacks-$i.html", $dump) == 0
            or die "no page of $tools[$i]\n";
    }

    my @runs;

    for (1 .. 5) {
        push @{ $runs[$_] }, once("$dir/$stacks-$_.html")
            for 0 .. $#tools;
    }

    for my $i (0 .. $#tools) {
        my $all = $runs[$i];
        my @draws = sort { $a <=> $b } map { @{ $_->{draw} } } @$all;

        printf "\n%d stacks, page %.1f MiB%s\n", $stacks,
               (-s "$dir/$stacks-$i.html") / 2**20,
               $i == 0 ? '' : ", of $tools[$i]";
        pictures($stacks, $dump) if $i == 0;
        line('load', median(map { $_->{load} } @$all), $load, 'ms');
        line('load, CPU', median(map { $_->{cpu} } @$all), undef, 'ms');
        line('grow', median(map { @{ $_->{grow} } } @$all), $grow, 'ms');
        line('draw, median', median(@draws), $draw, 'ms');
        line('draw, 95 of 100', $draws[0.95 * $#draws], $late, 'ms');
        line('memory', median(map { $_->{memory} } @$all), $memory, 'MiB');
        printf "%-18s %8d, %d boxes\n", 'nodes',
               @{ $all->[0] }{qw( nodes drawn )};
    }
}


# The picture, beside format=top of the same dump.

sub pictures {
    my ($stacks, $dump) = @_;
    my %took;

    for my $format (qw( top svg ) x 3) {
        my $start = time;

        run('--any-kernel', "--format=$format", '-o', "$dir/p.$format", $dump);
        my $took = time - $start;

        $took{$format} = $took
            if !defined $took{$format} || $took < $took{$format};
    }

    line('picture', (-s "$dir/p.svg") / 1024, $stacks > 10_000 ? 200 : 480,
         'KiB');
    line('picture : top', $took{svg} / $took{top}, 2, 'times');
}


sub once {
    my ($page) = @_;
    my $browser = JppBrowser->start;

    $browser->resize(1600, 900);
    $browser->open('about:blank');

    my $empty = memory($browser);

    $browser->devtools('Performance.enable', { timeDomain => 'threadTicks' });

    my $cpu = worked($browser);

    $browser->open("file://$page");
    $browser->wait_for('return page.took || page.timings.load', 60);
    $cpu = worked($browser) - $cpu;

    my $result = $browser->run(<<'END');
const times = { load: page.took || page.timings.load, grow: [], draw: [] };
for (let i = 0; i < 5; i++) {
    const start = performance.now();
    grow();
    times.grow.push(performance.now() - start);
}
const { view } = page;
const [tree] = page.scene.trees;
const near = [...tree.depth.keys()].sort((p, q) =>
    tree.depth[p] - tree.depth[q]);
const context = document.getElementById('canvas').getContext('2d');
for (let i = 0; i < 60; i++) {
    view.match = i % 2 ? flagsOf('[0-4]$') : null;
    zoomTo(tree, i % 5 === 4 ? near[i] : 0);
    const start = performance.now();
    draw();
    context.getImageData(0, 0, 1, 1);
    times.draw.push(performance.now() - start);
}
times.nodes = tree.n;
zoomTo(tree, 0);
draw();
times.drawn = page.boxes.length;
return times;
END

    $result->{cpu} = $cpu;
    $result->{memory} = memory($browser) - $empty;

    return $result;
}


# Milliseconds that the main thread has worked.

sub worked {
    my ($browser) = @_;

    my ($time) = map { $_->{value} } grep { $_->{name} eq 'ThreadTime' }
                 @{ $browser->devtools('Performance.getMetrics')->{metrics} };

    return 1000 * $time;
}


# MiB of the largest process that draws pages, after a collection.

sub memory {
    my ($browser) = @_;
    my $folder = $browser->folder;
    my $most = 0;

    $browser->devtools('HeapProfiler.collectGarbage');

    for my $process (glob '/proc/[0-9]*') {
        my $command = content("$process/cmdline");

        next unless $command =~ /--type=renderer/ && $command =~ /\Q$folder/;

        $most = max($most, $1 / 1024)
            if content("$process/status") =~ /RssAnon:\s+(\d+)/;
    }

    return $most;
}


# Of a file that may be gone by now.

sub content {
    my ($path) = @_;

    open my $fh, '<', $path or return '';
    local $/;

    return <$fh> // '';
}


sub median {
    my @sorted = sort { $a <=> $b } @_;

    return $sorted[@sorted / 2];
}


sub line {
    my ($what, $value, $goal, $unit) = @_;

    printf "%-18s %8.1f %s%s\n", $what, $value, $unit,
           defined $goal ? sprintf(' (%s%s)', $goal,
                                   $value > $goal ? ', missed' : '') : '';
}
