#!/usr/bin/perl

# ./dev pictures: writes the pictures of README.md, docs/console.png and
# docs/flame.png: the console and the flame page of an nginx that serves slow
# downloads, in chromium.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../t/lib";

use JppBrowser;
use JppSites qw( large_buffers );
use JppRun qw( wait_until );
use Test::More;

my ($width, $height) = (1280, 720);

# a busy machine's stalls are not nginx's

my ($nginx, @clients) = large_buffers(
    http => 'jemalloc_pprof_stall off;',
    sampling => 'prof:true,prof_active:true,lg_prof_sample:19');
my $browser = JppBrowser->start(size => [$width, $height]);

$browser->resize($width, $height);
$browser->media('screen', 'prefers-color-scheme' => 'light');

# a history of some points, and of each owner all of its requests

$browser->open("http://127.0.0.1:$nginx->{port}/debug/pprof/");
wait_until(sub {
    $browser->run('return document.querySelector(".span")?.viewBox.baseVal
                   .width >= 6 && /\/video\//.test(
                   document.querySelector("#verdict").textContent)');
}, 120) or die "the console has no history\n";
$browser->picture('docs/console.png');

$browser->open("http://127.0.0.1:$nginx->{port}/debug/pprof/"
               . 'heap?format=html#g=location');
$browser->wait_for('return page.took');
$browser->picture('docs/flame.png');

$_->leave for @clients;
$nginx->stop;

done_testing();
