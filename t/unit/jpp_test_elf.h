
/*
 * ELF files for the tests of src/core/symbol, by the machine, in a directory
 * that is gone when the test ends.
 */


#ifndef _JPP_TEST_ELF_H_INCLUDED_
#define _JPP_TEST_ELF_H_INCLUDED_


#include "jpp_test_threads.h"


static char  jpp_test_dir[] = "/tmp/jpp-elf-XXXXXX";

/*
 * Functions of every kind the table has to deal with; "inside" lies in the
 * middle of "outside", and "sizeless" has no size.
 */
static const char  jpp_test_source[] =
    "#define N __attribute__((noinline, used))\n"
    "N int __jt_alias(int x) { return x * 3; }\n"
    "int jt_alias(int x) __attribute__((alias(\"__jt_alias\")));\n"
    "int jt_alias_weak(int x) __attribute__((weak, alias(\"__jt_alias\")));\n"
    "static N int jt_static(int x) { return x * 7 + 1; }\n"
    "static N __attribute__((cold)) int jt_cold(int x) { return x * 5; }\n"
    "N int jt_global(int x) { return jt_static(x) + jt_cold(x); }\n"
    "N int jt_old(int x) { return x + 1; }\n"
    "N int jt_new(int x) { return x + 2; }\n"
    "static int (*jt_pick(void))(int) { return jt_global; }\n"
    "int jt_ifunc(int) __attribute__((ifunc(\"jt_pick\")));\n"
    "__asm__(\".symver jt_old,jt_versioned@V_1\\n\"\n"
    "        \".symver jt_new,jt_versioned@@V_2\\n\"\n"
    "        \".text\\n.globl jt_outside, jt_inside, jt_sizeless\\n\"\n"
    "        \".type jt_outside, @function\\n.type jt_inside, @function\\n\"\n"
    "        \".type jt_sizeless, @function\\n\"\n"
    "        \"jt_outside:\\n.skip 32, 0x90\\njt_inside:\\n\"\n"
    "        \".skip 16, 0x90\\n.size jt_inside, .-jt_inside\\n\"\n"
    "        \".skip 32, 0x90\\n.size jt_outside, .-jt_outside\\n\"\n"
    "        \"jt_sizeless:\\n.skip 16, 0x90\\n\"\n"
    "        \"jt_after:\\n.skip 16, 0x90\\n\");\n";

static const char  jpp_test_cxx[] =
    "namespace jt { template <class T> struct Box {\n"
    "    __attribute__((noinline, used)) static T twice(T x) { return x+x; }\n"
    "}; }\n"
    "extern \"C\" int jt_cxx(int x) { return jt::Box<int>::twice(x); }\n";


/* Run a command in the test's directory; did it succeed? */
static inline bool __attribute__((format(printf, 1, 2)))
jpp_test_sh(const char *fmt, ...)
{
    int      n;
    char     command[4096];
    va_list  args;

    n = snprintf(command, sizeof(command), "cd %s && ", jpp_test_dir);

    va_start(args, fmt);
    (void) vsnprintf(command + n, sizeof(command) - (size_t) n, fmt, args);
    va_end(args);

    return system(command) == 0;
}


static inline bool
jpp_test_write(const char *name, const char *text)
{
    int   fd;
    bool  done;
    char  path[PATH_MAX];

    jpp_print(path, "%s/%s", jpp_test_dir, name);

    fd = open(path, O_WRONLY|O_CREAT|O_TRUNC, 0644);
    done = write(fd, text, strlen(text)) == (ssize_t) strlen(text);
    (void) close(fd);

    return done;
}


static inline void
jpp_test_remove(void)
{
    /* the leak checker cannot work in a child of vfork */

    if (strncmp(jpp_test_dir, "/tmp/jpp-elf-", 13) == 0) {
        (void) jpp_test_sh("cd / && rm -rf %s", jpp_test_dir);
    }
}


/*
 * Make the files:
 *
 *     full.so         .symtab and .dynsym, with a build id
 *     stripped.so     .dynsym only
 *     bare.so         the same without a build id
 *     cxx.so          C++
 *     i386.so         32 bits
 *     debug/          the .symtab of stripped.so below .build-id
 */
static inline bool
jpp_test_make(void)
{
    if (mkdtemp(jpp_test_dir) == NULL) {
        return false;
    }

    (void) atexit(jpp_test_remove);

    return jpp_test_write("a.c", jpp_test_source)
           && jpp_test_write("a.cc", jpp_test_cxx)
           && jpp_test_write("i.c", "int jt_i386(int x) { return x * 3; }\n")
           && jpp_test_write("a.map", "V_1 { local: jt_after; };\nV_2 {};\n")
           && jpp_test_sh("gcc -O1 -shared -fPIC -Wl,--build-id=sha1"
                          " -Wl,--version-script=a.map -o full.so a.c")
           && jpp_test_sh("g++ -O1 -shared -fPIC -Wl,--build-id=sha1"
                          " -o cxx.so a.cc")
           && jpp_test_sh("gcc -m32 -O1 -shared -fPIC -nostdlib"
                          " -Wl,--build-id=sha1 -o i386.so i.c")
           && jpp_test_sh("strip -o stripped.so full.so")
           && jpp_test_sh("objcopy -S -R .note.gnu.build-id full.so bare.so")
           && jpp_test_sh("id=$(readelf -n full.so | sed -n"
                          " 's/.*Build ID: //p');"
                          " d=debug/.build-id/$(echo $id | cut -c1-2);"
                          " mkdir -p $d && objcopy --only-keep-debug full.so"
                          " $d/$(echo $id | cut -c3-).debug");
}


static inline const char *
jpp_test_path(const char *name)
{
    static char  path[PATH_MAX];

    jpp_print(path, "%s%s%s", name[0] == '/' ? "" : jpp_test_dir,
              name[0] == '/' ? "" : "/", name);

    return path;
}


static inline int
jpp_test_open(const char *name)
{
    return open(jpp_test_path(name), O_RDONLY|O_CLOEXEC);
}


/* A memfd that holds the same bytes as the file NAME. */
static inline int
jpp_test_copy(const char *name, size_t *size)
{
    int      from, to;
    char     buf[4096];
    ssize_t  n;

    from = jpp_test_open(name);
    to = memfd_create("jpp", MFD_CLOEXEC);
    *size = 0;

    while ((n = read(from, buf, sizeof(buf))) > 0) {
        *size += (size_t) write(to, buf, (size_t) n);
    }

    (void) close(from);

    return to;
}


/* The address that nm has for SYMBOL of the file NAME. */
static inline uint64_t
jpp_test_nm(const char *name, const char *symbol)
{
    FILE      *nm;
    char       line[2 * PATH_MAX];
    uint64_t   address;

    jpp_print(line, "nm %s | awk '$3 == \"%s\" { print $1 }'",
              jpp_test_path(name), symbol);

    nm = popen(line, "r");
    address = 0;

    if (fgets(line, sizeof(line), nm) != NULL) {
        address = strtoull(line, NULL, 16);
    }

    (void) pclose(nm);

    return address;
}


/* How many descriptors are open. */
static inline uint32_t
jpp_test_fds(void)
{
    return (uint32_t) jpp_test_entries("/proc/self/fd");
}


/* What the process has used: others may keep the processor busy. */
static inline double
jpp_test_ms(void)
{
    return (double) jpp_clock_nanos(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
}


/* A generator of numbers that are the same in every run. */
static inline uint32_t
jpp_test_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;

    return (uint32_t) (*state >> 33);
}


#endif /* _JPP_TEST_ELF_H_INCLUDED_ */
