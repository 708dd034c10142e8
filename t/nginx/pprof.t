#!/usr/bin/perl

# Real clients by URL: go tool pprof, jeprof, curl, and the commands that the
# console shows.  They find the same totals as our text.
#
# Not here: clients of our own, which do what no real one does (fleet/client.t).

use JppTest;
use JppFleet qw( connections );

my $dir = tempdir(CLEANUP => 1);

# what the clients keep goes there, and pprof finds no binaries

$ENV{HOME} = $ENV{PPROF_TMPDIR} = $ENV{JEPROF_TMPDIR} = $dir;
$ENV{PPROF_BINARY_PATH} = $dir;

# three stacks of a known size, and what each worker has in addition
my $bytes = 16777216 + 67108864 + 150994944;
my $more = 2 * 16777216;

my $n_workers = 4;


sub url($nginx) {
    return "http://127.0.0.1:$nginx->{port}/debug/pprof";
}


# Workers that share what they inherited, which counts once, and have $more
# each.

sub fleet_of_four {
    my $nginx = JppNginx->start(workers => $n_workers, fake => '');
    my $dump = $nginx->get('/debug/pprof/heap?format=jemalloc&worker=self')
               ->{body};

    $dump =~ s/1: 16777216/3: 50331648/g;
    $nginx->fake('dump ' . spew("$nginx->{prefix}/more", $dump)
                 . "\n");

    return $nginx;
}


# The bytes that PATH should report.

sub bytes_at($path) {
    return $bytes + ($path =~ /worker/ ? 1 : $n_workers) * $more;
}


# What COMMAND prints, which has to succeed.

