/*
 * The table of commands, and the help that is printed from it.
 */
#include "commands.h"

#include "../base/info.h"
#include "../base/message.h"
#include "../evaluate/witness.h"
#include "../grid/help.h"
#include "../grid/options.h"
#include "attribute/attribute.h"
#include "cost/cost.h"
#include "guarantee/row.h"
#include "manual/manual.h"
#include "min_omega/search.h"
#include "sweep/sweep.h"
#include "verify/print.h"

#include <stdio.h>
#include <string.h>

/* Sets of flags. */
_Static_assert(FLAG_COUNT <= 64, "a set of flags is a uint64_t");
#define BIT(flag) ((uint64_t)1 << (flag))
#define EVERY                                                                                      \
    (BIT(FLAG_QUIET) | BIT(FLAG_VERBOSE) | BIT(FLAG_IGNORE_EXTRA) | BIT(FLAG_IGNORE_CONFIG) |      \
     BIT(FLAG_MEMORY) | BIT(FLAG_WITNESS) | BIT(FLAG_WITNESS_TOLERANCE))
/* The flags about a weights file whose model is evaluated. */
#define EVALUATES (EVERY | BIT(FLAG_POSITION_EMBEDDING) | BIT(FLAG_BLOCKS))
/* The same, and how long that will take. */
#define FORETOLD (EVALUATES | BIT(FLAG_DRY_RUN))
#define OUTPUT BIT(FLAG_OUTPUT)
#define TABLE (OUTPUT | BIT(FLAG_FORMAT))
#define THREADS BIT(FLAG_THREADS)
#define RESUMED BIT(FLAG_RESUME)
#define PROVEN (BIT(FLAG_DIGITS) | BIT(FLAG_CERTIFY))
#define SWEPT                                                                                      \
    (FORETOLD | TABLE | BIT(FLAG_COLOR) | BIT(FLAG_EXPAND) | THREADS | RESUMED | BIT(FLAG_SHARD) | \
     BIT(FLAG_PROPAGATION) | PROVEN)
#define EVERY_INPUT (BIT(FLAG_EVERY_INPUT) | BIT(FLAG_INPUT_NORM))
#define REPORTED (BIT(FLAG_COLOR) | BIT(FLAG_JUNIT_XML) | BIT(FLAG_MARKDOWN) | BIT(FLAG_JSON))
#define CHECKED                                                                                    \
    (REPORTED | BIT(FLAG_BASELINE) | BIT(FLAG_SAVE_BASELINE) | BIT(FLAG_FORCE) |                   \
     BIT(FLAG_UPDATE) | BIT(FLAG_FACTOR) | BIT(FLAG_EXACT))
#define TEXTS                                                                                      \
    (BIT(FLAG_TOKENS_FILE) | BIT(FLAG_TEXT) | BIT(FLAG_CHARACTERS) | BIT(FLAG_WINDOW) |            \
     BIT(FLAG_STRIDE) | BIT(FLAG_POSITIONS))
#define OF_MODELS (EVALUATES | OUTPUT | THREADS | BIT(FLAG_NETWORK))

/* Sets of axes. */
#define EVALUATED (ROLE_MACHINE | ROLE_REFERENCE | ROLE_JUDGED)

#define CASE_FILES "[CASE-FILE...]"
#define MODEL "MODEL.safetensors"

