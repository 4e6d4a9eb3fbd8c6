/*
 * The change of patterns with bilinear scores, key by key: for a query q and a key k that change
 * by dq and dk,
 *     ds = (q + dq) dk + dq k.
 */
#include "change.h"
#include "shift.h"

/* A head, its place b in the block, and the width of what its rows mix. */
typedef struct {
    const Score *score;
    size_t index, b, width;
} Head;

/* A row, the leading keys that it may see, and the largest coefficient of Omega among them. */
typedef struct {
    size_t row, keys;
    int best;
} HeadRow;

static HeadRow head_row(const RefRun *run, const Head *head, size_t row)
{
    size_t keys = bilinear_block(run, head->score, row - row % PATTERN_ROWS).keys;
    return (HeadRow){row, keys, run_best_position(run, head->score, head->index, row)};
}

/* The keys of A, and the others that a row sees. */
typedef enum { KEY_UNSEEN, KEY_LIMIT, KEY_LEFT_OUT } KeyKind;

static KeyKind key_kind(const RefRun *run, const Head *head, const HeadRow *at, size_t j)
{
    if (!run_sees(run, head->score, at->row, j)) {
        return KEY_UNSEEN;
    }
    int k = run_position(run, head->score, head->index, at->row, j);
    return k == at->best ? KEY_LIMIT : KEY_LEFT_OUT;
}

static int gap_of(const RefRun *run, const Head *head, const HeadRow *at, size_t j)
{
    return at->best - run_position(run, head->score, head->index, at->row, j);
}

/* x = s + ds of key j. */
static void moved_score(const RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                        size_t j, mpfr_ptr x)
{
    const RunScratch *s = &run->scratch;
    size_t width = structured_query_width(head->score), first = head->b * width;
    ap_dot(x, ap_at(&s->query, at->row, first), ap_at(&s->key, j, first), width,
           ap_at(&thread->temp, 0, 1));
    mpfr_add(x, x, ap_at(&run->change->pattern, at->row, j), MPFR_RNDN);
}

/* Are A's ds near?  And the distances, put into leak[row], of the other keys' s' from the limit's
 * shift? */
typedef struct {
    bool limit, leaks;
} Near;

static Near row_near(const RefRun *run, RunThread *thread, const Head *head, const HeadRow *at)
{
    Near near = {true, true};
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_srcptr ds = ap_at(&run->change->pattern, at->row, j);
        mpfr_ptr d = ap_at(&run->change->leak, at->row, j);
        KeyKind kind = key_kind(run, head, at, j);
        if (kind == KEY_LIMIT) {
            near.limit = near.limit && shift_is_near(ds);
        } else if (kind == KEY_LEFT_OUT) {
            moved_score(run, thread, head, at, j, d);
            mpfr_sub(d, d, ap_at(&run->scratch.score, at->row, head->b), MPFR_RNDN);
            near.leaks = near.leaks && shift_is_near(d);
        }
        if (kind != KEY_UNSEEN) {
            change_note(thread, ds);
        }
    }
    near.leaks = near.leaks && near.limit;
    return near;
}

/* change.pattern[row, j], which is ds, becomes expm1(ds) on A and 0 elsewhere; thread.row[j] =
 * e^(ds) on A.  sum = E. */
static void limit_exponentials(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                               mpfr_ptr sum)
{
    mpfr_ptr ds = ap_at(&thread->temp, 0, 0), t = ap_at(&thread->temp, 0, 1);
    mpfr_set_zero(sum, 1);
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr m = ap_at(&run->change->pattern, at->row, j);
        if (key_kind(run, head, at, j) != KEY_LIMIT) {
            mpfr_set_zero(m, 1);
            continue;
        }
        mpfr_set(ds, m, MPFR_RNDN);
        change_exponentials(run, thread, m, ap_at(&thread->row, 0, j), ds);
        mpfr_mul(t, ap_at(&run->scratch.pattern, at->row, j), m, MPFR_RNDN);
        mpfr_add(sum, sum, t, MPFR_RNDN);
    }
}

/* one = sum over A of p_j e^(ds_j), and change.pattern = dp, where E < -1/2. */
static void large_row(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                      mpfr_ptr one)
{
    mpfr_set_zero(one, 1);
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr grown = ap_at(&thread->row, 0, j);
        if (key_kind(run, head, at, j) == KEY_LIMIT) {
            mpfr_mul(grown, grown, ap_at(&run->scratch.pattern, at->row, j), MPFR_RNDN);
            mpfr_add(one, one, grown, MPFR_RNDN);
        }
    }
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr d = ap_at(&run->change->pattern, at->row, j);
        if (key_kind(run, head, at, j) == KEY_LIMIT) {
            mpfr_div(d, ap_at(&thread->row, 0, j), one, MPFR_RNDN);
            mpfr_sub(d, d, ap_at(&run->scratch.pattern, at->row, j), MPFR_RNDN);
        }
    }
}

