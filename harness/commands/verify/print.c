/*
 * The text and the rows of `verify`.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_printf */

#include "verify.h"

#include "../../base/decimal.h"
#include "../../base/shown.h"
#include "../../evaluate/omega_print.h"
#include "../../point/point.h"
#include "../../models/model_file.h"
#include "../../table/columns.h"
#include "../../table/format.h"
#include "../../table/live.h"
#include "../../table/summary.h"
#include "../../table/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void verify_write_rows(FILE *file, const void *row)
{
    const Verify *verify = row;
    const Point point = verify_point(verify);
    size_t depth = verify->points[0].spec.depth;
    PositionMeans means;
    position_means_init(&means);
    if (verify->has_logits) {
        verify_means(&means, verify);
    }
    const bool listed = verify->has_logits && verify->options->positions != NULL;
    for (size_t k = 0; listed && k < logits_count(&verify->logits); k++) {
        VerifyRow position = {0};
        verify_row_position(&position, verify, &verify->logits.found[k]);
        verify_write_key(file, &point);
        verify_row_write(file, &position, VERIFY_COLUMNS);
    }
    for (size_t l = 0; l < depth; l++) {
        VerifyRow layer = verify->layers[l];
        if (l + 1 == depth && verify->has_logits) {
            verify_row_logits(&layer, verify->errors.error, verify->logits.margin,
                              verify->errors.changed);
            position_means_put(&layer, &means, listed);
        }
        verify_write_key(file, &point);
        verify_row_write(file, &layer, VERIFY_COLUMNS);
    }
    position_means_clear(&means);
}

/* A layer's errors in a table for eyes: each as wide as it may be, or as its name is. */
enum { ERROR_WIDTH = 8, LAYER_WIDTH = 5 };

static const char *error_name(int kind)
{
    return axis_info(AXIS_JUDGE)->domain.words[kind];
}

/* "1.23e-16", and of a bound "<1.23e-16". */
static void shown_error(char text[SHORT_TEXT], const VerifyRow *layer, int kind)
{
    const FormatCell cell = {.text = layer->cells[VERIFY_ERRORS + kind].text,
                             .bound = layer->cells[VERIFY_ERRORS + kind].bound};
    strcpy(text, "-");
    if (*cell.text != '\0') {
        format_short(text, &cell);
    }
}

static void print_layers(FILE *file, const Verify *verify)
{
    int widths[ERROR_KINDS];
    fprintf(file, "omega %s:\n%*s", verify->omega_text, LAYER_WIDTH, "layer");
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        size_t width = strlen(error_name(kind));
        width = width < ERROR_WIDTH ? ERROR_WIDTH : width;
        for (size_t l = 0; l < verify->points[0].spec.depth; l++) {
            char text[SHORT_TEXT];
            shown_error(text, &verify->layers[l], kind);
            width = strlen(text) > width ? strlen(text) : width;
        }
        widths[kind] = (int)width;
        fprintf(file, "  %*s", widths[kind], error_name(kind));
    }
    fputs("  status\n", file);
    for (size_t l = 0; l < verify->points[0].spec.depth; l++) {
        const VerifyRow *layer = &verify->layers[l];
        fprintf(file, "%*zu", LAYER_WIDTH, l + 1);
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            char text[SHORT_TEXT];
            shown_error(text, layer, kind);
            fprintf(file, "  %*s", widths[kind], text);
        }
        const char *status = layer->cells[VERIFY_STATUS].text;
        Color color = live_status_color(status, verify->template->judged);
        fputs("  ", file);
        terminal_write(file, verify->colors ? color : COLOR_NONE, status);
        fputc('\n', file);
    }
}

