#!/usr/bin/perl

# The page of a profile with owners, as a browser shows it: servers and
# locations as labels to select, as what the graph is split and coloured by, and
# with by= as its roots; of the heap, and of CPU time where samples of that have
# owners.  Names of locations are any bytes.

use JppTest;
use JppBrowser;

my $script = '/</script><b onclick=alert(1)>/';
my $long = '/' . 'l' x 4000 . '/';

# bodies that do not come: their buffers wait for them
my $conf = 'client_body_buffer_size 64k; proxy_pass http://127.0.0.1:1;';
my $nginx = JppNginx->start(preload => [], conf => 'prof:false',
    http => "jemalloc_pprof_source sampler;\njemalloc_pprof_sample 1k;\n"
            . 'jemalloc_pprof_owners on;',
    server => "server_name main.example;\n"
              . "location /debug/pprof/ { jemalloc_pprof; }\n"
              . "location /busy/ { gzip on; gzip_comp_level 9; gzip_types *; "
              . 'return 200 "' . 'text ' x 800 . "\"; }\n"
              . join '', map { "location \"$_\" { $conf }\n" }
                             '/one/', '/two/', $script, "/\x1b[1m\xff/", $long);

my @clients = map { $nginx->upload($_, 60_000, 'x') }
                  '/one/', '/two/', '/two/',
                  '/%3C/script%3E%3Cb%20onclick=alert(1)%3E/',
                  '/%1B[1m%FF/', $long;

my $url = "http://127.0.0.1:$nginx->{port}/debug/pprof/heap?format=html";

wait_until(sub {
    my $text = $nginx->get('/debug/pprof/heap?by=location&format=folded')
               ->{body};
    my %seen;

    $seen{$1} += $2 while $text =~ /;location (.*?);.* (\d+)$/mg;

    return 5 == grep { $_ >= 60000 } values %seen;
}) or die "the bodies have no buffers\n";

my $browser = JppBrowser->start;


# Opens RESOURCE's page, and waits until it is drawn.

