# shellcheck shell=sh

# Builds nginx and the module, in every way the tests want.  Read by dev, which
# sets $JOBS; sources come by tools/sources.sh.
#
# Each build has a folder build/nginx/NAME.  It is configured anew only when
# what configure reads has changed; the rest is make's work.

NGINX_OPTIONS="--with-compat --with-debug --with-threads --with-pcre-jit
    --with-http_ssl_module --with-http_v2_module --with-http_realip_module
    --with-http_auth_request_module --with-http_sub_module
    --with-http_addition_module --with-http_gunzip_module
    --with-http_gzip_static_module --with-http_secure_link_module
    --with-http_slice_module --with-http_stub_status_module"

# What modules of others, and storms, need besides.

NGINX_MORE="--with-http_dav_module --with-mail --with-mail_ssl_module
    --with-stream --with-stream_ssl_module --with-stream_ssl_preread_module"

NGINX_BARE="--without-pcre --without-http_rewrite_module
    --without-http_proxy_module --without-http_fastcgi_module
    --without-http_uwsgi_module --without-http_scgi_module
    --without-http_grpc_module --without-http_memcached_module
    --without-http_upstream_hash_module --without-http_upstream_ip_hash_module
    --without-http_upstream_least_conn_module
    --without-http_upstream_random_module
    --without-http_upstream_keepalive_module
    --without-http_upstream_zone_module --without-http_gzip_module"

# As packages are built.  What is built from sources has nginx's own flags, as
# everybody gets who types no more than ./configure: they warn of other things.

NGINX_CC_OPTIONS="-O2 -g -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"

# What the sanitizers watch for.

NGINX_SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined
    -fno-sanitize=nonnull-attribute,alignment -fno-sanitize=pointer-overflow"


# What the module's files, its build script and nginx's own configure depend on.

