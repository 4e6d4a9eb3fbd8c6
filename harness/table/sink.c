/*
 * Rows on their way to a file, a stream or a journal.
 */
#include "sink.h"

#include "../base/atomic_file.h"
#include "../base/message.h"
#include "../base/streams.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is a journal possible there, or what says why it is not? */
static bool is_regular(const char *path)
{
    struct stat found;
    return path != NULL &&
           (stat(path, &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

static bool is_text(const SinkKind *kind, const RunOptions *run)
{
    return kind->bare == BARE_TEXT && run->output == NULL && run->stream == NULL &&
           !run->on_stdout && !run->expand && isatty(STDOUT_FILENO);
}

int sink_open(Sink *sink, const SinkKind *kind, const RunOptions *run, const RunRecord *record)
{
    const Format *format = format_find(run->format);
    bool asked = run->output != NULL || run->on_stdout || kind->bare != BARE_SENTENCES;
    *sink = (Sink){.kind = kind, .run = run, .record = record, .text = is_text(kind, run)};
    if (!asked) {
        return 0;
    }
    if (run->stream != NULL) {
        return output_open_stream(&sink->output, run->stream);
    }
    if (!kind->kept || !format_is_csv(format) || run->expand) {
        int status = output_open(&sink->output, run->output);
        const FormatTable table = {.whole = run->expand};
        return status != 0 ? status : output_format(sink->output, format, table);
    }
    if (is_regular(run->output)) {
        return journal_open(&sink->journal, run->output_flag, run->output, run->resume, record);
    }
    if (run->resume) {
        return complain((Origin){.flag = "resume"}, run->output != NULL ? run->output : "stdout",
                        "expected rows in a regular file, -o FILE.csv");
    }
    return output_open(&sink->output, run->output);
}

static int write_row(FILE *file, const Sink *sink, const void *row)
{
    const SinkKind *kind = sink->kind;
    if (sink->text) {
        fputs(sink->put > 0 ? kind->between : "", file);
        kind->print(file, row);
        return 0;
    }
    bool begun = sink->put > 0 || kind->write_header(file, sink->run) == 0;
    return begun ? kind->write_row(file, row) : -1;
}

int sink_put(Sink *sink, const void *row)
{
    if (sink->output == NULL || (sink->text && sink->kind->print == NULL)) {
        return 0;
    }
    if (write_row(output_file(sink->output), sink, row) != 0 || output_commit(sink->output) != 0) {
        return sink_failed(sink);
    }
    sink->put++;
    return 0;
}

int sink_begin(Sink *sink, size_t kept, const char *header)
{
    if (sink->journal != NULL) {
        return journal_begin(sink->journal, kept, header, sink->record);
    }
    return fputs(header, output_file(sink->output)) == EOF ? sink_failed(sink) : 0;
}

int sink_append(Sink *sink, const char *rows, size_t length, double seconds)
{
    if (sink->journal != NULL) {
        return journal_append(sink->journal, rows, length, seconds);
    }
    return fwrite(rows, 1, length, output_file(sink->output)) == length ? 0 : -1;
}

int sink_sync(Sink *sink)
{
    return sink->journal != NULL ? journal_sync(sink->journal) : output_commit(sink->output);
}

int sink_finish(Sink *sink)
{
    return sink->journal != NULL  ? journal_finish(sink->journal, sink->record)
           : sink->output != NULL ? output_finish(sink->output, sink->record)
                                  : 0;
}

void sink_clear(Sink *sink)
{
    journal_clear(sink->journal);
    output_clear(sink->output);
    *sink = (Sink){0};
}

int sink_failed(const Sink *sink)
{
    const RunOptions *run = sink->run;
    return run->output != NULL   ? atomic_file_failed(run->output)
           : run->stream != NULL ? atomic_file_failed("memory")
                                 : streams_stdout_failed();
}
