/*
 * The change of patterns with bilinear scores, key by key: for a query q and a key k that change
 * by dq and dk,
 *     ds = (q + dq) dk + dq k.
 */
#include "change.h"
#include "structured.h"

/* Head index of a bundle's scores, and the largest coefficient of Omega in the row at hand. */
typedef struct {
    const Score *score;
    size_t index;
    int best;
} Head;

static Head head_at_row(const RefRun *run, const Score *score, size_t h, size_t row)
{
    return (Head){score, h, run_best_position(run, score, h, row)};
}

/* t = ds of row's query and key j; moved_query holds the row's. */
static void score_change(RefRun *run, mpfr_ptr ds, size_t row, size_t j, size_t width, mpfr_ptr t,
                         mpfr_ptr u)
{
    const RunChange *change = run->change;
    ap_dot(ds, ap_at(&change->moved_query, 0, 0), ap_at(&change->key, j, 0), width, t);
    ap_dot(u, ap_at(&change->query, row, 0), ap_at(&run->scratch.key, j, 0), width, t);
    (void)FAULT("difference-of-keys-alone", 0, mpfr_add(ds, ds, u, MPFR_RNDN));
}

/* The keys of A, and the others that row sees. */
static bool in_limit(const RefRun *run, const Head *head, size_t row, size_t j)
{
    return run_sees(run, head->score, row, j) &&
           run_position(run, head->score, head->index, row, j) == head->best;
}

static bool left_out(const RefRun *run, const Head *head, size_t row, size_t j)
{
    return run_sees(run, head->score, row, j) &&
           run_position(run, head->score, head->index, row, j) != head->best;
}

/* The row's exponentials: change.pattern[row, j] = expm1(ds) on A, e^(s') e^(-Omega gap) elsewhere;
 * grown[0, j] = p_j e^(ds) on A. */
static void row_exponentials(RefRun *run, const Head *head, size_t row, size_t width)
{
    RunChange *change = run->change;
    mpfr_ptr ds = ap_at(&change->temp, 0, 0), t = ap_at(&change->temp, 0, 1),
             u = ap_at(&change->temp, 0, 2);
    for (size_t c = 0; c < width; c++) {
        mpfr_add(ap_at(&change->moved_query, 0, c), ap_at(&run->scratch.query, row, c),
                 ap_at(&change->query, row, c), MPFR_RNDN);
    }
    for (size_t j = 0; j < run->stream.rows; j++) {
        mpfr_ptr m = ap_at(&change->pattern, row, j), g = ap_at(&change->grown, j, 0);
        if (!run_sees(run, head->score, row, j)) {
            continue;
        }
        int k = run_position(run, head->score, head->index, row, j);
        score_change(run, ds, row, j, width, t, u);
        change_note(change, ds);
        if (k == head->best) {
            change_exponentials(run, m, g, ds);
            mpfr_mul(g, g, ap_at(&run->scratch.pattern, row, j), MPFR_RNDN);
        } else {
            ap_dot(u, ap_at(&run->scratch.query, row, 0), ap_at(&run->scratch.key, j, 0), width, t);
            mpfr_add(u, u, ds, MPFR_RNDN);
            ap_exp(run->exp, m, u);
            mpfr_mul(m, m, run_decay(run, head->best - k), MPFR_RNDN);
        }
    }
}

/* change.pattern[row, j] = dp, j in A, of expm1(ds) there; one = 1 + E. */
static void limit_entry(RefRun *run, size_t row, size_t j, mpfr_srcptr sum, mpfr_srcptr one)
{
    RunChange *change = run->change;
    mpfr_ptr d = ap_at(&change->pattern, row, j);
    mpfr_srcptr p = ap_at(&run->scratch.pattern, row, j);
    if (mpfr_cmp_d(sum, -0.5) < 0) {
        mpfr_div(d, ap_at(&change->grown, j, 0), one, MPFR_RNDN);
        mpfr_sub(d, d, p, MPFR_RNDN);
    } else {
        (void)FAULT("difference-without-e", 0, mpfr_sub(d, d, sum, MPFR_RNDN));
        mpfr_mul(d, d, p, MPFR_RNDN);
        mpfr_div(d, d, one, MPFR_RNDN);
    }
}

