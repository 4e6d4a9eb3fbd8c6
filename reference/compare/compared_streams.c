/*
 * The streams whose differences are the errors, with what they may be off by.
 */
#include "compared_streams.h"

Off stream_off(const Stream *stream)
{
    return (Off){stream->error, stream->root};
}

void stream_radius(Stream *stream, const Comparison *comparison, const Known *known)
{
    const Side *side = &stream->side;
    const Layout *layout = &known->pair->converted.layout;
    RefRows rows = comparison->rows;
    mpfr_t square;
    mpfr_init2(square, REF_CELL_BITS);
    mpfr_set_zero(stream->error, 1);
    mpfr_set_zero(stream->root, 1);
    for (size_t i = rows.first; side->radius != NULL && i < rows.first + rows.count; i++) {
        mpfr_max(stream->error, stream->error, ap_at(side->radius, i, 0), MPFR_RNDU);
        mpfr_sqr(square, ap_at(side->radius, i, 0), MPFR_RNDU);
        mpfr_add(stream->root, stream->root, square, MPFR_RNDU);
    }
    if (side->radius == NULL) {
        RadiusOf of = side->difference != NULL ? RADIUS_DIFFERENCE
                      : side->limit != NULL    ? RADIUS_STREAM
                                               : RADIUS_SUM;
        ref_run_radius(known->run, of, layout_token_row(layout, rows.first), rows.count,
                       comparison->columns, stream->error, stream->root);
    }
    mpfr_sqrt(stream->root, stream->root, MPFR_RNDU);
    /* squares may leave MPFR's exponents where their roots do not */
    mpfr_sqrt_ui(square, rows.count, MPFR_RNDU);
    mpfr_mul(square, square, stream->error, MPFR_RNDU);
    mpfr_min(stream->root, stream->root, square, MPFR_RNDU);
    mpfr_clear(square);
}

/* given: the rows compared are proven to be what the stream began with, x [n, ld]; that is looked
 * at. */
static void stream_set(Stream *stream, const Comparison *comparison, const Known *known, Side side,
                       bool given, const double *x, size_t ld)
{
    Columns columns = comparison->columns;
    RefRows rows = comparison->rows;
    stream->there = true;
    stream->side = side;
    stream_radius(stream, comparison, known);
    if (!given) {
        return;
    }
    mpfr_set_zero(stream->error, 1);
    mpfr_set_zero(stream->root, 1);
    for (size_t i = rows.first; i < rows.first + rows.count; i++) {
        for (size_t c = 0; c < columns.count; c++) {
            double entry = x[i * ld + columns.first + c];
            if (mpfr_cmp_d(comparison_entry(&side, columns, i, c), entry) != 0) {
                comparison->errors->contradiction = true;
            }
        }
    }
}

void streams_set(Streams *streams, const Comparison *comparison, const Known *known,
                 const RefBase *base, int proven)
{
    const Pair *pair = known->pair;
    const RefRun *run = known->run;
    size_t l = known->layer - 1, d = layout_content(&pair->original.layout);
    size_t wider = layout_content(&pair->converted.layout);
    bool given = (proven & PROVEN_GIVEN) != 0;
    bool original_given = proof_original_given(base->proof, known->layer, comparison->rows);
    Side original = {.mat = &base->original[l], .radius = &base->radius[l]};
    stream_set(&streams->original, comparison, known, original, original_given, pair->original_x,
               d);
    if (run != NULL) {
        stream_set(&streams->converted, comparison, known, (Side){.run = run}, given,
                   pair->converted_x, wider);
    }
    if (run != NULL && run->e != NULL) {
        stream_set(&streams->limit, comparison, known, (Side){.limit = run}, given,
                   pair->converted_x, wider);
    } else if (base->limit != NULL) {
        Side limit = {.mat = &base->limit[l], .radius = &base->limit_radius[l]};
        stream_set(&streams->limit, comparison, known, limit, given, pair->converted_x, wider);
    }
}

void stream_add_errors(Stream *sum, const Stream *a, const Stream *b)
{
    mpfr_add(sum->error, a->error, b->error, MPFR_RNDU);
    mpfr_add(sum->root, a->root, b->root, MPFR_RNDU);
}
