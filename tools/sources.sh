# shellcheck shell=sh

# Packages and sources that the machine's suites do not have, or only as
# binaries.  Read by dev and by t/data/make/make.sh, which set $SOURCES, the
# folder that everything is kept in, and read tools/packages.sh before.
#
# They come by a private apt: the machine's own sources, so that its mirrors
# and its keys are used, with the type or the suite changed.  Nothing of it
# touches the system's lists, and no root is needed.
#
# A suite is named as apt does, or "own": all that the machine has.


sources_die()
{
    echo "sources.sh: $*" >&2
    exit 1
}


sources_os()
{
    # shellcheck source=/dev/null
    (. /etc/os-release; eval "echo \"\${$1-}\"")
}


# The suite that has everything before others do.

sources_newest()
{
    case $(sources_os ID) in
        ubuntu)  echo devel ;;
        *)       echo sid ;;
    esac
}


# A suite whose nginx is newer than the machine's, where there is one.

sources_newer()
{
    case $(sources_os VERSION_CODENAME) in
        bookworm)  echo trixie ;;
        *)         sources_newest ;;
    esac
}


# The machine's sources of both forms, for TYPE (deb, deb-src) and SUITE.
# Where the suite changes, only what has the machine's own suite is taken: an
# archive of security updates has no sid.

sources_list()
{
    codename=$(sources_os VERSION_CODENAME)

    find /etc/apt/sources.list.d -name '*.sources' -exec awk \
        -v RS= -v ORS='\n\n' -v type="$1" -v suite="$2" -v own="$codename" '
        /(^|\n)Enabled: *no/ {
            next
        }

        suite == "own" || $0 ~ "(^|\n)Suites: *([^\n]* )?" own "( |\n|$)" {
            gsub(/(^|\n)Types:[^\n]*/, "\nTypes: " type)
            if (suite != "own") {
                gsub(/(^|\n)Suites:[^\n]*/, "\nSuites: " suite)
            }
            sub(/^\n/, "")
            print
        }
    ' {} + >"$3/own.sources" 2>/dev/null || true

    find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.list' \
        -exec awk -v type="$1" -v suite="$2" -v own="$codename" '
        /^deb[ \t]/ {
            options = match($0, /\[[^]]*\]/) ? substr($0, RSTART, RLENGTH) : ""
            sub(/\[[^]]*\]/, "")

            if (suite == "own" || $3 == own) {
                $1 = type " " options
                $3 = suite == "own" ? $3 : suite
                print
            }
        }
    ' {} + >"$3/own.list" 2>/dev/null || true
}


# sources_apt TYPE SUITE: sets APT_CONFIG to that of a private apt.

sources_apt()
{
    apt=$SOURCES/apt-$1-$2

    APT_CONFIG=$apt/apt.conf
    export APT_CONFIG

    if [ -f "$apt/updated" ]; then
        return
    fi

    mkdir -p "$apt/sources" "$apt/state/lists/partial" \
             "$apt/cache/archives/partial"
    : >"$apt/status"

    sources_list "$1" "$2" "$apt/sources"

    cat >"$apt/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/sources";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Sandbox::User "";
END

    # an archive of the machine may have no sources: whether the wanted one
    # has is seen when it is asked for a package

    packages_apt "$apt/log" env LC_ALL=C apt-get -qq update || true
    : >"$apt/updated"
}


# sources_get TYPE SUITE PACKAGE: prints the folder or the file that was got.

sources_get()
(
    got=$SOURCES/$2/$1-$3

    if [ ! -d "$got" ]; then
        sources_apt "$1" "$2"

        rm -rf "$got.part"
        mkdir -p "$got.part"
        cd "$got.part" || exit 1

        sources_fetch "$1" "$3" 3>&2 >"$got.log" 2>&1 || {
            # the lists may be too old for what the archive has now
            rm -f "${APT_CONFIG%/*}/updated"
            sources_apt "$1" "$2"
            sources_fetch "$1" "$3" 3>&2 >"$got.log" 2>&1
        } || {
            tail -n 5 "${APT_CONFIG%/*}/log" "$got.log" >&2 || true
            sources_die "no $3 in suite $2"
        }

        mv "$got.part" "$got"
    fi

    case $1 in
        deb)      ls "$got"/*.deb ;;
        deb-src)  find "$got" -mindepth 1 -maxdepth 1 -type d ;;
    esac
)


# sources_fetch TYPE PACKAGE: the newest version that there is, into the current
# folder.  An archive may list one that it does not have; of a source package it
# may have the release without what the distribution adds, which then has to do.

sources_fetch()
{
    case $1 in
        deb)      get=download ;;
        deb-src)  get=source ;;
    esac

    for version in $(apt-cache madison "$2" | awk '{ print $3 }' | sort -rVu)
    do
        apt-get -qq "$get" "$2=$version" && return

        echo "sources.sh: the archive lists $2 $version, but lacks files" >&3

        if [ "$1" = deb-src ] && apt-get -qq --tar-only source "$2=$version"
        then
            echo "sources.sh: building its release, without patches" >&3
            tar -xf "$(find . -name '*.orig.tar.*z*' ! -name '*.asc')"
            sources_headers "$2"
            return
        fi
    done

    return 1
}


# sources_headers PACKAGE: the modules of the machine fit into a release of its
# nginx only with its headers.  A patch may have added a field to a structure.

sources_headers()
{
    release=$(packages_version nginx-dev)
    release=$PWD/nginx-${release%%-*}

    if [ "$1" = nginx ] && [ -d "$release" ]; then
        (cd /usr/share/nginx/src \
         && find src -name '*.h' -exec cp --parents -t "$release" {} +)
    fi
}


# sources_jemalloc SUITE: prints the library, configured as debian/rules does.
# A binary of another suite may want a newer libc than the machine has.

sources_jemalloc()
(
    tree=$(sources_get deb-src "$1" jemalloc)
    library=$tree/lib/libjemalloc.so.2

    if [ ! -f "$library" ]; then
        cd "$tree" || exit 1

        # the release has no git to ask, so the packager says it
        version=$(sed -n 's/.*echo "\([0-9.]*-[0-9]*-g[0-9a-f]*\)".*/\1/p' \
                      debian/rules)

        {
            autoconf &&
            ./configure --enable-prof --with-lg-page=12 --with-lg-hugepage=21 \
                --with-version="${version:-VERSION}" &&
            make -j "$(nproc)" build_lib_shared
        } >"$tree.log" 2>&1 || {
            tail -n 20 "$tree.log" >&2
            sources_die "jemalloc of suite $1 cannot be built"
        }
    fi

    echo "$library"
)
