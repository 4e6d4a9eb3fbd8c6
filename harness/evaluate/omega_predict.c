/*
 * Predicted intervals of Omega: the constants of the error bounds, read off weights and input, and
 * what they come to for a tolerance.
 */
#include "omega_predict.h"

#include "omega_search.h"

#include "../../cases/activation.h"
#include "../../memory/need.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest x sigma'(x), and where it is. */
#define GATE_MOST 0.223871602347
#define GATE_AT 1.5434

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* The largest |x sigma'(x)| up to a bound: by how much a gate's error comes out. */
static double gate_factor(double bound)
{
    return bound >= GATE_AT ? GATE_MOST : bound * sigmoid(bound) * sigmoid(-bound);
}

/* The most that a gated head leaks: (N - 1) B sigma(B) (1 + sigma(B)), B the largest |score|. */
static double gate_leak(size_t n, double bound)
{
    return (double)(n - 1) * bound * sigmoid(bound) * (1 + sigmoid(bound));
}

static double largest(const double *x, size_t count)
{
    double most = 0;
    for (size_t e = 0; e < count; e++) {
        most = fmax(most, fabs(x[e]));
    }
    return most;
}

/* The token rows of T, [n, ld]. */
typedef struct {
    const double *x;
    size_t n, ld;
} Tokens;

static double entry(const Tokens *tokens, size_t i, size_t c)
{
    return tokens->x[i * tokens->ld + c];
}

void omega_bounds_join(OmegaBounds *bounds, const OmegaBounds *other)
{
    bounds->construction = fmax(bounds->construction, other->construction);
    bounds->absorbed = fmax(bounds->absorbed, other->absorbed);
    bounds->floor = fmax(bounds->floor, other->floor);
    bounds->score = fmax(bounds->score, other->score);
}

static OmegaBounds activation_bounds(const Tokens *tokens)
{
    double bound = largest(tokens->x, tokens->n * tokens->ld);
    return (OmegaBounds){gate_leak(tokens->n, bound), gate_factor(bound), 0, bound};
}

/* (2N - 1) B sum_c |V_cd| + |b_d|, V = W - I in place. */
static OmegaBounds linear_bounds(const Tokens *tokens, const Direct *direct)
{
    double bound = 0, most = 0;
    for (size_t i = 0; i < tokens->n; i++) {
        for (size_t c = 0; c < direct->read.count; c++) {
            bound = fmax(bound, fabs(entry(tokens, i, direct->read.first + c)));
        }
    }
    for (size_t d = 0; d < direct->write.count; d++) {
        double sum = 0;
        for (size_t c = 0; c < direct->read.count; c++) {
            sum += fabs(direct->w1[c * direct->write.count + d] - (direct->replace && c == d));
        }
        double bias = direct->b1 != NULL ? fabs(direct->b1[d]) : 0;
        most = fmax(most, (2 * (double)tokens->n - 1) * bound * sum + bias);
    }
    return (OmegaBounds){.construction = most};
}

/* x w + b of one token and column. */
static double product(const Tokens *tokens, size_t i, const Direct *direct, size_t k)
{
    double sum = direct->b1 != NULL ? direct->b1[k] : 0;
    for (size_t c = 0; c < direct->read.count; c++) {
        sum += entry(tokens, i, direct->read.first + c) * direct->w1[c * direct->hidden + k];
    }
    return sum;
}

/* A gate's times sum_k |W2_kd|; b2 costs a token b2_d e^(-2 Omega). */
static OmegaBounds ffn_bounds(const Tokens *tokens, const Direct *direct)
{
    OmegaBounds bounds = {0};
    double bound = 0;
    for (size_t i = 0; i < tokens->n; i++) {
        for (size_t k = 0; k < direct->hidden; k++) {
            bound = fmax(bound, fabs(product(tokens, i, direct, k)));
        }
    }
    for (size_t d = 0; d < direct->write.count; d++) {
        double sum = 0;
        for (size_t k = 0; k < direct->hidden; k++) {
            sum += fabs(direct->w2[k * direct->write.count + d]);
        }
        double bias = direct->b2 != NULL ? fabs(direct->b2[d]) : 0;
        OmegaBounds column = {gate_leak(tokens->n, bound) * sum + bias, gate_factor(bound) * sum, 0,
                              bound};
        omega_bounds_join(&bounds, &column);
    }
    return bounds;
}

static double to_double(Scale scale)
{
    return (double)scale.num / ((double)scale.den * sqrt((double)scale.sqrt_den));
}

/* One matrix a head, applied to some columns: x w, and a bias of each head's or NULL, `width`
 * numbers. */
typedef struct {
    Columns read;
    HeadWeight weight;
    const double *bias;
    size_t width;
} Projection;

