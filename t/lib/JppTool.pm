package JppTool;

# Runs the built tool; returns its exit status, signal, stdout and stderr.

use JppPerl;

use Exporter qw(import);
use File::Temp qw(tempdir);
use JppRun qw( $root $build $checker slurp spew );
use POSIX ();
use Test::More;

our @EXPORT_OK = qw( $root $build $tool $checker $dir slurp spew start finish
                     run listing gives refuses keeps_contract );

# what hangs is ended by this: seconds
my $patience = 60;

our $tool = "$build/jemalloc-pprof";
die "no $tool: ./dev build makes it\n" unless -x $tool;

our $dir = tempdir('jpp-tool-XXXXXX', TMPDIR => 1, CLEANUP => 1);

mkdir "$dir/.run" or die "$dir/.run: $!";


# A command in the background.  HOW: stdin, stdout (paths or handles; else
# /dev/null and a file), and before, code that runs between fork and exec.

my $n_runs = 0;

sub start($how, @command) {
    my %run = ( out => "$dir/.run/" . $n_runs++ . '.out' );

    $run{err} = $run{out} =~ s/out$/err/r;

    defined($run{pid} = fork()) or die "fork: $!";

    if ($run{pid} == 0) {
        $SIG{$_} = 'DEFAULT' for qw( HUP INT TERM PIPE );

        redirect(\*STDIN, '<', $how->{stdin} // '/dev/null');
        redirect(\*STDOUT, '>', $how->{stdout} // $run{out});
        redirect(\*STDERR, '>', $run{err});

        $how->{before}->() if $how->{before};
        { exec { $command[0] } @command };
        print STDERR "$command[0]: $!\n";
        POSIX::_exit(127);
    }

    return \%run;
}


sub redirect($fh, $mode, $to) {
    open $fh, ref $to ? "$mode&" : $mode, $to or POSIX::_exit(126);
}


sub finish($run) {
    local $SIG{ALRM} = sub { kill 'KILL', $run->{pid} };

    my $left = alarm $patience;

    1 while waitpid($run->{pid}, 0) != $run->{pid};
    alarm $left;

    my %result = ( exit => $? >> 8, signal => $? & 127 );

    for my $which ('out', 'err') {
        $result{$which} = -e $run->{$which} ? slurp($run->{$which}) : '';
        unlink $run->{$which};
    }

    return \%result;
}


# The tool with ARGS, to its end; the first may be a hash for start().

sub run {
    my $how = ref $_[0] ? shift : {};

    return finish(start($how, $tool, @_));
}


sub listing($path) {
    opendir my $dh, $path or die "$path: $!";

    return join ' ', sort grep { !/^\.\.?$/ && $_ ne '.run' } readdir $dh;
}


# The tool succeeds, with an empty stderr, and writes WANT: a string, a pattern,
# or anything if undef.  Returns what it wrote.

sub gives($name, $want, @args) {
    my $result = run(@args);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    my $good = $result->{exit} == 0 && $result->{signal} == 0
               && $result->{err} eq ''
               && (!defined $want
                   || (ref $want ? $result->{out} =~ $want
                                 : $result->{out} eq $want));

    ok($good, $name) or explain_result($result, $want);

    return $result->{out};
}


# The tool ends with the status EXIT and one sentence like WANT; stdout stays
# empty, and the directory unchanged.

sub refuses($name, $exit, $want, @args) {
    my $before = listing($dir);
    my $result = run(@args);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    $want = qr/^\Q$want\E$/ unless ref $want;

    my ($sentence) = $result->{err} =~ /\Ajemalloc-pprof: ([\x20-\xff]+)\n\z/;

    my $good = $result->{exit} == $exit && $result->{signal} == 0
               && $result->{out} eq '' && ($sentence // '') =~ $want
               && listing($dir) eq $before;

    ok($good, $name)
        or explain_result($result, $want),
           diag("left: ", listing($dir), "\n was: $before");

    return $sentence;
}


sub explain_result($result, $want) {
    diag("exit $result->{exit}, signal $result->{signal}");
    diag("stderr: ", substr($result->{err}, 0, 800));
    diag("stdout: ", substr($result->{out}, 0, 400) =~ s/[^\n -~]/./gr);
    diag("wanted: $want") if defined $want;
}


# BYTES are a profile of a heap that keeps the contract.

sub keeps_contract($name, $bytes) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    SKIP: {
        skip "no $checker", 1 unless -x $checker;

        spew("$dir/.run/profile", $bytes);
        my $result = finish(start({}, $checker, '--heap',
                                  "$dir/.run/profile"));

        ok($result->{exit} == 0 && $result->{signal} == 0, $name)
            or diag(substr($result->{err}, 0, 800));
    }
}


1;
