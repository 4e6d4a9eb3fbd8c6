/*
 * The change of patterns with bilinear scores, key by key: for a query q and a key k that change
 * by dq and dk,
 *     ds = (q + dq) dk + dq k.
 */
#include "change.h"

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

/* leak[row, j] = e^(s') e^(-Omega gap) of a key that the limit leaves out. */
static void leak_entry(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                       size_t j, mpfr_srcptr ds)
{
    const RunScratch *s = &run->scratch;
    size_t width = structured_query_width(head->score), first = head->b * width;
    mpfr_ptr score = ap_at(&run->change->leak, at->row, j), t = ap_at(&thread->temp, 0, 1);
    int k = run_position(run, head->score, head->index, at->row, j);
    ap_dot(score, ap_at(&s->query, at->row, first), ap_at(&s->key, j, first), width, t);
    mpfr_add(score, score, ds, MPFR_RNDN);
    run_exp(run, thread, score, score, 1);
    mpfr_mul(score, score, run_decay(run, at->best - k), MPFR_RNDN);
}

/* change.pattern[row, j], which is ds, becomes expm1(ds) on A and 0 elsewhere; thread.row[j] =
 * e^(ds) on A; leak, of the others.  sum = E, total = the sum of leak. */
static void row_exponentials(RefRun *run, RunThread *thread, const Head *head, const HeadRow *at,
                             mpfr_ptr sum, mpfr_ptr total)
{
    mpfr_ptr ds = ap_at(&thread->temp, 0, 0), t = ap_at(&thread->temp, 0, 1);
    mpfr_set_zero(sum, 1);
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < at->keys; j++) {
        mpfr_ptr m = ap_at(&run->change->pattern, at->row, j);
        KeyKind kind = key_kind(run, head, at, j);
        if (kind == KEY_UNSEEN) {
            mpfr_set_zero(m, 1);
            continue;
        }
        change_note(thread, m);
        mpfr_set(ds, m, MPFR_RNDN);
        if (kind == KEY_LIMIT) {
            change_exponentials(run, thread, m, ap_at(&thread->row, 0, j), ds);
            mpfr_mul(t, ap_at(&run->scratch.pattern, at->row, j), m, MPFR_RNDN);
            mpfr_add(sum, sum, t, MPFR_RNDN);
        } else {
            mpfr_set_zero(m, 1);
            leak_entry(run, thread, head, at, j, ds);
            mpfr_add(total, total, ap_at(&run->change->leak, at->row, j), MPFR_RNDN);
        }
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
            (void)FAULT("difference-without-e", 0, mpfr_sub(d, d, sum, MPFR_RNDN));
            mpfr_mul(d, d, ap_at(&run->scratch.pattern, at->row, j), MPFR_RNDN);
            mpfr_mul(d, d, inverse, MPFR_RNDN);
        }
    }
}

/* change.pattern[row] = dp on A, leak[row] = r elsewhere. */
static void softmax_row(RefRun *run, RunThread *thread, const void *context, size_t row)
{
    const Head *head = context;
    HeadRow at = head_row(run, head, row);
    mpfr_ptr sum = ap_at(&thread->temp, 0, 3), one = ap_at(&thread->temp, 0, 4),
             total = ap_at(&thread->temp, 0, 5), t = ap_at(&thread->temp, 0, 6);
    row_exponentials(run, thread, head, &at, sum, total);
    if (mpfr_cmp_d(sum, -0.5) < 0) {
        large_row(run, thread, head, &at, one);
    } else {
        small_row(run, thread, head, &at, sum, one);
    }
    mpfr_mul(t, one, ap_at(&run->scratch.gate, row, head->b), MPFR_RNDN);
    mpfr_add(total, total, t, MPFR_RNDN);
    for (size_t j = 0; j < at.keys; j++) {
        if (key_kind(run, head, &at, j) == KEY_LEFT_OUT) {
            mpfr_ptr r = ap_at(&run->change->leak, row, j);
            mpfr_div(r, r, total, MPFR_RNDN);
            change_note(thread, r);
        }
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
