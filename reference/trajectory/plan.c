/*
 * The precision plan: what a working precision of p bits will have lost, and how many bits hide
 * the construction error, both measured by a cheap pass at two low precisions.
 *
 * Determinism: the lower precision computes products and exponentials with 64 bits more than it
 * keeps, so that they are rounded as exact ones would be, in every build and on every machine (see
 * run_open; all else is MPFR's, correctly rounded).  What is measured on it is the same everywhere,
 * and so is the exponent of its largest difference from the higher precision, whose own last bits
 * are too small beside that to matter.  Only whole exponents are kept: the plan, and with it every
 * precision, is the same everywhere.
 */
#include "../run/run.h"
#include "../run/state.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* An exponent beyond any that a stream can have, and far from MPFR's own limits. */
#define PLAN_UNKNOWN 0x1p40

/* Beyond any count of bits, and within an exponent. */
#define PLAN_MOST 0x1p62

/* Where a difference is linear in e^(-Omega gap), and nothing underflows. */
#define FAR_OMEGA 0x1p40

#define LOG2_E 1.4426950408889634

#define LOG2_10 3.3219280948873623

enum { PLAN_LOW_BITS = 64, PLAN_HIGH_LIMIT = 1 << 14, PLAN_MARGIN = 16 };

/* Bits beyond an error's digits: so many cells in 2^12 lie too close to where digits change, and
 * ask for another evaluation. */
enum { PLAN_SLACK = 12 };

/* How deep the errors of a machine lie, which no Omega need hide. */
enum { PLAN_MACHINE = 53 };

/* A difference that is lost at this precision is taken for a zero that is not proven. */
enum { DIFFERENCE_HIGH_LIMIT = 1 << 11 };

/* The largest |ds| and r, as a power of two, at which a difference counts as linear. */
enum { LINEAR_EXPONENT = -8 };

typedef struct {
    mpfr_exp_t loss; /* an entry at p bits is off by less than 2^(loss - p) */
    mpfr_exp_t size; /* exponent of the stream's largest entry */
    bool measured;
    double growth; /* loss - size, or 0: bits lost relative to the stream */
    double norms;  /* bits that a norm lost, in the worst layer so far, where those are many */
    double gap[OMEGA_MAX_GAP + 1];   /* see Seen, over all layers so far */
    double difference[BLOCK_COUNT];  /* bits lost relative to the block's largest |e| */
    mpfr_exp_t largest[BLOCK_COUNT]; /* exponent of that, at the plan's Omega */
    bool zero[BLOCK_COUNT];          /* nothing there in the limit */
} LayerPlan;

/* Could a measurement at one precision follow these? */
typedef struct {
    bool streams, differences;
} Resolved;

struct RefPlan {
    size_t depth;
    LayerPlan *layers;
    double omega;       /* that of the differences */
    bool norms;         /* the model has some */
    mpfr_exp_t largest; /* see Seen, at that Omega */
};

/* Exponents of the largest |entry| of low, and of its largest difference from high. */
typedef struct {
    mpfr_exp_t difference, size;
} Exponents;

static void exponents_add(Exponents *exponents, mpfr_srcptr low, mpfr_srcptr high, mpfr_ptr d)
{
    mpfr_sub(d, low, high, MPFR_RNDU);
    if (mpfr_regular_p(d) && mpfr_get_exp(d) > exponents->difference) {
        exponents->difference = mpfr_get_exp(d);
    }
    if (mpfr_regular_p(low) && mpfr_get_exp(low) > exponents->size) {
        exponents->size = mpfr_get_exp(low);
    }
}

/* Rows first .. first + rows - 1 and some columns of a stream. */
typedef struct {
    size_t first, rows;
    Columns columns;
} Block;

static Block block_of(const Pair *pair, size_t l, RefBlock block)
{
    const Layout *layout = &pair->converted.layout;
    size_t bias = layout_bias_row(layout), token = layout_token_row(layout, 0);
    const Block blocks[BLOCK_COUNT] = {
        [BLOCK_COMPARED] = {token, layout->n, pair->compared[l]},
        [BLOCK_CLEARED] = {token, layout->n, pair->cleared[l]},
        [BLOCK_BIAS_ROW] = {bias, bias != SIZE_MAX, {0, layout_content(layout)}},
    };
    return blocks[block];
}

