# control: what it changes, in which workers and for how long; its parameters;
# what it refuses; and the directives that set workers as they start.

use JppTest;
use JppNginx qw( profile );

my $n = 4;

my $time = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;

my $nothing = 'nothing to change: send active=on, active=off, sampler=on, '
              . 'sampler=off, lg_sample= and a number from 10 to 24, stall= '
              . 'and a time, stall=off, owners=on, owners=off, reset=1, '
              . 'purge=1, or several of them joined by &; or '
              . 'acknowledge= and the id of a finding; or snapshot=1';

my $keys = 'control takes active, sampler, lg_sample, stall, owners, reset, '
           . 'purge, acknowledge, snapshot, worker and strict';
my $unknown = "unknown key: $keys";

my $bad_rate = 'lg_sample must be a whole number from 10 to 24: below 10 too '
               . 'many small objects take 16 KiB each, above 24 next to '
               . 'nothing is sampled';

my $foreign = 'control refuses requests that a page of another site sends: use '
              . 'curl';

my $off = 'control is off in this location: add control=on to its '
          . 'jemalloc_pprof directive, and restrict who can reach it';

my $config = <<'END';
location /a/ { jemalloc_pprof control=on; }
location /late/ {
    jemalloc_pprof control=on;
    jemalloc_pprof_timeout 500ms;
}
location /off/ { jemalloc_pprof control=off; }
location /silent/ { jemalloc_pprof; }
location = /b/control { jemalloc_pprof control=on; }
location /self { jemalloc_pprof control control=on worker=self; }
location /large/ { jemalloc_pprof; client_body_buffer_size 1m; }
location /disk/ { jemalloc_pprof control=on; client_body_in_file_only clean; }
END

# nothing is given back but by a purge

my $nginx = JppNginx->start(workers => $n, server => $config,
                             conf => options('dirty_decay_ms:-1',
                                             'muzzy_decay_ms:-1'));
my $connection = $nginx->client;

$nginx->settled($n, '/a/status');


# The answer, which has STATUS and, unless that is 200, this sentence; the JSON
# of a 200.

sub asked($name, $status, $sentence, @request) {
    my $answer = $connection->ask(@request);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    is($answer->{status}, $status, $name);

    $connection = $nginx->client if $answer->{head} =~ /^Connection: close\r$/m;

    if ($status != 200) {
        is($answer->{body}, "$sentence\n", "$name: why")
            if defined $sentence;
        return $answer;
    }

    is($answer->{headers}{'content-type'}, 'application/json', "$name: JSON");
    is($answer->{headers}{'cache-control'}, 'no-store', "$name: not kept");

    return decode_json($answer->{body});
}


# The answer to a form that all workers apply.

sub control($form) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $json = asked($form, 200, undef, 'POST', '/a/control', \$form);

    is("$json->{answered} of $json->{asked}", "$n of $n",
       "$form: all applied it");
    is(join(' ', map { $_->{worker} } @{ $json->{workers} }),
       join(' ', 0 .. $n - 1), "$form: in the order of their indexes");
    is(scalar(grep { defined $_->{error} } @{ $json->{workers} }), 0,
       "$form: without an error");

    return $json->{workers};
}


# One field of all workers, from status.

