#!/bin/sh

# What jemalloc's sampling costs an nginx, by rate: memory, and instructions.
#
#     sampling.sh [PART...]
#
# A PART is one of
#
#     memory        RssAnon of a worker: as it starts, with 3,000 idle
#                   connections of plain HTTP, with 1,000 of TLS, with both
#     instructions  user instructions of a request: a static file, the same by
#                   proxy and gzip, and a full TLS handshake with one request
#     defaults      the same with stalls and owners off, and on, as by default,
#                   in workers that have answered a question
#
# and the first two are measured where none is named.  That takes about twenty
# minutes; QUICK=1 takes eight, for less certain figures.  RATES names others
# than
#
#     off asked 19 18 17 16 15 14 12 h19 h18 h17 h16 h15 h14 h12 s14 s12 s10
#     o12
#
# A number is lg_prof_sample, walked by jemalloc's own unwinder; with an h by
# the module's; with an s it is the rate of the module's sampler; with an o it
# was on at that rate, and is off again.  off is prof:false, which the others
# are compared with.  asked is off after one question to the module: its thread
# makes libc count with several, at some instructions for each system call, for
# good.  So asked is what o12 should be.  In all of these stalls and owners are
# off.  With them, off, h and s are on, d and w.
# JPP_BUILD is another build than build/.  ./dev bench sampling calls it.
#
# Memory is a median over new processes, in turns, because chance decides which
# objects are sampled.  Instructions are those of one nginx process under
# valgrind: a long run less a short one, so that start and end do not count.
# They repeat to a fraction of a per cent, whatever else the machine does; time
# does not, and is somewhat worse, because sampled objects lie on pages of their
# own, which are cold.
#
# The module is loaded, and nobody asks it for anything.

set -eu

cd "$(dirname "$0")/.."

build=${JPP_BUILD:-build}
build=$(cd "$build" 2>/dev/null && pwd || echo "$build")

module=$build/ngx_http_jemalloc_pprof_module.so
load=$build/bench/jpp_load
prefix=$build/bench/sampling

jemalloc=libjemalloc.so.2
rates='off asked 19 18 17 16 15 14 12 h19 h18 h17 h16 h15 h14 h12 s14 s12 s10'
rates=${RATES:-$rates o12}

# is every worker asked a question?
asks=

# an odd corner of 127/8, so that no server of the machine is in the way
addr=127.92.53.2
port=8093
tls_port=8094
upstream_port=8095

http_held=3000
tls_held=1000

nginx_pid=
upstream_pid=
http_pid=
tls_pid=

if [ -n "${QUICK-}" ]; then
    rounds=3 static=4000 proxy=1000 tls=250
else
    rounds=7 static=12000 proxy=3000 tls=800
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

    for program in nginx curl openssl perl setpriv valgrind; do
        command -v $program >/dev/null || die "$program is missing"
    done

    perl -MIO::Socket::SSL -e 1 2>/dev/null \
        || die "libio-socket-ssl-perl is missing"

    for file in "$module" "$load"; do
        test -f "$file" || die "$file is missing; type: ./dev bench sampling"
    done

    # a worker's descriptors, and the clients'

    # shellcheck disable=SC3045
    ulimit -n 8192 2>/dev/null || die "8192 descriptors are not allowed"

    for part in "$@"; do
        case $part in
            memory|instructions|defaults) ;;
            *) die "there is no part $part, but memory, instructions and" \
                   "defaults"
        esac
    done

    for rate in $rates; do
        case $rate in
            off|on|asked|[0-9]|[1-5][0-9]|[hdswo][0-9]|[hdswo][1-5][0-9]) ;;
            *) die "RATES takes off, on, asked, and numbers below 60," \
                   "perhaps behind h, d, s, w or o, not \"$rate\""
        esac
    done

    case " $rates " in
        *" off "*) ;;
        *) die "RATES without off: there is nothing to compare with"
    esac
}


end()
{
    status=$?
    trap '' INT TERM HUP PIPE
    trap - EXIT

    quit "$http_pid"
    quit "$tls_pid"
    quit "$nginx_pid"
    quit "$upstream_pid"

    exit "$status"
}


