#!/bin/sh

# The demonstration: an nginx on jemalloc with the module, four workers and
# traffic, all on 127.0.0.1; beside it, one without jemalloc, whose profile the
# module's own sampler takes, under Lua where that is installed; then what to
# try.  It runs until Ctrl-C.
#
#     run.sh [--once]
#
# --once takes one profile, checks it, prints everything and ends: with 0, or
# with 1 and a sentence if anything did not work.
#
# JPP_PORT and JPP_TLS_PORT choose other ports than 8081 and 8443, JPP_BUILD
# another build than build/.  Called by ./dev run, which builds and installs.
# Everything written is below build/run/.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
port=${JPP_PORT:-8081}
tls_port=${JPP_TLS_PORT:-8443}

addr=127.0.0.1
workers=4
jemalloc=libjemalloc.so.2

# An nginx of a few MB has some ten stacks at 2^19 bytes between two samples,
# which is the rate to run with.  For showing, this one has dozens at 2^15.
malloc_conf=prof:true,prof_active:true,lg_prof_sample:15

# absolute, because nginx knows another folder
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")

module=$build/ngx_http_jemalloc_pprof_module.so
load=$build/bench/jpp_load
prefix=$build/run/$port
log=$prefix/logs/nginx.log
site=http://$addr:$port
pprof=$site/debug/pprof

# the one without jemalloc has no port
plain=$prefix/plain.sock
plain_url=http://localhost
plain_page=/long.html
lua=

modules=/usr/lib/nginx/modules

if [ -f $modules/ngx_http_lua_module.so ] && [ -f $modules/ndk_http_module.so ]
then
    lua=1
    plain_page=/lua
fi

once=
nginx_pid=
plain_pid=
plain_curl_pid=
load_pid=
curl_pid=


die()
{
    echo "run: $*" >&2
    exit 1
}


# By pid, nginx last.  The master ends its workers, and kills those that hang;
# should it be gone before, they are known by their log.

stop()
{
    status=$?
    trap '' INT TERM HUP PIPE
    trap - EXIT

    for pid in $load_pid $curl_pid $plain_curl_pid $plain_pid \
        $nginx_pid; do
        kill -TERM "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done

    # shellcheck disable=SC2013,SC2010
    for pid in $(sed -n 's/.*start worker process //p' "$log" 2>/dev/null); do
        if ls -l "/proc/$pid/fd" 2>/dev/null | grep -qF " $log"; then
            kill -KILL "$pid" 2>/dev/null || true
        fi
    done

    if [ -n "$nginx_pid" ]; then
        echo "run: ended; nothing of it is left running" 2>/dev/null || true
    fi

    exit "$status"
}


check()
{
    case ${1-} in
        '')     ;;
        --once) once=1 ;;
        *)      die "usage: [JPP_PORT=8081] [JPP_TLS_PORT=8443] run.sh [--once]"
    esac

    for number in "$port" "$tls_port"; do
        case $number in
            ''|*[!0-9]*|0*|??????*) number=65536 ;;
        esac

        test "$number" -le 65535 || die "JPP_PORT and JPP_TLS_PORT take" \
            "numbers from 1 to 65535, not \"$port\" and \"$tls_port\""
    done

    test "$port" != "$tls_port" || die "JPP_PORT and JPP_TLS_PORT are the same"

    # Debian's nginx is in a folder that not everybody searches
    PATH=$PATH:/usr/sbin:/sbin

    for program in nginx curl openssl; do
        command -v $program >/dev/null \
            || die "$program is missing; type: sudo apt-get install $program"
    done

    for file in "$module" "$load"; do
        test -f "$file" || die "$file is missing; type: ./dev run"
    done

    unused "$port" JPP_PORT 18081
    unused "$tls_port" JPP_TLS_PORT 18443
}


# 7: the connection was refused, which is what is wanted

unused()
{
    rc=0
    curl -s -o /dev/null --noproxy '*' -m 1 "http://$addr:$1/" || rc=$?

    test $rc = 7 || die "port $1 of $addr is taken; choose another:" \
                        "$2=$3 ./dev run"
}


