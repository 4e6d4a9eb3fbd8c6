/*
 * What the columns of a table are, by their names, and what their cells may hold.
 */
#include <stdio.h>

#include "check_columns.h"

#include "bounds.h"
#include "check_keys.h"
#include "../base/message.h"
#include "../base/number.h"

#include <stdlib.h>
#include <string.h>

/* By the beginning of a column's name; the first that fits. */
static const struct {
    const char *prefix;
    Rule rule;
} rules[] = {
    {"approximation_", RULE_REFERENCE},
    {"construction_", RULE_REFERENCE},
    {"bias_row_max", RULE_REFERENCE},
    {"hidden_max", RULE_REFERENCE},
    {"onehot_max", RULE_REFERENCE},
    {"score_max", RULE_REFERENCE},
    {"rounding_", RULE_MACHINE},
    {"native_", RULE_MACHINE},
    {"total_", RULE_MACHINE},
    {"observed_", RULE_MACHINE},
    {"identical", RULE_SHARE},
    {"precision_bits", RULE_FREE},
    {"status", RULE_STATUS},
    {BOUNDS_COLUMN, RULE_BOUNDS},
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

/* What is beyond any error, even of a stack that has left the doubles' range: 10^(10^9). */
enum { EXPONENT_MOST = 1000000000 };

/* The digits of 1. */
#define ONE UINT64_C(10000000000000000)

/* What a number of that column must be, or NULL: it is. */
static const char *domain_fault(const char *column, Rule rule, const Number *number)
{
    bool finite = number->kind == NUMBER_FINITE, is_log = strcmp(column, "construction_log10") == 0;
    if (finite && number->digits != 0 && number->exponent > EXPONENT_MOST) {
        return "a number below 10^1000000000";
    }
    if (number->negative && !is_log) {
        return "a number that is not negative";
    }
    bool above_one = number->exponent > 0 || (number->exponent == 0 && number->digits > ONE);
    if (rule == RULE_SHARE && finite && number->digits != 0 && above_one) {
        return "a share from 0 to 1";
    }
    if (rule == RULE_FREE && number->text[strspn(number->text, "0123456789")] != '\0') {
        return "a count of bits";
    }
    return NULL;
}

/* Is it a column of errors and the like, whose cell in that row is a number? */
static bool may_be_bound(const Csv *csv, size_t row, const char *name)
{
    size_t column = csv_find(csv, name);
    Rule rule = column < csv->columns && !check_is_key(name) ? column_rule(name) : RULE_NONE;
    Number number;
    return (rule == RULE_REFERENCE || rule == RULE_MACHINE) &&
           number_read(&number, csv_cell(csv, row, column)) && number.kind == NUMBER_FINITE;
}

/* 0; 2 or 99 after a message. */
static int check_bounds(const Csv *csv, size_t row, const char *list)
{
    char *copy = strdup(list), *name = copy;
    int status = 0;
    if (copy == NULL) {
        return memory_fault();
    }
    while (*list != '\0' && name != NULL && status == 0) {
        char *end = strchr(name, ';');
        if (end != NULL) {
            *end++ = '\0';
        }
        if (!may_be_bound(csv, row, name)) {
            complain((Origin){.file = csv->path, .line = csv_line(row)}, name,
                     "expected columns whose cells are numbers, a ; between two (column %s)",
                     BOUNDS_COLUMN);
            status = 2;
        }
        name = end;
    }
    free(copy);
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
            if (rule == RULE_BOUNDS) {
                int status = check_bounds(csv, row, cell);
                if (status != 0) {
                    return status;
                }
                continue;
            }
            if (rule == RULE_STATUS && status_find(cell) > STATUS_OK) {
                complain(origin, cell, "expected a status (column %s)", name);
                return 2;
            }
            if (rule != RULE_NONE && rule != RULE_STATUS && !number_read(&number, cell)) {
                complain(origin, cell, "expected a number of at most %d digits (column %s)",
                         NUMBER_DIGITS, name);
                return 2;
            }
            const char *fault =
                rule == RULE_NONE || rule == RULE_STATUS ? NULL : domain_fault(name, rule, &number);
            if (fault != NULL) {
                complain(origin, cell, "expected %s (column %s)", fault, name);
                return 2;
            }
        }
    }
    return 0;
}
