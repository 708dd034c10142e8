# shellcheck shell=sh

# Runs the tests: all of them, or one.  Read by dev, which builds what they
# need, and which is what each job of a whole run is.
#
# A job is a suite and a WAY, which says what nginx is and what is in it:
#
#     core        no nginx at all
#     sanitized   the core's units under the sanitizers
#     loaded      the machine's nginx, the module and jemalloc loaded
#     reloaded    the same, and nginx is reloaded where it would be restarted
#     linked      an nginx that was built with both
#     asan        an nginx under the sanitizers, with the module and no jemalloc
#     updated     loaded, but nginx and its libraries are other builds
#     fuzz        a fuzzer in place of a suite
#
# Jobs run side by side: every suite has ports and a place of its own, and none
# of them asserts how long something takes.  What measures runs alone.


# What runs a suite, of a way that has none of its own.

prove="prove -I t/lib"


# Which ways each suite runs: the suites of a row are those of no row above it.
# What has many tests or many seconds stands above what has few.  "alone" is
# what measures; "soak" and "matrix" are for the verbs of these names.

tests_table()
{
    cat <<'END'
t/tool/units.t          sanitized core
t/tool/liveset.t        core updated
t/tool/*.t              core
t/fleet/client.t        asan loaded
t/fleet/worker.t        asan loaded soak
t/fleet/leaving.t       asan loaded
t/fleet/*.t             loaded soak
t/heap/*.t              loaded soak
t/pools/fakes.t         asan loaded linked reloaded
t/pools/modules.t       asan loaded linked reloaded
t/pools/large.t         asan loaded linked reloaded
t/pools/workers.t       loaded linked reloaded soak
t/pools/*.t             loaded linked reloaded
t/meta/*.t              loaded
t/nginx/snapshots.t     asan loaded reloaded soak
t/nginx/leak.t          alone soak
t/nginx/names.t         loaded updated
t/nginx/locations.t     loaded
t/nginx/growths.t       loaded soak
t/nginx/overlay.t       loaded
t/nginx/faults.t        loaded linked
t/nginx/pprof.t         loaded linked
t/nginx/notice.t        loaded linked
t/nginx/origin.t        loaded linked
t/nginx/*.t             loaded linked reloaded
t/page/page.t           loaded updated
t/page/picture.t        loaded updated
t/page/*.t              loaded
t/time/cpu-storm.t      asan loaded soak
t/time/stalls.t         loaded updated
t/time/stalls-storm.t   loaded soak
t/time/*.t              loaded
END
}


# tests_of WAY: its suites.

tests_of()
{
    tests_table | while read -r suites ways; do
        for file in $suites; do
            echo "$file $ways"
        done
    done | awk -v way="$1" '!seen[$1]++ && $0 ~ " " way "( |$)" { print $1 }'
}


# The jobs of a whole run: a way that takes long begins first.

tests_jobs()
{
    for way in asan sanitized core loaded linked reloaded updated; do
        tests_of "$way" | sed "s/^/$way /"
    done

    for file in t/fuzz/*_fuzz.c; do
        echo "fuzz $file"
    done
}


# tests_job WAY FILE: one line, and on failure what the suite said.

tests_job()
{
    case $1 in

        fuzz)
            fuzz_one "$(basename "$2" .c)" "${JPP_FUZZ_SECONDS:-5}"
            return
            ;;

        sanitized)
            JPP_BUILD=build/sanitized
            export JPP_BUILD
            ;;

        asan)
            tests_asan || return 1
            tests_env "$1"
            ;;

        updated)
            unshare -m true 2>/dev/null || {
                printf '%-48s skipped: only root may mount\n' "$2, $1"
                return
            }
            tests_env "$1"
            ;;

        loaded|reloaded|linked)
            tests_env "$1"
            ;;
    esac

    proved "$2, $1" "./dev test $2 $1" --timer "$2"
}


# An nginx takes a minute to build: the first job that needs this one builds it
# beside the other jobs, and those that need it too wait for that.

tests_asan()
{
    log=build/suites/asan-build.txt

    mkdir -p build/suites
    flock build/suites/asan.lock ./dev asan >"$log" 2>&1 || {
        printf '%-48s FAILED\n%s\n' "build/nginx-asan" "$(tail -n 40 "$log")"
        return 1
    }
}


# tests_env WAY

tests_env()
{
    case $1 in

        linked)
            suites_env "$PWD/build/nginx/static-gcc/nginx" '' ''
            ;;

        asan)
            suites_env "$PWD/build/nginx-asan" '' ''
            ;;

        *)
            suites_env "$(command -v nginx)" "$PWD/build/$MODULE" \
                libjemalloc.so.2
            ;;
    esac

    case $1 in
        reloaded) TEST_NGINX_USE_HUP=1; export TEST_NGINX_USE_HUP ;;
        updated)  prove="sh tools/updated.sh $prove" ;;
    esac
}


# tests_build WAY FILE: what that suite needs, and nothing more.

tests_build()
{
    # shellcheck disable=SC2086
    need $TEST_PACKAGES

    case $1 in
        sanitized) core build/sanitized clang "$SANITIZE" units tool ;;
        linked)    nginx_build static-gcc own gcc --add-module ;;
        asan)      build_asan ;;
        loaded|reloaded|updated) build ;;
    esac

    case $2 in
        t/tool/*) need_some $MALLOC_PACKAGES ;;
        t/meta/*) test_nginx; core build gcc "-O2 -g" benches ;;
        t/page/*) test_nginx; browser ;;
        *)        test_nginx ;;
    esac

    core build gcc "-O2 -g" tool units

    case $1 in
        core|sanitized) ;;
        *) nginx_fakes ;;
    esac
}


# A browser, and what it is tested with.  Where npm cannot fetch, the tests that
# need it say so.

browser()
{
    # shellcheck disable=SC2086
    need $BROWSER_PACKAGES

    # node's own packages bring npm, and conflict with the distribution's

    command -v npm >/dev/null || need npm

    for package in axe-core@4.14.1 eslint@10.15.0; do
        npm_get "$package"
    done
}


# npm_get NAME@VERSION, into build/npm.

npm_get()
{
    stamp=build/npm/$1

    test ! -e "$stamp" || return 0

    mkdir -p build/npm
    timeout 300 npm install --silent --no-audit --no-fund \
        --prefix build/npm "$1" >build/npm/log 2>&1 || {
        echo "dev: npm cannot fetch $1: $(tail -n 1 build/npm/log)" >&2
        return 0
    }
    : >"$stamp"
}


# Everything.

tests_all()
{
    lint

    rm -rf build/suites
    mkdir -p build/suites
    say "building for the suites"
    tests_build sanitized t/tool/units.t
    tests_build loaded t/meta/readme.t
    tests_build linked t/nginx/config.t
    tests_build loaded t/page/page.t
    fuzz_build

    # three for each processor: most of a suite is waiting

    say "the suites"
    failed=0
    tests_jobs | xargs -L 1 -P "$((3 * JOBS))" ./dev job || failed=1
    tests_of alone | xargs -L 1 ./dev job loaded || failed=1

    echo
    proved_longest
    proved_all

    return "$failed"
}


# tests_one WHAT...: a suite, perhaps with a way, or units.

tests_one()
{
    case $1 in
        unit|units)
            shift
            tests_units "$@"
            ;;

        t/*/*.t)
            tests_suite "$1" "${2-}"
            ;;

        *)
            tests_unknown "$1"
            ;;
    esac
}


