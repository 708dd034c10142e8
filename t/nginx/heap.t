# heap and allocs: every format with its headers, even where other directives
# would change them; what is in a profile; HEAD; selectors of workers; and that
# only a client gets a profile.

use JppTest;
use JppNginx qw( profile );
use JppProfile qw( totals );

my $pprof = '\Atypes: inuse_objects/count inuse_space/bytes\n'
            . 'default: inuse_space\nperiod: 4096 space/bytes\n';

my $text = '\Aheap profile: \d+: \d+ \[0: 0\] @ heap_v2/4096\n'
           . '(?:\d+: \d+ \[0: 0\] @(?: 0x[0-9a-f]+)+ *\n)+'
           . '\nMAPPED_LIBRARIES:\n[0-9a-f]+-[0-9a-f]+ .*\n\z';

my $folded = '\A(?:\S[^\n]*;[^\n]*\S \d+\n)+\z';

my $top = '\Ainuse_space: [\d.]+ [KM]?i?B in \d+ stacks, estimated from \d+ '
          . 'samples, one every 4\.0 KiB[^\n]*\n'
          . ' *flat  flat% +cum +cum% +objects +mean +error  function\n';

my $row = '(?: *[\d.]+ [KM]?i?B +[\d.]+% +[\d.]+ [KM]?i?B +[\d.]+% +\d+ '
          . '+(?:-|[\d.]+ [KM]?i?B) +(?:-|exact|[\d.]+ %)  [^\n]+\n)';

my $end = '(?:\d+ more functions\n)?'
          . 'allocation wrappers \([^\n]*\n.*\z';

my $dump = '\Aheap_v2/4096\n  t\*: \d+: \d+ \[0: 0\]\n(?:  t\d+: .*\n)+'
           . '(?:@(?: 0x[0-9a-f]+)+\n(?:  t.*\n)+)+\nMAPPED_LIBRARIES:\n.*\n\z';

my $save = 'attachment; filename="nginx-%s-[-.\w]+-\d{8}T\d{6}Z\.%s"';
my $heap = sprintf $save, 'heap', 'pb\.gz';
my $allocs = sprintf $save, 'allocs', 'pb\.gz';
my $raw = sprintf $save, 'heap', 'heap';

my $bytes = 'application/octet-stream';
my $plain = 'text/plain; charset=utf-8';


# [ Content-Type, Content-Disposition, pattern of the body, paths ]; of bytes
# the pattern is that of the profile as text

my @formats = (
    [ $bytes, $heap, $pprof,
      qw( heap heap?format=pprof heap?debug=0 heap?gc=1 heap?worker=all
          heap?strict=1&worker=self worker/all/heap?strict=1 heap?worker=0
          heap?origin=all heap?format=pprof&debug=1 pprof/heap?format=pprof ) ],
    [ $bytes, $heap, $pprof =~ s/inuse_space(?=.n.?period)/inuse_objects/r,
      'heap?type=inuse_objects' ],
    [ $bytes, $allocs, $pprof, qw( allocs allocs?gc=0 ) ],
    [ $plain, '', $text,
      qw( heap?format=text heap?debug=1 pprof/heap worker/self/pprof/heap
          allocs?debug=1 ) ],
    [ $plain, '', $folded,
      qw( heap?format=folded allocs?format=folded&type=inuse_objects ) ],
    [ $plain, '', "$top$row+$end", 'heap?format=top&cols=1000' ],
    [ $plain, '', "$top$row+",
      qw( heap?format=top&cols=1000&debug=0 allocs?format=top&cols=1000 ) ],
    [ $plain, '', "$top$row\{3}\\d+ more functions\\n$end",
      'heap?format=top&cols=1000&sort=cum&n=3' ],
    [ $plain, '',
      "$top(?!.*  (?:ngx_p?alloc|ngx_create_pool)\\n)$row+$end",
      'heap?format=top&cols=1000&n=1000' ],
    [ $plain, '',
      "$top(?=.*  ngx_alloc\\n)(?!.*functions that only pass)$row+\\n.*\\z",
      'heap?format=top&cols=1000&n=1000&callers=0' ],
    [ $plain, $raw, $dump, 'heap?format=jemalloc' ],
);

