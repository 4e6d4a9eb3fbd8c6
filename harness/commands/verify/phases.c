/*
 * How long the phases of `verify` take, from what one input takes.
 */
#include "phases.h"

#include <math.h>

double verify_rows_seconds(const Verify *verify)
{
    return verify->cost.rows / (double)verify->omega_count;
}

double verify_phase_seconds(const Verify *verify, double uses, double seconds)
{
    double count = (double)verify->ensemble.count, kept = (double)verify->ensemble.kept;
    if (uses == 0) {
        return kept * verify->cost.base;
    }
    return uses * (count * seconds + (count - kept) * verify->cost.base);
}

void verify_phase(Verify *verify, const char *label, double uses, double seconds)
{
    Ensemble *ensemble = &verify->ensemble;
    double cost = verify_phase_seconds(verify, uses, seconds);
    size_t units = uses == 0 ? ensemble->kept : ensemble->count;
    ensemble->unit_cost = cost / ((double)(units > 0 ? units : 1) * fmax(1, uses));
    progress_phase(&verify->progress, label, uses > 1 ? "evaluations" : "inputs",
                   uses > 1 ? 0 : units, cost);
}
