#!/bin/sh

# Compares what the module costs at an older commit and at this tree.
#
#     compare.sh COMMIT [PART...]
#
# A PART is one of
#
#     report    the tool's report of 10,000 and 100,000 stacks
#     sampler   malloc() with free(), and a sample
#     heap      GET heap of one worker with 300 and 1,000 stacks
#     workers   GET heap of 8 and of 64 workers, of all of them together
#     walk      a pool scan of 10,000 idle connections
#     signal    a signal of a CPU profile, 20 frames deep
#
# All are compared unless some are named.  COMMIT is checked out and built in
# build/compare.  The figures are instructions counted by valgrind, so other
# load does not matter; only a signal is measured in time, in turns of both
# commits, since valgrind delivers signals in its own way.  Exits with 1 if
# something became worse by more than 5 %.

set -eu

cd "$(dirname "$0")/.."

test $# -gt 0 || { echo "usage: ./dev bench compare COMMIT [PART...]" >&2
                   exit 2; }

commit=$(git rev-parse --verify "$1^{commit}")
shift
test $# -gt 0 || set -- report sampler heap workers walk signal

new=$PWD
old=$PWD/build/compare/old
dir=$PWD/build/compare
addr=127.92.53.6
port=8098
url=http://$addr:$port/debug/pprof
rounds=9
worse=0
nginx_pid=


die()
{
    echo "compare.sh: $*" >&2
    exit 1
}


quit()
{
    test -z "$nginx_pid" || kill -QUIT "$nginx_pid" 2>/dev/null || true
    test -z "$nginx_pid" || wait "$nginx_pid" || true
    nginx_pid=
}

trap quit EXIT
trap 'exit 1' HUP INT TERM


prepare()
{
    mkdir -p "$dir/logs"

    if [ ! -e "$old/dev" ]; then
        mkdir -p "$old"
        git archive "$commit" | tar -x -C "$old"
        echo "$commit" >"$dir/commit"
    fi

    test "$(cat "$dir/commit")" = "$commit" \
        || die "build/compare contains another commit: rm -r build/compare"

    for tree in "$old" "$new"; do
        (cd "$tree" && ./dev build && make -s -j "$(nproc)" \
             -f tools/core.mk benches) >"$dir/build.log" 2>&1 \
            || die "cannot build $tree: $(tail -n 3 "$dir/build.log")"
    done

    build=$new/build
    tree=$(ls -d "$build/nginx/tree-$(dpkg-query -W -f '${Version}' \
                                     nginx-dev)")

    # shellcheck disable=SC2046
    cc -O2 -fPIC -shared -o "$dir/simulation.so" \
        $(printf -- "-I$tree/src/%s " core event event/modules os/unix http \
              http/modules http/v2) \
        -I"$build/nginx/own-gcc" bench/pools/ngx_http_simulation_module.c
    gcc -O1 -g -fPIC -shared -o "$dir/stacks.so" bench/preload/jpp_stacks.c \
        -ldl
}


# total: the instructions that valgrind has counted, of all processes

summary()
{
    total=$(cat "$dir"/callgrind* | awk '
        /^summary: /  { n += $2; found = 1 }
        END           { printf "%.0f\n", n; exit !found }')
}


# counted COMMAND...: total is its instructions

counted()
{
    rm -f "$dir"/callgrind*
    valgrind --tool=callgrind -q --callgrind-out-file="$dir/callgrind" "$@" \
        >/dev/null 2>"$dir/said" || die "$* failed: $(tail -n 3 "$dir/said")"
    summary
}


# row NAME UNIT OLD NEW

row()
{
    echo "$1|$2|$3|$4" | awk -F '|' '{
        ratio = $4 / $3
        printf "%-40s %14.1f %14.1f %-5s %6.3f\n", $1, $3, $4, $2, ratio
        exit ratio > 1.05 }' || worse=1
}


part_report()
{
    for stacks in 10000 100000; do
        "$new/build/bench/jpp_generate" -n $stacks -o "$dir/heap"

        for format in pprof folded top html; do
            for tree in "$old" "$new"; do
                counted "$tree/build/jemalloc-pprof" --symbolize=0 \
                    --format=$format -o "$dir/report" "$dir/heap"
                test "$tree" = "$new" || before=$total
            done
            row "report, $stacks stacks, $format" "" "$before" "$total"
        done
    done
}


# The tables of bench/sampler.sh in each tree, side by side.

part_sampler()
{
    cp bench/sampler.sh "$old/bench"

    for tree in "$old" "$new"; do
        JEMALLOC=libjemalloc.so.2 sh "$tree/bench/sampler.sh" \
            >"$dir/answer" 2>"$dir/said" || die "$(tail -n 3 "$dir/said")"
        sed -n '2,$ s/  \+/|/gp' "$dir/answer" >"$dir/sampler.${tree##*/}"
    done

    paste -d '|' "$dir/sampler.old" "$dir/sampler.${new##*/}" >"$dir/sampler"

    while IFS='|' read -r name _ before _ _ _ now _; do
        row "$name" "" "$before" "$now"
    done <"$dir/sampler"
}


