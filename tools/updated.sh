#!/bin/sh

# Runs a command on this machine as it is after an update: nginx and each
# library of it, of jemalloc, Lua, njs and perl is another build.
#
#     updated.sh COMMAND...
#
# Where apt knows another version of the package, a library (and nginx) is that
# of it, with its functions at other addresses; else it is a copy with another
# build id, as of a package that was only built again.  They are mounted over
# the machine's own for this command alone, which takes root.
#
# Everything that is got or made is below build/updated.

set -eu

cd "$(dirname "$0")/.."

# shellcheck source=tools/packages.sh
. tools/packages.sh

updated=$PWD/build/updated
modules=/usr/lib/nginx/modules


# The files that change, by their real paths.

files()
{
    nginx=$(command -v nginx)

    {
        echo "$nginx"
        LD_PRELOAD=libjemalloc.so.2 ldd "$nginx" $modules/ngx_http_lua_*.so \
            $modules/ngx_http_perl_*.so $modules/ngx_http_js_*.so \
        | sed -n 's:.*[[:space:]]\(/[^ ]*\) (0x.*:\1:p'
    } | xargs realpath | sort -u
}


# The package of FILE, which may be known by a path of before /usr was merged.

owner()
{
    { dpkg -S "$1" || dpkg -S "${1#/usr}"; } 2>/dev/null \
    | sed 's/:.*//; q'
}


# The newest of the other versions that apt knows of PACKAGE.

other()
{
    apt-cache madison "$1" | awk '{ print $3 }' | sort -rVu \
    | grep -vxF "$(packages_version "$1")" | head -n 1
}


# tree PACKAGE VERSION: prints where its files are.

tree()
(
    tree=$updated/$1_$2

    if [ ! -d "$tree" ]; then
        mkdir -p "$tree.part"
        cd "$tree.part"
        apt-get -qq download "$1=$2" >../log 2>&1
        dpkg -x ./*.deb "$tree.part"
        mv "$tree.part" "$tree"
    fi

    echo "$tree"
)


# changed FILE: prints its substitute.

changed()
{
    package=$(owner "$1")
    version=$(other "$package")
    copy=$updated/copies$1

    if [ -n "$version" ] && from=$(tree "$package" "$version"); then
        for path in "$from$1" "$from${1#/usr}"; do
            test ! -f "$path" || { echo "$path"; return; }
        done
    fi

    mkdir -p "$(dirname "$copy")"
    perl -0777 -pe '
        # the note: sizes of name and id, its type, "GNU", and the id
        s/(\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0)(.{20})/$1 . ~$2/se
    ' "$1" >"$copy"
    chmod --reference="$1" "$copy"
    echo "$copy"
}


# What is mounted: made once, until the machine itself has an update.

mounts()
{
    found=$(find "$updated/mounts" -newer /var/lib/dpkg/status 2>/dev/null \
            || true)
    test -z "$found" || return 0

    rm -rf "$updated/copies"

    for file in $(files); do
        copy=$(changed "$file")
        echo "$copy $file"
    done >"$updated/mounts.new"

    mv "$updated/mounts.new" "$updated/mounts"
}


unshare -m true 2>/dev/null || {
    echo "updated.sh: only root may mount files over others; use sudo" >&2
    exit 1
}

mkdir -p "$updated"

(
    flock 9
    mounts
) 9>"$updated/lock"

# shellcheck disable=SC2016
exec unshare -m sh -euc '
    while read -r from to; do
        mount --bind "$from" "$to"
    done <"$0"

    exec "$@"' "$updated/mounts" "$@"
