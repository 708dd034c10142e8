#!/usr/bin/perl

# The console for everybody: no violation of axe-core in either theme, healthy
# in a wide window and with a finding in a narrow one; the keyboard alone; a
# window of 360 pixels; forced colours; paper; a browser that knows text only.

use JppTest;
use JppBrowser;

my $server = JppNginx->start(workers => 2, http => <<'END', server => <<'END');
    limit_conn_zone $server_name zone=a_zone_with_a_name_that_never_ends:64k;
END
        location /debug/pprof/ {
            jemalloc_pprof control=on;
        }
END

my $url = "http://127.0.0.1:$server->{port}/debug/pprof/";
my $browser = JppBrowser->start(size => [1280, 900]);

my $status = $server->settled(2);

# a picture of the time needs two looks at the workers, and has a snapshot

$server->get('/debug/pprof/control?snapshot=1', body => '');

wait_until(sub {
    $server->get('/debug/pprof/')->{body} =~ /class="shot"/;
});


sub show {
    $browser->open('about:blank');
    $browser->open($url);
    $browser->run('document.querySelector("#heap").scrollIntoView()');
    $browser->wait_for('return document.querySelector(".rows") '
                       . '&& document.querySelector("#picture img")');
}


# However many workers, and even if all of them are shown; a busy machine's
# findings are not of their number.

