/*
 * The command `convert`: the attention-only model itself, as a safetensors file.
 */
#include "commands.h"
#include "guarantee/bound.h"

#include "../../memory/need.h"
#include "../base/decimal.h"
#include "../base/memory.h"
#include "../base/message.h"
#include "../base/shown.h"
#include "../evaluate/layers.h"
#include "../evaluate/predict.h"
#include "../models/converted_file.h"
#include "../models/tensor_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

static bool is_shared(const RunOptions *run)
{
    return run->layout != NULL && strcmp(run->layout, "shared") == 0;
}

/* The status behind a layer that could not be had: its file's fault, or memory. */
static int layer_fault(const Point *point)
{
    int fault = model_source_fault(point->source);
    return fault != 0 ? fault : memory_fault();
}

/* Is it more than there is room for?  Then that is said. */
static bool exceeds(double bytes, double room, bool on_disk, const RunOptions *run)
{
    const double gib = 1024.0 * 1024 * 1024;
    if (bytes > room) {
        fprintf(stderr, "headproof: %s: %s takes %.3g GiB%s; %.3g GiB%s may be used%s\n",
                run->output, on_disk ? "the converted model" : "a conversion", bytes / gib,
                on_disk ? "" : " of memory", room / gib, on_disk ? " of disk" : "",
                is_shared(run) ? "" : " (--layout shared takes less)");
    }
    return bytes > room;
}

/* Refuses, before it starts, what memory would not hold: the layers and ends of the model that are
 * there at a time, and `made` besides. */
static int check_memory(const Point *point, double made, const RunOptions *run)
{
    double bytes = point_model_bytes(point) + made;
    return exceeds(bytes, memory_room(run->memory), false, run) ? 2 : 0;
}

/* Refuses a file that is larger than what its directory's disk has free for us, or than the process
 * may write (ulimit -f).  Where neither is known the writer finds out. */
static int check_disk(double bytes, const RunOptions *run)
{
    struct statvfs disk;
    struct rlimit limit;
    double room = INFINITY;
    char *directory = need_copy(run->output);
    char *slash = strrchr(directory, '/');
    *(slash != NULL ? slash : directory) = '\0';
    if (statvfs(slash == NULL ? "." : *directory == '\0' ? "/" : directory, &disk) == 0) {
        room = (double)disk.f_bavail * (double)disk.f_frsize;
    }
    free(directory);
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        room = fmin(room, (double)limit.rlim_cur);
    }
    return exceeds(bytes, room, true, run) ? 99 : 0;
}

static void say_made(const PlainModel *plain, const RunOptions *run)
{
    printf("%s: %zu sublayers of %zu heads", shown(run->output).text, plain->sublayer_count,
           plain->sublayers[0].heads);
    if (is_shared(run)) {
        for (size_t s = 1; s < plain->sublayer_count && s < plain->layer_end[0]; s++) {
            printf(", %zu", plain->sublayers[s].heads);
        }
        printf("%s on a stream of %zu rows and %zu columns, what they share stored once; exact\n",
               plain->depth > 1 ? ", ..." : "", plain->rows, layout_content(&plain->layout));
        return;
    }
    printf(" of rank %zu on a stream of %zu rows and %zu columns; %s\n", plain->sublayers[0].rank,
           plain->rows, plain->width, plain->inexact == NULL ? "exact" : plain->inexact);
}

/* "Omega = 16.2, penalty negative", and what is proven of it. */
static void say_omega(const Point *point, const ConvertedSaid *said)
{
    char sentence[CONVERTED_SENTENCE] = "", omega[DECIMAL_TEXT], shrunk[DECIMAL_TEXT];
    char tau[DECIMAL_TEXT];
    bool shrinks = point_omega(point) != point->omega;
    decimal_print(omega, point_omega(point));
    decimal_print(shrunk, point->omega);
    if (said->tolerance > 0) {
        converted_said_sentence(sentence, said, point->spec.n);
    }
    bool fourfold = point->spec.bias_self == BIAS_SELF_FOURFOLD;
    fprintf(stderr, "headproof: Omega = %s%s%s%s", omega, shrinks ? " (--omega " : "",
            shrinks ? shrunk : "", shrinks ? " before --shrink)" : "");
    if (said->readout > 0) {
        decimal_print(tau, said->tau);
        fprintf(stderr, ", tau = %s of %zu pair%s", tau, said->readout,
                said->readout == 1 ? "" : "s");
    }
    fprintf(stderr, ", penalty %s%s%s%s\n", axis_info(AXIS_PENALTY)->domain.words[point->penalty],
            fourfold ? ", the bias row attends itself with 4 Omega" : "",
            *sentence != '\0' ? ": " : "", sentence);
}

static int refuse_model(const Point *point, const char *reason)
{
    fprintf(stderr, "headproof: %s: %s\n", shown(point->source->path).text, reason);
    return 2;
}

