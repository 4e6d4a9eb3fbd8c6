/*
 * The guarantee's sentence behind what was evaluated, and its share of the verdict.
 */
#include <stdio.h>

#include "verify.h"

#include "../../base/decimal.h"
#include "../../base/message.h"

#include <float.h>
#include <math.h>

int every_input_check(const Grid *grid, const RunOptions *run)
{
    const char *expected =
        run->shards > 0 ? "no --shard: the proof is about all inputs at once" : NULL;
    for (size_t i = 0; expected == NULL && i < grid->count; i++) {
        expected = bound_misfit(&grid->points[i]);
    }
    if (run->every_input && expected != NULL) {
        return complain((Origin){.flag = "every-input"}, NULL, "expected %s", expected);
    }
    return 0;
}

/* All tokens that the model takes, or those of the inputs where nothing says how many it takes. */
static Point every_point(const Verify *verify)
{
    Point point = *verify->template;
    const ModelFile *model = verify->model;
    bool limited = model->W_E != NULL && model->W_pos != NULL;
    point.spec.n = limited ? model->context : verify->inputs.n;
    point.judged = bound_misfit(verify->template) == NULL;
    return point;
}

int every_input_open(EveryInput *every, const Verify *verify)
{
    const RunOptions *run = verify->options;
    Point point = every_point(verify);
    bool same = bound_serves(&every->bound, &point);
    bool said = run->every_input ||
                (!run->quiet && run->shards == 0 && bound_work(&point) <= BOUND_WORK_UNASKED);
    double most = run->dry_run ? BOUND_WORK_UNASKED : BOUND_WORK_MOST;
    bool wanted = said || (verify->chosen != OMEGA_GIVEN && bound_work(&point) <= most);
    const Inputs *inputs = &verify->inputs;
    size_t rows = verify->model->W_E == NULL ? inputs->count * inputs->n : 0;
    int status = bound_check_rows(inputs->x, rows, verify->model->d, run);
    every->run = run;
    every->there = said;
    every->said = every->said && same;
    if (status != 0) {
        return status;
    }
    if (wanted && !same) {
        bound_clear(&every->bound);
        every->point = point;
        status = bound_open(&every->bound, &every->point, run);
    }
    every->there = every->there && status == 0;
    if (status == 2 && run->every_input) {
        return complain((Origin){.flag = "every-input"}, NULL, "expected %s", every->bound.why);
    }
    return status == 2 ? 0 : status;
}

void every_input_clear(EveryInput *every)
{
    bound_clear(&every->bound);
}

/* The bound at one Omega, or, of 0, the smallest that meets the tolerance. */
static Proven prove(const EveryInput *every, const Verify *verify, double omega)
{
    Point point = every_point(verify);
    point.omega = omega;
    return bound_at(&every->bound, &point);
}

double every_input_choose(const EveryInput *every, const Verify *verify)
{
    const Point *template = verify->template;
    Point point = every_point(verify);
    if (every->bound.guarantee == NULL || (template->judged && bound_misfit(template) != NULL)) {
        return 0;
    }
    point.omega = 0;
    point.judged = true;
    point.tolerance = verify->aim;
    const Proven proven = bound_at(&every->bound, &point);
    return proven.none ? 0 : proven.point.omega;
}

static void find_omega(EveryInput *every, const Verify *verify)
{
    const Proven proven = prove(every, verify, 0);
    every->omega = proven.none ? INFINITY : proven.point.omega;
}

void every_input_judge(EveryInput *every, Verify *verify)
{
    if (!every->run->every_input) {
        return;
    }
    const Proven proven = prove(every, verify, verify->omega);
    verify->bound = proven.judged;
    verify->refused = proven.refused;
    verify->passed = verify->passed && !proven.refused;
    every->misses = every->misses || proven.refused;
    outcome_add(verify->outcome, verify_case_proven, verify, 1, 0);
    find_omega(every, verify);
}

void every_input_print_inputs(FILE *file, const EveryInput *every)
{
    char norm[DECIMAL_TEXT];
    size_t n = every->point.spec.n;
    fprintf(file, "every input of up to %zu token%s", n, n == 1 ? "" : "s");
    if (every->run->input_norm > 0) {
        decimal_print(norm, every->run->input_norm);
        fprintf(file, ", rows of X no longer than %s", norm);
    }
    if (every->point.spec.stored_digits > 0) {
        fprintf(file, ", weights in %s", arithmetic_names[every->point.arithmetic]);
    }
    fputs(": ", file);
}

const char *every_input_what(const Verify *verify)
{
    return verify->model->W_U != NULL ? "all logits" : "all entries";
}

static void say_bounds(FILE *file, const EveryInput *every, const Verify *verify)
{
    for (size_t i = 0; i < verify->omega_count; i++) {
        char text[DECIMAL_TEXT], error[MAGNITUDE_TEXT];
        const Proven proven = prove(every, verify, verify->omegas[i]);
        decimal_print(text, verify->omegas[i]);
        magnitude_print(error, proven.judged, 3);
        every_input_print_inputs(file, every);
        fprintf(file,
                "omega %s is proven to keep %s within %s of an infinite omega's, in exact "
                "arithmetic\n",
                text, every_input_what(verify), error);
    }
}

static void say_smallest(FILE *file, EveryInput *every, const Verify *verify)
{
    char text[DECIMAL_TEXT], tolerance[DECIMAL_TEXT];
    find_omega(every, verify);
    bool none = every->omega == INFINITY;
    decimal_print(text, none ? DBL_MAX : every->omega);
    decimal_print(tolerance, verify->template->tolerance);
    every_input_print_inputs(file, every);
    fprintf(file,
            "%s %s is proven to keep %s within %s of an infinite omega's, in exact arithmetic",
            none ? "no omega up to" : "omega", text, every_input_what(verify), tolerance);
    for (size_t i = 0; i < verify->omega_count && !none; i++) {
        const Proven proven = prove(every, verify, verify->omegas[i]);
        bool meets = !magnitude_above(proven.judged, magnitude_of(verify->template->tolerance, 0));
        decimal_print(text, verify->omegas[i]);
        fprintf(file, "; %s is %s", text, meets ? "enough" : "too small for that");
    }
    fputc('\n', file);
}

void every_input_say(FILE *file, EveryInput *every, const Verify *verify)
{
    bool chosen = verify->chosen == OMEGA_PROVEN; /* which was said */
    if (!every->there || every->said || every->run->quiet || chosen) {
        return;
    }
    every->said = true;
    if (bound_misfit(verify->template) != NULL) {
        say_bounds(file, every, verify);
    } else {
        say_smallest(file, every, verify);
    }
}

void every_input_print(FILE *file, const EveryInput *every)
{
    char text[DECIMAL_TEXT];
    if (!every->run->every_input) {
        return;
    }
    decimal_print(text, every->omega);
    if (!every->misses) {
        fputs("; proven for every input", file);
    } else if (every->omega == INFINITY) {
        fputs("; not proven for every input, at any omega", file);
    } else {
        fprintf(file, "; not proven for every input: try omega %s", text);
    }
}
