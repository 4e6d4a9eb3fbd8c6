/*
 * The vectors that every path writes for one input: patterns and values by their definition, one
 * row of queries, from the streams that the reference evaluates.
 */
#include "attribution_internal.h"

#include "../../memory/need.h"
#include "../run/run.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* x [rows, content]: the stream before the sublayer, or its norm; centred and square: what that is
 * made of.  weight [1, rows]: the pattern of the head at hand for the last token's row. */
typedef struct {
    const Model *model;
    const Score *score;
    size_t head;
    double omega;
    size_t row; /* the last token's */
    ApMat x, centred, square, weight, query, key, doubles, temp, turn;
    ApExp *exp;
} Scratch;

static size_t widest_query(const Model *model)
{
    size_t widest = 1;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
            const Score *score = &model->sublayers[s].bundles[b].score;
            widest = score->d_head > widest ? score->d_head : widest;
            widest = score->read.count > widest ? score->read.count : widest;
        }
    }
    return widest;
}

static void scratch_init(Scratch *s, const Model *model, double omega, mpfr_prec_t bits)
{
    size_t rows = layout_rows(&model->layout), content = layout_content(&model->layout);
    size_t query = widest_query(model);
    s->model = model;
    s->omega = omega;
    s->row = layout_token_row(&model->layout, model->layout.n - 1);
    s->exp = ap_exp_create(bits);
    ap_init(&s->x, rows, content, bits);
    ap_init(&s->centred, 1, content, bits);
    ap_init(&s->square, 1, 1, bits);
    ap_init(&s->weight, 1, rows, bits);
    ap_init(&s->query, 1, query, bits);
    ap_init(&s->key, 1, query, bits);
    ap_init(&s->doubles, 1, content, 53);
    ap_init(&s->temp, 1, 3, bits);
    ap_init(&s->turn, 1, 3, bits);
}

static void scratch_clear(Scratch *s)
{
    ap_clear(&s->x);
    ap_clear(&s->centred);
    ap_clear(&s->square);
    ap_clear(&s->weight);
    ap_clear(&s->query);
    ap_clear(&s->key);
    ap_clear(&s->doubles);
    ap_clear(&s->temp);
    ap_clear(&s->turn);
    ap_exp_free(s->exp);
}

static bool is_token(const Scratch *s, size_t row)
{
    return row != layout_bias_row(&s->model->layout);
}

/* A head's factor W of the columns read, and its bias [heads, width], or NULL. */
typedef struct {
    Columns read;
    const HeadWeight *w;
    const double *bias;
    size_t head, width;
} Factor;

/* y = x_row times column c of the factor, without bias. */
static void column_product(Scratch *s, mpfr_ptr y, size_t row, const Factor *factor, size_t c)
{
    const HeadWeight *w = factor->w;
    Columns read = factor->read;
    ap_load(&s->doubles, w->data + factor->head * w->head_stride + c, read.count, w->ld);
    ap_dot(y, ap_at(&s->x, row, read.first), s->doubles.entry, read.count, s->temp.entry);
}

/* out = x_row W + bias (on token rows, which are turned) of a query's or key's factor. */
static void factor_product(Scratch *s, ApMat *out, size_t row, const Factor *factor)
{
    for (size_t c = 0; c < factor->width; c++) {
        mpfr_ptr y = ap_at(out, 0, c);
        column_product(s, y, row, factor, c);
        if (factor->bias != NULL && is_token(s, row)) {
            mpfr_add_d(y, y, factor->bias[factor->head * factor->width + c], MPFR_RNDN);
        }
    }
    if (s->score->rotary != NULL && is_token(s, row)) {
        size_t token = row - layout_token_row(&s->model->layout, 0);
        heads_turn(ap_at(out, 0, 0), s->score->rotary, token, s->turn.entry);
    }
}

/* score = the content score of the last token toward row j; query holds x Q. */
static void bilinear_score(Scratch *s, mpfr_ptr out, size_t j)
{
    const Score *score = s->score;
    size_t width = score_query_width(score);
    mpfr_srcptr key = ap_at(&s->x, j, score->read.first);
    if (score->d_head > 0) {
        factor_product(s, &s->key, j,
                       &(Factor){score->read, &score->k, score->k_bias, s->head, width});
        key = s->key.entry;
    }
    ap_dot(out, s->query.entry, key, width, s->temp.entry);
    heads_apply_scale(out, 1, &score->scale, s->temp.entry);
}

