/*
 * Why verify's verdict is what it is: which part of the judged error is the largest where it is
 * worst, and what to try about it.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_snprintf */

#include "run.h"

#include "../../../cases/activation.h"
#include "../../base/decimal.h"

#include <math.h>

/* The errors that the judged one is made of. */
static const bool parts[ERROR_KINDS][ERROR_KINDS] = {
    [ERROR_APPROXIMATION] = {[ERROR_APPROXIMATION] = true},
    [ERROR_CONSTRUCTION] = {[ERROR_CONSTRUCTION] = true},
    [ERROR_ROUNDING] = {[ERROR_ROUNDING] = true},
    [ERROR_NATIVE] = {[ERROR_NATIVE] = true},
    [ERROR_TOTAL] =
        {[ERROR_APPROXIMATION] = true, [ERROR_CONSTRUCTION] = true, [ERROR_ROUNDING] = true},
    [ERROR_OBSERVED] = {[ERROR_APPROXIMATION] = true,
                        [ERROR_CONSTRUCTION] = true,
                        [ERROR_ROUNDING] = true,
                        [ERROR_NATIVE] = true},
};

double verify_log2(const RefCell *cell)
{
    long exponent;
    mpfr_t printed; /* not what rounding left behind its digits, so that shards agree */
    if (cell->state == CELL_NONFINITE) {
        return INFINITY;
    }
    if (cell->state == CELL_ABSENT || cell->state == CELL_ZERO) {
        return -INFINITY;
    }
    mpfr_init2(printed, REF_CELL_BITS);
    ref_cell_printed(printed, cell);
    double mantissa = mpfr_get_d_2exp(&exponent, printed, MPFR_RNDN);
    mpfr_clear(printed);
    return log2(mantissa) + (double)exponent;
}

/* Is what no Omega helps against above the tolerance by itself? */
static bool imitation_fails(const LayerWorst *layer, const Point *point)
{
    double tolerance = point_judges_rows(point) ? log2(point->tolerance) : INFINITY;
    return parts[point->judge][ERROR_APPROXIMATION] &&
           verify_log2(&layer->judged[ERROR_APPROXIMATION]) > tolerance;
}

bool verify_imitation_fails(const Verify *verify)
{
    bool fails = false;
    for (size_t l = 0; l < verify->template->spec.depth && !fails; l++) {
        fails = imitation_fails(&verify->layers[l], verify->template);
    }
    return fails;
}

/* The imitation, where that fails; else the largest part. */
static ErrorKind largest_part(const LayerWorst *layer, const Point *point)
{
    ErrorKind most = point->judge;
    double largest = -INFINITY;
    if (imitation_fails(layer, point)) {
        return ERROR_APPROXIMATION;
    }
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        double size = verify_log2(&layer->judged[kind]);
        if (parts[point->judge][kind] && (size > largest)) {
            largest = size;
            most = kind;
        }
    }
    return most;
}

static LimitCause cause_of(const VerifyLimit *limit, const LayerWorst *layer, const Point *point)
{
    if (layer->status == STATUS_ERROR) {
        return LIMIT_ERROR;
    }
    if (layer->status == STATUS_OVERFLOW) {
        return LIMIT_OVERFLOW;
    }
    if (layer->status == STATUS_VACUOUS) {
        return LIMIT_VACUOUS;
    }
    switch (limit->kind) {
    case ERROR_APPROXIMATION: return LIMIT_IMITATION;
    case ERROR_CONSTRUCTION:
        return layer->score >= point_omega(point) ? LIMIT_SCORES : LIMIT_CONSTRUCTION;
    default: break;
    }
    bool original = point_judges_rows(point) &&
                    verify_log2(&layer->judged[ERROR_NATIVE]) > log2(point->tolerance);
    return original ? LIMIT_ORIGINAL : LIMIT_ROUNDING;
}

static void write_size(char text[LIMIT_TEXT], const RefCell *cell)
{
    if (cell->state == CELL_ABSENT || cell->state == CELL_ZERO) {
        snprintf(text, LIMIT_TEXT, "0");
    } else {
        mpfr_snprintf(text, LIMIT_TEXT, "%.2Re", cell->value);
    }
}

/* Worse: what fails, and of those alike the larger error. */
static bool is_worse(const VerifyLimit *a, const VerifyLimit *b)
{
    if (!b->known || a->passed != b->passed) {
        return !b->known || !a->passed;
    }
    return a->log2_judged > b->log2_judged;
}

void verify_limit_worsen(VerifyLimit *limit, const VerifyLimit *other)
{
    if (other->known && is_worse(other, limit)) {
        *limit = *other;
    }
}

