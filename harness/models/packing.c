/*
 * Tensors brought from a file's layout into the model's.
 */
#include "family.h"

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
        if (*c != ' ' && *c != 'u' && *c != next++) {
            return false;
        }
    }
    return true;
}

enum { LETTERS_MOST = 8 };

/* A tensor's axes, slowest first: the extent of each, and its stride in the model's own tensor; 0:
 * the next part. */
typedef struct {
    size_t extent[LETTERS_MOST], stride[LETTERS_MOST], count;
} Letters;

static Letters letters_of(const Packing *packing)
{
    Letters letters = {.count = 0};
    for (const char *c = packing->axes; *c != '\0'; c++) {
        if (*c == ' ' || *c == 'u') {
            continue;
        }
        bool part = *c == 'p';
        size_t shared = *c == 'k' ? packing->shared : 1, stride = part ? 0 : shared;
        size_t axis = part ? packing->rank : *c == 'k' ? 0 : (size_t)(*c - '0');
        for (size_t k = axis + 1; k < packing->rank; k++) {
            stride *= packing->shape[k];
        }
        letters.extent[letters.count] = part ? packing->parts : packing->shape[axis] / shared;
        letters.stride[letters.count++] = stride;
    }
    return letters;
}

void packing_unpack(const Packing *packing, const double *packed, size_t first, size_t count)
{
    Letters letters = letters_of(packing);
    size_t inner = letters.count - 1, run = letters.extent[inner], step = letters.stride[inner];
    for (size_t done = 0; done < count;) {
        size_t rest = (first + done) / run, at = (first + done) % run, to = 0, part = 0;
        size_t here = run - at < count - done ? run - at : count - done;
        for (size_t k = inner; k-- > 0;) {
            size_t index = rest % letters.extent[k];
            rest /= letters.extent[k];
            to += index * letters.stride[k];
            part = letters.stride[k] == 0 ? index : part;
        }
        for (size_t i = 0; i < here; i++) {
            if (step > 0) {
                packing->out[part][to + (at + i) * step] = packed[done + i];
            } else {
                packing->out[at + i][to] = packed[done + i];
            }
        }
        done += here;
    }
}
