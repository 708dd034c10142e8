# script.awk: the script of a page without what no browser needs: comments,
# blanks, the last ; or , before a bracket, the second of two declarations; with
# -v SHORTEN=1 its long names.  t/405 proves that the program stays the same.
#
# It knows as much of the language as the scripts of src/web use.  They are read
# token by token; what begins at the left margin, a chunk, begins a line.
#
# What is a name, and none of the browser's, is a variable.  One that a chunk
# declares gets a capital or two letters; any other belongs to the smallest
# scope that has all its places, and gets the first letter that nothing else has
# there: eslint forbids one name for two things within each other.
#
# Properties become short where -v OWN="..." lists them.  The page must not read
# one of that name from an object of the browser's, nor by a string.  With
# -v NAMES=1 all that comes is a list of what became short.

BEGIN {
    keep("async await break case catch class const constructor continue do" \
         " else extends false finally for function get if in instanceof let" \
         " new null of return super this throw true try typeof undefined void" \
         " while arguments window document location history navigator" \
         " localStorage performance console devicePixelRatio innerHeight" \
         " innerWidth atob btoa fetch matchMedia getComputedStyle" \
         " requestAnimationFrame setTimeout clearTimeout decodeURIComponent" \
         " encodeURIComponent parseInt" \
         " Array BigInt Blob Boolean Date DecompressionStream Error" \
         " Float32Array Float64Array Int32Array JSON Map Math Number Object" \
         " Promise RegExp ResizeObserver Set String TextDecoder URL" \
         " URLSearchParams Uint16Array Uint8Array")

    n = split(OWN, own, " ")
    for (i = 1; i <= n; i++) is_own[own[i]] = 1

    LETTERS = "etnrsiaoludcpmhfgbvwxkyqjz"    # the frequent ones first
}


{ tokenize($0) }


END {
    if (SHORTEN) {
        shorten()
    }

    if (NAMES) {
        for (word in top) print word, top[word]
        for (word in property) print "." word, property[word]
        exit
    }

    write()
}


# One let declares what those that follow each other would.

function write(    i, level, declares)
{
    for (i = 1; i <= n_tokens; i++) {
        if (text[i] text[i + 1] ~ /^(;\}|,\}|,\))$/) continue

        if (opens(text[i])) declares[++level] = 0
        if (closes(text[i])) level--
        if (is_declaration(i)) declares[level] = 1

        if (text[i] == ";" && declares[level]) {
            declares[level] = is_declaration(i + 1) && !is_first[i + 1]
            if (declares[level]) text[++i] = ","
        }

        if (is_first[i] && i > 1) printf "\n"
        else if (last_letter(text[i - 1]) first_letter(text[i]) \
                 ~ /^([A-Za-z0-9_$][A-Za-z0-9_$]|\+\+|--)$/) printf " "
        printf "%s", (text[i] == "const" ? "let" : text[i])
    }

    printf "\n"
}


function keep(words,    list, i, n)
{
    n = split(words, list, " ")
    for (i = 1; i <= n; i++) is_kept[list[i]] = 1
}


function is_declaration(i)
{
    return text[i] ~ /^(let|const)$/ && text[i - 1] != "("
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
        && match(s, /^\/([^\/\\[]|\\.|\[([^]\\]|\\.)*\])+\/[a-z]*/))
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


function shorten(    i, k, n, word)
{
    classify()
    find_scopes()
    find_variables()

    n = rank(uses_of_own)
    for (i = 1; i <= n; i++) {
        while (own_name(k) in is_foreign) k++
        is_taken[property[ranked[i]] = own_name(k++)] = 1
    }

    n = rank(uses_of_top)
    for (i = 1; i <= n; i++) top[ranked[i]] = top_name(i - 1)

    name_variables(1)
    name_variables(0)

    for (i = 1; i <= n_tokens; i++) {
        word = text[i] in property ? property[text[i]] : text[i]

        if (!is_variable[i]) {
            text[i] = is_property[i] ? word : text[i]
            continue
        }

        text[i] = variable[i] == "" ? top[text[i]] : name[variable[i]]

        if (is_short[i] && text[i] != word) text[i] = word ":" text[i]
    }
}


# The words of COUNT, the frequent ones first, in ranked[].

function rank(count,    word, n, i)
{
    for (word in count) {
        for (i = ++n; i > 1 && precedes(word, ranked[i - 1], count); i--) {
            ranked[i] = ranked[i - 1]
        }

        ranked[i] = word
    }

    return n
}


function precedes(p, q, count)
{
    return count[p] > count[q] || (count[p] == count[q] && p < q)
}


function letter(n) { return substr(LETTERS, n % 26 + 1, 1) }


# Name N of what chunks declare: a capital, then two letters.

function top_name(n)
{
    return n < 26 ? toupper(letter(n)) : two_letters(n - 26)
}


function own_name(n)
{
    return n < 26 ? letter(n) : letter(n) letter(int(n / 26) - 1)
}


function local_name(n)
{
    return letter(n) (n < 26 ? "" : int(n / 26) - 1)
}


# Pair N of letters that is no word of the language, and no property: variables
# share the names of those.

function two_letters(n,    i, pair)
{
    for (i = 0; n >= 0; i++) {
        pair = letter(int(i / 26)) letter(i)
        if (!(pair in is_kept || pair in is_taken)) n--
    }

    return pair
}


