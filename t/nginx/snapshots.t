#!/usr/bin/perl

# Snapshots: the heap and the pools of a moment that has passed, in every form
# that live ones have, through reloads and crashes, and as files.
#
# Not here: when one is taken, which are kept, and what a crash leaves of a
# region of memory (t/unit/jpp_snapshots_test.c).

use JppTest;

use JppNginx qw(profile);

use IO::Uncompress::Gunzip qw(gunzip);

my $cgroup = '/sys/fs/cgroup/memory';

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on; }';

sub server($prefix) {
    spew("$prefix/big", 'x' x 8_000_000);
    return $tree . ' location /held { proxy_pass
                       http://127.0.0.1:$server_port/file;
                       proxy_buffers 64 64k; proxy_busy_buffers_size 64k;
                       proxy_max_temp_file_size 0; }
                     location /file { alias ' . $prefix . '/big; }';
}


sub listed($nginx) {
    return $nginx->json('/debug/pprof/snapshots?format=json');
}


# Has one taken, and returns its id.

sub take($nginx) {
    my $n = @{ listed($nginx)->{snapshots} };
    my $last = $n ? listed($nginx)->{snapshots}[0]{id} : 0;

    is($nginx->get('/debug/pprof/control?snapshot=1', body => '')->{status},
       200, 'one is asked for');

    my $new = wait_until(sub {
        my ($first) = @{ listed($nginx)->{snapshots} };
        return $first && $first->{id} > $last ? $first : undef;
    });

    ok($new, 'and comes');
    is($new->{reason}, 'manual', 'for this reason');

    return $new->{id};
}


sub pools($nginx, $query = '') {
    return $nginx->get("/debug/pprof/pools?format=folded$query")->{body};
}


sub total($folded) {
    my $sum = 0;
    $sum += $1 while $folded =~ / (-?\d+)$/mg;
    return $sum;
}


sub held($folded) {
    return total(join '', map { "$_\n" } grep { m{location /held} }
                        split /\n/, $folded);
}


# The offline tool makes of the ARCHIVE of snapshot ID what the server makes of
# it, which alone knows names of functions that nginx does not export.

sub is_read_by_tool($nginx, $id, $archive) {
    my $file = spew(tempdir(CLEANUP => 1) . '/snapshot.tar.gz', $archive);
    my $tool = "'$build/jemalloc-pprof' --symbolize=0";

    for my $what ([ 'heap' ], [ 'pools', '--pools' ]) {
        my ($resource, @options) = @$what;
        my $answer = $nginx->get("/debug/pprof/$resource?at=$id&symbolize=0");
        my $is = `$tool @options '$file'`;
        my ($mine, $its) = map { JppProfile::read_profile(checked($_,
                                                                  '--print')) }
                           $is, $answer->{body};

        cmp_ok(scalar @{ $its->{samples} }, '>', 3, "samples of $resource");
        ok($its->{labels}{origin}{master}, 'inherited ones, too');
        is_deeply($mine->{$_}, $its->{$_}, "the tool has its $_")
            for 'labels', 'types', 'period';
        is_deeply([ sort map { explain($_) } @{ $mine->{samples} } ],
                  [ sort map { explain($_) } @{ $its->{samples} } ],
                  "the tool has its samples of $resource");
    }

    like(`$tool --list '$file'`, qr{^ +\d+  heap/worker-0-pid-\d+-}m,
         'it lists them');
}