tests_unknown()
{
    echo "dev: no test is called $1: it is t/FOLDER/NAME.t, or unit with" \
         "names of t/unit/NAME_test.c" >&2
    exit 2
}


tests_suite()
{
    file=$1 way=${2:-loaded}

    test -f "$file" || tests_unknown "$file"

    case $file in
        t/tool/*) way=${2:-core} ;;
    esac

    case $way in
        core|sanitized|loaded|reloaded|linked|asan|updated) ;;
        *)
            echo "dev: a suite is loaded, reloaded, linked, asan or updated," \
                 "not $way" >&2
            exit 2
            ;;
    esac

    tests_build "$way" "$file"

    case $way in
        core) ;;
        sanitized) JPP_BUILD=build/sanitized; export JPP_BUILD ;;
        *) tests_env "$way" ;;
    esac

    exec $prove --timer "$file"
}


# Those that are named, or all of them.

tests_units()
{
    # shellcheck disable=SC2086
    need $CORE_PACKAGES g++ libjemalloc-dev

    if [ $# = 0 ]; then
        core build gcc "-O2 -g" units
        exec $prove --timer t/tool/units.t
    fi

    for name in "$@"; do
        shift
        name=${name%_test}
        test -e "t/unit/${name}_test.c" || tests_unknown "$name"
        set -- "$@" "$name"
    done

    # shellcheck disable=SC2046
    core build gcc "-O2 -g" $(printf 'build/t/%s_test ' "$@")
    exec $prove --verbose t/tool/units.t :: "$@"
}


# The units by each compiler, as it optimizes: which frames there are, and what
# is left over in them, is different in each.

tests_builds()
{
    # shellcheck disable=SC2086
    need $TEST_PACKAGES

    failed=0

    for cc in gcc clang; do
        for flags in -O0 -O1 "-O2 -flto"; do
            (
                JPP_BUILD=build/units/$(echo "$cc$flags" | tr -d ' ')
                export JPP_BUILD

                core "$JPP_BUILD" "$cc" "$flags" units &&
                    proved "units, $cc $flags" '' --timer t/tool/units.t
            ) || failed=1
        done
    done

    return "$failed"
}


# suites_env NGINX MODULE JEMALLOC: what the suites with nginx need in their
# environment; MODULE is empty where it is linked.  Only nginx has JEMALLOC
# preloaded, even the static one, where that takes the place of the
# libjemalloc.so.2 it is linked with.

suites_env()
{
    TEST_NGINX_BINARY=$1
    TEST_NGINX_LOAD_MODULES=$2
    TEST_NGINX_LD_PRELOAD=$3

    export TEST_NGINX_BINARY TEST_NGINX_LOAD_MODULES TEST_NGINX_LD_PRELOAD
}


# suites TITLE FILES NGINX MODULE JEMALLOC [hup]: runs the suites FILES with
# nginx, one after the other.  With hup, nginx is reloaded for each test, not
# restarted.

suites()
(
    suites_env "$3" "$4" "$5"

    if [ "${6-}" = hup ]; then
        TEST_NGINX_USE_HUP=1
        export TEST_NGINX_USE_HUP
    fi

    # shellcheck disable=SC2086
    proved "$1" '' --timer $2
)


# proved TITLE AGAIN ARGUMENT...: runs prove, prints one line, and on failure
# what it said and how to run it AGAIN: at once, since others print as well.

proved()
{
    title=$1 again=$2
    shift 2

    mkdir -p build/suites
    log=build/suites/$(echo "$title" | tr -cs 'a-z0-9.\n' -).log

    verdict=ok
    $prove "$@" >"$log" 2>&1 || verdict=FAILED

    count=$(sed -n 's/^Files=.* Tests=//p' "$log" \
            | sed 's/\([0-9]*\), *\([0-9]*\) .*/\1 tests, \2 s/')
    line=$(printf '%-48s %-6s %s' "$title" "$verdict" "$count")

    if [ "$verdict" = FAILED ]; then
        printf '%s\n%s\n%s\n\n' "$line" "--- the end of $log" \
            "$(tail -n 100 "$log")${again:+
--- again: $again}"
        return 1
    fi

    echo "$line"
}


