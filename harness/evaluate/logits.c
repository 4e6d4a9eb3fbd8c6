/*
 * Logits and predictions of original and rewrite over all inputs.
 */
#include "logits.h"

#include "../../memory/need.h"
#include "unembed.h"
#include "verdict.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Logits that are worked on at once, at most, where a position has not more. */
enum { BLOCK_NUMBERS = 1 << 20 };

/* Numbers from which the positions of an input are worth threads of their own. */
enum { PARALLEL_NUMBERS = 1 << 14 };

static size_t block_rows(const Logits *logits)
{
    size_t most = BLOCK_NUMBERS / logits->unembedding.classes;
    most = most > 0 ? most : 1;
    return logits->rows < most ? logits->rows : most;
}

double logits_kept_bytes(const Logits *logits)
{
    return ref_logits_bytes((double)logits->rows, (double)logits->unembedding.classes);
}

double logits_input_bytes(const Logits *logits)
{
    return (double)logits->rows * sizeof(Position) + sizeof(RefLogits *);
}

double logits_work_bytes(const Logits *logits)
{
    double rows = (double)block_rows(logits), classes = (double)logits->unembedding.classes;
    return 2 * ref_logits_bytes(rows, classes) + 2 * rows * classes * sizeof(double) +
           ref_softmax_bytes(classes);
}

double logits_seconds(const Logits *logits, bool search)
{
    const double product = 2e-8, exponential = 4e-7, machine = 1e-9, other = 1e-7;
    double numbers = (double)logits->rows * (double)logits->unembedding.classes;
    double each = (double)logits->unembedding.d * machine + other;
    if (!search) {
        each += 2 * (double)logits->unembedding.d * product + (1 + AGAINST_COUNT) * exponential;
    } else if (logits->judged == JUDGE_KL) {
        each += 2 * exponential;
    }
    return numbers * each;
}

void logits_init(Logits *logits, const Inputs *inputs, const ModelFile *model,
                 const Positions *positions)
{
    *logits = (Logits){
        .inputs = inputs,
        .unembedding = {.w_u = model->W_U,
                        .b_u = model->b_U,
                        .d = model->d,
                        .classes = model->classes,
                        .by_class = model->tied},
        .has_loss = inputs->tokens != NULL && model->classes == model->vocabulary,
        .rows = positions->count,
        .margin = INFINITY,
    };
    pthread_mutex_init(&logits->lock, NULL);
    logits->gain = ref_logits_gain(&logits->unembedding);
    logits->found = need_zeros(inputs->count, logits->rows * sizeof *logits->found);
    logits->first = need_zeros(inputs->count + 1, sizeof *logits->first);
    for (size_t i = 0, k = 0; i < inputs->count; i++) {
        bool once = positions->once && inputs->from != NULL;
        for (size_t p = once ? inputs->from[i] : 0; p < positions->n; p++) {
            if (positions->index[p] < positions->count) {
                logits->found[k].input = i;
                logits->found[k++].index = p;
            }
        }
        logits->first[i + 1] = k;
    }
}

void logits_keep(Logits *logits, size_t kept)
{
    logits->value = need_zeros(kept + 1, logits->rows * sizeof(RefLogits *));
    logits->kept = kept;
}

void logits_clear(Logits *logits)
{
    for (size_t i = 0; i < logits->kept * logits->rows; i++) {
        ref_logits_clear(logits->value[i]);
    }
    free(logits->value);
    free(logits->found);
    free(logits->first);
    pthread_mutex_destroy(&logits->lock);
    *logits = (Logits){0};
}

/* The token behind a position, or -1: what a loss would be of. */
static int64_t next_token(const Logits *logits, const Position *position)
{
    const Inputs *inputs = logits->inputs;
    const size_t i = position->input, p = position->index;
    if (!logits->has_loss) {
        return -1;
    }
    if (p + 1 < inputs->n) {
        return inputs->tokens[i * inputs->n + p + 1];
    }
    return inputs->next != NULL ? inputs->next[i] : -1;
}

/* One thread's work on an input, block after block of neighbours: the unembedding with the case's
 * final norm, r(T)'s logits, what is compared with them, and the machine's. */
