/*
 * Laws found in a series.
 */
#include "find.h"

#include "../../base/message.h"

#include <math.h>
#include <stdlib.h>

/* A law stands while its residuals are at most LAW_RESIDUAL, or so many times what seeds explain;
 * an exponential is told from a power whose residuals are above so many times its own. */
#define LAW_NOISES 3.0
#define LAW_TOLD 2.0

/* Along Omega each point's residual counts by its square over that of LAW_RESIDUAL, a point in no
 * law as three of those, and a law as much for every number that was fitted, and for where it
 * begins. */
#define COST_POINT 9.0
#define COST_NUMBER 3.0

/* An arm falls, or rises, by a quarter of what theory expects, or more. */
#define ARM_LEFT_MOST (-0.5)
#define ARM_RIGHT_LEAST 0.25

/* Points that are values, and room for four times as many numbers. */
typedef struct {
    GrowthPoint *points;
    size_t count;
    double *room;
} Values;

/* ---- One law --------------------------------------------------------------------------------- */

static void find_one(Laws *laws, const Values *values)
{
    Law *law = &laws->laws[laws->count++];
    Law power = law_fit(LAW_POWER, values->points, values->count, values->room);
    Law exponential = law_fit(LAW_EXPONENTIAL, values->points, values->count, values->room);
    double of_power = fit_residual(&power.fit), of_other = fit_residual(&exponential.fit);
    bool told = of_power > LAW_TOLD * law_noise(&exponential);
    *law = told ? exponential : power;
    law->other = told ? of_power : of_other;
    law->why = law->other <= LAW_TOLD * law_noise(law) ? "either" : "";
    if (fit_residual(&law->fit) > fmax(LAW_RESIDUAL, LAW_NOISES * law->noise)) {
        law->kind = LAW_NONE;
        law->why = "residual";
    }
}

/* ---- Arms and floor -------------------------------------------------------------------------- */

/* What comes one after another along Omega, each of it perhaps not at all. */
enum { STAGES = 7 };
static const LawKind stages[STAGES] = {LAW_NONE, LAW_ARM_LEFT,  LAW_NONE, LAW_FLOOR,
                                       LAW_NONE, LAW_ARM_RIGHT, LAW_NONE};

/* What it costs that points [count] are of one stage; INFINITY: they are not. */
static double stage_cost(LawKind kind, const Values *values, size_t from, size_t count)
{
    if (kind == LAW_NONE) {
        return COST_POINT * (double)count;
    }
    if (count < LAW_POINTS) {
        return INFINITY;
    }
    Law law = law_fit(kind, values->points + from, count, values->room);
    double noise = law_seed_noise(values->points, values->count);
    double unit = fmax(LAW_RESIDUAL, noise);
    bool fits = kind == LAW_ARM_LEFT    ? law.fit.slope[0] <= ARM_LEFT_MOST
                : kind == LAW_ARM_RIGHT ? law.fit.slope[0] >= ARM_RIGHT_LEAST
                                        : true;
    double numbers = kind == LAW_FLOOR ? 2 : 3;
    return fits ? law.fit.squares / (unit * unit) + COST_NUMBER * numbers : INFINITY;
}

/* cost[s][i]: the least for the first i points and the stages up to s; begin[s][i]: the first point
 * of stage s there.  Every way to cut the points is looked at. */
static void cut(double (*cost)[STAGES], size_t (*begin)[STAGES], const Values *values)
{
    for (size_t i = 0; i <= values->count; i++) {
        for (size_t s = 0; s < STAGES; s++) {
            cost[i][s] = s > 0 ? cost[i][s - 1] : i == 0 ? 0 : INFINITY;
            begin[i][s] = i;
            for (size_t j = 0; j < i; j++) {
                double before = s > 0 ? cost[j][s - 1] : j == 0 ? 0 : INFINITY;
                double all =
                    isinf(before) ? INFINITY : before + stage_cost(stages[s], values, j, i - j);
                if (all < cost[i][s]) {
                    cost[i][s] = all;
                    begin[i][s] = j;
                }
            }
        }
    }
}

static int find_arms(Laws *laws, const Values *values)
{
    size_t count = values->count, ends[STAGES + 1] = {[STAGES] = count};
    double(*cost)[STAGES] = calloc(count + 1, sizeof *cost);
    size_t(*begin)[STAGES] = calloc(count + 1, sizeof *begin);
    if (cost == NULL || begin == NULL) {
        free(cost);
        free(begin);
        return memory_fault();
    }
    cut(cost, begin, values);
    for (size_t s = STAGES; s-- > 0;) {
        ends[s] = begin[ends[s + 1]][s];
    }
    for (size_t s = 0; s < STAGES; s++) {
        const GrowthPoint *points = values->points + ends[s];
        size_t length = ends[s + 1] - ends[s];
        if (length > 0) {
            laws->laws[laws->count++] = stages[s] == LAW_NONE
                                            ? law_without_line(LAW_NONE, "residual", points, length)
                                            : law_fit(stages[s], points, length, values->room);
        }
    }
    free(cost);
    free(begin);
    return 0;
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* What of the series its laws exceed by more than they may be off: a bound, or among what they are
 * of a 0; or NULL. */
static const char *contradiction(const Laws *laws, const Series *series)
{
    double from = laws->laws[0].from, to = laws->laws[laws->count - 1].to;
    for (size_t i = 0; i < series->count; i++) {
        const GrowthPoint *point = &series->points[i];
        bool zero = point->median == -INFINITY, inside = point->x >= from && point->x <= to;
        Band band;
        if (point->state == MEDIAN_AT_MOST && (inside || !zero) &&
            laws_predict(&band, laws, point->x) != NULL && band.low > point->median) {
            return zero ? "zero" : "bound";
        }
    }
    return NULL;
}

/* No points are values. */
static void find_nothing(Laws *laws, const Series *series)
{
    size_t zeros = 0;
    for (size_t i = 0; i < series->count; i++) {
        const GrowthPoint *point = &series->points[i];
        zeros += point->state == MEDIAN_AT_MOST && point->median == -INFINITY;
    }
    bool all = zeros == series->count && zeros >= LAW_POINTS;
    laws->laws[laws->count++] = law_without_line(all ? LAW_ZERO : LAW_NONE, all ? "" : "few-points",
                                                 series->points, series->count);
}

int laws_find(Laws *laws, const Series *series)
{
    Values values = {calloc(series->count + 1, sizeof *values.points), 0,
                     calloc(4 * series->count + 1, sizeof *values.room)};
    int status = values.points == NULL || values.room == NULL ? memory_fault() : 0;
    *laws = (Laws){.count = 0};
    for (size_t i = 0; i < series->count && status == 0; i++) {
        if (series->points[i].state == MEDIAN_VALUE) {
            values.points[values.count++] = series->points[i];
        }
    }
    if (status == 0 && values.count == 0) {
        find_nothing(laws, series);
    } else if (status == 0 && values.count < LAW_POINTS) {
        laws->laws[laws->count++] =
            law_without_line(LAW_NONE, "few-points", values.points, values.count);
    } else if (status == 0 && series->axis == AXIS_OMEGA) {
        status = find_arms(laws, &values);
    } else if (status == 0) {
        find_one(laws, &values);
    }
    const char *why = status == 0 ? contradiction(laws, series) : NULL;
    if (why != NULL) {
        laws->laws[0] = law_without_line(LAW_NONE, why, values.points, values.count);
        laws->count = 1;
    }
    free(values.points);
    free(values.room);
    return status;
}
