/*
 * Products modulo primes (Ozaki, Uchino and Imamura, "Ozaki scheme II", 2025, for the idea of one
 * product of doubles a prime): lines become integers, integers residues, residues are multiplied,
 * and the Chinese remainder theorem gives back the integers.  Each of these steps is a product of
 * doubles without a rounding error.
 */
#include "modular.h"

#include "basis.h"
#include "entry.h"
#include "gemm.h"
#include "internal.h"
#include "store.h"
#include "wide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries whose residues are made, or recombined, at once, at most. */
enum { CHUNK = 512 };

/* Columns of C at once; terms of theirs whose residues are there at once, so that they stay in
 * caches until they are multiplied. */
enum { COLUMNS = 256, FEW_COLUMNS = 64, TERMS = 256 };

#define RESIDUE_BYTES 0x1p28 /* of A's residues, over all threads; of B's and C's half of that */

/* Lines [first, first + count) of an operand, in them numbers [term, term + depth), modulo every
 * prime: `primes` matrices one after the other, each [count, depth], or [depth, count] if
 * depth_major. */
typedef struct {
    const Operand *operand;
    const Split *split;
    const Basis *basis;
    size_t first, count, term, depth;
    double *residue;
    bool exact; /* no bit of the operand is cut off */
} Residues;

/* A thread's memory. */
typedef struct {
    double *a, *b, *x;   /* residues */
    size_t chunk, pitch; /* entries handled at once; planes of them lie pitch apart, which is no */
                         /* power of two: going from one to the next would stay in one set of */
                         /* the cache */
    double *digits;      /* [digits, pitch] of operands */
    double *scale;       /* [lines] of an operand's that are doubles */
    double *rest, *joined; /* [primes + 1, pitch], [digits, pitch] of C */
    mp_limb_t *limb;
    size_t limbs;
} Scratch;

/* Digits of the operand's integers number [start, start + length) of the block, as [digits,
 * pitch]. */
static void load_digits(const Scratch *s, const Residues *r, size_t start, size_t length)
{
    const Operand *o = r->operand;
    size_t inner = o->depth_major ? r->count : r->depth;
    Entry x;
    for (size_t e = 0; e < length; e++) {
        size_t u = (start + e) / inner, v = (start + e) % inner;
        size_t line = r->first + (o->depth_major ? v : u);
        size_t position = r->term + (o->depth_major ? u : v);
        (void)entry_load(&x, o, o->line_at[line] + o->depth_at[position]);
        mpfr_exp_t lead = x.count == 0 ? 0 : o->exponent[line] - x.exponent;
        double sign = x.negative ? -1 : 1;
        for (size_t d = 0; d < r->split->digits; d++) {
            int64_t digit = (int64_t)entry_digit(&x, lead, d, r->split->width);
            s->digits[d * s->pitch + e] = sign * (double)digit;
        }
    }
}

/* Bits and exponents of doubles that are split by doubles: below, no number on the way is beyond
 * what they are exact for. */
enum { SPLIT_BITS = 900 };

/* The same of doubles whose bits are all in the digits, by vectors: digits of either sign that come
 * to the same integer. */
static void split_digits(const Scratch *s, const Residues *r, size_t start, size_t length)
{
    const Operand *o = r->operand;
    size_t inner = o->depth_major ? r->count : r->depth, e = 0;
    for (size_t u = start / inner, v = start % inner; e < length; u++, v = 0) {
        size_t end = inner - v < length - e ? inner : v + length - e;
        size_t at = o->depth_major ? o->depth_at[r->term + u] : o->line_at[r->first + u];
        const size_t *beside = o->depth_major ? o->line_at + r->first : o->depth_at + r->term;
        for (; v < end; v++, e++) {
            s->digits[e] = o->number[at + beside[v]] * s->scale[o->depth_major ? v : u];
        }
    }
    wide()->split(&(WidePlanes){s->digits, s->pitch, length}, r->split->digits, r->split->width);
}

/* Sets s->scale for them, 2^(width - exponent) of each line; false: they are to be taken apart one
 * by one. */
static bool find_scales(const Scratch *s, const Residues *r)
{
    const Operand *o = r->operand;
    bool fine = r->exact && o->number != NULL && r->split->digits * r->split->width < SPLIT_BITS;
    for (size_t i = 0; fine && i < r->count; i++) {
        mpfr_exp_t exponent = o->exponent[r->first + i];
        bool zero = exponent == LINE_ZERO;
        fine = zero || labs(exponent) < SPLIT_BITS;
        s->scale[i] = zero || !fine ? 0 : ldexp(1, (int)((long)r->split->width - exponent));
    }
    return fine;
}

