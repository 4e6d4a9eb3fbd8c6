/*
 * The errors that a layer injects and inherits (docs/findings.md), against evaluations of the
 * original's layers: where T_infinity is T, inherited is T's layer at x^ less that at x, in T's own
 * columns and tokens alone.
 */
#include "../../reference/compare/propagation.h"
#include "../../reference/run/run.h"
#include "difference_cases.h"
#include "../fixture.h"
#include "norm_cases.h"
#include "radii.h"
#include "../real.h"
#include "../unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 4, MOST = 5 * 16 };

/* A pair and its evaluation, at 256 bits as a sweep has it. */
typedef struct {
    Pair pair;
    RefBase *base;
    RefRun *run;
    RefPropagation *propagation;
    RefErrors errors;
    size_t n, width; /* of T's streams */
} Split;

/* With the pair there already. */
static void split_begin(Split *split, double omega)
{
    const Pair *pair = &split->pair;
    split->base = ref_base_make(pair, 256, REF_LIMIT_NONE, NULL);
    assert_non_null(split->base);
    split->run = with_radii(ref_propagation_run_open(pair, omega, 256, split->base));
    split->propagation = ref_propagation_open(pair, split->base, split->run, omega, true);
    assert_non_null(split->propagation);
    ref_errors_init(&split->errors);
    split->n = pair->original.layout.n;
    split->width = layout_content(&pair->original.layout);
    assert_true(split->n * split->width <= MOST);
}

static void split_open(Split *split, const CaseSpec *spec, double omega)
{
    split->pair = pair_make(spec);
    split_begin(split, omega);
}

static void split_clear(Split *split)
{
    ref_propagation_clear(split->propagation);
    ref_run_clear(split->run);
    ref_base_clear(split->base);
    ref_errors_clear(&split->errors);
    case_clear(&split->pair);
}

static size_t row_of(const Split *split, size_t i)
{
    return layout_token_row(&split->pair.converted.layout, i);
}

/* The token rows as they are: x^ = r(T'), and its error e. */
static void read_streams(const Split *split, Real *moved, Real *e)
{
    for (size_t i = 0; i < split->n; i++) {
        for (size_t c = 0; c < split->width; c++) {
            size_t at = i * split->width + c;
            moved[at] = real_of_mpfr(ref_run_entry(split->run, row_of(split, i), c));
            e[at] = real_of_mpfr(ref_run_difference(split->run, row_of(split, i), c));
        }
    }
}

/* x = F(x), F a layer of the original, which its own evaluation begins with x. */
static void original_layer(const Split *split, size_t layer, Real *x)
{
    const Model *model = &split->pair.original;
    RefRun *run = run_layers(model, split->pair.original_x, NULL, INFINITY, REAL_BITS, 0);
    run->next.layer = layer;
    run->next.sublayer = layer > 0 ? model->layer_end[layer - 1] : 0;
    for (size_t i = 0; i < split->n * split->width; i++) {
        real_to_mpfr(ap_at(&run->stream, i / split->width, i % split->width), x[i]);
    }
    ref_run_layer(run);
    for (size_t i = 0; i < split->n * split->width; i++) {
        x[i] = real_of_mpfr(ref_run_entry(run, i / split->width, i % split->width));
    }
    ref_run_clear(run);
}

/* change = F(x + change) - F(x). */
static void change_through(const Split *split, size_t layer, const Real *x, Real *change)
{
    Real at_x[MOST] = {{0}}, moved[MOST] = {{0}};
    for (size_t i = 0; i < split->n * split->width; i++) {
        at_x[i] = x[i];
        moved[i] = real_add(x[i], change[i]);
    }
    original_layer(split, layer, at_x);
    original_layer(split, layer, moved);
    for (size_t i = 0; i < split->n * split->width; i++) {
        change[i] = real_sub(moved[i], at_x[i]);
    }
}

/* The next layer, compared with a machine's stream where there is one. */
static void propagate(Split *split, RefRows rows, const MachineView *machine)
{
    ref_propagation_begin(split->propagation, rows);
    ref_run_layer(split->run);
    ref_propagation_compare(&split->errors, split->propagation, rows, machine);
}

