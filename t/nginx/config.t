# The directives: their contexts and values, how they are merged, which location
# serves what, and the error for everything else.

use JppTest;

my $parameter = 'a resource\'s name may come first, then "worker=all" or '
                . '"worker=self", "symbolize=on" or "symbolize=off", '
                . '"control=on" or "control=off", "clients=on" or '
                . '"clients=off"';

sub untold {
    return "\"jemalloc_pprof\" in location \"$_[0]\" names no resource: end "
           . "the location's name in a slash to serve all resources, or add "
           . "one of $resources, for example \"jemalloc_pprof heap;\"";
}


# [ title, text in the server, the error, text outside of the server ]

my @refused = (
    [ 'an unknown resource', 'location /a/ { jemalloc_pprof profiles; }',
      "unknown resource \"profiles\": use one of $resources" ],

    [ 'a resource that is no prefix of a name',
      'location /a/ { jemalloc_pprof hea; }',
      "unknown resource \"hea\": use one of $resources" ],

    [ 'a resource in capitals', 'location /a/ { jemalloc_pprof Heap; }',
      "unknown resource \"Heap\": use one of $resources" ],

    [ 'an empty name', 'location /a/ { jemalloc_pprof ""; }',
      "invalid parameter \"\": $parameter" ],

    [ 'a name that does not come first',
      'location /a/ { jemalloc_pprof symbolize=on heap; }',
      "invalid parameter \"heap\": $parameter" ],

    [ 'two names', 'location /a/ { jemalloc_pprof heap allocs; }',
      "invalid parameter \"allocs\": $parameter" ],

    [ 'a worker by index', 'location /a/ { jemalloc_pprof worker=0; }',
      "invalid parameter \"worker=0\": $parameter" ],

    [ 'no worker', 'location /a/ { jemalloc_pprof worker=; }',
      "invalid parameter \"worker=\": $parameter" ],

    [ 'exiting workers', 'location /a/ { jemalloc_pprof worker=exiting; }',
      "invalid parameter \"worker=exiting\": $parameter" ],

    [ 'control=1', 'location /a/ { jemalloc_pprof control=1; }',
      "invalid parameter \"control=1\": $parameter" ],

    [ 'control without a value',
      'location /a/ { jemalloc_pprof heap control=; }',
      "invalid parameter \"control=\": $parameter" ],

    [ 'symbolize=1', 'location /a/ { jemalloc_pprof symbolize=1; }',
      "invalid parameter \"symbolize=1\": $parameter" ],

    [ 'symbolize=ON', 'location /a/ { jemalloc_pprof heap symbolize=ON; }',
      "invalid parameter \"symbolize=ON\": $parameter" ],

    [ 'an unknown parameter', 'location /a/ { jemalloc_pprof a=b; }',
      "invalid parameter \"a=b\": $parameter" ],

    [ 'a location without a slash at its end',
      'location /debug/pprof { jemalloc_pprof; }', untold('/debug/pprof') ],

    [ 'a location whose last segment only begins like a resource',
      'location /debug/heaps { jemalloc_pprof; }', untold('/debug/heaps') ],

    [ 'an exact location of another name',
      'location = /debug/pprof { jemalloc_pprof; }', untold('/debug/pprof') ],

    [ 'a regex that ends in a slash',
      'location ~ ^/debug/ { jemalloc_pprof; }', untold('^/debug/') ],

    [ 'a regex that ends in a resource',
      'location ~* /heap { jemalloc_pprof; }', untold('/heap') ],

    [ 'a named location', 'location @heap { jemalloc_pprof; }',
      untold('@heap') ],

    [ 'an empty location', 'location "" { jemalloc_pprof; }', untold('') ],

    [ 'jemalloc_pprof twice',
      'location /a/ { jemalloc_pprof; jemalloc_pprof heap; }',
      '"jemalloc_pprof" directive is duplicate' ],

    [ 'jemalloc_pprof in a server', 'jemalloc_pprof;',
      '"jemalloc_pprof" directive is not allowed here' ],

    [ 'jemalloc_pprof in http', '',
      '"jemalloc_pprof" directive is not allowed here', 'jemalloc_pprof;' ],

    [ 'jemalloc_pprof in if',
      'location /a/ { if ($arg_a) { jemalloc_pprof; } }',
      '"jemalloc_pprof" directive is not allowed here' ],

    [ 'jemalloc_pprof in limit_except',
      'location /a/ { limit_except GET { jemalloc_pprof; } }',
      '"jemalloc_pprof" directive is not allowed here' ],

    [ 'jemalloc_pprof_timeout in if',
      'location /a/ { if ($arg_a) { jemalloc_pprof_timeout 1s; } }',
      '"jemalloc_pprof_timeout" directive is not allowed here' ],

    [ 'a timeout of 0', 'jemalloc_pprof_timeout 0;',
      '"jemalloc_pprof_timeout" directive must be above 0' ],

    [ 'no seconds', 'jemalloc_pprof_max_seconds 0;',
      '"jemalloc_pprof_max_seconds" must be from 1s to 86400s' ],

    [ 'more than a day of seconds', 'jemalloc_pprof_max_seconds 86401s;',
      '"jemalloc_pprof_max_seconds" must be from 1s to 86400s' ],

    [ 'a size of 0', 'jemalloc_pprof_max_size 0;',
      '"jemalloc_pprof_max_size" must be from 1 to 17179869184 bytes' ],

    [ 'a size above 16384m', 'jemalloc_pprof_max_size 16385m;',
      '"jemalloc_pprof_max_size" must be from 1 to 17179869184 bytes' ],

    [ 'a level of 0', 'jemalloc_pprof_gzip_level 0;',
      'value must be between 1 and 9' ],

    [ 'a level of 10', 'jemalloc_pprof_gzip_level 10;',
      'value must be between 1 and 9' ],

    [ 'active that is neither', '', 'invalid value "yes" in '
      . '"jemalloc_pprof_active" directive, it must be "on" or "off"',
      'jemalloc_pprof_active yes;' ],

    map({ [ "a rate of $_", '', '"jemalloc_pprof_sample" directive must be '
            . 'a power of two from 1k to 16m', "jemalloc_pprof_sample $_;" ] }
        qw( 0 1 512 1023 1025 3k 10k 12m 32m 1g -1k often 16kk "" )),

    [ 'a path for dumps without a name', '',
      '"jemalloc_pprof_temp_path" directive needs the name of a directory',
      'jemalloc_pprof_temp_path "";' ],

    map({ [ "snapshots: $_->[0]", '', $_->[1],
            "jemalloc_pprof_snapshots $_->[0];" ] }
        [ 'zone=1k', '"zone=" of "jemalloc_pprof_snapshots" must be from 64k '
                     . 'to 256m' ],
        [ 'limit=85', '"limit=" of "jemalloc_pprof_snapshots" must be from '
                      . '50% to 99%' ],
        [ 'growth=4%', '"growth=" of "jemalloc_pprof_snapshots" must be from '
                       . '5% to 1000%' ],
        [ 'keep=65', '"keep=" of "jemalloc_pprof_snapshots" must be from 2 to '
                     . '64' ],
        [ 'keep=4 size=1k', '"size=" of "jemalloc_pprof_snapshots" must be '
                            . '1m or more' ],
        [ 'path=', 'invalid parameter "path=" of "jemalloc_pprof_snapshots": '
                   . 'it takes off, or zone=, path=, limit=, growth=, keep= '
                   . 'and size=' ],
        [ 'zone=1m off', 'invalid parameter "off" of '
                         . '"jemalloc_pprof_snapshots": it takes off, or '
                         . 'zone=, path=, limit=, growth=, keep= and size=' ]),

    map({ [ "$_->[0] twice", '', "\"jemalloc_pprof_$_->[0]\" directive is "
            . 'duplicate', "jemalloc_pprof_$_->[0] $_->[1];" x 2 ] }
        [ timeout => '1s' ], [ max_seconds => '1s' ], [ max_size => '1m' ],
        [ gzip_level => 1 ], [ active => 'on' ], [ sample => '16k' ],
        [ temp_path => '/tmp' ], [ snapshots => 'off' ]),

    map({ [ "$_->[0] of no such value", '', "\"jemalloc_pprof_$_->[0]\" "
            . 'directive invalid ', "jemalloc_pprof_$_->[0] $_->[1];" ] }
        [ timeout => 'soon' ], [ max_seconds => '-1' ],
        [ max_size => 'large' ], [ gzip_level => 'best' ]),

    map({ [ "$_ in a server", "jemalloc_pprof_$_ x;",
            "\"jemalloc_pprof_$_\" directive is not allowed here" ] }
        qw( active sample snapshots temp_path )),

    map({ [ "two values of $_", '', 'invalid number of arguments in '
            . "\"jemalloc_pprof_$_\" directive", "jemalloc_pprof_$_ 1s 2s;" ] }
        qw( timeout sample temp_path )),
);