/* The commands, or the flags of the one that argv[2] names. */
static int run_help(int argc, char **argv)
{
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

static int run_manual(int argc, char **argv);

#define OWN(flags) .own_flags = (flags), .own_flag_count = sizeof(flags) / sizeof *(flags)

/* In this order plot.c reads them. */
static const FlagInfo plot_flags[] = {
    {"output", "FILE", "the picture, by gnuplot: .svg, .png, .pdf, or .gp, its script; else text",
     'o', NULL},
    {"x", "AXIS", "what runs along the picture; else what varies most", 0, NULL},
    {"error", "ERROR", "draw that of the six errors alone", 0, NULL},
    {"norm", "NORM", "how errors are measured: max, rms or rel; else what fits", 0, NULL},
    {"tolerance", "T", "a line at T, and where it is met; else the table's own", 0, NULL},
    {"size", "WxH", "of a picture in a file, in pixels: 800x600, or the width alone", 0, NULL},
    {"title", "TEXT", "in place of the picture's own; none: without", 0, NULL},
    {"caption", "TEXT", "the same of what stands below it", 0, NULL},
    {"laws", NULL, "the laws that growth finds, as lines over the curves of a picture", 0, NULL},
};
static const FlagInfo merge_flags[] = {
    {"output", "FILE", "the table, else on stdout; it appears complete or not at all", 'o', NULL},
    {"format", "FORMAT", "write it as csv, the default, table, json, jsonl or markdown", 0, NULL},
};
static const FlagInfo report_flags[] = {{"output", "FILE", "the page", 'o', NULL}};

static const CommandInfo commands[COMMAND_COUNT] = {
    [COMMAND_SWEEP] = {.name = "sweep",
                       .summary = "errors at every point of a grid, one CSV row a layer",
                       .usage = CASE_FILES,
                       .run = command_sweep,
                       .settle = witness_settle,
                       .write_header = sweep_write_header,
                       .layers = true,
                       .flags = SWEPT,
                       .shared = true},
    [COMMAND_DEPTH] = {.name = "depth",
                       .summary = "sweep with 96 layers: error against depth",
                       .usage = CASE_FILES,
                       .run = command_sweep,
                       .settle = witness_settle,
                       .write_header = sweep_write_header,
                       .own = {{AXIS_DEPTH, {.form = FORM_INTEGER, .integer = 96}}},
                       .own_count = 1,
                       .layers = true,
                       .flags = SWEPT,
                       .shared = true},
    [COMMAND_MIN_OMEGA] = {.name = "min-omega",
                           .summary = "the Omegas that met a tolerance wherever evaluated, "
                                      "and the best",
                           .usage = CASE_FILES,
                           .run = command_min_omega,
                           .settle = witness_settle,
                           .write_header = row_write_header,
                           .refused = ROLE_OMEGA,
                           .why_not = "finds",
                           .layers = true,
                           .flags = FORETOLD | TABLE | THREADS | REPORTED | BIT(FLAG_CERTIFY) |
                                    BIT(FLAG_POSITIONS) | EVERY_INPUT,
                           .seconds = search_seconds,
                           .searches_omega = true,
                           .judges_logits = true},
    [COMMAND_GROWTH] = {.name = "growth",
                        .summary = "the laws by which errors grow along Omega, N, D and depth",
                        .usage = "[CASE-FILE... | TABLE.csv...]",
                        .run = command_growth,
                        .settle = witness_settle,
                        .write_header = growth_write_header,
                        .layers = true,
                        .flags = FORETOLD | TABLE | BIT(FLAG_COLOR) | THREADS | BIT(FLAG_DIGITS) |
                                 BIT(FLAG_CHECK) | BIT(FLAG_PREDICT) | BIT(FLAG_EVALUATIONS),
                        .reads_tables = true},
    [COMMAND_CHECK] = {.name = "check",
                       .summary = "the verdict against a baseline or tolerances, for CI",
                       .usage = CASE_FILES,
                       .run = command_check,
                       .settle = witness_settle,
                       .layers = true,
                       .flags =
                           FORETOLD | THREADS | RESUMED | CHECKED | BIT(FLAG_DIGITS) | EVERY_INPUT},
    [COMMAND_EXPORT] = {.name = "export",
                        .summary = "a point's weights, input and results as a safetensors file",
                        .usage = CASE_FILES,
                        .run = command_export,
                        .settle = witness_settle,
                        .refused = ROLE_ROW, /* it writes them all */
                        .own = {{AXIS_REFERENCE,
                                 {.form = FORM_WORD, .integer = REFERENCE_SUBTRACT}}},
                        .own_count = 1,
                        .flags = FORETOLD | OUTPUT | THREADS,
                        .subtracts = true,
                        .writes_tensors = true},
    [COMMAND_VERIFY] = {.name = "verify",
                        .summary = "a trained model through all of it, with a verdict",
                        .usage = MODEL,
                        .run = command_verify,
                        .settle = witness_settle,
                        .write_header = verify_write_header,
                        .operands = OPERANDS_MODEL,
                        .refused = ROLE_INPUTS,
                        .own = {{AXIS_KERNEL, {.form = FORM_WORD, .integer = KERNEL_STRUCTURED}},
                                {AXIS_PENALTY, {.form = FORM_WORD, .integer = PENALTY_NEGATIVE}}},
                        .own_count = 2,
                        .layers = true,
                        .flags = OF_MODELS | BIT(FLAG_DRY_RUN) | BIT(FLAG_FORMAT) |
                                 BIT(FLAG_TOKENS) | TEXTS | BIT(FLAG_SHARD) | BIT(FLAG_CERTIFY) |
                                 REPORTED | EVERY_INPUT,
                        .proves_omega = true,
                        .judges_logits = true,
                        .foretells = true},
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
                         .layers = true,
                         .flags = OF_MODELS | BIT(FLAG_LAYOUT) | BIT(FLAG_INPUT_NORM),
                         .proves_omega = true,
                         .needs_rows = true,
                         .writes_tensors = true},
    [COMMAND_GUARANTEE] =
        {.name = "guarantee",
         .summary = "an Omega that is proven enough for every input",
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
         .flags = EVERY | TABLE | REPORTED | BIT(FLAG_POSITION_EMBEDDING) | BIT(FLAG_BLOCKS) |
                  BIT(FLAG_NETWORK) | BIT(FLAG_INPUT_NORM),
         .proves_omega = true},
    [COMMAND_COST] = {.name = "cost",
                      .summary = "heads, widths, parameters and arithmetic, before and after",
                      .usage = "[" MODEL "]",
                      .run = command_cost,
                      .settle = witness_settle,
                      .write_header = cost_write_header,
                      .operands = OPERANDS_SIZES,
                      .wanted = ROLE_SIZE,
                      .why_not = "does not depend on",
                      .flags = EVERY | TABLE | BIT(FLAG_PRESET) | BIT(FLAG_MEASURE),
                      .blas = BLAS_TO_MEASURE},
    [COMMAND_ATTRIBUTE] = {.name = "attribute",
                           .summary = "a model's logits as exact sums over heads and source tokens",
                           .usage = MODEL,
                           .run = command_attribute,
                           .settle = witness_settle,
                           .write_header = attribute_write_header,
                           .operands = OPERANDS_MODEL,
                           /* it is of the reference's T' */
                           .refused = EVALUATED | ROLE_INPUTS | ROLE_FORM,
                           .flags = OF_MODELS | BIT(FLAG_FORMAT) | BIT(FLAG_TOKENS) | BIT(FLAG_BY) |
                                    BIT(FLAG_LOGITS)},
    [COMMAND_MERGE] = {.name = "merge",
                       .summary = "the shards of a sweep as one table: SHARD.csv... [-o FILE.csv]",
                       .usage = "SHARD.csv... [-o FILE.csv] [--format FORMAT]",
                       .run_words = command_merge,
                       OWN(merge_flags)},
    [COMMAND_PLOT] = {.name = "plot",
                      .summary = "a picture of tables, by gnuplot, or as text: FILE.csv...",
                      .usage = "FILE.csv... [-o FILE.svg|png|pdf|gp] [--x AXIS] [--error ERROR] "
                               "[--norm NORM] [--tolerance T] [--size WxH] [--title TEXT] "
                               "[--caption TEXT] [--laws]",
                      .run_words = command_plot,
                      OWN(plot_flags)},
    [COMMAND_REPORT] = {.name = "report",
                        .summary = "results as one page of HTML: FILE... -o FILE.html",
                        .usage = "FILE... -o FILE.html",
                        .run_words = command_report,
                        OWN(report_flags)},
    [COMMAND_MANUAL] = {.name = "manual",
                        .summary = "this program's manual page, completion and columns",
                        .usage = "man|bash|zsh|columns",
                        .run_words = run_manual},
    [COMMAND_INFO] = {.name = "info",
                      .summary = "the build, the machine and the libraries",
                      .run_words = run_info},
    [COMMAND_HELP] = {.name = "help",
                      .summary = "this, or the flags of a command: headproof help COMMAND",
                      .run_words = run_help},
};

/* Prints the manual, completions and pages, from the tables above: for `make install` and docs/. */
static int run_manual(int argc, char **argv)
{
    static const char *const pages[] = {"man", "bash", "zsh", "columns", "keys"};
    enum { PAGES = sizeof pages / sizeof *pages };
    const char *page = argc > 2 ? argv[2] : "";
    if (argc > 3) {
        return complain((Origin){0}, argv[3], "expected one page");
    }
    if (strcmp(page, "man") == 0) {
        man_write(stdout, commands, COMMAND_COUNT);
    } else if (strcmp(page, "bash") == 0) {
        completion_write_bash(stdout, commands, COMMAND_COUNT);
    } else if (strcmp(page, "zsh") == 0) {
        completion_write_zsh(stdout, commands, COMMAND_COUNT);
    } else if (strcmp(page, "columns") == 0) {
        return columns_page_write(stdout, commands, COMMAND_COUNT);
    } else if (strcmp(page, "keys") == 0) {
        return keys_page_write(stdout);
    } else {
        return complain_unknown((Origin){0}, page, "a page", pages, PAGES, PAGES);
    }
    return 0;
}

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