test 'a moment that has passed' => sub {
    my $prefix = tempdir(CLEANUP => 1);
    chmod 0755, $prefix;

    my $nginx = JppNginx->start(workers => 2, server => server($prefix));

    is(listed($nginx)->{kept}, 0, 'none yet');
    like($nginx->get('/debug/pprof/snapshots')->{body},
         qr/^no snapshots yet: one is taken a minute after nginx has/,
         'which the table says');

    my @clients = $nginx->slow(4, '/held');
    my $held;

    ok(wait_until(sub { ($held = held(pools($nginx))) > 4_000_000 }),
       'much is held');

    my $then = pools($nginx);
    my $id = take($nginx);
    my $listed = listed($nginx)->{snapshots}[0];

    like($listed->{owner}, qr{^upstream buffers of location /held of },
         'whose most of it is');
    like($listed->{place}, qr/^nginx\.conf:\d+$/, 'where');
    cmp_ok($listed->{owner_bytes}, '>', 4_000_000, 'how much');
    is($nginx->json('/debug/pprof/grown?format=json')->{snapshot}, $id,
       'grown compares with it');

    $_->break_off for @clients;
    ok(wait_until(sub { held(pools($nginx)) == 0 }), 'and held no more');

    is(held(pools($nginx, "&at=$id")), held($then), 'then it was');
    is(held(pools($nginx, '&at=last')), held(pools($nginx, "&at=$id")),
       'the last one is this');
    is(held(pools($nginx, "&base=$id")), -held(pools($nginx, "&at=$id")),
       'since then it is gone');
    is(total(pools($nginx, "&at=$id&base=$id")), 0,
       'then less then is nothing');

    like($nginx->get("/debug/pprof/memory?at=$id&format=top")->{body},
         qr/\AHealthy|Warning|Critical/, 'memory of then');
    ok($nginx->json("/debug/pprof/memory?at=$id&format=json")->{total},
       'as JSON');
    like($nginx->get("/debug/pprof/events?at=$id")->{body}, qr/^time /,
       'events of then');
    like($nginx->get("/debug/pprof/grown?at=$id")->{body}, qr/rate|grow/,
       'what had grown then');

    my $archive = $nginx->get("/debug/pprof/snapshots?at=$id");

    is($archive->{headers}{'content-type'}, 'application/gzip', 'an archive');
    gunzip(\$archive->{body}, \my $tar);
    like($tar, qr{^memory\.txt\0}m, 'which is a tar');

    # through a reload, and a crash

    $nginx->reload;

    cmp_ok(held(pools($nginx, "&at=$id")), '>', 4_000_000,
           'a reload forgets nothing');

    is($nginx->get("/debug/pprof/pools?base=$id&format=top")->{status}, 200,
       'what has grown since, over the reload');

    my ($victim) = $nginx->worker_pids;
    kill 'KILL', $victim;
    ok(wait_until(sub { 2 == grep { $_ != $victim } $nginx->worker_pids }),
       'a worker is killed');
    cmp_ok(held(pools($nginx, "&at=$id")), '>', 4_000_000, 'and it is there');

    like($nginx->get('/debug/pprof/snapshots')->{body},
         qr/^heap\?at=$id&format=top shows the heap then/m, 'what to do next');
    like($nginx->error_log, qr/snapshot $id \(manual: control asked for it\)/,
         'the log has it');
    my ($event) = grep { $_->{event} eq 'snapshot' }
        @{ $nginx->json('/debug/pprof/events?format=json')->{events} };

    is($event->{text}, "snapshot $id, manual: control asked for it",
       'and it is an event');

    $nginx->stop(alerts => 'exited on signal 9');
};


test 'the heap', sub { has_jemalloc() } => sub {
    my $nginx = JppNginx->start(workers => 2, server => $tree);
    my $id = take($nginx);

    for my $format ('pprof', 'top', 'html', 'svg', 'folded', 'text') {
        my $answer = $nginx->get("/debug/pprof/heap?at=$id&format=$format");

        is($answer->{status}, 200, "the heap as $format");
        is(partly($answer), '2/2', 'of all workers');
    }

    my $profile = profile($nginx->get("/debug/pprof/heap?at=$id"));

    ok($profile, 'a whole profile');

    is($nginx->get("/debug/pprof/heap?at=$id&strict=1")->{status}, 200,
       'strictly');
    for my $query ('worker=0', 'worker=1&format=jemalloc', 'by=location',
                   'owners=1&format=html', 'type=inuse_objects&format=top',
                   'origin=worker', 'symbolize=0', 'sort=cum&n=3&format=top',
                   'base=last&by=server&format=top')
    {
        is_answer($nginx->get("/debug/pprof/heap?at=$id&$query"), 200, qr/./s,
                  $query);
    }

    like($nginx->get("/debug/pprof/heap?at=$id&format=jemalloc&worker=0")
               ->{body}, qr/\Aheap_v2/, 'the dump itself');
    is_answer($nginx->get("/debug/pprof/heap?at=$id&format=jemalloc"), 400,
              qr/one worker|one dump/, 'of all workers there is none');

    is_answer($nginx->get("/debug/pprof/heap?at=$id&worker=9"), 404,
              qr/^no such worker in snapshot $id: it has 2, such as (?#
                 )worker=pid-\d+$/, 'one that was not there');

    is_read_by_tool($nginx, $id,
                    $nginx->get("/debug/pprof/snapshots?at=$id")->{body});

    $nginx->reload;

    is($nginx->get("/debug/pprof/heap?base=$id&format=top")->{status}, 200,
       'what has grown since, over the reload');
};


