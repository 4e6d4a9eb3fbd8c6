/*
 * Cases of a command that compares with nothing, as what check's writers of reports take.
 */
#include "outcome.h"

#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../table/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int outcome_open(Outcome *outcome, const OutcomeKind *kind, const RunOptions *run, bool judged)
{
    *outcome = (Outcome){.kind = kind};
    outcome->check = (Check){.command = kind->command,
                             .tells = true,
                             .judged = judged,
                             .options = &run->check,
                             .argc = run->argc,
                             .argv = run->argv};
    if (!reports_wanted(&run->check)) {
        return 0;
    }
    outcome->file = text_stream(&outcome->text, &outcome->length);
    return outcome->file == NULL ? memory_fault() : reports_open(&outcome->reports, &run->check);
}

static bool make_room(Outcome *outcome)
{
    if (outcome->cases < outcome->capacity) {
        return true;
    }
    size_t room = 2 * outcome->capacity + 16;
    char **commands = realloc(outcome->commands, room * sizeof *commands);
    if (commands == NULL) {
        return false;
    }
    outcome->commands = commands;
    double *seconds = realloc(outcome->seconds, room * sizeof *seconds);
    if (seconds == NULL) {
        return false;
    }
    outcome->seconds = seconds;
    outcome->capacity = room;
    return true;
}

int outcome_case(Outcome *outcome, double seconds, char *command)
{
    if (command == NULL || !make_room(outcome)) {
        free(command);
        return memory_fault();
    }
    outcome->commands[outcome->cases] = command;
    outcome->seconds[outcome->cases++] = seconds;
    return 0;
}

/* NULL: there is no such column, or nothing in it. */
static const char *cell_of(const Csv *table, size_t row, const char *column)
{
    size_t found = column == NULL ? table->columns : csv_find(table, column);
    const char *cell = found < table->columns ? csv_cell(table, row, found) : "";
    return *cell != '\0' ? cell : NULL;
}

/* A row whose status is neither ok nor unresolved. */
static int judge_case(Outcome *outcome, size_t row)
{
    Check *check = &outcome->check;
    const Csv *table = &check->obtained;
    const char *status = cell_of(table, row, column_name(COLUMN_STATUS));
    if (status == NULL || strcmp(status, status_name(STATUS_OK)) == 0 ||
        strcmp(status, status_name(STATUS_UNRESOLVED)) == 0) {
        return 0;
    }
    bool usual = strcmp(status, status_name(STATUS_FAIL)) == 0 || strcmp(status, "none") == 0;
    Finding finding = {.reason = usual ? outcome->kind->reason : status,
                       .command = outcome->commands[row],
                       .table = table,
                       .row = row,
                       .column = outcome->kind->column,
                       .obtained = cell_of(table, row, outcome->kind->column),
                       .obtained_bound = cell_of(table, row, outcome->kind->bounds) != NULL,
                       .excess = INFINITY};
    const char *limit = cell_of(table, row, outcome->kind->limit);
    snprintf(finding.limit, sizeof finding.limit, "%.*s", (int)sizeof finding.limit - 1,
             limit != NULL ? limit : "");
    check->failed++;
    return check_find(check, &finding);
}

static int judge(Outcome *outcome, bool passed)
{
    Check *check = &outcome->check;
    char *text = outcome->text;
    outcome->text = NULL;
    int status = csv_take(&check->obtained, "cases", text, outcome->length);
    check->rows = check->cells = check->obtained.rows;
    check->seconds = outcome->seconds;
    outcome->seconds = NULL;
    for (size_t row = 0; row < check->rows && status == 0; row++) {
        status = judge_case(outcome, row);
    }
    if (status == 0 && !passed && check->finding_count == 0) {
        Finding finding = {.reason = "the verdict is FAIL, and no case says why",
                           .row = NO_ROW,
                           .excess = INFINITY};
        status = check_find(check, &finding);
    }
    return status == 2 ? 99 : status; /* the program wrote it */
}

int outcome_finish(Outcome *outcome, bool passed, const char *said)
{
    if (outcome->file == NULL) {
        return 0;
    }
    bool failed = ferror(outcome->file) != 0;
    bool closed = fclose(outcome->file) == 0;
    outcome->file = NULL;
    if (failed || !closed) {
        free(outcome->text);
        outcome->text = NULL;
        return memory_fault();
    }
    int status = judge(outcome, passed);
    if (status == 0 && said != NULL) {
        status = check_mention(&outcome->check, "%s", said);
    }
    return status != 0 ? status : reports_write(&outcome->reports, &outcome->check);
}

void outcome_clear(Outcome *outcome)
{
    if (outcome->file != NULL) {
        (void)fclose(outcome->file); /* nobody reads it */
    }
    for (size_t i = 0; i < outcome->cases; i++) {
        free(outcome->commands[i]);
    }
    free(outcome->commands);
    free(outcome->seconds);
    free(outcome->text);
    check_clear(&outcome->check);
    reports_clear(&outcome->reports);
    *outcome = (Outcome){0};
}
