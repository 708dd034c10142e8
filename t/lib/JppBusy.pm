package JppBusy;

# The servers that docs/cpu.md speaks of: each under the load that its section
# shows, until what is returned beside it is gone.

use JppPerl;

use Exporter qw( import );
use POSIX ();

use JppNginx qw( spew );
use JppRun qw( lua_modules );
use JppSites qw( site tls_site );

our @EXPORT_OK = qw( has_lua searching compressing shaking_hands looping );


sub has_lua { lua_modules() ne '' }


# Processes that do CODE again and again, as long as this one is there.

sub load($n, $code) {
    my $parent = $$;

    my @pids = map {
        my $pid = fork() // die "fork: $!\n";

        if ($pid == 0) {
            setpgrp;
            $SIG{PIPE} = 'IGNORE';
            $code->() while getppid() == $parent;
            POSIX::_exit(0);
        }

        $pid;
    } 1 .. $n;

    return bless \@pids;
}


sub requests($server, $path) {
    return ($server, load(3, sub {
        eval { $server->get($path, headers => "Accept-Encoding: gzip\r\n") };
    }));
}


sub DESTROY($self) {
    local $?;

    kill 'KILL', map { -$_ } @$self;
    waitpid $_, 0 for @$self;
}


sub searching {
    my $server = site(conf => <<'CONF');
location /search/ {
    if ($arg_q ~ "^(a+)+[b-d]") { return 403; }
    return 200 "found\n";
}
CONF

    return requests($server, '/search/?q=' . 'a' x 16 . '!');
}


sub compressing {
    my $server = site(conf => <<'CONF');
location /api/ {
    root html;
    gzip on;
    gzip_types application/json;
    gzip_comp_level 9;
    default_type application/json;
}
CONF

    spew("$server->{prefix}/html/api/list",
         map { qq({"id": $_, "name": "number $_", "square": )
               . $_ * $_ . "}\n" } 1 .. 20000);

    return requests($server, '/api/list');
}


sub shaking_hands {
    my ($server, $port) = tls_site();

    return ($server, load(2, sub {
        system("openssl s_time -connect 127.0.0.1:$port -new -time 5 -www / "
               . '>/dev/null 2>&1');
    }));
}


sub looping {
    my $server = site(main => lua_modules(), conf => <<'CONF');
location /report/ {
    content_by_lua_block {
        local report = ""
        for i = 1, 3000 do
            report = report .. i .. ", "
        end
        ngx.say(report)
    }
}
CONF

    return requests($server, '/report/');
}


1;
