/*
 * The closed forms of docs/mathematics.md, section 2, for the errors of one layer.
 */
#include "closed_forms.h"

#include <stdlib.h>

/* A case as the formulas see it: x(i, c) of the tokens i < n, and of the bias row i = n. */
typedef struct {
    const CaseSpec *spec;
    const Pair *pair;
    const Direct *direct; /* T's operation, unless it is attention */
    size_t n, width;
    Real eps; /* e^(-2 Omega) */
} View;

static View view_of(const CaseSpec *spec, const Pair *pair, double omega)
{
    return (View){.spec = spec,
                  .pair = pair,
                  .direct = &pair->original.sublayers[0].direct,
                  .n = spec->n,
                  .width = layout_content(&pair->converted.layout),
                  .eps = real_exp(real_mul(real_of(-2), real_of(omega)))};
}

static Real x_at(const View *v, size_t i, size_t c)
{
    if (i < v->n) {
        return real_of(v->pair->converted_x[i * v->width + c]);
    }
    return real_of(v->pair->bias_row_content == NULL ? 0 : v->pair->bias_row_content[c]);
}

static Real integer(size_t i)
{
    return real_of((double)i);
}

/* Token i sees tokens 0, ..., seen - 1 and the bias row; a masked bias row sees no token. */
static size_t tokens_seen(const View *v, size_t i)
{
    bool causal = v->spec->mask == MASK_CAUSAL;
    if (i < v->n) {
        return causal ? i + 1 : v->n;
    }
    return causal ? 0 : v->n;
}

/* Token: A = {self, bias row}, C = the m other tokens, rho = m eps/Z, Z = 1 + e^x + m eps:
 *     delta = (eps/Z) [m (x sigma(-x) + b sigma(x)) - S].
 * Bias row: A = {self}, C = the tokens: delta = eps e^(-b) (N b - T)/(1 + N eps e^(-b)). */
static Real silu_delta(const View *v, size_t i, size_t c)
{
    size_t seen = tokens_seen(v, i);
    Real x = x_at(v, i, c), b = x_at(v, v->n, c), sum = real_of(0), one = real_of(1);
    for (size_t j = 0; j < seen; j++) {
        real_accumulate(&sum, j == i ? real_of(0) : x_at(v, j, c));
    }
    if (i == v->n) {
        Real leak = real_mul(v->eps, real_exp(real_neg(b))), n = integer(seen);
        Real z = real_add(one, real_mul(n, leak));
        return real_div(real_mul(leak, real_sub(real_mul(n, b), sum)), z);
    }
    Real m = integer(seen - 1);
    Real z = real_add(real_add(one, real_exp(x)), real_mul(m, v->eps));
    Real kept =
        real_add(real_mul(x, real_sigma(real_neg(x))), real_mul(b, real_sigma(x))); /* -y_A */
    return real_mul(real_div(v->eps, z), real_sub(real_mul(m, kept), sum));
}

static void silu_construction(Real *delta, const View *v)
{
    for (size_t i = 0; i <= v->n; i++) {
        for (size_t c = 0; c < v->width; c++) {
            delta[i * v->width + c] = silu_delta(v, i, c);
        }
    }
}

/* A head that attends itself: A = {self}, C = the r - 1 other rows seen, their scores all 0:
 *     delta_i += eps' (sum of value over the rows seen - r value_i),  eps' = eps/(1 + (r-1) eps).
 * value [n + 1, width]. */
static void self_attending(Real *delta, const View *v, const Real *value)
{
    for (size_t i = 0; i <= v->n; i++) {
        size_t seen = tokens_seen(v, i);
        Real leak = real_div(v->eps, real_add(real_of(1), real_mul(integer(seen), v->eps)));
        for (size_t c = 0; c < v->width; c++) {
            Real sum = value[v->n * v->width + c];
            for (size_t j = 0; j < seen; j++) {
                real_accumulate(&sum, value[j * v->width + c]);
            }
            Real own = real_mul(integer(seen + 1), value[i * v->width + c]);
            real_accumulate(&delta[i * v->width + c], real_mul(leak, real_sub(sum, own)));
        }
    }
}

static bool within(Columns columns, size_t c)
{
    return c >= columns.first && c < columns.first + columns.count;
}

/* Row i, column c of x V, and on a token row + b: V is W, less I where the result replaces x
 * or where x is cleared. */
