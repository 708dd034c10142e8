
#include <time.h>

#include "jpp_status_time.h"


/* 9999-12-31T23:59:59Z: ISO 8601 knows no later year */
#define JPP_STATUS_LAST    253402300799


const char *
jpp_status_time(int64_t seconds, char text[JPP_STATUS_TIME])
{
    time_t     t;
    struct tm  tm;

    t = (time_t) (seconds < 0 ? 0 : seconds);

    if (t > JPP_STATUS_LAST) {
        t = JPP_STATUS_LAST;
    }

    (void) gmtime_r(&t, &tm);

    (void) strftime(text, JPP_STATUS_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm);

    return text;
}
