/*
 * Rows on their way to a file, a stream or a journal.
 */
#include "sink.h"

#include "../base/message.h"
#include "../base/shown.h"
#include "../base/streams.h"
#include "../base/terminal.h"
#include "../base/text_stream.h"
#include "../grid/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *output_report(const RunOptions *run)
{
    bool named = run->output != NULL && strcmp(run->output, "/dev/stdout") == 0;
    return run->on_stdout || named ? stderr : stdout;
}

void sink_format(Sink *sink, FormatTable table)
{
    if (table.format != &format_csv) {
        sink->table = table;
        sink->table.file = sink->rows;
        sink->lines = text_stream(&sink->taken, &sink->size);
    }
}

/* The lines since the last commit become rows of the format. */
static int pass_on(Sink *sink)
{
    if (sink->table.format == NULL) {
        return 0;
    }
    if (fflush(sink->lines) != 0 || format_take(&sink->table, sink->taken) != 0) {
        return -1;
    }
    sink->size = 0; /* the stream writes from the beginning again */
    sink->taken[0] = '\0';
    return 0;
}

int sink_commit(Sink *sink)
{
    return pass_on(sink) != 0 ? -1 : atomic_file_flush(sink->rows);
}

/* Is a journal possible there, or what says why it is not? */
static bool is_regular(const char *path)
{
    struct stat found;
    return path != NULL &&
           (stat(path, &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

int sink_open(Sink *sink, const SinkKind *kind, const RunOptions *run, const RunRecord *record)
{
    /* Nothing but a terminal waits for rows, which asked for none of a format. */
    const bool eyes = run->output == NULL && run->stream == NULL && !run->on_stdout &&
                      !run->expand && isatty(STDOUT_FILENO);
    const Format *format =
        eyes && kind->bare == BARE_EYES ? &format_table : format_find(run->format);
    bool asked = run->output != NULL || run->on_stdout || kind->bare != BARE_SENTENCES;
    bool kept = kind->kept && format == &format_csv && !run->expand && run->stream == NULL;
    *sink = (Sink){.kind = kind, .run = run, .record = record, .file.table = true};
    sink->text = eyes && kind->bare == BARE_TEXT;
    if (asked && kept && is_regular(run->output)) {
        return journal_open(&sink->journal, run->output_flag, run->output, run->resume, record);
    }
    if (run->resume && (kept || !asked)) {
        return complain((Origin){.flag = "resume"}, run->output != NULL ? run->output : "stdout",
                        "expected rows in a regular file, -o FILE.csv");
    }
    if (!asked) {
        return 0;
    }
    if (run->stream != NULL) {
        sink->lines = sink->rows = run->stream;
        return 0;
    }
    int status = run->output != NULL ? atomic_file_open(&sink->file, run->output) : 0;
    if (status == 0) {
        sink->lines = sink->rows = run->output != NULL ? sink->file.file : stdout;
        sink_format(sink, (FormatTable){.format = format, .whole = run->expand, .brief = eyes});
    }
    return status;
}

static void write_row(FILE *file, const Sink *sink, const void *row)
{
    const SinkKind *kind = sink->kind;
    if (sink->text) {
        Wrapped text;
        fputs(sink->put > 0 ? kind->between : "", file);
        kind->print(wrapped_open(&text, file), row);
        wrapped_close(&text);
        return;
    }
    if (sink->put == 0) {
        kind->write_header(file, sink->run);
    }
    kind->write_row(file, row);
}

int sink_put(Sink *sink, const void *row)
{
    const bool none = sink->lines == NULL && sink->journal == NULL;
    if (none || (sink->text && sink->kind->print == NULL)) {
        return 0;
    }
    FILE *file = sink->journal != NULL ? journal_table(sink->journal) : sink->lines;
    if (file == NULL) {
        return sink_failed(sink);
    }
    write_row(file, sink, row);
    if (ferror(file) || (sink->journal == NULL && sink_commit(sink) != 0)) {
        return sink_failed(sink);
    }
    sink->put++;
    return 0;
}

int sink_finish(Sink *sink)
{
    if (sink->journal != NULL && sink->put > 0) {
        return journal_finish(sink->journal, NULL, sink->record);
    }
    if (sink->rows == NULL) {
        return 0;
    }
    bool whole = pass_on(sink) == 0 &&
                 (sink->table.format == NULL || format_end(&sink->table) == 0) &&
                 (sink->file.file != NULL ? sidecar_publish(&sink->file, sink->record)
                                          : atomic_file_flush(sink->rows)) == 0;
    return whole ? 0 : sink_failed(sink);
}

void sink_clear(Sink *sink)
{
    journal_clear(sink->journal);
    if (sink->table.format != NULL) {
        (void)fclose(sink->lines); /* what is in it was passed on, or is dropped */
    }
    format_clear(&sink->table);
    free(sink->taken);
    atomic_file_clear(&sink->file);
    *sink = (Sink){0};
}

int sink_failed(const Sink *sink)
{
    const RunOptions *run = sink->run;
    return run->output != NULL   ? atomic_file_failed(run->output)
           : run->stream != NULL ? atomic_file_failed("memory")
                                 : streams_stdout_failed();
}

int sink_refuse(const Sink *sink, const char *at, const char *why)
{
    const Journal *journal = sink->journal;
    size_t size;
    fprintf(stderr, "headproof: %s%s:%zu: cannot be resumed: %s\n", shown(sink->run->output).text,
            journal_complete(journal, &size) != NULL ? "" : ".partial", journal_line(journal, at),
            why);
    return 2;
}
