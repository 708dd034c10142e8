#!/usr/bin/perl

# Runs every unit test that has been built, each as one subtest; with arguments
# (prove t/tool/units.t :: jpp_heap) only those of that name.  One runs for each
# processor, and they are told of as they end.
#
# They lie in t/ below $JPP_BUILD, or below build/ beside this directory.
# Nothing is built here: ./dev test does that first.

use JppTest;
use TAP::Parser;
use TAP::Parser::Multiplexer;

my $dir = ($ENV{JPP_BUILD} || "$root/build") . '/t';
my %is_named = map { ("${_}_test" => 1) } @ARGV;

my @tests = sort grep { -x && (!@ARGV || $is_named{basename($_)}) }
            glob("$dir/*_test");

ok(scalar @tests, "there are unit tests in $dir");

my $running = TAP::Parser::Multiplexer->new;
my @waiting = @tests;
my %results;

start() for 1 .. (`nproc 2>/dev/null` || 1);

while (my ($parser, $test, $result) = $running->next) {
    if ($result) {
        push @{$results{$test}}, $result;
        next;
    }

    subtest basename($test) => sub { check($parser, @{$results{$test}}) };
    start();
}

# a test that does not build is missed

for my $source (glob("$root/t/unit/*_test.c")) {
    my $name = basename($source, '.c');

    next if @ARGV && !$is_named{$name};
    ok(scalar(grep { basename($_) eq $name } @tests), "$name is built");
}


sub start {
    my $test = shift @waiting // return;

    $running->add(TAP::Parser->new({ exec => [ $test ], merge => 0 }), $test);
}


sub check($parser, @results) {
    for my $result (@results) {
        if ($result->is_test()) {
            ok($result->is_ok(), $result->description());
        } elsif ($result->is_comment() || $result->is_unknown()) {
            note($result->as_string());
        }
    }

    is($parser->wait(), 0, 'its exit status');
    ok($parser->plan(), 'it has a plan');
    is(join('; ', $parser->parse_errors()), '', 'it is well-formed');
}