# A scope has the number of its first token; end_of[] is its last.  Chunks,
# methods, arrow functions with their parameters, loops with their heads, and
# blocks are scopes.  scope[] is the smallest one of a token, around[] the
# smallest one around a scope.

function find_scopes(    i, n, s, open)
{
    for (i = 1; i <= n_tokens; i++) {
        if (closes(text[i])) {
            mate[open[n]] = i
            mate[i] = open[n--]
        }

        if (opens(text[i])) open[++n] = i

        if (i == 1 || is_first[i] || is_method[i]) {
            if (s) end_of[s] = i - 1
            s = i
        }
    }

    end_of[s] = n_tokens

    for (i = 1; i <= n_tokens; i++) {
        if (is_block[i]) {
            end_of[i] = mate[i]
        } else if (text[i] == "for") {
            end_of[i] = end_of_statement(mate[i + 1] + 1)
        } else if (text[i] text[i + 1] == "=>") {
            end_of[mate[i - 1]] = end_of_statement(i + 2)
            head_of[mate[i - 1]] = i - 1
        }
    }

    for (i = 1; i <= n_tokens; i++) {
        if (i == 1 || is_method[i] || is_first[i]) s = 0
        while (s && end_of[s] < i) s = around[s]

        if (i in end_of) {
            around[i] = s
            s = i
        }

        scope[i] = s
    }
}


# Of a template, text that ends in "${" opens, and text from "}" on closes.

function opens(t)  { return t ~ /^[[({]$/ || t ~ /^[`}].*\$\{$/ }
function closes(t) { return t ~ /^[])}]/ }


# The end of what begins at token I: a block, or what a ; a , or a bracket ends.

function end_of_statement(i)
{
    if (text[i] == "{") return mate[i]

    for (; text[i] !~ /^[;,]$/ && !closes(text[i]); i++) {
        if (opens(text[i])) {
            i = mate[i]
            while (opens(text[i])) i = mate[i]
        }
    }

    return i - 1
}


function has(outer, inner)
{
    return outer <= inner && end_of[inner] <= end_of[outer]
}


# variable[] of each place: the home of a variable and its word.  The home of a
# parameter of an arrow function is that; any other has one in a chunk.

function find_variables(    i, s, word, key, is_parameter)
{
    for (i = 1; i <= n_tokens; i++) {
        s = scope[i]
        if (is_top[i]) uses_of_top[text[i]] = 0

        if (is_variable[i] && i < head_of[s] && text[i - 1] != "=") {
            is_parameter[s, text[i]] = 1
        }
    }

    for (i = 1; i <= n_tokens; i++) {
        word = text[i]
        if (is_property[i] || is_short[i]) {
            if (word in is_own) uses_of_own[word]++
            else is_foreign[word] = 1
        }

        if (!is_variable[i]) continue

        if (word in uses_of_top) {
            uses_of_top[word]++
            continue
        }

        s = scope[i]
        while (around[s] && !((s, word) in is_parameter)) s = around[s]

        key = variable[i] = s SUBSEP word

        if (!(key in home)) {
            variables[++n_variables] = key
            home[key] = (s, word) in is_parameter ? s : scope[i]
        }

        while (!has(home[key], scope[i])) home[key] = around[home[key]]

        places[key] = places[key] " " i
        if (is_short[i] && word in is_own) shown[key] = word
    }
}


# The names of variables: at first of those that are read from a property of
# their own name, which they share if they can.

function name_variables(is_from_property,    i, n, key, short)
{
    for (i = 1; i <= n_variables; i++) {
        key = variables[i]
        if (key in name) continue

        if (is_from_property) {
            short = key in shown ? property[shown[key]] : ""
            if (short != "" && is_free(short, key)) take(short, key)
            continue
        }

        for (n = 0; !is_free(local_name(n), key); n++) { }
        take(local_name(n), key)
    }
}


function take(short, key)
{
    name[key] = short
    takers[short] = takers[short] "\n" key
}


function is_free(short, key,    i, n, other)
{
    n = split(takers[short], other, "\n")

    for (i = 2; i <= n; i++) {
        if (has(home[key], home[other[i]])) {
            if (is_in(home[other[i]], key)) return 0
        } else if (has(home[other[i]], home[key])) {
            if (is_in(home[key], other[i])) return 0
        }
    }

    return 1
}


# Has the variable KEY a place in scope S?

function is_in(s, key,    i, n, place)
{
    n = split(places[key], place, " ")

    for (i = 1; i <= n; i++) {
        if (s <= place[i] && place[i] <= end_of[s]) return 1
    }

    return 0
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
                : before ~ /^([)>;{}]|else|try|catch|finally)?$/ ? "block" \
                : "object"
            is_block[i] = in_what[level] == "block"
            if (t == "{") is_class = 0
        }

        if (t ~ /^[])}]$/) level--

        is_method[i] = in_what[level] == "class" && behind == "("

        if (t !~ /^[A-Za-z_$]/ || t in is_kept) continue

        is_property[i] = in_what[level] == "class" \
            || (before == "." && text[i - 2] != ".") \
            || (in_what[level] == "object" && before ~ /^[{,]$/ \
                && behind ~ /^[:(]$/)

        if (is_property[i]) continue

        is_short[i] = in_what[level] == "object" && before ~ /^[{,]$/ \
            && behind ~ /^[,}=]$/

        is_variable[i] = 1
        is_top[i] = level == 0 \
            && before ~ /^(const|let|class|function|,)$/ \
            && behind ~ /^([=(;{]|extends)$/
    }
}
