/*
 * Which Omega a verdict is about where nobody says one: what `convert` takes, which is proven for
 * every input, if the verdict passes there; else the smallest at which the error of these inputs is
 * as flat as it gets, and passes where an Omega does.
 */
#include <stdio.h>

#include "verify.h"

#include "../commands.h"
#include "../../base/decimal.h"
#include "../../base/message.h"
#include "../../base/terminal.h"
#include "../../point/point.h"

#include <math.h>
#include <stdlib.h>

/* The plateau is where errors are at most so many times the least; divergences are squares of
 * errors. */
enum { PLATEAU = 2, PLATEAU_KL = 10 };

/* Its lower end is known to this share, in so many evaluations at most. */
#define PLATEAU_BRACKET 0.02
enum { PLATEAU_TRIES = 16 };

void verify_choose_begin(Verify *verify)
{
    const Point *template = verify->template;
    bool given = (template->asked >> AXIS_OMEGA & 1) != 0;
    AxisValue converted = command_standard(commands_get(COMMAND_CONVERT), AXIS_TOLERANCE);
    verify->chosen = given || !point_axis_matters(template, AXIS_OMEGA) ? OMEGA_GIVEN : OMEGA_FOUND;
    verify->aim = template->judged ? template->tolerance : converted.real;
    verify->most = verify->chosen == OMEGA_GIVEN ? 0 : omega_ahead(verify->aim);
}

/* Has the machine a number that is twice as large, as scores are? */
static bool is_held(const Point *template, double omega)
{
    Point point = *template;
    const Formats *formats = &arithmetic_info(template->arithmetic)->formats;
    point.omega = omega;
    double twice = 2 * point_omega(&point);
    return twice <= format_info(formats->score)->largest &&
           twice <= format_info(formats->operand)->largest;
}

int verify_choose_proven(Verify *verify, const EveryInput *every)
{
    if (verify->chosen == OMEGA_GIVEN) {
        return 0;
    }
    double omega = every_input_choose(every, verify);
    if (omega > 0 && is_held(verify->template, omega)) {
        verify->chosen = OMEGA_PROVEN;
        verify->omegas[0] = omega;
        verify->most = fmax(verify->most, omega);
    } else if (verify->options->shards > 0) {
        return complain((Origin){.flag = "shard"}, NULL,
                        "expected --omega with it: no omega is proven for this model, and a shard "
                        "has not all inputs to choose one by");
    }
    return 0;
}

/* To three digits, upward. */
static double rounded(double omega)
{
    double scale = pow(10, 2 - floor(log10(omega)));
    return ceil(omega * scale) / scale;
}

/* ln(error / least), of errors of any size; infinite where least is 0. */
static double log_ratio(mpfr_srcptr error, mpfr_srcptr least)
{
    mpfr_t ratio;
    mpfr_init2(ratio, 64);
    mpfr_div(ratio, error, least, MPFR_RNDN);
    mpfr_log(ratio, ratio, MPFR_RNDN);
    double log = mpfr_get_d(ratio, MPFR_RNDN);
    mpfr_clear(ratio);
    return log;
}

static unsigned times(const Verify *verify)
{
    return verify->template->judge_of == JUDGE_KL ? PLATEAU_KL : PLATEAU;
}

/* Else the error falls for ever, and there is no plateau: it is the tolerance that decides. */
static bool rises(const Verify *verify)
{
    return judge_needs_arithmetic(verify->template->judge);
}

/* A number, within the tolerance if any is, and on the plateau if there is one? */
static bool is_flat(const Verify *verify, mpfr_srcptr error, const Trial *best)
{
    mpfr_t most;
    bool found = verify->found.search.min != NULL;
    if (!mpfr_number_p(error) || (found && mpfr_cmp_d(error, verify->aim) > 0)) {
        return false;
    }
    mpfr_init2(most, mpfr_get_prec(best->error.value) + 8);
    mpfr_mul_ui(most, best->error.value, times(verify), MPFR_RNDN);
    bool flat = mpfr_lessequal_p(error, most) || (found && !rises(verify));
    mpfr_clear(most);
    return flat;
}

