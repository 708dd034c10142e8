#!/usr/bin/perl

# metrics while a configuration is replaced: for a moment workers of two
# generations run side by side, and have the same numbers.  No series has two
# values.
#
# Not here: what the values are (nginx/metrics.t).

use JppTest;

my $metrics = '/debug/pprof/metrics';


# Which series a body has more than once.

sub twice($body) {
    my %seen;

    return grep { $seen{$_}++ } $body =~ /^([^#\s]\S*) /gm;
}


test 'two generations' => sub {
    my $nginx = JppNginx->start(workers => 2,
        server => 'location /debug/pprof/ { jemalloc_pprof; }');
    my ($n, @twice) = (0);

    for my $reload (1 .. 5) {
        kill HUP => $nginx->{pid};

        # until all answers are those of the new ones

        for my $try (1 .. 500) {
            my $body = $nginx->get($metrics)->{body};
            my ($workers) = $body =~ /^nginx_config_generation (\d+)$/m;
            my ($exiting) =
                $body =~ /^nginx_workers\{state="exiting"\} (\d+)$/m;

            push @twice, twice($body);
            $n += $exiting != 0;

            last if $workers == $reload + 1 && $exiting == 0
                    && $body !~ /generation="$reload"/;
        }
    }

    is_deeply(\@twice, [], 'no series is there twice')
        or diag("of $n scrapes with two generations");

    is($nginx->alerts, 0, 'no alerts');
};
