/*
 * The attention-only model written as tensors and metadata.
 */
#include "plain_file.h"

#include "../base/decimal.h"
#include "../base/message.h"
#include "safetensors_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The longest text below is the sentence about augmenting: 300 characters and 10 numbers. */
enum { TEXT_MOST = 640, NAME_MOST = 64, NUMBER_MOST = 21 };

__attribute__((format(printf, 3, 4))) static int put(SafetensorsWriter *writer, const char *key,
                                                     const char *format, ...)
{
    char text[TEXT_MOST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return safetensors_writer_metadata(writer, key, text);
}

static int put_layer_end(SafetensorsWriter *writer, const PlainModel *plain)
{
    size_t size = plain->depth * (NUMBER_MOST + 1) + 1, used = 0;
    char *text = malloc(size);
    if (text == NULL) {
        return memory_fault();
    }
    for (size_t l = 0; l < plain->depth; l++) {
        used += (size_t)snprintf(text + used, size - used, "%s%zu", l == 0 ? "" : ",",
                                 plain->layer_end[l]);
    }
    int status = safetensors_writer_metadata(writer, "headproof.layer_end", text);
    free(text);
    return status;
}

static int put_augment(SafetensorsWriter *writer, const PlainModel *plain)
{
    size_t first = layout_token_row(&plain->layout, 0), bias = layout_bias_row(&plain->layout);
    size_t d = plain->layout.d, content = layout_content(&plain->layout);
    return put(writer, "headproof.augment",
               "Rows %zu:%zu are the tokens in order, row %zu is the bias row. Columns 0:%zu of a "
               "token's row are its own; columns %zu:%zu of all rows, and columns 0:%zu of the "
               "bias row, stay as in X. Column %zu + i of row i is 1, all others from column %zu "
               "on are 0.",
               first, first + plain->layout.n, bias, d, d, content, content, content, content);
}

static int put_metadata(SafetensorsWriter *writer, const PlainModel *plain, const char *form)
{
    char omega[DECIMAL_TEXT];
    decimal_print(omega, plain->omega);
    const char *mask = plain->sublayers[0].causal ? "causal" : "none";
    const char *const pairs[][2] = {
        {"scale", "1"},
        {"mask", mask},
        {"activation", "none"},
        {"normalization", "none"},
        {"headproof.form", form},
        {"headproof.omega", omega},
        {"headproof.evaluate", "X += sum over heads of "
                               "softmax_rows((X W_Q) (X W_K)^T) X W_V W_O, block by block, under "
                               "the mask"},
        {"headproof.exact", plain->inexact == NULL ? "true" : "false"},
        {"headproof.inexact", plain->inexact}};
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof pairs / sizeof *pairs; i++) {
        if (pairs[i][1] != NULL) {
            status = safetensors_writer_metadata(writer, pairs[i][0], pairs[i][1]);
        }
    }
    if (status == 0) {
        status = put(writer, "headproof.rows", "%zu", plain->rows);
    }
    if (status == 0) {
        status = put(writer, "headproof.bias_row", "%zu", layout_bias_row(&plain->layout));
    }
    if (status == 0) {
        status = put(writer, "headproof.content", "0:%zu", plain->layout.d);
    }
    if (status == 0) {
        status = put_layer_end(writer, plain);
    }
    return status == 0 ? put_augment(writer, plain) : status;
}

static int put_sublayer(SafetensorsWriter *writer, const PlainModel *plain, size_t s)
{
    const PlainSublayer *p = &plain->sublayers[s];
    const struct {
        const char *name;
        const double *data;
        size_t shape[3];
    } tensors[] = {{"W_Q", p->w_q, {p->heads, plain->width, p->rank}},
                   {"W_K", p->w_k, {p->heads, plain->width, p->rank}},
                   {"W_V", p->w_v, {p->heads, plain->width, p->rank}},
                   {"W_O", p->w_o, {p->heads, p->rank, plain->width}}};
    int status = 0;
    for (size_t i = 0; status == 0 && i < sizeof tensors / sizeof *tensors; i++) {
        char name[NAME_MOST];
        snprintf(name, sizeof name, "blocks.%zu.attn.%s", s, tensors[i].name);
        status = safetensors_writer_floats(writer, name, 3, tensors[i].shape, tensors[i].data);
    }
    return status;
}

static int put_all(SafetensorsWriter *writer, const PlainModel *plain, const char *form)
{
    const size_t shape[] = {plain->rows, plain->width};
    int status = put_metadata(writer, plain, form);
    for (size_t s = 0; status == 0 && s < plain->sublayer_count; s++) {
        status = put_sublayer(writer, plain, s);
    }
    return status == 0 ? safetensors_writer_floats(writer, "X", 2, shape, plain->x) : status;
}

int plain_file_write(const char *path, const PlainModel *plain, const char *form)
{
    for (size_t s = 1; s < plain->sublayer_count; s++) {
        if (plain->sublayers[s].causal != plain->sublayers[0].causal) {
            complain_of(path, NULL, NULL, "expected one mask for all sublayers");
            return 2;
        }
    }
    SafetensorsWriter *writer = safetensors_writer_make();
    if (writer == NULL) {
        return 99;
    }
    int status = put_all(writer, plain, form);
    if (status == 0) {
        status = safetensors_writer_finish(writer, path);
    }
    safetensors_writer_clear(writer);
    return status;
}
