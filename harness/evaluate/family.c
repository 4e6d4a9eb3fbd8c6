/*
 * A model at many inputs: what is made once for all of them.
 */
#include "family.h"

#include <stdlib.h>

struct Family {
    Pair pair;
    RefWeights *weights;
    double bytes; /* of the weights */
};

Family *family_make(const Point *member, double bytes)
{
    const char *reason;
    Family *family = calloc(1, sizeof *family);
    if (family == NULL || case_build(&family->pair, &reason, &member->spec) != CASE_OK) {
        free(family);
        return NULL;
    }
    family->bytes = bytes;
    family->weights = ref_weights_make(bytes);
    if (family->weights == NULL) {
        family_clear(family);
        return NULL;
    }
    return family;
}

void family_clear(Family *family)
{
    if (family == NULL) {
        return;
    }
    ref_weights_clear(family->weights);
    case_clear(&family->pair);
    free(family);
}

const Pair *family_pair(const Family *family)
{
    return &family->pair;
}

RefWeights *family_weights(const Family *family)
{
    return family->weights;
}

double family_bytes(const Family *family)
{
    return (double)family->pair.bytes + family->bytes;
}
