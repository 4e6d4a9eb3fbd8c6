/*
 * Radii of a run, and bits that leave a subtraction something.
 */
#include "radii.h"

#include "../../reference/run/run.h"
#include "../unit.h"

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

mpfr_exp_t runs_apart(const RefRun *a, const RefRun *b, const Layout *layout)
{
    mpfr_t d;
    mpfr_exp_t worst = mpfr_get_emin();
    mpfr_init2(d, 64);
    for (size_t i = 0; i < layout_rows(layout); i++) {
        for (size_t c = 0; c < layout_content(layout); c++) {
            mpfr_sub(d, ref_run_entry(a, i, c), ref_run_entry(b, i, c), MPFR_RNDU);
            assert_true(mpfr_number_p(d));
            if (mpfr_regular_p(d) && mpfr_get_exp(d) > worst) {
                worst = mpfr_get_exp(d);
            }
        }
    }
    mpfr_clear(d);
    return worst;
}

mpfr_prec_t subtraction_bits(double omega)
{
    return 64 * (mpfr_prec_t)ceil((2.886 * omega + 384) / 64);
}
