
/*
 * A dump: what comes before it, which one it is, and where it ends.
 */


#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jpp_fake.h"


#define JPP_FAKE_MAPS    "\nMAPPED_LIBRARIES:\n"


static void
jpp_fake_write(jpp_fake_t *fake, jpp_fake_out_t *out)
{
    bool         has_maps;
    char         buffer[JPP_FAKE_SIZE];
    unsigned     lg_sample;
    const char  *path;

    lg_sample = (unsigned) jpp_fake_number(fake, "prof.lg_sample", 19) & 63;
    path = jpp_fake_get(fake, "dump", buffer);
    has_maps = false;

    if (path != NULL) {
        jpp_fake_copy(out, path);

    } else if (jpp_fake_is(fake, "garbage")) {
        jpp_fake_garbage(out, jpp_fake_number(fake, "garbage", 0));

    } else if (jpp_fake_is(fake, "empty")) {
        return;

    } else if (jpp_fake_is(fake, "large")) {
        jpp_fake_large(out, jpp_fake_number(fake, "large", 0) * 1000000,
                       lg_sample);
        has_maps = true;

    } else {
        jpp_fake_three(out, lg_sample);
        has_maps = true;
    }

    if (jpp_fake_number(fake, "maps", has_maps) != 0) {
        jpp_fake_bytes(out, JPP_FAKE_MAPS, sizeof(JPP_FAKE_MAPS) - 1);
        jpp_fake_copy(out, "/proc/self/maps");
    }
}


static int
jpp_fake_dump_to(jpp_fake_t *fake, const char *path)
{
    int              fd, number;
    jpp_fake_out_t   out;

    number = (int) jpp_fake_number(fake, "fail", 0);

    if (number != 0) {
        errno = number;
        return EFAULT;
    }

    fd = creat(path, 0644);

    if (fd == -1) {
        return EFAULT;
    }

    out.file = fdopen(fd, "w");

    if (out.file == NULL) {
        (void) close(fd);
        return EFAULT;
    }

    out.left = jpp_fake_number(fake, "cut", INT64_MAX);

    jpp_fake_write(fake, &out);

    /* a disk that is full is overlooked, as jemalloc 5.3.0 does */

    (void) fclose(out.file);

    return 0;
}


static void
jpp_fake_hang(const char *seconds)
{
    double           time;
    struct timespec  rest;

    time = strtod(seconds, NULL);

    rest.tv_sec = (time_t) time;
    rest.tv_nsec = (long) ((time - (double) rest.tv_sec) * 1e9);

    /* a signal, which a worker gets many of, does not end it */

    while (nanosleep(&rest, &rest) == -1 && errno == EINTR) { /* void */ }
}


/* Until the test says otherwise, which it may do at any moment. */

static void
jpp_fake_hold(void)
{
    jpp_fake_t  fake;

    do {
        jpp_fake_hang("0.005");
        jpp_fake_read(&fake);
    } while (jpp_fake_is(&fake, "hold"));
}


/* Where that cannot be written it is missing: errno stays as it is. */

static void
jpp_fake_log(jpp_fake_t *fake, const char *what)
{
    int          fd, saved;
    char         buffer[JPP_FAKE_SIZE];
    const char  *path;

    saved = errno;
    path = jpp_fake_get(fake, "log", buffer);
    fd = path != NULL ? open(path, O_WRONLY|O_CREAT|O_APPEND|O_CLOEXEC, 0666)
                      : -1;

    if (fd != -1) {

        /* the master is another user than its workers */

        (void) fchmod(fd, 0666);
        (void) dprintf(fd, "%d %s\n", (int) getpid(), what);
        (void) close(fd);
    }

    errno = saved;
}


int
jpp_fake_dump(jpp_fake_t *fake, const char *path)
{
    int          rc;
    char         buffer[JPP_FAKE_SIZE];
    const char  *seconds;

    jpp_fake_log(fake, "begins");

    seconds = jpp_fake_get(fake, "hang", buffer);

    if (seconds != NULL) {
        jpp_fake_hang(seconds);
    }

    if (jpp_fake_is(fake, "hold")) {
        jpp_fake_hold();
    }

    rc = jpp_fake_dump_to(fake, path);

    jpp_fake_log(fake, "ends");

    return rc;
}
