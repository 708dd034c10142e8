#!/usr/bin/perl

# The page as nginx serves it: its headers, labels of workers, live refresh,
# what it asks the server for, and what it says when the server does not answer.

use JppTest;
use JppBrowser;
use JppRows qw( compare pprof_rows table_rows );
use MIME::Base64 qw( decode_base64 );

my $server = JppNginx->start(workers => 2, http => <<'END', server => <<'END');
    log_format uri '$status $request_method $request_uri';
END
        access_log logs/access.log uri;

        location /debug/pprof/ {
            jemalloc_pprof control=on;
        }

        location = /site {
            access_log off;
            default_type text/html;
            return 200 "<title>another site</title>";
        }

        location /busy {
            add_header Retry-After 7 always;
            return 429 "too many profiles: come back later";
        }
END

my $url = "http://127.0.0.1:$server->{port}/debug/pprof/heap?format=html";
my $browser = JppBrowser->start;


test 'headers' => sub {
    my %policy = (html => qr/script-src 'sha256-[^']+='; style-src 'sha256-/,
                  svg => qr/^default-src 'none'; style-src 'sha256-[^']+=';/);
    my %type = (html => 'text/html; charset=utf-8', svg => 'image/svg+xml');

    for my $format (qw( html svg )) {
        for my $method (qw( GET HEAD )) {
            my $answer = $server->ask($method,
                                     "/debug/pprof/heap?format=$format");
            my ($head) = $answer->{head};

            is($answer->{status}, 200, "$method $format");
            like($head, qr/^Content-Type: \Q$type{$format}\E\r$/mi, 'its type');
            like($head, qr/^Content-Disposition:\ inline;\ filename="
                           nginx-heap-[-.\w]+-\d{8}T\d{6}Z\.$format"\r$/xmi,
                 'it is shown, and has a name to save it by');
            like($head =~ s/.*^Content-Security-Policy: ([^\r]*).*/$1/smir,
                 $policy{$format}, 'its policy');
            like($head, qr/^Cross-Origin-Resource-Policy: same-origin\r$/mi,
                 'no other site may embed it');
            like($head, qr/^Cross-Origin-Opener-Policy: same-origin\r$/mi,
                 'or hold its window');
            like($head, qr/^Referrer-Policy: same-origin\r$/mi,
                 'or learn its address');
            like($head, qr/^Cache-Control: no-store\r$/mi, 'nor is it stored');
        }

        like($server->get("/debug/pprof/heap?format=$format")->{head},
             qr{^Jemalloc-Pprof-Workers: 2/2\r$}mi, 'of all workers');
    }

    like($server->get('/debug/pprof/heap')->{head},
         qr/^Content-Disposition: attachment;/mi, 'a profile is saved still');
    unlike($server->get('/debug/pprof/heap')->{head},
           qr/^(?:Content-Security|Cross-Origin|Referrer)/mi,
           'and has no headers of pages');
};


test 'what is refused' => sub {
    for (['format=html&debug=1', 'format=html has no debug=1'],
         ['format=svg&debug=1', 'format=svg has no debug=1'],
         ['format=svg&width=0', 'width must be a whole number of pixels']) {
        is_answer($server->get("/debug/pprof/heap?$_->[0]"), 400,
                  qr/\Q$_->[1]/, $_->[0]);
    }
};


sub total {
    return js('page.m.after.reduce((sum, value, i) =>
        sum + (page.stacks.some(({ row }) => row === i) ? value : 0), 0)');
}


