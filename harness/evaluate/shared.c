/*
 * What points of one case share, made and measured: pair, plan, base, the machine's original.
 */
#include "shared.h"

#include "predict.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* What a plan beside a difference compares with has at least so many bits. */
enum { BESIDE_BITS = 128 };

/* Products in a layer from which threads within a kernel are worth starting; and from which an
 * evaluation is so long that every Omega of a difference has its plan measured beside it. */
#define THREADS_WORTH 0x1p22
#define BESIDE_WORTH 0x1p26

static double layer_products(const CaseSpec *spec)
{
    double hidden = (double)(spec->d_ff > spec->d ? spec->d_ff : spec->d);
    return (double)spec->n * (double)spec->d * hidden;
}

/* One layer, which loses few bits, and is sooner done again than done with more than it takes. */
static bool is_shallow(const Point *point)
{
    return point->spec.depth == 1 && layer_products(&point->spec) < BESIDE_WORTH;
}

static RefBits bits_asked(const RefPlan *plan, const Point *point)
{
    int digits = point_digits(point);
    double omega = point_omega(point);
    if (point->precision > 0 || plan == NULL) {
        PointBits bits = point_bits(point);
        mpfr_prec_t x = (mpfr_prec_t)(is_shallow(point) ? bits.shallow : bits.likely);
        mpfr_prec_t e = (mpfr_prec_t)bits.difference;
        mpfr_prec_t least = x < BESIDE_BITS ? x : BESIDE_BITS;
        return (RefBits){x, e > least ? e : least};
    }
    if (point->reference == REFERENCE_DIFFERENCE) {
        return ref_plan_both_bits(plan, digits, omega, point->max_bits);
    }
    mpfr_prec_t bits = ref_plan_working_bits(plan, digits, omega, point->max_bits);
    return (RefBits){bits, bits};
}

RefBits shared_bits(const RefPlan *plan, const Point *point)
{
    RefBits bits = bits_asked(plan, point);
    /* What e inherits is held against layers of x's bits; a radius is of x and e at once. */
    if (point->propagation || point->certify) {
        bits.x = bits.e = bits.x > bits.e ? bits.x : bits.e;
    }
    return bits;
}

size_t shared_kernel_threads(const Point *point)
{
    return layer_products(&point->spec) >= THREADS_WORTH ? (size_t)omp_get_max_threads() : 1;
}

/* m(T) on its way: [done, size] of the trajectory. */
typedef struct {
    const ArithmeticInfo *machine;
    Kernel *kernel;
    double *trajectory;
    size_t size, depth, done;
} Original;

static void original_visit(RefArchive *archive, void *state)
{
    Original *original = state;
    size_t count;
    double *stream = original->machine->functions->state(original->kernel, &count);
    original->done = ref_archive_count(archive, original->done, original->depth);
    ref_archive_bytes(archive, stream, count * sizeof *stream);
    ref_archive_bytes(archive, original->trajectory,
                      original->done * original->size * sizeof *original->trajectory);
}

/* m(T) after every layer. */
static double *original_trajectory(const Pair *pair, const Point *point, const RefKeeper *keeper)
{
    const ArithmeticInfo *machine = arithmetic_info(point->arithmetic);
    char what[64];
    const Model *model = &pair->original;
    size_t content = layout_content(&model->layout), size = model->layout.n * content;
    double *trajectory = calloc(model->depth, size * sizeof *trajectory);
    Kernel *kernel = arithmetic_open(machine, model, pair->original_x, NULL, 0, point->kernel,
                                     shared_kernel_threads(point));
    snprintf(what, sizeof what, "original-%s-%s", arithmetic_names[point->arithmetic],
             point->kernel == KERNEL_DENSE ? "dense" : "structured");
    if (trajectory == NULL || kernel == NULL) {
        free(trajectory);
        machine->functions->clear(kernel);
        return NULL;
    }
    Original original = {machine, kernel, trajectory, size, model->depth, 0};
    if (ref_keeper_restore(keeper, what, arithmetic_format(machine)->digits, original_visit,
                           &original)) {
        machine->functions->go_on(kernel, original.done);
    }
    for (size_t l = original.done; l < model->depth; l++) {
        KernelStream stream = machine->functions->layer(kernel);
        for (size_t i = 0; i < model->layout.n; i++) {
            memcpy(trajectory + l * size + i * content, stream.data + i * stream.ld,
                   content * sizeof *trajectory);
        }
        original.done = l + 1;
        ref_keeper_offer(keeper, what, arithmetic_format(machine)->digits, original_visit,
                         &original);
    }
    machine->functions->clear(kernel);
    return trajectory;
}

