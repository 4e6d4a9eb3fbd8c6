/*
 * exp and expm1 of single numbers, in fixed point on limbs.
 *
 * x = n ln 2 + r, 0 < r < 0.6932, and r = four times six bits and a rest s < 2^-24: exp(x) = 2^n
 * times a number of each of four tables times exp(s), the sum of s^k / k!, by blocks of m terms,
 * m^2 at least their number, with the powers up to s^m and Horner's rule in s^m.
 *
 * Errors in u = 2^-F, F = 64 limbs: of the reduction 2; of the series 6 (powers, 1 times the sum of
 * 1 / j!; a product a block and a division a word, 2 each, those before the last being divided
 * further; terms left out, 1/4); of tables and products, all of numbers of at least 1, 1 each: less
 * than 17.  With F >= p + 6 and the rounding to p bits, less than 1.3 2^-p.  exp(x) - 1, for
 * |x| >= 2^-c and c = p / 8 + 2, has F >= p + c + 6, which holds what cancels, 17 (1 + 2^c).
 */
#include "fixed.h"

#include "../../memory/need.h"
#include "limbs_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* GUARD: 17 units of 2^(-64 limbs) and a rounding are less than two roundings. */
enum { STEP = 6, STEPS = 4, REDUCED = STEP * STEPS, TABLE = 1 << STEP, GUARD = 6, EXP_MOST = 20 };

size_t fixed_limbs(double bits)
{
    return (size_t)ceil(bits / 64);
}

/* Bits that expm1 has room to cancel. */
static mpfr_prec_t cancelled(mpfr_prec_t bits)
{
    return bits / 8 + 2;
}

/* Powers of s whose terms reach a unit of the last limb. */
static size_t terms_of(size_t limbs)
{
    size_t terms = 0;
    for (size_t bits = 0; bits < 64 * limbs + 2;) {
        terms++;
        bits += REDUCED + 63 - (size_t)__builtin_clzll(terms);
    }
    return terms;
}

static size_t root_of(size_t terms)
{
    size_t root = 2;
    while (root * root < terms) {
        root++;
    }
    return root;
}

ApExp *ap_exp_create(mpfr_prec_t bits)
{
    ApExp *e = need_zeros(1, sizeof *e);
    e->limbs = fixed_limbs((double)(bits + cancelled(bits) + GUARD));
    e->root = root_of(terms_of(e->limbs));
    return e;
}

void ap_exp_free(ApExp *e)
{
    if (e != NULL && e->table != NULL) {
        free(e->table);
        mpfr_clears(e->ratio, e->square, e->factor, (mpfr_ptr)0);
    }
    free(e);
}

void fixed_of(mp_limb_t *y, size_t limbs, size_t integers, mpfr_srcptr x)
{
    const size_t count = mpfr_regular_p(x) ? ((size_t)mpfr_get_prec(x) + 63) / 64 : 0;
    const long low = count == 0 ? 0 : 64 * (long)(limbs - count) + mpfr_get_exp(x);
    for (size_t i = 0; i < limbs + integers; i++) {
        y[i] = word_from(mpfr_custom_get_significand(x), count, 64 * (long)i - low);
    }
}

void fixed_to(mpfr_ptr x, mp_limb_t *limb, size_t count, long unit)
{
    while (limb[count - 1] == 0) {
        count--;
    }
    unsigned up = (unsigned)__builtin_clzll(limb[count - 1]);
    if (up != 0) {
        mpn_lshift(limb, limb, (mp_size_t)count, up);
    }
    mpfr_custom_init_set(x, MPFR_REGULAR_KIND, unit + 64 * (long)count - up,
                         64 * (mpfr_prec_t)count, limb);
}

void fixed_multiply(ApExp *e, mp_limb_t *out, const mp_limb_t *a, size_t na, const mp_limb_t *b,
                    size_t nb, size_t drop)
{
    if (na < nb) {
        mpn_mul(e->wide, b, (mp_size_t)nb, a, (mp_size_t)na);
    } else {
        mpn_mul(e->wide, a, (mp_size_t)na, b, (mp_size_t)nb);
    }
    memcpy(out, e->wide + drop, (na + nb - drop) * sizeof *out);
}

/* y [limbs + 1] = exp(s), s [limbs] < 2^-24: by blocks of `root` powers, and a block of fewer limbs
 * the smaller it is.  Numerators gather in c, K! / k!, until they are divided by. */
static void series(ApExp *e, mp_limb_t *y, const mp_limb_t *s, size_t limbs)
{
    const size_t last = terms_of(limbs) - 1, root = root_of(last);
    mp_limb_t c = 1;
    memcpy(e->power + limbs, s, limbs * sizeof *s);
    for (size_t j = 2; j <= root; j++) {
        fixed_multiply(e, e->power + j * limbs, e->power + j / 2 * limbs, limbs,
                       e->power + (j - j / 2) * limbs, limbs, limbs);
    }
    memset(y, 0, (limbs + 1) * sizeof *y);
    for (size_t k = last;; k--) {
        const size_t j = k % root, skip = REDUCED * (k - j) / 64, rest = limbs - skip;
        y[limbs] +=
            j == 0 ? c : mpn_addmul_1(y + skip, e->power + j * limbs + skip, (mp_size_t)rest, c);
        c *= k == 0 ? 1 : k;
        if (k == 0 || c >> 48 != 0) {
            mpn_divrem_1(y + skip, 0, y + skip, (mp_size_t)rest + 1, c);
            c = 1;
        }
        if (k == 0) {
            return;
        }
        if (j == 0) {
            const size_t before = REDUCED * (k - root) / 64;
            fixed_multiply(e, y + before, y + skip, rest + 1, e->power + root * limbs + before,
                           limbs - before, rest);
        }
    }
}

