/*
 * The part that points of one case share, made and measured: pair, base, the machine's original.
 */
#include "shared.h"

#include "../../memory/need.h"
#include "layers.h"
#include "mode.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The points that share, and bytes that a record of r(T_infinity) may take. */
typedef struct {
    const Point *const *points; /* [count] */
    size_t count;
    double tape_room;
} Sharing;

/* So often at most is a base made, with twice the bits where nothing was known. */
enum { BASES_MOST = 6 };

bool machine_streams(double *x, const Start *start, const Point *point, size_t width, bool all)
{
    const ArithmeticInfo *machine = arithmetic_info(point->arithmetic);
    const Model *model = start->model;
    const size_t n = model->layout.n, first = layout_token_row(&model->layout, 0);
    Kernel *kernel = arithmetic_open(machine, start, point->kernel, point_threads(point));
    bool ok = true;
    for (size_t l = 0; l < model->depth && (ok = model_enter(model, l)); l++) {
        KernelStream stream = machine->functions->layer(kernel);
        model_leave(model, l);
        for (size_t i = 0; i < n && (all || l + 1 == model->depth); i++) {
            memcpy(x + ((all ? l * n : 0) + i) * width, stream.data + (first + i) * stream.ld,
                   width * sizeof *x);
        }
    }
    machine->functions->clear(kernel);
    return ok;
}

double shared_tape_room(double memory, size_t points)
{
    return points > 1 ? memory / 16 : 0;
}

RefLimit point_limit(const Point *point)
{
    bool difference = point->reference == REFERENCE_DIFFERENCE;
    return !difference || point->judge == ERROR_APPROXIMATION ? REF_LIMIT_STREAMS : REF_LIMIT_NONE;
}

/* What one of the points wants; for differences a record of all they read, if there is room. */
static RefLimit choose_limit(const Pair *pair, const Sharing *of, mpfr_prec_t bits)
{
    const Point *const *points = of->points;
    RefLimit limit = REF_LIMIT_NONE;
    bool differences = false;
    for (size_t i = 0; i < of->count; i++) {
        differences = differences || points[i]->reference == REFERENCE_DIFFERENCE;
        if (point_has_reference(points[i]) && point_limit(points[i]) == REF_LIMIT_STREAMS) {
            limit = REF_LIMIT_STREAMS;
        }
    }
    bool fits = of->tape_room > 0 && ref_base_bytes(pair, bits, REF_LIMIT_TAPE) <= of->tape_room;
    return differences && fits ? REF_LIMIT_TAPE : limit;
}

RefBase *shared_base(const Shared *shared, mpfr_prec_t bits, RefLimit limit)
{
    const RefBaseOptions options = {.weights = shared->weights};
    return ref_base_make(&shared->pair, bits, limit, &options);
}

mpfr_prec_t shared_bits(const Shared *shared, const Point *point)
{
    double base = (double)ref_base_bits(shared->base), cap = (double)point->max_bits, bits = base;
    if (point->precision > 0) {
        bits = (double)point->precision;
    } else if (point->reference != REFERENCE_DIFFERENCE) {
        double lost = fmin(shared->lost, base);
        double all = 64 * ceil((lost + point_bits(point).hidden) / 64);
        bits = all <= cap ? fmax(all, base) : base;
    }
    return (mpfr_prec_t)bits;
}

/* m(T) in the forms that points ask for.  false: a layer cannot be had. */
static bool fill_originals(Shared *made, const Sharing *of)
{
    bool ok = true;
    for (size_t i = 0; ok && i < of->count; i++) {
        const Point *point = of->points[i];
        if (point->arithmetic != ARITHMETIC_NONE && !shared_original(made, point)) {
            const Model *model = &made->pair.original;
            const size_t content = layout_content(&model->layout);
            const Start start = {model, made->pair.original_x, NULL, 0};
            double *x = need_zeros(model->depth, model->layout.n * content * sizeof *x);
            made->original[point->arithmetic][point->kernel] = x;
            ok = machine_streams(x, &start, point, content, true);
        }
    }
    return ok;
}

/* Bits for a point whose r(T) lost so many of these: as its digits ask for, or twice as many where
 * nothing is known. */
static double bits_next(const Point *point, double lost, double bits)
{
    if (point->precision > 0) {
        return (double)point->precision;
    }
    double enough = lost + point_bits(point).machine;
    double more = lost < bits ? 64 * ceil(enough / 64) : 2 * bits;
    return fmin(more, (double)point->max_bits);
}

/* A base for points like this one, once more with finer norms, and then with more bits, while its
 * radii show that r(T) loses more than was guessed.  false: a layer cannot be had. */
