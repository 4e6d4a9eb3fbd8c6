/*
 * The change of patterns without bilinear scores: a row's keys are at most three groups, and of
 * their scores only those that are gated change, all by the same ds.  With P and Q the limit's
 * weight of the gated and of the other keys of A, P + Q = 1,
 *     1 + E = P e^(ds) + Q,   dp = p Q expm1(ds) / (1 + E) if gated, else -p P expm1(ds) / (1 + E).
 */
#include "../shift.h"
#include "difference.h"

/* Context of what is done row by row. */
typedef struct {
    const Heads *heads;
    const Record *record;
    Difference *e;
} Weights;

/* e.score[row] = ds = a e g (biases do not change), and e.gate[row], e.grown[row]: expm1 and exp of
 * that, where it is near. */
static void gate_row(Evaluator *ev, Worker *worker, const void *context, size_t row)
{
    const Weights *weights = context;
    const Score *score = &weights->heads->bundle->score;
    const Difference *e = weights->e;
    for (size_t b = 0; b < weights->heads->count; b++) {
        mpfr_ptr ds = ap_at(&e->score, row, b);
        mpfr_set_zero(ds, 1);
        if (score->kind == SCORE_GATE) {
            mpfr_mul_si(ds, ap_at(&e->product, row, b), heads_gate_factor(score), MPFR_RNDN);
            if (score->gate_scale != 1) {
                mpfr_mul_d(ds, ds, score->gate_scale, MPFR_RNDN);
            }
        }
        worker_note_change(worker, ds);
    }
    for (size_t b = 0, near = 0; b < weights->heads->count; b += near + 1) {
        mpfr_ptr ds = ap_at(&e->score, row, b);
        for (near = 0; b + near < weights->heads->count && shift_is_near(ds + near);) {
            near++;
        }
        evaluator_exponentials(ev, worker, ap_at(&e->gate, row, b), ap_at(&e->grown, row, b), ds,
                               near);
    }
}

/* What is at hand of one row of one head: weight of the limit's and changed, [GROUPS] `step`
 * apart; score and
 * decayed, the gate and exp(-|gate|); ds, its change, and m and grown, expm1 and exp of that. */
typedef struct {
    const RowGroups *groups;
    mpfr_srcptr weight, score, decayed, ds, m, grown;
    mpfr_ptr changed;
    size_t step;
} HeadRow;

static mpfr_srcptr weight_of(const HeadRow *at, int g)
{
    return at->weight + (size_t)g * at->step;
}

static mpfr_ptr changed_of(const HeadRow *at, int g)
{
    return at->changed + (size_t)g * at->step;
}

/* changed = dp of the groups of A. */
static void limit_row(Worker *worker, const HeadRow *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr p = ap_at(&worker->temp, 0, 0), q = ap_at(&worker->temp, 0, 1),
             f = ap_at(&worker->temp, 0, 2), t = ap_at(&worker->temp, 0, 3);
    mpfr_set_zero(p, 1);
    mpfr_set_zero(q, 1);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(groups, g)) {
            mpfr_ptr part = groups->gated[g] ? p : q;
            if (groups->count[g] == 1) {
                limbs_add(part, part, weight_of(at, g));
            } else {
                mpfr_mul_ui(t, weight_of(at, g), groups->count[g], MPFR_RNDN);
                limbs_add(part, part, t);
            }
        }
    }
    if (mpfr_zero_p(p) || mpfr_zero_p(q)) {
        mpfr_set_zero(f, 1); /* all of A moves together: no weight changes */
    } else {
        limbs_mul(f, p, at->grown);
        limbs_add(f, f, q);
        limbs_div(f, at->m, f);
    }
    limbs_mul(q, q, f);
    limbs_mul(p, p, f);
    mpfr_neg(p, p, MPFR_RNDN);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(groups, g)) {
            limbs_mul(changed_of(at, g), weight_of(at, g), groups->gated[g] ? q : p);
        }
    }
}

