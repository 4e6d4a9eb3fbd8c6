/*
 * The change of patterns without bilinear scores: a row's keys are at most three groups, and of
 * their scores only those that are gated change, all by the same ds.  With P and Q the limit's
 * weight of the gated and of the other keys of A, P + Q = 1,
 *     1 + E = P e^(ds) + Q,   dp = p Q expm1(ds) / (1 + E) if gated, else -p P expm1(ds) / (1 + E).
 */
#include "difference.h"

#include "../evaluator/evaluator.h"

/* Context of what is done row by row. */
typedef struct {
    const Heads *heads;
    const Record *record;
    Difference *e;
} Weights;

/* e.score[row] = ds = a e g (biases and shifts do not change), and e.gate[row], e.grown[row]: expm1
 * and exp of that, where it is near. */
static void gate_row(Worker *worker, const void *context, size_t row)
{
    const Weights *weights = context;
    const Score *score = &weights->heads->bundle->score;
    const Difference *e = weights->e;
    size_t count = weights->heads->count;
    mpfr_ptr all = ap_at(&e->score, row, 0), factor = ap_at(&worker->temp, 0, 0);
    mpfr_set_si(factor, heads_gate_factor(score), MPFR_RNDN);
    lanes_mul(all, numbers_row(ap_at(&e->product, row, 0)), numbers_same(factor), count);
    if (score->gate_scale != 1) {
        mpfr_set_d(factor, score->gate_scale, MPFR_RNDN);
        lanes_mul(all, numbers_row(all), numbers_same(factor), count);
    }
    for (size_t b = 0, near = 0; b < count; b += near + 1) {
        mpfr_ptr ds = ap_at(&e->score, row, b);
        for (near = 0; b + near < count && shift_is_near(ds + near);) {
            near++;
        }
        evaluator_exponentials(worker, ap_at(&e->gate, row, b), ap_at(&e->grown, row, b), ds, near);
    }
}

/* One row of some heads side by side: weight of the limit's and changed, [GROUPS] `step` apart;
 * score and decayed, the gate and exp(-|gate|); ds, its change, and m and grown, expm1 and exp of
 * that. */
typedef struct {
    const RowGroups *groups;
    mpfr_srcptr weight, score, decayed, ds, m, grown;
    mpfr_ptr changed;
    size_t step, count;
} HeadRow;

static mpfr_srcptr weight_of(const HeadRow *at, int g)
{
    return at->weight + (size_t)g * at->step;
}

static mpfr_ptr changed_of(const HeadRow *at, int g)
{
    return at->changed + (size_t)g * at->step;
}

/* sum += count x; t: scratch, a row. */
static void add_counted(Worker *worker, mpfr_ptr sum, mpfr_srcptr x, unsigned long count,
                        mpfr_ptr t, size_t columns)
{
    mpfr_ptr number = ap_at(&worker->temp, 0, 0);
    if (count > 1) {
        mpfr_set_ui(number, count, MPFR_RNDN);
        lanes_mul(t, numbers_row(x), numbers_same(number), columns);
        x = t;
    }
    if (numbers_are_zero(sum, columns)) {
        lanes_set(sum, x, columns);
    } else {
        lanes_add(sum, numbers_row(sum), numbers_row(x), columns);
    }
}

/* f = m / (P e^(ds) + Q), 0 where all of A moves together, so that no weight changes. */
static void set_factor(const HeadRow *at, mpfr_ptr f, mpfr_srcptr p, mpfr_srcptr q)
{
    lanes_mul(f, numbers_row(p), numbers_row(at->grown), at->count);
    lanes_add(f, numbers_row(f), numbers_row(q), at->count);
    lanes_div(f, numbers_row(at->m), numbers_row(f), at->count);
    for (size_t c = 0; c < at->count; c++) {
        if (mpfr_zero_p(p + c) || mpfr_zero_p(q + c)) {
            mpfr_set_zero(f + c, 1);
        }
    }
}

/* changed = dp of the groups of A. */
static void limit_row(Worker *worker, const HeadRow *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr p = ap_at(&worker->lane, 0, 0), q = ap_at(&worker->lane, 1, 0),
             f = ap_at(&worker->lane, 2, 0), t = ap_at(&worker->lane, 3, 0);
    lanes_zero(p, at->count);
    lanes_zero(q, at->count);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(groups, g)) {
            add_counted(worker, groups->gated[g] ? p : q, weight_of(at, g), groups->count[g], t,
                        at->count);
        }
    }
    set_factor(at, f, p, q);
    lanes_mul(q, numbers_row(q), numbers_row(f), at->count);
    lanes_mul(p, numbers_row(p), numbers_row(f), at->count);
    for (size_t c = 0; c < at->count; c++) {
        mpfr_neg(p + c, p + c, MPFR_RNDN);
    }
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(groups, g)) {
            lanes_mul(changed_of(at, g), numbers_row(weight_of(at, g)),
                      numbers_row(groups->gated[g] ? q : p), at->count);
        }
    }
}

/* e^(s') of a gated key and of another, both less max(gate, 0). */
static void moved_exponentials(Evaluator *ev, const HeadRow *at, mpfr_ptr gated, mpfr_ptr other)
{
    lanes_mul(gated, numbers_row(at->decayed), numbers_row(at->grown), at->count);
    for (size_t c = 0; c < at->count; c++) {
        bool positive = mpfr_sgn(at->score + c) > 0;
        limbs_set(other + c, positive ? at->decayed + c : evaluator_decay(ev, 0));
        if (positive) {
            limbs_set(gated + c, at->grown + c);
        }
    }
}