/* The largest |entry| of some rows in the columns compared. */
static Real largest(const Split *split, const Real *x, RefRows rows, Columns columns)
{
    Real max = real_of(0);
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            max = real_max(max, real_abs(x[i * split->width + c]));
        }
    }
    return max;
}

static void expect_near(Real value, Real expected, Real unit, const char *what, size_t layer)
{
    Real error = real_abs(real_sub(value, expected));
    if (real_compare(error, unit) > 0) {
        fail_msg("%s, layer %zu: %.17g, expected %.17g", what, layer, real_double(value),
                 real_double(expected));
    }
}

/* A cell that holds a value, to 2^-60 of it. */
static void expect_cell(const Split *split, RefPropagationCell i, Real expected, const char *what,
                        size_t layer)
{
    const RefCell *cell = &split->errors.propagation[i];
    if (cell->state != CELL_VALUE) {
        fail_msg("%s, layer %zu, cell %d: state %d", what, layer, (int)i, (int)cell->state);
    }
    expect_near(real_of_mpfr(cell->value), expected, real_mul(expected, real_power(-60)), what,
                layer);
}

static void expect_state(const Split *split, RefPropagationCell i, CellState state)
{
    assert_int_equal(split->errors.propagation[i].state, state);
}

/* The columns of T's stream behind a layer that it has not cleared. */
static bool is_cleared(const Split *split, size_t layer, size_t c)
{
    Columns cleared = split->pair.cleared[layer - 1];
    return c >= cleared.first && c < cleared.first + cleared.count;
}

/* x [n, width] without what the layer before cleared: T has nothing there. */
static void drop_cleared(const Split *split, size_t layer, Real *x)
{
    for (size_t i = 0; layer > 0 && i < split->n * split->width; i++) {
        if (is_cleared(split, layer, i % split->width)) {
            x[i] = real_of(0);
        }
    }
}

/* What the run inherits is e, entry by entry; the largest of some rows that it injects. */
static Real check_inherited(const Split *split, const Real *e, size_t layer, RefRows rows,
                            const char *what)
{
    Columns columns = split->pair.compared[layer];
    Real injected = real_of(0), all = largest(split, e, (RefRows){0, split->n}, columns);
    for (size_t i = 0; i < split->n; i++) {
        bool shown = i >= rows.first && i < rows.first + rows.count;
        size_t row = row_of(split, i);
        for (size_t c = columns.first; c < columns.first + columns.count; c++) {
            mpfr_srcptr inherited = ref_run_inherited(split->run, row, c);
            expect_near(real_of_mpfr(inherited), e[i * split->width + c],
                        real_mul(all, real_power(-150)), what, layer + 1);
            Real d = real_difference(ref_run_difference(split->run, row, c), inherited);
            injected = shown ? real_max(injected, real_abs(d)) : injected;
        }
    }
    return injected;
}

/* The construction error of one layer, `layer` layers behind it, entry by entry and in its
 * cells. */
static void check_construction_layer(Split *split, size_t layer, RefRows rows, const char *what)
{
    Real moved[MOST] = {{0}}, e[MOST] = {{0}}, x[MOST] = {{0}};
    read_streams(split, moved, e);
    drop_cleared(split, layer, e);
    for (size_t i = 0; i < split->n * split->width; i++) {
        x[i] = real_sub(moved[i], e[i]);
    }
    drop_cleared(split, layer, x);
    Real in = largest(split, e, rows, (Columns){0, split->width});
    propagate(split, rows, NULL);
    change_through(split, layer, x, e);
    Real injected = check_inherited(split, e, layer, rows, what);
    assert_false(split->errors.contradiction);
    if (layer == 0) {
        expect_state(split, PROPAGATION_CONSTRUCTION_INHERITED, CELL_ZERO);
        expect_state(split, PROPAGATION_CONSTRUCTION_GAIN, CELL_ABSENT);
    } else if (rows.count == split->n && real_compare(in, real_of(0)) > 0) {
        Real inherited = largest(split, e, rows, split->pair.compared[layer]);
        expect_cell(split, PROPAGATION_CONSTRUCTION_INJECTED, injected, what, layer + 1);
        expect_cell(split, PROPAGATION_CONSTRUCTION_INHERITED, inherited, what, layer + 1);
        expect_cell(split, PROPAGATION_CONSTRUCTION_GAIN, real_div(inherited, in), what, layer + 1);
    }
    expect_state(split, PROPAGATION_ROUNDING_INJECTED, CELL_ABSENT);
}

