#!/usr/bin/perl

# Faults inside a worker, from a jemalloc that misbehaves and from real limits:
# each answer has the documented status and a sentence that names the cause, the
# worker lives, and serves profiles again once the cause is gone.
#
# Not here: states that are fixed when a process starts (nginx/notice.t); faults
# on the way from one worker to another (fleet/peer.t); the end of a worker
# (fleet/worker.t).

use JppTest;
use POSIX qw( strftime );
use JppFleet qw( rests_at );

# In these sentences * stands for any text, and a blank for blanks and line
# ends.

my $incomplete = "jemalloc's dump came back incomplete:";
my $needs = 'A worker needs five free descriptors (worker_rlimit_nofile), '
            . 'memory, and /proc';
my $failed = 'jemalloc could not write the dump: it needs /proc to be '
             . 'visible, two more free descriptors (raise RLIMIT_NOFILE) and '
             . 'memory; perhaps:';
my $no_thread = 'it cannot start a background thread';
my $no_descriptor = 'because the process has no free descriptor (raise '
                    . 'RLIMIT_NOFILE): Too many open files';
my $forbidden = 'memfd_create is forbidden to nginx: set '
                . 'jemalloc_pprof_temp_path to a directory for its dumps';

my $heap = '/debug/pprof/heap';

# The requests for each resource that writes files, and what it writes; others
# are asked for by their name, and write nothing.

my %writes = (
    heap => [ [ 'heap', 'the dump' ], [ 'heap?seconds=1', 'the dump' ] ],
    allocs => [ [ 'allocs?format=top', 'the dump' ] ],
    pools => [ [ 'pools', 'its table of pools' ] ],
    profile => [ map { [ "profile?seconds=1&mode=$_", 'its samples' ] }
                     'cpu', 'wall' ],
    locations => [ [ 'locations', 'its table of pools', 'the dump' ],
                   [ 'locations?seconds=1', 'its samples' ] ],
    requests => [ [ 'requests', 'its table of pools' ],
                  [ 'requests?format=json', 'its table of pools' ] ],
    symbol => [ [ 'symbol' ], [ 'symbol', \'0x1+0x2' ] ],
    status => [ [ 'status' ], [ '' ] ],
    memory => [ [ 'memory' ], [ 'memory?format=top', 'its ledger' ],
                [ 'memory?detail=ledger', 'its ledger' ],
                [ 'memory?detail=smaps', 'its answer' ] ],
    control => [ [ 'control', \'lg_sample=12' ] ],
);


# The answer to PATH has STATUS and says WORDS.

sub answers($client, $path, $status, $words, $what) {
    my $answer = $client->get($path);

    is($answer->{status}, $status, "$what: $status");

    return $answer if $status == 200;

    says($answer, $words, $what);
    like($answer->{head}, qr/^X-Go-Pprof: 1\r?$/m, "$what: pprof shows it");

    return $answer;
}


sub says($answer, $words, $what) {
    like($answer->{body} =~ s/\s+/ /gr, pattern($words),
         "$what: its sentence");
}


sub pattern($words) {
    my $pattern = quotemeta($words =~ s/\s+/ /gr) =~ s/\\\*/.*/gr;

    return qr/^$pattern ?$/;
}


# A worker before a fault, and after it.

sub remember($nginx) {
    is($nginx->get($heap)->{status}, 200, 'before');

    my $pid = $nginx->worker;

    return { pid => $pid, descriptors => rests_at($nginx, $pid, 0) };
}


sub recovers($nginx, $before, $what) {
    is($nginx->get($heap)->{status}, 200, "$what: over: there is a profile");
    is($nginx->worker, $before->{pid}, "$what: the worker lives");
    # after a reload, some of the old workers may be closed only now
    cmp_ok(rests_at($nginx, $before->{pid}, 0, $before->{descriptors}), '<=',
           $before->{descriptors}, "$what: no descriptor is kept");
}


# One that the fake jemalloc's KEYS make, and its end.

sub fails($nginx, $before, $keys, $status, $words, $what, $path = $heap) {
    $nginx->fake("$keys\n");
    answers($nginx, $path, $status, $words, $what);
    $nginx->fake('');
    recovers($nginx, $before, $what);
}


