
/*
 * Text that is safe to show anywhere: printable ASCII.  Other bytes become
 * question marks, because names and paths are hostile input, and logs,
 * terminals and HTTP headers interpret different bytes.
 */


#ifndef _JPP_ASCII_H_INCLUDED_
#define _JPP_ASCII_H_INCLUDED_


static inline char
jpp_ascii(char c)
{
    return c >= 0x20 && c < 0x7f ? c : '?';
}


/* All of the string TEXT, in place. */
static inline void
jpp_ascii_clean(char *text)
{
    for ( /* void */ ; *text != '\0'; text++) {
        *text = jpp_ascii(*text);
    }
}


#endif /* _JPP_ASCII_H_INCLUDED_ */
