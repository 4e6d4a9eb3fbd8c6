/*
 * Laws found in a series: arms and a floor along Omega, one law along any other axis, a formula of
 * the Omegas of searches.
 */
#include "law.h"

#include "../../../memory/need.h"
#include "../../base/message.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* An exponential is told from a power whose residuals are above so many times its own, or what
 * seeds explain of them. */
#define LAW_TOLD 2.0

/* A formula whose Omegas are off by more is none: by 1 the error is another by e^2. */
#define FORMULA_RESIDUAL 1.0

/* Along Omega each point's residual counts by its square over that of FIT_RESIDUAL, a point in no
 * law as three of those, and a law as much for every number that was fitted, and for where it
 * begins. */
#define COST_POINT 9.0
#define COST_NUMBER 3.0

/* A relative error of a double's last bits. */
#define RESOLUTION (DBL_EPSILON / 4)

/* An arm falls, or rises, by a quarter of what theory expects, or more. */
#define ARM_LEFT_MOST (-0.5)
#define ARM_RIGHT_LEAST 0.25

/* ---- One law --------------------------------------------------------------------------------- */

/* A power, or an exponential; of searches a sum of logarithms, or with the depth itself. */
static Law find_one(const Series *series, const GrowthPoint *points, size_t count)
{
    const bool searched = series->data->searched;
    const size_t terms = series->terms;
    Law first = law_make(searched ? LAW_LOGARITHM : LAW_POWER, "", points, count, terms);
    Law other = law_make(searched ? LAW_LINEAR : LAW_EXPONENTIAL, "", points, count, terms);
    bool two = other.fit.kind != LAW_NONE && (!searched || series->axes[terms - 1] == AXIS_DEPTH);
    double limit = searched ? other.fit.residual : LAW_TOLD * other.fit.noise;
    bool told = two && first.fit.residual > limit;
    Law law = told ? other : first;
    law.other = !two ? NAN : told ? first.fit.residual : other.fit.residual;
    law.why = two && !searched && law.other <= LAW_TOLD * law.fit.noise ? "either" : "";
    if (two && searched) {
        law.ends[FIT_MOST] = told ? first.fit : other.fit;
    }
    bool off = searched ? law.fit.residual > FORMULA_RESIDUAL : law.fit.misfit > 1;
    if (law.fit.kind == LAW_NONE || off) {
        law.kind = LAW_NONE;
        law.why = law.fit.kind == LAW_NONE ? "few-points" : "residual";
    }
    return law;
}

/* ---- Arms and floor -------------------------------------------------------------------------- */

/* The stages along Omega, one after another behind a beginning; any of them may be absent. */
enum { STAGES = 8 };
static const LawKind stages[STAGES] = {LAW_COUNT, LAW_NONE, LAW_ARM_LEFT,  LAW_NONE,
                                       LAW_FLOOR, LAW_NONE, LAW_ARM_RIGHT, LAW_NONE};

/* Points of one stage, one after another, and the squares of the residuals of their line. */
typedef struct {
    Fit fit;
    double squares;
} Line;

/* A point more, and what the residuals of all become, without cancellation: a logarithm of 1e17 has
 * itself no digits left behind its point. */
static void take_point(Line *line, const GrowthPoint *point)
{
    Fit *fit = &line->fit;
    const bool rises = fit->terms > 0;
    double uu = rises ? fit->sums[0][0] : 0, u = rises ? fit_lever(fit, point->x, 0) : 0;
    double y = point->y[MEDIAN], lost = RESOLUTION * y, lever = uu > 0 ? u * u / uu : 0;
    double residual = y - fit->mean[fit->terms] - (uu > 0 ? fit->sums[0][1] / uu * u : 0);
    double share = (double)fit->count / (double)(fit->count + 1);
    bool second = rises && fit->count < 2; /* a line goes through two */
    line->squares += second ? 0 : share * residual * residual / (1 + share * lever);
    line->squares += lost * lost;
    fit_add(fit, point);
}

/* The cost of taking these points for one stage; INFINITY: they are none. */
static double stage_cost(const Line *line, double unit)
{
    const LawKind kind = line->fit.kind;
    double slope = line->fit.sums[0][1] / line->fit.sums[0][0];
    double cost = line->squares / (unit * unit) + COST_NUMBER * (kind == LAW_FLOOR ? 2 : 3);
    bool fits = line->fit.count >= LAW_POINTS;
    fits = fits && (kind != LAW_ARM_LEFT || slope <= ARM_LEFT_MOST);
    fits = fits && (kind != LAW_ARM_RIGHT || slope >= ARM_RIGHT_LEAST);
    return kind == LAW_NONE ? COST_POINT * (double)line->fit.count : fits ? cost : INFINITY;
}