static Exponents compare_blocks(const ApMat *low, const ApMat *high, Block block)
{
    Exponents exponents = {mpfr_get_emin(), mpfr_get_emin()};
    mpfr_t d;
    mpfr_init2(d, 64);
    for (size_t i = block.first; i < block.first + block.rows; i++) {
        for (size_t c = block.columns.first; c < block.columns.first + block.columns.count; c++) {
            exponents_add(&exponents, ap_at(low, i, c), ap_at(high, i, c), d);
        }
    }
    mpfr_clear(d);
    return exponents;
}

static Exponents compare_streams(const ApMat *low, const ApMat *high)
{
    return compare_blocks(low, high, (Block){0, high->rows, {0, high->columns}});
}

/* Bits lost, at least 0. */
static double lost(Exponents exponents, mpfr_prec_t bits)
{
    double loss = (double)(exponents.difference + bits) - (double)exponents.size;
    return exponents.difference > mpfr_get_emin() && loss > 0 ? loss : 0;
}

/* How far the largest entry of a block of e falls short of the largest term that went into it. */
static double cancelled(const Difference *e, mpfr_exp_t size, Block block)
{
    mpfr_exp_t most = mpfr_get_emin();
    for (size_t i = block.first; i < block.first + block.rows; i++) {
        for (size_t c = block.columns.first; c < block.columns.first + block.columns.count; c++) {
            mpfr_exp_t term = e->term[i * e->stream.columns + c];
            most = term > most ? term : most;
        }
    }
    return most > size ? (double)most - (double)size : 0;
}

/* Bits that norms at x + e lost in a layer or in one before: that row may be far below x and e, and
 * c + d is off by what they are off by.  0 of so few that a measurement shows them; of more both
 * precisions may have rounded away all that was left, and agree. */
static double fallen(const Seen *seen)
{
    return seen->fell >= PLAN_LOW_BITS / 2 ? (double)seen->fell : 0;
}

/* The two runs' differences after a layer, folded into the plan.  False: the low precision lost
 * one. */
static bool measure_difference(RefPlan *plan, const Pair *pair, size_t l, const RefRun *low,
                               const RefRun *high, mpfr_prec_t bits)
{
    bool resolved = true;
    for (int b = 0; b < BLOCK_COUNT; b++) {
        Block block = block_of(pair, l, (RefBlock)b);
        double *most = &plan->layers[l].difference[b];
        Exponents limit = compare_blocks(&low->stream, &high->stream, block);
        Exponents e = compare_blocks(&low->e->stream, &high->e->stream, block);
        *most = fmax(lost(e, bits), cancelled(low->e, e.size, block));
        *most = fmax(*most, fallen(&low->ev.seen));
        plan->layers[l].largest[b] = e.size;
        plan->layers[l].zero[b] =
            limit.difference == mpfr_get_emin() && limit.size == mpfr_get_emin();
        resolved = resolved && *most < (double)bits / 2;
    }
    plan->largest = low->ev.seen.change;
    return resolved;
}

/* Bits that norms lost in a layer or in one before, by the stream's largest entry and the least
 * sqrt(s); 0 of so few that a measurement shows them.  What both precisions round away, the entries
 * of a row beside its mean, no comparison shows. */
static double norms_lost(const RefPlan *plan, size_t l, const RefRun *low)
{
    double here = (double)low->ev.norm_lost, most = l > 0 ? plan->layers[l - 1].norms : 0;
    return here >= PLAN_LOW_BITS / 2.0 && here > most ? here : most;
}

