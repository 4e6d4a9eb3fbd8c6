/*
 * What `verify` says and writes.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_printf */

#include "../../grid/point_axes.h"
#include "../../table/bounds.h"
#include "../../table/summary.h"
#include "../../table/columns.h"
#include "../../base/decimal.h"
#include "../../evaluate/omega_print.h"
#include "../../base/shown.h"
#include "../../table/table.h"
#include "limit.h"
#include "print.h"

#include <math.h>

const char *verify_column(size_t column)
{
    static const char *const names[VERIFY_COLUMNS] = {[VERIFY_MODEL] = "model",
                                                      [VERIFY_CONSTRUCTION] = "construction",
                                                      [VERIFY_ARITHMETIC] = "arithmetic",
                                                      [VERIFY_KERNEL] = "kernel",
                                                      [VERIFY_OMEGA] = "omega",
                                                      [VERIFY_OPTIONS] = OPTIONS_COLUMN,
                                                      [VERIFY_INPUTS] = "inputs",
                                                      [VERIFY_LAYER] = LAYER_COLUMN,
                                                      [VERIFY_BOUNDS] = BOUNDS_COLUMN,
                                                      [VERIFY_JUDGED_LOG2] = "judged_log2",
                                                      [VERIFY_WORST_INPUT] = "worst_input",
                                                      [VERIFY_LOGIT_ERROR] = "logit_error",
                                                      [VERIFY_MARGIN] = "logit_margin",
                                                      [VERIFY_SAFETY] = "safety_factor",
                                                      [VERIFY_CHANGED] = "predictions_changed",
                                                      [VERIFY_STATUS] = "status"};
    bool is_error = column >= VERIFY_ERRORS && column < VERIFY_BOUNDS;
    return is_error ? column_of_error((ErrorKind)(column - VERIFY_ERRORS), NORM_MAX)->name
                    : names[column];
}

int verify_write_header(FILE *file)
{
    for (size_t column = 0; column < VERIFY_COLUMNS; column++) {
        fprintf(file, "%s%s", column == 0 ? "" : ",", verify_column(column));
    }
    fputc('\n', file);
    return ferror(file) ? -1 : 0;
}

void verify_write_no_logits(FILE *file)
{
    for (size_t column = VERIFY_LOGIT_ERROR; column < VERIFY_STATUS; column++) {
        fputc(',', file);
    }
}

void verify_write_logits(FILE *file, double error, double margin, size_t changed)
{
    fprintf(file, ",%.16e,%.16e,%.16e,%zu", error, margin, margin / error, changed);
}

/* The names of the layer's cells that are only bounds. */
static void write_bounds(FILE *file, const LayerWorst *layer)
{
    bool first = true;
    for (size_t kind = 0; kind < ERROR_KINDS; kind++) {
        if (layer->worst[kind].state == CELL_BOUND) {
            bounds_add(file, &first, verify_column(VERIFY_ERRORS + kind));
        }
    }
    if (layer->judged_bound) {
        bounds_add(file, &first, verify_column(VERIFY_JUDGED_LOG2));
    }
}

/* What decides a row and has no column here, beside the sizes of the file. */
static const Axis decisive[] = {AXIS_ACTIVATION, AXIS_MASK, AXIS_REFERENCE, AXIS_SEED, AXIS_COUNT};

/* What a layer's row holds in a column up to the worst input's. */
static int write_cell(FILE *file, size_t column, const Verify *verify, const char *omega, size_t l)
{
    const Point *point = &verify->points[0];
    const LayerWorst *layer = &verify->layers[l];
    switch (column) {
    case VERIFY_MODEL: fputs(verify->template->source->path, file); break;
    case VERIFY_CONSTRUCTION: fputs(construction_names[point->spec.construction], file); break;
    case VERIFY_ARITHMETIC: fputs(arithmetic_names[point->arithmetic], file); break;
    case VERIFY_KERNEL: fputs(point->kernel == KERNEL_DENSE ? "dense" : "structured", file); break;
    case VERIFY_OMEGA: fputs(omega, file); break;
    case VERIFY_OPTIONS: return table_write_options(file, verify->template, decisive);
    case VERIFY_INPUTS: fprintf(file, "%zu", verify->inputs.count); break;
    case VERIFY_LAYER: fprintf(file, "%zu", l + 1); break;
    case VERIFY_BOUNDS: write_bounds(file, layer); break;
    case VERIFY_JUDGED_LOG2: fprintf(file, "%.16e", layer->log2_worst); break;
    case VERIFY_WORST_INPUT:
        fprintf(file, "%zu", inputs_number(&verify->inputs, layer->worst_input));
        break;
    default: return table_write_cell(file, &layer->worst[column - VERIFY_ERRORS]);
    }
    return 0;
}