sub of_all($field, $of = undef) {
    my $status = $nginx->settled($of // $n, '/a/status');

    return join ' ', map { my $v = $_->{$field};
                           defined $v ? "$v" : 'null' } @{ $status->{workers} };
}


sub same {
    return join ' ', ($_[0]) x $n;
}


test 'active' => sub {
    is(of_all('complete_since'), same('null'), 'samples of all memory');
    is(of_all('gap'), same('null'), 'without a gap');

    my $done = control('active=off');

    for (@$done) {
        ok($_->{before}{active}, "worker $_->{worker} was active");
        ok(!$_->{after}{active}, 'and is not now');
        is($_->{after}{lg_sample}, 12, 'its rate is what it was');
        is($_->{purged}, undef, 'nothing was purged');
    }

    is(of_all('state'), same('inactive'), 'status reports the state');
    is(of_all('active'), same(0), 'and that it is not active');
    is(of_all('in_step'), same(1), 'in step');

    for my $what ('/a/heap', '/a/heap?worker=2', '/a/allocs?format=top') {
        my $answer = $connection->ask('GET', $what);

        is_answer($answer, 403,
                  qr/\Aprofiling is not active: prof\.active is (?#
                  )false, so jemalloc takes no samples\.\n.*prof_active:true/s,
                  "$what is refused");
    }

    like($connection->ask('GET', '/a/')->{body},
         qr{<td class="fair" data-l="samples">inactive<},
         'the console shows it');

    $done = control('active=on');

    ok(!$_->{before}{active} && $_->{after}{active},
       "worker $_->{worker} is active again") for @$done;

    is(of_all('state'), same('ready'), 'status reports it');
    is(of_all('in_step'), same(1), 'in step');

    gap();
    control('reset=1');

    is(of_all('gap'), same('null'), 'a reset makes it complete');
    like(of_all('complete_since'), qr/\A(?:$time ?){$n}\z/, 'since then');

    my $answer = $connection->ask('GET', '/a/heap?strict=1');

    is($answer->{status}, 200, 'there is a profile');
    like(contract($answer->{body}), qr/^types: /, 'that keeps the contract');
    like($connection->ask('GET', '/a/heap?format=top&cols=1000')->{body},
         qr/^samples complete since $time: jemalloc began to sample then, (?#
           )or forgot its samples, in $n of $n workers, and memory allocated (?#
           )before is missing$/m, 'and says since when');
};


# What was allocated while it was off is missing: whatever shows samples says so
# by now.

sub gap {
    for my $worker (@{ $nginx->settled($n, '/a/status')->{workers} }) {
        my ($since, $gap) = @$worker{qw( complete_since gap )};
        my ($problem) = grep { $_->{id} eq 'gap' } @{ $worker->{problems} };

        like($since, qr/\A$time\z/, 'status says since when it is complete');
        is("$gap->{to} $gap->{times}", "$since 1", 'and of the gap before');
        like($gap->{from}, qr/\A$time\z/, 'which has a beginning');
        is($problem->{why}, "jemalloc's sampling was off from $gap->{from} to "
           . "$since, and it samples memory only when it is allocated",
           'as a problem');
    }

    my $said = qr/samples complete since $time: jemalloc's sampling was off (?#
                 )from $time to $time in $n of $n workers, and memory (?#
                 )allocated while it was off is missing/;

    like($connection->ask('GET', '/a/heap?format=top&cols=1000')->{body},
         qr/^$said$/m,
         'a table says so');
    like(contract($connection->ask('GET', '/a/heap')->{body}),
         qr/^ *$said$/m, 'and a comment of the profile');
    unlike($connection->ask('GET', '/a/pools?format=top&cols=1000')->{body},
           qr/^samples complete/m, 'not of pools, which are complete');

    my $page = $connection->ask('GET', '/a/')->{body};

    like($page, qr/profiles lack memory that was allocated while sampling (?#
                  )was off/, 'the console has a card');
    like($page, qr{<li>samples complete since $time</li>}, 'and the time');

    my $answer = $connection->ask('GET', '/a/heap?strict=1');

    is_answer($answer, 503,
              "strict=1 refuses: the samples of $n of $n workers lack "
              . "allocations from a time when jemalloc's sampling was off; "
              . 'POST reset=1 to control to begin with complete ones, or ask '
              . 'without strict=1 to see the time', 'strict=1 refuses it');
}


test 'lg_sample' => sub {
    for my $lg (10, 24, 14, 14, 12) {
        my $done = control("lg_sample=$lg");

        is(join(' ', map { $_->{after}{lg_sample} } @$done), same($lg),
           "the rate is $lg");
        is(of_all('lg_sample'), same($lg), 'status reports it');
        is(of_all('in_step'), same(1), 'in step');
    }

    my $done = control('lg_sample=11');

    is(join(' ', map { $_->{before}{lg_sample} } @$done), same(12),
       'the answer has the rate of before');

    my $answer = $connection->ask('GET', '/a/heap');

    is(profile($answer)->{period}, 2048,
       'profiles have the new period');
    is($answer->{headers}{'jemalloc-pprof-workers'}, "$n/$n", 'of all');

    control('lg_sample=12');
};


