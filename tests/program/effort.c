/*
 * Counts the layers that the reference evaluates, and their bits.
 */
#include "effort.h"

#include "../../reference/run/run.h"

static Effort taken;

/* Of the linker's --wrap: calls of ref_run_layer come to __wrap_ref_run_layer. */
void __real_ref_run_layer(RefRun *run);
void __wrap_ref_run_layer(RefRun *run);

void __wrap_ref_run_layer(RefRun *run)
{
    long bits = (long)run->ev.bits;
    taken.layers++;
    taken.most = bits > taken.most ? bits : taken.most;
    __real_ref_run_layer(run);
}

Effort effort_taken(void)
{
    Effort all = taken;
    taken = (Effort){0};
    return all;
}
