/*
 * A section's settings expanded into points: lists multiplied, what does not matter dropped,
 * duplicates removed.
 */
#include "expand.h"
#include "point_axes.h"
#include "../base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE_MOST 2147483647
#define GIB (1024.0 * 1024.0 * 1024.0)

/* The product of one section's axes, and a place in it. */
typedef struct {
    const Setting *settings[AXIS_COUNT]; /* as they apply; NULL where nobody set one */
    const Section *section;
    const CommandInfo *command;
    size_t place[AXIS_COUNT]; /* the value of each axis, an index into its list */
    double memory;            /* what is there, in bytes */
    SourceList *sources;
    bool ignore_extra, three;
} Product;

static size_t axis_values(const Product *product, Axis axis)
{
    const Setting *setting = product->settings[axis];
    return setting == NULL ? 1 : setting->list.count;
}

/* Prints a complaint about what was set for an axis, or, where it was not, about the whole. */
static int reject(const Product *product, Axis axis, const char *expected)
{
    const Setting *setting = product->settings[axis];
    if (setting != NULL) {
        complain(setting->origin, setting->text, "expected %s", expected);
    } else {
        complain(product->section->origin, axis_info(axis)->name, "expected %s", expected);
    }
    return 2;
}

/* Of the size axes that were set, the largest in this point: blamed when it is too large. */
static Axis largest_axis(const Product *product, const Point *point)
{
    static const Axis sizes[] = {AXIS_N, AXIS_D, AXIS_D_FF, AXIS_HEADS, AXIS_D_HEAD, AXIS_DEPTH};
    Axis largest = point->source != NULL ? AXIS_WEIGHTS : AXIS_N;
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t value = point_get(point, sizes[i]).integer;
        if (product->settings[sizes[i]] != NULL && value > most) {
            most = value;
            largest = sizes[i];
        }
    }
    return largest;
}

/* The axis with the most values: blamed when there are too many points. */
static Axis longest_axis(const Product *product)
{
    Axis longest = AXIS_N;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        if (axis_values(product, axis) > axis_values(product, longest)) {
            longest = axis;
        }
    }
    return longest;
}

static int check_count(const Product *product, size_t before)
{
    size_t count = 1;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        /* No overflow: a list has at most VALUES_MOST values. */
        count *= axis_values(product, axis);
        if (count > POINTS_MOST - before) {
            return reject(product, longest_axis(product), "a grid of at most 1000000 points");
        }
    }
    return 0;
}

static int check_sizes(const Product *product, const Point *point)
{
    const CaseSpec *spec = &point->spec;
    bool has_d_ff = point_axis_matters(point, AXIS_D_FF);
    if (has_d_ff && spec->d_ff > SIZE_MOST) {
        Axis blamed = product->settings[AXIS_D_FF] != NULL ? AXIS_D_FF : AXIS_D;
        return reject(product, blamed, "a d-ff of at most 2147483647");
    }
    if (product->command->operands == OPERANDS_SIZES) {
        return 0; /* what is only counted need not fit */
    }
    double hidden = has_d_ff ? (double)spec->d_ff : 0;
    double width = (double)spec->n + 1 + (double)spec->d + hidden;
    double heads = width > (double)spec->heads ? width : (double)spec->heads;
    double bytes = case_bytes(spec);
    char expected[160];
    if (bytes > product->memory) {
        snprintf(expected, sizeof expected,
                 "a case that fits into this machine (needs %.4g GiB, has %.4g GiB)", bytes / GIB,
                 product->memory / GIB);
        return reject(product, largest_axis(product, point), expected);
    }
    /* Products of three extents, in bytes of long numbers, are taken in size_t. */
    if (heads * width * width * 64 > (double)(SIZE_MAX / 2)) {
        return reject(product, largest_axis(product, point), "sizes whose products fit 64 bits");
    }
    return 0;
}

