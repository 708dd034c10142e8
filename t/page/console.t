#!/usr/bin/perl

# The console in a browser: complete without its script, live with it, forms in
# both ways, findings as they come and go, names that would like to be markup,
# and what it asks the server for.

use JppTest;
use Compress::Zlib;
use JppBrowser;

my $server = JppNginx->start(workers => 3, http => <<'END', server => <<'END');
    log_format uri '$status $request_method $request_uri';
    limit_conn_zone $server_name "zone=<b>zone</b>&lt;:64k";
END
        access_log logs/access.log uri;
        jemalloc_pprof_timeout 2s;

        location /debug/pprof/ {
            jemalloc_pprof control=on;
        }

        location /safe/ {
            jemalloc_pprof;
        }

        location "/<img/src=x/onerror=document.title=1>&amp;/" {
            root html;
        }
END

my $url = "http://127.0.0.1:$server->{port}/debug/pprof/";
my $browser = JppBrowser->start(size => [1280, 900]);

$server->settled(3);


sub show($address = undef) {
    $browser->show($address // $url,
                   'return document.readyState === "complete"');
}


sub scripts($is_on) {
    $browser->devtools('Emulation.setScriptExecutionDisabled', {
        value => $is_on ? JSON::PP::false : JSON::PP::true });
}


# What a person reads.

sub read_page {
    return $server->get('/debug/pprof/')->{body}
           =~ s{<(script|style)>.*?</\1>}{}gsr =~ s/<[^>]*>/ /gr;
}


test 'without a script' => sub {
    my $answer = $server->get('/debug/pprof/');
    my ($policy) = $answer->{head} =~ /^Content-Security-Policy: (.*)\r$/mi;

    is($answer->{status}, 200, 'the page');
    like($policy, qr/; form-action 'self'; /, 'forms are sent, with control');
    like($server->get('/safe/')->{head},
         qr/^Content-Security-Policy: .*; form-action 'none'; /mi,
         'and not without');
    unlike($server->get('/safe/')->{body}, qr/<form/,
           'nor are there any');

    # an axis needs two looks at the workers

    wait_until(sub {
        $server->get('/debug/pprof/')->{body} =~ /class="y"/;
    });

    $server->calm;
    scripts(0);
    show();

    like($browser->text('#verdict'),
         qr/^Healthy: 3 workers hold \d+\.\d [KM]iB/, 'a verdict');
    like($browser->text('#tiles'), qr/^private memory and zones\n/, 'tiles');
    like($browser->text('#largest'), qr/^\d+\.\d [KM]iB \d+\.\d %$/m,
         'owners');
    like($browser->text('.y'), qr/^\d+\.\d MiB\n.*\n0 B\z/s, 'an axis');
    like($browser->text('.workers'),
         qr/^0 pid \d+ \d+ s \d+\.\d MiB \d+\.\d MiB \d+ of \d+ /m, 'workers');
    $browser->click('.menu summary');
    like($browser->text('.menu ul'), qr/^started .*Z\ngeneration 1\nheap, as /,
         'a menu opens');
    like($browser->text('.shared'), qr/zone jemalloc_pprof/, 'zones');
    like($browser->text('#where'), qr/every byte of workers.*A picture/s,
         'links to what costs a profile');
    $browser->click('#resources > summary');
    like($browser->text('#resources'), qr/go tool pprof "\$\{URL\}heap"/,
         'commands');
    is($browser->text('#live'), '', 'nothing is live');

    # in the order of the page, one below the other

    my $text = read_page();
    my @places = map { index($text, $_) } 'Healthy: ', 'private memory',
                 'left below', 'workers that answer', 'requests a second',
                 'Largest owners', 'Over time', ' Workers', 'shared by all',
                 'Every byte', ' Act', ' All resources';

    is_deeply([ sort { $a <=> $b } @places ], \@places, 'in order');
    cmp_ok($places[0], '>', 0, 'all of it');

    $browser->is_quiet;
    scripts(1);
};


# What a form has done, once the page says so: something with TEXT.