static bool fill_proven(Shared *made, const Point *point, const Sharing *of)
{
    PointBits guess = point_bits(point);
    double bits = guess.begin, needed;
    bool coarse = point_tries_coarse(point), again = true;
    for (int bases = 1; bases <= BASES_MOST && again; bases++) {
        double spare = bits - guess.machine;
        bool last = !coarse && (bases == BASES_MOST || bits_next(point, bits, bits) <= bits);
        const RefBaseOptions options = {
            .weights = made->weights, .most_lost = last ? 0 : spare, .coarse = coarse};
        ref_base_clear(made->base);
        made->limit = choose_limit(&made->pair, of, (mpfr_prec_t)bits);
        made->base = ref_base_make(&made->pair, (mpfr_prec_t)bits, made->limit, &options);
        if (made->base == NULL) {
            return false;
        }
        made->lost = ref_base_lost(made->base);
        needed = coarse ? bits : bits_next(point, made->lost, bits);
        again = coarse ? made->lost > spare : needed > bits;
        coarse = false;
        bits = again ? needed : bits;
    }
    return true;
}

const RefBase *shared_base_of(const Shared *shared, mpfr_prec_t bits)
{
    for (size_t i = 0; i < shared->other_count; i++) {
        if (ref_base_bits(shared->others[i]) == bits) {
            return shared->others[i];
        }
    }
    return shared->base;
}

/* Bases for the points whose bits are others, while there is room: a point without one makes its
 * own.  false: a layer cannot be had. */
static bool fill_others(Shared *made, const Sharing *of)
{
    double room = made->limit == REF_LIMIT_TAPE ? 0 : of->tape_room;
    made->others = need_zeros(of->count, sizeof *made->others);
    for (size_t i = 0; i < of->count; i++) {
        if (!point_has_reference(of->points[i])) {
            continue;
        }
        mpfr_prec_t bits = shared_bits(made, of->points[i]);
        double bytes = ref_base_bytes(&made->pair, bits, REF_LIMIT_STREAMS);
        if (ref_base_bits(shared_base_of(made, bits)) == bits || bytes > room) {
            continue;
        }
        RefBase *base = shared_base(made, bits, REF_LIMIT_STREAMS);
        if (base == NULL) {
            return false;
        }
        made->others[made->other_count++] = base;
        room -= bytes;
    }
    return true;
}

/* On as many threads as OpenMP would start here. */
static void each_at_once(size_t count, CaseWork *work, const void *context)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < count; i++) {
        work(context, i);
    }
}

/* m(T) in the forms that points ask for, and the bases, where the models are there. */
static Shared *finish(Shared *made, const Sharing *of)
{
    const Point *asks = NULL;
    for (size_t i = 0; i < of->count; i++) {
        bool first = asks == NULL || (asks->precision > 0 && of->points[i]->precision == 0);
        asks = first && point_has_reference(of->points[i]) ? of->points[i] : asks;
    }
    if (!fill_originals(made, of) ||
        (asks != NULL && (!fill_proven(made, asks, of) || !fill_others(made, of)))) {
        shared_clear(made);
        return NULL;
    }
    return made;
}

/* The models alone.  family: packed weights go with their layer.  The case was outlined before any
 * work: it is not rejected now. */
static Shared *make_models(const CaseSpec *spec, const ModelSource *source, double bytes,
                           bool family)
{
    Shared *made = need_zeros(1, sizeof *made);
    made->weights = ref_weights_make(bytes);
    if (layers_build(&made->pair, &made->layers, spec, source, family ? made->weights : NULL) !=
        CASE_OK) {
        ref_weights_clear(made->weights);
        free(made);
        return NULL;
    }
    return made;
}

Shared *shared_make(const Point *const *points, size_t count, double tape_room)
{
    CaseSpec spec = points[0]->spec;
    spec.each = each_at_once;
    Shared *made = make_models(&spec, points[0]->source, 0, false);
    return made != NULL ? finish(made, &(Sharing){points, count, tape_room}) : NULL;
}

Shared *shared_make_family(const Point *member, double bytes)
{
    return make_models(&member->spec, member->source, bytes, true);
}

Shared *shared_make_member(const Shared *family, const Point *point, double tape_room)
{
    Shared *made = need_zeros(1, sizeof *made);
    case_at_input(&made->pair, &family->pair, &point->spec);
    made->family = family;
    made->weights = family->weights;
    return finish(made, &(Sharing){&point, 1, tape_room});
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
    for (size_t i = 0; i < shared->other_count; i++) {
        ref_base_clear(shared->others[i]);
    }
    free(shared->others);
    layers_clear(shared->layers);
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
    for (size_t i = 0; i < shared->other_count; i++) {
        mpfr_prec_t bits = ref_base_bits(shared->others[i]);
        bytes += ref_base_bytes(&shared->pair, bits, REF_LIMIT_STREAMS);
    }
    for (size_t i = 0; i < ORIGINALS; i++) {
        if ((&shared->original[0][0])[i] != NULL) {
            bytes += shared_original_bytes(&shared->pair.original);
        }
    }
    return bytes;
}