# A signal that comes just before epoll_wait() does not end that: a single
# process of nginx may need another, and under valgrind it often does.

quit()
{
    test -n "$1" || return 0

    tries=0

    while grep -qs '^State:[^Z]*$' "/proc/$1/status"; do
        test $((tries % 20)) != 0 || kill -TERM "$1" 2>/dev/null || true
        test $tries != 600 || kill -KILL "$1" 2>/dev/null || true
        tries=$((tries + 1))
        sleep 0.1
    done

    wait "$1" 2>/dev/null || true
}


prepare()
{
    rm -rf "$prefix"
    mkdir -p "$prefix/html" "$prefix/temp"

    text 64 >"$prefix/html/1k.html"
    text 512 >"$prefix/html/8k.html"

    # what most certificates are by now

    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
        -nodes -days 30 -subj "/CN=$addr" -keyout "$prefix/key.pem" \
        -out "$prefix/certificate.pem" 2>"$prefix/openssl.err" \
        || die "no certificate: $(tail -n 1 "$prefix/openssl.err")"
}


# text N: lines of sixteen bytes, no two alike, so that gzip has its work

text()
{
    awk -v n="$1" 'BEGIN {
        for (i = 1; i <= n; i++) printf("line %010d\n", i * 7919 * i) }'
}


# configuration MASTER RATE: on or off, and who samples

configuration()
{
    test "$(id -u)" != 0 || echo "user root;"

    cat <<END
load_module $module;
daemon off;
master_process $1;
worker_processes 1;
pid nginx.pid;
error_log error.log notice;

events {
    # the last sixteenth would make nginx close idle ones

    worker_connections 4400;
}

http {
    access_log off;
    keepalive_requests 1000000;
    keepalive_timeout 600s;
    open_file_cache max=16;

    client_body_temp_path temp/body;
    proxy_temp_path temp/proxy;
    fastcgi_temp_path temp/fastcgi;
    uwsgi_temp_path temp/uwsgi;
    scgi_temp_path temp/scgi;

    $(sampling "$2")

    ssl_certificate certificate.pem;
    ssl_certificate_key key.pem;

    server {
        listen $addr:$port backlog=4096;
        listen $addr:$tls_port ssl backlog=4096;
        root html;

        location /proxy/ {
            proxy_pass http://$addr:$upstream_port/;
            gzip on;
        }

        location /debug/pprof/ {
            jemalloc_pprof control=on;
        }
    }
}
END
}


# sampling RATE: the directives for it

sampling()
{
    case $1 in
        [hd]*) echo "jemalloc_pprof_unwind on;" ;;
        [sw]*) echo "jemalloc_pprof_source sampler;"
               echo "jemalloc_pprof_sample $((1 << ${1#[sw]}));" ;;
        *)     echo "jemalloc_pprof_unwind off;" ;;
    esac

    # valgrind makes iterations so long that they were stalls, which would be
    # recorded, and counted: a request's cost is the watch for one

    case $1 in
        on|[dw]*) echo "jemalloc_pprof_stall 60s;" ;;
        *) echo "jemalloc_pprof_stall off; jemalloc_pprof_owners off;" ;;
    esac
}


# The other end of the proxy: an nginx that is not measured.

start_upstream()
{
    {
        test "$(id -u)" != 0 || echo "user root;"
        echo "daemon off; pid upstream.pid; error_log upstream.log notice;"
        echo "events { }"
        echo "http { access_log off;"

        for name in client_body proxy fastcgi uwsgi scgi; do
            echo "${name}_temp_path temp/upstream_$name;"
        done

        echo "server { listen $addr:$upstream_port; root html; } }"
    } >"$prefix/upstream.conf"

    setpriv --pdeathsig TERM nginx -p "$prefix/" -c upstream.conf \
        2>"$prefix/upstream.err" &
    upstream_pid=$!

    answers $upstream_pid "$upstream_port" upstream
}


# answers PID PORT NAME: waits until it does

