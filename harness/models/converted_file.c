/*
 * The attention-only model written as tensors and metadata.
 */
#include "converted_file.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 64 };

/* The heads of sublayer s in the plain layout. */
static void put_heads(SafetensorsWriter *writer, const PlainModel *plain, size_t s)
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
    safetensors_writer_part(writer, s);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        char name[NAME_MOST];
        snprintf(name, sizeof name, "blocks.%zu.attn.%s", s, tensors[i].name);
        safetensors_writer_floats(writer, name, 3, tensors[i].shape, NULL, tensors[i].data);
    }
}

/* blocks.{s}.ln.w, and ln.b [D], or [rows, D] where rows are given, of a sublayer with a norm. */
static void put_norm(SafetensorsWriter *writer, const LayerNorm *norm, size_t s, size_t rows)
{
    const size_t shape[] = {rows, norm->columns.count}, *own = rows > 0 ? shape : shape + 1;
    char gamma[NAME_MOST], beta[NAME_MOST];
    snprintf(gamma, sizeof gamma, "blocks.%zu.ln.w", s);
    snprintf(beta, sizeof beta, "blocks.%zu.ln.b", s);
    if (norm->gamma != NULL) {
        safetensors_writer_floats(writer, gamma, 1, shape + 1, NULL, norm->gamma);
    }
    if (norm->beta != NULL) {
        safetensors_writer_floats(writer, beta, rows > 0 ? 2 : 1, own, NULL, norm->beta);
    }
}

/* The stream; in the shared layout without its position columns. */
static void put_stream(SafetensorsWriter *writer, const PlainModel *plain, bool shared)
{
    size_t columns = shared ? layout_content(&plain->layout) : plain->width;
    const size_t shape[] = {plain->rows, columns}, stride[] = {plain->width, 1};
    safetensors_writer_floats(writer, "X", 2, shape, stride, plain->x);
}

static void put_rotary(SafetensorsWriter *writer, const PlainModel *plain)
{
    const Rotary *rotary = &plain->rotary;
    const size_t shape[] = {rotary->positions, rotary->width / 2};
    if (rotary->width > 0) {
        safetensors_writer_floats(writer, "rotary.cos", 2, shape, NULL, rotary->cos);
        safetensors_writer_floats(writer, "rotary.sin", 2, shape, NULL, rotary->sin);
    }
}

/* to [vocabulary + 1, width] */
static void widen_tokens(double *to, const PlainModel *plain, const ModelFile *file)
{
    const Layout *layout = &plain->layout;
    for (size_t v = 0; v < file->vocabulary; v++) {
        memcpy(to + v * plain->width, file->W_E + v * file->d, file->d * sizeof *to);
    }
    memcpy(to + file->vocabulary * plain->width, plain->x + layout_bias_row(layout) * plain->width,
           layout_content(layout) * sizeof *to);
}

/* to [rows, width] */
static void widen_positions(double *to, const PlainModel *plain, const ModelFile *file)
{
    const Layout *layout = &plain->layout;
    for (size_t i = 0; i < layout->n && file->W_pos != NULL; i++) {
        memcpy(to + layout_token_row(layout, i) * plain->width, file->W_pos + i * file->d,
               file->d * sizeof *to);
    }
    for (size_t i = 0; i < plain->rows; i++) {
        to[i * plain->width + layout_content(layout) + i] = 1;
    }
}

/* W_E, W_pos and W_U over all columns of the stream, one after the other, zeros where nothing else
 * is said. */
static double *widen(const PlainModel *plain, const ModelFile *file)
{
    size_t tokens = file->W_E != NULL ? (file->vocabulary + 1) * plain->width : 0;
    size_t positions = file->W_E != NULL ? plain->rows * plain->width : 0;
    size_t d = file->d, classes = file->W_U != NULL ? file->classes : 0;
    double *own = need_zeros(tokens + positions + plain->width * classes + 1, sizeof *own);
    if (file->W_E != NULL) {
        widen_tokens(own, plain, file);
        widen_positions(own + tokens, plain, file);
    }
    for (size_t i = 0; i < d * classes; i++) {
        own[tokens + positions + i] = file->W_U[file->tied ? i % classes * d + i / classes : i];
    }
    return own;
}