/* gate = a (x g + c) + t of the last token. */
static void gate_score(Scratch *s, mpfr_ptr gate)
{
    const Score *score = s->score;
    size_t h = s->head;
    if (score->gate.data != NULL) {
        column_product(s, gate, s->row, &(Factor){score->read, &score->gate, NULL, h, 1}, 0);
    } else {
        mpfr_mul_si(gate, ap_at(&s->x, s->row, score->read.first + h), score->gate_unit, MPFR_RNDN);
    }
    if (score->gate_bias != NULL) {
        mpfr_add_d(gate, gate, score->gate_bias[h], MPFR_RNDN);
    }
    mpfr_mul_d(gate, gate, score->gate_scale, MPFR_RNDN);
    if (score->gate_shift != NULL) {
        mpfr_add_d(gate, gate, score->gate_shift[h], MPFR_RNDN);
    }
}

/* The largest coefficient of Omega among the keys that the last token sees. */
static int best_position(const Scratch *s)
{
    const Layout *layout = &s->model->layout;
    int best = INT32_MIN;
    for (size_t j = 0; j < s->x.rows; j++) {
        int k = score_position(layout, s->score, s->head, s->row, j);
        best = score_sees(layout, s->score, s->row, j) && k > best ? k : best;
    }
    return best;
}

/* weight[j] = the score of key j, content + Omega (position - the largest); seen or not. */
static void key_score(Scratch *s, mpfr_ptr p, size_t j, int best)
{
    const Score *score = s->score;
    mpfr_ptr gate = ap_at(&s->temp, 0, 1), t = s->temp.entry;
    mpfr_set_zero(p, 1);
    if (score_by_key(score)) {
        bilinear_score(s, p, j);
    } else if (score_by_gate(score) && is_token(s, j)) {
        mpfr_set(p, gate, MPFR_RNDN);
    }
    mpfr_set_d(t, s->omega, MPFR_RNDN);
    mpfr_mul_si(t, t, score_position(&s->model->layout, score, s->head, s->row, j) - best,
                MPFR_RNDN);
    mpfr_add(p, p, t, MPFR_RNDN);
}

/* weight = softmax of the scores of the row, less their largest. */
static void pattern(Scratch *s, const Score *score, size_t h)
{
    const Layout *layout = &s->model->layout;
    mpfr_ptr gate = ap_at(&s->temp, 0, 1), total = ap_at(&s->temp, 0, 2);
    mpfr_srcptr top = NULL;
    s->score = score;
    s->head = h;
    int best = best_position(s);
    if (score_by_key(score)) {
        size_t width = score_query_width(score);
        factor_product(s, &s->query, s->row,
                       &(Factor){score->read, &score->q, score->q_bias, h, width});
    } else if (score_by_gate(score)) {
        gate_score(s, gate);
    }
    for (size_t j = 0; j < s->x.rows; j++) {
        mpfr_ptr p = ap_at(&s->weight, 0, j);
        if (score_sees(layout, score, s->row, j)) {
            key_score(s, p, j, best);
            top = top == NULL || mpfr_cmp(p, top) > 0 ? p : top;
        }
    }
    mpfr_set(gate, top, MPFR_RNDN); /* which it is no longer */
    mpfr_set_zero(total, 1);
    for (size_t j = 0; j < s->x.rows; j++) {
        mpfr_ptr p = ap_at(&s->weight, 0, j);
        if (!score_sees(layout, score, s->row, j)) {
            mpfr_set_zero(p, 1);
            continue;
        }
        mpfr_sub(p, p, gate, MPFR_RNDN);
        ap_exp(s->exp, p, p);
        mpfr_add(total, total, p, MPFR_RNDN);
    }
    for (size_t j = 0; j < s->x.rows; j++) {
        mpfr_ptr p = ap_at(&s->weight, 0, j);
        mpfr_div(p, p, total, MPFR_RNDN);
    }
}

/* Entry r of x_j V_1 and its bias, times what is on all of V. */
static void value_entry(Scratch *s, mpfr_ptr out, const PathWidth *width, size_t j, size_t r)
{
    const Value *value = &width->bundle->value;
    size_t h = width->head;
    if (value->unit != 0) {
        mpfr_mul_si(out, ap_at(&s->x, j, value->read.first + h), value->unit, MPFR_RNDN);
    } else {
        column_product(s, out, j, &(Factor){value->read, &value->v, NULL, h, width->count}, r);
    }
    if (value->inner_bias != NULL && is_token(s, j)) {
        mpfr_add_d(out, out, value->inner_bias[h * value->d_head + r], MPFR_RNDN);
    }
    mpfr_mul_d(out, out, value->scale, MPFR_RNDN);
}

