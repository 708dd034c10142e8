package JppProfile;

# Profiles in pprof's format, as the contract checker reads them: it shares no
# code with the core.

use JppPerl;

use Exporter qw( import );
use File::Temp;
use List::Util qw( uniq );

use JppRun qw( $checker spew );

our @EXPORT_OK = qw( checked contract read_profile totals );


# What the checker has to say of BYTES: with --print the profile as text, else
# nothing, or why it is none.  OPTIONS are of the checker.

sub checked($bytes, @options) {
    die "no $checker: ./dev test makes it\n" unless -x $checker;

    my $file = File::Temp->new;

    spew("$file", $bytes);

    my $text = `'$checker' @options '$file' 2>&1`;

    return $? ? "not a profile (status $?):\n$text" : $text;
}


# A heap as text, or why it is none.

sub contract($bytes) { return checked($bytes, '--heap', '--print') }


# The parts of a profile that tests look at, from the text of --print; "labels"
# has what is there of each, and "strings" what has a name.

sub read_profile($text) {
    die $text unless $text =~ /^types: (.*)\ndefault: (.*)\n/;

    my %profile = ( types => [ split ' ', $1 ], default => $2, text => $text );

    ($profile{duration}) = $text =~ /^duration: (\d+)$/m;
    ($profile{time}) = $text =~ /^time: (\d+)$/m;
    ($profile{period}) = $text =~ /^period: (\d+) /m;

    my $section = '';

    for my $line (split /\n/, $text) {
        $section = $1 if $line =~ /^(\w+):/;
        push @{ $profile{"$section lines"} }, $1 if $line =~ /^    (.*)/;
    }

    $profile{comments} = $profile{'comments lines'};

    for (@{ $profile{'samples lines'} // [] }) {
        my ($values, $rest) = split /:/, $_, 2;
        my %labels = map { s/"//gr } $rest =~ /(\S+)=("[^"]*"|\S+)/g;

        push @{ $profile{samples} }, { values => [ split ' ', $values ],
                                       labels => \%labels };
        $profile{labels}{$_}{ $labels{$_} } = 1 for keys %labels;
    }

    for (@{ $profile{'functions lines'} // [] }) {
        $profile{functions}{$1} = 1 if /^\d+: "(.*?)" /;
    }

    $profile{strings} = [ uniq $text =~ /"(.*?)"/g,
                          map { $_, keys %{ $profile{labels}{$_} } }
                              keys %{ $profile{labels} } ];

    return \%profile;
}


# The sums of a profile's values.

sub totals($profile) {
    my @sums = (0) x @{ $profile->{types} };

    for my $sample (@{ $profile->{samples} // [] }) {
        $sums[$_] += $sample->{values}[$_] for 0 .. $#sums;
    }

    return @sums;
}


1;
