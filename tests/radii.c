/*
 * Radii of a run, and bits that leave a subtraction something.
 */
#include "radii.h"

#include "../reference/run/run.h"
#include "unit.h"

#include <math.h>

RefRun *with_radii(RefRun *run)
{
    ref_run_certify(run);
    return run;
}

mpfr_exp_t radius_exponent(const RefRun *run, RadiusOf of)
{
    const Layout *layout = &run->model->layout;
    mpfr_t most;
    mpfr_init2(most, 64);
    ref_run_radius(run, of, (RefBlock){0, layout_rows(layout), {0, layout_content(layout)}},
                   (RefRadii){most, NULL});
    assert_true(mpfr_number_p(most));
    mpfr_exp_t exponent = mpfr_zero_p(most) ? mpfr_get_emin() : mpfr_get_exp(most);
    mpfr_clear(most);
    return exponent;
}

mpfr_prec_t subtraction_bits(double omega)
{
    return 64 * (mpfr_prec_t)ceil((2.886 * omega + 384) / 64);
}
