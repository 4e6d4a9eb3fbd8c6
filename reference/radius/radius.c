/*
 * Radii from sublayer to sublayer.
 *
 *     rho' = propagated rho + rounding + the additions' rounding                              (C29)
 *     eta' = propagated eta + (derivatives of T' less those of T_infinity) rho + rounding     (C30)
 */
#include "bilinear.h"
#include "bounds.h"
#include "gates.h"
#include "internal.h"
#include "point.h"

#include "../../memory/need.h"

#include <stdlib.h>
#include <string.h>

/* Operations of an entry of the stream, and of whether a row sees a key. */
enum { ENTRY_OPERATIONS = 8, KEY_OPERATIONS = 4 };

/* The first arrays of numbers for each bank of a row: effects of the sublayer at hand. */
enum { EFFECTS = 9 };

static void radius_init(Radius *r)
{
    Banks **const banks[] = {&r->local,        &r->size,        &r->local_e,       &r->size_e,
                             &r->cross,        &r->here.out[0], &r->here.out[1],   &r->there.out[0],
                             &r->there.out[1], &r->rho,         &r->eta,           &r->e,
                             &r->kept_rho,     &r->kept_eta,    &r->apart,         &r->beside_rho,
                             &r->beside_eta,   &r->beside_size, &r->beside_size_e, &r->at.norm,
                             &r->at.path,      &r->moved.norm,  &r->moved.path};
    double **const numbers[] = {&r->at.x,       &r->moved.x,        &r->here.diagonal,
                                &r->here.slack, &r->there.diagonal, &r->there.slack};
    const size_t arrays = sizeof banks / sizeof *banks, count = sizeof numbers / sizeof *numbers,
                 entries = r->rows * r->columns;
    r->banks = need_zeros(arrays * r->rows + 1, sizeof *r->banks);
    r->numbers = need_zeros(count * entries + 1, sizeof *r->numbers);
    for (size_t i = 0; i < arrays; i++) {
        *banks[i] = r->banks + i * r->rows;
    }
    for (size_t i = 0; i < count; i++) {
        *numbers[i] = r->numbers + i * entries;
    }
    r->zero = need_zeros(r->rows * BANKS + 1, sizeof *r->zero);
}

/* Is all of a row's bank of the stream zero, as it stands? */
static bool bank_is_zero(const Radius *r, size_t row, int bank)
{
    const Columns of = radius_bank(r, bank);
    bool zero = true;
    for (size_t c = 0; c < of.count; c++) {
        zero = zero && mpfr_zero_p(ap_at(r->x, row, of.first + c));
    }
    return zero;
}

Radius *radius_open(const RadiusOfRun *run)
{
    Radius *r = need_zeros(1, sizeof *r);
    r->rows = run->x->rows;
    r->columns = run->x->columns;
    r->layout = run->layout;
    r->ev = run->ev;
    r->x = run->x;
    r->e_stream = run->e;
    r->sum = run->sum;
    r->normed = run->normed;
    r->normed_e = run->normed_e;
    r->bank = run->layout->d;
    r->bits = run->ev->bits;
    r->change = run->e != NULL;
    r->leaks = r->change && !run->limit_change;
    radius_init(r);
    r->at.limit = run->limit;
    r->moved.limit = run->limit_change;
    r->here.at = &r->at;
    r->there.at = &r->moved;
    r->here.radius[PASS_OWN] = r->there.radius[PASS_OTHER] = r->rho;
    r->here.radius[PASS_OTHER] = r->there.radius[PASS_OWN] = r->eta;
    r->here.count = 1;
    r->there.count = 2;
    for (size_t i = 0; i < r->rows; i++) {
        for (int b = 0; b < BANKS; b++) {
            r->zero[i * BANKS + (size_t)b] = bank_is_zero(r, i, b);
        }
    }
    return r;
}

void radius_clear(Radius *r)
{
    if (r == NULL) {
        return;
    }
    free(r->banks);
    free(r->numbers);
    free(r->zero);
    free(r);
}

/* Does a head bundle add exactly nothing to a bank of a row: it writes elsewhere, or the row has
 * itself alone in A, with a value of zero (C31)? */
static bool adds_nothing(const Radius *r, const Sublayer *sublayer, size_t b, size_t row, int bank)
{
    const Bundle *bundle = &sublayer->bundles[b];
    const Value *value = &bundle->value;
    bool bias_row = row == layout_bias_row(r->layout);
    bool constant = value_is_sign(value) || (bias_row && value->bias_row != 0);
    if (!radius_touches(r, value->write, bank) &&
        !(value->diagonal != 0 && radius_touches(r, value->read, bank))) {
        return true;
    }
    bool zero = bias_row || (value->bias == NULL && value->inner_bias == NULL);
    zero = zero && (!constant || (bias_row && bundle_is_taken_back(sublayer, b)));
    for (int from = 0; from < BANKS; from++) {
        bool reads = !value_is_sign(value) && radius_touches(r, value->read, from);
        zero = zero && (!reads || radius_reads_zero(r, r->norm, row, from));
    }
    return zero && radius_alone(r, bundle, row);
}