# nginx_start TREE MAIN HTTP [OPTION...]: under valgrind

nginx_start()
{
    cat >"$dir/nginx.conf" <<END
$(test "$(id -u)" != 0 || echo "user root;")
load_module $1/build/ngx_http_jemalloc_pprof_module.so;
${2:-master_process off;}
daemon off;
error_log logs/error.log warn;
pid logs/nginx.pid;
events { worker_connections 16384; }
http {
    access_log off;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    uwsgi_temp_path temp;
    scgi_temp_path temp;
    $3
    server {
        listen $addr:$port;
        location / { return 200 "fine\n"; }
        location /debug/pprof/ {
            jemalloc_pprof;
            jemalloc_pprof_timeout 60s;
        }
    }
}
END

    shift 3
    rm -f "$dir"/callgrind*
    LD_PRELOAD="libjemalloc.so.2 ${preload-}" PATH=$PATH:/usr/sbin \
        MALLOC_CONF=prof:true,prof_active:true,lg_prof_sample:19 \
        valgrind --tool=callgrind -q \
        --callgrind-out-file="$dir/callgrind.%p" "$@" \
        nginx -p "$dir/" -c nginx.conf 2>"$dir/said" &
    nginx_pid=$!

    tries=0
    until curl -s -o "$dir/answer" "http://$addr:$port/fine"; do
        kill -0 "$nginx_pid" 2>/dev/null || die "$(tail -n 3 "$dir/said")"
        tries=$((tries + 1))
        test "$tries" -lt 600 || die "nginx does not answer"
        sleep 0.1
    done
}


# asked N PATH: total is the instructions of nginx, which ends

asked()
{
    i=0
    while [ $i -lt "$1" ]; do
        curl -sf -o "$dir/answer" "$url/$2" || die "$2: see $dir/logs"
        i=$((i + 1))
    done

    quit
    summary
}


# heap_each ROW MAIN: what a GET heap costs

heap_each()
{
    preload=$dir/stacks.so

    for tree in "$old" "$new"; do
        for gets in 2 12; do
            nginx_start "$tree" "$2" ""
            asked $gets heap
            test $gets = 12 || less=$total
        done

        each=$(((total - less) / 10))
        test "$tree" = "$new" || before=$each
    done
    row "$1" "" "$before" "$each"

    preload=
}


part_heap()
{
    for JPP_STACKS in 300 1000; do
        export JPP_STACKS
        heap_each "GET heap, $JPP_STACKS stacks" ""
    done
}


part_workers()
{
    export JPP_STACKS=300

    for workers in 8 64; do
        heap_each "GET heap, $workers workers" "worker_processes $workers;"
    done
}


# The function's prefix is not the same at all commits.

# A worker scans on its own now and then: it does so as often in the longer run.

part_walk()
{
    for tree in "$old" "$new"; do
        for scans in 10 30; do
            nginx_start "$tree" "load_module $dir/simulation.so;
                master_process off;" "simulate 10000;" \
                --toggle-collect='ngx_http_j*_pools_slice'
            asked $scans "pools?format=top"
            test $scans = 30 || less=$total
        done

        each=$(((total - less) / 20))
        test "$tree" = "$new" || before=$each
    done
    row "pool scan, 10,000 connections" "" "$before" "$each"
}


# Of ROUNDS medians, the smallest.

part_signal()
{
    : >"$dir/signals"
    round=0
    while [ $round -lt $rounds ]; do
        for tree in "$old" "$new"; do
            "$tree/build/bench/jpp_cpu_bench" | sed -n \
                "s|^\(.*[^ ]\)  *\([0-9]*\) ns\$|\1\|$tree\|\2|p"
        done
        round=$((round + 1))
    done >"$dir/signals"

    for name in "a signal of a profile" "its receiver, of a connection"; do
        before=$(smallest "$name" "$old")
        row "$name" ns "$before" "$(smallest "$name" "$new")"
    done
}


smallest()
{
    grep "^$1|$2|" "$dir/signals" | cut -d '|' -f 3 | sort -n | head -n 1
}


prepare

printf '%-40s %14s %14s %5s %6s\n' "instructions" \
    "$(git rev-parse --short "$commit")" "this tree" "" ratio

for part; do
    case $part in
        report|sampler|heap|workers|walk|signal)  part_"$part" ;;
        *)  die "no part $part: report, sampler, heap, workers, walk," \
                "signal" ;;
    esac
done

exit $worse