proved_longest()
{
    echo "the longest:"
    awk '/^Files=/ { sub(/.*Tests=[0-9]*, */, ""); sub(/.*\//, "", FILENAME)
                     printf "%6d s  %s\n", $1, FILENAME }' build/suites/*.log \
    | sort -rn | head -n 5
}


# The last line of a run.  A suite that ends before its last test has failed,
# even if no test of it has.

proved_all()
{
    cat build/suites/*.log \
    | awk '/^Files=/        { sub(/.*Tests=/, ""); tests += $1 }
           /Failed tests?:/ { n += split($0, list, ",") }
           /^Result: /      { failed += $2 == "FAIL" && n == 0 ? 1 : n; n = 0 }
           END { printf "%d passed, %d failed\n",
                        (tests > failed ? tests - failed : 0), failed }'
}


soak()
{
    suites_prepare
    build
    rm -rf build/suites

    JPP_SOAK=1
    export JPP_SOAK

    suites "at length" "$(tests_of soak)" \
        "$(command -v nginx)" "$PWD/build/$MODULE" libjemalloc.so.2
}


# What the suites of the matrix need before the first.

suites_prepare()
{
    # shellcheck disable=SC2086
    need $TEST_PACKAGES
    test_nginx
    core build gcc "-O2 -g" tool units
    nginx_fakes
}