for my $row (@refused) {
    my ($what, $server, $sentence, $http) = @$row;

    test "refused: $what" => sub {
        my $nginx = JppNginx->run([ '-t' ], server => $server, http => $http);

        isnt($nginx->{status}, 0, 'nginx does not start');
        like($nginx->error_log, qr/\[emerg\] .*\Q$sentence\E/, 'why');
    };
}


# [ location, path, status, pattern of the body ]

my $html = '\A<!DOCTYPE html>';
my $json = '\A\{.*"asked": 1,';
my $none = "\\Ano such resource here: use one of $resources\\n\\z";
my $internal = '\Aprofiles are not served to internal redirects: '
               . 'request their own URL\n\z';
my $post = '\Athe method is not allowed here: use POST\n\z';
my $stock = '404 Not Found';

my @served = (
    [ '/a/ { jemalloc_pprof; }', '/a/', 200, $html ],
    [ '/a/ { jemalloc_pprof; }', '/a/status', 200, $json ],
    [ '/a/ { jemalloc_pprof; }', '/a/Status', 404, $none ],
    [ '/a/ { jemalloc_pprof; }', '/a/statu', 404, $none ],
    [ '/a/ { jemalloc_pprof; }', '/a/status/', 404, $none ],
    [ '/a/ { jemalloc_pprof; }', '/a/pprof/status', 200, $json ],
    [ '/a/ { jemalloc_pprof; }', '/a/pprof/', 404, $none ],
    [ '/a/ { jemalloc_pprof; }', '/a/pprof', 404, $none ],
    [ '/a/ { jemalloc_pprof; }', '/a/pprof/pprof/status', 404, $none ],
    [ '/a/ { jemalloc_pprof; }', '/b/status', 404, $stock ],
    [ '/ { jemalloc_pprof; }', '/', 200, $html ],
    [ '/ { jemalloc_pprof; }', '/status', 200, $json ],
    [ '^~ /a/ { jemalloc_pprof worker=self; }', '/a/status', 200, $json ],
    [ '= /a/ { jemalloc_pprof; }', '/a/', 200, $html ],
    [ '= /a/ { jemalloc_pprof; }', '/a/status', 404, $stock ],

    [ '= /a/status { jemalloc_pprof; }', '/a/status', 200, $json ],
    [ '= /a/status { jemalloc_pprof; }', '/a/status/', 404, $stock ],
    [ '/a/status { jemalloc_pprof; }', '/a/status', 200, $json ],
    [ '/a/status { jemalloc_pprof; }', '/a/status/', 404, $none ],
    [ '/a/status { jemalloc_pprof; }', '/a/statusX', 404, $none ],
    [ '/a/status { jemalloc_pprof; }', '/a/status/heap', 404, $none ],
    [ '/a/status { jemalloc_pprof; }', '/a/worker/self/status', 404, $stock ],
    [ 'status { jemalloc_pprof; }', '/status', 404, $stock ],

    [ '/a/ { jemalloc_pprof status; }', '/a/', 200, $json ],
    [ '/a/ { jemalloc_pprof status; }', '/a/heap', 200, $json ],
    [ '/a { jemalloc_pprof status; }', '/anything', 200, $json ],
    [ '/a { jemalloc_pprof status symbolize=off worker=self; }', '/a', 200,
      $json ],
    [ '/a { jemalloc_pprof status worker=all control=off; }', '/a', 200,
      $json ],
    [ '/a/ { jemalloc_pprof worker=all symbolize=on control=on; }',
      '/a/status', 200, $json ],
    [ '= /a/control { jemalloc_pprof; }', '/a/control', 405, $post ],
    [ '/a { jemalloc_pprof control control=on; }', '/a/any', 405, $post ],
    [ '~ \.pprof$ { jemalloc_pprof status; }', '/x/y.pprof', 200, $json ],
    [ '~* ^/A/ { jemalloc_pprof status; }', '/a/b', 200, $json ],

    [ '/a/ { location /a/b/ { jemalloc_pprof; } }', '/a/b/status', 200,
      $json ],
    [ '/a/ { location /a/b/ { jemalloc_pprof; } }', '/a/status', 404, $stock ],
    [ '/a/ { jemalloc_pprof; location /a/b/ { } }', '/a/status', 200, $json ],
    [ '/a/ { jemalloc_pprof; location /a/b/ { } }', '/a/b/status', 404,
      $stock ],
    [ '/a/ { jemalloc_pprof; location ~ heap$ { jemalloc_pprof status; } }',
      '/a/heap', 200, $json ],

    [ '/a/ { jemalloc_pprof; if ($arg_x) { set $y 1; } }', '/a/status?x=1',
      200, $json ],
    [ '/a/ { jemalloc_pprof; if ($arg_x) { set $y 1; } }', '/a/status', 200,
      $json ],
    [ '/a { jemalloc_pprof status; if ($arg_x) { set $y 1; } }', '/ab?x=1',
      200, $json ],
    [ '/a/status { jemalloc_pprof; if ($arg_x) { set $y 1; } }',
      '/a/status?x=1', 200, $json ],
    [ '/a/ { jemalloc_pprof; if ($arg_x) { return 403; } }', '/a/status?x=1',
      403, '403 Forbidden' ],
    [ '/a/ { jemalloc_pprof; if ($arg_x) { proxy_pass http://127.0.0.1:9; } }',
      '/a/status?x=1', 502, '502 Bad Gateway' ],
    [ '/a/ { jemalloc_pprof; limit_except POST { allow all; } }',
      '/a/status', 200, $json ],
    [ '/a/ { jemalloc_pprof; limit_except POST { deny all; } }',
      '/a/status', 403, '403 Forbidden' ],
    [ '/a/ { jemalloc_pprof; limit_except GET { deny all; } }',
      '/a/status', 200, $json ],
    [ '/a/ { jemalloc_pprof; deny all; }', '/a/status', 403,
      '403 Forbidden' ],

    [ '/a/ { jemalloc_pprof; rewrite ^ /nowhere break; }', '/a/status', 404,
      $internal ],
    [ '/a/ { jemalloc_pprof status; rewrite ^ /nowhere break; }', '/a/heap',
      404, $internal ],
    [ '/a/ { jemalloc_pprof; root /nowhere; index heap; }', '/a/', 200,
      $html ],
);

