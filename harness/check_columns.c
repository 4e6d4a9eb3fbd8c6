#include <stdio.h>

#include "check_columns.h"

#include "check.h"
#include "message.h"
#include "number.h"

#include <string.h>

/* By the beginning of a column's name; the first that fits. */
static const struct {
    const char *prefix;
    Rule rule;
} rules[] = {
    {"rounding_bound", RULE_REFERENCE}, {"approximation_", RULE_REFERENCE},
    {"construction_", RULE_REFERENCE},  {"bias_row_max", RULE_REFERENCE},
    {"hidden_max", RULE_REFERENCE},     {"onehot_max", RULE_REFERENCE},
    {"score_max", RULE_REFERENCE},      {"rounding_", RULE_MACHINE},
    {"native_", RULE_MACHINE},          {"total_", RULE_MACHINE},
    {"observed_", RULE_MACHINE},        {"identical", RULE_SHARE},
    {"precision_bits", RULE_FREE},      {"status", RULE_STATUS},
};

Rule column_rule(const char *column)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strncmp(column, rules[i].prefix, strlen(rules[i].prefix)) == 0) {
            return rules[i].rule;
        }
    }
    return RULE_NONE;
}

Status status_find(const char *name)
{
    Status status = STATUS_ERROR;
    while (status <= STATUS_OK && strcmp(status_name(status), name) != 0) {
        status++;
    }
    return status;
}

int check_cells(const Csv *csv)
{
    for (size_t row = 0; row < csv->rows; row++) {
        Origin origin = {.file = csv->path, .line = csv_line(row)};
        for (size_t column = 0; column < csv->columns; column++) {
            const char *name = csv_name(csv, column), *cell = csv_cell(csv, row, column);
            Number number;
            Rule rule = check_is_key(name) ? RULE_NONE : column_rule(name);
            if (rule == RULE_STATUS && status_find(cell) > STATUS_OK) {
                complain(origin, cell, "expected a status (column %s)", name);
                return 2;
            }
            if (rule != RULE_NONE && rule != RULE_STATUS && !number_read(&number, cell)) {
                complain(origin, cell, "expected a number of at most %d digits (column %s)",
                         NUMBER_DIGITS, name);
                return 2;
            }
        }
    }
    return 0;
}
