#!/bin/sh

# page.sh FOLDER: the page, the style of pictures, and style and script of the
# console in FOLDER, src/web, as C on stdout: macros of string literals.
#
# page.html has a line <!-- style --> and a line <!-- script -->, in whose
# places come page.css and the scripts, in the order below, without comments
# and indentation: who reads them reads src/web.  Where a line says
# <!-- policy -->, <!-- title --> or <!-- profiles -->, the page is cut: what
# comes there is jpp_html's to write.
#
# The hashes are those of the elements, as a Content-Security-Policy wants
# them: of all bytes between the tags.

set -eu

cd "$1"

SCRIPTS="page_profile.js page_rows.js page_tree.js page_draw.js page_table.js
    page.js page_acts.js"


# bare FILE...

bare()
{
    sed -e '/^ *\/\*.*\*\/$/d' -e '/^ *\/\*/,/\*\/$/d' -e 's/^ *//' \
        -e '/^$/d' "$@"
}


# hash FILE...

hash()
{
    octal=$({ echo; bare "$@"; } | sha256sum | cut -c -64 \
            | sed 's/../0x& /g' | xargs printf '\\0%03o')

    echo "sha256-$(printf %b "$octal" | base64)"
}


page()
{
    sed '/^<!-- style -->$/,$d' page.html
    bare page.css
    sed -e '1,/^<!-- style -->$/d' -e '/^<!-- script -->$/,$d' page.html
    # shellcheck disable=SC2086
    bare $SCRIPTS
    sed '1,/^<!-- script -->$/d' page.html
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

#define JPP_PAGE_STYLE_HASH    "$(hash page.css)"
#define JPP_PAGE_SCRIPT_HASH   "$(hash $SCRIPTS)"
#define JPP_PICTURE_HASH       "$(hash picture.css)"
#define JPP_CONSOLE_STYLE_HASH   "$(hash console.css)"
#define JPP_CONSOLE_SCRIPT_HASH  "$(hash console.js)"

/* the style of a picture */

#define JPP_PICTURE_STYLE "\\n" \\
$(bare picture.css | literals)

/* the style and the script of the console */

#define JPP_CONSOLE_STYLE "\\n" \\
$(bare console.css | literals)

#define JPP_CONSOLE_SCRIPT "\\n" \\
$(bare console.js | literals)

/* the parts of the page: up to its policy, title, profiles, and end */

#define JPP_PAGE_PARTS \\
$(page | literals)

END
