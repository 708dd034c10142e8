
/*
 * The main() of a unit that only runs its tests.
 */


#ifndef _JPP_TEST_MAIN_H_INCLUDED_
#define _JPP_TEST_MAIN_H_INCLUDED_


#include "jpp_test.h"


int
main(void)
{
    jpp_tests_all();

    return jpp_done();
}


#endif /* _JPP_TEST_MAIN_H_INCLUDED_ */
