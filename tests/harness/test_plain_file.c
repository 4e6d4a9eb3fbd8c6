/*
 * The attention-only model as a file: what is in it, and that nothing but the file is needed to
 * evaluate it.
 */
#include "../../harness/models/converted_file.h"
#include "../../harness/models/safetensors_values.h"
#include "../../harness/models/shared_heads.h"
#include "../../kernels/kernel.h"
#include "../fixture.h"
#include "../plain_whole.h"
#include "../safetensors_samples.h"
#include "../scratch.h"
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OMEGA 20.1
#define SEED 3

typedef struct {
    Scratch scratch;
    char path[SCRATCH_PATH];
    Pair pair;
    PlainModel plain;
    SafetensorsFile *file;
} Written;

typedef struct {
    Normalization kind;
    NormPlace place;
    bool tokens_only;
} Norms;

static const Norms no_norms = {NORMALIZATION_NONE, NORM_PRE, false};

/* Writes a plain model at the path; the status. */
static int write_plain(const Written *w, PlainModel *plain, const char *path)
{
    return converted_file_write(
        path, &(Converted){plain, NULL, &w->pair.final_norm, &(ConvertedSaid){.form = "fused"}});
}

/* Writes a case's plain model and opens the file. */
static void written_open(Written *w, Construction construction, Mask mask, Norms norms)
{
    CaseSpec spec = {.construction = construction,
                     .n = 4,
                     .d = 3,
                     .d_ff = 5,
                     .heads = 2,
                     .d_head = 2,
                     .depth = 2,
                     .seed = SEED,
                     .bias = BIAS_RANDOM,
                     .mask = mask,
                     .band = 2,
                     .bias_row_content = CONTENT_RANDOM,
                     .norm = norms.kind,
                     .norm_place = norms.place,
                     .norm_eps = 0.125,
                     .norm_tokens_only = norms.tokens_only};
    w->pair = pair_make(&spec);
    const Start start = pair_start(&w->pair, OMEGA);
    w->plain = plain_whole(&start);
    scratch_make(&w->scratch);
    scratch_path(w->path, &w->scratch, "plain.safetensors");
    assert_int_equal(write_plain(w, &w->plain, w->path), 0);
    assert_int_equal(safetensors_open(&w->file, w->path), 0);
}

static void written_close(Written *w)
{
    safetensors_close(w->file);
    scratch_remove(&w->scratch);
    plain_clear(&w->plain);
    case_clear(&w->pair);
}

/* The values of a tensor of that shape; freed by the caller. */
static double *take(const Written *w, const char *name, size_t rank, const size_t *shape)
{
    const SafetensorsTensor *tensor = tensor_named(w->file, name);
    assert_non_null(tensor);
    assert_int_equal(tensor->rank, rank);
    assert_memory_equal(tensor->shape, shape, rank * sizeof *shape);
    double *values = malloc(tensor->count * sizeof *values);
    assert_non_null(values);
    assert_int_equal(safetensors_floats(values, w->file, tensor), 0);
    return values;
}

static void expect_tensor(const Written *w, size_t s, const char *letter, size_t rows,
                          size_t columns, const double *expected)
{
    const size_t shape[] = {w->plain.sublayers[s].heads, rows, columns};
    char name[64];
    snprintf(name, sizeof name, "blocks.%zu.attn.W_%s", s, letter);
    double *values = take(w, name, 3, shape);
    assert_memory_equal(values, expected, shape[0] * rows * columns * sizeof *values);
    free(values);
}

static void tensors_are_the_model(void **state)
{
    Written w;
    written_open(&w, CONSTRUCTION_TRANSFORMER3, MASK_NONE, no_norms);
    const size_t shape[] = {w.plain.rows, w.plain.width};
    double *x = take(&w, "X", 2, shape);
    assert_memory_equal(x, w.plain.x, w.plain.rows * w.plain.width * sizeof *x);
    free(x);
    for (size_t s = 0; s < w.plain.sublayer_count; s++) {
        const PlainSublayer *p = &w.plain.sublayers[s];
        expect_tensor(&w, s, "Q", w.plain.width, p->rank, p->w_q);
        expect_tensor(&w, s, "K", w.plain.width, p->rank, p->w_k);
        expect_tensor(&w, s, "V", w.plain.width, p->rank, p->w_v);
        expect_tensor(&w, s, "O", p->rank, w.plain.width, p->w_o);
    }
    assert_int_equal(safetensors_count(w.file), 4 * w.plain.sublayer_count + 1);
    written_close(&w);
}

