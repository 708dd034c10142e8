#!/usr/bin/perl

# Names in a stripped nginx: a function that nginx's own tables point to is
# named after its entry, and any other shows its neighbours.
#
# Not here: how hints become names (t/unit/jpp_hints_test.c).

use JppTest;

my $dir = tempdir(CLEANUP => 1);

# the forms that a name from a table has

my $name = qr/^(?: ngx_\w+ [ ] (?: init | exit | create | merge | pre | post )
                  | \w+ [ ] (?: process_events | init | add | del | done )
                  | directive [ ] | variable [ ] \$ | phase [ ]
                  | content [ ] handler | upstream [ ] init | first [ ]
                  | listening [ ] | worker [ ] process [ ]
                  | start [ ] worker [ ] processes )/x;

plan skip_all => 'there is no jemalloc' unless has_jemalloc();

chmod 0755, $dir;
spew("$dir/page", "text <!--# echo var='request_id' --> text\n" x 2000);

my $nginx = JppNginx->start(
    workers => 2, conf => 'prof:true,prof_active:true,lg_prof_sample:10',
    http => join('', map { "map \$uri \$m$_ { default $_; }\n" } 1 .. 50),
    server => <<"END");
location /debug/pprof/ { jemalloc_pprof; }
location /page/ { alias $dir/; ssi on; ssi_types *; gzip on; gzip_types *; }
location /proxy/ {
    proxy_pass http://127.0.0.1:\$server_port/page/;
    proxy_buffers 64 4k;
}
END

# clients that do not read keep their answers in memory

my @clients = map { $nginx->client(window => 4096) } 1 .. 40;

$clients[$_]->send_request($_ % 2 ? '/proxy/page' : '/page/page')
    for 0 .. $#clients;

SKIP: {
    skip 'this nginx has all its symbols', 4
        unless grep { is_nameless($_) || $_->{file} eq 'nginx table' }
                    functions();

    subtest 'what the tables name' => \&tables;
    subtest 'top and folded' => \&formats;
    subtest 'symbol' => \&symbol;
    subtest 'workers of another generation' => \&reloaded;
}

$nginx->stop;


# The functions of nginx in a profile: name, symbol, file, and the number of
# their frames in stacks.

