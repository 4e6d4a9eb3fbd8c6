/*
 * Results that are rows and a sidecar, or rows on a stream.
 */
#include "output.h"

#include "../base/atomic_file.h"
#include "../grid/settings.h"
#include "sidecar.h"
#include "../base/streams.h"

#include <stdlib.h>

/* borrowed: only rows.file is used, which stays open.  Without a sidecar where rows are written
 * directly. */
struct Output {
    bool borrowed;
    AtomicFile rows, sidecar;
};

static int open_files(Output *output, const char *path)
{
    if (path == NULL) {
        output->borrowed = true;
        output->rows.file = stdout;
        return atomic_file_keep_signals("stdout");
    }
    int status = atomic_file_open(&output->rows, path);
    if (status == 0 && !atomic_file_is_direct(&output->rows)) {
        status = atomic_file_open_beside(&output->sidecar, &output->rows, ".json", path);
    }
    return status;
}

int output_open(Output **output, const char *path)
{
    *output = calloc(1, sizeof **output);
    if (*output == NULL) {
        return memory_fault();
    }
    int status = open_files(*output, path);
    if (status != 0) {
        output_clear(*output);
        *output = NULL;
    }
    return status;
}

int output_open_stream(Output **output, FILE *stream)
{
    *output = calloc(1, sizeof **output);
    if (*output == NULL) {
        return memory_fault();
    }
    (*output)->borrowed = true;
    (*output)->rows.file = stream;
    return 0;
}

FILE *output_file(Output *output)
{
    return output->rows.file;
}

int output_commit(Output *output)
{
    return atomic_file_flush(output->rows.file);
}

static int finish_direct(Output *output)
{
    int status = output_commit(output);
    if (status != 0 && output->rows.file == stdout) {
        return streams_stdout_failed();
    }
    if (!output->borrowed && status == 0) {
        status = atomic_file_close(&output->rows);
    }
    return status == 0 ? 0 : atomic_file_failed(output->borrowed ? "memory" : output->rows.path);
}

int output_finish(Output *output, const RunRecord *run)
{
    AtomicFile *rows = &output->rows, *sidecar = &output->sidecar;
    if (atomic_file_is_direct(rows)) {
        return finish_direct(output);
    }
    if (atomic_file_sync(rows) != 0) {
        return atomic_file_failed(rows->path);
    }
    char digest[DIGEST_TEXT];
    RunRecord whole = *run;
    whole.digest = digest;
    if (digest_descriptor(digest, fileno(rows->file)) != 0) {
        return atomic_file_failed(rows->path);
    }
    if (sidecar_write(sidecar->file, &whole) != 0 || atomic_file_sync(sidecar) != 0) {
        return atomic_file_failed(sidecar->path);
    }
    if (atomic_file_publish(rows) != 0) {
        return atomic_file_failed(rows->path);
    }
    if (atomic_file_close(rows) != 0 || atomic_file_close(sidecar) != 0) {
        return atomic_file_failed(rows->path);
    }
    return 0;
}

void output_clear(Output *output)
{
    if (output == NULL) {
        return;
    }
    if (output->borrowed) {
        output->rows.file = NULL;
    }
    atomic_file_clear(&output->rows);
    atomic_file_clear(&output->sidecar);
    free(output);
}