static void write_path(Scratch *s, RefWrites *writes, const PathPlace *place)
{
    const PathWidth *width = &place->width;
    for (size_t j = 0; j < s->x.rows; j++) {
        for (size_t r = 0; r < width->count; r++) {
            mpfr_ptr out = ap_at(&writes->value, j, place->offset + r);
            if (width->part == PART_BIAS) {
                mpfr_set_ui(out, is_token(s, j), MPFR_RNDN);
            } else if (width->part == PART_DIAGONAL) {
                mpfr_mul_si(out, ap_at(&s->x, j, width->write.first + r),
                            width->bundle->value.diagonal, MPFR_RNDN);
            } else {
                value_entry(s, out, width, j, r);
            }
            mpfr_mul(out, out, ap_at(&s->weight, 0, j), MPFR_RNDN);
        }
    }
}

/* The paths of one sublayer; those of a head stand together, and its pattern is made once. */
static void write_sublayer(Scratch *s, RefWrites *writes, size_t sublayer)
{
    const RefPaths *paths = writes->paths;
    const PathWidth *before = NULL;
    for (size_t p = paths->sublayer_first[sublayer]; p < paths->sublayer_first[sublayer + 1]; p++) {
        const PathWidth *width = &paths->items[p].width;
        if (before == NULL || before->bundle != width->bundle || before->head != width->head) {
            pattern(s, &width->bundle->score, width->head);
        }
        write_path(s, writes, &paths->items[p]);
        before = width;
    }
}

static void load_stream(ApMat *x, const RefRun *run)
{
    for (size_t i = 0; i < x->rows; i++) {
        for (size_t c = 0; c < x->columns; c++) {
            mpfr_set(ap_at(x, i, c), ref_run_entry(run, i, c), MPFR_RNDN);
        }
    }
}

/* The direct path and b_U, which are of the last token's row alone. */
static void write_singles(const Scratch *s, RefWrites *writes)
{
    const RefPaths *paths = writes->paths;
    for (size_t p = 0; p < paths->count; p++) {
        const PathPlace *place = &paths->items[p];
        for (size_t r = 0; place->path.single && r < place->width.count; r++) {
            mpfr_ptr out = ap_at(&writes->value, s->row, place->offset + r);
            if (place->width.part == PART_STREAM) {
                mpfr_set(out, ap_at(&s->x, s->row, r), MPFR_RNDN);
            } else {
                mpfr_set_ui(out, 1, MPFR_RNDN);
            }
        }
    }
}

/* x = norm(x), of the rows it acts on. */
static void read_normed(Scratch *s, const LayerNorm *norm)
{
    const Layout *layout = &s->model->layout;
    for (size_t i = 0; i < s->x.rows; i++) {
        mpfr_ptr x = ap_at(&s->x, i, norm->columns.first);
        if (norm_acts(layout, norm, i)) {
            norm_centre(s->centred.entry, s->square.entry, norm, x);
            norm_apply(x, norm, s->centred.entry, s->square.entry, is_token(s, i));
        }
    }
}

/* Behind a final norm: its row is what logits are of, and 1 / sqrt(s) in what every path writes but
 * b_U. */
static void freeze_norm(Scratch *s, RefWrites *writes)
{
    const RefPaths *paths = writes->paths;
    const LayerNorm *norm = &paths->unembedding.norm;
    mpfr_ptr scale = s->temp.entry;
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    norm_centre(s->centred.entry, s->square.entry, norm, writes->last.entry);
    norm_apply(writes->last.entry, norm, s->centred.entry, s->square.entry, true);
    mpfr_set(writes->square.entry, s->square.entry, MPFR_RNDD);
    mpfr_rec_sqrt(scale, s->square.entry, MPFR_RNDN);
    for (size_t p = 0; p < paths->count; p++) {
        const PathPlace *place = &paths->items[p];
        for (size_t j = 0; place->width.part != PART_UNEMBEDDING && j < s->x.rows; j++) {
            for (size_t r = 0; r < place->width.count; r++) {
                mpfr_ptr value = ap_at(&writes->value, j, place->offset + r);
                mpfr_mul(value, value, scale, MPFR_RNDN);
            }
        }
    }
}

/* off += the last token's radius behind a sublayer, which is at least what that rounds; twice at
 * the end. */
