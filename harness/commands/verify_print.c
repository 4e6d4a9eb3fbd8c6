/*
 * What `verify` says and writes.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_printf */

#include "../grid/axes.h"
#include "../table/bounds.h"
#include "../base/decimal.h"
#include "../evaluate/omega_print.h"
#include "../base/shown.h"
#include "../table/table.h"
#include "verify.h"

#include <math.h>

static const char csv_header[] =
    "model,construction,kernel,omega,inputs,layer,approximation_max,construction_max,rounding_max,"
    "native_max,total_max,observed_max,bounds,judged_log2,worst_input,logit_error,logit_margin,"
    "safety_"
    "factor,"
    "predictions_changed,status\n";

int verify_write_header(FILE *file)
{
    return fputs(csv_header, file) == EOF ? -1 : 0;
}

void verify_write_logits(FILE *file, double error, double margin, size_t changed)
{
    fprintf(file, ",%.16e,%.16e,%.16e,%zu", error, margin, margin / error, changed);
}

/* The names of the layer's cells that are only bounds. */
static void write_bounds(FILE *file, const LayerWorst *layer)
{
    char name[CELL_NAME];
    bool first = true;
    for (size_t kind = 0; kind < ERROR_KINDS; kind++) {
        if (layer->worst[kind].state == CELL_BOUND) {
            error_name(name, kind, NORM_MAX);
            bounds_add(file, &first, name);
        }
    }
    if (layer->judged_bound) {
        bounds_add(file, &first, VERIFY_JUDGED);
    }
}

int verify_write_rows(const Verify *verify, double omega, const LogitErrors *logits)
{
    FILE *file = output_file(verify->output);
    const Point *point = &verify->points[0];
    char text[DECIMAL_TEXT];
    int status = 0;
    decimal_print(text, omega);
    for (size_t l = 0; l < point->spec.depth; l++) {
        const LayerWorst *layer = &verify->layers[l];
        bool last = l + 1 == point->spec.depth && verify->has_logits;
        fprintf(file, "%s,%s,%s,%s,%zu,%zu", verify->template->source->path,
                construction_names[point->spec.construction],
                point->kernel == KERNEL_DENSE ? "dense" : "structured", text, verify->inputs.count,
                l + 1);
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            fputc(',', file);
            status |= table_write_cell(file, &layer->worst[kind]);
        }
        fputc(',', file);
        write_bounds(file, layer);
        fprintf(file, ",%.16e,%zu", layer->log2_worst,
                inputs_number(&verify->inputs, layer->worst_input));
        if (last) {
            verify_write_logits(file, logits->error, verify->logits.margin, logits->changed);
        } else {
            fputs(",,,,", file);
        }
        fprintf(file, ",%s\n", status_name(layer->status));
    }
    return status != 0 || ferror(file) ? -1 : 0;
}

static void print_cell(const char *name, const RefCell *cell)
{
    if (cell->state == CELL_ZERO) {
        printf("  %s 0", name);
    } else if (cell->state != CELL_ABSENT) {
        mpfr_printf("  %s %s%.2Re", name, cell->state == CELL_BOUND ? "<" : "", cell->value);
    }
}

/* What a reader needs of one Omega. */
void verify_print_omega(const Verify *verify, double omega, const LogitErrors *logits)
{
    static const char *const names[ERROR_KINDS] = {[ERROR_APPROXIMATION] = "approximation",
                                                   [ERROR_CONSTRUCTION] = "construction",
                                                   [ERROR_ROUNDING] = "rounding",
                                                   [ERROR_NATIVE] = "native",
                                                   [ERROR_TOTAL] = "total",
                                                   [ERROR_OBSERVED] = "observed"};
    char text[DECIMAL_TEXT];
    decimal_print(text, omega);
    for (size_t l = 0; l < verify->points[0].spec.depth; l++) {
        printf("omega %s, layer %zu:", text, l + 1);
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            print_cell(names[kind], &verify->layers[l].worst[kind]);
        }
        printf("  %s\n", status_name(verify->layers[l].status));
    }
    if (verify->has_logits) {
        double margin = verify->logits.margin;
        printf("omega %s, predictions: %zu of %zu changed; largest logit error %.2e, smallest "
               "margin %.3g, safety factor %.2g\n",
               text, logits->changed, verify->inputs.count, logits->error, margin,
               margin / logits->error);
    }
}

void verify_print_found(const Verify *verify, const Found *found)
{
    char text[DECIMAL_TEXT], what[DECIMAL_TEXT + 32];
    const OmegaSearch *s = &found->search;
    decimal_print(text, verify->template->tolerance);
    snprintf(what, sizeof what, "meets the tolerance %s", text);
    omega_print(stdout, s, what);
    if (s->best.omega > 0) {
        decimal_print(text, s->best.omega);
        mpfr_printf("; the best evaluated is %s, with error %.2Re", text, s->best.error);
    }
    putchar('\n');
}

void verify_print_keeping(const OmegaSearch *found)
{
    omega_print(stdout, found, "keeps every prediction");
    putchar('\n');
}

/* What the file or a flag says of the model. */
static const char *axis_word(const Verify *verify, Axis axis)
{
    return axis_info(axis)->domain.words[point_get(verify->template, axis).integer];
}

void verify_print_model(const Verify *verify)
{
    const ModelFile *model = verify->model;
    printf("%s: %zu layer%s, D = %zu", shown(verify->template->source->path).text, model->depth,
           model->depth == 1 ? "" : "s", model->d);
    if (model->heads > 0) {
        printf(", %zu heads, scores scaled by %s", model->heads, axis_word(verify, AXIS_SCALE));
    }
    if (model->hidden > 0) {
        printf(", H = %zu, %s", model->hidden, axis_word(verify, AXIS_ACTIVATION));
    }
    printf(", mask %s; ", axis_word(verify, AXIS_MASK));
    if (verify->inputs.shards > 1) {
        printf("shard %zu/%zu: ", verify->inputs.shard, verify->inputs.shards);
    }
    printf("%zu input%s of %zu tokens; `%s` in double, %s\n", verify->inputs.count,
           verify->inputs.count == 1 ? "" : "s", verify->inputs.n,
           construction_names[verify->template->spec.construction],
           verify->template->kernel == KERNEL_DENSE ? "dense" : "structured");
}

static bool has_several_omegas(const Grid *grid)
{
    for (size_t i = 1; i < grid->count; i++) {
        if (grid->points[i].omega != grid->points[0].omega) {
            return true;
        }
    }
    return false;
}

void verify_print_verdict(const Grid *grid, bool passed, const VerifyLimit *limit)
{
    char text[DECIMAL_TEXT];
    const Point *point = &grid->points[0];
    bool several = has_several_omegas(grid);
    printf("verdict: %s ",
           point->judged ? (passed ? "PASS:" : "FAIL:") : (passed ? "evaluated" : "FAIL"));
    if (several) {
        printf("at %s omega above", passed ? "every" : "some");
    } else {
        decimal_print(text, point->omega);
        printf("at omega %s", text);
    }
    if (point->judged) {
        decimal_print(text, point->tolerance);
        printf(" the error is %s %s", passed ? "within" : "not within", text);
    } else {
        printf(" (no tolerance given)");
    }
    verify_limit_print(limit, several);
    putchar('\n');
}
