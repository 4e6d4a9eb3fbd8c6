/*
 * One input of `attribute`: its paths, terms and logits, in the precision that proves their
 * sum.
 */
#include <stdio.h>

#include "attribute.h"

#include "../../../memory/need.h"
#include "../../base/text_stream.h"
#include "../../evaluate/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bits of sums: many more than the 17 digits that are written. */
enum { SUM_BITS = 512 };

/* 33 digits of a stream leave 17 of what large terms of opposite sign add up to: so many bits
 * beyond those lost, and where streams begin; how often they are made, at most. */
enum { DIGITS_BITS = 110, FIRST_BITS = 192, WRITES_MOST = 4 };

/* x and the zeros of the hidden columns. */
static double *input_stream(const Attribution *attribution, size_t i)
{
    const Layout *layout = &attribution->pair.converted.layout;
    size_t d = attribution->model->d, content = layout_content(layout), n = layout->n;
    double *x = need_zeros(n * content, sizeof *x);
    for (size_t row = 0; row < n; row++) {
        memcpy(x + row * content, attribution->inputs.x + (i * n + row) * d, d * sizeof *x);
    }
    return x;
}

mpfr_prec_t attribute_bits(const Attribution *attribution)
{
    const Point *point = attribution->point;
    long first = point->precision > 0 ? point->precision : FIRST_BITS;
    return first < point->max_bits ? first : point->max_bits;
}

/* The part of the logits that every path writes, with more bits while digits lack, as often as
 * others raise theirs. */
static RefWrites *make_writes(const Attribution *attribution, const double *x)
{
    const Point *point = attribution->point;
    double most = (double)point->max_bits, bits = (double)attribute_bits(attribution), next = bits;
    RefWrites *writes = NULL;
    Start start = pair_start(&attribution->pair, point_omega(point));
    start.x = x;
    for (int made = 0; made < WRITES_MOST && (writes == NULL || next > bits); made++) {
        ref_writes_clear(writes);
        bits = next;
        writes = ref_writes_make(attribution->paths, &start, (mpfr_prec_t)bits);
        double lost = fmin(ref_writes_lost(writes), bits);
        next = fmin(64 * ceil((lost + DIGITS_BITS) / 64), most);
    }
    return writes;
}

/* The numbers of one logit on their way to a line of text and a summary. */
typedef struct {
    Attribution *attribution;
    size_t input, rows;
    RefWrites *writes;
    const RefReadout *readout;
    mpfr_t *numbers; /* [count]: all that follow */
    size_t count;
    mpfr_t *sums, *centred;          /* [groups, rows] */
    mpfr_t *by_kind, *absolute_kind; /* [PATH_KINDS]: of centred terms */
    mpfr_t *temp;                    /* [2] */
} Work;

/* Every term of logits[k] of the readout, into its group and the logit's sum. */
static void add_terms(Work *work, LogitSum *sum, size_t k)
{
    const Attribution *a = work->attribution;
    mpfr_ptr term = work->temp[0], centred = work->temp[1];
    for (size_t i = 0; i < work->count; i++) {
        mpfr_set_zero(work->numbers[i], 1);
    }
    mpfr_set_zero(sum->centred, 1);
    mpfr_set_zero(sum->residual, 1);
    for (size_t p = 0; p < ref_paths_count(a->paths); p++) {
        PathKind kind = ref_path(a->paths, p)->kind;
        for (size_t j = 0; j < work->rows; j++) {
            size_t at = a->group_of[p] * work->rows + j;
            ref_term(term, centred, work->writes, work->readout, p, j, k);
            mpfr_add(work->sums[at], work->sums[at], term, MPFR_RNDN);
            mpfr_add(work->centred[at], work->centred[at], centred, MPFR_RNDN);
            mpfr_add(sum->residual, sum->residual, term, MPFR_RNDN);
            mpfr_add(sum->centred, sum->centred, centred, MPFR_RNDN);
            mpfr_add(work->by_kind[kind], work->by_kind[kind], centred, MPFR_RNDN);
            mpfr_abs(centred, centred, MPFR_RNDN);
            mpfr_add(work->absolute_kind[kind], work->absolute_kind[kind], centred, MPFR_RNDN);
        }
    }
    ref_writes_logit(sum->logit, work->writes, sum->v);
    mpfr_sub(sum->residual, sum->residual, sum->logit, MPFR_RNDN);
    ref_attribution_bound(sum->bound, work->writes, work->readout, k);
}

