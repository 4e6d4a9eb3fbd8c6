/* Sums that tests/data/recorded.txt holds. */
#include "recorded.h"

#include "fixture.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDED "tests/data/recorded.txt"

void assert_recorded(const char *name, double value)
{
    if (fixture_nightly() || SMALL_GRIDS) {
        return;
    }
    char line[256];
    double recorded = NAN;
    FILE *file = fopen(RECORDED, "r");
    assert_non_null(file);
    while (isnan(recorded) && fgets(line, sizeof line, file) != NULL) {
        char *tab = strchr(line, '\t');
        if (tab != NULL && strncmp(line, name, (size_t)(tab - line)) == 0 &&
            name[tab - line] == '\0') {
            recorded = strtod(tab, NULL);
        }
    }
    fclose(file);
    print_message("recorded: %s\t%.17g\n", name, value);
    if (getenv("HEADPROOF_RECORD") == NULL && !(fabs(value - recorded) <= 1e-6)) {
        fail_msg("%s: %s is %.17g, and was %.17g", RECORDED, name, value, recorded);
    }
}