my @servers;

# Another server, of CONF; the beginning of its URLs.

sub site($conf) {
    push @servers, $conf;

    return 'http://s' . $#servers;
}


# filters that do their best to change a profile

my $adverse = site(<<'END');
gzip on;
gzip_types *;
gzip_min_length 1;
gzip_proxied any;
gunzip on;
sendfile on;
tcp_nopush on;
etag on;
output_buffers 1 512;
postpone_output 0;
location = /after { return 200 "after"; }
location /a/ {
    jemalloc_pprof;
    charset koi8-r;
    expires 1h;
    add_header X-Added added always;
    add_after_body /after;
    sub_filter '0' 'zero';
    sub_filter_once off;
    limit_rate 10m;
    ssi on;
}
END


# [ path, status, the sentence ]

my $arguments = 'worker must be all, self, exiting, an index such as 0, or '
                . 'pid- and a process id';

my $nobody = 'no such worker: status lists all workers';

my $none = "no such resource here: use one of $resources";

my $accum = "prof_accum:true; the module's sampler always counts it: POST "
            . 'sampler=on to control';

my @refused = (
    [ 'heap?type=alloc_space', 400, 'alloc_space is not in this profile: '
      . "jemalloc counts freed memory only with $accum" ],
    [ 'allocs?type=alloc_objects&format=top', 400,
      'alloc_objects is not in this profile: '
      . "jemalloc counts freed memory only with $accum" ],
    [ 'heap?format=jemalloc&seconds=1', 400, 'format=jemalloc serves a single '
      . 'dump unchanged: choose one worker or file, and no difference' ],

    [ 'worker/1/heap', 404, $nobody ],
    [ 'worker/4294967295/heap', 404, $nobody ],
    [ 'worker/pid-1/heap', 404, $nobody ],
    [ 'worker/exiting/heap', 404, $nobody ],
    [ 'worker/1/status', 404, $nobody ],
    [ 'heap?worker=1', 404, $nobody ],
    [ 'heap?worker=pid-1', 404, $nobody ],
    [ 'worker/1/heap?worker=self', 404, $nobody ],
    [ 'heap?worker=1&worker=self', 404, $nobody ],

    [ 'worker/x/heap', 404, $arguments ],
    [ 'worker/0%20/heap', 404, $arguments ],
    [ 'worker/%00/heap', 400, undef ],
    [ 'heap?n=0', 400, 'n must be a whole number from 1 to 1000' ],

    [ 'worker/', 404, $none ],
    [ 'worker/self', 404, $none ],
    [ 'worker/self/', 404, $none ],
    [ 'worker/self/nothing', 404, $none ],
    [ 'worker/self/worker/self/heap', 404, $none ],
    [ 'pprof/worker/self/heap', 404, $none ],
    [ 'heap/', 404, $none ],
    [ 'heap/heap', 404, $none ],
    [ 'profiles', 404, $none ],
);

# [ path, parameters of the directive, 1 if there are names ]

my @names = (
    [ 'heap', '', 1 ],
    [ 'heap?symbolize=1', '', 1 ],
    [ 'heap?symbolize=0', '', 0 ],
    [ 'heap?symbolize=0&symbolize=1', '', 0 ],
    [ 'heap', 'symbolize=off', 0 ],
    [ 'heap?symbolize=1', 'symbolize=off', 1 ],
    [ 'heap', 'heap symbolize=off', 0 ],
    [ 'heap?symbolize=0', 'symbolize=on', 0 ],
    [ 'allocs?symbolize=0', 'worker=self', 0 ],
    [ 'worker/0/heap', '', 1 ],
    [ 'worker/self/heap?symbolize=0', '', 0 ],
);