static Real linear_value(const View *v, size_t i, size_t c)
{
    const Direct *f = v->direct;
    Real sum = real_of(0);
    if (within(f->write, c)) {
        size_t to = c - f->write.first;
        for (size_t a = 0; a < f->read.count; a++) {
            real_accumulate(&sum, real_mul(x_at(v, i, f->read.first + a),
                                           real_of(f->w1[a * f->write.count + to])));
        }
        if (f->b1 != NULL && i < v->n) {
            real_accumulate(&sum, real_of(f->b1[to]));
        }
    }
    if ((f->replace || f->clear) && within(f->read, c)) {
        sum = real_sub(sum, x_at(v, i, c));
    }
    return sum;
}

static void linear_construction(Real *delta, const View *v)
{
    Real *value = real_zeros((v->n + 1) * v->width);
    for (size_t i = 0; i <= v->n; i++) {
        for (size_t c = 0; c < v->width; c++) {
            value[i * v->width + c] = linear_value(v, i, c);
        }
    }
    self_attending(delta, v, value);
    free(value);
}

/* m [d, d] = w of head h, or its two factors multiplied. */
static void head_matrix(Real *m, size_t d, size_t d_head, const HeadWeight *first,
                        const HeadWeight *second, bool transposed, size_t h)
{
    const double *f = first->data + h * first->head_stride;
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b < d; b++) {
            Real sum = d_head == 0 ? real_of(f[a * first->ld + b]) : real_of(0);
            for (size_t r = 0; r < d_head; r++) {
                const double *s = second->data + h * second->head_stride;
                double w = transposed ? s[b * second->ld + r] : s[r * second->ld + b];
                real_accumulate(&sum, real_mul(real_of(f[a * first->ld + r]), real_of(w)));
            }
            m[a * d + b] = sum;
        }
    }
}

/* xm [n + 1, d] = rows of x times m [d, d] */
static void rows_times(Real *xm, const View *v, const Real *m)
{
    size_t d = v->width;
    for (size_t i = 0; i <= v->n; i++) {
        for (size_t c = 0; c < d; c++) {
            xm[i * d + c] = real_of(0);
            for (size_t a = 0; a < d; a++) {
                real_accumulate(&xm[i * d + c], real_mul(x_at(v, i, a), m[a * d + c]));
            }
        }
    }
}

/* A part of a row's keys: the sum of e^score, and of that times the value. */
typedef struct {
    Real total;
    Real *sum; /* [d] */
} Part;

static void part_add(Part *part, Real weight, const Real *value, size_t d)
{
    real_accumulate(&part->total, weight);
    for (size_t c = 0; c < d; c++) {
        real_accumulate(&part->sum[c], real_mul(weight, value[c]));
    }
}

/* The key's part, and in *omegas how many Omega it is behind A.  Token: A = the tokens that T lets
 * it see, C = {bias row} at -2 Omega; by a pseudo-mask A is at +Omega, and the other tokens are in
 * C too.  Bias row: A = {self} at +2 Omega, C = the tokens.  false: not seen at all. */
static bool key_part(const View *v, size_t i, size_t j, bool *of_a, size_t *omegas)
{
    const Score *score = &v->pair->original.sublayers[0].bundles[0].score;
    size_t n = v->n;
    bool pseudo = mask_is_pseudo(v->spec->mask);
    if (i == n) {
        *of_a = j == n;
        *omegas = j < n ? 2 : 0;
        return j == n || v->spec->mask != MASK_CAUSAL;
    }
    *of_a = j < n && score_sees(&v->pair->original.layout, score, i, j);
    *omegas = *of_a ? 0 : (size_t)pseudo + (j == n ? 2 : 0);
    return *of_a || pseudo || j == n;
}