static int write_converted(const Pair *pair, const Point *point, const ConvertedSaid *said,
                           const RunOptions *run)
{
    PlainModel plain;
    const char *reason;
    const Model *model = case_converted(pair, point->penalty);
    const PlainHeads heads = is_shared(run) ? PLAIN_FRAME : PLAIN_ROLLING;
    /* The room for what is made in memory, before anything is. */
    double bytes = plain_bytes(model, point_omega(point), heads);
    bytes += converted_file_memory(&model->layout, point->source->file, is_shared(run));
    int status = isnan(bytes) ? layer_fault(point) : check_memory(point, bytes, run);
    if (status != 0) {
        return status;
    }
    const Start start = case_start(pair, point->penalty, point_omega(point));
    PlainStatus built = plain_build(&plain, &reason, &start, heads);
    if (built != PLAIN_OK) {
        return built == PLAIN_NO_LAYER ? layer_fault(point) : refuse_model(point, reason);
    }
    Converted of = {&plain, point->source->file, &pair->final_norm, said};
    status = converted_file_bytes(&bytes, &of);
    status = status != 0 ? status : check_disk(bytes, run);
    status = status != 0 ? status : converted_file_write(run->output, &of);
    bool says = status == 0 && !run->quiet;
    if (says) {
        say_made(&plain, run);
    }
    if (says && !construction_info(point->spec.construction)->masked) {
        say_omega(point, said);
    }
    plain_clear(&plain);
    return status;
}

/* Positions that the model never learned cannot be asked for. */
static int check_context(const Point *point)
{
    const ModelFile *file = point->source->file;
    if (file->W_E != NULL && file->W_pos != NULL && point->spec.n > file->context) {
        return complain_of(point->source->path, "tensor", "pos_embed.W_pos",
                           "%zu positions: expected one for each of the %zu tokens of --n or of X",
                           file->context, point->spec.n);
    }
    return 0;
}

/* ---- Without --omega ------------------------------------------------------------------------ */

static bool was_asked(const Point *point, Axis axis)
{
    return (point->asked >> axis & 1) != 0;
}

#define ASK_OMEGA "headproof: convert: expected --omega; one that is proven for every input "

/* The smallest Omega that is proven; *logits: of a logit. */
static int prove_omega(double *omega, bool *logits, const Point *point, const RunOptions *run)
{
    Bound bound;
    Proven proven = {0};
    char tolerance[DECIMAL_TEXT];
    Point own = *point;
    own.omega = 0;
    if (bound_work(point) > BOUND_WORK_MOST) {
        fprintf(stderr,
                ASK_OMEGA "takes about %.1e multiplications, and up to %.0e are made here: "
                          "headproof guarantee finds it\n",
                bound_work(point), BOUND_WORK_MOST);
        return 2;
    }
    int status = bound_open(&bound, point, run);
    if (status == 0) {
        proven = bound_at(&bound, &own);
    }
    if (status == 2) {
        fprintf(stderr, ASK_OMEGA "needs %s\n", bound.why);
    }
    if (proven.none) {
        decimal_print(tolerance, own.tolerance);
        fprintf(stderr, ASK_OMEGA "to keep it within %s is not there, up to the largest double\n",
                tolerance);
        status = 2;
    }
    *omega = proven.point.omega;
    *logits = proven.logits;
    bound_clear(&bound);
    return status;
}

/* Of an Omega that is not given: point has it, with Omega taken from what is ignored. */
static int choose_omega(Point *point, ConvertedSaid *said, const RunOptions *run)
{
    bool given = was_asked(point, AXIS_OMEGA);
    if (given || construction_info(point->spec.construction)->masked) {
        bool tolerated = was_asked(point, AXIS_TOLERANCE);
        const char *flag = tolerated ? "tolerance" : "input-norm";
        if (tolerated || run->input_norm > 0) {
            return complain((Origin){.flag = flag}, NULL,
                            "expected it without --omega, which it is to find");
        }
        return 0;
    }
    if (run->input_norm > 0 && point->source->file->W_E != NULL) {
        return complain((Origin){.flag = "input-norm"}, NULL,
                        "expected none with an embedding: rows of X are the model's tokens");
    }
    if (!point->judged) {
        return complain((Origin){.flag = "tolerance"}, "none", "expected one to meet, or --omega");
    }
    int status = bound_check_x(NULL, point, run);
    status = status != 0 ? status : prove_omega(&point->omega, &said->logits, point, run);
    said->tolerance = point->tolerance;
    said->input_norm = run->input_norm;
    return status;
}

/* Whether there is such a model, and room for it. */
static int check_outline(const Point *point, const RunOptions *run)
{
    Pair pair;
    const char *reason;
    if (case_outline(&pair, &reason, &point->spec) != CASE_OK) {
        return refuse_model(point, reason);
    }
    case_clear(&pair);
    return check_memory(point, 0, run);
}

int command_convert(const Grid *grid, const RunOptions *run)
{
    Pair pair;
    Layers *layers;
    if (run->output == NULL || grid->count != 1) {
        return complain((Origin){0}, "convert",
                        run->output == NULL ? "expected --output FILE"
                                            : "expected one omega and one form");
    }
    if (is_of_pytorch(run->output)) {
        return complain((Origin){.flag = "output"}, run->output,
                        "expected another name: what is written are safetensors, which no "
                        "torch.load reads");
    }
    Point point = grid->points[0];
    bool reads_out = case_reads_out(&point.spec);
    ConvertedSaid said = {.form = construction_names[point.spec.construction],
                          .readout = reads_out ? point.spec.readout : 0,
                          .tau = point.spec.tau};
    int status = check_context(&point);
    status = status == 0 ? choose_omega(&point, &said, run) : status;
    status = status == 0 ? check_outline(&point, run) : status;
    if (status != 0) {
        return status;
    }
    if (layers_build(&pair, &layers, &point.spec, point.source, NULL) != CASE_OK) {
        return memory_fault();
    }
    status = write_converted(&pair, &point, &said, run);
    layers_clear(layers);
    case_clear(&pair);
    return status;
}