$_->[3] = site("location /a/ { jemalloc_pprof $_->[1]; }") for @names;


# Subrequests and internal redirects, with the configuration that makes them.

my $nothing = '\A\s*before [ -~\s]*<h1>404 Not Found</h1>[ -~\s]*\z';

my @inner = (
    [ 'an SSI include', '/page.shtml', 200, $nothing,
      'location /page.shtml { ssi on; ssi_types *; }' ],
    [ 'auth_request', '/guarded', 500, '500 Internal Server Error',
      'location /guarded { auth_request /a/heap; return 200; }'
      . 'location = /guarded { auth_request /a/heap; root html; }' ],
    [ 'a mirror', '/mirrored', 404, '404 Not Found',
      'location /mirrored { mirror /a/heap; }' ],
    [ 'an addition', '/page.shtml', 200, $nothing,
      'location /page.shtml { add_after_body /a/heap; addition_types *; }' ],
);

my @redirected = (
    [ 'error_page', '/nowhere', 404, 'error_page 404 /a/heap;' ],
    [ 'error_page with a status', '/nowhere', 200,
      'error_page 404 =200 /a/heap;' ],
    [ 'try_files', '/other', 404,
      'location /other { try_files /nowhere /a/heap; }' ],
    [ 'X-Accel-Redirect', '/accel', 404,
      'location /accel { proxy_pass http://127.0.0.1:$server_port/told;'
      . ' proxy_set_header Host $host; }'
      . 'location /told { add_header X-Accel-Redirect /a/heap; return 200; }'
      ],
    [ 'a rewrite', '/other', 404, 'rewrite ^/other$ /a/heap last;' ],
    [ 'an index', '/dir/', 404,
      'location /dir/ { root html; index /a/heap; }' ],
    [ 'a named location', '/nowhere', 404,
      'error_page 404 @heap; location @heap { jemalloc_pprof heap; }' ],
);

$_->[-1] = site("location /a/ { jemalloc_pprof; } $_->[-1]")
    for @inner, @redirected;

my $access = site(<<'END');
location /a/ { jemalloc_pprof; deny all; }
END
my $password = site(<<'END');
location /a/ { jemalloc_pprof; auth_basic "heap"; auth_basic_user_file users; }
END
my $unmatched = site(<<'END');
location /a/ {
    jemalloc_pprof;
    sub_filter_types *;
    sub_filter 'not in a profile' '';
}
END

