/*
 * The cost of a point as a CSV row.
 */
#include <stdio.h>

#include "cost.h"

#include "../../base/decimal.h"
#include "../../point/point.h"
#include "../commands.h"

#include <string.h>

/* The header and a row are one walk over the columns: it writes their names, or their cells. */
typedef struct {
    FILE *file;
    bool naming, begun;
} Walk;

/* True when the column's cell is to be written. */
static bool column(Walk *walk, const char *before, const char *name)
{
    if (walk->begun) {
        putc(',', walk->file);
    }
    walk->begun = true;
    if (walk->naming) {
        fprintf(walk->file, "%s%s", before, name);
    }
    return !walk->naming;
}

static void size_column(Walk *walk, const char *before, const char *name, size_t value)
{
    if (column(walk, before, name)) {
        fprintf(walk->file, "%zu", value);
    }
}

static void integer_column(Walk *walk, const char *before, const char *name, const mpz_t value)
{
    if (column(walk, before, name)) {
        mpz_out_str(walk->file, 10, value);
    }
}

/* numerator/denominator, rounded once; blank when that is no number. */
static void quotient_column(Walk *walk, const char *before, const char *name, const mpz_t numerator,
                            const mpz_t denominator)
{
    char text[DECIMAL_TEXT];
    double value;
    mpq_t quotient;
    if (!column(walk, before, name) || mpz_sgn(denominator) == 0) {
        return;
    }
    mpq_init(quotient);
    mpq_set_num(quotient, numerator);
    mpq_set_den(quotient, denominator);
    mpq_canonicalize(quotient);
    if (decimal_round(&value, quotient) == DECIMAL_OK) {
        decimal_print(text, value);
        fputs(text, walk->file);
    }
    mpq_clear(quotient);
}

static void sizes_quotient_column(Walk *walk, const char *name, size_t numerator,
                                  size_t denominator)
{
    mpz_t a, b;
    mpz_init_set_ui(a, numerator);
    mpz_init_set_ui(b, denominator);
    quotient_column(walk, "", name, a, b);
    mpz_clears(a, b, NULL);
}

static void key_columns(Walk *walk, const Cost *cost)
{
    if (column(walk, "", "preset") && cost->preset != NULL) {
        fputs(cost->preset, walk->file);
    }
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        const char *name = info->column != NULL ? info->column : info->name;
        if (command_takes(commands_get(COMMAND_COST), axis) && column(walk, "", name) &&
            point_axis_matters(cost->point, axis)) {
            char text[VALUE_TEXT];
            value_print(text, &info->domain, point_get(cost->point, axis));
            fputs(text, walk->file);
        }
    }
}

static void head_columns(Walk *walk, const Cost *cost)
{
    static const char *const names[] = {"sublayer_heads", "sublayer_score_ranks",
                                        "sublayer_value_ranks"};
    const ModelCost *a = &cost->original, *b = &cost->converted;
    size_column(walk, "original_", "sublayers", a->sublayer_count);
    size_column(walk, "converted_", "sublayers", b->sublayer_count);
    size_column(walk, "converted_", "rows", b->rows);
    size_column(walk, "original_", "width", a->width);
    size_column(walk, "converted_", "width", b->width);
    sizes_quotient_column(walk, "width_ratio", b->width, a->width);
    size_column(walk, "original_", "heads", a->external);
    size_column(walk, "", "external_heads", b->external);
    size_column(walk, "", "internal_heads", b->internal);
    sizes_quotient_column(walk, "internal_per_external", b->internal, b->external);
    sizes_quotient_column(walk, "external_head_share", b->external, b->external + b->internal);
    sizes_quotient_column(walk, "internal_head_share", b->internal, b->external + b->internal);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool written = column(walk, "", names[i]);
        /* One number for each sublayer of the attention-only layer: "96;96;49152;384". */
        for (size_t s = 0; s < b->sublayer_count && written; s++) {
            const SublayerCost *own = &b->sublayers[s];
            const size_t numbers[] = {own->heads, own->score_rank, own->value_rank};
            fprintf(walk->file, "%s%zu", s == 0 ? "" : ";", numbers[i]);
        }
    }
}

static void parameter_columns(Walk *walk, const Cost *cost)
{
    const ModelCost *a = &cost->original;
    mpz_t layers, all;
    mpz_inits(layers, all, NULL);
    mpz_add(layers, a->attention, a->network);
    mpz_add(all, layers, cost->embedding);
    mpz_add(all, all, a->norms);
    integer_column(walk, "", "attention_parameters", a->attention);
    integer_column(walk, "", "network_parameters", a->network);
    integer_column(walk, "", "norm_parameters", a->norms);
    integer_column(walk, "", "embedding_parameters", cost->embedding);
    quotient_column(walk, "", "network_share", a->network, layers);
    quotient_column(walk, "", "attention_share_of_all", a->attention, all);
    quotient_column(walk, "", "network_share_of_all", a->network, all);
    integer_column(walk, "", "full_entries", cost->converted.full);
    mpz_clears(layers, all, NULL);
}

/* Two operations a multiply-add. */
static void flops_column(Walk *walk, const char *before, const char *name,
                         const mpz_t multiply_adds)
{
    mpz_t flops;
    mpz_init(flops);
    mpz_mul_ui(flops, multiply_adds, 2);
    integer_column(walk, before, name, flops);
    mpz_clear(flops);
}

static const char *const forms[] = {[KERNEL_DENSE] = "dense_", [KERNEL_STRUCTURED] = "structured_"};

static void work_columns(Walk *walk, const Cost *cost)
{
    const ModelCost *a = &cost->original, *b = &cost->converted;
    for (int form = 0; form < KERNEL_COUNT; form++) {
        flops_column(walk, forms[form], "original_flops", a->multiply_adds[form]);
        flops_column(walk, forms[form], "converted_flops", b->multiply_adds[form]);
        quotient_column(walk, forms[form], "flops_ratio", b->multiply_adds[form],
                        a->multiply_adds[form]);
        integer_column(walk, forms[form], "original_exponentials", a->exponentials[form]);
        integer_column(walk, forms[form], "converted_exponentials", b->exponentials[form]);
    }
}

static void time_columns(Walk *walk, const Cost *cost)
{
    for (int form = 0; form < KERNEL_COUNT && cost->measured; form++) {
        const CostTimes *times = &cost->times[form];
        const struct {
            const char *name;
            double value;
        } columns[] = {{"original_seconds", times->original},
                       {"converted_seconds", times->converted},
                       {"slowdown", times->converted / times->original}};
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
            if (column(walk, forms[form], columns[i].name) && times->timed) {
                fprintf(walk->file, "%.3g", columns[i].value);
            }
        }
    }
}

static void write_line(FILE *file, const Cost *cost, bool naming)
{
    Walk walk = {.file = file, .naming = naming};
    key_columns(&walk, cost);
    head_columns(&walk, cost);
    parameter_columns(&walk, cost);
    work_columns(&walk, cost);
    time_columns(&walk, cost);
    putc('\n', file);
}

void cost_write_header(FILE *file, const RunOptions *run)
{
    Cost cost;
    cost_init(&cost);
    cost.measured = run->measure;
    write_line(file, &cost, true);
    cost_clear(&cost);
}

void cost_write_row(FILE *file, const void *cost)
{
    write_line(file, cost, false);
}
