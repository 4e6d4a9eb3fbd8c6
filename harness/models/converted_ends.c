/*
 * The embeddings and the unembedding of a converted model, over the columns that it has.
 */
#include "converted_file.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double converted_ends_bytes(const Layout *layout, const ModelFile *file)
{
    double rows = 0;
    if (file != NULL && file->W_E != NULL) {
        rows += (double)file->vocabulary + 1 + (double)layout_rows(layout);
    }
    if (file != NULL && file->W_U != NULL) {
        rows += (double)file->classes;
    }
    return rows * (double)layout_width(layout) * sizeof(double);
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

/* Makes the wide tensors, zeros where nothing else is said. */
static void widen(ConvertedEnds *ends, const PlainModel *plain, const ModelFile *file)
{
    size_t tokens = file->W_E != NULL ? (file->vocabulary + 1) * plain->width : 0;
    size_t positions = file->W_E != NULL ? plain->rows * plain->width : 0;
    size_t classes = file->W_U != NULL ? plain->width * file->classes : 0;
    ends->own = need_zeros(tokens + positions + classes + 1, sizeof *ends->own);
    if (file->W_E != NULL) {
        widen_tokens(ends->own, plain, file);
        widen_positions(ends->own + tokens, plain, file);
        ends->w_e = ends->own;
        ends->w_pos = ends->own + tokens;
    }
    if (file->W_U != NULL) {
        double *w_u = ends->own + tokens + positions;
        size_t d = file->d, count = file->classes;
        for (size_t i = 0; i < d * count; i++) {
            w_u[i] = file->W_U[file->tied ? i % count * d + i / count : i];
        }
        ends->w_u = w_u;
    }
    ends->vocabulary++;
    ends->rows = plain->rows;
    ends->width = plain->width;
}

void converted_ends_make(ConvertedEnds *ends, const Converted *of, bool wide)
{
    const PlainModel *plain = of->plain;
    const ModelFile *file = of->file;
    *ends = (ConvertedEnds){.final = of->final};
    if (file == NULL) {
        return;
    }
    ends->b_u = file->b_U;
    ends->vocabulary = file->vocabulary;
    ends->rows = plain->layout.n;
    ends->width = file->d;
    ends->classes = file->classes;
    if (wide) {
        widen(ends, plain, file);
        return;
    }
    ends->w_e = file->W_E;
    ends->w_pos = file->W_E != NULL ? file->W_pos : NULL;
    ends->w_u = file->W_U;
    ends->by_class = file->tied;
}

void converted_ends_put(SafetensorsWriter *writer, const ConvertedEnds *ends)
{
    const LayerNorm *final = ends->final;
    const bool by_class = ends->by_class;
    const struct {
        const char *name;
        const double *data;
        size_t rank, shape[2], stride[2];
    } tensors[] = {{"embed.W_E", ends->w_e, 2, {ends->vocabulary, ends->width}, {ends->width, 1}},
                   {"pos_embed.W_pos", ends->w_pos, 2, {ends->rows, ends->width}, {ends->width, 1}},
                   {"ln_final.w", final->gamma, 1, {final->columns.count}, {1}},
                   {"ln_final.b", final->beta, 1, {final->columns.count}, {1}},
                   {"unembed.W_U",
                    ends->w_u,
                    2,
                    {ends->width, ends->classes},
                    {by_class ? 1 : ends->classes, by_class ? ends->width : 1}},
                   {"unembed.b_U", ends->b_u, 1, {ends->classes}, {1}}};
    if (ends->own != NULL && ends->w_e != NULL) {
        char text[32];
        snprintf(text, sizeof text, "%zu", ends->vocabulary - 1);
        safetensors_writer_metadata(writer, "headproof.bias_token", text);
    }
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        if (tensors[i].data != NULL) {
            safetensors_writer_strided(writer, tensors[i].name, tensors[i].rank, tensors[i].shape,
                                       tensors[i].stride, tensors[i].data);
        }
    }
}

void converted_ends_clear(ConvertedEnds *ends)
{
    free(ends->own);
    *ends = (ConvertedEnds){0};
}
