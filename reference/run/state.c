/*
 * A run between two layers as bytes: its place, its streams and what has been seen; everything else
 * of it is scratch, or follows from this.
 */
#include "run.h"

void archive_mat(RefArchive *archive, ApMat *m)
{
    for (size_t i = 0; i < m->rows * m->columns && !archive->failed; i++) {
        ref_archive_number(archive, m->entry + i);
    }
}

void archive_run(RefArchive *archive, RefRun *run)
{
    const Model *model = run->model;
    size_t layer = ref_archive_count(archive, run->next.layer, model->depth);
    size_t sublayers = layer == 0 ? 0 : model->layer_end[layer - 1];
    size_t blocks = run->form == REF_DENSE ? 0 : heads_blocks(model, run->ev.bits, sublayers);
    run->next.layer = layer;
    run->next.sublayer = ref_archive_count(archive, run->next.sublayer, sublayers);
    run->next.block = ref_archive_count(archive, run->next.block, blocks);
    ref_archive_expect(archive, run->next.sublayer == sublayers && run->next.block == blocks);
    ref_archive_number(archive, run->ev.score_max);
    ref_archive_expect(archive, mpfr_nan_p(run->ev.score_max) || mpfr_sgn(run->ev.score_max) >= 0);
    archive_mat(archive, &run->stream);
    if (run->radius != NULL) {
        radius_visit(archive, run->radius);
    }
    if (run->witness != NULL) {
        run->astray = ref_archive_flag(archive, run->astray);
        archive_run(archive, run->witness);
    }
    if (run->e != NULL) {
        archive_mat(archive, &run->e->stream);
        if (archive->file == NULL && !archive->failed) {
            difference_end_layer(&run->ev, run->e, &run->stream);
        }
    }
}

void ref_run_visit(RefArchive *archive, void *state)
{
    archive_run(archive, state);
}
