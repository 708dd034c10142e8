# script.awk: the script of a page without what no browser needs: comments,
# blanks, the last ; or , before a bracket; with -v SHORTEN=1 its long names.
# t/405 proves that the program stays the same.
#
# It knows as much of the language as the scripts of src/web use.  They are read
# token by token; what begins at the left margin, a chunk, begins a line.
#
# The names of chunks become capitals; with -v NAMES=1 a list of them is all that
# comes.  Whatever else is a name in a chunk, or in a method of a class, and none
# of the browser's, is local to it and becomes a small letter, the same one all
# through it: eslint forbids one name for two things within each other.  Properties, methods and keys keep theirs: { a } becomes { a: b }.

BEGIN {
    keep("async await break case catch class const constructor continue else" \
         " extends false finally for function get if in instanceof let new" \
         " null of return super this throw true try typeof undefined void" \
         " while arguments window document location history navigator" \
         " localStorage performance console devicePixelRatio innerHeight" \
         " innerWidth atob btoa fetch matchMedia getComputedStyle" \
         " requestAnimationFrame setTimeout clearTimeout decodeURIComponent" \
         " encodeURIComponent parseInt" \
         " Array BigInt Blob Boolean Date DecompressionStream Error" \
         " Float32Array Float64Array Int32Array JSON Map Math Number Object" \
         " Promise RegExp ResizeObserver Set String TextDecoder URL" \
         " URLSearchParams Uint16Array Uint8Array")
}


{ tokenize($0) }


END {
    if (SHORTEN) {
        shorten()
    }

    if (NAMES) {
        for (word in top) print word, top[word]
        exit
    }

    for (i = 1; i <= n_tokens; i++) {
        if (text[i] text[i + 1] ~ /^(;\}|,\}|,\))$/) continue

        if (is_first[i] && i > 1) printf "\n"
        else if (last_letter(text[i - 1]) first_letter(text[i]) \
                 ~ /^([A-Za-z0-9_$][A-Za-z0-9_$]|\+\+|--)$/) printf " "
        printf "%s", text[i] == "const" ? "let" : text[i]
    }

    printf "\n"
}


function keep(words,    list, i, n)
{
    n = split(words, list, " ")
    for (i = 1; i <= n; i++) is_kept[list[i]] = 1
}


function last_letter(s)  { return substr(s, length(s)) }
function first_letter(s) { return substr(s, 1, 1) }


function tokenize(line,    n)
{
    begins = !is_comment && line ~ /^[a-z]/

    for (; line != ""; line = substr(line, n + 1)) {
        n = token(line)

        if (is_comment || line ~ /^\/\*/) {
            is_comment = substr(line, 1, n) !~ /\*\/$/
            continue
        }

        if (line ~ /^ / && !was_text) continue

        text[++n_tokens] = substr(line, 1, n)
        is_first[n_tokens] = begins
        begins = 0
    }
}


# The length of the token that S begins with.  In a template, text up to and
# with "${" or the end is one token, and so is what follows from "}" on.

function token(s)
{
    was_text = 0

    if (is_comment) {
        return match(s, /\*\//) ? RSTART + 1 : length(s)
    }

    if (match(s, /^([A-Za-z0-9_$]+|\+\+|--)/)) return RLENGTH
    if (match(s, /^\047([^\047\\]|\\.)*\047/)) return RLENGTH
    if (s ~ /^`/) return template(s)

    if (text[n_tokens] ~ /(^|[(,=:[!&|?{};>])$/ && s !~ /^\/\*/ \
        && match(s, /^\/([^\/\\[]|\\.|\[([^\]\\]|\\.)*\])+\/[a-z]*/))
    {
        return RLENGTH
    }

    if (s ~ /^\{/) depth++

    if (s ~ /^\}/) {
        if (n_templates > 0 && depth == depth_of[n_templates]) {
            n_templates--
            return template(s)
        }

        depth--
    }

    return 1
}


function template(s,    i, c)
{
    was_text = 1

    for (i = 2; i <= length(s); i++) {
        c = substr(s, i, 1)

        if (c == "\\") i++
        else if (c == "`") return i
        else if (substr(s, i, 2) == "${") {
            depth_of[++n_templates] = depth
            return i + 1
        }
    }

    return length(s)
}


function shorten(    i, word, scope, n_top, n_local)
{
    classify()

    for (i = 1; i <= n_tokens; i++) {
        if (is_top[i] && !(text[i] in top)) {
            top[text[i]] = top_name(n_top++)
        }
    }

    for (i = 1; i <= n_tokens; i++) {
        if (is_first[i] || is_method[i]) {
            n_local = 0
            scope++
        }

        if (!is_variable[i]) continue

        word = text[i]

        if (word in top) {
            text[i] = top[word]
        } else {
            if (!((scope, word) in local)) {
                local[scope, word] = local_name(n_local++)
            }

            text[i] = local[scope, word]
        }

        if (is_short[i]) text[i] = word ":" text[i]
    }
}


# Name N of a chunk: A to Z, then Aa to Az, Ba to Bz and so on.  Those of its
# variables are a to z, then a0 to z0.

function top_name(n)
{
    return n < 26 ? sprintf("%c", n + 65) \
                  : sprintf("%c%c", int(n / 26) + 64, n % 26 + 97)
}


function local_name(n)
{
    return sprintf("%c", n % 26 + 97) (n < 26 ? "" : int(n / 26) - 1)
}


# What each word is: by what it stands in (a class, an object or a pattern of
# one, anything else), before and behind.

function classify(    i, t, before, behind, level, in_what, is_class)
{
    for (i = 1; i <= n_tokens; i++) {
        t = text[i]
        before = is_first[i] ? "" : text[i - 1]
        behind = text[i + 1]

        if (t == "class") is_class = 1

        if (t ~ /^[[({]$/) {
            in_what[++level] = t != "{" ? "list" : is_class ? "class" \
                : before ~ /^(|[)>;{}]|else|try|catch|finally)$/ ? "block" \
                : "object"
            if (t == "{") is_class = 0
        }

        if (t ~ /^[])}]$/) level--

        is_method[i] = in_what[level] == "class" && behind == "("

        if (t !~ /^[A-Za-z_$]/ || t in is_kept || in_what[level] == "class" \
            || (before == "." && text[i - 2] != ".")) continue

        if (in_what[level] == "object" && before ~ /^[{,]$/) {
            if (behind ~ /^[:(]$/) continue
            is_short[i] = behind ~ /^[,}=]$/
        }

        is_variable[i] = 1
        is_top[i] = level == 0 \
            && before ~ /^(const|let|class|function|,)$/ \
            && behind ~ /^([=(;{]|extends)$/
    }
}