test 'dumps', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $before = remember($nginx);
    my $cut = "$incomplete the dump was cut: its last line has no newline. "
              . $needs;
    my $empty = "$incomplete the dump is empty. $needs";
    my $other = "$incomplete not a heap dump of jemalloc: it does not start "
                . "with heap_v2/. $needs";

    my @faults = (
        [ 'cut 1', 503,
          "$incomplete the dump was cut in its first line. $needs" ],
        [ 'cut 30', 503, $cut ],
        [ 'cut 700', 503, $cut ],
        # among the mappings, where the cut may fall between two lines
        [ 'cut 5000', 503, "$incomplete * cut* $needs" ],
        [ 'maps 0', 503, "$incomplete the dump was cut: it has no "
                         . "MAPPED_LIBRARIES section at its end. $needs" ],
        [ 'empty 1', 503, $empty ],
        [ 'cut 0', 503, $empty ],
        [ 'garbage 1000', 503, $other ],
        [ "garbage 100000\nmaps 1", 503, $other ],
        [ 'fail 28', 500, "$failed No space left on device" ],
        [ 'fail 5', 500, "$failed Input/output error" ],
    );

    for my $fault ((@faults) x 2) {
        my ($keys, $status, $words) = @$fault;

        fails($nginx, $before, $keys, $status, $words, $keys =~ s/\n/, /gr);
    }

    fails($nginx, $before, 'cut 700', 503, $cut, 'one of two',
          "$heap?seconds=1");
};


# Dumps of 43 MB, and of one byte more than is allowed.

test 'the size of a dump', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $before = remember($nginx);

    $nginx->fake("large 43\nprof.lg_sample 0\n");

    my $dump = answers($nginx, "$heap?format=jemalloc", 200, undef, '43 MB');
    my $stacks = () = $dump->{body} =~ /^@/mg;
    my $top = answers($nginx, "$heap?format=top", 200, undef, 'as a table');

    # of those that begin in an allocator's own code some become one

    like($top->{body}, qr/, estimated from $stacks samples/,
         "all $stacks stacks");

    $nginx->fake('');

    my $three = $nginx->get("$heap?format=jemalloc")->{body};
    my $len = length $three;

    spew("$nginx->{prefix}/three", $three);

    my $location = 'location /debug/pprof/ { jemalloc_pprof; '
                   . 'jemalloc_pprof_max_size %d; }';

    $nginx->reload(server => sprintf $location, $len);
    $nginx->fake("dump $nginx->{prefix}/three\n");
    answers($nginx, $heap, 200, undef, 'a dump of the allowed size');

    spew("$nginx->{prefix}/three", $three =~ s/ fake$/ fake!/mr);
    answers($nginx, $heap, 503,
            "its dump is larger than the $len bytes of "
            . 'jemalloc_pprof_max_size: raise it, or lg_prof_sample',
            'one byte more');

    $nginx->fake('cut 500');
    answers($nginx, $heap, 503, "$incomplete *", 'a short dump that is cut');
};


test 'dumps that take too long', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '', server => <<'EOF');
        location /debug/pprof/ {
            jemalloc_pprof;
            jemalloc_pprof_timeout 1s;
        }
EOF
    my $before = remember($nginx);

    for (1, 2) {
        $nginx->fake("hold 1\n");
        answers($nginx, $heap, 504,
                "no worker answered in time: worker 0 (pid $before->{pid}), "
                . 'no answer within 1.0 s (jemalloc_pprof_timeout): its '
                . 'background thread is still busy',
                'a dump that hangs');
        is($nginx->get('/fine')->{status}, 200, 'other requests are served');
        is($nginx->get('/debug/pprof/status')->{status}, 200,
           'and status is');

        $nginx->fake('');
        wait_until(sub { $nginx->get($heap)->{status} == 200 });
        recovers($nginx, $before, 'a dump that hung');
    }
};


# prof.active may change while a process runs.

test 'profiling that is switched', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $before = remember($nginx);

    fails($nginx, $before, 'prof.active 0', 403,
          'profiling is not active: prof.active is false, so jemalloc takes no '
          . 'samples. Without a restart: POST active=on to control, or '
          . '*jemalloc_pprof_active on;*,prof_active:true *', 'not active')
        for 1, 2;
};