void verify_limit_take(Verify *verify)
{
    const LayerWorst *worst = &verify->layers[0];
    Point point = verify->points[0];
    point.omega = verify->omega;
    for (size_t l = 1; l < point.spec.depth; l++) {
        const LayerWorst *layer = &verify->layers[l];
        bool larger = layer->log2_worst > worst->log2_worst;
        worst = layer->status < worst->status || (layer->status == worst->status && larger) ? layer
                                                                                            : worst;
    }
    VerifyLimit limit = {.known = true,
                         .passed = verify->passed,
                         .omega = verify->omega,
                         .log2_judged = worst->log2_worst,
                         .score = worst->score,
                         .judged = point.judged,
                         .judge_of = point.judge_of,
                         .activation = point.spec.activation,
                         .gelu = point.spec.gelu};
    limit.kind = largest_part(worst, &point);
    limit.cause = cause_of(&limit, worst, &point);
    write_size(limit.size, &worst->judged[limit.kind]);
    write_size(limit.native, &worst->judged[ERROR_NATIVE]);
    verify_limit_worsen(&verify->limit, &limit);
}

void verify_limit_search(VerifyLimit *limit, const OmegaSearch *search)
{
    limit->searched = true;
    limit->found = search->found;
    limit->range = omega_range(search);
    limit->best = search->best.omega;
    limit->evaluated = search->evaluations;
    mpfr_snprintf(limit->best_error, LIMIT_TEXT, "%.2Re", search->best.error);
}

/* Prints the cause of an error that no Omega takes away. */
static void print_cause(FILE *file, const VerifyLimit *limit)
{
    switch (limit->cause) {
    case LIMIT_ERROR: fputs(STATUS_ERROR_WHY, file); return;
    case LIMIT_OVERFLOW: fprintf(file, "the machine's numbers overflow"); return;
    case LIMIT_VACUOUS: fprintf(file, "the original's result is too small to compare with"); return;
    case LIMIT_IMITATION:
        fprintf(file, "the imitation of %s leaves %s", activation_names[limit->activation],
                limit->size);
        return;
    case LIMIT_SCORES:
        fprintf(file, "scores up to %.4g are above omega, and the construction leaves %s",
                limit->score, limit->size);
        return;
    case LIMIT_CONSTRUCTION: fprintf(file, "the construction leaves %s", limit->size); return;
    case LIMIT_ORIGINAL:
        fprintf(file, "the machine loses %s in the original itself", limit->native);
        return;
    case LIMIT_ROUNDING: fprintf(file, "the machine's rounding leaves %s", limit->size); return;
    }
}

/* Another Omega, as far as it was looked for one. */
static void print_other_omega(FILE *file, const VerifyLimit *limit)
{
    char text[DECIMAL_TEXT];
    if (limit->found) {
        fputs("try an omega ", file);
        omega_print_range(file, &limit->range);
        fputs(", as above", file);
    } else if (limit->searched && limit->best > 0) {
        decimal_print(text, limit->best);
        fprintf(file,
                "the tolerance is below what any of %zu omegas leaves: try a larger one, omega %s "
                "leaves %s",
                limit->evaluated, text, limit->best_error);
    } else if (limit->cause == LIMIT_ROUNDING || limit->cause == LIMIT_OVERFLOW) {
        fprintf(file, "try a smaller omega");
    } else {
        fprintf(file, "try a larger omega");
    }
}

/* Advice on what to try. */
static void print_advice(FILE *file, const VerifyLimit *limit)
{
    switch (limit->cause) {
    case LIMIT_IMITATION:
        fprintf(file, "try %sa larger tolerance",
                limit->activation == ACTIVATION_RELU ? "a larger --slope, or "
                : limit->gelu != GELU_SHIFTED_8      ? "--gelu with more heads, up to 8, or "
                                                     : "");
        return;
    case LIMIT_ERROR:
    case LIMIT_VACUOUS: fprintf(file, "try other inputs"); return;
    case LIMIT_ORIGINAL:
        if (!limit->found) {
            fprintf(file, "try a larger tolerance");
            return;
        }
        break;
    default: break;
    }
    print_other_omega(file, limit);
}

void verify_limit_print(FILE *file, const VerifyLimit *limit, bool several)
{
    char omega[DECIMAL_TEXT];
    if (!limit->known) {
        return;
    }
    decimal_print(omega, limit->omega);
    fprintf(file, several ? ": at omega %s " : ": ", omega);
    print_cause(file, limit);
    fputs(limit->judged && limit->judge_of != JUDGE_STREAMS ? " in the stream" : "", file);
    if (!limit->passed) {
        fprintf(file, "; ");
        print_advice(file, limit);
    } else if (!limit->judged) {
        fprintf(file, "; try a --tolerance");
    }
}
