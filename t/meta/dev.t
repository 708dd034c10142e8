#!/usr/bin/perl

# ./dev test with the name of a test runs that one, and refuses other names;
# without a name it runs every suite.

use JppTest;

chdir $root or die "$root: $!\n";

# the environment of the suites is not for those that start here

delete @ENV{ grep { /^(?:TEST_NGINX_|JPP_|MALLOC_CONF|HARNESS_)/ } keys %ENV };


my ($status, $said) = dev();

is($status, 0, 'without a verb');
like($said, qr/^usage: /, 'dev prints its usage');
like($said, qr/^    test t\/FOLDER\/NAME\.t /m, 'with one suite');
like($said, qr/^    test unit /m, 'and one unit');

for (
    [ 'test unit jpp_nothing', qr/^dev: no test is called jpp_nothing: / ],
    [ 'test t/nginx/nothing.t',
      qr/^dev: no test is called t\/nginx\/nothing\.t: / ],
    [ 'test t/nothing.t', qr/^dev: no test is called t\/nothing\.t: / ],
    [ 'test nothing', qr/^dev: no test is called nothing: / ],
    [ 'test t/nginx/control.t sideways',
      qr/^dev: a suite is loaded, reloaded, linked, asan or updated, (?#
                        )not sideways$/ ],
) {
    my ($command, $words) = @$_;

    ($status, $said) = dev(split ' ', $command);
    is($status, 2, "$command: refused");
    like($said, $words, "$command: its sentence");
    is(scalar(split /\n/, $said), 1, "$command: in one line");
}

($status, $said) = dev(qw( test unit jpp_err jpp_scale_test ));
is($status, 0, 'units by name') or diag($said);
is(join(' ', sort $said =~ /^# Subtest: (\S+)/mg),
   'jpp_err_test jpp_scale_test', 'these two run, and no others');

my $made = `make -n -f tools/core.mk OUT=build/none build/none/t/jpp_err_test`;
like($made, qr{-o build/none/t/$_\b}, "with a unit $_ is built")
    for qw( jpp_fake.so jpp_runtimes.so jpp_operators.so jpp_contract );

my %ways = suites();

is_deeply([ grep { !$ways{$_} } glob 't/*/*.t' ], [],
          'every suite runs in some way');
is_deeply([ grep { !-e } keys %ways ], [], 'and no other');
is($ways{'t/nginx/leak.t'}, 'alone', 'what measures runs alone');

# only the sanitizers notice an answer into a request that nginx has freed

is(scalar(grep { ($ways{"t/fleet/$_.t"} // '') =~ /asan/ }
               qw( client leaving worker )), 3,
   'suites that end requests and workers run under the sanitizers, too');



sub dev {
    my $said = `sh ./dev @_ 2>&1 </dev/null`;

    return ($? >> 8, $said);
}


# The ways of each suite, as tools/suites.sh has them.

sub suites {
    my %ways;

    for (split /\n/, `. ./tools/suites.sh && tests_jobs &&
                      tests_of alone | sed 's/^/alone /'`)
    {
        my ($way, $file) = split;

        next if $way eq 'fuzz';
        $ways{$file} = join ' ', $ways{$file} // (), $way;
    }

    return %ways;
}
