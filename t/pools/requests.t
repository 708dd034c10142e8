#!/usr/bin/perl

# The resource requests: the largest of all workers, what is said of each, how
# that adds up, whom it hides, and how it refuses.
#
# Not here: how rows are merged, sorted and written, which is that of
# t/unit/jpp_requests_test.c; what a walk finds (pools/pools.t).

use JppTest;

my $list = '/debug/pprof/requests';

# the bytes of a table do not change while a client waits
my $k = 1024;


# Two sorts of clients: four downloads through 16 buffers of 32 KiB, and two
# bodies of which 300 KiB are missing.  The server of the files is the same; how
# many of its requests have ended, the kernel's queues decide.

sub start {
    my %how = (conf => 'prof:true,prof_active:true,lg_prof_sample:19',
               timeout => '', @_);
    my $port = free_port();

    my $server = <<"CONF";
server_name a.example "b\x1b.example";
location /debug/pprof/ { jemalloc_pprof; $how{timeout} }
location /shown/ { jemalloc_pprof clients=on; }
location /files/ { root html; }
location /large/ {
    proxy_pass http://backend/files/;
    proxy_buffers 16 32k;
    proxy_buffer_size 32k;
    proxy_busy_buffers_size 64k;
    proxy_max_temp_file_size 0;
}
location /body/ {
    client_body_buffer_size 512k;
    proxy_pass http://backend/files/;
}
CONF

    my $nginx = JppNginx->start(port => $port, workers => 2,
        conf => $how{conf}, server => $server,
        http => "upstream backend { server 127.0.0.1:$port; }");

    spew("$nginx->{prefix}/html/files/big", 'x' x (8 << 20));

    my @clients = $nginx->slow(4, '/large/big?secret=1');

    push @clients, map {
        my $client = $nginx->client;

        $client->write("POST /body/ HTTP/1.1\r\nHost: a\r\n"
                       . "Content-Length: 307200\r\n\r\nx");
        $client;
    } 1 .. 2;

    wait_until(sub {
        my $json = json($nginx, "$list?top=1000");

        return 4 == grep { $_->{mostly}{class} eq 'upstream buffers'
                           && $_->{mostly}{bytes} >= 16 * 32 * $k }
                         @{ $json->{rows} };
    }) or die 'the downloads do not fill their buffers';

    return ($nginx, @clients);
}


sub json($nginx, $path) {
    my $answer = $nginx->get($path . ($path =~ /\?/ ? '&' : '?')
                             . 'format=json');

    is($answer->{status}, 200, $path) or diag($answer->{body});
    is($answer->{headers}{'content-type'}, 'application/json', 'its type');

    return decode_json($answer->{body});
}


