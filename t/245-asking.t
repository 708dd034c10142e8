#!/usr/bin/perl

# What goes wrong on the way from one worker to another: connections that fail,
# a worker that is late itself, and a client that does not wait.

use strict;
use warnings;

use File::Basename;
use Test::More;
use Time::HiRes qw(sleep time);

use lib dirname(__FILE__) . '/lib';

use JppNginx qw( has_fake wait_until threads cpu_time profile partly );

# what hangs ends
alarm 300;

my $heap = '/debug/pprof/heap';
my $status = '/debug/pprof/status';
my $control = '/debug/pprof/control';

# ms
my $timeout = 800;

my $server = <<"EOF";
        location /debug/pprof/ {
            jemalloc_pprof control=on;
            jemalloc_pprof_timeout ${timeout}ms;
        }
        location = /pid { return 200 \$pid; }
EOF

plan skip_all => 'no fake jemalloc' unless has_fake();

subtest 'connections that cannot be made' => \&not_made;
subtest 'connections that cannot be taken' => \&not_taken;
subtest 'a worker that was stopped while it asked' => \&late_itself;
subtest 'a change whose client leaves' => \&left;
subtest 'statistics during a dump' => \&busy;

done_testing();


sub start {
    my (%how) = @_;
    my $nginx = JppNginx->start(server => $server, fake => '', %how);
    my $client = $nginx->client;

    return ($nginx, $client, $client->get('/pid')->{body});
}


# One that fails says nothing of the worker, who is asked again the next time.

sub not_made {
    my ($nginx, $client) = start(workers => 3);

    for my $fault ([ 12, 'Cannot allocate memory' ],
                   [ 13, 'Permission denied' ],
                   [ 23, 'Too many open files in system' ])
    {
        my ($errno, $words) = @$fault;

        $nginx->fake("connect $errno\n");

        my $answer = $client->get($heap);

        is($answer->{status}, 200, $words);
        is(partly($answer), '1/3', 'of itself');
        is(scalar(grep { /is missing: it cannot be asked: \Q$words\E$/ }
                  @{ profile($answer)->{comments} }), 2, 'and why');

        $nginx->fake('');
        is(partly($client->get("$heap?strict=1")), '3/3', 'all of them again');
    }

    # nobody is in the way for ever; for a while he is

    $nginx->fake("connect 11\n");

    my $time = time();

    $client->send_request($heap);
    sleep 0.2;
    $nginx->fake('');

    my $answer = $client->response;

    is(partly($answer), '3/3', 'one that accepts nothing is asked again');
    cmp_ok(time() - $time, '<', $timeout / 1000, 'and answers in time');

    $nginx->fake("connect 11\n");
    is((grep { /is missing: it accepts no questions: / }
        @{ profile($client->get($heap))->{comments} }), 2,
       'one that never accepts is told so');
    $nginx->fake('');
    is(partly($client->get($heap)), '3/3', 'all of them again');
    $nginx->stop;
}


# Whoever cannot accept does not try all the time.

sub not_taken {
    my ($nginx, $client, $asker) = start(workers => 2);
    my ($other) = grep { $_ != $asker } $nginx->worker_pids;

    for my $errno (12, 23, 24, 105) {
        $nginx->fake("accept $errno\n");

        my $cpu = cpu_time($other);

        is(partly($client->get($heap)), '1/2', "errno $errno: late");
        cmp_ok(cpu_time($other) - $cpu, '<', 0.3, 'no loop');

        $nginx->fake('');
        ok(wait_until(sub { partly($client->get($heap)) eq '2/2' }, 5),
           'both again');
    }

    $nginx->stop;
}


# Its timers all fire at once then, and no step comes before its collection.

sub late_itself {
    my ($nginx, $client, $asker) = start(workers => 2);
    my ($other) = grep { $_ != $asker } $nginx->worker_pids;

    $nginx->signal('STOP', $other);

    for my $path ($status, $heap) {
        $client->send_request($path);
        sleep 0.1;
        $nginx->signal('STOP', $asker);
        sleep 2.5 * $timeout / 1000;
        $nginx->signal('CONT', $asker);

        my $answer = $client->response;

        is($answer->{status}, 200, "$path: an answer");

        if ($path eq $status) {
            like($answer->{body}, qr/"asked": 2,\s+"answered": 1,/, 'of one');
            like($answer->{body}, qr/"missing": \[\s*\{[^]]*"pid": $other,/,
                 'the other one is missing');

        } else {
            is(partly($answer), '1/2', 'of one');
        }
    }

    $nginx->signal('CONT', $other);
    ok(wait_until(sub { partly($client->get($heap)) eq '2/2' }, 5), 'both');
    $nginx->stop;
}


# All of them do what they were asked for.

sub left {
    my ($nginx, $client, $asker) = start(workers => 6);
    my @others = grep { $_ != $asker } $nginx->worker_pids;

    # the first ones have something else to do

    $nginx->fake("hang 0.5\n");

    my @clients = map { $nginx->client } 1 .. 3;

    $clients[$_]->send_request("$heap?worker=$_") for 0 .. 2;
    wait_until(sub { 2 <= grep { threads($_) > 1 } @others, $asker });

    my $leaves = $nginx->client;

    $leaves->send_request($control, body => 'active=off');
    $leaves->hears(0.15);
    $leaves->break_off;

    ok(wait_until(sub {
        my @active = $nginx->get($status)->{body} =~ /"active": (true|false)/g;

        return @active == 6 && !grep { $_ eq 'true' } @active;
    }, 5), 'all of them are off') or diag($nginx->get($status)->{body});

    $_->response for @clients;
    $nginx->fake('');
    $nginx->stop;
}


# jemalloc has them wait for a dump, and the event loop does not.

sub busy {
    my ($nginx, $client, $asker) = start(workers => 1);

    like($client->get($status)->{body}, qr/"stats": \{/, 'at rest');

    $nginx->fake("hang 0.5\n");

    my $other = $nginx->client;

    $other->send_request($heap);
    ok(wait_until(sub { threads($asker) == 2 }), 'a dump');
    like($client->get($status)->{body}, qr/"stats": null/, 'none meanwhile');
    is($other->response->{status}, 200, 'the dump');
    $nginx->fake('');
    ok(wait_until(sub { $client->get($status)->{body} =~ /"stats": \{/ }, 5),
       'at rest again');
    $nginx->stop;
}