int verify_write_rows(const Verify *verify, double omega, const LogitErrors *logits)
{
    FILE *file = output_file(verify->output);
    size_t depth = verify->points[0].spec.depth;
    char text[DECIMAL_TEXT];
    int status = 0;
    decimal_print(text, omega);
    for (size_t l = 0; l < depth; l++) {
        for (size_t column = 0; column <= VERIFY_WORST_INPUT; column++) {
            fputs(column == 0 ? "" : ",", file);
            status |= write_cell(file, column, verify, text, l);
        }
        if (l + 1 == depth && verify->has_logits) {
            verify_write_logits(file, logits->error, verify->logits.margin, logits->changed);
        } else {
            verify_write_no_logits(file);
        }
        fprintf(file, ",%s\n", status_name(verify->layers[l].status));
    }
    return status != 0 || ferror(file) ? -1 : 0;
}

static void print_cell(FILE *file, const char *name, const RefCell *cell)
{
    if (cell->state == CELL_ZERO) {
        fprintf(file, "  %s 0", name);
    } else if (cell->state != CELL_ABSENT) {
        mpfr_fprintf(file, "  %s %s%.2Re", name, cell->state == CELL_BOUND ? "<" : "", cell->value);
    }
}

/* What a reader needs of one Omega. */
void verify_print_omega(const Verify *verify, double omega, const LogitErrors *logits)
{
    const char *const *names = axis_info(AXIS_JUDGE)->domain.words;
    FILE *file = output_report(verify->options);
    char text[DECIMAL_TEXT];
    decimal_print(text, omega);
    for (size_t l = 0; l < verify->points[0].spec.depth; l++) {
        fprintf(file, "omega %s, layer %zu:", text, l + 1);
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            print_cell(file, names[kind], &verify->layers[l].worst[kind]);
        }
        fprintf(file, "  %s\n", status_name(verify->layers[l].status));
    }
    if (verify->has_logits) {
        double margin = verify->logits.margin;
        fprintf(file,
                "omega %s, predictions: %zu of %zu changed; largest logit error %.2e, smallest "
                "margin %.3g, safety factor %.2g\n",
                text, logits->changed, verify->inputs.count, logits->error, margin,
                margin / logits->error);
    }
}

void verify_print_found(const Verify *verify, const Found *found)
{
    FILE *file = output_report(verify->options);
    char text[DECIMAL_TEXT], what[DECIMAL_TEXT + 32];
    const OmegaSearch *s = &found->search;
    decimal_print(text, verify->template->tolerance);
    snprintf(what, sizeof what, "meets the tolerance %s", text);
    omega_print(file, s, what);
    if (s->best.omega > 0) {
        decimal_print(text, s->best.omega);
        mpfr_fprintf(file, "; the best evaluated is %s, with error %.2Re", text, s->best.error);
    }
    fputc('\n', file);
}

void verify_print_keeping(const Verify *verify, const OmegaSearch *found)
{
    FILE *file = output_report(verify->options);
    omega_print(file, found, "keeps every prediction");
    fputc('\n', file);
}

/* What the file or a flag says of the model. */
static const char *axis_word(const Verify *verify, Axis axis)
{
    return axis_info(axis)->domain.words[point_get(verify->template, axis).integer];
}

void verify_print_model(const Verify *verify)
{
    const ModelFile *model = verify->model;
    FILE *file = output_report(verify->options);
    fprintf(file, "%s: %zu layer%s, D = %zu", shown(verify->template->source->path).text,
            model->depth, model->depth == 1 ? "" : "s", model->d);
    if (model->heads > 0) {
        fprintf(file, ", %zu heads, scores scaled by %s", model->heads,
                axis_word(verify, AXIS_SCALE));
    }
    if (model->hidden > 0) {
        fprintf(file, ", H = %zu, %s", model->hidden, axis_word(verify, AXIS_ACTIVATION));
    }
    fprintf(file, ", mask %s; ", axis_word(verify, AXIS_MASK));
    if (verify->inputs.shards > 1) {
        fprintf(file, "shard %zu/%zu: ", verify->inputs.shard, verify->inputs.shards);
    }
    fprintf(file, "%zu input%s of %zu tokens; `%s` in %s, %s\n", verify->inputs.count,
            verify->inputs.count == 1 ? "" : "s", verify->inputs.n,
            construction_names[verify->template->spec.construction],
            arithmetic_info(verify->template->arithmetic)->called,
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

void verify_print_verdict(FILE *file, const Grid *grid, bool passed, const VerifyLimit *limit,
                          size_t bounds)
{
    char text[DECIMAL_TEXT];
    const Point *point = &grid->points[0];
    bool several = has_several_omegas(grid);
    fprintf(file, "verdict: %s ",
            point->judged ? (passed ? "PASS:" : "FAIL:") : (passed ? "evaluated" : "FAIL"));
    if (several) {
        fprintf(file, "at %s omega above", passed ? "every" : "some");
    } else {
        decimal_print(text, point->omega);
        fprintf(file, "at omega %s", text);
    }
    if (point->judged) {
        decimal_print(text, point->tolerance);
        fprintf(file, " the error is %s %s", passed ? "within" : "not within", text);
    } else {
        fprintf(file, " (no tolerance given)");
    }
    if (point->certify) {
        print_certified(file, bounds);
    }
    verify_limit_print(file, limit, several);
    fputc('\n', file);
}
