/*
 * A basis of primes for modular products: how many are needed, and the weights that split
 * numbers and join residues.
 */
#include "basis.h"

#include "../../memory/need.h"
#include "internal.h"

#include <math.h>
#include <stdlib.h>

enum { DEPTH = 1024 };
#define LARGEST_PRIME 33554393.0 /* below 2^25 */

/* ---- Primes, by a sieve ---- */

enum { SMALL = 1 << 13 }; /* divisors up to here settle numbers below 2^26 */

/* Strikes the multiples of p from composite[i] for the odd numbers high - 2 i. */
static void strike(unsigned char *composite, size_t count, uint32_t high, uint32_t p)
{
    /* high - 2 i = 0 (mod p): i = high / 2 (mod p). */
    uint64_t half = (p + 1) / 2;
    for (size_t i = (size_t)(high % p * half % p); i < count; i += p) {
        composite[i] = 1;
    }
}

/* The largest `count` odd primes up to high < 2^26; returns how many were found. */
static size_t primes_below(uint32_t *prime, size_t count, uint32_t high)
{
    /* Odd primes near 2^22 lie 7.7 odd numbers apart on average. */
    size_t window = 16 * count + 512, found = 0;
    unsigned char *composite = need_zeros(window, 1), *small = need_zeros(SMALL, 1);
    high -= high % 2 == 0;
    if (high > 2 * window + SMALL) {
        for (uint32_t p = 3; p < SMALL; p += 2) {
            if (!small[p]) {
                for (uint32_t i = p * p; i < SMALL; i += 2 * p) {
                    small[i] = 1;
                }
                strike(composite, window, high, p);
            }
        }
        for (size_t i = 0; i < window && found < count; i++) {
            if (!composite[i]) {
                prime[found++] = high - 2 * (uint32_t)i;
            }
        }
    }
    free(composite);
    free(small);
    return found;
}

/* base^exponent modulo a prime q < 2^32; exponent q - 2 makes that 1 / base. */
static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t q)
{
    uint64_t power = 1, square = base % q;
    for (; exponent != 0; exponent /= 2) {
        power = exponent % 2 ? power * square % q : power;
        square = square * square % q;
    }
    return power;
}

/* ---- The basis ---- */

/* Equal parts of at most DEPTH terms. */
static size_t depth_of(size_t k)
{
    size_t parts = k / DEPTH + (k % DEPTH != 0);
    return parts == 0 ? 1 : (k + parts - 1) / parts;
}

/* The largest number that depth (q / 2 + 1)^2 + q < 2^53 allows. */
static double largest_prime(size_t depth)
{
    double q = 2 * (sqrt((0x1p53 - 0x1p26) / (double)depth) - 2);
    return q < LARGEST_PRIME ? q : LARGEST_PRIME;
}

/* Bits that sum of a_il b_lj and a margin of four need. */
static double bits_needed(size_t k, double bits_a, double bits_b)
{
    return bits_a + bits_b + log2((double)k + 1) + 3;
}

size_t basis_primes(size_t k, mpfr_prec_t bits_a, mpfr_prec_t bits_b)
{
    /* The smallest prime taken is still within 1 % of the largest. */
    double bits = log2(largest_prime(depth_of(k))) - 0.015;
    return (size_t)(bits_needed(k, (double)bits_a, (double)bits_b) / bits) + 1;
}

/* The widest digits with count 2^width (q / 2 + 1) < 2^53, for numbers of `bits` bits. */
static void split_bits(size_t *digits, unsigned *width, mpfr_prec_t bits, double q, size_t extra)
{
    double room = 53 - log2(q / 2 + 1);
    size_t count = 1;
    while ((double)bits / (double)count > floor(room - log2((double)(count + extra))) - 0.01) {
        count++;
    }
    *digits = count;
    *width = (unsigned)(((size_t)bits + count - 1) / count);
    *width += *width == 0;
}

/* r in (-q / 2, q / 2) for r in [0, q). */
static double symmetric(uint64_t r, uint64_t q)
{
    return r > q / 2 ? -(double)(q - r) : (double)r;
}

static void split_init(Split *split, const Basis *basis, mpfr_prec_t bits)
{
    split_bits(&split->digits, &split->width, bits, basis->q[0], 0);
    split->power = array_alloc(basis->primes * split->digits, sizeof *split->power);
}