test 'labels' => sub {
    $browser->show($url);
    like($browser->text('#title'), qr/^heap of nginx on \S+$/,
         'what it is and the host are its title');
    like($browser->text('#sum'), qr{, workers 2/2$}, 'who answered is said');

    my $all = total();
    my %of;

    for my $worker (0, 1, '') {
        $browser->show($url . ($worker eq '' ? '#l=origin%3Dmaster'
                                            : "#l=worker%3D$worker"));
        $of{$worker} = total();
        is(js('page.scene.trees[0].after[0]'),
           $of{$worker}, 'the graph has the same');
        cmp_ok($of{$worker}, '>', 0, "worker '$worker' has some");
    }

    cmp_ok($of{0} + $of{1} + $of{''}, '<', 3 * $all, 'each has a part');

    $browser->show("$url#g=worker");

    my $names = $browser->run('const [tree] = page.scene.trees;
        return tree.open(0).map((node) =>
            frames.names[tree.frame[node]]).sort()');

    is_deeply($names, ['no worker', 'worker 0', 'worker 1'],
              'split by worker: they are the root frames');

    # by hand

    $browser->run('document.querySelector("#labels [name=worker]").click()');
    like(js('state.l'), qr/^worker=\d$/, 'a box is a choice');
};


# What a profile is asked for by, the page is, too.

test 'selections' => sub {
    $browser->show("$url&worker=1");
    is_deeply(js('[...new Set(sets.labels.map((labels) =>
        labels.get("worker") || ""))].filter((one) => one !== "1"
            && one !== "")'), [], 'one worker');
    cmp_ok(js('page.rows.length'), '>', 0, 'has some');

    $browser->show("$url&symbolize=0");
    is_deeply(js('frames.names.filter((name) =>
        !/0x|^all$|^\\[|in common$/.test(name))'), [], 'without names');
};


test 'refresh' => sub {
    $browser->show("$url#s=ngx_&v=flame");
    $browser->run('const [tree] = page.scene.trees;
                   zoom({ tree, node: tree.open(0)[0] })');

    my ($hash, $time) = @{ js('[location.hash, page.profile.time]') };

    $browser->click('#keep');
    $browser->press('#graph', 'r');
    $browser->wait_for("return page.profile.time !== $time");

    is(js('location.hash'), $hash, 'the place is kept');
    ok(js('page.base !== null'), 'and the baseline');
    ok(js('page.at.node > 0'), 'and the zoom');
    ok(js('page.rows.length
                      < page.profile.stacks.length + page.base.stacks.length'),
       'samples of one process meet');
    like($browser->text('#sum'), qr/ since /, 'what changed is said');

    $browser->run('document.getElementById("live").value = "2";
                   setLive()');
    $browser->wait_for('return live.totals.length >= 3');
    ok(js('document.querySelector("#line")
                      .getAttribute("points").length > 10'),
       'live has a line of totals');
    $browser->run('document.getElementById("live").value = "0"; setLive()');

    $browser->click('#opened');
    is(js('page.base.time'), $time,
       'since opened: the baseline is the first profile');
    cmp_ok(js('page.profile.time'), '>', $time, 'of the newest one');
};


test 'a difference of seconds' => sub {
    $browser->show("$url&seconds=1");
    ok(js('page.base !== null'), 'both sides are there');
    ok(js('page.profile.time > page.base.time'), 'in order');
    ok(js('document.getElementById("live").disabled'), 'live is off');
};


# An address with a password, as of who lets no others in, is asked without.

test 'a password' => sub {
    $browser->show($url =~ s{//}{//user:secret@}r);

    my $time = js('page.profile.time');

    $browser->press('#graph', 'r');
    $browser->wait_for("return page.profile.time !== $time
                        || document.getElementById('say').textContent");
    is($browser->text('#say'), '', 'it is refreshed');
};


# Exact, owned by parts of nginx; both sides of a difference have all of them.

test 'pools' => sub {
    my $pools = $url =~ s/heap/pools/r;

    like($server->ask('GET', $pools =~ s{.*?/(?=debug)}{/}r
                                   =~ s/html/svg/r)->{body},
         qr/<title>pools of nginx on /, 'the title of a picture says what');

    $browser->show($pools);
    like(js('document.title'), qr/^pools of nginx on \S+$/,
         'and so does that of the tab');
    like($browser->text('#sum'), qr/ stacks, exact, workers 2\/2$/, 'exact');

    my %owners = map { $_ => 1 } @{ js('page.owners.map(
        (one) => ownerName(one.owner))') };

    ok($owners{'connection slots'} && $owners{configuration},
       'parts of nginx are owners');
    ok((grep { /^(?:server|location) / } keys %owners), 'and so are servers');

    my $bytes = js('toBase64(page.profile.bytes)');
    my $file = spew("$server->{prefix}/pools.pb.gz", decode_base64($bytes));

    $ENV{PPROF_TMPDIR} = $server->{prefix};

    for my $type (qw( inuse_space inuse_objects unused_space )) {
        $browser->run("change({ v: 'table', t: '$type', k: '0' })");
        compare("pools, $type", table_rows($browser), [0, 2],
                pprof_rows($type, $file), 8);
    }

    $browser->show("$pools&seconds=1#v=owners");

    my $sides = js('page.owners.filter((one) =>
        ownerName(one.owner) === "connection slots").map((one) =>
            [one.cum.before, one.cum.after])');

    is($sides->[0][0], $sides->[0][1], 'slots are as many before as after');
    cmp_ok($sides->[0][0], '>', 0, 'and there are some');
};


# A snapshot is a base, once there is one; who does not look asks for none.

test 'snapshots' => sub {
    my $shown = 'document.querySelector("#kept").checkVisibility()';

    $browser->show($url);
    $browser->click('#others summary');
    wait_until(sub { grep { m{ /debug/pprof/snapshots\?} } logged() });
    ok(!js($shown), 'there is none');

    $server->get('/debug/pprof/control?snapshot=1', body => '');

    my $one = wait_until(sub {
        $server->json('/debug/pprof/snapshots?format=json')->{snapshots}[0];
    });

    $browser->show("$url#v=table");
    $browser->click('#others summary');
    $browser->wait_for("return $shown");
    like(js('document.querySelector("#shot").textContent'),
         qr/$one->{time}, manual, [\d.]+ MiB$/, 'one is listed');

    $browser->run("const select = document.querySelector('#shot');
                   select.value = '$one->{id}';
                   select.dispatchEvent(new Event('change'))");
    $browser->wait_for('return location.search.includes("base=")
                        && typeof page === "object" && page.took > 0
                        && page.base !== null');

    like($browser->call(GET => '/url'), qr/[?&]base=$one->{id}#v=table$/,
         'its address');

    # refreshed, it is compared with the same base

    my $before = js('[page.profile.time, page.base.time]');

    $browser->press('#graph', 'r');
    $browser->wait_for("return page.profile.time !== $before->[0]
                        || document.getElementById('say').textContent");
    is(js('page.base.time'), $before->[1], 'which stays');
    is(js('page.profile.values.some((one) => one < 0)'), 0,
       'a profile, and no difference');

    $browser->show("$url&at=$one->{id}");
    is(js('page.profile.time'), $before->[1], 'it was of that moment');
};


test 'what it asks for' => sub {
    my @lines = logged();
    my @others = grep { !m{^(?:200|400)\ (?:GET|HEAD|POST)
                           \ /debug/pprof/(?:heap|pools|control
                              |snapshots)(?:$|\?)}x } @lines;

    cmp_ok(scalar @lines, '>', 10, 'there were requests');
    is_deeply(\@others, [], 'all of them for its own address');
};


# "localhost" is another site than 127.0.0.1: what its page sends unseen is
# refused, and what it links to is shown.

test 'a page of another site' => sub {
    my $file = $url =~ s/\?.*//r;
    my @ways = (
        'new Image().src = address',
        'fetch(address, { mode: "no-cors" }).catch(() => 0)',
        'fetch(address).catch(() => 0)',
        'const f = document.createElement("iframe"); f.src = address; '
        . 'document.body.append(f)',
        'const s = document.createElement("script"); s.src = address; '
        . 'document.body.append(s)',
    );
    my %status;

    $browser->open("http://localhost:$server->{port}/site");

    for my $i (0 .. $#ways) {
        $browser->run("const address = arguments[0]; $ways[$i]",
                      "$url&unseen=$i");
    }

    ok(wait_until(sub {
        %status = map { /^(\d+) .*unseen=(\d)/ ? ($2 => $1) : () } logged();

        return keys %status == @ways;
    }), 'all are sent');

    is($status{$_}, 403, $ways[$_]) for 0 .. $#ways;

    for ([ $file, 'return /would not show the/.test(document.body.innerText)',
           'a link to a file' ],
         [ $url, 'return location.search !== "" && document.readyState
                         === "complete" && document.title.includes("heap")',
           'a link to a page' ])
    {
        my ($to, $script, $what) = @$_;

        $browser->open("http://localhost:$server->{port}/site");
        $browser->run('const a = document.createElement("a");
                       a.href = arguments[0];
                       a.textContent = "there";
                       document.body.append(a)', $to);
        $browser->click('a');
        ok($browser->wait_for($script), $what);
    }

    $browser->complaints;
};


sub logged {
    return grep { !m{/fine$} } split /\n/, $server->access_log;
}


test 'a busy server' => sub {
    $browser->show($url);
    $browser->run('history.replaceState(null, "", "/busy");
                   document.getElementById("live").value = "30"');
    js('refresh()');
    is($browser->text('#say'), 'too many profiles: come back later',
       'the sentence of the answer');
    is(js('live.failures'), 0, 'which is no failure');
    is(js('document.getElementById("live").value'), '30', 'and goes on');
    $browser->run('document.getElementById("live").value = "0"; setLive()');
    $browser->complaints;
};


test 'a server that is gone' => sub {
    $browser->show($url);

    $server->stop;

    $browser->run('document.getElementById("live").value = "30"');
    $browser->wait_for('return refresh().then(() => live.failures >= 3)');
    like($browser->text('#say'), qr/^The server did not answer: /,
         'a sentence');
    is(js('document.getElementById("live").value'), '0',
       'three failures end it');
    ok(js('page.rows.length > 0'), 'what was there stays');
    $browser->complaints;
};
