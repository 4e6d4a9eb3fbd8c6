/*
 * The command `plot`: its words, and the picture on its way to a file or a terminal.
 */
#include "bars.h"
#include "render.h"

#include "../../base/atomic_file.h"
#include "../../base/message.h"
#include "../../base/number.h"
#include "../../base/shown.h"
#include "../../base/streams.h"
#include "../../base/words.h"
#include "../../grid/distinct.h"
#include "../commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char **tables; /* [table_count] */
    size_t table_count;
    const char *output; /* NULL: text on stdout */
    Target target;
    Norm norm; /* NORM_COUNT: what fits */
    PictureWish wish;
    unsigned given; /* bit f: flag f was */
} Plot;

/* ---- Words ----------------------------------------------------------------------------------- */

static int refuse_words(const char *word)
{
    return complain((Origin){0}, word, "expected %s", commands_get(COMMAND_PLOT)->usage);
}

/* *index = the place of a word among those of an axis, as a flag takes them. */
static int read_choice(size_t *index, const char *flag, Axis axis, const char *word)
{
    Domain domain = axis_info(axis)->domain;
    char list[256];
    if (axis == AXIS_JUDGE) {
        domain.word_count = ERROR_KINDS; /* logits are no column of a sweep */
    }
    for (size_t i = 0; i < domain.word_count; i++) {
        if (strcmp(domain.words[i], word) == 0) {
            *index = i;
            return 0;
        }
    }
    domain_describe(list, sizeof list, &domain);
    return complain((Origin){.flag = flag}, word, "expected %s", list);
}

static int read_tolerance(double *log10_value, const char *word)
{
    Number number;
    if (!number_read(&number, word) || number.kind != NUMBER_FINITE || number.negative ||
        number.digits == 0) {
        return complain((Origin){.flag = "tolerance"}, word, "expected a number above 0");
    }
    *log10_value = log10((double)number.digits) + (double)(number.exponent - (NUMBER_DIGITS - 1));
    return 0;
}

static int read_output(Plot *plot, const char *path)
{
    static const char *const endings[TARGET_COUNT] = {".svg", ".png", ".pdf", ".gp"};
    size_t length = strlen(path);
    for (Target target = 0; target < TARGET_COUNT; target++) {
        size_t ending = strlen(endings[target]);
        if (length > ending && strcmp(path + length - ending, endings[target]) == 0) {
            plot->output = path;
            plot->target = target;
            return 0;
        }
    }
    return complain((Origin){.flag = "output"}, path,
                    "expected a name that ends in .svg, .png, .pdf, or .gp for gnuplot's script");
}

/* One flag with its value.  -1: the word is none. */
static int read_flag(Plot *plot, int *i, int argc, char **argv)
{
    const CommandInfo *command = commands_get(COMMAND_PLOT);
    const FlagInfo *flags = command->own_flags;
    const char *value = NULL;
    size_t flag = 0, choice = 0;
    if (strcmp(argv[*i], "--laws") == 0) {
        plot->wish.laws = true;
        return 0;
    }
    while (flag < command->own_flag_count &&
           (value = words_value(flags[flag].name, i, argc, argv)) == NULL) {
        flag++;
    }
    int status = 0;
    if (value != NULL && (plot->given & 1U << flag) != 0) {
        return complain((Origin){.flag = flags[flag].name}, value, "expected the flag once");
    }
    plot->given |= value != NULL ? 1U << flag : 0;
    switch (flag) {
    case 0: return read_output(plot, value);
    case 1: plot->wish.x = value; return 0;
    case 2:
        status = read_choice(&choice, flags[flag].name, AXIS_JUDGE, value);
        plot->wish.error = (int)choice;
        return status;
    case 3:
        status = read_choice(&choice, flags[flag].name, AXIS_NORM, value);
        plot->norm = (Norm)choice;
        return status;
    case 4: return read_tolerance(&plot->wish.tolerance, value);
    default: return -1;
    }
}

static int read_words(Plot *plot, int argc, char **argv)
{
    int status = 0;
    for (int i = 2; i < argc && status == 0; i++) {
        int at = i;
        status = read_flag(plot, &i, argc, argv);
        if (status == -1) {
            status = argv[at][0] == '-' ? refuse_words(argv[at]) : 0;
            plot->tables[plot->table_count++] = argv[at];
        }
    }
    return status == 0 && plot->table_count == 0 ? refuse_words("plot") : status;
}

/* No table is written over. */
static int check_files(const Plot *plot)
{
    const NamedFile written = {"output", plot->output, false};
    NamedFile *read = calloc(plot->table_count + 1, sizeof *read);
    if (read == NULL) {
        return memory_fault();
    }
    for (size_t i = 0; i < plot->table_count; i++) {
        read[i] = (NamedFile){NULL, plot->tables[i], true};
    }
    int status = distinct_check(&written, 1, read, plot->table_count);
    free(read);
    return status;
}

/* ---- The picture ----------------------------------------------------------------------------- */

static int write_content(const char *path, const char *text, size_t size)
{
    AtomicFile file = {0};
    int status = atomic_file_open(&file, path);
    if (status != 0) {
        return status;
    }
    return atomic_file_finish(&file, fwrite(text, 1, size, file.file) == size, path);
}

static int show(const Plot *plot, const Picture *picture)
{
    char *text = NULL;
    size_t size = 0;
    if (plot->output == NULL) {
        return bars_print(stdout, picture) != 0 ? streams_stdout_failed() : 0;
    }
    int status = render(&text, &size, picture, plot->target);
    status = status != 0 ? status : write_content(plot->output, text, size);
    if (status == 0) {
        printf("picture: %s\n", shown(plot->output).text);
    }
    free(text);
    return status;
}

/* Searches judge by themselves. */
static int check_wish(const Plot *plot, const PlotData *data)
{
    const char *flag = plot->wish.error >= 0          ? "error"
                       : plot->norm != NORM_COUNT     ? "norm"
                       : !isnan(plot->wish.tolerance) ? "tolerance"
                       : plot->wish.laws              ? "laws"
                                                      : NULL;
    if (data->searched && flag != NULL) {
        return complain((Origin){.flag = flag}, plot->tables[0],
                        "expected it with tables of sweeps");
    }
    return 0;
}

int command_plot(int argc, char **argv)
{
    Plot plot = {.norm = NORM_COUNT, .wish = {.error = -1, .tolerance = NAN}};
    PlotData data = {0};
    Picture picture = {0};
    plot.tables = calloc((size_t)argc + 1, sizeof *plot.tables);
    if (plot.tables == NULL) {
        return memory_fault();
    }
    int status = read_words(&plot, argc, argv);
    bool lawless = !plot.wish.laws || plot.output != NULL;
    status = status != 0 || lawless
                 ? status
                 : complain((Origin){.flag = "laws"}, NULL, "expected --output with it");
    status = status != 0 || plot.output == NULL ? status : check_files(&plot);
    status = status != 0 ? status : plot_data_read(&data, plot.tables, plot.table_count, plot.norm);
    status = status != 0 ? status : check_wish(&plot, &data);
    status = status != 0 ? status : picture_make(&picture, &data, &plot.wish);
    status = status != 0 ? status : show(&plot, &picture);
    picture_clear(&picture);
    plot_data_clear(&data);
    free(plot.tables);
    return status;
}