/* The same, of expm1(ds) there and its mean, E. */
static void small_row(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                      mpfr_srcptr sum, mpfr_ptr one)
{
    mpfr_ptr inverse = ap_at(&thread->temp, 0, 0);
    mpfr_add_ui(one, sum, 1, MPFR_RNDN);
    mpfr_ui_div(inverse, 1, one, MPFR_RNDN);
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr d = ap_at(&run->change->pattern, at->row, j);
        if (key_kind(run, head, at, j) == KEY_LIMIT) {
            mpfr_sub(d, d, sum, MPFR_RNDN);
            mpfr_mul(d, d, ap_at(&run->scratch.pattern, at->row, j), MPFR_RNDN);
            mpfr_mul(d, d, inverse, MPFR_RNDN);
        }
    }
}

/* change.leak[row] /= total */
static void divide_leaks(const RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                         mpfr_srcptr total)
{
    for (size_t j = 0; j < at->keys; j++) {
        if (key_kind(run, head, at, j) == KEY_LEFT_OUT) {
            mpfr_ptr r = ap_at(&run->change->leak, at->row, j);
            mpfr_div(r, r, total, MPFR_RNDN);
            change_note_leak(thread, r);
        }
    }
}

/* leak = r from the distances in it; one = sum over A of p_j e^(ds_j). */
static void near_leaks(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                       mpfr_srcptr one)
{
    mpfr_ptr total = ap_at(&thread->temp, 0, 5), t = ap_at(&thread->temp, 0, 6);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr r = ap_at(&run->change->leak, at->row, j);
        if (key_kind(run, head, at, j) == KEY_LEFT_OUT) {
            mpfr_set(t, r, MPFR_RNDN);
            shift_exp(run, thread, r, t, gap_of(run, head, at, j));
            mpfr_add(total, total, r, MPFR_RNDN);
        }
    }
    mpfr_mul(t, one, ap_at(&run->scratch.gate, at->row, head->b), MPFR_RNDN);
    mpfr_add(total, total, t, MPFR_RNDN);
    divide_leaks(run, thread, head, at, total);
}

/* thread.row = s' of all keys; all = the largest less what Omega takes, limit = that of A. */
static void far_shifts(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                       mpfr_ptr limit, mpfr_ptr all)
{
    bool first = true;
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr x = ap_at(&thread->row, 0, j);
        if (key_kind(run, head, at, j) != KEY_UNSEEN) {
            moved_score(run, thread, head, at, j, x);
        }
        if (key_kind(run, head, at, j) == KEY_LIMIT && (first || mpfr_cmp(x, limit) > 0)) {
            mpfr_set(limit, x, MPFR_RNDN);
            first = false;
        }
    }
    mpfr_set(all, limit, MPFR_RNDN);
    for (size_t j = 0; j < at->keys; j++) {
        if (key_kind(run, head, at, j) == KEY_LEFT_OUT) {
            shift_raise(run, all, ap_at(&thread->row, 0, j), gap_of(run, head, at, j));
        }
    }
}

/* leak = r: the softmax of all keys anew. */
static void far_leaks(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                      mpfr_srcptr shift)
{
    mpfr_ptr d = ap_at(&thread->temp, 0, 2), y = ap_at(&thread->temp, 0, 3),
             total = ap_at(&thread->temp, 0, 5);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < at->keys; j++) {
        KeyKind kind = key_kind(run, head, at, j);
        mpfr_ptr e = kind == KEY_LIMIT ? y : ap_at(&run->change->leak, at->row, j);
        if (kind != KEY_UNSEEN) {
            mpfr_sub(d, ap_at(&thread->row, 0, j), shift, MPFR_RNDN);
            shift_exp(run, thread, e, d, gap_of(run, head, at, j));
            mpfr_add(total, total, e, MPFR_RNDN);
        }
    }
    divide_leaks(run, thread, head, at, total);
}

/* change.pattern = dp, the softmax of A anew less that before, for changes that are far, beside which
 * nothing cancels. */
static void far_limit(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                      mpfr_srcptr shift)
{
    mpfr_ptr d = ap_at(&thread->temp, 0, 2), total = ap_at(&thread->temp, 0, 5);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr p = ap_at(&run->change->pattern, at->row, j);
        mpfr_set_zero(p, 1);
        if (key_kind(run, head, at, j) == KEY_LIMIT) {
            mpfr_sub(d, ap_at(&thread->row, 0, j), shift, MPFR_RNDN);
            shift_exp(run, thread, p, d, 0);
            mpfr_add(total, total, p, MPFR_RNDN);
        }
    }
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr p = ap_at(&run->change->pattern, at->row, j);
        if (key_kind(run, head, at, j) == KEY_LIMIT) {
            mpfr_div(p, p, total, MPFR_RNDN);
            mpfr_sub(p, p, ap_at(&run->scratch.pattern, at->row, j), MPFR_RNDN);
        }
    }
}