static int check_point(const Product *product, const Point *point)
{
    const CaseSpec *spec = &point->spec;
    bool needs_machine = point->judge != ERROR_APPROXIMATION && point->judge != ERROR_CONSTRUCTION;
    if (spec->mask == MASK_CAUSAL && spec->bias_row == POSITION_LAST) {
        return reject(product, AXIS_BIAS_ROW,
                      "auto or first with --mask causal: a token cannot see a bias row that is "
                      "last");
    }
    if (point->reference == REFERENCE_DIFFERENCE && point->form == REF_DENSE) {
        return reject(
            product, AXIS_REFERENCE,
            "auto or subtract with --reference-form dense: the difference is found by the "
            "heads' structure");
    }
    if (point->reference == REFERENCE_DIFFERENCE && product->command->subtracts) {
        return reject(product, AXIS_REFERENCE,
                      "subtract: export writes r(T') with all the digits that a subtraction needs");
    }
    if (spec->scaled && spec->d_head == 0) {
        return reject(product, AXIS_SCALE, "1 where Q is dense: there is no d_head");
    }
    if (point->source != NULL && spec->linear == LINEAR_CLEAR) {
        return reject(product, AXIS_LINEAR,
                      "in-place or block with a weights file: clear begins with hidden columns, "
                      "of which a file holds no content");
    }
    if (point->judged && needs_machine && point->arithmetic == ARITHMETIC_NONE) {
        return reject(product, AXIS_JUDGE,
                      "approximation or construction with --arithmetic none: there is no machine "
                      "to judge");
    }
    if (spec->dropout > 1) {
        return reject(product, AXIS_DROPOUT, "none or a probability above 0 and at most 1");
    }
    if (point->row > spec->n) {
        return reject(product, AXIS_ROW, "all or a token from 1 to n");
    }
    if (spec->weight_noise > 1) {
        return reject(product, AXIS_WEIGHT_NOISE, "none or a number above 0 and at most 1");
    }
    if (!isnormal(point_omega(point)) && point->omega > 0) {
        return reject(product, AXIS_SHRINK, "a product with omega that is a normal double");
    }
    if (construction_info(spec->construction)->masked && product->command->searches_omega) {
        return reject(product, AXIS_CONSTRUCTION,
                      "another construction: masked heads have no Omega");
    }
    if (product->command->searches_omega && !point->judged) {
        return reject(product, AXIS_TOLERANCE, "a tolerance: min-omega needs one to meet");
    }
    return check_sizes(product, point);
}

/* Is n the context of the weights file?  So it is unless it was set: the file has no inputs that
 * would decide it. */
static bool context_decides(const Point *point, Axis axis)
{
    return axis == AXIS_N && point->source != NULL && point->source->file->context > 0;
}

static AxisValue axis_value(const Product *product, const Point *point, Axis axis)
{
    const Setting *setting = product->settings[axis];
    if (setting != NULL) {
        return setting->list.values[product->place[axis]];
    }
    if (axis == AXIS_OMEGA && product->command->searches_omega) {
        return (AxisValue){.form = FORM_REAL};
    }
    if (context_decides(point, axis)) {
        return (AxisValue){.form = FORM_INTEGER, .integer = point->source->file->context};
    }
    if (axis == AXIS_CONSTRUCTION && point->source != NULL) {
        Construction construction = model_source_construction(point->source, product->three);
        return (AxisValue){.form = FORM_WORD, .integer = construction};
    }
    return command_default(product->command, point, axis);
}

/* The weights file of this place, read if it is new. */
static int find_source(const Product *product, Point *point, ModelSource **source)
{
    const Setting *setting = product->settings[AXIS_WEIGHTS];
    *source = NULL;
    AxisValue value = axis_value(product, point, AXIS_WEIGHTS);
    if (setting == NULL || value.form != FORM_PATH) {
        return 0;
    }
    int status = sources_find(source, product->sources, value.path, product->ignore_extra);
    if (status == 0) {
        point_set_source(point, *source);
    }
    return status;
}

/* Complains that the flag or the key says one thing and the weights file another. */
static int contradiction(const Product *product, const Point *point, Axis axis, AxisValue own)
{
    const Domain *domain = &axis_info(axis)->domain;
    char said[VALUE_TEXT], has[VALUE_TEXT];
    value_print(said, domain, point_get(point, axis));
    value_print(has, domain, own);
    complain(product->settings[axis]->origin, said, "the weights file %s has %s = %s",
             point->source->path, axis_info(axis)->name, has);
    return 2;
}

