#!/bin/sh

# What a walk through the pools of a worker costs it, and everybody else.
#
#     pools.sh [PART...]
#
# A PART is one of
#
#     idle        a walk past 1,000 and 10,000 idle connections: time in all,
#                 and of the longest slice
#     simulated   past 100,000 that have no client, with their pools in order
#                 and shuffled, with warm caches and cold ones
#     large       past 200,000 blocks, and as many large allocations, of one
#                 request
#     all         pools?format=top of eight workers with 1,000 connections each
#     others      latencies of other requests while one worker with 10,000 idle
#                 connections is asked once a second, and while it is not
#     nobody      what a request costs nginx with the module and without it, and
#                 what an idle worker does, where nobody asks
#
# and all are measured where none is named.  WALKS is how many are made for a
# figure (50), SECONDS_EACH how long a load is (10), ROUNDS how many loads there
# are (5), JPP_BUILD another build than build/.
#
# Times of walks are nginx's own, from the comments of the profile.  With
# JPP_CPU=1 they are CPU time of the worker's thread, so that on a busy machine
# nobody else's time is in them; without it the wall clock.  The others are the
# wall clock's in any case: a quiet machine is needed for them.  What a walk
# leaves behind is no question of figures: t/pools/workers.t.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")

walks=${WALKS:-50}
seconds=${SECONDS_EACH:-10}
rounds=${ROUNDS:-5}

prefix=$build/bench/pools
load=$build/bench/jpp_load
clock=$build/bench/jpp_cpu_clock.so
simulation=$build/bench/ngx_http_simulation_module.so
modules=/usr/lib/nginx/modules

# an odd corner of 127/8, so that no server of the machine is in the way
addr=127.92.53.4
port=8097
url=http://$addr:$port/debug/pprof/pools

# descriptors: those of nginx, and those of a process of clients
most=20000
each=5000

nginx_pid=
clients_pids=


die()
{
    echo "pools.sh: $*" >&2
    exit 1
}


leave()
{
    for pid in $clients_pids $nginx_pid; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
}

trap leave EXIT
trap 'exit 1' HUP INT TERM


# What is preloaded and loaded for figures only.

prepare()
{
    mkdir -p "$prefix/logs" "$build/bench"

    test "$(ulimit -n)" -ge "$most" || ulimit -n "$most" \
        || die "needs $most descriptors: ulimit -n $most"

    preload=libjemalloc.so.2

    if [ -n "${JPP_CPU-}" ]; then
        cc -O2 -fPIC -shared -o "$clock" bench/preload/jpp_cpu_clock.c
        preload="$preload $clock"
    fi
}


# The module is made for the nginx that ./dev build has configured.

prepare_simulation()
{
    tree=$(ls -d "$build/nginx/tree-$(dpkg-query -W -f '${Version}' \
                                     nginx-dev)")

    # shellcheck disable=SC2046
    cc -O2 -fPIC -shared -o "$simulation" \
        $(printf -- "-I$tree/src/%s " core event event/modules os/unix http \
              http/modules http/v2) \
        -I"$build/nginx/own-gcc" bench/pools/ngx_http_simulation_module.c
}


# nginx_start WORKERS CONNECTIONS [HTTP [SERVER [MAIN]]]; no MODULE in the
# environment: without it.

nginx_start()
{
    load_it=""
    location=""

    if [ -n "$module" ]; then
        load_it="load_module $build/ngx_http_jemalloc_pprof_module.so;"
        location="location /debug/pprof/ { jemalloc_pprof; }"
    fi

    cat >"$prefix/nginx.conf" <<END
${5-}
$load_it
daemon off;
worker_processes $1;
worker_rlimit_nofile $most;
error_log logs/error.log warn;
pid logs/nginx.pid;
events { worker_connections $2; }
http {
    access_log off;
    keepalive_timeout 600s;
    keepalive_requests 1000000000;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    uwsgi_temp_path temp;
    scgi_temp_path temp;
    ${3-}
    server {
        listen $addr:$port backlog=4096 reuseport;
        location = /fine { return 200 "fine\n"; }
        $location
        ${4-}
    }
}
END

    LD_PRELOAD=$preload PATH=$PATH:/usr/sbin MALLOC_CONF=prof:false \
        nginx -p "$prefix/" -c nginx.conf 2>"$prefix/said" &
    nginx_pid=$!

    tries=0
    until curl -s -o /dev/null "http://$addr:$port/fine"; do
        kill -0 "$nginx_pid" 2>/dev/null || die "$(cat "$prefix/said")"
        tries=$((tries + 1))
        test "$tries" -lt 100 || die "nginx does not answer"
        sleep 0.1
    done
}


