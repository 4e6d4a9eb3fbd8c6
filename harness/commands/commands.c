/*
 * The table of commands, and the help that is printed from it.
 */
#include "commands.h"

#include "../base/info.h"
#include "../base/message.h"
#include "../evaluate/witness.h"
#include "../grid/help.h"
#include "attribute/attribute.h"
#include "cost/cost.h"
#include "guarantee/bound.h"
#include "min_omega/search.h"
#include "verify/columns.h"

#include <stdio.h>
#include <string.h>

/* Sets of axes. */
#define EVALUATED (ROLE_MACHINE | ROLE_REFERENCE | ROLE_JUDGED)

#define CASE_FILES "[CASE-FILE...]"
#define MODEL "MODEL.safetensors"

static const CommandInfo commands[COMMAND_COUNT];

/* The commands, or the flags of the one that argv[2] names; or all of it as JSON. */
static int run_help(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[2], "--json") == 0) {
        help_print_json(stdout, commands, COMMAND_COUNT);
        return 0;
    }
    const CommandInfo *subject = argc > 2 ? commands_find(argv[2]) : commands_get(COMMAND_HELP);
    bool all = argc > 3 && strcmp(argv[3], "--all") == 0;
    if (subject == NULL) {
        return commands_unknown(argv[2]);
    }
    if (argc > 3 + all) {
        return complain((Origin){0}, argv[3 + all], "expected --all, or nothing more");
    }
    commands_print_help(subject, all);
    return 0;
}

/* The build, the machine and the libraries. */
static int run_info(int argc, char **argv)
{
    if (argc > 2) {
        return complain((Origin){0}, argv[2], "expected nothing after info");
    }
    return info_print(stdout);
}

