/*
 * The predicted cost of a product.
 *
 * Fixed-point backends: counts of what they do times measured nanoseconds.  The loop: a table by
 * precision.  The figures are from `make bench` (tests/bench_product.c; the
 * column pred/ shows how good they are) on an AVX-512 server, one thread; another machine's
 * differ, but their ratios, which choose the backend, less so.
 */
#include "cost.h"

#include "basis.h"
#include "digits.h"
#include "dot.h"
#include "wide.h"

#include "../numbers/tier.h"

#include <math.h>

/* Nanoseconds of ... */
static const struct {
    double call;    /* a product of any size: allocations */
    double measure; /* an entry: its exponent and size */
    double guard;   /* an entry of C: what it needs */
    double small;   /* one of a product with a matrix of weights */
    double store;   /* an entry of C, to MPFR */
    double bit;     /* a bit of it */
} common = {1500, 8, 4, 0.016, 28, 0.03};

/* One operation of a large product of doubles. */
static const double flop[TIERS] = {
    [TIER_PORTABLE] = 0.025, [TIER_AVX2] = 0.025, [TIER_AVX512] = 0.0105};

typedef struct {
    double entry, digit; /* packing */
    double madd;         /* a multiply-add of half a digit, of all lanes */
    double tile, block;  /* a tile of C; a block of digits over some terms */
    double store, sum;   /* an entry of C in a row, tile_row.c's; added */
} DigitsCost;

static const DigitsCost digits[TIERS] = {
    [TIER_AVX2] = {7, 3.5, 0.21, 60, 20, 11, 17},
    [TIER_AVX512] = {6, 3.0, 0.142, 60, 20, 8, 14},
};

static const struct {
    double call, prime; /* the basis */
    double weight;      /* one of its weights */
    double digit;       /* of an entry */
    double residue;     /* reduced, its memory touched */
    double joined;      /* a digit of an entry of C */
} modular = {15000, 600, 7, 2.0, 0.7, 2.0};

static const struct {
    double call, entry, store; /* an entry decoded; one of C rounded */
    double term;               /* any */
    double sum, multiply;      /* a limb of the window; of two limbs */
} dot = {300, 3, 20, 4, 0.9, 0.5};

/* ns a multiply-add at these precisions. */
enum { TABLE_BITS = 5 };
static const double table_bits[TABLE_BITS] = {128, 256, 512, 1024, 3072};
static const double loop_table[TABLE_BITS] = {49, 57, 81, 167, 830};

/* Between two of them by logarithms; beyond the ends as next to them. */
static double loop_ns(double bits)
{
    size_t i = 0;
    while (i + 2 < TABLE_BITS && bits > table_bits[i + 1]) {
        i++;
    }
    double way = log(bits / table_bits[i]) / log(table_bits[i + 1] / table_bits[i]);
    return loop_table[i] * pow(loop_table[i + 1] / loop_table[i], way);
}

/* Measuring both operands and what every entry of C needs. */
static double measuring_ns(const Plan *plan)
{
    double m = (double)plan->m, n = (double)plan->n, k = (double)plan->k;
    return common.call + (plan->weights ? m : m + n) * k * common.measure +
           m * n * (common.guard + 2 * k * flop[tier_in_use()]);
}

static double digits_ns(const Plan *plan, mpfr_prec_t bits)
{
    const double lanes = (double)wide()->lanes, rows = (double)wide()->tile_rows;
    double m = ceil((double)plan->m / rows) * rows, n = ceil((double)plan->n / lanes) * lanes;
    double k = (double)plan->k;
    const DigitsCost *of = &digits[tier_in_use()];
    DigitsWork work = digits_work(plan, bits);
    double entries_a = m * k * (of->entry + of->digit * (double)work.digits_a);
    double packed = plan->weights ? 0 : of->entry + of->digit * (double)work.digits_b;
    double entries_b = n * k * packed;
    double tile = of->tile + (double)work.blocks * of->block * ceil(k / (double)work.depth) +
                  rows * k * (double)work.multiplies * of->madd;
    double alone = common.store + common.bit * (double)(bits + plan->precision);
    bool at_once = digits_store_rows(plan, work.kept + 1, plan->add);
    double entry = !at_once ? alone : plan->add ? of->sum : of->store;
    return entries_a + entries_b + m * n / (rows * lanes) * tile + m * n * entry;
}

static double modular_ns(const Plan *plan, mpfr_prec_t bits)
{
    mpfr_prec_t bits_a = plan_bits_a(plan, bits), bits_b = plan_bits_b(plan, bits);
    double m = (double)plan->m, n = (double)plan->n, k = (double)plan->k;
    double primes = (double)basis_primes(plan->k, bits_a + 1, bits_b + 1);
    double digits_a = ceil((double)(bits_a + 1) / 26), digits_b = ceil((double)(bits_b + 1) / 26);
    double digits_c = ceil(((double)bits + 80) / 25);
    double basis =
        modular.call + primes * (modular.prime + modular.weight * (digits_a + digits_b + digits_c));
    double again = ceil(m * k * primes / 0x1p25); /* B's residues are made for each block of rows */
    double entries_a = m * k *
                       (digits_a * modular.digit + primes * modular.residue +
                        2 * common.small * primes * digits_a);
    double entries_b = n * k * again *
                       (digits_b * modular.digit + primes * modular.residue +
                        2 * common.small * primes * digits_b);
    double entry = common.store + common.bit * (double)(bits + plan->precision) +
                   digits_c * modular.joined + 2 * primes * modular.residue +
                   2 * common.small * primes * digits_c;
    return basis + entries_a + entries_b + m * n * entry +
           2 * flop[tier_in_use()] * primes * m * n * k;
}

/* Limbs of an operand's entries, the first one standing for all. */
static double limbs_of(const Operand *o)
{
    return o->number != NULL ? 1 : ceil((double)mpfr_get_prec(o->entry) / 64);
}

static double dot_ns(const Plan *plan)
{
    double m = (double)plan->m, n = (double)plan->n, k = (double)plan->k;
    double term = dot.term + dot.sum * (double)dot_limbs(plan) +
                  dot.multiply * limbs_of(&plan->a) * limbs_of(&plan->b);
    return dot.call + (m + n) * k * dot.entry + m * n * (dot.store + k * term);
}

double cost_measuring(const Plan *plan)
{
    return 1e-9 * measuring_ns(plan);
}

double cost_loop_entry(const Plan *plan)
{
    return 1e-9 * (double)plan->k * loop_ns((double)plan->precision);
}

double cost_least(ProductBackend backend)
{
    return backend == PRODUCT_MODULAR ? 1e-9 * modular.call : 0;
}

double cost_product(const Plan *plan, ProductBackend backend, mpfr_prec_t bits)
{
    switch (backend) {
    case PRODUCT_DOT: return 1e-9 * dot_ns(plan);
    case PRODUCT_MODULAR: return 1e-9 * (measuring_ns(plan) + modular_ns(plan, bits));
    case PRODUCT_DIGITS: return 1e-9 * (measuring_ns(plan) + digits_ns(plan, bits));
    default: return (double)plan->m * (double)plan->n * cost_loop_entry(plan);
    }
}