test 'what is not there' => sub {
    my $nginx = JppNginx->start(server => $tree);
    my $none = qr/^there are no snapshots yet: one is taken a minute after (?#
                 )nginx has started, and at once by control with snapshot=1$/;

    is_answer($nginx->get("/debug/pprof/$_"), 404, $none, $_)
        for 'heap?at=1', 'pools?base=last', 'memory?at=-1h', 'snapshots?at=1';

    my $id = take($nginx);
    my $other = qr/^there is no snapshot of that time, id or generation: the (?#
                  )oldest is $id of \S+ \(generation \d+\), the newest $id (?#
                  )of \S+ \(generation \d+\); snapshots lists them$/;

    is_answer($nginx->get("/debug/pprof/heap?$_"), 404, $other, $_)
        for 'at=9999', 'at=-7d', 'base=2001-01-01T00:00Z', 'at=generation-99';

    is($nginx->get("/debug/pprof/pools?at=$_")->{status}, 200, "at=$_")
        for $id, 'last', '2099-01-01T00:00Z';

    is_answer($nginx->get("/debug/pprof/heap?$_"), 400,
              qr/^(?:at|base) must be the id of a snapshot, last, a time (?#
                )such as -1h or 2026-11-23T10:00Z, or a generation such as (?#
                )generation-3$/, $_)
        for 'at=', 'at=0', 'at=-1', 'at=1h', 'base=x', 'at=2026-02-30T10:00Z',
            'at=2026-11-23', 'at=generation-', 'at=generation-0', 'at=-0s',
            'at=99999999999';

    is_answer($nginx->get("/debug/pprof/$_"), 400,
              qr/^at= is for heap, allocs, pools, memory, events, grown and (?#
                )snapshots, base= for heap, allocs and pools, and both (?#
                )exclude seconds=$/, $_)
        for "heap?at=$id&seconds=1", "profile?at=$id", "memory?base=$id",
            "stalls?at=$id", "status?at=$id", "cmdline?at=$id";

    is_answer($nginx->get("/debug/pprof/heap?$_=$id&ages=1"), 400,
              qr/^age and ages are about live heap samples of the present: /,
              "$_ with ages") for 'at', 'base';

    is_answer($nginx->get("/debug/pprof/requests?at=$id"), 404,
              qr/^snapshots do not contain requests: use heap, allocs, (?#
                )pools, memory, events or grown$/, 'what is not in it');

    is_answer($nginx->get('/debug/pprof/control?snapshot=1&purge=1',
                          body => ''), 400,
              qr/^acknowledge is about a finding, snapshot about nginx, /,
              'a change beside it');
};


test 'none are taken' => sub {
    my $off = qr/^no snapshots are taken: jemalloc_pprof_snapshots is off, (?#
                )or master_process is$/;

    for my $how ([ http => 'jemalloc_pprof_snapshots off;' ], [ master => 0 ]) {
        my $nginx = JppNginx->start(server => $tree, @$how);

        is_answer($nginx->get('/debug/pprof/heap?at=last'), 404, $off,
                  "$how->[0]: not there");
        is_answer($nginx->get('/debug/pprof/control?snapshot=1', body => ''),
                  404, $off, "$how->[0]: not taken");
        is(listed($nginx)->{kept}, 0, "$how->[0]: the list is empty");
    }
};


