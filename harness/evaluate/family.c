/*
 * A model at many inputs: what is made once for all of them.
 */
#include "family.h"

#include <pthread.h>
#include <stdlib.h>

/* One member in SAMPLE_SHARE has its plan measured, but at least one and at most SAMPLE_MOST. */
enum { SAMPLE_SHARE = 32, SAMPLE_MOST = 8 };

/* A plan for one Omega; plan NULL: it tells nothing. */
typedef struct PlanAt {
    double omega;
    RefPlan *plan;
    struct PlanAt *next;
} PlanAt;

struct Family {
    const Point *const *members;
    size_t count;
    Pair pair;
    RefWeights *weights;
    double bytes; /* of the weights */
    pthread_mutex_t lock;
    PlanAt *plans;
};

Family *family_make(const Point *const *members, size_t count, double bytes)
{
    const char *reason;
    Family *family = calloc(1, sizeof *family);
    if (family == NULL || case_build(&family->pair, &reason, &members[0]->spec) != CASE_OK) {
        free(family);
        return NULL;
    }
    pthread_mutex_init(&family->lock, NULL);
    family->members = members;
    family->count = count;
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
    while (family->plans != NULL) {
        PlanAt *next = family->plans->next;
        ref_plan_clear(family->plans->plan);
        free(family->plans);
        family->plans = next;
    }
    ref_weights_clear(family->weights);
    pthread_mutex_destroy(&family->lock);
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

static RefPlan *member_plan(const Family *family, size_t i, double omega)
{
    Pair pair;
    RefPlan *plan = NULL;
    if (case_at_input(&pair, &family->pair, &family->members[i]->spec) == CASE_OK) {
        plan = ref_plan_make_kept(&pair, omega, NULL);
        case_clear(&pair);
    }
    return plan;
}

/* The worst of some members', evenly among all; at->plan stays NULL where one of them is not known.
 * false: memory is short. */
static bool measure(PlanAt *at, const Family *family)
{
    size_t share = family->count / SAMPLE_SHARE;
    size_t samples = share < 1 ? 1 : share < SAMPLE_MOST ? share : SAMPLE_MOST;
    bool known = true;
    for (size_t s = 0; known && s < samples; s++) {
        RefPlan *plan = member_plan(family, s * family->count / samples, at->omega);
        if (plan == NULL) {
            return false;
        }
        known = ref_plan_known(plan);
        if (at->plan == NULL) {
            at->plan = plan;
        } else {
            ref_plan_worsen(at->plan, plan);
            ref_plan_clear(plan);
        }
    }
    if (!known) {
        ref_plan_clear(at->plan);
        at->plan = NULL;
    }
    return true;
}

/* NULL: memory is short. */
static PlanAt *add_plan(Family *family, double omega)
{
    PlanAt *at = calloc(1, sizeof *at);
    if (at == NULL) {
        return NULL;
    }
    at->omega = omega;
    at->next = family->plans;
    if (!measure(at, family)) {
        ref_plan_clear(at->plan);
        free(at);
        return NULL;
    }
    family->plans = at;
    return at;
}

/* Is each input's loss to be seen in a machine's T?  T_infinity's errors are held against those: it
 * has to be T. */
static bool has_plans(const Family *family)
{
    const Point *point = family->members[0];
    return family->pair.limit_is_original && !point->certify &&
           point->reference == REFERENCE_DIFFERENCE;
}

bool family_plan(const RefPlan **plan, Family *family, double omega)
{
    *plan = NULL;
    if (!has_plans(family)) {
        return true;
    }
    pthread_mutex_lock(&family->lock);
    PlanAt *at = family->plans;
    while (at != NULL && at->omega != omega) {
        at = at->next;
    }
    if (at == NULL) {
        at = add_plan(family, omega);
    }
    *plan = at != NULL ? at->plan : NULL;
    pthread_mutex_unlock(&family->lock);
    return at != NULL;
}
