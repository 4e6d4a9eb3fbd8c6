/*
 * One sublayer of a run: what it reads, the stream or its norm, and what it makes of the stream,
 *     x = x + (the sum of its heads),     x = (a direct operation)(x),     x = norm(x).
 */
#include "sublayer.h"

#include "bundle.h"
#include "dense_norm.h"
#include "direct.h"

/* to = norm(x), which may be x. */
static void normalise_x(RefRun *run, const LayerNorm *norm, ApMat *to)
{
    const Layout *layout = &run->model->layout;
    NormRecord *record =
        run->kept != NULL ? &run->kept->norm[run->next.sublayer] : &run->scratch.norm;
    if (run->form == REF_DENSE) {
        dense_norm(layout, norm, &run->stream, to);
        return;
    }
    norm_record_stream(&run->ev, layout, norm, &run->stream, record);
    norm_write_stream(&run->ev, layout, norm, record, &run->stream, to);
}

const NormRecord *run_norm_record(const RefRun *run)
{
    const Tape *tape = run->known != NULL ? run->known : run->kept;
    return tape != NULL ? &tape->norm[run->next.sublayer] : &run->scratch.norm;
}

/* Sets the inputs that the sublayer reads, of x and of e: the streams, or their norm. */
static void read_input(RefRun *run, const LayerNorm *norm)
{
    bool normed = norm->kind != NORMALIZATION_NONE;
    run->input = &run->stream;
    if (normed && run->known == NULL) {
        normalise_x(run, norm, &run->scratch.normed);
        run->input = &run->scratch.normed;
    } else if (normed && run->radius != NULL) {
        norm_write_stream(&run->ev, &run->model->layout, norm, run_norm_record(run), &run->stream,
                          &run->scratch.normed);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        Difference *e = run_change(run, i);
        if (e != NULL && normed) {
            difference_read_normed(&run->ev, &run->model->layout, norm, run_norm_record(run), e);
        } else if (e != NULL) {
            e->input = &e->stream;
        }
    }
}

/* x += what the sublayer's heads write, and e the change of that. */
static void add_heads(RefRun *run, const Sublayer *sublayer)
{
    ap_zero(&run->scratch.delta);
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_begin(run_change(run, i));
        }
    }
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        Heads all = {&run->model->layout, bundle, 0, bundle->heads, run->limit};
        if (run->form == REF_DENSE) {
            dense_add(&run->ev, &all, run->input, &run->scratch.dense, &run->scratch.delta);
        } else {
            run_bundle(run, bundle);
        }
    }
    if (run->known == NULL) {
        evaluator_add(&run->ev, &run->stream, &run->stream, &run->scratch.delta);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        if (run_change(run, i) != NULL) {
            difference_end(&run->ev, run_change(run, i));
        }
    }
}

/* x = norm(x), and e. */
static void normalise_stream(RefRun *run, const LayerNorm *norm)
{
    if (run->known == NULL) {
        normalise_x(run, norm, &run->stream);
    }
    for (int i = 0; i < RUN_CHANGES; i++) {
        Difference *e = run_change(run, i);
        if (e != NULL) {
            difference_normalise(&run->ev, &run->model->layout, norm, run_norm_record(run), e);
        }
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
        direct_operate(&run->ev, &sublayer->direct, run->input, &run->stream, &run->scratch.delta,
                       &run->scratch.record.part[HEADS_PART]);
    } else {
        add_heads(run, sublayer);
    }
}