/* change.pattern[row] = dp on A, r elsewhere. */
static void softmax_row(RefRun *run, const Head *head, size_t row, size_t width)
{
    RunChange *change = run->change;
    mpfr_ptr sum = ap_at(&change->temp, 0, 3), one = ap_at(&change->temp, 0, 4),
             total = ap_at(&change->temp, 0, 5), t = ap_at(&change->temp, 0, 6);
    size_t keys = run->stream.rows;
    row_exponentials(run, head, row, width);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(one, 1);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < keys; j++) {
        mpfr_srcptr m = ap_at(&change->pattern, row, j);
        if (in_limit(run, head, row, j)) {
            mpfr_mul(t, ap_at(&run->scratch.pattern, row, j), m, MPFR_RNDN);
            mpfr_add(sum, sum, t, MPFR_RNDN);
            mpfr_add(one, one, ap_at(&change->grown, j, 0), MPFR_RNDN);
        } else if (left_out(run, head, row, j)) {
            mpfr_add(total, total, m, MPFR_RNDN);
        }
    }
    mpfr_mul(t, one, ap_at(&run->scratch.gate, row, 0), MPFR_RNDN);
    mpfr_add(total, total, t, MPFR_RNDN);
    for (size_t j = 0; j < keys; j++) {
        mpfr_ptr d = ap_at(&change->pattern, row, j);
        if (in_limit(run, head, row, j)) {
            limit_entry(run, row, j, sum, one);
        } else if (left_out(run, head, row, j)) {
            mpfr_div(d, d, total, MPFR_RNDN);
            change_note(change, d);
        }
    }
}

void change_bilinear_softmax(RefRun *run, const Score *score, size_t h)
{
    RunChange *change = run->change;
    size_t width =
        bilinear_products(run, score, h, &change->stream, false, &change->query, &change->key);
    for (size_t row = 0; row < run->stream.rows; row++) {
        Head head = head_at_row(run, score, h, row);
        softmax_row(run, &head, row, width);
    }
}

/* change.mixed[row] */
static void mix_row(RefRun *run, const Head *head, size_t row, size_t width)
{
    RunChange *change = run->change;
    mpfr_ptr dy = ap_at(&change->mixed, row, 0), y = ap_at(&change->temp, 0, 0),
             t = ap_at(&change->temp, 0, 1);
    for (size_t c = 0; c < width; c++) {
        mpfr_set_zero(dy + c, 1);
    }
    for (size_t j = 0; j < run->stream.rows; j++) {
        if (in_limit(run, head, row, j)) {
            ap_axpy(dy, ap_at(&change->pattern, row, j), ap_at(&change->moved, j, 0), width, t);
            ap_axpy(dy, ap_at(&run->scratch.pattern, row, j), ap_at(&change->value, j, 0), width,
                    t);
        }
    }
    for (size_t c = 0; c < width; c++) {
        mpfr_add(y, ap_at(&run->scratch.mixed, row, c), dy + c, MPFR_RNDN);
        for (size_t j = 0; j < run->stream.rows; j++) {
            if (left_out(run, head, row, j)) {
                mpfr_sub(t, ap_at(&change->moved, j, c), y, MPFR_RNDN);
                mpfr_mul(t, t, ap_at(&change->pattern, row, j), MPFR_RNDN);
                mpfr_add(dy + c, dy + c, t, MPFR_RNDN);
            }
        }
    }
}

void change_bilinear_mix(RefRun *run, const Score *score, size_t h, size_t width)
{
    for (size_t row = 0; row < run->stream.rows; row++) {
        Head head = head_at_row(run, score, h, row);
        mix_row(run, &head, row, width);
    }
}