test 'thirty-two workers' => sub {
    my $many = JppNginx->start(workers => 32, server => <<'END');
        location /debug/pprof/ { jemalloc_pprof; }
END
    my $page = "http://127.0.0.1:$many->{port}/debug/pprof/";

    ok(wait_until(sub {
        $many->get('/debug/pprof/')->{body} =~ /32 of 32 workers answered/;
    }, 60), 'all answer');

    $browser->resize(1280, 720);
    $browser->open($page);
    $browser->run('document.querySelector("#heap").scrollIntoView()');
    $browser->wait_for('return document.querySelector(".rows") '
                       . '&& document.querySelector("#picture img")');
    $browser->run('document.querySelector(".fold").open = true;
        for (const card of document.querySelectorAll(".card")) card.remove()');

    is(js('[...document.querySelectorAll(".workers tbody tr")]
               .filter((one) => one.checkVisibility()).length'), 32, 'lines');
    cmp_ok(js('Math.max(...[...document.querySelectorAll(".workers tbody tr")]
                  .map((one) => one.offsetHeight))'), '<=', 25, 'of 24 pixels');
    cmp_ok(js('document.documentElement.scrollHeight'), '<=', 2500,
           'the page is not longer than 2,500 pixels');
    $browser->is_quiet;
    $many->stop;
};


# What is left without styles, pictures and scripts reads from top to bottom.

test 'text' => sub {
    $server->calm;

    my $page = $server->get('/debug/pprof/')->{body};

    $page =~ s{<(script|style)>.*?</\1>}{}gs;
    $page =~ s{<svg.*?</svg>}{}gs;
    $page =~ s{</t[dh]>\s*}{ | }g;
    $page =~ s{<[^>]*>}{}g;

    like($page, qr/^Healthy: 2 workers hold \d/m, 'the verdict');
    like($page, qr/^0[ ]pid[ ]\d+[ ]\|[ ]\d+[ ]s[ ]\|[ ][ ]\|
                   [ ]\d+\.\d[ ][KM]iB[ ]\|[ ]\d+\.\d[ ]MiB[ ]\|
                   [ ]\d+[ ]of[ ]\d+[ ]\|
                   [ ]\d+(?:\.\d)?[ ]ms(?:,[ ]ever[ ]\d+(?:\.\d)?[ ]m?s)?[ ]\|
                   [ ]ready,[ ]one[ ]in[ ]/mx,
         'a worker is a line of numbers') or diag($page);
    like($page, qr/^\d+\.\d [KM]iB \| \d+\.\d % \|  \| connection slots \|/m,
         'an owner is one, too');
    like($page, qr/^Return unused memory to the kernel\s+Nothing is lost/m,
         'a form');
};


# Tab goes to every control, in the order of the page.

test 'keyboard' => sub {
    my $controls = 'a:not([tabindex="-1"]), button, select, summary, '
                   . '[tabindex="0"]';

    show();

    my $n = $browser->run('document.body.focus();
        return [...document.querySelectorAll(arguments[0])]
            .filter((one) => one.checkVisibility()).length', $controls);

    cmp_ok($n, '>', 20, 'there are many');

    $browser->press(undef, ('Tab') x $n);

    my $last = $browser->run(<<'END', $controls);
const all = [...document.querySelectorAll(arguments[0])]
    .filter((one) => one.checkVisibility());
return all.indexOf(document.activeElement);
END

    is($last, $n - 1, 'each of them once, and the last is the last');

    $browser->run('document.querySelector(".span").focus()');
    $browser->press(undef, ('ArrowLeft') x 3);
    like($browser->text('#readout'), qr/^\d\d:\d\d:\d\d UTC, \d+ s before: /,
         'arrows read the picture');

    $browser->run('document.querySelector("#act-reset summary").focus()');
    $browser->press(undef, 'Enter', 'Tab');
    is(js('document.activeElement.textContent'),
       'Forget them', 'a second press is within reach');
    like($browser->run('const style = getComputedStyle(document.activeElement);
                        return style.outlineStyle + style.outlineWidth'),
         qr/solid2px/, 'and is seen');
    $browser->is_quiet;
};


sub check_axe($is_critical) {
    plan skip_all => 'no axe-core from npm' unless is_possible('axe');

    $browser->resize($is_critical ? 360 : 1280, 900);

    for my $theme (qw( light dark )) {
        $browser->media('', 'prefers-color-scheme' => $theme);
        $server->calm if !$is_critical;
        show();
        $browser->run('for (const one of document.querySelectorAll("details"))
                           one.open = true');
        $browser->is_accessible($theme);
    }

    $browser->resize(1280, 900);
    is(js('document.querySelector("#verdict").className'),
       $is_critical ? 'bad' : 'good', 'it was that page');
}


# Nothing is lost, and nothing has to be pushed aside but the picture.

sub check_narrow {
    $browser->resize(360, 740);
    show();

    cmp_ok(js('document.documentElement.scrollWidth'),
           '<=', 360, 'no wider than the window');
    is_deeply($browser->run(<<'END'), [], 'nothing is cut');
return [...document.querySelectorAll('main *')].filter((one) =>
    !one.closest('#picture, thead, svg') && one.checkVisibility()
    && (one.getBoundingClientRect().right > 361
        || one.getBoundingClientRect().left < 0))
    .map((one) => one.outerHTML.slice(0, 80));
END
    like(js('getComputedStyle(document.querySelector(
                        "td[data-l]"), "::before").content'), qr/for/,
         'numbers have their names beside them');
    $browser->is_quiet;
    $browser->resize(1280, 900);
}


test 'themes' => sub {
    my %ground;

    for my $theme (qw( light dark )) {
        $browser->media('', 'prefers-color-scheme' => $theme);
        show();
        $ground{$theme} = js('getComputedStyle(document.body).backgroundColor');
    }

    isnt($ground{light}, $ground{dark}, 'it follows the system');
    $browser->media('');
};


test 'forced colours and paper' => sub {
    $browser->media('', 'forced-colors' => 'active');
    show();
    is(js('getComputedStyle(document.querySelector(
                      ".bar .a")).fill'), 'rgb(59, 125, 221)',
       'parts of a bar stay apart');
    $browser->media('print');
    is(js('getComputedStyle(document.querySelector(
                      "#acts")).display'), 'none', 'forms are not printed');
    $browser->media('');
    $browser->is_quiet;
};


for my $is_critical (0, 1) {
    my $how = $is_critical ? 'with a finding' : 'healthy';

    if ($is_critical) {
        kill 'KILL', $status->{workers}[1]{pid};
        wait_until(sub {
            $server->get('/debug/pprof/')->{body} =~ /Critical: /
        }) or die "no finding\n";
    }

    subtest "axe-core, $how" => \&check_axe, $is_critical;
    subtest "a narrow window, $how" => \&check_narrow;
}


$server->stop(alerts => qr{exited on signal 9});
