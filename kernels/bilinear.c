/*
 * Heads with bilinear scores, a block of rows at a time.  Tokens toward tokens is what the
 * original computes, with the same calls and shapes; Omega and the bias row enter after it, so
 * that where they are absorbed nothing is left of them.
 */
#include "bilinear.h"

#include "each.h"
#include "gemm.h"
#include "groups.h"
#include "softmax.h"

/* Rows of a block: enough for products as fast as those of all rows; few enough that under a causal
 * mask little is computed that the mask hides. */
enum { BLOCK_ROWS = 128 };

static PatternBlock block_take(Scratch *scratch, const Layout *layout, const Score *score)
{
    size_t rows = layout->n < BLOCK_ROWS ? layout->n : BLOCK_ROWS;
    PatternBlock block = {.n = layout->n};
    block.tokens = scratch_take(scratch, (double)rows, (double)layout->n);
    if (layout->bias_row != BIAS_ROW_NONE) {
        block.bias = scratch_take(scratch, 1, (double)rows);
    }
    if (score_is_mixed(score)) {
        block.query = scratch_take(scratch, (double)rows, (double)score->d_head);
    }
    return block;
}

Bilinear bilinear_take(Scratch *scratch, const Layout *layout, const Bundle *bundle, size_t threads)
{
    const Score *score = &bundle->score;
    double factors = (score_is_mixed(score) ? 1 : (double)bundle->heads) * (double)score->d_head;
    Scratch one = {NULL, 0};
    Bilinear bilinear = {0};
    if (score->q.data != NULL) {
        bilinear.left =
            rows_take(scratch, layout, score->d_head > 0 ? factors : (double)score->read.count);
    }
    bilinear.right = rows_take(scratch, layout, factors);
    bilinear.mass = scratch_take(scratch, 1, (double)layout->n + 1);
    block_take(&one, layout, score);
    bilinear.block_scalars = one.taken;
    bilinear.blocks.next = scratch_take(scratch, (double)threads, one.taken);
    return bilinear;
}

/* What a linear map writes that a product is to read: TF32 is of products alone. */
static NumberFormat written(const Formats *formats)
{
    return formats->operand == FORMAT_TF32 ? FORMAT_F32 : formats->operand;
}

/* A pair times its cos, the pair across times its sin, the sums: numbers as weights are stored. */
static void turn_pair(Scalar *x, RotaryPair pair, Scalar cos, Scalar sin, NumberFormat format)
{
    Scalar products[] = {x[pair.first] * cos, x[pair.second] * cos, x[pair.second] * sin,
                         x[pair.first] * sin};
    scalar_round(format, products, 4);
    Scalar sums[] = {products[0] - products[2], products[1] + products[3]};
    scalar_round(format, sums, 2);
    x[pair.first] = sums[0];
    x[pair.second] = sums[1];
}

/* Queries or keys of all heads. */
typedef struct {
    const Bilinear *bilinear;
    Rows rows;
    size_t heads;
} Turned;

/* Of token i, or the bias row, which is not turned; then as products read them. */
static void turn_row(const void *context, size_t i, size_t thread)
{
    const Turned *turned = context;
    const Pass *pass = turned->bilinear->pass;
    const Score *score = turned->bilinear->score;
    const Rotary *rotary = score->rotary;
    size_t n = pass->layout->n, half = rotary->width / 2;
    Scalar *row = rows_row(turned->rows, n, i);
    const Scalar *cos = weights_stored(pass->weights, rotary->cos) + i * half;
    const Scalar *sin = weights_stored(pass->weights, rotary->sin) + i * half;
    (void)thread;
    for (size_t e = 0; i < n && e < turned->heads * half; e++) {
        size_t head = e / half, p = e % half;
        turn_pair(row + head * score->d_head, rotary_pair(rotary, p), cos[p], sin[p],
                  pass->formats->storage);
    }
    scalar_round(pass->formats->operand, row, turned->heads * score->d_head);
}

static void turn(const Bilinear *bilinear, Rows rows, size_t heads)
{
    const Turned turned = {bilinear, rows, heads};
    each(rows_count(rows, bilinear->pass->layout->n), bilinear->pass->threads, turn_row, &turned);
}

void bilinear_project(const Bilinear *bilinear, size_t heads)
{
    const Pass *pass = bilinear->pass;
    const Score *score = bilinear->score;
    Extents size = {pass->layout->n, score->read.count, score_is_mixed(score) ? 1 : heads,
                    score->d_head};
    if (score->d_head > 0) {
        bool turns = score->rotary != NULL;
        NumberFormat format = turns ? written(pass->formats) : pass->formats->operand;
        Ending left = {1, 0, weights_stored(pass->weights, score->q_bias), format};
        Ending right = {1, 0, weights_stored(pass->weights, score->k_bias), format};
        if (score->q.data != NULL) {
            rows_multiply(bilinear->left, bilinear->x, weight_operand(pass, score->q), size, left,
                          pass->threads);
        }
        rows_multiply(bilinear->right, bilinear->x, weight_operand(pass, score->k), size, right,
                      pass->threads);
        if (turns) {
            turn(bilinear, bilinear->left, heads);
            turn(bilinear, bilinear->right, heads);
        }
    }
}

