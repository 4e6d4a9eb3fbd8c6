/*
 * Tensors brought from a file's layout into the model's.
 */
#include "packing.h"

#include <string.h>

size_t packing_rank(const char *axes)
{
    size_t rank = 1;
    for (const char *c = axes; *c != '\0'; c++) {
        rank += *c == ' ';
    }
    return rank;
}

const char *packing_word(const char *axes, size_t axis)
{
    for (; axis > 0; axis--) {
        axes += strcspn(axes, " ") + 1;
    }
    return axes;
}

bool packing_is_plain(const char *axes)
{
    char next = '0';
    for (const char *c = axes; *c != '\0'; c++) {
        if (*c != ' ' && *c != next++) {
            return false;
        }
    }
    return true;
}

enum { LETTERS_MOST = 8 };

void packing_unpack(double *const *out, const double *packed, const char *axes, size_t parts,
                    const size_t *shape, size_t rank)
{
    size_t extent[LETTERS_MOST], stride[LETTERS_MOST], letters = 0, total = 1;
    for (const char *c = axes; *c != '\0'; c++) {
        if (*c == ' ') {
            continue;
        }
        bool part = *c == 'p';
        size_t axis = part ? rank : (size_t)(*c - '0');
        extent[letters] = part ? parts : shape[axis];
        stride[letters] = !part;
        for (size_t k = axis + 1; k < rank; k++) {
            stride[letters] *= shape[k];
        }
        total *= extent[letters++];
    }
    for (size_t i = 0; i < total; i++) {
        size_t rest = i, to = 0, part = 0;
        for (size_t k = letters; k-- > 0;) {
            size_t at = rest % extent[k];
            rest /= extent[k];
            to += at * stride[k];
            part = stride[k] == 0 ? at : part;
        }
        out[part][to] = packed[i];
    }
}
