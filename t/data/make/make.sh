#!/bin/sh

# Makes every real dump of the corpus again, into the folder above this one:
#
#     make.sh [NAME ...]        e.g. make.sh nginx-531 cxx-530
#
# Real dumps differ from run to run (addresses, sampling), so the committed
# ones are replaced by this only on purpose: when a jemalloc is added, or a
# shape is missing.  No test may rest on a number in them that is not also
# said here or in the program that made them.
#
# Debian packages: libjemalloc2 and libjemalloc-dev 5.3.0 (bookworm), nginx,
# curl, openssl, gcc, g++, binutils, perl; and for the *-531 dumps dpkg-dev,
# autoconf, make.
#
# Everything happens under one neutral path, because the mappings in a dump
# show it: no dump may tell who made it, or where.

set -eu

scratch=/tmp/jpp-data
make=$(cd "$(dirname "$0")" && pwd)
data=$(dirname "$make")

SOURCES=$scratch/sources

# shellcheck source=tools/packages.sh
. "$make/../../../tools/packages.sh"

# shellcheck source=tools/sources.sh
. "$make/../../../tools/sources.sh"

# An odd corner of 127/8, so that no server of the machine is in the way.
addr=127.91.53.1

prof=prof:true,prof_active:true

all="nginx-530 nginx-160k nginx-531 cxx-530 accum-530 threads-530 lg0-530
     lg0-531 static-530"

nginx_pid=


die()
{
    echo "make.sh: $*" >&2
    exit 1
}


cleanup()
{
    if [ -n "$nginx_pid" ]; then
        kill -TERM "$nginx_pid" 2>/dev/null || true
    fi

    rm -rf "$scratch"
}


# The same completeness rule as the parser's: a dump jemalloc cut off would
# otherwise be committed as a good one.

keep()
{
    if [ "$(tail -c 1 "$1" | od -An -tx1 | tr -d ' ')" != 0a ] \
        || ! grep -q '^MAPPED_LIBRARIES:$' "$1" \
        || ! tail -n 1 "$1" | grep -Eq '^[0-9a-f]+-[0-9a-f]+ [-rwxsp]{4} '
    then
        die "$2: the dump is not complete"
    fi

    cp "$1" "$data/$2.heap"
    echo "$2.heap: $(wc -c <"$1") bytes, $(grep -c '^@' "$1") stacks"

    # tests expect the names that these have here and now

    case $2 in
        nginx-530|nginx-160k|cxx-530)
            perl "$make/symbols.pl" "$1" >"$data/$2.symbols"
            ;;
    esac
}


lib530()
{
    case $(packages_version libjemalloc2) in
        5.3.0-*) ;;
        *)       die "the *-530 dumps need libjemalloc2 5.3.0" ;;
    esac

    lib=libjemalloc.so.2
}


# 5.3.1 is built from its source, see tools/sources.sh.

