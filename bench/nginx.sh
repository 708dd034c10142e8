#!/bin/sh

# What the module costs inside nginx: how long a profile takes, what the other
# requests feel of it, and what is lost by having it.
#
#     nginx.sh [PART...]
#
# A PART is one of
#
#     a    how long a profile of one worker takes
#     b    what requests feel of it
#     c    what an idle module takes from the throughput of a worker
#     d    what a scrape a second takes from it
#     e    how long a profile of 8 and of 64 workers takes, and what a scrape a
#          second takes from the throughput of 8
#
# and all are measured where none is named.  That takes about seven minutes;
# QUICK=1 takes two, for less certain figures.
# JPP_BUILD is another build than build/.  Called by ./dev bench nginx.
#
# One worker is bound to CPU 0, the load to CPU 1, so that the worker is what
# is measured; the module's thread shares CPU 0 with it.  Several workers, and
# their load, run where the kernel has them run.  Every nginx runs on
# jemalloc with prof:true,prof_active:true at the usual 2^19.  What is compared
# is measured in turns, in one session, and as a median of the turns.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")

module=$build/ngx_http_jemalloc_pprof_module.so
load=$build/bench/jpp_load
stacks=$build/bench/jpp_stacks.so
prefix=$build/bench/nginx

jemalloc=libjemalloc.so.2
malloc_conf=prof:true,prof_active:true,lg_prof_sample:19

# an odd corner of 127/8, so that no server of the machine is in the way
addr=127.92.53.1
with=8091
without=8092

with_pid=
without_pid=
scrape_pid=

# of the nginx that is measured
workers=1
made=1000

if [ -n "${QUICK-}" ]; then
    requests=50 pairs_late=1 seconds_late=3 rounds=2 pairs_rate=4
else
    requests=400 pairs_late=5 seconds_late=6 rounds=4 pairs_rate=11
fi


die()
{
    echo "bench: $*" >&2
    exit 1
}


check()
{
    # Debian's nginx is in a folder that not everybody searches
    PATH=$PATH:/usr/sbin:/sbin

    for program in nginx curl gcc taskset setpriv; do
        command -v $program >/dev/null || die "$program is missing"
    done

    for file in "$module" "$load"; do
        test -f "$file" || die "$file is missing; type: ./dev bench nginx"
    done

    if [ "$(nproc)" -lt 2 ]; then
        echo "bench: one CPU only: load and nginx are in each other's way" >&2
    fi

    for part in "$@"; do
        case $part in
            [a-e]) ;;
            *)     die "there is no part $part, but a, b, c, d and e"
        esac
    done
}


# fleet N STACKS: what is started from here on has so many workers and stacks

fleet()
{
    workers=$1
    made=$2

    on=
    affinity=

    if [ "$workers" = 1 ] && [ "$(nproc)" -ge 2 ]; then
        on="taskset -c 1"
        affinity="worker_cpu_affinity 01;"
    fi
}


end()
{
    status=$?
    trap '' INT TERM HUP PIPE
    trap - EXIT

    quit "$scrape_pid"
    quit "$with_pid"
    quit "$without_pid"

    exit "$status"
}


quit()
{
    if [ -n "$1" ]; then
        kill -TERM "$1" 2>/dev/null || true
        wait "$1" 2>/dev/null || true
    fi
}


# configuration PORT

