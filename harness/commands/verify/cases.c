/*
 * The cases of a verdict on a model: of each layer at an Omega its judged error.
 */
#include <stdio.h> /* before mpfr.h: declares mpfr_fprintf */

#include "cases.h"

#include "columns.h"

#include "../commands.h"

#include "../../base/decimal.h"
#include "../../base/shown.h"
#include "../../base/text_stream.h"
#include "../../table/table.h"

#include <stdlib.h>

const OutcomeKind verify_outcome = {.command = "verify",
                                    .reason = "above its tolerance",
                                    .column = "error",
                                    .limit = "tolerance",
                                    .bounds = "bound"};

void verify_cases_header(FILE *file)
{
    for (size_t column = VERIFY_MODEL; column <= VERIFY_OPTIONS; column++) {
        fprintf(file, "%s,", verify_column(column));
    }
    fprintf(file, "%s,tolerance,judged,norm,error,bound,%s\n", verify_column(VERIFY_LAYER),
            verify_column(VERIFY_STATUS));
}

/* Of the last layer that of the logits, where it is judged; of others that of their stream. */
static int write_error(FILE *file, const Verify *verify, size_t l, const LogitErrors *logits)
{
    const Point *point = verify->template;
    bool of_logits = point->judge_of != JUDGE_STREAMS && l + 1 == point->spec.depth;
    const RefCell *cell = &verify->layers[l].judged[point->judge];
    if (!of_logits) {
        fprintf(file, "%s,%s,", axis_info(AXIS_JUDGE)->domain.words[point->judge],
                axis_info(AXIS_NORM)->domain.words[point->norm]);
        int status = table_write_cell(file, cell);
        fputs(cell->state == CELL_BOUND ? ",yes," : ",,", file);
        return status;
    }
    mpfr_t worst;
    mpfr_init2(worst, REF_CELL_BITS);
    logit_errors_judged(worst, logits, point->judge_of);
    int written = mpfr_fprintf(file, "%s,,%.*Re,,", point->judge_of == JUDGE_KL ? "kl" : "logits",
                               REF_DIGITS - 1, worst);
    mpfr_clear(worst);
    return written < 0 ? -1 : 0;
}

static int write_case(FILE *file, const Verify *verify, const char *omega, size_t l,
                      const LogitErrors *logits)
{
    char tolerance[DECIMAL_TEXT] = "";
    if (verify->template->judged) {
        decimal_print(tolerance, verify->template->tolerance);
    }
    int status = verify_write_key(file, verify, omega);
    fprintf(file, ",%zu,%s,", l + 1, tolerance);
    status |= write_error(file, verify, l, logits);
    fprintf(file, "%s\n", status_name(verify->layers[l].status));
    return status;
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

static void print_count(FILE *file, const char *name, size_t count)
{
    if (count > 0) {
        fprintf(file, " --%s %zu", name, count);
    }
}

/* The model at this Omega, on the same inputs. */
static void print_command(FILE *file, const Verify *verify, double omega)
{
    const RunOptions *run = verify->options;
    Point point = *verify->template;
    point.omega = omega;
    fputs("headproof verify ", file);
    shown_write(file, SHOWN_SHELL, point.source->path);
    point_print_flags(file, &point, taken, NULL);
    print_flag(file, "tokens", run->tokens);
    print_flag(file, "tokens-file", run->tokens_file);
    print_flag(file, "text", run->text);
    print_flag(file, "characters", run->characters);
    print_count(file, "window", run->window);
    print_count(file, "stride", run->stride);
    print_flag(file, "positions", run->positions);
    print_flag(file, "form", run->form);
    fputs(run->every_input ? " --every-input" : "", file);
    if (run->input_norm > 0) {
        fprintf(file, " --input-norm %.17g", run->input_norm);
    }
    if (run->shards > 0) {
        fprintf(file, " --shard %zu/%zu", run->shard, run->shards);
    }
}

/* NULL: memory is short. */
static char *command_text(const Verify *verify, double omega)
{
    char *text = NULL;
    size_t size;
    FILE *file = text_stream(&text, &size);
    if (file == NULL) {
        return NULL;
    }
    print_command(file, verify, omega);
    if (fclose(file) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

int verify_cases_add(Outcome *outcome, const Verify *verify, double omega,
                     const LogitErrors *logits, double seconds)
{
    size_t depth = verify->template->spec.depth;
    char text[DECIMAL_TEXT];
    int status = 0;
    decimal_print(text, omega);
    for (size_t l = 0; outcome->file != NULL && l < depth && status == 0; l++) {
        /* What cannot be written the stream remembers. */
        (void)write_case(outcome->file, verify, text, l, logits);
        status = outcome_case(outcome, seconds / (double)depth, command_text(verify, omega));
    }
    return status;
}

int verify_cases_proven(Outcome *outcome, const Verify *verify, double omega, Magnitude bound,
                        bool refused)
{
    char text[DECIMAL_TEXT], tolerance[DECIMAL_TEXT], error[MAGNITUDE_TEXT];
    if (outcome->file == NULL) {
        return 0;
    }
    decimal_print(text, omega);
    decimal_print(tolerance, verify->template->tolerance);
    magnitude_print(error, bound, REF_DIGITS);
    (void)verify_write_key(outcome->file, verify, text); /* the stream remembers */
    fprintf(outcome->file, ",,%s,every-input,max,%s,yes,%s\n", tolerance, error,
            status_name(refused ? STATUS_FAIL : STATUS_OK));
    return outcome_case(outcome, 0, command_text(verify, omega));
}
