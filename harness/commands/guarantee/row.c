/*
 * Proven bounds, written.
 *
 * Every number is rounded up in its last digit, so that what is printed is proven, too.
 */
#include <stdio.h>

#include "bound.h"

#include "../../../cases/activation.h"
#include "../../base/decimal.h"
#include "../../base/shown.h"
#include "../../table/table.h"

#include <math.h>
#include <string.h>

enum { ROW_DIGITS = 9, PRINT_DIGITS = 3 };

static const char tail[] = ",layer,tolerance,input_norm,rows,scores,bias_row,gain,leak,error,"
                           "error_log10,logit_error,logit_error_log10,tau_error,logit_tau_error,"
                           "from_sublayer,from_term,zero_leak_omega,status\n";

void guarantee_write_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    table_write_key_header(file, true);
    fputs(tail, file);
}

static void write_number(FILE *file, bool present, Magnitude x)
{
    char text[MAGNITUDE_TEXT] = "";
    if (present) {
        magnitude_print(text, x, ROW_DIGITS);
    }
    fprintf(file, ",%s", text);
}

static void write_both(FILE *file, bool present, Magnitude x)
{
    char text[MAGNITUDE_TEXT] = "";
    write_number(file, present, x);
    if (present) {
        magnitude_print_log10(text, x, ROW_DIGITS);
    }
    fprintf(file, ",%s", text);
}

/* An error of 0 is from nowhere. */
static void write_origin(FILE *file, const GuaranteeLayer *layer)
{
    if (layer->error.digits > 0) {
        fprintf(file, ",%zu,%s", layer->sublayer, guarantee_terms[layer->term]);
    } else {
        fputs(",,", file);
    }
}

/* Rounded up; "": of no arithmetic. */
enum { ZERO_LEAK_TEXT = MAGNITUDE_TEXT };
static void print_zero_leak(char text[ZERO_LEAK_TEXT], const Proven *proven)
{
    double omega = proven->zero_leak;
    snprintf(text, ZERO_LEAK_TEXT, "%s", omega == INFINITY ? "none" : "");
    if (omega > 0 && omega < INFINITY) {
        magnitude_print(text, magnitude_of(omega, 0), PRINT_DIGITS + 3);
    }
}

void guarantee_write_rows(FILE *file, const void *row)
{
    const Proven *proven = row;
    const GivenWeights *given = proven->point.spec.given;
    bool draws = given == NULL || given->layers == NULL; /* a seed says what the weights are */
    const char *status = proven->none ? "none" : proven->refused ? "fail" : "ok";
    char tolerance[DECIMAL_TEXT] = "", zero_leak[ZERO_LEAK_TEXT];
    print_zero_leak(zero_leak, proven);
    if (proven->point.judged) {
        decimal_print(tolerance, proven->point.tolerance);
    }
    for (size_t l = 0; l < proven->point.spec.depth; l++) {
        const GuaranteeLayer *layer = &proven->layers[l];
        bool logits = proven->logits && l + 1 == proven->point.spec.depth;
        table_write_key(file, &proven->point, true, draws ? NULL : "");
        fprintf(file, ",%zu,%s", l + 1, tolerance);
        write_number(file, true, proven->input_norm);
        write_number(file, true, layer->rows);
        write_number(file, layer->scores.digits > 0, layer->scores);
        write_number(file, true, layer->bias_row);
        write_number(file, true, layer->gain);
        write_number(file, true, layer->leak);
        write_both(file, true, layer->error);
        write_both(file, logits, proven->logit_error);
        write_number(file, proven->reads_out, layer->apart);
        write_number(file, proven->reads_out && logits, proven->logit_tau_error);
        write_origin(file, layer);
        fprintf(file, ",%s,%s\n", zero_leak, status);
    }
}

void guarantee_from(char text[GUARANTEE_FROM], const Proven *proven)
{
    const GuaranteeLayer *layer = &proven->layers[proven->point.spec.depth - 1];
    if (layer->error.digits > 0) {
        snprintf(text, GUARANTEE_FROM, "sublayer %zu, %s", layer->sublayer,
                 guarantee_terms[layer->term]);
    } else {
        snprintf(text, GUARANTEE_FROM, "nothing");
    }
}