static void expect_metadata(const Written *w, const char *key, const char *expected)
{
    const char *value = safetensors_metadata(w->file, key);
    assert_non_null(value);
    assert_string_equal(value, expected);
}

static void metadata_say_how_to_use_it(void **state)
{
    Written w;
    written_open(&w, CONSTRUCTION_TRANSFORMER3, MASK_CAUSAL, no_norms);
    expect_metadata(&w, "scale", "1");
    expect_metadata(&w, "activation", "none");
    expect_metadata(&w, "normalization", "none");
    expect_metadata(&w, "mask", "causal");
    expect_metadata(&w, "headproof.form", "fused");
    expect_metadata(&w, "headproof.omega", "20.1");
    expect_metadata(&w, "headproof.rows", "5");
    expect_metadata(&w, "headproof.bias_row", "0");
    expect_metadata(&w, "headproof.content", "0:3");
    expect_metadata(&w, "headproof.layer_end", "4,8");
    expect_metadata(&w, "headproof.exact", "true");
    expect_metadata(&w, "headproof.augment",
                    "Rows 1:5 are the tokens in order, row 0 is the bias row. Columns 0:3 of a "
                    "token's row are its own; columns 3:8 of all rows, and columns 0:8 of the "
                    "bias row, stay as in X. Column 8 + i of row i is 1, all others from column 8 "
                    "on are 0.");
    assert_null(safetensors_metadata(w.file, "headproof.inexact"));
    w.plain.inexact = "a reason";
    assert_int_equal(write_plain(&w, &w.plain, w.path), 0);
    safetensors_close(w.file);
    assert_int_equal(safetensors_open(&w.file, w.path), 0);
    expect_metadata(&w, "headproof.exact", "false");
    expect_metadata(&w, "headproof.inexact", "a reason");
    written_close(&w);
}

enum { ROWS_MOST = 8, WIDTH_MOST = 16 };

/* y [rows, columns] = x [rows, inner] w [inner, columns] */
static void product(double *y, const double *x, const double *w, size_t rows, size_t inner,
                    size_t columns)
{
    for (size_t e = 0; e < rows * columns; e++) {
        y[e] = 0;
        for (size_t k = 0; k < inner; k++) {
            y[e] += x[e / columns * inner + k] * w[k * columns + e % columns];
        }
    }
}

/* sum [rows, width] += softmax_rows(q k^T) v o, as the file's own metadata say it. */
static void attend(double *sum, const double *q, const double *k, const double *v, const double *o,
                   size_t rows, size_t rank, size_t width, bool causal)
{
    double mixed[ROWS_MOST * WIDTH_MOST], written[ROWS_MOST * WIDTH_MOST];
    for (size_t i = 0; i < rows; i++) {
        double score[ROWS_MOST], top = -INFINITY, total = 0;
        size_t seen = causal ? i + 1 : rows;
        for (size_t j = 0; j < seen; j++) {
            score[j] = 0;
            for (size_t c = 0; c < rank; c++) {
                score[j] += q[i * rank + c] * k[j * rank + c];
            }
            top = fmax(top, score[j]);
        }
        for (size_t j = 0; j < seen; j++) {
            score[j] = exp(score[j] - top);
            total += score[j];
        }
        for (size_t j = 0; j < seen; j++) {
            score[j] /= total;
        }
        product(mixed + i * rank, score, v, 1, seen, rank);
    }
    product(written, mixed, o, rows, rank, width);
    for (size_t e = 0; e < rows * width; e++) {
        sum[e] += written[e];
    }
}

/* "FIRST:END" at the start of a text. */
static Columns range_of(const char *text)
{
    char *colon;
    size_t first = strtoul(text, &colon, 10);
    assert_int_equal(*colon, ':');
    return (Columns){first, strtoul(colon + 1, NULL, 10) - first};
}

/* The item of a list, from 0. */
static const char *item_of(const char *list, size_t i)
{
    for (; i > 0; i--) {
        list = strchr(list, ',');
        assert_non_null(list);
        list++;
    }
    return list;
}

/* x [count] becomes its norm times w, plus b where there is one. */
static void norm_row(double *x, size_t count, const double *w, const double *b, bool centred,
                     double eps)
{
    double mean = 0, square = 0;
    for (size_t c = 0; c < count; c++) {
        mean += centred ? x[c] / (double)count : 0;
    }
    for (size_t c = 0; c < count; c++) {
        square += (x[c] - mean) * (x[c] - mean) / (double)count;
    }
    for (size_t c = 0; c < count; c++) {
        x[c] = (x[c] - mean) / sqrt(square + eps) * w[c] + (b != NULL ? b[c] : 0);
    }
}

