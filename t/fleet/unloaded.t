#!/usr/bin/perl

# A single process (master_process off) that is reloaded without the module.
# nginx calls nothing of it then, and has unmapped its zones; what is left of it
# in the process ends, and clients that are connected are served on.
#
# nginx has the connections of the former configuration only, so that some leave
# with it: their places are free then.
#
# Not here: one that is reloaded with less of it (fleet/single.t); workers,
# which end with their configuration (fleet/reload.t, fleet/reloads.t).

use JppTest;

my $all = 'jemalloc_pprof_stall 50ms; jemalloc_pprof_owners on;'
          . ' jemalloc_pprof_source sampler;';

my @resources = ('', qw( status metrics heap profile?seconds=1 stalls memory
                         pools requests locations events grown
                         cmdline none ));

# its memory is written down every five seconds
my $interval = 5;


sub start(%how) {
    my $nginx = JppNginx->start(master => 0, level => 'notice',
                                connections => 64,
                                conf => 'prof:false', http => $all, %how);

    # of two reloads; with a sixteenth free or less, nginx ends idle ones

    $nginx->{spare} = [ map { $nginx->client } 1 .. 24 ];
    $_->get('/fine') for @{ $nginx->{spare} };

    return $nginx;
}


# Reload NGINX after CONFIGURE; returns once that is done, and half of those who
# are connected have left.

sub reload($nginx, $configure) {
    my $n = () = $nginx->error_log =~ /reconfiguring/g;

    $configure->();
    $nginx->signal('HUP');

    ok(wait_until(sub {
        $n < (() = $nginx->error_log =~ /reconfiguring/g)
    }), 'it is reloaded');

    my $spare = $nginx->{spare};

    $_->leave for splice @$spare, 0, @$spare / 2;
    $spare->[0]->get('/fine');
}


# What HOW changes, and without the module.

sub again($nginx, %how) {
    reload($nginx, sub { $nginx->configure(%how) });
}


sub unload { again($_[0], module => 0, http => '', @_[1 .. $#_]) }


# What CLIENT gets, who is connected.

sub refused($client) {
    for my $path (@resources) {
        is_answer($client->get("/debug/pprof/$path"), 503,
                  qr/^a reload has removed this location, .* restart nginx$/,
                  "/$path is refused");
    }

    my $change = $client->get('/debug/pprof/control', body => 'sampler=on');

    is($change->{status}, 503, 'so is a change');
    is($client->get('/fine')->{body}, "fine\n", 'and the process goes on');
}


sub worker($client) {
    my $status = $client->get('/debug/pprof/status');

    is($status->{status}, 200, 'its status');

    return decode_json($status->{body})->{workers}[0];
}


test 'all that it does', 'jemalloc', 'loaded' => sub {
    my $nginx = start();
    my ($pid, $client) = ($nginx->{pid}, $nginx->client);

    ok(worker($client)->{sampler}, 'with the sampler');
    ok(wait_until(sub { watchers($pid) == 1 }), 'with a watcher');

    unload($nginx);

    ok(wait_until(sub { watchers($pid) == 0 }), 'which has left');

    refused($client);

    sleep $interval + 1;

    is($client->get('/fine')->{body}, "fine\n", 'no timer is left');

    # what was given back is not there because the module is

    again($nginx, module => 1, http => '');

    ok(!worker($client)->{sampler}, 'the sampler was switched off');
};


# Of nginx, which wakes up by a timer of the kernel.

test 'without a clock', 'jemalloc', 'loaded' => sub {
    my $nginx = start(main => 'timer_resolution 50ms;', http => '');
    my $client = $nginx->client;

    is($client->get('/debug/pprof/status')->{status}, 200, 'a connection');

    unload($nginx);
    refused($client);
};


test 'a profile under way', 'jemalloc', 'loaded' => sub {
    my $nginx = start(http => '');
    my ($client, $other) = ($nginx->client, $nginx->client);

    is($_->get('/fine')->{body}, "fine\n", 'a connection') for $client, $other;

    $client->send_request('/debug/pprof/profile?seconds=2');
    ok(wait_until(sub { threads($nginx->{pid}) > 1 }), 'a profile is taken');

    unload($nginx);
    refused($other);

    ok($client->response->{status}, 'it is answered');
    refused($client);

    ok(wait_until(sub { threads($nginx->{pid}) == 1
                        && watchers($nginx->{pid}) == 0 }),
       'no thread is left');
};


# Each client has a request under way at any time.  Where the configuration that
# begins has no place left, nginx ends connections that are idle.

test 'under load', 'jemalloc', 'loaded' => sub {
    my $nginx = start();
    my @clients = map { $nginx->client } @resources;

    my $all = sub { $clients[$_]->send_request("/debug/pprof/$resources[$_]")
                    for 0 .. $#clients };
    my $answers = sub { scalar(grep { $_->response->{status} } @clients) };

    $all->();
    is($answers->(), @clients, 'all are answered');

    $all->();
    unload($nginx);
    is($answers->(), @clients, 'across the reload');

    $all->();
    cmp_ok($answers->(), '>', 0, 'and after it');
    ok(is_alive($nginx->{pid}), 'and the process goes on');
};


# The watcher has seen that before the process has the new configuration.

test 'while it stands still', 'jemalloc', 'loaded', 'lua' => sub {
    my $nginx = start();
    my $client = $nginx->client;

    is($client->get('/debug/pprof/stalls')->{status}, 200, 'a connection');

    unload($nginx, main => lua_modules(),
           http => 'init_by_lua_block { os.execute("sleep 0.5") }');
    refused($client);

    # the stalls are the process's own

    again($nginx, module => 1, main => '', http => $all);

    like($client->get('/debug/pprof/stalls?format=top&cols=1000')->{body},
         qr/^\S+ worker 0 pid $nginx->{pid} generation 1: \d{3,} ms/m,
         'it is known');
};


test 'a reload that changes nothing', 'jemalloc' => sub {
    my $nginx = start();
    my $client = $nginx->client;

    is(worker($client)->{generation}, 1, 'the first generation');

    again($nginx);

    my $worker = worker($client);

    is($worker->{generation}, 2, 'the second');
    ok($worker->{sampler}, 'with the sampler');
    ok(wait_until(sub { watchers($nginx->{pid}) == 1 }), 'and the watcher');

    for my $path (grep { $_ ne 'none' } @resources) {
        is($client->get("/debug/pprof/$path")->{status}, 200, "/$path");
    }
};


# Whether the module is loaded, or not.

test 'without http', 'jemalloc', 'loaded' => sub {
    for my $loads ('', map { "load_module $_;" } loaded()) {
        my $nginx = start();
        my $client = $nginx->client;

        is($client->get('/fine')->{body}, "fine\n", 'a connection');

        reload($nginx, sub {
            spew("$nginx->{prefix}/nginx.conf", <<"EOF");
$loads
master_process off;
daemon off;
pid logs/nginx.pid;
error_log logs/error.log notice;
events { }
EOF
        });

        refused($client);
        $nginx->stop;
    }
};
