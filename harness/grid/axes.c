/*
 * The table of axes: name, values, default and help of each.
 */
#include "axes.h"

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

static const char *const activations[] = {
    [ACTIVATION_SILU] = "silu", [ACTIVATION_RELU] = "relu", [ACTIVATION_GELU] = "gelu"};
static const char *const masks[] = {[MASK_NONE] = "none",
                                    [MASK_CAUSAL] = "causal",
                                    [MASK_PSEUDO_CAUSAL] = "pseudo-causal",
                                    [MASK_PSEUDO_BAND] = "pseudo-band",
                                    [MASK_PSEUDO_RANDOM] = "pseudo-random"};
static const char *const kernels[] = {[KERNEL_DENSE] = "dense", [KERNEL_STRUCTURED] = "structured"};
static const char *const references[] = {[REFERENCE_AUTO] = "auto",
                                         [REFERENCE_SUBTRACT] = "subtract",
                                         [REFERENCE_DIFFERENCE] = "difference"};
static const char *const weights[] = {[WEIGHTS_STABLE] = "stable", [WEIGHTS_NORMAL] = "normal"};
static const char *const biases[] = {[BIAS_NONE] = "none", [BIAS_RANDOM] = "random"};
static const char *const scales[] = {"1", "1/sqrt(d_head)"};
static const char *const normalizations[] = {"none"};
static const char *const linears[] = {
    [LINEAR_IN_PLACE] = "in-place", [LINEAR_BLOCK] = "block", [LINEAR_CLEAR] = "clear"};
static const char *const bias_rows[] = {
    [POSITION_AUTO] = "auto", [POSITION_FIRST] = "first", [POSITION_LAST] = "last"};
static const char *const contents[] = {[CONTENT_NONE] = "none", [CONTENT_RANDOM] = "random"};
static const char *const gelus[] = {
    [GELU_SIGMOID] = "sigmoid", [GELU_MINIMAX] = "minimax", [GELU_TWO] = "two"};
static const char *const forms[] = {[REF_STRUCTURED] = "structured", [REF_DENSE] = "dense"};
static const char *const precisions[] = {"auto"};
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
};
static const char *const norms[] = {[NORM_MAX] = "max", [NORM_RMS] = "rms", [NORM_REL] = "rel"};

