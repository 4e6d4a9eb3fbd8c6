/*
 * The rows that an interrupted sweep left, read and taken up.
 */
#include <stdio.h>

#include "sweep.h"

#include "../../base/message.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"

#include <errno.h>
#include <stdlib.h>

#define UNEXPECTED "the row is not the one expected there"

static int refuse_rows(const Sweep *sweep, size_t line, const char *why)
{
    fprintf(stderr, "headproof: %s%s:%zu: cannot be resumed: %s\n",
            shown(sweep->options->output).text,
            journal_is_complete(sweep->sink.journal) ? "" : ".partial", line, why);
    return 2;
}

/* The columns of the file are those that rows are read by. */
static int check_header(const Sweep *sweep)
{
    char *header = sweep_header(sweep);
    bool same = journal_has_header(sweep->sink.journal, header);
    free(header);
    return same ? 0 : refuse_rows(sweep, 1, UNEXPECTED);
}

/* Takes in the points whose rows are there and sealed.  Behind them may be what nobody sealed, or
 * the torn rows of one more point: what is more was changed. */
static int take_points(Sweep *sweep, size_t *kept)
{
    size_t size, length = 1;
    const char *rows = journal_rows(sweep->sink.journal, &size);
    while (sweep->committed < sweep->record.count && length > 0) {
        PointOutcome outcome;
        length =
            rows_read(&outcome, rows + *kept, size - *kept, sweep_point(sweep, sweep->committed));
        bool broken = false;
        if (length > 0 && !journal_take(sweep->sink.journal, rows + *kept, length, &broken)) {
            length = 0;
        }
        if (broken) {
            return refuse_rows(sweep, text_lines(rows, *kept) + 2,
                               "the point's rows, or what is before them, were changed since the "
                               "run wrote them");
        }
        *kept += length;
        if (length > 0) {
            sweep_take_outcome(sweep, &outcome, -1);
        }
    }
    size_t torn = text_lines(rows + *kept, size - *kept);
    bool whole = sweep->committed == sweep->record.count;
    if ((whole ? torn > 0
               : torn >= sweep_point(sweep, sweep->committed)->spec.depth &&
                     journal_has_more(sweep->sink.journal)) ||
        (journal_is_complete(sweep->sink.journal) && (!whole || *kept < size))) {
        return refuse_rows(sweep, text_lines(rows, *kept) + 2, UNEXPECTED);
    }
    if (!sweep->options->quiet && journal_is_complete(sweep->sink.journal)) {
        fprintf(stderr, "headproof: %s is complete\n", shown(sweep->options->output).text);
    } else if (!sweep->options->quiet && sweep->committed > 0) {
        fprintf(stderr, "headproof: %zu of %zu points are there already\n", sweep->committed,
                sweep->record.count);
    }
    return 0;
}

bool sweep_is_complete(const Sweep *sweep)
{
    return sweep->sink.journal != NULL && journal_is_complete(sweep->sink.journal);
}

int sweep_take_kept(Sweep *sweep, size_t *kept)
{
    *kept = 0;
    if (sweep->sink.journal == NULL) {
        return 0; /* nothing is read back */
    }
    int status = check_header(sweep);
    return status != 0 ? status : take_points(sweep, kept);
}
