#!/usr/bin/perl

# Every text for a terminal fits into its columns, whatever the names of the
# configuration, and says what a wider one shows.
#
# Not here: which columns give way (t/unit/jpp_table_test.c), the tool and its
# terminal (tool/tool.t).

use JppTest;

my $tree = '/debug/pprof';

# wide, from right to left, that combine; those that a terminal obeys; any
my @names = map { ($_ x (3900 / length)) . "/end" }
            "\xe6\xbc\xa2", "\xf0\x9f\x98\x80", "\xd7\xa9\xe2\x80\xae",
            "e\xcc\x81", "\x1b[2J", "\xff", 'plain';

# its text, and whether it has a table
my %texts = (
    '/' => 1,
    '/heap?format=top' => 1,
    '/heap?format=top&by=location' => 1,
    '/allocs?format=top&sort=cum&n=1000&callers=0' => 1,
    '/pools?format=top' => 1,
    '/pools?format=top&type=unused_space&n=1000' => 1,
    '/requests' => 1,
    '/requests?clients=on' => 1,
    '/requests?by=connection&clients=on' => 1,
    '/locations' => 1,
    '/locations?by=server&seconds=1' => 1,
    '/memory?format=top' => 1,
    '/profile?format=top&seconds=1' => 0,
    '/stalls?format=top' => 0
);


sub start($more) {
    return JppNginx->start(
        workers => 2,
        http => "large_client_header_buffers 4 32k;\n"
                . 'jemalloc_pprof_owners on; jemalloc_pprof_stall 50ms;',
        server => "server_name \"\xd7\xa9\xe6\xbc\xa2\x1b[1m"
                  . ('s' x 300) . "\";\n$more\n"
                  . "location $tree/ { jemalloc_pprof clients=on; }");
}


# How many columns LINE takes: Perl knows which characters are wide.

sub columns($line) {
    utf8::decode($line) or return 1e9;

    return length($line) + (() = $line =~ /[\p{Ea=W}\p{Ea=F}]/g);
}


# The headings of the first table of TEXT, and what the line below it names.

sub headings($text) {
    my ($more) = $text =~ /^cols=\d+ shows more: (.*?)\n(?=\n|\d+ more |fun)/ms;
    my @more = grep { $_ ne 'longer names' }
               split /, /, ($more // '') =~ s/\n/ /gr;
    my ($line) = $text =~ /^ *((?:bytes|flat|cum|\w+_space)  .*)/m;

    return sort { $a cmp $b } @more, split / {2,}/, $line // '';
}


test 'all texts at 20, 80, 120 and 1000 columns', 'jemalloc' => sub {
    my $i = 0;
    my $nginx = start(join '', map {
        $i++;
        "location \"/$i/$_\" {\nlimit_rate 1;\nreturn 200 'a slow answer';\n}\n"
    } @names);

    my @clients = map { $nginx->client } @names;

    $i = 0;

    for my $name (@names) {
        $clients[$i++]->send_request("/$i/" . escaped($name));
    }

    ok($_->read_some(20, 1), 'an answer') for @clients;

    for my $path (sort keys %texts) {
        my %headings;

        for my $cols (20, 80, 120, 1000) {
            my $and = $path =~ /\?/ ? '&' : '?';
            my $answer = $nginx->get("$tree$path${and}cols=$cols",
                                     headers => "Accept: */*\r\n");
            my @wide = grep { columns($_) > $cols } split /\n/, $answer->{body};

            is($answer->{status}, 200, "$path at $cols");
            is_deeply([ map { columns($_) . ": $_" } @wide ], [],
                      'no line is wider');
            unlike($answer->{body}, qr/[\x00-\x08\x0b-\x1f\x7f]/,
                   'nor obeyed');

            $headings{$cols} = join ', ', headings($answer->{body});
        }

        next if !$texts{$path} || $path eq '/' || $path =~ /locations|memory/;

        is($headings{$_}, $headings{1000}, "$path at $_ names all columns")
            for 80, 120;
    }

    my $pools = $nginx->get("$tree/pools?format=top")->{body};

    is(max(map { columns($_) } split /\n/, $pools), 80, '80 unless told');
};


test 'thirty requests are one row' => sub {
    my $nginx = start("location /slow { limit_rate 1;\n"
                      . "return 200 'a slow answer'; }");
    my @clients = $nginx->clients(30, '/slow');
    ok($_->read_some(20, 1), 'an answer') || last for @clients;

    my $text;

    ok(wait_until(sub {
        $text = $nginx->get("$tree/requests?top=100")->{body};
        $text =~ /^30 x [\d.]+ [KM]?i?B +.* \/slow /m;
    }), 'thirty in a row') or diag($text);
    like($text, qr/^"30 x": rows that differ only where "\.\.\." stands; /m,
         'and how to see each');
    is(() = $text =~ /\/slow/g, 1, 'no other');
};