# hold N: connections, until nginx ends

hold()
{
    left=$1
    clients_pids=
    fifo=$prefix/clients.$$

    rm -f "$prefix"/held.*
    mkfifo "$fifo"

    while [ "$left" -gt 0 ]; do
        n=$((left < each ? left : each))
        left=$((left - n))
        held=$prefix/held.$left

        : >"$held"
        perl bench/jpp_clients.pl hold "$n" "http://$addr:$port/fine" \
            <"$fifo" >"$held" &
        clients_pids="$clients_pids $!"
    done

    exec 3>"$fifo"

    for held in "$prefix"/held.*; do
        until grep -q held "$held"; do
            for pid in $clients_pids; do
                kill -0 "$pid" 2>/dev/null || die "the clients ended"
            done
            sleep 0.1
        done
    done

    rm "$fifo"
}


stop()
{
    exec 3>&-
    leave
    clients_pids=""
    nginx_pid=""
}


# walk: one, as "SLICES MS-IN-ALL MS-LONGEST"

walk()
{
    curl -s "$url?format=top" | sed -n -E \
        's/.* in (\S+) slices of (\S+) ms in all, .* of (\S+) ms/\1 \2 \3/p'
}


# figures ASKED [PATH]: of the walks, the median and the 99th percentile of all
# slices' time, and of the longest slice; each after a request for PATH

figures()
{
    i=0
    while [ "$i" -lt "$walks" ]; do
        test -z "${2-}" || curl -s -o /dev/null "http://$addr:$port$2"
        walk
        i=$((i + 1))
    done >"$prefix/figures"

    for column in 2 3; do
        sort -n -k $column,$column "$prefix/figures" \
            | awk -v c=$column -v asked="$1" '
                { v[NR] = $c; n = $1 }
                END { printf "%s ms (p99 %s)", v[int((NR + 1) / 2)],
                      v[int(NR * 0.99 + 0.5)];
                      if (c == 2) printf " in all, %d slices; longest ", n
                      else printf "; asked: %s\n", asked }'
    done
}


part_idle()
{
    for clients in 1000 10000; do
        nginx_start 1 16384
        hold "$clients"
        printf 'idle, %s: ' "$clients"
        figures "$(test "$clients" = 1000 && echo 0.5 || echo 2) in all, \
longest 1"
        stop
    done
}


part_simulated()
{
    prepare_simulation

    for order in '' shuffled; do
        nginx_start 1 110000 "simulate 100000 $order;" \
            'location = /evict { evict; }' "load_module $simulation;"

        for path in '' /evict; do
            printf 'simulated, 100,000, %s, %s: ' "${order:-in order}" \
                "$(test -z "$path" && echo warm || echo cold)"
            figures '60 in all, longest 1' "$path"
        done
        stop
    done
}


part_large()
{
    test -f $modules/ngx_http_lua_module.so || die "no Lua"

    for length in 150 200; do
        nginx_start 1 1024 'request_pool_size 256;' "
            location /leak {
                set \$value '';
                content_by_lua_block {
                    local text = ('x'):rep($length)
                    for i = 1, 200000 do ngx.var.value = text end
                    ngx.say('held')
                    ngx.flush(true)
                    ngx.sleep(600)
                }
            }" "load_module $modules/ndk_http_module.so;
                load_module $modules/ngx_http_lua_module.so;"

        curl -sN "http://$addr:$port/leak" >"$prefix/leak" &
        clients_pids=$!
        until grep -q held "$prefix/leak"; do sleep 0.1; done

        printf 'large, 200,000 %s: ' \
            "$(test $length = 150 && echo blocks || echo allocations)"
        figures 'longest 1'
        stop
    done
}


