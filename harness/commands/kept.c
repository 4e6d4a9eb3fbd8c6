/*
 * A journal between a run that was interrupted and the one that goes on.
 */
#include "kept.h"

#include "../../memory/need.h"
#include "../base/message.h"

#include <errno.h>
#include <stdlib.h>

void kept_init(Kept *kept, Sink *sink, const char *what)
{
    *kept = (Kept){.sink = sink, .what = what};
    interrupt_lock_init(&kept->lock);
}

/* "5 of 12 points are", or "1 input is". */
static void print_there(char text[64], const Kept *kept)
{
    if (kept->of > 0) {
        snprintf(text, 64, "%zu of %zu %ss are", kept->there, kept->of, kept->what);
    } else {
        snprintf(text, 64, "%zu %s%s", kept->there, kept->what, kept->there == 1 ? " is" : "s are");
    }
}

int kept_open(Kept *kept)
{
    JournalPoint point;
    bool broken = false;
    Journal *journal = kept->sink->journal;
    while (journal != NULL && journal_next(journal, &point, &broken)) {
        kept->points = need_more(kept->points, kept->count + 1, sizeof *kept->points);
        kept->points[kept->count++] = point;
    }
    kept->there = kept->count;
    return broken ? sink_refuse(kept->sink, NULL, JOURNAL_ALTERED) : 0;
}

/* Is there anything that another run would go on with? */
static bool keeps(const Kept *kept)
{
    return kept->sink->journal != NULL && journal_survives(kept->sink->journal);
}

/* How to go on, where it is. */
static void say_kept(const Kept *kept)
{
    char text[64];
    const RunOptions *run = kept->sink->run;
    if (keeps(kept)) {
        (void)!journal_sync(kept->sink->journal); /* what is not on disk then is lost by a crash */
        print_there(text, kept);
        fprintf(stderr, "headproof: %s kept; go on with: ", text);
        print_command_line(run->argc, run->argv, run->resume ? NULL : "--resume");
    }
}

static void say_interrupted(void *context, bool locked)
{
    Kept *kept = context;
    if (locked) {
        progress_clear(&kept->progress);
    }
    if (!keeps(kept)) {
        fprintf(stderr, "headproof: interrupted before the first %s\n", kept->what);
    }
    say_kept(kept);
    if (locked) {
        sink_clear(kept->sink);
    }
}

int kept_begin(Kept *kept)
{
    char text[64];
    const Sink *sink = kept->sink;
    if (sink->journal == NULL) {
        return 0;
    }
    if (kept->there > 0 && !sink->run->quiet) {
        print_there(text, kept);
        fprintf(stderr, "headproof: %s there already\n", text);
    }
    kept->interrupt = interrupt_open(&kept->lock, say_interrupted, kept);
    pthread_mutex_lock(&kept->lock);
    int status = journal_begin(sink->journal, sink->record);
    pthread_mutex_unlock(&kept->lock);
    return status;
}

bool kept_add(Kept *kept, const JournalPoint *point, double lazy)
{
    Journal *journal = kept->sink->journal;
    errno = 0;
    kept->unsynced += point->seconds;
    bool now = kept->unsynced >= lazy, written = kept->error == 0;
    if (journal != NULL) {
        written =
            written && journal_append(journal, point) == 0 && (!now || journal_sync(journal) == 0);
    }
    kept->unsynced = now ? 0 : kept->unsynced;
    if (!written && kept->error == 0) {
        kept->error = errno != 0 ? errno : EIO;
    }
    kept->there += written;
    return written;
}

int kept_refuse(Kept *kept, const JournalPoint *point)
{
    kept->refused = true;
    return sink_refuse(kept->sink, point->rows - 1, JOURNAL_UNEXPECTED);
}

int kept_fault(const Kept *kept)
{
    errno = kept->error;
    return kept->error != 0 ? sink_failed(kept->sink) : kept->refused ? 2 : 0;
}

void kept_close(Kept *kept, int status)
{
    interrupt_close(kept->interrupt);
    if (status != 0 && kept->interrupt != NULL) {
        say_kept(kept);
    }
    free(kept->points);
    pthread_mutex_destroy(&kept->lock);
}