test 'anonymous memory is forbidden', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $before = remember($nginx);

    my $cannot = 'cannot put the dump into anonymous memory';

    my @faults = (
        [ 1, $forbidden ],
        [ 13, $forbidden ],
        [ 38, $forbidden ],
        [ 12, "$cannot: Cannot allocate memory" ],
        [ 23, "$cannot, because the system has no free descriptor (raise "
              . 'fs.file-max): Too many open files in system' ],
        [ 24, "$cannot, $no_descriptor" ],
    );

    fails($nginx, $before, "memfd $_->[0]", 503, $_->[1], "errno $_->[0]")
        for @faults;

    # with several workers, the answer names the first

    $nginx->reload(workers => 2);
    $nginx->fake("memfd 1\n");
    answers($nginx, $heap, 503,
            "no worker answered: worker 0 (pid *), $forbidden",
            'of two workers');
    $nginx->fake('');

    # the directory is used only where anonymous memory is forbidden

    my $dir = "$nginx->{prefix}/dumps";

    mkdir $dir;
    chmod 0777, $dir;
    $nginx->reload(workers => 1, http => 'jemalloc_pprof_temp_path dumps;');
    $nginx->fake('');
    $before = remember($nginx);

    for my $errno (1, 13, 38) {
        $nginx->fake("memfd $errno\n");
        answers($nginx, $heap, 200, undef, "errno $errno, in a directory");
        is($nginx->get("$heap?format=folded")->{body} =~ tr/\n//, 3,
           'with all stacks');
    }

    $nginx->fake("memfd 24\n");
    answers($nginx, $heap, 503, "$cannot, $no_descriptor",
            'without a descriptor the directory does not help');

    $nginx->fake("memfd 1\nhold 1\n");

    my $client = $nginx->asking($heap);

    ok($nginx->wait_dumping($before->{pid}), 'a dump begins');
    ok(!grep({ /^\d|\w/ && !/^\.\.?$/ } entries($dir)),
       'a dump has no name while it is written');
    $nginx->fake("memfd 1\n");
    is($client->response->{status}, 200, 'and then it was written');
    undef $client;

    $nginx->fake('');
    recovers($nginx, $before, 'with a directory');
    is(scalar(entries($dir)), 0, 'nothing is left in it');
};


sub entries($dir) {
    opendir my $handle, $dir or die "$dir: $!";
    my @entries = grep { !/^\.\.?$/ } readdir $handle;

    return @entries;
}


test 'directories that do not take a dump', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $prefix = $nginx->{prefix};

    mkdir "$prefix/closed", 0555;
    chmod 0555, "$prefix/closed";
    spew("$prefix/file", '');

    my @faults = (
        [ 'missing', ': No such file or directory' ],
        [ 'file', ': Not a directory' ],
        [ 'closed', ', because this process may not write there: '
                    . 'Permission denied' ],
    );

    for my $fault (@faults) {
        my ($dir, $words) = @$fault;

        $nginx->reload(http => "jemalloc_pprof_temp_path $dir;");

        fails($nginx, remember($nginx), 'memfd 1', 503,
              "cannot put the dump into $prefix/$dir$words", $dir);
    }
};


# In a name space of its own: file systems that are full, read-only, or without
# O_TMPFILE.