/* The lines about one Omega. */
void verify_print_omega(FILE *file, const Verify *verify)
{
    const LogitErrors *logits = &verify->errors;
    const char *text = verify->omega_text;
    print_layers(file, verify);
    if (verify->has_logits) {
        double margin = verify->logits.margin;
        fprintf(file,
                "omega %s, predictions: %zu of %zu changed; largest logit error %.2e, smallest "
                "margin %.3g, safety factor %.2g\n",
                text, logits->changed, logits->all, logits->error, margin,
                verify_safety(margin, logits->error));
        if (logits->native_changed > 0) {
            fprintf(file, "omega %s, the original by itself changes %zu of %zu in this machine\n",
                    text, logits->native_changed, logits->all);
        }
        verify_print_positions(file, verify);
    }
}

void verify_print_found(FILE *file, const Verify *verify)
{
    char text[DECIMAL_TEXT], what[DECIMAL_TEXT + 64];
    const OmegaSearch *s = &verify->found.search;
    decimal_print(text, verify->template->tolerance);
    snprintf(what, sizeof what, "meets the tolerance %s%s", text,
             omega_judged(verify->template->judge_of));
    omega_print(file, s, what);
    if (s->best != NULL) {
        decimal_print(text, s->best->omega);
        mpfr_fprintf(file, "; the best omega evaluated is %s, with error %.2Re", text,
                     s->best->error.value);
    }
    fputc('\n', file);
}

void verify_print_keeping(FILE *file, const Verify *verify, const OmegaSearch *found)
{
    size_t lost = verify->errors.imitated;
    char what[128] = "keeps every prediction";
    if (lost > 0) {
        snprintf(what, sizeof what, "keeps every prediction but the %zu that the imitation changes",
                 lost);
    }
    omega_print(file, found, what);
    fputc('\n', file);
}

/* The word that the file or a flag has for an axis of the model. */
static const char *axis_word(const Verify *verify, Axis axis)
{
    return axis_info(axis)->domain.words[point_get(verify->template, axis).integer];
}

/* Layer norms, behind the sizes in the line about the model: which, where, eps. */
static void print_norms(FILE *file, const Verify *verify)
{
    char eps[DECIMAL_TEXT];
    const Point *point = verify->template;
    if (point->spec.norm != NORMALIZATION_NONE) {
        size_t kind = point_get(point, AXIS_NORMALIZATION).integer;
        decimal_print(eps, point->spec.norm_eps);
        fprintf(file, ", %s %s every part with eps %s",
                axis_info(AXIS_NORMALIZATION)->domain.words[kind],
                point->spec.norm_place == NORM_PRE ? "before" : "behind", eps);
    }
}

/* A line about norms that do not normalise (model_file.h), where they are such. */
static void print_norms_in_name(FILE *file, const Verify *verify)
{
    double least, most;
    char eps[DECIMAL_TEXT];
    if (verify->template->spec.norm != NORMALIZATION_NONE &&
        model_norms_in_name(&least, &most, verify->model, verify->template->spec.norm_eps)) {
        decimal_print(eps, verify->template->spec.norm_eps);
        fprintf(file,
                "its norms are norms in name: beside an eps of %s no variance matters, and gamma / "
                "sqrt(eps) is between %.3g and %.3g\n",
                eps, least, most);
    }
}

/* "9 inputs of 3 tokens", and of windows how they lie. */
static void print_inputs(FILE *file, const Inputs *inputs)
{
    const char *what = inputs->from != NULL ? "window" : "input";
    fprintf(file, "%zu %s%s of %zu token%s", inputs->count, what, inputs->count == 1 ? "" : "s",
            inputs->n, inputs->n == 1 ? "" : "s");
    if (inputs->from != NULL && inputs->count > 1) {
        fprintf(file, ", %zu apart", inputs->stride);
    }
    if (inputs->moved > 0) {
        fprintf(file, ", a last one up to %zu earlier, to be whole", inputs->moved);
    }
    if (*inputs->of != '\0') {
        fprintf(file, ", a sample of %s (--tokens all)", inputs->of);
    }
}

