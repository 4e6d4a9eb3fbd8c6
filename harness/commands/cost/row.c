/*
 * The cost of a point as a CSV row.
 */
#include <stdio.h>

#include "cost.h"

#include "../../base/decimal.h"
#include "../../table/table.h"
#include "../commands.h"

static const char columns[] =
    ",original_sublayers,converted_sublayers,converted_rows,original_width,converted_width,"
    "width_ratio,original_heads,external_heads,internal_heads,internal_per_external,"
    "external_head_share,internal_head_share,sublayer_heads,sublayer_score_ranks,"
    "sublayer_value_ranks,attention_parameters,network_parameters,norm_parameters,"
    "embedding_parameters,network_share,attention_share_of_all,network_share_of_all,full_entries,"
    "dense_original_flops,dense_converted_flops,dense_flops_ratio,dense_original_exponentials,"
    "dense_converted_exponentials,structured_original_flops,structured_converted_flops,"
    "structured_flops_ratio,structured_original_exponentials,structured_converted_exponentials";
static const char measured_columns[] =
    ",dense_original_seconds,dense_converted_seconds,dense_slowdown,structured_original_seconds,"
    "structured_converted_seconds,structured_slowdown";

/* numerator/denominator, rounded once; blank when that is no number. */
static void write_quotient(FILE *file, const mpz_t numerator, const mpz_t denominator)
{
    char text[DECIMAL_TEXT] = "";
    double value;
    mpq_t quotient;
    mpq_init(quotient);
    if (mpz_sgn(denominator) != 0) {
        mpq_set_num(quotient, numerator);
        mpq_set_den(quotient, denominator);
        mpq_canonicalize(quotient);
        if (decimal_round(&value, quotient) == DECIMAL_OK) {
            decimal_print(text, value);
        }
    }
    fprintf(file, ",%s", text);
    mpq_clear(quotient);
}

static void write_sizes_quotient(FILE *file, size_t numerator, size_t denominator)
{
    mpz_t a, b;
    mpz_init_set_ui(a, numerator);
    mpz_init_set_ui(b, denominator);
    write_quotient(file, a, b);
    mpz_clears(a, b, NULL);
}

/* NULL: the names of the columns. */
static void write_key(FILE *file, const Cost *cost)
{
    uint64_t axes = 0;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        axes |= command_takes(commands_get(COMMAND_COST), axis) ? AXIS_BIT(axis) : 0;
    }
    fprintf(file, "%s,", cost == NULL ? "preset" : cost->preset != NULL ? cost->preset : "");
    axes_write(file, cost != NULL ? cost->point : NULL, axes);
}

static void write_heads(FILE *file, const ModelCost *a, const ModelCost *b)
{
    const size_t heads = b->external + b->internal;
    fprintf(file, ",%zu,%zu,%zu,%zu,%zu", a->sublayer_count, b->sublayer_count, b->rows, a->width,
            b->width);
    write_sizes_quotient(file, b->width, a->width);
    fprintf(file, ",%zu,%zu,%zu", a->external, b->external, b->internal);
    write_sizes_quotient(file, b->internal, b->external);
    write_sizes_quotient(file, b->external, heads);
    write_sizes_quotient(file, b->internal, heads);
    /* One number for each sublayer of the attention-only layer: "96;96;49152;384". */
    for (size_t i = 0; i < 3; i++) {
        putc(',', file);
        for (size_t s = 0; s < b->sublayer_count; s++) {
            const SublayerCost *own = &b->sublayers[s];
            const size_t numbers[] = {own->heads, own->score_rank, own->value_rank};
            fprintf(file, "%s%zu", s == 0 ? "" : ";", numbers[i]);
        }
    }
}

static void write_parameters(FILE *file, const Cost *cost)
{
    const mpz_t *counts = cost->original.counts;
    mpz_t layers, all;
    mpz_inits(layers, all, NULL);
    for (int of = COST_ATTENTION; of <= COST_EMBEDDING; of++) {
        mpz_add(all, all, counts[of]);
        gmp_fprintf(file, ",%Zd", counts[of]);
    }
    mpz_add(layers, counts[COST_ATTENTION], counts[COST_NETWORK]);
    write_quotient(file, counts[COST_NETWORK], layers);
    write_quotient(file, counts[COST_ATTENTION], all);
    write_quotient(file, counts[COST_NETWORK], all);
    gmp_fprintf(file, ",%Zd", cost->converted.counts[COST_FULL]);
    mpz_clears(layers, all, NULL);
}

/* Two operations a multiply-add. */
static void write_work(FILE *file, const ModelCost *a, const ModelCost *b, int form)
{
    const int exponentials = COST_EXPONENTIALS + form;
    mpz_t before, after;
    mpz_inits(before, after, NULL);
    mpz_mul_ui(before, a->counts[COST_MULTIPLY_ADDS + form], 2);
    mpz_mul_ui(after, b->counts[COST_MULTIPLY_ADDS + form], 2);
    gmp_fprintf(file, ",%Zd,%Zd", before, after);
    write_quotient(file, after, before);
    gmp_fprintf(file, ",%Zd,%Zd", a->counts[exponentials], b->counts[exponentials]);
    mpz_clears(before, after, NULL);
}

void cost_write_header(FILE *file, const RunOptions *run)
{
    write_key(file, NULL);
    fprintf(file, "%s%s\n", columns, run->measure ? measured_columns : "");
}

void cost_write_row(FILE *file, const void *row)
{
    const Cost *cost = row;
    write_key(file, cost);
    write_heads(file, &cost->original, &cost->converted);
    write_parameters(file, cost);
    for (int form = 0; form < KERNEL_COUNT; form++) {
        write_work(file, &cost->original, &cost->converted, form);
    }
    for (int form = 0; form < KERNEL_COUNT && cost->measured; form++) {
        const CostTimes *times = &cost->times[form];
        if (times->timed) {
            fprintf(file, ",%.3g,%.3g,%.3g", times->original, times->converted,
                    times->converted / times->original);
        } else {
            fputs(",,,", file);
        }
    }
    putc('\n', file);
}
