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

/* result.LAYER.NAME, the file's layers from 0. */
static void add_metadata(const Export *e, const char *name, const char *value)
{
    char key[NAME_MOST];
    snprintf(key, sizeof key, "result.%zu.%s", e->layer - 1, name);
    safetensors_writer_metadata(e->writer, key, value);
}

/* The same; ld: from a token to the next. */
static void add_tensor(const Export *e, const char *name, const double *data, size_t ld)
{
    char key[NAME_MOST];
    const size_t shape[] = {e->n, e->columns.count}, stride[] = {ld, 1};
    snprintf(key, sizeof key, "result.%zu.%s", e->layer - 1, name);
    safetensors_writer_floats(e->writer, key, 2, shape, stride, data);
}

/* The references' results. */
enum { R_T, R_TPRIME, R_TINF, RESULTS };
static const char *const names[] = {"r_T", "r_Tprime", "r_Tinf"};

/* Entry k of one of them, row-major. */
static mpfr_srcptr entry(const Export *e, int result, size_t k)
{
    size_t i = k / e->columns.count, c = k % e->columns.count;
    const RefBase *base = e->base;
    const Layout *layout = &e->shared->pair.converted.layout;
    return result == R_T ? ref_base_original(base, e->layer, i, c)
           : result == R_TINF
               ? ref_base_limit(base, e->layer, i, c)
               : ref_run_entry(e->run, layout_token_row(layout, i), e->columns.first + c);
}

/* A JSON array of every entry, with as many digits as give back its bits. */
static void add_text(const Export *e, int result)
{
    char *text = NULL, key[32];
    size_t length = 0;
    FILE *file = text_stream(&text, &length);
    fputc('[', file);
    snprintf(key, sizeof key, "%s.text", names[result]);
    for (size_t k = 0; k < e->n * e->columns.count; k++) {
        mpfr_fprintf(file, "%s\"%Re\"", k == 0 ? "" : ", ", entry(e, result, k));
    }
    fputc(']', file);
    add_metadata(e, key, text_close(file, &text));
    free(text);
}

static void add_reference(Export *e, int result)
{
    double *data = e->next;
    bool exact = true;
    for (size_t k = 0; k < e->n * e->columns.count; k++) {
        mpfr_srcptr value = entry(e, result, k);
        *e->next++ = mpfr_get_d(value, MPFR_RNDN);
        exact = exact && mpfr_cmp_d(value, data[k]) == 0;
    }
    add_tensor(e, names[result], data, e->columns.count);
    if (!exact) {
        add_text(e, result);
    }
}

/* m(T) is kept as it is, m(T') until the next layer. */
static void add_machine(Export *e)
{
    const Pair *pair = &e->shared->pair;
    size_t content = layout_content(&pair->original.layout), columns = e->columns.count;
    size_t first = e->columns.first;
    const double *original = shared_original(e->shared, e->point) + (e->layer - 1) * e->n * content;
    KernelStream stream = arithmetic_info(e->point->arithmetic)->functions->layer(e->kernel);
    add_tensor(e, "m_T", original + first, content);
    add_tensor(e, "m_Tprime", e->next, columns);
    for (size_t i = 0; i < e->n; i++, e->next += columns) {
        size_t row = layout_token_row(&pair->converted.layout, i);
        memcpy(e->next, stream.data + row * stream.ld + first, columns * sizeof(double));
    }
}

/* The exponent above every radius of the layer's three streams. */
static long largest_error(const Export *e)
{
    const Layout *layout = &e->shared->pair.converted.layout;
    const RefBlock tokens = {layout_token_row(layout, 0), layout->n, e->columns};
    mpfr_t most, base;
    mpfr_inits2(64, most, base, (mpfr_ptr)0);
    ref_run_radius(e->run, RADIUS_STREAM, tokens, (RefRadii){most, NULL});
    ref_base_radius(base, e->base, e->layer);
    mpfr_max(most, most, base, MPFR_RNDU);
    long exponent = mpfr_regular_p(most) ? (long)mpfr_get_exp(most)
                    : mpfr_zero_p(most)  ? (long)mpfr_get_emin()
                                         : (long)mpfr_get_emax();
    mpfr_clears(most, base, (mpfr_ptr)0);
    return exponent;
}

static void add_layer(Export *e)
{
    char text[64];
    ref_run_layer(e->run);
    snprintf(text, sizeof text, "%zu:%zu", e->columns.first, e->columns.first + e->columns.count);
    add_metadata(e, "columns", text);
    snprintf(text, sizeof text, "%ld", largest_error(e));
    add_metadata(e, "error_log2", text);
    for (int result = 0; result < RESULTS; result++) {
        add_reference(e, result);
    }
    if (e->kernel != NULL) {
        add_machine(e);
    }
}

void export_results(Export *e)
{
    const Pair *pair = &e->shared->pair;
    const Point *point = e->point;
    Start start = pair_start(pair, point_omega(point));
    e->n = pair->original.layout.n;
    e->next = e->results;
    e->run = ref_run_open(&start, e->bits);
    if (point->arithmetic != ARITHMETIC_NONE) {
        start = case_start(pair, point->penalty, start.omega);
        e->kernel = arithmetic_open(arithmetic_info(point->arithmetic), &start, point->kernel, 1);
    }
    ref_run_certify(e->run);
    for (e->layer = 1; e->layer <= pair->converted.depth; e->layer++) {
        e->columns = pair->compared[e->layer - 1];
        add_layer(e);
    }
    if (e->kernel != NULL) {
        arithmetic_info(point->arithmetic)->functions->clear(e->kernel);
    }
    ref_run_clear(e->run);
}
