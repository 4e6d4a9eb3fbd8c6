/*
 * A command's table and cases from their opening to an exit code; cases that compare with nothing,
 * as what check's writers of reports take.
 */
#include "outcome.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/terminal.h"
#include "../base/text_stream.h"
#include "../table/columns.h"

#include <stdlib.h>
#include <string.h>

int outcome_open(Outcome *outcome, const OutcomeKind *kind, const Grid *grid, const RunOptions *run,
                 const SweepRecord *sweep)
{
    *outcome = (Outcome){.kind = kind,
                         .run = run,
                         .record = {.argc = run->argc,
                                    .argv = run->argv,
                                    .grid = grid,
                                    .seconds = sweep != NULL ? sweep->seconds : NULL,
                                    .sweep = sweep}};
    outcome->check = (Check){.command = kind->command,
                             .tells = true,
                             .judged = grid_first_judged(grid) != NULL,
                             .grid = grid,
                             .run = run};
    int status = sink_open(&outcome->sink, &kind->table, run, &outcome->record);
    if (status != 0 || !reports_wanted(&run->check)) {
        return status;
    }
    outcome->cases = text_stream(&outcome->text, &outcome->length);
    kind->write_header(outcome->cases, run);
    return reports_open(&outcome->reports, &run->check);
}

void outcome_add(Outcome *outcome, void (*write)(FILE *file, const void *row), const void *row,
                 size_t lines, double seconds)
{
    if (outcome->cases == NULL) {
        return;
    }
    write(outcome->cases, row);
    for (size_t line = 0; line < lines; line++) {
        char *command = NULL;
        size_t size, count = outcome->count++;
        FILE *file = text_stream(&command, &size);
        outcome->kind->print_command(file, row, outcome->run);
        outcome->commands = need_next(outcome->commands, count, sizeof *outcome->commands);
        outcome->seconds = need_next(outcome->seconds, count, sizeof *outcome->seconds);
        outcome->commands[count] = text_close(file, &command);
        outcome->seconds[count] = seconds / (double)lines;
    }
}

void outcome_fail(Outcome *outcome, const void *row)
{
    enum { FAILURES_SHOWN = 10 };
    outcome->failed++;
    bool seen = outcome->run->file_only || (outcome->sink.text && terminal_is_one());
    if (!seen && outcome->failed <= FAILURES_SHOWN) {
        fprintf(stderr, "headproof: %s; reproduce: ", outcome->kind->reason);
        outcome->kind->print_command(stderr, row, outcome->run);
        fputc('\n', stderr);
    }
}

/* NULL: there is no such column, or nothing in it. */
static const char *cell_of(const Csv *table, size_t row, const char *column)
{
    size_t found = column == NULL ? table->columns : csv_find(table, column);
    const char *cell = found < table->columns ? csv_cell(table, row, found) : "";
    return *cell != '\0' ? cell : NULL;
}

/* A row whose status is neither ok nor unresolved. */
static void judge_case(Outcome *outcome, size_t row)
{
    Check *check = &outcome->check;
    const Csv *table = &check->obtained;
    const char *status = cell_of(table, row, column_name(COLUMN_STATUS));
    if (status == NULL || strcmp(status, status_name(STATUS_OK)) == 0 ||
        strcmp(status, status_name(STATUS_UNRESOLVED)) == 0) {
        return;
    }
    bool usual = strcmp(status, status_name(STATUS_FAIL)) == 0 || strcmp(status, "none") == 0;
    Finding finding = {.reason = usual ? outcome->kind->reason : status,
                       .command = outcome->commands[row],
                       .table = table,
                       .row = row,
                       .column = outcome->kind->column,
                       .obtained = cell_of(table, row, outcome->kind->column),
                       .obtained_bound = cell_of(table, row, outcome->kind->bounds) != NULL};
    const char *limit = cell_of(table, row, outcome->kind->limit);
    snprintf(finding.limit, sizeof finding.limit, "%.*s", (int)sizeof finding.limit - 1,
             limit != NULL ? limit : "");
    check->failed++;
    check_find(check, finding);
}

/* Their table whole, judged and written. */
static int finish_reports(Outcome *outcome)
{
    Check *check = &outcome->check;
    char *text = text_close(outcome->cases, &outcome->text);
    outcome->cases = NULL;
    outcome->text = NULL;
    int status = csv_take(&check->obtained, "cases", text, outcome->length);
    if (status != 0) {
        return status == 2 ? 99 : status; /* the program wrote it */
    }
    check->rows = check->cells = check->obtained.rows;
    check->seconds = outcome->seconds;
    outcome->seconds = NULL;
    for (size_t row = 0; row < check->rows; row++) {
        judge_case(outcome, row);
    }
    if (outcome->failed > 0 && check->finding_count == 0) {
        check_find(check,
                   (Finding){.reason = "the verdict is FAIL, and no case says why", .row = NO_ROW});
    }
    if (outcome->said != NULL) {
        check_mention(check, "%s", outcome->said);
    } else {
        check_mention_conditions(check);
    }
    return reports_write(&outcome->reports, check);
}

int outcome_end(Outcome *outcome, int status)
{
    status = status != 0 ? status : sink_finish(&outcome->sink);
    status = status != 0 || outcome->cases == NULL ? status : finish_reports(outcome);
    status = status != 0 ? status : outcome->failed > 0;
    if (outcome->cases != NULL) {
        (void)fclose(outcome->cases); /* nobody reads it */
    }
    for (size_t i = 0; i < outcome->count; i++) {
        free(outcome->commands[i]);
    }
    free(outcome->commands);
    free(outcome->seconds);
    free(outcome->text);
    free(outcome->said);
    check_clear(&outcome->check);
    reports_clear(&outcome->reports);
    sink_clear(&outcome->sink);
    return status;
}
