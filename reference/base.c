#include "base.h"
#include "run.h"
#include "state.h"

#include <math.h>
#include <stdlib.h>

/* out = the token rows and given columns of the run's stream. */
static bool store(ApMat *out, const RefRun *run, Columns columns, mpfr_prec_t bits)
{
    const Layout *layout = &run->model->layout;
    if (!ap_init(out, layout->n, columns.count, bits)) {
        return false;
    }
    for (size_t i = 0; i < layout->n; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            mpfr_set(ap_at(out, i, c),
                     ref_run_entry(run, layout_token_row(layout, i), columns.first + c), MPFR_RNDN);
        }
    }
    return true;
}

static bool model_has_scores(const Model *model)
{
    for (size_t s = 0; s < model->sublayer_count; s++) {
        if (model->sublayers[s].bundle_count > 0) {
            return true;
        }
    }
    return false;
}

/* A base that is being made: behind layer `done`. */
typedef struct {
    RefBase *base;
    RefRun *original, *limit;
    const Pair *pair;
    size_t done;
    bool ok;
} Making;

static void making_visit(RefArchive *archive, void *state)
{
    Making *making = state;
    RefBase *base = making->base;
    bool loading = archive->file == NULL;
    ref_archive_bytes(archive, &making->done, sizeof making->done);
    archive_run(archive, making->original);
    archive_run(archive, making->limit);
    archive_mat(archive, &base->score_max);
    for (size_t l = 0; making->ok && l < making->done; l++) {
        size_t n = making->pair->original.layout.n, columns = making->pair->compared[l].count;
        making->ok = !loading || (ap_init(&base->original[l], n, columns, base->bits) &&
                                  ap_init(&base->limit[l], n, columns, base->bits));
        if (making->ok) {
            archive_mat(archive, &base->original[l]);
            archive_mat(archive, &base->limit[l]);
        }
    }
}

RefBase *ref_base_make(const Pair *pair, mpfr_prec_t bits, RefForm form)
{
    return ref_base_make_kept(pair, bits, form, NULL);
}

RefBase *ref_base_make_kept(const Pair *pair, mpfr_prec_t bits, RefForm form,
                            const RefKeeper *keeper)
{
    RefBase *base = calloc(1, sizeof *base);
    if (base == NULL) {
        return NULL;
    }
    base->depth = pair->original.depth;
    base->bits = bits;
    base->has_scores = model_has_scores(&pair->original);
    base->original = calloc(base->depth, sizeof *base->original);
    base->limit = calloc(base->depth, sizeof *base->limit);
    RefRun *original = ref_run_open(&pair->original, pair->original_x, NULL, INFINITY, bits, form);
    RefRun *limit = ref_run_open(&pair->converted, pair->converted_x, pair->bias_row_content,
                                 INFINITY, bits, form);
    bool ok = base->original != NULL && base->limit != NULL && original != NULL && limit != NULL &&
              ap_init(&base->score_max, 1, base->depth, REF_CELL_BITS);
    Making making = {base, original, limit, pair, 0, ok};
    if (ok && ref_keeper_restore(keeper, "base", bits, making_visit, &making)) {
        ok = making.ok;
    }
    for (size_t l = making.done; ok && l < base->depth; l++) {
        ref_run_layer(original);
        ref_run_layer(limit);
        ok = store(&base->original[l], original, pair->compared[l], bits) &&
             store(&base->limit[l], limit, pair->compared[l], bits);
        ok = ok && !ref_run_failed(original) && !ref_run_failed(limit);
        mpfr_set(ap_at(&base->score_max, 0, l), ref_run_score_max(original), MPFR_RNDN);
        making.done = l + 1;
        if (ok) {
            ref_keeper_offer(keeper, "base", bits, making_visit, &making);
        }
    }
    ref_run_clear(original);
    ref_run_clear(limit);
    if (!ok) {
        ref_base_clear(base);
        return NULL;
    }
    return base;
}

void ref_base_clear(RefBase *base)
{
    if (base == NULL) {
        return;
    }
    for (size_t l = 0; l < base->depth; l++) {
        if (base->original != NULL) {
            ap_clear(&base->original[l]);
        }
        if (base->limit != NULL) {
            ap_clear(&base->limit[l]);
        }
    }
    ap_clear(&base->score_max);
    free(base->original);
    free(base->limit);
    free(base);
}

mpfr_prec_t ref_base_bits(const RefBase *base)
{
    return base->bits;
}

mpfr_srcptr ref_base_original(const RefBase *base, size_t layer, size_t i, size_t c)
{
    return ap_at(&base->original[layer - 1], i, c);
}

mpfr_srcptr ref_base_limit(const RefBase *base, size_t layer, size_t i, size_t c)
{
    return ap_at(&base->limit[layer - 1], i, c);
}

mpfr_srcptr ref_base_score_max(const RefBase *base)
{
    return base->has_scores ? ap_at(&base->score_max, 0, base->depth - 1) : NULL;
}

double ref_base_bytes(const Pair *pair, mpfr_prec_t bits)
{
    double bytes = 0;
    for (size_t l = 0; l < pair->original.depth; l++) {
        bytes +=
            2 * ap_bytes((double)pair->original.layout.n, (double)pair->compared[l].count, bits);
    }
    return bytes;
}