/* The layer that both runs have just done, folded into the plan. */
static void measure_layer(RefPlan *plan, const Pair *pair, size_t l, const RefRun *low,
                          const RefRun *high, Resolved *resolved)
{
    LayerPlan *layer = &plan->layers[l];
    mpfr_prec_t bits = low->ev.bits;
    Exponents exponents = compare_streams(&low->stream, &high->stream);
    layer->measured = true;
    layer->norms = norms_lost(plan, l, low);
    layer->growth = fmax(lost(exponents, bits), layer->norms);
    layer->size = exponents.size;
    layer->loss = exponents.size + (mpfr_exp_t)layer->growth;
    /* Both precisions may have lost a stream that cancels, and then agree. */
    bool cancelled = (double)low->term - (double)exponents.size > (double)bits / 2;
    if (cancelled || low->ev.seen.doubt || low->left_range || high->left_range) {
        layer->growth = (double)bits; /* no measurement */
    }
    resolved->streams = layer->growth < (double)bits / 2;
    if (low->e != NULL) {
        resolved->differences =
            measure_difference(plan, pair, l, low, high, bits) && resolved->differences;
    }
    memcpy(layer->gap, low->ev.seen.gap, sizeof layer->gap);
}

static void layer_visit(RefArchive *archive, LayerPlan *layer)
{
    layer->loss = ref_archive_exponent(archive, layer->loss);
    layer->size = ref_archive_exponent(archive, layer->size);
    layer->measured = ref_archive_flag(archive, layer->measured);
    ref_archive_doubles(archive, &layer->growth, 1, 0, PLAN_MOST);
    ref_archive_doubles(archive, &layer->norms, 1, 0, PLAN_MOST);
    ref_archive_doubles(archive, layer->gap, OMEGA_MAX_GAP + 1, -INFINITY, 2 * PLAN_MOST);
    ref_archive_doubles(archive, layer->difference, BLOCK_COUNT, 0, PLAN_MOST);
    for (int b = 0; b < BLOCK_COUNT; b++) {
        layer->largest[b] = ref_archive_exponent(archive, layer->largest[b]);
        layer->zero[b] = ref_archive_flag(archive, layer->zero[b]);
    }
}

static void layers_visit(RefArchive *archive, RefPlan *plan, Resolved *resolved)
{
    resolved->streams = ref_archive_flag(archive, resolved->streams);
    resolved->differences = ref_archive_flag(archive, resolved->differences);
    plan->largest = ref_archive_exponent(archive, plan->largest);
    for (size_t l = 0; l < plan->depth; l++) {
        layer_visit(archive, &plan->layers[l]);
    }
}

/* A measurement in progress: both runs are behind layer `done`. */
typedef struct {
    RefPlan *plan;
    RefRun *low, *high;
    Resolved *resolved;
    size_t done;
} Measurement;

static void measurement_visit(RefArchive *archive, void *state)
{
    Measurement *m = state;
    m->done = ref_archive_count(archive, m->done, m->plan->depth);
    layers_visit(archive, m->plan, m->resolved);
    archive_run(archive, m->low);
    archive_run(archive, m->high);
    ref_archive_expect(archive, m->low->next.layer == m->done && m->high->next.layer == m->done);
}

static RefRun *open_run(const RefPlan *plan, const Model *model, const double *x,
                        const double *content, mpfr_prec_t bits, bool change, bool reproducible)
{
    RunOptions options = {.reproducible = reproducible, .difference = change ? bits : 0};
    RefRun *run = run_open(model, x, content, change ? plan->omega : INFINITY, bits, REF_STRUCTURED,
                           &options);
    if (run != NULL) {
        run->ev.observed = reproducible;
    }
    return run;
}

/* One model at two precisions, folded into the plan; with what its streams do to differences if
 * it is T'.  resolved->streams becomes false when the low precision lost the trajectory, so that
 * the loss is not measured. */