static void print_table(FILE *file, const Proven *proven)
{
    fprintf(file, "%5s  %8s  %8s  %8s  %8s  %8s  %8s %s\n", "layer", "rows", "scores", "bias row",
            "gain", "leak", "error", "from sublayer");
    for (size_t l = 0; l < proven->point.spec.depth; l++) {
        const GuaranteeLayer *layer = &proven->layers[l];
        const Magnitude numbers[] = {layer->rows, layer->scores, layer->bias_row,
                                     layer->gain, layer->leak,   layer->error};
        fprintf(file, "%5zu", l + 1);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            char text[MAGNITUDE_TEXT];
            magnitude_print(text, numbers[i], PRINT_DIGITS);
            fprintf(file, "  %8s", text);
        }
        if (layer->error.digits > 0) {
            fprintf(file, " %zu %s", layer->sublayer, guarantee_terms[layer->term]);
        }
        putc('\n', file);
    }
}

/* Which tau would do for each number of pairs, and the sum of what each rounds. */
static void print_taus(FILE *file, const Proven *proven)
{
    const Point *point = &proven->point;
    Arithmetic arithmetic =
        point->arithmetic == ARITHMETIC_NONE ? ARITHMETIC_F64 : point->arithmetic;
    int digits = format_info(arithmetic_info(arithmetic)->formats.operand)->digits;
    fprintf(file, "The largest tau proven for each --readout, and the rounding by that tau in %s:",
            arithmetic_names[arithmetic]);
    for (size_t K = 1; K <= READOUT_MOST; K++) {
        const CaseSpec spec = {.readout = K, .tau = proven->taus[K - 1]};
        char tau[DECIMAL_TEXT];
        double gain = 0;
        for (size_t j = 0; j < K && spec.tau > 0; j++) {
            gain += fabs(readout_pair(&spec, j).value);
        }
        decimal_print(tau, spec.tau);
        if (spec.tau > 0) {
            fprintf(file, "%s --readout %zu --tau %s, %.2g", K > 1 ? ";" : "", K, tau,
                    ldexp(gain, -digits));
        } else {
            fprintf(file, "%s --readout %zu, no tau", K > 1 ? ";" : "", K);
        }
    }
    fputs(".\n", file);
}

static void print_tau(FILE *file, const Proven *proven)
{
    char tau[DECIMAL_TEXT], apart[MAGNITUDE_TEXT], tolerance[DECIMAL_TEXT];
    if (!proven->reads_out) {
        return;
    }
    decimal_print(tau, proven->point.spec.tau);
    decimal_print(tolerance, proven->point.tolerance);
    magnitude_print(apart, proven->logits ? proven->logit_tau_error : proven->tau_error,
                    PRINT_DIGITS);
    fprintf(file, "With --readout %zu, tau = %s makes up to %s of this error%s.\n",
            readout_pairs(&proven->point.spec), tau, apart,
            proven->tau_alone ? ", which alone is above the tolerance" : "");
    if (proven->point.judged) {
        print_taus(file, proven);
    }
}

void guarantee_print(FILE *file, const void *row)
{
    const Proven *proven = row;
    const Point *point = &proven->point;
    const char *what = proven->logits ? "logit" : "entry";
    char error[MAGNITUDE_TEXT], omega[DECIMAL_TEXT], tolerance[DECIMAL_TEXT], from[GUARANTEE_FROM];
    magnitude_print(error, proven->judged, PRINT_DIGITS);
    decimal_print(omega, point->omega);
    decimal_print(tolerance, point->tolerance);
    guarantee_from(from, proven);
    print_table(file, proven);
    if (proven->none) {
        fprintf(file, "\nNo Omega up to %s is proven to keep every %s within %s: %s.\n", omega,
                what, tolerance, proven->tau_alone ? "tau alone takes more" : from);
        print_tau(file, proven);
        return;
    }
    fprintf(file,
            "\nWith Omega = %s or larger, for every input of up to %zu token%s, no %s of the "
            "rewrite is off, in exact arithmetic, by more than %s from what %s.\n",
            omega, point->spec.n, point->spec.n == 1 ? "" : "s", what, error,
            proven->reads_out ? "the original gives" : "an infinite Omega would give");
    if (proven->refused) {
        fprintf(file, "This bound is above the tolerance of %s: %s.\n", tolerance, from);
    }
    print_tau(file, proven);
    if (proven->zero_leak > 0) {
        char bits[ZERO_LEAK_TEXT];
        const char *called = arithmetic_info(point->arithmetic)->called;
        print_zero_leak(bits, proven);
        if (proven->zero_leak == INFINITY) {
            fprintf(file,
                    "No Omega is proven to be so large that no bit of the result depends on Omega "
                    "in %s.\n",
                    called);
        } else {
            fprintf(file,
                    "In %s, with --penalty negative, no bit of the result depends on Omega from %s "
                    "on.\n",
                    called, bits);
        }
    }
    if (construction_info(point->spec.construction)->activation &&
        point->spec.activation != ACTIVATION_SILU) {
        fputs("The error of imitating the activation comes on top; sweep and verify measure it.\n",
              file);
    }
}
