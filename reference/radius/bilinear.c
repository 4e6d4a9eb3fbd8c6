/*
 * Heads with bilinear scores: what they do to the radii.
 *
 * With n_Q, n_K, n_V the factors' 2-norms, M the moment and w_j >= p_j |v_j - y| on the path,
 *     |dy_i| <= |M| n_Q |dx_i| + |q_i| n_K sum of w_j |dx_j| + n_V sum of p_j |dx_j|          (C21)
 * in head space; heads side by side before their second factors O add up to |O|_2 times the root of
 * their squares.  Rounding at x^ (C22): scores, through w; 2 N + 10 roundings a weight and a term,
 * the values' own; then O.
 */
#include "bilinear.h"
#include "bounds.h"
#include "norm.h"
#include "point.h"
#include "vectors.h"

#include "../../memory/need.h"
#include "../product/gemm.h"

#include <stdlib.h>

/* Operations of a key's gap. */
enum { GAP_OPERATIONS = 4 };

/* Four numbers for each row, in one allocation. */
static void sides_open(Sides *sides, size_t rows)
{
    sides->norm = need_zeros(4 * rows + 1, sizeof *sides->norm);
    sides->off = sides->norm + rows;
    sides->rounding = sides->off + rows;
    sides->square = sides->rounding + rows;
}

static void head_open(HeadAt *head, Radius *r, HeadSums *sums, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    size_t n = r->rows;
    *head = (HeadAt){.r = r,
                     .sums = sums,
                     .bundle = bundle,
                     .heads = radius_heads(r, bundle),
                     .read = score->read.count};
    head->width_k = score_query_width(score);
    head->width_v = value_width(value);
    size_t k = n * head->width_k + 1, v = n * head->width_v + 1;
    head->query = need_room(k, sizeof(double));
    head->key = need_room(k, sizeof(double));
    head->value = need_room(v, sizeof(double));
    head->mix = need_room(head->width_k + 1, sizeof(double));
    head->score = need_room(n * n + 1, sizeof(double));
    head->gap = need_room(n * n + 1, sizeof(int));
    sides_open(&head->queries, n);
    sides_open(&head->keys, n);
    sides_open(&head->values, n);
}

static void head_clear(HeadAt *head)
{
    double *const all[] = {head->query, head->key,          head->value,     head->score,
                           head->mix,   head->queries.norm, head->keys.norm, head->values.norm};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
    free(head->gap);
}

/* Which head: its factors, and the values' bias, which is the first's alone. */
static void head_choose(HeadAt *head, const BundleNorms *norms, size_t h)
{
    const Factor *factors = norms->head[h];
    head->head = h;
    head->turn = norms->turn;
    head->outer = norms->outer;
    head->outer.bias = h == 0 ? norms->outer.bias : 0;
    head->q = factors[FACTOR_Q];
    head->k = factors[FACTOR_K];
    head->v = factors[FACTOR_V];
    const HeadWeight *mix = &head->bundle->score.mix;
    for (size_t c = 0; score_is_mixed(&head->bundle->score) && c < head->width_k; c++) {
        head->mix[c] = mix->data[h * mix->head_stride + c * mix->ld];
    }
}

/* u = scale (x[read] W + b) mix, b on tokens, and turned there; and each row's norm, path and
 * rounding. */
typedef struct {
    double *u;
    const Sides *side;
    Columns read;
    const HeadWeight *w; /* NULL: 1 */
    const double *bias;  /* the head's, or NULL */
    const Factor *f;
    size_t width;
    double scale;
    const Rotary *rotary; /* or NULL */
    const double *mix;    /* or NULL */
} SideOf;

/* Row i of the stream, a token's. */
static void turn_row(double *u, const Rotary *rotary, const Layout *layout, size_t i)
{
    size_t half = rotary->width / 2, token = i - layout_token_row(layout, 0);
    const double *cos = rotary->cos + token * half, *sin = rotary->sin + token * half;
    for (size_t p = 0; p < half; p++) {
        RotaryPair pair = rotary_pair(rotary, p);
        double a = u[pair.first], b = u[pair.second];
        u[pair.first] = a * cos[p] - b * sin[p];
        u[pair.second] = b * cos[p] + a * sin[p];
    }
}