static bool measure(RefPlan *plan, const Pair *pair, const Model *model, mpfr_prec_t bits,
                    Resolved *resolved, const RefKeeper *keeper)
{
    bool change = model == &pair->converted;
    const char *what = change ? "plan" : "plan-original";
    const double *x = change ? pair->converted_x : pair->original_x;
    const double *content = change ? pair->bias_row_content : NULL;
    RefRun *low = open_run(plan, model, x, content, bits, change, true);
    RefRun *high = open_run(plan, model, x, content, 2 * bits, change, false);
    bool ok = low != NULL && high != NULL;
    Measurement measurement = {plan, low, high, resolved, 0};
    if (ok) {
        (void)ref_keeper_restore(keeper, what, bits, measurement_visit, &measurement);
    }
    for (size_t l = measurement.done; ok && resolved->streams && l < plan->depth; l++) {
        ok = model_enter(model, l);
        if (!ok) {
            break;
        }
        low->ev.lost = l > 0 ? (mpfr_exp_t)plan->layers[l - 1].growth : 0;
        ref_run_layer(low);
        ref_run_layer(high);
        model_leave(model, l);
        ok = !low->ev.failed && !high->ev.failed;
        measure_layer(plan, pair, l, low, high, resolved);
        measurement.done = l + 1;
        ref_keeper_offer(keeper, what, bits, measurement_visit, &measurement);
    }
    ref_run_clear(low);
    ref_run_clear(high);
    return ok;
}

static void plan_reset(RefPlan *plan)
{
    plan->largest = mpfr_get_emin();
    for (size_t l = 0; l < plan->depth; l++) {
        LayerPlan *layer = &plan->layers[l];
        *layer = (LayerPlan){.loss = mpfr_get_emin(), .size = mpfr_get_emin()};
        for (int k = 0; k <= OMEGA_MAX_GAP; k++) {
            layer->gap[k] = -INFINITY;
        }
        for (int b = 0; b < BLOCK_COUNT; b++) {
            layer->largest[b] = mpfr_get_emin();
        }
    }
}

/* Chaos that no precision within reach follows: nothing is known from the first layer whose
 * growth was not measured, and every cell there becomes a bound.  bits: the last ones tried;
 * streams: was all before it followed?  Returns whether this layer was. */
static bool layer_give_up(LayerPlan *layer, bool streams, mpfr_prec_t bits)
{
    streams = streams && layer->measured && layer->growth < (double)bits / 2;
    if (!streams) {
        layer->loss = (mpfr_exp_t)PLAN_UNKNOWN;
        layer->growth = PLAN_UNKNOWN;
    }
    for (int b = 0; b < BLOCK_COUNT; b++) {
        if (!streams || layer->difference[b] >= (double)bits / 2) {
            layer->difference[b] = PLAN_UNKNOWN;
        }
    }
    return streams;
}

static void plan_give_up(RefPlan *plan, mpfr_prec_t bits)
{
    bool streams = true;
    for (size_t l = 0; l < plan->depth; l++) {
        streams = layer_give_up(&plan->layers[l], streams, bits);
    }
}

static RefPlan *plan_open(const Pair *pair, double omega)
{
    RefPlan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return NULL;
    }
    plan->depth = pair->converted.depth;
    plan->omega = omega;
    plan->norms = norm_extent(&pair->converted).widest > 0;
    plan->layers = calloc(plan->depth, sizeof *plan->layers);
    if (plan->layers == NULL) {
        free(plan);
        return NULL;
    }
    return plan;
}

/* One model, at precisions that rise until what it does is followed.  NULL when memory is short. */
static RefPlan *plan_model(const Pair *pair, const Model *model, double omega,
                           const RefKeeper *keeper)
{
    RefPlan *plan = plan_open(pair, omega);
    Resolved resolved = {false, false};
    mpfr_prec_t bits = PLAN_LOW_BITS / 2, limit = PLAN_HIGH_LIMIT;
    bool ok = plan != NULL;
    while (ok && !(resolved.streams && resolved.differences) && 2 * bits <= limit) {
        bits *= 2;
        resolved = (Resolved){true, true};
        plan_reset(plan);
        ok = measure(plan, pair, model, bits, &resolved, keeper);
        limit = resolved.streams ? DIFFERENCE_HIGH_LIMIT : PLAN_HIGH_LIMIT;
    }
    if (!ok) {
        ref_plan_clear(plan);
        return NULL;
    }
    plan_give_up(plan, bits);
    return plan;
}