static const CommandInfo commands[COMMAND_COUNT] = {
    [COMMAND_SWEEP] = {.name = "sweep",
                       .summary = "errors at every point of a grid, one CSV row a layer",
                       .usage = CASE_FILES,
                       .run = command_sweep,
                       .settle = witness_settle,
                       .write_header = sweep_write_header,
                       .traits = LAYER_BY_LAYER | SHARES_POINTS},
    [COMMAND_DEPTH] = {.name = "depth",
                       .summary = "sweep with 96 layers: error against depth",
                       .usage = CASE_FILES,
                       .run = command_sweep,
                       .settle = witness_settle,
                       .write_header = sweep_write_header,
                       .own = {{AXIS_DEPTH, {.form = FORM_INTEGER, .integer = 96}}},
                       .own_count = 1,
                       .traits = LAYER_BY_LAYER | SHARES_POINTS},
    [COMMAND_MIN_OMEGA] = {.name = "min-omega",
                           .summary =
                               "the interval of Omega that meets a tolerance, and the best Omega",
                           .usage = CASE_FILES,
                           .run = command_min_omega,
                           .settle = witness_settle,
                           .write_header = row_write_header,
                           .seconds = search_seconds,
                           .traits = LAYER_BY_LAYER | SEARCHES_OMEGA | JUDGES_LOGITS},
    [COMMAND_GROWTH] = {.name = "growth",
                        .summary = "the laws by which errors grow along Omega, tau, N, D and depth",
                        .usage = "[CASE-FILE... | TABLE.csv...]",
                        .run = command_growth,
                        .settle = witness_settle,
                        .write_header = growth_write_header,
                        .traits = LAYER_BY_LAYER | READS_TABLES},
    [COMMAND_CHECK] = {.name = "check",
                       .summary = "the verdict against a baseline or tolerances, for CI",
                       .usage = CASE_FILES,
                       .run = command_check,
                       .settle = witness_settle,
                       .traits = LAYER_BY_LAYER},
    [COMMAND_EXPORT] = {.name = "export",
                        .summary = "a point's weights, input and results as a safetensors file",
                        .usage = CASE_FILES,
                        .run = command_export,
                        .settle = witness_settle,
                        .refused = ROLE_ROW, /* it writes them all */
                        .own = {{AXIS_REFERENCE,
                                 {.form = FORM_WORD, .integer = REFERENCE_SUBTRACT}}},
                        .own_count = 1,
                        .traits = SUBTRACTS | WRITES_TENSORS},
    [COMMAND_VERIFY] = {.name = "verify",
                        .summary = "a trained model, its rewrite and its errors, with a verdict",
                        .usage = MODEL,
                        .run = command_verify,
                        .settle = witness_settle,
                        .write_header = verify_write_header,
                        .operands = OPERANDS_MODEL,
                        .refused = ROLE_INPUTS,
                        .own = {{AXIS_KERNEL, {.form = FORM_WORD, .integer = KERNEL_STRUCTURED}},
                                {AXIS_PENALTY, {.form = FORM_WORD, .integer = PENALTY_NEGATIVE}}},
                        .own_count = 2,
                        .traits = LAYER_BY_LAYER | JUDGES_LOGITS | PROVES_OMEGA},
    [COMMAND_CONVERT] = {.name = "convert",
                         .summary = "the attention-only model itself, as a safetensors file",
                         .usage = MODEL,
                         .run = command_convert,
                         .settle = witness_settle,
                         .operands = OPERANDS_MODEL,
                         /* nothing is evaluated */
                         .refused = ROLE_MACHINE | ROLE_REFERENCE | ROLE_BITS | ROLE_MEASURE,
                         .own = {{AXIS_TOLERANCE, {.form = FORM_REAL, .real = 1e-9}},
                                 {AXIS_PENALTY, {.form = FORM_WORD, .integer = PENALTY_NEGATIVE}}},
                         .own_count = 2,
                         .traits = LAYER_BY_LAYER | WRITES_TENSORS | PROVES_OMEGA | NEEDS_ROWS},
    [COMMAND_GUARANTEE] =
        {.name = "guarantee",
         .summary = "the smallest Omega that is proven for every input",
         .usage = "[" MODEL "]",
         .run = command_guarantee,
         .settle = witness_settle,
         .write_header = guarantee_write_header,
         .operands = OPERANDS_EITHER,
         .refused = ROLE_REFERENCE | ROLE_BITS | ROLE_MEASURE | ROLE_FORM,
         .own = {{AXIS_ARITHMETIC, {.form = FORM_WORD, .integer = ARITHMETIC_NONE}},
                 {AXIS_KERNEL, {.form = FORM_WORD, .integer = KERNEL_STRUCTURED}}},
         .own_count = 2,
         .why_not = "does not depend on",
         .traits = PROVES_OMEGA},
    [COMMAND_COST] = {.name = "cost",
                      .summary = "heads, widths, parameters and arithmetic, before and after",
                      .usage = "[" MODEL "]",
                      .run = command_cost,
                      .settle = witness_settle,
                      .write_header = cost_write_header,
                      .operands = OPERANDS_SIZES,
                      .wanted = ROLE_SIZE,
                      .why_not = "does not depend on",
                      .traits = BLAS_TO_MEASURE},
    [COMMAND_ATTRIBUTE] = {.name = "attribute",
                           .summary = "a model's logits as exact sums over heads and source tokens",
                           .usage = MODEL,
                           .run = command_attribute,
                           .settle = witness_settle,
                           .write_header = attribute_write_header,
                           .operands = OPERANDS_MODEL,
                           /* it is of the reference's T' */
                           .refused = EVALUATED | ROLE_INPUTS | ROLE_FORM},
    [COMMAND_MERGE] = {.name = "merge",
                       .summary = "the shards of a sweep as one table: SHARD.csv... [-o FILE.csv]",
                       .usage = "SHARD.csv... [-o FILE.csv] [--format FORMAT]",
                       .run = command_merge,
                       .operands = OPERANDS_TABLES,
                       .traits = BLAS_TO_MEASURE},
    [COMMAND_PLOT] = {.name = "plot",
                      .summary = "a picture of tables: FILE.csv... -o FILE.svg",
                      .usage = "FILE.csv... -o FILE.svg|png|pdf [--x AXIS] [--error ERROR] "
                               "[--norm NORM] [--tolerance T] [--size WxH] [--title TEXT] "
                               "[--caption TEXT] [--laws]",
                      .run = command_python,
                      .operands = OPERANDS_TABLES,
                      .traits = BLAS_TO_MEASURE | WRITES_PAGES},
    [COMMAND_REPORT] = {.name = "report",
                        .summary = "results as one page of HTML: FILE... -o FILE.html",
                        .usage = "FILE... -o FILE.html",
                        .run = command_python,
                        .operands = OPERANDS_TABLES,
                        .traits = BLAS_TO_MEASURE | WRITES_PAGES},
    [COMMAND_INFO] = {.name = "info",
                      .summary = "the build, the machine and the libraries",
                      .run_words = run_info},
    [COMMAND_HELP] = {.name = "help",
                      .summary = "this, or the flags of a command: headproof help COMMAND",
                      .run_words = run_help},
};

const CommandInfo *commands_get(Command command)
{
    return &commands[command];
}

const CommandInfo *commands_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

int commands_unknown(const char *name)
{
    if (strcmp(name, "manual") == 0) {
        return complain((Origin){0}, name,
                        "this command is gone: make install installs the manual page and "
                        "completion, and headproof help --json prints what they are made of");
    }
    const char *names[COMMAND_COUNT + 2] = {[COMMAND_COUNT] = "--version", "--help"};
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
    }
    return complain_unknown((Origin){0}, name, "a command", names, COMMAND_COUNT,
                            COMMAND_COUNT + 2);
}

void commands_print_help(const CommandInfo *command, bool all)
{
    if (command == &commands[COMMAND_HELP]) {
        help_print_overview(stdout, commands, COMMAND_COUNT);
    } else {
        help_print_command(stdout, command, all);
    }
}