/* Does a direct operation leave a bank that is zero as it is? */
static bool direct_keeps(const Radius *r, const Sublayer *sublayer, size_t row, int bank)
{
    return sublayer->direct.kind == DIRECT_NORM ? radius_reads_zero(r, &sublayer->norm, row, bank)
                                                : !radius_touches(r, sublayer->direct.write, bank);
}

typedef struct {
    const Radius *r;
    const Sublayer *sublayer;
    bool *next;
} Zeros;

/* The heads that leave a row's zeros as they are, and those that take a bank away. */
static void set_zero(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    const Zeros *zeros = context;
    const Radius *r = zeros->r;
    const Sublayer *sublayer = zeros->sublayer;
    for (int bank = 0; bank < BANKS; bank++) {
        bool keeps = r->zero[i * BANKS + (size_t)bank], alone = r->erased[bank];
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            const Bundle *bundle = &sublayer->bundles[b];
            keeps = keeps && adds_nothing(r, sublayer, b, i, bank);
            alone = alone && (bundle->value.diagonal == 0 || radius_alone(r, bundle, i));
        }
        keeps = keeps && (sublayer->bundle_count > 0 || direct_keeps(r, sublayer, i, bank));
        zeros->next[i * BANKS + (size_t)bank] = r->at.limit && (keeps || alone);
    }
}

static void set_zeros(Radius *r, const Sublayer *sublayer)
{
    bool *next = need_zeros(r->rows * BANKS + 1, sizeof *next);
    const Zeros zeros = {r, sublayer, next};
    evaluator_each(r->ev, r->rows, KEY_OPERATIONS * r->rows * r->rows, set_zero, &zeros);
    free(r->zero);
    r->zero = next;
}

/* Below this, no weight of a key changes by much of itself. */
#define NEAR 0x1p-16

/* eta goes as rho does, if there is so little between x and x + e (C40). */
static void set_near(Radius *r, bool near)
{
    r->near = near;
    r->here.count = near ? 2 : 1;
    for (size_t i = 0; i < r->rows; i++) {
        for (int b = 0; b < BANKS; b++) {
            double eta = near ? point_e(r, r->eta[i].bank[b]) : 0;
            r->apart[i].bank[b] = r->rho[i].bank[b] + eta;
        }
    }
}

static bool is_near(const Radius *r)
{
    Columns all = {0, r->columns};
    return r->change && point_e(r, banks_largest(r, r->e, all)) < NEAR;
}

static void forget_effects(Radius *r)
{
    memset(r->banks, 0, EFFECTS * r->rows * sizeof *r->banks);
    r->far = false;
    r->adds = 1;
    r->erased[BANK_CONTENT] = r->erased[BANK_HIDDEN] = false;
}

/* The effects of a sublayer that is no norm, before all is put together. */
static void analyse(Radius *r, const Sublayer *sublayer, bool near)
{
    set_near(r, near);
    forget_effects(r);
    if (sublayer->bundle_count == 0) {
        radius_direct(r, &sublayer->direct);
    } else {
        radius_linear(r, sublayer);
    }
    for (size_t b = 0, end = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        if (b == end) {
            end += bundles_alike(bundle, sublayer->bundle_count - b);
            r->alike = (double)(end - b);
        }
        const RadiusHeads *heads = radius_heads_of(&bundle->score);
        if (heads->effects != NULL) {
            heads->effects(r, bundle);
        }
    }
}

static void analyse_any(Radius *r, const Sublayer *sublayer)
{
    point_after(r, sublayer);
    bool in_place = sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM;
    r->norm = sublayer->norm.kind == NORMALIZATION_NONE || in_place ? NULL : &sublayer->norm;
    if (in_place) {
        set_near(r, false);
        forget_effects(r);
        radius_normalise(r, &sublayer->norm);
    } else {
        if (r->norm != NULL) {
            radius_read_normed(r);
        }
        analyse(r, sublayer, is_near(r));
        if (r->near && r->far) {
            analyse(r, sublayer, false);
        }
    }
    set_zeros(r, sublayer);
}

/* (C10): what an entry's derivative by itself makes of radius k. */
static double by_itself(const Radius *r, const Pass *pass, size_t k, size_t row, int bank)
{
    const Columns of = radius_bank(r, bank);
    size_t first = row * r->columns + of.first;
    double most = 0;
    for (size_t c = first; c < first + of.count; c++) {
        most = bound_max(most, fabs(pass->diagonal[c]) + pass->slack[c]);
    }
    double radius = pass->radius[k][row].bank[bank];
    return most == 0 || radius == 0 ? 0 : most * radius;
}

