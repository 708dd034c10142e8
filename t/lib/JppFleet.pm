package JppFleet;

# What the suites of processes share beyond JppNginx: several workers that
# answer together, what an answer says about missing ones, and the state to
# which everything has to return.

use JppPerl;

use Exporter qw(import);
use Test::More;

use JppNginx qw( wait_until slurp spew descriptors threads dumps sockets profile
                 partly );

our @EXPORT_OK = qw( asker clients_of_one connections fleet grow held is_at_rest
                     is_well measured missing rests_at status wait_for );

my $heap = '/debug/pprof/heap';


# An nginx whose location has DIRECTIVES besides; HOW as for JppNginx.

sub fleet($directives, %how) {
    return JppNginx->start(server => <<"EOF", %how);
        location /debug/pprof/ {
            jemalloc_pprof control=on;
            $directives
        }
        location = /pid { return 200 \$pid; }
        location /file { root .; }
EOF
}


# A worker and N clients whose connections it serves: the first worker that has
# accepted so many.

sub clients_of_one($nginx, $n) {
    my %clients;

    for ( ;; ) {
        my $client = $nginx->client;
        my $pid = $client->get('/pid')->{body};

        push @{ $clients{$pid} }, $client;

        return ($pid, @{ $clients{$pid} }) if @{ $clients{$pid} } == $n;
    }
}


# A worker, a client of it, and the other workers.

sub asker($nginx) {
    my ($pid, $client) = clients_of_one($nginx, 1);

    return ($pid, $client, grep { $_ != $pid } $nginx->worker_pids);
}


# The workers in the status that WHO gets, and why some are missing; text is
# all of the answer.

sub status($who) {
    my $answer = $who->get('/debug/pprof/status');
    my $text = "$answer->{status}\n$answer->{body}";
    my ($there, $missing) = $text =~ /^(.*?)"missing": (\[.*?\])/s;

    # a refusal has none of it, and says why

    ($there, $missing) = ('', '') if !defined $there;

    return { text => $text,
             counts => [ $there =~ /"asked": (\d+),\s+"answered": (\d+)/ ],
             pids => [ sort { $a <=> $b } $there =~ /"pid": (\d+)/g ],
             rates => [ $there =~ /"lg_sample": (\d+)/g ],
             active => [ $there =~ /"active": (true|false)/g ],
             missing => [ $missing =~ /"pid": (\d+)/g ],
             why => [ $missing =~ /"why": "(.*?)"/g ] };
}


# The running workers know of no others, hold no dumps of others, and all
# answer.

sub is_well($nginx, $what, @dead) {
    my ($status, @pids);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    # the diagnosis shows the last attempt

    my $is_well = wait_until(sub {
        @pids = $nginx->worker_pids;
        $status = status($nginx);

        return @pids == $nginx->{workers}
               && "@pids" eq "@{ $status->{pids} }"
               && !@{ $status->{missing} }
               && !grep { dumps($_) != 1 || threads($_) != 1 } @pids;
    });

    ok($is_well, "$what: status has the running workers, which are at rest")
        or diag("workers: @pids\ndumps: @{[ map { dumps($_) } @pids ]}\n"
                . $status->{text});

    ok(wait_until(sub { !sockets(@dead) }),
       "$what: ended workers left no socket")
        or diag(sockets(@dead));

    my $all = "$nginx->{workers}/$nginx->{workers}";
    my $answer;

    # on a busy machine a worker may be late

    wait_until(sub {
        $answer = $nginx->get($heap);

        return partly($answer) eq $all;
    });

    is($answer->{status}, 200, "$what: an answer") or diag($answer->{body});
    is(partly($answer), $all, "$what: of all workers");
}


# Why workers are missing, by pid.  The answer says how many and which, and has
# no samples of theirs.

sub missing($answer, $what) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my ($n, $of) = split m{/}, partly($answer);
    my $profile = profile($answer);

    my %why = map { /^worker \d+ pid (\d+) is missing: (.+)$/ ? ($1, $2) : () }
              @{ $profile->{comments} };

    is(($of // 0) - $n, scalar keys %why,
       "$what: each missing worker is named")
        or diag(partly($answer), map { "\n$_" } @{ $profile->{comments} });

    ok(grep({ $_ eq 'workers ' . partly($answer) } @{ $profile->{comments} }),
       "$what: a comment says how many answered");
    is(scalar(grep { $why{$_} } keys %{ $profile->{labels}{pid} }), 0,
       "$what: missing workers have no samples");

    return \%why;
}


# The path of a dump with N allocations more than what was inherited.

sub grow($nginx, $n) {
    my $dump = $nginx->get("$heap?format=jemalloc&worker=self")->{body};
    my $count = 1 + $n;
    my $bytes = $count * 16777216;

    $dump =~ s/\b1: 16777216\b/$count: $bytes/g;

    return spew("$nginx->{prefix}/dump.$n", $dump);
}


# How many dumps a worker holds beside its baseline.

sub held($pid) {
    return dumps($pid) - 1;
}


# Waits until PID holds N dumps, and a thread is at work or none is.

sub wait_for($pid, $n, $is_at_work) {
    return wait_until(sub {
        held($pid) == $n && threads($pid) == 1 + $is_at_work
    });
}


# How many descriptors PID has with N clients and nothing to do: as many as
# EXPECTED, where that is given.  A worker may close what an answer was made of
# after the client has the answer.

sub rests_at($nginx, $pid, $n_clients, $expected = undef) {
    my $last = -1;

    wait_until(sub {
        my $n = () = descriptors($pid);
        my $is_enough = (defined $expected ? $n <= $expected : $n == $last)
                        && connections($nginx, $pid) == $n_clients
                        && held($pid) <= 0 && threads($pid) == 1;

        $last = $n;

        return $is_enough;
    });

    return $last;
}


# No job is left: neither a dump nor a thread.

sub is_at_rest($pid, $what) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    ok(wait_for($pid, 0, 0), "$what: no dump and no thread is left");
}


# How many connections of clients are open in the worker PID, or in all.  In the
# kernel's list the second field is the address, the fourth the state (0A
# listens), the tenth the inode.

sub connections($nginx, $pid = undef) {
    my $port = sprintf ':%04X', $nginx->{port};
    my %is_ours;

    for my $worker ($pid // $nginx->worker_pids) {
        for (descriptors($worker)) {
            my $link = readlink("/proc/$worker/fd/$_") // '';

            $is_ours{$1} = 1 if $link =~ /^socket:\[(\d+)\]/;
        }
    }

    return scalar grep { ($_->[1] // '') =~ /$port$/ && $_->[3] ne '0A'
                         && $is_ours{ $_->[9] } }
           map { [ split ] } split /\n/, slurp('/proc/net/tcp');
}


# A measured figure, which a soak run shows.

sub measured { return $ENV{JPP_SOAK} ? diag(@_) : note(@_) }


1;
