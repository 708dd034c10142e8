#!/bin/sh

# Our unwinder against libgcc's, frame by frame, in an nginx under load.
#
#     equal.sh [PART...]
#
# A PART is one of
#
#     hook     every sample of jemalloc's heap profiler, one in 512 bytes:
#              TLS, HTTP/2, gzip, SSI, perl, XSLT, images, Lua, njs, brotli,
#              proxy; a million stacks
#     signal   10,000 signals a second, while nginx shakes hands: 100,000
#              stacks, of any instruction
#
# and both are done where none is named.  STACKS names other numbers.  LuaJIT's
# compiler is off: libgcc's unwinder ends the process at the code it makes.
#
# It fails where a stack differs, and where more than 1 in 10,000 is cut.
# ./dev bench equal calls it.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")

equal=$build/bench/jpp_equal.so
prefix=$build/bench/equal
jemalloc=libjemalloc.so.2

# an odd corner of 127/8, so that no server of the machine is in the way
addr=127.92.54.2
port=8096
tls_port=8097

nginx_pid=


die()
{
    echo "bench: $*" >&2
    exit 1
}


check()
{
    # Debian's nginx is in a folder that not everybody searches
    PATH=$PATH:/usr/sbin:/sbin

    for program in nginx h2load openssl perl; do
        command -v $program >/dev/null || die "$program is missing"
    done

    test -f "$equal" || die "$equal is missing; type: ./dev bench equal"

    for part in "$@"; do
        case $part in
            hook|signal) ;;
            *) die "there is no part $part, but hook and signal" ;;
        esac
    done
}


end()
{
    status=$?
    trap - EXIT

    test -z "$nginx_pid" || kill -TERM "$nginx_pid" 2>/dev/null || true

    exit "$status"
}


prepare()
{
    rm -rf "$prefix"
    mkdir -p "$prefix/html" "$prefix/temp"

    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
        -nodes -days 30 -subj "/CN=$addr" -keyout "$prefix/key.pem" \
        -out "$prefix/certificate.pem" 2>/dev/null
    openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=$addr" \
        -keyout "$prefix/key-rsa.pem" -out "$prefix/certificate-rsa.pem" \
        2>/dev/null

    perl - "$prefix/html" <<'END'
        use strict;
        use warnings;
        use Compress::Zlib qw(compress crc32);

        sub put {
            open my $fh, '>:raw', "$ARGV[0]/$_[0]" or die;
            print $fh $_[1];
            close $fh or die;
        }

        sub chunk { pack('N', length $_[1]) . "$_[0]$_[1]"
                    . pack('N', crc32("$_[0]$_[1]")) }

        my $rows = join '', map { my $y = $_;
            "\0" . join '', map { chr($_ * $y % 251) x 3 } 1 .. 64 } 1 .. 64;

        put('a.png', "\x89PNG\r\n\x1a\n"
            . chunk('IHDR', pack 'NNCCCCC', 64, 64, 8, 2, 0, 0, 0)
            . chunk('IDAT', compress($rows)) . chunk('IEND', ''));
        put('a.html', join '', map { "line $_ of " . $_ * 7919 . "\n" }
                                   1 .. 400);
        put('ssi.html', "<!--#include virtual=\"/a.html\" -->"
            . "<!--#if expr=\"\$uri = /s.*html/\" -->"
            . "<!--#include virtual=\"/perl\" --><!--#endif -->");
        put('a.xml', '<list>'
            . join('', map { "<item n='$_'>x</item>" } 1 .. 60) . '</list>');
        put('a.xslt', '<xsl:stylesheet version="1.0" xmlns:xsl='
            . '"http://www.w3.org/1999/XSL/Transform"><xsl:template match="/">'
            . '<ul><xsl:for-each select="list/item"><xsl:sort select="@n"/>'
            . '<li><xsl:value-of select="concat(@n, .)"/></li>'
            . '</xsl:for-each></ul></xsl:template></xsl:stylesheet>');
        put('a.js', "function answer(r) { r.return(200, JSON.stringify(\n"
            . "r.headersIn) + 'x'.repeat(500).split('').map(\n"
            . "(c, i) => c + i).sort().join(''));\n} export default {answer};");
END
}


# modules: those that this machine has, in the order that Debian gives them

