#!/usr/bin/perl

# README.md and docs/ are complete and true: they name what is in the tables of
# the sources, and nothing else; their links lead somewhere, and nginx takes
# their configurations.  t/meta/shown.t runs the commands whose output they
# show.
#
# nginx is $TEST_NGINX_BINARY with the modules of $TEST_NGINX_LOAD_MODULES, or
# the machine's with the one in build/.

use JppTest;

$ENV{PATH} .= ':/usr/sbin:/sbin';

my $dir = tempdir('jpp-readme-XXXXXX', TMPDIR => 1, CLEANUP => 1);

my $own = '/usr/share/nginx/src/src';

my $nginx = binary();
my @modules = loaded();

# The place of each subject: a document, and the heading of its table or text
# unless the whole document is about it.

my %where = (
    'directives'     => [ 'docs/directives.md' ],
    'resources'      => [ 'docs/http.md', 'Resources' ],
    'parameters'     => [ 'docs/http.md', 'Parameters' ],
    'formats'        => [ 'docs/http.md', 'Formats' ],
    'statuses'       => [ 'docs/http.md', 'Statuses' ],
    'headers'        => [ 'docs/http.md', 'Headers' ],
    'status'         => [ 'docs/http.md', 'status' ],
    'control'        => [ 'docs/http.md', 'control' ],
    'states'         => [ 'docs/troubleshooting.md',
                          'States and their fixes' ],
    'missing'        => [ 'docs/troubleshooting.md',
                          'A worker is missing' ],
    'limits'         => [ 'docs/troubleshooting.md', 'Limits' ],
    'verbs'          => [ 'docs/install.md', './dev' ],
    'examples'       => [ 'docs/install.md', 'Examples' ],
    'summary'        => [ 'docs/directives.md', 'All directives' ],
    'index'          => [ 'README.md', 'Documentation' ],
);

my %text = map { $_ => slurp("$root/$_") }
               qw( README.md CONTRIBUTING.md CHANGELOG.md ),
               map { 'docs/' . basename($_) } glob("$root/docs/*.md");

my $all = join '', map { $text{$_} } sort keys %text;

my $core = join '', map { slurp($_) } glob("$root/src/core/*/*.c");
my $adapter = join '', map { slurp($_) } glob("$root/src/nginx/*/*.c");
my $headers = join '', map { slurp($_) } glob("$root/src/*/*.h"),
                                         glob("$root/src/*/*/*.h");
my $options = slurp("$root/tools/jpp_options.c");
my $manual = slurp("$root/docs/jemalloc-pprof.1");
my $config = slurp("$root/config");
my $dev = slurp("$root/dev");

# tables are found by what is in them, so they may move

my $arguments = table('"debug"', '"symbolize"', '"gc"');

