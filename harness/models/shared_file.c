/*
 * The attention-only model written with what its heads share stored once.
 */
#include "shared_file.h"

#include "../base/message.h"
#include "converted_said.h"
#include "shared_heads.h"

#include <stdio.h>

/* A file that is announced. */
typedef struct {
    SafetensorsWriter *writer;
    SharedExtras extras;
    ConvertedEnds ends;
} Announcement;

/* The stream's columns but for the position columns. */
static void put_stream(SafetensorsWriter *writer, const PlainModel *frame)
{
    const size_t shape[] = {frame->rows, layout_content(&frame->layout)};
    const size_t stride[] = {frame->width, 1};
    safetensors_writer_strided(writer, "X", 2, shape, stride, frame->x);
}

/* *made is cleared by announcement_clear, whatever this returns. */
static int announce(Announcement *made, Converted *of)
{
    PlainModel *frame = of->plain;
    *made = (Announcement){.writer = converted_writer(of)};
    converted_ends_make(&made->ends, of, false);
    shared_heads_put(made->writer, &made->extras, frame);
    for (size_t s = 0; s < frame->sublayer_count; s++) {
        converted_norm_put(made->writer, &frame->sublayers[s].norm, s, 0);
    }
    converted_ends_put(made->writer, &made->ends);
    put_stream(made->writer, frame);
    return safetensors_writer_status(made->writer);
}

static void announcement_clear(Announcement *made)
{
    safetensors_writer_clear(made->writer);
    converted_ends_clear(&made->ends);
    shared_extras_clear(&made->extras);
}

int shared_file_write(const char *path, Converted *of)
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

int shared_file_bytes(double *bytes, Converted *of)
{
    Announcement made;
    int status = announce(&made, of);
    *bytes = status == 0 ? (double)safetensors_writer_bytes(made.writer) : 0;
    announcement_clear(&made);
    return status;
}

double shared_file_memory(const Model *model)
{
    double entries = (double)layout_rows(&model->layout) * (double)layout_rows(&model->layout);
    const signed char *last = NULL; /* a pseudo-mask is the same for all */
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
