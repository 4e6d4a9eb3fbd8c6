/*
 * The cases of a verdict on a model: of each layer at an Omega its judged error.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "verify.h"

#include "../commands.h"
#include "../guarantee/bound.h"

#include "../../base/decimal.h"
#include "../../base/shown.h"
#include "../../point/point.h"
#include "../../table/table.h"

void verify_cases_header(FILE *file, const RunOptions *run)
{
    (void)run; /* whatever is asked */
    for (size_t column = VERIFY_MODEL; column <= VERIFY_OPTIONS; column++) {
        fprintf(file, "%s,", verify_column(column));
    }
    fprintf(file, "%s,tolerance,judged,norm,error,bound,%s\n", verify_column(VERIFY_LAYER),
            verify_column(VERIFY_STATUS));
}

/* Of the last layer that of the logits, where it is judged; of others that of their stream. */
static void write_error(FILE *file, const Verify *verify, size_t l)
{
    const Point *point = verify->template;
    bool of_logits = point->judge_of != JUDGE_STREAMS && l + 1 == point->spec.depth;
    const VerifyRow *layer = &verify->layers[l];
    if (!of_logits) {
        fprintf(file, "%s,%s,", axis_info(AXIS_JUDGE)->domain.words[point->judge],
                axis_info(AXIS_NORM)->domain.words[point->norm]);
        fputs(layer->cells[VERIFY_JUDGED + point->judge].text, file);
        fputs(layer->cells[VERIFY_JUDGED + point->judge].bound ? ",yes," : ",,", file);
        return;
    }
    mpfr_t worst;
    mpfr_init2(worst, REF_CELL_BITS);
    logit_errors_judged(worst, &verify->errors, point->judge_of);
    mpfr_fprintf(file, "%s,,%.*Re,,", point->judge_of == JUDGE_KL ? "kl" : "logits", REF_DIGITS - 1,
                 worst);
    mpfr_clear(worst);
}

/* The cells up to the tolerance; layer: from 1; 0: of all. */
static void write_key(FILE *file, const Verify *verify, size_t layer)
{
    char tolerance[DECIMAL_TEXT] = "";
    if (verify->template->judged) {
        decimal_print(tolerance, verify->template->tolerance);
    }
    const Point point = verify_point(verify);
    verify_write_key(file, &point);
    fputc(',', file);
    if (layer > 0) {
        fprintf(file, "%zu", layer);
    }
    fprintf(file, ",%s,", tolerance);
}

void verify_cases_layers(FILE *file, const void *row)
{
    const Verify *verify = row;
    for (size_t l = 0; l < verify->template->spec.depth; l++) {
        write_key(file, verify, l + 1);
        write_error(file, verify, l);
        fprintf(file, "%s\n", verify->layers[l].cells[VERIFY_STATUS].text);
    }
}

void verify_case_proven(FILE *file, const void *row)
{
    const Verify *verify = row;
    char error[MAGNITUDE_TEXT];
    magnitude_print(error, verify->bound, REF_DIGITS);
    write_key(file, verify, 0);
    fprintf(file, "every-input,max,%s,yes,%s\n", error,
            status_name(verify->refused ? STATUS_FAIL : STATUS_OK));
}

/* ---- What reproduces it --------------------------------------------------------------------- */

static bool taken(Axis axis)
{
    return axis != AXIS_WEIGHTS && command_takes(commands_get(COMMAND_VERIFY), axis);
}

static void print_flag(FILE *file, const char *name, const char *value)
{
    if (value != NULL) {
        fprintf(file, " --%s ", name);
        shown_write(file, SHOWN_SHELL, value);
    }
}

/* The axes that point_print_flags leaves out as usual, where this command has another default. */
static void print_usual(FILE *file, const Point *point)
{
    const CommandInfo *command = commands_get(COMMAND_VERIFY);
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const AxisInfo *info = axis_info(axis);
        AxisValue own = command_standard(command, axis), value = point_get(point, axis);
        bool usual = value_compare(&value, &info->standard) == 0;
        if (usual && value_compare(&own, &value) != 0 && point_axis_matters(point, axis) &&
            taken(axis)) {
            print_flag(file, info->name, info->domain.words[value.integer]);
        }
    }
}

static void print_count(FILE *file, const char *name, size_t count)
{
    if (count > 0) {
        fprintf(file, " --%s %zu", name, count);
    }
}

void verify_print_command(FILE *file, const void *row, const RunOptions *run)
{
    const Verify *verify = row;
    const Point point = verify_point(verify);
    fputs("headproof verify ", file);
    shown_write(file, SHOWN_SHELL, point.source->path);
    point_print_flags(file, &point, taken, NULL);
    print_usual(file, &point);
    print_flag(file, "tokens", run->tokens);
    print_flag(file, "tokens-file", run->tokens_file);
    print_count(file, "window", run->window);
    print_count(file, "stride", run->stride);
    print_flag(file, "positions", run->positions);
    print_flag(file, "network", run->network);
    fputs(run->every_input ? " --every-input" : "", file);
    bound_print_input_norm(file, run);
    if (run->shards > 0) {
        fprintf(file, " --shard %zu/%zu", run->shard, run->shards);
    }
}
