/*
 * The record that an evaluation of a block of heads leaves for a difference (private to
 * reference/).
 *
 * A record that the next block overwrites is scratch; records that are all kept are a tape.
 */
#ifndef HEADPROOF_REFERENCE_HEADS_RECORD_H
#define HEADPROOF_REFERENCE_HEADS_RECORD_H

#include "../../cases/model.h"
#include "../numbers/ap.h"

/* A bundle's values: of its heads, of the bias that head 0 carries, of the integer diagonal. */
typedef enum { HEADS_PART, BIAS_PART, DIAGONAL_PART, PARTS } PartKind;

/* [rows, heads * width]: what each row contributes before the second factor, and the patterns
 * applied to that, before its scale. */
typedef struct {
    ApMat value, mixed;
} RecordPart;

/* Columns of a record's matrices.  One description is allocated and predicted by. */
typedef struct {
    size_t rows;
    size_t gate;              /* of score and gate */
    size_t group;             /* of group */
    size_t query;             /* and of key */
    size_t head_query;        /* of the widest query of one head */
    size_t mixed;             /* of the widest of a mixed head (HeadsWork) */
    size_t pattern, patterns; /* of a pattern, and how many there are */
    size_t part[PARTS];       /* of value and mixed */
    size_t head;              /* of the widest value of one head */
    size_t scaled;            /* of values whose scale is not 1 (HeadsWork) */
} RecordShape;

typedef struct {
    ApMat score;      /* [rows, heads] the gate a (x g + c); bilinear: the row's shift */
    ApMat gate;       /* [rows, heads] exp(-|gate|); bilinear: the row's sum of exponentials */
    ApMat group;      /* [rows, GROUPS * heads] weight of a key: self, another token, bias row; of
                       * mixed heads in the limit [rows, 2 * heads] scores: self, bias row */
    ApMat query, key; /* [rows, heads * width of a score's factor]; of mixed heads what all have */
    ApMat *pattern;   /* [patterns] of [rows, rows] */
    size_t patterns;  /* one a head, or one that each head overwrites */
    RecordPart part[PARTS];
} Record;

/* Of `heads` heads of a bundle, the first of which is head `first`, with a pattern for each. */
RecordShape record_shape(const Bundle *bundle, size_t first, size_t heads, size_t rows);

/* most = what holds most or any block of this shape, whose patterns, and then parts, overwrite each
 * other in turn. */
void record_shape_widen(RecordShape *most, const RecordShape *shape);

void record_init(Record *record, const RecordShape *shape, mpfr_prec_t bits);
void record_clear(Record *record);
double record_bytes(const RecordShape *shape, mpfr_prec_t bits);

/* Where a head's pattern is, and a part: its own place, or the one that all have in turn. */
static inline size_t record_pattern(const Record *record, size_t b)
{
    return b < record->patterns ? b : 0;
}

static inline PartKind record_part(const Record *record, PartKind part)
{
    return record->part[part].value.columns > 0 ? part : HEADS_PART;
}

/* Entries of a part of one head. */
size_t heads_part_width(const Value *value, PartKind part);

/* Have all heads of the score one pattern, without bilinear scores? */
bool heads_share_pattern(const Score *score);

/* How many of a bundle's heads are evaluated at once: evaluator_block_columns columns of values,
 * queries or gates, or one head. */
size_t heads_block(const Bundle *bundle, size_t rows, mpfr_prec_t bits);

/* Calls visit for every block of heads of a model's first sublayers, in the order of evaluation. */
typedef void BlockVisit(void *context, const Bundle *bundle, size_t first, size_t heads);
void heads_each_block(const Model *model, mpfr_prec_t bits, size_t sublayers, BlockVisit *visit,
                      void *context);

/* How many those are. */
size_t heads_blocks(const Model *model, mpfr_prec_t bits, size_t sublayers);

#endif
