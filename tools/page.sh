#!/bin/sh

# page.sh FOLDER: the page, the style of pictures, and style and script of the
# console in FOLDER, src/web, as C on stdout: macros of string literals.
#
# page.html has a line <!-- style --> and a line <!-- script -->, in whose
# places come page.css and the scripts, in the order below.  All of them lose
# what no browser needs: comments, blanks, quotes of values that are one word,
# and the script of the page its long names (see script.awk); t/405 proves that
# the program is the same.  Who reads it reads src/web.  Where a line says
# <!-- policy -->, <!-- title --> or <!-- profiles -->, the page is cut: what
# comes there is jpp_html's to write.
#
# The hashes are those of the elements, as a Content-Security-Policy wants
# them: of all bytes between the tags.

set -eu

tools=$(cd "$(dirname "$0")" && pwd)

cd "$1"

SCRIPTS="page_profile.js page_rows.js page_tree.js page_draw.js page_table.js
    page.js page_files.js page_acts.js"

# properties that are the page's own: they become short

PROPERTIES="after base before best boxes change changeOf char child childrenOf
    choice choices clicked column comments cum depth duration each failures
    fills finish first frame ground heading hide ids ignore int isBusy
    isDifference isForced isMoved isNoise isSpace isSplit isUp kinds labels
    last line list modules names next node numbers ofMemory origin owner
    ownerOf owners palette parent period place placed profile reach root
    roots row rows scale scene seen sets shown skip slots span spend stack
    stacks timer took totals tree trees turn types unit variance view wait
    widths"


# style FILE

style()
{
    sed -e 's/^ *\/\*.*\*\/$//' -e 's/: /:/g' "$1" | tr -s '\n ' ' ' \
        | sed -e 's/^ //' -e 's/ *\([{};,]\) */\1/g' -e 's/;}/}/g'
    echo
}


# script FILE...: of the page, with short names, or of the console

script()
{
    case "$*" in
        console.js) awk -f "$tools/script.awk" "$@" ;;
        *) shorten "$@" ;;
    esac
}


# shorten [-v NAMES=1] FILE...

shorten()
{
    awk -v SHORTEN=1 -v OWN="$(echo "$PROPERTIES" | tr '\n' ' ')" \
        -f "$tools/script.awk" "$@"
}


# hash HOW FILE...

hash()
{
    octal=$({ echo; "$@"; } | sha256sum | cut -c -64 \
            | sed 's/../0x& /g' | xargs printf '\\0%03o')

    echo "sha256-$(printf %b "$octal" | base64)"
}


# html SED-SCRIPT: the lines of page.html that it leaves

html()
{
    sed -e "$1" -e 's/^ *//' -e '/Security/! s/="\([a-z0-9-]*\)"/=\1/g' \
        page.html
}


page()
{
    html '/^<!-- style -->$/,$d'
    style page.css
    html '1,/^<!-- style -->$/d; /^<!-- script -->$/,$d'
    # shellcheck disable=SC2086
    script $SCRIPTS
    html '1,/^<!-- script -->$/d'
}


literals()
{
    sed -e '/^<!-- [a-z]* -->$/ s/.*/, \\/; t' \
        -e 's/\\/\\\\/g; s/"/\\"/g; s/??/?\\?/g; s/.*/"&\\n" \\/'
    echo
}


# shellcheck disable=SC2086
cat <<END
/*
 * Made by tools/page.sh of src/web: do not edit.  The names of its script, for
 * those who look into a page:
 *
$(shorten -v NAMES=1 $SCRIPTS | sort | sed 's/^/ * /')
 */

#define JPP_PAGE_STYLE_HASH      "$(hash style page.css)"
#define JPP_PAGE_SCRIPT_HASH     "$(hash script $SCRIPTS)"
#define JPP_PICTURE_HASH         "$(hash style picture.css)"
#define JPP_CONSOLE_STYLE_HASH   "$(hash style console.css)"
#define JPP_CONSOLE_SCRIPT_HASH  "$(hash script console.js)"

/* the style of a picture */

#define JPP_PICTURE_STYLE "\\n" \\
$(style picture.css | literals)

/* the style and the script of the console */

#define JPP_CONSOLE_STYLE "\\n" \\
$(style console.css | literals)

#define JPP_CONSOLE_SCRIPT "\\n" \\
$(script console.js | literals)

/* the parts of the page: up to its policy, title, profiles, and end */

#define JPP_PAGE_PARTS \\
$(page | literals)

END
