/*
 * The journal of a table of verify: inputs that an interrupted run left, and those that this one
 * adds.
 */
#include <stdio.h>

#include "verify.h"

#include "../../../memory/need.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What took less is synced with what comes behind it. */
#define SYNC_SECONDS 0.5

static void say_kept(const Kept *kept)
{
    char text[64];
    if (sink_keeps(kept->sink)) {
        (void)!journal_sync(kept->sink->journal); /* what is not on disk then is lost by a crash */
    }
    snprintf(text, sizeof text, "%zu input%s", kept->all, kept->all == 1 ? " is" : "s are");
    sink_say_kept(kept->sink, text);
}

static void say_interrupted(void *context, bool locked)
{
    Kept *kept = context;
    if (locked) {
        progress_clear(&kept->progress);
    }
    if (!sink_keeps(kept->sink)) {
        fputs("headproof: interrupted before the first input\n", stderr);
    }
    say_kept(kept);
    if (locked) {
        sink_clear(kept->sink);
    }
}

/* Reads what is there. */
static int take_kept(Kept *kept, Journal *journal)
{
    JournalPoint point;
    bool broken;
    while (journal_next(journal, &point, &broken)) {
        kept->points = need_more(kept->points, kept->count + 1, sizeof *kept->points);
        kept->points[kept->count++] = point;
    }
    kept->all = kept->count;
    if (broken) {
        return sink_refuse(kept->sink, NULL, JOURNAL_ALTERED);
    }
    if (kept->count > 0 && !kept->sink->run->quiet) {
        fprintf(stderr, "headproof: %zu input%s there already\n", kept->count,
                kept->count == 1 ? " is" : "s are");
    }
    return 0;
}

int keep_open(Kept *kept, Sink *sink, const RunRecord *run)
{
    if (sink->journal == NULL) {
        return 0;
    }
    kept->sink = sink;
    int status = take_kept(kept, sink->journal);
    status = status != 0 ? status : journal_begin(sink->journal, run);
    if (status == 0) {
        kept->interrupt = interrupt_open(&kept->lock, say_interrupted, kept);
    }
    return status;
}

void keep_close(Kept *kept, int status)
{
    interrupt_close(kept->interrupt);
    if (status != 0 && kept->interrupt != NULL) {
        say_kept(kept);
    }
    free(kept->points);
    pthread_mutex_destroy(&kept->lock);
}

int keep_fault(const Kept *kept)
{
    errno = kept->error;
    return kept->error != 0 ? sink_failed(kept->sink) : kept->refused ? 2 : 0;
}

bool keep_add(Kept *kept, InputRows *rows, double seconds)
{
    JournalPoint point = {.index = rows->input, .seconds = seconds};
    if (kept->sink == NULL) {
        return true;
    }
    char *text = record_write(&point.length, rows);
    point.rows = text;
    pthread_mutex_lock(&kept->lock);
    Journal *journal = kept->sink->journal;
    kept->unsynced += seconds;
    bool now = kept->unsynced >= SYNC_SECONDS;
    bool written = kept->error == 0 && journal_append(journal, &point) == 0 &&
                   (!now || journal_sync(journal) == 0);
    kept->unsynced = now ? 0 : kept->unsynced;
    if (!written && kept->error == 0) {
        kept->error = errno != 0 ? errno : EIO;
    }
    kept->all += written;
    pthread_mutex_unlock(&kept->lock);
    free(text);
    return written;
}

/* One that is there. */
static bool restore(Verify *verify, const JournalPoint *point)
{
    if (point->index >= verify->inputs.count || verify->done[point->index]) {
        return false;
    }
    InputRows rows;
    input_rows_init(&rows, verify, point->index);
    bool read = record_read(&rows, point->rows, point->length);
    if (read) {
        input_rows_join(&rows);
        verify->done[point->index] = true;
    }
    input_rows_clear(&rows);
    return read;
}

bool keep_restore(Verify *verify)
{
    Kept *kept = verify->kept;
    char *key = NULL;
    size_t length;
    FILE *file = text_stream(&key, &length);
    record_write_key(file, verify);
    (void)text_close(file, &key);
    for (size_t i = 0; i < kept->count && !kept->refused; i++) {
        const JournalPoint *point = &kept->points[i];
        bool its = point->length > length && memcmp(point->rows, key, length) == 0;
        if (its && !restore(verify, point)) {
            (void)sink_refuse(kept->sink, point->rows - 1, JOURNAL_UNEXPECTED);
            kept->refused = true;
        }
    }
    free(key);
    return !kept->refused;
}
