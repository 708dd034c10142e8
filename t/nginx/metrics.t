#!/usr/bin/perl

# metrics: every family that the table has, from all workers, in both forms,
# and what its values say about the process, the event loop and the zones.
#
# Not here: how cgroups and files of the kernel are read (t/unit), the numbers
# of jemalloc (t/unit), which workers a selector means (nginx/bad-requests.t).

use JppTest;

my $metrics = '/debug/pprof/metrics';

# a backtracking regular expression keeps the event loop for milliseconds
my %with = (
    http => 'limit_req_zone $binary_remote_addr zone=clients:64k rate=100r/s;',
    server => 'location /debug/pprof/ { jemalloc_pprof; }
               location /slow {
                   if ($arg_a ~ "^(a+)+$") { return 204; }
                   return 200 "slow";
               }
               location /limited { limit_req zone=clients; empty_gif; }',
);


# An answer as { 'name{labels}' => value }.

sub values_of($body) {
    return { map { /^([^#]\S*) (\S+)$/ ? ($1 => $2) : () } split /\n/, $body };
}


sub scrape($nginx, $query = undef) {
    my $answer = $nginx->get($metrics . ($query // ''));

    is($answer->{status}, 200, 'metrics') or diag($answer->{body});

    return values_of($answer->{body});
}


# What promtool says of metrics.

sub complaints($nginx, $text) {
    open my $promtool, '|-', "promtool check metrics >$nginx->{prefix}/said"
        . ' 2>&1'
        or die "promtool: $!";
    print $promtool $text;
    close $promtool;

    return slurp("$nginx->{prefix}/said");
}


test 'the text of Prometheus' => sub {
    my $nginx = JppNginx->start(workers => 2, %with);
    my $answer = $nginx->get($metrics);

    is($answer->{status}, 200, 'metrics');
    is($answer->{headers}{'content-type'},
       'text/plain; version=0.0.4; charset=utf-8', 'their type');

    is(complaints($nginx, $answer->{body}), '', 'promtool has no complaint');

    my %helped = map { $_ => 1 } $answer->{body} =~ /^# HELP (\S+) /mg;
    my @families = slurp("$root/src/core/answers/jpp_metrics_rows.c")
                   =~ /^        "(nginx_\w+)",$/mg;
    my @lost = grep { my $family = $_;
                      !grep { $helped{"$family$_"} } '', '_total', '_info'
                    } @families;

    cmp_ok(scalar @families, '>', 50, scalar @families . ' families');
    is("@lost", '', 'each has its help');

    my $values = values_of($answer->{body});

    is($values->{'nginx_workers{state="running"}'}, 2, 'two workers');
    is($values->{'nginx_config_generation'},
       $ENV{TEST_NGINX_USE_HUP} ? 2 : 1, 'their configuration');
    cmp_ok($values->{"nginx_jemalloc_allocated_bytes{worker=\"$_\"}"}, '>',
           100000, "what worker $_ holds") for 0, 1;
    is($values->{'nginx_jemalloc_prof_sample_interval_bytes{worker="1"}'},
       4096, 'its rate');
    ok(!exists $values->{'nginx_jemalloc_prof_in_step{worker="1"}'},
       'no setting for all, no line');
};


# Prometheus 2.42 asks like this; and who likes the other form better gets it.

test 'OpenMetrics' => sub {
    my $nginx = JppNginx->start;
    my $open = 'application/openmetrics-text';

    my $answer = $nginx->get($metrics, headers =>
                     "Accept: $open;version=1.0.0,$open;version=0.0.1;q=0.75,"
                     . "text/plain;version=0.0.4;q=0.5,*/*;q=0.1\r\n");

    is($answer->{headers}{'content-type'},
       "$open; version=1.0.0; charset=utf-8", 'the type');
    like($answer->{body}, qr/\n# EOF\n\z/, 'the end');

    $answer = $nginx->get($metrics, headers => "ACCEPT: $open;q=0.1,*/*\r\n");
    like($answer->{headers}{'content-type'}, qr{^text/plain; version=0\.0\.4},
         'it is not preferred');

    $answer = $nginx->get($metrics,
                          headers => 'Accept: ' . ',q;' x 1300 . "\r\n");
    is($answer->{status}, 200, 'an Accept of 4 KB');
};


test 'what a worker uses' => sub {
    my $nginx = JppNginx->start;
    my ($pid) = $nginx->worker_pids;

    my $before = scrape($nginx);
    my @held = map { my $c = $nginx->client; $c->get('/fine'); $c } 1 .. 5;
    my ($anon) = slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB/m;
    my $after = scrape($nginx);

    my $free = 'nginx_worker_connections_free{worker="0"}';
    my $fds = 'nginx_worker_open_fds{worker="0"}';

    is($before->{$free} - $after->{$free}, 5, 'five connections are taken');
    is($after->{$fds} - $before->{$fds}, 5, 'and five descriptors');
    is($after->{"nginx_worker_info{worker=\"0\",pid=\"$pid\",generation=\""
                . $after->{'nginx_config_generation'} . '"}'}, 1, 'its pid');

    my $told = $after->{'nginx_worker_resident_memory_bytes{worker="0",'
                        . 'kind="anon"}'};

    cmp_ok(abs($told - $anon * 1024), '<', 512 * 1024,
           "anonymous memory: $told, $anon kB");

    my ($total) = slurp('/proc/meminfo') =~ /^MemTotal:\s+(\d+) kB/m;
    is($after->{nginx_memory_total_bytes}, $total * 1024, 'the machine');
};


# Iterations of more than a millisecond, once requests take that long.

test 'the event loop' => sub {
    my $nginx = JppNginx->start(%with);
    my $name = 'nginx_worker_event_loop_busy_seconds';

    my $slow = sub {
        my $values = scrape($nginx);

        return $values->{"${name}_count{worker=\"0\"}"}
               - $values->{"${name}_bucket{worker=\"0\",le=\"0.001\"}"};
    };

    my $before = $slow->();

    $nginx->get('/slow?a=' . 'a' x 18 . '!') for 1 .. 60;

    cmp_ok($slow->(), '>', $before, 'iterations that took longer are counted');

    my $values = scrape($nginx);

    cmp_ok($values->{"${name}_sum{worker=\"0\"}"}, '>', 0.02, 'and their time');
    is($values->{"${name}_bucket{worker=\"0\",le=\"+Inf\"}"},
       $values->{"${name}_count{worker=\"0\"}"}, 'all of them');

    $nginx->stop;

    $nginx = JppNginx->start(main => 'timer_resolution 100ms;');
    is(scrape($nginx)->{"${name}_count{worker=\"0\"}"}, 0,
       'with timer_resolution there is no clock to compare with');
};


test 'shared zones' => sub {
    my $nginx = JppNginx->start(%with);

    my $before = scrape($nginx);

    $nginx->get('/limited');

    my $values = scrape($nginx);

    is($values->{'nginx_zone_size_bytes{zone="clients"}'}, 65536, 'a zone');
    cmp_ok($values->{'nginx_zone_free_bytes{zone="clients"}'}, '<', 65536,
           'it is not empty');
    is($values->{'nginx_zone_allocations_total{zone="clients"}'},
       $before->{'nginx_zone_allocations_total{zone="clients"}'} + 1,
       'a client was entered');
    ok(exists $values->{'nginx_zone_free_bytes{zone="jemalloc_pprof"}'},
       'the registry is one as well');
};


# What the configuration allows: quotes, braces, newlines, bytes that are no
# UTF-8.  Each is a series of its own.

test 'zones of any name' => sub {
    my @names = ('a\\"b', '{x=\\"1\\"} 2 # HELP', 'a\\nb', 'a\\\\b',
                 '</script>', "\xff\xfe", "\xff\xfd");
    my $nginx = JppNginx->start(http => join '', map {
        "limit_req_zone \$binary_remote_addr \"zone=$_:64k\" rate=1r/s;\n"
    } @names);
    my $body = $nginx->get($metrics)->{body};
    my @sizes = $body =~ /^(nginx_zone_size_bytes\{.*) 65536$/mg;
    my %series = map { $_ => 1 } @sizes;

    is(complaints($nginx, $body), '', 'promtool has no complaint');
    is(scalar keys %series, scalar @names, 'each zone has its series')
        or diag(join "\n", @sizes);
    unlike($body, qr/[^\n -~]/, 'all of it is text');
    like($nginx->get('/debug/pprof/memory')->{body} =~ s/[\n -~]//gr, qr/^$/,
         'and so is memory');
};


# It is missing, in numbers and by name; the others have their lines.

test 'a worker that hangs' => sub {
    my $nginx = JppNginx->start(workers => 2, server =>
        'location /debug/pprof/ { jemalloc_pprof;
                                  jemalloc_pprof_timeout 2s; }');
    my $client = $nginx->client;
    my ($hangs) = $nginx->workers_of($client);

    $nginx->signal('STOP', $hangs);

    my $values = values_of($client->get($metrics)->{body});
    my @infos = grep { /^nginx_worker_info\{/ } keys %$values;

    is($values->{'nginx_workers{state="missing"}'}, 1, 'one is missing');
    is($values->{'nginx_workers{state="running"}'}, 1, 'one is not');
    is(scalar @infos, 1, 'which has its lines');
    unlike($infos[0], qr/pid="$hangs"/, 'and is the other one');

    my ($missing) = @{ decode_json($client->get('/debug/pprof/memory')
                                   ->{body})->{missing} };

    is($missing->{pid}, $hangs, 'memory says who it is');
    like($missing->{why}, qr/^no answer within 2\.0 s .*: it is stopped, /,
         'and why');

    kill 'CONT', $hangs;
};


# A killed worker is counted once, whoever notices; one that exits is told
# apart, by sums without counters.

test 'workers that come and go' => sub {
    my $nginx = JppNginx->start(workers => 2);
    my ($killed) = $nginx->worker_pids;
    my $unclean = 'nginx_worker_unclean_exits_total';

    kill 'KILL', $killed;

    ok($nginx->replaced($killed), 'another one takes its place');

    ok(wait_until(sub { scrape($nginx)->{$unclean} == 1 }), 'it is counted');

    # it exits once its client has gone

    my $client = $nginx->client;

    $client->get('/fine');
    $nginx->reload;

    my $values = scrape($nginx);

    is($values->{$unclean}, 1, 'the others ended as they should');

    if ($values->{'nginx_workers{state="exiting"}'} > 0) {
        cmp_ok($values->{'nginx_jemalloc_allocated_bytes{worker="exiting"}'},
               '>', 100000, 'what is left of the former configuration');
    }

    is(scalar(grep { /_total\{worker="exiting"/ } keys %$values), 0,
       'no counters of workers that end');

    undef $client;
    $nginx->stop(alerts => qr/exited on signal 9/);
};


test 'parameters' => sub {
    my $nginx = JppNginx->start(workers => 2);

    my $values = scrape($nginx, '?worker=1');
    ok(!exists $values->{'nginx_worker_threads{worker="0"}'}
       && exists $values->{'nginx_worker_threads{worker="1"}'}, 'one worker');

    is($nginx->get("$metrics?worker=x")->{status}, 400, 'or none');
};


# From whichever worker: the counters are shared.

test 'requests for this module', 'jemalloc' => sub {
    my $nginx = JppNginx->start(workers => 2, %with,
        server => 'location /debug/pprof/ { jemalloc_pprof control=on; }');
    my $count = sub {
        my ($values, $resource, $code) = @_;

        return $values->{'nginx_jemalloc_pprof_requests_total{resource='
                         . qq("$resource",code="$code"})};
    };

    $nginx->get('/debug/pprof/heap') for 1 .. 3;
    $nginx->get('/debug/pprof/heap?worker=9');
    $nginx->get('/debug/pprof/');
    $nginx->get('/debug/pprof/nothing');
    $nginx->get('/debug/pprof/control', body => 'sampler=on&lg_sample=12');

    # a request is counted as it ends, which is after its answer

    my $values;

    ok(wait_until(sub {
        $values = scrape($nginx);
        return !grep { ($count->($values, @$_[0, 1]) // 0) != $_->[2] }
                     [ 'control', '2xx', 1 ], [ 'heap', '2xx', 3 ],
                     [ 'heap', '4xx', 1 ], [ 'console', '2xx', 1 ],
                     [ 'none', '4xx', 1 ];
    }), 'three profiles, a change and a page; one was refused, and one does '
        . 'not exist');

    # a dump of each worker for each of the three

    my $dumps = 'nginx_jemalloc_pprof_dump_seconds_count';

    is($values->{"$dumps\{worker=\"0\"}"} + $values->{"$dumps\{worker=\"1\"}"},
       6, 'dumps are counted');

    is($values->{'nginx_jemalloc_pprof_sampler_active{worker="1"}'}, 1,
       'the sampler is on');
    is($values->{'nginx_jemalloc_pprof_sampler_interval_bytes{worker="1"}'},
       4096, 'its rate');
    is($values->{'nginx_jemalloc_pprof_probe_errors{probe="process"}'}, 0,
       'what could not be read');
};


# Its table has every family, by the name of its values, and no other.

test 'the documentation' => sub {
    my $nginx = JppNginx->start;
    my $body = $nginx->get($metrics)->{body};
    my $docs = slurp("$root/docs/metrics.md");

    my @served = sort $body =~ /^# HELP (\S+) /mg;
    my @documented = sort $docs =~ /^\| `(\w+)` \|/mg;

    is_deeply(\@documented, \@served, 'the families');
};


test 'no jemalloc', sub { !is_linked() } => sub {
    my $nginx = JppNginx->start(preload => [], conf => '');
    my $values = scrape($nginx);

    ok(!exists $values->{'nginx_jemalloc_allocated_bytes{worker="0"}'},
       'nothing of jemalloc');
    cmp_ok($values->{'nginx_worker_resident_memory_bytes{worker="0",'
                     . 'kind="anon"}'}, '>', 100000, 'but of the process');
};