static void side_row(const HeadAt *head, const SideOf *of, size_t i)
{
    const Radius *r = head->r;
    const Point *at = head->at;
    const Factor *f = of->f;
    const Sides *side = of->side;
    double *u = of->u + i * of->width;
    bool has_bias = of->bias != NULL && i != layout_bias_row(r->layout);
    const double *b = of->bias;
    double x = banks_in(r, at->norm, of->read, i), path = banks_in(r, at->path, of->read, i);
    for (size_t c = 0; c < of->width; c++) {
        double in = of->w != NULL ? u[c] : at->x[i * r->columns + of->read.first + c];
        u[c] = of->scale * (in + (has_bias ? b[c] : 0));
        u[c] *= of->mix != NULL ? of->mix[c] : 1;
    }
    bool turns = of->rotary != NULL && i != layout_bias_row(r->layout);
    double norm = norm_vector(u, of->width, 1) * (turns ? head->turn : 1);
    if (turns) { /* (C43) */
        turn_row(u, of->rotary, r->layout, i);
    }
    double product = of->w != NULL ? radius_product(of->read.count) * f->size * x + 4 * f->bias : 0;
    bool rounds = of->w != NULL || b != NULL || of->mix != NULL;
    side->rounding[i] = bound_up(rounds ? 8 * norm + product : 0);
    side->off[i] =
        bound_up(f->norm * path + gemm_off(of->read.count) * (f->size * x + f->bias + norm) +
                 (turns ? BOUND_DOUBLE * norm : 0) + point_rho(r, side->rounding[i]));
    side->norm[i] = bound_up(norm + side->off[i]);
    side->square[i] = vectors()->dot(u, u, of->width);
}

static void side_rows(const HeadAt *head, const SideOf *of, RowRange rows)
{
    const Radius *r = head->r;
    const HeadWeight *w = of->w;
    if (w != NULL) {
        gemm(of->u + rows.first * of->width, of->width,
             gemm_plain(head->at->x + rows.first * r->columns + of->read.first, r->columns),
             gemm_plain(w->data + head->head * w->head_stride, w->ld),
             (GemmExtents){rows.end - rows.first, of->width, of->read.count}, 0);
    }
    for (size_t i = rows.first; i < rows.end; i++) {
        side_row(head, of, i);
    }
}

/* Values that are signs. */
static void sign_rows(const HeadAt *head, RowRange rows)
{
    const Sides *side = &head->values;
    for (size_t i = rows.first; i < rows.end; i++) {
        head->value[i] = i == layout_bias_row(head->r->layout) ? -1 : 1;
        side->norm[i] = side->square[i] = 1;
        side->off[i] = side->rounding[i] = 0;
    }
}

static void sides_block(Worker *worker, const void *context, size_t block)
{
    (void)worker;
    const HeadAt *head = context;
    const Score *score = &head->bundle->score;
    const Value *value = &head->bundle->value;
    size_t own = score_own(score, head->head);
    const double *q_bias = score->q_bias != NULL ? score->q_bias + own : NULL;
    const double *k_bias = score->k_bias != NULL ? score->k_bias + own : NULL;
    const double *v_bias =
        value->inner_bias != NULL ? value->inner_bias + head->head * head->width_v : NULL;
    double scale =
        (double)score->scale.num / (double)score->scale.den / sqrt((double)score->scale.sqrt_den);
    const SideOf queries = {.u = head->query,
                            .side = &head->queries,
                            .read = score_query_columns(score),
                            .w = score->q.data != NULL ? &score->q : NULL,
                            .bias = q_bias,
                            .f = &head->q,
                            .width = head->width_k,
                            .scale = scale,
                            .rotary = score->rotary,
                            .mix = score_is_mixed(score) ? head->mix : NULL};
    const SideOf keys = {.u = head->key,
                         .side = &head->keys,
                         .read = score->read,
                         .w = score->d_head > 0 ? &score->k : NULL,
                         .bias = k_bias,
                         .f = &head->k,
                         .width = head->width_k,
                         .scale = 1,
                         .rotary = score->rotary};
    const SideOf values = {.u = head->value,
                           .side = &head->values,
                           .read = value->read,
                           .w = &value->v,
                           .bias = v_bias,
                           .f = &head->v,
                           .width = head->width_v,
                           .scale = 1};
    RowRange rows = row_range(head->r, PRODUCT_ROWS, block);
    side_rows(head, &queries, rows);
    if (!head->keys_are_there) {
        side_rows(head, &keys, rows);
    }
    if (value_is_sign(value)) {
        sign_rows(head, rows);
    } else {
        side_rows(head, &values, rows);
    }
}

