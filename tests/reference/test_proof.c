/*
 * Zeros by proof: what is said of a stream from a model's data alone holds in an evaluation by
 * loops, at any Omega.
 */
#include "../../reference/zeros/trace.h"
#include "../fixture.h"
#include "../naive.h"
#include "../random_model.h"
#include "../unit.h"

#include <math.h>

enum { CASES = 1500, SEED = 20 };

/* ---- Random models --------------------------------------------------------------------------- */

/* Each of the numbers so far is 0 with this chance in 8. */
static void thin(RandomModel *random, size_t first, size_t eighths)
{
    for (size_t i = first; i < random->numbers; i++) {
        random->number[i] = random_below(random, 8) < eighths ? 0 : random->number[i];
    }
}

/* The identity in V, now and then, where a diagonal of -1 takes it away. */
static void make_identity(RandomModel *random, Bundle *bundle)
{
    Value *value = &bundle->value;
    if (value->v.data == NULL || value->d_head > 0 || bundle->heads != 1 ||
        random_below(random, 3) > 0) {
        return;
    }
    value->write = value->read;
    value->diagonal = -1;
    value->bias = NULL;
    double *v = random->number + random->numbers;
    (void)random_numbers(random, value->read.count * value->read.count);
    for (size_t e = 0; e < value->read.count * value->read.count; e++) {
        v[e] = e / value->read.count == e % value->read.count;
    }
    value->v = (HeadWeight){v, value->read.count, 0};
}

static void random_make(RandomModel *random, Layout *layout, bool causal)
{
    for (size_t b = 0; b < 3; b++) {
        size_t before = random->numbers;
        bool gates = layout->bias_row != BIAS_ROW_NONE;
        ScoreShape score = (ScoreShape)random_below(random, SCORES_COUNT);
        ValueShape value = (ValueShape)random_below(random, VALUES_COUNT - 1);
        bool gated = score == SCORES_GATE || score == SCORES_GATE_UNIT;
        score = gated && !gates ? SCORES_BILINEAR : score;
        random->bundle[b] =
            random_bundle(random, layout, score, value, 1 + random_below(random, 2), causal);
        if (layout->bias_row == BIAS_ROW_MASKED || random_below(random, 2)) {
            random_sight(random, layout, &random->bundle[b]);
        }
        thin(random, before, random_below(random, 9));
        make_identity(random, &random->bundle[b]);
    }
    random->sublayer[0] = (Sublayer){.bundles = random->bundle, .bundle_count = 1};
    random->sublayer[1] = (Sublayer){.bundles = random->bundle + 1, .bundle_count = 2};
    random->layer_end[0] = 1;
    random->layer_end[1] = 2;
    random->model = (Model){*layout, random->sublayer, 2, random->layer_end, 2, NULL};
}

/* How often each flag was there, and was not. */
typedef struct {
    size_t proven[3], open[3];
} Tally;

/* near, far: the stream at two Omegas; began: at first. */
static void check_entries(Tally *tally, const Trace *trace, const NaiveMatrix *near,
                          const NaiveMatrix *far, const NaiveMatrix *began)
{
    static const int flags[3] = {PROVEN_ZERO, PROVEN_GIVEN, PROVEN_SAME};
    for (size_t e = 0; e < trace->rows * trace->columns; e++) {
        size_t i = e / trace->columns, c = e % trace->columns;
        long double a = near->value[i][c], b = far->value[i][c], x = began->value[i][c];
        long double size = 1 + fabsl(a), off[3] = {fabsl(a), fabsl(a - x), fabsl(a - b)};
        for (int f = 0; f < 3; f++) {
            bool proven = (trace->known[e] & flags[f]) != 0;
            tally->proven[f] += proven;
            tally->open[f] += !proven && off[f] > 1e-12L * size;
            if (proven && off[f] > 1e-15L * size) {
                print_error("row %zu, column %zu: flag %d, off by %Lg\n", i, c, flags[f], off[f]);
                fail();
            }
        }
    }
}

