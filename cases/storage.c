/*
 * Weights rounded once to what a model is stored in: the doubles that come out are the model for
 * everything, the reference too.
 */
#include "storage.h"

#include <math.h>
#include <string.h>

double storage_nearest(double x, int digits, int least_exponent)
{
    const double integers = 0x1.8p52; /* doubles around it are the integers */
    int exponent;
    double significand = frexp(x, &exponent), largest = ldexp(1, 3 - least_exponent);
    int kept = exponent < least_exponent ? digits - (least_exponent - exponent) : digits;
    if (!(x - x == 0)) {
        return x;
    }
    double rounded = (ldexp(significand, kept) + integers) - integers;
    double result = ldexp(rounded, exponent - kept);
    bool beyond = result >= largest || result <= -largest;
    return beyond || (result == 0 && x == 0) ? x : result;
}

static void round_numbers(double *numbers, size_t count, const void *context)
{
    const CaseSpec *spec = context;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = storage_nearest(numbers[i], spec->stored_digits, spec->stored_least_exponent);
    }
}

void storage_round(Arena *arena, const CaseSpec *spec)
{
    if (spec->stored_digits > 0) {
        arena_each_number(arena, round_numbers, spec);
    }
}

/* *tensor is a copy of its count numbers; NULL stays. */
static void copy(Arena *arena, const double **tensor, size_t heads, size_t count)
{
    if (*tensor == NULL) {
        return;
    }
    double *numbers = arena_take_numbers(arena, heads, count);
    if (!arena_is_hollow(arena)) {
        memcpy(numbers, *tensor, heads * count * sizeof *numbers);
    }
    *tensor = numbers;
}

void storage_layer(Arena *arena, GivenLayer *layer, const CaseSpec *spec)
{
    size_t heads = spec->heads, d = spec->d, factor = d * spec->d_head, d_ff = spec->d_ff;
    copy(arena, &layer->w_q, heads, factor);
    copy(arena, &layer->w_k, heads, factor);
    copy(arena, &layer->w_v, heads, factor);
    copy(arena, &layer->w_o, heads, factor);
    copy(arena, &layer->b_q, heads, spec->d_head);
    copy(arena, &layer->b_k, heads, spec->d_head);
    copy(arena, &layer->b_v, heads, spec->d_head);
    copy(arena, &layer->b_o, 1, d);
    copy(arena, &layer->qk, heads, d * d);
    copy(arena, &layer->ov, heads, d * d);
    copy(arena, &layer->w_gate, d, d_ff);
    copy(arena, &layer->b_gate, 1, d_ff);
    copy(arena, &layer->w_in, d, d_ff);
    copy(arena, &layer->b_in, 1, d_ff);
    copy(arena, &layer->w_out, d_ff, d);
    copy(arena, &layer->b_out, 1, d);
    copy(arena, &layer->linear_w, d, d);
    copy(arena, &layer->linear_b, 1, d);
    copy(arena, &layer->ln1_w, 1, d);
    copy(arena, &layer->ln1_b, 1, d);
    copy(arena, &layer->ln2_w, 1, d);
    copy(arena, &layer->ln2_b, 1, d);
}

bool storage_copies(const CaseSpec *spec)
{
    return spec->given != NULL && spec->given->layers != NULL && spec->stored_digits > 0;
}

void storage_final(Arena *arena, GivenWeights *given, const CaseSpec *spec)
{
    copy(arena, &given->ln_final_w, 1, spec->d);
    copy(arena, &given->ln_final_b, 1, spec->d);
}
