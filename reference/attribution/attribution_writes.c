/*
 * The vectors that every path writes for one input, from the records that the reference's heads
 * leave: each pattern's row of the last token times values, and what is on all of them.
 */
#include "attribution_internal.h"

#include "../../memory/need.h"
#include "../run/run.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* The paths of the sublayers at hand, from first to end, those of gates before them from gates on,
 * and the last token's row. */
typedef struct {
    RefWrites *writes;
    size_t gates, first, end, row;
} Writing;

/* The row's weight of key j in head heads->first + b. */
static mpfr_srcptr weight_of(const Heads *heads, const Record *record, size_t b, size_t row,
                             size_t j)
{
    if (score_by_key(&heads->bundle->score)) {
        return ap_at(&record->pattern[record_pattern(record, b)], row, j);
    }
    size_t patterns = heads_patterns(heads).count, bias = layout_bias_row(heads->layout);
    size_t group = j == row ? SELF : j == bias ? BIAS : OTHER;
    return ap_at(&record->group, row, group * patterns + (patterns > 1 ? b : 0));
}

/* u *= what a part's values leave for their mixture. */
static void apply_scale(mpfr_ptr u, const Value *value, PartKind part)
{
    if (part == DIAGONAL_PART) {
        mpfr_mul_si(u, u, value->diagonal, MPFR_RNDN);
        return;
    }
    if (value->unit != 0) {
        mpfr_mul_si(u, u, value->unit, MPFR_RNDN);
    }
    mpfr_mul_d(u, u, value->scale, MPFR_RNDN);
}

static void write_path(const Writing *to, const Heads *heads, const Record *record, PartKind part,
                       const PathPlace *place)
{
    const ApMat *u = &record->part[record_part(record, part)].value;
    size_t b = place->head - heads->first, bias = layout_bias_row(heads->layout);
    for (size_t j = 0; j < u->rows; j++) {
        if (!heads_see(heads, to->row, j) || (part == BIAS_PART && j == bias)) {
            continue; /* zeros, as they began */
        }
        mpfr_srcptr weight = weight_of(heads, record, b, to->row, j);
        for (size_t r = 0; r < place->count; r++) {
            mpfr_ptr out = ap_at(&to->writes->value, j, place->offset + r);
            if (part == BIAS_PART) {
                mpfr_set(out, weight, MPFR_RNDN);
            } else {
                mpfr_mul(out, weight, ap_at(u, j, b * place->count + r), MPFR_RNDN);
                apply_scale(out, &heads->bundle->value, part);
            }
        }
    }
}

/* out -= what gate path p has in all rows, times its weight in a column; size += all sizes. */
static void take_gate(mpfr_ptr out, mpfr_ptr size, const RefWrites *writes, size_t p, size_t column)
{
    const PathPlace *place = &writes->paths->items[p];
    double weight = place->factor[column];
    mpfr_t t, one;
    mpfr_init2(t, writes->value.bits);
    mpfr_init2(one, 64);
    for (size_t j = 0; j < writes->value.rows; j++) {
        mpfr_mul_d(t, ap_at(&writes->value, j, place->offset), weight, MPFR_RNDN);
        mpfr_sub(out, out, t, MPFR_RNDN);
        mpfr_abs(one, t, MPFR_RNDU);
        mpfr_add(size, size, one, MPFR_RNDU);
    }
    mpfr_clears(t, one, (mpfr_ptr)0);
}

/* off += what a sum of so many products rounds, whose sizes are `size` together. */
static void add_rounded(RefWrites *writes, mpfr_ptr size, size_t count)
{
    mpfr_mul_ui(size, size, 4 * count, MPFR_RNDU);
    mpfr_mul_2si(size, size, -(long)writes->value.bits, MPFR_RNDU);
    mpfr_add(writes->off, writes->off, size, MPFR_RNDU);
}

/* Every unit's gate times what it multiplies in the last row, its entry of the keys. */
static void multiply_gates(const Writing *to, const Record *record)
{
    const RefWrites *writes = to->writes;
    for (size_t p = to->gates; p < to->first; p++) {
        const PathPlace *place = &writes->paths->items[p];
        for (size_t j = 0; place->part == PART_GATE && j < writes->value.rows; j++) {
            mpfr_ptr value = ap_at(&writes->value, j, place->offset);
            mpfr_mul(value, value, ap_at(&record->key, to->row, place->head), MPFR_RNDN);
        }
    }
}