# [ text in http, in the server, in the location, path, status, body ]

my $size = 'jemalloc_pprof_max_size';
my $seconds = 'jemalloc_pprof_max_seconds';

my @merged = (
    [ "$size 1;", '', '', 'heap', 503, 'than the 1 bytes of' ],
    [ "$size 1;", "$size 2;", '', 'heap', 503, 'than the 2 bytes of' ],
    [ "$size 1;", "$size 2;", "$size 3;", 'heap', 503,
      '\Aits dump is larger than the 3 bytes of jemalloc_pprof_max_size'
      . ': raise it, or lg_prof_sample\n\z' ],
    [ "$size 1;", "$size 2;", "$size 16384m;", 'heap?debug=1', 200,
      '\Aheap profile: ' ],

    [ '', '', '', 'heap?seconds=301', 400, 'from 1 to 300\n' ],
    [ "$seconds 3s;", '', '', 'heap?seconds=4', 400, 'from 1 to 3\n' ],
    [ "$seconds 3s;", "$seconds 4s;", '', 'heap?seconds=5', 400,
      'from 1 to 4\n' ],
    [ "$seconds 3s;", "$seconds 4s;", "$seconds 1d;", 'allocs?seconds=86401',
      400, '\Aseconds must be a whole number from 1 to 86400\n\z' ],
    [ '', '', "$seconds 7s; if (\$arg_x) { set \$y 1; }",
      'heap?x=1&seconds=8', 400, 'from 1 to 7\n' ],
);

