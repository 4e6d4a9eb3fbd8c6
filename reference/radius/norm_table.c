/*
 * Norms of weights, kept in a list.
 */
#include "norm_table.h"

#include "../../memory/need.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct Kept {
    NormKey key;
    MatrixNorms norms;
    struct Kept *next;
} Kept;

struct NormTable {
    pthread_mutex_t lock;
    Kept *first;
};

NormTable *norm_table_make(void)
{
    NormTable *table = need_zeros(1, sizeof *table);
    pthread_mutex_init(&table->lock, NULL);
    return table;
}

void norm_table_clear(NormTable *table)
{
    while (table->first != NULL) {
        Kept *next = table->first->next;
        free(table->first);
        table->first = next;
    }
    pthread_mutex_destroy(&table->lock);
    free(table);
}

static bool same(const NormKey *a, const NormKey *b)
{
    return a->data == b->data && a->rows == b->rows && a->columns == b->columns && a->ld == b->ld &&
           a->parts == b->parts && a->stride == b->stride && a->are == b->are &&
           a->coarse == b->coarse;
}

bool norm_table_find(MatrixNorms *norms, NormTable *table, const NormKey *key)
{
    if (table == NULL) {
        return false;
    }
    pthread_mutex_lock(&table->lock);
    const Kept *kept = table->first;
    while (kept != NULL && !same(&kept->key, key)) {
        kept = kept->next;
    }
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
    *kept = (Kept){*key, *norms, table->first};
    table->first = kept;
    pthread_mutex_unlock(&table->lock);
}
