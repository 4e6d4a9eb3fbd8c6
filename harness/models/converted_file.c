/*
 * The attention-only model written as tensors and metadata.
 */
#include "converted_file.h"

#include "../base/message.h"

#include <stdio.h>

enum { NAME_MOST = 64 };

/* A file that is announced. */
typedef struct {
    SafetensorsWriter *writer;
    SharedExtras extras;
    ConvertedEnds ends;
} Announcement;

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
        safetensors_writer_floats(writer, name, 3, tensors[i].shape, tensors[i].data);
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
        safetensors_writer_floats(writer, gamma, 1, shape + 1, norm->gamma);
    }
    if (norm->beta != NULL) {
        safetensors_writer_floats(writer, beta, rows > 0 ? 2 : 1, own, norm->beta);
    }
}

/* The stream; in the shared layout without its position columns. */
static void put_stream(SafetensorsWriter *writer, const PlainModel *plain, bool shared)
{
    size_t columns = shared ? layout_content(&plain->layout) : plain->width;
    const size_t shape[] = {plain->rows, columns}, stride[] = {plain->width, 1};
    safetensors_writer_strided(writer, "X", 2, shape, stride, plain->x);
}

static void put_rotary(SafetensorsWriter *writer, const PlainModel *plain)
{
    const Rotary *rotary = &plain->rotary;
    const size_t shape[] = {rotary->positions, rotary->width / 2};
    if (rotary->width > 0) {
        safetensors_writer_floats(writer, "rotary.cos", 2, shape, rotary->cos);
        safetensors_writer_floats(writer, "rotary.sin", 2, shape, rotary->sin);
    }
}

/* *made is cleared by announcement_clear, whatever this returns. */
static int announce(Announcement *made, Converted *of)
{
    const PlainModel *plain = of->plain;
    bool shared = converted_is_shared(plain);
    *made = (Announcement){.writer = converted_writer(of)};
    converted_ends_make(&made->ends, of, !shared);
    if (shared) {
        shared_heads_put(made->writer, &made->extras, plain);
    }
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        if (!shared) {
            put_heads(made->writer, plain, s);
        }
        put_norm(made->writer, &plain->sublayers[s].norm, s, shared ? 0 : plain->rows);
    }
    safetensors_writer_part(made->writer, SIZE_MAX);
    converted_ends_put(made->writer, &made->ends);
    put_stream(made->writer, plain, shared);
    put_rotary(made->writer, plain);
    return safetensors_writer_status(made->writer);
}

static void announcement_clear(Announcement *made)
{
    safetensors_writer_clear(made->writer);
    converted_ends_clear(&made->ends);
    shared_extras_clear(&made->extras);
}

int converted_file_write(const char *path, Converted *of)
{
    Announcement made;
    const char *fault = converted_said_unlike(of->plain);
    if (fault != NULL) {
        return complain_of(path, NULL, NULL, "%s", fault);
    }
    int status = announce(&made, of);
    status = status != 0 ? status : safetensors_writer_finish(made.writer, path);
    announcement_clear(&made);
    return status;
}

int converted_file_bytes(double *bytes, Converted *of)
{
    Announcement made;
    int status = announce(&made, of);
    *bytes = status == 0 ? (double)safetensors_writer_bytes(made.writer) : 0;
    announcement_clear(&made);
    return status;
}

double converted_file_memory(const Model *model, const ModelFile *file, bool shared)
{
    if (!shared) {
        return converted_ends_bytes(&model->layout, file);
    }
    /* The extra coefficients of Omega as doubles; a pseudo-mask's are the same for all. */
    double entries = (double)layout_rows(&model->layout) * (double)layout_rows(&model->layout);
    const signed char *last = NULL;
    double bytes = 0;
    for (size_t s = 0; s < model->sublayer_count; s++) {
        for (size_t b = 0; b < model->sublayers[s].bundle_count; b++) {
            const Bundle *bundle = &model->sublayers[s].bundles[b];
            bool own = bundle->score.extra_stride > 0;
            bool here = bundle->score.extra != NULL && bundle->score.extra != last;
            double count = here ? (own ? (double)bundle->heads : 1) : 0;
            bytes += count * entries * sizeof(double);
            last = here ? bundle->score.extra : last;
        }
    }
    return bytes;
}
