/*
 * The part of an export that holds machine and reference results after every layer.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "export.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MOST 128

/* The evaluations, and the layer that they are at: n tokens, the columns compared.  kernel NULL: no
 * machine's. */
typedef struct {
    Export *e;
    RefRun *run;
    Kernel *kernel;
    size_t layer, n;
    Columns columns;
} Results;

/* Where a result's numbers come from. */
typedef mpfr_srcptr Entry(const Results *results, size_t i, size_t c);

static mpfr_srcptr original_entry(const Results *results, size_t i, size_t c)
{
    return ref_base_original(results->e->base, results->layer, i, c);
}

static mpfr_srcptr limit_entry(const Results *results, size_t i, size_t c)
{
    return ref_base_limit(results->e->base, results->layer, i, c);
}

static mpfr_srcptr converted_entry(const Results *results, size_t i, size_t c)
{
    size_t row = layout_token_row(&results->e->shared->pair.converted.layout, i);
    return ref_run_entry(results->run, row, results->columns.first + c);
}

/* "result.LAYER.NAME", the file's layers from 0. */
static void result_name(char text[NAME_MOST], const Results *results, const char *name)
{
    snprintf(text, NAME_MOST, "result.%zu.%s", results->layer - 1, name);
}

static void add_metadata(const Results *results, const char *name, const char *value)
{
    char key[NAME_MOST];
    result_name(key, results, name);
    safetensors_writer_metadata(results->e->writer, key, value);
}

static void add_tensor(const Results *results, const char *name, const double *data)
{
    char full[NAME_MOST];
    const size_t shape[] = {results->n, results->columns.count};
    result_name(full, results, name);
    safetensors_writer_floats(results->e->writer, full, 2, shape, data);
}

/* A JSON array of every entry, with as many digits as give back its bits. */
static void add_text(const Results *results, const char *name, Entry *entry)
{
    size_t columns = results->columns.count;
    char *text = NULL, key[32];
    size_t length = 0;
    FILE *file = text_stream(&text, &length);
    fputc('[', file);
    snprintf(key, sizeof key, "%s.text", name);
    for (size_t k = 0; k < results->n * columns; k++) {
        const char *separator = k == 0 ? "" : ", ";
        mpfr_fprintf(file, "%s\"%Re\"", separator, entry(results, k / columns, k % columns));
    }
    fputc(']', file);
    add_metadata(results, key, text_close(file, &text));
    free(text);
}

static void add_reference(const Results *results, const char *name, Entry *entry)
{
    size_t columns = results->columns.count;
    double *data = export_take(results->e, results->n * columns);
    bool exact = true;
    for (size_t k = 0; k < results->n * columns; k++) {
        mpfr_srcptr value = entry(results, k / columns, k % columns);
        data[k] = mpfr_get_d(value, MPFR_RNDN);
        exact = exact && mpfr_cmp_d(value, data[k]) == 0;
    }
    add_tensor(results, name, data);
    if (!exact) {
        add_text(results, name, entry);
    }
}

/* first: entry (token 0, first compared column) of a machine's stream. */
static void add_machine(const Results *results, const char *name, const double *first, size_t ld)
{
    size_t columns = results->columns.count;
    double *data = export_take(results->e, results->n * columns);
    for (size_t i = 0; i < results->n; i++) {
        memcpy(data + i * columns, first + i * ld, columns * sizeof *data);
    }
    add_tensor(results, name, data);
}

/* The exponent above every radius of the layer's three streams. */
static long largest_error(const Results *results)
{
    const Layout *layout = &results->e->shared->pair.converted.layout;
    const RefBlock tokens = {layout_token_row(layout, 0), layout->n, results->columns};
    mpfr_t most, base;
    mpfr_inits2(64, most, base, (mpfr_ptr)0);
    ref_run_radius(results->run, RADIUS_STREAM, tokens, (RefRadii){most, NULL});
    ref_base_radius(base, results->e->base, results->layer);
    mpfr_max(most, most, base, MPFR_RNDU);
    long exponent = mpfr_regular_p(most) ? (long)mpfr_get_exp(most)
                    : mpfr_zero_p(most)  ? (long)mpfr_get_emin()
                                         : (long)mpfr_get_emax();
    mpfr_clears(most, base, (mpfr_ptr)0);
    return exponent;
}

static void add_layer(const Results *results)
{
    Columns columns = results->columns;
    const Export *e = results->e;
    const Pair *pair = &e->shared->pair;
    char text[64];
    ref_run_layer(results->run);
    snprintf(text, sizeof text, "%zu:%zu", columns.first, columns.first + columns.count);
    add_metadata(results, "columns", text);
    snprintf(text, sizeof text, "%ld", largest_error(results));
    add_metadata(results, "error_log2", text);
    add_reference(results, "r_T", original_entry);
    add_reference(results, "r_Tprime", converted_entry);
    add_reference(results, "r_Tinf", limit_entry);
    if (results->kernel != NULL) {
        size_t content = layout_content(&pair->original.layout), first = columns.first;
        const double *original =
            shared_original(e->shared, e->point) + (results->layer - 1) * results->n * content;
        KernelStream stream =
            arithmetic_info(e->point->arithmetic)->functions->layer(results->kernel);
        size_t row = layout_token_row(&pair->converted.layout, 0);
        add_machine(results, "m_T", original + first, content);
        add_machine(results, "m_Tprime", stream.data + row * stream.ld + first, stream.ld);
    }
}

void export_results(Export *e)
{
    const Pair *pair = &e->shared->pair;
    const Point *point = e->point;
    bool machine = point->arithmetic != ARITHMETIC_NONE;
    Results results = {.e = e, .n = pair->original.layout.n};
    Start start = pair_start(pair, point_omega(point));
    results.run = ref_run_open(&start, e->bits);
    if (machine) {
        start = case_start(pair, point->penalty, start.omega);
        results.kernel =
            arithmetic_open(arithmetic_info(point->arithmetic), &start, point->kernel, 1);
    }
    ref_run_certify(results.run);
    for (size_t l = 0; l < pair->converted.depth; l++) {
        results.layer = l + 1;
        results.columns = pair->compared[l];
        add_layer(&results);
    }
    if (results.kernel != NULL) {
        arithmetic_info(point->arithmetic)->functions->clear(results.kernel);
    }
    ref_run_clear(results.run);
}