static const AxisInfo infos[AXIS_COUNT] = {
    [AXIS_CONSTRUCTION] = {"construction",
                           "construction",
                           {.kind = DOMAIN_WORDS,
                            .words = construction_names,
                            .word_count = CONSTRUCTION_COUNT,
                            .all = true},
                           {WORD(CONSTRUCTION_TRANSFORMER)},
                           "what is rewritten with attention heads",
                           .roles = ROLE_SIZE},
    [AXIS_ACTIVATION] = {"activation",
                         "activation",
                         {CHOICE(activations)},
                         {WORD(ACTIVATION_SILU)},
                         "the activation of the original",
                         .roles = ROLE_SIZE},
    [AXIS_MASK] = {"mask",
                   "mask",
                   {CHOICE(masks)},
                   {WORD(MASK_NONE)},
                   "what a token may attend to; pseudo: by Omega in the weights"},
    [AXIS_N] = {"n",
                "n",
                {SIZE_FROM(1)},
                {INTEGER(20)},
                "tokens; of a weights file: its X's or tokens', else required",
                .roles = ROLE_SIZE | ROLE_INPUTS},
    [AXIS_D] = {"d",
                "d",
                {SIZE_FROM(1)},
                {INTEGER(30)},
                "width of the residual stream",
                .roles = ROLE_SIZE},
    [AXIS_D_FF] = {"d-ff",
                   "d_ff",
                   {SIZE_FROM(1), .unit = 'D'},
                   {MULTIPLE(4)},
                   "hidden units of a feed-forward layer",
                   .roles = ROLE_SIZE},
    [AXIS_HEADS] = {"heads",
                    "heads",
                    {SIZE_FROM(1)},
                    {INTEGER(2)},
                    "attention heads of a layer",
                    .roles = ROLE_SIZE},
    [AXIS_D_HEAD] = {"d-head",
                     "d_head",
                     {SIZE_FROM(0)},
                     {INTEGER(0)},
                     "rank of Q and V; 0: dense",
                     .roles = ROLE_SIZE},
    [AXIS_DEPTH] =
        {"depth", "depth", {SIZE_FROM(1)}, {INTEGER(1)}, "layers of the stack", .roles = ROLE_SIZE},
    [AXIS_OMEGA] =
        {"omega", "omega", {POSITIVE}, {REAL(1000)}, "the large constant", .roles = ROLE_OMEGA},
    [AXIS_ARITHMETIC] = {"arithmetic",
                         "arithmetic",
                         {.kind = DOMAIN_WORDS,
                          .words = arithmetic_names,
                          .word_count = ARITHMETIC_COUNT},
                         {WORD(ARITHMETIC_F64)},
                         "machine arithmetic under test",
                         .roles = ROLE_MACHINE},
    [AXIS_KERNEL] = {"kernel",
                     "kernel",
                     {CHOICE(kernels)},
                     {WORD(KERNEL_DENSE)},
                     "full matrices, or the heads' structure",
                     .roles = ROLE_MACHINE},
    [AXIS_REFERENCE] = {"reference",
                        "reference",
                        {CHOICE(references)},
                        {WORD(REFERENCE_AUTO)},
                        "the construction error by itself, or by subtracting two evaluations",
                        .roles = ROLE_REFERENCE,
                        .automatic = true},
    [AXIS_WEIGHTS] = {"weights",
                      "weights",
                      {CHOICE(weights), .paths = true},
                      {WORD(WEIGHTS_STABLE)},
                      "normal: every entry N(0,1); a path: what a safetensors file holds",
                      .roles = ROLE_SIZE},
    [AXIS_SEED] =
        {"seed", "seed", {INTEGERS(0, UINT64_MAX)}, {INTEGER(1)}, "of the weights and the input"},
    [AXIS_BIAS] =
        {"bias", NULL, {CHOICE(biases)}, {WORD(BIAS_NONE)}, "biases b1 and b2", .roles = ROLE_SIZE},
    [AXIS_SCALE] =
        {"scale", NULL, {CHOICE(scales)}, {WORD(0)}, "what attention multiplies its scores by"},
    [AXIS_NORMALIZATION] = {"normalization",
                            NULL,
                            {CHOICE(normalizations)},
                            {WORD(0)},
                            "of the stream: a model with norms is outside the constructions",
                            .roles = ROLE_SIZE},
    [AXIS_INPUT] = {"input",
                    NULL,
                    {SIZE_FROM(1), WORDS(every)},
                    {WORD(0)},
                    "the tuple of a weights file's tokens, from 1; all: a point each",
                    .roles = ROLE_INPUTS},
    [AXIS_LINEAR] = {"linear",
                     NULL,
                     {CHOICE(linears)},
                     {WORD(LINEAR_IN_PLACE)},
                     "where a linear head writes",
                     .roles = ROLE_SIZE},
    [AXIS_BIAS_ROW] = {"bias-row",
                       NULL,
                       {CHOICE(bias_rows)},
                       {WORD(POSITION_AUTO)},
                       "auto: last, or first under the causal mask"},
    [AXIS_BIAS_ROW_CONTENT] = {"bias-row-content",
                               NULL,
                               {CHOICE(contents)},
                               {WORD(CONTENT_NONE)},
                               "what the bias row holds at first"},
    [AXIS_SLOPE] =
        {"slope", NULL, {POSITIVE}, {REAL(1000)}, "relu(x) is imitated by silu(SLOPE x)/SLOPE"},
    [AXIS_GELU] = {"gelu",
                   NULL,
                   {CHOICE(gelus)},
                   {WORD(GELU_SIGMOID)},
                   "gelu(x) by x sigma(1.702 x), by the best slope, or by two terms",
                   .roles = ROLE_SIZE},
    [AXIS_BAND] = {"band",
                   NULL,
                   {SIZE_FROM(1)},
                   {INTEGER(4)},
                   "keys that --mask pseudo-band lets a token see"},
    [AXIS_HEAD_RANK] = {"head-rank",
                        NULL,
                        {SIZE_FROM(1), WORDS(unlimited)},
                        {WORD(0)},
                        "largest rank of a linear head's V, which is split over several",
                        .roles = ROLE_SIZE},
    [AXIS_SCORE_SCALE] = {"score-scale",
                          NULL,
                          {POSITIVE},
                          {REAL(1)},
                          "on what content scores are made of: Q, W1 and b1, the X of silu"},
    [AXIS_SHRINK] =
        {"shrink", NULL, {POSITIVE}, {REAL(1)}, "on the Omega of the rewrite (regularisation)"},
    [AXIS_DROPOUT] = {"dropout",
                      NULL,
                      {POSITIVE, WORDS(absent)},
                      {WORD(0)},
                      "probability that an entry of Omega is lost"},
    [AXIS_DROP_ENTRY] = {"drop-entry",
                         NULL,
                         {INTEGERS(1, ENTRY_MOST), WORDS(absent)},
                         {WORD(0)},
                         "the entry of Omega that is lost, by sublayer, head, row and key",
                         .roles = ROLE_INPUTS},
    [AXIS_WEIGHT_NOISE] = {"weight-noise",
                           NULL,
                           {POSITIVE, WORDS(absent)},
                           {WORD(0)},
                           "relative noise on the other weights of the rewrite"},
    [AXIS_REFERENCE_FORM] = {"reference-form",
                             NULL,
                             {CHOICE(forms)},
                             {WORD(REF_STRUCTURED)},
                             "dense: the textbook's matrices",
                             .roles = ROLE_REFERENCE},
    [AXIS_ROW] = {"row",
                  NULL,
                  {SIZE_FROM(1), WORDS(every)},
                  {WORD(0)},
                  "the token whose row is compared; all: the errors are over every row",
                  .roles = ROLE_INPUTS | ROLE_REFERENCE | ROLE_ROW},
    [AXIS_PRECISION] = {"precision",
                        NULL,
                        {BITS, WORDS(precisions)},
                        {WORD(0)},
                        "bits of the reference",
                        .roles = ROLE_REFERENCE},
    [AXIS_MAX_BITS] = {"max-bits",
                       NULL,
                       {BITS},
                       {INTEGER(65536)},
                       "where precision auto stops",
                       .scalar = true,
                       .roles = ROLE_BITS},
    [AXIS_TOLERANCE] = {"tolerance",
                        NULL,
                        {POSITIVE, WORDS(tolerances)},
                        {WORD(0)},
                        "largest error that passes",
                        .scalar = true,
                        .roles = ROLE_JUDGED},
    [AXIS_JUDGE] = {"judge",
                    NULL,
                    {CHOICE(judges)},
                    {WORD(ERROR_TOTAL)},
                    "the error judged (by default construction without arithmetic)",
                    .scalar = true,
                    .roles = ROLE_JUDGED},
    [AXIS_NORM] = {"norm",
                   NULL,
                   {CHOICE(norms)},
                   {WORD(NORM_MAX)},
                   "and its norm (rel: Frobenius, relative)",
                   .scalar = true,
                   .roles = ROLE_JUDGED},
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

void axis_names(const char *names[AXIS_COUNT])
{
    for (Axis axis = 0; axis < AXIS_COUNT; axis++) {
        names[axis] = infos[axis].name;
    }
}