/* changed = r of the groups that the limit leaves out. */
static void leak_row(Evaluator *ev, Worker *worker, const HeadRow *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr moved = ap_at(&worker->temp, 0, 0), total = ap_at(&worker->temp, 0, 1),
             t = ap_at(&worker->temp, 0, 2);
    /* e^(s') of a gated key and of another, both less max(gate, 0). */
    bool positive = mpfr_sgn(at->score) > 0;
    mpfr_srcptr gated = positive ? at->grown : moved;
    mpfr_srcptr other = positive ? at->decayed : evaluator_decay(ev, 0);
    limbs_mul(moved, at->decayed, at->grown);
    mpfr_set_zero(total, 1);
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        mpfr_srcptr s = groups->gated[g] ? gated : other;
        if (groups->count[g] == 0) {
            continue;
        }
        if (gap > 0) { /* e^(s') e^(-Omega gap) at first */
            limbs_mul(changed_of(at, g), s, evaluator_decay(ev, gap));
            s = changed_of(at, g);
        }
        if (groups->count[g] > 1) {
            mpfr_mul_ui(t, s, groups->count[g], MPFR_RNDN);
            s = t;
        }
        limbs_add(total, total, s);
    }
    for (int g = 0; g < GROUPS; g++) {
        if (groups_left_out(groups, g)) {
            limbs_div(changed_of(at, g), changed_of(at, g), total);
            worker_note_leak(worker, changed_of(at, g));
        }
    }
}

/* All weights anew, of the gate after its change: for changes that are far, beside which nothing
 * cancels.  limit: over A alone, else at Omega over all. */
static mpfr_srcptr far_weights(Evaluator *ev, Worker *worker, const HeadRow *at, bool limit)
{
    mpfr_ptr weight = ap_at(&worker->temp, 0, 5), score = ap_at(&worker->temp, 0, 8);
    limbs_add(score, at->score, at->ds);
    groups_far_weights(ev, worker, at->groups, score, limit, weight, 1);
    return weight;
}

static void far_limit(Evaluator *ev, Worker *worker, const HeadRow *at)
{
    mpfr_srcptr weight = far_weights(ev, worker, at, true);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(at->groups, g)) {
            limbs_sub(changed_of(at, g), weight + g, weight_of(at, g));
        }
    }
}

static void far_leak(Evaluator *ev, Worker *worker, const HeadRow *at)
{
    mpfr_srcptr weight = far_weights(ev, worker, at, false);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_left_out(at->groups, g)) {
            limbs_set(changed_of(at, g), weight + g);
            worker_note_leak(worker, changed_of(at, g));
        }
    }
}

/* at->changed = dp of A's groups, and where there are leaks r of the others. */
static void change_row(Evaluator *ev, Worker *worker, const HeadRow *at, bool leaks)
{
    bool near = shift_is_near(at->ds), others = false;
    for (int g = 0; leaks && g < GROUPS; g++) {
        others = others || groups_left_out(at->groups, g);
    }
    if (near) {
        limit_row(worker, at);
    } else {
        far_limit(ev, worker, at);
    }
    if (others && near && shift_is_near(at->score)) {
        leak_row(ev, worker, at);
    } else if (others) {
        far_leak(ev, worker, at);
    }
}

static void weights_row(Evaluator *ev, Worker *worker, const void *context, size_t row)
{
    const Weights *weights = context;
    const Heads *heads = weights->heads;
    const Record *record = weights->record;
    const Difference *e = weights->e;
    RowGroups groups = groups_of_row(heads, heads->first, row);
    for (size_t b = 0; b < heads->count; b++) {
        if (b > 0 && heads->bundle->score.extra != NULL) {
            groups = groups_of_row(heads, heads->first + b, row);
        }
        HeadRow at = {.groups = &groups,
                      .weight = ap_at(&record->group, row, b),
                      .score = ap_at(&record->score, row, b),
                      .decayed = ap_at(&record->gate, row, b),
                      .ds = ap_at(&e->score, row, b),
                      .m = ap_at(&e->gate, row, b),
                      .grown = ap_at(&e->grown, row, b),
                      .changed = ap_at(&e->group, row, b),
                      .step = heads->count};
        change_row(ev, worker, &at, !e->limit);
    }
}

void difference_group_weights(Evaluator *ev, const Heads *heads, const Record *record,
                              Difference *e)
{
    Heads patterns = heads_patterns(heads);
    Weights weights = {&patterns, record, e};
    size_t rows = e->stream.rows, heads_rows = rows * patterns.count;
    if (heads->bundle->score.kind == SCORE_GATE) {
        heads_gate_product(ev, heads, &e->stream, &e->product);
    }
    evaluator_each(ev, rows, heads_rows, gate_row, &weights);
    evaluator_each(ev, rows, heads_rows * GROUPS, weights_row, &weights);
}