# Root's workers are www-data where that user can read the site, else root.

user()
{
    test "$(id -u)" = 0 || return 0

    for name in www-data root; do
        if setpriv --reuid="$name" --regid="$(id -g "$name")" \
            --clear-groups test -r "$prefix/html/index.html" 2>/dev/null
        then
            break
        fi
    done

    echo "user $name $(id -gn "$name");"
}


prepare()
{
    umask 022

    if ! { rm -rf "$prefix" && mkdir -p "$prefix/html" "$prefix/logs" \
           "$prefix/temp"; } 2>/dev/null
    then
        die "cannot write $prefix: it belongs to $(owner "$prefix");" \
            "remove it, or run as that user"
    fi

    pages
    certificate
    configuration >"$prefix/nginx.conf"
}


owner()
{
    path=$1

    while [ ! -e "$path" ]; do
        path=$(dirname "$path")
    done

    stat -c %U "$path"
}


pages()
{
    echo '<h1>jemalloc_pprof</h1><a href="/debug/pprof/">profiles</a>' \
        >"$prefix/html/index.html"
    awk 'BEGIN { for (i = 0; i < 4000; i++) print "<p>line " i "</p>" }' \
        >"$prefix/html/long.html"
    echo '<!--#include virtual="/index.html"--><!--#echo var="DATE_LOCAL"-->' \
        >"$prefix/html/parts.shtml"
}


certificate()
{
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
        -nodes -days 30 -subj "/CN=$addr" -addext "subjectAltName=IP:$addr" \
        -keyout "$prefix/key.pem" -out "$prefix/certificate.pem" \
        >"$prefix/logs/openssl.log" 2>&1 \
        || die "no certificate: $(tail -n 1 "$prefix/logs/openssl.log")"
}


# common NAME WORKERS: how the configuration of either nginx begins

