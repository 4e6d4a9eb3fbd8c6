/*
 * Rows on their way to a file, a stream or a journal.
 */
#include "sink.h"

#include "sidecar.h"

#include "../../memory/need.h"
#include "../base/atomic_file.h"
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

/* ---- Files and streams ----------------------------------------------------------------------- */

/* borrowed: only rows.file is used, which stays open.  Without a sidecar where rows are written
 * directly.  formatter: of another format than CSV, else NULL; lines: what was written since the
 * last commit goes to text [size] then. */
struct Output {
    bool borrowed;
    AtomicFile rows;
    Formatter *formatter;
    FILE *lines;
    char *text;
    size_t size;
};

int output_open(Output **output, const char *path)
{
    *output = need_zeros(1, sizeof **output);
    (*output)->rows.table = true;
    if (path == NULL) {
        (*output)->borrowed = true;
        (*output)->rows.file = stdout;
        return 0;
    }
    int status = atomic_file_open(&(*output)->rows, path);
    if (status != 0) {
        output_clear(*output);
        *output = NULL;
    }
    return status;
}

void output_format(Output *output, const Format *format, FormatTable table)
{
    if (format_is_csv(format)) {
        return;
    }
    table.file = output->rows.file;
    output->formatter = formatter_open(format, table);
    output->lines = text_stream(&output->text, &output->size);
}

FILE *output_report(const RunOptions *run)
{
    bool named = run->output != NULL && strcmp(run->output, "/dev/stdout") == 0;
    return run->on_stdout || named ? stderr : stdout;
}

void output_open_stream(Output **output, FILE *stream)
{
    *output = need_zeros(1, sizeof **output);
    (*output)->borrowed = true;
    (*output)->rows.file = stream;
}

FILE *output_file(Output *output)
{
    return output->lines != NULL ? output->lines : output->rows.file;
}

/* The lines since the last commit become rows of the format. */
static int pass_on(Output *output)
{
    if (output->lines == NULL) {
        return 0;
    }
    if (fflush(output->lines) != 0 || formatter_take(output->formatter, output->text) != 0) {
        return -1;
    }
    output->size = 0; /* the stream writes from the beginning again */
    output->text[0] = '\0';
    return 0;
}

int output_commit(Output *output)
{
    return pass_on(output) != 0 ? -1 : atomic_file_flush(output->rows.file);
}

/* Writes the lines behind the last row. */
static int end_rows(Output *output)
{
    return pass_on(output) != 0 || (output->lines != NULL && formatter_end(output->formatter) != 0)
               ? -1
               : 0;
}

/* Everything on disk, under its names, or written to what stays open.  0, or -1 (errno). */
static int finish_rows(Output *output, const RunRecord *run)
{
    AtomicFile *rows = &output->rows;
    char digest[DIGEST_TEXT];
    RunRecord whole = *run;
    whole.digest = digest;
    if (end_rows(output) != 0 || atomic_file_flush(rows->file) != 0) {
        return -1;
    }
    if (rows->sidecar != NULL && (digest_descriptor(digest, fileno(rows->file)) != 0 ||
                                  sidecar_write(rows->sidecar, &whole) != 0)) {
        return -1;
    }
    return output->borrowed ? 0 : atomic_file_publish(rows);
}

int output_finish(Output *output, const RunRecord *run)
{
    if (finish_rows(output, run) == 0) {
        return 0;
    }
    return output->rows.file == stdout
               ? streams_stdout_failed()
               : atomic_file_failed(output->borrowed ? "memory" : output->rows.path);
}

void output_clear(Output *output)
{
    if (output == NULL) {
        return;
    }
    if (output->borrowed) {
        output->rows.file = NULL;
    }
    if (output->lines != NULL) {
        (void)fclose(output->lines); /* what is in it was passed on, or is dropped */
    }
    formatter_clear(output->formatter);
    free(output->text);
    atomic_file_clear(&output->rows);
    free(output);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Is a journal possible there, or what says why it is not? */
static bool is_regular(const char *path)
{
    struct stat found;
    return path != NULL &&
           (stat(path, &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

/* Does nothing but a terminal wait for rows, which asked for none of a format? */
static bool is_for_eyes(const RunOptions *run)
{
    return run->output == NULL && run->stream == NULL && !run->on_stdout && !run->expand &&
           isatty(STDOUT_FILENO);
}

static int refuse_resume(const RunOptions *run)
{
    return complain((Origin){.flag = "resume"}, run->output != NULL ? run->output : "stdout",
                    "expected rows in a regular file, -o FILE.csv");
}

int sink_open(Sink *sink, const SinkKind *kind, const RunOptions *run, const RunRecord *record)
{
    const bool eyes = is_for_eyes(run);
    const Format *format =
        eyes && kind->bare == BARE_EYES ? &format_table : format_find(run->format);
    bool asked = run->output != NULL || run->on_stdout || kind->bare != BARE_SENTENCES;
    *sink = (Sink){.kind = kind, .run = run, .record = record};
    sink->text = eyes && kind->bare == BARE_TEXT;
    if (!asked) {
        return run->resume ? refuse_resume(run) : 0;
    }
    if (run->stream != NULL) {
        output_open_stream(&sink->output, run->stream);
        return 0;
    }
    if (!kind->kept || !format_is_csv(format) || run->expand) {
        int status = output_open(&sink->output, run->output);
        const FormatTable table = {.whole = run->expand, .brief = eyes};
        if (status == 0) {
            output_format(sink->output, format, table);
        }
        return status;
    }
    if (is_regular(run->output)) {
        return journal_open(&sink->journal, run->output_flag, run->output, run->resume, record);
    }
    return run->resume ? refuse_resume(run) : output_open(&sink->output, run->output);
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
    const bool none = sink->output == NULL && sink->journal == NULL;
    if (none || (sink->text && sink->kind->print == NULL)) {
        return 0;
    }
    FILE *file = sink->journal != NULL ? journal_table(sink->journal) : output_file(sink->output);
    if (file == NULL) {
        return sink_failed(sink);
    }
    write_row(file, sink, row);
    if (ferror(file) || (sink->output != NULL && output_commit(sink->output) != 0)) {
        return sink_failed(sink);
    }
    sink->put++;
    return 0;
}

int sink_append(Sink *sink, const char *rows, size_t length)
{
    return fwrite(rows, 1, length, output_file(sink->output)) == length ? 0 : -1;
}

int sink_finish(Sink *sink)
{
    if (sink->journal != NULL && sink->put > 0) {
        return journal_finish(sink->journal, NULL, sink->record);
    }
    return sink->output != NULL ? output_finish(sink->output, sink->record) : 0;
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

bool sink_keeps(const Sink *sink)
{
    return sink->journal != NULL && journal_survives(sink->journal);
}

void sink_say_kept(const Sink *sink, const char *what)
{
    const RunOptions *run = sink->run;
    if (sink_keeps(sink)) {
        fprintf(stderr, "headproof: %s kept; go on with: ", what);
        print_command_line(run->argc, run->argv, run->resume ? NULL : "--resume");
    }
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