/* Block s's norm of the rows and columns that it is for, from the file alone; nothing where it has
 * none in that place. */
static void run_norm(const Written *w, double *x, size_t rows, size_t width, size_t s,
                     const char *place)
{
    const char *kind = safetensors_metadata(w->file, "normalization");
    const char *own = safetensors_metadata(w->file, "normalization-place");
    const char *all = safetensors_metadata(w->file, "headproof.norm_columns");
    char names[2][64];
    if (strcmp(kind, "none") == 0 || strcmp(own, place) != 0 || item_of(all, s)[0] == '-') {
        return;
    }
    Columns columns = range_of(item_of(all, s));
    Columns acts = range_of(safetensors_metadata(w->file, "headproof.norm_rows"));
    double eps = strtod(safetensors_metadata(w->file, "eps"), NULL);
    bool centred = strcmp(kind, "layernorm") == 0;
    const size_t shape[] = {rows, columns.count};
    snprintf(names[0], sizeof names[0], "blocks.%zu.ln.w", s);
    snprintf(names[1], sizeof names[1], "blocks.%zu.ln.b", s);
    double *gamma = take(w, names[0], 1, shape + 1);
    double *beta = centred ? take(w, names[1], 2, shape) : NULL;
    for (size_t i = acts.first; i < acts.first + acts.count; i++) {
        norm_row(x + i * width + columns.first, columns.count, gamma,
                 beta != NULL ? beta + i * columns.count : NULL, centred, eps);
    }
    free(gamma);
    free(beta);
}

/* One block on the stream x, from the file alone. */
static void run_block(const Written *w, double *x, size_t rows, size_t width, size_t s, bool causal)
{
    double read[ROWS_MOST * WIDTH_MOST];
    const char *const letters = "QKVO";
    double *weights[4], sum[ROWS_MOST * WIDTH_MOST], projected[3][ROWS_MOST * WIDTH_MOST];
    size_t heads = 0, rank = 0;
    for (size_t t = 0; t < 4; t++) {
        char name[64];
        snprintf(name, sizeof name, "blocks.%zu.attn.W_%c", s, letters[t]);
        const SafetensorsTensor *tensor = tensor_named(w->file, name);
        assert_non_null(tensor);
        heads = tensor->shape[0];
        rank = tensor->shape[t == 3 ? 1 : 2];
        weights[t] = take(w, name, 3, tensor->shape);
    }
    assert_true(rows <= ROWS_MOST && width <= WIDTH_MOST && rank <= WIDTH_MOST);
    memcpy(sum, x, rows * width * sizeof *x);
    memcpy(read, x, rows * width * sizeof *x);
    run_norm(w, read, rows, width, s, "pre");
    for (size_t h = 0; h < heads; h++) {
        for (size_t t = 0; t < 3; t++) {
            product(projected[t], read, weights[t] + h * width * rank, rows, width, rank);
        }
        attend(sum, projected[0], projected[1], projected[2], weights[3] + h * rank * width, rows,
               rank, width, causal);
    }
    memcpy(x, sum, rows * width * sizeof *x);
    run_norm(w, x, rows, width, s, "post");
    for (size_t t = 0; t < 4; t++) {
        free(weights[t]);
    }
}

/* The largest difference of two streams' content. */
static double farthest(KernelStream x, KernelStream y, size_t rows, size_t content)
{
    double worst = 0;
    for (size_t e = 0; e < rows * content; e++) {
        size_t i = e / content, c = e % content;
        worst = fmax(worst, fabs(x.data[i * x.ld + c] - y.data[i * y.ld + c]));
    }
    return worst;
}

/* The largest difference to the converted model's structured evaluation, after the last layer. */
static double difference(const Written *w, bool causal)
{
    const SafetensorsTensor *tensor = tensor_named(w->file, "X");
    assert_non_null(tensor);
    size_t rows = tensor->shape[0], width = tensor->shape[1];
    size_t content = layout_content(&w->pair.converted.layout);
    double *x = take(w, "X", 2, tensor->shape);
    KernelStream stream = {0};
    const Start start = pair_start(&w->pair, OMEGA);
    Kernel *kernel = kernel_open(&start, KERNEL_STRUCTURED, 1);
    for (size_t l = 0; l < w->pair.converted.depth; l++) {
        stream = kernel_layer(kernel);
    }
    for (size_t s = 0; s < w->plain.sublayer_count; s++) {
        run_block(w, x, rows, width, s, causal);
    }
    double worst = farthest((KernelStream){x, width}, stream, rows, content);
    kernel_clear(kernel);
    free(x);
    return worst;
}

