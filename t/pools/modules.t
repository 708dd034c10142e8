#!/usr/bin/perl

# The resource pools where modules are loaded that nobody here has written: all
# that Debian has for its nginx, at once.  Their requests and connections are
# found and named by what is known, what is not is "other", and a walk at any
# moment ends nobody.
#
# Not here: what a walk finds of nginx's own (the others of t/pools).

use JppTest;
use JppPools qw( held sums );

my $rounds = $ENV{JPP_SOAK} ? 500 : 20;

# it takes requests, and never answers
my $deaf = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 512)
    or die "listen: $!";
my $hold = '127.0.0.1:' . $deaf->sockport;
my $dir = File::Temp->newdir;
my ($rtmp_port, $stream_port, $mail_port) = map { free_port() } 1 .. 3;

my $upload = sub { "POST $_[0] HTTP/1.1\r\nHost: a\r\n"
                   . "Content-Length: 100000\r\n\r\n" . 'x' x 1000 };

# Each module with what it needs to have loaded first, what it is told, and how
# a request of its location begins.  It stays there, with its request.

my @uses = (
    [ 'ngx_http_echo_module', location => 'echo_sleep 100; echo a;' ],
    [ 'ngx_http_lua_module', needs => 'ndk_http_module',
      http => 'init_by_lua_block { }
          init_worker_by_lua_block {
              ngx.timer.at(0, function()
                  repeat ngx.sleep(0.1) until ngx.worker.exiting() end)
              ngx.timer.every(0.01, function() ngx.sleep(0.01) end) }
          exit_worker_by_lua_block { }',
      location => 'set_by_lua_block $lua { return 1 }
          rewrite_by_lua_block { ngx.sleep(0.001) }
          access_by_lua_block { ngx.sleep(0.001) }
          content_by_lua_block {
              ngx.timer.at(0, function() ngx.sleep(100) end)
              ngx.thread.spawn(function() ngx.sleep(100) end)
              ngx.send_headers()
              ngx.sleep(100) }
          header_filter_by_lua_block { ngx.header.a = "b" }
          body_filter_by_lua_block { }
          log_by_lua_block { ngx.timer.at(0, function() end) }' ],
    [ 'ngx_http_js_module', http => "js_path $dir; js_import m from m.js;",
      location => 'js_content m.hold;' ],
    [ 'ngx_http_perl_module',
      http => "perl_modules $dir; perl_require Held.pm;",
      location => 'perl Held::hold;' ],
    [ 'ngx_nchan_module',
      location => 'nchan_subscriber; nchan_channel_id a;' ],
    [ 'ngx_http_memc_module',
      location => "set \$memc_key a; memc_pass $hold;" ],
    [ 'ngx_http_srcache_filter_module',
      location => 'srcache_fetch GET /held; echo a;',
      needs => 'ngx_http_echo_module' ],
    [ 'ngx_http_set_misc_module', needs => 'ndk_http_module',
      location => "set_unescape_uri \$b \$arg_a; proxy_pass http://$hold;" ],
    [ 'ngx_http_subs_filter_module',
      location => 'subs_filter x yy; subs_filter_types *; root html;
                   limit_rate 100; try_files /file =404;' ],
    [ 'ngx_http_brotli_filter_module',
      location => 'brotli on; brotli_types *; root html; limit_rate 100;
                   try_files /file =404;',
      headers => "Accept-Encoding: br\r\n" ],
    [ 'ngx_http_brotli_static_module',
      location => 'brotli_static on; root html; limit_rate 100;
                   try_files /file =404;' ],
    [ 'ngx_http_headers_more_filter_module',
      location => "more_set_headers 'A: b'; proxy_pass http://$hold;" ],
    [ 'ngx_http_cache_purge_module',
      http => 'proxy_cache_path cache keys_zone=purged:1m;',
      location => "proxy_cache purged; proxy_cache_key a;
                   proxy_cache_purge PURGE from 127.0.0.1;
                   proxy_pass http://$hold;" ],
    [ 'ngx_http_upstream_fair_module',
      http => "upstream fair { fair; server $hold; }",
      location => 'proxy_pass http://fair;' ],
    [ 'ngx_http_uploadprogress_module', http => 'upload_progress up 1m;',
      location => "proxy_pass http://$hold; track_uploads up 10s;",
      begins => $upload ],
    [ 'ngx_http_dav_ext_module',
      location => "dav_ext_methods PROPFIND OPTIONS; root html;
                   proxy_pass http://$hold;" ],
    [ 'ngx_http_fancyindex_module',
      location => 'fancyindex on; alias html/; limit_rate 100;' ],
    [ 'ngx_http_modsecurity_module',
      location => "modsecurity on; modsecurity_rules 'SecRuleEngine On';
                   proxy_pass http://$hold;", begins => $upload ],
    [ 'ngx_http_auth_pam_module',
      location => "auth_pam off; proxy_pass http://$hold;" ],
    [ 'ngx_http_image_filter_module',
      location => 'image_filter size; limit_rate 100; root html;
                   try_files /file =404;' ],
    [ 'ngx_http_xslt_filter_module',
      location => "xslt_types text/plain; proxy_pass http://$hold;" ],
    [ 'ngx_http_geoip_module', location => "proxy_pass http://$hold;" ],
    [ 'ngx_http_geoip2_module', location => "proxy_pass http://$hold;" ],
    [ 'ngx_stream_module',
      main => "stream { server { listen 127.0.0.1:$stream_port;
                                 proxy_pass $hold; } }",
      port => $stream_port, begins => sub { 'a' },
      found => "stream;server 127.0.0.1:$stream_port;session;pool blocks" ],
    [ 'ngx_stream_geoip_module', needs => 'ngx_stream_module' ],
    [ 'ngx_stream_geoip2_module', needs => 'ngx_stream_module' ],
    [ 'ngx_stream_js_module', needs => 'ngx_stream_module' ],
    [ 'ngx_mail_module',
      main => "mail { auth_http $hold/a;
                      server { listen 127.0.0.1:$mail_port; protocol pop3; } }",
      port => $mail_port, begins => sub { "USER a\r\nPASS b\r\n" },
      found => "mail;server 127.0.0.1:$mail_port;session;pool blocks" ],
    [ 'ngx_rtmp_module',
      main => "rtmp { server { listen 127.0.0.1:$rtmp_port;
                               application a { live on; } } }",
      port => $rtmp_port, begins => sub { "\x03" . 'x' x 1536 },
      found => 'connection of ngx_rtmp_module;pool blocks' ],
);

# those that this nginx takes, and what it has to load, in order
my (@loaded, %seen);
my @used = grep { modules($_->{needs} // (), $_->{name}) ne '' }
           map { my ($name, %how) = @$_; +{ name => $name, %how } } @uses;
chmod 0755, "$dir";

my $loads = modules(grep { !$seen{$_}++ }
                    map { ($_->{needs} // (), $_->{name}) } @used);


sub start {
    spew("$dir/m.js", 'function hold(r) { r.subrequest("/held", () => 0); }
                       export default { hold };');
    spew("$dir/Held.pm", 'package Held; use nginx;
                          sub done { nginx::OK }
                          sub hold { $_[0]->sleep(100000, \&done);
                                     return nginx::OK; } 1;');

    my %parts = map {
        my $part = $_;
        ($part => join "\n", map { $_->{$part} // () } @used);
    } qw( main http );

    my $server = join '', map {
        $_->{location} ? "location /$_->{name}/ { $_->{location} }\n" : ''
    } @used;

    return JppNginx->start(
        conf => 'prof:false', connections => 1024, level => 'error',
        main => "$loads$parts{main}", http => $parts{http},
        server => "${server}location = /held { proxy_pass http://$hold; }\n"
                  . 'location /debug/pprof/ { jemalloc_pprof; }');
}


# One that asks USE's location, or its server, and waits.

sub client($nginx, $use) {
    my $client = $use->{port} ? JppClient->new(port => $use->{port})
                              : $nginx->client(window => 4096);
    my $path = "/$use->{name}/";

    if ($use->{begins}) {
        $client->write($use->{begins}->($path));

    } else {
        $client->send_request($path, headers => $use->{headers});
    }

    return $client;
}


test 'all of them', sub { $loads ne '' } => sub {
    my $nginx = start();
    my $pids = join ' ', $nginx->worker_pids;
    my (@clients, %found);

    # some come, some leave, and each time there is a walk

    for my $round (1 .. $rounds) {
        push @clients, map { client($nginx, $_) }
                       grep { $_->{location} || $_->{port} } @used;

        splice @clients, rand @clients, 1 for 1 .. @clients / 3;

        my $held = held($nginx);

        $found{$_}++ for keys %$held;
    }

    for my $use (@used) {
        my $frames = $use->{found} // ";location /$use->{name}/;request;pool";

        next if !$use->{location} && !$use->{port};
        ok((grep { /\Q$frames\E/ } keys %found), "$use->{name}: $frames");
    }

    is_exact($nginx, 'all, to the byte');

    # a name for each of those that belong to nobody's client

    is(join(', ', grep { !/^connection of (?:nginx|ngx_\w+_module);/ }
                  grep { /^connection of/ } keys %found), '',
       'connections of modules have their names');

    undef @clients;
    is_exact($nginx, 'and when the clients have left');
    is(join(' ', $nginx->worker_pids), $pids, 'and nobody has ended');
    is($nginx->alerts, 0, 'no alerts');
};


# Only jemalloc counts what a thread holds.

sub is_exact($nginx, $what) {
    return if !has_jemalloc();

    my ($sum, $total) = sums($nginx);

    is($sum, $total, $what);
}
