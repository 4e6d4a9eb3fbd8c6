/*
 * The table of axes: name, values, default and help of each, the field that holds it, and where it
 * matters.
 */
#include "axes.h"

#include "model_source.h"

#include "../../cases/activation.h"

#include <math.h>
#include <string.h>

#define SIZE_MOST 2147483647
#define BITS_LEAST 64
#define BITS_MOST 1048576
#define ENTRY_MOST 9007199254740992 /* 2^53 */

/* Domains. */
#define WORDS(list) .words = (list), .word_count = sizeof(list) / sizeof *(list)
#define CHOICE(list) .kind = DOMAIN_WORDS, WORDS(list)
#define INTEGERS(first, last) .kind = DOMAIN_INTEGER, .least = (first), .most = (last)
#define SIZE_FROM(first) INTEGERS(first, SIZE_MOST)
#define BITS INTEGERS(BITS_LEAST, BITS_MOST)
#define POSITIVE .kind = DOMAIN_POSITIVE

/* Defaults. */
#define WORD(index) .form = FORM_WORD, .integer = (index)
#define INTEGER(value) .form = FORM_INTEGER, .integer = (value)
#define MULTIPLE(value) .form = FORM_MULTIPLE, .integer = (value)
#define REAL(value) .form = FORM_REAL, .real = (value)

/* The field of Point that holds the value. */
#define FIELD(member) .offset = offsetof(Point, member), .bytes = sizeof(((Point *)NULL)->member)

static const char *const masks[] = {[MASK_NONE] = "none",
                                    [MASK_CAUSAL] = "causal",
                                    [MASK_PSEUDO_CAUSAL] = "pseudo-causal",
                                    [MASK_PSEUDO_BAND] = "pseudo-band",
                                    [MASK_PSEUDO_RANDOM] = "pseudo-random"};
static const char *const kernels[] = {[KERNEL_DENSE] = "dense", [KERNEL_STRUCTURED] = "structured"};
static const char *const references[] = {[REFERENCE_AUTO] = "auto",
                                         [REFERENCE_SUBTRACT] = "subtract",
                                         [REFERENCE_DIFFERENCE] = "difference",
                                         [REFERENCE_NONE] = "none"};
static const char *const penalties[] = {
    [PENALTY_POSITIVE] = "positive", [PENALTY_NEGATIVE] = "negative"};
static const char *const weights[] = {[WEIGHTS_STABLE] = "stable", [WEIGHTS_NORMAL] = "normal"};
static const char *const biases[] = {[BIAS_NONE] = "none", [BIAS_RANDOM] = "random"};
static const char *const scales[] = {"1", "1/sqrt(d_head)"};
static const char *const rotaries[] = {
    [ROTARY_NONE] = "none", [ROTARY_HALF] = "half", [ROTARY_INTERLEAVED] = "interleaved"};
static const char *const whole_heads[] = {"d-head"};
static const char *const tables[] = {[TABLES_EXACT] = "exact", [TABLES_FLOAT32] = "float32"};
static const char *const normalizations[] = {[NORMALIZATION_NONE] = "none",
                                             [NORMALIZATION_LAYERNORM] = "layernorm",
                                             [NORMALIZATION_RMSNORM] = "rmsnorm"};
static const char *const places[] = {[NORM_PRE] = "pre", [NORM_POST] = "post"};
static const char *const normalized[] = {"yes", "no"};
static const char *const linears[] = {
    [LINEAR_IN_PLACE] = "in-place", [LINEAR_BLOCK] = "block", [LINEAR_CLEAR] = "clear"};
static const char *const bias_rows[] = {
    [POSITION_AUTO] = "auto", [POSITION_FIRST] = "first", [POSITION_LAST] = "last"};
static const char *const contents[] = {[CONTENT_NONE] = "none", [CONTENT_RANDOM] = "random"};
static const char *const own_scores[] = {[BIAS_SELF_TWICE] = "2", [BIAS_SELF_FOURFOLD] = "4"};
static const char *const gelus[] = {
    [GELU_SIGMOID] = "sigmoid", [GELU_MINIMAX] = "minimax", [GELU_TWO] = "two"};