sub functions {
    my $answer = $nginx->get('/debug/pprof/heap');

    is($answer->{status}, 200, 'a profile');

    my $text = checked($answer->{body}, '--heap', '--print');

    like($text, qr/^types: /, 'the contract');

    my (%function, %function_of, %frames);

    while ($text =~ /^ +(\d+): "(.*)" M=1(?: (\S+))?(?: (.*))?$/mg) {
        $function{$1} = { name => $2, symbol => $3 // '', file => $4 // '' };
    }

    $function_of{$1} = $2 while $text =~ /^ +(\d+): 0x\S+ M=1 F=(\d+) /mg;

    while ($text =~ /^ +-?\d+ -?\d+: ([\d ]+)/mg) {
        for my $location (split ' ', $1) {
            my $id = $function_of{$location} // next;
            $function{$id}{frames}++ if $function{$id};
        }
    }

    return grep { $_->{frames} } values %function;
}


sub is_nameless { $_[0]{name} =~ /\+0x[0-9a-f]+$/ }


sub tables {
    my @all = functions();
    my @named = grep { $_->{file} eq 'nginx table' } @all;
    my @nameless = grep { is_nameless($_) } @all;

    my $frames = 0;
    my $missed = 0;

    $frames += $_->{frames} for @named;
    $missed += $_->{frames} for @nameless;

    my $share = 100 * $frames / ($frames + $missed);

    cmp_ok($share, '>=', 50, sprintf '%d of %d frames without a symbol (%d %%)'
           . ' have a name from a table', $frames, $frames + $missed, $share);
    cmp_ok(scalar @named, '>=', 8, scalar(@named) . ' functions have such a '
           . 'name, and ' . scalar(@nameless) . ' have none');

    is_deeply([ grep { $_->{name} !~ $name } @named ], [],
              'the names have a known form');
    is_deeply([ grep { $_->{symbol} !~ /^nginx\S*\+0x[0-9a-f]+$/ } @named ], [],
              'each keeps its address');
    is_deeply([ grep { $_->{file} !~ /^(?:passes\ memory\ on,\ )?
                                      (?:between\ .*\ and|before|after)\ \S/x }
                @nameless ], [], 'a nameless function has neighbours');
    is_deeply([ grep { $_->{file} !~ /^(?:passes memory on)?$/
                       && !is_nameless($_) && $_->{file} ne 'nginx table' }
                @all ], [], 'a function with a symbol has no mark of a name');

    my @passing = grep { $_->{file} =~ /^passes memory on/ } @all;

    ok((grep { $_->{name} eq 'ngx_alloc' } @passing), 'ngx_alloc passes on');
    is_deeply([ grep { !/al(?:loc|ign)|dup|push|pool|buf|array/ }
                map { $_->{name} } grep { !is_nameless($_) } @passing ], [],
              'and so do others of the kind');

    my %is = map { $_->{name} => 1 } @named;

    ok($is{'directive http'}, 'the configuration has a name');
    ok($is{'epoll process_events'} || $is{'worker process cycle'},
       'the event loop has a name');
}


sub formats {
    my $top = $nginx->get('/debug/pprof/heap?format=top&cols=1000&n=1000')
              ->{body};
    my $folded = $nginx->get('/debug/pprof/heap?format=folded')->{body};

    like($top, qr/  directive http$/m, 'a name in top');
    like($folded, qr/;directive http;/, 'and in folded');
    unlike("$top$folded", qr/nginx table|between ngx_|passes memory/,
           'without marks');

    # which files lack most depends on the symbols that are installed

    my ($files) = $top =~ /^\d+ of \d+ addresses have no name \((.+?)\): (?#
                           )install their debug symbols, then reload\. .*(?#
                           )\$DEBUGINFOD_URLS\/buildid\/ID\/debuginfo$/m;

    ok($files, 'top says how many addresses have no name');

    for my $file (split /; /, $files) {
        my ($name, $id) = $file =~ /^(\S+) \d+(?:, build id ([0-9a-f]+))?$/;
        my @paths = slurp('/proc/' . $nginx->worker . '/maps')
                    =~ m{ r-xp .* (/\S*/\Q$name\E)$}mg;

        is($id, build_id($paths[0]), "$file: the build id is $name\'s");
    }

    # the worker that made the profile reports it

    my $client = $nginx->client;

    my ($said) = $client->get('/debug/pprof/heap?format=top&cols=1000')->{body}
                 =~ /^(\d+ of \d+ addresses have no name .*)/m;
    my ($unnamed) = $client->get('/debug/pprof/status')->{body}
                    =~ /"unnamed": "(.*)",/;
    my ($shown) = $client->get('/debug/pprof/')->{body}
                  =~ m{<p>In the last profile, (.*)</p>};

    is($unnamed, $said, 'status says it, too');
    is($shown, $said, 'and the console');
}


# What readelf says it is, or undef.

sub build_id($path) {
    return `readelf -n '$path' 2>&1` =~ /Build ID: ([0-9a-f]+)/ ? $1 : undef;
}


sub symbol {
    my $text = slurp('/proc/' . $nginx->worker . '/maps');
    my ($start, $offset)
        = $text =~ /^([0-9a-f]+)-\S+ r-xp ([0-9a-f]+) .*nginx[^\/]*$/m;

    my ($http) = grep { $_->{name} eq 'directive http' } functions();
    my ($vaddr) = $http->{symbol} =~ /\+0x([0-9a-f]+)/;

    # the addresses in the file are offsets from where it is loaded

    no warnings 'portable';
    my $address = hex($start) + hex($vaddr) - hex($offset);
    my $body = $nginx->get('/debug/pprof/symbol',
                           body => sprintf '0x%x', $address + 1)->{body};

    like($body, qr/^0x[0-9a-f]+ directive http$/m, 'symbol has the name')
        or diag($body);
}


sub reloaded {
    $nginx->reload;

    my %is = map { $_->{name} => 1 } functions();

    ok($is{'directive http'}, 'new workers have names, too');
}