typedef struct {
    Logits *logits;
    size_t most; /* rows of a block */
    RefUnembedding unembedding;
    RefLogits *own, *change;
    const RefLogits *original;  /* r(T)'s: own, or kept */
    double *converted, *native; /* [most, classes] of m(T') and m(T) */
    RefSoftmax **softmax;       /* [threads] */
    int threads;
} Taking;

static void taking_init(Taking *taking, Logits *logits, const Pair *pair)
{
    size_t rows = block_rows(logits), classes = logits->unembedding.classes;
    bool several = rows * classes >= PARALLEL_NUMBERS;
    *taking = (Taking){.logits = logits,
                       .most = rows,
                       .unembedding = logits->unembedding,
                       .own = ref_logits_make(rows, classes),
                       .change = ref_logits_make(rows, classes),
                       .converted = need_zeros(rows * classes, sizeof(double)),
                       .native = need_zeros(rows * classes, sizeof(double)),
                       .threads = several ? omp_get_max_threads() : 1};
    taking->unembedding.norm = pair->final_norm;
    taking->softmax = need_zeros((size_t)taking->threads, sizeof(RefSoftmax *));
    for (int t = 0; t < taking->threads; t++) {
        taking->softmax[t] = ref_softmax_make(classes);
    }
}

static void taking_clear(Taking *taking)
{
    for (int t = 0; t < taking->threads; t++) {
        ref_softmax_clear(taking->softmax[t]);
    }
    ref_logits_clear(taking->own);
    ref_logits_clear(taking->change);
    free(taking->converted);
    free(taking->native);
    free(taking->softmax);
}

/* r(T)'s logits of a block, whose first position is found[k]. */
static void original_logits(Taking *taking, const RefBase *base, size_t k, RefRows rows)
{
    Logits *logits = taking->logits;
    taking->original = taking->own;
    if (logits->found[k].input >= logits->kept) {
        ref_logits_original(taking->own, base, rows, &taking->unembedding);
        return;
    }
    if (logits->value[k] == NULL) {
        logits->value[k] = ref_logits_make(rows.count, logits->unembedding.classes);
        ref_logits_original(logits->value[k], base, rows, &taking->unembedding);
    }
    taking->original = logits->value[k];
}