/* changed = r of the groups that the limit leaves out. */
static void leak_row(Worker *worker, const HeadRow *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr gated = ap_at(&worker->lane, 0, 0), other = ap_at(&worker->lane, 1, 0),
             total = ap_at(&worker->lane, 2, 0), t = ap_at(&worker->lane, 3, 0);
    moved_exponentials(worker->ev, at, gated, other);
    lanes_zero(total, at->count);
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        mpfr_srcptr s = groups->gated[g] ? gated : other;
        if (groups->count[g] > 0 && gap > 0) { /* e^(s') e^(-Omega gap) at first */
            lanes_mul(changed_of(at, g), numbers_row(s),
                      numbers_same(evaluator_decay(worker->ev, gap)), at->count);
            s = changed_of(at, g);
        }
        if (groups->count[g] > 0) {
            add_counted(worker, total, s, groups->count[g], t, at->count);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        mpfr_ptr r = changed_of(at, g);
        if (groups_left_out(groups, g)) {
            lanes_div(r, numbers_row(r), numbers_row(total), at->count);
        }
    }
}

/* All weights anew, of the gate after its change: for changes that are far, beside which nothing
 * cancels.  limit: over A alone, else at Omega over all. */
static mpfr_srcptr far_weights(Worker *worker, const HeadRow *at, bool limit)
{
    mpfr_ptr weight = ap_at(&worker->temp, 0, 5), score = ap_at(&worker->temp, 0, 8);
    limbs_add(score, at->score, at->ds);
    groups_far_weights(worker, at->groups, score, limit, weight, 1);
    return weight;
}

static void far_limit(Worker *worker, const HeadRow *at)
{
    mpfr_srcptr weight = far_weights(worker, at, true);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(at->groups, g)) {
            limbs_sub(changed_of(at, g), weight + g, weight_of(at, g));
        }
    }
}

static void far_leak(Worker *worker, const HeadRow *at)
{
    mpfr_srcptr weight = far_weights(worker, at, false);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_left_out(at->groups, g)) {
            limbs_set(changed_of(at, g), weight + g);
        }
    }
}

/* Are the change, and the gate, of head c near? */
static bool change_is_near(const HeadRow *at, size_t c)
{
    return shift_is_near(at->ds + c);
}

static bool leak_is_near(const HeadRow *at, size_t c)
{
    return shift_is_near(at->ds + c) && shift_is_near(at->score + c);
}

/* Heads from c on: those that are near, together, or one that is not. */
static HeadRow next_heads(const HeadRow *all, size_t c, bool (*near)(const HeadRow *, size_t))
{
    HeadRow at = *all;
    size_t end = c;
    while (end < all->count && end - c < WORKER_COLUMNS && near(all, end)) {
        end++;
    }
    at.weight += c, at.score += c, at.decayed += c, at.ds += c, at.m += c, at.grown += c;
    at.changed += c;
    at.count = end > c ? end - c : 1;
    return at;
}

/* at->changed = dp of A's groups, and where there are leaks r of the others. */
static void change_row(Worker *worker, const HeadRow *all, bool leaks)
{
    bool others = false;
    for (int g = 0; leaks && g < GROUPS; g++) {
        others = others || groups_left_out(all->groups, g);
    }
    for (size_t c = 0; c < all->count;) {
        HeadRow at = next_heads(all, c, change_is_near);
        if (change_is_near(all, c)) {
            limit_row(worker, &at);
        } else {
            far_limit(worker, &at);
        }
        c += at.count;
    }
    for (size_t c = 0; others && c < all->count;) {
        HeadRow at = next_heads(all, c, leak_is_near);
        if (leak_is_near(all, c)) {
            leak_row(worker, &at);
        } else {
            far_leak(worker, &at);
        }
        c += at.count;
    }
}

static void weights_row(Worker *worker, const void *context, size_t row)
{
    const Weights *weights = context;
    const Heads *heads = weights->heads;
    const Record *record = weights->record;
    const Difference *e = weights->e;
    bool alike = heads->bundle->score.extra == NULL;
    for (size_t b = 0; b < heads->count; b += alike ? heads->count : 1) {
        RowGroups groups = groups_of_row(heads, heads->first + b, row);
        HeadRow at = {.groups = &groups,
                      .weight = ap_at(&record->group, row, b),
                      .score = ap_at(&record->score, row, b),
                      .decayed = ap_at(&record->gate, row, b),
                      .ds = ap_at(&e->score, row, b),
                      .m = ap_at(&e->gate, row, b),
                      .grown = ap_at(&e->grown, row, b),
                      .changed = ap_at(&e->group, row, b),
                      .step = heads->count,
                      .count = alike ? heads->count : 1};
        change_row(worker, &at, !e->limit);
    }
}

void difference_group_weights(const Heads *heads, const Record *record, Difference *e)
{
    Evaluator *ev = heads->ev;
    Heads patterns = heads_patterns(heads);
    Weights weights = {&patterns, record, e};
    size_t rows = e->stream.rows, heads_rows = rows * patterns.count;
    heads_gate_product(heads, e->input, &e->product);
    evaluator_each(ev, rows, heads_rows, gate_row, &weights);
    evaluator_each(ev, rows, heads_rows * GROUPS, weights_row, &weights);
}
