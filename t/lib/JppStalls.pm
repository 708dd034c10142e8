package JppStalls;

# An nginx whose workers stand still when they are told to, and as long: in a
# sleep, in a computation, in a read(), and in an uninterruptible wait of the
# kernel.  And the servers that docs/stalls.md speaks of.

use JppPerl;

use Exporter qw( import );
use Fcntl qw( O_RDWR O_NONBLOCK );
use POSIX qw( mkfifo );
use Time::HiRes qw( sleep time );

use JppNginx qw( spew wait_until );
use JppRun qw( lua_modules modules );

our @EXPORT_OK = qw( stalling hold release stalls log_lines
                     block %block_under sleeping backtracking waiting );

# the functions that a block is under
our %block_under = (slept => 'Perl_pp_sselect',
                    computed => 'Perl_runops_standard',
                    waited => 'posix_spawn');

# who reads may be gone
$SIG{PIPE} = 'IGNORE';

# The parent of posix_spawn() waits in the kernel, uninterruptibly, until its
# child has opened the file: as for a disk that does not answer.
my $spawn = <<'LUA';
local ffi = require "ffi"

ffi.cdef [[
    typedef struct { char all[256]; } actions_t;
    int posix_spawn_file_actions_init(actions_t *);
    int posix_spawn_file_actions_addopen(actions_t *, int, const char *, int,
                                         unsigned);
    int posix_spawn(int *, const char *, actions_t *, void *, char **,
                    char **);
]]

function kernel(path)
    local actions = ffi.new("actions_t")
    local pid = ffi.new("int[1]")
    local argv = ffi.new("char *[2]", { ffi.cast("char *", "true") })

    ffi.C.posix_spawn_file_actions_init(actions)
    ffi.C.posix_spawn_file_actions_addopen(actions, 0, path, 0, 0)
    ffi.C.posix_spawn(pid, "/bin/true", actions, nil, argv, nil)
end
LUA


# HOW is that of JppNginx; stall is the directive's value, and servers more of
# them.

sub stalling(%how) {
    my $stall = delete $how{stall} // '100ms';
    my $modules = modules('ngx_http_perl_module') . lua_modules();
    my $servers = delete $how{servers} // '';

    my $nginx = JppNginx->start(main => <<"MAIN", http => <<"HTTP",
$modules
MAIN
jemalloc_pprof_stall $stall;
init_by_lua_block { $spawn }
$servers
HTTP
        server => <<'SERVER', level => 'notice', workers => 1,
server_name www.example.com;
location /debug/pprof/ { jemalloc_pprof control=on; }

location /sleep/ {
    perl 'sub {
        select undef, undef, undef, 0.3;
        $_[0]->send_http_header;
        $_[0]->print("slept\n");
    }';
}
location /api/ {
    perl 'sub {
        select undef, undef, undef, 0.6;
        $_[0]->send_http_header;
        $_[0]->print("{}\n");
    }';
}
location /read/ {
    perl 'sub {
        open my $file, "<", $_[0]->args;
        my $line = <$file>;
        $_[0]->send_http_header;
        $_[0]->print("read $line");
    }';
}
location /compute/ {
    perl 'sub {
        my $path = $_[0]->args;
        my $n = 0;
        while (! -e $path) { $n += length("a" x 1000) for 1 .. 1000 }
        $_[0]->send_http_header;
        $_[0]->print("computed\n");
    }';
}
location /search/ {
    if ($arg_q ~ "(a+)+[b-d]") { return 403; }
    return 200 "found\n";
}
location /kernel/ {
    content_by_lua_block { kernel(ngx.var.args) ngx.say("spawned") }
}
SERVER
        %how);

    mkfifo("$nginx->{prefix}/fifo", 0666) or die "mkfifo: $!\n";
    chmod 0666, "$nginx->{prefix}/fifo" or die "chmod: $!\n";

    return $nginx;
}


# A client whose request holds a worker, in the way HOW; returns once that is a
# stall with a stack, or lasts.

sub hold($nginx, $how) {
    my $client = $nginx->asking("/$how/?$nginx->{prefix}/" . file($how));

    wait_until(sub {
        my ($now) = stalls($nginx);

        return grep { /so far, (?:computing|blocked), in/ } @$now;
    }) or die join "\n", "$how: no stall", map { @$_ } stalls($nginx);

    return $client;
}


# Let it go on; the answer.

sub release($nginx, $client, $how) {
    my $path = "$nginx->{prefix}/" . file($how);

    if ($how eq 'compute') {
        spew($path, '');

    } else {
        open my $fifo, '>', $path or die "$path: $!\n";
        print $fifo "a line\n";
        close $fifo;
    }

    my $answer = $client->response;

    # it is sent before the iteration ends

    wait_until(sub { !grep { / so far, / } @{ (stalls($nginx))[0] } })
        or die "$how: it does not end\n";

    unlink $path if $how eq 'compute';

    return $answer;
}


sub file { $_[0] eq 'compute' ? 'go' : 'fifo' }


# The stalls by their comments, the newest first, and by their stacks.

sub stalls($nginx, $query = undef) {
    $query = $query ? "&$query" : '';

    my $top = elsewhere($nginx, "top&cols=1000$query");
    my $folded = elsewhere($nginx, "folded$query");

    return ([ $top =~ /^(\d+-\S+Z worker .*)/mg ], [ split /\n/, $folded ]);
}


# By a worker that does not stand still: the other one may have accepted the
# connection before.

sub elsewhere($nginx, $query) {
    for (1 .. 60) {
        my $client = $nginx->client;

        $client->send_request("/debug/pprof/stalls?format=$query", close => 1);

        next unless $client->hears(0.5);

        my $answer = $client->response;

        return $answer->{body} if $answer->{status} == 200;
    }

    die $nginx->say_why('nobody answers');
}


sub log_lines($nginx) {
    return $nginx->error_log =~ /\] \d+#\d+: (jemalloc_pprof: the event .*)/g;
}


# What docs/stalls.md shows.  The threshold is one that a busy machine alone
# does not reach.

sub shown($path) {
    my $nginx = stalling(stall => '250ms', workers => 2);

    $nginx->get($path);

    # the answer is sent before the iteration ends

    wait_until(sub { scalar(() = log_lines($nginx)) })
        or die $nginx->say_why('no stall');

    return $nginx;
}


sub sleeping { shown('/api/') }
sub backtracking { shown('/search/?q=' . ('a' x 20 . '!') x 20) }


sub waiting {
    my $nginx = stalling(stall => '250ms', workers => 2);

    return ($nginx, bless [ $nginx, hold($nginx, 'kernel') ]);
}


# It goes on when nobody wants to see it any more.

sub DESTROY($self) {
    release(@$self, 'kernel');
}


# One block of an nginx that is stalling: how long it took, ms.  The kernel's is
# held by us.

sub block($nginx, $how) {
    my $client = $nginx->client;
    my $begin = time();

    if ($how eq 'slept') {
        $client->get('/sleep/', close => 1);
        return 300;
    }

    my $path = "$nginx->{prefix}/" . ($how eq 'computed' ? 'go' : 'fifo');

    $client->send_request(($how eq 'computed' ? '/compute/?' : '/kernel/?')
                          . $path, close => 1);
    sleep 0.3;

    if ($how eq 'computed') {
        spew($path, '');
        $client->response;
        unlink $path;

    } else {
        sysopen my $fifo, $path, O_RDWR|O_NONBLOCK or die "$path: $!\n";
        $client->response;
    }

    return 1000 * (time() - $begin);
}


1;
