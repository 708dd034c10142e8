package JppBrowser;

# A browser for tests: chromium without a window, driven by chromedriver with
# WebDriver, which is JSON over HTTP.
#
#     my $browser = JppBrowser->start;
#     $browser->open('http://127.0.0.1:1234/...');
#     my $title = $browser->run('return document.title');
#     $browser->press('#graph', 'ArrowDown');
#     $browser->picture('build/page.png');
#     $browser->complaints;        # what the console and the policy had to say
#
# A subtest ends with is_quiet(): it has complaints() called, or there are none.
#
# Everything dies with a sentence if it cannot be done.  The processes are ended
# by their ids when the object goes.

use JppPerl;

use Carp;
use Exporter qw( import );
use File::Temp qw(tempdir);
use HTTP::Tiny;
use JSON::PP;
use MIME::Base64 qw(decode_base64);
use POSIX qw(:sys_wait_h);
use Scalar::Util qw( weaken );
use Test::More ();
use Time::HiRes qw(sleep time);

use JppRun qw( $axe free_port slurp );

our @EXPORT = qw( js );

# the one that was started last
my $browser;

my $element = 'element-6066-11e4-a52e-4f735466cecf';

my %names = (
    Backspace => "\x{e003}", Tab => "\x{e004}", Enter => "\x{e007}",
    Shift => "\x{e008}", Control => "\x{e009}", Escape => "\x{e00c}",
    ArrowLeft => "\x{e012}", ArrowUp => "\x{e013}", ArrowRight => "\x{e014}",
    ArrowDown => "\x{e015}",
);


# Is there a browser to start?

sub is_there {
    return !grep { system("command -v $_ >/dev/null 2>&1") != 0 }
                 qw(chromium chromedriver);
}


# A suite is skipped where there is none.

sub start($class, %options) {
    Test::More::plan(skip_all => 'no chromium: ./dev test installs it')
        unless is_there();

    my $self = bless { http => HTTP::Tiny->new(timeout => 180),
                       json => JSON::PP->new->utf8->allow_nonref,
                       dir => tempdir(CLEANUP => 1), owner => $$ },
                     $class;

    $self->{port} = free_port();
    $self->{pid} = fork // die "cannot fork: $!\n";

    if ($self->{pid} == 0) {
        setpgrp 0, 0;
        open STDOUT, '>', "$self->{dir}/driver.log" or POSIX::_exit(126);
        open STDERR, '>&', \*STDOUT or POSIX::_exit(126);
        delete $ENV{$_} for qw(LD_PRELOAD MALLOC_CONF);
        $ENV{HOME} = $self->{dir};
        exec 'chromedriver', "--port=$self->{port}" or POSIX::_exit(127);
    }

    my $end = time + 30;

    until (eval { $self->call(GET => '/status')->{ready} }) {
        die "chromedriver did not start\n" if time > $end;
        sleep 0.05;
    }

    $self->{session} = $self->call(POST => '/session', {
        capabilities => { alwaysMatch => capabilities($self, %options) },
    })->{sessionId};

    my $there = $browser = $self;

    push @JppRun::ends, sub { $there->is_quiet if $there };
    weaken($there);
    weaken($browser);

    return $self;
}


