/*
 * The output of `attribute`: rows of terms and the summary for a reader.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_printf */

#include "attribute.h"

#include "../../../memory/need.h"
#include "../../base/decimal.h"
#include "../../base/number.h"
#include "../../base/shown.h"
#include "../../evaluate/verdict.h"
#include "../../table/sink.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const kind_names[PATH_KINDS] = {[PATH_DIRECT] = "direct",
                                                   [PATH_EXTERNAL] = "external",
                                                   [PATH_INTERNAL] = "internal",
                                                   [PATH_BIAS] = "bias"};

void attribute_write_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    fputs(
        "input,tokens,logit,kind,layer,sublayer,head,source,contribution,centred,residual,bound\n",
        file);
}

void attribute_write_rows(FILE *file, const void *text)
{
    fputs(text, file);
}

static void write_number(FILE *file, mpfr_srcptr value)
{
    if (mpfr_zero_p(value)) {
        fputs(",0", file);
    } else {
        mpfr_fprintf(file, ",%.16Re", value);
    }
}

/* input, tokens and logit. */
static void write_key(FILE *file, const Attribution *a, size_t i, size_t v)
{
    size_t n = a->inputs.n;
    fprintf(file, "%zu,", i + 1);
    for (size_t t = 0; a->inputs.tokens != NULL && t < n; t++) {
        fprintf(file, "%s%" PRId64, t == 0 ? "" : " ", a->inputs.tokens[i * n + t]);
    }
    fprintf(file, ",%zu,", v);
}

static void write_count(FILE *file, bool there, size_t value)
{
    fputc(',', file);
    if (there) {
        fprintf(file, "%zu", value);
    }
}

/* Where a term comes from: a token from 0, or the bias row. */
static void write_source(FILE *file, const Layout *layout, size_t row)
{
    if (row == layout_bias_row(layout)) {
        fputs(",bias_row", file);
    } else {
        fprintf(file, ",%zu", row - layout_token_row(layout, 0));
    }
}

void attribute_write_logit(FILE *file, const Attribution *a, size_t i, const LogitSum *logit,
                           mpfr_t *sums, mpfr_t *centred)
{
    const Layout *layout = &a->pair.converted.layout;
    size_t rows = layout_rows(layout), last = layout_token_row(layout, layout->n - 1);
    for (size_t g = 0; g < a->group_count; g++) {
        const RefPath *group = &a->groups[g];
        for (size_t row = 0; row < rows; row++) {
            if (group->single && row != last) {
                continue;
            }
            write_key(file, a, i, logit->v);
            fputs(kind_names[group->kind], file);
            write_count(file, group->layer > 0, group->layer);
            write_count(file, group->layer > 0, group->sublayer);
            write_count(file, group->head > 0, group->head - 1);
            write_source(file, layout, row);
            write_number(file, sums[g * rows + row]);
            write_number(file, centred[g * rows + row]);
            fputs(",,\n", file);
        }
    }
    write_key(file, a, i, logit->v);
    fputs("logit,,,,", file);
    write_number(file, logit->logit);
    write_number(file, logit->centred);
    write_number(file, logit->residual);
    write_number(file, logit->bound);
    fputc('\n', file);
}

void attribute_print_model(const Attribution *a)
{
    size_t heads[PATH_KINDS] = {0};
    char omega[DECIMAL_TEXT];
    FILE *file = output_report(a->options);
    for (size_t p = 0; p < ref_paths_count(a->paths); p++) {
        const RefPath *path = ref_path(a->paths, p);
        const RefPath *before = p > 0 ? ref_path(a->paths, p - 1) : NULL;
        bool same = before != NULL && before->kind == path->kind && before->head == path->head &&
                    before->layer == path->layer && before->sublayer == path->sublayer;
        heads[path->kind] += !same;
    }
    decimal_print(omega, point_omega(a->point));
    fprintf(
        file,
        "%s: %zu layer%s as `%s`, %zu external and %zu internal heads, omega %s; %zu input%s of "
        "%zu tokens%s%s%s\n",
        shown(a->point->source->path).text, a->model->depth, a->model->depth == 1 ? "" : "s",
        construction_names[a->point->spec.construction], heads[PATH_EXTERNAL], heads[PATH_INTERNAL],
        omega, a->inputs.count, a->inputs.count == 1 ? "" : "s", a->inputs.n,
        *a->inputs.of != '\0' ? ", a sample of " : "", a->inputs.of,
        *a->inputs.of != '\0' ? " (--tokens all)" : "");
}

/* Smallest, middle (the lower of two) and largest of values [count]. */
static void print_spread(FILE *file, double *values, size_t count)
{
    qsort(values, count, sizeof *values, number_compare);
    fprintf(file, "  %9.4f %9.4f %9.4f", values[0], values[(count - 1) / 2], values[count - 1]);
}

static void print_residuals(FILE *file, const Attribution *a)
{
    double residual = 0, bound = 0;
    size_t within = 0;
    for (size_t i = 0; i < a->inputs.count; i++) {
        const InputSummary *said = &a->inputs_said[i];
        within += said->within;
        residual = worse(said->residual, residual);
        bound = worse(said->bound, bound);
    }
    fprintf(file,
            "sum of the terms: within its bound of the logit for %zu of %zu inputs; largest "
            "difference %.2e, largest bound %.2e\n",
            within, a->inputs.count, residual, bound);
}

void attribute_print_summary(const Attribution *a)
{
    FILE *file = output_report(a->options);
    size_t count = a->inputs.count;
    double *values = need_zeros(count, sizeof *values);
    print_residuals(file, a);
    fprintf(file, "share of the predicted logit over the mean logit, and of all absolute terms\n"
                  "              min    median       max        min    median       max\n");
    for (int kind = 0; kind < PATH_KINDS; kind++) {
        fprintf(file, "%-9s", kind_names[kind]);
        for (size_t i = 0; i < count; i++) {
            values[i] = a->inputs_said[i].share[kind];
        }
        print_spread(file, values, count);
        for (size_t i = 0; i < count; i++) {
            values[i] = a->inputs_said[i].absolute[kind];
        }
        print_spread(file, values, count);
        fputc('\n', file);
    }
    free(values);
}