/* What the head with pattern b writes into its column, of the first pair less what all units do. */
static void write_readout(const Writing *to, const Heads *heads, const Record *record, size_t b)
{
    RefWrites *writes = to->writes;
    const PathPlace *items = writes->paths->items;
    size_t head = heads->first + b, bias = layout_bias_row(heads->layout);
    bool begins = heads->bundle == items[to->first].bundle;
    mpfr_ptr out = ap_at(&writes->value, to->row, items[to->first + head].offset);
    mpfr_t t, size;
    mpfr_init2(t, writes->value.bits);
    mpfr_init2(size, 64);
    mpfr_set_zero(size, 1);
    if (begins && head == 0) {
        multiply_gates(to, record);
    }
    for (size_t p = to->gates; begins && p < to->first; p++) {
        if (items[p].part == PART_GATE) {
            take_gate(out, size, writes, p, head);
        }
    }
    for (size_t j = 0; j < writes->value.rows; j++) {
        if (heads_see(heads, to->row, j)) {
            double value = heads->bundle->value.scale;
            mpfr_mul_d(t, weight_of(heads, record, b, to->row, j), j == bias ? -value : value,
                       MPFR_RNDN);
            mpfr_add(out, out, t, MPFR_RNDN);
        }
    }
    mpfr_add_d(size, size, 2 * fabs(heads->bundle->value.scale), MPFR_RNDU);
    add_rounded(writes, size, (to->first - to->gates + 2) * writes->value.rows);
    mpfr_clears(t, size, (mpfr_ptr)0);
}

/* What the bias row is given back of read-out heads, as far as the last token reads it. */
static void write_taken_back(const Writing *to, const Heads *heads, const Record *record)
{
    RefWrites *writes = to->writes;
    size_t bias = layout_bias_row(heads->layout);
    mpfr_t t;
    mpfr_init2(t, writes->value.bits);
    mpfr_mul_d(t, weight_of(heads, record, 0, to->row, bias), heads->bundle->value.bias_row,
               MPFR_RNDN);
    for (size_t p = to->first; p < to->end && heads_see(heads, to->row, bias); p++) {
        if (writes->paths->items[p].part == PART_READOUT) {
            mpfr_ptr out = ap_at(&writes->value, to->row, writes->paths->items[p].offset);
            mpfr_add(out, out, t, MPFR_RNDN);
        }
    }
    mpfr_clear(t);
}

/* The paths of a part of a block of heads, or of its head b where that has a pattern of its own. */
static void write_part(void *context, const Heads *heads, const Record *record, PartKind part,
                       size_t b)
{
    static const Part parts[PARTS] = {PART_VALUE, PART_BIAS, PART_DIAGONAL};
    const Writing *to = context;
    const RefPaths *paths = to->writes->paths;
    bool by_key = score_by_key(&heads->bundle->score);
    size_t first = heads->first + b, end = by_key ? first + 1 : heads->first + heads->count;
    if (score_is_mixed(&heads->bundle->score)) {
        write_readout(to, heads, record, b);
        return;
    }
    if (part == BIAS_PART && heads->bundle->value.bias_row != 0) {
        write_taken_back(to, heads, record);
    }
    for (size_t p = to->first; p < to->end; p++) {
        const PathPlace *place = &paths->items[p];
        bool own = place->part == parts[part] || (place->part == PART_GATE && part == HEADS_PART);
        if (place->bundle == heads->bundle && own && place->head >= first && place->head < end) {
            write_path(to, heads, record, part, place);
        }
    }
}

/* The direct path and b_U, which are of the last token's row alone. */
static void write_singles(RefWrites *writes, const RefRun *run, size_t row)
{
    const RefPaths *paths = writes->paths;
    for (size_t p = 0; p < paths->count; p++) {
        const PathPlace *place = &paths->items[p];
        for (size_t r = 0; place->path.single && r < place->count; r++) {
            mpfr_ptr out = ap_at(&writes->value, row, place->offset + r);
            if (place->part == PART_STREAM) {
                mpfr_set(out, ref_run_entry(run, row, r), MPFR_RNDN);
            } else {
                mpfr_set_ui(out, 1, MPFR_RNDN);
            }
        }
    }
}

/* Behind a final norm: its row is what logits are of, and 1 / sqrt(s) in what every path writes but
 * b_U. */