sub capabilities($self, %options) {
    my ($width, $height) = @{ $options{size} // [1600, 900] };

    return {
        browserName => 'chrome',
        'goog:loggingPrefs' => { browser => 'ALL' },
        'goog:chromeOptions' => {
            binary => '/usr/bin/chromium',
            args => ['--headless=new', '--no-sandbox', '--disable-gpu',
                     '--disable-dev-shm-usage', '--no-first-run',
                     '--disable-background-networking', '--disable-sync',
                     '--disable-component-update', '--no-proxy-server',
                     '--force-color-profile=srgb', '--hide-scrollbars',
                     "--user-data-dir=$self->{dir}/profile",
                     "--window-size=$width,$height",
                     @{ $options{args} // [] }],
            prefs => { 'download.default_directory' => $self->{dir} },
        },
    };
}


# One command; what it answers.

sub call($self, $method, $path, $body = undef) {
    $path = "/session/$self->{session}$path" if $self->{session};

    my $answer = $self->{http}->request($method,
        "http://127.0.0.1:$self->{port}$path",
        $method eq 'POST'
            ? { content => $self->{json}->encode($body // {}) } : {});

    my $said = eval { $self->{json}->decode($answer->{content}) };

    croak "WebDriver: $method $path: "
          . ($said ? substr $said->{value}{message}, 0, 800
                   : $answer->{content})
        if !$answer->{success};

    return $said->{value};
}


sub open($self, $url) {
    $self->call(POST => '/url', { url => $url });
    $self->{policy} = $self->run(<<'END');
window.jppViolations = [];
document.addEventListener('securitypolicyviolation', (event) =>
    window.jppViolations.push(event.violatedDirective + ' '
                              + event.blockedURI));
END
}


# Opens URL as a new tab does, and waits until SCRIPT is true.

sub show($self, $url, $script = 'return page.took') {
    $self->open('about:blank');
    $self->open($url);

    return $self->wait_for($script);
}


# SCRIPT's value in the page; it may be a promise.

sub run($self, $script, @args) {
    return $self->call(POST => '/execute/sync',
                       { script => $script, args => \@args });
}


# The value of an EXPRESSION in the page of the suite's browser.

sub js($expression, @args) { return $browser->run("return $expression", @args) }


# Waits until SCRIPT is true.

sub wait_for($self, $script, $seconds = undef) {
    my $end = time + ($seconds // 20);

    for (;;) {
        my $value = $self->run($script);
        return $value if $value;
        croak "this did not happen in the page: $script" if time > $end;
        sleep 0.05;
    }
}


sub find($self, $css) {
    return $self->call(POST => '/element', { using => 'css selector',
                                             value => $css })->{$element};
}


sub text($self, $css) {
    return $self->call(GET => '/element/' . $self->find($css) . '/text');
}


# A menu that it is in is opened first.

sub click($self, $css) {
    $self->run('let at = document.querySelector(arguments[0]);
                for ( ; at; at = at.parentElement) {
                    if (at.matches("details > :not(summary)")) {
                        at.parentElement.open = true;
                    }
                }', $css);
    $self->call(POST => '/element/' . $self->find($css) . '/click');
}


# Puts TEXT into a field; a file's name into a field for files.

sub type($self, $css, $text) {
    $self->call(POST => '/element/' . $self->find($css) . '/value',
                { text => $text });
}


# Presses the KEYS, by name or letter, where the focus is put by CSS first.

sub press($self, $css, @keys) {
    $self->run('document.querySelector(arguments[0]).focus()', $css)
        if defined $css;

    $self->call(POST => '/actions', { actions => [{
        type => 'key', id => 'keyboard',
        actions => [map { my $key = $names{$_} // $_;
                          ({ type => 'keyDown', value => $key },
                           { type => 'keyUp', value => $key }) } @keys],
    }] });
}


# Clicks at X, Y of the window, with the BUTTON 0 or 2.

sub click_at($self, $x, $y, $button = undef, $times = undef) {
    $self->call(POST => '/actions', { actions => [{
        type => 'pointer', id => 'mouse', parameters => { pointerType =>
                                                          'mouse' },
        actions => [{ type => 'pointerMove', x => int $x, y => int $y,
                      duration => 0 },
                    map { ({ type => 'pointerDown', button => $button // 0 },
                           { type => 'pointerUp', button => $button // 0 }) }
                        1 .. ($times // 1)],
    }] });
}


sub hover($self, $x, $y) {
    $self->call(POST => '/actions', { actions => [{
        type => 'pointer', id => 'mouse', parameters => { pointerType =>
                                                          'mouse' },
        actions => [{ type => 'pointerMove', x => int $x, y => int $y,
                      duration => 0 }],
    }] });
}


# The page at this size, whatever the window's frame takes.

sub resize($self, $width, $height) {
    $self->devtools('Emulation.setDeviceMetricsOverride',
                    { width => $width, height => $height,
                      deviceScaleFactor => 1, mobile => JSON::PP::false });
}


# What a media query is to say: theme => 'dark', 'forced-colors' => 'active'.

sub media($self, $type, %features) {
    $self->devtools('Emulation.setEmulatedMedia', { media => $type,
        features => [map { { name => $_, value => $features{$_} } }
                     sort keys %features] });
}


sub devtools($self, $command, $params = undef) {
    return $self->call(POST => '/goog/cdp/execute',
                       { cmd => $command, params => $params // {} });
}


sub picture($self, $path) {
    CORE::open(my $fh, '>:raw', $path) or die "$path: $!\n";
    print $fh decode_base64($self->call(GET => '/screenshot'));
    close $fh or die "$path: $!\n";
}


# What the console and the policy complained about since the last time.

sub complaints($self) {
    my @said = map { "$_->{level}: $_->{message}" }
               grep { $_->{level} =~ /SEVERE|WARNING/ }
               @{ $self->call(POST => '/se/log', { type => 'browser' }) };

    return (@said, @{ $self->run('return window.jppViolations || []') });
}


# A test: neither the console nor the policy complained.

sub is_quiet($self) {
    local $Test::Builder::Level = $Test::Builder::Level + 1;

    Test::More::is_deeply([$self->complaints], [],
                          'neither the console nor the policy complained');
}


# The page has no violation of axe-core, where is_possible('axe').

sub is_accessible($self, $what) {
    my $source = slurp($axe);

    local $Test::Builder::Level = $Test::Builder::Level + 1;

    Test::More::is_deeply($self->run(<<"END"), [], $what);
$source;
return axe.run(document, { resultTypes: ['violations'] })
    .then((result) => result.violations.map((one) => one.id + ': '
        + one.help + ': ' + one.nodes.map((node) => node.target).join(' ')));
END
}


sub folder($self) {
    return $self->{dir};
}


sub DESTROY($self) {
    return if $self->{owner} != $$ || !$self->{pid};

    local ($?, $@);

    eval { $self->call(DELETE => '') } if $self->{session};

    kill 'TERM', -$self->{pid};

    for (1 .. 100) {
        last if waitpid($self->{pid}, WNOHANG) != 0;
        sleep 0.05;
    }

    kill 'KILL', -$self->{pid};
}

1;
