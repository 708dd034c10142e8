#!/bin/sh

# page.sh FOLDER: the page, the style of pictures, and style and script of the
# console in FOLDER, src/web, as C on stdout: macros of string literals.
#
# page.html has a line <!-- style --> and a line <!-- script -->, in whose
# places come page.css and the scripts, in the order below.  Comments that have
# lines of their own, empty lines and indents are left out; all else is served
# as it stands in src/web.  So no string or template may span lines, and
# t/page/source.t sees to that.  At <!-- policy -->, <!-- title --> and
# <!-- profiles --> the page is cut: jpp_html writes what belongs there.
#
# The hashes are those of the elements, as a Content-Security-Policy wants
# them: of all bytes between the tags.

set -eu

cd "$1"

SCRIPTS="page_profile.js page_text.js page_rows.js page_tree.js page_draw.js
    page_table.js page.js page_files.js page_acts.js"


# code FILE...: styles or scripts without comments and indents

code()
{
    sed -e 's/^ *//' -e '/^$/d' -e '/^\/\*.*\*\/$/d' -e '/^\/\*/,/\*\/$/d' "$@"
}


# hash FILE...: of all bytes between the tags

hash()
{
    octal=$({ echo; code "$@"; } | sha256sum | cut -c -64 \
            | sed 's/../0x& /g' | xargs printf '\\0%03o')

    echo "sha256-$(printf %b "$octal" | base64)"
}


# html SED-SCRIPT: the lines of page.html that it leaves

html()
{
    sed -e "$1" -e 's/^ *//' page.html
}


page()
{
    html '/^<!-- style -->$/,$d'
    code page.css
    html '1,/^<!-- style -->$/d; /^<!-- script -->$/,$d'
    # shellcheck disable=SC2086
    code $SCRIPTS
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
/* Made by tools/page.sh of src/web: do not edit. */

#define JPP_PAGE_STYLE_HASH      "$(hash page.css)"
#define JPP_PAGE_SCRIPT_HASH     "$(hash $SCRIPTS)"
#define JPP_PICTURE_HASH         "$(hash picture.css)"
#define JPP_CONSOLE_STYLE_HASH   "$(hash console.css)"
#define JPP_CONSOLE_SCRIPT_HASH  "$(hash console.js)"

/* the style of a picture */

#define JPP_PICTURE_STYLE "\\n" \\
$(code picture.css | literals)

/* the style and the script of the console */

#define JPP_CONSOLE_STYLE "\\n" \\
$(code console.css | literals)

#define JPP_CONSOLE_SCRIPT "\\n" \\
$(code console.js | literals)

/* the parts of the page: up to its policy, title, profiles, and end */

#define JPP_PAGE_PARTS \\
$(page | literals)

END
