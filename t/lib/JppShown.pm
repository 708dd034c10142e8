package JppShown;

# The commands and outputs that README.md and docs/ show.  A block
#
#     ```console
#     $ command
#     output
#     ```
#
# is run by a test, and the output has to look like what is shown: the same
# words in the same lines, with other numbers.  A number with a point stays one
# with a point, except percentages, and sizes as pprof writes them (160MB).
# "[...]" stands for any text, and alone in a line for any lines.

use JppPerl;

use Exporter qw( import );

our @EXPORT_OK = qw( shown_blocks shown_pattern shown_script shown_parts );

# what separates the outputs of commands
my $mark = '@@ jpp shown @@';


# The blocks of a document, in order: each with its heading (empty above the
# second), and its steps, which have a command and the output that is shown.

sub shown_blocks($path) {
    my ($heading, $is_block, @blocks) = ('', '');

    open my $fh, '<', $path or die "$path: $!\n";

    while (my $line = <$fh>) {

        if ($line =~ /^```(\w*)$/) {
            $is_block = $is_block ne '' ? '' : $1 || 'text';
            push @blocks, { heading => $heading, steps => [] }
                if $is_block eq 'console';

        } elsif ($is_block eq 'console') {
            add_line($blocks[-1]{steps}, $line, "$path:$.");

        } elsif ($is_block eq '' && $line =~ /^##+ (.*)$/) {
            $heading = $1;
        }
    }

    return @blocks;
}


sub add_line($steps, $line, $where) {
    if ($line =~ /^\$ (.*)/s) {
        push @$steps, { command => $1, output => '', where => $where };

    } elsif (!@$steps) {
        die "$where: no command comes first\n";

    } elsif ($steps->[-1]{command} =~ /\\\n\z/ && $line =~ /^> (.*)/s) {
        $steps->[-1]{command} .= $1;

    } else {
        $steps->[-1]{output} .= $line;
    }
}


# The pattern for an output that is shown as TEXT.

sub shown_pattern($text) {
    my $pattern = join '', map {
        $_ eq "[...]\n" ? '(?:.*\n)*?' : line($_)
    } $text =~ /.*\n/g;

    return qr/\A$pattern\z/;
}


sub line($line) {
    # as many blanks as it takes to align numbers

    my ($blanks, $rest) = $line =~ /^([ ]*)(.*)\n/;

    my $pattern = join '', map {
          /^\[\.\.\.\]$/            ? '.*?'
        : /^[ ]+$/                  ? '[ ]+'
        : /^(?:[KMGT]i)?B$/         ? '(?:[KMGT]i?)?B'
        : /^0x[0-9a-f]+$/           ? '0x[0-9a-f]+'
        : /^-?[\d.]+%$/             ? '-?\d+(?:\.\d+)?%'
        : /^-?[\d.]+[ ]%$/          ? '-?\d+(?:\.\d+)?[ ]%'
        : /^-?[\d.]+[kMGT]?B$/      ? '-?\d+(?:\.\d+)?[kMGT]?B'
        : /^-?\d+\.\d+$/            ? '-?\d+\.\d+'
        : /^\d+$/                   ? '\d+'
                                    : quotemeta
    } $rest =~ /\[\.\.\.\]
                |[ ]+
                |(?<=\d[ ])(?:[KMGT]i)?B\b
                |\b0x[0-9a-f]+
                |(?:(?<=[ ])-)?\d+(?:\.\d+)?(?:[ ]?%|[kMGT]?B\b)
                |(?:(?<=[ ])-)?\d+\.\d+
                |\d+
                |./gx;

    return ($blanks ne '' ? '[ ]*' : '') . $pattern . '\n';
}


# A script that runs the commands of blocks one after the other, each after a
# mark.  What is on stderr is on the terminal, too.

sub shown_script(@blocks) {
    return join '', "exec 2>&1\n", map { "echo '$mark'\n$_->{command}" }
                                   map { @{ $_->{steps} } } @blocks;
}


# The output of each command, from that of the whole script.

sub shown_parts($output) {
    my (undef, @parts) = split /^\Q$mark\E\n/m, $output, -1;

    return @parts;
}


1;
