/*
 * Tensors against what another program has printed of them.
 */
#include "printed.h"
#include "../unit.h"

void check_printed(const Printed *printed)
{
    double sum = 0;
    for (size_t i = 0; i < printed->count; i++) {
        sum += printed->values[i] * (double)(i % 7 + 1);
    }
    if (printed->values[0] != printed->first ||
        printed->values[printed->count / 2] != printed->middle ||
        printed->values[printed->count - 1] != printed->last || sum != printed->sum) {
        fail_msg("%s: %a, %a, %a, sum %a", printed->name, printed->values[0],
                 printed->values[printed->count / 2], printed->values[printed->count - 1], sum);
    }
}
