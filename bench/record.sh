#!/bin/sh

# What it costs a worker to record what happens: histories, owners, events and
# the look for snapshots, in microseconds of CPU time a second, by the kernel's
# own count (schedstat), where no request comes.
#
#     record.sh [CONNECTIONS...]
#
# One worker has as many idle connections (0, 1,000 and 10,000), for SECONDS
# (120) with snapshots, without them, and without a location that serves.  The
# three run side by side, so what else runs here is in all of them.  One part
# in 2,000, 500 us/s, is the bound for 1,000 connections, 2,000 us/s for 10,000.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")
seconds=${SECONDS_EACH:-120}
prefix=$build/bench/record
addr=127.92.53.6
nginx_pids=
clients_pids=


leave()
{
    for pid in $clients_pids $nginx_pids; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

trap leave EXIT
trap 'exit 1' HUP INT TERM


# start NAME PORT DIRECTIVE LOCATION

start()
{
    mkdir -p "$prefix/$1/logs"

    cat > "$prefix/$1/nginx.conf" <<END
load_module $build/ngx_http_jemalloc_pprof_module.so;
worker_processes 1;
worker_rlimit_nofile 30000;
daemon off;
error_log logs/error.log crit;
pid logs/nginx.pid;
events { worker_connections 20000; }
http {
    access_log off;
    keepalive_timeout 1h;
    keepalive_requests 1000000;
    $3
    server {
        listen $addr:$2 backlog=20000;
        location /ok { return 200 "ok\n"; }
        $4
    }
}
END

    nginx -p "$prefix/$1/" -c nginx.conf &
    nginx_pids="$nginx_pids $!"
}


# The CPU time of the worker of NAME so far, in nanoseconds.

worker_time()
{
    cut -d ' ' -f 1 "/proc/$(cat "$prefix/$1/logs/worker")/schedstat"
}


serve='location /debug/pprof/ { jemalloc_pprof; }'

start with 8101 '' "$serve"
start without 8102 'jemalloc_pprof_snapshots off;' "$serve"
start off 8103 '' ''

sleep 2

for name in with without off; do
    pgrep -P "$(cat "$prefix/$name/logs/nginx.pid")" | head -n 1 \
        > "$prefix/$name/logs/worker"
done

ulimit -n "$(ulimit -H -n)"

echo 'us of CPU time a second of an idle worker:'
echo 'connections  not serving  without snapshots  with snapshots'

for n in "${@:-0}" $(test $# -ne 0 || echo 1000 10000); do

    clients_pids=

    for port in 8101 8102 8103; do
        test "$n" -ne 0 || continue

        mkfifo "$prefix/$port" 2>/dev/null || true
        perl bench/jpp_clients.pl hold "$n" "http://$addr:$port/ok" \
            < "$prefix/$port" > "$prefix/held.$port" &
        clients_pids="$clients_pids $!"
        eval "exec $((port - 8098))>\"$prefix/$port\""

        until grep -q held "$prefix/held.$port"; do sleep 0.2; done
    done

    for name in with without off; do
        worker_time $name > "$prefix/$name/before"
    done

    sleep "$seconds"

    for name in off without with; do
        echo $(((($(worker_time $name) - $(cat "$prefix/$name/before")) \
                 / seconds + 500) / 1000))
    done | xargs printf "%11s  %11s  %17s  %14s\n" "$n"

    for pid in $clients_pids; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
done
