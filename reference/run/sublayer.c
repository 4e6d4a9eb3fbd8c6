/*
 * One sublayer of a run: what it reads, the stream or its norm, and what it makes of the stream,
 *     x = x + (the sum of its heads),     x = (a direct operation)(x),     x = norm(x).
 */
#include "sublayer.h"

#include "../../cases/model.h"
#include "../numbers/ap.h"

const ApMat *run_norm_record(const RefRun *run)
{
    const Tape *tape = run->known != NULL ? run->known : run->kept;
    return tape != NULL ? &tape->norm[run->next.sublayer] : &run->scratch.norm;
}

static StreamNorm norm_at(RefRun *run, const LayerNorm *norm)
{
    return (StreamNorm){&run->ev, &run->model->layout, norm, run_norm_record(run)};
}

/* to = norm(x), which may be x. */
static void normalise_x(RefRun *run, const LayerNorm *norm, ApMat *to)
{
    const StreamNorm at = norm_at(run, norm);
    norm_record_stream(&at, &run->stream);
    norm_write_stream(&at, &run->stream, to);
}

/* Sets the inputs that the sublayer reads, of x and of e: the streams, or their norm. */
static void read_input(RefRun *run, const LayerNorm *norm)
{
    const StreamNorm at = norm_at(run, norm);
    bool normed = norm->kind != NORMALIZATION_NONE;
    run->input = &run->stream;
    if (normed && run->known == NULL) {
        normalise_x(run, norm, &run->scratch.normed);
        run->input = &run->scratch.normed;
    } else if (normed && run->radius != NULL) {
        norm_write_stream(&at, &run->stream, &run->scratch.normed);
    }
    for (int i = 0; i < run_changes(run); i++) {
        Difference *e = run_change(run, i);
        if (normed) {
            difference_read_normed(&at, e);
        } else {
            e->input = &e->stream;
        }
    }
}

/* x += what the sublayer's heads write, and e the change of that; with that of sublayers beside
 * it. */
static void add_heads(RefRun *run, const Sublayer *sublayer)
{
    if (!sublayer->beside) {
        ap_zero(&run->scratch.delta);
    }
    for (int i = 0; i < run_changes(run) && !sublayer->beside; i++) {
        ap_zero(&run_change(run, i)->delta);
    }
    for (size_t b = 0; b < sublayer->bundle_count;) {
        b += run_bundles(run, &sublayer->bundles[b], sublayer->bundle_count - b);
    }
    if (model_goes_on(run->model, run->next.sublayer)) {
        return;
    }
    if (run->known == NULL) {
        evaluator_add(&run->ev, &run->stream, &run->stream, &run->scratch.delta, 0,
                      run->stream.columns);
    }
    for (int i = 0; i < run_changes(run); i++) {
        Difference *e = run_change(run, i);
        evaluator_add(&run->ev, &e->stream, &e->stream, &e->delta, 0, e->stream.columns);
    }
}

/* x = norm(x), and e. */
static void normalise_stream(RefRun *run, const LayerNorm *norm)
{
    const StreamNorm at = norm_at(run, norm);
    if (run->known == NULL) {
        normalise_x(run, norm, &run->stream);
    }
    for (int i = 0; i < run_changes(run); i++) {
        difference_normalise(&at, run_change(run, i));
    }
}

void run_sublayer(RefRun *run, const Sublayer *sublayer)
{
    if (sublayer->bundle_count == 0 && sublayer->direct.kind == DIRECT_NORM) {
        normalise_stream(run, &sublayer->norm);
        return;
    }
    read_input(run, &sublayer->norm);
    if (sublayer->bundle_count == 0) {
        direct_operate(run, &sublayer->direct, sublayer->beside);
    } else {
        add_heads(run, sublayer);
    }
}