modules()
{
    path=$(nginx -V 2>&1 | sed -n 's/.*--modules-path=\([^ ]*\).*/\1/p')

    sed -n "s:^load_module modules/:load_module $path/:p" \
        /etc/nginx/modules-enabled/*.conf
}


configuration()
{
    test "$(id -u)" != 0 || echo "user root;"
    modules

    cat <<END
daemon off;
master_process on;
worker_processes 2;
pid nginx.pid;
error_log error.log warn;

events {
    worker_connections 4096;
}

http {
    access_log off;
    client_body_temp_path temp/body;
    proxy_temp_path temp/proxy;
    fastcgi_temp_path temp/fastcgi;
    uwsgi_temp_path temp/uwsgi;
    scgi_temp_path temp/scgi;
    types { text/html html; text/xml xml; image/png png; }
    root html;
    gzip on;
    gzip_types *;
    gzip_min_length 100;
    lua_package_path "/usr/share/lua/5.1/?.lua;;";
    init_by_lua_block { require("jit").off() }
    js_path $prefix/html;
    js_import a from a.js;

    server {
        listen $addr:$port reuseport;
        listen $addr:$tls_port reuseport ssl http2;
        ssl_certificate certificate.pem;
        ssl_certificate_key key.pem;
        ssl_certificate certificate-rsa.pem;
        ssl_certificate_key key-rsa.pem;

        location / { }
        location = /ssi.html { ssi on; }
        location = /a.xml { xslt_stylesheet html/a.xslt; }
        location = /a.png { image_filter resize 20 30; }
        location = /proxy { proxy_pass http://$addr:$port/ssi.html; }
        location = /js { js_content a.answer; }
        location = /br { alias html/a.html; brotli on; brotli_types *; }

        location = /perl {
            perl 'sub { my \$r = shift; my %h; \$h{\$_ * 7} = "x" x \$_
                        for 1 .. 100;
                        \$r->send_http_header("text/html");
                        \$r->print(join "", sort { \$a cmp \$b } values %h);
                        return OK; }';
        }

        location = /lua {
            content_by_lua_block {
                local t = {}
                for i = 1, 200 do
                    t[i] = string.format("%d %s", i, ngx.var.uri)
                end
                ngx.header["X-N"] = #t
                table.sort(t)
                local body = table.concat(t)

                if ngx.req.http_version() < 2 then
                    body = body .. ngx.location.capture("/a.html").body
                end

                ngx.say(ngx.md5(body), ngx.re.gsub(body, "[0-9]+", "n"))
            }
        }
    }
}
END
}


# start MODE: hook or signal

start()
{
    configuration >"$prefix/nginx.conf"
    rm -f "$prefix/report"

    env JPP_EQUAL="$1" JPP_EQUAL_REPORT="$prefix/report" \
        LD_PRELOAD="$jemalloc $equal" \
        MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:9 \
        nginx -p "$prefix/" -c "$prefix/nginx.conf" &
    nginx_pid=$!

    tries=0

    while ! openssl s_client -connect "$addr:$tls_port" </dev/null \
            >/dev/null 2>&1
    do
        tries=$((tries + 1))
        test $tries != 100 || die "nginx does not start: $prefix/error.log"
        sleep 0.1
    done
}


quit()
{
    kill -QUIT "$nginx_pid"
    wait "$nginx_pid" || die "nginx has failed: $prefix/error.log"
    nginx_pid=

    if grep -E '\[(alert|emerg)\]' "$prefix/error.log"; then
        die "nginx is alarmed: $prefix/error.log"
    fi
}


uris()
{
    for uri in a.html ssi.html a.xml a.png proxy js br perl lua nowhere; do
        echo "$1$uri"
    done
}


# load N: N requests of each sort: HTTP/2 on TLS, HTTP/1.1 with and without
# TLS, and as many new connections

load()
{
    uris "https://$addr:$tls_port/" >"$prefix/tls"
    uris "http://$addr:$port/" >"$prefix/plain"

    for way in "-m 10 -i $prefix/tls" "--h1 -i $prefix/tls" \
        "--h1 -i $prefix/plain"
    do
        # shellcheck disable=SC2086
        h2load -n "$1" -c 20 -H "accept-encoding: gzip, br" $way
    done >"$prefix/h2load" 2>&1

    handshakes $(($1 / 100)) >>"$prefix/h2load" 2>&1
}


# handshakes N: of several sorts: curves, certificates, ciphers

handshakes()
{
    for how in --groups=X25519 --groups=P-256 --groups=P-384 --groups=P-521 \
        --ciphers=ECDHE-RSA-AES256-GCM-SHA384 \
        --ciphers=ECDHE-ECDSA-CHACHA20-POLY1305
    do
        h2load -n "$1" -c "$1" $how "https://$addr:$tls_port/a.html"
    done
}


# verdict STACKS: enough, none wrong, at most 1 in 10,000 cut

verdict()
{
    sed '/^$/q' "$prefix/report"

    awk -F ': ' -v least="$1" '
        NF == 2 { n[$1] = $2 }
        END {
            stacks = n["equal"] + n["cut"]

            if (stacks < least || n["different"] || n["cut"] * 10000 > stacks)
                exit 1 }' "$prefix/report" \
        || die "too few, too many cut, or different: $prefix/report"
}


part_hook()
{
    start hook
    load "${REQUESTS:-10000}"
    quit
    verdict "${STACKS:-1000000}"
}


part_signal()
{
    start signal
    load 600
    handshakes "${REQUESTS:-1000}" >>"$prefix/h2load" 2>&1
    quit
    verdict "${STACKS:-100000}"
}


test $# != 0 || set -- hook signal

check "$@"
trap end EXIT
trap 'exit 1' INT TERM HUP
prepare

for part in "$@"; do
    echo "$part"
    "part_$part"
    echo
done