static void freeze_norm(RefWrites *writes)
{
    const RefPaths *paths = writes->paths;
    const LayerNorm *norm = &paths->unembedding.norm;
    ApMat centred;
    mpfr_ptr square = writes->square.entry;
    mpfr_t scale;
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    mpfr_init2(scale, writes->value.bits);
    ap_init(&centred, 1, writes->last.columns, writes->value.bits);
    norm_centre(centred.entry, square, norm, writes->last.entry);
    norm_apply(writes->last.entry, norm, centred.entry, square, true);
    mpfr_rec_sqrt(scale, square, MPFR_RNDN);
    for (size_t p = 0; p < paths->count; p++) {
        const PathPlace *place = &paths->items[p];
        for (size_t j = 0; place->part != PART_UNEMBEDDING && j < writes->value.rows; j++) {
            for (size_t r = 0; r < place->count; r++) {
                mpfr_ptr value = ap_at(&writes->value, j, place->offset + r);
                mpfr_mul(value, value, scale, MPFR_RNDN);
            }
        }
    }
    ap_clear(&centred);
    mpfr_clear(scale);
}

/* off += the last token's radius behind a sublayer, which is at least what that rounds; twice at
 * the end. */
static void add_off(RefWrites *writes, const RefRun *run, size_t row)
{
    const Columns content = {0, layout_content(&run->model->layout)};
    mpfr_t radius;
    mpfr_init2(radius, 64);
    ref_run_radius(run, RADIUS_STREAM, (RefBlock){row, 1, content}, (RefRadii){radius, NULL});
    if (run->next.layer == run->model->depth) {
        mpfr_mul_2ui(radius, radius, 1, MPFR_RNDU);
    }
    mpfr_add(writes->off, writes->off, radius, MPFR_RNDU);
    mpfr_clear(radius);
}

static void write_all(Writing *writing, RefRun *run)
{
    RefWrites *writes = writing->writes;
    const RefPaths *paths = writes->paths;
    size_t row = writing->row;
    write_singles(writes, run, row);
    for (size_t l = 0; l < paths->steps.depth; l++) {
        writing->gates = writing->first;
        writing->first = paths->sublayer_first[model_first(&paths->steps, l)];
        writing->end = paths->sublayer_first[paths->steps.layer_end[l]];
        ref_run_layer(run);
        add_off(writes, run, row);
    }
    for (size_t c = 0; c < writes->last.columns; c++) {
        mpfr_set(ap_at(&writes->last, 0, c), ref_run_entry(run, row, c), MPFR_RNDN);
    }
    freeze_norm(writes);
}

RefWrites *ref_writes_make(const RefPaths *paths, const Start *start, mpfr_prec_t bits)
{
    const Start steps = {&paths->steps, start->x, start->bias_row_content, start->omega};
    const Layout *layout = &paths->model->layout;
    mpfr_prec_t working = bits + ATTRIBUTION_BITS;
    RefWrites *writes = need_zeros(1, sizeof *writes);
    Writing writing = {.writes = writes, .row = layout_token_row(layout, layout->n - 1)};
    RefRun *run = run_open(&steps, bits, &(RunOptions){.reader = write_part, .context = &writing});
    mpfr_init2(writes->off, 64);
    mpfr_set_zero(writes->off, 1);
    ref_run_certify(run);
    ap_init(&writes->value, layout_rows(layout), paths->width, working);
    ap_init(&writes->last, 1, paths->unembedding.d, working);
    ap_init(&writes->square, 1, 1, working);
    writes->paths = paths;
    writes->bits = bits;
    write_all(&writing, run);
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
    return ap_bytes(rows, (double)paths->width, bits + ATTRIBUTION_BITS) +
           ref_run_bytes(&(Pair){.converted = paths->steps}, bits);
}

void ref_writes_logit(mpfr_ptr logit, const RefWrites *writes, size_t v)
{
    const RefUnembedding *u = &writes->paths->unembedding;
    mpfr_t t, sum;
    mpfr_inits2(writes->last.bits, t, sum, (mpfr_ptr)0);
    mpfr_set_d(sum, u->b_u != NULL ? u->b_u[v] : 0, MPFR_RNDN);
    for (size_t c = 0; c < u->d; c++) {
        mpfr_mul_d(t, ap_at(&writes->last, 0, c), *ref_unembedding_at(u, c, v), MPFR_RNDN);
        mpfr_add(sum, sum, t, MPFR_RNDN);
    }
    mpfr_set(logit, sum, MPFR_RNDN);
    mpfr_clears(t, sum, (mpfr_ptr)0);
}

size_t ref_writes_predicted(const RefWrites *writes)
{
    size_t best = 0;
    mpfr_t logit, top;
    mpfr_inits2(writes->last.bits, logit, top, (mpfr_ptr)0);
    for (size_t v = 0; v < writes->paths->unembedding.classes; v++) {
        ref_writes_logit(logit, writes, v);
        if (v == 0 || mpfr_greater_p(logit, top)) {
            best = v;
            mpfr_set(top, logit, MPFR_RNDN);
        }
    }
    mpfr_clears(logit, top, (mpfr_ptr)0);
    return best;
}
