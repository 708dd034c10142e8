
/*
 * The objects that a table holds (jpp_images_unwind()), let go for a moment:
 * what others have closed meanwhile is unloaded then, and its destructors run.
 *
 * For the main thread, and for the one that adds to the table; outside signals.
 */


#ifndef _JPP_RENEW_H_INCLUDED_
#define _JPP_RENEW_H_INCLUDED_


#include "jpp_mapped.h"


/*
 * Let go of the objects that OBJECTS has, and forget them.  If IS_USED, those
 * that are still loaded then are held again at once, and those that stay are
 * left alone.  While somebody reads any of them nothing is let go.  True: some
 * are forgotten, and what was derived from them has to be.
 */
bool jpp_renew(jpp_mapped_t *objects, bool is_used);


#endif /* _JPP_RENEW_H_INCLUDED_ */