part_all()
{
    nginx_start 8 16384
    hold 8000

    printf 'all, 8 workers with 1,000 connections each: '

    i=0
    while [ "$i" -lt "$walks" ]; do
        curl -s -o /dev/null -w '%{time_total}\n' "$url?format=top"
        i=$((i + 1))
    done | sort -n | awk '{ v[NR] = $1 * 1000 }
        END { printf "%.1f ms (p99 %.1f); asked: 20\n", v[int((NR + 1) / 2)],
              v[int(NR * 0.99 + 0.5)] }'
    stop
}


# One load after the other with and without the walks, so that a machine that
# changes is the same to both.

part_others()
{
    nginx_start 1 16384
    hold 10000

    round=0
    : >"$prefix/latencies"

    while [ "$round" -lt "$rounds" ]; do
        for how in without with; do
            walker=

            if [ $how = with ]; then
                "$load" -r 1 -t "$seconds" "$url?format=top" >/dev/null &
                walker=$!
            fi

            line=$("$load" -c 10 -r 2000 -t "$seconds" \
                       "http://$addr:$port/fine") || die "the load: $line"
            test -z "$walker" || wait "$walker" || die "walks failed"

            echo "$how $line" | sed -E \
                's/(\S+) .* p50=(\S+) .* p99=(\S+) p999=(\S+) .*/\1 \2 \3 \4/'
        done
        round=$((round + 1))
    done >"$prefix/latencies"

    for column in 2 3 4; do
        for how in without with; do
            grep "^$how " "$prefix/latencies" | sort -n -k $column,$column \
                | awk -v c=$column '{ v[NR] = $c }
                    END { print v[int((NR + 1) / 2)] }'
        done | paste -sd ' '
    done | paste -sd ' ' | awk '{
        printf "others, 2,000 requests a second, without walks and with one a "
        printf "second: p50 %d and %d us, p99 %d and %d, p99.9 %d and %d ", $1,
               $2, $3, $4, $5, $6
        printf "(%+d); asked: +1000\n", $6 - $5 }'
    stop
}


# cpu: ns that the worker has had

cpu()
{
    worker=$(pgrep -P "$nginx_pid" | head -n 1)
    awk '{ print $1 }' "/proc/$worker/task/$worker/schedstat"
}


part_nobody()
{
    : >"$prefix/costs"
    round=0

    while [ "$round" -lt "$rounds" ]; do
        for module in '' 1; do
            nginx_start 1 16384
            "$load" -c 4 -n 5000 "http://$addr:$port/fine" >/dev/null

            before=$(cpu)
            "$load" -c 4 -n 100000 "http://$addr:$port/fine" >/dev/null
            busy=$(($(cpu) - before))

            before=$(cpu)
            sleep 2
            echo "${module:-0} $((busy / 100000)) $(($(cpu) - before))"
            stop
        done
        round=$((round + 1))
    done >"$prefix/costs"

    module=1

    for column in 2 3; do
        for how in 0 1; do
            grep "^$how " "$prefix/costs" | sort -n -k $column,$column \
                | awk -v c=$column '{ v[NR] = $c }
                    END { print v[int((NR + 1) / 2)], v[1], v[NR] }'
        done | paste -sd ' '
    done | paste -sd ' ' | awk '{
        printf "nobody, CPU of a request without the module %d ns (%d to %d), ",
               $1, $2, $3
        printf "with it %d (%d to %d); of 2 s without requests %d ns, %d\n", $4,
               $5, $6, $7, $10 }'
}


test $# -gt 0 || set -- idle simulated large all others nobody

module=1
prepare

for part; do
    case $part in
        idle|simulated|large|all|others|nobody)  part_"$part" ;;
        *)  die "no part $part: idle, simulated, large, all, others, nobody" ;;
    esac
done
