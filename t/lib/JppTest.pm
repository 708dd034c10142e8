package JppTest;

# What a suite begins with: JppPerl, Test::More, functions of Perl that
# most suites need, and all of JppRun and JppNginx but what has its name in
# several modules.  What hangs ends in half an hour.
#
# A suite runs in the project's root, with -I t/lib.

use JppPerl;

use Cwd ();
use Exporter ();
use File::Basename ();
use File::Path ();
use File::Temp ();
use JSON::PP ();
use List::Util ();
use POSIX ();
use Test::More ();
use Time::HiRes ();

use JppClient;
use JppNginx ();
use JppProfile ();
use JppRun ();

my @exports = (
    [ 'Test::More' ],
    [ 'Cwd', 'abs_path' ],
    [ 'File::Basename' ],
    [ 'File::Path', 'make_path' ],
    [ 'File::Temp', 'tempdir' ],
    [ 'JSON::PP' ],
    [ 'List::Util', qw( max min sum sum0 uniq ) ],
    [ 'Time::HiRes', qw( sleep time ) ],
    [ 'JppNginx', grep { $_ ne 'profile' } @JppNginx::EXPORT_OK ],
    [ 'JppProfile', qw( checked contract ) ],
    [ 'JppRun', @JppRun::EXPORT_OK ],
);


sub import {
    my $suite = caller;

    JppPerl->import;

    for (@exports) {
        my ($module, @names) = @$_;

        Exporter::export($module, $suite, @names);
    }

    alarm($ENV{JPP_SOAK} ? 7200 : 1800);
}


# A suite that has come to its end needs no done_testing().

my $suite = $$;

END {
    my $tests = Test::More->builder;

    if ($$ == $suite && $? == 0 && !$tests->has_plan) {
        if ($tests->current_test) {
            Test::More::done_testing();

        } elsif ($ENV{JPP_SUBTEST}) {
            print STDERR "no subtest is like '$ENV{JPP_SUBTEST}'\n";
            $? = 1;
        }
    }
}


1;
