#!/usr/bin/perl

# README.md is complete and true: what the tables of the sources have it names,
# what it names they have; its links lead somewhere, and nginx takes its
# configurations.
#
# nginx is $TEST_NGINX_BINARY with the modules of $TEST_NGINX_LOAD_MODULES, or
# the machine's with the one in build/.

use strict;
use warnings;

use Cwd qw( abs_path );
use File::Basename;
use File::Temp qw( tempdir );
use IO::Socket::INET;
use Test::More;

$ENV{PATH} .= ':/usr/sbin:/sbin';

my $top = dirname(dirname(abs_path(__FILE__)));
my $dir = tempdir('jpp-readme-XXXXXX', TMPDIR => 1, CLEANUP => 1);

my $own = '/usr/share/nginx/src/src';

my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
my @modules = $ENV{TEST_NGINX_BINARY}
              ? split(/\s+/, $ENV{TEST_NGINX_LOAD_MODULES} // '')
              : "$top/build/ngx_http_jemalloc_pprof_module.so";

my $readme = slurp("$top/README.md");

my $module = slurp("$top/ngx_http_jemalloc_pprof_module.c");
my $request = slurp("$top/src/nginx/ngx_http_jemalloc_pprof_request.c");
my $adapter = join '', map { slurp($_) } glob("$top/src/nginx/*.c");
my $args = slurp("$top/src/options/jpp_args.c");
my $options = slurp("$top/tools/jpp_options.c");
my $problems = slurp("$top/src/fleet/jpp_problems.c");
my $status = slurp("$top/src/fleet/jpp_status.c");
my $control = slurp("$top/src/fleet/jpp_control.c");
my $config = slurp("$top/config");
my $dev = slurp("$top/dev");

my @directives = $module =~ /^    \{ ngx_string\("(\w+)"\),/mg;
my @parameters = table($args, 'jpp_arg_rows') =~ /^    \{ "(\w+)",/mg;

subtest 'directives' => \&check_directives;
subtest 'resources' => \&check_resources;
subtest 'parameters' => \&check_parameters;
subtest 'control' => \&check_control;
subtest 'status' => \&check_status;
subtest 'statuses and headers' => \&check_statuses;
subtest 'states and problems' => \&check_problems;
subtest 'the build' => \&check_build;
subtest 'the tool' => \&check_tool;
subtest 'links' => \&check_links;
subtest 'configurations' => \&check_configurations;

done_testing();


sub slurp {
    my ($path) = @_;

    open my $fh, '<', $path or die "$path: $!\n";
    local $/;

    return <$fh>;
}


# The initializer of the table NAME in a source.

sub table {
    my ($source, $name) = @_;

    $source =~ /\b\Q$name\E\[[^\n]*\n?\s*=?\s*\{\n(.*?)^\};/ms
        or die "there is no table $name\n";

    return $1;
}


# The text below the heading NAME, up to the next of its level or above.

sub section {
    my ($name) = @_;

    $readme =~ /^(#+) \Q$name\E\n/mg or die "README.md has no \"$name\"\n";
    my $level = length $1;

    $readme =~ /\G(.*?)(?=^#{1,$level} |\z)/msg;

    pos($readme) = undef;

    return $1;
}


# The rows of the tables in a text, without their headings: each a list of
# cells.

sub rows {
    my ($text) = @_;
    my @rows;

    $text =~ s/^\s*\|.*\|\n\s*\|[-|]+\|\n//mg;

    for my $row ($text =~ /^\s*\|(.*)\|$/mg) {
        push @rows, [ map { s/^\s+|\s+$//gr } split /(?<!\\)\|/, $row, -1 ];
    }

    return @rows;
}


# Words in backticks in a cell.

sub words {
    my ($cell) = @_;

    return $cell =~ /`([^`]+)`/g;
}


# Two lists are the same, whatever their order, and are not empty.

sub same {
    my ($got, $expected, $name) = @_;

    ok(scalar @$expected, "$name: there are some");
    is_deeply([ sort @$got ], [ sort @$expected ], $name);
}


sub check_directives {

    my $text = section('Directives');

    same([ $text =~ /^### (\w+)$/mg ], \@directives, 'each has its section');

    for my $directive (@directives) {
        my %row = map { $_->[0] =~ s/\*//gr => $_->[1] // '' }
                      rows(section($directive));

        like($row{syntax}, qr/^`$directive .*;`$/, "$directive: syntax");

        # the entry of the module's table, and what a section says

        $module =~ /"$directive"\),\s+(.*?),\n/ or die;
        my %context = map { $_ => 1 } split /\|/, $1;
        my @context = grep { $_ } $context{NGX_HTTP_MAIN_CONF} && 'http',
                                  $context{NGX_HTTP_SRV_CONF} && 'server',
                                  $context{NGX_HTTP_LOC_CONF} && 'location';

        is($row{context}, join(', ', @context), "$directive: context");
        like($row{default}, qr/^(?:none|`$directive [^ ]+;`)$/,
             "$directive: default");
    }

    # the defaults of the merge

    for my $default ([ timeout => qr/5000/, '5s' ],
                     [ max_seconds => qr/300/, '300s' ],
                     [ max_size => qr/64 \* 1024 \* 1024/, '64m' ],
                     [ gzip_level => qr/JPP_REPORT_LEVEL/, level() ])
    {
        my ($name, $source, $documented) = @$default;

        like($module, qr/_value\(conf->$name, prev->$name,\s+$source\)/,
             "$name: its default in the source");
        like($text, qr/`jemalloc_pprof_$name $documented;`/,
             "$name: its default in README.md");
    }

    # whatever looks like one is one

    my %is = map { $_ => 1 } @directives;

    is_deeply([ grep { !$is{$_} }
                $readme =~ /(?<![\w.\/])(jemalloc_pprof\w*)(?!\w|\.)/g ],
              [], 'no others are named');

    # words that jemalloc_pprof takes, and no others

    my $syntax = join ' ', $text =~ /`(jemalloc_pprof \[.*)`/;
    my %taken;

    for my $word ($module =~ /ngx_strcmp\(value->data, "([a-z=]+)"\)/g) {
        my ($key, $value) = split /=/, $word;

        like($syntax, qr/\[$key=[^\]]*\b$value\b/, "jemalloc_pprof: $word");
        $taken{$word} = 1;
    }

    while ($syntax =~ /\[(\w+)=(\w+)\\\|(\w+)\]/g) {
        ok($taken{"$1=$2"} && $taken{"$1=$3"}, "jemalloc_pprof takes $1");
    }
}


sub level {
    slurp("$top/src/report/jpp_report.h") =~ /JPP_REPORT_LEVEL\s+(\d+)/
        or die "no default level\n";

    return $1;
}


sub check_resources {

    my $resources = "$top/src/nginx/ngx_http_jemalloc_pprof_resources.c";
    my %methods = table(slurp($resources), 'ngx_http_jemalloc_pprof_rows')
                  =~ /\{ ngx_string\("(\w*)"\),.*\n\s+ngx_string\("(.*?)"\)/g;
    my %documented;

    my ($table) = section('Resources') =~ /(.*?)^### /ms;

    for my $row (rows($table)) {
        my ($name) = words($row->[0]);

        $documented{$name // ''} = $row->[1];
    }

    ok(scalar(keys %methods), 'there are some');
    is_deeply(\%documented, \%methods, 'each, and its methods');

    # what the examples ask for is there

    my @asked = $readme =~ m{/debug/pprof/(?:worker/\w+/)?(?:pprof/)?(\w+)}g;

    ok(scalar @asked, 'there are examples');
    is_deeply([ grep { !defined $methods{$_} } @asked ], [],
              'they ask for nothing else');

    # the segments of the grammar

    like(section('Resources'), qr/`\Q$_\E/, "the segment $_")
        for $request =~ /_segment\(rest, "(\w+\/)"\)/g;
}


sub check_parameters {

    my %row = map { ((words($_->[0]))[0] // '') => $_ }
                  rows(section('Parameters'));

    same([ keys %row ], \@parameters, 'each');

    # the words of each, format among them

    my %words = table($args, 'jpp_arg_rows')
                =~ /^    \{ "(\w+)",\s+\w+,\s+\{ ("[^}]*") \}/mg;

    for my $parameter (sort keys %words) {
        my %is = map { $_ => 1 } words($row{$parameter}[1] // '');

        ok($is{$_}, "$parameter: $_")
            for $words{$parameter} =~ /"([^"]+)"/g;
    }

    my %formats = map { (words($_->[0]))[0] => $_->[1] }
                      rows(section('Formats'));

    my %types = table(slurp("$top/src/output/jpp_formats.c"), 'jpp_formats')
                =~ /\.name = "(\w+)".*?\.type = "(.*?)"/gs;

    same([ keys %formats ], [ keys %types ], 'formats');

    for my $format (sort keys %formats) {
        is($formats{$format}, $types{$format}, "$format: its type");
    }

    # what the examples ask for

    my %is = map { $_ => 1 } @parameters;

    is_deeply([ grep { !$is{$_} } $readme =~ /heap\?(\w+)=/g ], [],
              'the examples have no others');
}


sub check_control {

    my %rows = map { (words($_->[0]))[0] => $_ }
                   grep { @$_ == 3 } rows(section('control'));
    my %keys;

    my $table = table($control, 'jpp_control_rows');

    while ($table =~ /\{ "(\w+)", \{ (.*?) \}, (\w+), (\w+),/g)
    {
        $keys{$1} = [ $2, $3, $4 ];
    }

    same([ keys %rows ], [ keys %keys ], 'its parameters');

    my $limits = slurp("$top/src/capture/jpp_jemalloc.h");

    for my $key (sort keys %keys) {
        my ($words, @range) = @{ $keys{$key} };
        my @allowed = $words =~ /"(\w+)"/g;

        if (!@allowed) {
            @allowed = map { /^\d+$/ ? $_ : $limits =~ /define $_ +(\d+)/ }
                           @range;
        }

        my %said = map { $_ => 1 } words($rows{$key}[1]);

        is_deeply({ map { $_ => 1 } @allowed }, \%said, "$key: its values");
    }

    my %is = map { $_ => 1 } 'worker', keys %keys;

    is_deeply([ grep { !$is{$_} }
                map { /(\w+)=/g }
                $readme =~ /^curl .* -d '?([\w=&]+)'? .*\/control/mg ],
              [], 'the examples have no others');
}


# The keys of its JSON, however deep.

sub check_status {

    my %named = map { $_ => 1 } words(section('status'));

    same([ keys %named ],
         [ keys %{{ map { $_ => 1 }
                    $status =~ /jpp_json_\w+\(&?json, "(\w+)"/g }} ],
         'its keys');
}


sub check_statuses {

    my %number = slurp("$own/http/ngx_http_request.h")
                 =~ /^#define (NGX_HTTP_\w+) +([2-5]\d\d)$/mg;

    # a bound, and what nginx sends for a location that ends in a slash

    delete $number{NGX_HTTP_SPECIAL_RESPONSE};

    my %sent = map { $number{$_} => 1 } grep { $number{$_} }
                   ($adapter . $module) =~ /\b(NGX_HTTP_\w+)/g;

    $sent{301} = 1 if $module =~ /auto_redirect = 1/;

    my @rows = rows(section('Statuses'));

    same([ map { $_->[0] =~ /^(\d{3})$/ } @rows ], [ keys %sent ], 'statuses');

    my %headers = map { $_ => 1 }
                      $adapter =~ /_header\(r,\s+"([A-Za-z-]+)",/g;

    same([ map { words($_->[0]) } grep { $_->[0] =~ /^`/ } @rows ],
         [ keys %headers ], 'headers');

    # the numbers of the limits

    my $limits = slurp("$top/src/nginx/ngx_http_jemalloc_pprof.h");

    my ($jobs) = $limits =~ /_MAX_JOBS +(\d+)/;
    my ($rows) = slurp("$top/src/nginx/ngx_http_jemalloc_pprof_table.h")
                 =~ /_MAX_ROWS +(\d+)/;
    my ($form) = $adapter =~ /_MAX_FORM +(\d+)/;

    like(section('Statuses'), qr/\b$jobs profiles are in work/,
         'how many may be in work');
    like(section('Statuses'), qr{\b@{[ $form / 1024 ]} KiB for `control`},
         'how long a form may be');
    like(section('Limitations'), qr/\b$rows rows/, 'how many workers');
    like($limits, qr/_MAX_BODY +\(1024 \* 1024\)/, 'how much may be asked');
    like(section('Statuses'), qr/1 MiB of addresses/, 'and it is said');
}


sub check_problems {

    my @ids = $problems =~ /^        "([a-z-]+)", (?:true|false),$/mg;
    my @words = table($status, 'jpp_status_words') =~ /= "([a-z-]+)"/g;

    my @rows = rows(section('States and their cures'));

    # one table has what is fatal, with a state, and one the rest

    my @states = grep { @$_ == 5 } @rows;
    my @warnings = grep { @$_ == 3 } @rows;

    same([ map { $_->[0] } @states ], \@words, 'states');
    same([ map { words($_) } map({ $_->[2] } @states),
                             map({ $_->[0] } @warnings) ],
         \@ids, 'problems');

    # the statuses of the states

    my %reason = $adapter =~ /\[JPP_JEMALLOC_(\w+)\] = NGX_HTTP_(\w+)/g;
    my %refused = $adapter =~ /\[NGX_HTTP_(\w+)\] =\s+\{ NGX_HTTP_(\w+),/g;
    my %status = map { $_ => $refused{$reason{$_}} } keys %reason;

    $status{READY} = 'OK';

    my %word = table($status, 'jpp_status_words')
               =~ /\[JPP_JEMALLOC_(\w+)\] = "([a-z-]+)"/g;
    my %number = (OK => 200, FORBIDDEN => 403, NOT_IMPLEMENTED => 501);

    is_deeply({ map { $_->[0] => $_->[1] } @states },
              { map { $word{$_} => $number{$status{$_}} } keys %word },
              'the status of each state');

    # options that a cure appends

    for my $option ($problems =~ /JPP_APPEND\("(\w+:[^"]+)"\)/g) {
        like(section('States and their cures'), qr/`,\Q$option\E`/,
             "the cure $option");
    }
}


sub check_build {

    my ($usage) = $dev =~ /usage: \.\/dev VERB\n(.*?)^END$/ms;

    # some come with a word behind

    my @verbs = map { s/ $//r } $usage =~ /^    (\w+ (?:[a-z]+(?= ))?)/mg;

    same([ map { /^\.\/dev (.*)$/ } map { words($_->[0]) }
               rows(section('Tests')) ],
         \@verbs, 'verbs of ./dev');

    like($readme, qr/\A# \S+\n(?:.*\n){1,6}```\n\.\/dev run\n\.\/dev test\n/,
         'the two commands come first');

    my %variables = map { $_ => 1 } $config =~ /\b(NGX_HTTP_JEMALLOC_\w+)/g;

    ok(scalar(keys %variables), 'config has a variable');
    like($readme, qr/`$_`/, $_) for sort keys %variables;

    # its order

    my @headings = $readme =~ /^## (.*)$/mg;
    my @wanted = ('Synopsis', 'Description', 'Directives', 'Limitations',
                  'Installation', 'Compatibility', 'Tests', 'License');
    my %is = map { $_ => 1 } @wanted;

    is_deeply([ grep { $is{$_} } @headings ], \@wanted, 'the order');
}


sub check_tool {

    my @names = table($options, 'jpp_options_table') =~ /\{ "([a-z-]+)",/g;

    same([ map { /^--([a-z-]+)/ } map { words($_->[0]) }
               rows(section('The offline tool')) ],
         \@names, 'options');
}


sub check_links {

    for my $document ('README.md', map { "docs/" . basename($_) }
                                       glob("$top/docs/*.md"))
    {
        my $text = slurp("$top/$document") =~ s/^```.*?^```$//msgr;
        my @links = $text =~ /\]\(([^)]+)\)/g;

        for my $link (@links) {
            my ($path, $anchor) = split /#/, $link;
            my $target = $path eq '' ? "$top/$document"
                                     : dirname("$top/$document") . "/$path";

            ok(-e $target, "$document: $link") or next;

            if (defined $anchor) {
                ok(scalar(grep { $_ eq $anchor } anchors($target)),
                   "$document: $link has its heading");
            }
        }
    }
}


# Headings as links name them.

sub anchors {
    my ($path) = @_;

    my $text = slurp($path) =~ s/^```.*?^```$//msgr;

    return map { lc($_) =~ s/[^\w\- ]//gr =~ tr/ /-/r }
           $text =~ /^#+ (.*)$/mg;
}


sub check_configurations {

    # a socket of the machine may be in use, or another user's

    mkdir "$dir/run" or die "$dir/run: $!\n";

    my @blocks;

    for my $document ('README.md', 'docs/reading-a-heap.md') {
        my $text = slurp("$top/$document");

        while ($text =~ /^( *)```nginx\n(.*?)^\1```$/msg) {
            push @blocks, [ "$document, block " . (1 + @blocks), $2 ];
        }
    }

    ok(scalar @blocks, 'there are some');

    my $all = '';

    for my $block (@blocks) {
        my ($name, $text) = @$block;

        my ($said, $exit) = try_configuration($text);

        is($exit, 0, "nginx takes $name") or diag($text, $said);
        $all .= $text;
    }

    # the examples show everything

    like($all, qr/^\s*$_\b/m, "$_ is shown") for @directives;

    # and what is no configuration is refused

    my (undef, $exit) = try_configuration("jemalloc_pprof;\n");
    isnt($exit, 0, 'nginx looks at them');
}


# What nginx -t says of directives, which are put where they belong.

sub try_configuration {
    my ($text) = @_;

    my $port = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
               // die "no port: $!\n";

    $port = $port->sockport();

    $text =~ s/127\.0\.0\.1:8081/127.0.0.1:$port/g;
    $text =~ s/unix:\/run\/nginx-pprof\//unix:$dir\/run\//g;

    # the module is loaded already, or linked

    $text =~ s/^load_module modules\/ngx_http_jemalloc_pprof_module\.so;$//mg;

    my $main = $text =~ s/^(env \w+;\n)+//m ? $& : '';

    $text = "server {\nlisten 127.0.0.1:$port;\n$text\n}\n"
        if $text =~ /^location /m && $text !~ /^\s*server \{/m;

    my $loads = join '', map { "load_module $_;\n" } @modules;
    my $temps = join '', map { "${_}_temp_path $dir/$_;\n" }
                             qw( client_body proxy fastcgi uwsgi scgi );

    open my $fh, '>', "$dir/nginx.conf" or die "$dir: $!\n";
    print $fh "$loads$main pid $dir/nginx.pid;\n",
              "error_log $dir/error.log;\n",
              "events { }\nhttp {\naccess_log off;\n$temps$text\n}\n";
    close $fh or die "$dir: $!\n";

    my $said = `$nginx -t -p $dir -c $dir/nginx.conf 2>&1`;

    return ($said, $? >> 8);
}
