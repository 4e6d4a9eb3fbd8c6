#include <stdio.h> /* before mpfr.h: declares mpfr_printf */

#include "decimal.h"
#include "table.h"
#include "verify.h"

#include <math.h>

static const char csv_header[] =
    "model,construction,kernel,omega,inputs,layer,approximation_max,construction_max,rounding_max,"
    "native_max,total_max,observed_max,judged_log2,worst_input,logit_error,logit_margin,safety_"
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
        mpfr_printf("  %s %.2Re", name, cell->value);
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
    double tolerance = verify->template->tolerance;
    const OmegaSearch *s = &found->search;
    if (!s->found) {
        printf("no omega meets the tolerance %.3g: the best, %.4g, leaves ", tolerance,
               s->best.omega);
        mpfr_printf("%.2Re\n", s->best.error);
    } else if (s->has_max) {
        printf("omega from %.7g to %.7g meets the tolerance %.3g; the best is %.4g\n", s->min.omega,
               s->max.omega, tolerance, s->best.omega);
    } else {
        printf("omega from %.7g up meets the tolerance %.3g\n", s->min.omega, tolerance);
    }
}

void verify_print_keeping(double omega)
{
    if (isfinite(omega)) {
        printf("omega from %.4g keeps every prediction\n", omega);
    } else {
        printf("no omega keeps every prediction\n");
    }
}

void verify_print_model(const Verify *verify)
{
    static const char *const activations[] = {
        [MODEL_FILE_SILU] = "silu", [MODEL_FILE_RELU] = "relu", [MODEL_FILE_GELU] = "gelu"};
    const ModelFile *model = verify->model;
    printf("%s: %zu layer%s, D = %zu", verify->template->source->path, model->depth,
           model->depth == 1 ? "" : "s", model->d);
    if (model->heads > 0) {
        printf(", %zu heads, scores scaled by %s", model->heads,
               model->scaled ? "1/sqrt(d_head)" : "1");
    }
    if (model->hidden > 0) {
        printf(", H = %zu, %s", model->hidden, activations[model->activation]);
    }
    printf(", mask %s; ", model->causal ? "causal" : "none");
    if (verify->inputs.shards > 1) {
        printf("shard %zu/%zu: ", verify->inputs.shard, verify->inputs.shards);
    }
    printf("%zu input%s of %zu tokens; `%s` in double, %s\n", verify->inputs.count,
           verify->inputs.count == 1 ? "" : "s", verify->inputs.n,
           construction_names[verify->template->spec.construction],
           verify->template->kernel == KERNEL_DENSE ? "dense" : "structured");
}

/* "at omega 20", or, of several, what the verdict says of them. */
static void print_where(const Grid *grid, bool passed)
{
    char text[DECIMAL_TEXT];
    decimal_print(text, grid->points[0].omega);
    for (size_t i = 1; i < grid->count; i++) {
        if (grid->points[i].omega != grid->points[0].omega) {
            printf("at %s omega above", passed ? "every" : "some");
            return;
        }
    }
    printf("at omega %s", text);
}

void verify_print_verdict(const Grid *grid, bool passed)
{
    const Point *point = &grid->points[0];
    printf("verdict: %s ",
           point->judged ? (passed ? "PASS:" : "FAIL:") : (passed ? "evaluated" : "FAIL"));
    print_where(grid, passed);
    if (point->judged) {
        printf(" the error is %s %.3g\n", passed ? "within" : "not within", point->tolerance);
    } else {
        printf(" (no tolerance given)\n");
    }
}
