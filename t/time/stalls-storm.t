#!/usr/bin/perl

# Stalls in every worker at once, all the time, while the heap is sampled,
# workers are killed and the configuration is reloaded: nobody crashes, nothing
# is logged that should not be, and what is kept can be read.
#
# JPP_SOAK=1 does it for a minute.
#
# Not here: single stalls (time/stalls.t); the watcher by itself
# (t/unit/jpp_watch_test.c).

use JppTest;
use Fcntl qw( O_RDWR O_NONBLOCK );
use JppStalls qw( log_lines stalling stalls );

my $seconds = $ENV{JPP_SOAK} ? 60 : 5;
my $clients = 8;


test 'all at once', 'jemalloc', 'scripts' => sub {
    my $port = free_port();
    my $nginx = stalling(workers => 4, stall => '10ms', servers => <<"CONF");
server {
    listen 127.0.0.1:$port;

    location /nap/ {
        perl 'sub {
            select undef, undef, undef, 0.03;
            \$_[0]->send_http_header;
        }';
    }
    location /lua/ {
        content_by_lua_block {
            local s = ""
            for i = 1, 20000 do s = (s .. i):sub(-100) end
            ngx.say(s)
        }
    }
    location /regex/ {
        if (\$arg_q ~ "^(a+)+[b-d]") { return 403; }
        return 200;
    }
}
CONF

    my @paths = ('/nap/', '/lua/', '/regex/?q=' . 'a' x 20 . '!');
    my $i = 0;
    my @children = (
        busy($clients, sub {
            # over whatever connection there is
            my $client = JppClient->new(port => $port);

            $client->send_request($paths[$i++ % @paths], close => 1);
            $client->hears(1);
        }),
        busy(1, sub { spawn($nginx) }), busy(1, sub { ask($nginx, $i++) }));

    $nginx->storm($seconds, 0.4);
    undef @children;

    # requests that nobody waits for are still to be served

    my $fifo = open_fifo($nginx);

    ok(wait_until(sub { $nginx->worker_pids == 4 }), 'there are workers');

    my ($comments, $stacks) = stalls($nginx);

    cmp_ok(scalar @$comments, '>', 10, 'there are stalls');
    # those of the storm may all be of one sort

    for my $how ([ 'computing', $paths[2] ], [ 'blocked', $paths[0] ]) {
        ok(wait_until(sub {
            JppClient->new(port => $port)->get($how->[1], close => 1);

            return grep { /$how->[0]/ } @{ (stalls($nginx))[0] };
        }), "and they are found: $how->[0]");
    }

    cmp_ok(scalar(grep { /;ngx_process_events_and_timers;/ } @$stacks), '>', 5,
           'with stacks from their beginning');

    is(checked($nginx->get('/debug/pprof/stalls')->{body}), '',
       'a profile that keeps the contract');

    note(scalar(() = log_lines($nginx)) . ' lines');
    $nginx->stop(alerts => qr/exited on signal 9/);
};


# Waits in the kernel, for a moment.

sub spawn($nginx) {
    my $client = $nginx->asking("/kernel/?$nginx->{prefix}/fifo", close => 1);

    sleep 0.05;

    my $fifo = open_fifo($nginx);

    $client->hears(0.2);
}


# While it is open for writing, nobody waits for that.

sub open_fifo($nginx) {
    sysopen my $fifo, "$nginx->{prefix}/fifo", O_RDWR|O_NONBLOCK
        or die "$nginx->{prefix}/fifo: $!\n";

    return $fifo;
}


sub ask($nginx, $i) {
    my $format = (qw( pprof top html svg folded ))[$i % 5];
    my $client = $nginx->client;

    $client->send_request("/debug/pprof/stalls?format=$format", close => 1);
    $client->hears(1);
    $client->send_request('/debug/pprof/heap', close => 1);
}
