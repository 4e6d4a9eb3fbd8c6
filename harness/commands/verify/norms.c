/*
 * Layer norms in the words of `verify`'s report.
 */
#include "norms.h"

#include "../../base/decimal.h"
#include "../../grid/point_axes.h"
#include "../../models/model_norms.h"

void verify_print_norms(FILE *file, const Verify *verify)
{
    char eps[DECIMAL_TEXT];
    const Point *point = verify->template;
    if (point->spec.norm != NORMALIZATION_NONE) {
        size_t kind = point_get(point, AXIS_NORMALIZATION).integer;
        decimal_print(eps, point->spec.norm_eps);
        fprintf(file, ", %s %s every part with eps %s",
                axis_info(AXIS_NORMALIZATION)->domain.words[kind],
                point->spec.norm_place == NORM_PRE ? "before" : "behind", eps);
    }
}

void verify_print_norms_in_name(FILE *file, const Verify *verify)
{
    double least, most;
    char eps[DECIMAL_TEXT];
    if (verify->template->spec.norm != NORMALIZATION_NONE &&
        model_norms_in_name(&least, &most, verify->model, verify->template->spec.norm_eps)) {
        decimal_print(eps, verify->template->spec.norm_eps);
        fprintf(file,
                "its norms are norms in name: beside an eps of %s no variance matters, and gamma / "
                "sqrt(eps) is between %.3g and %.3g\n",
                eps, least, most);
    }
}
