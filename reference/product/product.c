/*
 * A product of matrices: the backend chosen by predicted cost, then run.
 */
#include "product.h"

#include "cost.h"
#include "dot.h"
#include "internal.h"
#include "modular.h"
#include "store.h"
#include "weights.h"
#include "wide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static ProductAxis axis(size_t stride)
{
    return (ProductAxis){.stride = stride, .group = SIZE_MAX, .group_stride = 0};
}

ProductView product_block(const ApMat *m, size_t row, size_t column, size_t rows, size_t columns)
{
    PRODUCT_CHECK(row <= m->rows && rows <= m->rows - row);
    PRODUCT_CHECK(column <= m->columns && columns <= m->columns - column);
    return (ProductView){.entry = ap_at(m, row, column),
                         .rows = rows,
                         .columns = columns,
                         .row = axis(m->columns),
                         .column = axis(1)};
}

ProductView product_view(const ApMat *m)
{
    return product_block(m, 0, 0, m->rows, m->columns);
}

ProductView product_doubles(const double *w, size_t rows, size_t columns, size_t ld)
{
    return (ProductView){
        .number = w, .rows = rows, .columns = columns, .row = axis(ld), .column = axis(1)};
}

/* Along that axis of so many entries; groups that lie one behind the other are one. */
static void repeat(ProductAxis *along, size_t *count, size_t groups, size_t group_stride)
{
    if (*count == 1) {
        *along = axis(group_stride);
    } else if (group_stride != *count * along->stride) {
        *along = (ProductAxis){along->stride, *count, group_stride};
    }
    *count *= groups;
}

ProductView product_doubles_beside(ProductView first, size_t groups, size_t group_stride)
{
    repeat(&first.column, &first.columns, groups, group_stride);
    return first;
}

ProductView product_doubles_below(ProductView first, size_t groups, size_t group_stride)
{
    repeat(&first.row, &first.rows, groups, group_stride);
    return first;
}

ProductView product_transposed(ProductView v)
{
    ProductView t = v;
    t.rows = v.columns;
    t.columns = v.rows;
    t.row = v.column;
    t.column = v.row;
    return t;
}

const char *product_backend_name(ProductBackend backend)
{
    static const char *const names[PRODUCT_BACKENDS] = {"auto", "loop", "dot", "modular", "digits"};
    return names[backend];
}

/* The way to multiply without measuring: dot products, which are never slower than the loop. */
static ProductBackend unmeasured_backend(const ProductOptions *options)
{
    bool any = options->backend == PRODUCT_AUTO || options->backend == PRODUCT_DOT;
    return any ? PRODUCT_DOT : PRODUCT_LOOP;
}

/* Does it win, or has it to, before anything is measured? */
static bool is_chosen(const Plan *plan, const ProductOptions *options, ProductBackend unmeasured)
{
    if (options->backend != PRODUCT_AUTO) {
        return options->backend == unmeasured;
    }
    double best = cost_product(plan, unmeasured, plan->precision);
    bool won = best < cost_measuring(plan);
    for (ProductBackend b = PRODUCT_BACKENDS - 1; !won && b >= PRODUCT_MODULAR; b--) {
        if (cost_least(b) < best && cost_product(plan, b, plan->precision) < best) {
            return false;
        }
    }
    return true;
}

/* Sets the plan for one backend, or for the best of them. */
static ProductBackend choose_backend(Plan *plan, const ProductOptions *options,
                                     ProductBackend unmeasured)
{
    double best = cost_product(plan, unmeasured, plan->precision);
    ProductBackend chosen = unmeasured, planned = unmeasured;
    for (ProductBackend b = PRODUCT_BACKENDS - 1; b >= PRODUCT_MODULAR; b--) {
        bool automatic = options->backend == PRODUCT_AUTO && cost_least(b) < best;
        if (automatic || options->backend == b) {
            plan_choose(plan, b);
            planned = b;
            if (options->backend == b ? isfinite(plan->seconds) : plan->seconds < best) {
                best = plan->seconds;
                chosen = b;
            }
        }
    }
    if (chosen != unmeasured && chosen != planned) {
        plan_choose(plan, chosen);
    }
    return chosen;
}

static void measure(Plan *plan, ProductBackend wanted)
{
    operand_measure(&plan->a, plan->threads);
    operand_measure(&plan->b, plan->threads);
    if (!plan->a.plain || !plan->b.plain) {
        return;
    }
    plan->short_a = plan->a.bits <= plan->precision;
    plan->short_b = plan->b.bits <= plan->precision;
    bool exact =
        plan->short_a && plan->short_b && (wanted == PRODUCT_MODULAR || wanted == PRODUCT_DIGITS);
    if (!exact) {
        plan_measure(plan);
    }
}