/* Every construction, its masks, biases, places and factored heads, where T_infinity is T. */
static void inherited_is_what_the_original_makes_of_it(void **state)
{
    static const double omegas[] = {0.5, 3, 20};
    for (int c = 0; c < WITH_OMEGA; c++) {
        size_t checked = 0;
        for (int i = 0; i < 2 * VARIANTS; i += SMALL_GRIDS && i >= VARIANTS ? 5 : 1) {
            int variant = i % VARIANTS;
            CaseSpec plain = difference_variant((Construction)c, DEPTH, variant);
            CaseSpec spec = i < VARIANTS ? plain : norm_variant(&plain, variant + c);
            Split split;
            char what[PLACE];
            double omega = omegas[variant % 3];
            split_open(&split, &spec, omega);
            difference_describe(what, &spec, omega);
            for (size_t l = 0; split.pair.limit_is_original && l < DEPTH; l++, checked++) {
                check_construction_layer(&split, l, (RefRows){0, spec.n}, what);
            }
            split_clear(&split);
        }
        print_message("%s: %zu layers\n", construction_names[c], checked);
        assert_true(checked >= 4 * DEPTH);
    }
}

/* A machine's stream that a test makes up: T's, and some thousandths beside it. */
static void make_machine(const Split *split, double *machine, size_t layer)
{
    size_t ld = layout_content(&split->pair.converted.layout);
    for (size_t i = 0; i < split->n; i++) {
        for (size_t c = 0; c < ld; c++) {
            size_t mix = (layer * 131 + i * 17 + c) * 2654435761U % 1009;
            double there = mpfr_get_d(ref_run_entry(split->run, row_of(split, i), c), MPFR_RNDN);
            machine[i * ld + c] = there + ((double)mix - 504) / 400000;
        }
    }
}

/* away = m - r(T') of tokens, 0 without a machine, and x = r(T'). */
static void machine_away(const Split *split, const double *machine, Real *x, Real *away)
{
    size_t ld = layout_content(&split->pair.converted.layout);
    read_streams(split, x, away);
    for (size_t at = 0; at < split->n * split->width; at++) {
        size_t i = at / split->width, c = at % split->width;
        away[at] = machine != NULL ? real_sub(real_of(machine[i * ld + c]), x[at]) : real_of(0);
    }
}

/* At Omega = 300, where leaks are below 1e-250, F at m(T') is T's layer. */
static void check_rounding_layer(Split *split, double *machine, size_t layer, RefRows rows,
                                 const char *what)
{
    Real x[MOST] = {{0}}, d[MOST] = {{0}}, injected[MOST] = {{0}};
    size_t ld = layout_content(&split->pair.converted.layout);
    Columns columns = split->pair.compared[layer];
    machine_away(split, layer > 0 ? machine : NULL, x, d);
    drop_cleared(split, layer, d);
    drop_cleared(split, layer, x);
    Real in = largest(split, d, rows, (Columns){0, split->width});
    ref_propagation_begin(split->propagation, rows);
    ref_run_layer(split->run);
    make_machine(split, machine, layer + 1);
    MachineView view = {machine, ld};
    ref_propagation_compare(&split->errors, split->propagation, rows, &view);
    change_through(split, layer, x, d);
    Real inherited = largest(split, d, rows, columns);
    machine_away(split, machine, x, injected);
    for (size_t at = 0; at < split->n * split->width; at++) {
        injected[at] = real_sub(injected[at], d[at]);
    }
    assert_false(split->errors.contradiction);
    expect_cell(split, PROPAGATION_ROUNDING_INJECTED, largest(split, injected, rows, columns), what,
                layer + 1);
    if (layer == 0) {
        expect_state(split, PROPAGATION_ROUNDING_INHERITED, CELL_ZERO);
        expect_state(split, PROPAGATION_ROUNDING_GAIN, CELL_ABSENT);
    } else {
        expect_cell(split, PROPAGATION_ROUNDING_INHERITED, inherited, what, layer + 1);
        expect_cell(split, PROPAGATION_ROUNDING_GAIN, real_div(inherited, in), what, layer + 1);
    }
}