static void add_off(const Scratch *s, RefWrites *writes, const RefRun *run)
{
    const Columns content = {0, s->x.columns};
    mpfr_t radius;
    mpfr_init2(radius, 64);
    ref_run_radius(run, RADIUS_STREAM, (RefBlock){s->row, 1, content}, (RefRadii){radius, NULL});
    if (run->next.layer == run->model->depth) {
        mpfr_mul_2ui(radius, radius, 1, MPFR_RNDU);
    }
    mpfr_add(writes->off, writes->off, radius, MPFR_RNDU);
    mpfr_clear(radius);
}

static void write_all(Scratch *s, RefWrites *writes, RefRun *run)
{
    const Model *model = writes->paths->model;
    load_stream(&s->x, run);
    write_singles(s, writes);
    for (size_t sublayer = 0; sublayer < model->sublayer_count; sublayer++) {
        read_normed(s, &model->sublayers[sublayer].norm);
        write_sublayer(s, writes, sublayer);
        ref_run_layer(run);
        add_off(s, writes, run);
        load_stream(&s->x, run);
    }
    for (size_t c = 0; c < writes->last.columns; c++) {
        mpfr_set(ap_at(&writes->last, 0, c), ap_at(&s->x, s->row, c), MPFR_RNDN);
    }
    freeze_norm(s, writes);
}

RefWrites *ref_writes_make(const RefPaths *paths, const Start *start, mpfr_prec_t bits)
{
    const Start steps = {&paths->steps, start->x, start->bias_row_content, start->omega};
    RefWrites *writes = need_zeros(1, sizeof *writes);
    RefRun *run = ref_run_open(&steps, bits);
    Scratch scratch = {0};
    int exponent; /* scores hold Omega: its bits are beyond the others */
    frexp(start->omega, &exponent);
    mpfr_prec_t working = bits + ATTRIBUTION_BITS + (exponent > 0 ? exponent : 0);
    size_t rows = layout_rows(&paths->model->layout);
    mpfr_init2(writes->off, 64);
    mpfr_set_zero(writes->off, 1);
    ref_run_certify(run);
    scratch_init(&scratch, paths->model, start->omega, working);
    ap_init(&writes->value, rows, paths->width, working);
    ap_init(&writes->last, 1, paths->unembedding.d, working);
    ap_init(&writes->square, 1, 1, working);
    writes->paths = paths;
    writes->bits = bits;
    write_all(&scratch, writes, run);
    scratch_clear(&scratch);
    ref_run_clear(run);
    return writes;
}

void ref_writes_clear(RefWrites *writes)
{
    if (writes != NULL) {
        ap_clear(&writes->value);
        ap_clear(&writes->last);
        ap_clear(&writes->square);
        mpfr_clear(writes->off);
        free(writes);
    }
}

double ref_writes_bytes(const RefPaths *paths, mpfr_prec_t bits)
{
    double rows = (double)layout_rows(&paths->model->layout);
    double content = (double)layout_content(&paths->model->layout);
    return ap_bytes(rows, (double)paths->width + 4 * content, bits + 2 * ATTRIBUTION_BITS);
}

void ref_writes_logit(mpfr_ptr logit, const RefWrites *writes, size_t v)
{
    const RefUnembedding *u = &writes->paths->unembedding;
    mpfr_t t, sum;
    mpfr_init2(t, writes->last.bits);
    mpfr_init2(sum, writes->last.bits);
    mpfr_set_d(sum, u->b_u != NULL ? u->b_u[v] : 0, MPFR_RNDN);
    for (size_t c = 0; c < u->d; c++) {
        mpfr_mul_d(t, ap_at(&writes->last, 0, c), *ref_unembedding_at(u, c, v), MPFR_RNDN);
        mpfr_add(sum, sum, t, MPFR_RNDN);
    }
    mpfr_set(logit, sum, MPFR_RNDN);
    mpfr_clear(t);
    mpfr_clear(sum);
}

size_t ref_writes_predicted(const RefWrites *writes)
{
    size_t best = 0;
    mpfr_t logit, top;
    mpfr_init2(logit, writes->last.bits);
    mpfr_init2(top, writes->last.bits);
    for (size_t v = 0; v < writes->paths->unembedding.classes; v++) {
        ref_writes_logit(logit, writes, v);
        if (v == 0 || mpfr_greater_p(logit, top)) {
            best = v;
            mpfr_set(top, logit, MPFR_RNDN);
        }
    }
    mpfr_clear(logit);
    mpfr_clear(top);
    return best;
}