double shared_tape_room(double memory, size_t points)
{
    return points > 1 ? memory / 16 : 0;
}

/* What the base keeps of r(T_infinity): its streams for points that are no differences, and where
 * the approximation is judged; for differences a record of all they read, if there is room. */
static RefLimit choose_limit(const Pair *pair, const Point *const *points, size_t count,
                             bool certify, mpfr_prec_t bits, double tape_room)
{
    RefLimit limit = REF_LIMIT_NONE;
    bool differences = false;
    for (size_t i = 0; i < count; i++) {
        bool difference = points[i]->reference == REFERENCE_DIFFERENCE;
        differences = differences || difference;
        if (!point_has_reference(points[i])) {
            continue;
        }
        if (!difference || points[i]->judge == ERROR_APPROXIMATION) {
            limit = REF_LIMIT_STREAMS;
        }
    }
    bool fits =
        tape_room > 0 && !certify && ref_base_bytes(pair, bits, REF_LIMIT_TAPE) <= tape_room;
    return differences && fits ? REF_LIMIT_TAPE : limit;
}

RefBase *shared_base(const Shared *shared, const Point *point, bool certify, mpfr_prec_t bits,
                     RefLimit limit, const RefKeeper *keeper)
{
    const RefBaseOptions options = {
        .keeper = point->certify || shared->family != NULL ? NULL : keeper,
        .weights = shared->weights,
        .certify = certify,
    };
    return ref_base_make(&shared->pair, bits, point->form, limit, &options);
}

/* May a plan be measured beside a difference? */
static bool may_beside(const Pair *pair, const Point *point)
{
    return pair->limit_is_original &&
           (point->precision > 0 ? point->precision : point->max_bits) >= BESIDE_BITS;
}

static bool is_long(const Point *point)
{
    return layer_products(&point->spec) >= BESIDE_WORTH;
}

/* Beside a shallow point with an Omega of its own a plan is one evaluation of so few bits, where
 * before it there are two, and more if its Omega is one that they do not serve; with few digits it
 * is the other way round, as e then takes fewer bits than what a plan compares with. */
static bool is_beside(const Pair *pair, const Point *point, size_t count)
{
    bool small =
        count == 1 && is_shallow(point) && point_bits(point).shallow_difference >= BESIDE_BITS;
    return may_beside(pair, point) && (small || is_long(point));
}

/* Of r(T), for this point.  A plan that does not serve its Omega says nothing of e there: e has a
 * plan of its own, and a base if that asks for more. */
static mpfr_prec_t bits_needed(const Shared *made, const Point *point)
{
    bool difference = point->reference == REFERENCE_DIFFERENCE;
    const RefPlan *plan = made->beside && difference ? NULL : made->plan;
    double omega = point_omega(point);
    if (!point_has_reference(point)) {
        return 0;
    }
    if (difference && plan != NULL && point->precision == 0 && !ref_plan_serves(plan, omega)) {
        return ref_plan_working_bits(plan, point_digits(point), 0, point->max_bits);
    }
    return shared_bits(plan, point).x;
}

bool shared_proves(const Pair *pair, const Point *point)
{
    return may_beside(pair, point) && is_long(point) && point->reference == REFERENCE_DIFFERENCE &&
           point->precision == 0 && !point->propagation;
}

