/*
 * The metadata of a converted model's file, whatever its layout.
 */
#include "converted_file.h"

#include "../base/decimal.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "model_stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The longest text below is the sentence about augmenting: 300 characters and 10 numbers. */
enum { TEXT_MOST = 640 };

__attribute__((format(printf, 3, 4))) static void put(SafetensorsWriter *writer, const char *key,
                                                      const char *format, ...)
{
    char text[TEXT_MOST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    safetensors_writer_metadata(writer, key, text);
}

/* A text that was written to a stream. */
static void put_written(SafetensorsWriter *writer, const char *key, FILE *stream, char **text)
{
    safetensors_writer_metadata(writer, key, text_close(stream, text));
    free(*text);
}

bool converted_is_shared(const PlainModel *plain)
{
    return plain->sublayers[0].rank == 0;
}

static void put_augment(SafetensorsWriter *writer, const PlainModel *plain)
{
    size_t first = layout_token_row(&plain->layout, 0), bias = layout_bias_row(&plain->layout);
    size_t d = plain->layout.d, content = layout_content(&plain->layout);
    if (converted_is_shared(plain)) {
        put(writer, "headproof.augment",
            "Rows %zu:%zu are the tokens in order, row %zu is the bias row. Columns 0:%zu of a "
            "token's row are its own; what is behind them, and the bias row, stay as in X.",
            first, first + plain->layout.n, bias, d);
        return;
    }
    put(writer, "headproof.augment",
        "Rows %zu:%zu are the tokens in order, row %zu is the bias row. Columns 0:%zu of a "
        "token's row are its own; columns %zu:%zu of all rows, and columns 0:%zu of the "
        "bias row, stay as in X. Column %zu + i of row i is 1, all others from column %zu "
        "on are 0.",
        first, first + plain->layout.n, bias, d, d, content, content, content, content);
}

/* The first sublayer with a norm; NULL when there is none. */
static const PlainSublayer *first_normed(const PlainModel *plain)
{
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        if (plain->sublayers[s].norm.kind != NORMALIZATION_NONE) {
            return &plain->sublayers[s];
        }
    }
    return NULL;
}

static void put_norms(SafetensorsWriter *writer, const PlainModel *plain)
{
    const PlainSublayer *one = first_normed(plain);
    char eps[DECIMAL_TEXT], *text;
    size_t size;
    if (one == NULL) {
        safetensors_writer_metadata(writer, "normalization", "none");
        return;
    }
    decimal_print(eps, one->norm.eps);
    FILE *columns = text_stream(&text, &size);
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        const LayerNorm *norm = &plain->sublayers[s].norm;
        fputs(s == 0 ? "" : ",", columns);
        if (norm->kind == NORMALIZATION_NONE) {
            putc('-', columns);
        } else {
            fprintf(columns, "%zu:%zu", norm->columns.first,
                    norm->columns.first + norm->columns.count);
        }
    }
    put_written(writer, "headproof.norm_columns", columns, &text);
    put(writer, "normalization", "%s",
        one->norm.kind == NORMALIZATION_RMSNORM ? "rmsnorm" : "layernorm");
    put(writer, "normalization-place", "%s", one->norm_behind ? "post" : "pre");
    put(writer, "eps", "%s", eps);
    put(writer, "headproof.norm_rows", "%zu:%zu", one->norm_first, one->norm_end);
}

/* The formula in words. */
static const char *evaluation(const PlainModel *plain)
{
    const PlainSublayer *one = first_normed(plain);
    if (converted_is_shared(plain)) {
        return "as headproof.heads says, block by block: docs/convert.md of Headproof";
    }
    if (one == NULL) {
        return "X += sum over heads of softmax_rows((X W_Q) (X W_K)^T) X W_V W_O, block by block, "
               "under the mask";
    }
    if (one->norm_behind) {
        return "X += sum over heads of softmax_rows((X W_Q) (X W_K)^T) X W_V W_O, under the mask, "
               "then X[norm_rows, norm_columns] = its norm ln.w + ln.b[norm_rows], block by block";
    }
    return "Y = X but for Y[norm_rows, norm_columns] = its norm ln.w + ln.b[norm_rows], then X += "
           "sum over heads of softmax_rows((Y W_Q) (Y W_K)^T) Y W_V W_O, block by block, under "
           "the mask";
}

void converted_said_sentence(char text[CONVERTED_SENTENCE], const ConvertedSaid *said,
                             size_t tokens)
{
    char tolerance[DECIMAL_TEXT], norm[DECIMAL_TEXT], rows[DECIMAL_TEXT + 32] = "";
    decimal_print(tolerance, said->tolerance);
    if (said->input_norm > 0) {
        decimal_print(norm, said->input_norm);
        snprintf(rows, sizeof rows, ", rows of X no longer than %s", norm);
    }
    snprintf(text, CONVERTED_SENTENCE,
             "for every input of up to %zu token%s%s, no %s is off, in exact arithmetic, by more "
             "than %s from what an infinite Omega would give",
             tokens, tokens == 1 ? "" : "s", rows, said->logits ? "logit" : "entry of the stream",
             tolerance);
}