static void the_file_is_enough(void **state)
{
    double worst = 0;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int mask = 0; mask < MASK_COUNT; mask++) {
            Written w;
            written_open(&w, (Construction)c, (Mask)mask, no_norms);
            worst = fmax(worst, difference(&w, mask == MASK_CAUSAL));
            written_close(&w);
        }
    }
    print_message("from the file by loops: largest difference %.3g; seed %d\n", worst, SEED);
    assert_true(worst < 1e-12);
}

/* The same of the Model that the matrices are too: where a norm tells rows apart there is none. */
static double model_difference(const Written *w, const Norms *norms)
{
    const Model as_model = plain_as_model(&w->plain), *model = &as_model;
    size_t rows = w->plain.rows, content = layout_content(&w->pair.converted.layout);
    double worst = 0;
    if (norms->kind == NORMALIZATION_LAYERNORM || norms->tokens_only) {
        assert_int_equal(model->sublayer_count, 0);
        return 0;
    }
    Kernel *a = kernel_open(&(Start){model, w->plain.x, NULL, OMEGA}, KERNEL_STRUCTURED, 1);
    const Start start = pair_start(&w->pair, OMEGA);
    Kernel *b = kernel_open(&start, KERNEL_STRUCTURED, 1);
    for (size_t l = 0; l < model->depth; l++) {
        KernelStream x = kernel_layer(a), y = kernel_layer(b);
        worst = fmax(worst, farthest(x, y, rows, content));
    }
    kernel_clear(a);
    kernel_clear(b);
    return worst;
}

/* A norm stays in the file, its place and its rows and columns said; the bias row is no zeros
 * here, so that each of them counts. */
static void norms_are_in_the_file(void **state)
{
    double worst = 0;
    for (int c = 0; c < CONSTRUCTION_MASKED; c++) {
        for (int variant = 0; variant < 16; variant++) {
            Norms norms = {variant & 1 ? NORMALIZATION_RMSNORM : NORMALIZATION_LAYERNORM,
                           variant & 2 ? NORM_POST : NORM_PRE, (variant & 4) != 0};
            Mask mask = variant & 8 ? MASK_CAUSAL : MASK_NONE;
            Written w;
            if (norms.place == NORM_PRE && !construction_info((Construction)c)->pre_norm) {
                continue;
            }
            written_open(&w, (Construction)c, mask, norms);
            worst = fmax(worst, difference(&w, mask == MASK_CAUSAL));
            worst = fmax(worst, model_difference(&w, &norms));
            written_close(&w);
        }
    }
    print_message("norms from the file by loops: largest difference %.3g\n", worst);
    assert_true(worst < 1e-12);
}

static void metadata_say_what_is_normed(void **state)
{
    static const Norms pre = {NORMALIZATION_LAYERNORM, NORM_PRE, true};
    static const Norms post = {NORMALIZATION_RMSNORM, NORM_POST, false};
    const size_t d = 3;
    Written w;
    written_open(&w, CONSTRUCTION_TRANSFORMER3, MASK_NONE, pre);
    expect_metadata(&w, "normalization", "layernorm");
    expect_metadata(&w, "normalization-place", "pre");
    expect_metadata(&w, "eps", "0.125");
    expect_metadata(&w, "headproof.norm_columns", "0:3,0:3,-,-,0:3,0:3,-,-");
    expect_metadata(&w, "headproof.norm_rows", "0:4");
    double *final = take(&w, "ln_final.w", 1, &d);
    assert_memory_equal(final, w.pair.final_norm.gamma, d * sizeof *final);
    assert_null(tensor_named(w.file, "blocks.2.ln.w"));
    free(final);
    written_close(&w);
    written_open(&w, CONSTRUCTION_FFN3, MASK_CAUSAL, post);
    expect_metadata(&w, "normalization", "rmsnorm");
    expect_metadata(&w, "normalization-place", "post");
    expect_metadata(&w, "headproof.norm_columns", "-,-,0:3,-,-,0:3");
    expect_metadata(&w, "headproof.norm_rows", "0:5");
    expect_metadata(&w, "headproof.layer_end", "3,6");
    assert_null(tensor_named(w.file, "blocks.2.ln.b"));
    assert_null(tensor_named(w.file, "ln_final.w"));
    written_close(&w);
}

