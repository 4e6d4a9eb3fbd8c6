/*
 * The limit of a model that `verify` names, from rows made by hand.
 */
#include "../../harness/commands/verify/verify.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the reference cannot say is no overflow of the machine's. */
static void an_error_is_not_the_machines(void **state)
{
    static const struct {
        Status status;
        const char *says;
    } rows[] = {{STATUS_ERROR, ": nothing is known: a number left the reference's range, or a "
                               "proven zero was not one; try other inputs"},
                {STATUS_VACUOUS, ": the original's result is too small to compare with; try other "
                                 "inputs"},
                {STATUS_OVERFLOW, ": the machine's numbers overflow; try a smaller omega"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        VerifyRow layer = {0};
        Point point = {.spec = {.depth = 1}, .arithmetic = ARITHMETIC_F64, .omega = 20};
        ModelFile model = {.depth = 1};
        Verify verify = {.points = &point,
                         .layers = &layer,
                         .model = &model,
                         .template = &point,
                         .omega = point.omega};
        char text[256] = "";
        strcpy(layer.cells[VERIFY_STATUS].text, status_name(rows[i].status));
        verify_row_number(&layer, VERIFY_JUDGED_LOG2, INFINITY);
        verify_limit_take(&verify);
        verify_limit_advise(&verify);
        FILE *file = fmemopen(text, sizeof text, "w");
        assert_non_null(file);
        verify_limit_print(file, &verify.limit, false);
        assert_int_equal(fclose(file), 0);
        assert_string_equal(text, rows[i].says);
    }
}

SUBJECT(verify_limit)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_is_not_the_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