/* out [n, width] = that of head h. */
static void project(double *out, const Tokens *tokens, const Projection *by, size_t h)
{
    const double *w = by->weight.data + h * by->weight.head_stride;
    for (size_t i = 0; i < tokens->n; i++) {
        for (size_t k = 0; k < by->width; k++) {
            double sum = by->bias != NULL ? by->bias[h * by->width + k] : 0;
            for (size_t c = 0; c < by->read.count; c++) {
                sum += entry(tokens, i, by->read.first + c) * w[c * by->weight.ld + k];
            }
            out[i * by->width + k] = sum;
        }
    }
}

/* ln(e^a + e^b), b finite. */
static double log_add(double a, double b)
{
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* A bundle of patched heads that reads tokens; widest: of its numbers; work [3, n, widest]; leak
 * [columns written] is the sum over heads. */
typedef struct {
    const Tokens *tokens;
    const Layout *layout;
    const Bundle *bundle;
    size_t widest;
    double *work, *leak;
} Heads;

/* The least ln sum_j e^(s_ij) of a row; query [n, width], key.n of them. */
static double least_log_sum(const Heads *heads, const double *query, Tokens key, size_t width)
{
    const Score *score = &heads->bundle->score;
    double least = INFINITY, scale = to_double(score->scale);
    for (size_t i = 0; i < key.n; i++) {
        double log_sum = -INFINITY;
        for (size_t j = 0; j < key.n; j++) {
            if (score_sees(heads->layout, score, i, j)) {
                double s = 0;
                for (size_t k = 0; k < width; k++) {
                    s += query[i * width + k] * key.x[j * key.ld + k];
                }
                log_sum = log_add(log_sum, scale * s);
            }
        }
        least = fmin(least, log_sum);
    }
    return least;
}

/* leak[d] += e^(-L) max_j |value_jd| of head h. */
static void add_head(const Heads *heads, size_t h)
{
    const Tokens *tokens = heads->tokens;
    const Score *score = &heads->bundle->score;
    const Value *value = &heads->bundle->value;
    size_t size = tokens->n * heads->widest, d_head = score->d_head, columns = value->write.count;
    double *query = heads->work, *key = query + size, *inner = query, *outer = query + 2 * size;
    size_t width = d_head > 0 ? d_head : score->read.count;
    Tokens keys = {tokens->x + score->read.first, tokens->n, tokens->ld};
    project(query, tokens, &(Projection){score->read, score->q, score->q_bias, width}, h);
    if (d_head > 0) {
        project(key, tokens, &(Projection){score->read, score->k, score->k_bias, d_head}, h);
        keys = (Tokens){key, tokens->n, d_head};
    }
    double log_sum = least_log_sum(heads, query, keys, width);
    if (value->d_head > 0) {
        const Projection v = {value->read, value->v, value->inner_bias, value->d_head};
        const Projection o = {{0, value->d_head}, value->o, NULL, columns};
        project(inner, tokens, &v, h);
        project(outer, &(Tokens){inner, tokens->n, value->d_head}, &o, h);
    } else {
        project(outer, tokens, &(Projection){value->read, value->v, NULL, columns}, h);
    }
    for (size_t d = 0; d < columns; d++) {
        double most = 0;
        for (size_t j = 0; j < tokens->n; j++) {
            double bias = value->bias != NULL && h == 0 ? value->bias[d] : 0;
            most = fmax(most, fabs(outer[j * columns + d] + bias));
        }
        heads->leak[d] += exp(-log_sum) * most;
    }
}

/* sum_h e^(-L_h) |value_hd|: what a token's patched heads take of the bias row, whose own value is
 * 0. */
static OmegaBounds attention_bounds(const Tokens *tokens, const Layout *layout,
                                    const Bundle *bundle)
{
    size_t columns = bundle->value.write.count, widest = columns;
    widest = bundle->score.d_head > widest ? bundle->score.d_head : widest;
    widest = bundle->value.d_head > widest ? bundle->value.d_head : widest;
    const Heads heads = {.tokens = tokens,
                         .layout = layout,
                         .bundle = bundle,
                         .widest = widest,
                         .work = need_zeros(3 * widest, tokens->n * sizeof(double)),
                         .leak = need_zeros(columns, sizeof(double))};
    for (size_t h = 0; h < bundle->heads; h++) {
        add_head(&heads, h);
    }
    const OmegaBounds bounds = {.construction = largest(heads.leak, columns)};
    free(heads.leak);
    free(heads.work);
    return bounds;
}

bool omega_predictable(const Pair *pair, const Point *point)
{
    const CaseSpec *spec = &point->spec;
    const ConstructionInfo *info = construction_info(spec->construction);
    bool one_sublayer = pair->original.sublayer_count == 1 && pair->converted.sublayer_count == 1;
    bool streams = point->judge_of == JUDGE_STREAMS;
    bool judged = point->judge == ERROR_CONSTRUCTION || point->judge == ERROR_TOTAL ||
                  point->judge == ERROR_OBSERVED;
    bool whole = spec->dropout == 0 && spec->drop_entry == 0 && spec->weight_noise == 0 &&
                 spec->bias_row_content == CONTENT_NONE;
    bool imitated = info->activation && !activation_info(spec->activation)->exact;
    bool pseudo = info->heads && mask_is_pseudo(spec->mask);
    return one_sublayer && streams && judged && point->norm != NORM_REL && whole && !imitated &&
           !pseudo && !info->masked;
}

/* The tokens as the sublayer reads them: x, or norm(x), as the bias row has no share in it.  *own:
 * to be freed. */
static void read_tokens(Tokens *read, double **own, const Tokens *x, const LayerNorm *norm)
{
    size_t count = x->n * x->ld;
    *read = *x;
    *own = NULL;
    if (norm->kind == NORMALIZATION_NONE) {
        return;
    }
    *own = need_room(count, sizeof **own);
    memcpy(*own, x->x, count * sizeof **own);
    read->x = *own;
    const ArithmeticInfo *f64 = arithmetic_info(ARITHMETIC_F64);
    f64->functions->norm(&f64->formats, *own, x->n, x->ld, norm);
}

OmegaBounds omega_bounds(const Pair *pair, double u)
{
    const Layout *layout = &pair->original.layout;
    const Sublayer *sublayer = &pair->original.sublayers[0];
    Tokens x = {pair->original_x, layout->n, layout_content(layout)}, tokens;
    const Direct *direct = &sublayer->direct;
    OmegaBounds bounds;
    double *own;
    read_tokens(&tokens, &own, &x, &sublayer->norm);
    if (sublayer->bundle_count > 0) {
        bounds = attention_bounds(&tokens, layout, &sublayer->bundles[0]);
    } else if (direct->kind == DIRECT_ACTIVATION) {
        bounds = activation_bounds(&tokens);
    } else {
        bounds = direct->kind == DIRECT_LINEAR ? linear_bounds(&tokens, direct)
                                               : ffn_bounds(&tokens, direct);
    }
    bounds.floor = 2 * u * largest(x.x, x.n * x.ld);
    free(own);
    return bounds;
}

/* To 8 digits, as every Omega of a search is printed, within the range. */
static double short_omega(double omega)
{
    char text[40];
    snprintf(text, sizeof text, "%.8g", fmin(fmax(omega, OMEGA_LEAST), OMEGA_MOST));
    return strtod(text, NULL);
}

/* The largest Omega at which absorbed * ulp(2 Omega + score)/2 is within the tolerance:
 * 2 Omega + score < 2^(e+1), e = floor(log2(tolerance/absorbed)) + digits. */
static double largest_omega(const OmegaBounds *bounds, double tolerance,
                            const ArithmeticInfo *machine)
{
    double exponent =
        floor(log2(tolerance / bounds->absorbed)) + format_info(machine->formats.score)->digits;
    return exp2(fmin(exponent, 1100)) - bounds->score / 2;
}

/* From where on 2 Omega is infinite as the machine has it, which no penalty minds that is added to
 * a score, and every product with it does. */
static double overflow_omega(const Point *point, const ArithmeticInfo *machine)
{
    bool added = point->penalty == PENALTY_NEGATIVE && point->kernel == KERNEL_STRUCTURED;
    return added ? INFINITY : format_info(machine->formats.operand)->largest / 2;
}

OmegaInterval omega_predict(const OmegaBounds *bounds, const Point *point,
                            const ArithmeticInfo *machine)
{
    Point one = *point;
    OmegaInterval interval = {.known = true, .max = INFINITY};
    double tolerance = point->tolerance;
    one.omega = 1;
    double factor = point_omega(&one);
    interval.min = log(bounds->construction / tolerance) / 2;
    if (point->judge != ERROR_CONSTRUCTION) {
        bool absorbs = point->penalty == PENALTY_POSITIVE && bounds->absorbed > 0;
        interval.max = fmin(overflow_omega(point, machine),
                            absorbs ? largest_omega(bounds, tolerance, machine) : INFINITY);
    }
    interval.min = short_omega(interval.min / factor);
    interval.max = short_omega(interval.max / factor);
    if (point->judge != ERROR_CONSTRUCTION && bounds->floor > tolerance) {
        interval.max = 0;
    }
    return interval;
}