static void multiply(Plan *plan, ProductBackend *chosen)
{
    bool done = true;
    switch (*chosen) {
    case PRODUCT_MODULAR: modular_mul(plan); break;
    case PRODUCT_DIGITS: wide()->multiply(plan); break;
    case PRODUCT_DOT: done = dot_mul(plan); break;
    default: done = false; break;
    }
    if (!done) {
        *chosen = PRODUCT_LOOP;
        loop_mul(plan);
    }
}

static bool are_zeros(const Operand *o)
{
    for (size_t i = 0; i < o->lines; i++) {
        for (size_t l = 0; l < o->depth; l++) {
            if (o->number != NULL || !mpfr_zero_p(o->entry + o->line_at[i] + o->depth_at[l])) {
                return false;
            }
        }
    }
    return true;
}

static bool are_numbers(const Operand *o)
{
    bool known = o->exponent != NULL && o->plain, numbers = true;
    for (size_t i = 0; !known && i < o->lines; i++) {
        for (size_t l = 0; numbers && l < o->depth; l++) {
            size_t at = o->line_at[i] + o->depth_at[l];
            numbers = o->number != NULL
                          ? isfinite(o->number[at])
                          : mpfr_regular_p(o->entry + at) || mpfr_zero_p(o->entry + at);
        }
    }
    return numbers;
}

/* Are all of A zeros, or all of B, and the others numbers? */
static bool is_nothing(const Plan *plan)
{
    const Operand *a = &plan->a, *b = &plan->b;
    return (are_zeros(a) && are_numbers(b)) || (are_zeros(b) && are_numbers(a));
}

/* C = 0, or C. */
static void store_nothing(const Plan *plan)
{
    for (size_t i = 0; !plan->add && i < plan->m; i++) {
        for (size_t j = 0; j < plan->n; j++) {
            mpfr_set_zero(plan_entry(plan, i, j), 1);
        }
    }
}

static void run(Plan *plan, const ProductOptions *options, ProductReport *report)
{
    const ProductBackend unmeasured = unmeasured_backend(options);
    ProductBackend chosen = unmeasured;
    if (is_nothing(plan)) {
        store_nothing(plan);
        return;
    }
    if (!is_chosen(plan, options, unmeasured)) {
        measure(plan, options->backend);
        if (plan->a.plain && plan->b.plain) {
            chosen = choose_backend(plan, options, unmeasured);
        }
    }
    if (chosen == unmeasured) {
        plan->bits = 0;
        plan->seconds = cost_product(plan, chosen, plan->precision);
    }
    multiply(plan, &chosen);
    if (report != NULL) {
        size_t by_loop = chosen == PRODUCT_LOOP  ? plan->m * plan->n
                         : chosen == PRODUCT_DOT ? 0
                                                 : plan_loops(plan);
        *report = (ProductReport){chosen, plan->bits, by_loop, plan->seconds};
    }
}

static void open_operands(Plan *plan, ProductView a, ProductView b, const ProductOptions *options)
{
    ProductView columns = product_transposed(b);
    plan->weights = options->weights != NULL && b.number != NULL;
    operand_open(&plan->a, a);
    if (plan->weights) {
        kept_operand(&plan->b, options->weights, columns, plan->threads);
    } else {
        operand_open(&plan->b, columns);
    }
}

void product_mul(ProductView c, ProductView a, ProductView b, const ProductOptions *options,
                 ProductReport *report)
{
    PRODUCT_CHECK(a.columns == b.rows && c.rows == a.rows && c.columns == b.columns);
    PRODUCT_CHECK(c.entry != NULL && options->backend < PRODUCT_BACKENDS);
    PRODUCT_CHECK(mpfr_get_prec(c.entry) + options->guard >= MPFR_PREC_MIN);
    Plan plan = {.c = c,
                 .m = c.rows,
                 .n = c.columns,
                 .k = a.columns,
                 .add = options->add,
                 .threads = options->threads};
    if (report != NULL) {
        *report = (ProductReport){.backend = PRODUCT_LOOP};
    }
    if (plan.m == 0 || plan.n == 0) {
        return;
    }
    PRODUCT_CHECK(plan.m <= SIZE_MAX / plan.n && plan.k < UINT32_MAX);
    plan.precision = mpfr_get_prec(c.entry) + options->guard;
    plan.row_at = view_offsets(c);
    plan.column_at = plan.row_at + plan.m;
    open_operands(&plan, a, b, options);
    run(&plan, options, report);
    plan_clear(&plan);
}
