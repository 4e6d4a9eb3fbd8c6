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
enum { TEXT_MOST = 640, NAME_MOST = 64 };

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

/* A list with an item for each of count, which item prints into NAME_MOST bytes. */
static int put_list(SafetensorsWriter *writer, const char *key, const PlainModel *plain,
                    size_t count, void (*item)(char *text, const PlainModel *plain, size_t i))
{
    size_t size = count * (NAME_MOST + 1) + 1, used = 0;
    char *text = malloc(size);
    if (text == NULL) {
        return memory_fault();
    }
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char one[NAME_MOST];
        item(one, plain, i);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ",", one);
    }
    int status = safetensors_writer_metadata(writer, key, text);
    free(text);
    return status;
}

static void layer_end(char *text, const PlainModel *plain, size_t l)
{
    snprintf(text, NAME_MOST, "%zu", plain->layer_end[l]);
}

static void norm_columns(char *text, const PlainModel *plain, size_t s)
{
    const LayerNorm *norm = &plain->sublayers[s].norm;
    if (norm->kind == NORMALIZATION_NONE) {
        snprintf(text, NAME_MOST, "-");
    } else {
        snprintf(text, NAME_MOST, "%zu:%zu", norm->columns.first,
                 norm->columns.first + norm->columns.count);
    }
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

static int put_norms(SafetensorsWriter *writer, const PlainModel *plain)
{
    const PlainSublayer *one = first_normed(plain);
    char eps[DECIMAL_TEXT];
    if (one == NULL) {
        return safetensors_writer_metadata(writer, "normalization", "none");
    }
    decimal_print(eps, one->norm.eps);
    const char *const pairs[][2] = {
        {"normalization", one->norm.kind == NORMALIZATION_RMSNORM ? "rmsnorm" : "layernorm"},
        {"normalization-place", one->norm_behind ? "post" : "pre"},
        {"eps", eps}};
    int status =
        put_list(writer, "headproof.norm_columns", plain, plain->sublayer_count, norm_columns);
    for (size_t i = 0; status == 0 && i < sizeof pairs / sizeof *pairs; i++) {
        status = safetensors_writer_metadata(writer, pairs[i][0], pairs[i][1]);
    }
    return status != 0
               ? status
               : put(writer, "headproof.norm_rows", "%zu:%zu", one->norm_first, one->norm_end);
}

/* The formula in words. */
static const char *evaluation(const PlainModel *plain)
{
    const PlainSublayer *one = first_normed(plain);
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

static int put_metadata(SafetensorsWriter *writer, const PlainModel *plain, const char *form)
{
    char omega[DECIMAL_TEXT];
    decimal_print(omega, plain->omega);
    const char *mask = plain->sublayers[0].causal ? "causal" : "none";
    const char *const pairs[][2] = {{"scale", "1"},
                                    {"mask", mask},
                                    {"activation", "none"},
                                    {"headproof.form", form},
                                    {"headproof.omega", omega},
                                    {"headproof.evaluate", evaluation(plain)},
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
        status = put_list(writer, "headproof.layer_end", plain, plain->depth, layer_end);
    }
    if (status == 0) {
        status = put_norms(writer, plain);
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

/* Nothing where there is no such tensor. */
static int put_tensor(SafetensorsWriter *writer, const double *data, size_t rank,
                      const size_t *shape, const char *name)
{
    return data == NULL ? 0 : safetensors_writer_floats(writer, name, rank, shape, data);
}

static int put_norm(SafetensorsWriter *writer, const PlainModel *plain, size_t s)
{
    const LayerNorm *norm = &plain->sublayers[s].norm;
    const size_t shape[] = {plain->rows, norm->columns.count};
    char gamma[NAME_MOST], beta[NAME_MOST];
    snprintf(gamma, sizeof gamma, "blocks.%zu.ln.w", s);
    snprintf(beta, sizeof beta, "blocks.%zu.ln.b", s);
    int status = put_tensor(writer, norm->gamma, 1, shape + 1, gamma);
    return status == 0 ? put_tensor(writer, norm->beta, 2, shape, beta) : status;
}

static int put_final_norm(SafetensorsWriter *writer, const LayerNorm *norm)
{
    int status = put_tensor(writer, norm->gamma, 1, &norm->columns.count, "ln_final.w");
    return status != 0 ? status
                       : put_tensor(writer, norm->beta, 1, &norm->columns.count, "ln_final.b");
}

static int put_all(SafetensorsWriter *writer, const PlainModel *plain, const LayerNorm *final,
                   const char *form)
{
    const size_t shape[] = {plain->rows, plain->width};
    int status = put_metadata(writer, plain, form);
    for (size_t s = 0; status == 0 && s < plain->sublayer_count; s++) {
        status = put_sublayer(writer, plain, s);
        status = status == 0 ? put_norm(writer, plain, s) : status;
    }
    if (status == 0) {
        status = put_final_norm(writer, final);
    }
    return status == 0 ? safetensors_writer_floats(writer, "X", 2, shape, plain->x) : status;
}

/* What all sublayers must have in common, as the metadata say it once; NULL when they have. */
static const char *unlike(const PlainModel *plain)
{
    const PlainSublayer *one = first_normed(plain);
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        const PlainSublayer *p = &plain->sublayers[s];
        if (p->causal != plain->sublayers[0].causal) {
            return "expected one mask for all sublayers";
        }
        if (p->norm.kind != NORMALIZATION_NONE &&
            (p->norm.kind != one->norm.kind || p->norm.eps != one->norm.eps ||
             p->norm_behind != one->norm_behind || p->norm_first != one->norm_first ||
             p->norm_end != one->norm_end)) {
            return "expected norms of one kind, with one eps, for all sublayers";
        }
    }
    return NULL;
}

int plain_file_write(const char *path, const PlainModel *plain, const LayerNorm *final,
                     const char *form)
{
    const char *fault = unlike(plain);
    if (fault != NULL) {
        complain_of(path, NULL, NULL, "%s", fault);
        return 2;
    }
    SafetensorsWriter *writer = safetensors_writer_make();
    if (writer == NULL) {
        return 99;
    }
    int status = put_all(writer, plain, final, form);
    if (status == 0) {
        status = safetensors_writer_finish(writer, path);
    }
    safetensors_writer_clear(writer);
    return status;
}