static void put_guarantee(SafetensorsWriter *writer, const PlainModel *plain,
                          const ConvertedSaid *said)
{
    char sentence[CONVERTED_SENTENCE], tolerance[DECIMAL_TEXT], norm[DECIMAL_TEXT];
    if (said->tolerance == 0) {
        return;
    }
    converted_said_sentence(sentence, said, plain->layout.n);
    decimal_print(tolerance, said->tolerance);
    decimal_print(norm, said->input_norm);
    put(writer, "headproof.guarantee", "%s%s", sentence,
        plain->inexact == NULL ? "" : "; headproof.inexact comes on top");
    put(writer, "headproof.guarantee_tolerance", "%s", tolerance);
    put(writer, "headproof.guarantee_tokens", "%zu", plain->layout.n);
    if (said->input_norm > 0) {
        put(writer, "headproof.guarantee_input_norm", "%s", norm);
    }
}

/* All layers are alike. */
static bool is_parallel(const PlainModel *plain)
{
    return plain->sublayer_count > 1 && plain->sublayers[1].beside;
}

/* Of some models alone. */
static void put_parts(SafetensorsWriter *writer, const PlainModel *plain, const ConvertedSaid *said)
{
    char tau[DECIMAL_TEXT], *text;
    size_t size;
    if (plain->rotary.width > 0) {
        put(writer, "headproof.rotary", plain->rotary.interleaved ? "interleaved" : "half");
        FILE *turned = text_stream(&text, &size);
        for (size_t s = 0; s < plain->sublayer_count; s++) {
            fprintf(turned, "%s%d", s == 0 ? "" : ",", plain->sublayers[s].turned);
        }
        put_written(writer, "headproof.turned", turned, &text);
    }
    if (is_parallel(plain)) {
        FILE *beside = text_stream(&text, &size);
        for (size_t s = 0; s < plain->sublayer_count; s++) {
            fprintf(beside, "%s%d", s == 0 ? "" : ",", plain->sublayers[s].beside);
        }
        put_written(writer, "headproof.beside", beside, &text);
    }
    if (said->readout > 0) {
        decimal_print(tau, said->tau);
        put(writer, "headproof.tau", "%s", tau);
        put(writer, "headproof.readout", "%zu", said->readout);
    }
}

static void put_said(SafetensorsWriter *writer, const PlainModel *plain, const ConvertedSaid *said)
{
    char omega[DECIMAL_TEXT], *text;
    size_t size;
    decimal_print(omega, plain->omega);
    put(writer, "headproof.layout", "%s", converted_is_shared(plain) ? "shared" : "plain");
    if (!converted_is_shared(plain)) {
        put(writer, "scale", "1");
    }
    put(writer, "mask", "%s", plain->sublayers[0].causal ? "causal" : "none");
    put(writer, "activation", "none");
    put(writer, "headproof.form", "%s", said->form);
    put(writer, "headproof.omega", "%s", omega);
    /* The formula, and what else a loader has to do. */
    put(writer, "headproof.evaluate", "%s%s%s", evaluation(plain),
        plain->rotary.width == 0 ? ""
                                 : "; headproof.turned: blocks (1) whose heads' queries and keys "
                                   "rotary.cos and rotary.sin turn",
        is_parallel(plain) ? "; headproof.beside: blocks (1) that read the X that the one before "
                             "reads"
                           : "");
    put(writer, "headproof.exact", "%s", plain->inexact == NULL ? "true" : "false");
    if (plain->inexact != NULL) {
        put(writer, "headproof.inexact", "%s", plain->inexact);
    }
    put_guarantee(writer, plain, said);
    put(writer, "headproof.rows", "%zu", plain->rows);
    put(writer, "headproof.bias_row", "%zu", layout_bias_row(&plain->layout));
    put(writer, "headproof.content", "0:%zu", plain->layout.d);
    FILE *ends = text_stream(&text, &size);
    for (size_t l = 0; l < plain->depth; l++) {
        fprintf(ends, "%s%zu", l == 0 ? "" : ",", plain->layer_end[l]);
    }
    put_written(writer, "headproof.layer_end", ends, &text);
    put_parts(writer, plain, said);
    put_norms(writer, plain);
    put_augment(writer, plain);
}

static int show(void *converted, size_t sublayer)
{
    const Converted *of = converted;
    if (plain_show(of->plain, sublayer)) {
        return 0;
    }
    int fault = model_stream_fault(of->file);
    return fault != 0 ? fault : memory_fault();
}

SafetensorsWriter *converted_writer(Converted *of)
{
    SafetensorsWriter *writer = safetensors_writer_make();
    safetensors_writer_show(writer, show, of);
    put_said(writer, of->plain, of->said);
    char *conditions = model_file_conditions(of->file);
    safetensors_writer_metadata(writer, "headproof.conditions", conditions);
    free(conditions);
    return writer;
}
