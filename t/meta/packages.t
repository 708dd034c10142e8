#!/usr/bin/perl

# How ./dev installs what is missing: it waits for other processes that install
# something and says so, does not depend on the lists of yesterday, and counts
# packages of its own architecture only.
#
# apt and dpkg work in a folder of the test, with an archive, lists, and locks
# of their own.

use JppTest;
use Fcntl qw( F_SETLK F_WRLCK O_CREAT O_RDWR SEEK_SET );

my $dir = tempdir('jpp-packages-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $package = 'jpp-nothing';
my $status = "$dir/root/var/lib/dpkg/status";
my $own = `dpkg --print-architecture 2>/dev/null` =~ s/\n//r;

plan skip_all => 'no dpkg' if $own eq '';

# sudo would not keep the environment, and reach the machine's own apt

my $is_root = sub { $> == 0 };


# The lock of dpkg: its holder is named while it is held, and then the package
# is installed.

test 'a lock that is held', $is_root => sub {
    prepare('1.0');

    my ($run, $said) = held_meanwhile(dirname($status) . '/lock-frontend');

    like($said, qr{^dev:\ process\ $$\ \(.*\)\ has\ \Q$dir\E/root/\S+/
                   lock-frontend:\ waiting\ for\ it,\ up\ to\ 300\ seconds$}mx,
         'it says who has it, and how long it waits');
    is(() = $run->{said} =~ /waiting/g, 1, 'once');
    is($run->{exit}, 0, 'then it goes on') or diag($run->{said});
    is(installed(), '1.0', 'and the package is there');
};


test 'a lock that stays', $is_root => sub {
    prepare('1.0');

    my $lock = hold(dirname($status) . '/lock-frontend');
    my $run = finish(start("install_packages ' $package'", 1));

    close $lock;
    is($run->{exit}, 1, 'it ends');
    like($run->{said}, qr/^dev: process .* has .*, after 1 seconds still; (?#
                          )try again when it has ended$/m, 'with a sentence');
    is(installed(), '', 'and installs nothing');
};


# The archive no longer has the version that the lists name.  Lists have a lock
# of their own.

test 'lists of yesterday', $is_root => sub {
    prepare('1.0');
    archive('1.1');

    my $run = finish(start("install_packages ' $package'"));

    is($run->{exit}, 0, 'it gets new lists') or diag($run->{said});
    is(installed(), '1.1', 'and installs the version of today');
    unlike($run->{said}, qr/waiting/, 'at once');

    prepare('1.1');
    archive('1.2');

    ($run, my $said) = held_meanwhile("$dir/state/lists/lock");

    like($said, qr{^dev: process $$ .* has \S+/lists/lock: waiting}m,
         'it waits for the lock of the lists');
    is($run->{exit}, 0, 'then it goes on') or diag($run->{said});
    is(installed(), '1.2', 'and the package is there');
};


test 'an archive without the package', $is_root => sub {
    prepare('1.0');

    my $run = finish(start("install_packages ' jpp-no-such'"));

    is($run->{exit}, 1, 'it fails');
    like($run->{said}, qr/^dev: Unable to locate package jpp-no-such$/m,
         'with what apt says');
    like($run->{said}, qr/^dev: that failed; type: sudo apt-get install .* (?#
                          )jpp-no-such$/m, 'and what to type');
};


# libjemalloc2:arm64 beside an amd64 that has none is as good as nothing.

test 'another architecture' => sub {
    my $other = $own eq 'arm64' ? 'amd64' : 'arm64';

    for ([ 'of another architecture', [ $other, '1.0' ], '', $package ],
         [ 'of this one', [ $own, '1.0' ], '1.0', '' ],
         [ 'of all', [ 'all', '1.0' ], '1.0', '' ],
         [ 'of both', [ $other, '0.9', $own, '1.0' ], '1.0', '' ],
         [ 'of both', [ $own, '1.0', $other, '0.9' ], '1.0', '' ],
         [ 'none', [], '', $package ]) {
        my ($what, $installed, $version, $missing) = @$_;
        my $text = '';

        while (my ($architecture, $number) = splice @$installed, 0, 2) {
            $text .= "Package: $package\nStatus: install ok installed\n"
                     . "Multi-Arch: same\nArchitecture: $architecture\n"
                     . "Maintainer: nobody\nVersion: $number\n"
                     . "Description: nothing\n\n";
        }

        make_path(dirname($status) . '/updates');
        spew($status, $text =~ s/Multi-Arch.*\n(?=Architecture: all)//r);

        my $said = finish(start("packages_version $package; "
                                . 'install_packages() { echo missing$1; }; '
                                . "need $package"))->{said};

        is($said, join('', map { "$_\n" } grep { $_ ne '' } $version,
                                 $missing && "missing $missing"), $what);
    }
};


# An empty root, and an archive of which the lists are read.

sub prepare($version) {
    system('rm', '-rf', "$dir/root", "$dir/state", "$dir/cache") and die;
    make_path("$dir/root/var/lib/dpkg/updates", "$dir/root/var/lib/dpkg/info",
              "$dir/state/lists/partial", "$dir/cache/archives/partial");
    spew($_, '') for $status, "$dir/root/var/lib/dpkg/available";

    spew("$dir/sources.list", "deb [trusted=yes] copy:$dir/archive ./\n");
    spew("$dir/apt.conf", <<"END");
Dir::Etc::main "/dev/null";
Dir::Etc::parts "$dir/none";
Dir::Etc::sourcelist "$dir/sources.list";
Dir::Etc::sourceparts "$dir/none";
Dir::Etc::preferences "$dir/none";
Dir::Etc::preferencesparts "$dir/none";
Dir::State "$dir/state";
Dir::State::status "$status";
Dir::Cache "$dir/cache";
Dir::Log "$dir/cache";
DPkg::Options { "--root=$dir/root"; "--force-script-chrootless"; };
APT::Sandbox::User "";
END

    archive($version);
    system("APT_CONFIG=$dir/apt.conf apt-get -qq update >$dir/log 2>&1") == 0
        or die slurp("$dir/log");
}


# The archive has the package, and of this version only.

sub archive($version) {
    my $deb = "$dir/archive/${package}_${version}_all.deb";

    system('rm', '-rf', "$dir/archive", "$dir/package") and die;
    make_path("$dir/archive", "$dir/package/DEBIAN");

    my $control = "Package: $package\nVersion: $version\nArchitecture: all\n"
                  . "Maintainer: nobody <nobody\@localhost>\n"
                  . "Description: nothing\n";

    spew("$dir/package/DEBIAN/control", $control);
    system("dpkg-deb -b $dir/package $deb >$dir/log 2>&1") == 0
        or die slurp("$dir/log");

    my ($digest) = `sha256sum $deb` =~ /^(\w+)/;

    spew("$dir/archive/Packages", $control, 'Filename: ./' . basename($deb),
         "\nSize: ", -s $deb, "\nSHA256: $digest\n\n");
}


sub installed {
    return slurp($status) =~ /^Package: \Q$package\E\n(?:.+\n)*?Version: (.*)/m
           ? $1 : '';
}


# COMMANDS of tools/packages.sh in the background, with PATIENCE.

sub start($commands, $patience = undef) {
    my $pid = fork() // die "fork: $!";

    if ($pid == 0) {
        $ENV{APT_CONFIG} = "$dir/apt.conf";
        $ENV{DPKG_ADMINDIR} = dirname($status);
        $ENV{PACKAGES_PATIENCE} = $patience if defined $patience;

        open STDIN, '<', '/dev/null' or die "stdin: $!";
        open STDOUT, '>', "$dir/said" or die "stdout: $!";
        open STDERR, '>&', \*STDOUT or die "stderr: $!";
        exec 'sh', '-euc', ". $root/tools/packages.sh; $commands" or die;
    }

    return $pid;
}


sub finish($pid) {
    waitpid $pid, 0;

    return { exit => $? >> 8, said => slurp("$dir/said") };
}


# Installs the package while this process has the lock PATH, until it says that
# it waits: its end, and what it had said by then.

sub held_meanwhile($path) {
    spew("$dir/said", '');

    my $lock = hold($path);
    my $pid = start("install_packages ' $package'");

    wait_until(sub { slurp("$dir/said") =~ /waiting/ });

    my $said = slurp("$dir/said");

    # it tries again, and says nothing more
    sleep 2;
    close $lock;

    return (finish($pid), $said);
}


# As apt and dpkg lock: until it is closed.

sub hold($path) {
    sysopen my $fh, $path, O_RDWR | O_CREAT or die "$path: $!";
    my $all = pack 's s x4 q q i x4', F_WRLCK, SEEK_SET, 0, 0, 0;

    fcntl $fh, F_SETLK, $all or die "$path: $!";

    return $fh;
}
