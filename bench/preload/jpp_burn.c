
/*
 * Functions that burn the CPU time that they are told, and no more: what a
 * profile shows for them is right or wrong.  Lua calls jpp_burn() by its FFI.
 */


#include <stdint.h>
#include <time.h>


/* times 10 us, one turn */
#define JPP_BURN_UNIT  10000


void jpp_burn(unsigned one, unsigned two, unsigned three, unsigned turns);


static volatile uint64_t  jpp_burn_sum;


static uint64_t
jpp_burn_now(void)
{
    struct timespec  ts;

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}


static inline __attribute__((always_inline)) void
jpp_burn_until(uint64_t end)
{
    unsigned  i;

    while (jpp_burn_now() < end) {
        for (i = 0; i < 500; i++) {
            jpp_burn_sum += 3 * i;
        }
    }
}


static __attribute__((noinline)) void
jpp_burn_one(uint64_t end)
{
    jpp_burn_until(end);
}


static __attribute__((noinline)) void
jpp_burn_two(uint64_t end)
{
    jpp_burn_until(end);
}


static __attribute__((noinline)) void
jpp_burn_three(uint64_t end)
{
    jpp_burn_until(end);
}


/*
 * TURNS of ONE, TWO and THREE units in the functions of these names.  The
 * moments at which one ends do not depend on when the one before it did: what
 * a preemption takes longer is made up for.
 */

void
jpp_burn(unsigned one, unsigned two, unsigned three, unsigned turns)
{
    uint64_t  end;

    end = jpp_burn_now();

    while (turns-- > 0) {
        jpp_burn_one(end += (uint64_t) one * JPP_BURN_UNIT);
        jpp_burn_two(end += (uint64_t) two * JPP_BURN_UNIT);
        jpp_burn_three(end += (uint64_t) three * JPP_BURN_UNIT);
    }
}
