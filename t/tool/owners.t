#!/usr/bin/perl

# Dumps whose samples have owners, as the module's sampler writes them, in every
# format of the tool: by owner, with labels, and without.

use JppTest;
use JppTool qw( $dir keeps_contract run );

my $dump = spew("$dir/owned.heap", <<'END' =~ tr/|/\t/r);
heap_v2/1
  t*: 3: 600 [0: 0]
  t0: 1: 100 [0: 0] owner|(unknown)|(unknown)
  t1: 0: 0 [0: 0] owner|(other servers)|(other locations)
  t2: 0: 0 [0: 0] owner|(event loop)|(event loop)
  t3: 0: 0 [0: 0] owner|(other threads)|(other threads)
  t4: 2: 500 [0: 0] owner|a.example|/api/</script>
@ 0x400201 0x400301
  t*: 1: 100 [0: 0]
  t0: 1: 100 [0: 0]
@ 0x400201 0x400301
  t*: 2: 500 [0: 0]
  t4: 2: 500 [0: 0]

MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 11 /usr/sbin/prog
END

my @options = ('--any-kernel', '--symbolize=0');


sub shown { run(@options, @_, $dump)->{out} }


is(shown('--format=folded'), "prog+0x300;prog+0x200 600\n", 'without owners');
is(shown('--format=folded', '--by=location'), <<'END', 'by location');
server (unknown);location (unknown);prog+0x300;prog+0x200 100
server a.example;location /api/</script>;prog+0x300;prog+0x200 500
END
is(shown('--format=folded', '--by=server'), <<'END', 'by server');
server (unknown);prog+0x300;prog+0x200 100
server a.example;prog+0x300;prog+0x200 500
END

my $top = shown('--format=top', '--by=location');

like($top, qr{^inuse_space: 600 B .*\ninuse_space +% +objects +mean +error +(?#
              )server +location +mostly\n +500 B +83\.3% +2 +250 B +exact +(?#
              )a\.example +/api/</script> +500 B: }, 'a table by owner');
unlike($top, qr/^.*[%] .* (?:server|location) \S+$/m, 'no owner is a function');

for my $option ('--owners=1', '--by=location') {
    my $pprof = run(@options, '--format=pprof', $option, $dump);

    keeps_contract($option, $pprof->{out});
}

my $svg = shown('--format=svg', '--by=location');

like($svg, qr{location /api/&lt;/script&gt;}, 'a picture');
unlike($svg, qr{</script>}, 'without markup');

my $page = shown('--format=html', '--by=location');

is(() = $page =~ m{</script>}g, () = shown('--format=html') =~ m{</script>}g,
   'a page has no more scripts than without');

for ([ '--by=request', qr/^jemalloc-pprof: a profile accepts by=server, / ],
     [ '--by=all', qr/by must be location, server or upstream; / ],
     [ '--owners=2', qr/owners must be 0 or 1/ ])
{
    my ($option, $sentence) = @$_;
    my $refused = run(@options, $option, $dump);

    isnt($refused->{exit}, 0, "$option is refused");
    like($refused->{err}, $sentence, 'with the sentence');
}