/* change.pattern[row] = dp on A, leak[row] = r elsewhere. */
static void softmax_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Head *head = context;
    HeadRow at = head_row(run, head, row);
    mpfr_ptr sum = ap_at(&thread->temp, 0, 3), one = ap_at(&thread->temp, 0, 4),
             limit = ap_at(&thread->temp, 0, 6), all = ap_at(&thread->temp, 0, 7);
    Near near = row_near(run, thread, head, &at);
    if (!near.leaks) {
        far_shifts(run, thread, head, &at, limit, all);
        far_leaks(run, thread, head, &at, all);
    }
    if (!near.limit) {
        far_limit(run, thread, head, &at, limit);
        return;
    }
    limit_exponentials(run, thread, head, &at, sum);
    if (mpfr_cmp_d(sum, -0.5) < 0) {
        large_row(run, thread, head, &at, one);
    } else {
        small_row(run, thread, head, &at, sum, one);
    }
    if (near.leaks) {
        near_leaks(run, thread, head, &at, one);
    }
}

static void move_query_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const size_t *columns = context;
    RunChange *change = run->change;
    (void)thread;
    for (size_t c = 0; c < *columns; c++) {
        mpfr_add(ap_at(&change->moved_query, row, c), ap_at(&run->scratch.query, row, c),
                 ap_at(&change->query, row, c), MPFR_RNDN);
    }
}

void change_bilinear_products(RefRun *run, const Heads *heads)
{
    RunChange *change = run->change;
    size_t rows = run->stream.rows, columns = heads->count * structured_query_width(heads->score);
    bilinear_products(run, heads, &change->stream, false, &change->query, &change->key);
    run_each(run, rows, rows * columns, move_query_row, &columns);
}

void change_bilinear_softmax(RefRun *run, const Heads *heads, size_t b)
{
    const RunChange *change = run->change;
    size_t rows = run->stream.rows, width = structured_query_width(heads->score), at = b * width;
    Head head = {heads->score, heads->first + b, b, 0};
    for (size_t first = 0; first < rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(run, heads->score, first);
        size_t count = block.count, keys = block.keys;
        ProductView ds = product_block(&change->pattern, first, 0, count, keys);
        run_product(run, ds, product_block(&change->moved_query, first, at, count, width),
                    product_transposed(product_block(&change->key, 0, at, keys, width)), false);
        run_product(run, ds, product_block(&change->query, first, at, count, width),
                    product_transposed(product_block(&run->scratch.key, 0, at, keys, width)), true);
    }
    run_each(run, rows, rows * rows, softmax_row, &head);
}

/* change.mixed[row] += what the keys that the limit leaves out add. */
static void leak_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Head *head = context;
    RunChange *change = run->change;
    HeadRow at = head_row(run, head, row);
    size_t first = head->b * head->width;
    mpfr_ptr dy = ap_at(&change->mixed, row, first), y = ap_at(&thread->sum, 0, 0),
             t = ap_at(&thread->temp, 0, 0);
    for (size_t c = 0; c < head->width; c++) {
        mpfr_add(y + c, ap_at(&run->scratch.mixed, row, first + c), dy + c, MPFR_RNDN);
    }
    for (size_t j = 0; j < at.keys; j++) {
        for (size_t c = 0; key_kind(run, head, &at, j) == KEY_LEFT_OUT && c < head->width; c++) {
            mpfr_sub(t, ap_at(&change->moved, j, first + c), y + c, MPFR_RNDN);
            mpfr_mul(t, t, ap_at(&change->leak, row, j), MPFR_RNDN);
            mpfr_add(dy + c, dy + c, t, MPFR_RNDN);
        }
    }
}

void change_bilinear_mix(RefRun *run, const Heads *heads, size_t b, size_t width)
{
    const RunChange *change = run->change;
    size_t rows = run->stream.rows, at = b * width;
    Head head = {heads->score, heads->first + b, b, width};
    for (size_t first = 0; first < rows; first += PATTERN_ROWS) {
        RowBlock block = bilinear_block(run, heads->score, first);
        size_t count = block.count, keys = block.keys;
        ProductView dy = product_block(&change->mixed, first, at, count, width);
        run_product(run, dy, product_block(&change->pattern, first, 0, count, keys),
                    product_block(&change->moved, 0, at, keys, width), false);
        run_product(run, dy, product_block(&run->scratch.pattern, first, 0, count, keys),
                    product_block(&change->value, 0, at, keys, width), true);
    }
    run_each(run, rows, rows * (rows + width), leak_row, &head);
}
