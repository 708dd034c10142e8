
/*
 * What the test says: the file, its keys, and what holds without them.
 */


#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jpp_fake.h"


/*
 * opt.prof_unbias, say, is not among them: nobody asks, and what is not here
 * cannot be read.
 */

const jpp_fake_control_t  jpp_fake_controls[] = {
    { "version",                   JPP_FAKE_STRING,   "5.3.0-0-g54eaed1d" },
    { "config.prof",               JPP_FAKE_BOOL,     "1" },
    { "opt.prof",                  JPP_FAKE_BOOL,     "1" },
    { "opt.prof_accum",            JPP_FAKE_BOOL,     "0" },
    { "opt.prof_final",            JPP_FAKE_BOOL,     "0" },
    { "opt.prof_leak_error",       JPP_FAKE_BOOL,     "0" },
    { "opt.prof_thread_active_init", JPP_FAKE_BOOL,   "1" },
    { "opt.prof_sys_thread_name",  JPP_FAKE_BOOL,     "0" },
    { "opt.lg_prof_interval",      JPP_FAKE_SSIZE_T,  "-1" },
    { "prof.active",               JPP_FAKE_BOOL,     "1" },
    { "prof.gdump",                JPP_FAKE_BOOL,     "0" },
    { "prof.lg_sample",            JPP_FAKE_SIZE_T,   "19" },
    { "epoch",                     JPP_FAKE_U64,      "1" },
    { "stats.allocated",           JPP_FAKE_SIZE_T,   "1000000" },
    { "stats.active",              JPP_FAKE_SIZE_T,   "2000000" },
    { "stats.metadata",            JPP_FAKE_SIZE_T,   "3000000" },
    { "stats.resident",            JPP_FAKE_SIZE_T,   "4000000" },
    { "stats.mapped",              JPP_FAKE_SIZE_T,   "5000000" },
    { "stats.retained",            JPP_FAKE_SIZE_T,   "6000000" },
    { NULL,                        JPP_FAKE_BOOL,     NULL }
};


pthread_mutex_t     jpp_fake_mutex = PTHREAD_MUTEX_INITIALIZER;
jpp_fake_written_t  jpp_fake_written = { -1, -1, 0 };

static char         jpp_fake_last[JPP_FAKE_SIZE];


void
jpp_fake_read(jpp_fake_t *fake)
{
    int          fd, saved;
    size_t       len;
    ssize_t      n;
    const char  *path;

    len = 0;
    saved = errno;
    path = getenv("JPP_FAKE");

    (void) pthread_mutex_lock(&jpp_fake_mutex);

    fd = path != NULL ? open(path, O_RDONLY|O_CLOEXEC) : -1;

    if (fd != -1) {
        n = read(fd, jpp_fake_last, sizeof(jpp_fake_last) - 1);
        jpp_fake_last[n > 0 ? n : 0] = '\0';
        (void) close(fd);
    }

    /* the first of two lines counts */

    if (jpp_fake_written.active != -1) {
        len += (size_t) sprintf(fake->text, "prof.active %d\n",
                                jpp_fake_written.active);
    }

    if (jpp_fake_written.lg_sample != -1) {
        len += (size_t) sprintf(fake->text + len, "prof.lg_sample %d\n",
                                jpp_fake_written.lg_sample);
    }

    strcpy(fake->text + len, jpp_fake_last);

    (void) pthread_mutex_unlock(&jpp_fake_mutex);

    errno = saved;
}


const char *
jpp_fake_get(jpp_fake_t *fake, const char *key, char value[JPP_FAKE_SIZE])
{
    size_t                     len, rest;
    const char                *line;
    const jpp_fake_control_t  *control;

    len = strlen(key);

    for (line = fake->text; *line != '\0'; line += rest + (line[rest] != '\0'))
    {
        rest = strcspn(line, "\n");

        if (rest > len && memcmp(line, key, len) == 0 && line[len] == ' ') {
            memcpy(value, line + len + 1, rest - len - 1);
            value[rest - len - 1] = '\0';
            return value;
        }
    }

    for (control = jpp_fake_controls; control->name != NULL; control++) {
        if (strcmp(key, control->name) == 0) {
            return control->value;
        }
    }

    return NULL;
}


long long
jpp_fake_number(jpp_fake_t *fake, const char *key, long long otherwise)
{
    char         buffer[JPP_FAKE_SIZE];
    const char  *value;

    value = jpp_fake_get(fake, key, buffer);

    return value != NULL ? strtoll(value, NULL, 10) : otherwise;
}


bool
jpp_fake_is(jpp_fake_t *fake, const char *key)
{
    return jpp_fake_number(fake, key, 0) != 0;
}