/* A bank of a row: what the stream is off by, and how much of that is beside what the sublayer
 * makes of it; what that is off by, and how large what is added is; the rounding of the sum, which
 * is that of the sublayers beside each other (C46). */
typedef struct {
    double was, kept, more, size, sum;
} Added;

static double add_up(const Radius *r, double *beside, double *size, const Added *of)
{
    double adds = *beside + of->more + 2 * r->adds * (*size + of->size);
    *beside = r->goes_on ? bound_up(adds) : 0;
    *size = r->goes_on ? bound_up(*size + of->size) : 0;
    return r->goes_on ? of->was : bound_up(of->kept + adds + of->sum);
}

static void after_bank(Radius *r, size_t i, int b, double *rho, double *eta)
{
    double own = r->here.out[PASS_OWN][i].bank[b] + by_itself(r, &r->here, PASS_OWN, i, b);
    bool keeps = radius_keeps(r, b == BANK_HIDDEN);
    double kept_rho = keeps ? r->kept_rho[i].bank[b] : 0;
    double kept_eta = keeps ? r->kept_eta[i].bank[b] : 0;
    const Added stream = {.was = keeps ? kept_rho : r->rho[i].bank[b],
                          .kept = kept_rho,
                          .more = own + r->local[i].bank[b],
                          .size = r->size[i].bank[b],
                          .sum = r->at.norm[i].bank[b]};
    *rho = add_up(r, &r->beside_rho[i].bank[b], &r->beside_size[i].bank[b], &stream);
    *rho = r->zero[i * BANKS + (size_t)b] ? 0 : *rho;
    if (r->change) {
        const Pass *pass = r->near ? &r->here : &r->there;
        size_t k = r->near ? PASS_OTHER : PASS_OWN;
        /* (C30), and (C40) where near */
        double moved = pass->out[k][i].bank[b] + by_itself(r, pass, k, i, b);
        double cross = r->cross[i].bank[b];
        if (r->far) {
            double other =
                r->there.out[PASS_OTHER][i].bank[b] + by_itself(r, &r->there, PASS_OTHER, i, b);
            cross = bound_scaled(own + other, -r->unit);
        }
        const Added difference = {.was = keeps ? kept_eta : r->eta[i].bank[b],
                                  .kept = kept_eta,
                                  .more = moved + cross + r->local_e[i].bank[b],
                                  .size = r->size_e[i].bank[b],
                                  .sum = bound_scaled(r->e[i].bank[b], r->after - r->unit)};
        *eta = add_up(r, &r->beside_eta[i].bank[b], &r->beside_size_e[i].bank[b], &difference);
    }
}

static void after_row(Worker *worker, const void *context, size_t i)
{
    (void)worker;
    Radius *r = *(Radius *const *)context;
    point_set_row(r, i);
    for (int b = 0; b < BANKS; b++) {
        double rho = INFINITY, eta = INFINITY;
        after_bank(r, i, b, &rho, &eta);
        r->rho[i].bank[b] = rho;
        r->eta[i].bank[b] = eta;
    }
    point_set_path(r, i);
}

/* Radii so large that their unit becomes one of fewer bits: of what an evaluation of so many fewer
 * would round, which is no less. */
#define RADIUS_LARGE 0x1p400
enum { UNIT_STEP = 384 };

static void widen_unit(Radius *r)
{
    double most = 0;
    for (size_t k = 0; k < r->rows * BANKS; k++) {
        size_t i = k / BANKS, b = k % BANKS;
        most = fmax(most, fmax(r->rho[i].bank[b], r->eta[i].bank[b]));
    }
    if (!(most >= RADIUS_LARGE) || isinf(most) || r->bits <= UNIT_STEP) {
        return;
    }
    r->bits -= UNIT_STEP;
    r->score = bound_scaled(r->score, -UNIT_STEP);
    for (size_t k = 0; k < r->rows * BANKS; k++) {
        size_t i = k / BANKS, b = k % BANKS;
        r->rho[i].bank[b] = bound_scaled(r->rho[i].bank[b], -UNIT_STEP);
        r->eta[i].bank[b] = bound_scaled(r->eta[i].bank[b], -UNIT_STEP);
    }
}

void radius_after(Radius *r, const Sublayer *sublayer, const ApMat *record, bool goes_on)
{
    r->record = record;
    r->goes_on = goes_on;
    analyse_any(r, sublayer);
    evaluator_each(r->ev, r->rows, ENTRY_OPERATIONS * r->rows * r->columns, after_row, &r);
    if (!goes_on) {
        widen_unit(r);
    }
}

void radius_begin_layer(Radius *r)
{
    r->score = 0;
}