static void check_model(Tally *tally, RandomModel *random)
{
    const Model *model = &random->model;
    const Layout *layout = &model->layout;
    size_t content = layout_content(layout), before = random->numbers;
    const double *tokens = random_numbers(random, layout->n * content);
    const double *bias = random_below(random, 3) == 0 ? random_numbers(random, content) : NULL;
    thin(random, before, random_below(random, 3) == 0 ? 8 : random_below(random, 6));
    NaiveMatrix near[3], far[3];
    Trace trace;
    assert_null(model_fault(model));
    trace_open(&trace, model, tokens, bias);
    naive_start(&near[0], layout, tokens, bias);
    far[0] = near[0];
    check_entries(tally, &trace, &near[0], &far[0], &near[0]);
    for (size_t l = 0; l < model->depth; l++) {
        naive_sublayer(&near[l + 1], &near[l], layout, &model->sublayers[l], 0.25);
        naive_sublayer(&far[l + 1], &far[l], layout, &model->sublayers[l], 2);
        assert_true(trace_layer(&trace, l + 1));
        check_entries(tally, &trace, &near[l + 1], &far[l + 1], &near[0]);
    }
    trace_clear(&trace);
}

static void what_is_proven_holds(void **state)
{
    static const char *const names[3] = {"zero", "as given", "the same at any Omega"};
    static RandomModel random;
    Tally tally = {{0}, {0}};
    for (size_t k = 0; k < CASES; k++) {
        random_start(&random, SEED + k);
        Layout layout = {1 + random_below(&random, 4), 1 + random_below(&random, 4), 0,
                         (BiasRow)random_below(&random, 4)};
        layout.hidden = layout.bias_row != BIAS_ROW_NONE ? random_below(&random, 3) : 0;
        bool causal = layout.bias_row != BIAS_ROW_LAST && layout.bias_row != BIAS_ROW_MASKED &&
                      random_below(&random, 2);
        if (layout_content(&layout) < 2) {
            layout.d = 2; /* two unit heads */
        }
        random_make(&random, &layout, causal);
        check_model(&tally, &random);
    }
    for (int f = 0; f < 3; f++) {
        print_message("%s: %zu entries proven, %zu are otherwise\n", names[f], tally.proven[f],
                      tally.open[f]);
        assert_true(tally.proven[f] > 1000 && tally.open[f] > 1000);
    }
}

/* ---- Direct operations ----------------------------------------------------------------------- */

static Direct random_direct(RandomModel *random, size_t d, size_t hidden)
{
    Direct direct = {.kind = (DirectKind)random_below(random, 3),
                     .activation = (Activation)random_below(random, ACTIVATION_PLAIN),
                     .read = {0, d},
                     .write = {0, d},
                     .hidden = 3};
    bool in_place = random_below(random, 2);
    if (direct.kind == DIRECT_LINEAR) {
        direct.replace = in_place;
        direct.clear = !in_place && random_below(random, 2);
        direct.write = in_place ? direct.read : (Columns){d, hidden};
    }
    size_t wide = direct.kind == DIRECT_FFN ? direct.hidden : direct.write.count;
    size_t before = random->numbers;
    direct.w1 = random_numbers(random, d * wide);
    direct.b1 = random_below(random, 2) ? random_numbers(random, wide) : NULL;
    direct.w2 = random_numbers(random, wide * d);
    direct.b2 = random_below(random, 2) ? random_numbers(random, d) : NULL;
    thin(random, before, random_below(random, 3) == 0 ? 8 : random_below(random, 9));
    for (size_t e = 0; direct.replace && e < d * d && random->state % 3 > 0; e++) {
        random->number[before + e] = e / d == e % d;
    }
    return direct;
}

static void what_is_proven_of_originals_holds(void **state)
{
    static RandomModel random;
    Tally tally = {{0}, {0}};
    for (size_t k = 0; k < CASES; k++) {
        random_start(&random, SEED + k);
        Layout layout = {1 + random_below(&random, 3), 1 + random_below(&random, 3), 2,
                         BIAS_ROW_NONE};
        for (size_t l = 0; l < 2; l++) {
            random.sublayer[l] = (Sublayer){.direct = random_direct(&random, layout.d, 2)};
            random.layer_end[l] = l + 1;
        }
        random.model = (Model){layout, random.sublayer, 2, random.layer_end, 2, NULL};
        check_model(&tally, &random);
    }
    for (int f = 0; f < 2; f++) {
        assert_true(tally.proven[f] > 1000 && tally.open[f] > 1000);
    }
}

SUBJECT(proof)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_proven_holds),
        cmocka_unit_test(what_is_proven_of_originals_holds),
    };
    return cmocka_run_group_tests(tests, reference_set_up, reference_tear_down);
}
