#!/usr/bin/perl

# Dumps with the ages of live samples, as the module's sampler writes them, in
# the tool and in jeprof; and profiles with ages that were saved.

use JppTest;
use JppTool qw( $dir keeps_contract run );

my @stacks = map { <<"END" }
@ 0x400201 0x400301
  t*: 10: 1000 [0: 0]
  t0: 10: 1000 [0: 0]
  t$_: 10: 1000 [0: 0]
END
    65540, 65556, 65572, 65584;

my $dump = spew("$dir/aged.heap", <<"END" =~ tr/|/\t/r);
heap_v2/1
  t*: 40: 4000 [100: 10000]
  t0: 40: 4000 [100: 10000] owner|(unknown)|(unknown)
  t65536: 0: 0 [0: 0] ages
@ 0x400201 0x400301
  t*: 0: 0 [100: 10000]
  t0: 0: 0 [100: 10000]
@{[ join '', @stacks ]}
MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog
END

my @options = ('--any-kernel', '--symbolize=0', '--cols=200');
my $leak = qr/\n\nleak\? prog\+0x200 holds 3\.9 KiB of 9\.8 KiB allocated; (?#
             )left from each quarter of the recording: 1000 B, 1000 B, (?#
             )1000 B, 1000 B\n\n/;

my $saved = "$dir/aged.pb.gz";
my $pprof = run(@options, '--format=pprof', '--ages=1', $dump);

keeps_contract('ages', $pprof->{out});
spew($saved, $pprof->{out});

for my $file ($dump, $saved) {
    my $top = run(@options, '--format=top', '--ages=1', $file)->{out};

    like($top, qr/  >4 min 16 s  prog\+0x200$/m, "$file: the median age");
    like($top, $leak, 'and a suspect');
}

unlike(run(@options, '--format=top', $dump)->{out}, qr/median|leak\?/,
       'neither without');

like(`jeprof --text /bin/true $dump 2>$dir/err`, qr/^Total: 0\.0 MB$/m,
     'jeprof reads it');
like(`jeprof --text --show_bytes /bin/true $dump 2>$dir/err`,
     qr/^Total: 4000 B$/m, 'and sums it up');

for ([ '--ages=2', qr/ages must be 0 or 1/ ],
     [ "--ages=1 --base=$dump", qr/^jemalloc-pprof: --ages=1 is about (?#
                                  )samples at one time: leave it out, or / ])
{
    my ($options, $sentence) = @$_;
    my $refused = run(@options, split(' ', $options), $dump);

    isnt($refused->{exit}, 0, "$options is refused");
    like($refused->{err}, $sentence, 'with the sentence');
}
