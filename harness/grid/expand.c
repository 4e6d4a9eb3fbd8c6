/*
 * A section's settings expanded into points: lists multiplied, what does not matter dropped,
 * duplicates removed.
 */
#include "expand.h"

#include "../../memory/need.h"
#include "../base/memory.h"
#include "../point/point.h"

#include <stdlib.h>
#include <string.h>

/* Is n the context of the weights file, where nobody set it?  Inputs in the file have precedence
 * (set_axis). */
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
    if (axis == AXIS_OMEGA && command_has(product->command, SEARCHES_OMEGA) &&
        !run_is_over_tau(product->run)) {
        return (AxisValue){.form = FORM_REAL};
    }
    if (context_decides(point, axis)) {
        return (AxisValue){.form = FORM_INTEGER, .integer = point->source->file->context};
    }
    if (axis == AXIS_CONSTRUCTION && point->source != NULL) {
        const char *network = product->run->network;
        bool three = network != NULL && strcmp(network, "three") == 0;
        Construction construction = model_source_construction(point->source, three);
        return (AxisValue){.form = FORM_WORD, .integer = construction};
    }
    return command_default(product->command, point, axis);
}

/* The weights file of this place, read if it is new. */
static int find_source(Product *product, Point *point)
{
    AxisValue value = axis_value(product, point, AXIS_WEIGHTS);
    product->source = NULL;
    if (product->settings[AXIS_WEIGHTS] == NULL || value.form != FORM_PATH) {
        return 0;
    }
    /* Of files that do not say how many heads lie side by side in their matrices. */
    bool heads = product->settings[AXIS_HEADS] != NULL;
    ModelFileFlags flags = product->run->model;
    flags.room = product->room;
    flags.heads = heads ? axis_value(product, point, AXIS_HEADS).integer : 0;
    int status = sources_find(&product->source, &product->grid->sources, value.path, &flags);
    if (status == 0) {
        point->source = product->source;
        point->spec.given = &product->source->given;
    }
    return status;
}

/* Sets an axis to what the weights file has, or else to what flags, keys or defaults say. */
static int set_axis(const Product *product, Point *point, Axis axis)
{
    AxisValue own;
    point_set(point, axis, axis_value(product, point, axis));
    if (point->source == NULL || !model_source_decides(&own, point->source, axis)) {
        return 0;
    }
    /* The file's inputs are of no account where every input is meant. */
    bool every = product->command->operands == OPERANDS_EITHER && axis == AXIS_N;
    if (every && (product->settings[axis] != NULL || context_decides(point, axis))) {
        return 0;
    }
    AxisValue said = point_get(point, axis);
    if (product->settings[axis] != NULL && value_compare(&said, &own) != 0) {
        const Domain *domain = &axis_info(axis)->domain;
        char flag[VALUE_TEXT], has[VALUE_TEXT];
        value_print(flag, domain, said);
        value_print(has, domain, own);
        return complain(product->settings[axis]->origin, flag, "the weights file %s has %s = %s",
                        point->source->path, axis_info(axis)->name, has);
    }
    point_set(point, axis, own);
    return 0;
}

/* The point at this place.  *skip: there is none. */
static int make_point(Product *product, Point *point, bool *skip)
{
    const RunOptions *run = product->run;
    *point = (Point){.spec.tables = ref_rotary_tables, .over_tau = run_is_over_tau(run)};
    *skip = false;
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        point->asked |= (uint64_t)(product->settings[axis] != NULL) << axis;
    }
    int status = find_source(product, point);
    bool sourced = point->source != NULL;
    status = status != 0 ? status : set_axis(product, point, AXIS_CONSTRUCTION);
    status = status != 0 || !sourced ? status : product_check_fit(product, point, skip);
    bool settles = sourced && product->command->settle != NULL;
    for (int turn = 0; turn < 1 + settles && status == 0 && !*skip; turn++) {
        for (Axis axis = AXIS_CONSTRUCTION + 1; axis < AXIS_COUNT && status == 0; axis++) {
            status = set_axis(product, point, axis);
        }
        if (status == 0 && settles && turn == 0) {
            status = product->command->settle(product->source, point, run);
        }
    }
    return status != 0 || *skip || !sourced ? status : product_check_source(product, point);
}

