# heap and allocs: every format with its headers, even where other directives
# would change them; what is in a profile; HEAD; selectors of workers; and that
# only a client gets a profile.

use JppPerl;

use JppRun qw( $resources );
use JppSuite qw( $build $dir blocks contract dial fleets profile
                 quiet_log settled slurp spew table totals );
use Test::Nginx::Socket 'no_plan';

repeat_each(2);
quiet_log();
fleets();

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


# [ path, Content-Type, Content-Disposition, filter, pattern of the body ]

my @formats = (
    [ 'heap', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?format=pprof', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?debug=0', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?gc=1', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?strict=1&worker=self', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?worker=all', $bytes, $heap, 'contract', $pprof ],
    [ 'worker/all/heap?strict=1', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?worker=0', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?origin=all', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?format=pprof&debug=1', $bytes, $heap, 'contract', $pprof ],
    [ 'heap?type=inuse_objects', $bytes, $heap, 'contract',
      $pprof =~ s/inuse_space(?=.n.?period)/inuse_objects/r ],
    [ 'allocs', $bytes, $allocs, 'contract', $pprof ],
    [ 'allocs?gc=0', $bytes, $allocs, 'contract', $pprof ],

    [ 'heap?format=text', $plain, '', 'as_it_is', $text ],
    [ 'heap?debug=1', $plain, '', 'as_it_is', $text ],
    [ 'pprof/heap', $plain, '', 'as_it_is', $text ],
    [ 'worker/self/pprof/heap', $plain, '', 'as_it_is', $text ],
    [ 'allocs?debug=1', $plain, '', 'as_it_is', $text ],
    [ 'pprof/heap?format=pprof', $bytes, $heap, 'contract', $pprof ],

    [ 'heap?format=folded', $plain, '', 'as_it_is', $folded ],
    [ 'allocs?format=folded&type=inuse_objects', $plain, '', 'as_it_is',
      $folded ],
    [ 'heap?format=top&cols=1000', $plain, '', 'as_it_is', "$top$row+$end" ],
    [ 'heap?format=top&cols=1000&debug=0', $plain, '', 'as_it_is',
      "$top$row+" ],
    [ 'allocs?format=top&cols=1000', $plain, '', 'as_it_is', "$top$row+" ],
    [ 'heap?format=top&cols=1000&sort=cum&n=3', $plain, '', 'as_it_is',
      "$top$row\{3}\\d+ more functions\\n$end" ],
    [ 'heap?format=top&cols=1000&n=1000', $plain, '', 'as_it_is',
      "$top(?!.*  (?:ngx_p?alloc|ngx_create_pool)\\n)$row+$end" ],
    [ 'heap?format=top&cols=1000&n=1000&callers=0', $plain, '', 'as_it_is',
      "$top(?=.*  ngx_alloc\\n)(?!.*functions that only pass)$row+\\n.*\\z" ],
    [ 'heap?format=jemalloc', $plain, $raw, 'as_it_is', $dump ],
);

sub as_it_is { return $_[0] }

# a location whose filters do their best to change a profile

my $adverse = <<'END';
--- http_config
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
--- config
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

my $formats = <<END;
=== GET [% uri %]
$adverse
--- request
GET /a/[% uri %]
--- more_headers
Accept-Encoding: gzip, deflate, br
--- response_headers
Content-Type: [% type %]
X-Content-Type-Options: nosniff
Jemalloc-Pprof-Workers: 1/1
X-Added: added
!Content-Encoding
!Transfer-Encoding
!X-Go-Pprof
!Last-Modified
!ETag
!Accept-Ranges
--- raw_response_headers_like eval
qr/^(?=.*^Content-Length: [1-9]\\d*\\r\$)(?=.*^Cache-Control: no-store\\r\$)(?#
   ).*[% saved %]/ms
--- response_body_filters eval
\\&main::[% filter %]
--- response_body_like: [% like %]
END

my $heads = <<END;
=== HEAD [% uri %]
$adverse
--- request
HEAD /a/[% uri %]
--- response_headers
Content-Type: [% type %]
X-Content-Type-Options: nosniff
!Jemalloc-Pprof-Workers
!Content-Encoding
!Content-Length
!X-Go-Pprof
--- raw_response_headers_like eval
qr/^(?=.*^Cache-Control: no-store\\r\$).*[% saved %]/ms
--- response_body
END

sub saved($uri, $type, $saved, @more) {
    return [ $uri, $type,
             $saved ne '' ? '^Content-Disposition: ' . $saved . '\r$'
                          : '(?!.*Content-Disposition)', @more ];
}


# [ path, status, the sentence ]

my $arguments = 'worker must be all, self, exiting, an index such as 0, or '
                . 'pid- and a process id';

my $nobody = 'no such worker: status lists all workers';

my $none = "no such resource here: use one of $resources";

my $accum = "prof_accum:true; the module's sampler always does: POST "
            . 'sampler=on to control';

my @refused = (
    [ 'heap?type=alloc_space', 400, 'alloc_space is not in this profile: '
      . "jemalloc counts what was ever allocated only with $accum" ],
    [ 'allocs?type=alloc_objects&format=top', 400,
      'alloc_objects is not in this profile: jemalloc counts what was ever '
      . "allocated only with $accum" ],
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
    [ 'worker/-1/heap', 404, $arguments ],
    [ 'worker/4294967296/heap', 404, $arguments ],
    [ 'worker/pid-/heap', 404, $arguments ],
    [ 'worker/pid-0/heap', 404, $arguments ],
    [ 'worker/Self/heap', 404, $arguments ],
    [ 'worker/0%20/heap', 404, $arguments ],
    [ 'worker/%00/heap', 400, undef ],
    [ 'heap?worker=', 400, $arguments ],
    [ 'heap?worker=x', 400, $arguments ],
    [ 'heap?origin=x', 400, 'origin must be all, worker or master' ],
    [ 'heap?sort=up', 400, 'sort must be flat or cum' ],
    [ 'heap?n=0', 400, 'n must be a whole number from 1 to 1000' ],
    [ 'heap?n=1001', 400, 'n must be a whole number from 1 to 1000' ],
    [ 'heap?callers=yes', 400, 'callers must be 0 or 1' ],

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

my $refused = <<'END';
=== refused: [% uri %]
--- request
GET /a/[% uri %]
--- error_code: [% status %]
--- response_headers
Content-Type: text/plain; charset=utf-8
X-Go-Pprof: 1
X-Content-Type-Options: nosniff
Cache-Control: no-store
!Content-Disposition
--- response_body_like: \A[% like %]\n\z
END


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

my $names = <<'END';
=== names: [% uri %], jemalloc_pprof [% parameters %]
--- config
location /a/ { jemalloc_pprof [% parameters %]; }
--- request
GET /a/[% uri %]
--- response_body_filters eval
\&main::names
--- response_body
names: [% names %]
END

# No frame of a profile belongs to the allocator.

sub names {
    my $profile = profile($_[0]);
    my %functions = %{ $profile->{functions} // {} };
    my @locations = @{ $profile->{'locations lines'} };
    my $bare = grep { !/ F=/ } @locations;

    return "names of the allocator\n"
        if grep { /^(?:je_|prof_|malloc$|calloc$)|libjemalloc/ }
                keys %functions;

    # which of them is there depends on where the samples fall

    return "names: 1\n" if $bare == 0 && $functions{main}
                           && grep { /^ngx_[a-z]/ } keys %functions;

    return "names: 0\n" if $bare == @locations && !%functions;

    return "some names: " . join(' ', sort keys %functions) . "\n";
}


# Subrequests and internal redirects: the log names the location.

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
      'location /accel { '
      . 'proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/told; }'
      . 'location /told { add_header X-Accel-Redirect /a/heap; return 200; }'
      ],
    [ 'a rewrite', '/other', 404, 'rewrite ^/other$ /a/heap last;' ],
    [ 'an index', '/dir/', 404,
      'location /dir/ { root html; index /a/heap; }' ],
    [ 'a named location', '/nowhere', 404,
      'error_page 404 @heap; location @heap { jemalloc_pprof heap; }' ],
);

my $refusal = 'jemalloc_pprof: not served to subrequests and internal '
              . 'redirects: "[% asked %]" must be asked for by the client';

my $inner = <<END;
=== not for nginx itself: [% what %]
--- config
location /a/ { jemalloc_pprof; }
[% config %]
--- user_files
>>> page.shtml
before <!--#include virtual="/a/heap" --><!--
-->after
--- request
GET [% uri %]
--- error_code: [% status %]
--- response_body_like: [% like %]
--- error_log
[warn]
$refusal
END

my $redirected = <<END;
=== not behind a redirect: [% what %]
--- config
location /a/ { jemalloc_pprof; }
[% config %]
--- request
GET [% uri %]
--- error_code: [% status %]
--- response_headers
Content-Type: text/plain; charset=utf-8
X-Go-Pprof: 1
--- response_body
profiles are not served to internal redirects: ask for their own URL
--- error_log
[warn]
jemalloc_pprof: not served to subrequests and internal redirects:
must be asked for by the client
END


# What a worker's status says, to compare a profile with.

my %seen;

sub remember {
    ($seen{pid}) = $_[0] =~ /"pid": (\d+)/;
    ($seen{generation}) = $_[0] =~ /"generation": (\d+)/;
    ($seen{version}) = $_[0] =~ /"jemalloc": "(.*?)"/;
    ($seen{module}) = $_[0] =~ /"module": "(.*?)"/;
    ($seen{nginx}) = $_[0] =~ /"nginx": "(.*?)"/;

    return "seen\n";
}

sub labels {
    my $profile = profile($_[0]);
    my $generation = "generation=$seen{generation}";

    my %labels = (
        worker => "$generation origin=worker pid=$seen{pid} worker=0",
        master => "$generation origin=master",
    );

    my %origins;

    for my $sample (@{ $profile->{samples} }) {
        my $origin = $sample->{labels}{origin} // 'worker';
        my $is = all_labels($sample);

        return "$is, not $labels{$origin}\n" if $is ne $labels{$origin};

        $origins{$origin} = 1;
    }

    return "origins: @{[ sort keys %origins ]}\n" if keys %origins != 2;

    my $said = join "\n", @{ $profile->{comments} };

    for ("nginx $seen{nginx}", "jemalloc_pprof module $seen{module}",
         "jemalloc $seen{version}", 'lg_sample 12', 'workers 1/1',
         "worker 0 pid $seen{pid}")
    {
        return "$_ is not in: $said\n" if $said !~ /^\Q$_\E$/m;
    }

    for ("allocated", "active", "resident at most") {
        return "no $_ in: $said\n"
            if $said !~ /^jemalloc stats\.$_ [1-9]\d+ bytes \(.*\)(?::|$)/m;
    }

    return scalar @{ $profile->{samples} } ? "as in status\n"
                                           : "no samples\n";
}

sub all_labels($sample) {
    return join ' ', map { "$_=$sample->{labels}{$_}" }
                     sort keys %{ $sample->{labels} };
}

# Each worker's own samples, and once what all of them inherited.

sub merged {
    my %index = map { $_->{pid} => $_->{worker} }
                @{ settled('/a/status', 4)->{workers} };

    my ($all, $sums) = asked('heap', '4/4');
    my ($master, $inherited) = asked('heap?origin=master', '4/4');

    my %of = map { all_labels($_) => 1 } @{ $all->{samples} };
    my ($generation) = keys(%of) ? (keys %of)[0] =~ /(generation=\d+)/ : '';

    my $expected = join "\n", sort "$generation origin=master",
                 map { "$generation origin=worker pid=$_ worker=$index{$_}" }
                     keys %index;

    return "labels:\n" . join("\n", sort keys %of) . "\nnot:\n$expected\n"
        if join("\n", sort keys %of) ne $expected;

    my $said = join "\n", @{ $all->{comments} };

    return "comments: $said\n"
        if $said !~ /^workers 4\/4$/m || $said =~ /^worker \d|missing/m
           || $said !~ /^jemalloc stats\.allocated \d+ .* sum of 4 workers/m
           || $said !~ /^jemalloc stats\.resident at most \d+ bytes (?#
                        ).* in worker \d pid \d+, the largest: /m;

    my $sum = $inherited;

    for (sort values %index) {
        my ($own, $bytes) = asked("heap?worker=$_&origin=worker", '1/1');

        my @others = grep { $_->{labels}{origin} ne 'worker' }
                     @{ $own->{samples} };

        return "of the master with origin=worker\n" if @others;

        $sum += $bytes;
    }

    # the requests in between take some memory, and three times what was
    # inherited would be more

    return "$sums bytes, and not $sum: $inherited of them inherited\n"
        if abs($sums - $sum) > $inherited / 2;

    return scalar(grep { $_->{labels}{origin} ne 'master' }
                       @{ $master->{samples} })
           ? "of a worker with origin=master\n" : "one answer of all\n";
}

# A profile, which says that WORKERS answered, and its bytes.

sub asked($what, $workers) {
    my $answer = dial()->ask('GET', "/a/$what");
    my $is = $answer->{headers}{'jemalloc-pprof-workers'} // '-';

    die "$what: $answer->{status}, $is\n" if $is ne $workers;

    my $profile = profile($answer->{body});

    return ($profile, (totals($profile))[1]);
}

# Each selector has the samples of its workers, by pid, or is refused.

sub selected {
    my @workers = @{ settled('/a/status', 4)->{workers} };
    my $master = slurp(server_root() . '/logs/nginx.pid') + 0;
    my $c = dial();
    my @all = map { $_->{pid} } @workers;

    for (
        map({ [ "/a/heap?worker=$_", $all[$_] ],
              [ "/a/worker/0$_/allocs", $all[$_] ],
              [ "/a/heap?worker=pid-$all[$_]", $all[$_] ],
              [ "/a/worker/pid-$all[$_]/heap?worker=0", $all[$_] ],
              [ "/self/heap?worker=$_", $all[$_] ] } 0 .. 3),
        [ '/a/heap?worker=all', @all ],
        [ '/a/worker/all/heap', @all ],
        [ '/a/heap?strict=1', @all ],
        [ '/a/heap?seconds=1', @all ],
        [ '/self/heap?worker=all', @all ],
        map({ [ "/a/heap?worker=$_" ], [ "/a/worker/$_/status" ] }
            4, 99, 'exiting', 'pid-1', "pid-$master"),
    ) {
        my ($what, @pids) = @$_;
        my $answer = $c->ask('GET', $what);

        my $n = @pids;
        my $is = $answer->{headers}{'jemalloc-pprof-workers'} // '-';

        return "$what: $is\n" if $n && $is ne "$n/$n";

        if ($n == 0) {
            return "$what: $answer->{status}: $answer->{body}"
                if $answer->{status} != 404
                   || $answer->{body} ne "$nobody\n";
            next;
        }

        my %is = map { $_->{labels}{pid} => 1 }
                 grep { $_->{labels}{origin} eq 'worker' }
                      @{ profile($answer->{body})->{samples} };

        delete @is{@pids};

        return "$what: of @{[ %is ]}\n" if %is;
    }

    # a raw dump is one worker's

    for (
        [ '', 400, qr/\Aformat=jemalloc serves a single dump unchanged: (?#
                      )choose one worker or file, and no difference\n\z/ ],
        [ '&worker=1', 200, qr/\Aheap_v2/ ],
        [ '&worker=self', 200, qr/\Aheap_v2/ ],
    ) {
        my ($whose, $status, $like) = @$_;
        my $answer = $c->ask('GET', "/a/heap?format=jemalloc$whose");

        return "format=jemalloc$whose: $answer->{status}: $answer->{body}"
            if $answer->{status} != $status || $answer->{body} !~ $like;
    }

    # any worker may answer these

    for ('/a/heap?worker=self', '/self/heap', '/a/worker/self/heap') {
        my $profile = profile($c->ask('GET', $_)->{body});

        my %is = map { $_->{labels}{pid} => 1 }
                 grep { $_->{labels}{origin} eq 'worker' }
                      @{ $profile->{samples} };

        return "$_: of @{[ keys %is ]}\n"
            if keys %is != 1 || !grep { $is{$_} } @all;
    }

    return "those that were chosen\n";
}

# The profile of a difference has a duration.

sub difference {
    my $profile = profile($_[0]);
    my @sums = totals($profile);

    # nginx counts in milliseconds, and two clocks are involved

    return "duration $profile->{duration}\n"
        if $profile->{duration} < 0.9e9;

    return "types @{ $profile->{types} }\n"
        if "@{ $profile->{types} }" ne 'inuse_objects/count inuse_space/bytes';

    # what was there before is subtracted

    return abs $sums[1] < $seen{space} / 2 ? "a difference\n"
                                           : "$sums[1] of $seen{space} bytes\n";
}

sub space {
    my $profile = profile($_[0]);

    return "a difference\n" if $profile->{duration} != 0;

    $seen{space} = (totals($profile))[1];

    return $seen{space} > 0 ? "no difference\n" : "nothing\n";
}

# The tool makes the same profile of the dump as the worker: only the requests
# between the two differ.

sub same_by_tool {
    spew("$dir/dump.heap", $_[0]);

    my $profile = profile(scalar `'$build/jemalloc-pprof' '$dir/dump.heap'`);
    my $space = (totals($profile))[1];

    return abs($space - $seen{space}) < $seen{space} / 2
           ? "the same\n" : "$space, not $seen{space} bytes\n";
}


blocks(<DATA>,
       table($formats, [ qw( uri type saved filter like ) ],
             map { saved(@$_) } @formats),
       table($heads, [ qw( uri type saved ) ], map { saved(@$_) } @formats),
       table($refused, [ qw( uri status like ) ],
             grep { defined $_->[2] } @refused),
       table($names, [ qw( uri parameters names ) ], @names),
       table($inner, [ qw( what uri status like config asked ) ],
             map { [ @$_, '/a/heap' ] } @inner),
       table($redirected, [ qw( what uri status config ) ], @redirected));

run_tests();

__DATA__

=== all workers in one answer
--- workers: 4
--- request
GET /a/status
--- response_body_filters eval
\&main::merged
--- response_body
one answer of all



=== some workers of all
--- workers: 4
--- config
location /a/ { jemalloc_pprof; }
location /self/ { jemalloc_pprof worker=self; }
--- request
GET /a/status
--- response_body_filters eval
\&main::selected
--- response_body
those that were chosen



=== labels and comments agree with status
--- pipelined_requests eval
[ 'GET /a/status', 'GET /a/heap', 'GET /a/worker/0/allocs' ]
--- response_body_filters eval
[ [ \&main::remember ], [ \&main::labels ], [ \&main::labels ] ]
--- response_body eval
[ "seen\n", "as in status\n", "as in status\n" ]
--- error_code eval
[ 200, 200, 200 ]



=== a difference of a second
--- pipelined_requests eval
[ 'GET /a/heap', 'GET /a/heap?seconds=1', 'GET /a/allocs?seconds=01' ]
--- response_body_filters eval
[ [ \&main::space ], [ \&main::difference ], [ \&main::difference ] ]
--- response_body eval
[ "no difference\n", "a difference\n", "a difference\n" ]
--- error_code eval
[ 200, 200, 200 ]



=== a table of a difference says so
--- request
GET /a/heap?seconds=1&format=top
--- response_body_like: \Ainuse_space \(difference\): -?[\d.]+ [KM]?i?B in \d+



=== the tool makes the same profile of format=jemalloc
--- pipelined_requests eval
[ 'GET /a/heap', 'GET /a/heap?format=jemalloc' ]
--- response_body_filters eval
[ [ \&main::space ], [ \&main::same_by_tool ] ]
--- response_body eval
[ "no difference\n", "the same\n" ]
--- error_code eval
[ 200, 200 ]



=== HTTP/1.0
--- raw_request eval
"GET /a/heap HTTP/1.0\r\n\r\n"
--- response_headers
Content-Type: application/octet-stream
!Transfer-Encoding
--- raw_response_headers_like eval
qr/^Content-Length: [1-9]\d+\r$/m
--- response_body_filters eval
\&main::contract
--- response_body_like: \Atypes: inuse_objects/count inuse_space/bytes\n



=== a filter for every type leaves a profile without a match alone
--- config
location /a/ {
    jemalloc_pprof;
    sub_filter_types *;
    sub_filter 'not in a profile' '';
}
--- request
GET /a/heap
--- response_headers
Content-Type: application/octet-stream
--- response_body_filters eval
\&main::contract
--- response_body_like: \Atypes: inuse_objects/count inuse_space/bytes\n



=== access rules come first
--- config
location /a/ { jemalloc_pprof; deny all; }
--- request
GET /a/heap
--- error_code: 403
--- response_headers
!Jemalloc-Pprof-Workers
!X-Go-Pprof
--- error_log
access forbidden by rule



=== passwords come first
--- config
location /a/ { jemalloc_pprof; auth_basic "heap"; auth_basic_user_file users; }
--- user_files
>>> ../conf/users
me:{PLAIN}secret
--- request
GET /a/heap
--- response_headers
!Jemalloc-Pprof-Workers
--- error_code: 401



=== a request with the password is served
--- config
location /a/ { jemalloc_pprof; auth_basic "heap"; auth_basic_user_file users; }
--- user_files
>>> ../conf/users
me:{PLAIN}secret
--- request
GET /a/heap
--- more_headers
Authorization: Basic bWU6c2VjcmV0
--- response_body_filters eval
\&main::contract
--- response_body_like: \Atypes: inuse_objects/count inuse_space/bytes\n