/* Two bundles of gates out of one block of numbers: every number of it, and every other one.  They
 * are two tensors, and a third bundle that is the first again refers to that. */
static void strides_tell_tensors_apart(void **state)
{
    static const double numbers[] = {1, 2, 3, 4, 5};
    static const size_t shape[] = {1, 3, 1};
    Written w = {0};
    SharedExtras extras = {0};
    Bundle bundles[3];
    for (size_t b = 0; b < 3; b++) {
        bundles[b] = (Bundle){.heads = 1,
                              .score = {.kind = SCORE_GATE,
                                        .read = {0, 3},
                                        .gate = {numbers, b == 1 ? 2 : 1, 3},
                                        .gate_scale = 1},
                              .value = {.kind = VALUE_UNIT, .unit = 1, .scale = 1}};
    }
    const PlainSublayer sublayer = {.heads = 3, .bundles = bundles, .bundle_count = 3};
    const PlainModel frame = {.rows = 2, .width = 5, .sublayers = &sublayer, .sublayer_count = 1};
    SafetensorsWriter *writer = safetensors_writer_make();
    scratch_make(&w.scratch);
    scratch_path(w.path, &w.scratch, "shared.safetensors");
    shared_heads_put(writer, &extras, &frame);
    assert_int_equal(safetensors_writer_finish(writer, w.path), 0);
    safetensors_writer_clear(writer);
    shared_extras_clear(&extras);
    assert_int_equal(safetensors_open(&w.file, w.path), 0);
    assert_int_equal(safetensors_count(w.file), 2);
    for (size_t b = 0; b < 2; b++) {
        double *gate = take(&w, b == 0 ? "blocks.0.heads.0.W_Q" : "blocks.0.heads.1.W_Q", 3, shape);
        for (size_t i = 0; i < 3; i++) {
            assert_true(gate[i] == numbers[i * (b + 1)]);
        }
        free(gate);
    }
    safetensors_close(w.file);
    scratch_remove(&w.scratch);
}

static void faults_are_said(void **state)
{
    Written w;
    char text[SCRATCH_TEXT];
    written_open(&w, CONSTRUCTION_TRANSFORMER, MASK_NONE, no_norms);
    PlainSublayer mixed[2] = {w.plain.sublayers[0], w.plain.sublayers[1]};
    mixed[1].causal = true;
    PlainModel plain = w.plain;
    plain.sublayers = mixed;
    plain.sublayer_count = 2;
    PlainModel normed = w.plain;
    PlainSublayer norms[2] = {w.plain.sublayers[0], w.plain.sublayers[1]};
    norms[0].norm = (LayerNorm){.kind = NORMALIZATION_RMSNORM, .eps = 1};
    norms[1].norm = (LayerNorm){.kind = NORMALIZATION_RMSNORM, .eps = 2};
    normed.sublayers = norms;
    normed.sublayer_count = 2;
    stderr_hold(&w.scratch);
    int unlike = write_plain(&w, &normed, w.path), status = write_plain(&w, &plain, w.path);
    int nowhere = write_plain(&w, &w.plain, "/nonexistent/a.safetensors");
    stderr_take(text, &w.scratch);
    assert_int_equal(status, 2);
    assert_int_equal(nowhere, 2);
    assert_int_equal(unlike, 2);
    assert_int_equal(count_lines(text), 3);
    assert_non_null(strstr(text, "plain.safetensors: expected norms of one kind, with one eps"));
    assert_non_null(strstr(text, "plain.safetensors: expected one mask for all sublayers\n"));
    assert_non_null(strstr(text, "/nonexistent/a.safetensors"));
    written_close(&w);
}

SUBJECT(plain_file)
{
    const struct CMUnitTest plain_file[] = {
        cmocka_unit_test(tensors_are_the_model),       cmocka_unit_test(metadata_say_how_to_use_it),
        cmocka_unit_test(the_file_is_enough),          cmocka_unit_test(norms_are_in_the_file),
        cmocka_unit_test(metadata_say_what_is_normed), cmocka_unit_test(faults_are_said),
        cmocka_unit_test(strides_tell_tensors_apart),
    };
    return cmocka_run_group_tests(plain_file, NULL, NULL);
}