static void scores_block(Worker *worker, const void *context, size_t block)
{
    (void)worker;
    const HeadAt *head = context;
    RowRange of = row_range(head->r, PRODUCT_ROWS, block);
    size_t n = head->r->rows, K = head->width_k;
    gemm(head->score + of.first * n, n, gemm_plain(head->query + of.first * K, K),
         gemm_transposed(head->key, K), (GemmExtents){of.end - of.first, n, K}, 0);
}

static void gaps_row(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    const HeadAt *head = context;
    (void)heads_gaps(&head->heads, head->head, i, head->gap + i * head->r->rows);
}

/* The rows' gaps, which heads have in common unless each has its own coefficients. */
static void head_gaps(const HeadAt *head)
{
    const Radius *r = head->r;
    if (head->head == 0 || head->bundle->score.extra != NULL) {
        evaluator_each(r->ev, r->rows, GAP_OPERATIONS * r->rows * r->rows, gaps_row, head);
    }
}

static void head_set(HeadAt *head, const Point *at)
{
    const Radius *r = head->r;
    size_t n = r->rows, blocks = row_blocks(r, PRODUCT_ROWS);
    head->keys_are_there = head->at == at && score_is_mixed(&head->bundle->score);
    head->at = at;
    evaluator_each(r->ev, blocks, n * head->bundle->score.read.count * head->width_k, sides_block,
                   head);
    evaluator_each(r->ev, blocks, n * n * head->width_k, scores_block, head);
}

/* All heads at x^ (here), or at x^ + e^. */
static void heads_at(HeadAt *head, const BundleNorms *norms, bool here)
{
    const Radius *r = head->r;
    for (size_t h = 0; h < head->bundle->heads; h++) {
        head_choose(head, norms, h);
        head_gaps(head);
        head_set(head, here ? &r->at : &r->moved);
        bilinear_rows(head, here);
    }
}

/* The heads' sums go through the second factors: their products' and the scale's rounding. */
static void emit(Radius *r, const Bundle *bundle, const HeadSums *sums, const Outer *outer)
{
    Columns write = bundle->value.write;
    double o = outer->factored ? outer->o_norm * outer->value_scale : 1;
    double rounding = outer->factored
                          ? 2 * o + radius_product(bundle->heads * bundle->value.d_head) *
                                        outer->o_size * outer->value_scale
                          : 2;
    double most = outer->factored ? bound_max(o, outer->o_size * outer->value_scale) : 1;
    for (size_t i = 0; i < r->rows; i++) {
        const HeadSums *sum = &sums[i];
        r->score = bound_max(r->score, sum->score);
        r->far = r->far || sum->far;
        for (size_t k = 0; k < r->here.count; k++) {
            banks_add(r, r->here.out[k], write, i, o * sum->here[k]);
        }
        banks_add(r, r->local, write, i, o * sum->local + rounding * sum->size);
        banks_add(r, r->size, write, i, most * sum->size);
        for (size_t k = 0; r->change && k < r->there.count; k++) {
            banks_add(r, r->there.out[k], write, i, o * sum->there[k]);
        }
        if (r->change) {
            banks_add(r, r->local_e, write, i, o * sum->local_e + rounding * sum->size_e);
            banks_add(r, r->size_e, write, i, most * sum->size_e);
            banks_add(r, r->cross, write, i, o * sum->cross);
        }
    }
}

/* Heads that are matrices, and what follows them. */
static bool supported(const Bundle *bundle)
{
    const Value *value = &bundle->value;
    return (value->v.data != NULL || value_is_sign(value)) && value->diagonal == 0;
}

void radius_bilinear(Radius *r, const Bundle *bundle)
{
    HeadAt head;
    BundleNorms norms;
    if (!supported(bundle)) {
        radius_lose(r);
        return;
    }
    HeadSums *sums = need_zeros(r->rows + 1, sizeof *sums);
    bundle_norms_open(&norms, r, bundle);
    head_open(&head, r, sums, bundle);
    heads_at(&head, &norms, true);
    if (r->change && !r->near) {
        heads_at(&head, &norms, false);
    }
    r->adds += (double)bundle->heads + 2;
    emit(r, bundle, sums, &norms.outer);
    head_clear(&head);
    bundle_norms_clear(&norms);
    free(sums);
}