/* *omega = the smallest on the plateau that the best lies on: from `low` on, whose error is known,
 * by the master curve, e^(-2 Omega), and then by halves.  false: a layer cannot be had. */
static bool find_plateau(double *omega, Verify *verify, double low, mpfr_srcptr error_low,
                         const Trial *best)
{
    RefCell error;
    bool ok = true;
    double flat = best->omega;
    double next = rounded(low + log_ratio(error_low, best->error.value) / 2);
    ref_cell_init(&error, REF_DIGITS);
    for (int i = 0; ok && i < PLATEAU_TRIES && flat - low > PLATEAU_BRACKET * low; i++) {
        double top = flat < best->omega ? flat : fmin(flat, 2 * low + 1);
        next = next > low && next < flat ? next : rounded((low + top) / 2);
        if (next >= flat) {
            break;
        }
        ok = ensemble_judged_error(&verify->ensemble, &error, next);
        *(is_flat(verify, error.value, best) ? &flat : &low) = next;
        next = 0;
    }
    ref_cell_clear(&error);
    *omega = flat;
    return ok;
}

/* Is nothing to be searched for: the Omega is given, or proven and the verdict there stands?  That
 * bounds what T' is off T_infinity, and of a model with logits theirs alone; the verdict is about
 * what is judged.  Shards know no more than their own inputs.  *ok: false: a layer cannot be
 * had. */
static bool is_settled(bool *ok, Verify *verify)
{
    *ok = verify->chosen != OMEGA_PROVEN || verify_evaluate(verify, verify->omegas[0]);
    if (!*ok || verify->chosen != OMEGA_PROVEN) {
        return !*ok || verify->chosen == OMEGA_GIVEN;
    }
    return verify->passed || !verify->template->judged || verify->options->shards > 0 ||
           verify_imitation_fails(verify);
}

bool verify_choose_found(Verify *verify)
{
    const OmegaSearch *found = &verify->found.search;
    double *omega = &verify->omegas[0];
    RefCell error;
    bool ok;
    if (is_settled(&ok, verify)) {
        return ok;
    }
    verify->chosen = OMEGA_FOUND;
    if (!verify_search(verify)) {
        return false;
    }
    if (found->best == NULL) {
        return true;
    }
    if (!rises(verify) && found->min != NULL && found->min->omega >= 1) {
        *omega = found->min->omega;
        return true;
    }
    ref_cell_init(&error, REF_DIGITS);
    ok = ensemble_judged_error(&verify->ensemble, &error, 1);
    *omega = 1;
    if (ok && !is_flat(verify, error.value, found->best)) {
        ok = find_plateau(omega, verify, 1, error.value, found->best);
    }
    ref_cell_clear(&error);
    return ok;
}

void verify_choose_say(const Verify *verify, const EveryInput *every, OmegaSource from)
{
    char omega[DECIMAL_TEXT], aim[DECIMAL_TEXT];
    Wrapped said;
    if (verify->options->quiet || verify->chosen != from) {
        return;
    }
    FILE *file = wrapped_open(&said, output_report(verify->options));
    decimal_print(omega, verify->omegas[0]);
    decimal_print(aim, verify->aim);
    if (from == OMEGA_PROVEN) {
        every_input_print_inputs(file, every);
        fprintf(file,
                "omega %s is the smallest that is proven to keep %s within %s of an infinite "
                "omega's, in exact arithmetic; it is evaluated (--omega names another)\n",
                omega, every_input_what(verify), aim);
    } else {
        fprintf(file, "%somega %s is chosen on these inputs, the smallest ",
                verify->omega > 0 ? "there the verdict is FAIL: " : "", omega);
        if (rises(verify)) {
            fprintf(file, "with at most %u times the least error that was found", times(verify));
        } else {
            fprintf(file, "found that meets %s", aim);
        }
        fputs("; for other inputs this omega may be too small (--omega names another)\n", file);
    }
    wrapped_close(&said);
}
