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
 * machine's.  next: the place of the next result that is copied. */
typedef struct {
    const Export *e;
    RefRun *run;
    Kernel *kernel;
    size_t layer, n;
    Columns columns;
    double *next;
} Results;

/* result.LAYER.NAME, the file's layers from 0. */
static void add_metadata(const Results *results, const char *name, const char *value)
{
    char key[NAME_MOST];
    snprintf(key, sizeof key, "result.%zu.%s", results->layer - 1, name);
    safetensors_writer_metadata(results->e->writer, key, value);
}

/* The same; ld: from a token to the next. */
static void add_tensor(const Results *results, const char *name, const double *data, size_t ld)
{
    char key[NAME_MOST];
    const size_t shape[] = {results->n, results->columns.count}, stride[] = {ld, 1};
    snprintf(key, sizeof key, "result.%zu.%s", results->layer - 1, name);
    safetensors_writer_floats(results->e->writer, key, 2, shape, stride, data);
}

/* The references' results. */
enum { R_T, R_TPRIME, R_TINF, RESULTS };
static const char *const names[] = {"r_T", "r_Tprime", "r_Tinf"};

/* Entry k of one of them, row-major. */
static mpfr_srcptr entry(const Results *results, int result, size_t k)
{
    size_t i = k / results->columns.count, c = k % results->columns.count;
    const RefBase *base = results->e->base;
    const Layout *layout = &results->e->shared->pair.converted.layout;
    return result == R_T      ? ref_base_original(base, results->layer, i, c)
           : result == R_TINF ? ref_base_limit(base, results->layer, i, c)
                              : ref_run_entry(results->run, layout_token_row(layout, i),
                                              results->columns.first + c);
}

/* A JSON array of every entry, with as many digits as give back its bits. */
static void add_text(const Results *results, int result)
{
    char *text = NULL, key[32];
    size_t length = 0;
    FILE *file = text_stream(&text, &length);
    fputc('[', file);
    snprintf(key, sizeof key, "%s.text", names[result]);
    for (size_t k = 0; k < results->n * results->columns.count; k++) {
        mpfr_fprintf(file, "%s\"%Re\"", k == 0 ? "" : ", ", entry(results, result, k));
    }
    fputc(']', file);
    add_metadata(results, key, text_close(file, &text));
    free(text);
}

static void add_reference(Results *results, int result)
{
    double *data = results->next;
    bool exact = true;
    for (size_t k = 0; k < results->n * results->columns.count; k++) {
        mpfr_srcptr value = entry(results, result, k);
        *results->next++ = mpfr_get_d(value, MPFR_RNDN);
        exact = exact && mpfr_cmp_d(value, data[k]) == 0;
    }
    add_tensor(results, names[result], data, results->columns.count);
    if (!exact) {
        add_text(results, result);
    }
}

/* m(T) is kept as it is, m(T') until the next layer. */
static void add_machine(Results *results)
{
    const Export *e = results->e;
    const Pair *pair = &e->shared->pair;
    size_t content = layout_content(&pair->original.layout), columns = results->columns.count;
    size_t first = results->columns.first;
    const double *original =
        shared_original(e->shared, e->point) + (results->layer - 1) * results->n * content;
    KernelStream stream = arithmetic_info(e->point->arithmetic)->functions->layer(results->kernel);
    add_tensor(results, "m_T", original + first, content);
    add_tensor(results, "m_Tprime", results->next, columns);
    for (size_t i = 0; i < results->n; i++, results->next += columns) {
        size_t row = layout_token_row(&pair->converted.layout, i);
        memcpy(results->next, stream.data + row * stream.ld + first, columns * sizeof(double));
    }
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

static void add_layer(Results *results)
{
    char text[64];
    ref_run_layer(results->run);
    snprintf(text, sizeof text, "%zu:%zu", results->columns.first,
             results->columns.first + results->columns.count);
    add_metadata(results, "columns", text);
    snprintf(text, sizeof text, "%ld", largest_error(results));
    add_metadata(results, "error_log2", text);
    for (int result = 0; result < RESULTS; result++) {
        add_reference(results, result);
    }
    if (results->kernel != NULL) {
        add_machine(results);
    }
}

void export_results(Export *e)
{
    const Pair *pair = &e->shared->pair;
    const Point *point = e->point;
    Results results = {.e = e, .n = pair->original.layout.n, .next = e->results};
    Start start = pair_start(pair, point_omega(point));
    results.run = ref_run_open(&start, e->bits);
    if (point->arithmetic != ARITHMETIC_NONE) {
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
