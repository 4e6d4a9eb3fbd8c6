/*
 * The attention-only model written as tensors and metadata.
 */
#include "plain_file.h"

#include "../base/message.h"
#include "converted_said.h"

#include <stdio.h>

enum { NAME_MOST = 64 };

static void put_sublayer(SafetensorsWriter *writer, const PlainModel *plain, size_t s)
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
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        char name[NAME_MOST];
        snprintf(name, sizeof name, "blocks.%zu.attn.%s", s, tensors[i].name);
        safetensors_writer_floats(writer, name, 3, tensors[i].shape, tensors[i].data);
    }
}

/* Nothing where there is no such tensor. */
static void put_tensor(SafetensorsWriter *writer, const double *data, size_t rank,
                       const size_t *shape, const char *name)
{
    if (data != NULL) {
        safetensors_writer_floats(writer, name, rank, shape, data);
    }
}

static void put_norm(SafetensorsWriter *writer, const PlainModel *plain, size_t s)
{
    const LayerNorm *norm = &plain->sublayers[s].norm;
    const size_t shape[] = {plain->rows, norm->columns.count};
    char gamma[NAME_MOST], beta[NAME_MOST];
    snprintf(gamma, sizeof gamma, "blocks.%zu.ln.w", s);
    snprintf(beta, sizeof beta, "blocks.%zu.ln.b", s);
    put_tensor(writer, norm->gamma, 1, shape + 1, gamma);
    put_tensor(writer, norm->beta, 2, shape, beta);
}

/* *ends is cleared whatever this returns.  NULL: status says why. */
static SafetensorsWriter *announce(int *status, ConvertedEnds *ends, Converted *of,
                                   const LayerNorm *final, const ConvertedSaid *said)
{
    const PlainModel *plain = of->plain;
    const size_t shape[] = {plain->rows, plain->width};
    SafetensorsWriter *writer = safetensors_writer_make();
    *status = writer == NULL ? 99 : converted_ends_make(ends, plain, of->file, final, true);
    if (*status != 0) {
        return writer;
    }
    safetensors_writer_show(writer, converted_show, of);
    converted_said_put(writer, plain, said);
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        safetensors_writer_part(writer, s);
        put_sublayer(writer, plain, s);
        put_norm(writer, plain, s);
    }
    safetensors_writer_part(writer, SIZE_MAX);
    converted_ends_put(writer, ends);
    safetensors_writer_floats(writer, "X", 2, shape, plain->x);
    *status = safetensors_writer_status(writer);
    return writer;
}

int plain_file_write(const char *path, PlainModel *plain, const LayerNorm *final,
                     const ModelFile *file, const ConvertedSaid *said)
{
    ConvertedEnds ends = {0};
    Converted of = {plain, file};
    int status;
    const char *fault = converted_said_unlike(plain);
    if (fault != NULL) {
        return complain_of(path, NULL, NULL, "%s", fault);
    }
    SafetensorsWriter *writer = announce(&status, &ends, &of, final, said);
    status = status == 0 ? safetensors_writer_finish(writer, path) : status;
    safetensors_writer_clear(writer);
    converted_ends_clear(&ends);
    return status;
}

double plain_file_bytes(const PlainModel *plain, const ModelFile *file)
{
    double width = (double)plain->width, entries = (double)plain->rows * width;
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        const PlainSublayer *p = &plain->sublayers[s];
        entries += 4 * (double)p->heads * (double)p->rank * width;
        entries += p->norm.beta != NULL ? (double)plain->rows * (double)p->norm.columns.count : 0;
    }
    return entries * sizeof(double) + converted_ends_bytes(&plain->layout, file, true);
}
