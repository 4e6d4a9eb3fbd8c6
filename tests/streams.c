/*
 * A machine's streams behind every layer of a model.
 */
#include "streams.h"

#include "unit.h"

#include <stdlib.h>
#include <string.h>

Streams streams_of(Arithmetic arithmetic, const Start *start, KernelForm form, size_t threads)
{
    const ArithmeticInfo *machine = arithmetic_info(arithmetic);
    Streams all = {.rows = layout_rows(&start->model->layout)};
    Kernel *kernel = arithmetic_open(machine, start, form, threads);
    for (size_t l = 0; l < start->model->depth; l++) {
        KernelStream stream = machine->functions->layer(kernel);
        size_t count = all.rows * stream.ld;
        all.ld = stream.ld;
        all.count += count;
        all.data = realloc(all.data, all.count * sizeof *all.data);
        assert_non_null(all.data);
        memcpy(all.data + l * count, stream.data, count * sizeof *all.data);
    }
    machine->functions->clear(kernel);
    return all;
}

const double *streams_row(const Streams *streams, size_t l, size_t r)
{
    return streams->data + (l * streams->rows + r) * streams->ld;
}

bool streams_share_bits(Arithmetic arithmetic, const Start *start, KernelForm form, size_t threads)
{
    Streams one = streams_of(arithmetic, start, form, 1);
    Streams more = streams_of(arithmetic, start, form, threads);
    bool same =
        one.count == more.count && memcmp(one.data, more.data, one.count * sizeof *one.data) == 0;
    free(one.data);
    free(more.data);
    return same;
}