static const char *const ffns[] = {[FFN_PLAIN] = "plain", [FFN_GATED] = "gated"};
static const char *const truths[] = {"no", "yes"};
static const char *const precisions[] = {"auto"};
static const char *const taus[] = {"auto"};
static const char *const unlimited[] = {"none"};
static const char *const absent[] = {"none"};
static const char *const every[] = {"all"};
static const char *const tolerances[] = {"none"};
static const char *const judges[] = {
    [ERROR_APPROXIMATION] = "approximation",
    [ERROR_CONSTRUCTION] = "construction",
    [ERROR_ROUNDING] = "rounding",
    [ERROR_NATIVE] = "native",
    [ERROR_TOTAL] = "total",
    [ERROR_OBSERVED] = "observed",
    [ERROR_KINDS + JUDGE_LOGITS - 1] = "logits",
    [ERROR_KINDS + JUDGE_KL - 1] = "kl",
};
static const char *const norms[] = {[NORM_MAX] = "max", [NORM_RMS] = "rms", [NORM_REL] = "rel"};

/* ---- Where an axis matters ----------------------------------------------------------------- */

static const ConstructionInfo *info_of(const Point *point)
{
    return construction_info(point->spec.construction);
}

static bool has_heads(const Point *point)
{
    return info_of(point)->heads;
}

static bool has_rotary(const Point *point)
{
    return case_rotary_width(&point->spec) > 0;
}

static bool has_both_parts(const Point *point)
{
    return has_heads(point) && info_of(point)->d_ff;
}

static bool has_linear_heads(const Point *point)
{
    return info_of(point)->linear || info_of(point)->hidden_bank;
}

static bool has_linear(const Point *point)
{
    return info_of(point)->linear;
}

static bool has_scores(const Point *point)
{
    return !info_of(point)->linear;
}

static bool has_d_ff(const Point *point)
{
    return case_uses_d_ff(&point->spec);
}

static bool has_omega(const Point *point)
{
    return !info_of(point)->masked;
}

static bool omega_matters(const Point *point)
{
    return point->omega > 0 && has_omega(point);
}

static bool mask_matters(const Point *point)
{
    return has_omega(point) && (has_heads(point) || !mask_is_pseudo(point->spec.mask));
}

static bool band_matters(const Point *point)
{
    return has_heads(point) && point->spec.mask == MASK_PSEUDO_BAND;
}

static bool has_norms(const Point *point)
{
    return point->spec.norm != NORMALIZATION_NONE;
}

/* Under the causal mask it sees itself alone. */
static bool bias_row_drinks(const Point *point)
{
    return has_omega(point) && point->spec.mask != MASK_CAUSAL;
}

/* A bias row that sees itself alone and begins as zeros stays so, and its norm is zero too. */
static bool norms_bias_row(const Point *point)
{
    const CaseSpec *spec = &point->spec;
    bool blind = !has_omega(point) || spec->mask == MASK_CAUSAL;
    return has_norms(point) && !(blind && spec->bias_row_content == CONTENT_NONE);
}

static bool has_activation(const Point *point)
{
    return info_of(point)->activation;
}

static bool has_relu(const Point *point)
{
    return has_activation(point) && point->spec.activation == ACTIVATION_RELU;
}

static bool has_gelu(const Point *point)
{
    return has_activation(point) && activation_info(point->spec.activation)->shifted != NULL;
}

static bool may_be_gated(const Point *point)
{
    return info_of(point)->gated;
}

static bool reads_out(const Point *point)
{
    return case_reads_out(&point->spec);
}

static bool bias_matters(const Point *point)
{
    return (info_of(point)->linear || info_of(point)->d_ff) && point->spec.given == NULL;
}

/* Weights set the scale of the bias row's random content too. */
static bool weights_matter(const Point *point)
{
    return !info_of(point)->on_x || point->source != NULL ||
           point->spec.bias_row_content == CONTENT_RANDOM;
}

