#!/usr/bin/perl

# The totals are true: what workers inherited counts once, what they allocated
# themselves counts for each, and the whole is the sum of its parts.
#
# Eight workers share a configuration of 10,000 entries, and each has live
# stacks of its own, whose number and size are known.
#
# Not here: which workers are asked, and which are missing (fleet/peer.t,
# fleet/workers.t).

use JppTest;

my $dir = tempdir(CLEANUP => 1);

my $preload = "$dir/jpp_stacks.so";

my $workers = 8;

# in each worker; a block is so large that each is sampled, so all is exact
my $stacks = 20;
my $block = 8 << 19;

# fine enough that the tables of the hash are sampled
my $conf = 'prof:true,prof_active:true,lg_prof_sample:10';

my $map = join '', "map_hash_max_size 65536;\nmap_hash_bucket_size 128;\n",
                   "map \$uri \$target {\n",
                   (map { "/a/place/of/many/$_ /another/$_;\n" } 1 .. 10_000),
                   "}\n";

# two tables of 8 bytes for an entry, and the entries
my $hash_min = 10_000 * 2 * 32;

plan skip_all => 'there is no jemalloc' unless has_jemalloc();
plan skip_all => 'there is no gcc' if system 'gcc --version >/dev/null 2>&1';

system("gcc -O1 -g -fPIC -shared -o $preload"
       . " $root/bench/preload/jpp_stacks.c -ldl") == 0
    or die "gcc failed\n";

# pprof finds no binaries of its own

$ENV{HOME} = $ENV{PPROF_TMPDIR} = $dir;
$ENV{PPROF_BINARY_PATH} = "$dir/none";

chmod 0755, $dir;

my $nginx = JppNginx->start(
    workers => $workers, conf => $conf, http => $map,
    preload => [ preloads(), $preload ],
    env => { JPP_STACKS => $stacks },
    server => <<'END');
location = /slow { limit_rate 1; return 200 "0123456789 and many more"; }
location /debug/pprof/ { jemalloc_pprof control=on; }
END


# The samples of an answer, which keeps the contract: objects, bytes, stack (of
# addresses), functions, and labels by name.