my @directives = some('directives',
                      $adapter
                      =~ /^    \{ ngx_string\("(jemalloc_pprof\w*)"\),/mg);
my @parameters = some('parameters', $arguments =~ /^    \{ \.key = "(\w+)",/mg);
my %allowed = (
    'NGX_HTTP_JPP_READ'               => 'GET, HEAD',
    'NGX_HTTP_JPP_READ|NGX_HTTP_POST' => 'GET, HEAD, POST',
    'NGX_HTTP_POST'                   => 'POST',
);
my %methods = some('resources',
                   (table('ngx_string("cmdline")') . table('ngx_string(""),'))
                   =~ /ngx_string\("(\w*)"\),\s+([A-Z_|]+)/g);
$_ = $allowed{$_} // die "$_ are methods of which list?\n"
    for values %methods;
my %words = some('words', table('[JPP_JEMALLOC_READY] = "')
                          =~ /\[JPP_JEMALLOC_(\w+)\] = "([a-z-]+)"/g);


# The initializer of the one table of the sources that has all of WORDS.

sub table(@words) {
    my @tables = grep {
        my $table = $_;
        @words == grep { index($table, $_) >= 0 } @words;
    } "$core\n$adapter" =~ /=\s*\{\n(.*?)^\};/msg;

    die @tables . " tables have ", join(' and ', @words), ", not one\n"
        if @tables != 1;

    return $tables[0];
}


# A list that must not be empty.

sub some($what, @list) {
    die "there are no $what in the sources\n" if !@list;

    return @list;
}


# The text of a subject.

sub about($subject) {
    my ($document, $heading) = @{ $where{$subject} };

    return defined $heading ? section($document, $heading) : $text{$document};
}


# The text of a document below the heading NAME, up to the next of its level or
# above.

sub section($document, $name) {
    my $prose = $text{$document};

    $prose =~ /^(#+) \Q$name\E\n/mg or die "$document has no \"$name\"\n";
    my $level = length $1;

    $prose =~ /\G(.*?)(?=^#{1,$level} |\z)/msg;

    return $1;
}


# The rows of the tables in a text, without their headings: each a list of
# cells.

sub rows($text) {
    my @rows;

    $text =~ s/^\s*\|.*\|\n\s*\|[-|]+\|\n//mg;

    for my $row ($text =~ /^\s*\|(.*)\|$/mg) {
        push @rows, [ map { s/^\s+|\s+$//gr } split /(?<!\\)\|/, $row, -1 ];
    }

    return @rows;
}


# Words in backticks in a cell.

sub words($cell) {
    return $cell =~ /`([^`]+)`/g;
}


# Two lists are the same, whatever their order, and are not empty.

sub same($got, $expected, $name) {
    ok(scalar @$expected, "$name: there are some");
    is_deeply([ sort @$got ], [ sort @$expected ], $name);
}


test 'directives' => sub {

    my $text = about('directives');

    same([ $text =~ /^## (\w+)$/mg ], \@directives, 'each has a section');

    for my $directive (@directives) {
        my %row = map { $_->[0] =~ s/\*//gr => $_->[1] // '' }
                      rows(section('docs/directives.md', $directive));

        like($row{syntax}, qr/^`$directive .*;`$/, "$directive: syntax");

        # the entry of the module's table, and what a section says

        $adapter =~ /"$directive"\),\s+(.*?),\n/ or die;
        my %context = map { $_ => 1 } split /\|/, $1;
        my @context = grep { $_ } $context{NGX_HTTP_MAIN_CONF} && 'http',
                                  $context{NGX_HTTP_SRV_CONF} && 'server',
                                  $context{NGX_HTTP_LOC_CONF} && 'location';

        is($row{context}, join(', ', @context), "$directive: context");
        like($row{default}, qr/^(?:none|`$directive [^`]+;`)$/,
             "$directive: default");
    }

    # the defaults of the merge

    for my $default ([ timeout => qr/5000/, '5s' ],
                     [ max_seconds => qr/300/, '300s' ],
                     [ max_size => qr/64 \* 1024 \* 1024/, '64m' ],
                     [ gzip_level => qr/JPP_REPORT_LEVEL/, level() ])
    {
        my ($name, $source, $documented) = @$default;

        like($adapter, qr/_value\(conf->$name, prev->$name,\s+$source\)/,
             "$name: its default in the source");
        like($text, qr/`jemalloc_pprof_$name $documented;`/,
             "$name: its default in the document");
    }

    # no other word looks like a directive

    my %is = map { $_ => 1 } @directives;

    is_deeply([ grep { !$is{$_} }
                $all =~ /(?<![\w.\/])(jemalloc_pprof\w*)(?!\w|\.)/g ],
              [], 'no other directive is named');

    # the summary has a row for each, with the same default

    my %row = map { (words($_->[0]))[0] => $_ }
                  grep { $_->[0] =~ /jemalloc_pprof/ } rows(about('summary'));

    same([ keys %row ], \@directives, 'the summary has a row for each');

    for my $directive (sort keys %row) {
        my ($short) = $row{$directive}[1] =~ /^`([^`]+)`$/;
        my ($long) = section('docs/directives.md', $directive)
                     =~ /^\| \*\*default\*\* \| `$directive ([^`]+);` \|$/m;

        is($short, $long, "$directive: its default in the summary");
    }

    # the words that jemalloc_pprof takes, and no others

    my $syntax = join ' ', $text =~ /`(jemalloc_pprof \[.*)`/;
    my %taken;

    for my $word ($adapter
                      =~ /^    ngx_http_jpp_parameter\("(\w+=\w+)",/mg) {
        my ($key, $value) = split /=/, $word;

        like($syntax, qr/\[$key=[^\]]*\b$value\b/, "jemalloc_pprof: $word");
        $taken{$word} = 1;
    }

    while ($syntax =~ /\[(\w+)=(\w+)\\\|(\w+)\]/g) {
        ok($taken{"$1=$2"} && $taken{"$1=$3"}, "jemalloc_pprof takes $1");
    }
};


sub level {
    $headers =~ /^#define JPP_REPORT_LEVEL\s+(\d+)/m
        or die "no default level\n";

    return $1;
}


test 'resources' => sub {

    my %documented;

    for my $row (rows(about('resources'))) {
        my ($name) = words($row->[0]);

        $documented{$name // ''} = $row->[1];
    }

    is_deeply(\%documented, \%methods, 'each resource with its methods');

    # the examples ask for resources that exist

    my @asked = $all =~ m{/debug/pprof/(?:worker/\w+/)?(?:pprof/)?(\w+)}g;

    ok(scalar @asked, 'there are examples');
    is_deeply([ grep { !defined $methods{$_} } @asked ], [],
              'they ask for nothing else');

    # the segments of the grammar

    like(about('resources'), qr/`\Q$_\E/, "the segment $_")
        for some('segments', $adapter =~ /_segment\([^"]*"(\w+\/)"\)/g);
};


test 'parameters' => sub {

    my %row = map { ((words($_->[0]))[0] // '') => $_ }
                  rows(about('parameters'));

    same([ keys %row ], \@parameters, 'parameters');

    # the words of each, format among them

    my %words = some('words', $arguments
                     =~ /\.key\s=\s"(\w+)", (?: (?!\.key). )*?
                         \.words\s=\s\{\s("[^}]*")\s\}/gsx);

    for my $parameter (sort keys %words) {
        my %is = map { $_ => 1 } words($row{$parameter}[1] // '');

        ok($is{$_}, "$parameter: $_")
            for $words{$parameter} =~ /"([^"]+)"/g;
    }

    my %types = formats();
    my %formats = map { (words($_->[0]))[0] => $_->[1] }
                      rows(about('formats'));

    is_deeply(\%formats, \%types, 'formats and their types');

    # words that come from other tables

    same([ words($row{format}[1]) ], [ keys %types ], 'words of format');

    my %is_type = map { $_ => 1 }
                      $core =~ /"((?:alloc|inuse)_(?:objects|space))"/g;

    same([ words($row{type}[1]) ], [ keys %is_type ], 'words of type');

    # the parameters in the examples

    my %is = map { $_ => 1 } @parameters;

    is_deeply([ grep { !$is{$_} }
                map { /(\w+)=/g } $all =~ /(?:heap|allocs)\?([\w=&]+)/g ],
              [], 'the examples have no other parameters');
};


# The formats, each with its media type.

sub formats {

    my $table = table('"application/octet-stream"', '"text/plain"');
    my %type = $table =~ /\.name = "(\w+)"[^}]*?\.type = "([^"]+)"/g;

    %type = map { lc } $table =~ /\[JPP_FORMAT_(\w+)\] = \{ "([^"]+)"/g
        if !%type;

    return some('formats', %type);
}


test 'control' => sub {

    my %rows = map { (words($_->[0]))[0] => $_ }
                   grep { @$_ == 3 } rows(about('control'));
    my %keys;

    my $table = table('"lg_sample"', '"purge must be 1"');

    while ($table =~ /\{\s"(\w+)",\soffsetof\([^)]*\),\s-?\d+,\s+(?#
                      )(\w+),\s(\w+),\s(\w+),\s(\w+),/gx)
    {
        $keys{$1} = [ $2, $3, $4, $5 ];
    }

    same([ keys %rows ], [ keys %keys ], 'its parameters');

    for my $key (sort keys %keys) {
        my ($words, $least, $most, $is_time) = @{ $keys{$key} };
        my @range = map { /^\d+$/ ? $_ : $headers =~ /define $_ +(\d+)/ }
                        $least, $most;
        my ($list) = $core =~ /^static const char \*const  $words\[\] = (?#
                               )\{(.*?)\};/ms;
        my @allowed = ($list // '') =~ /"(\w+)"/g;

        push @allowed, $is_time eq 'true'
                       ? ("$range[0]ms", $range[1] / 1000 . 's') : @range
            if $range[1];

        my %said = map { $_ => 1 } words($rows{$key}[1]);

        is_deeply({ map { $_ => 1 } @allowed }, \%said, "$key: its values");
    }

    my %is = map { $_ => 1 } 'worker', 'strict', keys %keys;

    is_deeply([ grep { !$is{$_} }
                map { /(\w+)=/g }
                $all =~ /^(?:\$ )?curl .* -d '?([\w=&]+)'? .*\/control/mg ],
              [], 'the examples have no other parameters');
};


# The keys of its JSON, however deep.

test 'status' => sub {

    # the sample and the tables have all of them

    my $about = about('status');
    my %shown = map { $_ => 1 } $about =~ /^ *"(\w+)":/mg;
    my %named = map { $_ => 1 }
                map { words($_->[0]), words($_->[1]) }
                rows($about);

    my $status = join "\n", map { slurp($_) }
                 glob("$root/src/core/answers/jpp_status*.c"),
                 "$root/src/core/fleet/jpp_fleet.c",
                 "$root/src/core/diagnosis/jpp_verdict.c";

    my ($identity) = $core =~ /^jpp_json_identity\((.*?)^\}/ms
        or die "no keys of a worker\n";

    my %keys = map { $_ => 1 }
                   some('keys', "$status\n$identity"
                                =~ /(?:jpp_json_\w+\(&?json,|\{) (?#
                                      )"([a-z]\w+)"/g);

    same([ keys %named ], [ keys %keys ], 'its keys');

    # the sample has no problem, no finding, no error and no gap, and its
    # sampler is off; id and text are the verdict's

    delete @keys{qw( fatal critical what why because fix time acknowledged
                     samples live live_max sites dropped bytes_max slots objects
                     foreign lost from to times )};
    same([ keys %shown ], [ keys %keys ], 'those of the sample');
};


test 'statuses and headers' => sub {

    my %number = slurp("$own/http/ngx_http_request.h")
                 =~ /^#define (NGX_HTTP_\w+) +([2-5]\d\d)$/mg;

    # a bound, and the redirect to a location that ends in a slash

    delete $number{NGX_HTTP_SPECIAL_RESPONSE};

    my %sent = map { $number{$_} => 1 } grep { $number{$_} }
                   $adapter =~ /\b(NGX_HTTP_\w+)/g;

    $sent{301} = 1 if $adapter =~ /auto_redirect = 1/;

    same([ map { $_->[0] =~ /^(\d{3})$/ } rows(about('statuses')) ],
         [ keys %sent ], 'statuses');

    my %headers = map { $_ => 1 }
                      $adapter =~ /(?:_add_header\(r,\s+|^        \{ )(?#
                                     )"([A-Z][A-Za-z-]+)",/mg;

    same([ map { words($_->[0]) } rows(about('headers')) ],
         [ keys %headers ], 'headers');

    # the numbers of the limits

    my %limit = map { $_ => constant($_) } qw( MAX_JOBS MAX_FORM );
    my ($rows) = $headers =~ /^#define JPP_NOTES +(\d+)$/m
        or die "there is no JPP_NOTES in the sources\n";

    like(about('statuses'), qr/\b$limit{MAX_JOBS} requests \(/,
         'how many profiles may be in work');
    like($text{'docs/security.md'}, qr/\bat most $limit{MAX_JOBS} profiles/,
         'the same in docs/security.md');
    like(about('statuses'),
         qr{\b@{[ $limit{MAX_FORM} / 1024 ]} KiB for `control`},
         'how long a form may be');
    like(about('limits'), qr/\b$rows rows/,
         'how many workers there may be');
    is(constant('MAX_BODY'), 1 << 20, 'how many addresses a request may have');
    like(about('statuses'), qr/1 MiB of addresses/,
         'the same in docs/http.md');
};


# A number that the sources define, which may be a product.

sub constant($name) {
    "$headers\n$adapter" =~ /^#define NGX_HTTP_JPP_$name +(?#
                             )\(?([\d *]+)\)?$/m
        or die "there is no $name in the sources\n";

    return eval $1;
}


test 'states and problems' => sub {

    my $problems = table('"no-jemalloc", true', '"thread-name"');
    my @ids = some('problems',
                   $problems =~ /\] = \{\s+"([a-z-]+)", (?:true|false),$/mg);

    my @rows = rows(about('states'));

    # one table has the fatal ones, with a state, and one the rest

    my @states = grep { @$_ == 5 } @rows;
    my @warnings = grep { @$_ == 3 } @rows;

    same([ map { $_->[0] } @states ], [ values %words ], 'states');
    same([ map { words($_) } map({ $_->[2] } @states),
                             map({ $_->[0] } @warnings) ],
         \@ids, 'problems');

    # the statuses of the states

    my %number = (OK => 200, FORBIDDEN => 403, NOT_IMPLEMENTED => 501);
    my ($off) = $adapter =~ /((?:state == JPP_JEMALLOC_\w+[\s|]+)+)(?#
                              )\? NGX_HTTP_JPP_OFF : NGX_HTTP_JPP_UNABLE/
        or die "there are no statuses of states in the sources\n";
    my %reason = $adapter =~ /\[NGX_HTTP_(JPP_\w+)\] =\s+\{ NGX_HTTP_(\w+),/g;
    my %status = ((map { $_ => $reason{JPP_UNABLE} } keys %words),
                  (map { $_ => $reason{JPP_OFF} }
                       $off =~ /JPP_JEMALLOC_(\w+)/g),
                  READY => 'OK');

    is_deeply({ map { $_->[0] => $_->[1] } @states },
              { map { $words{$_} => $number{$status{$_}} } keys %words },
              'the status of each state');

    # options that a fix appends

    for my $option (some('fixes', $problems
                         =~ /JPP_APPEND\("(\w+:[^"]+)"\)/g))
    {
        like(about('states'), qr/`,\Q$option\E`/, "the fix $option");
    }
};


# The reasons why a worker does not answer.

test 'workers that are missing' => sub {

    my @sentences = map { join '', /"([^"]*)"/g }
                    some('sentences', table('"ep_poll"')
                         =~ /^ {6}((?:"[^"]*"\s*)+)\}/mg);

    my %said = map { $_->[0] => 1 } rows(about('missing'));

    push @sentences, some('sentences', $core =~ /"(it is computing)"/);

    same([ keys %said ], [ keys %{{ map { $_ => 1 } @sentences }} ],
         'all sentences about /proc');
};


test 'the build' => sub {

    my ($usage) = $dev =~ /usage: \.\/dev VERB\n(.*?)^END$/ms;

    # some verbs have two words

    my %verb = map { s/ $//r => 1 }
                   $usage =~ /^    (\w+ (?:[a-z]+(?= ))?)/mg;

    same([ map { /^\.\/dev (.*)$/ } map { words($_->[0]) }
               rows(about('verbs')) ],
         [ keys %verb ], 'verbs of ./dev');

    my %variables = map { $_ => 1 } $config =~ /\b(NGX_HTTP_JEMALLOC_\w+)/g;

    ok(scalar(keys %variables), 'config has a variable');
    like($text{'docs/install.md'}, qr/`$_`/, $_) for sort keys %variables;

    my @contrib = map { s/^contrib\///r }
                  grep { !m{^contrib/debian/} }
                  map { s/^\Q$root\E\///r }
                  grep { -f } map { glob "$root/contrib/$_" } '*/*', '*/*/*';

    is_deeply([ grep { about('examples') !~ /\[\Q$_\E\]/ } @contrib ], [],
              'all files of contrib/');
};


test 'README.md' => sub {

    my $readme = $text{'README.md'};

    cmp_ok(scalar(() = $readme =~ /\n/g), '<=', 300, 'at most 300 lines');

    is_deeply([ $readme =~ /^## (.*)$/mg ],
              [ 'Commands', 'Example', 'Quick start', 'Install', 'Configure',
                'Security', 'Limits', 'Compatibility', 'Documentation',
                'License' ],
              'the order of its sections');

    my ($points) = $readme
                   =~ /\A\#[ ]\S+:[ ][^\n]+\n\n (?:[^`\n-][^\n]*\n){1,3}\n
                       (.*?) ^\#\#[ ]/xms;

    like($points // '', qr/\A(?:- .*\n(?:  .*\n)*){1,8}\n\z/,
         'a sentence, then at most eight points');
    like($readme, qr/^## Example\n\n(?:[^`\n].*\n)+\n```console\n/m,
         'the example is a session');

    same([ map { $_->[0] =~ /\((.*)\)/ } rows(about('index')) ],
         [ map { s/^\Q$root\E\///r }
           grep { !/\.(?:svg|png)$/ } glob("$root/docs/*") ],
         'the index of docs/');
};


test 'the tool' => sub {

    my @names = some('options', $options =~ /^    \{ "([a-z-]+)", /mg);

    same([ $manual =~ /^\.It (?:.* )?Fl Fl ([a-z-]+)/mg ], \@names,
         'options in the manual');

    my $help = `'$build/jemalloc-pprof' --help`;

    like($help, qr/--\Q$_\E\b/, "--help has --$_") for @names;

    # the limits of a dump, which are those of the module, too

    my $refused = section('docs/troubleshooting.md', 'Refused dumps');
    my ($frames) = $headers =~ /^#define JPP_MAX_FRAMES +(\d+)$/m;
    my ($maps) = $headers =~ /^#define JPP_MAX_MAPS +(\d+)$/m;
    my ($gigabytes) = $headers =~ /_MAX_DUMP +\(\(size_t\) (\d+) << 30\)/;

    for my $limit ("$frames frames", "$maps mappings",
                   "$gigabytes GiB unpacked")
    {
        like(join(' ', split ' ', $_), qr/\b$limit\b/, "a limit: $limit")
            for $refused, $manual;
    }
};


# Addresses and the profiler's settings are the same everywhere.

test 'addresses and settings agree' => sub {

    my %used = map { $_ => slurp("$root/$_") }
               'tools/run.sh',
               grep { !m{/debian/} } map { s/^\Q$root\E\///r }
               grep { -f } map { glob "$root/contrib/$_" } '*/*', '*/*/*';

    my %ports;

    for my $file (keys %text, keys %used) {
        my $what = $text{$file} // $used{$file};

        $ports{$_}{$file} = 1
            for $what =~ /(?:127\.0\.0\.1|JPP_PORT)(?::-?|=)(\d+)/g;
    }

    # 4040 is Pyroscope's; 18081 is for a machine where 8081 is taken

    delete @ports{qw( 4040 18081 )};
    is_deeply([ keys %ports ], [ 8081 ], 'one port') or diag(explain(\%ports));

    my @set = some('settings', $used{'contrib/systemd/nginx.service.d/'
                                     . 'jemalloc-pprof.conf'}
                               =~ /^(Environment=.*)$/mg);

    for my $set (@set) {
        for my $document ('README.md', 'docs/troubleshooting.md') {
            like($text{$document}, qr/^ *\Q$set\E$/m, "$document: $set");
        }
    }
};


# Files and functions that architecture.md leads through are there.

test 'ways through the code' => sub {
    my ($ways) = $text{'docs/architecture.md'}
                 =~ /^## Six ways.*?\n(.*?)^## Design/ms;
    my %file = map { basename($_) =~ s/^ngx_http_jpp_//r => 1 }
                   glob("$root/src/*/*/*.[ch]");
    my %function = map { $_ => 1 }
                       "$core$adapter" =~ /^(?:ngx_http_)?jpp_(\w+)\(/mg;

    my @files = some('files of ways', $ways =~ /`(\w+\.[ch])`/g);
    my @functions = some('functions of ways', $ways =~ /\b(\w+)\(\)/g);

    is_deeply([ grep { !$file{$_} } @files ], [], 'files');
    is_deeply([ grep { !$function{s/^jpp_//r} && $_ ne 'malloc' } @functions ],
              [], 'functions');
};


# It is written in one place; documents show it.

test 'the version' => sub {
    my ($version) = slurp("$root/src/core/base/jpp_version.h")
                    =~ /JPP_VERSION  "(.*)"/;
    my $debian = slurp("$root/contrib/debian/changelog");
    my %shown = map { $_ => 1 }
                    $text{'CHANGELOG.md'} =~ /\A# Changes\n\n## ([\d.]+)/,
                    $debian =~ /\A\S+ \(([\d.]+)\)/,
                    $all =~ /jemalloc-pprof_([\d.]+)_/g,
                    $all =~ /jemalloc_pprof module (\d[\d.]+)/g,
                    $all =~ /"module": "([\d.]+)"/g;

    is_deeply([ keys %shown ], [ $version ], 'one version everywhere');
};


test 'links' => sub {

    for my $document (sort keys %text) {
        my $text = $text{$document} =~ s/^```.*?^```$//msgr;
        my @links = map { s/\n//r } $text =~ /\]\(([^)]+)\)/g;

        for my $link (@links) {
            my ($path, $anchor) = split /#/, $link;
            my $target = $path eq '' ? "$root/$document"
                                     : dirname("$root/$document") . "/$path";

            ok(-e $target, "$document: $link") or next;

            if (defined $anchor) {
                ok(scalar(grep { $_ eq $anchor } anchors($target)),
                   "$document: $link has its heading");
            }
        }
    }
};


# Headings as links name them.

sub anchors($path) {
    my $text = slurp($path) =~ s/^```.*?^```$//msgr;

    return map { lc($_) =~ s/[^\w\- ]//gr =~ tr/ /-/r }
           $text =~ /^#+ (.*)$/mg;
}


test 'configurations' => sub {

    # the machine's socket may be in use, or another user's

    mkdir "$dir/run" or die "$dir/run: $!\n";

    my @blocks;

    for my $document (sort keys %text) {
        my $text = $text{$document};

        while ($text =~ /^( *)```nginx\n(.*?)^\1```$/msg) {
            push @blocks, [ "$document, block " . (1 + @blocks), $2 ];
        }
    }

    ok(scalar @blocks, 'there are some');

    my $shown = '';

    for my $block (@blocks) {
        my ($name, $text) = @$block;
        my $loads = loads($text);

        $shown .= $text;

        SKIP: {
            skip("$name: this nginx has no module for it", 1)
                unless defined $loads;

            my ($said, $exit) = try_configuration($text, $loads);

            is($exit, 0, "nginx takes $name") or diag($text, $said);
        }
    }

    # the examples show everything

    like($shown, qr/^\s*$_\b/m, "$_ is shown") for @directives;

    # a bad configuration is refused

    my (undef, $exit) = try_configuration("jemalloc_pprof;\n");
    isnt($exit, 0, 'nginx does check them');
};


# What loads the modules of others that TEXT needs; undef if they are not there.

sub loads($text) {
    my $loads = $text =~ /_by_lua_block/ ? lua_modules()
                : $text =~ /^\s*perl /m ? modules('ngx_http_perl_module')
                : undef;

    return defined $loads ? ($loads || undef) : '';
}


# What nginx -t prints about directives, in the context that they need.

sub try_configuration($text, $others = undef) {
    my $port = free_port();

    $text =~ s/127\.0\.0\.1:8081/127.0.0.1:$port/g;
    $text =~ s/unix:\/run\/nginx-pprof\//unix:$dir\/run\//g;
    $text =~ s/\/var\/log\/nginx\//$dir\//g;

    # the module is loaded already, or linked

    $text =~ s/^load_module \S+\/ngx_http_jemalloc_pprof_module\.so;$//mg;

    my $main = $text =~ s/^(env \w+;\n)+//m ? $& : '';
    my $events = $text =~ s/^events \{\n.*?^\}\n//ms ? $& : "events { }\n";

    $text = "server {\nlisten 127.0.0.1:$port;\n$text\n}\n"
        if $text =~ /^location /m && $text !~ /^\s*server \{/m;

    my $loads = join '', map { "load_module $_;\n" } @modules;
    my $temps = join '', map { "${_}_temp_path $dir/$_;\n" }
                             qw( client_body proxy fastcgi uwsgi scgi );

    open my $fh, '>', "$dir/nginx.conf" or die "$dir: $!\n";
    print $fh $loads, $others // '', "$main pid $dir/nginx.pid;\n",
              "error_log $dir/error.log;\n",
              "${events}http {\naccess_log off;\n$temps$text\n}\n";
    close $fh or die "$dir: $!\n";

    my $said = `$nginx -t -p $dir -c $dir/nginx.conf 2>&1`;

    return ($said, $? >> 8);
}
