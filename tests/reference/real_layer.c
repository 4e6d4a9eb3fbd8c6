/*
 * A layer of an original model in real numbers.
 */
#include "real_layer.h"

#include <stdlib.h>
#include <string.h>

/* The stream that a sublayer reads, [n, width], and what it writes. */
typedef struct {
    const Layout *layout;
    size_t n, width;
    const Real *x;
    Real *out;
} View;

static Real silu(Real x)
{
    return real_mul(x, real_sigma(x));
}

/* Token i's x[read] w + b, column to, w [read, columns]. */
static Real affine(const View *v, size_t i, Columns read, const double *w, size_t columns,
                   const double *b, size_t to)
{
    Real sum = real_of(b != NULL ? b[to] : 0);
    for (size_t a = 0; a < read.count; a++) {
        real_accumulate(
            &sum, real_mul(v->x[i * v->width + read.first + a], real_of(w[a * columns + to])));
    }
    return sum;
}

static void direct_row(const View *v, const Direct *f, size_t i)
{
    Real *row = v->out + i * v->width, *hidden = real_zeros(f->hidden);
    for (size_t k = 0; f->kind == DIRECT_FFN && k < f->hidden; k++) {
        hidden[k] = silu(affine(v, i, f->read, f->w1, f->hidden, f->b1, k));
    }
    for (size_t c = 0; c < f->write.count; c++) {
        Real *to = &row[f->write.first + c];
        if (f->kind == DIRECT_FFN) {
            real_accumulate(to, real_of(f->b2 != NULL ? f->b2[c] : 0));
            for (size_t k = 0; k < f->hidden; k++) {
                real_accumulate(to, real_mul(hidden[k], real_of(f->w2[k * f->write.count + c])));
            }
        } else if (f->kind == DIRECT_LINEAR) {
            Real y = affine(v, i, f->read, f->w1, f->write.count, f->b1, c);
            *to = f->replace ? y : real_add(*to, y);
        } else {
            *to = silu(v->x[i * v->width + f->read.first + c]);
        }
    }
    for (size_t c = 0; f->clear && c < f->read.count; c++) {
        row[f->read.first + c] = real_of(0);
    }
    free(hidden);
}

static Real weight(HeadWeight w, size_t h, size_t r, size_t c)
{
    return real_of(w.data[h * w.head_stride + r * w.ld + c]);
}

/* Token i's x[read] w of head h + b, column k. */
static Real project(const View *v, size_t i, Columns read, HeadWeight w, size_t h, size_t k,
                    const double *b)
{
    Real sum = real_of(b != NULL ? b[k] : 0);
    for (size_t a = 0; a < read.count; a++) {
        real_accumulate(&sum, real_mul(v->x[i * v->width + read.first + a], weight(w, h, a, k)));
    }
    return sum;
}

/* The score of token i toward token j. */
static Real score(const View *v, const Score *s, size_t h, size_t i, size_t j)
{
    size_t rank = s->d_head > 0 ? s->d_head : s->read.count;
    const double *q_bias = s->q_bias != NULL ? s->q_bias + h * rank : NULL;
    const double *k_bias = s->k_bias != NULL ? s->k_bias + h * rank : NULL;
    Real sum = real_of(0);
    for (size_t k = 0; k < rank; k++) {
        Real query = project(v, i, s->read, s->q, h, k, q_bias);
        Real key = s->d_head > 0 ? project(v, j, s->read, s->k, h, k, k_bias)
                                 : v->x[j * v->width + s->read.first + k];
        real_accumulate(&sum, real_mul(query, key));
    }
    sum = real_mul(sum, real_of((double)s->scale.num));
    sum = real_div(sum, real_of((double)s->scale.den));
    return real_div(sum, real_sqrt(real_of((double)s->scale.sqrt_den)));
}

/* What token j contributes to column c when head h attends it. */
static Real value(const View *v, const Value *u, size_t h, size_t j, size_t c)
{
    Real sum = real_of(0);
    if (u->kind == VALUE_DENSE) {
        sum = project(v, j, u->read, u->v, h, c, NULL);
    }
    for (size_t k = 0; u->kind == VALUE_FACTORED && k < u->d_head; k++) {
        const double *inner = u->inner_bias != NULL ? u->inner_bias + h * u->d_head : NULL;
        Real term = real_mul(project(v, j, u->read, u->v, h, k, inner), weight(u->o, h, k, c));
        real_accumulate(&sum, real_mul(term, real_of(u->scale)));
    }
    return h == 0 && u->bias != NULL ? real_add(sum, real_of(u->bias[c])) : sum;
}

static void head_row(const View *v, const Bundle *bundle, size_t h, size_t i)
{
    const Value *u = &bundle->value;
    Real *p = real_zeros(v->n), sum = real_of(0);
    for (size_t j = 0; j < v->n; j++) {
        if (score_sees(v->layout, &bundle->score, i, j)) {
            p[j] = real_exp(score(v, &bundle->score, h, i, j));
            real_accumulate(&sum, p[j]);
        }
    }
    for (size_t c = 0; c < u->write.count; c++) {
        Real *to = &v->out[i * v->width + u->write.first + c];
        for (size_t j = 0; j < v->n; j++) {
            real_accumulate(to, real_mul(real_div(p[j], sum), value(v, u, h, j, c)));
        }
    }
    free(p);
}

/* x[row] = gamma (x - mean) / sqrt(mean((x - mean)^2) + eps) + beta. */
static void norm_row(const LayerNorm *norm, Real *x)
{
    size_t count = norm->columns.count;
    Real *row = x + norm->columns.first, columns = real_of((double)count), mean = real_of(0),
         squares = real_of(0);
    for (size_t c = 0; norm->kind == NORMALIZATION_LAYERNORM && c < count; c++) {
        real_accumulate(&mean, real_div(row[c], columns));
    }
    for (size_t c = 0; c < count; c++) {
        row[c] = real_sub(row[c], mean);
        real_accumulate(&squares, real_div(real_mul(row[c], row[c]), columns));
    }
    Real root = real_sqrt(real_add(squares, real_of(norm->eps)));
    for (size_t c = 0; c < count; c++) {
        row[c] = real_mul(real_of(norm->gamma[c]), real_div(row[c], root));
        row[c] = real_add(row[c], real_of(norm->beta != NULL ? norm->beta[c] : 0));
    }
}

void real_layer(Real *x, const Model *model, size_t layer)
{
    size_t n = model->layout.n, width = layout_content(&model->layout);
    size_t size = n * width * sizeof *x;
    Real *before = real_zeros(n * width);
    View v = {&model->layout, n, width, before, x};
    for (size_t s = layer > 0 ? model->layer_end[layer - 1] : 0; s < model->layer_end[layer]; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        bool norm = sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM;
        memcpy(before, x, size);
        for (size_t i = 0; sublayer->norm.kind != NORMALIZATION_NONE && i < n; i++) {
            norm_row(&sublayer->norm, before + i * width);
        }
        if (norm) {
            memcpy(x, before, size);
        }
        for (size_t i = 0; i < n && !norm; i++) {
            if (sublayer->bundle_count == 0) {
                direct_row(&v, &sublayer->direct, i);
            }
            for (size_t b = 0; b < sublayer->bundle_count; b++) {
                for (size_t h = 0; h < sublayer->bundles[b].heads; h++) {
                    head_row(&v, &sublayer->bundles[b], h, i);
                }
            }
        }
    }
    free(before);
}
