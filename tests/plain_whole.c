/*
 * Sublayers of a plain model copied as they are shown.
 */
#include "plain_whole.h"

#include "../cases/arena.h"
#include "unit.h"

#include <string.h>

static double *copy(Arena *memory, const double *from, size_t count)
{
    double *to = arena_take(memory, count, sizeof *to);
    return from != NULL ? memcpy(to, from, count * sizeof *to) : NULL;
}

static PlainSublayer copy_sublayer(const PlainModel *plain, const PlainSublayer *from)
{
    PlainSublayer own = *from;
    size_t entries = own.heads * own.rank * plain->width, columns = own.norm.columns.count;
    double **const factors[] = {&own.w_q, &own.w_k, &own.w_v, &own.w_o};
    for (size_t i = 0; i < 4; i++) {
        *factors[i] = copy(plain->memory, *factors[i], entries);
    }
    own.norm.gamma = own.gamma = copy(plain->memory, own.norm.gamma, columns);
    own.norm.beta = own.beta = copy(plain->memory, own.norm.beta, plain->rows * columns);
    return own;
}

PlainModel plain_whole(const Start *start)
{
    PlainModel plain;
    const char *reason;
    assert_int_equal(plain_build(&plain, &reason, start, PLAIN_ROLLING), PLAIN_OK);
    assert_true(plain_bytes(start->model, start->omega, PLAIN_ROLLING) == (double)plain.bytes);
    PlainSublayer *own = arena_take(plain.memory, plain.sublayer_count, sizeof *own);
    for (size_t s = 0; s < plain.sublayer_count; s++) {
        assert_true(plain_show(&plain, s));
        own[s] = copy_sublayer(&plain, &plain.sublayers[s]);
    }
    assert_true(plain_show(&plain, plain.sublayer_count));
    plain.sublayers = own;
    return plain;
}

size_t plain_own_heads(const PlainModel *whole, size_t s)
{
    size_t heads = 0;
    for (size_t b = 0; b < whole->sublayers[s].bundle_count; b++) {
        heads += whole->sublayers[s].bundles[b].heads;
    }
    return heads;
}

size_t plain_own_rank(const PlainModel *whole, size_t s)
{
    const PlainSublayer *p = &whole->sublayers[s];
    size_t used = 0;
    for (size_t e = 0; e < p->heads * whole->width * p->rank; e++) {
        bool zero = p->w_q[e] == 0 && p->w_v[e] == 0;
        used = !zero && e % p->rank >= used ? e % p->rank + 1 : used;
    }
    return used;
}
