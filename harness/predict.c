#include "predict.h"

#include "evaluate.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

double memory_room(double asked)
{
    if (asked > 0) {
        return asked;
    }
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        bytes = fmin(bytes, (double)limit.rlim_cur);
    }
    return 0.8 * bytes;
}

static int refuse(const Point *point, const char *reason)
{
    fprintf(stderr, "headproof: %s: ", reason);
    point_print_command(stderr, point);
    fputc('\n', stderr);
    return 2;
}

int grid_predict(const Grid *grid, double memory, int *threads)
{
    const double gib = 1024.0 * 1024 * 1024;
    memory = memory_room(memory);
    for (size_t i = 0; i < grid->count; i++) {
        const Point *point = &grid->points[i];
        const char *reason;
        PointBytes bytes;
        CaseStatus status = point_predict(&bytes, &reason, point);
        double all = bytes.base + bytes.kernel + bytes.run;
        if (status == CASE_REJECTED) {
            return refuse(point, reason);
        }
        if (status == CASE_NO_MEMORY || all > memory) {
            bool dense = point->arithmetic != ARITHMETIC_NONE && point->kernel == KERNEL_DENSE &&
                         bytes.kernel > all / 2;
            char text[128];
            snprintf(text, sizeof text, "a point needs %.3g GiB, %.3g GiB may be used%s", all / gib,
                     memory / gib, dense ? " (--kernel structured needs less)" : "");
            return refuse(point, text);
        }
        while (threads != NULL && *threads > 1 && all * *threads > memory) {
            --*threads;
        }
    }
    return 0;
}

/* Multiply-adds and exponentials. */
typedef struct {
    double products, exponentials;
} Work;

/* With the structure of the heads: every row's content score and value, then the pattern. */
static Work bundle_work(const Layout *layout, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const Value *value = &bundle->value;
    double rows = (double)layout_rows(layout), read = (double)value->read.count;
    double write = (double)value->write.count, query = (double)score->read.count;
    bool bilinear = score->kind == SCORE_BILINEAR, factored = value->kind == VALUE_FACTORED;
    double rank = score->d_head > 0 ? (double)score->d_head : query;
    double width = factored ? (double)value->d_head : write;
    double content = value->kind == VALUE_UNIT || value->kind == VALUE_NONE
                         ? 1
                         : (factored ? (read + write) * width : read * write);
    Work work = {rows * content, 0};
    if (bilinear) {
        work.products += 2 * rows * query * rank + rows * rows * (rank + width);
        work.exponentials += rows * rows;
    } else if (score->kind == SCORE_GATE) {
        work.products += rows * (score->gate.data != NULL ? query : 1);
        work.exponentials += rows;
    }
    return (Work){(double)bundle->heads * work.products, (double)bundle->heads * work.exponentials};
}

/* With full matrices: X Q, (X Q) X^T, X V and the pattern times X V of every head. */
static Work bundle_dense_work(const Layout *layout, const Bundle *bundle)
{
    double rows = (double)layout_rows(layout), width = (double)layout_width(layout);
    double heads = (double)bundle->heads;
    return (Work){heads * 2 * rows * width * (rows + width), heads * rows * rows};
}

static Work direct_work(const Layout *layout, const Direct *direct)
{
    double n = (double)layout->n, hidden = (double)direct->hidden;
    double read = (double)direct->read.count, write = (double)direct->write.count;
    switch (direct->kind) {
    case DIRECT_FFN: return (Work){n * hidden * (read + write), n * hidden};
    case DIRECT_LINEAR: return (Work){n * read * write, 0};
    default: return (Work){n * write, n * write};
    }
}

static Work model_work(const Model *model, bool dense)
{
    Work work = {0, 0};
    for (size_t s = 0; s < model->sublayer_count; s++) {
        const Sublayer *sublayer = &model->sublayers[s];
        Work more = {0, 0};
        if (sublayer->bundle_count == 0) {
            more = direct_work(&model->layout, &sublayer->direct);
        }
        work.products += more.products;
        work.exponentials += more.exponentials;
        for (size_t b = 0; b < sublayer->bundle_count; b++) {
            const Bundle *bundle = &sublayer->bundles[b];
            more = dense ? bundle_dense_work(&model->layout, bundle)
                         : bundle_work(&model->layout, bundle);
            work.products += more.products;
            work.exponentials += more.exponentials;
        }
    }
    return work;
}

static double reference_seconds(Work work, double bits)
{
    double product = 15 + 60 * pow(bits / 512, 1.55);
    double exponential = 150 + 870 * pow(bits / 512, 1.8);
    return 1e-9 * (work.products * product + work.exponentials * exponential);
}

static double machine_seconds(Work work)
{
    return 1e-9 * (work.products * 0.2 + work.exponentials * 10);
}

/* Bits that hide the construction error, or, where the cap leaves no room for them, r(T)'s.  A
 * difference evaluated by itself hides nothing. */
static double likely_bits(const Point *point)
{
    bool difference = point->reference == REFERENCE_DIFFERENCE;
    double own = difference ? 256 : 192, hidden = difference ? 0 : 2.886 * point_omega(point);
    if (point->precision > 0) {
        return (double)point->precision;
    }
    return own + hidden <= (double)point->max_bits ? own + hidden : own;
}

PointCost point_cost_parts(const Point *point)
{
    Pair pair;
    const char *reason;
    PointCost cost = {0, 0, 0};
    if (case_outline(&pair, &reason, &point->spec) != CASE_OK) {
        return cost;
    }
    bool dense = point->form == REF_DENSE, full = point->kernel == KERNEL_DENSE;
    double bits = likely_bits(point);
    double converted = reference_seconds(model_work(&pair.converted, dense), bits);
    /* A difference takes the limit model along, and about as much again for itself. */
    cost.reference = point->reference == REFERENCE_DIFFERENCE ? 2 * converted : converted;
    cost.base = reference_seconds(model_work(&pair.original, dense), bits) + converted +
                2 * reference_seconds(model_work(&pair.converted, false), 128);
    if (point->arithmetic != ARITHMETIC_NONE) {
        cost.base += machine_seconds(model_work(&pair.original, full));
        cost.machine = machine_seconds(model_work(&pair.converted, full));
    }
    case_clear(&pair);
    return cost;
}

double point_cost(const Point *point)
{
    PointCost cost = point_cost_parts(point);
    return 1e-6 + cost.base + cost.reference + cost.machine;
}
