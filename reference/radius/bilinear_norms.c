/*
 * Norms of the weights of heads with bilinear scores: of all heads' factors, and of the second
 * factors, side by side on threads.
 */
#include "bilinear.h"
#include "bounds.h"
#include "norm.h"

#include "../../memory/need.h"

#include <stdlib.h>

/* The largest sqrt(c^2 + s^2) of a table, or 1 (C43). */
static double turn_of(const Rotary *rotary)
{
    double most = 1;
    size_t count = rotary != NULL ? rotary->positions * (rotary->width / 2) : 0;
    for (size_t i = 0; i < count; i++) {
        double c = rotary->cos[i], s = rotary->sin[i];
        most = bound_max(most, c * c + s * s);
    }
    return most > 1 ? bound_up(sqrt(most)) : 1;
}

/* A head's factor [rows, width]; bias: its own, or NULL. */
static Factor factor(const Radius *r, const HeadWeight *w, size_t h, size_t rows, size_t width,
                     const double *bias)
{
    const double *data = w->data + h * w->head_stride;
    MatrixNorms norms = norm_of(r, (NormKey){data, rows, width, w->ld, .parts = 1});
    return (Factor){norms.spectral, norms.frobenius,
                    bias != NULL ? norm_vector(bias, width, 1) : 0};
}

static const double *own_bias(const double *biases, size_t first)
{
    return biases != NULL ? biases + first : NULL;
}

static Factor query_factor(const Radius *r, const Score *score, size_t h, double turn)
{
    const Scale *by = &score->scale;
    double scale = bound_up(turn * (double)by->num / (double)by->den / sqrt((double)by->sqrt_den));
    Factor q = {1, 0, 0};
    if (score->q.data != NULL) {
        q = factor(r, &score->q, h, score->read.count, score_query_width(score),
                   own_bias(score->q_bias, score_own(score, h)));
    }
    double mix = score_is_mixed(score) ? 0 : 1;
    for (size_t k = 0; score_is_mixed(score) && k < score->d_head; k++) {
        mix = bound_max(mix, fabs(score->mix.data[h * score->mix.head_stride + k * score->mix.ld]));
    }
    scale *= mix;
    return (Factor){bound_up(q.norm * scale), bound_up(q.size * scale), bound_up(q.bias * scale)};
}

static Factor key_factor(const Radius *r, const Score *score, size_t h, double turn)
{
    if (score->d_head == 0) {
        return (Factor){1, 0, 0};
    }
    Factor k = factor(r, &score->k, h, score->read.count, score_query_width(score),
                      own_bias(score->k_bias, score_own(score, h)));
    return (Factor){bound_up(k.norm * turn), bound_up(k.size * turn), bound_up(k.bias * turn)};
}

static Factor head_factor(const Radius *r, const Bundle *bundle, size_t h, size_t which,
                          double turn)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    switch (which) {
    case FACTOR_Q: return query_factor(r, score, h, turn);
    case FACTOR_K: return key_factor(r, score, h, turn);
    default:
        return value_is_sign(value) ? (Factor){0, 0, 0}
                                    : factor(r, &value->v, h, value->read.count, value_width(value),
                                             own_bias(value->inner_bias, h * value_width(value)));
    }
}

static Outer outer_of(const Radius *r, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    Outer outer = {.factored = value->d_head > 0, .value_scale = fabs(value->scale)};
    size_t columns = value->write.count;
    outer.o_norm = 1; /* of unit vectors, beside which nothing is summed */
    if (outer.factored && value->o.data != NULL) {
        const HeadWeight *o = &value->o;
        MatrixNorms norms =
            norm_of(r, (NormKey){o->data, value->d_head, columns, o->ld, bundle->heads,
                                 o->head_stride, .are = PARTS_BELOW});
        outer.o_norm = norms.spectral;
        outer.o_size = norms.frobenius;
    }
    outer.bias = value->bias != NULL ? norm_vector(value->bias, columns, 1) : 0;
    return outer;
}

typedef struct {
    BundleNorms *norms;
    const Radius *r;
    const Bundle *bundle;
} Matrices;

/* The second factors, the largest, first; then those of each head. */
static void matrix_norms(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    const Matrices *all = context;
    if (i == 0) {
        all->norms->outer = outer_of(all->r, all->bundle);
    } else {
        size_t h = (i - 1) / FACTORS, which = (i - 1) % FACTORS;
        all->norms->head[h][which] = head_factor(all->r, all->bundle, h, which, all->norms->turn);
    }
}

void bundle_norms_open(BundleNorms *norms, const Radius *r, const Bundle *bundle)
{
    size_t width = value_width(&bundle->value), read = bundle->value.read.count;
    const Matrices all = {norms, r, bundle};
    *norms = (BundleNorms){.head = need_room(bundle->heads, sizeof *norms->head),
                           .turn = turn_of(bundle->score.rotary)};
    evaluator_each(r->ev, bundle->heads * FACTORS + 1,
                   bundle->heads * FACTORS * read * width * width, matrix_norms, &all);
}

void bundle_norms_clear(BundleNorms *norms)
{
    free(norms->head);
}
