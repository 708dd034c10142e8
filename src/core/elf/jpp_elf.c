
#include "jpp_elf.h"


const jpp_elf_function_t *
jpp_elf_function(const jpp_elf_t *elf, uint64_t vaddr)
{
    uint32_t                   low, high, middle;
    const jpp_elf_function_t  *function;

    low = 0;
    high = elf->n_functions;

    while (low < high) {
        middle = low + (high - low) / 2;
        function = &elf->functions[middle];

        if (vaddr < function->start) {
            high = middle;

        } else if (vaddr - function->start >= function->size) {
            low = middle + 1;

        } else {
            return function;
        }
    }

    return NULL;
}


bool
jpp_elf_vaddr(const jpp_elf_t *elf, uint64_t offset, uint64_t *vaddr)
{
    uint32_t                  i;
    const jpp_elf_segment_t  *segment;

    for (i = 0; i < elf->n_segments; i++) {
        segment = &elf->segments[i];

        if (offset - segment->offset < segment->size) {
            *vaddr = offset - segment->offset + segment->vaddr;
            return true;
        }
    }

    return false;
}


bool
jpp_elf_offset(const jpp_elf_t *elf, uint64_t vaddr, uint64_t *offset)
{
    uint32_t                  i;
    const jpp_elf_segment_t  *segment;

    for (i = 0; i < elf->n_segments; i++) {
        segment = &elf->segments[i];

        if (vaddr - segment->vaddr < segment->size) {
            *offset = vaddr - segment->vaddr + segment->offset;
            return true;
        }
    }

    return false;
}
