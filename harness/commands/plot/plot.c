/*
 * The command `plot`: its words, and the picture on its way to a file or a terminal.
 */
#include "picture.h"

#include "../../base/atomic_file.h"
#include "../../base/message.h"
#include "../../base/number.h"
#include "../../base/shown.h"
#include "../../base/streams.h"
#include "../../grid/own_words.h"
#include "../commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Its flags, in the order of commands.c. */
enum {
    FLAG_PICTURE,
    FLAG_X,
    FLAG_ERROR,
    FLAG_NORM,
    FLAG_MET,
    FLAG_SIZE,
    FLAG_TITLE,
    FLAG_CAPTION,
    FLAG_LAWS
};
#define BIT(flag) (1u << (flag))
/* Pixels of a picture's sides. */
enum { SIZE_LEAST = 240, SIZE_MOST = 20000 };

typedef struct {
    const CommandInfo *command;
    OwnWords words;
    Target target;
    Norm norm; /* NORM_COUNT: what fits */
    PictureWish wish;
} Plot;

/* ---- Words ----------------------------------------------------------------------------------- */

static Origin origin_of(const Plot *plot, size_t flag)
{
    return (Origin){.flag = plot->command->own_flags[flag].name};
}

/* Complains of the first of these flags that is there. */
static int refuse(const Plot *plot, unsigned flags, const char *token, const char *why)
{
    for (size_t flag = 0; flag < plot->command->own_flag_count; flag++) {
        if ((flags & BIT(flag)) != 0 && plot->words.values[flag] != NULL) {
            return complain(origin_of(plot, flag), token, "%s", why);
        }
    }
    return 0;
}

/* *index = the place of the flag's word among the first words [count] of its axis; without the flag
 * it stays. */
static int read_choice(int *index, const Plot *plot, size_t flag)
{
    const bool norm = flag == FLAG_NORM;
    const char *const *words = axis_info(norm ? AXIS_NORM : AXIS_JUDGE)->domain.words;
    const char *word = plot->words.values[flag];
    const size_t count = norm ? NORM_COUNT : ERROR_KINDS;
    for (size_t i = 0; i < count && word != NULL; i++) {
        if (strcmp(words[i], word) == 0) {
            *index = (int)i;
            return 0;
        }
    }
    return word == NULL ? 0
                        : complain_unknown(origin_of(plot, flag), word, NULL, words, count, count);
}

static int read_tolerance(Plot *plot)
{
    const char *word = plot->words.values[FLAG_MET];
    Number number;
    if (word == NULL) {
        return 0;
    }
    if (!number_read(&number, word) || number.kind != NUMBER_FINITE || number.negative ||
        number.digits == 0) {
        return complain(origin_of(plot, FLAG_MET), word, "expected a number above 0");
    }
    plot->wish.tolerance = measure_of(&number).log10;
    return 0;
}

/* "800x600", or "800": the height follows. */
static int read_size(Plot *plot)
{
    const char *word = plot->words.values[FLAG_SIZE];
    unsigned sides[2] = {0, 0};
    int end = 0;
    if (word == NULL) {
        return 0;
    }
    bool known = word[strspn(word, "0123456789x")] == '\0' &&
                 (sscanf(word, "%5ux%5u%n", &sides[0], &sides[1], &end) == 2 ||
                  sscanf(word, "%5u%n", &sides[0], &end) == 1) &&
                 word[end] == '\0';
    for (int i = 0; i < 2 && known; i++) {
        bool fits = sides[i] >= SIZE_LEAST && sides[i] <= SIZE_MOST;
        known = fits || (i == 1 && strchr(word, 'x') == NULL);
    }
    plot->wish.width = sides[0];
    plot->wish.height = sides[1];
    return known ? 0
                 : complain(origin_of(plot, FLAG_SIZE), word,
                            "expected WIDTHxHEIGHT or WIDTH in pixels, from %d to %d", SIZE_LEAST,
                            SIZE_MOST);
}