sub outcome($text) {
    return $browser->wait_for("const said = document.getElementById('outcome');
        return said && said.textContent.includes('$text')
               && said.textContent");
}


# The browser is sent back to the page, which says what was done.

test 'forms without a script' => sub {
    scripts(0);
    show();

    $browser->click('#act-purge button');
    like(outcome('went back'),
         qr/^3 of 3 workers applied the change; \S+ [KM]?i?B went back to /,
         'purge');
    like($browser->call(GET => '/url'),
         qr/\?ok=3&of=3&bytes=\d+&purge=1#acts$/, 'its address');

    show();
    is($browser->text('#outcome'), '', 'which is of one answer');

    $browser->click('#act-snapshot button');
    is(outcome('snapshot'), 'A snapshot is being taken: it is listed within '
       . 'seconds.', 'a snapshot');

    # what loses something needs a second press

    show();

    my $stop = '#act-stop button';

    is($browser->text($stop), '', 'stop cannot be pressed at once');
    $browser->click('#act-stop summary');
    like($browser->text('#act-stop'), qr/Memory allocated while sampling is (?#
         )off never appears in these workers' jemalloc profiles, even after (?#
         )sampling is on again\. Profiles with seconds=N that span this (?#
         )time are refused\. To have complete samples later, forget all (?#
         )samples or reload\./, 'the first press says what is lost');
    $browser->click($stop);
    is(outcome('sampling is off'),
       "3 of 3 workers applied the change; jemalloc's sampling is off.", 'off');
    like($browser->text('.workers'), qr/inactive/, 'the workers say so');
    $browser->click('#act-start button');
    outcome('sampling is on');
    like($browser->text('.workers'), qr/ready/, 'on');

    my $reset = '#act-reset button';

    is($browser->text($reset), '', 'reset cannot be pressed at once');
    $browser->click('#act-reset summary');
    like($browser->text('#act-reset'), qr/All samples so far are lost/,
         'the first press says what is lost');
    $browser->click($reset);
    ok(outcome('all samples are forgotten'), 'the second one does it');

    # browsers say what they take; others get JSON

    my $html = 'Accept: text/html, */*;q=0.1';
    my $answer = $server->ask('POST', '/debug/pprof/control', $html,
                             \'purge=1');

    is($answer->{status}, 303, 'a browser is sent back');
    like($answer->{head}, qr{^Location: \./\?[\w&=]+&purge=1\#acts\r$}mi,
         'to the page');
    like($server->get('/debug/pprof/control', body => 'purge=1')->{body},
         qr/^\{/, 'curl has JSON');
    is($server->ask('POST', '/debug/pprof/worker/0/control', $html,
                   \'purge=1')->{status}, 200, 'no page is one level up');
    is($server->ask('POST', '/debug/pprof/control', $html, 'Origin: null',
                   \'reset=1')->{status}, 403,
       'a form of another site is refused');
    is($server->ask('POST', '/safe/control', $html, \'purge=1')->{status}, 403,
       'and one where control is off');

    $browser->is_quiet;
    scripts(1);
};


# Fetched once it is looked at, and not before.

test 'where it is' => sub {
    show();
    is(js('performance.getEntriesByType("resource").length'),
       0, 'nothing is fetched before it is seen');
    $browser->run('document.querySelector("#ledger").scrollIntoView()');
    $browser->wait_for('return document.querySelector("#rows .rows")');

    my $ledger = JSON::PP::decode_json(
        $server->get('/debug/pprof/memory?detail=ledger')->{body});
    my @files = grep { $_->{what} eq 'file' && $_->{bytes} }
                @{ $ledger->{total}{ledger}{rows} };
    my $rows = $browser->run(<<'END');
return [...document.querySelectorAll('#rows > table > tbody > tr')].map((row) =>
    [...row.cells].map((cell) =>
        (cell.querySelector('summary') || cell).textContent));
END

    cmp_ok(scalar @$rows, '<', 20, 'a short table');
    ok((grep { $_->[0] eq 'files, ' . @files . ' of them' } @$rows),
       'of which files are one row') or diag(explain($rows));
    is_deeply([ grep { $_->[2] !~ /^\d+(?:\.\d)? [KM]?i?B\z/
                       || $_->[3] !~ /^\d+\.\d %\z/ } @$rows ], [],
              'with bytes and share');

    my $sum = 0;

    $sum += $_->[3] =~ s/ %//r for @$rows;
    cmp_ok(abs($sum - 100), '<', 1, 'they add up');

    is($browser->run(<<'END'), scalar @files, 'each file is below');
const files = [...document.querySelectorAll('#rows summary')].find((one) =>
    one.textContent.startsWith('files'));
files.click();
return files.parentNode.querySelectorAll('tr').length;
END

    ok($browser->wait_for('const img = document.querySelector("#picture img");
                           return img && img.complete && img.naturalWidth'),
       'the picture is drawn');
    is($browser->run('const box = document.querySelector("#picture");
                      return box.firstChild.firstChild.offsetWidth
                             - box.clientWidth'), 0, 'as wide as its box');
    is(js('document.querySelector("#picture a")
                      .getAttribute("href")'), 'heap?format=html',
       'and leads to the page');
};


# The pointer reads values off the picture.

test 'over time' => sub {
    show();
    $browser->run(<<'END');
const box = document.querySelector('.span').getBoundingClientRect();
document.querySelector('.span').dispatchEvent(new PointerEvent('pointermove',
    { bubbles: true, clientX: box.left + box.width * 0.99, clientY: box.top }));
END

    my $said = $browser->text('#readout');

    like($said, qr/^\d\d:\d\d:\d\d UTC, \d+ s before: about (?#
         )\d+\.\d MiB allocated, \d+\.\d MiB RSS\z/, 'time and values');

    my ($rss) = $said =~ /([\d.]+) MiB RSS/;
    my ($label) = js('document.querySelector(".span")
        .getAttribute("aria-label")') =~ /([\d.]+) MiB\z/;

    cmp_ok(abs($rss - $label), '<', 0.6, 'as the label has them');
    ok(js('document.querySelector(".cursor") !== null'),
       'where the pointer is');
};


# By any column, and still so when the page is renewed.

test 'sorted' => sub {
    my $order = 'return [...document.querySelectorAll(".workers tbody th")]
        .map((th) => parseInt(th.textContent, 10)).join("")';
    my @amounts = (
        ['0 B', 0], ['512 B', 512], ['1.5 KiB', 1536], ['-', -1], ['', -1],
        ['14,004 of 16,384', 14004], ['12.0 ms', 12e6],
        ['1.3 s, ever 2.0 s', 1.3e9], ['2 h 13 min', 72e11],
        ['exiting, 5 min', 3e11]
    );

    show();
    is($browser->run($order), '012', 'by number');
    $browser->click('.workers thead th:nth-child(1) button');
    is($browser->run($order), '210', 'the largest first');
    js('tick()');
    is($browser->run($order), '210', 'renewed');
    $browser->click('.workers thead th:nth-child(1) button');
    is($browser->run($order), '012', 'the other way round');

    is_deeply($browser->run('state.sorted = 1;
        return arguments[0].map(([text]) =>
            amount({ cells: [{ textContent: text }] }))', \@amounts),
        [ map { $_->[1] } @amounts ], 'units count');
};


# An answer that takes seconds: the page says so until it is there.

test 'long answers' => sub {
    my $ask = <<'END';
const link = document.querySelector('.menu a[href*="seconds=30"]');
link.href = 'heap?seconds=2&format=html';
link.click();
END

    show();
    ok($browser->wait_for('return document.querySelector(
                               `.menu a[href*="seconds=30"]`) !== null'),
       'a worker has links');
    like($browser->run("$ask; return \$('busy').textContent"),
         qr/^Watching for 2 s: heap: the next 30/, 'it says what happens');
    ok($browser->wait_for('return document.title.startsWith("heap")'),
       'the answer is shown');

    show();
    ok($browser->run("$ask; return new Promise((done) => setTimeout(() => {
        const value = document.querySelector('#busy progress').value;
        document.querySelector('#busy button').click();
        setTimeout(() => done(value > 0.5 && !\$('busy')), 100);
    }, 1000))"), 'it goes on, and can be cancelled');
    js('new Promise((done) => setTimeout(done, 2500))');
    is($browser->call(GET => '/url'), $url, 'and then stays away');
};


test 'live' => sub {
    show();

    is(js('document.querySelector("#live button")
                      .textContent'), 'Pause', 'it is live');

    $browser->run(<<'END');
window.shifts = [];
// a number that gets a digit more begins further to the left: that is text
const name = ({ node }) => (node && node.outerHTML) || '';
new PerformanceObserver((list) => window.shifts.push(
    ...list.getEntries().flatMap((one) => [...one.sources].map(name))
        .filter(Boolean))).observe({ type: 'layout-shift' });
END
    $browser->run('document.querySelector("#heap").scrollIntoView()');
    $browser->wait_for('return document.querySelector("#picture img") '
                       . '&& document.querySelector(".rows")');
    $browser->run('window.shifts.length = 0;
                   document.querySelector(".menu summary").focus();
                   document.querySelector(".menu details").open = true;
                   window.cell = document.querySelector(".workers tbody td");
                   document.querySelector("#act-reset").open = true');

    my $kept = $server->asking('/safe/heap');

    js('tick()') for 1 .. 3;

    like($browser->text('#live'), qr/^live, /, 'renewed');
    is(js('document.activeElement.textContent'), 'look at', 'the focus stays');
    ok(js('document.querySelector(".menu details").open'), 'and what is open');
    ok(js('window.cell.isConnected'), 'elements stay');
    ok(js('document.querySelector("#act-reset").open'),
       'what is open stays open');
    is_deeply(js('window.shifts'), [], 'nothing moves');

    # what is not looked at asks for nothing

    is($browser->run(<<'END'), 0, 'hidden: no timer, and no request');
window.asked = 0;
const realSend = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (...args) {
  window.asked++;
  return realSend.apply(this, args);
};
const realTimeout = window.setTimeout;
window.setTimeout = (f, ms) => {
  window.every = ms;
  return realTimeout(f, ms);
};
Object.defineProperty(document, 'hidden', { value: true, configurable: true });
window.every = 0;
document.dispatchEvent(new Event('visibilitychange'));
return Promise.resolve().then(() => window.asked + window.every);
END

    $browser->run('delete document.hidden;
                   document.dispatchEvent(new Event("visibilitychange"))');
    is($browser->wait_for('return window.every'), 5000,
       'seen again: every five seconds');
    is(js('window.asked'), 1, 'and at once');

    $browser->click('#live button');
    like($browser->text('#live'), qr/^paused, \d\d:\d\d:\d\d UTC\s+Go on$/,
         'paused');
    $browser->click('#live button');
};


test 'forms in place' => sub {
    show();

    $browser->run('window.isSame = true');
    $browser->click('#act-rate summary');
    $browser->run('document.querySelector("#act-rate select").value = "16"');
    $browser->click('#act-rate button');

    is(outcome('one sample'), '3 of 3 workers applied the change; one sample '
       . 'every 64.0 KiB from now on.', 'the outcome, in place');
    ok(js('window.isSame'), 'of the same page');
    is($browser->call(GET => '/url'), $url, 'at the same address');
    like($browser->text('.workers'), qr/one in 64\.0 KiB/,
         'workers are renewed');
    is(js('document.querySelector("#act-rate").open'), 0,
       'the form is folded again');

    js('tick()');
    like($browser->text('#outcome'), qr/64\.0 KiB/, 'the outcome stays');

    # a refusal is a sentence; at once, or the page renews the value

    $browser->run('document.querySelector("#act-purge input").value = "2";
                   document.querySelector("#act-purge button").click()');
    is(outcome('purge must'), "purge must be 1\n", 'a refusal');

    my @said = grep { !/ 400 / } $browser->complaints;

    is_deeply(\@said, [], 'nothing else is said');

    # a snapshot, when it is there, is a line of the picture and a row

    my $before = js('document.querySelectorAll(".shots tbody tr").length');

    $browser->click('#act-snapshot button');
    ok(outcome('A snapshot is being taken'), 'a snapshot');
    $browser->wait_for("return document.querySelectorAll('.shots tbody tr')
                        .length > $before && document.querySelector('.shot')");
    like($browser->text('.shots tbody tr'),
         qr/^20\S+Z manual: control asked for it [\d.]+ MiB /, 'is listed');

    my @links = @{ js('[...document.querySelectorAll(
        ".shots tbody tr:first-child a, .over a")]
        .map((one) => one.getAttribute("href"))') };

    cmp_ok(scalar(@links), '>=', 5, 'with links');
    is($server->get("/debug/pprof/$_")->{status}, 200, $_) for @links;

    # Keyboard: the same without a mouse

    show();
    $browser->press('#act-purge button', 'Enter');
    ok(outcome('went back to the kernel'), 'by the keyboard');
};


test 'commands' => sub {
    show();

    my $commands = js('[...document.querySelectorAll(
        "#resources pre")].map((pre) => pre.textContent)');

    is($commands->[0], "go tool pprof \"${url}heap\"", 'the real address');
    is_deeply([ grep { /URL/ } @$commands ], [], 'everywhere');

    $browser->click('#resources > summary');
    $browser->click('#resources .command button');
    $browser->wait_for('return /copied|selected/.test(document.querySelector(
                        "#resources .command button").textContent)');
    is(js('getSelection().toString().trim()'),
       $commands->[0], 'it is copied, or selected at least');
};


# Names of zones and locations are text.

test 'names' => sub {
    my $client = $server->client;

    $client->send_request('/%3Cimg/src=x/onerror=document.title=1%3E&amp;/x');
    show();

    is(js('document.title'), $browser->text('h1'), 'none ran');
    like($browser->text('.shared'), qr/zone <b>zone<\/b>&lt;/,
         'a zone has its name');
    is(js('document.querySelectorAll("b, main img[src^=x]")
                      .length'), 0, 'no name is markup');
};


# One comes while somebody looks.

test 'findings' => sub {
    $server->calm;
    show();

    my $status = $server->settled(3);

    like($browser->text('#verdict'), qr/^Healthy/, 'healthy');
    kill 'KILL', $status->{workers}[2]{pid};
    settled_again($status->{workers}[2]{pid});
    js('tick()');

    like($browser->text('#verdict'),
         qr/^Critical: processes were killed, or crashed/, 'the verdict');
    like($browser->text('#oom-kill'), qr/\ACritical: .*\nBecause at 20\S+Z (?#
         )worker 2 .* crashed or was killed; .*\n.*exited on signal 9/,
         'what, because, fix');
    is(js('document.querySelector("#verdict").className'), 'bad', 'it is red');
};


# Another worker has the place of PID.

sub settled_again($pid) {
    wait_until(sub {
        my $status = $server->settled(3);

        return !grep { $_->{pid} == $pid } @{ $status->{workers} };
    }) or die "worker $pid was not replaced";
}


# Whatever the page becomes, it becomes all of it, and not more than differs.

test 'rows that come and go' => sub {
    show();

    my $wrong = $browser->run(<<'END');
const wrong = [];
const changes = {
  'no row': (table) => table.tBodies[0].replaceChildren(),
  'one row less': (table) => table.rows[2].remove(),
  'one row more': (table) => table.tBodies[0].prepend(
      table.rows[2].cloneNode(true)),
  'a worker that is missing': (table) => {
    const row = table.rows[2];
    while (row.cells.length > 1) row.lastChild.remove();
    row.append(make('td', { colSpan: 8, className: 'bad' },
                    'did not answer: it ended.'));
  },
  'exiting ones': (table) => table.append(table.tBodies[0].cloneNode(true)),
  'other texts': (table) => {
    for (const cell of table.querySelectorAll('td')) cell.title += '!';
  },
  'nobody': (table) => table.replaceWith(make('p', {}, 'No worker answered.')),
};
return fetchPage(here).then((page) => {
  for (const [name, change] of Object.entries(changes)) {
    const fresh = page.getElementById('workers').cloneNode(true);
    change(fresh.querySelector('.workers'));
    renew($('workers'), fresh);
    if (!$('workers').isEqualNode(fresh)) wrong.push(name);
    renew($('workers'), page.getElementById('workers'));
    if (!$('workers').isEqualNode(page.getElementById('workers'))) {
      wrong.push(`back from ${name}`);
    }
  }
  return wrong;
});
END

    is_deeply($wrong, [], 'it becomes what the server has');
};


test 'what it asks for' => sub {
    my @lines = grep { !m{/fine$} } split /\n/, $server->access_log;
    my @others = grep { !m{^(?:200|303|400|403|404|405|499)\ (?:GET|HEAD|POST)
                           \ /(?:debug/pprof|safe|%3Cimg|favicon)}x } @lines;

    cmp_ok(scalar @lines, '>', 20, 'there were requests');
    is_deeply(\@others, [], 'all of them for this location');

    show();
    $browser->run('document.querySelector("#heap").scrollIntoView()');
    $browser->wait_for('return document.querySelector("#picture img")');

    my $foreign = js('performance.getEntriesByType("resource")
        .map((one) => one.name).filter((name) =>
            !name.startsWith(arguments[0]) && !name.startsWith("blob:"))',
        $url);

    is_deeply($foreign, [], 'none goes elsewhere');

    # three workers are less than eight; ./dev bench console has the figures

    my $page = $server->get('/debug/pprof/')->{body};
    my ($script) = $page =~ m{<script>(.*)</script>}s;

    cmp_ok(length Compress::Zlib::memGzip($page), '<', 20 * 1024,
           'the page is below 20 KiB');
    cmp_ok(length Compress::Zlib::memGzip($script), '<', 6 * 1024,
           'its script is below 6');
};


test 'a server that is gone' => sub {
    show();
    $browser->run('document.querySelector("#heap").scrollIntoView()');
    $browser->wait_for('return document.querySelector("#picture img")');

    my $was = $browser->text('#verdict');

    $server->stop(alerts => qr/exited on signal 9/);
    $browser->wait_for('return document.body.className === "stale"');
    like($browser->text('#live'),
         qr/^no answer for (?:[6-9]|\d\d+) s: the server is not reached\s/,
         'it says so');
    is($browser->text('#verdict'), $was, 'what was there stays');
    is(js('getComputedStyle(document.querySelector(
                      "#verdict")).opacity'), 0.45, 'dimmed');

    is($browser->run(<<'END'), 10000, 'and it asks less often');
let every = 0;
const real = window.setTimeout;
window.setTimeout = (f, ms) => { every = ms; return 0; };
plan();
window.setTimeout = real;
return every;
END

    $browser->complaints;
};