/* Gives the point one of the inputs of its weights file, and adds it to the grid. */
static int add_point(const Product *product, const Point *made, size_t input)
{
    Grid *grid = product->grid;
    Point point = *made;
    point.input = command_evaluates_points(product->command) ? input : 0;
    if (input > 0) {
        model_source_input(&point.spec.given, product->source, input);
    }
    point_canonicalise(&point);
    double layers = (double)point.spec.depth * case_layer_bytes(&point.spec);
    point.spec.held = memory_held(layers, product->room);
    int status = product_check_point(product, &point);
    if (status != 0) {
        return status;
    }
    grid->points = need_next(grid->points, grid->count, sizeof *grid->points);
    grid->section = need_next(grid->section, grid->count, sizeof *grid->section);
    grid->points[grid->count] = point;
    grid->section[grid->count++] = need_copy(product->section->name);
    return 0;
}

/* The input that was asked for, or a point each. */
static int add_points(const Product *product, const Point *made)
{
    bool every = product->command->operands == OPERANDS_EITHER;
    size_t inputs = product->source == NULL || every ? 0 : model_source_inputs(product->source);
    size_t first = made->input > 0 ? made->input : inputs > 0;
    size_t last = made->input > 0 || !command_evaluates_points(product->command) ? first : inputs;
    int status = 0;
    if (made->input > inputs) {
        return product_reject(product, AXIS_INPUT,
                              "all, or a tuple of tokens that the weights file has");
    }
    if (last - first > POINTS_MOST - product->grid->count) {
        return product_reject(product, AXIS_WEIGHTS,
                              "at most 1000000 points: choose some with --input");
    }
    for (size_t input = first; input <= last && status == 0; input++) {
        status = add_point(product, made, input);
    }
    return status;
}

static bool advance(Product *product)
{
    for (size_t axis = AXIS_COUNT; axis-- > 0;) {
        if (++product->place[axis] < product_values(product, (Axis)axis)) {
            return true;
        }
        product->place[axis] = 0;
    }
    return false;
}

int expand_section(Grid *grid, const Section *section, const Section *flags,
                   const CommandInfo *command, const RunOptions *run)
{
    Product product = {.section = section,
                       .command = command,
                       .run = run,
                       .grid = grid,
                       .memory = memory_there(),
                       .room = command_has(command, LAYER_BY_LAYER) ? memory_room(run->memory) : 0};
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        const Setting *own = &section->settings[axis], *flag = &flags->settings[axis];
        product.settings[axis] = flag->given ? flag : own->given ? own : NULL;
    }
    int status = product_check_count(&product);
    bool more = status == 0;
    while (more) {
        Point point;
        bool skip;
        status = make_point(&product, &point, &skip);
        status = status != 0 || skip ? status : add_points(&product, &point);
        more = status == 0 && advance(&product);
    }
    return status;
}

/* Of one grid, whose points' addresses are in its order. */
static int compare_points(const void *a, const void *b)
{
    const Point *x = *(const Point *const *)a, *y = *(const Point *const *)b;
    int order = point_compare(x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

void expand_deduplicate(Grid *grid)
{
    const Point **sorted = need_room(grid->count, sizeof *sorted);
    bool *repeats = need_zeros(grid->count, sizeof *repeats);
    for (size_t i = 0; i < grid->count; i++) {
        sorted[i] = &grid->points[i];
    }
    qsort((void *)sorted, grid->count, sizeof *sorted, compare_points);
    for (size_t i = 1; i < grid->count; i++) {
        repeats[sorted[i] - grid->points] = point_compare(sorted[i - 1], sorted[i]) == 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < grid->count; i++) {
        if (repeats[i]) {
            free(grid->section[i]);
        } else {
            grid->points[kept] = grid->points[i];
            grid->section[kept++] = grid->section[i];
        }
    }
    grid->count = kept;
    free((void *)sorted);
    free(repeats);
}