void verify_print_model(FILE *file, const Verify *verify)
{
    const ModelFile *model = verify->model;
    fprintf(file, "%s: %zu layer%s, D = %zu", shown(verify->template->source->path).text,
            model->depth, model->depth == 1 ? "" : "s", model->d);
    if (model->heads > 0) {
        fprintf(file, ", %zu head%s, scores scaled by %s%s", model->heads,
                model->heads == 1 ? "" : "s", axis_word(verify, AXIS_SCALE),
                model->scaled_by_layer ? " and 1/layer" : "");
    }
    if (model->hidden > 0) {
        fprintf(file, ", H = %zu, %s", model->hidden, axis_word(verify, AXIS_ACTIVATION));
    }
    print_norms(file, verify);
    fprintf(file, ", mask %s; ", axis_word(verify, AXIS_MASK));
    if (verify->inputs.shards > 1) {
        fprintf(file, "shard %zu/%zu: ", verify->inputs.shard, verify->inputs.shards);
    }
    print_inputs(file, &verify->inputs);
    fprintf(file, "; `%s` in %s, %s", construction_names[verify->template->spec.construction],
            arithmetic_info(verify->template->arithmetic)->called,
            verify->template->kernel == KERNEL_DENSE ? "dense" : "structured");
    if (point_axis_matters(verify->template, AXIS_PENALTY)) {
        fprintf(file, ", penalty %s", axis_word(verify, AXIS_PENALTY));
    }
    if (verify->template->spec.bias_self == BIAS_SELF_FOURFOLD) {
        fputs(", the bias row attends itself with 4 omega", file);
    }
    fputc('\n', file);
    print_norms_in_name(file, verify);
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

Conclusion verify_print_verdict(FILE *file, const Grid *grid, const Verdict *verdict)
{
    static const char *const judged[] = {[JUDGE_STREAMS] = "the error",
                                         [JUDGE_LOGITS] = "the largest logit error",
                                         [JUDGE_KL] = "the largest KL divergence of m(T')"};
    char text[DECIMAL_TEXT];
    const Point *first = grid_first_judged(grid);
    const Point *point = first != NULL ? first : &grid->points[0];
    const VerifyLimit *limit = &verdict->limit;
    const Inputs *inputs = &verdict->chosen_inputs.inputs;
    bool passed = verdict->outcome.failed == 0, several = has_several_omegas(grid);
    bool within = limit->known ? limit->passed : passed;
    Conclusion conclusion = !passed         ? CONCLUSION_FAIL
                            : point->judged ? CONCLUSION_PASS
                                            : CONCLUSION_EVALUATED;
    fprintf(file, "verdict: %s%s ", conclusions[conclusion].words,
            conclusion == CONCLUSION_EVALUATED ? ";" : ":");
    if (several) {
        fprintf(file, "at %s omega above", within ? "every" : "some");
    } else {
        decimal_print(text, point->omega);
        fprintf(file, "at omega %s", text);
    }
    if (verdict->chosen) {
        bool goes_on = point->judged || !passed || *inputs->of != '\0';
        fprintf(file, ", chosen on the same inputs%s", goes_on ? "," : "");
    }
    if (point->judged) {
        decimal_print(text, point->tolerance);
        fprintf(file, " %s is %s %s", judged[point->judge_of], within ? "within" : "not within",
                text);
    } else {
        fputs(passed ? "" : " (no tolerance given)", file);
    }
    if (*inputs->of != '\0') {
        fprintf(file, " over a sample of %zu of %s inputs", inputs->count, inputs->of);
    }
    if (verdict->outcome.run->certify) {
        print_certified(file, verdict->bounds);
    }
    verify_limit_print(file, limit, several);
    every_input_print(file, &verdict->every);
    char *conditions = model_file_conditions(point->source->file);
    fprintf(file, "; %s", shown(conditions).text);
    free(conditions);
    return conclusion;
}
