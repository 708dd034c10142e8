
#include "jpp_io.h"


/* one read(): small enough for progress to move */
#define JPP_IO_STEP       (4 * 1024 * 1024)

/* room for input without a size: a pipe */
#define JPP_IO_PIECE      (256 * 1024)

/* smaller files are read before anybody could see the progress */
#define JPP_IO_LARGE      (64 * 1024 * 1024)

#define JPP_IO_TEMPORARY  ".jemalloc-pprof.%d.%d"
#define JPP_IO_TRIES      100



/*
 * The target, links resolved, and the file beside it.  The latter's name is
 * set exactly while the file is there, as far as a signal can tell.
 */

static char  jpp_output_target[PATH_MAX];
static char  jpp_output_temporary[PATH_MAX + sizeof(JPP_IO_TEMPORARY) + 20];

static const int  jpp_output_signos[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };


/* PERCENT is what is shown, -1 for nothing; NULL: take it away. */

static void
jpp_input_progress(const jpp_input_t *input, const struct stat *st,
    int *percent)
{
    int  now;

    if (st->st_size < JPP_IO_LARGE || !S_ISREG(st->st_mode)
        || !isatty(STDERR_FILENO))
    {
        return;
    }

    if (percent == NULL) {
        (void) dprintf(STDERR_FILENO, "\r\033[K");
        return;
    }

    now = (int) (input->data->len * 100 / (size_t) st->st_size);

    if (now > 100) {
        now = 100;
    }

    if (now != *percent) {
        *percent = now;
        (void) dprintf(STDERR_FILENO, "\rreading %s: %d%%", input->name, now);
    }
}


/*
 * Reads to the end of the file, even if it grows: the size only says how much
 * room to make, with one byte more to see the end without growing.
 */

static jpp_code_t
jpp_input_drain(jpp_input_t *input, int fd, const struct stat *st,
    jpp_err_t *err)
{
    int         error, percent;
    size_t      room;
    ssize_t     n;
    uint8_t    *p;
    jpp_vec_t  *data;

    data = input->data;
    percent = -1;

    room = S_ISREG(st->st_mode) ? (size_t) st->st_size + 1 : JPP_IO_PIECE;

    if (jpp_vec_reserve(data, room) == NULL) {
        return jpp_err_memory(err);
    }

    do {
        room = data->size - data->len;

        if (room == 0) {
            room = JPP_IO_PIECE;
        }

        p = jpp_vec_reserve(data, room);

        if (p == NULL) {
            return jpp_err_memory(err);
        }

        n = read(fd, p, room < JPP_IO_STEP ? room : JPP_IO_STEP);

        if (n == -1 && errno != EINTR) {
            error = errno;
            jpp_input_progress(input, st, NULL);

            return jpp_err_sys(err, error, "cannot be read");
        }

        if (n > 0) {
            data->len += (size_t) n;
        }

        jpp_input_progress(input, st, n == 0 ? NULL : &percent);

    } while (n != 0);

    return JPP_OK;
}


jpp_code_t
jpp_input_read(jpp_input_t *input, jpp_arena_t *arena, jpp_err_t *err)
{
    int              fd;
    jpp_code_t       rc;
    struct stat      st;
    struct timespec  ts;

    input->name = input->path;
    fd = STDIN_FILENO;

    if (strcmp(input->path, "-") == 0) {
        input->name = "stdin";

    } else {
        fd = open(input->path, O_RDONLY|O_CLOEXEC|O_NOCTTY);
    }

    if (fd == -1 || fstat(fd, &st) == -1) {
        return jpp_err_sys(err, errno, "cannot be opened");
    }

    (void) clock_gettime(CLOCK_REALTIME, &ts);

    if (S_ISREG(st.st_mode)) {
        ts = st.st_mtim;
    }

    input->mtime = ts.tv_sec * JPP_SECOND + ts.tv_nsec;
    input->data = jpp_vec_create(arena);

    rc = input->data != NULL ? jpp_input_drain(input, fd, &st, err)
                             : jpp_err_memory(err);

    if (fd != STDIN_FILENO) {
        (void) close(fd);
    }

    return rc;
}


static jpp_code_t
jpp_output_straight(jpp_output_t *output, const char *path, jpp_err_t *err)
{
    output->fd = open(path, O_WRONLY|O_CLOEXEC|O_NOCTTY);

    return output->fd != -1 ? JPP_OK
                            : jpp_err_sys(err, errno, "cannot be written");
}


/* The second one, raised here, meets SA_RESETHAND's default and ends us. */

static void
jpp_output_signal(int signo)
{
    if (jpp_output_temporary[0] != '\0') {
        (void) unlink(jpp_output_temporary);
    }

    (void) raise(signo);
}


/* What was ignored from the start, as under nohup, stays ignored. */

