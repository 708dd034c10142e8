#!/usr/bin/perl

# ./dev build and ./dev run as a new user sees them: they say what the documents
# show; and the demonstration ends well and leaves nothing behind, whenever it
# is interrupted.

use JppTest;
use POSIX qw( :sys_wait_h setsid );
use JppShown qw( shown_blocks shown_pattern );

chdir $root or die "$root: $!\n";

my ($port, $tls) = map { free_port() } 1 .. 2;

$ENV{JPP_PORT} = $port;
$ENV{JPP_TLS_PORT} = $tls;

# the environment of the suites' nginx is not for this one

delete @ENV{qw( MALLOC_CONF LD_PRELOAD )};

my $out = `sh tools/run.sh --once 2>&1 </dev/null`;

is($?, 0, 'it ends with status 0') or diag($out);

like($out, qr/^ +inuse_space: .* in \d+ stacks/m, 'it shows the top');
like($out, qr/^ +[0-9.]+ [KM]iB .* ngx_\w+/m, 'with names');
like($out, qr{^All workers answered: 4/4\.}m, 'for all workers');
like($out, qr/^ +worker $_: inuse_space: /m, "and for worker $_") for 0 .. 3;
like($out, qr{http://127\.0\.0\.1:$port/debug/pprof/}, 'it shows its URL');
like($out, qr{^ *go tool pprof -top http://}m, 'and a command to type');
like($out, qr/errors=0 /, 'the traffic had no errors');

my ($sampled) = $out =~ /^The same for an nginx without jemalloc, (?#
                          )also running:\n(.*?)^nginx \(pid/ms;

like($sampled // '', qr/-d 'sampler=on&lg_sample=10' http/, 'the sampler');
like($sampled // '', qr/^    inuse_space: [1-9].* one every 1\.0 KiB/m,
     'a profile without jemalloc');

is_free();

# Ctrl-C, as a terminal sends it: to the whole group

my $log = File::Temp->new;
my $logs = ($ENV{JPP_BUILD} // 'build') . "/run/$port/logs";

for (
    [ 'before it does anything', sub { 1 } ],
    [ 'as it writes the configuration', sub { -e $logs } ],
    [ 'as nginx starts', sub { -s "$logs/nginx.pid" } ],
    [ 'as the traffic begins', sub { -e "$logs/load" } ],
    [ 'as it waits for that', sub { slurp("$log") =~ /^Ctrl-C ends it/m } ],
) {
    my ($when, $is_now) = @$_;

    subtest "Ctrl-C $when" => sub { interrupted($is_now) };
}

# the last one printed everything

my ($said) = slurp("$log") =~ /(.*^Ctrl-C ends it\.\n)/ms;

like($said // '', shown_pattern($_->{output}), "what README.md shows of it")
    for shown('README.md', './dev run');

# a port that is taken

my $taken = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1',
                                  LocalPort => $port, ReuseAddr => 1)
    or die "listen: $!\n";

$out = `sh tools/run.sh --once 2>&1 </dev/null`;

isnt($? >> 8, 0, 'a port that is taken is a failure');
like($out, qr/\b$port\b.*JPP_PORT/s, 'which names the port, and the fix');
is(scalar(split /\n/, $out), 1, 'in one line') or diag($out);


# ./dev build prints what it built, for which nginx, and the next step, or that
# this nginx does not load the module.

test './dev build' => sub {

    my $bin = tempdir(TMPDIR => 1, CLEANUP => 1);
    my ($nginx) = grep { -x } map { "$_/nginx" } split(/:/, $ENV{PATH}),
                                                 '/usr/sbin';

    like(scalar `./dev build 2>&1`, shown_pattern($_->{output}),
         'what docs/install.md shows of it')
        for shown('docs/install.md', './dev build');

    # an nginx with the package, which configure, as the first to ask, must not
    # see

    my $enabled = "$bin/modules-enabled/50-mod-http-jemalloc-pprof.conf";

    mkdir "$bin/modules-enabled" or die "$bin: $!\n";
    spew($enabled, slurp('contrib/nginx/mod-http-jemalloc-pprof.conf'));

    imitate("$bin/nginx", <<"END");
test "\$1" = -V && test -e $bin/asked && {
    $nginx -V 2>&1 | sed 's:conf-path=[^ ]*:conf-path=$bin/nginx.conf:' >&2
    exit
}
test "\$1" = -V && >$bin/asked
exec $nginx "\$@"
END

    my $text = `PATH=$bin:\$PATH ./dev build 2>&1`;

    like($text, qr/^and add no load_module: \Q$enabled\E has it already\.\n\z/m,
         'it says that the package loads the module');
    unlike($text, qr/^ *load_module/m, 'and does not tell to load it twice');

    # an nginx that is not the one of nginx-dev

    my $why = 'module "x.so" version 1022001 instead of 1026003';

    imitate("$bin/nginx", <<"END");
test "\$1" = -t || exec $nginx "\$@"
echo 'nginx: [emerg] $why in x' >&2
exit 1
END

    $text = `PATH=$bin:\$PATH ./dev build 2>&1`;

    isnt($?, 0, 'a module that is not loaded is a failure');
    like($text, qr{^dev: \Q$bin\E/nginx \(\d+\.\d+\.\d+\) does not load (?#
                   )the module:\ndev: \Q$why\E in x\n(?#
                   )dev: it was built for .* nginx-dev \(.*\); for another (?#
                   )see docs/install\.md, "From the sources of nginx"\n\z},
         'which has the reason, and what to do');
    like(slurp('docs/install.md'), qr/^## From the sources of nginx$/m,
         'the section that it names exists');
};


sub imitate($path, $script) {
    spew($path, "#!/bin/sh\n$script");
    chmod 0755, $path or die "$path: $!\n";
}


# The steps of a document that show what COMMAND says.

sub shown($document, $command) {
    my @steps = grep { $_->{command} eq "$command\n" }
                map { @{ $_->{steps} } } shown_blocks($document);

    die "$document does not show $command\n" if !@steps;

    return @steps;
}


sub is_free {
    for ($port, $tls) {
        ok(!IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $_),
           "port $_ is free");
    }
}


# Runs the demonstration in a session of its own, and interrupts it once IS_NOW
# is true.

sub interrupted($is_now) {
    system 'rm', '-rf', $logs;

    my $pid = fork() // die "fork: $!\n";

    if ($pid == 0) {
        # first, since the signal may come as soon as there is a group

        $SIG{INT} = 'DEFAULT';
        setsid();

        open STDIN, '<', '/dev/null' or POSIX::_exit(126);
        open STDOUT, '>', "$log" or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);

        exec 'sh', 'tools/run.sh' or POSIX::_exit(127);
    }

    # until the group exists, no signal reaches it

    wait_until(sub { getpgrp($pid) == $pid });

    ok(wait_until($is_now), 'it has come that far') or diag(slurp("$log"));

    kill 'INT', -$pid;

    my $has_ended = wait_until(sub { waitpid($pid, WNOHANG) == $pid });
    my $status = $?;

    ok($has_ended, 'it ends') or kill 'KILL', -$pid;

    # by the signal itself while there is nothing to clean up

    ok($status == POSIX::SIGINT || $status >> 8 == 130, 'by the signal')
        or diag("status $status\n", slurp("$log"));

    wait_until(sub { !session($pid) });

    my @left = session($pid);

    is(scalar @left, 0, 'no process of it is left')
        or diag(map { "$_ " . title($_) . "\n" } @left);
    is_free();
}


# The processes in the session of LEADER: the sixth field of their line.

sub session($leader) {
    return grep {
        my $stat = eval { slurp("/proc/$_/stat") } // '';

        $stat =~ /.*\) [^Z] \d+ \d+ (\d+) / && $1 == $leader;
    } map { m{/(\d+)$} } glob '/proc/[0-9]*';
}
