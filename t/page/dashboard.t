#!/usr/bin/perl

# Grafana's dashboard in contrib/: its expressions are valid, it asks for
# metrics that the module serves with labels that these have, and each panel is
# there to be read.  Grafana itself is not run.

use JppTest;

my $file = "$root/contrib/grafana/nginx-memory.json";
my $dir = tempdir(CLEANUP => 1);

my $dashboard = decode_json(slurp($file));
my @panels = grep { $_->{type} ne 'row' } @{ $dashboard->{panels} };
my @targets = map { @{ $_->{targets} } } @panels;
my @expressions = map { $_->{expr} }
                  @targets, @{ $dashboard->{annotations}{list} };


test 'panels' => sub {
    is_deeply([ map { $_->{title} } grep { $_->{type} eq 'row' }
                @{ $dashboard->{panels} } ],
              [ qw( Verdict Workers Allocator Kernel Zones ), 'Event loop' ],
              'the rows');
    cmp_ok(scalar @panels, '>=', 18, 'and what is in them');

    my (%ids, %places);

    for my $panel (@{ $dashboard->{panels} }) {
        my ($x, $y, $w, $h) = @{ $panel->{gridPos} }{qw( x y w h )};

        ok(!$ids{$panel->{id}}++, "$panel->{title}: a number of its own");
        cmp_ok($x + $w, '<=', 24, 'within the width');

        my @taken = grep { $places{$_}++ } map { my $row = $_;
            map { "$_ $row" } $x .. $x + $w - 1 } $y .. $y + $h - 1;

        is_deeply(\@taken, [], 'nothing lies on another');
    }

    for my $panel (@panels) {
        isnt($panel->{description} // '', '', "$panel->{title}: a sentence");
        is_deeply([ grep { $_->{datasource}{uid} ne '${datasource}' }
                    $panel, @{ $panel->{targets} } ], [],
                  'of the data source that was chosen');
    }
};


# As a rule file, with Grafana's variables filled in.

test 'expressions' => sub {
    my %value = ('$instance' => '.+', '$__rate_interval' => '5m',
                 '$__range' => '6h');
    my $rules = "groups:\n- name: dashboard\n  rules:\n";
    my $n = 0;

    for my $expression (@expressions) {
        my $filled = $expression =~ s/(\$\w+)/$value{$1} \/\/ $1/ger;

        like($expression, qr/instance=~"\$instance"/,
             'of the instances that were chosen');
        $rules .= "  - record: panel:$n\n    expr: '$filled'\n";
        $n++;
    }

    spew("$dir/rules.yml", $rules);
    is(system("promtool check rules $dir/rules.yml >$dir/said 2>&1"), 0,
       "$n expressions") or diag(slurp("$dir/said"));
    like(slurp("$dir/said"), qr/SUCCESS: $n rules found/, 'all of them');
};


test 'metrics' => sub {
    my $server = JppNginx->start(workers => 2, http =>
        'limit_conn_zone $binary_remote_addr zone=one:64k;');
    my $body = $server->get('/debug/pprof/metrics')->{body};

    $server->stop;

    my %is_served = map { $_ => 1 } $body =~ /^# HELP (\w+)/mg;
    my %asked = map { s/_bucket$//r => 1 }
                map { /\b(nginx_\w+)/g } @expressions;

    is_deeply([ grep { !$is_served{$_} } sort keys %asked ], [],
              'metrics are served');
    cmp_ok(scalar keys %asked, '>=', 25, 'and many of them are shown');

    # labels that a panel sums up, or selects, by

    my %has;

    while ($body =~ /^(nginx_\w+)\{(.*)\} /mg) {
        my ($name, $labels) = ($1, $2);
        $has{$1} = 1 while $labels =~ /(\w+)="/g;
    }

    my %by = map { $_ => 1 } map { split /, / }
             map { /\bby \(([^)]*)\)/g } @expressions;
    my %selects = map { $_ => 1 } map { /[{ ](\w+)(?:=~|!=|=)"/g } @expressions;
    my %legends = map { $_ => 1 }
                  map { /\{\{(\w+)\}\}/g } map { $_->{legendFormat} } @targets;

    is_deeply([ grep { !$has{$_} && $_ ne 'instance' }
                sort keys %{ { %by, %selects, %legends } } ], [],
              'labels are those of metrics');
};
