#!/usr/bin/perl

# The files of contrib/ work: systemd's drop-in is parsed, and nginx started
# with its environment; the pieces of configuration are included, and answer;
# the requests of the scrapers are made; the alerts are tested; the Debian
# package is built, and its module loaded.  And the commands of
# docs/reading-a-heap.md that find leaks find some.

use JppTest;
use JppFleet qw( held );

$ENV{PATH} .= ':/usr/sbin:/sbin';

my $contrib = "$root/contrib";
my $dir = tempdir('jpp-contrib-XXXXXX', TMPDIR => 1, CLEANUP => 1);

my $own = '/usr/share/nginx/src';
my $name = 'libnginx-mod-http-jemalloc-pprof';
my $module = 'ngx_http_jemalloc_pprof_module.so';

my $nginx = binary();
my @modules = loaded();

# seconds: a build and a start are ended after that
my $build_time = 900;
my $start_time = 60;

my %drop_in = service("$contrib/systemd/nginx.service.d/jemalloc-pprof.conf");
my $process;

# root's workers run as another user, who needs access to the files

chmod 0755, $dir or die "$dir: $!";


sub make_dir($path, $mode = undef) {
    mkdir $path or die "$path: $!\n";
    chmod $mode // 0755, $path or die "$path: $!\n";

    return $path;
}


# The settings of [Service]: each key with a list of what it is set to.