static void
jpp_output_signals(void)
{
    size_t            i;
    struct sigaction  sa, old;

    memset(&sa, 0, sizeof(struct sigaction));

    sa.sa_handler = jpp_output_signal;
    sa.sa_flags = SA_RESETHAND;
    (void) sigfillset(&sa.sa_mask);

    for (i = 0; i < sizeof(jpp_output_signos) / sizeof(int); i++) {

        if (sigaction(jpp_output_signos[i], NULL, &old) == 0
            && old.sa_handler != SIG_IGN)
        {
            (void) sigaction(jpp_output_signos[i], &sa, NULL);
        }
    }
}


static void
jpp_output_block(sigset_t *old)
{
    size_t    i;
    sigset_t  set;

    (void) sigemptyset(&set);

    for (i = 0; i < sizeof(jpp_output_signos) / sizeof(int); i++) {
        (void) sigaddset(&set, jpp_output_signos[i]);
    }

    (void) sigprocmask(SIG_BLOCK, &set, old);
}


static jpp_code_t
jpp_output_beside(jpp_output_t *output, jpp_err_t *err)
{
    int          i, error, folder;
    sigset_t     old;
    const char  *slash;

    slash = strrchr(jpp_output_target, '/');
    folder = slash != NULL ? (int) (slash + 1 - jpp_output_target) : 0;

    jpp_output_signals();
    jpp_output_block(&old);

    i = 0;

    do {
        (void) snprintf(jpp_output_temporary, sizeof(jpp_output_temporary),
                        "%.*s" JPP_IO_TEMPORARY, folder, jpp_output_target,
                        (int) getpid(), i);

        output->fd = open(jpp_output_temporary,
                          O_WRONLY|O_CREAT|O_EXCL|O_CLOEXEC|O_NOFOLLOW, 0666);
        error = errno;

    } while (output->fd == -1 && error == EEXIST && ++i < JPP_IO_TRIES);

    if (output->fd == -1) {
        jpp_output_temporary[0] = '\0';
    }

    (void) sigprocmask(SIG_SETMASK, &old, NULL);

    if (output->fd == -1) {
        return jpp_err_sys(err, error, "cannot create a file in its directory");
    }

    output->is_temporary = true;

    return JPP_OK;
}


jpp_code_t
jpp_output_open(jpp_output_t *output, const char *path, jpp_err_t *err)
{
    struct stat  st, out;

    output->name = path;
    output->fd = STDOUT_FILENO;
    output->is_temporary = false;

    if (path == NULL || strcmp(path, "-") == 0) {
        output->name = "stdout";
        return JPP_OK;
    }

    if (stat(path, &st) == 0) {

        if (!S_ISREG(st.st_mode)) {
            return jpp_output_straight(output, path, err);
        }

        /* "-o /dev/stdout > FILE": not a name to be taken by a new file */

        if (fstat(STDOUT_FILENO, &out) == 0 && out.st_ino == st.st_ino
            && out.st_dev == st.st_dev)
        {
            return JPP_OK;
        }

        /* a link stays, and its target is replaced */

        if (realpath(path, jpp_output_target) == NULL) {
            return jpp_err_sys(err, errno, "cannot be written");
        }

        return jpp_output_beside(output, err);
    }

    if (errno != ENOENT) {
        return jpp_err_sys(err, errno, "cannot be written");
    }

    if (lstat(path, &st) == 0) {
        return jpp_err_set(err, JPP_ERR_WRITE,
                           "a symbolic link to a file that does not exist");
    }

    /* stat() has refused longer ones */

    (void) snprintf(jpp_output_target, PATH_MAX, "%s", path);

    return jpp_output_beside(output, err);
}


int
jpp_output_write(void *ctx, const uint8_t *data, size_t len)
{
    ssize_t        n;
    jpp_output_t  *output;

    output = ctx;

    while (len != 0) {

        n = write(output->fd, data, len);

        if (n == -1) {

            if (errno == EINTR) {
                continue;
            }

            return errno;
        }

        data += n;
        len -= (size_t) n;
    }

    return 0;
}


void
jpp_output_discard(jpp_output_t *output)
{
    if (output->is_temporary) {
        (void) unlink(jpp_output_temporary);
        output->is_temporary = false;
    }

    if (output->fd > STDERR_FILENO) {
        (void) close(output->fd);
    }
}


jpp_code_t
jpp_output_commit(jpp_output_t *output, jpp_err_t *err)
{
    int       error;
    sigset_t  old;

    jpp_output_block(&old);

    error = 0;

    /* some file systems report a full disk only now */

    if (close(output->fd) == -1 && errno != EINTR) {
        error = errno;
    }

    output->fd = -1;

    if (error == 0 && output->is_temporary
        && rename(jpp_output_temporary, jpp_output_target) == -1)
    {
        error = errno;
    }

    if (error == 0) {
        output->is_temporary = false;
        jpp_output_temporary[0] = '\0';
    }

    (void) sigprocmask(SIG_SETMASK, &old, NULL);

    if (error != 0) {
        jpp_output_discard(output);
        return jpp_err_sys(err, error, "the report cannot be written");
    }

    return JPP_OK;
}
