package JppPerl;

# The Perl of suites and their helpers: strict, with warnings, and with
# signatures.

use strict;
use warnings;
use feature ();


sub import {
    strict->import;
    warnings->import;
    feature->import('signatures');
    warnings->unimport('experimental::signatures');
}


1;
