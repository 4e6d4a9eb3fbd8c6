/*
 * Layers of a pair that come and go, and with them those of the file that their weights are from.
 */
#include "layers.h"

#include "../base/paged.h"
#include "../models/model_stream.h"

#include <stdlib.h>

struct Layers {
    ModelLayers functions; /* first: a pair's models point to them */
    const Pair *pair;
    CaseSpec spec;
    ModelFile *file; /* NULL: weights are drawn */
    Paged *paged;    /* what the pair has of its own: all that is drawn, or no copy of the file's */
};

static bool enter(ModelLayers *functions, size_t layer)
{
    Layers *layers = (Layers *)functions;
    if (layers->file != NULL && !model_stream_enter(layers->file, layer)) {
        return false;
    }
    bool ok = paged_enter(layers->paged, layer);
    if (!ok && layers->file != NULL) {
        model_stream_leave(layers->file, layer);
    }
    return ok;
}

static void leave(ModelLayers *functions, size_t layer)
{
    Layers *layers = (Layers *)functions;
    paged_leave(layers->paged, layer);
    if (layers->file != NULL) {
        model_stream_leave(layers->file, layer);
    }
}

static double *take(ModelLayers *functions, size_t layer, size_t count)
{
    return paged_take(((Layers *)functions)->paged, layer, count);
}

static bool fill(void *context, size_t layer)
{
    const Layers *layers = context;
    return case_fill(layers->pair, &layers->spec, layer);
}

CaseStatus layers_build(Pair *pair, Layers **layers, const CaseSpec *spec,
                        const ModelSource *source)
{
    const char *reason;
    ModelFile *file = source != NULL ? source->file : NULL;
    bool streamed = file != NULL && file->stream != NULL;
    *layers = NULL;
    if (!streamed && spec->held == 0) {
        return case_build(pair, &reason, spec);
    }
    Layers *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return CASE_NO_MEMORY;
    }
    *made = (Layers){.functions = {enter, leave, take},
                     .pair = pair,
                     .spec = *spec,
                     .file = streamed ? file : NULL,
                     .paged = paged_make(spec->depth, spec->held, fill, made)};
    made->spec.layers = &made->functions;
    CaseStatus status =
        made->paged != NULL ? case_build(pair, &reason, &made->spec) : CASE_NO_MEMORY;
    if (status != CASE_OK) {
        layers_clear(made);
        return status;
    }
    *layers = made;
    return CASE_OK;
}

void layers_clear(Layers *layers)
{
    if (layers != NULL) {
        paged_clear(layers->paged);
        free(layers);
    }
}
