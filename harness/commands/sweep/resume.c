/*
 * The rows that an interrupted or a complete sweep left, read and taken up.
 */
#include <stdio.h>

#include "sweep.h"

#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"

#include <stdlib.h>
#include <string.h>

/* The file is there already, of a run like this. */
static int take_complete(Sweep *sweep, const char *text, size_t size)
{
    char *header = sweep_header(sweep);
    size_t used = strlen(header);
    bool same = used <= size && memcmp(text, header, used) == 0;
    free(header);
    used = same ? used : 0;
    for (size_t i = 0; i < sweep->record.count && same; i++) {
        PointRows rows = {.seconds = -1};
        size_t length = rows_read(&rows.outcome, text + used, size - used, sweep_point(sweep, i));
        same = length > 0 && sweep_take(sweep, i, &rows, true);
        used += length;
    }
    if (!same || used < size) {
        return sink_refuse(&sweep->sink, text + used, JOURNAL_UNEXPECTED);
    }
    if (!sweep->options->quiet) {
        fprintf(stderr, "headproof: %s is complete\n", shown(sweep->options->output).text);
    }
    return 0;
}

int sweep_take_kept(Sweep *sweep, bool *complete)
{
    Journal *journal = sweep->sink.journal;
    JournalPoint point;
    size_t size;
    bool broken;
    *complete = false;
    if (journal == NULL) {
        return 0; /* nothing is read back */
    }
    const char *text = journal_complete(journal, &size);
    if (text != NULL) {
        *complete = true;
        return take_complete(sweep, text, size);
    }
    while (journal_next(journal, &point, &broken)) {
        PointRows rows = {.seconds = -1};
        size_t position = sweep_position(sweep, point.index);
        if (position == sweep->record.count || sweep->done[position] ||
            rows_read(&rows.outcome, point.rows, point.length, sweep_point(sweep, position)) !=
                point.length) {
            return sink_refuse(&sweep->sink, NULL, JOURNAL_UNEXPECTED);
        }
        (void)sweep_take(sweep, position, &rows, true); /* nothing is written */
    }
    if (broken) {
        return sink_refuse(&sweep->sink, NULL, JOURNAL_ALTERED);
    }
    if (!sweep->options->quiet && sweep->count > 0) {
        fprintf(stderr, "headproof: %zu of %zu points are there already\n", sweep->count,
                sweep->record.count);
    }
    return 0;
}