configuration()
{
    test "$1" = $without || echo "load_module $module;"
    test "$(id -u)" != 0 || echo "user root;"

    cat <<END
daemon off;
worker_processes $workers;
$affinity
pid $1.pid;
error_log $1.log notice;

events {
    worker_connections 256;
}

http {
    access_log off;
    keepalive_requests 1000000;
    open_file_cache max=16;

    client_body_temp_path temp/body;
    proxy_temp_path temp/proxy;
    fastcgi_temp_path temp/fastcgi;
    uwsgi_temp_path temp/uwsgi;
    scgi_temp_path temp/scgi;

    server {
        listen $addr:$1;
        root html;
END

    test "$1" = $without \
        || echo "location /debug/pprof/ { jemalloc_pprof; }"

    echo "} }"
}


# start PORT: nginx_pid is what was started.

start()
{
    configuration "$1" >"$prefix/$1.conf"

    setpriv --pdeathsig TERM env LD_PRELOAD="$jemalloc $stacks" \
        MALLOC_CONF="$malloc_conf" JPP_STACKS="$made" \
        nginx -p "$prefix/" -c "$1.conf" 2>"$prefix/$1.err" &
    nginx_pid=$!

    tries=40

    while ! curl -sf --noproxy '*' -m 5 -o "$prefix/answer" \
        "http://$addr:$1/1k.html"
    do
        tries=$((tries - 1))

        if [ $tries = 0 ] || ! kill -0 $nginx_pid 2>/dev/null; then
            quit $nginx_pid
            die "nginx did not start: $(cat "$prefix/$1.err")"
        fi

        sleep 0.25
    done
}


start_with()
{
    quit "$with_pid"
    with_pid=
    start $with
    with_pid=$nginx_pid

    # all workers, and not the first of them alone

    tries=40

    until curl -sSf --noproxy '*' -m 5 -D - -o "$prefix/answer" \
              "http://$addr:$with/debug/pprof/heap" \
          | grep -q "^Jemalloc-Pprof-Workers: $workers/$workers.$"
    do
        tries=$((tries - 1))
        test $tries != 0 || die "$workers workers do not answer"
        sleep 0.25
    done
}


start_without()
{
    quit "$without_pid"
    without_pid=
    start $without
    without_pid=$nginx_pid
}


# measure OPTION... URL: the line of the load

measure()
{
    # shellcheck disable=SC2086
    line=$($on "$load" "$@") || die "the load failed: $line"
}


# figure NAME: a number out of that line

figure()
{
    echo "$line" | tr ' ' '\n' | sed -n "s/^$1=//p"
}


# quantile PART: of the numbers on stdin, one a line

quantile()
{
    sort -n | awk -v part="$1" '
        { value[NR] = $1 }

        END {
            at = 1 + (NR - 1) * part
            low = int(at)
            high = low < NR ? low + 1 : low
            print value[low] + (value[high] - value[low]) * (at - low)
        }'
}


# One scrape at once and one in every second after it, for so many seconds.

scrape()
{
    # shellcheck disable=SC2086
    $on "$load" -r 1 -t "$1" "http://$addr:$with/debug/pprof/heap" \
        >"$prefix/scrape" &
    scrape_pid=$!
}


scrape_ended()
{
    wait "$scrape_pid" || die "scrapes failed: $(cat "$prefix/scrape")"
    scrape_pid=
}


machine()
{
    nginx -v 2>&1 | sed 's/^nginx version: //'
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1
    echo "$(nproc) CPUs; load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
}


# The answer holds nginx's own stacks as well, some of them.

profiles()
{
    echo
    echo "GET heap, one connection, names cached, milliseconds:"
    echo
    echo "    stacks made  served    bytes  median     p99   asked"

    for n in 100 300 1000 10000; do
        fleet 1 $n
        start_with

        url=http://$addr:$with/debug/pprof/heap

        curl -sSf --noproxy '*' -o "$prefix/text" "$url?format=text" \
            || die "no profile"
        served=$(grep -c ' @ 0x' "$prefix/text")

        test "$served" -ge $((n * 99 / 100)) \
            || die "$served stacks are in the profile of $n"

        bytes=$(curl -sSf --noproxy '*' "$url" | wc -c)

        measure -n 5 "$url"
        measure -n $requests "$url"

        asked=
        test $n != 300 || asked="median <= 2"

        echo "$n $served $bytes $(figure p50) $(figure p99) $asked" | awk '
            { printf("    %11d %7d %8d %7.2f %7.2f   %s %s %s\n", $1, $2, $3,
                     $4 / 1000, $5 / 1000, $6, $7, $8) }'
    done
}


# The latency of a request counts from when it was due.

latencies()
{
    echo
    echo "A static file at 1000 requests/s, microseconds, medians of" \
         "$pairs_late runs:"
    echo
    echo "    stacks                    p50      p99    p99.9   asked"

    for n in 1000 10000; do
        fleet 1 $n
        start_with

        for f in p50 p99 p999; do
            : >"$prefix/quiet.$f"
            : >"$prefix/scraped.$f"
        done

        measure -n 5 "http://$addr:$with/debug/pprof/heap"

        pair=0

        while [ $pair -lt $pairs_late ]; do
            pair=$((pair + 1))
            late quiet

            scrape $seconds_late
            late scraped
            scrape_ended
        done

        for f in p50 p99 p999; do
            for kind in quiet scraped; do
                quantile 0.5 <"$prefix/$kind.$f" >"$prefix/$kind.$f.median"
            done
        done

        late_row "$n" quiet "no scrape"

        asked=
        test $n != 10000 || asked="p99.9 <= 5000 more"
        late_row "$n" scraped "one a second" "$asked"
    done
}


# late KIND: one run

late()
{
    measure -c 8 -r 1000 -t $seconds_late "http://$addr:$with/1k.html"

    for f in p50 p99 p999; do
        figure $f >>"$prefix/$1.$f"
    done
}


late_row()
{
    printf '    %6d  %-13s %8.0f %8.0f %8.0f   %s\n' "$1" "$3" \
        "$(cat "$prefix/$2.p50.median")" "$(cat "$prefix/$2.p99.median")" \
        "$(cat "$prefix/$2.p999.median")" "${4-}"
}


idle()
{
    fleet 1 1000
    rates_head "one worker"
    compare idle 0.5
    rate_row "not loaded" "loaded and idle" ">= 99 %"
}


scraped()
{
    fleet 1 1000
    rates_head "one worker"
    compare scraped 1
    rate_row "loaded and idle" "1 scrape/s of 1000 stacks" ">= 98 %"
}


rates_head()
{
    echo
    echo "Requests/s of a static file, as fast as $1 can, medians of" \
         "$((rounds * pairs_rate)) pairs of"
    echo "runs; and the workers' CPU time for a request, which does not mind" \
         "who else is"
    echo "on the machine:"
    echo
    echo "                              requests/s       B/A (quartiles)  " \
         "      CPU, A/B"
}


all_workers()
{
    echo
    echo "GET heap of all workers, 300 stacks each, one connection, names" \
         "cached, milliseconds:"
    echo
    echo "    workers  served    bytes  median     p99   asked"

    url=http://$addr:$with/debug/pprof/heap

    for n in 8 64; do
        fleet $n 300
        start_with

        curl -sSf --noproxy '*' -o "$prefix/text" "$url?format=text" \
            || die "no profile"
        served=$(grep -c ' @ 0x' "$prefix/text")

        test "$served" -ge $((n * 299)) \
            || die "$served stacks are in the profile of $n workers"

        bytes=$(curl -sSf --noproxy '*' "$url" | wc -c)

        measure -n 5 "$url"
        measure -n $((requests / (n / 8))) "$url"

        asked=15
        test $n = 8 || asked=120

        echo "$n $served $bytes $(figure p50) $(figure p99) $asked" | awk '
            { printf("    %7d %7d %8d %7.2f %7.2f   median <= %d\n", $1, $2,
                     $3, $4 / 1000, $5 / 1000, $6) }'
    done

    fleet 8 300
    rates_head "8 workers"
    compare scraped 1
    rate_row "loaded and idle" "1 scrape/s of 8 times 300" ">= 99 %"
}


# compare KIND SECONDS: new processes each round, because where the memory of
# one happens to lie is worth a per cent by itself.

compare()
{
    for f in a b ratios a.cpu b.cpu; do
        : >"$prefix/$f"
    done

    round=0

    while [ $round -lt $rounds ]; do
        round=$((round + 1))
        test "$1" != idle || start_without
        start_with
        measure -n 3 "http://$addr:$with/debug/pprof/heap"

        pair=0

        while [ $pair -lt $pairs_rate ]; do
            pair=$((pair + 1))

            if [ $((pair % 2)) = 0 ]; then
                "${1}_a" "$2"
                "${1}_b" "$2"
            else
                "${1}_b" "$2"
                "${1}_a" "$2"
            fi

            echo "$a $b" | awk '{ print $2 / $1 * 100 }' >>"$prefix/ratios"
        done
    done
}


idle_a()
{
    rate $without "$1" a
    a=$(figure rate)
}


idle_b()
{
    rate $with "$1" b
    b=$(figure rate)
}


scraped_a()
{
    rate $with "$1" a
    a=$(figure rate)
}


scraped_b()
{
    scrape "$1"
    rate $with "$1" b
    b=$(figure rate)
    scrape_ended
}


# rate PORT SECONDS FILE: one run

rate()
{
    before=$(ticks "$1")
    measure -c 16 -t "$2" "http://$addr:$1/1k.html"
    after=$(ticks "$1")

    figure rate >>"$prefix/$3"
    echo "$((after - before)) $(figure requests)" >>"$prefix/$3.cpu"
}


# ticks PORT: what the workers and all their threads, ended ones too, have used

ticks()
{
    sed -n 's/.*start worker process //p' "$prefix/$1.log" \
        | tail -n "$workers" | sed 's,.*,/proc/&/stat,' | xargs cat \
        | awk '{ ticks += $14 + $15 } END { print ticks }'
}


rate_row()
{
    printf '    A %-27s %6.0f\n' "$1" "$(quantile 0.5 <"$prefix/a")"

    printf '    B %-27s %6.0f  %6.1f %% (%.1f to %.1f) %8.1f %%   asked: %s\n' \
        "$2" "$(quantile 0.5 <"$prefix/b")" \
        "$(quantile 0.5 <"$prefix/ratios")" \
        "$(quantile 0.25 <"$prefix/ratios")" \
        "$(quantile 0.75 <"$prefix/ratios")" "$(cpu_ratio)" "$3"
}


cpu_ratio()
{
    awk '
        { ticks[FILENAME] += $1; requests[FILENAME] += $2 }

        END {
            a = ticks[ARGV[1]] / requests[ARGV[1]]
            b = ticks[ARGV[2]] / requests[ARGV[2]]
            print a / b * 100
        }' "$prefix/a.cpu" "$prefix/b.cpu"
}


check "$@"

rm -rf "$prefix"
mkdir -p "$prefix/html" "$prefix/temp"
awk 'BEGIN { for (i = 0; i < 64; i++) print "sixteen columns" }' \
    >"$prefix/html/1k.html"

gcc -O1 -g -fPIC -shared -o "$stacks" bench/preload/jpp_stacks.c -ldl

trap end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM

machine

test $# != 0 || set -- a b c d e

for part in "$@"; do
    case $part in
        a) profiles ;;
        b) latencies ;;
        c) idle ;;
        d) scraped ;;
        e) all_workers ;;
    esac
done