sub output($command) {
    my $output = `{ $command; } 2>$dir/errors </dev/null`;

    is($?, 0, $command =~ s{http://\S*?/debug}{}gr)
        or diag(slurp("$dir/errors"));

    return $output;
}


# The requests that CODE makes, as "METHOD path", sorted: each worker writes to
# the log on its own, after the answer and before it closes the connection.

sub asked($nginx, $code) {
    my $is_quiet = sub { connections($nginx) == 0 };

    wait_until($is_quiet);

    my $before = length $nginx->access_log;

    $code->();
    ok(wait_until($is_quiet), 'all connections are closed');

    my $log = substr $nginx->access_log, $before;

    return sort $log =~ /"(\w+ \S+) HTTP/g;
}


sub total($top) {
    return $top =~ /^Showing nodes .* of (\d+)B? total$/m ? $1 : undef;
}


test 'pprof, to the byte', 'go', 'fake' => sub {
    my $nginx = fleet_of_four();
    my $url = url($nginx);

    for my $path (qw( /heap /allocs /heap?format=text /heap?debug=1 /heap?gc=1
                      /worker/self/heap /worker/3/heap /pprof/heap ))
    {
        my $top;
        my @asked = asked($nginx, sub {
            $top = output("go tool pprof -top -unit=B '$url$path'");
        });

        is(total($top), bytes_at($path), "$path: the total");

        next if $path =~ /text|debug|pprof\//;

        like($top, qr/ $_$/m, "$path: $_ is named")
            for qw( jpp_fake_alpha jpp_fake_beta jpp_fake_gamma );
        is_deeply(\@asked, [ "GET /debug/pprof$path" ],
                  "$path: and pprof asks for nothing else");
    }

    my $raw = output("go tool pprof -raw '$url/heap'");

    like($raw, qr/^\s+3\s+150994944: /m, 'objects and bytes of a stack');
    like($raw, qr/^PeriodType: space bytes$/m, 'the type of the period');
};


# pprof asks the server for names where it finds no file, or may not use it.

test 'pprof without names', 'go', 'fake' => sub {
    my $nginx = fleet_of_four();
    my $url = url($nginx);

    for my $tree ('', '/worker/self', '/worker/3') {
        my $path = "$tree/heap?symbolize=0";
        my $top;
        my @asked = asked($nginx, sub {
            $top = output('go tool pprof -symbolize=remote -top -unit=B '
                          . "'$url$path'");
        });

        is(total($top), bytes_at($path), "$path: the total");
        like($top, qr/ $_$/m, "$path: $_ is named")
            for qw( jpp_fake_alpha jpp_fake_beta jpp_fake_gamma
                    jpp_fake_root );

        my $get = "GET /debug/pprof$path";
        my @others = grep { $_ ne $get } @asked;

        is(@asked - @others, 1, 'one request for a profile');
        cmp_ok(scalar @others, '>', 0, 'and others');
        is(scalar(grep { $_ ne "POST /debug/pprof$tree/symbol" } @others), 0,
           'which ask the same worker for names');
    }

    # as many addresses as a large heap has

    $nginx->fake("large 1\n");

    my $raw = output('go tool pprof -symbolize=remote -raw '
                     . "'$url/heap?symbolize=0'");
    my ($locations) = $raw =~ /^Locations\n(.*?)^Mappings/ms;
    my @lines = split /\n/, $locations // '';
    my @named = grep { / M=\d+ \S+ \S*:0/ } @lines;

    cmp_ok(scalar @lines, '>', 2000, 'many addresses');
    is(scalar @named, scalar @lines, 'all of them have a name');
};


# The workers as root frames, and a sum for each.

test 'pprof and the workers', 'go', 'fake' => sub {
    my $nginx = fleet_of_four();
    my $heap = url($nginx) . '/heap';
    my $top = output("go tool pprof -top -cum -unit=B -tagroot=worker $heap");
    my $tags = output("go tool pprof -tags -unit=B $heap");

    is(total($top), bytes_at('/heap'), 'the total');

    for my $i (0 .. $n_workers - 1) {
        like($top, qr/^ *0 +0% .* ${more}B +\S+ +$i$/m,
             "-tagroot: worker $i");
        like($tags, qr/ ${more}\.0B \(.*\): $i$/m, "-tags: worker $i");

        my $one = output("go tool pprof -top -unit=B '-tagfocus=worker=^$i\$' "
                         . $heap);

        like($one, qr/^Showing nodes accounting for ${more}B\b/m,
             "-tagfocus: worker $i");
    }
};


test 'pprof and differences', 'go', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '');
    my $heap = url($nginx) . '/heap';

    $nginx->fake('');
    output("curl -sS -o $dir/base.pb.gz $heap");

    my $dump = $nginx->get('/debug/pprof/heap?format=jemalloc')->{body};

    $dump =~ s/1: 16777216/3: 50331648/g;
    spew("$nginx->{prefix}/more", $dump);

    for my $base ($heap, "$dir/base.pb.gz") {
        for my $option ('-base', '-diff_base') {
            my $top = output("go tool pprof -top -unit=B $option $base $heap");

            like($top, qr/^Showing nodes accounting for 0\b/m,
                 "$option: nothing has changed");
        }
    }

    $nginx->fake("dump $nginx->{prefix}/more\n");

    my $top = output("go tool pprof -top -unit=B -base $dir/base.pb.gz $heap");

    is(total($top), 33554432, 'what was added');
    like($top, qr/^ *33554432B .* jpp_fake_alpha$/m, 'and where');

    # the server's difference

    $top = output("go tool pprof -top -unit=B '$heap?seconds=1'");
    like($top, qr/^Duration: (?:[1-9][\d.]*s|99\d(?:\.\d+)?ms)/m,
         'the duration is a second or more');
    like($top, qr/^Showing nodes accounting for 0\b/m, 'no difference');
};


# pprof shows the sentence of an error.