static bool seed_matters(const Point *point)
{
    const CaseSpec *spec = &point->spec;
    bool norms_drawn = has_norms(point) && spec->given != NULL && spec->given->layers == NULL;
    return spec->given == NULL || spec->given->x == NULL || norms_drawn ||
           spec->bias_row_content == CONTENT_RANDOM || spec->dropout > 0 ||
           spec->weight_noise > 0 || spec->mask == MASK_PSEUDO_RANDOM;
}

static bool input_matters(const Point *point)
{
    return point->source != NULL && point->source->file->tuples > 1;
}

static bool has_machine(const Point *point)
{
    return point->arithmetic != ARITHMETIC_NONE;
}

/* Every weight given or drawn is a double. */
static bool stores_less(const Point *point)
{
    return has_machine(point) && arithmetic_info(point->arithmetic)->formats.storage != FORMAT_F64;
}

static bool penalty_matters(const Point *point)
{
    return has_machine(point) && has_omega(point);
}

static bool is_judged(const Point *point)
{
    return point->judged;
}

/* ---- Axes that are more than a field, and defaults that hang on others ----------------------- */

static AxisValue word(size_t index)
{
    return (AxisValue){.form = FORM_WORD, .integer = index};
}

static AxisValue weights_get(const Point *point)
{
    return point->source == NULL ? word(point->spec.weights)
                                 : (AxisValue){.form = FORM_PATH, .path = point->source->path};
}

/* Sets the weights; tensors that are drawn beside a file's are drawn as beside stable ones. */
static void weights_set(Point *point, AxisValue value)
{
    point->spec.weights = value.form == FORM_PATH ? WEIGHTS_STABLE : (Weights)value.integer;
}

static AxisValue tolerance_get(const Point *point)
{
    return point->judged ? (AxisValue){.form = FORM_REAL, .real = point->tolerance} : word(0);
}

static void tolerance_set(Point *point, AxisValue value)
{
    point->judged = value.form == FORM_REAL;
    point->tolerance = value.real;
}

static AxisValue gelu_get(const Point *point)
{
    GeluForm form = point->spec.gelu;
    return form < GELU_SHIFTED_2 ? word(form)
                                 : (AxisValue){.form = FORM_INTEGER, .integer = gelu_terms(form)};
}

/* One term is the word, so that it has one spelling. */
static void gelu_set(Point *point, AxisValue value)
{
    point->spec.gelu =
        value.form == FORM_WORD ? (GeluForm)value.integer : gelu_of_terms(value.integer);
}

/* One head for each GELU changes predictions of a trained model whose networks are gated. */
static AxisValue gelu_standard(const Point *point)
{
    return point->source != NULL && point->source->file->gated
               ? (AxisValue){.form = FORM_INTEGER, .integer = GELU_TERMS_MOST}
               : word(GELU_SIGMOID);
}

static AxisValue judge_get(const Point *point)
{
    bool streams = point->judge_of == JUDGE_STREAMS;
    return word(streams ? (size_t)point->judge : (size_t)ERROR_KINDS + point->judge_of - 1);
}

static void judge_set(Point *point, AxisValue value)
{
    bool streams = value.integer < ERROR_KINDS;
    point->judge = streams ? (ErrorKind)value.integer : ERROR_TOTAL;
    point->judge_of =
        streams ? JUDGE_STREAMS : (JudgeOf)(value.integer - ERROR_KINDS + JUDGE_LOGITS);
}

static AxisValue reference_standard(const Point *point)
{
    (void)point;
    return word(REFERENCE_DIFFERENCE);
}

/* Scores that hold Omega absorb what tau leaves of the product. */
static AxisValue penalty_standard(const Point *point)
{
    bool negative = penalty_matters(point) && reads_out(point);
    return word(negative ? PENALTY_NEGATIVE : PENALTY_POSITIVE);
}

