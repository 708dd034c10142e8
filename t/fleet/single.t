#!/usr/bin/perl

# A single process (master_process off) that is reloaded with less.  It accepts
# nothing from then on, but connections that it has are served as they were; and
# what lay in shared memory is gone.
#
# Not here: that it goes on with what stays (nginx/history.t, fleet/worker.t,
# time/stalls.t).

use JppTest;


# The table is gone, which the answer says.

test 'without stalls' => sub {
    my $nginx = JppNginx->start(master => 0, level => 'notice',
                                http => 'jemalloc_pprof_stall 100ms;');

    my $client = $nginx->client;

    is($client->get('/debug/pprof/stalls')->{status}, 200, 'with stalls');

    again($nginx, http => 'jemalloc_pprof_stall off;');

    like($client->get('/debug/pprof/stalls?format=top&cols=1000')->{body},
         qr/^stalls are not recorded: POST stall=100ms to control$/m,
         'without');
};


test 'without a location' => sub {
    my $nginx = JppNginx->start(master => 0, level => 'notice');
    my $client = $nginx->client;

    is($client->get('/fine')->{status}, 200, 'a connection');

    again($nginx, server => '');

    for my $path ('', 'status', 'metrics', 'heap', 'profile?seconds=1',
                  'stalls', 'memory', 'none')
    {
        ok($client->get("/debug/pprof/$path")->{status}, "/$path is answered");
    }
};


test 'a request under way' => sub {
    my $nginx = JppNginx->start(master => 0, level => 'notice');
    my $client = $nginx->client;

    is($client->get('/fine')->{status}, 200, 'a connection');

    $client->send_request('/debug/pprof/profile?seconds=2');
    ok(wait_until(sub { threads($nginx->{pid}) > 1 }), 'a profile is taken');

    again($nginx, server => '');

    ok($client->response->{status}, 'it is answered');
    is($client->get('/fine')->{body}, "fine\n", 'and the process goes on');
};


# Reload NGINX with what HOW changes; returns once that is done.

sub again($nginx, %how) {
    $nginx->configure(%how);
    $nginx->signal('HUP');

    ok(wait_until(sub { $nginx->error_log =~ /reconfiguring/ }),
       'it is reloaded');
}
