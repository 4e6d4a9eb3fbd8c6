/*
 * The part of an export that holds machine and reference results after every layer.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "results.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MOST 128

/* Where a result's numbers come from. */
typedef mpfr_srcptr Entry(const Export *e, const RefRun *run, size_t layer, size_t i, size_t c);

static mpfr_srcptr original_entry(const Export *e, const RefRun *run, size_t layer, size_t i,
                                  size_t c)
{
    (void)run;
    return ref_base_original(e->shared->base, layer, i, c);
}

static mpfr_srcptr limit_entry(const Export *e, const RefRun *run, size_t layer, size_t i, size_t c)
{
    (void)run;
    return ref_base_limit(e->shared->base, layer, i, c);
}

static mpfr_srcptr converted_entry(const Export *e, const RefRun *run, size_t layer, size_t i,
                                   size_t c)
{
    const Pair *pair = &e->shared->pair;
    size_t row = layout_token_row(&pair->converted.layout, i);
    return ref_run_entry(run, row, pair->compared[layer - 1].first + c);
}

/* "result.LAYER.NAME", the file's layers from 0. */
static void result_name(char text[NAME_MOST], size_t layer, const char *name)
{
    snprintf(text, NAME_MOST, "result.%zu.%s", layer - 1, name);
}

static void add_metadata(Export *e, size_t layer, const char *name, const char *value)
{
    char key[NAME_MOST];
    result_name(key, layer, name);
    safetensors_writer_metadata(e->writer, key, value);
}

static void add_tensor(Export *e, size_t layer, const char *name, const double *data)
{
    char full[NAME_MOST];
    const size_t shape[] = {e->shared->pair.original.layout.n,
                            e->shared->pair.compared[layer - 1].count};
    result_name(full, layer, name);
    safetensors_writer_floats(e->writer, full, 2, shape, data);
}

/* A JSON array of every entry, with as many digits as give back its bits. */
static void add_text(Export *e, const RefRun *run, size_t layer, const char *name, Entry *entry)
{
    size_t n = e->shared->pair.original.layout.n,
           columns = e->shared->pair.compared[layer - 1].count;
    char *text = NULL, key[32];
    size_t length = 0;
    FILE *file = text_stream(&text, &length);
    int failed = file == NULL || fputc('[', file) == EOF;
    snprintf(key, sizeof key, "%s.text", name);
    for (size_t k = 0; k < n * columns && !failed; k++) {
        const char *separator = k == 0 ? "" : ", ";
        failed = mpfr_fprintf(file, "%s\"%Re\"", separator,
                              entry(e, run, layer, k / columns, k % columns)) < 0;
    }
    failed = failed || fputc(']', file) == EOF;
    if (text_close(file, &text, failed) != NULL) {
        add_metadata(e, layer, key, text);
    } else {
        safetensors_writer_lacks(e->writer);
    }
    free(text);
}

static void add_reference(Export *e, const RefRun *run, size_t layer, const char *name,
                          Entry *entry)
{
    size_t n = e->shared->pair.original.layout.n,
           columns = e->shared->pair.compared[layer - 1].count;
    double *data = export_take(e, n * columns);
    bool exact = true;
    if (data == NULL) {
        return;
    }
    for (size_t k = 0; k < n * columns; k++) {
        mpfr_srcptr value = entry(e, run, layer, k / columns, k % columns);
        data[k] = mpfr_get_d(value, MPFR_RNDN);
        exact = exact && mpfr_cmp_d(value, data[k]) == 0;
    }
    add_tensor(e, layer, name, data);
    if (!exact) {
        add_text(e, run, layer, name, entry);
    }
}

/* first: entry (token 0, first compared column) of a machine's stream. */
static void add_machine(Export *e, size_t layer, const char *name, const double *first, size_t ld)
{
    size_t n = e->shared->pair.original.layout.n,
           columns = e->shared->pair.compared[layer - 1].count;
    double *data = export_take(e, n * columns);
    if (data == NULL) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(data + i * columns, first + i * ld, columns * sizeof *data);
    }
    add_tensor(e, layer, name, data);
}

static void add_machines(Export *e, Kernel *kernel, size_t layer)
{
    const Pair *pair = &e->shared->pair;
    size_t content = layout_content(&pair->original.layout), n = pair->original.layout.n;
    size_t column = pair->compared[layer - 1].first;
    const double *original = shared_original(e->shared, e->point) + (layer - 1) * n * content;
    KernelStream stream = arithmetic_info(e->point->arithmetic)->functions->layer(kernel);
    size_t row = layout_token_row(&pair->converted.layout, 0);
    add_machine(e, layer, "m_T", original + column, content);
    add_machine(e, layer, "m_Tprime", stream.data + row * stream.ld + column, stream.ld);
}

/* Which columns, and how exact. */
static void add_facts(Export *e, size_t layer)
{
    Columns columns = e->shared->pair.compared[layer - 1];
    char text[64];
    snprintf(text, sizeof text, "%zu:%zu", columns.first, columns.first + columns.count);
    add_metadata(e, layer, "columns", text);
    snprintf(text, sizeof text, "%ld", (long)ref_plan_error(e->shared->plan, layer, e->bits));
    add_metadata(e, layer, "error_log2", text);
}

static void add_layer(Export *e, RefRun *run, Kernel *kernel, size_t layer)
{
    ref_run_layer(run);
    if (ref_run_failed(run)) {
        safetensors_writer_lacks(e->writer);
        return;
    }
    add_facts(e, layer);
    add_reference(e, run, layer, "r_T", original_entry);
    add_reference(e, run, layer, "r_Tprime", converted_entry);
    add_reference(e, run, layer, "r_Tinf", limit_entry);
    if (kernel != NULL) {
        add_machines(e, kernel, layer);
    }
}

void export_results(Export *e)
{
    const Pair *pair = &e->shared->pair;
    const Point *point = e->point;
    bool machine = point->arithmetic != ARITHMETIC_NONE;
    Kernel *kernel = NULL;
    RefRun *run = ref_run_open(&pair->converted, pair->converted_x, pair->bias_row_content,
                               point_omega(point), e->bits, point->form);
    if (machine) {
        kernel = arithmetic_open(arithmetic_info(point->arithmetic),
                                 case_converted(pair, point->penalty), pair->converted_x,
                                 pair->bias_row_content, point_omega(point), point->kernel, 1);
    }
    if (run == NULL || (machine && kernel == NULL)) {
        safetensors_writer_lacks(e->writer);
    }
    for (size_t l = 0; l < pair->converted.depth && safetensors_writer_status(e->writer) == 0;
         l++) {
        add_layer(e, run, kernel, l + 1);
    }
    if (kernel != NULL) {
        arithmetic_info(point->arithmetic)->functions->clear(kernel);
    }
    ref_run_clear(run);
}
