#include "output.h"

#include "atomic_file.h"
#include "settings.h"
#include "sidecar.h"

#include <stdlib.h>

/* to_stdout: only rows.file is used.  Without a sidecar where rows are written directly. */
struct Output {
    bool to_stdout;
    AtomicFile rows, sidecar;
};

static int open_files(Output *output, const char *path)
{
    if (path == NULL) {
        output->to_stdout = true;
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
    if (!output->to_stdout && status == 0) {
        status = atomic_file_close(&output->rows);
    }
    return status == 0 ? 0 : atomic_file_failed(output->to_stdout ? "stdout" : output->rows.path);
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
    if (atomic_file_publish(sidecar) != 0) {
        return atomic_file_failed(sidecar->path);
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
    if (output->to_stdout) {
        output->rows.file = NULL;
    }
    atomic_file_clear(&output->rows);
    atomic_file_clear(&output->sidecar);
    free(output);
}
