/*
 * Weights that are kept: measured and packed once for all products that have them for B.
 */
#include "weights.h"

#include "../../memory/need.h"
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 64 };

typedef struct PackList {
    Pack pack;
    struct PackList *next;
} PackList;

/* One matrix, as lines: what it is, and what is known of it. */
struct KeptOperand {
    ProductView view;
    Operand operand;
    PackList *packs;
    ProductWeights *weights;
    double bytes; /* of the room, without those of its packs */
    struct KeptOperand *next;
};

struct ProductWeights {
    pthread_mutex_t lock; /* of all this; what is in the lists never changes */
    struct KeptOperand *bucket[BUCKETS];
    double room; /* bytes left */
};

ProductWeights *product_weights_make(double bytes)
{
    ProductWeights *weights = need_zeros(1, sizeof *weights);
    weights->room = bytes;
    pthread_mutex_init(&weights->lock, NULL);
    return weights;
}

/* Its room is there again. */
static void kept_free(struct KeptOperand *kept)
{
    kept->weights->room += kept->bytes;
    while (kept->packs != NULL) {
        PackList *next = kept->packs->next;
        kept->weights->room += kept->packs->pack.bytes;
        kept->packs->pack.kept = false;
        pack_clear(&kept->packs->pack);
        free(kept->packs);
        kept->packs = next;
    }
    kept->operand.kept = NULL;
    operand_close(&kept->operand);
    free(kept);
}

void product_weights_clear(ProductWeights *weights)
{
    if (weights == NULL) {
        return;
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        while (weights->bucket[i] != NULL) {
            struct KeptOperand *next = weights->bucket[i]->next;
            kept_free(weights->bucket[i]);
            weights->bucket[i] = next;
        }
    }
    pthread_mutex_destroy(&weights->lock);
    free(weights);
}

void product_weights_drop(ProductWeights *weights, ProductGoes *goes, void *context)
{
    pthread_mutex_lock(&weights->lock);
    for (size_t i = 0; i < BUCKETS; i++) {
        struct KeptOperand *kept = weights->bucket[i], *next;
        weights->bucket[i] = NULL;
        for (; kept != NULL; kept = next) {
            next = kept->next;
            if (goes(context, kept->view.number)) {
                kept_free(kept);
            } else {
                kept->next = weights->bucket[i];
                weights->bucket[i] = kept;
            }
        }
    }
    pthread_mutex_unlock(&weights->lock);
}

static bool same_axis(ProductAxis a, ProductAxis b)
{
    return a.stride == b.stride && a.group == b.group && a.group_stride == b.group_stride;
}

static bool same_view(const ProductView *a, const ProductView *b)
{
    return a->number == b->number && a->rows == b->rows && a->columns == b->columns &&
           same_axis(a->row, b->row) && same_axis(a->column, b->column);
}

static struct KeptOperand **bucket_of(ProductWeights *weights, const ProductView *v)
{
    return &weights->bucket[(uintptr_t)v->number / sizeof *v->number % BUCKETS];
}

static double operand_bytes(const ProductView *v)
{
    double lines = (double)v->rows, depth = (double)v->columns;
    return lines * depth * sizeof(float) + lines * (sizeof(size_t) + OPERAND_LINE_BYTES) +
           depth * sizeof(size_t);
}

/* Takes so many bytes of the room, if they are there. */
static bool take_room(ProductWeights *weights, double bytes)
{
    bool fits = bytes <= weights->room;
    weights->room -= fits ? bytes : 0;
    return fits;
}

static struct KeptOperand *find(ProductWeights *weights, const ProductView *v)
{
    struct KeptOperand *kept = *bucket_of(weights, v);
    while (kept != NULL && !same_view(&kept->view, v)) {
        kept = kept->next;
    }
    return kept;
}

static struct KeptOperand *add(ProductWeights *weights, ProductView v, int threads)
{
    struct KeptOperand *kept = need_zeros(1, sizeof *kept);
    kept->view = v;
    kept->weights = weights;
    kept->bytes = operand_bytes(&v);
    operand_open(&kept->operand, v);
    operand_measure(&kept->operand, threads);
    kept->operand.kept = kept;
    kept->next = *bucket_of(weights, &v);
    *bucket_of(weights, &v) = kept;
    return kept;
}

void kept_operand(Operand *o, ProductWeights *weights, ProductView v, int threads)
{
    pthread_mutex_lock(&weights->lock);
    struct KeptOperand *kept = find(weights, &v);
    if (kept == NULL && take_room(weights, operand_bytes(&v))) {
        kept = add(weights, v, threads);
    }
    if (kept != NULL) {
        *o = kept->operand;
    }
    pthread_mutex_unlock(&weights->lock);
    if (kept == NULL) {
        operand_open(o, v);
        operand_measure(o, threads);
    }
}

static bool same_key(const PackKey *a, const PackKey *b)
{
    return a->digits_a == b->digits_a && a->digits_b == b->digits_b && a->kept == b->kept &&
           a->short_a == b->short_a && a->short_b == b->short_b;
}

/* Puts a pack that has just been made into the list, if there is room; without memory for its place
 * it stays the caller's. */
static void keep(struct KeptOperand *kept, Pack *pack)
{
    PackList *place = take_room(kept->weights, pack->bytes) ? malloc(sizeof *place) : NULL;
    if (place != NULL) {
        pack->kept = true;
        *place = (PackList){*pack, kept->packs};
        kept->packs = place;
    }
}

void kept_pack(Pack *pack, const Operand *o, PackMaker *make, const void *context)
{
    struct KeptOperand *kept = o->kept;
    if (kept == NULL) {
        make(pack, context);
        return;
    }
    pthread_mutex_lock(&kept->weights->lock);
    PackList *place = kept->packs;
    while (place != NULL && !same_key(&place->pack.key, &pack->key)) {
        place = place->next;
    }
    if (place != NULL) {
        *pack = place->pack;
    } else {
        make(pack, context);
        keep(kept, pack);
    }
    pthread_mutex_unlock(&kept->weights->lock);
}

void pack_clear(Pack *pack)
{
    if (!pack->kept) {
        array_free(pack->digit);
        free(pack->correction);
    }
}