/* Sets an axis to what the weights file has, or else to what flags, keys or defaults say. */
static int set_axis(const Product *product, Point *point, Axis axis)
{
    AxisValue own;
    point_set(point, axis, axis_value(product, point, axis));
    if (point->source == NULL || !model_source_decides(&own, point->source, axis)) {
        return 0;
    }
    AxisValue said = point_get(point, axis);
    if (product->settings[axis] != NULL && value_compare(&said, &own) != 0) {
        return contradiction(product, point, axis, own);
    }
    point_set(point, axis, own);
    return 0;
}

/* Refuses a construction that does not fit what the weights file holds; *skip: it was named by
 * `all`, and is left out. */
static int check_fit(const Product *product, const Point *point, bool *skip)
{
    const CaseSpec *spec = &point->spec;
    const Setting *setting = product->settings[AXIS_CONSTRUCTION];
    const char *misfit = model_source_misfit(point->source, spec->construction);
    *skip = misfit != NULL && setting->list.all;
    if (*skip) {
        return 0;
    }
    if (misfit != NULL) {
        complain(setting->origin, construction_names[spec->construction],
                 "the weights file %s needs %s", point->source->path, misfit);
        return 2;
    }
    return 0;
}

/* Refuses a file that leaves open what its model computes: its metadata must say it, or the
 * user. */
static int check_said(const Product *product, const Point *point)
{
    static const Axis said[] = {AXIS_ACTIVATION, AXIS_SCALE, AXIS_MASK, AXIS_NORMALIZATION};
    static const char *const words[] = {"silu, relu or gelu", "1 or 1/sqrt(d_head)",
                                        "none or causal", "none"};
    char lacks[256], flags[128];
    size_t used = 0, flags_used = 0;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const char *name = axis_info(said[i])->name;
        if (product->settings[said[i]] == NULL && command_takes(product->command, said[i]) &&
            model_source_lacks(point->source, said[i])) {
            const char *comma = used > 0 ? ", " : "";
            used += (size_t)snprintf(lacks + used, sizeof lacks - used, "%s%s (%s)", comma, name,
                                     words[i]);
            flags_used += (size_t)snprintf(flags + flags_used, sizeof flags - flags_used, "%s--%s",
                                           comma, name);
        }
    }
    if (used == 0) {
        return 0;
    }
    complain_of(point->source->path, NULL, NULL,
                "the metadata do not say: %s: expected in the file's metadata, or as %s", lacks,
                flags);
    return 2;
}

/* Does the command evaluate the points that it is given?  Others bring their own inputs, or need
 * none. */
static bool evaluates_points(const CommandInfo *command)
{
    return command->operands == OPERANDS_CASES;
}

/* Refuses a file of an X alone where a model is expected. */
static int check_model(const Product *product, const Point *point)
{
    if (point->source->file->kind == MODEL_FILE_INPUT && !evaluates_points(product->command)) {
        complain_of(point->source->path, "layer", "blocks.0", "missing: %s expects a model",
                    product->command->name);
        return 2;
    }
    return 0;
}

/* Refuses a file without rows to evaluate, its X or its tokens, unless --n asks for drawn ones. */
static int check_rows(const Product *product, const Point *point)
{
    const ModelFile *file = point->source->file;
    bool context = file->context > 0 && !evaluates_points(product->command);
    bool needed = evaluates_points(product->command) || product->command->needs_rows;
    if (!needed || context || model_source_inputs(point->source) > 0 ||
        product->settings[AXIS_N] != NULL) {
        return 0;
    }
    complain_of(point->source->path, NULL, NULL,
                "holds no X and no tokens to evaluate: expected one of them, or --n for as many "
                "rows that are drawn%s",
                file->W_E != NULL ? " (verify evaluates every tuple of the vocabulary)" : "");
    return 2;
}