void bilinear_project_head(const Bilinear *bilinear, size_t head)
{
    const Pass *pass = bilinear->pass;
    const Score *score = bilinear->score;
    size_t width = score->read.count;
    if (score->d_head == 0) {
        rows_multiply(bilinear->left, bilinear->x,
                      head_weight(weight_operand(pass, score->q), head),
                      (Extents){pass->layout->n, width, 1, width},
                      (Ending){1, 0, NULL, pass->formats->operand}, pass->threads);
    }
}

static size_t token_blocks(size_t n)
{
    return n / BLOCK_ROWS + (n % BLOCK_ROWS != 0);
}

size_t bilinear_blocks(const Layout *layout)
{
    return token_blocks(layout->n) + (layout->bias_row != BIAS_ROW_NONE);
}

static PatternBlock block_make(const Bilinear *bilinear, size_t block, size_t thread)
{
    const Layout *layout = bilinear->pass->layout;
    Scratch scratch = {bilinear->blocks.next + thread * (size_t)bilinear->block_scalars, 0};
    PatternBlock made = block_take(&scratch, layout, bilinear->score);
    size_t n = layout->n;
    made.bias_row = block == token_blocks(n);
    made.first = made.bias_row ? n : block * BLOCK_ROWS;
    made.count = made.bias_row ? 1 : n - made.first < BLOCK_ROWS ? n - made.first : BLOCK_ROWS;
    made.visible = n;
    if (bilinear->score->visible == VISIBLE_EARLIER) {
        made.visible = made.bias_row ? 0 : made.first + made.count;
    }
    return made;
}

/* Where scores are rounded, product and scale are two operations. */
static void scale_scores(Scalar *scores, size_t count, Scalar scale, NumberFormat format)
{
    scalar_round(format, scores, count);
    if (scale != 1) {
        for (size_t j = 0; j < count; j++) {
            scores[j] *= scale;
        }
        scalar_round(format, scores, count);
    }
}

/* The block's rows of queries, times what the head mixes them by: a result of one product more. */
static GemmFactor mix_queries(const PatternBlock *block, const Bilinear *bilinear, size_t head,
                              GemmFactor from)
{
    const Pass *pass = bilinear->pass;
    size_t width = bilinear->score->d_head;
    Weight mix = head_weight(weight_operand(pass, bilinear->score->mix), head);
    for (size_t r = 0; r < block->count; r++) {
        for (size_t k = 0; k < width; k++) {
            block->query[r * width + k] = from.entry[r * from.ld + k] * mix.data[k * mix.ld];
        }
    }
    scalar_round(pass->formats->operand, block->query, block->count * width);
    return (GemmFactor){block->query, width};
}

/* scale * left right^T of a head, of the block's rows toward the tokens and toward the bias row. */
static void content_scores(const PatternBlock *block, const Bilinear *bilinear, size_t head)
{
    const Score *score = bilinear->score;
    const NumberFormat format = bilinear->pass->formats->score;
    const Scalar scale = scale_value(score->scale), alpha = scalar_is_finer(format) ? 1 : scale;
    ConstRows left = bilinear->query, right = bilinear->x;
    size_t width = score->read.count;
    if (score->d_head > 0) {
        width = score->d_head;
        left = rows_const_from(left, score_own(score, head));
        right = rows_const_from(rows_const(bilinear->right), score_own(score, head));
    }
    const Scalar *rows = block->bias_row ? left.bias : left.tokens + block->first * left.ld;
    GemmFactor queries = {rows, left.ld};
    if (score_is_mixed(score)) {
        queries = mix_queries(block, bilinear, head, queries);
    }
    blas_gemm_nt((GemmMatrix){block->tokens, block->n}, queries,
                 (GemmFactor){right.tokens, right.ld},
                 (GemmTask){block->count, block->visible, width, alpha, 0});
    if (right.bias != NULL) {
        blas_gemm_nt((GemmMatrix){block->bias, 1}, queries, (GemmFactor){right.bias, right.ld},
                     (GemmTask){block->count, 1, width, alpha, 0});
    }
    for (size_t r = 0; scalar_is_finer(format) && r < block->count; r++) {
        scale_scores(block->tokens + r * block->n, block->visible, scale, format);
    }
    if (scalar_is_finer(format) && right.bias != NULL) {
        scale_scores(block->bias, block->count, scale, format);
    }
}

/* Adds a position score to a row of scores; 0, the original's, costs nothing. */
static void add_position(Scalar *row, size_t visible, Scalar score)
{
    for (size_t j = 0; score != 0 && j < visible; j++) {
        row[j] += score;
    }
}

