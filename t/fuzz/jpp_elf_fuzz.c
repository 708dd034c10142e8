
#include "jpp_elf.h"
#include "jpp_fuzz.h"


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int          fd;
    jpp_elf_t    elf;
    jpp_arena_t  arena;

    fd = memfd_create("fuzz", MFD_CLOEXEC);
    (void) !write(fd, data, size);
    jpp_arena_init(&arena, JPP_FUZZ_MEMORY);

    if (jpp_elf_read(&elf, &arena, fd, fd, JPP_ELF_ALL, NULL) == JPP_OK
        && elf.n_functions != 0
        && jpp_elf_function(&elf, elf.functions[0].start) != elf.functions)
    {
        __builtin_trap();
    }

    jpp_arena_destroy(&arena);
    return close(fd);
}