/* The worse of two models, layer by layer. */
static void plan_merge(RefPlan *plan, const RefPlan *other)
{
    for (size_t l = 0; l < plan->depth; l++) {
        LayerPlan *layer = &plan->layers[l];
        const LayerPlan *second = &other->layers[l];
        bool known = layer->growth < PLAN_UNKNOWN && second->growth < PLAN_UNKNOWN;
        layer->loss = second->loss > layer->loss ? second->loss : layer->loss;
        layer->size = second->size > layer->size ? second->size : layer->size;
        layer->growth = layer->loss > layer->size ? (double)(layer->loss - layer->size) : 0;
        layer->growth = known ? layer->growth : PLAN_UNKNOWN;
    }
}

RefPlan *ref_plan_make(const Pair *pair)
{
    return ref_plan_make_at(pair, FAR_OMEGA);
}

RefPlan *ref_plan_make_at(const Pair *pair, double omega)
{
    return ref_plan_make_kept(pair, omega, NULL);
}

RefPlan *ref_plan_make_kept(const Pair *pair, double omega, const RefKeeper *keeper)
{
    omega = omega > 0 ? omega : FAR_OMEGA;
    RefPlan *plan = plan_model(pair, &pair->converted, omega, keeper);
    if (plan == NULL || pair->limit_is_original) { /* T has the trajectory of T_infinity */
        return plan;
    }
    RefPlan *original = plan_model(pair, &pair->original, omega, keeper);
    if (original == NULL) {
        ref_plan_clear(plan);
        return NULL;
    }
    plan_merge(plan, original);
    ref_plan_clear(original);
    return plan;
}

void ref_plan_clear(RefPlan *plan)
{
    if (plan != NULL) {
        free(plan->layers);
        free(plan);
    }
}

/* Bits beyond what is lost that so many digits ask for. */
static double digits_bits(int digits)
{
    return ceil(digits * LOG2_10) + PLAN_MARGIN + PLAN_SLACK;
}

static double whole_limbs(double bits)
{
    return 64 * ceil(bits / 64);
}

/* By how many powers of two a difference that is linear in e^(-Omega gap) is larger at omega
 * than at the plan's, where what has the least gap is the most of it; *gaps: how many there are. */
static double nearer(const RefPlan *plan, double omega, int *gaps)
{
    const double *gap = plan->layers[plan->depth - 1].gap;
    int least = 0;
    *gaps = 0;
    for (int k = OMEGA_MAX_GAP; k >= 1; k--) {
        *gaps += gap[k] > -INFINITY;
        least = gap[k] > -INFINITY ? k : least;
    }
    return least * (plan->omega - omega) * LOG2_E;
}

/* A norm takes from a difference what Omega and the scores do not tell: how far tokens' e was below
 * the stream in a layer, brought to this Omega, where the plan serves it; else 0. */
static double hidden_by_norms(const RefPlan *plan, double omega, size_t l)
{
    const LayerPlan *layer = &plan->layers[l];
    mpfr_exp_t largest = layer->largest[BLOCK_COMPARED];
    int gaps;
    if (!plan->norms || !ref_plan_serves(plan, omega) || largest == mpfr_get_emin() ||
        layer->difference[BLOCK_COMPARED] >= PLAN_UNKNOWN) {
        return 0;
    }
    double more = omega == plan->omega ? 0 : nearer(plan, omega, &gaps);
    return (double)layer->size - (double)largest - more;
}

double ref_plan_bits(const RefPlan *plan, int digits, double omega, size_t layer)
{
    double hidden = PLAN_MACHINE, growth = 0;
    for (size_t l = 0; l < layer; l++) {
        growth = plan->layers[l].growth > growth ? plan->layers[l].growth : growth;
    }
    for (int k = 1; omega > 0 && k <= OMEGA_MAX_GAP; k++) {
        double bits = k * omega * LOG2_E + plan->layers[layer - 1].gap[k];
        hidden = bits > hidden ? bits : hidden;
    }
    for (size_t l = 0; omega > 0 && l < layer; l++) {
        hidden = fmax(hidden, hidden_by_norms(plan, omega, l));
    }
    return whole_limbs(hidden + growth + digits_bits(digits));
}