sub samples($query, $asked, $client = undef) {
    my $path = '/debug/pprof/heap?' . $query;
    my $answer = $client ? $client->get($path) : $nginx->get($path);

    is($answer->{status}, 200, "$query: 200") or diag($answer->{body});
    is($answer->{headers}{'jemalloc-pprof-workers'}, "$asked/$asked",
       "$query: all answered") if defined $asked;

    my $text = checked($answer->{body}, '--heap', '--print');

    like($text, qr/^types: /, "$query: the contract");

    my ($list) = $text =~ /^samples:\n((?: +.*\n)*)/m;
    my %at;

    while ($text =~ /^ +(\d+): (0x[0-9a-f]+) M=\d+(?: F=\d+ (\S+))?/mg) {
        $at{$1} = [ $2, $3 // '' ];
    }

    return map { sample($_, \%at) } split /\n/, $list // '';
}


sub sample($line, $at) {
    my ($objects, $bytes, $ids, $labels)
        = $line =~ /^ +(-?\d+) (-?\d+): ([\d ]*?) ((?:\w+=.*)?)$/
          or die "no sample: $line\n";

    my @frames = map { $at->{$_} } split ' ', $ids;

    return {
        objects => $objects, bytes => $bytes,
        stack => join(' ', map { $_->[0] } @frames),
        functions => join(';', '', (map { $_->[1] } @frames), ''),
        labels => { $labels =~ /(\w+)="?([\w-]+)"?/g }
    };
}


sub bytes { return sum0(map { $_->{bytes} } @_) }
sub objects { return sum0(map { $_->{objects} } @_) }


# The samples whose label KEY is VALUE.

sub with($key, $value, @samples) {
    return grep { ($_->{labels}{$key} // '') eq $value } @samples;
}


# The samples whose stack has a function.

sub through($name, @samples) {
    return grep { $_->{functions} =~ /;$name;/ } @samples;
}


# Stacks with their values.

sub table(@samples) {
    my %table;

    for my $sample (@samples) {
        $table{$sample->{stack}}[0] += $sample->{objects};
        $table{$sample->{stack}}[1] += $sample->{bytes};
    }

    return \%table;
}


test 'inherited memory counts once' => sub {
    my @all = samples('', $workers);
    my @one = samples('worker=0', 1);

    my @master = with(origin => 'master', @all);
    my @hash = through('ngx_hash_init', @master);

    cmp_ok(bytes(@hash), '>', $hash_min, 'the hash is inherited');
    is(bytes(@hash), bytes(through('ngx_hash_init', @one)),
       'it is as large as in a profile of one worker');
    is(bytes(through('ngx_hash_init', @all)), bytes(@hash),
       'no worker has it as its own');

    my $master = bytes(@master);
    my $alone = bytes(with(origin => 'master', @one));

    cmp_ok($alone, '<=', $master, 'one worker inherited no more than all');
    cmp_ok($alone, '>', 0.98 * $master, 'and hardly less');

    is_deeply([ uniq map { join ' ', sort keys %{ $_->{labels} } } @master ],
              [ 'generation origin' ],
              'it has a generation, and no worker');

    # before the fork, and after it

    is(scalar through('ngx_spawn_process', @master), 0,
       'no worker allocated any of it');
    is(scalar through('ngx_init_cycle', with(origin => 'worker', @all)), 0,
       'the configuration allocated nothing of a worker\'s own');

    is(bytes(samples('origin=master', $workers)), $master,
       'origin=master selects it alone');
};


test 'a worker\'s own memory counts for each' => sub {
    my @all = samples('', $workers);
    my @own = with(origin => 'worker', @all);

    is_deeply([ sort { $a <=> $b } uniq map { $_->{labels}{worker} } @own ],
              [ 0 .. $workers - 1 ], 'every worker has samples');
    is(scalar(uniq map { $_->{labels}{pid} } @own), $workers,
       'with a pid of its own');
    is_deeply([ uniq map { join ' ', sort keys %{ $_->{labels} } } @own ],
              [ 'generation origin pid worker' ], 'and all labels');

    for my $worker (0 .. $workers - 1) {
        my @stacks = through('jpp_stacks_\w+', with(worker => $worker, @own));

        is(objects(@stacks), $stacks, "worker $worker: all its objects");
        is(bytes(@stacks), $stacks * $block, "worker $worker: all its bytes");
    }

    is(bytes(through('jpp_stacks_\w+', @all)), $workers * $stacks * $block,
       'all workers together, and no other samples');

    # what nginx allocates before a module can: connections, events

    my @init = grep { !/ngx_process_events_and_timers/ }
               map { $_->{functions} }
               grep { $_->{functions} !~ /;jpp_stacks_/ }
               with(worker => 0, @own);

    cmp_ok(scalar @init, '>', 0, 'what a worker allocates first is its own');

    is(bytes(through('jpp_stacks_\w+', samples('origin=worker', $workers))),
       $workers * $stacks * $block, 'origin=worker selects it alone');
};


# One connection makes all requests, so that one worker serves them, and has
# their memory, too; the others are idle, and their memory stays the same.

test 'the whole is the sum of its parts' => sub {
    my $client = $nginx->client;

    samples('', undef, $client) for 1 .. 2;

    my @all = samples('', $workers, $client);
    my ($self) = map { $_->{labels}{worker} }
                 with(origin => 'worker', samples('worker=self', 1, $client));

    my (%own, %master);

    for my $worker (0 .. $workers - 1) {
        my @one = samples("worker=$worker", 1, $client);
        my @own = with(origin => 'worker', @one);

        is_deeply([ uniq map { $_->{labels}{worker} } @own ], [ $worker ],
                  "worker $worker: all its samples have its label");

        $own{$worker} = [ @own ];

        my $table = table(with(origin => 'master', @one));

        for my $stack (keys %$table) {
            for my $i (0, 1) {
                $master{$stack}[$i] = max($master{$stack}[$i] // 0,
                                          $table->{$stack}[$i]);
            }
        }
    }

    is_deeply(table(with(origin => 'master', @all)), \%master,
              'of an inherited stack, the most that any worker has');

    my $sum = bytes(with(origin => 'master', @all));
    my $loop = 'ngx_process_events_and_timers';

    for my $worker (0 .. $workers - 1) {
        my @merged = with(worker => $worker, @all);
        my @own = @{ $own{$worker} };

        if ($worker == $self) {
            my $is_idle = sub { $_[0]{functions} !~ /;$loop;/ };

            $sum += bytes(through($loop, @merged));

            @merged = grep { $is_idle->($_) } @merged;
            @own = grep { $is_idle->($_) } @own;
        }

        is_deeply(table(@merged), table(@own),
                  "worker $worker: the same, alone and with the others");

        $sum += bytes(@own);
    }

    is(bytes(@all), $sum, 'the whole is the sum');

    $client->leave;
};


test 'the other formats agree' => sub {
    my @lines = split /\n/,
                $nginx->get('/debug/pprof/heap?format=folded&origin=worker'
                            . '&type=inuse_objects')->{body};

    is(sum0(map { /;jpp_stacks_[^ ]* (\d+)$/ ? $1 : 0 } @lines),
       $workers * $stacks, 'folded');

    my $top = $nginx->get('/debug/pprof/heap?format=top&cols=1000&n=1000'
                          . '&origin=worker')
              ->{body};
    my ($total) = $top =~ /^inuse_space: ([\d.]+) MiB in /;
    my $known = $workers * $stacks * $block / 1048576;

    cmp_ok($total, '>=', $known, 'top: all of it');
    cmp_ok($total, '<', 1.05 * $known, 'top: once');
    like($top, qr/ main$/m, 'top: with its callers');
};


test 'pprof selects by origin and worker' => sub {
    plan skip_all => 'there is no go' if system 'go version >/dev/null 2>&1';

    my $file = spew("$dir/all.pb.gz",
                    $nginx->get('/debug/pprof/heap')->{body});
    my $one = $stacks * $block;

    my %total = map { $_ => total($file, "-tagfocus=$_") }
                'origin=master', 'origin=worker', 'worker=^3$';

    cmp_ok($total{'worker=^3$'}, '>=', $one, 'tagfocus selects one worker');
    cmp_ok($total{'worker=^3$'}, '<', 1.1 * $one, 'and no other');
    cmp_ok($total{'origin=worker'}, '>=', $workers * $one,
           'tagfocus selects the workers\' own');
    is($total{'origin=worker'} + $total{'origin=master'}, total($file),
       'the rest is inherited');
    is(total($file, '-tagignore=origin=master'), $total{'origin=worker'},
       'tagignore is the reverse');

    my $tags = `go tool pprof -tags -unit=B $file 2>/dev/null`;

    for my $tag (qw( worker pid generation origin )) {
        like($tags, qr/^ *$tag: Total /m, "tags: $tag");
    }

    like($tags, qr/worker: Total.*(?:\n.*\([^)]*\): [0-7])+/,
         'tags: the workers');

    my $tree = `go tool pprof -tagroot=worker -top -unit=B -nodecount=1000 \\
                $file 2>/dev/null`;

    SKIP: {
        skip 'this pprof has no tagroot', $workers if $?;

        like($tree, qr/ +\d+B +[\d.]+% +$_$/m, "tagroot: worker $_")
            for 0 .. $workers - 1;
    }
};


# The total that pprof prints, in bytes.

sub total($file, @options) {
    my $text = '';

    open my $pprof, '-|', 'go', 'tool', 'pprof', '-top', '-unit=B',
                          '-nodefraction=0', '-nodecount=0', @options, $file
        or die "go: $!\n";
    { local $/; $text = <$pprof>; }
    close $pprof;

    return $text =~ /^Showing nodes accounting for (\d+)B,/m ? $1 : -1;
}


# A slow client keeps a worker of the old configuration.

test 'two generations' => sub {
    my $slow = $nginx->asking('/slow');

    ok(wait_until(sub { $nginx->access_log !~ /\/slow/
                        && $slow->read_some(0.1, 1) }), 'a slow client');

    my $before = bytes(through('ngx_hash_init', samples('', $workers)));

    $nginx->reload(is_kept => 1);
    $nginx->get('/fine');

    # the other old workers end

    ok(wait_until(sub {
        ($nginx->get('/debug/pprof/heap')->{headers}{'jemalloc-pprof-workers'})
        eq ($workers + 1) . '/' . ($workers + 1)
    }), 'one worker of the old configuration is left');

    my @all = samples('', $workers + 1);
    my @master = with(origin => 'master', @all);
    my ($old, $new, @more) = sort { $a <=> $b }
                             uniq map { $_->{labels}{generation} } @master;

    is($new, $old + 1, 'two generations');
    is(scalar @more, 0, 'and no more');

    my %hash = map { $_ => bytes(through('ngx_hash_init',
                                         with(generation => $_, @master))) }
                   $old, $new;

    is($hash{$old}, $before, 'the hash of the old configuration');

    # blocks of pools do not begin at the same place in both

    cmp_ok(abs($hash{$new} - $before), '<', 0.05 * $before,
           'and that of the new one');

    my %count = ($old => 1, $new => $workers);

    for my $generation ($old, $new) {
        is(bytes(through('jpp_stacks_\w+',
                         with(generation => $generation, @all))),
           $count{$generation} * $stacks * $block,
           "generation $generation: its workers' own");
    }

    my @exiting = samples('worker=exiting', 1);

    is_deeply([ uniq map { $_->{labels}{generation} } @exiting ], [ $old ],
              'worker=exiting selects the old worker');
    is(bytes(through('ngx_hash_init', @exiting)), $before,
       'with its hash');

    # an index selects a running worker, even if an old one has the same

    my ($index) = map { $_->{labels}{worker} }
                  with(origin => 'worker', @exiting);

    is_deeply([ uniq map { $_->{labels}{generation} }
                samples("worker=$index", 1) ], [ $new ],
              'an index selects a running worker');

    $slow->leave;

    ok(wait_until(sub {
        $nginx->get('/debug/pprof/heap?worker=exiting')->{status} == 404
    }), 'it ends when the client leaves');

    is(bytes(through('ngx_hash_init', samples('', $workers))), $hash{$new},
       'and its hash with it');
};


test 'a reset forgets inherited memory' => sub {
    my $answer = $nginx->get('/debug/pprof/control', body => 'reset=1');

    is($answer->{status}, 200, 'a reset') or diag($answer->{body});

    my $json = decode_json($answer->{body});

    is_deeply([ map { $_->{error} } @{ $json->{workers} } ],
              [ (undef) x $workers ], 'in every worker');

    my @all = samples('', $workers);

    is(scalar with(origin => 'master', @all), 0,
       'nothing is reported as inherited');
    is(bytes(through('jpp_stacks_\w+|ngx_hash_init', @all)), 0,
       'or as their own');

    # later workers were not reset

    $nginx->reload;

    my @after = samples('', $workers);

    cmp_ok(bytes(through('ngx_hash_init', with(origin => 'master', @after))),
           '>', $hash_min, 'new workers report what they inherited');
    is(bytes(through('jpp_stacks_\w+', with(origin => 'worker', @after))),
       $workers * $stacks * $block, 'and their own');
};


$nginx->stop;