/* One head, row i: rho (y_C - y_A) = (sum_C - total_C y_A)/(total_A + total_C). */
static void attention_row(Real *delta, const View *v, const Real *xq, const Real *xv, size_t i)
{
    size_t d = v->width, n = v->n;
    Part a = {real_of(0), real_zeros(d)}, c = {real_of(0), real_zeros(d)};
    for (size_t j = 0; j <= n; j++) {
        Real score = real_of(0);
        size_t omegas;
        bool of_a;
        if (!key_part(v, i, j, &of_a, &omegas)) {
            continue;
        }
        for (size_t k = 0; k < d; k++) {
            real_accumulate(&score, real_mul(xq[i * d + k], x_at(v, j, k)));
        }
        Real behind = real_mul(real_of((double)omegas / 2), real_log(v->eps));
        part_add(of_a ? &a : &c, real_exp(real_add(score, behind)), xv + j * d, d);
    }
    for (size_t k = 0; k < d; k++) {
        Real gap = real_sub(c.sum[k], real_mul(c.total, real_div(a.sum[k], a.total)));
        real_accumulate(&delta[i * d + k], real_div(gap, real_add(a.total, c.total)));
    }
    free(a.sum);
    free(c.sum);
}

static void attention_construction(Real *delta, const View *v)
{
    const Bundle *heads = &v->pair->original.sublayers[0].bundles[0];
    const Score *score = &heads->score;
    const Value *value = &heads->value;
    size_t d = v->width;
    Real *m = real_zeros(d * d), *xq = real_zeros((v->n + 1) * d), *xv = real_zeros((v->n + 1) * d);
    for (size_t h = 0; h < heads->heads; h++) {
        head_matrix(m, d, v->spec->d_head, &score->q, &score->k, true, h);
        rows_times(xq, v, m);
        head_matrix(m, d, v->spec->d_head, &value->v, &value->o, false, h);
        rows_times(xv, v, m);
        for (size_t i = 0; i <= v->n; i++) {
            attention_row(delta, v, xq, xv, i);
        }
    }
    free(m);
    free(xq);
    free(xv);
}

/* x W1[:, k], and on a token row + b1_k */
static Real pre_activation(const View *v, size_t i, size_t k)
{
    const Direct *f = v->direct;
    Real sum = real_of(f->b1 != NULL && i < v->n ? f->b1[k] : 0);
    for (size_t c = 0; c < v->width; c++) {
        real_accumulate(&sum, real_mul(x_at(v, i, c), real_of(f->w1[c * f->hidden + k])));
    }
    return sum;
}

/* Hidden unit k, before W2.  Token: A = {self, bias row}, C = the m other tokens,
 *     (eps/Z) [S - m (SiLU(z) + sigma(-z) (b W1)_k)],  Z = 1 + e^(-z) + m eps.
 * Bias row, g = (b W1)_k: eps e^g (sum of z - N g)/(1 + N eps e^g).
 * z [n + 1], the last one g. */
static Real fused_unit(const View *v, const Real *z, size_t i)
{
    size_t seen = tokens_seen(v, i);
    Real sum = real_of(0), g = z[v->n], one = real_of(1);
    for (size_t j = 0; j < seen; j++) {
        real_accumulate(&sum, j == i ? real_of(0) : z[j]);
    }
    if (i == v->n) {
        Real leak = real_mul(v->eps, real_exp(g)), n = integer(seen);
        Real total = real_add(one, real_mul(n, leak));
        return real_div(real_mul(leak, real_sub(sum, real_mul(n, g))), total);
    }
    Real m = integer(seen - 1);
    Real total = real_add(real_add(one, real_exp(real_neg(z[i]))), real_mul(m, v->eps));
    Real kept = real_add(real_mul(z[i], real_sigma(z[i])), real_mul(g, real_sigma(real_neg(z[i]))));
    return real_mul(real_div(v->eps, total), real_sub(sum, real_mul(m, kept)));
}

static void fused_construction(Real *delta, const View *v)
{
    const Direct *f = v->direct;
    Real *z = real_zeros(v->n + 1), *value = real_zeros((v->n + 1) * v->width);
    for (size_t k = 0; k < f->hidden; k++) {
        for (size_t i = 0; i <= v->n; i++) {
            z[i] = pre_activation(v, i, k);
        }
        for (size_t i = 0; i <= v->n; i++) {
            Real unit = fused_unit(v, z, i);
            for (size_t c = 0; c < v->width; c++) {
                real_accumulate(&delta[i * v->width + c],
                                real_mul(unit, real_of(f->w2[k * v->width + c])));
            }
        }
    }
    for (size_t i = 0; f->b2 != NULL && i < v->n; i++) {
        for (size_t c = 0; c < v->width; c++) {
            value[i * v->width + c] = real_of(f->b2[c]);
        }
    }
    self_attending(delta, v, value);
    free(z);
    free(value);
}

