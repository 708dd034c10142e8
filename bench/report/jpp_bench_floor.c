
#include <string.h>

#include "jpp_bench.h"


/*
 * The floor's first half: " 0x" and digits, eight at a time where there are
 * twelve, as nearly always; nothing is checked.  Returns what depends on
 * every digit, so that the compiler cannot leave anything out.
 */

uint64_t
jpp_bench_parse(const char *p, const char *end)
{
    uint64_t  word, address, hash, sum;
    unsigned  digit;

    sum = 0;

    while ((p = memchr(p, '\n', (size_t) (end - p))) != NULL) {

        if (*++p != '@') {

            if (*p == '\n') {
                break;
            }

            continue;
        }

        hash = 0;

        for (p++; *p == ' '; /* void */ ) {
            p += 3;

            memcpy(&word, p, 8);

            word = (word & 0x0f0f0f0f0f0f0f0f)
                   + (word >> 6 & 0x0101010101010101) * 9;
            word = (word << 4 | word >> 8) & 0x00ff00ff00ff00ff;
            word = (word << 8 | word >> 16) & 0x0000ffff0000ffff;
            address = (word << 16 | word >> 32) & 0xffffffff;

            if (p[12] == ' ' || p[12] == '\n') {
                memcpy(&word, p + 4, 8);
                word >>= 32;

                word = (word & 0x0f0f0f0f) + (word >> 6 & 0x01010101) * 9;
                word = (word << 4 | word >> 8) & 0x00ff00ff;
                address = address << 16 | ((word << 8 | word >> 16) & 0xffff);
                p += 12;

            } else {
                for (address = 0; *p > ' '; p++) {
                    digit = (unsigned) *p;
                    digit = (digit & 0xf) + (digit >> 6) * 9;
                    address = address << 4 | digit;
                }
            }

            hash = (hash ^ address) * 0x9e3779b97f4a7c15;
        }

        sum += hash ^ hash >> 32;
    }

    return sum;
}