static void summarise(Work *work, const LogitSum *sum)
{
    InputSummary *said = &work->attribution->inputs_said[work->input];
    mpfr_ptr total = work->temp[0], share = work->temp[1];
    mpfr_set_zero(total, 1);
    for (int kind = 0; kind < PATH_KINDS; kind++) {
        mpfr_add(total, total, work->absolute_kind[kind], MPFR_RNDN);
    }
    for (int kind = 0; kind < PATH_KINDS; kind++) {
        mpfr_div(share, work->by_kind[kind], sum->centred, MPFR_RNDN);
        said->share[kind] = mpfr_get_d(share, MPFR_RNDN);
        mpfr_div(share, work->absolute_kind[kind], total, MPFR_RNDN);
        said->absolute[kind] = mpfr_get_d(share, MPFR_RNDN);
    }
}

static void evaluate_logit(Work *work, size_t k, size_t v, size_t predicted, FILE *file)
{
    LogitSum sum = {.v = v};
    mpfr_inits2(SUM_BITS, sum.logit, sum.centred, sum.residual, sum.bound, (mpfr_ptr)NULL);
    InputSummary *said = &work->attribution->inputs_said[work->input];
    add_terms(work, &sum, k);
    /* NaN is within nothing; the summary has the input's worst residual. */
    said->within = said->within && mpfr_number_p(sum.residual) && mpfr_number_p(sum.bound) &&
                   mpfr_cmpabs(sum.residual, sum.bound) <= 0;
    said->residual = worse(fabs(mpfr_get_d(sum.residual, MPFR_RNDA)), said->residual);
    said->bound = worse(mpfr_get_d(sum.bound, MPFR_RNDU), said->bound);
    if (file != NULL) {
        attribute_write_logit(file, work->attribution, work->input, &sum, work->sums,
                              work->centred);
    }
    if (v == predicted) {
        summarise(work, &sum);
    }
    mpfr_clears(sum.logit, sum.centred, sum.residual, sum.bound, (mpfr_ptr)NULL);
}

/* All logits, or the predicted one alone. */
static void evaluate(Work *work, char **text)
{
    const Attribution *a = work->attribution;
    size_t predicted = ref_writes_predicted(work->writes), size = 0;
    RefReadout *own = a->all == NULL
                          ? ref_readout_make(a->paths, &predicted, 1, ref_writes_bits(work->writes))
                          : NULL;
    FILE *file = text != NULL ? text_stream(text, &size) : NULL;
    work->readout = own != NULL ? own : a->all;
    a->inputs_said[work->input] = (InputSummary){.within = true};
    for (size_t k = 0; k < (own != NULL ? 1 : a->model->classes); k++) {
        evaluate_logit(work, k, own != NULL ? predicted : k, predicted, file);
    }
    if (file != NULL) {
        (void)text_close(file, text);
    }
    ref_readout_clear(own);
}

void attribute_input(Attribution *attribution, size_t i, char **text)
{
    size_t rows = layout_rows(&attribution->pair.converted.layout);
    size_t cells = attribution->group_count * rows, count = 2 * cells + 2 * PATH_KINDS + 2;
    double *x = input_stream(attribution, i);
    Work work = {.attribution = attribution,
                 .input = i,
                 .rows = rows,
                 .writes = make_writes(attribution, x),
                 .numbers = need_zeros(count, sizeof *work.numbers),
                 .count = count};
    work.sums = work.numbers;
    work.centred = work.sums + cells;
    work.by_kind = work.centred + cells;
    work.absolute_kind = work.by_kind + PATH_KINDS;
    work.temp = work.absolute_kind + PATH_KINDS;
    for (size_t k = 0; k < count; k++) {
        mpfr_init2(work.numbers[k], SUM_BITS);
    }
    evaluate(&work, text);
    for (size_t k = 0; k < count; k++) {
        mpfr_clear(work.numbers[k]);
    }
    free(work.numbers);
    ref_writes_clear(work.writes);
    free(x);
}