/* The tensors before and behind the heads:
 *
 *   embed.W_E [vocabulary, D]   pos_embed.W_pos [N, D]   ln_final.w, ln_final.b [D]
 *   unembed.W_U [D, classes]    unembed.b_U [classes]
 *
 * In the plain layout they are over all columns of the stream, so that W_E[tokens] + W_pos is the
 * stream: W_E has a token more, which is the bias row's content, W_pos [N', D'] every row's one,
 * and W_U [D', classes] zeros behind its rows.  ln_final and b_U are as they were.  A W_pos of more
 * rows is cut to those of the stream.  Returns what has to live until they are written; free it. */
static double *put_ends(SafetensorsWriter *writer, const Converted *of, bool wide)
{
    const ModelFile *file = of->file;
    const PlainModel *plain = of->plain;
    const LayerNorm *final = of->final;
    const bool embeds = file->W_E != NULL, by_class = file->tied && !wide;
    const size_t vocabulary = file->vocabulary + wide, classes = file->classes;
    const size_t rows = wide ? plain->rows : plain->layout.n, width = wide ? plain->width : file->d;
    double *own = wide ? widen(plain, file) : NULL;
    double *positions = wide && embeds ? own + vocabulary * width : file->W_pos;
    double *unembedding = !wide ? file->W_U : embeds ? positions + rows * width : own;
    const struct {
        const char *name;
        const double *data;
        size_t rank, shape[2], stride[2];
    } tensors[] = {
        {"embed.W_E", wide && embeds ? own : file->W_E, 2, {vocabulary, width}, {width, 1}},
        {"pos_embed.W_pos", embeds ? positions : NULL, 2, {rows, width}, {width, 1}},
        {"ln_final.w", final->gamma, 1, {final->columns.count}, {1}},
        {"ln_final.b", final->beta, 1, {final->columns.count}, {1}},
        {"unembed.W_U",
         file->W_U != NULL ? unembedding : NULL,
         2,
         {width, classes},
         {by_class ? 1 : classes, by_class ? width : 1}},
        {"unembed.b_U", file->b_U, 1, {classes}, {1}}};
    if (wide && embeds) {
        char text[32];
        snprintf(text, sizeof text, "%zu", vocabulary - 1);
        safetensors_writer_metadata(writer, "headproof.bias_token", text);
    }
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        if (tensors[i].data != NULL) {
            safetensors_writer_floats(writer, tensors[i].name, tensors[i].rank, tensors[i].shape,
                                      tensors[i].stride, tensors[i].data);
        }
    }
    return own;
}

/* A writer that has been told all of the file; *own is to be freed behind it. */
static SafetensorsWriter *announce(double **own, Converted *of)
{
    const PlainModel *plain = of->plain;
    bool shared = converted_is_shared(plain);
    SafetensorsWriter *writer = converted_writer(of);
    if (shared) {
        shared_heads_put(writer, plain);
    }
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        if (!shared) {
            put_heads(writer, plain, s);
        }
        put_norm(writer, &plain->sublayers[s].norm, s, shared ? 0 : plain->rows);
    }
    safetensors_writer_part(writer, SIZE_MAX);
    *own = put_ends(writer, of, !shared);
    put_stream(writer, plain, shared);
    put_rotary(writer, plain);
    return writer;
}

int converted_file_write(const char *path, Converted *of)
{
    double *own;
    SafetensorsWriter *writer = announce(&own, of);
    int status = safetensors_writer_finish(writer, path);
    safetensors_writer_clear(writer);
    free(own);
    return status;
}

int converted_file_bytes(double *bytes, Converted *of)
{
    double *own;
    SafetensorsWriter *writer = announce(&own, of);
    int status = safetensors_writer_status(writer);
    *bytes = (double)safetensors_writer_bytes(writer);
    safetensors_writer_clear(writer);
    free(own);
    return status;
}

double converted_file_memory(const Layout *layout, const ModelFile *file, bool shared)
{
    double rows = 0; /* of the wide tensors that put_ends makes */
    if (!shared && file->W_E != NULL) {
        rows += (double)file->vocabulary + 1 + (double)layout_rows(layout);
    }
    if (!shared && file->W_U != NULL) {
        rows += (double)file->classes;
    }
    return rows * (double)layout_width(layout) * sizeof(double);
}
