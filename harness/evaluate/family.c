/*
 * A model at many inputs: what is made once for all of them.
 */
#include "family.h"

#include "../../memory/need.h"
#include "layers.h"

#include <stdlib.h>

struct Family {
    Pair pair;
    Layers *layers; /* of the pair, or NULL */
    RefWeights *weights;
    double bytes; /* of the weights */
};

Family *family_make(const Point *member, double bytes)
{
    Family *family = need_zeros(1, sizeof *family);
    if (layers_build(&family->pair, &family->layers, &member->spec, member->source) != CASE_OK) {
        free(family);
        return NULL;
    }
    family->bytes = bytes;
    family->weights = ref_weights_make(bytes);
    if (family->layers != NULL) {
        layers_share(family->layers, family->weights);
    }
    return family;
}

void family_clear(Family *family)
{
    if (family == NULL) {
        return;
    }
    layers_clear(family->layers);
    ref_weights_clear(family->weights);
    case_clear(&family->pair);
    free(family);
}

Layers *family_layers(const Family *family)
{
    return family->layers;
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
