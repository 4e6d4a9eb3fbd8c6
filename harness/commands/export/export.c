/*
 * The command `export`: one point as a safetensors file.
 */
#include "export.h"

#include "../../../memory/need.h"
#include "../../base/decimal.h"
#include "../../base/info.h"
#include "../../base/message.h"
#include "../../base/text_stream.h"
#include "../../evaluate/predict.h"
#include "../../point/point.h"
#include "../commands.h"

#include <stdlib.h>

/* Entries of one result over all layers; their texts are as long as the precision asks. */
#define ENTRIES_MOST 200000

/* One point, and somewhere to write it. */
static int check_request(const Grid *grid, const RunOptions *run)
{
    if (run->output == NULL) {
        return complain((Origin){.flag = "output"}, NULL, "expected the name of the file to write");
    }
    if (grid->count != 1) {
        char count[32];
        snprintf(count, sizeof count, "%zu points", grid->count);
        return complain((Origin){0}, count, "expected one point to export");
    }
    Mask mask = grid->points[0].spec.mask;
    if (mask_is_pseudo(mask) && mask != MASK_PSEUDO_CAUSAL) {
        AxisValue value = point_get(&grid->points[0], AXIS_MASK);
        return complain(
            (Origin){.flag = "mask"}, axis_info(AXIS_MASK)->domain.words[value.integer],
            "expected none, causal or pseudo-causal to export: a file has no other mask");
    }
    return 0;
}

/* Numbers of one result: n times the columns compared, over all layers. */
static double entries_of(const Pair *pair)
{
    double entries = 0;
    for (size_t l = 0; l < pair->original.depth; l++) {
        entries += (double)pair->original.layout.n * (double)pair->compared[l].count;
    }
    return entries;
}

static int check_entries(const Point *point)
{
    Pair pair;
    const char *reason;
    if (case_outline(&pair, &reason, &point->spec) != CASE_OK) {
        return 0; /* grid_predict says what is wrong with a case that is rejected */
    }
    double entries = entries_of(&pair);
    case_clear(&pair);
    if (entries > ENTRIES_MOST) {
        char text[64];
        snprintf(text, sizeof text, "%.0f entries", entries);
        return complain((Origin){0}, text,
                        "expected at most %d (n times the columns compared, over all "
                        "layers) to export",
                        ENTRIES_MOST);
    }
    return 0;
}

/* Refuses results whose texts would not fit a header: three of each entry, a digit a byte. */
static int check_texts(const Export *e)
{
    double bytes = 3 * (0.30103 * (double)e->bits + 32) * entries_of(&e->shared->pair);
    if (bytes > SAFETENSORS_HEADER_MOST) {
        char text[64];
        snprintf(text, sizeof text, "%ld bits", (long)e->bits);
        return complain(
            (Origin){0}, text,
            "expected results whose decimals fill at most %d bytes, not %.0f: a smaller case, "
            "or --precision or --max-bits",
            SAFETENSORS_HEADER_MOST, bytes);
    }
    return 0;
}

static void add_facts(Export *e)
{
    char omega[DECIMAL_TEXT], bits[32], *command = NULL;
    size_t length = 0;
    decimal_print(omega, e->point->omega);
    snprintf(bits, sizeof bits, "%ld", (long)e->bits);
    if (e->point->source == NULL) { /* else a path that might not be text is in it */
        FILE *file = text_stream(&command, &length);
        point_print_command(file, e->point);
        safetensors_writer_metadata(e->writer, "command", text_close(file, &command));
        free(command);
    }
    if (point_axis_differs(e->point, AXIS_PENALTY)) {
        safetensors_writer_metadata(e->writer, "penalty", "negative");
    }
    safetensors_writer_metadata(e->writer, "construction",
                                construction_names[e->point->spec.construction]);
    safetensors_writer_metadata(e->writer, "omega", omega);
    safetensors_writer_metadata(e->writer, "precision_bits", bits);
    safetensors_writer_metadata(e->writer, "version", info_version());
}

/* The file of what is shared. */
static int write_file(Export *e, const char *path)
{
    int status = check_texts(e);
    if (status != 0) {
        return status;
    }
    e->writer = safetensors_writer_make();
    e->results = need_zeros((size_t)entries_of(&e->shared->pair), EXPORT_COPIED * sizeof(double));
    add_facts(e);
    export_model(e);
    export_results(e);
    status = safetensors_writer_finish(e->writer, path);
    free(e->results);
    safetensors_writer_clear(e->writer);
    return status;
}

static int write_point(const Point *point, const char *path)
{
    Shared *shared = shared_make(&point, 1, 0);
    if (shared == NULL) {
        return memory_fault();
    }
    mpfr_prec_t bits = shared_bits(shared, point);
    RefBase *base = shared_base(shared, bits, REF_LIMIT_STREAMS);
    Export e = {.point = point, .shared = shared, .base = base, .bits = bits};
    int status = base != NULL ? write_file(&e, path) : memory_fault();
    ref_base_clear(base);
    shared_clear(shared);
    return status;
}

int command_export(const Grid *grid, const RunOptions *run)
{
    int threads = 1;
    int status = check_request(grid, run);
    status = status != 0 ? status : check_entries(&grid->points[0]);
    status = status != 0 ? status : grid_predict(grid, run->memory, &threads);
    if (status != 0) {
        return status;
    }
    status = write_point(&grid->points[0], run->output);
    ref_thread_clear();
    return status;
}
