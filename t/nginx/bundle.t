#!/usr/bin/perl

# The bundle: one file with all that a ticket needs, and nothing that is
# nobody's business.
#
# Not here: how the offline tool reads archives (t/tool/archive.t).

use JppTest;

use IO::Socket::INET;
use IO::Uncompress::Gunzip qw(gunzip);

my $tree = 'location /debug/pprof/ { jemalloc_pprof control=on clients=on; }';

my $server = $tree . ' location /held { proxy_pass
                           http://127.0.0.1:$server_port/file;
                           proxy_set_header X-Key conf-mark;
                           proxy_buffers 64 64k; proxy_busy_buffers_size 64k;
                           proxy_max_temp_file_size 0; }
                       location /file { alias %s/big; }';

my @profiles = map { ("$_.html", "$_.pb.gz", "$_.txt") } 'heap', 'pools';
my @always = sort 'README', 'nginx.txt', 'status.json', 'metrics.txt',
                  'stalls.pb.gz', 'stalls.txt',
                  map { ("$_.json", "$_.txt") } 'memory', 'grown', 'events';


# The members of the bundle that NGINX answers with, by name; and its file.

sub bundle($nginx, $query = '', %how) {
    my $answer = $nginx->get("/debug/pprof/bundle$query");
    my $dir = tempdir(CLEANUP => 1);
    my $file = spew("$dir/bundle.tar.gz", $answer->{body});

    is($answer->{status}, 200, 'a bundle') or diag($answer->{body});
    is(partly($answer), $how{workers} // '2/2', 'of so many workers');
    is(system('tar', '-xzf', $file, '-C', $dir), 0, 'which tar reads');

    my %members;

    for (split /\n/, `tar -tzf '$file'`) {
        $members{$_} = slurp("$dir/$_") if !m{/$};
    }

    return (\%members, $file, [ split /\n/, `tar -tzf '$file'` ]);
}


# The bytes, and those that are packed in them.

sub unpacked($bytes) {
    return $bytes if $bytes !~ /^\x1f\x8b/;

    gunzip(\$bytes, \my $text, MultiStream => 1) or die 'gunzip';

    return $text;
}


sub take($nginx) {
    $nginx->get('/debug/pprof/control?snapshot=1', body => '');

    return wait_until(sub {
        my ($first) = @{ $nginx->json('/debug/pprof/snapshots?format=json')
                               ->{snapshots} };
        return $first && $first->{id};
    });
}


test 'a bundle' => sub {
    my $prefix = tempdir(CLEANUP => 1);

    chmod 0755, $prefix;
    spew("$prefix/big", 'x' x 8_000_000);

    my $nginx = JppNginx->start(workers => 2,
                                server => sprintf $server, $prefix);

    # who asks for what is held, and how: from an address of its own

    my @clients = map {
        my $client = IO::Socket::INET->new(
            LocalAddr => '127.0.0.77', PeerAddr => '127.0.0.1',
            PeerPort => $nginx->{port}) or die "client: $!";

        print $client "GET /held?query-mark=1 HTTP/1.1\r\nHost: localhost\r\n"
                      . "Cookie: cookie-mark\r\n\r\n";
        $client;
    } 1 .. 3;

    ok(wait_until(sub { $nginx->get('/debug/pprof/requests?clients=on')
                              ->{body} =~ /127\.0\.0\.77/ }),
       'the clients are known to nginx');

    my $id = take($nginx);
    my ($members, $file, $names) = bundle($nginx);

    is($names->[0], 'README', 'what each is stands first');
    is_deeply([ sort keys %$members ],
              [ sort @always, @profiles, "snapshots/$id.tar.gz" ],
              'the members');

    like($members->{README}, qr/^nginx on \S+, \S+: 2 of 2 workers answered\./,
         'whose it is');
    like($members->{README}, qr/^\Q$_\E +(?!is missing)\S/m, "about $_")
        for grep { $_ ne 'README' } keys %$members;

    like($members->{'pools.txt'}, qr{location /held}, 'whose memory it is');
    like($members->{'heap.txt'}, qr/^inuse_space: /, 'a table of the heap');
    like($members->{'heap.html'}, qr/<html/, 'a page');
    like($members->{'metrics.txt'}, qr/^# HELP /m, 'metrics');
    like($members->{'events.txt'}, qr/^time /, 'events');
    like($members->{'memory.txt'}, qr/\A(?:Healthy|Warning|Critical)/,
         'a verdict');
    like($members->{'nginx.txt'}, qr{^nginx version: nginx/\d.*^configure (?#
         )arguments: .*^jemalloc_pprof_max_size 67108864$}ms, 'its build');
    like($members->{'status.json'}, qr/"workers": \[/, 'the state of workers');
    is($members->{"snapshots/$id.tar.gz"},
       $nginx->get("/debug/pprof/snapshots?at=$id")->{body}, 'a snapshot');

    JppProfile::read_profile(checked($members->{$_}, '--print'))
        for 'heap.pb.gz', 'pools.pb.gz', 'stalls.pb.gz';

    for my $name (sort keys %$members) {
        unlike(unpacked($members->{$name}),
               qr/query-mark|cookie-mark|conf-mark|127\.0\.0\.77/,
               "$name has no secret");
    }

    # the offline tool

    my $tool = "'$build/jemalloc-pprof'";

    is(`$tool --list '$file' | sed 's/^ *[0-9]*  //'`,
       join('', map { "$_\n" } @$names), 'the tool lists it');
    like(`$tool '$file' 2>&1`, qr/no heap dump of a worker .* it has README, /,
         'and says so when asked for a dump');
    like(`$tool --member=heap.pb.gz --format=html '$file'`, qr/<html/,
         'it renders a member');
    like(`$tool --pools --member=snapshots/$id.tar.gz --format=top '$file'`,
         qr{location /held}, 'and one of a snapshot');
};


test 'what cannot be had' => sub {
    my $nginx = JppNginx->start(
        workers => 2, conf => options('prof:false'), server => $tree,
        http => 'jemalloc_pprof_snapshots off; jemalloc_pprof_timeout 10s;');

    my ($members) = bundle($nginx);

    is_deeply([ sort keys %$members ],
              [ sort @always, grep { /pools/ } @profiles ], 'no heap');
    like($members->{README}, qr/^\Q$_\E +is missing: the profiling of (?#
                               )jemalloc \S+ is off/m, "why there is no $_")
        for grep { /heap/ } @profiles;
    like($members->{README}, qr{^snapshots/ +is missing: none was taken$}m,
         'nor snapshots');

    my $head = $nginx->get('/debug/pprof/bundle', method => 'HEAD');

    is($head->{status}, 200, 'HEAD');
    is($head->{headers}{'content-type'}, 'application/gzip', 'its type');
    is($head->{headers}{'content-disposition'},
       'attachment; filename="nginx-bundle.tar.gz"', 'its name');

    # a worker that says nothing

    my ($stopped) = $nginx->worker_pids;

    $nginx->signal(STOP => $stopped);

    my ($partial) = bundle($nginx, '', workers => '1/2');

    like($partial->{README}, qr/: 1 of 2 workers answered\./, 'which is said');
    like($partial->{'status.json'}, qr/"missing": \[\s*\{[^}]*$stopped/,
         'and who is missing');
    is($nginx->get('/debug/pprof/bundle?strict=1')->{status}, 503,
       'none is partial with strict=1');
    $nginx->signal(CONT => $stopped);
};


test 'a limit' => sub {
    my $nginx = JppNginx->start(
        workers => 2, server => $tree,
        http => 'jemalloc_pprof_max_size 160k;');

    my ($members, $file) = bundle($nginx);

    cmp_ok(-s $file, '<=', 160 * 1024, 'no more than jemalloc_pprof_max_size');
    like($members->{README}, qr/^\S+\.html +is missing: it has [\d.]+ KiB, (?#
         )and jemalloc_pprof_max_size leaves [\d.]+ (?:KiB|B)$/m,
         'what had no room');
    ok($members->{'memory.txt'}, 'but the small ones');
};
