/*
 * Layers of a pair that come and go, and with them those of the file that their weights are from.
 *
 * A layer that no worker is in stays until another is fetched, so that workers that need it one
 * after the other find it there.
 */
#include "layers.h"

#include "../../memory/need.h"
#include "../base/paged.h"
#include "../base/slots.h"
#include "../models/model_stream.h"

#include <omp.h>
#include <stdlib.h>

struct Layers {
    ModelLayers functions; /* first: a pair's models point to them */
    const Pair *pair;
    CaseSpec spec;
    ModelFile *file; /* NULL: weights are drawn */
    Paged *paged;    /* what the pair has of its own: all that is drawn, or no copy of the file's */
    RefWeights *weights;  /* the family's, which are packed while their layer is there; or NULL */
    pthread_mutex_t lock; /* of what follows */
    bool *there;          /* [depth]: fetched, and not let go since */
    size_t *users;        /* [depth] */
    Slots slots;
};

/* Fetches a layer's numbers, once for all workers that are in it and once while it is there. */
static bool hold(Layers *layers, size_t layer)
{
    if (layers->file != NULL && !model_stream_enter(layers->file, layer)) {
        return false;
    }
    bool ok = paged_enter(layers->paged, layer);
    if (!ok && layers->file != NULL) {
        model_stream_leave(layers->file, layer);
    }
    return ok;
}

static void let_go(Layers *layers, size_t layer)
{
    paged_leave(layers->paged, layer);
    if (layers->file != NULL) {
        model_stream_leave(layers->file, layer);
    }
}

typedef struct {
    const Layers *layers;
    size_t layer;
} Going;

static bool goes(void *context, const double *number)
{
    const Going *going = context;
    const Layers *layers = going->layers;
    return paged_has(layers->paged, going->layer, number) ||
           (layers->file != NULL && model_stream_has(layers->file, going->layer, number));
}

/* Lets go of the layers that nobody is in. */
static void let_idle_go(Layers *layers)
{
    for (size_t layer = 0; layer < layers->spec.depth; layer++) {
        if (layers->there[layer] && layers->users[layer] == 0) {
            layers->there[layer] = false;
            if (layers->weights != NULL) {
                ref_weights_drop(layers->weights, goes, &(Going){layers, layer});
            }
            let_go(layers, layer);
        }
    }
}

static bool enter(ModelLayers *functions, size_t layer)
{
    Layers *layers = (Layers *)functions;
    pthread_mutex_lock(&layers->lock);
    slots_acquire(&layers->slots, layer);
    bool fetch = !layers->there[layer];
    if (fetch) {
        let_idle_go(layers);
    }
    layers->there[layer] = true;
    pthread_mutex_unlock(&layers->lock);
    bool fetched = true;
    if (fetch) { /* on as many threads as there are slots: most that hold one will wait for it */
        int before = omp_get_max_threads(), slots = (int)layers->slots.count;
        omp_set_num_threads(slots > before ? slots : before);
        fetched = hold(layers, layer);
        omp_set_num_threads(before);
    }
    bool ok = fetched && hold(layers, layer);
    if (!ok) {
        pthread_mutex_lock(&layers->lock);
        layers->there[layer] = fetched && layers->there[layer];
        layers->users[layer]--;
        pthread_mutex_unlock(&layers->lock);
    }
    return ok;
}

static void leave(ModelLayers *functions, size_t layer)
{
    Layers *layers = (Layers *)functions;
    let_go(layers, layer);
    pthread_mutex_lock(&layers->lock);
    layers->users[layer]--;
    pthread_mutex_unlock(&layers->lock);
}

void layers_slots(Layers *layers, size_t slots)
{
    slots_set(&layers->slots, slots);
}

void layers_release(Layers *layers)
{
    pthread_mutex_lock(&layers->lock);
    slots_release(&layers->slots);
    pthread_mutex_unlock(&layers->lock);
}

static double *take(ModelLayers *functions, size_t layer, size_t count)
{
    return paged_take(((Layers *)functions)->paged, layer, count);
}

static bool fill(void *context, size_t layer)
{
    const Layers *layers = context;
    case_fill(layers->pair, &layers->spec, layer);
    return true;
}

static bool is_streamed(const ModelSource *source)
{
    return source != NULL && source->file != NULL && source->file->stream != NULL;
}

bool layers_come_and_go(const CaseSpec *spec, const ModelSource *source)
{
    return is_streamed(source) || spec->held > 0;
}

CaseStatus layers_build(Pair *pair, Layers **layers, const CaseSpec *spec,
                        const ModelSource *source, RefWeights *weights)
{
    const char *reason;
    *layers = NULL;
    if (!layers_come_and_go(spec, source)) {
        return case_build(pair, &reason, spec);
    }
    Layers *made = need_zeros(1, sizeof *made);
    *made = (Layers){.functions = {enter, leave, take},
                     .pair = pair,
                     .spec = *spec,
                     .weights = weights,
                     .file = is_streamed(source) ? source->file : NULL,
                     .paged = paged_make(spec->depth, spec->held, fill, made),
                     .there = need_zeros(spec->depth, sizeof *made->there),
                     .users = need_zeros(spec->depth, sizeof *made->users)};
    made->spec.layers = &made->functions;
    pthread_mutex_init(&made->lock, NULL);
    slots_init(&made->slots, &made->lock, made->there, made->users, spec->depth);
    CaseStatus status = case_build(pair, &reason, &made->spec);
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
        let_idle_go(layers);
        slots_destroy(&layers->slots);
        pthread_mutex_destroy(&layers->lock);
        paged_clear(layers->paged);
        free(layers->there);
        free(layers->users);
        free(layers);
    }
}