common()
{
    cat <<END
load_module $module;

$(user)
daemon off;
worker_processes $2;
pid logs/$1.pid;
error_log logs/$1.log notice;

events {
    worker_connections 512;
}

http {
    access_log off;

$(for of in client_body proxy fastcgi uwsgi scgi; do
    echo "    ${of}_temp_path temp/$1_$of;"
done)
END
}


configuration()
{
    common nginx "$workers"
    cat <<END
    types {
        text/html html shtml;
    }

    gzip on;
    ssi on;

    ssl_certificate certificate.pem;
    ssl_certificate_key key.pem;
    ssl_session_cache shared:tls:1m;

    upstream itself {
        server $addr:$port;
        keepalive 8;
    }

    server {
        listen $addr:$port;
        listen $addr:$tls_port ssl http2;

        root html;

        location /proxy/ {
            proxy_pass http://itself/;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }

        location /debug/pprof/ {
            jemalloc_pprof;
            allow 127.0.0.1;
            deny all;
        }
    }
}
END
}


# nginx alone is preloaded.  Should this shell be killed, the kernel ends nginx.

start()
{
    rc=0
    LD_PRELOAD=$jemalloc MALLOC_CONF=$malloc_conf nginx -t -p "$prefix/" \
        -c nginx.conf >"$prefix/logs/test.log" 2>&1 || rc=$?

    if grep -q 'cannot be preloaded' "$prefix/logs/test.log"; then
        die "$jemalloc is missing; type: sudo apt-get install libjemalloc2"
    fi

    test $rc = 0 || die "nginx refuses to start:" \
                        "$(emergencies "$prefix/logs/test.log")"

    setpriv --pdeathsig TERM \
        env LD_PRELOAD="$jemalloc" MALLOC_CONF="$malloc_conf" \
        nginx -p "$prefix/" -c nginx.conf 2>"$prefix/logs/stderr.log" &
    nginx_pid=$!

    tries=20

    while [ $tries -gt 0 ]; do
        tries=$((tries - 1))
        alive

        if fetch "$site/" index && fetch "https://$addr:$tls_port/" index; then
            return
        fi

        sleep 0.25
    done

    die "nginx does not answer; see $log"
}


alive()
{
    kill -0 "$nginx_pid" 2>/dev/null || die "nginx ended:" \
        "$(emergencies "$log" "$prefix/logs/stderr.log")"
}


# What nginx says when it cannot go on, or where to look.

emergencies()
{
    grep -hs emerg "$@" | tail -n 1 | grep . || echo "see $log"
}


# fetch URL NAME: the body to logs/NAME, the head to logs/NAME.head

fetch()
{
    code=$(curl -sS -k --noproxy '*' -m 20 -o "$prefix/logs/$2" \
           -D "$prefix/logs/$2.head" -w '%{http_code}' "$1" \
           2>"$prefix/logs/curl.log") || return 1

    test "$code" = 200
}


# Some seconds of plain HTTP at a fixed rate, and of HTTP/2 over TLS.

traffic()
{
    "$load" -c 16 -t 4 -r 100 -H 'Accept-Encoding: gzip' "$site/" \
        "$site/long.html" "$site/parts.shtml" "$site/proxy/long.html" \
        >"$prefix/logs/load" 2>&1 &
    load_pid=$!

    curl -sS -k --noproxy '*' -m 10 --http2 --compressed --limit-rate 200k \
        -o /dev/null "https://$addr:$tls_port/long.html?[1-6]" \
        "https://$addr:$tls_port/proxy/parts.shtml?[1-6]" \
        >"$prefix/logs/curl.out" 2>&1 &
    curl_pid=$!
}


traffic_ended()
{
    rc=0
    wait "$load_pid" || rc=$?
    load_pid=
    wait "$curl_pid" || rc=$?
    curl_pid=

    alive
    test $rc = 0 || echo "run: traffic failed:" \
        "$(cat "$prefix/logs/load" "$prefix/logs/curl.out")" >&2

    return $rc
}


profile()
{
    for format in top pprof; do
        fetch "$pprof/heap?format=$format" "heap.$format" \
            || die "no profile, but HTTP status $code:" \
                   "$(head -c 400 "$prefix/logs/heap.$format")"
    done

    gzip -t "$prefix/logs/heap.pprof" 2>/dev/null \
        || die "the profile is no gzip file: $prefix/logs/heap.pprof"

    answered=$(sed -n 's/^Jemalloc-Pprof-Workers: \([0-9/]*\).*/\1/p' \
               "$prefix/logs/heap.pprof.head")

    case $answered in
        ''|0/*) die "no worker answered" ;;
    esac

    test "$answered" = "$workers/$workers" \
        || die "not all workers answered, but $answered"

    echo
    echo "    curl '$pprof/heap?format=top'"
    echo
    head -n 15 "$prefix/logs/heap.top" | sed 's/^/    /'
    echo
    echo "All workers answered: $answered.  Each without inherited memory:"
    echo

    worker=0

    while [ $worker -lt $workers ]; do
        fetch "$pprof/heap?format=top&cols=100&origin=worker&worker=$worker" \
            "heap.$worker" || die "no profile of worker $worker"

        echo "    worker $worker: $(head -n 1 "$prefix/logs/heap.$worker")"
        worker=$((worker + 1))
    done
}


# The second step: nginx as any distribution has it.  Nothing is preloaded, and
# the profiler is switched on while it runs.

sampler()
{
    plain_configuration >"$prefix/plain.conf"
    plain_lua >"$prefix/lua.lua"

    setpriv --pdeathsig TERM env -u LD_PRELOAD -u MALLOC_CONF \
        nginx -p "$prefix/" -c plain.conf 2>"$prefix/logs/plain.stderr" &
    plain_pid=$!

    tries=40

    until plain "$plain_url" -o /dev/null 2>/dev/null; do
        tries=$((tries - 1))

        test $tries != 0 && kill -0 "$plain_pid" 2>/dev/null \
            || die "the nginx without jemalloc does not answer:" \
                   "$(emergencies "$prefix/logs/plain.log" \
                      "$prefix/logs/plain.stderr")"
        sleep 0.25
    done

    echo
    echo "The same for an nginx without jemalloc, also running:"
    echo
    echo "    curl --unix-socket $plain -d 'sampler=on&lg_sample=10'" \
         "http://localhost/debug/pprof/control"
    echo "    curl --unix-socket $plain" \
         "'http://localhost/debug/pprof/heap?format=top'"
    echo

    plain "$plain_url/debug/pprof/control" -d 'sampler=on&lg_sample=10' \
        -o "$prefix/logs/plain.control" \
        || die "the sampler was not switched on:" \
               "$(head -c 400 "$prefix/logs/plain.control")"

    # connections that last until the profile is taken hold its memory

    plain "$plain_url$plain_page?[1-40]" -Z --limit-rate 2k -o /dev/null \
        2>/dev/null &
    plain_curl_pid=$!
    sleep 1

    plain "$plain_url/debug/pprof/heap?format=top" -o "$prefix/logs/plain.top" \
        || die "the sampler has no profile:" \
               "$(head -c 400 "$prefix/logs/plain.top")"

    kill -TERM $plain_curl_pid 2>/dev/null || true
    wait $plain_curl_pid 2>/dev/null || true
    plain_curl_pid=

    head -n 8 "$prefix/logs/plain.top" | sed 's/^/    /'
}


# plain URL ARGUMENT...: curl to that nginx

plain()
{
    url=$1
    shift

    curl -sSf --noproxy '*' -m 20 --unix-socket "$plain" "$@" "$url"
}


plain_configuration()
{
    cat <<END
${lua:+load_module $modules/ndk_http_module.so;}
${lua:+load_module $modules/ngx_http_lua_module.so;}
END
    common plain 1
    cat <<END
    server {
        listen unix:$plain;

        root html;

        location /debug/pprof/ {
            jemalloc_pprof control=on;
        }

        location /lua {
            ${lua:+content_by_lua_file lua.lua;}
        }
    }
}
END
}


# As much as LuaJIT needs to compile it.

plain_lua()
{
    cat <<END
for i = 1, 300 do
    ngx.header["X-Count"] = "line " .. i
    ngx.say(ngx.var.request_id .. i)
end
END
}


advice()
{
    cat <<END

nginx (pid $nginx_pid), $workers workers, serves its heap; try

  in a browser            $pprof/
  flame graphs            $pprof/heap?format=html
  in a terminal           curl '$pprof/heap?format=top'
  one worker              curl '$pprof/heap?format=top&worker=0'
  without inherited memory
                          curl '$pprof/heap?format=top&origin=worker'
  what changed in 10 s    curl '$pprof/heap?seconds=10&format=top'
  by server and location  curl '$pprof/pools?format=top'
  the largest requests    curl $pprof/requests
  why RSS is high         curl '$pprof/memory?format=top'
  what burns the CPU      curl '$pprof/profile?seconds=10&format=top'
  state of all workers    curl $pprof/status

  go tool pprof -top $pprof/heap
  go tool pprof -tags $pprof/heap
  go tool pprof -http=$addr:$((port + 1)) $pprof/heap
  jeprof --text $pprof/pprof/heap

  compared to a base      curl -o base.pb.gz $pprof/heap
                          go tool pprof -top -base base.pb.gz $pprof/heap

By TLS: curl -k https://$addr:$tls_port/
Configuration and logs: $prefix/
END
}


# Log lines that a healthy server never writes.

once()
{
    traffic_ended || die "the traffic did not go well"

    echo
    echo "traffic: $(cat "$prefix/logs/load")"

    kill -TERM "$nginx_pid"
    wait "$nginx_pid" || die "nginx did not end well"

    kill -TERM "$plain_pid"
    wait "$plain_pid" || die "the nginx without jemalloc did not end well"

    if grep -hE '\[(alert|crit|emerg)\]' "$log" "$prefix/logs/plain.log" \
        "$prefix/logs/stderr.log" "$prefix/logs/plain.stderr" >&2
    then
        die "nginx complained"
    fi
}


check "$@"
prepare

trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM

start
traffic
sleep 3
profile
sampler
advice

if [ -n "$once" ]; then
    once
    exit 0
fi

echo
echo "Ctrl-C ends it."

while :; do
    traffic_ended || sleep 1
    traffic
done
