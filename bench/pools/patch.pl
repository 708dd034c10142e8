#!/usr/bin/perl

# Puts the table of ngx_truth.h into a copy of nginx's sources:
#
#     patch.pl TREE
#
# Each edit is a file, a pattern, what takes the place of it, and how often it
# has to match, at least: nginx 1.22 and 1.26 differ in a few counts, and an
# edit that finds nothing has lost its place.  Files with "?" are not in all.

use strict;
use warnings;

@ARGV == 1 or die "usage: patch.pl TREE\n";
my ($tree) = @ARGV;

my @edits = (

    # where pools begin and end

    [ 'core/ngx_palloc.h', qr/(?=\n\n#endif[^\n]*_NGX_PALLOC_H)/,
      "\n\n#include <ngx_truth.h>" ],
    [ 'core/ngx_palloc.c', qr/(#include <ngx_core\.h>\n)/,
      '$1#undef ngx_create_pool\n' ],
    [ 'core/ngx_palloc.c', qr/(p->log = log;\n)/,
      '$1    ngx_truth_born(p, __builtin_return_address(0));\n' ],
    [ 'core/ngx_palloc.c',
      qr/(ngx_destroy_pool\(ngx_pool_t\ \*pool\)\n\{.*?\n)
         (?=\n\ {4}for\ \(l\ =\ pool->large)/xs,
      '$1\n    ngx_truth_died(pool);\n' ],

    # connections, by what their listening socket is for

    [ 'http/ngx_http_request.c',
      qr/(hc->conf_ctx = hc->addr_conf->default_server->ctx;)/,
      '$1 ngx_truth_is(c->pool, NGX_TRUTH_CLIENT, hc->conf_ctx->srv_conf,'
      . ' NULL, NULL);' ],
    [ 'http/ngx_http_request.c', qr/(hc->conf_ctx = cscf->ctx;)/,
      '$1 ngx_truth_owner(c->pool, hc->conf_ctx->srv_conf, NULL);' ],
    [ '?http/v3/ngx_http_v3_request.c', qr/(hc->conf_ctx = phc->conf_ctx;)/,
      '$1 ngx_truth_owner(c->pool, hc->conf_ctx->srv_conf, NULL);' ],
    [ '?event/quic/ngx_event_quic_streams.c',
      qr/(\n    log = ngx_palloc\(pool, sizeof\(ngx_log_t\)\);\n)/,
      '\n    ngx_truth_owner(pool, ngx_truth_find(c->pool)->srv_conf, NULL);\n'
      . '$1' ],
    [ 'stream/ngx_stream_handler.c', qr/(\bs->srv_conf = [^;]+;)/,
      '$1 ngx_truth_is(c->pool, NGX_TRUTH_STREAM, NULL, NULL,'
      . ' c->listening);' ],
    [ 'mail/ngx_mail_handler.c', qr/(\bs->srv_conf = [^;]+;)/,
      '$1 ngx_truth_is(c->pool, NGX_TRUTH_MAIL, NULL, NULL,'
      . ' c->listening);' ],

    # requests, at every line that gives them a server or a location

    [ 'http/ngx_http_request.c',
      qr/(r->loc_conf = hc->conf_ctx->loc_conf;)/,
      '$1 ngx_truth_owner(pool, r->srv_conf, r->loc_conf);' ],
    [ 'http/ngx_http_request.c', qr/(r->loc_conf = cscf->ctx->loc_conf;)/,
      '$1 ngx_truth_request(r);' ],
    [ 'http/ngx_http_core_module.c', qr/(\br->loc_conf = [^;]+;)/,
      '$1 ngx_truth_request(r);', 7 ],
    [ 'http/ngx_http_request.c', qr/(    log->action = "closing request";\n)/,
      '$1    if (r->stream == NULL) { ngx_truth_owner(r->connection->pool,'
      . ' r->http_connection->conf_ctx->srv_conf, NULL); }\n' ],
    [ 'http/ngx_http_script.c', qr/(\be->request->loc_conf = [^;]+;)/,
      '$1 ngx_truth_request(e->request);' ],

    # HTTP/2: the client's pool, the connection's own, and that of headers

    [ 'http/v2/ngx_http_v2.c', qr/(    c->data = h2c;\n)/,
      '$1    ngx_truth_is(c->pool, NGX_TRUTH_H2, hc->conf_ctx->srv_conf, NULL,'
      . ' NULL);\n' ],
    [ 'http/v2/ngx_http_v2.c', qr/(h2c->pool = ngx_create_pool\([^;]+;)/,
      '$1 if (h2c->pool) { ngx_truth_owner(h2c->pool,'
      . ' h2c->http_connection->conf_ctx->srv_conf, NULL); }', 2 ],
    [ 'http/v2/ngx_http_v2.c',
      qr/((\w+->state\.pool|\bpool) = ngx_create_pool\(1024[^;]+;)/,
      '$1 if ($2) { ngx_truth_owner($2,'
      . ' h2c->http_connection->conf_ctx->srv_conf, NULL); }' ],

    [ 'http/v2/ngx_http_v2.c',
      qr/(header\ is\ parsed\ \*\/\n\ {8}h2c->state\.keep_pool\ =\ 0;\n)/x,
      '$1        ngx_truth_owner(pool,'
      . ' h2c->http_connection->conf_ctx->srv_conf, NULL);\n' ],

    # the other side

    [ 'http/ngx_http_upstream.c', qr/(    c->pool->log = c->log;\n)/,
      '$1    ngx_truth_peer(c->pool, r, u->upstream);\n' ],
    [ 'http/modules/ngx_http_upstream_keepalive_module.c',
      qr/(    item->connection = c;\n)/,
      '$1    ngx_truth_is(c->pool, NGX_TRUTH_KEEPALIVE, NULL, NULL,'
      . ' u->upstream);\n' ],

    # a fault: a shutdown that has to wait, as it does when the socket is full

    [ 'event/ngx_event_openssl.c',
      qr/(ngx_ssl_shutdown\(ngx_connection_t\ \*c\)\n\{.*?
          ngx_ssl_ocsp_cleanup\(c\);\n)/xs,
      '$1
    if (ngx_truth_again && !SSL_in_init(c->ssl->connection)
        && c->read->handler != ngx_ssl_shutdown_handler)
    {
        c->read->handler = ngx_ssl_shutdown_handler;
        c->write->handler = ngx_ssl_shutdown_handler;
        ngx_add_timer(c->read, 1 + ngx_random() % 3000);
        return NGX_AGAIN;
    }
' ],
);

for my $edit (@edits) {
    my ($name, $pattern, $replacement, $least) = @$edit;

    my $optional = $name =~ s/^\?//;
    my $path = "$tree/src/$name";
    next if $optional && !-e $path;

    my $text = slurp($path);
    my $times = $text =~ s/$pattern/filled($replacement)/ge;

    $times >= ($least // 1)
        or die "patch.pl: $name: $pattern matches $times times\n";

    open my $fh, '>', $path or die "$path: $!\n";
    print $fh $text;
    close $fh or die "$path: $!\n";
}


# The groups of the match that is being replaced, and "\n".

sub filled {
    my ($replacement) = @_;
    my @group = (undef, $1, $2);

    $replacement =~ s/\$(\d)/$group[$1]/g;
    $replacement =~ s/\\n/\n/g;

    return $replacement;
}


sub slurp {
    my ($path) = @_;

    open my $fh, '<', $path or die "$path: $!\n";
    local $/;
    my $text = <$fh>;

    return $text;
}
