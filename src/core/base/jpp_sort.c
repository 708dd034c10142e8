
/*
 * Heapsort: n log n at worst, whatever the input, and no memory.
 */


#include "jpp_index.h"


static void
jpp_sort_swap(uint8_t *a, uint8_t *b, size_t size)
{
    uint8_t   byte;
    uint64_t  x, y;

    for ( /* void */ ; size >= 8; size -= 8, a += 8, b += 8) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        memcpy(a, &y, 8);
        memcpy(b, &x, 8);
    }

    for ( /* void */ ; size != 0; size--, a++, b++) {
        byte = *a;
        *a = *b;
        *b = byte;
    }
}


static void
jpp_sort_sift(uint8_t *base, size_t root, size_t n, size_t size,
    jpp_sort_cmp_pt cmp, void *ctx)
{
    size_t  child;

    while ((child = 2 * root + 1) < n) {

        if (child + 1 < n
            && cmp(base + child * size, base + (child + 1) * size, ctx) < 0)
        {
            child++;
        }

        if (cmp(base + root * size, base + child * size, ctx) >= 0) {
            return;
        }

        jpp_sort_swap(base + root * size, base + child * size, size);
        root = child;
    }
}


void
jpp_sort(void *base, size_t n, size_t size, jpp_sort_cmp_pt cmp, void *ctx)
{
    size_t    i;
    uint8_t  *first;

    first = base;

    for (i = n / 2; i > 0; i--) {
        jpp_sort_sift(first, i - 1, n, size, cmp, ctx);
    }

    for (i = n; i > 1; i--) {
        jpp_sort_swap(first, first + (i - 1) * size, size);
        jpp_sort_sift(first, 0, i - 1, size, cmp, ctx);
    }
}