/* The plan, m(T) in the forms that points ask for, and the base. */
static bool fill(Shared *made, const Point *const *points, size_t count, double tape_room,
                 const RefKeeper *keeper)
{
    mpfr_prec_t bits = 0;
    bool ok = true, planned = false;
    for (size_t i = 0; i < count; i++) {
        bool beside = made->beside && points[i]->reference == REFERENCE_DIFFERENCE;
        planned = planned || (point_has_reference(points[i]) && !beside);
    }
    if (planned && made->plan == NULL) {
        made->own = ref_plan_make_kept(&made->pair, 0, keeper);
        made->plan = made->own;
        ok = made->plan != NULL;
    }
    for (size_t i = 0; ok && i < count; i++) {
        mpfr_prec_t needed = bits_needed(made, points[i]);
        bits = needed > bits ? needed : bits;
        if (points[i]->arithmetic != ARITHMETIC_NONE && !shared_original(made, points[i])) {
            double *trajectory = original_trajectory(&made->pair, points[i], keeper);
            made->original[points[i]->arithmetic][points[i]->kernel] = trajectory;
            ok = trajectory != NULL;
        }
    }
    if (!ok || bits == 0) { /* no point has a reference */
        return ok;
    }
    bool certify = points[0]->certify || made->proven;
    made->limit = choose_limit(&made->pair, points, count, certify, bits, tape_room);
    made->base = shared_base(made, points[0], certify, bits, made->limit, keeper);
    return made->base != NULL;
}

/* On as many threads as OpenMP would start here. */
static void each_at_once(size_t count, CaseWork *work, const void *context)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        work(context, i);
    }
}

EvaluateStatus shared_make(Shared **shared, const Point *const *points, size_t count, bool sweep,
                           double tape_room, Checkpoints *checkpoints)
{
    const char *reason;
    Checkpoint checkpoint = {0};
    Shared *made = calloc(1, sizeof *made);
    *shared = NULL;
    CaseSpec spec = points[0]->spec;
    spec.each = each_at_once;
    /* The case was outlined before any work: it can only fail for want of memory. */
    if (made == NULL || case_build(&made->pair, &reason, &spec) != CASE_OK) {
        free(made);
        return EVALUATE_NO_MEMORY;
    }
    made->beside = sweep && is_beside(&made->pair, points[0], count);
    made->proven = sweep && shared_proves(&made->pair, points[0]);
    made->checkpoints = checkpoints;
    made->weights = ref_weights_make(0);
    bool ok = made->weights != NULL && checkpoint_init(&checkpoint, checkpoints, points[0], true) &&
              fill(made, points, count, tape_room, checkpoint_keeper(&checkpoint));
    checkpoint_clear(&checkpoint);
    if (!ok) {
        shared_clear(made);
        return EVALUATE_NO_MEMORY;
    }
    *shared = made;
    return EVALUATE_OK;
}

/* By how many bits the machine may lose more than the plan has it: its sums of products are rounded
 * term by term, and half of the plan's margin stays. */
enum { NATIVE_SPARE = 8 };

/* Does a machine's error in T after a layer, in so many digits, grow as the plan has it? */
static bool native_is_planned(const RefPlan *plan, size_t layer, int digits, mpfr_srcptr native)
{
    return mpfr_zero_p(native) ||
           (mpfr_regular_p(native) &&
            mpfr_get_exp(native) <= ref_plan_error(plan, layer, digits) - NATIVE_SPARE);
}

/* error = the largest |m(T) - r(T)| after a layer; machine: as original_trajectory has it. */
static void native_error(mpfr_ptr error, const Shared *shared, const double *machine, size_t layer)
{
    const Pair *pair = &shared->pair;
    size_t n = pair->original.layout.n, content = layout_content(&pair->original.layout);
    Columns columns = pair->compared[layer - 1];
    const double *m = machine + (layer - 1) * n * content;
    mpfr_t d;
    mpfr_init2(d, REF_CELL_BITS);
    mpfr_set_zero(error, 1);
    for (size_t i = 0; i < n && !mpfr_nan_p(error); i++) {
        for (size_t c = 0; c < columns.count; c++) {
            mpfr_srcptr r = ref_base_original(shared->base, layer, i, c);
            mpfr_sub_d(d, r, m[i * content + columns.first + c], MPFR_RNDA);
            if (mpfr_nan_p(d) || mpfr_cmpabs(d, error) > 0) {
                mpfr_abs(error, d, MPFR_RNDN);
            }
        }
    }
    mpfr_clear(d);
}