/* A second pair costs a trained model's width in heads, and takes a hundredth of the error. */
static AxisValue readout_standard(const Point *point)
{
    bool trained = point->source != NULL && reads_out(point);
    return (AxisValue){.form = FORM_INTEGER, .integer = trained ? 2 : 1};
}

/* The least error of products of size 1, by the digits of a pattern (docs/mathematics.md). */
static AxisValue tau_standard(const Point *point)
{
    static const int exponents[][READOUT_MOST] = {
        {-17, -10, -7}, {-7, -4, -3}, {-3, -1, -1}, {-2, -1, 0}};
    NumberFormat format =
        has_machine(point) ? arithmetic_info(point->arithmetic)->formats.operand : FORMAT_F64;
    int digits = format_info(format)->digits;
    size_t row = digits > 24 ? 0 : digits > 11 ? 1 : digits > 8 ? 2 : 3;
    size_t pairs = point->spec.readout > 0 ? point->spec.readout : 1;
    return reads_out(point)
               ? (AxisValue){.form = FORM_REAL, .real = ldexp(1, exponents[row][pairs - 1])}
               : word(0);
}

/* A norm makes what the bias row drinks 1/sqrt(eps) times as large, layer after layer: a file's
 * model is written so that it does not. */
static AxisValue bias_self_standard(const Point *point)
{
    bool bears = point->source != NULL && has_norms(point) && bias_row_drinks(point);
    return word(bears ? BIAS_SELF_FOURFOLD : BIAS_SELF_TWICE);
}

/* The scale that the weights file says. */
static AxisValue scale_standard(const Point *point)
{
    bool said = point->source != NULL && point->source->file->said.scale;
    return word(said ? point->source->file->scaled : 0);
}

/* A float keeps a weight to more digits than any training has; 16 bits do not. */
static AxisValue rounded_standard(const Point *point)
{
    return word(stores_less(point) &&
                arithmetic_info(point->arithmetic)->formats.storage != FORMAT_F32);
}

/* Without arithmetic there is no total, and without a reference only what is observed. */
static AxisValue judge_standard(const Point *point)
{
    if (!point_has_reference(point)) {
        return word(ERROR_OBSERVED);
    }
    return word(point->arithmetic == ARITHMETIC_NONE ? ERROR_CONSTRUCTION : ERROR_TOTAL);
}

/* ---- The table ------------------------------------------------------------------------------- */