/* power[t, d] = factor_t 2^(width (digits - 1 - d)) modulo prime t. */
static void split_powers(Split *split, const Basis *basis, const uint32_t *factor)
{
    for (size_t t = 0; t < basis->primes; t++) {
        uint64_t q = (uint64_t)basis->q[t];
        uint64_t step = power_modulo(2, split->width, q), power = factor == NULL ? 1 : factor[t];
        for (size_t d = split->digits; d-- > 0;) {
            split->power[t * split->digits + d] = symmetric(power, q);
            power = power * step % q;
        }
    }
}

/* Column of weight[.][primes + 1]: the digits of x. */
static void put_digits(Basis *basis, size_t column, const mpz_t x)
{
    const mp_limb_t *limb = mpz_limbs_read(x);
    size_t count = mpz_size(x);
    uint64_t mask = ((uint64_t)1 << basis->width) - 1;
    for (size_t d = 0; d < basis->digits; d++) {
        size_t word = d * basis->width / 64, shift = d * basis->width % 64;
        uint64_t low = word < count ? limb[word] >> shift : 0;
        uint64_t high = word + 1 < count && shift != 0 ? limb[word + 1] << (64 - shift) : 0;
        basis->weight[d * (basis->primes + 1) + column] = (double)((low | high) & mask);
    }
}

/* The weights of the recombination, and factor_t = (M / q_t)^-1 modulo q_t. */
static void weights_init(Basis *basis, uint32_t *factor)
{
    mpz_t all, part;
    mpz_init_set_ui(all, 1);
    mpz_init(part);
    for (size_t t = 0; t < basis->primes; t++) {
        mpz_mul_ui(all, all, (unsigned long)basis->q[t]);
    }
    mpfr_prec_t bits = (mpfr_prec_t)mpz_sizeinbase(all, 2) - basis->cut;
    split_bits(&basis->digits, &basis->width, bits, basis->q[0], basis->primes + 1);
    basis->weight = array_alloc(basis->digits * (basis->primes + 1), sizeof *basis->weight);
    for (size_t t = 0; t <= basis->primes; t++) {
        if (t < basis->primes) {
            unsigned long q = (unsigned long)basis->q[t];
            mpz_divexact_ui(part, all, q);
            factor[t] = (uint32_t)power_modulo(mpz_fdiv_ui(part, q), q - 2, q);
        } else {
            mpz_set(part, all);
        }
        mpz_fdiv_q_2exp(part, part, (mp_bitcnt_t)basis->cut);
        put_digits(basis, t, part);
    }
    mpz_clear(all);
    mpz_clear(part);
}

static void primes_init(Basis *basis, uint32_t *prime)
{
    double high = largest_prime(basis->depth);
    PRODUCT_CHECK(primes_below(prime, basis->primes, (uint32_t)high) == basis->primes);
    for (size_t t = 0; t < basis->primes; t++) {
        basis->q[t] = prime[t];
        basis->reciprocal[t] = 1 / (double)prime[t];
    }
}

void basis_init(Basis *basis, const Plan *plan)
{
    /* Numbers are cut off, not rounded: one bit more than the plan's halves the error. */
    mpfr_prec_t bits_a = plan_bits_a(plan, plan->bits) + !plan->short_a;
    mpfr_prec_t bits_b = plan_bits_b(plan, plan->bits) + !plan->short_b;
    *basis = (Basis){.depth = depth_of(plan->k)};
    /* Digits may hold up to a digit's count of bits more. */
    basis->primes = basis_primes(plan->k, bits_a + bits_a / 16 + 1, bits_b + bits_b / 16 + 1);
    basis->q = array_alloc(basis->primes, sizeof *basis->q);
    basis->reciprocal = array_alloc(basis->primes, sizeof *basis->reciprocal);
    uint32_t *prime = array_alloc(basis->primes, sizeof *prime);
    primes_init(basis, prime);
    split_init(&basis->a, basis, bits_a);
    split_init(&basis->b, basis, bits_b);
    long held_a = (long)(basis->a.digits * basis->a.width);
    long held_b = (long)(basis->b.digits * basis->b.width);
    size_t primes = basis_primes(plan->k, held_a, held_b);
    PRODUCT_CHECK(primes <= basis->primes);
    basis->primes = primes;
    bool exact = plan->short_a && plan->short_b;
    long cut = held_a + held_b - (long)plan->bits - 64;
    basis->cut = exact || cut < 0 ? 0 : cut;
    weights_init(basis, prime);
    split_powers(&basis->a, basis, prime);
    split_powers(&basis->b, basis, NULL);
    free(prime);
}

void basis_clear(Basis *basis)
{
    free(basis->q);
    free(basis->reciprocal);
    free(basis->a.power);
    free(basis->b.power);
    free(basis->weight);
}
