/*
 * Why verify's verdict is what it is: which part of the judged error is the largest where it is
 * worst, and what to try about it.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_snprintf */

#include "verify.h"

#include "../../../cases/activation.h"
#include "../../base/decimal.h"
#include "../../base/text_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Is a kind of error one of those that the judged one is made of, in the order of their kinds? */
static bool is_part(ErrorKind kind, ErrorKind judged)
{
    return judged == ERROR_TOTAL      ? kind <= ERROR_ROUNDING
           : judged == ERROR_OBSERVED ? kind <= ERROR_NATIVE
                                      : kind == judged;
}

/* Is what no Omega helps against above the tolerance by itself? */
static bool imitation_fails(const VerifyRow *layer, const Point *point)
{
    double tolerance = point_judges_rows(point) ? log2(point->tolerance) : INFINITY;
    return is_part(ERROR_APPROXIMATION, point->judge) &&
           verify_log2(layer, VERIFY_JUDGED + ERROR_APPROXIMATION) > tolerance;
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
static ErrorKind largest_part(const VerifyRow *layer, const Point *point)
{
    ErrorKind most = point->judge;
    double largest = -INFINITY;
    if (imitation_fails(layer, point)) {
        return ERROR_APPROXIMATION;
    }
    for (ErrorKind kind = 0; kind < ERROR_KINDS; kind++) {
        double size = verify_log2(layer, VERIFY_JUDGED + kind);
        if (is_part(kind, point->judge) && size > largest) {
            largest = size;
            most = kind;
        }
    }
    return most;
}

/* "1.00e-03" */
static void write_size(char text[LIMIT_TEXT], const VerifyRow *layer, ErrorKind kind)
{
    RefCell cell;
    ref_cell_init(&cell, REF_DIGITS);
    verify_cell(&cell, layer, VERIFY_JUDGED + kind);
    if (cell.state == CELL_ABSENT || cell.state == CELL_ZERO) {
        snprintf(text, LIMIT_TEXT, "0");
    } else {
        mpfr_snprintf(text, LIMIT_TEXT, "%.2Re", cell.value);
    }
    ref_cell_clear(&cell);
}

/* What limits the layer, and that in words; kind: the largest part of its judged error. */
static LimitCause cause_of(char *text, size_t size, ErrorKind kind, const VerifyRow *layer,
                           const Point *point)
{
    char leaves[LIMIT_TEXT];
    const Status status = verify_status(layer);
    write_size(leaves, layer, kind);
    if (status == STATUS_ERROR) {
        snprintf(text, size, "%s", STATUS_ERROR_WHY);
        return LIMIT_ERROR;
    }
    if (status == STATUS_OVERFLOW) {
        snprintf(text, size, "the machine's numbers overflow");
        return LIMIT_OVERFLOW;
    }
    if (status == STATUS_VACUOUS) {
        snprintf(text, size, "the original's result is too small to compare with");
        return LIMIT_VACUOUS;
    }
    if (kind == ERROR_APPROXIMATION) {
        snprintf(text, size, "the imitation of %s leaves %s",
                 activation_names[point->spec.activation], leaves);
        return LIMIT_IMITATION;
    }
    if (kind == ERROR_CONSTRUCTION) {
        double score = verify_number(layer, VERIFY_SCORE);
        int used = score >= point_omega(point)
                       ? snprintf(text, size, "scores up to %.4g are above omega, and ", score)
                       : 0;
        snprintf(text + used, size - (size_t)used, "the construction leaves %s", leaves);
        return LIMIT_CONSTRUCTION;
    }
    if (point_judges_rows(point) &&
        verify_log2(layer, VERIFY_JUDGED + ERROR_NATIVE) > log2(point->tolerance)) {
        write_size(leaves, layer, ERROR_NATIVE);
        snprintf(text, size, "the machine loses %s in the original itself", leaves);
        return LIMIT_ORIGINAL;
    }
    snprintf(text, size, "the machine's rounding leaves %s", leaves);
    return LIMIT_ROUNDING;
}

void verify_limit_worsen(VerifyLimit *limit, const VerifyLimit *other)
{
    bool fails = limit->passed && !other->passed, same = limit->passed == other->passed;
    if (other->known &&
        (!limit->known || fails || (same && other->log2_judged > limit->log2_judged))) {
        *limit = *other;
    }
}

void verify_limit_take(Verify *verify)
{
    const VerifyRow *worst = &verify->layers[0];
    Point point = verify->points[0];
    point.omega = verify->omega;
    for (size_t l = 1; l < point.spec.depth; l++) {
        const VerifyRow *layer = &verify->layers[l];
        Status own = verify_status(layer), other = verify_status(worst);
        bool larger =
            verify_number(layer, VERIFY_JUDGED_LOG2) > verify_number(worst, VERIFY_JUDGED_LOG2);
        worst = own < other || (own == other && larger) ? layer : worst;
    }
    const ErrorKind kind = largest_part(worst, &point);
    VerifyLimit limit = {.known = true,
                         .passed = verify->passed,
                         .omega = verify->omega,
                         .log2_judged = verify_number(worst, VERIFY_JUDGED_LOG2)};
    limit.cause = cause_of(limit.cause_text, sizeof limit.cause_text, kind, worst, &point);
    if (point.judged && point.judge_of != JUDGE_STREAMS) {
        size_t length = strlen(limit.cause_text);
        snprintf(limit.cause_text + length, sizeof limit.cause_text - length, " in the stream");
    }
    verify_limit_worsen(&verify->limit, &limit);
}

/* Another Omega, as far as it was looked for one. */
static void print_other_omega(FILE *file, const Verify *verify)
{
    const OmegaSearch *search = &verify->found.search;
    char text[DECIMAL_TEXT];
    if (verify->sought && search->min != NULL) {
        fputs("; try an omega ", file);
        omega_print_range(file, search);
        fputs(", as above", file);
    } else if (verify->sought && search->best != NULL) {
        decimal_print(text, search->best->omega);
        mpfr_fprintf(file,
                     "; none of %zu omegas evaluated meets the tolerance: try a larger tolerance, "
                     "omega %s leaves %.2Re",
                     search->evaluations, text, search->best->error.value);
    } else {
        bool smaller =
            verify->limit.cause == LIMIT_ROUNDING || verify->limit.cause == LIMIT_OVERFLOW;
        fprintf(file, "; try a %s omega", smaller ? "smaller" : "larger");
    }
}

/* What imitates the network's activation more closely, or its product; "": nothing does. */
static const char *finer(const Point *point)
{
    const CaseSpec *spec = &point->spec;
    bool gelu = spec->gelu != GELU_SHIFTED_8 && point_axis_matters(point, AXIS_GELU);
    return spec->activation == ACTIVATION_RELU ? "a larger --slope, or "
           : gelu                              ? "--gelu with more heads, up to 8, or "
           : case_reads_out(spec)              ? "a smaller --tau, or "
                                               : "";
}

static void print_advice(FILE *file, const Verify *verify)
{
    switch (verify->limit.cause) {
    case LIMIT_IMITATION:
        fprintf(file, "; try %sa larger tolerance", finer(verify->template));
        return;
    case LIMIT_ERROR:
    case LIMIT_VACUOUS: fputs("; try other inputs", file); return;
    case LIMIT_ORIGINAL:
        if (!verify->sought || verify->found.search.min == NULL) {
            fputs("; try a larger tolerance", file);
            return;
        }
        break;
    default: break;
    }
    print_other_omega(file, verify);
}

void verify_limit_advise(Verify *verify)
{
    VerifyLimit *limit = &verify->limit;
    char *text = NULL;
    size_t size;
    FILE *file = text_stream(&text, &size);
    if (!limit->passed) {
        print_advice(file, verify);
    } else if (!verify->template->judged) {
        bool coarse = limit->cause == LIMIT_IMITATION;
        fprintf(file, "; try %sa --tolerance", coarse ? finer(verify->template) : "");
    }
    snprintf(limit->advice, sizeof limit->advice, "%s", text_close(file, &text));
    free(text);
}

void verify_limit_print(FILE *file, const VerifyLimit *limit, bool several)
{
    char omega[DECIMAL_TEXT];
    if (limit->known) {
        decimal_print(omega, limit->omega);
        fprintf(file, several ? ": at omega %s " : ": ", omega);
        fprintf(file, "%s%s", limit->cause_text, limit->advice);
    }
}