answers()
{
    tries=240

    while ! curl -sf --noproxy '*' -m 5 -o "$prefix/answer" \
        "http://$addr:$2/1k.html"
    do
        tries=$((tries - 1))

        if [ $tries = 0 ] || ! kill -0 "$1" 2>/dev/null; then
            die "nginx did not start: $(cat "$prefix/$3.err")"
        fi

        sleep 0.25
    done
}


# start RATE MASTER [COMMAND...]: nginx, run by COMMAND

start()
{
    case $1 in
        off|on|asked|[swo]*) conf=prof:false ;;
        *)      conf=prof:true,prof_active:true,lg_prof_sample:${1#[hd]} ;;
    esac

    rate=$1
    configuration "$2" "$1" >"$prefix/nginx.conf"
    shift 2

    rm -f "$prefix/error.log"

    setpriv --pdeathsig TERM env LD_PRELOAD="$jemalloc" MALLOC_CONF="$conf" \
        "$@" nginx -p "$prefix/" -c nginx.conf 2>"$prefix/nginx.err" &
    nginx_pid=$!

    answers $nginx_pid $port nginx

    case $asks$rate in
        asked|yes*)
            curl -sf --noproxy '*' -m 60 -o "$prefix/answer" \
                "http://$addr:$port/debug/pprof/pools" || die "no pools"
            ;;

        o[0-9]*)
            control "sampler=on&lg_sample=${rate#o}"
            control sampler=off
            ;;
    esac
}


# control FORM: all workers do it

control()
{
    curl -sf --noproxy '*' -m 60 -o "$prefix/control" -d "$1" \
        "http://$addr:$port/debug/pprof/control" || die "no control: $1"

    grep -q '"error": *null' "$prefix/control" \
        || die "$1: $(cat "$prefix/control")"
}


stop()
{
    quit "$nginx_pid"
    nginx_pid=

    if grep -hE '\[(alert|crit|emerg)\]' "$prefix/error.log" >&2; then
        die "nginx complained"
    fi
}


machine()
{
    nginx -v 2>&1 | sed 's/^nginx version: //'
    openssl version
    sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1
    echo "$(nproc) CPUs; load average $(cut -d ' ' -f 1-3 /proc/loadavg)"
}


memory()
{
    round=0

    while [ $round -lt $rounds ]; do
        round=$((round + 1))

        for which in $rates; do
            held "$which" http tls
            held "$which" tls
        done
    done

    echo
    echo "RssAnon of a worker in MB (lowest to highest), and its ratio to" \
         "that with prof:false;"
    echo "medians of $rounds:"
    echo
    head_row "at the start" "$http_held idle HTTP" "$tls_held idle TLS" "both"

    for which in $rates; do
        row "$which"

        for what in start http tls both; do
            cell "$which" $what 1024 "$prefix/rss"
        done

        echo
    done
}


# held RATE KIND...: one worker with connections, first of one kind, then of the
# other as well

held()
{
    held_rate=$1
    start "$1" on
    shift

    worker=$(cat "/proc/$nginx_pid/task/$nginx_pid/children")
    worker=${worker% }
    state=start

    # of both turns

    rss "$held_rate" start

    for kind in "$@"; do
        "hold_$kind"
        test $state = start && state=$kind || state=both
        rss "$held_rate" $state
    done

    exec 3>&- 4>&-

    for pid in $http_pid $tls_pid; do
        wait "$pid" || die "the clients failed:" \
                           "$(cat "$prefix"/clients.*.err)"
    done

    http_pid=
    tls_pid=

    stop
}


# Connections that the other end holds until a descriptor is closed, which it
# must not have itself.

hold_http()
{
    mkfifo "$prefix/until"
    perl bench/jpp_clients.pl hold $http_held "http://$addr:$port/1k.html" \
        <"$prefix/until" >"$prefix/held" 2>"$prefix/clients.http.err" &
    http_pid=$!
    exec 3>"$prefix/until"
    holds $http_pid
}


hold_tls()
{
    mkfifo "$prefix/until"
    perl bench/jpp_clients.pl hold $tls_held "https://$addr:$tls_port/1k.html" \
        3>&- <"$prefix/until" >"$prefix/held" 2>"$prefix/clients.tls.err" &
    tls_pid=$!
    exec 4>"$prefix/until"
    holds $tls_pid
}