nginx_stamp()
{
    echo "$@" "${NGX_HTTP_JEMALLOC_PPROF_JEMALLOC-}"
    cksum config proto/profile.proto tools/page.sh src/web/*
    ls src/nginx/*.h src/*/*/*.[ch]
    nginx -v 2>&1
}


# nginx_make NAME TREE TARGET OPTION...: configures TREE for a build NAME, and
# makes TARGET.

nginx_make()
{
    name=$1 tree=$2 target=$3
    shift 3

    build=$PWD/build/nginx/$name

    stamp=$(nginx_stamp "$tree" "$@")

    if [ "$stamp" != "$(cat "$build.stamp" 2>&1)" ]; then

        rm -rf "$build" "$build.stamp"
        mkdir -p build/nginx

        (cd "$tree" && ./configure --builddir="$build" "$@") \
            >"$build.log" 2>&1 || {
            tail -n 20 "$build.log" >&2
            exit 1
        }

        echo "$stamp" >"$build.stamp"
    fi

    make -s -j "$JOBS" -C "$tree" -f "$build/Makefile" "$target" \
        >"$build.log" 2>&1 || {
        tail -n 40 "$build.log" >&2
        exit 1
    }
}


# The tree that a module for the machine's nginx is built from: a copy, since
# configure may write into it.

nginx_own_tree()
{
    version=$(packages_version nginx-dev)
    tree=$PWD/build/nginx/tree-$version

    if [ ! -d "$tree" ]; then
        mkdir -p build/nginx
        cp -R /usr/share/nginx/src "$tree.part"
        mv "$tree.part" "$tree"
    fi

    echo "$tree"
}


# nginx_own_module NAME CC: the module for the machine's nginx.

nginx_own_module()
{
    nginx_module "$1" "$2" "$(command -v nginx)" "$(nginx_own_tree)"
}


# nginx_module NAME CC NGINX TREE: the module for NGINX, of which TREE has the
# headers.  What that was configured with decides whether it takes the module;
# what would only add libraries to the build is left out.

nginx_module()
{
    name=$1 cc=$2 tree=$4

    eval "set -- $("$3" -V 2>&1 | sed -n 's/^configure arguments: //p')"

    for option in "$@"; do
        shift

        case $option in
            *=dynamic|--with-cc-opt=*|--with-ld-opt=*) ;;
            *)  set -- "$@" "$option" ;;
        esac
    done

    nginx_make "$name" "$tree" modules "$@" --with-cc="$cc" \
        --with-cc-opt="$NGINX_CC_OPTIONS" --add-dynamic-module="$PWD"
}


# nginx_fakes: a module that the tests load into any nginx of the machine's
# version.

nginx_fakes()
{
    nginx_own_module own-gcc gcc
    tree=$(nginx_own_tree)

    # shellcheck disable=SC2046
    gcc -O1 -g -fPIC -shared -o build/t/ngx_http_fakes_module.so \
        $(printf -- "-I$tree/src/%s " core event event/modules os/unix http \
              http/modules http/v2) \
        -Ibuild/nginx/own-gcc t/lib/ngx_http_fakes_module.c
}


# nginx_build NAME SUITE CC HOW: an nginx from the sources of SUITE with the
# module, where HOW is --add-module or --add-dynamic-module.

nginx_build()
{
    tree=$(sources_get deb-src "$2" nginx)

    # shellcheck disable=SC2086
    nginx_make "$1" "$tree" build $NGINX_OPTIONS \
        --with-cc="$3" "$4=$PWD"
}


# nginx_newest NAME: the nginx of the newest suite, out of its package, with the
# libraries of that suite, and the module for it.  An archive may have no
# sources of it yet, but it has headers.

nginx_newest()
(
    name=$1 suite=$(sources_newest)
    root=$PWD/build/nginx/$name.root

    if [ ! -f "$root/nginx" ]; then
        rm -rf "$root"
        mkdir -p "$root"

        for package in nginx nginx-dev libc6 libssl3t64 libpcre2-8-0 zlib1g \
            libzstd1
        do
            dpkg -x "$(sources_get deb "$suite" "$package")" "$root"
        done

        libraries=$(dirname "$(find "$root" -name libc.so.6)")

        patchelf --set-interpreter "$(find "$root" -name 'ld-linux*.so.2' \
                                          -type f)" \
            --force-rpath --set-rpath "$libraries" "$root/usr/sbin/nginx"
        mv "$root/usr/sbin/nginx" "$root/nginx"
    fi

    nginx_module "$name" gcc "$root/nginx" "$root/usr/share/nginx/src"
    cp "$root/nginx" "build/nginx/$name/nginx"
)


# nginx_bare NAME: one without any module that it can do without.

nginx_bare()
{
    tree=$(sources_get deb-src own nginx)

    # shellcheck disable=SC2086
    nginx_make "$1" "$tree" build $NGINX_BARE --with-cc=gcc \
        --add-module="$PWD"
}


# An nginx for finding faults: the sanitizers watch it, and what it would take
# from a pool it takes from malloc(), so that a use after free is seen.  There
# is no jemalloc in it, since the sanitizers bring their own malloc().  nginx
# itself copies nothing from NULL all the time: that is let pass.

nginx_asan()
(
    # shellcheck disable=SC2086
    sanitize=$(echo $NGINX_SANITIZE)
    defines="-DNGX_DEBUG_PALLOC=1 -DJPP_ARENA_UNPOISONED"
    tree=$(sources_get deb-src own nginx)

    NGX_HTTP_JEMALLOC_PPROF_JEMALLOC=none
    export NGX_HTTP_JEMALLOC_PPROF_JEMALLOC

    # shellcheck disable=SC2086
    nginx_make asan "$tree" build $NGINX_OPTIONS $NGINX_MORE --with-cc=clang \
        --with-cc-opt="-O1 -g -fno-omit-frame-pointer $sanitize $defines" \
        --with-ld-opt="$sanitize" --add-module="$PWD"
)


# nginx_truth NAME SUITE CC CC_OPTION LD_OPTION OPTION...: an nginx that keeps
# the truth about its pools, with the module and what compares them.  Its
# sources are a copy, which bench/pools/patch.pl changes; the file is not
# stripped, and Debian's modules fit it where SUITE is own.

nginx_truth()
(
    name=$1 source=$(sources_get deb-src "$2" nginx) cc=$3 cc_opt=$4 ld_opt=$5
    shift 5

    tree=$PWD/build/nginx/truth-${source##*/}
    patch=$(cksum <bench/pools/patch.pl)

    if [ "$patch" != "$(cat "$tree.patch" 2>&1)" ]; then
        rm -rf "$tree" "$tree.patch"
        mkdir -p build/nginx
        cp -R "$source" "$tree"
        perl bench/pools/patch.pl "$tree"
        echo "$patch" >"$tree.patch"
    fi

    NGX_HTTP_JEMALLOC_PPROF_JEMALLOC=none
    export NGX_HTTP_JEMALLOC_PPROF_JEMALLOC

    # shellcheck disable=SC2086
    nginx_make "$name" "$tree" build $NGINX_OPTIONS $NGINX_MORE "$@" \
        --with-cc="$cc" --with-cc-opt="$cc_opt" --with-ld-opt="$ld_opt" \
        --add-module="$PWD" --add-module="$PWD/bench/pools"
)