/* The least cost of the first so many points and the stages up to this one; its first point. */
typedef struct {
    double cost;
    size_t first;
} Cut;

/* cuts [count + 1]: every way to cut the points is looked at. */
static void cut(Cut (*cuts)[STAGES], const GrowthPoint *points, size_t count)
{
    double unit = fmax(FIT_RESIDUAL, law_make(LAW_FLOOR, "", points, count, 1).fit.seed_noise);
    for (size_t i = 0; i <= count; i++) {
        for (size_t s = 0; s < STAGES; s++) {
            cuts[i][s] = (Cut){i + s == 0 ? 0 : INFINITY, i};
        }
    }
    for (size_t first = 0; first <= count; first++) {
        for (size_t s = 1; s < STAGES; s++) {
            Line line = {{.kind = stages[s], .terms = stages[s] > LAW_FLOOR}, 0};
            double before = cuts[first][s - 1].cost;
            if (before <= cuts[first][s].cost) {
                cuts[first][s] = (Cut){before, first};
            }
            for (size_t i = first; i < count && isfinite(before); i++) {
                take_point(&line, &points[i]);
                double cost = before + stage_cost(&line, unit);
                if (cost < cuts[i + 1][s].cost) {
                    cuts[i + 1][s] = (Cut){cost, first};
                }
            }
        }
    }
}

static void find_arms(Laws *laws, const GrowthPoint *points, size_t count)
{
    size_t ends[STAGES + 1] = {[STAGES] = count};
    Cut(*cuts)[STAGES] = need_zeros(count + 1, sizeof *cuts);
    cut(cuts, points, count);
    for (size_t s = STAGES; s-- > 1;) {
        ends[s] = cuts[ends[s + 1]][s].first;
    }
    for (size_t s = 1; s < STAGES; s++) {
        if (ends[s + 1] > ends[s]) {
            const char *why = stages[s] == LAW_NONE ? "residual" : "";
            laws->laws[laws->count++] =
                law_make(stages[s], why, points + ends[s], ends[s + 1] - ends[s], 1);
        }
    }
    free(cuts);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* The word for what contradicts the laws of a series: a bound below their band, or a 0 between the
 * places that they were fitted to; or NULL. */
static const char *contradiction(const Laws *laws, const Series *series)
{
    double from = laws->laws[0].from[0], to = laws->laws[laws->count - 1].to[0];
    for (size_t i = 0; i < series->count && !series->data->searched; i++) {
        const GrowthPoint *point = &series->points[i];
        double median = point->y[MEDIAN];
        bool zero = median == -INFINITY, inside = point->x[0] >= from && point->x[0] <= to;
        Band band;
        if (!point->known && (inside || !zero) && laws_predict(&band, laws, point->x) != NULL &&
            band.low > median) {
            return zero ? "zero" : "bound";
        }
    }
    return NULL;
}

void laws_find(Laws *laws, const Series *series)
{
    GrowthPoint *points = need_zeros(series->count + 1, sizeof *points);
    size_t least = series->data->searched ? series->terms + 2 : LAW_POINTS, count = 0, zeros = 0;
    *laws = (Laws){.count = 0};
    for (size_t i = 0; i < series->count; i++) {
        points[count] = series->points[i];
        zeros += !points[count].known && points[count].y[MEDIAN] == -INFINITY;
        count += points[count].known;
    }
    if (count >= least && series->axes[0] == AXIS_OMEGA) {
        find_arms(laws, points, count);
    } else {
        const bool any = count > 0, zero = zeros == series->count && zeros >= LAW_POINTS;
        laws->laws[laws->count++] =
            count >= least ? find_one(series, points, count)
                           : law_make(zero ? LAW_ZERO : LAW_NONE, zero ? "" : "few-points",
                                      any ? points : series->points, any ? count : series->count,
                                      series->terms);
        /* A machine's 0 proves nothing of larger sizes: theory expects it of this error alone. */
        laws->laws[0].told[0] &= !zero || series->kind == ERROR_APPROXIMATION;
    }
    const char *why = contradiction(laws, series);
    if (why != NULL) {
        laws->laws[0] = law_make(LAW_NONE, why, points, count, series->terms);
        laws->count = 1;
    }
    free(points);
}