/* Row r of the block. */
static PositionLogits row_logits(const Taking *taking, size_t r, const Point *point)
{
    size_t classes = taking->unembedding.classes;
    int thread = taking->threads > 1 ? omp_get_thread_num() : 0;
    return (PositionLogits){.original = ref_logits_row(taking->original, r),
                            .converted = taking->converted + r * classes,
                            .native = taking->native + r * classes,
                            .change = taking->change,
                            .row = r,
                            .classes = classes,
                            .unembedding = &taking->unembedding,
                            .gain = taking->logits->gain,
                            .next = -1,
                            .softmax = taking->softmax[thread],
                            .digits = point_digits(point)};
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* A sum and maxima, in which NaN stays: in any order the same. */
static void add_position(LogitErrors *all, const Position *position, const Figure *kl)
{
    all->all++;
    all->changed += position->changed;
    all->imitated += position->lost;
    all->native_changed += position->native_changed;
    all->lost += position->changed && position->lost;
    all->error = worse(position->error, all->error);
    all->kl = figure_is_worse(kl, &all->kl) ? *kl : all->kl;
}

void logits_sum(Logits *logits)
{
    logits->errors = (LogitErrors){.kl.state = CELL_ABSENT};
    for (size_t k = 0; k < logits_count(logits); k++) {
        const Position *position = &logits->found[k];
        add_position(&logits->errors, position, &position->means[POSITION_KL + AGAINST_MACHINE]);
        logits->margin = fmin(logits->margin, position->margin);
    }
}

/* One position of a search; only what is judged of it is worked out. */
static void compare_one(Logits *logits, Position *known, const PositionLogits *row)
{
    const Figure none = {.state = CELL_ABSENT};
    bool kl = logits->judged == JUDGE_KL;
    Position position = *known;
    position_compare(&position, row, kl);
    known->predicted = position.predicted;
    known->margin = position.margin;
    known->known = true;
    pthread_mutex_lock(&logits->lock);
    add_position(&logits->errors, &position,
                 kl ? &position.means[POSITION_KL + AGAINST_MACHINE] : &none);
    logits->margin = fmin(logits->margin, position.margin);
    pthread_mutex_unlock(&logits->lock);
}

/* All positions of input i, block after block: everything about them from its streams, or, where
 * last is NULL, a search's question to x, the last stream of m(T') or m(T). */
static void take_input(Logits *logits, size_t i, const Pair *pair, const RefBase *base,
                       const Point *point, const MachineView *x, const RefLayer *last)
{
    const ArithmeticInfo *arithmetic = arithmetic_info(point->arithmetic);
    Taking taking;
    taking_init(&taking, logits, pair);
    const RefUnembedding *unembedding = &taking.unembedding;
    for (size_t k = logits->first[i], end = logits->first[i + 1]; k < end;) {
        Position *found = &logits->found[k];
        RefRows rows = {found->index, 1};
        while (rows.count < taking.most && k + rows.count < end &&
               found[rows.count].index == rows.first + rows.count) {
            rows.count++;
        }
        original_logits(&taking, base, k, rows);
        unembed_machine(taking.converted, x, rows, unembedding, arithmetic, false);
        if (last != NULL) {
            ref_logits_change(taking.change, last, rows, unembedding);
            unembed_machine(taking.native, last->original, rows, unembedding, arithmetic, false);
        }
#pragma omp parallel for schedule(dynamic) num_threads(taking.threads) if (taking.threads > 1)
        for (size_t r = 0; r < rows.count; r++) {
            ref_thread_setup();
            PositionLogits row = row_logits(&taking, r, point);
            if (last != NULL) {
                row.next = next_token(logits, &found[r]);
                position_take(&found[r], &row, last);
            } else {
                compare_one(logits, &found[r], &row);
            }
        }
        k += rows.count;
    }
    taking_clear(&taking);
}

void logits_take(Logits *logits, size_t i, const Point *point, const RefLayer *last)
{
    take_input(logits, i, last->pair, last->base, point, last->converted, last);
}

static bool compare_member(void *context, size_t i, const Shared *shared, const Point *point)
{
    Logits *logits = context;
    const size_t n = logits->inputs->n, d = logits->unembedding.d;
    const Layout *layout = &shared->pair.original.layout;
    size_t content = layout_content(layout);
    double *x = need_zeros(n, d * sizeof *x);
    MachineView view = {x, d};
    bool ok = true;
    if (logits->native) {
        size_t last = shared->pair.original.depth - 1;
        view = (MachineView){shared_original(shared, point) + last * n * content, content};
    } else {
        const Start start = case_start(&shared->pair, point->penalty, point_omega(point));
        ok = machine_streams(x, &start, point, d, false);
    }
    if (ok) {
        take_input(logits, i, &shared->pair, shared->base, point, &view, NULL);
    }
    free(x);
    return ok;
}

bool logits_compare_all(Logits *logits, Ensemble *ensemble, double omega, bool native)
{
    logits->native = native;
    logits->errors = (LogitErrors){.kl.state = CELL_ABSENT};
    return ensemble_each(ensemble, omega, compare_member, logits);
}

void logit_errors_judged(mpfr_ptr worst, const LogitErrors *errors, JudgeOf of)
{
    mpfr_set_zero(worst, 1);
    if (of == JUDGE_KL) {
        figure_add(worst, &errors->kl);
    } else {
        mpfr_set_d(worst, errors->error, MPFR_RNDN);
    }
}

static bool judged_error(Ensemble *ensemble, RefCell *error, double omega, bool native)
{
    Logits *logits = ensemble->judged_context;
    if (!logits_compare_all(logits, ensemble, omega, native)) {
        return false;
    }
    logit_errors_judged(error->value, &logits->errors, logits->judged);
    error->state = !mpfr_number_p(error->value) ? CELL_NONFINITE
                   : mpfr_zero_p(error->value)  ? CELL_ZERO
                                                : CELL_VALUE;
    return true;
}

void logits_judge(Logits *logits, Ensemble *ensemble)
{
    ensemble->judged = judged_error;
    ensemble->judged_context = logits;
}
