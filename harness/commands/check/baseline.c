/*
 * Which baselines are accepted: those that were saved, whole and as they were saved.
 */
#include <stdio.h>

#include "check.h"

#include "../../base/atomic_file.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../table/check_columns.h"
#include "../../table/sidecar.h"
#include "../../table/table.h"
#include "../guarantee/bound.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a table that a sweep or, with --every-input, a guarantee wrote: a sweep may have been
 * interrupted. */
static int check_sidecar(Check *check)
{
    const Csv *csv = &check->baseline;
    char *path = atomic_file_name(csv->path, ".json"), schema[DIFFERENCE_TEXT] = "";
    const char *fault = NULL;
    const bool there = access(path, F_OK) == 0;
    const json_t *sidecar = check->sidecar = there ? sidecar_load(path) : NULL;
    bool lost = there && sidecar == NULL && file_fault(errno) == 99;
    int status = lost ? csv_unreadable(path, errno) : 0;
    free(path);
    if (status != 0) {
        return status;
    }
    bool fits = sidecar != NULL && sidecar_schema_fits(schema, sidecar);
    if (!there) {
        fault = "there is no .json beside it";
    } else if (sidecar == NULL) {
        fault = "the .json beside it cannot be read as JSON";
    } else if (!fits) {
        fault = "the .json beside it has ";
    } else if (!check->run->every_input && !json_is_true(json_object_get(sidecar, "complete"))) {
        fault = "the .json beside it is not one of a complete run";
    } else if (*sidecar_get(sidecar, "digest") == '\0') {
        fault = "the .json beside it has no digest of it (older versions wrote none)";
    } else if (!sidecar_has_digest(sidecar, csv->digest)) {
        fault = "its bytes are not those that its .json was written with (was it edited?)";
    }
    check->baseline_digits = sidecar_digits(sidecar);
    sidecar_weights(check->baseline_weights, sidecar);
    return fault == NULL
               ? 0
               : complain((Origin){.flag = "baseline"}, csv->path,
                          "expected a baseline as it was saved, with its .json: %s%s; to accept "
                          "new figures: --save-baseline FILE --force",
                          fault, fits ? "" : schema);
}

/* Has it every column of a table as this program writes it? */
static int check_columns(const Csv *csv, bool every_input)
{
    char *header = NULL, *rest;
    size_t size = 0;
    int status = 0;
    FILE *stream = text_stream(&header, &size);
    if (every_input) {
        guarantee_write_header(stream, NULL);
    } else {
        table_write_header(stream, false);
    }
    (void)text_close(stream, &header);
    for (char *name = strtok_r(header, ",\n", &rest); name != NULL && status == 0;
         name = strtok_r(NULL, ",\n", &rest)) {
        if (csv_find(csv, name) == csv->columns) {
            status = complain((Origin){.file = csv->path, .line = 1}, csv_name(csv, 0),
                              "expected the columns of a sweep, or with --every-input of "
                              "guarantee, and there is no %s; --save-baseline FILE --force saves "
                              "it anew",
                              name);
        }
    }
    free(header);
    return status;
}

int check_open(Check *check)
{
    const char *path = check->run->check.baseline;
    Csv *csv = &check->baseline;
    if (path == NULL) {
        return 0;
    }
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return complain(
            (Origin){.flag = "baseline"}, path,
            "expected a baseline, and there is no such file; --save-baseline FILE makes one");
    }
    int status = csv_read(csv, path);
    check->has_baseline = true;
    status = status != 0 ? status : check_columns(csv, check->run->every_input);
    status = status != 0 ? status : check_cells(csv);
    status = status != 0 ? status : check_sidecar(check);
    return status;
}
