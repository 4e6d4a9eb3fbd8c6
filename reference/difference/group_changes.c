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
    const Difference *e = weights->e;
    size_t count = weights->heads->count;
    heads_gate_row(worker, weights->heads, ap_at(&e->score, row, 0), ap_at(&e->product, row, 0),
                   false);
    for (size_t b = 0, near = 0; b < count; b += near + 1) {
        mpfr_ptr ds = ap_at(&e->score, row, b);
        for (near = 0; b + near < count && shift_is_near(ds + near);) {
            near++;
        }
        evaluator_exponentials(worker, ap_at(&e->gate, row, b), ap_at(&e->grown, row, b), ds, near);
    }
}

/* Numbers of some heads in a row: of the record or of the change, and of a group of theirs. */
static mpfr_ptr run_of(const ApMat *m, const HeadRun *at)
{
    return ap_at(m, at->row, at->first);
}

static mpfr_ptr group_of(const ApMat *m, const Weights *weights, const HeadRun *at, int g)
{
    return ap_at(m, at->row, (size_t)g * weights->heads->count + at->first);
}

/* p of one key of a group in the limit, and its change or, of a group left out, its r. */
static mpfr_srcptr weight_of(const Weights *weights, const HeadRun *at, int g)
{
    return group_of(&weights->record->group, weights, at, g);
}

static mpfr_ptr changed_of(const Weights *weights, const HeadRun *at, int g)
{
    return group_of(&weights->e->group, weights, at, g);
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

/* f = expm1(ds) / (P e^(ds) + Q), 0 where all of A moves together, so that no weight changes. */
static void set_factor(const Difference *e, const HeadRun *at, mpfr_ptr f, mpfr_srcptr p,
                       mpfr_srcptr q)
{
    lanes_mul(f, numbers_row(p), numbers_row(run_of(&e->grown, at)), at->count);
    lanes_add(f, numbers_row(f), numbers_row(q), at->count);
    lanes_div(f, numbers_row(run_of(&e->gate, at)), numbers_row(f), at->count);
    for (size_t c = 0; c < at->count; c++) {
        if (mpfr_zero_p(p + c) || mpfr_zero_p(q + c)) {
            mpfr_set_zero(f + c, 1);
        }
    }
}

/* changed = dp of the groups of A. */
static void limit_row(Worker *worker, const Weights *weights, const HeadRun *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr p = ap_at(&worker->lane, 0, 0), q = ap_at(&worker->lane, 1, 0),
             f = ap_at(&worker->lane, 2, 0), t = ap_at(&worker->lane, 3, 0);
    lanes_zero(p, at->count);
    lanes_zero(q, at->count);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(groups, g)) {
            add_counted(worker, groups->gated[g] ? p : q, weight_of(weights, at, g),
                        groups->count[g], t, at->count);
        }
    }
    set_factor(weights->e, at, f, p, q);
    lanes_mul(q, numbers_row(q), numbers_row(f), at->count);
    lanes_mul(p, numbers_row(p), numbers_row(f), at->count);
    for (size_t c = 0; c < at->count; c++) {
        mpfr_neg(p + c, p + c, MPFR_RNDN);
    }
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(groups, g)) {
            lanes_mul(changed_of(weights, at, g), numbers_row(weight_of(weights, at, g)),
                      numbers_row(groups->gated[g] ? q : p), at->count);
        }
    }
}

/* e^(s') of a gated key and of another, both less max(gate, 0). */
static void moved_exponentials(Evaluator *ev, const Weights *weights, const HeadRun *at,
                               mpfr_ptr gated, mpfr_ptr other)
{
    mpfr_srcptr score = run_of(&weights->record->score, at),
                decayed = run_of(&weights->record->gate, at),
                grown = run_of(&weights->e->grown, at);
    lanes_mul(gated, numbers_row(decayed), numbers_row(grown), at->count);
    for (size_t c = 0; c < at->count; c++) {
        bool positive = mpfr_sgn(score + c) > 0;
        limbs_set(other + c, positive ? decayed + c : evaluator_decay(ev, 0));
        if (positive) {
            limbs_set(gated + c, grown + c);
        }
    }
}