static void residues_make(const Residues *r, const Scratch *s)
{
    size_t total = r->count * r->depth, digits = r->split->digits;
    bool doubles = find_scales(s, r);
    for (size_t start = 0; start < total; start += s->chunk) {
        size_t length = total - start < s->chunk ? total - start : s->chunk;
        if (doubles) {
            split_digits(s, r, start, length);
        } else {
            load_digits(s, r, start, length);
        }
        gemm(r->residue + start, total, gemm_plain(r->split->power, digits),
             gemm_plain(s->digits, s->pitch), (GemmExtents){r->basis->primes, length, digits}, 0);
        for (size_t t = 0; t < r->basis->primes; t++) {
            wide()->reduce(r->residue + t * total + start, length, r->basis->q[t],
                           r->basis->reciprocal[t]);
        }
    }
}

/* x [primes, m, n] += residues of A, all of their terms, times those of B that are there; sums of
 * at most basis->depth terms each. */
static void multiply_residues(double *x, const Residues *a, const Residues *b)
{
    const Basis *basis = a->basis;
    size_t m = a->count, n = b->count, k = a->depth, terms = b->depth, l = b->term;
    bool a_turned = a->operand->depth_major, b_turned = b->operand->depth_major;
    for (size_t t = 0; t < basis->primes; t++) {
        const double *at = a->residue + t * m * k, *bt = b->residue + t * n * terms;
        double *xt = x + t * m * n;
        const GemmFactor left = {at + (a_turned ? l * m : l), a_turned ? m : k, a_turned};
        const GemmFactor right = {bt, b_turned ? n : terms, !b_turned};
        gemm(xt, n, left, right, (GemmExtents){m, n, terms}, l == 0 ? 0 : 1);
        wide()->reduce(xt, m * n, basis->q[t], basis->reciprocal[t]);
    }
}

/* rest[e] = -round(sum_t x[t, e] / q_t); x has `stride` entries a prime. */
static void quotients(double *rest, const Basis *basis, const double *x, size_t stride,
                      size_t length)
{
    const double shift = 0x1.8p52;
    memset(rest, 0, length * sizeof *rest);
    for (size_t t = 0; t < basis->primes; t++) {
        double reciprocal = basis->reciprocal[t];
        const double *xt = x + t * stride;
#pragma omp simd
        for (size_t e = 0; e < length; e++) {
            rest[e] -= xt[e] * reciprocal;
        }
    }
    for (size_t e = 0; e < length; e++) {
        rest[e] = (rest[e] + shift) - shift;
    }
}

