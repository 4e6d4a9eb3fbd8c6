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

/* *ends is cleared whatever this returns. */
static int announce(SafetensorsWriter *writer, ConvertedEnds *ends, const Converted *of)
{
    const PlainModel *plain = of->plain;
    const size_t shape[] = {plain->rows, plain->width};
    converted_ends_make(ends, of, true);
    for (size_t s = 0; s < plain->sublayer_count; s++) {
        safetensors_writer_part(writer, s);
        put_sublayer(writer, plain, s);
        converted_norm_put(writer, &plain->sublayers[s].norm, s, plain->rows);
    }
    safetensors_writer_part(writer, SIZE_MAX);
    converted_ends_put(writer, ends);
    safetensors_writer_floats(writer, "X", 2, shape, plain->x);
    return safetensors_writer_status(writer);
}

int plain_file_write(const char *path, Converted *of)
{
    ConvertedEnds ends = {0};
    const char *fault = converted_said_unlike(of->plain);
    if (fault != NULL) {
        return complain_of(path, NULL, NULL, "%s", fault);
    }
    SafetensorsWriter *writer = converted_writer(of);
    int status = announce(writer, &ends, of);
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