sub view($rest, $resource = undef) {
    my $address = $url =~ s{heap}{$resource // 'heap'}er;

    $browser->show("$address$rest");
}


# Owners of the page as names, each with its bytes.

sub owners {
    return { map { @$_ } @{ js('page.owners.map((one) =>
        [ownerName(one.owner), one.cum.after])') } };
}


test 'labels' => sub {
    view('');

    my $keys = js('[...document.querySelectorAll(
        "#labels summary")].map((one) => one.textContent)');

    my %is = map { $_ => 1 } @$keys;

    ok($is{server} && $is{location}, 'menus of servers and of locations')
        or diag("@$keys");

    view("#l=location=" . '%252Ftwo%252F');

    my $sum = js('page.stacks.reduce((n, one) =>
        n + page.m.after[one.row], 0)');

    cmp_ok($sum, '>=', 2 * 60000, 'a location is selected');
    cmp_ok($sum, '<', 3 * 65536, 'and nothing else');
    $browser->is_quiet;

    view('&owners=0');
    is_deeply(js('[...document.querySelectorAll(
        "#labels summary")].map((one) => one.textContent).filter((one) =>
        one === "location" || one === "server")'), [],
        'no such labels with owners=0');
};


test 'split and colours' => sub {
    view("#g=location");

    my $owners = owners();

    cmp_ok($owners->{'location /two/ of main.example'} // 0, '>=', 2 * 60000,
           'locations are the owners');
    cmp_ok($owners->{'location /one/ of main.example'} // 0, '>=', 60000,
           'each of them');

    my $colours = js('["/one/", "/two/"].map((name) =>
        OWNERS.get(`location ${name} of main.example`))');

    ok(defined $colours->[0] && defined $colours->[1]
       && $colours->[0] != $colours->[1], 'of two colours');

    is_deeply($browser->run('const [tree] = page.scene.trees;
        return [...tree.depth.keys()].filter((i) => tree.depth[i] === 1 &&
            !tree.name(i).startsWith("location "))'), [],
        'and the roots of the graph');

    like($browser->text('#legend'), qr{location /two/ of main\.example \d},
         'in the legend');
    like($browser->run('const [tree] = page.scene.trees;
        return describe(tree, [...tree.depth.keys()].find((i) =>
            tree.name(i) === "location /one/ of main.example"))'),
        qr/^location \/one\/ of main\.example: [\d.]+ KiB, nginx\.conf:\d+, /,
        'with the line of its block');

    $browser->run('change({ v: "owners" })');
    like($browser->text('#table'), qr{location /two/}, 'and in the table');

    $browser->run('change({ v: "flame", g: "server" })');
    is_deeply([ grep { !/^server / } keys %{ owners() } ], [],
              'the same by server');
};


# Ages are numbers with a unit: they stand in their order, and split.

test 'ages' => sub {
    ok(wait_until(sub {
        $nginx->get('/debug/pprof/heap?age=16s&format=folded')->{body} =~ / /
    }), 'some memory is old');

    # of 4 seconds, which comes before 16, unless the machine is slow

    push @clients, $nginx->upload('/one/', 60_000, 'x');
    sleep 6;
    view('&ages=1');

    my @ages = @{ js('[...document.querySelectorAll(
        "#labels input[name=age_seconds]")].map((one) => one.value)') };

    cmp_ok(scalar @ages, '>=', 2, "a menu of ages: @ages");
    is_deeply([ grep { !/^\d+ seconds$/ } @ages ], [], 'with their unit');

    my @numbers = map { /^(\d+)/ ? $1 : () } @ages;

    is_deeply(\@numbers, [ sort { $a <=> $b } @numbers ], 'by number');

    view('&ages=1#g=age_seconds');
    ok((grep { /^age_seconds \d+ seconds$/ } keys %{ owners() }),
       'the graph is split by them') or diag(join ', ', keys %{ owners() });
};


# by= puts them into the stacks, and gives the labels.

test 'roots' => sub {
    for (['server', qr/^server /], ['location', qr/^server /],
         ['upstream', qr/^upstream /])
    {
        my ($by, $roots) = @$_;

        view("&by=$by");

        my $names = $browser->run('const [tree] = page.scene.trees;
            return [...tree.depth.keys()].filter((i) => tree.depth[i] === 1)
                .map((i) => tree.name(i))');

        ok(@$names > 0, "by=$by: there are roots");
        is_deeply([ grep { $_ !~ $roots } @$names ], [], 'which are owners');
    }

    view("&by=location#g=location");
    cmp_ok(owners()->{'location /two/ of main.example'} // 0, '>=', 2 * 60000,
           'and split by the labels');
};


test 'names' => sub {
    view("&by=location#g=location");

    my $owners = owners();

    cmp_ok($owners->{"location $script of main.example"} // 0, '>=', 60000,
           'markup is a name') or diag(join "\n", keys %$owners);
    is(js('document.querySelectorAll("b").length'), 0, 'and no element');
    is(js('[...document.body.innerText].filter((c) =>
        c < " " && c !== "\n" && c !== "\t").length'), 0,
       'no control byte is shown');
    is_deeply(js('page.owners.map((one) =>
        ownerName(one.owner)).filter((name) => /^location \/l+/.test(name))
        .map((name) => name.length < 5000)'), [JSON::PP::true()],
        'a long one is there');

    $browser->run('change({ v: "owners" })');
    like($browser->text('#table'), qr{\Q</script><b\E}, 'a table shows it');
};


test 'CPU time' => sub {
    my $load = busy(2, sub { $nginx->get('/busy/',
        headers => "Accept-Encoding: gzip\r\n")  });
    my $text = $nginx->get('/debug/pprof/profile?seconds=1&by=location&'
                           . 'format=top&cols=1000')->{body};

    plan skip_all => 'no CPU profile here' if $text !~ /^cpu: /;
    plan skip_all => 'samples of time have no owner'
        if $text !~ /^samples with an owner/m;

    view('&seconds=2#g=location', 'profile');

    my $owners = owners();

    cmp_ok($owners->{'location /busy/ of main.example'} // 0, '>', 0,
           'locations have CPU time') or diag(explain($owners));
    $browser->is_quiet;

    view('&seconds=2&by=location', 'profile');
    ok(js('frames.names.includes("location /busy/")'),
       'which are roots with by=');
    undef $load;
};


test 'the end' => sub {
    undef @clients;
    $browser->open('about:blank');
    $nginx->stop;
};