/* The point at this place.  *skip: there is none. */
static int make_point(const Product *product, Point *point, ModelSource **source, bool *skip)
{
    *point = (Point){0};
    *skip = false;
    int status = find_source(product, point, source);
    if (status == 0) {
        status = set_axis(product, point, AXIS_CONSTRUCTION);
    }
    if (status == 0 && point->source != NULL) {
        status = check_fit(product, point, skip);
    }
    for (Axis axis = AXIS_CONSTRUCTION + 1; axis < AXIS_COUNT && status == 0 && !*skip; axis++) {
        status = set_axis(product, point, axis);
    }
    if (status == 0 && !*skip && point->source != NULL) {
        status = check_model(product, point);
        status = status == 0 ? check_said(product, point) : status;
        status = status == 0 ? check_rows(product, point) : status;
    }
    return status;
}

static int append(CandidateList *list, const Point *point, const Section *section)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        Candidate *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL) {
            return memory_fault();
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count] = (Candidate){*point, section, list->count};
    list->count++;
    return 0;
}

/* Gives the point one of the inputs of its weights file, and makes it a candidate. */
static int add_point(CandidateList *list, const Product *product, const Point *made,
                     ModelSource *source, size_t input)
{
    Point point = *made;
    point.input = evaluates_points(product->command) ? input : 0;
    int status = input > 0 ? model_source_input(&point.spec.given, source, input) : 0;
    if (status == 0) {
        point_canonicalise(&point);
        status = check_point(product, &point);
    }
    return status == 0 ? append(list, &point, product->section) : status;
}

/* The input that was asked for, or a point each. */
static int add_points(CandidateList *list, const Product *product, const Point *made,
                      ModelSource *source)
{
    size_t inputs = source == NULL ? 0 : model_source_inputs(source);
    size_t first = made->input > 0 ? made->input : inputs > 0;
    size_t last = made->input > 0 || !evaluates_points(product->command) ? first : inputs;
    int status = 0;
    if (made->input > inputs) {
        return reject(product, AXIS_INPUT, "all, or a tuple of tokens that the weights file has");
    }
    if (last - first > POINTS_MOST - list->count) {
        return reject(product, AXIS_WEIGHTS, "at most 1000000 points: choose some with --input");
    }
    for (size_t input = first; input <= last && status == 0; input++) {
        status = add_point(list, product, made, source, input);
    }
    return status;
}

static bool advance(Product *product)
{
    for (size_t axis = AXIS_COUNT; axis-- > 0;) {
        if (++product->place[axis] < axis_values(product, (Axis)axis)) {
            return true;
        }
        product->place[axis] = 0;
    }
    return false;
}

int expand_section(CandidateList *list, const Section *section, const Section *flags,
                   const CommandInfo *command)
{
    Product product = {.section = section,
                       .command = command,
                       .sources = list->sources,
                       .ignore_extra = list->ignore_extra,
                       .three = list->three};
    product.memory = memory_there();
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const Setting *own = &section->settings[axis], *flag = &flags->settings[axis];
        product.settings[axis] = flag->given ? flag : own->given ? own : NULL;
    }
    int status = check_count(&product, list->count);
    bool more = status == 0;
    while (more) {
        Point point;
        ModelSource *source;
        bool skip;
        status = make_point(&product, &point, &source, &skip);
        if (status == 0 && !skip) {
            status = add_points(list, &product, &point, source);
        }
        more = status == 0 && advance(&product);
    }
    return status;
}

static int compare_points(const void *a, const void *b)
{
    const Candidate *left = a, *right = b;
    int order = point_compare(&left->point, &right->point);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

static int compare_indices(const void *a, const void *b)
{
    const Candidate *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

void candidates_deduplicate(CandidateList *list)
{
    if (list->count == 0) {
        return;
    }
    qsort(list->items, list->count, sizeof *list->items, compare_points);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++) {
        if (point_compare(&list->items[kept - 1].point, &list->items[i].point) != 0) {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
    qsort(list->items, list->count, sizeof *list->items, compare_indices);
}

void candidates_clear(CandidateList *list)
{
    free(list->items);
    *list = (CandidateList){0};
}
