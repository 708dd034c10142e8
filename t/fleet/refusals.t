#!/usr/bin/perl

# Every refusal that the module has, to every resource that can be refused it,
# on connections that are kept: the client's next request there is answered, and
# the log has no alert.  Both come from the tables of the sources, so that a new
# resource, or a new refusal, is tested or fails here.
#
# Not here: what each refusal is for (the suites of each resource), and what
# else clients do (fleet/client.t).

use JppTest;

my $adapter = "$root/src/nginx";

# the connections of all subtests together are a thousand and more
my $passes = 5;

# those that a worker takes at once, and leaves some room
my $at_once = 24;

# where a late worker has a second, where there is little room, and where
# control is off
my $server = <<'EOF';
        client_max_body_size 2m;
        location /late/ { jemalloc_pprof control=on;
                          jemalloc_pprof_timeout 1s; }
        location /small/ { jemalloc_pprof control=on;
                           jemalloc_pprof_max_size 1k; }
        location /closed/ { jemalloc_pprof; }
        location ~ ^/inside/(.*)$ {
            error_page 418 = /debug/pprof/$1;
            return 418;
        }
        location /debug/pprof/ { jemalloc_pprof control=on; }
EOF

# the console is the one without a name
my @resources = ('', slurp("$adapter/resource/ngx_http_jpp_resources.c")
                     =~ /\{ ngx_string\("(\w+)"\), NGX_HTTP_/g);

# what asks no worker, what asks none for memory, what no job makes, and what
# waits for no busy thread
my %asks_nobody = map { $_ => 1 } qw( symbol cmdline events grown
                                  snapshots );
my %is_stored = (%asks_nobody, stalls => 1);
my %has_no_job = (cmdline => 1);
my %is_brief = (events => 1, grown => 1, snapshots => 1);

# the parameters with which a resource takes another way to its answer
my %ways = (
    heap => [ '', 'seconds=1' ],
    locations => [ '', 'seconds=1' ],
    memory => [ '', 'format=top', 'detail=ledger', 'detail=smaps' ],
    profile => [ 'seconds=1' ],
    stalls => [ '', 'seconds=1' ],
);

my %refusals = refusals();

# For each refusal, the subtest that provokes it, and the requests that do so
# for a resource: none where it cannot be refused that.

my %rows = (
    INTERNAL => [ 'at once', sub { both($_[0], '', at => '/inside/') } ],
    NO_RESOURCE => [ 'at once', sub { both("$_[0]none", '') } ],
    NO_WORKER => [ 'at once', sub {
        $asks_nobody{ $_[0] } ? () : asked($_[0], 'worker=99') } ],
    BAD_PATH => [ 'at once', sub {
        both($_[0], '', at => '/debug/pprof/worker/x/') } ],
    BAD_VALUE => [ 'at once', sub { both($_[0], 'strict=x') } ],
    BAD_METHOD => [ 'at once', sub { [ 'DELETE', "/debug/pprof/$_[0]" ] } ],
    BAD_HOST => [ 'at once', sub {
        both($_[0], '', at => 'http://evil.example/debug/pprof/') } ],
    CONTROL_OFF => [ 'at once', sub {
        $_[0] eq 'control' ? asked($_[0], '', at => '/closed/') : () } ],
    CLIENTS_OFF => [ 'at once', sub {
        $_[0] eq 'requests' ? both($_[0], 'clients=on') : () } ],
    FOREIGN => [ 'at once', sub {
        $_[0] eq 'control'
        ? asked($_[0], '', headers => [ 'Sec-Fetch-Site: cross-site' ])
        : () } ],
    CROSS_SITE => [ 'at once', sub {
        $_[0] eq 'control'
        ? ()
        : both($_[0], '', headers => [ 'Sec-Fetch-Site: cross-site' ]) } ],
    UNRECORDED => [ 'at once', sub {
        $_[0] =~ /^(?:allocs|pools|memory|events|grown|snapshots)$/
        ? both($_[0], 'at=99') : () } ],
    OVER => [ 'at once', sub {
        $_[0] eq 'control'
        ? [ 'POST', '/debug/pprof/control?acknowledge=oom-kill' ] : () } ],
    LARGE_BODY => [ 'at once', sub {
        $_[0] eq 'symbol'
        ? [ 'POST', '/debug/pprof/symbol', \('x' x (1024 * 1024 + 1)) ]
        : () } ],
    LARGE_FORM => [ 'at once', sub {
        $_[0] eq 'control'
        ? [ 'POST', '/debug/pprof/control', \('x' x 5000) ] : () } ],

    INCOMPLETE => [ 'a stopped worker', sub {
        $is_stored{ $_[0] }
        ? () : asked($_[0], 'strict=1', at => '/late/') } ],
    LATE => [ 'a stopped worker', sub {
        $is_stored{ $_[0] }
        ? () : asked($_[0], 'worker=STOPPED', at => '/late/') } ],
    BUSY => [ 'many jobs', sub {
        $has_no_job{ $_[0] } ? () : asked($_[0], '') } ],
    OVERDUE => [ 'a thread that is busy', sub {
        $is_stored{ $_[0] } && !$has_no_job{ $_[0] } && !$is_brief{ $_[0] }
        ? asked($_[0], '', at => '/late/') : () } ],
    FULL => [ 'little room', sub {
        $has_no_job{ $_[0] } ? () : asked($_[0], '', at => '/small/') } ],
    STARTING => [ 'a worker that starts', sub {
        $is_stored{ $_[0] } ? () : asked($_[0], 'worker=STARTING') } ],

    OFF => [ 'a jemalloc with faults', \&dumped ],
    BROKEN => [ 'a jemalloc with faults', \&dumped ],
    BAD_DUMP => [ 'a jemalloc with faults', \&dumped ],
    FAILED => [ 'a jemalloc with faults', \&dumped ],
    UNABLE => [ 'a jemalloc that cannot be dumped', \&dumped ],
    UNSPLIT => [ 'a large baseline', sub {
        $_[0] =~ /^(?:heap|allocs)$/
        ? [ 'GET', "/debug/pprof/$_[0]?strict=1" ] : () } ],
    GAP => [ 'samples with a gap', sub {
        $_[0] =~ /^(?:heap|allocs|locations)$/
        ? asked($_[0], 'strict=1') : () } ],
    TAKEN => [ 'another profiler', sub {
        $_[0] eq 'profile' ? both($_[0], 'seconds=1') : () } ],
    LEFT_OUT => [ 'a location that is left out', sub { asked($_[0], '') } ],

    LEAVING => [ 'never: nginx closes the connection' ],
    ABSENT => [ 'never: for other machines than x86-64' ],
    CROWDED => [ 'never: 65 profiles of a worker at once (t/500)' ],
    TIMED_OUT => [ 'never: the row of a code that has a refusal of its own' ],
);

# what is refused in its place on a busy machine, where all workers may be late
my %instead = (INCOMPLETE => [qw( LATE OVERDUE )]);

# what the fake jemalloc does for a refusal
my %faults = (
    OFF => 'prof.active 0', BROKEN => 'fail 28', BAD_DUMP => 'cut 700',
    FAILED => 'memfd 1',
);


# The rows of the table of refusals: status and sentence, by name.

sub refusals {
    my $text = slurp("$adapter/http/ngx_http_jpp_refuse.c")
               =~ s/ *\\\n/\n/gr;
    my %status = map { /define NGX_HTTP_(\w+) +(\d{3})$/ } statuses();
    my %refusals;

    while ($text =~ /\bNGX_HTTP_JPP_(\w+)(?:\]\ =)?\s+
                     \{\ NGX_HTTP_(\w+),[^"]*?
                     NGX_LOG_\w+,\ (?:NULL|"\d+"),\s+
                     ((?:"[^"]*"\s*)+)\}/gx)
    {
        my ($name, $status, $words) = ($1, $2, $3);

        $words = quotemeta join '', $words =~ /"([^"]*)"/g;
        $words =~ s/\\%(?:ui|uz|uD|L|M)/\\d+/g;
        $words =~ s/\\%[sV]/.*/g;
        $words =~ s/\\\\n/\n/g;

        $refusals{$name} = [ $status{$status} // $status, qr/\A$words\n?\z/s ];
    }

    return %refusals;
}


# nginx's names of statuses.

sub statuses {
    return map { "define NGX_HTTP_$_->[0] $_->[1]" } (
        [ BAD_REQUEST => 400 ], [ FORBIDDEN => 403 ], [ NOT_FOUND => 404 ],
        [ NOT_ALLOWED => 405 ], [ CONFLICT => 409 ],
        [ REQUEST_ENTITY_TOO_LARGE => 413 ], [ MISDIRECTED_REQUEST => 421 ],
        [ TOO_MANY_REQUESTS => 429 ], [ INTERNAL_SERVER_ERROR => 500 ],
        [ NOT_IMPLEMENTED => 501 ], [ SERVICE_UNAVAILABLE => 503 ],
        [ GATEWAY_TIME_OUT => 504 ]);
}


# A request for NAME in each of its ways, with QUERY besides.  HOW: at, where
# the tree is; headers.

sub asked($name, $query, %how) {
    return map {
        my $target = ($how{at} // '/debug/pprof/') . $name . '?'
                     . join '&', grep { length } $query, $_;

        $name =~ /^control/
        ? [ 'POST', $target, @{ $how{headers} // [] }, \'purge=1' ]
        : [ 'GET', $target, @{ $how{headers} // [] } ];
    } @{ $ways{$name} // [ '' ] };
}


# The same, and its headers alone.

sub both {
    my @requests = asked(@_);

    return map {
        my ($method, @rest) = @$_;

        $method eq 'GET' ? ($_, [ 'HEAD', @rest ]) : $_;
    } @requests;
}


# What fails where there is no dump.

sub dumped($name) {
    return $name =~ /^(?:heap|allocs)$/ ? asked($name, '') : ();
}


# Each of the refusals of the subtest PHASE but those that HOW leaves out, so
# many passes of it on as many connections: each has a request that is refused,
# and then another one, NEXT.

sub refused($nginx, $phase, %how) {
    my $next = $how{next} // '/closed/cmdline';

    for my $reason (sort keys %rows) {
        my ($where, $code) = @{ $rows{$reason} };

        next if $where ne $phase
                || defined $how{only} && $reason ne $how{only};

        my @requests = map { [ @$_ ] } map { $code->($_) } @resources;

        $_->[1] =~ s/=(?:STOPPED|STARTING)\b/=$how{worker}/ for @requests;
        @requests = (@requests) x ($how{passes} // $passes);

        my $n = @requests;
        my @wrong;

        while (my @some = splice @requests, 0, $at_once) {
            push @wrong, kept($nginx, $reason, $next, @some);
        }

        is(scalar @wrong, 0, "$reason: $n connections are kept")
            or diag(join "\n", @wrong[ 0 .. ($#wrong < 9 ? $#wrong : 9) ]);
    }
}


# What is wrong with the answers to REQUESTS, each on a connection of its own
# and followed by NEXT.

sub kept($nginx, $reason, $next, @requests) {
    my @fine = @refusals{ $reason, @{ $instead{$reason} // [] } };
    my @clients = map { $nginx->client } @requests;
    my @wrong;

    for my $i (0 .. $#requests) {
        my ($method, $target, @headers) = @{ $requests[$i] };
        my $body = ref $headers[-1] ? ${ pop @headers } : undef;

        $clients[$i]->send_request($target, method => $method, body => $body,
                                   headers => join '',
                                              map { "$_\r\n" } @headers);
    }

    for my $i (0 .. $#requests) {
        my $answer = $clients[$i]->response;

        push @wrong, "@{ $requests[$i] }[0, 1]: " . shown($answer)
            if !grep { $answer->{status} == $_->[0]
                       && ($requests[$i][0] eq 'HEAD'
                           || $answer->{body} =~ $_->[1]) } @fine;
    }

    $_->send_request($next) for @clients;

    for my $i (0 .. $#requests) {
        my $answer = $clients[$i]->response;

        push @wrong, "@{ $requests[$i] }[0, 1], then: " . shown($answer)
            if $answer->{status} != 200;
    }

    return @wrong;
}


# The status of ANSWER and how it begins.

sub shown($answer) {
    return "$answer->{status} "
           . substr($answer->{body}, 0, 200) =~ s/[^ -~]/?/gr;
}


# An nginx of two workers, and the one of them that serves.

sub two(%how) {
    my $nginx = JppNginx->start(workers => 2, server => $server, fake => '',
                                %how);

    ok(wait_until(sub {
        $nginx->get('/debug/pprof/status')->{body} =~ /"answered": 2,/;
    }), 'two workers');

    return $nginx;
}


test 'the tables' => sub {
    my @names = slurp("$adapter/http/ngx_http_jpp_http.h")
                =~ /^    NGX_HTTP_JPP_(\w+)(?: = JPP_CODES)?,/mg;

    # and those of the core's codes

    push @names, keys %{ { map { $_ => 1 }
        slurp("$adapter/http/ngx_http_jpp_refuse.c")
        =~ /\[JPP_ERR_\w+\] = NGX_HTTP_JPP_(\w+),/g } };

    cmp_ok(scalar @names, '>', 20, 'refusals');
    cmp_ok(scalar @resources, '>', 10, 'resources');
    is_deeply([ sort keys %refusals ], [ sort @names ], 'the table has all');
    is_deeply([ sort keys %rows ], [ sort @names ], 'and each is provoked');
    is_deeply([ grep { $refusals{$_}[0] !~ /^[45]\d\d$/ } sort @names ], [],
              'with a status that is known');
};


test 'at once', 'fake' => sub {
    my $nginx = two();

    refused($nginx, 'at once');
};


test 'a stopped worker', 'fake' => sub {
    my $nginx = two();
    my ($victim) = $nginx->worker_pids;

    $nginx->signal('STOP', $victim);

    refused($nginx, 'a stopped worker', worker => "pid-$victim", passes => 2);

    kill 'CONT', $victim;
};


# What waits for a worker that is stopped takes all the places.

test 'many jobs', 'fake' => sub {
    my $nginx = two();
    my ($victim) = $nginx->worker_pids;

    $nginx->signal('STOP', $victim);

    my @waiting = $nginx->clients(65, '/debug/pprof/status');

    ok(wait_until(sub {
        my $client = $nginx->asking('/debug/pprof/status');

        return $client->hears(0.2) && $client->response->{status} == 429;
    }), 'no place is left');

    refused($nginx, 'many jobs', passes => 2);

    $_->leave for @waiting;
    kill 'CONT', $victim;
};


test 'a thread that is busy', 'fake' => sub {
    my $nginx = JppNginx->start(server => $server, fake => '');
    my $client = $nginx->client;

    $nginx->fake("hold 1\n");
    $client->send_request('/debug/pprof/heap');
    ok($nginx->wait_dumping($nginx->worker), 'a dump hangs');

    refused($nginx, 'a thread that is busy');

    $nginx->fake('');
    is($client->response->{status}, 200, 'and ends');
};


# Eight megabytes that nobody reads.

test 'little room', 'fake' => sub {
    my $nginx = JppNginx->start(server => $server,
                                fake => "large 8\nprof.lg_sample 0\n");
    my $client = $nginx->client(window => 4096);

    $client->send_request('/debug/pprof/heap?format=jemalloc');
    ok($client->hears(60), 'an answer that takes the room');

    refused($nginx, 'little room', passes => 2);

    $client->break_off;
};


# A master that is stopped starts no worker in the place of one that was killed.

test 'a worker that starts', 'fake' => sub {
    my $nginx = two();
    my $client = $nginx->client;
    my ($victim) = $nginx->workers_of($client);
    my ($index) = $client->get('/debug/pprof/status')->{body}
                  =~ /"worker": (\d+),\s+"pid": $victim\b/;

    halt($nginx->{pid});
    kill 'KILL', $victim;

    ok(wait_until(sub {
        !sockets($victim)
        && $client->get("/debug/pprof/status?worker=$index")->{body}
           =~ /being started/;
    }), 'a worker is missing');

    refused($nginx, 'a worker that starts', worker => $index);

    kill 'CONT', $nginx->{pid};
    wait_until(sub { $nginx->worker_pids == 2 });
    $nginx->stop(alerts => qr/exited on signal 9/);
};


test 'a jemalloc with faults', 'fake' => sub {
    my $nginx = JppNginx->start(server => $server, fake => '');

    for my $reason (sort keys %faults) {
        $nginx->fake("$faults{$reason}\n");
        refused($nginx, 'a jemalloc with faults', only => $reason);
    }
};


test 'a jemalloc that cannot be dumped', 'fake' => sub {
    my $nginx = JppNginx->start(server => $server,
                                fake => "opt.prof_sys_thread_name 1\n");

    refused($nginx, 'a jemalloc that cannot be dumped');
};


test 'a large baseline', 'fake' => sub {
    my $nginx = JppNginx->start(
        workers => 2, fake => "large 1\n",
        server => "jemalloc_pprof_max_size 100k; $server");

    $nginx->fake('');

    refused($nginx, 'a large baseline');
};


test 'samples with a gap', 'jemalloc' => sub {
    my $nginx = JppNginx->start(server => $server);
    my $client = $nginx->client;

    is($client->get('/debug/pprof/control', body => "active=$_")->{status},
       200, "sampling is $_") for qw( off on );

    refused($nginx, 'samples with a gap');
};


test 'another profiler' => sub {
    my $nginx = JppNginx->start(
        server => $server, env => { JPP_PROFILER => 'handler' },
        preload => [ "$build/t/jpp_profiler.so", preloads() ]);

    refused($nginx, 'another profiler');
};


# A single process, whose connections outlive its configuration.

test 'a location that is left out', 'fake' => sub {
    my $nginx = JppNginx->start(master => 0, level => 'notice', fake => '');
    my @resources = grep { length } @resources;
    my @clients = map { $nginx->client } @resources;

    is($_->get('/fine')->{status}, 200, 'a connection') for @clients;

    $nginx->configure(server => '');
    $nginx->signal('HUP');
    ok(wait_until(sub { $nginx->error_log =~ /reconfiguring/ }),
       'the location is left out');

    my ($status, $sentence) = @{ $refusals{LEFT_OUT} };

    for my $i (0 .. $#clients) {
        my ($request) = asked($resources[$i], '');
        my $answer = $clients[$i]->ask(@$request);

        is_answer($answer, $status, $sentence, "$resources[$i]: $status");
        is($clients[$i]->get('/fine')->{status}, 200,
           "$resources[$i]: the connection is kept");
    }
};
