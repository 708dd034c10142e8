
/*
 * A small load of plain HTTP/1.1 requests, for the demonstration and for
 * measuring inside nginx.
 *
 *     jpp_load [-c CONNECTIONS] [-n REQUESTS | -t SECONDS] [-r RATE]
 *              [-H 'Name: value']... URL...
 *
 * GET requests go to the URLs in turn, over kept connections, to loopback
 * addresses only.  Without -r each connection asks again as soon as it is
 * answered.  With -r a request has a moment at which it is due, and its latency
 * counts from there, whether or not a connection was free: a server that
 * stalls is charged for all who would have come meanwhile.
 *
 * One line comes out; latencies are microseconds, of good answers alone:
 *
 *     requests=N errors=N resent=N seconds=S rate=R p50= p90= p99= p999= max=
 *
 * An error is an answer that is not 2xx or not HTTP, a lost connection, or what
 * is still owed when nothing was answered for half a minute.  A kept connection
 * that the server closes before the first byte of an answer is no error: the
 * request is sent again.  The end is 0 without errors, 1 with some, 2 where
 * nothing was begun.
 *
 * Every run is bounded: by -n, by -t (10 seconds, where neither is given), by
 * an hour, by a thousand errors in a row.
 */


#include "jpp_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


static void jpp_load_options(jpp_load_t *load, int argc, char **argv);
static double jpp_load_number(char option, const char *text, double most);
static void jpp_load_header(jpp_load_t *load, const char *text);
static void jpp_load_url(jpp_load_t *load, const char *url);


static jpp_load_t  jpp_load;


int
main(int argc, char **argv)
{
    double       seconds;
    jpp_load_t  *load;

    load = &jpp_load;

    jpp_load_options(load, argc, argv);
    jpp_load_prepare(load);
    jpp_load_run(load);

    seconds = (double) (load->last - load->begin) / JPP_LOAD_SECOND;

    printf("requests=%llu errors=%llu resent=%llu seconds=%.3f rate=%.1f"
           " p50=%.0f p90=%.0f p99=%.0f p999=%.0f max=%.0f\n",
           (unsigned long long) (load->good + load->errors),
           (unsigned long long) load->errors,
           (unsigned long long) load->resent, seconds,
           seconds > 0 ? (double) load->good / seconds : 0,
           jpp_load_percentile(load, 0.5), jpp_load_percentile(load, 0.9),
           jpp_load_percentile(load, 0.99), jpp_load_percentile(load, 0.999),
           (double) load->max / 1000);

    if (fflush(stdout) != 0) {
        jpp_load_die("cannot write the result: %s", strerror(errno));
    }

    return load->errors != 0;
}


static void
jpp_load_options(jpp_load_t *load, int argc, char **argv)
{
    int  ch;

    load->nconnections = 1;

    while ((ch = getopt(argc, argv, "c:n:t:r:H:")) != -1) {

        switch (ch) {

        case 'c':
            load->nconnections = (size_t) jpp_load_number('c', optarg,
                                                        JPP_LOAD_CONNECTIONS);
            break;

        case 'n':
            load->most = (uint64_t) jpp_load_number('n', optarg,
                                                    JPP_LOAD_REQUESTS);
            break;

        case 't':
            load->seconds = jpp_load_number('t', optarg, JPP_LOAD_SECONDS);
            break;

        case 'r':
            load->rate = jpp_load_number('r', optarg, 1e6);
            break;

        case 'H':
            jpp_load_header(load, optarg);
            break;

        default:
            jpp_load_die("usage: jpp_load [-c CONNECTIONS]"
                         " [-n REQUESTS | -t SECONDS] [-r RATE]"
                         " [-H 'Name: value']... URL...");
        }
    }

    if (optind == argc || argc - optind > JPP_LOAD_URLS) {
        jpp_load_die("give 1 to %d URLs", JPP_LOAD_URLS);
    }

    while (optind < argc) {
        jpp_load_url(load, argv[optind++]);
    }

    if (load->seconds <= 0) {
        load->seconds = load->most ? JPP_LOAD_SECONDS : 10;
    }

    if (load->most == 0) {
        load->most = UINT64_MAX;
    }

    if (load->rate > 0 && (double) load->most > load->rate * load->seconds) {
        load->most = (uint64_t) (load->rate * load->seconds);
    }
}


static double
jpp_load_number(char option, const char *text, double most)
{
    char    *end;
    double   value;

    value = strtod(text, &end);

    if (*text == '\0' || *end != '\0' || !(value > 0) || value > most
        || (strchr("cn", option) != NULL && value < 1))
    {
        jpp_load_die("-%c takes a number above 0, up to %.0f", option, most);
    }

    return value;
}


static void
jpp_load_header(jpp_load_t *load, const char *text)
{
    size_t  len;

    len = strlen(load->headers);

    if (strchr(text, ':') == NULL || strpbrk(text, "\r\n") != NULL
        || len + strlen(text) + sizeof("\r\n") > sizeof(load->headers))
    {
        jpp_load_die("-H takes one line \"Name: value\", all of them up to"
                     " %zu bytes", sizeof(load->headers));
    }

    (void) sprintf(load->headers + len, "%s\r\n", text);
}


static void
jpp_load_url(jpp_load_t *load, const char *url)
{
    int                  len;
    long                 port;
    char                *end, host[64];
    size_t               n;
    const char          *p;
    struct sockaddr_in   address;
    jpp_load_request_t  *request;

    if (strncmp(url, "http://", 7) != 0) {
        jpp_load_die("\"%s\" does not begin with http://", url);
    }

    p = url + 7;
    n = strcspn(p, ":/");
    n = n < sizeof(host) ? n : sizeof(host) - 1;

    memcpy(host, p, n);
    host[n] = '\0';
    p += n;

    port = 80;

    if (*p == ':') {
        port = strtol(p + 1, &end, 10);
        p = end;
    }

    if ((*p != '/' && *p != '\0') || port < 1 || port > 65535
        || strpbrk(url, " \r\n") != NULL)
    {
        jpp_load_die("\"%s\" is not http://HOST:PORT/PATH", url);
    }

    memset(&address, 0, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t) port);

    if (inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1",
                  &address.sin_addr) != 1
        || ntohl(address.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
    {
        jpp_load_die("\"%s\" is no loopback address: only 127.x.x.x and"
                     " localhost are loaded", host);
    }

    if (load->nrequests == 0) {
        load->address = address;

    } else if (memcmp(&load->address, &address, sizeof(address)) != 0) {
        jpp_load_die("\"%s\" is not on the host and port of the first URL",
                     url);
    }

    request = &load->requests[load->nrequests++];

    len = asprintf(&request->text, "GET %s HTTP/1.1\r\nHost: %s:%ld\r\n"
                   "User-Agent: jpp_load\r\n%s\r\n", *p ? p : "/", host, port,
                   load->headers);
    if (len < 0) {
        jpp_load_die("out of memory");
    }

    request->len = (size_t) len;
}


void
jpp_load_die(const char *fmt, ...)
{
    va_list  args;

    va_start(args, fmt);
    fputs("jpp_load: ", stderr);
    vfprintf(stderr, fmt, args);
    fputs("\n", stderr);
    va_end(args);

    exit(2);
}