test 'pprof and errors', 'go', 'fake' => sub {
    my $nginx = JppNginx->start(fake => "prof.active 0\n");
    my $heap = url($nginx) . '/heap';

    my @cases = (
        [ '', 'prof.active 0', qr/403 Forbidden.*profiling is not active: /s ],
        [ '?seconds=0', '', qr/400 Bad Request.*seconds must be a whole num/s ],
        [ '', 'cut 700', qr/503 Service.*jemalloc's dump came back incompl/s ],
        [ 's', '', qr/404 Not Found.*no such resource here: /s ],
    );

    for my $case (@cases) {
        my ($end, $keys, $words) = @$case;

        $nginx->fake("$keys\n");

        my $output = `go tool pprof -top '$heap$end' 2>&1 </dev/null`;

        isnt($?, 0, "$end $keys: an error");
        like($output, $words, "$end $keys: its sentence");
    }
};


test 'jeprof, to the byte', 'jeprof', 'fake' => sub {
    my $nginx = fleet_of_four();
    my $url = url($nginx);

    for my $path ('/pprof/heap', '/worker/self/pprof/heap',
                  '/worker/0/pprof/heap', '/worker/3/pprof/heap')
    {
        my $text;
        my @asked = asked($nginx, sub {
            $text = output("jeprof --text --show_bytes $url$path");
        });

        is($text =~ /^Total: (\d+) B$/m ? $1 : undef, bytes_at($path),
           "$path: the total");
        like($text, qr/^ *67108864 .* jpp_fake_beta$/m, "$path: with names");

        my $tree = "/debug/pprof$path" =~ s/heap$//r;

        is_deeply(\@asked,
                  [ "GET ${tree}cmdline", "GET ${tree}heap",
                    "GET ${tree}symbol", "HEAD ${tree}symbol",
                    "POST ${tree}symbol" ], "$path: its requests");
    }

    my $objects = output("jeprof --text --inuse_objects $url/pprof/heap");

    like($objects, qr/^Total: @{[ 6 + 2 * $n_workers ]} objects$/m, 'objects');
};


# A heap that is large beside what requests take: a map has strings and hashes
# of some MB, which do not change.  The estimates of two answers differ by what
# is sampled of the requests themselves, some 16 KiB each of connection and
# pool; 64 KiB is four of them.

test 'a real heap', 'go', 'jeprof', 'jemalloc' => sub {
    my $entries = join '', map { "    k$_ v$_;\n" } 1 .. 20000;
    my $nginx = JppNginx->start(
        http => "map_hash_max_size 65536;\nmap \$arg_k \$v {\n$entries}\n"
                . 'log_format v "$v";');
    my $url = url($nginx);

    # the first request of each kind allocates once

    $nginx->get("/debug/pprof/heap?format=$_") for qw( text pprof folded );

    my $folded = $nginx->get('/debug/pprof/heap?format=folded')->{body};
    my $total = sum($folded =~ / (\d+)$/mg);

    cmp_ok($total, '>', 2e6, 'a heap of some MB');

    my $stacks = () = $folded =~ /\n/g;
    my %totals = (
        'pprof' => total(output("go tool pprof -top -unit=B $url/heap")),
        'pprof of the text' =>
            total(output("go tool pprof -top -unit=B '$url/heap?debug=1'")),
        'jeprof' => output("jeprof --text --show_bytes $url/pprof/heap")
            =~ /^Total: (\d+) B$/m ? $1 : undef,
        'jeprof on the dump' =>
            $nginx->get('/debug/pprof/heap?format=jemalloc')->{status} == 200
            && output("curl -sS -o $dir/dump '$url/heap?format=jemalloc'"
                      . " && jeprof --text --show_bytes /bin/true $dir/dump")
               =~ /^Total: (\d+) B$/m ? $1 : undef,
    );

    # each client rounds every stack

    for my $who (sort keys %totals) {
        my $off = defined $totals{$who} ? abs($totals{$who} - $total) : 1e9;

        cmp_ok($off, '<=', 65536 + $stacks,
               sprintf '%s: %s, ours %s', $who, $totals{$who} // 'none',
               $total);
    }
};


test 'the commands of the console', 'go', 'fake' => sub {
    my $nginx = JppNginx->start(fake => '',
        server => 'location /debug/pprof/ { jemalloc_pprof control=on; }');
    my $page = $nginx->get('/debug/pprof/')->{body};

    my %char = ( '&quot;' => '"', '&amp;' => '&', '&#39;' => "'",
                 '&lt;' => '<', '&gt;' => '>' );
    my @commands = map { s/(&[#\w]+;)/$char{$1}/gr }
                   $page =~ m{<pre>([^<]*\$\{URL\}[^<]*)</pre>}g;

    cmp_ok(scalar @commands, '>=', 9, 'commands');

    $ENV{URL} = url($nginx) . '/';

    for my $command (@commands) {
        my $out = output("cd $dir && " . $command =~ s/seconds=30/seconds=1/r);
        my ($file) = $command =~ /-o (\S+)/;

        # the answer has a name of its own

        ($file) = map { basename($_) } glob "$dir/nginx-bundle*"
            if $command =~ /-OJ .*bundle/;

        $out = slurp("$dir/$file") if defined $file;

        cmp_ok(length $out, '>', 0, 'it prints an answer')
            if $command =~ /^curl/;
        unlike($out, qr/^<html>|not found/, 'which is no error');
    }

    ok(wait_until(sub { connections($nginx) == 0 }),
       'all connections are closed');
    is(scalar(grep { !/ 200 / } $nginx->access_log =~ /".*?" \d+ /g), 0,
       'no command was refused');
};