/* changed = r of the groups that the limit leaves out. */
static void leak_row(Worker *worker, const Weights *weights, const HeadRun *at)
{
    const RowGroups *groups = at->groups;
    mpfr_ptr gated = ap_at(&worker->lane, 0, 0), other = ap_at(&worker->lane, 1, 0),
             total = ap_at(&worker->lane, 2, 0), t = ap_at(&worker->lane, 3, 0);
    moved_exponentials(worker->ev, weights, at, gated, other);
    lanes_zero(total, at->count);
    for (int g = 0; g < GROUPS; g++) {
        int gap = groups->best - groups->coefficient[g];
        mpfr_srcptr s = groups->gated[g] ? gated : other;
        if (groups->count[g] > 0 && gap > 0) { /* e^(s') e^(-Omega gap) at first */
            lanes_mul(changed_of(weights, at, g), numbers_row(s),
                      numbers_same(evaluator_decay(worker->ev, gap)), at->count);
            s = changed_of(weights, at, g);
        }
        if (groups->count[g] > 0) {
            add_counted(worker, total, s, groups->count[g], t, at->count);
        }
    }
    for (int g = 0; g < GROUPS; g++) {
        mpfr_ptr r = changed_of(weights, at, g);
        if (groups_left_out(groups, g)) {
            lanes_div(r, numbers_row(r), numbers_row(total), at->count);
        }
    }
}

/* All weights anew, of a head's gate after its change: for changes that are far, beside which
 * nothing cancels.  limit: over A alone, else at Omega over all. */
static mpfr_srcptr far_weights(Worker *worker, const Weights *weights, const HeadRun *at,
                               bool limit)
{
    mpfr_ptr weight = ap_at(&worker->temp, 0, 5), score = ap_at(&worker->temp, 0, 8);
    limbs_add(score, run_of(&weights->record->score, at), run_of(&weights->e->score, at));
    groups_far_weights(worker, at->groups, score, limit, weight, 1);
    return weight;
}

static size_t near_changes(const void *context, size_t row, size_t first, size_t most)
{
    const Weights *weights = context;
    mpfr_srcptr ds = ap_at(&weights->e->score, row, first);
    size_t near = 0;
    while (near < most && shift_is_near(ds + near)) {
        near++;
    }
    return near;
}

/* dp of A's groups. */
static void change_limit(Worker *worker, const void *context, const HeadRun *at, bool near)
{
    const Weights *weights = context;
    if (near) {
        limit_row(worker, weights, at);
        return;
    }
    mpfr_srcptr weight = far_weights(worker, weights, at, true);
    for (int g = 0; g < GROUPS; g++) {
        if (groups_in_limit(at->groups, g)) {
            limbs_sub(changed_of(weights, at, g), weight + g, weight_of(weights, at, g));
        }
    }
}

/* Of changes, and gates. */
static size_t near_leaks(const void *context, size_t row, size_t first, size_t most)
{
    const Weights *weights = context;
    mpfr_srcptr score = ap_at(&weights->record->score, row, first);
    size_t near = 0, changes = near_changes(weights, row, first, most);
    while (near < changes && shift_is_near(score + near)) {
        near++;
    }
    return near;
}

/* r of the others, where there are any. */
static void change_leaks(Worker *worker, const void *context, const HeadRun *at, bool near)
{
    const Weights *weights = context;
    bool others = false;
    for (int g = 0; g < GROUPS; g++) {
        others = others || groups_left_out(at->groups, g);
    }
    if (others && near) {
        leak_row(worker, weights, at);
    } else if (others) {
        mpfr_srcptr weight = far_weights(worker, weights, at, false);
        for (int g = 0; g < GROUPS; g++) {
            if (groups_left_out(at->groups, g)) {
                limbs_set(changed_of(weights, at, g), weight + g);
            }
        }
    }
}

static void weights_row(Worker *worker, const void *context, size_t row)
{
    const Weights *weights = context;
    groups_each_run(worker, weights->heads, row, near_changes, change_limit, weights);
    if (!weights->e->limit) {
        groups_each_run(worker, weights->heads, row, near_leaks, change_leaks, weights);
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
