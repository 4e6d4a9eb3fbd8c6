/*
 * Norms of weights, kept in a hash table by where the weights are.
 */
#include "norm_table.h"

#include "../../memory/need.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { BUCKETS = 256 };

typedef struct Kept {
    NormKey key;
    MatrixNorms norms;
    struct Kept *next;
} Kept;

struct NormTable {
    pthread_mutex_t lock;
    Kept *bucket[BUCKETS];
};

NormTable *norm_table_make(void)
{
    NormTable *table = need_zeros(1, sizeof *table);
    pthread_mutex_init(&table->lock, NULL);
    return table;
}

void norm_table_clear(NormTable *table)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        while (table->bucket[i] != NULL) {
            Kept *next = table->bucket[i]->next;
            free(table->bucket[i]);
            table->bucket[i] = next;
        }
    }
    pthread_mutex_destroy(&table->lock);
    free(table);
}

static bool same(const NormKey *a, const NormKey *b)
{
    return a->data == b->data && a->rows == b->rows && a->columns == b->columns && a->ld == b->ld &&
           a->parts == b->parts && a->stride == b->stride && a->are == b->are &&
           a->diagonal == b->diagonal && a->coarse == b->coarse;
}

static Kept **bucket_of(NormTable *table, const NormKey *key)
{
    return &table->bucket[(uintptr_t)key->data / sizeof(double) % BUCKETS];
}

static Kept *find(NormTable *table, const NormKey *key)
{
    Kept *kept = *bucket_of(table, key);
    while (kept != NULL && !same(&kept->key, key)) {
        kept = kept->next;
    }
    return kept;
}

bool norm_table_find(MatrixNorms *norms, NormTable *table, const NormKey *key)
{
    if (table == NULL) {
        return false;
    }
    pthread_mutex_lock(&table->lock);
    const Kept *kept = find(table, key);
    if (kept != NULL) {
        *norms = kept->norms;
    }
    pthread_mutex_unlock(&table->lock);
    return kept != NULL;
}

void norm_table_keep(NormTable *table, const NormKey *key, const MatrixNorms *norms)
{
    Kept *kept = table != NULL ? malloc(sizeof *kept) : NULL;
    if (kept == NULL) {
        return;
    }
    pthread_mutex_lock(&table->lock);
    *kept = (Kept){*key, *norms, *bucket_of(table, key)};
    *bucket_of(table, key) = kept;
    pthread_mutex_unlock(&table->lock);
}