test 'files' => sub {
    my $dir = tempdir(CLEANUP => 1);
    my $path = "$dir/snapshots";

    chmod 0755, $dir;
    mkdir $path;
    chown((getpwnam('nobody'))[2, 3], $path) if is_root();

    my $nginx = JppNginx->start(
        server => $tree,
        http => "jemalloc_pprof_snapshots path=$path keep=2;");

    my @ids = map { take($nginx) } 1 .. 3;

    my $files = wait_until(sub {
        my @files = sort glob "$path/*";
        return @files == 2 && $files[-1] =~ /-$ids[-1]-manual/ ? \@files : 0;
    });

    ok($files, 'the last two are kept');
    like($files->[1], qr{/nginx-snapshot-\S+-\d{8}T\d{6}Z-$ids[2]-(?#
                        )manual\.tar\.gz$}, 'a name');
    is((stat $files->[1])[2] & 0777, 0600, 'for nobody else');

    my $list = `tar -tzf '$files->[1]'`;

    like($list, qr{^pools/worker-0-pid-\d+-generation-\d+\.dump$}m,
         'what each worker sent');
    like($list, qr{^memory\.json$}m, 'and what memory said');
    is(slurp($files->[1]),
       $nginx->get("/debug/pprof/snapshots?at=$ids[2]")->{body},
       'the same as from the zone');

    # what happens to the directory is told, and the ring goes on

    rename $path, "$path.away";
    take($nginx);
    ok(wait_until(sub { $nginx->error_log =~ /snapshot \d+ has no file: (?#
                        )cannot open the directory \S+ of \S+ \(create it, / }),
       'a directory that is gone');

    symlink "$path.away", $path;
    take($nginx);
    ok(wait_until(sub { $nginx->error_log =~ /\(it must be a directory, and (?#
                        )no link\)/ }), 'a link in its place');
    is(scalar(() = glob "$path.away/*"), 2, 'nothing came there');
};


test 'a zone that is too small', sub { has_jemalloc() } => sub {
    my $nginx = JppNginx->start(
        workers => 12, http => 'jemalloc_pprof_snapshots zone=64k;',
        server => $tree, conf => options('lg_prof_sample:4'));

    take($nginx) for 1 .. 3;

    my ($newest) = @{ listed($nginx)->{snapshots} };

    is($newest->{workers} + $newest->{left_out}, 12, 'some may not fit');
    cmp_ok($newest->{left_out}, '>', 0, 'and some does not');
    cmp_ok($newest->{bytes}, '<=', 131_072, 'the rest fits');
    like($nginx->error_log,
         qr/snapshot \d+ lacks $newest->{left_out} workers, for which there (?#
           )is no room: raise zone= of /, 'as the log says');

    my $answer = $nginx->get('/debug/pprof/heap?at=last');

    is(partly($answer), "$newest->{workers}/12", 'the others can be read');
    is($nginx->get('/debug/pprof/heap?at=last&strict=1')->{status}, 503,
       'which is not all');
    like(contract($answer->{body}),
         qr/the snapshot has no room for it: raise zone= of /, 'and why');
};


# Whoever is killed, what is listed can be read.

test 'kills' => sub {
    my $n = $ENV{JPP_SOAK} ? 500 : 12;
    my $nginx = JppNginx->start(workers => 4, server => $tree);
    my ($wrong, $read) = (0, 0);

    for (1 .. $n) {
        $nginx->get('/debug/pprof/control?snapshot=1', body => '');
        sleep rand 0.5;

        my @pids = $nginx->worker_pids;
        kill 'KILL', $pids[rand @pids] if @pids;

        wait_until(sub { 4 == grep { 1 } $nginx->worker_pids });

        for my $one (@{ listed($nginx)->{snapshots} }) {
            my $answer = $nginx->get("/debug/pprof/pools?at=$one->{id}");

            # it may have been dropped for a newer one
            $answer->{status} == 200 ? $read++
                : $answer->{body} =~ /has just been dropped|no snapshot/
                    ? 0 : $wrong++ || diag("$one->{id}: $answer->{body}");
        }
    }

    is($wrong, 0, 'all that is listed can be read');
    cmp_ok($read, '>', 0, "$read were read");
    note("$n workers were killed, $read reads");

    $nginx->stop(alerts => 'exited on signal 9');
};


# All die together, and the next ones go on.

test 'all workers at once' => sub {
    my $n = 64;
    my $nginx = JppNginx->start(workers => $n, server => $tree);
    my $id = take($nginx);

    is(partly($nginx->get("/debug/pprof/pools?at=$id")), "$n/$n", 'all are in');

    my %old = map { $_ => 1 } $nginx->worker_pids;

    $nginx->get('/debug/pprof/control?snapshot=1', body => '');
    kill 'KILL', keys %old;

    ok(wait_until(sub { $n == grep { !$old{$_} } $nginx->worker_pids }),
       'all are others');

    is(partly($nginx->get("/debug/pprof/pools?at=$id")), "$n/$n",
       'what they held is there');

    my $next = take($nginx);

    cmp_ok($next, '>', $id, 'and the others are recorded');

    $nginx->stop(alerts => 'exited on signal 9');
};


# Uploads of 64 MiB each fill a container of 128 MiB: the kernel kills a worker,
# and snapshots show what it held.

test 'a worker that the kernel kills', sub { -w $cgroup } => sub {
    my $dir = "$cgroup/jpp-test-$$";

    mkdir $dir or die "$dir: $!";

    my $nginx = JppNginx->start(
        workers => 2, server => $tree . ' location /fill {
            client_body_buffer_size 64m; client_max_body_size 1g;
            proxy_pass http://127.0.0.1:$server_port/none; }',
        run => [ 'sh', '-c', "echo \$\$ >$dir/cgroup.procs; exec \"\$\@\"",
                 'sh' ]);

    open my $limit, '+<', "$dir/memory.limit_in_bytes" or die "limit: $!";
    print $limit 128 * 1024 * 1024;
    close $limit or die "limit: $!";

    my $part = 'x' x 12_000_000;
    my @clients;

    for (1 .. 400) {
        push @clients, $nginx->upload('/fill', 64_000_000, $part)
            if $_ % 4 == 0 && @clients < 12;

        last if (slurp("$dir/memory.oom_control") =~ /oom_kill (\d+)/)[0] > 0;
        sleep 0.25;
    }

    cmp_ok((slurp("$dir/memory.oom_control") =~ /oom_kill (\d+)/)[0], '>', 0,
           'a worker was killed');

    my $listed = wait_until(sub {
        my $all = eval { listed($nginx)->{snapshots} } // [];
        return (grep { $_->{reason} eq 'kill' } @$all) ? $all : undef;
    });

    ok($listed, 'the survivors are asked at once');

    my @before = grep { $_->{reason} =~ /^(?:limit|soon|growth)$/ } @$listed;

    ok(scalar(@before), 'and they were before');
    note("$_->{time} $_->{reason}: $_->{text}") for reverse @$listed;

    my ($most) = sort { $b->{held} <=> $a->{held} } @before;

    like($nginx->get("/debug/pprof/pools?at=$most->{id}&format=top&cols=200")
               ->{body}, qr{MiB .*location /fill},
         'whose memory it was');

    my $finding = wait_until(sub {
        my ($one) = grep { $_->{id} eq 'oom-kill' }
            @{ $nginx->json('/debug/pprof/memory')->{findings} };
        return $one && $one->{link} ? $one : undef;
    });

    like($nginx->get('/debug/pprof/metrics')->{body},
         qr/^nginx_snapshots_total\{reason="kill"\} 1$/m, 'metrics count it');
    like($finding->{owner}, qr/location \/fill/, 'the finding names it');
    like($finding->{because}, qr/; in snapshot \d+, [\d.]+ MiB of [\d.]+ (?#
            )MiB are .*location \/fill/, 'with its snapshot');
    like($nginx->get("/debug/pprof/$finding->{link}&cols=200")->{body},
         qr{MiB .*location /fill}, 'and links it');

    # the kernel may have killed it as it held the lock

    $nginx->stop(alerts => 'exited on signal 9|was locked by');
    rmdir $dir;
};
