
/*
 * Every bound on foreign input, in one table.  Unit tests try each bound, and
 * one more.
 */


#ifndef _JPP_LIMITS_H_INCLUDED_
#define _JPP_LIMITS_H_INCLUDED_


/* frames of one stack; jemalloc writes 128 unless prof_bt_max says more */
#define JPP_MAX_FRAMES          4096

/* lines of a maps section (the kernel's vm.max_map_count is 65530) */
#define JPP_MAX_MAPS            131072

/* one path of a maps line: PATH_MAX with every byte escaped as \ooo */
#define JPP_MAX_PATH            16384

/* bytes of locations of all stacks: offsets are 32 bits wide */
#define JPP_MAX_STACK_BYTES     0xffff0000u

/* labels of one capture */
#define JPP_MAX_LABELS          10

/* captures of one report */
#define JPP_MAX_CAPTURES        4096

/* an unpacked dump */
#define JPP_MAX_DUMP            ((size_t) 16 << 30)

/* an ELF file, one of its sections, its symbols, and a symbol's name */
#define JPP_MAX_ELF_FILE        ((size_t) 4 << 30)
#define JPP_MAX_ELF_SECTION     ((size_t) 256 << 20)
#define JPP_MAX_ELF_SYMBOLS     4000000
#define JPP_MAX_SYMBOL_NAME     4096

/* a query string, and one of its values once decoded */
#define JPP_MAX_QUERY           16384
#define JPP_MAX_VALUE           256

/* the most rows of a table that can be requested */
#define JPP_MAX_ROWS            1000

/* the width of a picture that can be requested, in pixels */
#define JPP_MIN_WIDTH           300
#define JPP_MAX_WIDTH           8000

/* the columns of a terminal that tables fit into */
#define JPP_MIN_COLS            20
#define JPP_MAX_COLS            1000

/* the longest time between two dumps that can be requested */
#define JPP_MAX_SECONDS         86400

/* samples of a thread a second: no clock of the kernel is finer */
#define JPP_MAX_FREQUENCY       1000

/* the longest time that a worker may be stopped for its snapshot, ms */
#define JPP_MAX_STOP            10000

/* label sets of a capture of stacks */
#define JPP_MAX_LABEL_SETS      4096


#endif /* _JPP_LIMITS_H_INCLUDED_ */