void closed_construction(Real *delta, const CaseSpec *spec, const Pair *pair, double omega)
{
    View v = view_of(spec, pair, omega);
    for (size_t e = 0; e < (v.n + 1) * v.width; e++) {
        delta[e] = real_of(0);
    }
    switch (spec->construction) {
    case CONSTRUCTION_SILU: silu_construction(delta, &v); break;
    case CONSTRUCTION_LINEAR: linear_construction(delta, &v); break;
    case CONSTRUCTION_ATTENTION: attention_construction(delta, &v); break;
    case CONSTRUCTION_FUSED: fused_construction(delta, &v); break;
    default: abort();
    }
}

/* The bias row's content b seen with the weight it has in the limit:
 * SiLU -sigma(x) b; fused sum over k of sigma(-z_k) (b W1)_k W2[k, :]; the others never see it. */
void closed_approximation(Real *delta, const CaseSpec *spec, const Pair *pair)
{
    View v = view_of(spec, pair, 0);
    const Direct *f = v.direct;
    for (size_t i = 0; i < v.n; i++) {
        for (size_t c = 0; c < v.width; c++) {
            Real *entry = &delta[i * v.width + c];
            *entry = real_of(0);
            if (spec->construction == CONSTRUCTION_SILU) {
                *entry = real_neg(real_mul(real_sigma(x_at(&v, i, c)), x_at(&v, v.n, c)));
            }
            for (size_t k = 0; spec->construction == CONSTRUCTION_FUSED && k < f->hidden; k++) {
                Real weight = real_sigma(real_neg(pre_activation(&v, i, k)));
                Real seen = real_mul(weight, pre_activation(&v, v.n, k));
                real_accumulate(entry, real_mul(seen, real_of(f->w2[k * v.width + c])));
            }
        }
    }
}

/* (N - 1) B sigma(B) (1 + sigma(B)) eps */
static Real gated_bound(const View *v, Real b)
{
    Real sigma = real_sigma(b);
    Real factor = real_mul(sigma, real_add(real_of(1), sigma));
    return real_mul(real_mul(integer(v->n - 1), b), real_mul(factor, v->eps));
}

/* eps' (2N - 1) B sum over c of |V_cd|, V = W - I in place; clear's -I has columns of its own. */
static Real linear_bound(const View *v, Real largest, size_t column)
{
    const Direct *f = v->direct;
    Real sum = real_of(0);
    for (size_t a = 0; a < f->read.count; a++) {
        bool diagonal = f->read.first + a == column && (f->replace || f->clear);
        bool written = within(f->write, column);
        double w = written ? f->w1[a * f->write.count + column - f->write.first] : 0;
        real_accumulate(&sum, real_abs(real_sub(real_of(w), real_of(diagonal ? 1 : 0))));
    }
    Real leak = real_div(v->eps, real_add(real_of(1), real_mul(integer(v->n), v->eps)));
    return real_mul(real_mul(leak, integer(2 * v->n - 1)), real_mul(largest, sum));
}

void closed_bound(Real *bound, const CaseSpec *spec, const Pair *pair, double omega)
{
    View v = view_of(spec, pair, omega);
    const Direct *f = v.direct;
    Real largest = real_of(0);
    for (size_t i = 0; i < v.n; i++) {
        for (size_t k = 0; spec->construction == CONSTRUCTION_FUSED && k < f->hidden; k++) {
            largest = real_max(largest, real_abs(pre_activation(&v, i, k)));
        }
        for (size_t c = 0; spec->construction != CONSTRUCTION_FUSED && c < v.width; c++) {
            largest = real_max(largest, real_abs(x_at(&v, i, c)));
        }
    }
    for (size_t c = 0; c < v.width; c++) {
        Real sum = real_of(spec->construction == CONSTRUCTION_FUSED ? 0 : 1);
        for (size_t k = 0; spec->construction == CONSTRUCTION_FUSED && k < f->hidden; k++) {
            real_accumulate(&sum, real_abs(real_of(f->w2[k * v.width + c])));
        }
        bound[c] = spec->construction == CONSTRUCTION_LINEAR
                       ? linear_bound(&v, largest, c)
                       : real_mul(gated_bound(&v, largest), sum);
    }
}