/* The integer whose signed digits, `stride` apart, are given; returns whether it is negative. */
static bool join_digits(mp_limb_t *limb, size_t limbs, const double *digit, size_t stride,
                        const Basis *basis)
{
    int64_t carry = 0;
    uint64_t mask = ((uint64_t)1 << basis->width) - 1;
    memset(limb, 0, limbs * sizeof *limb);
    size_t at = 0;
    for (size_t d = 0; d < basis->digits; d++, at += basis->width) {
        int64_t value = (int64_t)digit[d * stride] + carry;
        uint64_t low = (uint64_t)value & mask;
        carry = value >> basis->width;
        limb[at / 64] |= low << at % 64;
        limb[at / 64 + 1] |= at % 64 == 0 ? 0 : low >> (64 - at % 64);
    }
    /* |C| < M / 4: what is carried out is the sign. */
    bool negative = carry < 0;
    if (negative) {
        limb[at / 64] |= ~(mp_limb_t)0 << at % 64;
        for (size_t i = at / 64 + 1; i < limbs; i++) {
            limb[i] = ~(mp_limb_t)0;
        }
        mpn_neg(limb, limb, (mp_size_t)limbs);
    }
    return negative;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Columns of C at once: many, so that BLAS's own copy of A's residues is paid for. */
static size_t columns_at_once(const Plan *plan, const Basis *basis, size_t rows)
{
    double threads = plan->threads > 1 ? plan->threads : 1;
    double column = 8 * (double)basis->primes * ((double)rows + TERMS) * threads;
    double fit = RESIDUE_BYTES / 2 / column;
    size_t columns = fit > COLUMNS ? COLUMNS : fit < FEW_COLUMNS ? FEW_COLUMNS : (size_t)fit;
    return columns < plan->n ? columns : plan->n;
}

/* Terms whose residues are there at once. */
static size_t terms_at_once(const Basis *basis, size_t k)
{
    size_t most = basis->depth < TERMS ? basis->depth : TERMS;
    return k < most ? k : most;
}

static void scratch_init(Scratch *s, const Basis *basis, size_t rows, size_t columns, size_t k)
{
    size_t digits = max_size(basis->a.digits, basis->b.digits), terms = terms_at_once(basis, k);
    size_t entries = max_size(max_size(rows * k, columns * terms), rows * columns);
    s->chunk = entries < CHUNK ? entries + 1 : CHUNK;
    s->pitch = s->chunk + 8;
    s->limbs = basis->digits * basis->width / 64 + 2;
    s->a = array_alloc(basis->primes * rows * k, sizeof *s->a);
    s->b = array_alloc(basis->primes * columns * terms, sizeof *s->b);
    s->scale = array_alloc(max_size(rows, columns), sizeof *s->scale);
    s->x = array_alloc(basis->primes * rows * columns, sizeof *s->x);
    s->digits = array_alloc(digits * s->pitch, sizeof *s->digits);
    s->rest = array_alloc((basis->primes + 1) * s->pitch, sizeof *s->rest);
    s->joined = array_alloc(basis->digits * s->pitch, sizeof *s->joined);
    s->limb = array_alloc(s->limbs, sizeof *s->limb);
}

static void scratch_clear(Scratch *s)
{
    array_free(s->a);
    array_free(s->b);
    array_free(s->x);
    free(s->digits);
    free(s->scale);
    free(s->rest);
    free(s->joined);
    free(s->limb);
}

/* Entries of C from s->x: rows from `first`, columns from `column` on. */
static void recombine(Range range, const Plan *plan, const Basis *basis, Scratch *s,
                      const Residues *a, const Residues *b)
{
    size_t total = a->count * b->count, planes = basis->primes;
    long unit = basis->cut - (long)(basis->a.digits * basis->a.width) -
                (long)(basis->b.digits * basis->b.width);
    for (size_t start = 0; start < total; start += s->chunk) {
        size_t length = total - start < s->chunk ? total - start : s->chunk;
        for (size_t t = 0; t < planes; t++) {
            memcpy(s->rest + t * s->pitch, s->x + t * total + start, length * sizeof *s->rest);
        }
        quotients(s->rest + planes * s->pitch, basis, s->rest, s->pitch, length);
        gemm(s->joined, s->pitch, gemm_plain(basis->weight, planes + 1),
             gemm_plain(s->rest, s->pitch), (GemmExtents){basis->digits, length, planes + 1}, 0);
        for (size_t e = 0; e < length; e++) {
            bool negative = join_digits(s->limb, s->limbs, s->joined + e, s->pitch, basis);
            store_integer(range, plan, a->first + (start + e) / b->count,
                          b->first + (start + e) % b->count,
                          (ScaledInteger){s->limb, s->limbs, negative, unit});
        }
    }
}

static void multiply_rows(const Plan *plan, const void *shared, size_t first, size_t count)
{
    const Basis *basis = shared;
    Scratch s;
    size_t at_once = columns_at_once(plan, basis, count);
    scratch_init(&s, basis, count, at_once, plan->k);
    Residues a = {&plan->a, &basis->a, basis, first, count, 0, plan->k, s.a, plan->short_a};
    residues_make(&a, &s);
    for (size_t j = 0; j < plan->n; j += at_once) {
        Residues b = {&plan->b, &basis->b,    basis, j, at_once, 0, terms_at_once(basis, plan->k),
                      s.b,      plan->short_b};
        b.count = plan->n - j < at_once ? plan->n - j : at_once;
        for (; b.term < plan->k; b.term += b.depth) {
            b.depth = plan->k - b.term < b.depth ? plan->k - b.term : b.depth;
            residues_make(&b, &s);
            multiply_residues(s.x, &a, &b);
        }
        recombine(store_range(), plan, basis, &s, &a, &b);
    }
    scratch_clear(&s);
}

bool modular_holds(mpfr_prec_t bits_a, mpfr_prec_t bits_b)
{
    return bits_a <= LARGEST_BITS && bits_b <= LARGEST_BITS;
}

void modular_mul(const Plan *plan)
{
    Basis basis;
    basis_init(&basis, plan);
    double threads = plan->threads > 1 ? plan->threads : 1;
    double fit = RESIDUE_BYTES / threads / (8 * (double)basis.primes * (double)(plan->k + 1));
    size_t parts = (size_t)((double)plan->m / (fit < 16 ? 16 : fit)) + 1;
    parts = max_size(parts, plan->threads > 1 ? (size_t)plan->threads : 1);
    store_each(plan, &basis, plan->m, (plan->m + parts - 1) / parts, multiply_rows);
    basis_clear(&basis);
}