# A gzip header says whether the level is the fastest or the best.

my $level = 'jemalloc_pprof_gzip_level';

my @levels = (
    [ '', '', '', 4 ],
    [ "$level 9;", '', '', 2 ],
    [ "$level 9;", "$level 5;", '', 0 ],
    [ "$level 9;", "$level 5;", "$level 1;", 4 ],
    [ '', "$level 1;", "$level 9;", 2 ],
);

# Each row has a server of its own, in an nginx for each text in http.

my %rows;

push @{ $rows{''} }, [ '', "location $_->[0]", @$_[1 .. 3] ] for @served;
push @{ $rows{$_->[0]} }, [ @$_[1, 2], '/a/heap', 200, "^1f8b $_->[3]\$" ]
    for @levels;
push @{ $rows{$_->[0]} }, [ @$_[1, 2], "/a/$_->[3]", @$_[4, 5] ] for @merged;

for my $http (sort keys %rows) {
    test "served: $http" => sub { served($http, @{ $rows{$http} }) };
}


sub served($http, @rows) {
    my $port = free_port();
    my $nginx = JppNginx->start(
        port => $port,
        server => 'server_name localhost;
                   location /debug/pprof/ { jemalloc_pprof; }',
        http => "$http\n" . join '', map {
            my ($server, $location) = @{ $rows[$_] };

            $location = "location /a/ { jemalloc_pprof; $location }"
                if $location !~ /^location/;
            "server { listen 127.0.0.1:$port; server_name s$_; $server\n"
            . "$location }\n"
        } 0 .. $#rows);

    for my $i (0 .. $#rows) {
        my ($server, $location, $uri, $status, $like) = @{ $rows[$i] };
        my $answer = $nginx->get("http://s$i$uri");
        my $body = $answer->{body};

        $body = unpack('H4', $body) . ' ' . unpack('x8 C', $body)
            if $like =~ /1f8b/;

        is($answer->{status}, $status, "$server $location $uri");
        like($body, qr/$like/s, 'its body');
    }

    my $slash = $nginx->get('/debug/pprof?debug=1');

    is($slash->{status}, 301, 'the tree without its slash');
    is($slash->{headers}{location},
       "http://localhost:$port/debug/pprof/?debug=1", 'redirects to it');
}
