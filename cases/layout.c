/*
 * The residual streams of a case: which columns and which bias row T and T' have.
 */
#include "layout.h"

size_t case_hidden_columns(const CaseSpec *spec)
{
    const ConstructionInfo *info = construction_info(spec->construction);
    bool off_diagonal = info->given_both_banks && spec->linear != LINEAR_IN_PLACE;
    return info->hidden_bank || off_diagonal ? spec->d_ff : 0;
}

Layout case_original_layout(const CaseSpec *spec)
{
    bool moved = construction_info(spec->construction)->given_both_banks;
    return (Layout){.n = spec->n, .d = spec->d, .hidden = moved ? case_hidden_columns(spec) : 0};
}

Layout case_converted_layout(const CaseSpec *spec)
{
    Layout layout = {.n = spec->n, .d = spec->d, .hidden = case_hidden_columns(spec)};
    bool first = spec->bias_row == POSITION_FIRST ||
                 (spec->bias_row == POSITION_AUTO && spec->mask == MASK_CAUSAL);
    BiasRow shown = first ? BIAS_ROW_FIRST : BIAS_ROW_LAST;
    layout.bias_row = construction_info(spec->construction)->masked ? BIAS_ROW_MASKED : shown;
    return layout;
}