test 'the largest', 'jemalloc' => sub {
    my ($nginx, @clients) = start();
    my $json = json($nginx, $list);
    my @rows = @{ $json->{rows} };

    is("$json->{answered}/$json->{asked}", '2/2', 'all workers');
    is($json->{count}, scalar @rows, 'all requests are shown');
    is(scalar(grep { $_->{location} ne '/files/' } @rows), 7,
       'this one, too');

    my @downloads = grep { $_->{location} eq '/large/' } @rows;

    is(scalar @downloads, 4, 'the downloads');

    for my $row (@downloads) {
        is($row->{server}, 'a.example', 'its server');
        is($row->{upstream}, 'backend', 'its upstream');
        is($row->{kind}, 'request', 'its kind');
        is($row->{protocol}, 'HTTP/1', 'its protocol');
        is($row->{mostly}{directive}, 'proxy_buffers', 'the directive');
        is($row->{mostly}{value}, '16 32k', 'and its value');
        cmp_ok($row->{kernel}{sending}, '>', 0, 'bytes in the kernel');
        cmp_ok($row->{bytes}, '>=', $row->{mostly}{bytes}, 'its bytes');
        cmp_ok($row->{unused}, '<', $row->{bytes}, 'those never used');
        like($row->{action}, qr/^(?:reading upstream|sending to client)$/,
             'what it does');
        is($row->{$_}, undef, "no $_") for qw( client uri );
    }

    my @bodies = grep { $_->{location} eq '/body/' } @rows;

    is(scalar @bodies, 2, 'the bodies');
    is($_->{mostly}{class}, 'request body', 'what they hold') for @bodies;
    is($_->{mostly}{directive}, 'client_body_buffer_size', 'the directive')
        for @bodies;
    is($_->{mostly}{value}, '512k', 'and its value') for @bodies;

    is_deeply([ map { $_->{bytes} } @rows ],
              [ sort { $b <=> $a } map { $_->{bytes} } @rows ],
              'the largest first');

    my $text = $nginx->get("$list?top=2&cols=1000");

    like($text->{headers}{'content-type'}, qr{^text/plain;}, 'a table');
    is($text->{headers}{'jemalloc-pprof-workers'}, '2/2', 'of all workers');
    like($text->{body}, qr/\Athe[ ]2[ ]largest[ ]of[ ]\d+[ ]requests:[ ]
                           \S+[ ]MiB[ ]of[ ]\S+[ ]MiB
                           \n[ ]*bytes[ ].*[ ]bounded[ ]by\n
                           (?:.*[ ]a\.example[ ]+\/large\/[ ]+backend[ ]+
                              \S+[ ]KiB:[ ]upstream[ ]buffers[ ]+
                              proxy_buffers[ ]16[ ]32k\n){2}
                           \nworkers[ ]2\/2\n/x, 'of two rows');

    unlike($nginx->get($list)->{body}, qr/secret/, 'nothing of arguments');

    like($nginx->get('/debug/pprof/')->{body}, qr/href="requests"/,
         'the console has a link');

    is($nginx->alerts, 0, 'no alerts');
};


# What requests hold is what pools and locations say.