lib531()
{
    lib=$scratch/lib531/libjemalloc.so.2

    if [ -f "$lib" ]; then
        return
    fi

    built=$(sources_jemalloc sid)

    case $built in
        */jemalloc-5.3.1/*) ;;
        *)                  die "sid has no jemalloc 5.3.1 any more" ;;
    esac

    mkdir -p "$scratch/lib531"
    cp "$built" "$lib"
}


# One worker, so that its dumps are the whole load; every part that makes
# stacks of its own (TLS, zlib, proxy, regex, HTTP/2, SSI) has a location.

nginx_conf()
{
    mkdir -p "$scratch/html" "$scratch/tmp"

    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 \
        -subj /CN=localhost -keyout "$scratch/key.pem" \
        -out "$scratch/cert.pem" 2>/dev/null

    awk 'BEGIN { for (i = 0; i < 400; i++) print "line", i, i * i, "text" }' \
        >"$scratch/html/page.txt"
    gzip -f -k "$scratch/html/page.txt"
    head -c 262144 /dev/zero >"$scratch/html/big.bin"
    echo '<!--#include virtual="/page.txt" --> <!--#echo var="uri" -->' \
        >"$scratch/html/index.shtml"

    cat >"$scratch/nginx.conf" <<END
daemon off;
worker_processes 1;
user root;
pid $scratch/nginx.pid;
error_log $scratch/error.log;

events {
    worker_connections 512;
}

http {
    access_log $scratch/access.log;
    client_body_temp_path $scratch/tmp/body;
    proxy_temp_path $scratch/tmp/proxy;
    fastcgi_temp_path $scratch/tmp/fastcgi;
    uwsgi_temp_path $scratch/tmp/uwsgi;
    scgi_temp_path $scratch/tmp/scgi;

    root $scratch/html;
    gzip_types text/plain;
    gzip_proxied any;

    map \$http_user_agent \$client {
        default  other;
        ~*curl   curl;
    }

    upstream backend {
        server $addr:8081;
        keepalive 4;
    }

    server {
        listen $addr:8081;
    }

    server {
        listen $addr:8080;
        listen $addr:8443 ssl http2;

        ssl_certificate $scratch/cert.pem;
        ssl_certificate_key $scratch/key.pem;

        add_header X-Client \$client;

        location /gzip/ {
            gzip on;
            rewrite ^/gzip/(.*)\$ /page.txt break;
        }

        # the only allocations made through zlib's own frames: the gzip
        # filter hands zlib slices of one block, the gunzip filter does not
        location /gunzip/ {
            gzip_static always;
            gzip_disable curl;
            gunzip on;
            rewrite ^/gunzip/(.*)\$ /page.txt break;
        }

        location /slow/ {
            limit_rate 400k;
            rewrite ^/slow/(.*)\$ /big.bin break;
        }

        location /ssi/ {
            ssi on;
            ssi_types *;
            rewrite ^/ssi/(.*)\$ /index.shtml break;
        }

        location /proxy/ {
            gzip on;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_pass http://backend/page.txt?;
        }
    }
}
END
}


# Every kind of request at once: what a dump shows is what is in flight.

nginx_load()
{
    loads=

    for url in "http://$addr:8080/page.txt?[1-300]" \
               "http://$addr:8080/gzip/[1-300]" \
               "http://$addr:8080/gunzip/[1-300]" \
               "http://$addr:8080/slow/[1-40]" \
               "http://$addr:8080/ssi/[1-200]" \
               "http://$addr:8080/proxy/[1-300]" \
               "https://$addr:8443/gzip/[1-300]" \
               "https://$addr:8443/gunzip/[1-300]" \
               "https://$addr:8443/slow/[1-40]" \
               "https://$addr:8443/proxy/[1-300]"
    do
        for http in --http1.1 --http2; do
            # -Z shows a progress meter even with -s
            curl -s -k -Z --parallel-max 12 --max-time 20 "$http" \
                 --compressed -o /dev/null "$url" 2>/dev/null &
            loads="$loads $!"
        done
    done

    # a request that fails is no harm, only a server that is gone
    for pid in $loads; do
        wait "$pid" || true
    done
}


# nginx LG: runs nginx on $lib, sampling every 2^LG bytes, and leaves the
# dumps its worker wrote under load in $scratch/taken.  jemalloc itself dumps
# at every 4 MiB allocated: in the worker, in the middle of its work, without
# a helper inside nginx.

nginx()
{
    nginx_conf

    rm -rf "$scratch/taken"
    mkdir -p "$scratch/taken"

    conf=$prof,lg_prof_sample:$1,lg_prof_interval:22
    conf=$conf,prof_prefix:$scratch/taken/d

    env LD_PRELOAD="$lib" MALLOC_CONF="$conf" \
        /usr/sbin/nginx -e "$scratch/error.log" -p "$scratch" \
                        -c "$scratch/nginx.conf" &
    nginx_pid=$!

    n=0
    until curl -s -o /dev/null "http://$addr:8080/page.txt"; do
        n=$((n + 1))
        if [ $n -gt 50 ]; then
            cat "$scratch/error.log" >&2
            die "nginx does not answer"
        fi
        sleep 0.1
    done

    # the file has no newline, which read takes for an end of file
    read -r worker _ <"/proc/$nginx_pid/task/$nginx_pid/children" || true

    nginx_load

    kill -QUIT "$nginx_pid"
    wait "$nginx_pid" || true
    nginx_pid=
}


# The fullest of the dumps: the one with the most in flight.

nginx_fullest()
{
    nginx 10
    # shellcheck disable=SC2012
    keep "$(ls -S "$scratch"/taken/d."$worker".*.heap | head -n 1)" "$1"
}


# The test that cuts a dump at every byte wants a middling one: it takes the
# square of the size, and less than 150 kB is no dump of a busy worker.

nginx_160k()
{
    for lg in 10 9 8 7 6 5; do
        nginx $lg

        for f in "$scratch"/taken/d."$worker".*.heap; do
            size=$(wc -c <"$f")

            if [ "$size" -ge 150000 ] && [ "$size" -le 170000 ]; then
                keep "$f" "$1"
                return
            fi
        done
    done

    die "$1: no dump of 150 to 170 kB"
}


# program NAME OPTIONS COMMAND: runs COMMAND, which writes $scratch/out.heap.
# At -O1, and without sibling calls, each function of the source is a frame.

program()
{
    name=$1
    opts=$2
    shift 2

    env LD_PRELOAD="$lib" MALLOC_CONF="$prof,$opts" "$@" "$scratch/out.heap" \
        >/dev/null
    keep "$scratch/out.heap" "$name"
}


compile()
{
    out=$1
    compiler=$2
    shift 2

    "$compiler" -O1 -fno-optimize-sibling-calls -Wall -Wextra \
                -o "$scratch/$out" "$@"
}


make_one()
{
    case $1 in

    nginx-530)
        lib530
        nginx_fullest "$1"
        ;;

    nginx-160k)
        lib530
        nginx_160k "$1"
        ;;

    nginx-531)
        lib531
        nginx_fullest "$1"
        ;;

    cxx-530)
        lib530
        compile cxx g++ "$make/cxx.cc"
        program "$1" lg_prof_sample:10 "$scratch/cxx"
        ;;

    accum-530)
        lib530
        compile dumps gcc "$make/dumps.c"
        program "$1" lg_prof_sample:12,prof_accum:true "$scratch/dumps" accum
        ;;

    threads-530)
        lib530
        compile dumps gcc "$make/dumps.c"
        program "$1" lg_prof_sample:14 "$scratch/dumps" threads
        ;;

    lg0-530)
        lib530
        compile dumps gcc "$make/dumps.c"
        program "$1" lg_prof_sample:0 "$scratch/dumps" lg0
        ;;

    # 128 frames is the default of both; only 5.3.1 lets more be asked for
    lg0-531)
        lib531
        compile dumps gcc "$make/dumps.c"
        program "$1" lg_prof_sample:0,prof_bt_max:256 "$scratch/dumps" lg0
        ;;

    # Nothing is preloaded: the allocator's frames lie in the program's own
    # mapping.  mallctl must be exported or dlsym() does not see it.
    static-530)
        lib530
        lib=
        compile static gcc "$make/dumps.c" -l:libjemalloc.a -lm -lstdc++ \
                -Wl,--export-dynamic-symbol=mallctl
        program "$1" lg_prof_sample:12 "$scratch/static" plain
        ;;

    *)
        die "no such dump: $1; there are: $all"
        ;;

    esac
}


# refused when it is there already: another run, or somebody else's
mkdir "$scratch" || exit 1

trap cleanup EXIT
trap 'exit 1' HUP INT TERM

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2086
    set -- $all
fi

for dump in "$@"; do
    make_one "$dump"
done
