#!/bin/sh

# What a walk through the pools of a worker costs it.
#
#     pools.sh [PART...]
#
# A PART is one of
#
#     idle    a walk past 1,000 and 9,000 idle connections: time in all, and of
#             the longest slice
#     all     pools?format=top of eight workers with 1,000 connections in all
#     leaks   10,000 walks: what the worker has allocated, and its RssAnon
#
# and all are measured where none is named.  WALKS is how many are made for a
# figure (50), JPP_BUILD another build than build/.
#
# Times are nginx's own, from the comments of the profile: the wall clock while
# it walks, so that on a busy machine the longest slice has somebody else's time
# in it.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")

walks=${WALKS:-50}
prefix=$build/bench/pools

# an odd corner of 127/8, so that no server of the machine is in the way
addr=127.92.53.4
port=8097
url=http://$addr:$port/debug/pprof/pools

nginx_pid=
clients_pid=


die()
{
    echo "pools.sh: $*" >&2
    exit 1
}


leave()
{
    for pid in $clients_pid $nginx_pid; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

trap leave EXIT
trap 'exit 1' HUP INT TERM


# nginx_start WORKERS

nginx_start()
{
    mkdir -p "$prefix/logs"

    cat >"$prefix/nginx.conf" <<END
load_module $build/ngx_http_jemalloc_pprof_module.so;
daemon off;
worker_processes $1;
worker_rlimit_nofile 20000;
error_log logs/error.log warn;
pid logs/nginx.pid;
events { worker_connections 16384; }
http {
    access_log off;
    keepalive_timeout 600s;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    uwsgi_temp_path temp;
    scgi_temp_path temp;
    server {
        listen $addr:$port backlog=4096 reuseport;
        location = /fine { return 200 "fine\n"; }
        location /debug/pprof/ { jemalloc_pprof; }
    }
}
END

    LD_PRELOAD=libjemalloc.so.2 PATH=$PATH:/usr/sbin \
        nginx -p "$prefix/" -c nginx.conf 2>/dev/null &
    nginx_pid=$!

    tries=0
    until curl -s -o /dev/null "http://$addr:$port/fine"; do
        tries=$((tries + 1))
        test "$tries" -lt 100 || die "nginx does not answer"
        sleep 0.1
    done
}


# hold N: connections, until nginx ends

hold()
{
    mkfifo "$prefix/clients.$$"
    perl bench/jpp_clients.pl hold "$1" "http://$addr:$port/fine" \
        <"$prefix/clients.$$" >"$prefix/held" &
    clients_pid=$!
    exec 3>"$prefix/clients.$$"
    rm "$prefix/clients.$$"

    until grep -q held "$prefix/held"; do
        kill -0 "$clients_pid" || die "the clients ended"
        sleep 0.1
    done
}


stop()
{
    exec 3>&-
    leave
    clients_pid= nginx_pid=
}


# figures: of the walks, the median and the 99th percentile of all slices' time,
# and of the longest slice

figures()
{
    i=0
    while [ "$i" -lt "$walks" ]; do
        curl -s "$url?format=top" | sed -n -E \
            's/.* in (\S+) slices of (\S+) ms in all, .* of (\S+) ms/\1 \2 \3/p'
        i=$((i + 1))
    done >"$prefix/figures"

    for column in 2 3; do
        sort -n -k $column,$column "$prefix/figures" \
            | awk -v c=$column '{ v[NR] = $c; n = $1 }
                END { printf "%s ms (p99 %s)", v[int((NR + 1) / 2)],
                      v[int(NR * 0.99 + 0.5)];
                      if (c == 2) printf " in all, %d slices; longest ", n
                      else printf "\n" }'
    done
}


part_idle()
{
    for n in 1000 9000; do
        nginx_start 1
        hold "$n"
        printf 'idle %s: ' "$n"
        figures
        stop
    done
}


part_all()
{
    nginx_start 8
    hold 1000

    printf 'all, 8 workers: '

    i=0
    while [ "$i" -lt "$walks" ]; do
        curl -s -o /dev/null -w '%{time_total}\n' "$url?format=top"
        i=$((i + 1))
    done | sort -n | awk '{ v[NR] = $1 * 1000 }
        END { printf "%.1f ms (p99 %.1f)\n", v[int((NR + 1) / 2)],
              v[int(NR * 0.99 + 0.5)] }'
    stop
}


# The total is what the thread of the event loop holds, by jemalloc.

part_leaks()
{
    nginx_start 1

    for n in 100 10000; do
        seq "$n" | sed "s|.*|url=$url?format=folded|" \
            | curl -s -o /dev/null -K - >/dev/null
        worker=$(pgrep -P "$nginx_pid" | head -n 1)
        total=$(curl -s "$url?format=top" | sed -n 's/^total \([0-9]*\).*/\1/p')

        printf 'leaks, after %s walks: total %s, RssAnon %s\n' "$n" "$total" \
            "$(awk '/^RssAnon/ { print $2, $3 }' "/proc/$worker/status")"
    done
    stop
}


test $# -gt 0 || set -- idle all leaks

for part; do
    case $part in
        idle|all|leaks)  part_"$part" ;;
        *)               die "no part $part: idle, all, leaks" ;;
    esac
done