sub service($path) {
    my $section = '';
    my %settings;

    for my $line (split /\n/, slurp($path)) {
        next if $line =~ /^\s*(?:[#;].*)?$/;

        if ($line =~ /^\[(\w+)\]$/) {
            $section = $1;

        } elsif ($line =~ /^(\w+)=(.*)$/ && $section eq 'Service') {
            push @{$settings{$1}}, $2;

        } else {
            die "$path: \"$line\" is no setting of [Service]\n";
        }
    }

    return %settings;
}


# What a command writes, and its exit status.

sub output(@command) {
    my $pid = open(my $fh, '-|') // die "fork: $!\n";

    if ($pid == 0) {
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
        exec { $command[0] } @command or POSIX::_exit(127);
    }

    local $/;
    my $text = <$fh> // '';

    close $fh;

    return ($text, $? & 127 ? 128 + ($? & 127) : $? >> 8);
}


test 'the drop-in' => sub {

    is_deeply([ sort keys %drop_in ],
              [ qw( Environment RuntimeDirectory RuntimeDirectoryMode ) ],
              'its settings');

    is_deeply($drop_in{RuntimeDirectoryMode}, [ '0750' ],
              'its directory is closed to others');

    # the module's fixes have the same settings

    my $fixes = slurp("$root/src/core/diagnosis/jpp_problems.c");

    for my $setting (@{$drop_in{Environment}}) {
        my $fix = "Environment=$setting" =~ s/=MALLOC_CONF=/=%m=/r;

        like($fixes, qr/ \Q$fix\E\\n/, "the fixes have $setting");
    }

    my ($unit) = grep { -f } map { "$_/systemd/system/nginx.service" }
                                 '/usr/lib', '/lib';

    SKIP: {
        skip 'no systemd here', 1
            unless $unit && (output('systemd-analyze', '--version'))[1] == 0;

        make_dir("$dir/systemd");
        make_dir("$dir/systemd/nginx.service.d");

        system('cp', $unit, "$dir/systemd") == 0
            and system('cp', glob("$contrib/systemd/nginx.service.d/*"),
                       "$dir/systemd/nginx.service.d") == 0
            or die "cp failed\n";

        my ($text, $exit) = output('systemd-analyze', 'verify',
                                   "$dir/systemd/nginx.service");

        is("$text$exit", '0', 'systemd-analyze accepts it');
    }
};


test 'nginx as the drop-in starts it' => sub {

    my $port = free_port();
    my $run = "/run/$drop_in{RuntimeDirectory}[0]";
    my $socket = slurp("$contrib/nginx/jemalloc-pprof-socket.conf");

    like($socket, qr{listen unix:\Q$run\E/socket;},
         "the socket is in the drop-in's directory");

    # the same socket, elsewhere

    make_dir("$dir/run", oct($drop_in{RuntimeDirectoryMode}[0]));
    spew("$dir/socket.conf", $socket =~ s/\Q$run\E/$dir\/run/gr);

    my $conf = configuration($dir, \@modules, <<"CONF");
include $dir/socket.conf;

server {
    listen 127.0.0.1:$port;
    include $contrib/nginx/jemalloc-pprof.conf;
}
CONF

    nginx_start($conf, "http://127.0.0.1:$port/");

    check_answers('the snippet', "http://127.0.0.1:$port");
    check_answers('the socket', 'http://localhost', '--unix-socket',
                  "$dir/run/socket");

    my ($code) = output('curl', '-s', '-o', '/dev/null', '-w', '%{http_code}',
                        '--noproxy', '*', '--interface', '127.0.0.2',
                        "http://127.0.0.1:$port/debug/pprof/heap");

    is($code, 403, 'the snippet: other addresses are refused');

    is(nginx_end(), 0, 'nginx ends with status 0');

    my $log = slurp("$dir/error.log");

    like($log, qr/jemalloc_pprof: jemalloc \S+, profiling ready, one /,
         'the log says that profiling is ready');
    unlike($log, qr/\[(?:alert|crit|emerg)\]/, 'and has no alerts');
};


sub check_answers($what, $site, @options) {
    my ($text, $exit) = fetch(@options, "$site/debug/pprof/status");
    is($exit, 0, "$what: status is served") or diag($text);

    my $worker = (eval { decode_json($text) } // {})->{workers}[0];

    is($worker->{state}, 'ready', "$what: the worker is ready");
    is_deeply($worker->{problems}, [], "$what: it has no problems");

    ($text, $exit) = fetch(@options, "$site/debug/pprof/heap?format=top");

    is($exit, 0, "$what: the heap is served") or diag($text);
    like($text, qr/^inuse_space: .* in [1-9]\d* stacks, .* every (?#
                  )512(?:\.0+)? KiB/,
         "$what: sampled as the drop-in says");
}


# The path of a configuration around the directives of http in TEXT.

sub configuration($folder, $load, $text) {
    my $loads = join '', map { "load_module $_;\n" } @$load;
    my $temps = join '', map { "    ${_}_temp_path $folder/$_;\n" }
                             qw( client_body proxy fastcgi uwsgi scgi );

    return spew("$folder/nginx.conf", <<"CONF");
$loads
daemon off;
worker_processes 1;
pid $folder/nginx.pid;
error_log $folder/error.log info;

events {
    # 7 MB in each worker, which are certainly sampled
    worker_connections 16384;
}

http {
    access_log off;
$temps
$text
}
CONF
}


# Starts nginx with the drop-in's environment, and PATH, and nothing else.

sub nginx_start($conf, $url) {
    my %environment = map { split /=/, $_, 2 } @{$drop_in{Environment}};

    is_deeply([ sort keys %environment ], [ qw( LD_PRELOAD MALLOC_CONF ) ],
              "the drop-in's environment");

    $process = fork() // die "fork: $!\n";

    if ($process == 0) {
        open STDERR, '>>', "$dir/stderr" or POSIX::_exit(126);
        %ENV = (PATH => $ENV{PATH}, %environment);
        exec $nginx, '-p', $dir, '-c', $conf or POSIX::_exit(127);
    }

    my $answers = wait_until(sub {
        return (output('curl', '-s', '-o', '/dev/null', '--noproxy', '*',
                       $url))[1] == 0;
    }, $start_time);

    return if $answers;

    die "nginx does not answer: ", slurp("$dir/stderr"), "\n";
}


sub nginx_end {

    kill TERM => $process;
    waitpid $process, 0;
    $process = undef;

    return $?;
}


sub fetch(@arguments) {
    return output('curl', '-sS', '--fail-with-body', '--noproxy', '*', '-m',
                  $start_time, @arguments);
}


# The configurations of scrapers ask for what the module serves, and for nothing
# else.

test 'the scrapers' => sub {

    plan skip_all => 'there is no jemalloc' unless has_jemalloc();

    # how each file switches a profile on and off

    my %kinds = (
        'parca/parca.yaml' => qr/^ +(\w+):\n +enabled: (true|false)$/m,
        'alloy/config.alloy' =>
            qr/^ +profile\.(?:custom ")?(\w+)"? \{\n(?#
              ) +enabled +?= (true|false)$/m,
    );

    my $server = JppNginx->start(workers => 2);

    for my $file (sort keys %kinds) {
        my ($heap, $cpu) = split /^(?=  - job_name: nginx-cpu|(?#
                                 )pyroscope\.scrape "nginx_cpu")/m,
                                 slurp("$contrib/$file");

        # the scraper has more after its jobs

        check_job($server, "$file: memory", $heap, $kinds{$file}, 'strict=1',
                  qw( memory pools ));
        check_job($server, "$file: CPU", $cpu // '', $kinds{$file},
                  'seconds=1', 'process_cpu');

        my %seconds = ($cpu // '') =~ /(interval|timeout)\s*[:=] "?(\d+)s/g;

        cmp_ok($seconds{timeout} // 0, '>', $seconds{interval} // 999,
               "$file: it waits for a profile of that time");
        unlike($heap, qr/^ +"?seconds"? *[:=]/m, "$file: the heap has none");
    }

    $server->stop;
};


# The job TEXT scrapes PROFILES of SERVER, asked with QUERY, and no others.

sub check_job($server, $what, $text, $kind, $query, @profiles) {
    my %is_on = map { $_ => 'false' } qw( memory block goroutine mutex
                                          process_cpu );
    my %found;

    $is_on{$_} = 'true' for @profiles;

    while ($text =~ /$kind/g) {
        $found{$1} = $2;
    }

    is_deeply(\%found, \%is_on, "$what: these, of the profiles of Go");

    my @paths = $text =~ /^ +path *[:=] "?([\w\/]+)"?$/mg;
    my ($address) = $text =~ /"127\.0\.0\.1:(\d+)"/;
    my ($strict) = $text =~ /^ +"?strict"? *[:=] \["(\d)"\]/m;

    is($address, 8081, "$what: the address of the documents");
    is($strict, $query eq 'strict=1' ? 1 : undef, "$what: strict");
    is(scalar @paths, scalar @profiles, "$what: a path for each");

    for my $path (@paths) {
        my $answer = $server->get("$path?$query");

        is($answer->{status}, 200, "$what: $path is served")
            or diag($answer->{body});
        is($answer->{headers}{'content-type'}, 'application/octet-stream',
           "$what: in pprof's format");
        is($answer->{headers}{'jemalloc-pprof-workers'}, '2/2',
           "$what: for all workers");
    }
}


# The alerts are valid, each fires as it should, and the module serves their
# metrics.

test 'the alerts' => sub {
    my $rules = "$contrib/prometheus/nginx-memory.rules.yml";
    my $test = "$contrib/prometheus/nginx-memory.test.yml";

    for my $command ("check rules $rules", "test rules $test") {
        is(system("promtool $command >$dir/promtool 2>&1"), 0, $command)
            or diag(slurp("$dir/promtool"));
    }

    my @alerts = slurp($rules) =~ /alert: (\w+)/g;
    my %is_tested = map { $_ => 1 } slurp($test) =~ /alertname: (\w+)/g;

    is_deeply([ grep { !$is_tested{$_} } @alerts ], [], 'each has a test');

    my $server = JppNginx->start;
    my $body = $server->get('/debug/pprof/metrics')->{body};
    my %is_served = map { $_ => 1 } $body =~ /^# HELP (\w+)/mg;
    my %asked = map { s/_bucket$//r => 1 } slurp($rules) =~ /\b(nginx_\w+)/g;

    is_deeply([ grep { !$is_served{$_} } sort keys %asked ], [],
              'their metrics are served');

    $server->stop;
};


# The commands of the section, with a leak to find: a client makes one worker
# hold eight megabytes, first a new worker and then an old one.

test 'finding what leaks' => sub {

    plan skip_all => 'there is no jemalloc' unless has_jemalloc();
    plan skip_all => 'there is no go' if (output('go', 'version'))[1] != 0;

    my $large = 8 << 20;

    my $server = JppNginx->start(workers => 2, server => <<'CONF');
location = /large {
    root html;
    sendfile off;
    output_buffers 1 8m;
    limit_rate 1k;
}
location /debug/pprof/ { jemalloc_pprof; }
CONF

    my $html = make_dir("$server->{prefix}/html");

    spew("$html/large", 'x' x (2 * $large));

    my $client = hold($server);
    my ($worker) = map { /^worker=(\d+)$/ }
                   grep { holds($server, $_) } map { "worker=$_" } 0, 1;

    like(told($server, 'A worker that leaks', $worker),
         qr/ 8\.\d+ MiB .* ngx_output_chain\n(?:.*\n)*(?#
           ).* 8(?:\.\d+)?MB .* ngx_alloc\n/m,
         'a worker: it is found');

    my ($sum) = told($server, 'A worker that leaks', $worker)
                =~ /^ *(\d+\.\d+)MB .*: $worker$/m;

    cmp_ok($sum, '>', 8, 'a worker: its share');

    $server->reload(is_kept => 1);

    my $text;

    ok(wait_until(sub {
        $text = told($server, 'A reload that leaks');
        return $text =~ /^1$/m && $text =~ / 8\.\d+ MiB .* ngx_output_chain$/m;
    }), 'a reload: the old one is found') or diag($text);

    like($text, qr/^ *generation: Total .*\n(?:.*\n){2}/m,
         'a reload: two generations');

    $client->leave;

    ok(wait_until(sub { !holds($server, 'worker=all') }),
       'it ends with its client');

    # A client comes while a command waits, and there are two commands: the
    # second one waits when the first one's answer is in the log.

    my $answered = differences($server);
    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        my @kept;

        for my $n (0, 1) {
            wait_until(sub {
                differences($server) == $answered + $n && is_paused($server)
            });
            push @kept, hold($server);
        }

        sleep 60;
        POSIX::_exit(0);
    }

    $text = told($server, 'A module that leaks');
    kill KILL => $pid;
    waitpid $pid, 0;

    like($text, qr/ 8\.\d+ MiB .* ngx_output_chain$/m, 'a module: it is found');
    like($text, qr/^.+;ngx_output_chain;.*;ngx_alloc [1-9]\d*$/m,
         'a module: and its objects, by stack') or diag($text);

    $server->stop;
};


# How many of them were answered.

sub differences($server) {
    return scalar(() = $server->access_log =~ /seconds=3&/g);
}


# A worker has the first dumps of a difference, and nobody is at work.

sub is_paused($server) {
    my @pids = $server->worker_pids;

    return grep({ held($_) > 0 } @pids) && !grep { threads($_) > 1 } @pids;
}


# A client that is slow to read, so that its worker holds eight megabytes.

sub hold($server) {
    my $client = $server->asking('/large');

    $client->read_some(30, 1);

    return $client;
}


sub holds($server, $query) {
    my $text = $server->get('/debug/pprof/heap?format=top&callers=0&'
                            . $query)->{body};

    return $text =~ /^ *8\.\d+ MiB.* ngx_alloc$/m;
}


# What the commands of a section of docs/reading-a-heap.md print.

sub told($server, $heading, $worker = undef) {
    my ($text) = slurp("$root/docs/reading-a-heap.md")
                 =~ /^### \Q$heading\E\n(.*?)(?=^##)/ms
                     or die "reading-a-heap.md has no \"$heading\"\n";

    my @commands = map { split /\n/ } $text =~ /^```sh\n(.*?)^```$/msg;

    ok(scalar @commands, "$heading: there are commands");

    # the example has worker 0 as the suspect

    if ($worker) {
        s/worker=([01])/'worker=' . (1 - $1)/e for @commands;
    }

    my $where = make_dir("$dir/told" . rand);
    my $script = join "\n", 'set -e', "cd $where", "export HOME=$where",
                            "export PPROF_TMPDIR=$where", "export no_proxy='*'",
                            "P=http://127.0.0.1:$server->{port}/debug/pprof",
                            @commands;

    my ($said, $exit) = output('sh', '-c', $script);

    is($exit, 0, "$heading: they succeed") or diag($said);

    return $said;
}


# All programs of the PATH but one: the error names what is missing.

test 'configure without protoc-c' => sub {

    plan skip_all => "there is no nginx to configure in $own"
        if !-x "$own/configure";

    my $tree = make_dir("$dir/tree");

    # folder by folder: ccache looks behind its own for the compiler

    my $n = 0;
    my @path = map {
        my $bin = make_dir("$dir/bin-" . $n++);

        symlink $_, "$bin/" . basename($_)
            for grep { basename($_) ne 'protoc-c' } glob "$_/*";
        $bin;
    } split /:/, $ENV{PATH};

    my $path = join ':', @path;

    symlink "$own/$_", "$tree/$_" or die "$tree/$_: $!\n"
        for qw( auto configure src );

    my ($said, $exit) = output('/usr/bin/env', "PATH=$path", 'sh', '-c',
                               "cd $tree && ./configure --with-compat "
                               . "--add-dynamic-module=$root");

    isnt($exit, 0, 'it is an error');
    like($said, qr/^\S+: error: the jemalloc pprof module needs protoc-c (?#
                   )\(Debian package protobuf-c-compiler\)\.\n*\z/m,
         'its end says what is missing, and which package has it');
};


test 'the package' => sub {

    # the package is for the machine's nginx, whatever nginx the suites use

    plan skip_all => 'the package is built where the module is loaded'
        if !@modules || $ENV{TEST_NGINX_USE_HUP};

    my $deb = build_package() // return;
    my %field = map { $_ => (output('dpkg-deb', '-f', $deb, $_))[0] }
                    qw( Package Version Depends Recommends );

    chomp %field;

    my ($version) = slurp("$root/src/core/base/jpp_version.h")
                    =~ /JPP_VERSION\s+"(.*)"/;

    is($field{Package}, $name, 'its name');
    is($field{Version}, $version, 'its version is that of the module');

    my ($abi) = slurp("$own/debian/libnginx-mod.abisubstvars")
                =~ /^nginx:abi=(.*)$/m;

    like($field{Depends}, qr/(?:^|, )\Q$abi\E(?:,|$)/,
         'it depends on this nginx');

    for my $library (qw( libc6 libelf1 libprotobuf-c1 zlib1g )) {
        like($field{Depends}, qr/(?:^|, )$library(?:t64)? \(>= /,
             "it depends on $library");
    }

    unlike($field{Depends}, qr/jemalloc/, 'it does not depend on jemalloc');
    is($field{Recommends}, 'libjemalloc2', 'and recommends it');

    check_contents($deb, $version);
};


# Builds the package in a copy; its path.

sub build_package {

    my $copy = "$dir/package/source";
    my @files = map { "$root/$_" } qw( config LICENSE README.md contrib docs
                                      ngx_http_jemalloc_pprof_module.c proto
                                      src tools );

    make_dir("$dir/package");
    make_dir($copy);

    system('cp', '-R', @files, $copy) == 0
        and system('cp', '-R', "$contrib/debian", "$copy/debian") == 0
        or die "cp failed\n";

    local $ENV{DEB_BUILD_OPTIONS} = 'noautodbgsym';

    my ($text, $exit) = output('sh', '-c', 'cd "$1" && shift && exec "$@"',
                               'sh', $copy, 'timeout', $build_time,
                               'dpkg-buildpackage', '-b', '-us', '-uc');

    is($exit, 0, 'dpkg-buildpackage builds it')
        or diag($text =~ /((?:.*\n){0,30})\z/);

    my @debs = glob("$dir/package/*.deb");

    is(scalar @debs, 1, 'one package is built');

    return $debs[0];
}


sub check_contents($deb, $version) {
    my $system = make_dir("$dir/root");
    my $doc = "usr/share/doc/$name";
    my $load = 'mod-http-jemalloc-pprof.conf';

    my ($text, $exit) = output('dpkg-deb', '-x', $deb, $system);
    is($exit, 0, 'it can be unpacked') or diag($text);

    for my $file ("usr/lib/nginx/modules/$module",
                  'usr/bin/jemalloc-pprof',
                  'usr/share/man/man1/jemalloc-pprof.1.gz',
                  "usr/share/nginx/modules-available/$load",
                  "$doc/copyright",
                  "$doc/examples/nginx/jemalloc-pprof.conf",
                  "$doc/examples/nginx/jemalloc-pprof-socket.conf",
                  "$doc/examples/systemd/nginx.service.d/jemalloc-pprof.conf")
    {
        ok(-f "$system/$file", "it has $file");
    }

    # documents may be compressed

    for my $file ('README.md', map { basename($_) } glob("$root/docs/*.md")) {
        ok(-f "$system/$doc/$file" || -f "$system/$doc/$file.gz",
           "it has $doc/$file");
    }

    is(words("$system/$doc/copyright"), words("$root/LICENSE"),
       'its license is ours');

    check_tool($system, $version);

    ($text) = output('sh', '-c', 'dpkg-deb --ctrl-tarfile "$1" | tar -xO',
                     'sh', $deb);
    like($text, qr/\Q$load\E:50-\Q$load\E/, 'it enables the module');

    # as the package of nginx links them

    symlink '../../lib/nginx/modules', "$system/usr/share/nginx/modules"
        or die "$system: $!\n";

    my $conf = configuration($system, [], <<"CONF");
server {
    include $system/$doc/examples/nginx/jemalloc-pprof.conf;
}
CONF

    spew($conf, "include $system/usr/share/nginx/modules-available/*.conf;\n",
         slurp($conf));

    ($text, $exit) = output('nginx', '-t', '-p', "$system/usr/share/nginx/",
                            '-c', $conf);

    is($exit, 0, "the machine's nginx takes it") or diag($text);
}


# The package's tool makes the same profile as the one of the tree, and its
# manual can be read.

sub check_tool($system, $version) {
    my $tool = "$system/usr/bin/jemalloc-pprof";
    my $dump = "$root/t/data/hand.heap";

    is((output($tool, '--version'))[0], "jemalloc-pprof $version\n",
       'the tool runs');

    my ($text, $exit) = output($tool, '--format=folded', '--symbolize=0',
                               '--any-kernel', $dump);

    is($exit, 0, 'it reads a dump') or diag($text);
    is($text, slurp("$root/t/data/hand.folded"), 'and prints its stacks');

    ($text, $exit) = output('readelf', '-d', $tool);
    like($text, qr/\bPIE\b/, 'it is position-independent, as Debian wants');
    like($text, qr/\bBIND_NOW\b/, 'and bound at its start');

    ($text, $exit) = output('man', '-l',
                            "$system/usr/share/man/man1/jemalloc-pprof.1.gz");

    is($exit, 0, 'man reads its manual');
    like($text, qr/--any-kernel/, 'which is the manual of this tool');
}


# The words of a license: Debian's form is indented, and marks empty lines.

sub words($path) {
    my ($text) = slurp($path) =~ /(Redistribution.*)/s;

    $text =~ s/^ \.$//mg;

    return join ' ', split ' ', $text;
}


END {
    my $status = $?;

    nginx_end() if $process;

    $? = $status;
}