# A reset forgets inherited samples with the rest.

test 'reset' => sub {
    control('reset=1');

    my $after = profile($connection->ask('GET', '/a/heap'));

    is(scalar(grep { $_->{labels}{origin} eq 'master' }
                   @{ $after->{samples} // [] }), 0, 'nothing is inherited');

    is(of_all('lg_sample'), same(12), 'the rate is what it was');
};


test 'purge' => sub {
    my $len = 1_000_000;

    fill($len);

    my $done = control('purge=1');

    for (@$done) {
        cmp_ok($_->{purged}, '>', $len / 2, "worker $_->{worker}: bytes");
        ok($_->{after}{active} && $_->{after}{lg_sample} == 12,
           'and nothing else');
    }
};


# Each worker has had LEN bytes of a request, and has freed them.

sub fill($len) {
    my @pids = split ' ', of_all('pid');

    is(connected($_, @pids)->ask('POST', '/large/symbol', \('x' x $len))
                           ->{status}, 200, "$len bytes for pid $_") for @pids;
}


test 'all at once' => sub {
    my $done = control('active=off&lg_sample=13&reset=1&purge=1');

    for (@$done) {
        ok($_->{before}{active} && !$_->{after}{active},
           "worker $_->{worker}: active");
        is("$_->{before}{lg_sample} $_->{after}{lg_sample}", '12 13', 'rate');
        like($_->{purged}, qr/^\d+$/, 'purged');
    }

    is(of_all('lg_sample'), same(13), 'status has the rate');
    is(of_all('active'), same(0), 'and the rest');

    control('active=on&lg_sample=12');
};


# They are on from the start, and switched in running workers, of which a thread
# watches, or none does.

test 'stalls and owners' => sub {
    is(of_all('stall_ms'), same(100), 'stalls from 100 ms on');
    is(of_all('owners'), same(1), 'and owners');
    is(of_all('in_step'), same(1), 'in step');

    for ([ 'stall=250ms', 250, 1 ], [ 'owners=off', 250, 0 ],
         [ 'stall=off', undef, 0 ], [ 'stall=2s&owners=on', 2000, 1 ])
    {
        my ($form, $ms, $owners) = @$_;
        my $done = control($form);
        my $said = $ms // 'null';

        is(join(' ', map { $_->{stall_ms} // 'null' } @$done), same($said),
           "$form: the threshold");
        is(join(' ', map { $_->{owners} } @$done), same($owners),
           "$form: owners");
        ok($_->{after}{active} && $_->{after}{lg_sample} == 12,
           'and nothing else') for @$done;
        is(of_all('stall_ms'), same($said), 'status has it');
        is(of_all('owners'), same($owners), 'and owners');
        is(of_all('in_step'), same(1), 'in step');

        my @pids = split ' ', of_all('pid');
        my $n_each = $ms ? 1 : 0;

        ok(wait_until(sub { !grep { watchers($_) != $n_each } @pids }),
           "and $n_each threads of each watch");
    }

    my $one = asked('of one', 200, undef, 'POST', '/a/control?worker=1',
                    \'stall=off');

    is($one->{workers}[0]{stall_ms}, undef, 'one worker alone');
    is(of_all('stall_ms'), '2000 null 2000 2000', 'is the only one');

    # owners= is a key of profiles, too, with other values

    my $off = asked('by query', 200, undef, 'POST',
                    '/a/control?owners=off&stall=100ms');

    is($off->{workers}[0]{owners}, 0, 'as a query');
    control('owners=on');
};


test 'two changes at once' => sub {
    changes_at_once(500, sub {
        my ($active, $lg) = ($_[0] % 2, 10 + $_[0] % 5);

        return (sub { !!$_[0]{active} == $active && $_[0]{lg_sample} == $lg },
                'active=' . ($active ? 'on' : 'off'), "lg_sample=$lg");
    });

    control('active=on&lg_sample=12&reset=1');
};


test 'stalls and owners at once' => sub {
    changes_at_once(100, sub {
        my ($owners, $ms) = ($_[0] % 2, 100 + $_[0] % 5);

        return (sub { !!$_[0]{owners} == $owners && $_[0]{stall_ms} == $ms },
                'owners=' . ($owners ? 'on' : 'off'), "stall=${ms}ms");
    });

    control('owners=on&stall=250ms');
};


# Two workers change a setting each at the same time, N_CHANGES times: both are
# there then, in every worker and in what workers that come will have.

sub changes_at_once($n_changes, $change) {
    my @pids = split ' ', of_all('pid');
    my @connections = map { connected($_, @pids) } @pids[0, 1];
    my $n_lost = 0;

    for my $i (1 .. $n_changes) {
        my ($is_made, @forms) = $change->($i);

        $connections[$_]->send_request('/a/control', body => $forms[$_])
            for 0, 1;

        my $n_done = grep { $_->response->{body} =~ /"answered": $n,/ }
                          @connections;
        my $status = $nginx->json('/a/status');
        my $n_right = grep { $_->{in_step} && $is_made->($_) }
                           @{ $status->{workers} };

        next if $n_done == 2 && $n_right == $n;

        diag("$i, @forms: $n_done were done, in $n_right workers")
            if $n_lost++ == 0;
    }

    is($n_lost, 0, "of $n_changes times two changes none was lost");
}


# A connection to the worker PID, one of these: it accepts while the others are
# stopped.

sub connected($pid, @pids) {
    my @others = grep { $_ != $pid } @pids;

    ok(halt(@others), 'the others are stopped');

    my $connection = $nginx->client;

    is($connection->ask('GET', '/a/worker/self/status')->{status}, 200,
       "$pid has the connection");

    kill 'CONT', @others;

    return $connection;
}


# A setting of one worker is not the setting of all.

test 'one worker of all' => sub {
    my @pids = split ' ', of_all('pid');

    for (
        [ '/a/control?worker=1', 1 ],
        [ '/a/worker/2/control', 2 ],
        [ "/a/control?worker=pid-$pids[3]", 3 ],

        # in the form; a query comes before that, and a path before both

        [ '/a/control', 0, 'worker=0&' ], [ '/a/control', 1, 'worker=1&' ],
        [ '/a/control', 3, "worker=pid-$pids[3]&" ],
        [ '/a/control?worker=1', 1, 'worker=2&' ],
        [ '/a/worker/2/control?worker=1', 2, 'worker=3&' ],
        [ '/self?worker=3', 3, 'worker=all&' ], [ '/self', 3, 'worker=3&' ],
        [ '/a/control?worker=0', 0, 'worker=nobody&' ],
    ) {
        my ($uri, $index, $worker) = @$_;
        my $form = ($worker // '') . 'lg_sample=15';
        my $json = asked("$uri $form", 200, undef, 'POST', $uri, \$form);

        is("$json->{answered} of $json->{asked}", '1 of 1', 'one applied it');
        is($json->{workers}[0]{pid}, $pids[$index], 'the right one');

        my @rates = map { $_ == $index ? 15 : 12 } 0 .. $n - 1;

        is(of_all('lg_sample'), "@rates", 'the others did not');
        is(of_all('in_step'), join(' ', map { $_ == 12 ? 1 : 0 } @rates),
           'it is out of step');

        control('lg_sample=12');

        is(of_all('in_step'), same(1), 'all are in step again');
    }

    my $json = asked('worker=self', 200, undef, 'POST', '/self',
                     \'lg_sample=15');
    my $self = $json->{workers}[0]{worker};

    is($json->{asked}, 1, 'the directive chooses one');
    is(of_all('lg_sample'),
       join(' ', map { $_ == $self ? 15 : 12 } 0 .. $n - 1),
       'the others did not');

    control('lg_sample=12');

    asked("worker=$_", 404,
          'no such worker: status lists all workers', 'POST',
          "/a/control?worker=$_", \'active=off')
        for $n, 'exiting', 'pid-1';

    is(of_all('active'), same(1), 'no worker applied it');
};


# [ URI, body, rate ]: the query comes before the form.

test 'queries and forms' => sub {
    my $type = 'Content-Type: application/x-www-form-urlencoded';

    for (
        [ '/a/control?lg_sample=13', '', 13 ],
        [ '/a/control', 'lg_sample=14', 14 ],
        [ '/a/control?lg_sample=15', 'lg_sample=16', 15 ],
        [ '/a/control?lg_sample=16', 'lg_sample=99', 16 ],
        [ '/a/control?purge=1', 'strict=1&lg_sample=19', 19 ],
        [ '/a/control', '&&=&lg%5fsample=%32%30&', 20 ],
        [ '/a/control?worker=all', 'worker=1&lg_sample=21', 21 ],
        [ '/a/control', 'worker=all&lg_sample=17', 17 ],
        [ '/a/worker/all/control', 'lg_sample=22', 22 ],
        [ '/a/pprof/control', 'lg_sample=23', 23 ],
        [ '/b/control', 'lg_sample=24', 24 ],
        [ '/disk/control', 'lg_sample=10', 10 ],
        [ '/a/control', '&' x (4096 - 12) . 'lg_sample=11', 11 ],
        [ '/disk/control', 'lg_sample=12' . '&' x (4096 - 12), 12 ],
    ) {
        my ($uri, $body, $lg) = @$_;
        my $name = "$uri, " . substr $body, 0, 30;

        asked($name, 200, undef, 'POST', $uri, $type, \$body);
        is(of_all('lg_sample'), same($lg), "$name: $lg");
    }

    # in chunks, and in two pieces

    my $json = asked('chunks', 200, undef, 'POST', '/a/control',
                     'Transfer-Encoding: chunked',
                     \"5\r\nlg_sa\r\n8\r\nmple=13&\r\n0\r\n\r\n");
    is($json->{workers}[0]{after}{lg_sample}, 13, 'chunks: 13');

    $connection->write("POST /a/control HTTP/1.1\r\nHost: localhost\r\n"
                       . "Content-Length: 12\r\n\r\nlg_sam");
    select undef, undef, undef, 0.1;
    $connection->write('ple=12');

    is($connection->answer('POST')->{status}, 200, 'two pieces');
    is(of_all('lg_sample'), same(12), 'two pieces: 12');
};


# One bad value, and nothing is applied; which are bad: jpp_control_test.c.

test 'values that are not allowed' => sub {
    for (
        [ '', $nothing ], [ 'active=off&format=top', $unknown ],
        [ 'active=off&active=off', 'active is given twice: give it once' ],
        [ 'active=off&worker=nobody', 'worker must be all, self, exiting, an '
          . 'index such as 0, or pid- and a process id' ],
        [ 'active=off&strict=2', 'strict must be 0 or 1' ],
        [ 'active=off&lg_sample=9', $bad_rate ],
        [ 'lg_sample=14&purge=0', 'purge must be 1' ],
    ) {
        my ($what, $sentence) = @$_;

        asked("query '$what'", 400, $sentence, 'POST', "/a/control?$what");
        asked("form '$what'", 400, $sentence, 'POST', '/a/control', \$what);
        asked("HEAD '$what'", 405, undef, 'HEAD', "/a/control?$what");
    }

    asked('a good query, and a bad form', 400, $bad_rate, 'POST',
          '/a/control?active=off', \'lg_sample=9');
    asked('a bad query, and a good form', 400, 'active must be on or off',
          'POST', '/a/control?active=x', \'active=off');
    asked('a key that every resource has', 400, 'strict must be 0 or 1', 'POST',
          '/a/control?strict=x&active=off');

    is(of_all('active'), same(1), 'no worker applied a part of it');
    is(of_all('lg_sample'), same(12), 'or another part');
};


test 'forms that are too large' => sub {
    my $sentence = "the form is larger than 4096 bytes: $keys";

    for my $len (4097, 100_000, 1_000_000) {
        my $body = 'lg_sample=14' . '&' x ($len - 12);

        for my $place ('/a/control', '/disk/control') {
            asked("$len bytes to $place", 413, $sentence, 'POST', $place,
                  \$body);
            asked("$len bytes to $place in chunks", 413, $sentence, 'POST',
                  $place, 'Transfer-Encoding: chunked',
                  \sprintf("%x\r\n%s\r\n0\r\n\r\n", $len, $body));
        }
    }

    like(asked('more than nginx takes', 413, undef, 'POST', '/a/control',
               'Content-Length: 2000000', \'')->{body},
         qr/413 Request Entity Too Large/, 'nginx answers');

    is(of_all('lg_sample'), same(12), 'no worker applied it');
};


test 'pages of other sites' => sub {
    for (
        [ 'Sec-Fetch-Site: cross-site' ], [ 'Sec-Fetch-Site: same-site' ],
        [ 'sec-fetch-site: CROSS-SITE' ], [ 'Sec-Fetch-Site:' ],
        [ 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: cross-site' ],
        [ 'Origin: http://evil.example' ], [ 'Origin: null' ],
        [ 'Origin: http://localhost.evil.example' ],
        [ 'Origin: http://localhost:8080' ], [ 'Origin: https://evil' ],
        [ 'Origin: localhost' ], [ 'ORIGIN: http://evil.example' ],
        [ 'Origin:' ],
        [ 'Sec-Fetch-Site: same-origin', 'Origin: http://evil.example' ],
        [ 'Sec-Fetch-Site: cross-site', 'Origin: http://localhost' ],
        [ 'Origin: http://localhost', 'Origin: http://evil.example' ],
        [ map({ "X-Header-$_: x" } 1 .. 40), 'Origin: http://evil.example' ],
    ) {
        my $name = join ', ', @$_[ @$_ < 40 ? 0 .. $#$_ : -1 ];

        asked($name, 403, $foreign, 'POST', '/a/control', @$_,
              \'active=off');
        asked("$name, by the query", 403, $foreign, 'POST',
              '/a/control?active=off', @$_);
    }

    is(of_all('active'), same(1), 'no worker applied it');

    for (
        [ 'Sec-Fetch-Site: same-origin' ], [ 'Sec-Fetch-Site: none' ],
        [ 'Origin: http://localhost' ], [ 'Origin: https://localhost' ],
        [ 'Sec-Fetch-Site: same-origin', 'Origin: http://localhost' ],
        [ 'X-Origin: http://evil.example' ], [ 'Sec-Fetch-Mode: cors' ],
        [ map({ "X-Header-$_: x" } 1 .. 40), 'Origin: http://localhost' ],
    ) {
        my $name = join ', ', @$_[ @$_ < 40 ? 0 .. $#$_ : -1 ];

        asked($name, 200, undef, 'POST', '/a/control', @$_, \'purge=1');
    }
};


test 'where it is off' => sub {
    for my $place (qw( /off /silent )) {
        asked("$place, a form", 403, $off, 'POST', "$place/control",
              \'active=off');
        asked("$place, a query", 403, $off, 'POST',
              "$place/control?active=off");
        asked("$place, a wrong value", 403, $off, 'POST', "$place/control",
              \'active=x');
        asked("$place, 100 kB", 403, $off, 'POST', "$place/control",
              \('x' x 100_000));
        asked("$place, GET", 405, 'the method is not allowed here: use POST',
              'GET', "$place/control?active=off");
    }

    is(of_all('active'), same(1), 'no worker applied it');
};


test 'methods' => sub {
    asked($_, 405, undef, $_, '/a/control?active=off')
        for qw( GET HEAD PUT DELETE OPTIONS PATCH );

    is(of_all('active'), same(1), 'no worker applied it');
};


# The answer says who applied the change in time; with strict=1 it is an error.

test 'one that is stopped' => sub {
    my $strict = asked('strict', 200, undef, 'POST', '/a/control?strict=1',
                       \'lg_sample=12');

    is("$strict->{answered} of $strict->{asked}", "$n of $n",
       'all applied it');

    my ($self) = @{ decode_json($connection->ask('GET', '/a/worker/self/status')
                                ->{body})->{workers} };
    my ($victim) = grep { $_->{pid} != $self->{pid} }
                   @{ $nginx->settled($n, '/a/status')->{workers} };
    my $why = qr/no answer within 500\.0 ms \(jemalloc_pprof_timeout\): (?#
        )it is stopped, by a signal or a debugger \(state T[^()]*\)/;

    halt($victim->{pid});

    my $json = decode_json(in_time('')->{body});

    is("$json->{answered} of $json->{asked}", $n - 1 . " of $n",
       'the others applied it');
    like((join "\n", map { "$_->{pid} $_->{error}" }
                     grep { defined $_->{error} } @{ $json->{workers} }),
         qr/\A$victim->{pid} $why\z/, 'the answer says why that one did not');

    my $refused = in_time('?strict=1');

    is_answer($refused, 503,
              'only ' . ($n - 1) . " of $n workers answered, and strict=1 "
              . 'requires all: those that did made the change; the error log '
              . 'and the answer without strict=1 say which are missing and why',
              'strict: 503');

    for my $query ('', '&strict=1') {
        my $answer = asked("alone$query", 504, undef, 'POST',
            "/late/control?worker=pid-$victim->{pid}$query",
            \'lg_sample=12');

        like($answer->{body}, qr/\Ano worker answered in time: worker (?#
             )$victim->{worker} \(pid $victim->{pid}\), $why\n\z/,
             "alone$query: why");
    }

    kill 'CONT', $victim->{pid};

    is(of_all('lg_sample'), same(12), 'all have the rate');
    is(of_all('in_step'), same(1), 'in step');
};


# The answer to a change at /late/, once no worker that runs was too late: those
# of a busy machine may be.

sub in_time($query) {
    my $answer;

    wait_until(sub {
        $answer = $connection->ask('POST', "/late/control$query",
                                   \'lg_sample=12');

        return $answer->{body} !~ /only [012] of $n |"answered": [012],/;
    });

    return $answer;
}


# New workers take over the settings of all, and not those of one.

test 'a reload' => sub {
    control('active=off&lg_sample=14');

    $nginx->reload;
    $connection = $nginx->client;

    is(of_all('active'), same(0), 'the new workers are not active either');
    is(of_all('lg_sample'), same(14), 'and have the rate');
    is(of_all('stall_ms'), same(250), 'and watch for the same stalls');
    is(of_all('in_step'), same(1), 'in step');

    control('active=on');
    asked('one of them', 200, undef, 'POST', '/a/control?worker=1',
          \'lg_sample=16');

    $nginx->reload;
    $connection = $nginx->client;

    is(of_all('active'), same(1), 'the last setting of all counts');
    is(of_all('lg_sample'), same(14), 'and not that of one');

    # an old worker with a request stays, and is asked like the others

    $connection->leave;

    my $slow = $nginx->upload('/a/symbol', 3, '0');
    my @before = @{ $nginx->settled($n, '/a/status')->{workers} };

    kill 'HUP', $nginx->{pid};

    my $status;

    ok(wait_until(sub {
        $status = $nginx->json('/a/status');

        my @new = grep { $_->{generation} > $before[0]{generation} }
                       @{ $status->{workers} };

        return @new == $n && $status->{answered} == $n + 1
               && $status->{asked} == $n + 1;
    }), 'a worker of the former generation is left');

    $connection = $nginx->client;

    my ($old) = grep { $_->{exiting} } @{ $status->{workers} };

    ok((grep { $_->{pid} == $old->{pid} } @before), 'it was there before');

    my $answer = asked('exiting', 200, undef, 'POST',
                       '/a/control?worker=exiting', \'lg_sample=15');

    is(join(' ', map { "$_->{pid} $_->{after}{lg_sample}" }
                     @{ $answer->{workers} }), "$old->{pid} 15",
       'the change is made in it alone');

    $answer = $nginx->get('/a/heap?worker=exiting');

    is($answer->{headers}{'jemalloc-pprof-workers'}, '1/1',
       'there is a profile of it');
    is($connection->ask('GET', '/a/heap?worker=all')
                  ->{headers}{'jemalloc-pprof-workers'},
       $n + 1 . '/' . ($n + 1), 'and one of all');

    $answer = asked('all', 200, undef, 'POST', '/a/control', \'lg_sample=12');

    is($answer->{answered}, $n + 1, 'old and new workers apply it');

    $slow->write('x1');

    is($slow->answer('POST')->{body}, "num_symbols: 1\n",
       'its request is answered');

    is(of_all('lg_sample'), same(12), 'it ends, and the others are left');

    asked('exiting', 404,
          'no such worker: status lists all workers', 'POST',
          '/a/control?worker=exiting', \'active=off');
};


sub directives($case) {
    my %rates = (10 => '1.0 KiB', 12 => '4.0 KiB', 14 => '16.0 KiB',
                 24 => '16.0 MiB');

    $nginx = JppNginx->start(
        workers => 2, http => $case->{main}, server => $config,
        conf => options($case->{options} // ()));

    is(of_all('active', 2), join(' ', ($case->{active}) x 2), 'active');
    is(of_all('lg_sample', 2), join(' ', ($case->{lg_sample}) x 2), 'rate');
    is(of_all('in_step', 2), '1 1', 'in step');

    my $says = $case->{active}
               ? 'jemalloc [\d.]+, profiling ready, one sample every '
                 . $rates{$case->{lg_sample}}
               : 'profiling is not active: ';

    like($nginx->error_log, qr/.*: jemalloc_pprof: $says/, 'the log says so');

    is($nginx->get('/a/heap')->{status}, $case->{active} ? 200 : 403,
       'heap');

    # control takes precedence over directives, and outlives a reload

    my $form = 'lg_sample=13&active=' . ($case->{active} ? 'off' : 'on');
    my $answer = $nginx->get('/a/control', body => $form);

    is(decode_json($answer->{body})->{answered}, 2, $form);

    $nginx->reload;
    is(of_all('active', 2), join(' ', (1 - $case->{active}) x 2), 'active');
    is(of_all('lg_sample', 2), '13 13', 'rate');

    $says = $case->{active} ? 'profiling is not active: '
                            : 'jemalloc [\d.]+, profiling ready, one sample '
                              . 'every 8.0 KiB';

    # a worker that exits meanwhile may have a later line

    like((grep { /: jemalloc_pprof: .*\bprofiling / }
               split /^/m, $nginx->error_log)[-1],
         qr/: jemalloc_pprof: $says/, 'the log says so');
}

$nginx->stop;

for my $case (
    { main => 'jemalloc_pprof_active off;', active => 0, lg_sample => 12 },
    { main => 'jemalloc_pprof_active on;', active => 1, lg_sample => 12,
      options => 'prof_active:false' },
    { main => 'jemalloc_pprof_sample 16k;', active => 1, lg_sample => 14 },
    { main => 'jemalloc_pprof_sample 1k;', active => 1, lg_sample => 10 },
    { main => 'jemalloc_pprof_sample 16M;', active => 1, lg_sample => 24 },
    { main => 'jemalloc_pprof_active off; jemalloc_pprof_sample 16384;',
      active => 0, lg_sample => 14 },
) {
    test "directives: $case->{main}" => sub { directives($case) };
}


test 'without a profiler' => sub {
    $nginx = JppNginx->start(workers => 2, server => $config,
                             conf => 'prof:false');

    $nginx->settled(2, '/a/status');

    my $answer = $nginx->get('/a/control', body => 'active=on');
    my $json = decode_json($answer->{body});

    is($answer->{status}, 200, 'an answer');
    is("$json->{answered} of $json->{asked}", '0 of 2', 'no worker could');

    for (@{ $json->{workers} }) {
        like($_->{error}, qr/\Aactive was not set: the profiling of jemalloc (?#
                             )[\d.]+ is off: opt\.prof is false, and (?#
                             )jemalloc reads its options once, before (?#
                             )main\(\); status has the fix\z/,
             'the reason, and where the fix is');
        is($_->{after}{lg_sample}, undef, 'there is no rate');
    }

    $answer = $nginx->get('/a/control?strict=1', body => 'active=on');

    is_answer($answer, 503,
              'only 0 of 2 workers answered, and strict=1 requires all: '
              . 'those that did made the change; the error log and the '
              . 'answer without strict=1 say which are missing and why',
              'strict: no answer');
    like($nginx->error_log,
         qr/worker \d \(pid \d+\) did not answer: active was (?#
            )not set: the profiling of jemalloc [\d.]+ is off/,
         'the error log has it');

    is(of_all('in_step', 2), '0 0', 'status: not in step');
};
