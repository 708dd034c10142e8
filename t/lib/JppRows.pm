package JppRows;

# The rows of a table of the page, and those of go tool pprof -top, compared.
#
#     compare('heap', table_rows($browser), [0, 2],
#             pprof_rows('inuse_space', 'heap.pb.gz'));

use JppPerl;

use Exporter qw( import );
use Test::More ();

our @EXPORT_OK = qw( compare pprof_rows table_rows );


# The table that BROWSER shows: name to its values, summed up, and texts.

sub table_rows($browser) {
    my %rows;

    $browser->run(<<'END');
page.shown = 1e6;
showTable();
END

    for my $row (@{ $browser->run(<<'END') }) {
return [...document.querySelectorAll('#table tbody tr')].map((tr) => [
    tr.querySelector('th').textContent,
    [...tr.querySelectorAll('td')].map((td) => Number(td.title)),
    [...tr.querySelectorAll('td')].map((td) => td.textContent)]);
END
        my ($name, $values, $texts) = @$row;

        push @{ $rows{$name}{texts} }, $texts;
        $rows{$name}{values}[$_] += $values->[$_] for 0 .. $#$values;
    }

    return \%rows;
}


# The same of pprof, whose unit is bytes or ns: name to [ flat, cum ].

sub pprof_rows($type, @arguments) {
    my $unit = $type =~ /space|objects/ ? 'B' : 'ns';
    my %rows;

    open my $pprof, '-|', qw( go tool pprof -symbolize=none -top
                              -nodecount=1000000 -nodefraction=0
                              -edgefraction=0 ), "-unit=$unit",
                          "-sample_index=$type", @arguments
        or die "go: $!\n";

    while (<$pprof>) {
        next unless /^\ *(-?[\d.]+)(?:$unit)?\ +\S+\ +\S+
                     \ +(-?[\d.]+)(?:$unit)?\ +\S+\ \ (.+)$/x;
        my ($flat, $cum, $name) = ($1, $2, $3);

        $name =~ s/ \(inline\)$//;
        $rows{$name}[0] += $flat;
        $rows{$name}[1] += $cum;
    }

    return \%rows;
}


# A test: the COLUMNS of the rows of the page are those of pprof, within 1, and
# there are at least LEAST.

sub compare($what, $rows, $columns, $pprof, $least = undef) {
    my @wrong;

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    for my $name (sort keys %$pprof) {
        my $mine = $rows->{$name}{values};

        push @wrong, "$name: pprof has @{ $pprof->{$name} }, the page "
                     . join ' ', map { $_ // '-' } @{$mine}[@$columns]
            if !$mine || grep { abs($mine->[ $columns->[$_] ]
                                    - $pprof->{$name}[$_]) > 1 } 0, 1;
    }

    for my $name (sort keys %$rows) {
        push @wrong, "$name: not in pprof"
            if !$pprof->{$name}
               && grep { $_ != 0 } @{ $rows->{$name}{values} }[@$columns];
    }

    Test::More::cmp_ok(scalar keys %$pprof, '>=', $least // 20,
                       "$what: rows of pprof");
    Test::More::is_deeply([splice @wrong, 0, 10], [],
                          "$what: all rows agree");
}

1;