# holds PID: waits until all connections are there

holds()
{
    tries=1200

    until grep -qs held "$prefix/held"; do
        tries=$((tries - 1))

        if [ $tries = 0 ] || ! kill -0 "$1" 2>/dev/null; then
            die "no connections: $(cat "$prefix"/clients.*.err)"
        fi

        sleep 0.1
    done

    rm "$prefix/until" "$prefix/held"
}


# rss RATE NAME: what the worker has, in kB

rss()
{
    sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/$worker/status" \
        | grep . >>"$prefix/rss.$1.$2" || die "the worker has gone"
}


instructions()
{
    count_rates $rates

    echo
    echo "User instructions of a request in thousands, and their ratio to" \
         "those with prof:false:"
    echo
    head_row "static, 1 KB" "proxy, gzip, 8 KB" "TLS handshake"

    for which in $rates; do
        counts "$which" off
    done
}


defaults()
{
    asks=yes
    count_rates off on h19 d19 s12 w12
    asks=

    echo
    echo "User instructions of a request in thousands, with stalls and owners" \
         "off, and on"
    echo "with their ratio to the line before:"
    echo
    head_row "static, 1 KB" "proxy, gzip, 8 KB" "TLS handshake"

    for pair in "off on" "h19 d19" "s12 w12"; do
        counts "${pair% *}" "${pair% *}"
        counts "${pair#* }" "${pair% *}"
    done
}


# count_rates RATE...: instructions of each kind of request

count_rates()
{
    start_upstream

    for which in "$@"; do
        count "$which" static "$static" asked "http://$addr:$port/1k.html"
        count "$which" proxy "$proxy" asked "http://$addr:$port/proxy/8k.html"
        count "$which" tls "$tls" clients "https://$addr:$tls_port/1k.html"
    done

    quit "$upstream_pid"
    upstream_pid=
}


# counts RATE BASE: a line of them

counts()
{
    row "$1"

    for what in static proxy tls; do
        cell "$1" $what 1000 "$prefix/count" "$2"
    done

    echo
}


# count RATE NAME N HOW URL: instructions of one request

count()
{
    counted "$1" $(($3 / 20)) "$4" "$5"
    short=$total

    counted "$1" $(($3 / 20 + $3)) "$4" "$5"

    echo $(((total - short) / $3)) >"$prefix/count.$1.$2"
}


# counted RATE N HOW URL: total is what the event loop's thread took for its
# whole life; others work by the clock, and valgrind's runs slow

counted()
{
    out=$prefix/callgrind.out
    rm -f "$out"*

    start "$1" off valgrind --tool=callgrind --separate-threads=yes \
        --callgrind-out-file="$out" -q

    "$3" "$2" "$4"

    stop

    total=$(sed -n 's/^summary: \([0-9]*\)$/\1/p' "$out-01" | grep .) \
        || die "valgrind counted nothing"
}


asked()
{
    line=$("$load" -c 1 -n "$1" -H 'Accept-Encoding: gzip' "$2") \
        || die "the load failed: $line"
}


clients()
{
    perl bench/jpp_clients.pl each "$1" "$2" || die "the clients failed"
}


head_row()
{
    printf '%-6s' rate
    printf ' %24s' "$@"
    echo
}


row()
{
    printf '%-6s' "$1"
}


# cell RATE NAME UNIT FILES [BASE]: the median, and the ratio to that of BASE

cell()
{
    base=$(median <"$4.${5-off}.$2")
    value=$(median <"$4.$1.$2")

    sort -n "$4.$1.$2" | awk -v unit="$3" -v base="$base" -v value="$value" '
        { if (NR == 1) low = $1; high = $1 }

        END {
            text = sprintf("%.1f", value / unit)

            if (NR > 1)
                text = text sprintf(" (%.1f-%.1f)", low / unit, high / unit)

            printf(" %17s %6.3f", text, value / base)
        }'
}


median()
{
    sort -n | awk '{ value[NR] = $1 }

        END {
            print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2
        }'
}


check "$@"
prepare

trap end EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM

machine

test $# != 0 || set -- memory instructions

for part in "$@"; do
    "$part"
done
