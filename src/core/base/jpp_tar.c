
/*
 * Writes and reads tar archives (ustar, POSIX.1-1988).
 *
 *     archive := *member 1024*NUL
 *     member  := header:512 data, filled up with NULs to a multiple of 512
 *     header  := name:100 mode:8 uid:8 gid:8 size:12 mtime:12 chksum:8
 *                typeflag:1 linkname:100 "ustar" NUL "00" ...
 *
 * Numbers are octal.  The checksum is the sum of the header's bytes, with
 * blanks in its own place.
 */


#include "jpp_sink.h"
#include "jpp_units.h"


#define JPP_TAR_BLOCK  512


typedef struct {
    char  name[JPP_TAR_NAME];
    char  mode[8];
    char  uid[8];
    char  gid[8];
    char  size[12];
    char  mtime[12];
    char  chksum[8];
    char  typeflag;
    char  linkname[100];
    char  magic[8];
    char  rest[247];
} jpp_tar_header_t;

_Static_assert(sizeof(jpp_tar_header_t) == JPP_TAR_BLOCK, "a header");


static const uint8_t  jpp_tar_zeros[2 * JPP_TAR_BLOCK];


static unsigned
jpp_tar_sum(const jpp_tar_header_t *header)
{
    unsigned        sum;
    const uint8_t  *p;

    sum = 0;

    jpp_each(p, (const uint8_t *) header, JPP_TAR_BLOCK) {
        sum += *p;
    }

    jpp_each(p, (const uint8_t *) header->chksum, sizeof(header->chksum)) {
        sum += ' ' - *p;
    }

    return sum;
}


void
jpp_tar_add(jpp_sink_t *sink, const char *name, int64_t time,
    const void *data, size_t len)
{
    jpp_tar_header_t  header;

    memset(&header, 0, sizeof(header));

    (void) snprintf(header.name, sizeof(header.name), "%s", name);
    (void) snprintf(header.mode, sizeof(header.mode), "0000600");
    (void) snprintf(header.uid, sizeof(header.uid), "0000000");
    (void) snprintf(header.gid, sizeof(header.gid), "0000000");
    (void) snprintf(header.size, sizeof(header.size), "%011zo",
                    (size_t) jpp_smaller(len, 077777777777));
    (void) snprintf(header.mtime, sizeof(header.mtime), "%011" PRIo64,
                    (uint64_t) (time > 0 ? time : 0) & 077777777777);
    memcpy(header.magic, "ustar\0" "00", sizeof(header.magic));
    header.typeflag = '0';

    (void) snprintf(header.chksum, sizeof(header.chksum), "%06o",
                    jpp_tar_sum(&header));
    header.chksum[7] = ' ';

    jpp_sink_write(sink, &header, sizeof(header));
    jpp_sink_write(sink, data, len);
    jpp_sink_write(sink, jpp_tar_zeros, -len % JPP_TAR_BLOCK);
}


void
jpp_tar_end(jpp_sink_t *sink)
{
    jpp_sink_write(sink, jpp_tar_zeros, sizeof(jpp_tar_zeros));
}


void
jpp_tar_init(jpp_tar_t *tar, const uint8_t *data, size_t len)
{
    tar->pos = data;
    tar->end = data + len;
}


/* An octal number, up to a blank or a NUL; false: it is none. */

static bool
jpp_tar_number(const char *digits, size_t len, uint64_t *number)
{
    size_t  i;

    *number = 0;

    for (i = 0; i < len && digits[i] >= '0' && digits[i] <= '7'; i++) {
        *number = *number * 8 + (uint64_t) (digits[i] - '0');
    }

    return i != 0 && i < len && (digits[i] == ' ' || digits[i] == '\0');
}


jpp_code_t
jpp_tar_next(jpp_tar_t *tar, jpp_err_t *err)
{
    size_t                   left;
    uint64_t                 size, sum, time;
    const jpp_tar_header_t  *header;

    do {
        left = (size_t) (tar->end - tar->pos);
        header = (const void *) tar->pos;

        if (left < JPP_TAR_BLOCK) {
            return jpp_err_set(err, JPP_ERR_CUT, "tar: the archive is cut");
        }

        if (memcmp(header, jpp_tar_zeros, JPP_TAR_BLOCK) == 0) {
            tar->data = NULL;
            tar->len = 0;
            return JPP_OK;
        }

        if (memcmp(header->magic, "ustar", 5) != 0
            || !jpp_tar_number(header->size, sizeof(header->size), &size)
            || !jpp_tar_number(header->chksum, sizeof(header->chksum), &sum)
            || sum != jpp_tar_sum(header)
            || memchr(header->name, '\0', JPP_TAR_NAME) == NULL)
        {
            return jpp_err_set(err, JPP_ERR_INPUT, "tar: what should be a "
                               "header of ustar is something else");
        }

        tar->pos += JPP_TAR_BLOCK;
        left -= JPP_TAR_BLOCK;

        if (size > left || -size % JPP_TAR_BLOCK > left - size) {
            return jpp_err_set(err, JPP_ERR_CUT, "tar: the archive ends within "
                               "a member");
        }

        if (!jpp_tar_number(header->mtime, sizeof(header->mtime), &time)) {
            time = 0;
        }

        memcpy(tar->name, header->name, JPP_TAR_NAME);
        tar->time = (int64_t) time;
        tar->data = tar->pos;
        tar->len = size;
        tar->pos += size + -size % JPP_TAR_BLOCK;

    } while (header->typeflag != '0' && header->typeflag != '\0');

    return JPP_OK;
}