/* Must every key be asked about by itself?  So it is where scores have extra coefficients of Omega,
 * and under masks other than the causal one: visible keys are not the first ones then. */
static bool key_by_key(const Score *score)
{
    return score->extra != NULL ||
           (score->visible != VISIBLE_ALL && score->visible != VISIBLE_EARLIER);
}

/* A row of scores: toward its first tokens, and toward the bias row or NULL. */
typedef struct {
    Scalar *tokens, *bias;
    size_t visible;
} KeyRow;

static KeyRow key_row(const PatternBlock *block, const GroupScores *position, size_t r)
{
    return (KeyRow){block->tokens + r * position->n, position->bias_row ? block->bias + r : NULL,
                    block->visible};
}

/* Position scores and mask of row i of the stream: a key that is not seen scores -infinity. */
static void add_keys(KeyRow row, const GroupScores *position, size_t head, size_t i)
{
    const Layout *layout = position->layout;
    const Score *score = position->score;
    for (size_t k = 0; k < row.visible + (row.bias != NULL); k++) {
        bool token = k < row.visible;
        size_t j = token ? layout_token_row(layout, k) : layout_bias_row(layout);
        Scalar *entry = token ? row.tokens + k : row.bias;
        *entry += position_value(position->pass, score_position(layout, score, head, i, j));
        *entry = score_sees(layout, score, i, j) ? *entry : -INFINITY;
    }
}

/* Scores of a row that is complete, rounded, to weights, rounded, 0 as far as `length`; returns
 * that on all tokens. */
static Scalar row_softmax(KeyRow row, size_t length, const GroupScores *position)
{
    const Formats *formats = position->pass->formats;
    scalar_round(formats->score, row.tokens, row.visible);
    if (row.bias != NULL) {
        scalar_round(formats->score, row.bias, 1);
    }
    return softmax_row(row.tokens, row.visible, length, row.bias, formats->operand);
}

/* The block's row r from content scores to weights, key by key; returns its weight on all
 * tokens. */
static Scalar row_of_keys(const PatternBlock *block, const GroupScores *position, size_t head,
                          size_t r)
{
    const Layout *layout = position->layout;
    const KeyRow row = key_row(block, position, r);
    add_keys(row, position, head,
             block->bias_row ? layout_bias_row(layout)
                             : layout_token_row(layout, block->first + r));
    return row_softmax(row, block->visible, position);
}

static Scalar row_of_token(const PatternBlock *block, const GroupScores *position, size_t r)
{
    bool earlier = position->score->visible == VISIBLE_EARLIER;
    size_t i = block->first + r, visible = earlier ? i + 1 : position->n;
    KeyRow row = key_row(block, position, r);
    row.visible = visible;
    add_position(row.tokens, i, position->token_token);
    add_position(row.tokens + i, 1, position->token_self);
    add_position(row.tokens + i + 1, visible - i - 1, position->token_token);
    if (row.bias != NULL) {
        *row.bias += position->token_bias;
    }
    return row_softmax(row, block->visible, position);
}

static Scalar row_of_bias(const PatternBlock *block, const GroupScores *position)
{
    add_position(block->tokens, block->visible, position->bias_token);
    *block->bias += position->bias_self;
    return row_softmax(key_row(block, position, 0), block->visible, position);
}

static Scalar row_weights(const PatternBlock *block, const GroupScores *position, size_t head,
                          size_t r)
{
    if (key_by_key(position->score)) {
        return row_of_keys(block, position, head, r);
    }
    return block->bias_row ? row_of_bias(block, position) : row_of_token(block, position, r);
}

PatternBlock bilinear_pattern(const Bilinear *bilinear, size_t head, size_t block, size_t thread)
{
    PatternBlock made = block_make(bilinear, block, thread);
    GroupScores position = group_scores(bilinear->pass, bilinear->score);
    content_scores(&made, bilinear, head);
    for (size_t r = 0; r < made.count; r++) {
        Scalar mass = row_weights(&made, &position, head, r);
        if (head == 0) {
            bilinear->mass[made.first + r] = mass;
        }
    }
    return made;
}

void bilinear_attend(const PatternBlock *block, Rows out, ConstRows in, size_t width, Ending ending)
{
    const Scalar factor = ending.alpha;
    Scalar *rows = block->bias_row ? out.bias : out.tokens + block->first * out.ld;
    blas_gemm((GemmMatrix){rows, out.ld}, (GemmFactor){block->tokens, block->n},
              (GemmFactor){in.tokens, in.ld},
              (GemmTask){block->count, width, block->visible, factor, ending.beta});
    for (size_t r = 0; in.bias != NULL && r < block->count; r++) {
        Scalar weight = factor * block->bias[r];
        for (size_t c = 0; weight != 0 && c < width; c++) {
            rows[r * out.ld + c] += weight * in.bias[c];
        }
    }
    for (size_t r = 0; ending.beta == 0 && r < block->count; r++) {
        scalar_round(ending.format, rows + r * out.ld, width);
    }
}