static const AxisInfo infos[AXIS_COUNT] = {
    [AXIS_CONSTRUCTION] = {"construction",
                           "construction",
                           {.kind = DOMAIN_WORDS,
                            .words = construction_names,
                            .word_count = CONSTRUCTION_COUNT,
                            .all = true},
                           {WORD(CONSTRUCTION_TRANSFORMER)},
                           "what is rewritten with attention heads",
                           .roles = ROLE_SIZE,
                           FIELD(spec.construction),
                           .always_said = true},
    [AXIS_ACTIVATION] = {"activation",
                         "activation",
                         {.kind = DOMAIN_WORDS,
                          .words = activation_names,
                          .word_count = ACTIVATION_COUNT},
                         {WORD(ACTIVATION_SILU)},
                         "the activation of the original's feed-forward network",
                         .roles = ROLE_SIZE,
                         FIELD(spec.activation),
                         .matters = has_activation},
    [AXIS_MASK] = {"mask",
                   "mask",
                   {CHOICE(masks)},
                   {WORD(MASK_NONE)},
                   "which keys a token sees; pseudo-masks are entries of Omega in the weights",
                   FIELD(spec.mask),
                   .matters = mask_matters},
    [AXIS_N] = {"n",
                "n",
                {SIZE_FROM(1)},
                {INTEGER(20)},
                "tokens; default with a weights file: as many as its inputs have",
                .roles = ROLE_SIZE | ROLE_INPUTS,
                FIELD(spec.n),
                .always_said = true},
    [AXIS_D] = {"d",
                "d",
                {SIZE_FROM(1)},
                {INTEGER(30)},
                "width of the residual stream",
                .roles = ROLE_SIZE,
                FIELD(spec.d),
                .always_said = true},
    [AXIS_D_FF] = {"d-ff",
                   "d_ff",
                   {SIZE_FROM(1), .unit = 'D'},
                   {MULTIPLE(4)},
                   "hidden units of a feed-forward layer",
                   .roles = ROLE_SIZE,
                   FIELD(spec.d_ff),
                   .matters = has_d_ff},
    [AXIS_HEADS] = {"heads",
                    "heads",
                    {SIZE_FROM(1)},
                    {INTEGER(2)},
                    "attention heads of a layer",
                    .roles = ROLE_SIZE,
                    FIELD(spec.heads),
                    .matters = has_heads},
    [AXIS_D_HEAD] = {"d-head",
                     "d_head",
                     {SIZE_FROM(0)},
                     {INTEGER(0)},
                     "rank of Q and V; 0: dense",
                     .roles = ROLE_SIZE,
                     FIELD(spec.d_head),
                     .matters = has_heads},
    [AXIS_DEPTH] = {"depth",
                    "depth",
                    {SIZE_FROM(1)},
                    {INTEGER(1)},
                    "layers of the stack",
                    .roles = ROLE_SIZE,
                    FIELD(spec.depth)},
    [AXIS_OMEGA] = {"omega",
                    "omega",
                    {POSITIVE},
                    {REAL(1000)},
                    "the large constant",
                    .roles = ROLE_OMEGA,
                    FIELD(omega),
                    .matters = omega_matters,
                    .base_free = true,
                    .always_said = true},
    [AXIS_ARITHMETIC] = {"arithmetic",
                         "arithmetic",
                         {.kind = DOMAIN_WORDS,
                          .words = arithmetic_names,
                          .word_count = ARITHMETIC_COUNT,
                          .all = true,
                          .all_from = ARITHMETIC_F64},
                         {WORD(ARITHMETIC_F64)},
                         "machine arithmetic under test",
                         .roles = ROLE_MACHINE,
                         FIELD(arithmetic),
                         .base_free = true},
    [AXIS_KERNEL] = {"kernel",
                     "kernel",
                     {CHOICE(kernels)},
                     {WORD(KERNEL_DENSE)},
                     "evaluate heads as full matrices, or by their structure",
                     .roles = ROLE_MACHINE,
                     FIELD(kernel),
                     .matters = has_machine,
                     .base_free = true},
    [AXIS_REFERENCE] = {"reference",
                        "reference",
                        {CHOICE(references)},
                        {WORD(REFERENCE_AUTO)},
                        "how the construction error is evaluated; none: only m(T') and m(T)",
                        .roles = ROLE_REFERENCE,
                        .automatic = true,
                        FIELD(reference),
                        .standard_of = reference_standard,
                        .base_free = true},
    [AXIS_WEIGHTS] = {"weights",
                      "weights",
                      {CHOICE(weights), .paths = true},
                      {WORD(WEIGHTS_STABLE)},
                      "normal: every entry N(0,1); a path: the weights of a safetensors file",
                      .roles = ROLE_SIZE,
                      .get = weights_get,
                      .set = weights_set,
                      .matters = weights_matter},
    [AXIS_SEED] = {"seed",
                   "seed",
                   {INTEGERS(0, UINT64_MAX)},
                   {INTEGER(1)},
                   "seed of the drawn weights and input",
                   FIELD(spec.seed),
                   .matters = seed_matters,
                   .always_said = true},
    [AXIS_BIAS] = {"bias",
                   NULL,
                   {CHOICE(biases)},
                   {WORD(BIAS_NONE)},
                   "biases b1 and b2",
                   .roles = ROLE_SIZE,
                   FIELD(spec.bias),
                   .matters = bias_matters},
    [AXIS_SCALE] = {"scale",
                    NULL,
                    {CHOICE(scales)},
                    {WORD(0)},
                    "what attention multiplies its scores by",
                    FIELD(spec.scaled),
                    .standard_of = scale_standard,
                    .of_file = true,
                    .matters = has_heads},
    [AXIS_ROTARY] = {"rotary",
                     NULL,
                     {CHOICE(rotaries)},
                     {WORD(ROTARY_NONE)},
                     "queries and keys turned by position, in pairs of halves or of neighbours",
                     FIELD(spec.rotary),
                     .matters = has_heads},
    [AXIS_ROTARY_DIM] = {"rotary-dim",
                         NULL,
                         {SIZE_FROM(1), WORDS(whole_heads)},
                         {WORD(0)},
                         "entries of a head that --rotary turns, the first of it",
                         FIELD(spec.rotary_dim),
                         .matters = has_rotary},
    [AXIS_ROPE_THETA] = {"rope-theta",
                         NULL,
                         {POSITIVE},
                         {REAL(10000)},
                         "pair p turns by THETA^(-2p/width) a position",
                         FIELD(spec.rope_theta),
                         .matters = has_rotary},
    [AXIS_ROTARY_TABLES] = {"rotary-tables",
                            NULL,
                            {CHOICE(tables)},
                            {WORD(TABLES_EXACT)},
                            "cos and sin: rounded once to double, or as frameworks compute them",
                            FIELD(spec.rotary_tables),
                            .matters = has_rotary},
    [AXIS_PARALLEL] = {"parallel",
                       NULL,
                       {CHOICE(truths)},
                       {WORD(0)},
                       "yes: a layer's network reads what its attention reads, behind its own norm",
                       FIELD(spec.parallel),
                       .matters = has_both_parts},
    [AXIS_NORMALIZATION] = {"normalization",
                            NULL,
                            {CHOICE(normalizations)},
                            {WORD(NORMALIZATION_NONE)},
                            "layer norms of the original, which the rewrite keeps",
                            .roles = ROLE_SIZE,
                            FIELD(spec.norm)},
    [AXIS_NORMALIZATION_PLACE] = {"normalization-place",
                                  NULL,
                                  {CHOICE(places)},
                                  {WORD(NORM_PRE)},
                                  "pre: a part of a layer reads norm(x) and adds to x; post: "
                                  "norm(x) behind it",
                                  .roles = ROLE_SIZE,
                                  FIELD(spec.norm_place),
                                  .matters = has_norms},
    [AXIS_EPS] = {"eps",
                  NULL,
                  {POSITIVE},
                  {REAL(1e-5)},
                  "eps: what a norm adds to the variance",
                  FIELD(spec.norm_eps),
                  .matters = has_norms},
    [AXIS_NORMALIZE_BIAS_ROW] = {"normalize-bias-row",
                                 NULL,
                                 {CHOICE(normalized)},
                                 {WORD(0)},
                                 "apply norms to the bias row, too",
                                 FIELD(spec.norm_tokens_only),
                                 .matters = norms_bias_row},
    [AXIS_INPUT] = {"input",
                    NULL,
                    {SIZE_FROM(1), WORDS(every)},
                    {WORD(0)},
                    "which input of a weights file, from 1; all: a point for each",
                    .roles = ROLE_INPUTS,
                    FIELD(input),
                    .matters = input_matters},
    [AXIS_LINEAR] = {"linear",
                     NULL,
                     {CHOICE(linears)},
                     {WORD(LINEAR_IN_PLACE)},
                     "where a linear head writes",
                     .roles = ROLE_SIZE,
                     FIELD(spec.linear),
                     .matters = has_linear},
    [AXIS_BIAS_ROW] = {"bias-row",
                       NULL,
                       {CHOICE(bias_rows)},
                       {WORD(POSITION_AUTO)},
                       "where the bias row stands; auto: last, or first under the causal mask",
                       FIELD(spec.bias_row),
                       .matters = has_omega},
    [AXIS_BIAS_ROW_CONTENT] = {"bias-row-content",
                               NULL,
                               {CHOICE(contents)},
                               {WORD(CONTENT_NONE)},
                               "content of the bias row in front of the first layer",
                               FIELD(spec.bias_row_content)},
    [AXIS_BIAS_SELF] =
        {"bias-self",
         NULL,
         {CHOICE(own_scores)},
         {WORD(BIAS_SELF_TWICE)},
         "Omegas in the bias row's score toward itself; 4 squares the weight of tokens in it",
         FIELD(spec.bias_self),
         .standard_of = bias_self_standard,
         .matters = bias_row_drinks},
    [AXIS_SLOPE] = {"slope",
                    NULL,
                    {POSITIVE},
                    {REAL(1000)},
                    "relu(x) is imitated by silu(SLOPE x)/SLOPE",
                    FIELD(spec.slope),
                    .matters = has_relu},
    [AXIS_GELU] = {"gelu",
                   NULL,
                   {INTEGERS(1, GELU_TERMS_MOST), WORDS(gelus)},
                   {WORD(GELU_SIGMOID)},
                   "heads that imitate GELU: 1 to 8 (1 is minimax), two without shifts, or "
                   "sigmoid: x sigma(1.702 x); of a weights file with gated networks 8",
                   .roles = ROLE_SIZE,
                   .get = gelu_get,
                   .set = gelu_set,
                   .standard_of = gelu_standard,
                   .matters = has_gelu},
    [AXIS_FFN] = {"ffn",
                  NULL,
                  {CHOICE(ffns)},
                  {WORD(FFN_PLAIN)},
                  "gated: act(x W_gate) times x W_in, entry by entry",
                  .roles = ROLE_SIZE,
                  FIELD(spec.ffn),
                  .matters = may_be_gated},
    [AXIS_READOUT] = {"readout",
                      NULL,
                      {INTEGERS(1, READOUT_MOST)},
                      {INTEGER(1)},
                      "pairs that read a gated network's product out: off by tau^(2 READOUT); of a "
                      "weights file's 2",
                      .of_file = true,
                      .roles = ROLE_SIZE,
                      FIELD(spec.readout),
                      .standard_of = readout_standard,
                      .matters = reads_out},
    [AXIS_TAU] = {"tau",
                  NULL,
                  {POSITIVE, WORDS(taus)},
                  {WORD(0)},
                  "the small constant of a gated network (a power of two as 2^-17; auto: by the "
                  "arithmetic)",
                  .automatic = true,
                  FIELD(spec.tau),
                  .standard_of = tau_standard,
                  .matters = reads_out},
    [AXIS_BAND] = {"band",
                   NULL,
                   {SIZE_FROM(1)},
                   {INTEGER(4)},
                   "keys that --mask pseudo-band lets a token see",
                   FIELD(spec.band),
                   .matters = band_matters},
    [AXIS_HEAD_RANK] = {"head-rank",
                        NULL,
                        {SIZE_FROM(1), WORDS(unlimited)},
                        {WORD(0)},
                        "largest rank of a linear head's V; a larger V is split over several heads",
                        .roles = ROLE_SIZE,
                        FIELD(spec.head_rank),
                        .matters = has_linear_heads},
    [AXIS_SCORE_SCALE] = {"score-scale",
                          NULL,
                          {POSITIVE},
                          {REAL(1)},
                          "factor on Q, W1 and b1 (of silu: on X), and so on content scores",
                          FIELD(spec.score_scale),
                          .zero = 1,
                          .matters = has_scores},
    [AXIS_SHRINK] = {"shrink",
                     NULL,
                     {POSITIVE},
                     {REAL(1)},
                     "factor on the Omega of the rewrite, as regularisation shrinks it",
                     FIELD(shrink),
                     .zero = 1,
                     .matters = has_omega,
                     .base_free = true},
    [AXIS_PENALTY] = {"penalty",
                      NULL,
                      {CHOICE(penalties)},
                      {WORD(PENALTY_POSITIVE)},
                      "add Omega to seen keys, or subtract it from ignored ones; the same function",
                      .roles = ROLE_FORM,
                      FIELD(penalty),
                      .standard_of = penalty_standard,
                      .matters = penalty_matters,
                      .base_free = true},
    [AXIS_DROPOUT] = {"dropout",
                      NULL,
                      {POSITIVE, WORDS(absent)},
                      {WORD(0)},
                      "probability that an entry of Omega is lost",
                      FIELD(spec.dropout),
                      .matters = has_omega},
    [AXIS_DROP_ENTRY] = {"drop-entry",
                         NULL,
                         {INTEGERS(1, ENTRY_MOST), WORDS(absent)},
                         {WORD(0)},
                         "the entry of Omega that is lost, by sublayer, head, row and key",
                         .roles = ROLE_INPUTS,
                         FIELD(spec.drop_entry),
                         .matters = has_omega},
    [AXIS_WEIGHT_NOISE] = {"weight-noise",
                           NULL,
                           {POSITIVE, WORDS(absent)},
                           {WORD(0)},
                           "relative noise on the other weights of the rewrite",
                           FIELD(spec.weight_noise)},
    [AXIS_WEIGHTS_ROUNDED] = {"weights-rounded",
                              NULL,
                              {CHOICE(truths)},
                              {WORD(0)},
                              "round the weights to the arithmetic's format first, for reference "
                              "and machine; 16 bits: yes",
                              .roles = ROLE_MACHINE,
                              FIELD(weights_rounded),
                              .standard_of = rounded_standard,
                              .matters = stores_less},
    [AXIS_ROW] = {"row",
                  NULL,
                  {SIZE_FROM(1), WORDS(every)},
                  {WORD(0)},
                  "the token whose row is compared; all: every token's",
                  .roles = ROLE_INPUTS | ROLE_REFERENCE | ROLE_ROW,
                  FIELD(row),
                  .base_free = true},
    [AXIS_PRECISION] = {"precision",
                        NULL,
                        {BITS, WORDS(precisions)},
                        {WORD(0)},
                        "bits of the reference's first evaluation",
                        .roles = ROLE_REFERENCE,
                        FIELD(precision),
                        .matters = point_has_reference,
                        .base_free = true},
    [AXIS_MAX_BITS] = {"max-bits",
                       NULL,
                       {BITS},
                       {INTEGER(65536)},
                       "bits beyond which the reference gives up",
                       .scalar = true,
                       .roles = ROLE_BITS,
                       FIELD(max_bits),
                       .matters = point_has_reference,
                       .base_free = true},
    [AXIS_TOLERANCE] = {"tolerance",
                        NULL,
                        {POSITIVE, WORDS(tolerances)},
                        {WORD(0)},
                        "largest error that passes",
                        .scalar = true,
                        .roles = ROLE_JUDGED,
                        .get = tolerance_get,
                        .set = tolerance_set,
                        .base_free = true},
    [AXIS_JUDGE] = {"judge",
                    NULL,
                    {CHOICE(judges)},
                    {WORD(ERROR_TOTAL)},
                    "the error judged; without arithmetic, construction by default; logits and "
                    "kl are of a model's answers",
                    .scalar = true,
                    .roles = ROLE_JUDGED | ROLE_MEASURE,
                    .get = judge_get,
                    .set = judge_set,
                    .standard_of = judge_standard,
                    .matters = is_judged,
                    .base_free = true},
    [AXIS_NORM] = {"norm",
                   NULL,
                   {CHOICE(norms)},
                   {WORD(NORM_MAX)},
                   "the norm of the error judged (rel: Frobenius, relative)",
                   .scalar = true,
                   .roles = ROLE_JUDGED | ROLE_MEASURE,
                   FIELD(norm),
                   .matters = is_judged,
                   .base_free = true},
};

const AxisInfo *axis_info(Axis axis)
{
    return &infos[axis];
}

Axis axis_find(const char *name)
{
    Axis axis = 0;
    while (axis < AXIS_COUNT && strcmp(infos[axis].name, name) != 0) {
        axis++;
    }
    return axis;
}