my $port = free_port();
my $nginx = JppNginx->start(
    port => $port, server => 'server_name localhost; '
                             . 'location /a/ { jemalloc_pprof; }',
    http => join '', map {
        "server { listen 127.0.0.1:$port; server_name s$_; $servers[$_] }\n"
    } 0 .. $#servers);

spew("$nginx->{prefix}/users", "me:{PLAIN}secret\n");
spew("$nginx->{prefix}/html/page.shtml",
     "before <!--#include virtual=\"/a/heap\" --><!--\n-->after\n");


# Headers that are not there.

sub lacks($answer, @names) {
    is_deeply([ grep { defined $answer->{headers}{$_} } @names ], [],
              'no other headers');
}


sub is_heap($answer, $what) {
    like(contract($answer->{body}),
         qr{^types: inuse_objects/count inuse_space/bytes\n}, $what);
    is($answer->{headers}{'content-type'}, $bytes, 'its type');
}


for my $format (@formats) {
    my ($type, $saved, $like, @paths) = @$format;

    for my $path (@paths) {
        test "GET and HEAD $path" => sub { served($path, $type, $saved, $like) }
    }
}


sub served($path, $type, $saved, $like) {
    for my $method (qw( GET HEAD GET HEAD )) {
        my $answer = $nginx->ask($method, "$adverse/a/$path",
                                 'Accept-Encoding: gzip, deflate, br');
        my $headers = $answer->{headers};
        my $body = $answer->{body};
        my $is_get = $method eq 'GET';

        is($answer->{status}, 200, $method);
        is($headers->{'content-type'}, $type, 'type');
        is($headers->{'x-content-type-options'}, 'nosniff', 'as it is');
        is($headers->{'x-added'}, 'added', 'with headers of others');
        is($headers->{'cache-control'}, 'no-store', 'not kept');
        like($headers->{'content-disposition'} // '', qr/^$saved$/, 'saved as');
        is($headers->{'jemalloc-pprof-workers'}, $is_get ? '1/1' : undef,
           'who answered');
        lacks($answer, qw( content-encoding x-go-pprof ),
              $is_get ? qw( transfer-encoding last-modified etag accept-ranges )
                      : 'content-length');

        if ($is_get) {
            is($headers->{'content-length'}, length $body, 'length');
            like($type eq $bytes ? contract($body) : $body, qr/$like/s, 'body');
        } else {
            is($body, '', 'no body');
        }
    }
}


test 'what is refused' => sub {
    for (@refused) {
        my ($path, $status, $sentence) = @$_;
        my $answer = $nginx->get("/a/$path");

        is($answer->{status}, $status, $path);
        next if !defined $sentence;

        is($answer->{body}, "$sentence\n", 'why');
        lacks($answer, 'content-disposition');
    }
};


# No frame of a profile belongs to the allocator; which of the others is there
# depends on where the samples fall.

test 'names' => sub {
    for (@names) {
        my ($path, $parameters, $has_names, $site) = @$_;
        my $profile = profile($nginx->get("$site/a/$path"));
        my %functions = %{ $profile->{functions} // {} };
        my @locations = @{ $profile->{'locations lines'} };
        my $bare = grep { !/ F=/ } @locations;

        is(scalar(grep { /^(?:je_|prof_|malloc$|calloc$)|libjemalloc/ }
                       keys %functions), 0, "$path, with $parameters");
        ok($has_names ? $bare == 0 && $functions{main}
                        && grep { /^ngx_[a-z]/ } keys %functions
                      : $bare == @locations && !%functions,
           $has_names ? 'names' : 'no names')
            or diag(join ' ', sort keys %functions);
    }
};


my $warning = qr/\[warn\] .*jemalloc_pprof: not served to subrequests and (?#
                )internal redirects: "(\S+)" must be asked for by the client/;

# The location that the log warns of after CODE.  A mirror's subrequest runs
# once the client has its answer.

sub warned_of($code) {
    my $before = length $nginx->error_log;

    $code->();

    return wait_until(sub {
        (substr($nginx->error_log, $before) =~ $warning)[0]
    });
}


test 'not for nginx itself' => sub {
    for (@inner) {
        my ($what, $uri, $status, $like, $site) = @$_;

        my $warned_of = warned_of(sub {
            my $answer = $nginx->get("$site$uri");

            is_answer($answer, $status, qr/$like/s, $what);
        });

        is($warned_of, '/a/heap', 'the log names the location');
    }

    for (@redirected) {
        my ($what, $uri, $status, $site) = @$_;

        my $warned_of = warned_of(sub {
            my $answer = $nginx->get("$site$uri");

            is($answer->{status}, $status, $what);
            is($answer->{headers}{'content-type'}, $plain, 'as text');
            is($answer->{headers}{'x-go-pprof'}, '1', 'for pprof');
            is($answer->{body}, 'profiles are not served to internal '
               . "redirects: request their own URL\n", 'why');
        });

        ok(defined $warned_of, 'the log says so');
    }
};


test 'who gets a profile' => sub {
    my $denied = $nginx->get("$access/a/heap");
    my $unknown = $nginx->get("$password/a/heap");

    is($denied->{status}, 403, 'access rules come first');
    lacks($denied, qw( jemalloc-pprof-workers x-go-pprof ));
    like($nginx->error_log, qr/access forbidden by rule/, 'the log has it');
    is($unknown->{status}, 401, 'passwords come first');
    lacks($unknown, 'jemalloc-pprof-workers');
    is_heap($nginx->get("$password/a/heap", headers =>
                        "Authorization: Basic bWU6c2VjcmV0\r\n"),
            'a request with the password is served');
    is_heap($nginx->get("$unmatched/a/heap"),
            'a filter leaves a profile without a match alone');
};


test 'HTTP/1.0' => sub {
    my $client = $nginx->client;

    $client->write("GET /a/heap HTTP/1.0\r\n\r\n");

    my $answer = $client->answer('GET');

    is_heap($answer, 'a heap');
    is($answer->{headers}{'content-length'}, length $answer->{body}, 'length');
    lacks($answer, 'transfer-encoding');
};


test 'labels and comments agree with status' => sub {
    my $status = $nginx->json('/a/status');
    my $worker = $status->{workers}[0];
    my $of = "generation=$worker->{generation} origin";

    for my $path ('heap', 'worker/0/allocs') {
        my $profile = profile($nginx->get("/a/$path"));
        my $said = join "\n", @{ $profile->{comments} };

        is_deeply(labels($profile),
                  [ "$of=master", "$of=worker pid=$worker->{pid} worker=0" ],
                  "$path: labels");
        like($said, qr/^\Q$_\E$/m, "$path: $_")
            for "nginx $status->{nginx}",
                "jemalloc_pprof module $status->{module}",
                "jemalloc $worker->{jemalloc}", 'lg_sample 12', 'workers 1/1',
                "worker 0 pid $worker->{pid}";
        like($said, qr/^jemalloc stats\.$_ [1-9]\d+ bytes \(.*\)(?::|$)/m,
             "$path: $_")
            for 'allocated', 'active', 'resident at most';
    }
};


# Those that samples have, each as a line.

sub labels($profile) {
    return [ uniq sort map {
        my $labels = $_->{labels};
        join ' ', map { "$_=$labels->{$_}" } sort keys %$labels;
    } @{ $profile->{samples} } ];
}


# The bytes of a heap, which is no difference.

sub space {
    my $profile = profile($nginx->get('/a/heap'));

    is($profile->{duration} // 0, 0, 'no difference');

    return (totals($profile))[1];
}


test 'a difference of a second' => sub {
    my $space = space();

    for my $path ('heap?seconds=1', 'allocs?seconds=01') {
        my $profile = profile($nginx->get("/a/$path"));

        # nginx counts in milliseconds, and two clocks are involved

        cmp_ok($profile->{duration}, '>=', 0.9e9, "$path: it takes a second");
        is("@{ $profile->{types} }",
           'inuse_objects/count inuse_space/bytes', 'types');
        cmp_ok(abs((totals($profile))[1]), '<', $space / 2,
               'what was there before is subtracted');
    }

    like($nginx->get('/a/heap?seconds=1&format=top')->{body},
         qr/\Ainuse_space \(difference\): -?[\d.]+ [KM]?i?B in \d+/,
         'a table says so');
};


# Only the requests between the two differ.

test 'the tool makes the same profile of format=jemalloc' => sub {
    my $space = space();
    my $file = spew("$nginx->{prefix}/dump.heap",
                    $nginx->get('/a/heap?format=jemalloc')->{body});
    my $profile = profile({ body => scalar `'$build/jemalloc-pprof' '$file'` });

    cmp_ok(abs((totals($profile))[1] - $space), '<', $space / 2, 'the same');
};


$nginx->stop;
$nginx = JppNginx->start(workers => 4, server => <<'END');
location /a/ { jemalloc_pprof; }
location /self/ { jemalloc_pprof worker=self; }
END

# by their indexes
my @pids = map { $_->{pid} } @{ $nginx->settled(4, '/a/status')->{workers} };


# Each worker's own samples, and once what all of them inherited.

test 'all workers in one answer' => sub {
    my ($all, $sums) = heap_of('heap', '4/4');
    my ($master, $inherited) = heap_of('heap?origin=master', '4/4');
    my ($generation) = "@{ labels($all) }" =~ /(generation=\d+)/;
    my $said = join "\n", @{ $all->{comments} };
    my $sum = $inherited;

    is_deeply(labels($all),
              [ sort "$generation origin=master",
                map { "$generation origin=worker pid=$pids[$_] worker=$_" }
                    0 .. 3 ], 'labels');
    like($said, qr/^workers 4\/4$/m, 'who answered');
    unlike($said, qr/^worker \d|missing/m, 'and no names');
    like($said, qr/^jemalloc stats\.allocated \d+ .* sum of 4 workers/m,
         'a sum');
    like($said, qr/^jemalloc stats\.resident at most \d+ bytes (?#
                   ).* in worker \d pid \d+, the largest: /m, 'the largest');

    for my $worker (0 .. 3) {
        my ($own, $bytes) = heap_of("heap?worker=$worker&origin=worker", '1/1');

        unlike("@{ labels($own) }", qr/origin=(?!worker)/, 'origin=worker');
        $sum += $bytes;
    }

    # the requests in between take some memory, and three times what was
    # inherited would be more

    cmp_ok(abs($sums - $sum), '<=', $inherited / 2, 'all is the sum');
    unlike("@{ labels($master) }", qr/origin=(?!master)/, 'origin=master');
};


# A profile, which says that WORKERS answered, and its bytes.

sub heap_of($path, $workers) {
    my $answer = $nginx->get("/a/$path");
    my $profile = profile($answer);

    is(partly($answer), $workers, "$path: $workers");

    return ($profile, (totals($profile))[1]);
}


# The workers that have samples in PROFILE.

sub pids_in($profile) {
    return uniq map { $_->{labels}{pid} }
                grep { $_->{labels}{origin} eq 'worker' }
                     @{ $profile->{samples} };
}


# Each selector has the samples of its workers, by pid, or is refused.

test 'some workers of all' => sub {
    for (
        map({ [ "/a/heap?worker=$_", $pids[$_] ],
              [ "/a/worker/0$_/allocs", $pids[$_] ],
              [ "/a/heap?worker=pid-$pids[$_]", $pids[$_] ],
              [ "/a/worker/pid-$pids[$_]/heap?worker=0", $pids[$_] ],
              [ "/self/heap?worker=$_", $pids[$_] ] } 0 .. 3),
        [ '/a/heap?worker=all', @pids ],
        [ '/a/worker/all/heap', @pids ],
        [ '/a/heap?strict=1', @pids ],
        [ '/a/heap?seconds=1', @pids ],
        [ '/self/heap?worker=all', @pids ],
    ) {
        my ($path, @selected) = @$_;
        my $answer = $nginx->get($path);
        my %others = map { $_ => 1 } pids_in(profile($answer));

        delete @others{@selected};
        is(partly($answer), @selected . '/' . @selected, $path);
        is_deeply(\%others, {}, 'and no others');
    }

    for (map { ("/a/heap?worker=$_", "/a/worker/$_/status") }
             4, 99, 'exiting', 'pid-1', "pid-$nginx->{pid}")
    {
        my $answer = $nginx->get($_);

        is_answer($answer, 404, $nobody, $_);
    }

    # a raw dump is one worker's

    for (
        [ '', 400, qr/\Aformat=jemalloc serves a single dump unchanged: (?#
                      )choose one worker or file, and no difference\n\z/ ],
        [ '&worker=1', 200, qr/\Aheap_v2/ ],
        [ '&worker=self', 200, qr/\Aheap_v2/ ],
    ) {
        my ($whose, $status, $like) = @$_;
        is_answer($nginx->get("/a/heap?format=jemalloc$whose"), $status, $like,
                  "format=jemalloc$whose");
    }

    # any worker may answer these

    for ('/a/heap?worker=self', '/self/heap', '/a/worker/self/heap') {
        my @is = pids_in(profile($nginx->get($_)));

        is(scalar @is, 1, $_);
        ok((grep { $_ == $is[0] } @pids), 'one of all');
    }
};