/* The machine whose errors in T show how fast they grow: one of a double's digits, whatever the
 * point's has.  In few digits what is lost may be as large as what it is lost from, where it grows
 * no more and tells nothing. */
static Point witness_of(const Point *point)
{
    Point witness = *point;
    if (point->arithmetic != ARITHMETIC_F64) {
        witness.arithmetic = ARITHMETIC_F64;
        witness.kernel = KERNEL_STRUCTURED;
    }
    return witness;
}

/* *keeps: do a machine's errors in T grow, layer by layer, as the plan has it?  false: memory is
 * short. */
static bool keeps_to_plan(bool *keeps, const Shared *shared, const Point *point)
{
    const Point witness = witness_of(point);
    const double *machine = shared_original(shared, &witness);
    double *made = machine == NULL ? original_trajectory(&shared->pair, &witness, NULL) : NULL;
    int digits = arithmetic_format(arithmetic_info(witness.arithmetic))->digits;
    machine = machine != NULL ? machine : made;
    mpfr_t error;
    mpfr_init2(error, REF_CELL_BITS);
    *keeps = true;
    for (size_t l = 1; machine != NULL && *keeps && l <= shared->pair.original.depth; l++) {
        native_error(error, shared, machine, l);
        *keeps = native_is_planned(shared->plan, l, digits, error);
    }
    mpfr_clear(error);
    free(made);
    return machine != NULL;
}

/* A plan of its own, and a base for that. */
static bool fill_again(Shared *made, const Point *point, double tape_room)
{
    ref_base_clear(made->base);
    made->base = NULL;
    made->plan = NULL;
    return fill(made, &point, 1, tape_room, NULL);
}

EvaluateStatus shared_make_member(Shared **shared, Family *family, const Point *point,
                                  double tape_room)
{
    Shared *made = calloc(1, sizeof *made);
    *shared = NULL;
    if (made == NULL || case_at_input(&made->pair, family_pair(family), &point->spec) != CASE_OK) {
        free(made);
        return EVALUATE_NO_MEMORY;
    }
    made->family = family;
    made->weights = family_weights(family);
    bool keeps = true;
    bool ok = family_plan(&made->plan, family, 0) && fill(made, &point, 1, tape_room, NULL) &&
              (made->own != NULL || keeps_to_plan(&keeps, made, point));
    if (ok && !keeps) {
        ok = fill_again(made, point, tape_room);
    }
    if (!ok) {
        shared_clear(made);
        return EVALUATE_NO_MEMORY;
    }
    *shared = made;
    return EVALUATE_OK;
}

bool shared_family_plan(const RefPlan **plan, const Shared *shared, double omega)
{
    *plan = NULL;
    return shared->family == NULL || shared->own != NULL ||
           family_plan(plan, shared->family, omega);
}

const double *shared_original(const Shared *shared, const Point *point)
{
    return shared->original[point->arithmetic][point->kernel];
}

enum { ORIGINALS = (int)ARITHMETIC_COUNT * (int)KERNEL_COUNT };

void shared_clear(Shared *shared)
{
    if (shared == NULL) {
        return;
    }
    for (size_t i = 0; i < ORIGINALS; i++) {
        free((&shared->original[0][0])[i]);
    }
    ref_base_clear(shared->base);
    ref_plan_clear(shared->own);
    if (shared->family == NULL) {
        ref_weights_clear(shared->weights);
    }
    case_clear(&shared->pair);
    free(shared);
}

double shared_original_bytes(const Model *original)
{
    return (double)original->depth * (double)original->layout.n *
           (double)layout_content(&original->layout) * sizeof(double);
}

double shared_bytes(const Shared *shared)
{
    double bytes = (double)shared->pair.bytes;
    if (shared->base != NULL) {
        bytes += ref_base_bytes(&shared->pair, ref_base_bits(shared->base), shared->limit);
    }
    for (size_t i = 0; i < ORIGINALS; i++) {
        if ((&shared->original[0][0])[i] != NULL) {
            bytes += shared_original_bytes(&shared->pair.original);
        }
    }
    return bytes;
}