/* The ending of FILE names the kind of picture; some flags are for one kind alone. */
static int read_output(Plot *plot)
{
    static const char *const endings[TARGET_COUNT] = {".svg", ".png", ".pdf", ".gp"};
    const char *path = plot->words.values[FLAG_PICTURE];
    size_t length = path != NULL ? strlen(path) : 0;
    if (path == NULL) {
        return refuse(plot, BIT(FLAG_SIZE) | BIT(FLAG_LAWS), NULL, "expected --output with it");
    }
    for (Target target = 0; target < TARGET_COUNT; target++) {
        size_t ending = strlen(endings[target]);
        if (length > ending && strcmp(path + length - ending, endings[target]) == 0) {
            plot->target = target;
            return own_words_spare_files(&plot->words, path, false);
        }
    }
    return complain(origin_of(plot, FLAG_PICTURE), path,
                    "expected a name that ends in .svg, .png, .pdf, or .gp for gnuplot's script");
}

/* A text of the user's own; "none" is an empty one. */
static const char *own_text(const Plot *plot, size_t flag)
{
    const char *value = plot->words.values[flag];
    return value != NULL && strcmp(value, "none") == 0 ? "" : value;
}

static int read_words(Plot *plot, int argc, char **argv)
{
    int norm = NORM_COUNT, status = own_words_read(&plot->words, plot->command, argc, argv);
    if (status != 0) {
        return status;
    }
    plot->wish.x = plot->words.values[FLAG_X];
    plot->wish.laws = plot->words.values[FLAG_LAWS] != NULL;
    plot->wish.title = own_text(plot, FLAG_TITLE);
    plot->wish.caption = own_text(plot, FLAG_CAPTION);
    status = read_choice(&plot->wish.error, plot, FLAG_ERROR);
    status = status != 0 ? status : read_choice(&norm, plot, FLAG_NORM);
    plot->norm = (Norm)norm;
    status = status != 0 ? status : read_tolerance(plot);
    status = status != 0 ? status : read_size(plot);
    return status != 0 ? status : read_output(plot);
}

/* ---- The picture ----------------------------------------------------------------------------- */

static int show(const Plot *plot, const Picture *picture)
{
    const char *output = plot->words.values[FLAG_PICTURE];
    char *text = NULL;
    size_t size = 0;
    if (output == NULL) {
        text_print(stdout, picture);
        return ferror(stdout) ? streams_stdout_failed() : 0;
    }
    if (picture_is_point(picture)) {
        return complain((Origin){0}, plot->words.files[0],
                        "expected rows of more than one point: of one there is no picture");
    }
    int status = render(&text, &size, picture, plot->target);
    AtomicFile file = {0};
    status = status != 0 ? status : atomic_file_open(&file, output);
    if (status == 0) {
        bool written = fwrite(text, 1, size, file.file) == size;
        status = atomic_file_finish(&file, written, output);
    }
    if (status == 0) {
        printf("picture: %s\n", shown(output).text);
    }
    free(text);
    return status;
}

int command_plot(int argc, char **argv)
{
    Plot plot = {.command = commands_get(COMMAND_PLOT), .wish = {.error = -1, .tolerance = NAN}};
    Measures data = {0};
    Picture picture = {0};
    int status = read_words(&plot, argc, argv);
    status = status != 0 ? status
                         : measures_read(&data, plot.words.files, plot.words.file_count, plot.norm);
    if (status == 0 && data.searched) { /* searches judge by themselves */
        status = refuse(&plot, BIT(FLAG_ERROR) | BIT(FLAG_NORM) | BIT(FLAG_MET) | BIT(FLAG_LAWS),
                        plot.words.files[0], "expected it with tables of sweeps");
    }
    status = status != 0 ? status : picture_make(&picture, &data, &plot.wish);
    status = status != 0 ? status : show(&plot, &picture);
    picture_clear(&picture);
    measures_clear(&data);
    own_words_clear(&plot.words);
    return status;
}