static void rounding_starts_from_the_machine_s_stream(void **state)
{
    for (int c = 0; c < WITH_OMEGA; c++) {
        for (int i = 0; i < 8; i++) {
            int variant = i / 2;
            CaseSpec plain = difference_variant((Construction)c, DEPTH, variant);
            CaseSpec spec = i % 2 == 0 ? plain : norm_variant(&plain, variant + c);
            RefRows rows = variant < 3 ? (RefRows){0, spec.n} : (RefRows){2, 1};
            Split split;
            double machine[5 * 16] = {0};
            char what[PLACE];
            split_open(&split, &spec, 300);
            assert_true(split.pair.limit_is_original);
            difference_describe(what, &spec, 300);
            for (size_t l = 0; l < DEPTH; l++) {
                check_rounding_layer(&split, machine, l, rows, what);
            }
            split_clear(&split);
        }
    }
}

/* W = s P in every layer of `linear`, P a cyclic permutation: its gain is s. */
static void gain_of_a_scaled_permutation(void **state)
{
    static const double scales[] = {1, -0.5, 3};
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        CaseSpec spec = difference_case(CONSTRUCTION_LINEAR, DEPTH);
        RefRows rows = {0, spec.n};
        Split split;
        split.pair = pair_make(&spec);
        for (size_t l = 0; l < DEPTH; l++) {
            double *w = (double *)(uintptr_t)split.pair.original.sublayers[l].direct.w1;
            for (size_t a = 0; a < spec.d * spec.d; a++) {
                w[a] = (a / spec.d + 1 + k) % spec.d == a % spec.d ? scales[k] : 0;
            }
        }
        split_begin(&split, 6);
        for (size_t l = 0; l < DEPTH; l++) {
            propagate(&split, rows, NULL);
            if (l > 0) {
                expect_cell(&split, PROPAGATION_CONSTRUCTION_GAIN, real_of(fabs(scales[k])),
                            "permutation", l + 1);
            }
        }
        split_clear(&split);
    }
}

/* F(x^) of another layer than the run's: the identity does not hold, and it is said. */
static void a_broken_identity_is_a_contradiction(void **state)
{
    for (int c = 0; c < WITH_OMEGA; c++) {
        CaseSpec spec = difference_case((Construction)c, DEPTH);
        RefRows rows = {0, spec.n};
        Split split;
        split_open(&split, &spec, 3);
        propagate(&split, rows, NULL);
        assert_false(split.errors.contradiction);
        ref_propagation_begin(split.propagation, rows);
        ref_run_layer(split.run);
        ref_run_layer(split.run);
        ref_propagation_compare(&split.errors, split.propagation, rows, NULL);
        assert_true(split.errors.contradiction);
        split_clear(&split);
    }
}

/* A machine that has left its range: its cells are no numbers, and those of the construction
 * are. */
static void a_machine_s_infinity_spoils_its_own_cells(void **state)
{
    CaseSpec spec = difference_case(CONSTRUCTION_TRANSFORMER, DEPTH);
    RefRows rows = {0, spec.n};
    double machine[5 * 16] = {0};
    Split split;
    split_open(&split, &spec, 6);
    MachineView view = {machine, layout_content(&split.pair.converted.layout)};
    machine[3] = INFINITY;
    for (size_t l = 0; l < 2; l++) {
        propagate(&split, rows, &view);
        expect_state(&split, PROPAGATION_ROUNDING_INJECTED, CELL_NONFINITE);
        expect_state(&split, PROPAGATION_CONSTRUCTION_INJECTED, CELL_VALUE);
        assert_false(split.errors.contradiction);
    }
    expect_state(&split, PROPAGATION_ROUNDING_INHERITED, CELL_NONFINITE);
    expect_state(&split, PROPAGATION_ROUNDING_GAIN, CELL_NONFINITE);
    expect_state(&split, PROPAGATION_CONSTRUCTION_GAIN, CELL_VALUE);
    split_clear(&split);
}

SUBJECT(propagation)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inherited_is_what_the_original_makes_of_it),
        cmocka_unit_test(rounding_starts_from_the_machine_s_stream),
        cmocka_unit_test(gain_of_a_scaled_permutation),
        cmocka_unit_test(a_broken_identity_is_a_contradiction),
        cmocka_unit_test(a_machine_s_infinity_spoils_its_own_cells),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