test 'file systems that do not take a dump', 'fake', 'mount' => sub {
    my @mounts = (
        # a cut baseline is not kept

        [ 'full', '-t tmpfs -o size=64k,mode=1777 none', 'large 1', 503,
          "$incomplete the dump was cut: its last line has no newline. $needs",
          'remount,size=8m' ],
        [ 'no entry left', '-t tmpfs -o nr_inodes=1,mode=1777 none', '', 503,
          'cannot put the dump into *: No space left on device',
          'remount,nr_inodes=10' ],
        [ 'read-only', '-t tmpfs -o ro,mode=1777 none', '', 503,
          'cannot put the dump into *, because this process may not write '
          . 'there: Read-only file system',
          'remount,rw' ],
    );

    for my $mount (@mounts) {
        my ($name, $options, $keys, $status, $words, $fix) = @$mount;
        my $dir = File::Temp->newdir;

        my $nginx = JppNginx->start(
            fake => "memfd 1\n$keys\n",
            http => "jemalloc_pprof_temp_path $dir;",
            run => mounted("$options $dir"));
        my $pid = $nginx->worker;

        like($nginx->error_log,
             qr/\[warn\].*memory inherited from the master will be (?#
                )reported as the workers' own: /, "$name: at the start");

        answers($nginx, $heap, $status, $words, $name) for 1, 2;

        is(system("nsenter -t $pid -m mount -o $fix $dir"), 0, 'the fix');
        answers($nginx, $heap, 200, undef, "$name no more");
        is($nginx->worker, $pid, "$name: the worker lives");
        $nginx->stop;
    }

    my $dir = File::Temp->newdir;
    my $nginx = JppNginx->start(
        fake => "memfd 1\n",
        http => "jemalloc_pprof_temp_path $dir;",
        run => mounted("-t mqueue none $dir"));

    answers($nginx, $heap, 503,
            'cannot put the dump into *, because its file system does '
            . 'not support O_TMPFILE (name a directory on another one): *',
            'a file system without O_TMPFILE');
};


# With n free descriptors, in a worker that asks itself: it needs one for the
# file, two for sockets, and one for the file again; jemalloc 5.3.0 needs two
# more.  With one, jemalloc writes a dump without mappings and reports success.

test 'few descriptors', 'jemalloc' => sub {
    my $nginx = JppNginx->start;
    my $before = remember($nginx);
    my $client = $nginx->client;
    my ($code) = slurp("/proc/$before->{pid}/maps") =~ /^(\w+)-\w+ r-x/m;
    my $lookup = { body => "0x$code" };

    my $no_socket = 'cannot create a socket to query it (raise '
                    . 'worker_rlimit_nofile): Too many open files';

    my @expected = (
        [ 503, $no_socket ],
        [ 503, $no_socket ],
        [ 503, 'cannot put the dump into anonymous memory, '
               . $no_descriptor ],
        [ 500, "$failed Too many open files" ],
        [ 503, "$incomplete the dump was cut: it has no MAPPED_LIBRARIES "
               . "section at its end. $needs" ],
        [ 200 ],
    );

    for my $free ((0 .. $#expected) x 2) {
        is($client->get('/fine')->{status}, 200, 'the connection is there');
        rests_at($nginx, $before->{pid}, 1, $before->{descriptors} + 1);

        my $was = limit($before->{pid}, 'nofile',
                        lowest($free, $before->{pid}));

        my ($status, $words) = @{ $expected[$free] };

        answers($client, $heap, $status, $words, "$free free descriptors");

        my $names = $client->get('/debug/pprof/symbol', %$lookup);

        is($names->{status}, $free ? 200 : 503, "$free: symbol");
        says($names, $free ? "num_symbols: 1 0x$code *"
                           : "/proc/self/maps cannot be opened, "
                             . $no_descriptor, "$free: symbol");

        limit($before->{pid}, 'nofile', $was);
        answers($client, $heap, 200, undef, 'enough again');
    }

    $client->leave;
    recovers($nginx, $before, 'at the end');
};


# A write beyond the limit raises a signal that would end the process.

test 'files may not be large', 'fake' => sub {
    my $nginx = JppNginx->start(fake => "large 1\n", level => 'error',
                                http => 'access_log off;');
    my $before = remember($nginx);

    for my $size (0, 1, 4096, 65536) {
        my $was = limit($before->{pid}, 'fsize', $size);

        answers($nginx, $heap, 503, too_large($size, 'the dump'),
                "$size bytes") for 1, 2;

        limit($before->{pid}, 'fsize', $was);
        recovers($nginx, $before, "$size bytes");
    }
};


sub too_large($size, $what) {
    return "cannot write $what, because a file of this process may have $size "
           . 'bytes at most (raise RLIMIT_FSIZE: LimitFSIZE= in the unit of '
           . 'systemd, or ulimit -f): File too large';
}


# Whatever a worker may not write, it lives, and the answer is right or says
# what is missing and what helps.

test 'files of every resource' => sub {
    my $nginx = JppNginx->start(
        preload => [], conf => 'prof:false', workers => 2, level => 'emerg',
        http => "access_log off;\njemalloc_pprof_stall 100ms;",
        server => 'location /debug/pprof/ { jemalloc_pprof control=on; }');
    my $none = $nginx->get('/debug/pprof/none')->{body};
    my @resources = $none =~ /(\w+)(?=, |\n| and )/g;
    my @pids = $nginx->worker_pids;

    is("@{[ grep { my $name = $_; !grep { $name eq $_ } @resources }
            sort keys %writes ]}", '', 'all of %writes exist');

    $nginx->ask('POST', '/debug/pprof/control', \'sampler=on');

    for my $size (0, 4096, 1048576) {
        my %was = map { $_ => limit($_, 'fsize', $size) } @pids;

        writes($nginx, $size, @$_)
            for map { @{ $writes{$_} // [ [ $_ ] ] } } @resources;

        unlike($nginx->get("/debug/pprof/$_")->{body}, qr/RLIMIT_FSIZE/,
               "$size bytes: $_ writes nothing")
            for grep { !$writes{$_} } @resources;

        is("@{[ $nginx->worker_pids ]}", "@pids", "$size bytes: they live");
        limit($_, 'fsize', $was{$_}) for @pids;
    }
};


sub writes($nginx, $size, $path, @what) {
    my $body = ref $what[0] ? ${ shift @what } : undef;
    my $answer = $nginx->get("/debug/pprof/$path", body => $body);
    my $text = $answer->{body} =~ s/\s+/ /gr;
    my @missing = grep { index($text, too_large($size, $_)) != -1 } @what;

    # at 4096 bytes some are small enough

    is("@missing", $size == 0 ? "@what" : '', "$size bytes: $path")
        if $size != 4096;

    my $is_refused = @missing && $path =~ /^(?:heap|allocs|pools|profile)/;

    # there is no Lua

    is($answer->{status}, $path eq 'lua' ? 501 : $is_refused ? 503 : 200,
       "$size bytes: $path: its status");
}


test '/proc is hidden', 'jemalloc', 'mount' => sub {
    my $nginx = JppNginx->start(run => mounted('-t tmpfs none /proc'));

    my $pid = $nginx->worker;

    for (1, 2) {
        answers($nginx, $heap, 500, "$failed No such file or directory",
                'no /proc');

        my $names = $nginx->get('/debug/pprof/symbol', body => '0x1');

        is($names->{status}, 503, 'no names either');
        says($names, '/proc/self/maps cannot be opened: No such file or '
                     . 'directory', 'no names');
        is($nginx->get('/debug/pprof/status')->{status}, 200, 'status');
    }

    is(system("nsenter -t $pid -m umount /proc"), 0, '/proc is back');
    answers($nginx, $heap, 200, undef, 'and a profile');
    is($nginx->worker, $pid, 'of the same worker');
};


# Address space for n MB more: the thread's stack takes 8, jemalloc some for
# each thread, and a report takes more than that.

test 'little memory', 'jemalloc' => sub {
    my %seen;

    for my $megabytes (0, 1, 4, 9, 12, 20, 32, 44, 64) {
        my $nginx = JppNginx->start;
        my $answer = with_more($nginx, $megabytes);

        $seen{ $answer->{status} }++;

        says($answer, '*cannot start a background thread: the error log says '
                      . 'why', "$megabytes MB")
            if $answer->{status} == 503 && $megabytes != 0;

        # nginx may not even have a page for the request

        $nginx->stop(alerts => $megabytes == 0
                               ? qr/\(12: Cannot allocate memory\)/ : undef);
    }

    ok($seen{503}, 'some have too little');
    ok($seen{200}, 'others have enough');

    SKIP: {
        skip 'no fake jemalloc', 1 unless has_fake();

        my %sentences;

        # the dump, what was inherited, and a thread, but no report: how much
        # that is depends on what glibc has kept of earlier threads

        my ($little, $enough, $body) = (0, 400, '');

        while ($enough - $little > 1 && $body !~ /^the report needs/) {
            my $megabytes = int(($little + $enough) / 2);
            my $nginx = JppNginx->start(fake => "large 40\n");
            my $answer = with_more($nginx, $megabytes);

            $body = $answer->{body};
            ($answer->{status} == 200 ? $enough : $little) = $megabytes;
            $sentences{"$megabytes MB: " . substr $body, 0, 100}++
                if $answer->{status} != 200;
            $nginx->stop;
        }

        ok(grep({ /: the report needs more memory than it may take$/ }
                keys %sentences), 'a large dump: too little for its report')
            or diag(sort keys %sentences);
    }
};


sub with_more($nginx, $megabytes) {
    my $pid = $nginx->worker;
    my $client = $nginx->client;

    is($client->get('/fine')->{status}, 200, 'the connection is there');

    my $was = limit($pid, 'as',
                    memory($pid, 'VmSize') + $megabytes * 1048576);
    my $answer = $client->get($heap);

    # nginx itself has no sentence for a request without memory, or no answer

    like($answer->{status},
         $megabytes == 0 ? qr/^(?:0|50[03])$/ : qr/^(?:200|503)$/,
         "$megabytes MB more");

    limit($pid, 'as', $was);
    answers($nginx, $heap, 200, undef, 'enough again');
    is($nginx->worker, $pid, 'the worker lives');

    return $answer;
}


# A change waits for the thread, which cannot start then: nothing is changed.

test 'no second thread', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '', server => <<'EOF');
        location /debug/pprof/ { jemalloc_pprof control=on; }
EOF
    my $before = remember($nginx);
    my $reset = '/debug/pprof/control?reset=1';

    for (1, 2) {
        my @clients = map { $nginx->client } 1 .. 2;

        $nginx->fake("hold 1\n");
        $clients[0]->send_request($heap);
        $nginx->wait_dumping($before->{pid});
        $clients[1]->send_request($reset, method => 'POST', body => '');
        is($nginx->get('/fine')->{status}, 200, 'it was read');

        my $was = limit($before->{pid}, 'nproc', 0);

        $nginx->fake('');
        is($_->response->{status}, 503, 'no thread for a report')
            for $clients[0];

        my $answer = $clients[1]->response;

        like($answer->{body}, qr/$no_thread: the error log says why/,
             'the answer says that the change was not made');

        limit($before->{pid}, 'nproc', $was);
        undef @clients;
        recovers($nginx, $before, 'a thread again');
        is($nginx->get($reset, method => 'POST', body => '')->{status}, 200,
           'the change is made');
        $before = remember($nginx);
    }
};


# RLIMIT_NPROC holds for users other than root.

test 'no threads', 'jemalloc' => sub {
    my $nginx = JppNginx->start;
    my $before = remember($nginx);

    for (1, 2) {
        my $was = limit($before->{pid}, 'nproc', 0);

        answers($nginx, $heap, 503,
                "$no_thread: the error log says why", 'no thread');
        like($nginx->error_log,
             qr/\[warn\] .*jemalloc_pprof: pthread_create\(\) failed \(11: /,
             'the error log says why');
        is($nginx->get('/debug/pprof/symbol', body => '0x1')->{status}, 503,
           'symbol has none either');

        limit($before->{pid}, 'nproc', $was);
        recovers($nginx, $before, 'a thread');
    }
};


# The last error of a dump, of a change, and of the settings that a worker takes
# over as it starts.

test 'the last error', 'fake' => sub {
    my $server = 'location /debug/pprof/ { jemalloc_pprof control=on; }';
    my $nginx = JppNginx->start(fake => '', server => $server);
    my $refused = 'active was not set: jemalloc refuses prof.active (*), which '
                  . '* are known to allow';

    is($nginx->get($heap)->{status}, 200, 'a dump');
    failed_last($nginx, undef, 'none');

    $nginx->fake("fail 28\n");
    answers($nginx, $heap, 500, "$failed No space left on device", 'a dump');
    failed_last($nginx, "$failed No space left on device", 'a dump');

    $nginx->fake('');
    is($nginx->get($heap)->{status}, 200, 'a dump again');
    failed_last($nginx, "$failed No space left on device",
                'the same after a good dump');

    like($nginx->get('/debug/pprof/')->{body},
         qr/<p>Last error in worker 0, pid \d+, at \S+Z: jemalloc could /,
         'the console shows it, too');

    $nginx->fake("refuse prof.active\n");
    like($nginx->get('/debug/pprof/control', body => 'active=on')->{body},
         qr/"error": "active was not set: /, 'a change');
    failed_last($nginx, $refused, 'a change');

    $nginx->fake('');
    $nginx->reload;
    failed_last($nginx, undef, 'none in a new worker');

    $nginx->fake("refuse prof.active\n");
    $nginx->reload;
    failed_last($nginx, $refused, 'a setting that it took over');
    like($nginx->error_log,
         qr/\[warn\] .*: could not apply the requested settings to this (?#
            )worker: active was not/,
         'the log has it');
};


# status has WORDS as the last error, and a time of the last minute.

sub failed_last($nginx, $words, $what) {
    my $body = $nginx->get('/debug/pprof/status')->{body};

    if (!defined $words) {
        like($body, qr/"last_error": null/, "last: $what");
        return;
    }

    my ($time, $text) = $body =~ /"last_error":\s\{\s+"time":\s"(\S+Z)",
                                  \s+"text":\s"(.*)"\s+\}/x;

    like($text, pattern($words), "last: $what");
    cmp_ok($time, 'le', strftime('%FT%TZ', gmtime(time() + 1)),
           'not in the future');
    cmp_ok($time, 'ge', strftime('%FT%TZ', gmtime(time() - 600)), 'recent');
}