static mp_limb_t *table_at(const ApExp *e, size_t step, size_t i)
{
    return e->table + (step * TABLE + i) * (e->limbs + 1);
}

/* Powers of exp(2^-24), each table's next one being the step of the table before it: a limb more
 * than is kept holds the errors of 2^24 steps. */
static void fill(ApExp *e)
{
    const size_t size = e->limbs + 1;
    mp_limb_t *power = e->sum, *step = e->rest;
    mpfr_t x;
    mpfr_init2(x, 64 * (mpfr_prec_t)(size + 1));
    mpfr_set_ui_2exp(x, 1, -REDUCED, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    fixed_of(step, size, 1, x);
    for (size_t t = STEPS; t-- > 0;) {
        memset(power, 0, size * sizeof *power);
        power[size] = 1;
        for (size_t i = 0; i < TABLE; i++) {
            memcpy(table_at(e, t, i), power + 1, size * sizeof *power);
            fixed_multiply(e, power, power, size + 1, step, size + 1, size);
        }
        memcpy(step, power, (size + 1) * sizeof *step);
    }
    mpfr_const_log2(x, MPFR_RNDN);
    fixed_of(e->ln2, size, 0, x);
    mpfr_clear(x);
}

void fixed_need_tables(ApExp *e)
{
    if (e->table != NULL) {
        return;
    }
    const size_t size = e->limbs + 1, most = 3 * size + 8;
    e->table =
        need_room(STEPS * TABLE * size + size + (e->root + 1) * size + 4 * most, sizeof *e->table);
    e->ln2 = e->table + STEPS * TABLE * size;
    e->power = e->ln2 + size;
    e->wide = e->power + (e->root + 1) * size;
    e->rest = e->wide + 2 * most;
    e->sum = e->rest + most;
    mpfr_inits2(64 * (mpfr_prec_t)most, e->ratio, e->square, e->factor, (mpfr_ptr)0);
    mpfr_const_pi(e->ratio, MPFR_RNDN);
    mpfr_rec_sqrt(e->ratio, e->ratio, MPFR_RNDN);
    mpfr_mul_2ui(e->ratio, e->ratio, 1, MPFR_RNDN);
    fill(e);
}

/* y = exp(x) within 17 units of 2^(-64 limbs), relatively, whose limbs are e->sum. */
static void exp_fixed(ApExp *e, mpfr_ptr y, mpfr_srcptr x, size_t limbs)
{
    fixed_need_tables(e);
    const size_t size = limbs + 1, unused = e->limbs - limbs;
    mp_limb_t *r = e->rest, *multiple = e->wide, *sum = e->sum;
    /* A little less than x / ln 2, so that r > 0 whatever the rounding. */
    const long n = (long)floor(mpfr_get_d(x, MPFR_RNDN) * 0x1.71547652b82fep0 - 0x1p-20);
    fixed_of(r, limbs, 1, x);
    multiple[size] =
        mpn_mul_1(multiple, e->ln2 + unused, (mp_size_t)size, (mp_limb_t)(n < 0 ? -n : n));
    if (mpfr_sgn(x) < 0) {
        mpn_sub_n(r, multiple + 1, r, (mp_size_t)size);
    } else if (n < 0) {
        mpn_add_n(r, r, multiple + 1, (mp_size_t)size);
    } else {
        mpn_sub_n(r, r, multiple + 1, (mp_size_t)size);
    }
    const mp_limb_t first = r[limbs - 1];
    r[limbs - 1] = first << REDUCED >> REDUCED;
    series(e, sum, r, limbs);
    for (unsigned t = 0; t < STEPS; t++) {
        const size_t i = first >> (64 - STEP * (t + 1)) & (TABLE - 1);
        fixed_multiply(e, sum, sum, size, table_at(e, t, i) + unused, size, limbs);
    }
    fixed_to(y, sum, size, n - 64 * (long)limbs);
}

bool fixed_can(const ApExp *e, mpfr_srcptr x, mpfr_exp_t most, mpfr_prec_t bits)
{
    const mpfr_exp_t far = (mpfr_exp_t)1 << 22;
    return mpfr_regular_p(x) && mpfr_get_exp(x) <= most && mpfr_get_emin() < -far &&
           mpfr_get_emax() > far && fixed_limbs((double)(bits + GUARD)) <= e->limbs;
}

void ap_exp(ApExp *e, mpfr_ptr y, mpfr_srcptr x)
{
    const mpfr_prec_t bits = mpfr_get_prec(y);
    mpfr_t exact;
    if (!fixed_can(e, x, EXP_MOST, bits)) {
        mpfr_exp(y, x, MPFR_RNDN);
        return;
    }
    exp_fixed(e, exact, x, fixed_limbs((double)(bits + GUARD)));
    mpfr_set(y, exact, MPFR_RNDN);
}

void ap_expm1(ApExp *e, mpfr_ptr m, mpfr_ptr g, mpfr_srcptr x)
{
    const mpfr_prec_t lost = cancelled(mpfr_get_prec(m)), bits = mpfr_get_prec(m) + lost;
    mpfr_t exact;
    if (!fixed_can(e, x, EXP_MOST, bits) || mpfr_get_exp(x) <= -lost) {
        mpfr_expm1(m, x, MPFR_RNDN);
        mpfr_exp(g, x, MPFR_RNDN);
        return;
    }
    exp_fixed(e, exact, x, fixed_limbs((double)(bits + GUARD)));
    mpfr_sub_ui(m, exact, 1, MPFR_RNDN);
    mpfr_set(g, exact, MPFR_RNDN);
}
