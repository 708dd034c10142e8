# shellcheck shell=sh

# What is installed, and what is installed when it is missing (Debian and
# Ubuntu).  Read by dev, and by t/data/make/make.sh.
#
# Only packages of the machine's own architecture count: beside them may be some
# that cross compilers or containers need.

# seconds to wait while another process installs something
PACKAGES_PATIENCE=${PACKAGES_PATIENCE:-300}


# packages_installed PACKAGE...: name and version of each that is installed.

packages_installed()
{
    # shellcheck disable=SC2016
    dpkg-query -W -f '${Architecture} ${db:Status-Status} ${Package} ${Version}
' "$@" 2>/dev/null \
    | awk -v own="$(dpkg --print-architecture)" '
        ($1 == own || $1 == "all") && $2 == "installed" { print $3, $4 }'
}


packages_version()
{
    packages_installed "$1" | sed 's/.* //'
}


# Installs those of the packages that are not there; no service is started.

need()
{
    missing=$(packages_installed "$@" | awk -v wanted="$*" '
        { has[$1] }
        END { n = split(wanted, names)
              for (i = 1; i <= n; i++) {
                  if (!(names[i] in has)) printf " %s", names[i]
              } }')

    if [ -n "$missing" ]; then
        install_packages "$missing"
    fi
}


install_packages()
{
    install="apt-get install -y --no-install-recommends$1"

    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif sudo -n true 2>/dev/null || [ -t 0 ]; then
        as_root=sudo
    else
        echo "dev: packages are missing; type: sudo $install" >&2
        exit 1
    fi

    printf '\n==> installing%s\n' "$1"

    log=$(mktemp)
    quietly="$as_root env LC_ALL=C DEBIAN_FRONTEND=noninteractive RUNLEVEL=1"

    # the lists of packages may be missing, or have versions that the archive
    # has no more

    # shellcheck disable=SC2086
    packages_apt "$log" $quietly $install || {
        packages_apt "$log" $quietly apt-get update \
            && packages_apt "$log" $quietly $install
    } || {
        sed -n 's/^E: /dev: /p' "$log" >&2
        rm -f "$log"
        echo "dev: that failed; type: sudo $install" >&2
        exit 1
    }

    rm -f "$log"
}


# packages_apt LOG COMMAND...: a command of apt.  While another process has one
# of its locks (of dpkg, of the lists), it is tried again: apt itself waits for
# the former only, and does not say so at once.

packages_apt()
{
    log=$1 deadline=$(($(date +%s) + PACKAGES_PATIENCE)) said=
    shift

    until "$@" >"$log" 2>&1; do
        lock=$(packages_lock "$log")

        if [ -z "$lock" ]; then
            return 1
        fi

        if [ "$(date +%s)" -ge "$deadline" ]; then
            echo "dev: $lock, after $PACKAGES_PATIENCE seconds still;" \
                 "try again when it has ended" >&2
            exit 1
        fi

        if [ -z "$said" ]; then
            said="waiting for it, up to $PACKAGES_PATIENCE seconds"
            echo "dev: $lock: $said" >&2
        fi

        sleep 1
    done
}


# Who has the lock that apt did not get, by what it said in LOG; nothing if that
# was not the reason.

packages_lock()
{
    sed -n 's/^E: Could not get lock //p' "$1" | head -n 1 \
    | sed -e 's/^\([^ ]*\)\. It is held by \(.*\)/\2 has \1/; t' \
          -e 's/ .*//; s/^/another process has /'
}