test 'sums', 'jemalloc' => sub {
    my ($nginx, @clients) = start();
    my $json = json($nginx, "$list?top=1000");
    my $bytes = 0;

    $bytes += $_->{bytes}
        for grep { $_->{location} eq '/large/' } @{ $json->{rows} };

    my $folded = $nginx->get('/debug/pprof/pools?format=folded')->{body};
    my %held = (location => 0, upstream => 0);

    $held{location} += $1 while $folded =~ m{;location /large/;.* (\d+)$}mg;
    $held{upstream} += $1 while $folded =~ m{;upstream backend;.* (\d+)$}mg;

    is($held{location}, $bytes, 'pools says the same');

    $json = json($nginx, '/debug/pprof/locations');
    is(scalar(grep { $_->{location} =~ m{^/(?!files/)} } @{ $json->{rows} }),
       3, 'three locations');

    my ($large) = grep { $_->{location} eq '/large/' } @{ $json->{rows} };

    is($large->{requests}, 4, 'the requests of one');
    is($large->{held}{bytes}, $bytes, 'and their bytes');
    cmp_ok($bytes, '>=', 4 * 16 * 32 * $k, 'which are those of buffers');
    is($large->{held}{mostly}[0]{name}, 'upstream buffers', 'what they hold');

    $json = json($nginx, '/debug/pprof/locations?by=server');

    my ($most) = sort { ($b->{held}{bytes} // 0) <=> ($a->{held}{bytes} // 0) }
                      @{ $json->{rows} };

    is($most->{server}, 'a.example', 'a server');

    $json = json($nginx, '/debug/pprof/locations?by=upstream');

    my ($row, @others) = grep { $_->{upstream} ne '(none)' }
                              @{ $json->{rows} };

    is(scalar @others, 0, 'one upstream');
    is($row->{upstream}, 'backend', 'by its name');
    is($row->{requests}, 4, 'and the requests that have one');
    is($row->{held}{bytes}, $held{upstream}, 'with the bytes of pools');
    is($row->{held}{mostly}[0]{name}, 'upstream buffers', 'what it costs');
    is($row->{held}{mostly}[0]{bytes}, 4 * 16 * 32 * $k, 'and how much');
    cmp_ok($row->{held}{bytes}, '>=', 4 * (16 + 1) * 32 * $k,
           'with the buffers for headers');
};


test 'connections', 'jemalloc' => sub {
    my ($nginx, @clients) = start();
    my $json = json($nginx, "$list?by=connection&top=1000");

    my @large = grep { $_->{bytes} >= 300 * $k } @{ $json->{rows} };

    is(scalar @large, 6, 'connections have what their requests have');
    is($large[0]{kind}, 'client connection', 'what they are');
    is($large[0]{requests}, 1, 'how many requests they had');
    cmp_ok($json->{bytes}, '>=', (4 * 16 * 32 + 2 * 300) * $k,
           'the sum of all');
};


test 'clients', 'jemalloc' => sub {
    my ($nginx, @clients) = start();

    my $answer = $nginx->get("$list?clients=on");

    is_answer($answer, 403,
              'clients are not shown in this location: add clients=on to its '
              . 'jemalloc_pprof directive, and restrict who can reach it',
              'where it is off');

    is($nginx->get("$list?clients=off")->{status}, 200, 'but not off');

    my $json = json($nginx, '/shown/requests');

    is($json->{rows}[0]{$_}, undef, "no $_ unless it is asked for")
        for qw( client uri );

    $json = json($nginx, '/shown/requests?clients=on');

    is($json->{rows}[0]{client}, '127.0.0.1', 'a client');
    is(scalar(grep { ($_->{uri} // '') eq '/large/big' } @{ $json->{rows} }),
       4, 'URIs without arguments');
    is(scalar(grep { !defined $_->{uri} } @{ $json->{rows} }), 0,
       'each has one');
    unlike($nginx->get('/shown/requests?clients=on')->{body}, qr/secret/,
           'not in the table, either');
};


test 'parameters', 'jemalloc' => sub {
    my ($nginx, @clients) = start();

    my %refused = (
        'top=0' => 'top must be a whole number from 1 to 1000',
        'cols=0' => 'cols must be a whole number of columns from 20 to 1000',
        'by=location' => 'requests takes by=request and by=connection: sums by '
                         . 'location, server and upstream are in locations '
                         . 'and pools',
        'clients=yes' => 'clients must be on or off',
        'format=pprof' => 'format must be top or json',
    );

    for my $query (sort keys %refused) {
        is_answer($nginx->get("$list?$query"), 400, $refused{$query}, $query);
    }

    my $json = json($nginx, "$list?top=1");

    is(scalar @{ $json->{rows} }, 1, 'as many as are wanted');
    cmp_ok($json->{count}, '>=', 7, 'of all');

    $json = json($nginx, '/debug/pprof/worker/0/requests');
    is($json->{asked}, 1, 'of one worker');

    is($nginx->get("$list?worker=7")->{status}, 404, 'of none');
};


# A worker that does not answer is named, and the list is that of the others.

test 'one that is stopped', 'jemalloc' => sub {
    my ($nginx, @clients) = start(timeout => 'jemalloc_pprof_timeout 1s;');
    my $client = $nginx->client;

    my $self = decode_json($client->get('/debug/pprof/worker/self/status')
                           ->{body})->{workers}[0]{pid};
    my ($pid) = grep { $_ != $self } $nginx->worker_pids;

    $nginx->signal('STOP', $pid);

    my $json = decode_json($client->get("$list?format=json")->{body});

    is("$json->{answered}/$json->{asked}", '1/2', 'one is missing');
    is($json->{missing}[0]{pid}, $pid, 'which');
    like($json->{missing}[0]{why}, qr/stopped/, 'and why');

    kill 'CONT', $pid;
};


test 'without a profiler', 'jemalloc' => sub {
    my ($nginx, @clients) = start(conf => 'prof:false');

    cmp_ok(json($nginx, $list)->{count}, '>=', 7, 'all requests are there');
};