mpfr_prec_t ref_plan_working_bits(const RefPlan *plan, int digits, double omega, long max_bits)
{
    const double omegas[2] = {0, omega};
    double most = 0;
    for (size_t layer = 1; layer <= plan->depth; layer++) {
        for (int i = 0; i < 2; i++) {
            double bits = ref_plan_bits(plan, digits, omegas[i], layer);
            most = bits <= (double)max_bits && bits > most ? bits : most;
        }
    }
    return most > 0 ? (mpfr_prec_t)most : (mpfr_prec_t)max_bits;
}

bool ref_plan_serves(const RefPlan *plan, double omega)
{
    int gaps;
    double more = nearer(plan, omega, &gaps);
    return omega == plan->omega || plan->largest == mpfr_get_emin() ||
           (gaps == 1 && (double)plan->largest + more <= LINEAR_EXPONENT);
}

/* Bits of e that leave r(T') = x + e as right as x has to be for a machine's errors, where e itself
 * is asked for nothing: the smaller e is, the fewer. */
static double difference_bits_of_sum(const RefPlan *plan, double omega, size_t l)
{
    const LayerPlan *layer = &plan->layers[l];
    int gaps;
    double more = omega == plan->omega ? 0 : nearer(plan, omega, &gaps), most = 0;
    for (int b = 0; b < BLOCK_COUNT && layer->growth < PLAN_UNKNOWN; b++) {
        if (layer->largest[b] > mpfr_get_emin() && layer->difference[b] < PLAN_UNKNOWN) {
            double below = (double)layer->size - (double)layer->largest[b] - more;
            most = fmax(most, PLAN_MACHINE - below + layer->difference[b]);
        }
    }
    return most;
}

double ref_plan_difference_bits(const RefPlan *plan, int digits, double omega, size_t layer)
{
    double growth = 0;
    for (size_t l = 0; l < layer; l++) {
        growth = fmax(growth, difference_bits_of_sum(plan, omega, l));
        for (int b = 0; b < BLOCK_COUNT; b++) {
            double bits = plan->layers[l].difference[b];
            growth = bits < PLAN_UNKNOWN ? fmax(growth, bits) : growth;
        }
    }
    return whole_limbs(growth + digits_bits(digits));
}

static mpfr_prec_t difference_working_bits(const RefPlan *plan, int digits, double omega,
                                           long max_bits)
{
    double most = 0;
    for (size_t layer = 1; layer <= plan->depth; layer++) {
        double bits = ref_plan_difference_bits(plan, digits, omega, layer);
        most = bits <= (double)max_bits && bits > most ? bits : most;
    }
    return most > 0 ? (mpfr_prec_t)most : (mpfr_prec_t)max_bits;
}

RefBits ref_plan_both_bits(const RefPlan *plan, int digits, double omega, long max_bits)
{
    mpfr_prec_t e = difference_working_bits(plan, digits, omega, max_bits);
    mpfr_prec_t x = ref_plan_working_bits(plan, digits, 0, max_bits);
    return (RefBits){x > e ? x : e, e};
}

bool ref_plan_difference_error(mpfr_exp_t *error, const RefPlan *plan, size_t layer, RefBlock block,
                               mpfr_prec_t bits)
{
    double lost_bits = plan->layers[layer - 1].difference[block];
    *error = lost_bits < PLAN_UNKNOWN ? (mpfr_exp_t)lost_bits + PLAN_MARGIN - bits : 0;
    return lost_bits < PLAN_UNKNOWN;
}

bool ref_plan_limit_is_zero(const RefPlan *plan, size_t layer, RefBlock block)
{
    return plan->layers[layer - 1].zero[block];
}

mpfr_exp_t ref_plan_error(const RefPlan *plan, size_t layer, mpfr_prec_t bits)
{
    return plan->layers[layer - 1].loss + PLAN_MARGIN - bits;
}

mpfr_exp_t ref_plan_relative_error(const RefPlan *plan, size_t layer, mpfr_prec_t bits)
{
    return (mpfr_exp_t)plan->layers[layer - 1].growth + PLAN_MARGIN - bits;
}
