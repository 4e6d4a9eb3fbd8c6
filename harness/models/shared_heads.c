/*
 * Bundles of heads as tensors, each written once, and as JSON that says what each is for.
 */
#include "converted_file.h"

#include "../../memory/need.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tensor that a bundle of this sublayer has, so that others refer to it. */
typedef struct {
    const double *data;
    size_t rank, shape[3], stride[3];
    char name[64];
} Kept;

typedef struct {
    SafetensorsWriter *writer;
    const PlainModel *frame;
    size_t sublayer, bundle;
    Kept *kept;
    size_t kept_count;
} Writing;

/* to[key] = value, which is taken over. */
static void set(json_t *to, const char *key, json_t *value)
{
    if (json_object_set_new(to, key, value) != 0) {
        need_is_short();
    }
}

/* The name of the tensor if it is there already, else NULL. */
static const char *find_kept(const Writing *writing, const Kept *tensor)
{
    size_t bytes = tensor->rank * sizeof *tensor->shape;
    for (size_t i = 0; i < writing->kept_count; i++) {
        const Kept *other = &writing->kept[i];
        if (other->data == tensor->data && other->rank == tensor->rank &&
            memcmp(other->shape, tensor->shape, bytes) == 0 &&
            memcmp(other->stride, tensor->stride, bytes) == 0) {
            return other->name;
        }
    }
    return NULL;
}

/* to[key] = the name of a tensor, which is announced unless another bundle has done it.  Nothing
 * where there is no such tensor. */
static void put(Writing *writing, json_t *to, const char *key, Kept tensor)
{
    if (tensor.data == NULL) {
        return;
    }
    const char *name = find_kept(writing, &tensor);
    if (name == NULL) {
        snprintf(tensor.name, sizeof tensor.name, "blocks.%zu.heads.%zu.%s", writing->sublayer,
                 writing->bundle, key);
        name = tensor.name;
        safetensors_writer_floats(writing->writer, name, tensor.rank, tensor.shape, tensor.stride,
                                  tensor.data);
        writing->kept = need_more(writing->kept, writing->kept_count + 1, sizeof *writing->kept);
        writing->kept[writing->kept_count++] = tensor;
    }
    set(to, key, json_string(name));
}

/* A matrix a head. */
static Kept matrices(HeadWeight weight, size_t heads, size_t rows, size_t columns)
{
    return (Kept){weight.data, 3, {heads, rows, columns}, {weight.head_stride, weight.ld, 1}, ""};
}

/* A vector a head. */
static Kept vectors(const double *data, size_t heads, size_t columns)
{
    return (Kept){data, 2, {heads, columns, 0}, {columns, 1, 0}, ""};
}

static json_t *columns_json(Columns columns)
{
    size_t end = columns.first + columns.count;
    return json_pack("[I, I]", (json_int_t)columns.first, (json_int_t)end);
}

static void put_gate(Writing *writing, json_t *to, const Score *score, size_t heads)
{
    if (score->gate.data != NULL) {
        put(writing, to, "W_Q", matrices(score->gate, heads, score->read.count, 1));
    } else {
        set(to, "unit", json_integer(score->gate_unit));
    }
    put(writing, to, "b_Q", vectors(score->gate_bias, heads, 1));
    set(to, "b_K", json_real(score->gate_scale));
    put(writing, to, "shift", (Kept){score->gate_shift, 1, {heads, 0, 0}, {1, 0, 0}, ""});
}

static void put_bilinear(Writing *writing, json_t *to, const Score *score, size_t heads)
{
    const Scale *scale = &score->scale;
    size_t read = score->read.count, d_head = score->d_head;
    size_t own = score_is_mixed(score) ? 1 : heads;
    if (d_head == 0) {
        put(writing, to, "QK", matrices(score->q, heads, read, read));
    } else {
        put(writing, to, "W_Q", matrices(score->q, own, read, d_head));
        put(writing, to, "W_K", matrices(score->k, own, read, d_head));
        put(writing, to, "b_Q", vectors(score->q_bias, own, d_head));
        put(writing, to, "b_K", vectors(score->k_bias, own, d_head));
        put(writing, to, "mix", matrices(score->mix, heads, d_head, 1));
    }
    if (score->query.count > 0) {
        set(to, "query", columns_json(score->query));
    }
    set(to, "scale",
        json_pack("[I, I, I]", (json_int_t)scale->num, (json_int_t)scale->den,
                  (json_int_t)scale->sqrt_den));
}

/* The first bundle that has these coefficients. */
static void find_extra(size_t *s, size_t *b, const PlainModel *frame, const signed char *extra)
{
    for (*s = 0; *s < frame->sublayer_count; ++*s) {
        const PlainSublayer *sublayer = &frame->sublayers[*s];
        for (*b = 0; *b < sublayer->bundle_count; ++*b) {
            if (sublayer->bundles[*b].score.extra == extra) {
                return;
            }
        }
    }
}

/* to["extra"] = the name of the coefficients of Omega that single entries have besides.  Of bundles
 * that have the same ones, in any sublayer, the first announces them. */
static void put_extra(Writing *writing, json_t *to, const Score *score, size_t heads)
{
    size_t s = 0, b = 0, rows = writing->frame->rows;
    const size_t shape[] = {score->extra_stride > 0 ? heads : 1, rows, rows};
    char name[sizeof((Kept *)0)->name];
    if (score->extra == NULL) {
        return;
    }
    find_extra(&s, &b, writing->frame, score->extra);
    snprintf(name, sizeof name, "blocks.%zu.heads.%zu.extra", s, b);
    if (s == writing->sublayer && b == writing->bundle) {
        safetensors_writer_small(writing->writer, name, 3, shape, score->extra);
    }
    set(to, "extra", json_string(name));
}

static json_t *score_json(Writing *writing, const Bundle *bundle)
{
    const Score *score = &bundle->score;
    const PositionScores *p = &score->position;
    json_t *to = json_object();
    set(to, "position",
        json_pack("[i, i, i, i, i]", p->token_self, p->token_token, p->token_bias, p->bias_self,
                  p->bias_token));
    put_extra(writing, to, score, bundle->heads);
    if (score_by_gate(score) || score_by_key(score)) {
        set(to, "read", columns_json(score->read));
    }
    if (score_by_gate(score)) {
        put_gate(writing, to, score, bundle->heads);
    } else if (score_by_key(score)) {
        put_bilinear(writing, to, score, bundle->heads);
    }
    return to;
}

static json_t *value_json(Writing *writing, const Bundle *bundle)
{
    const Value *value = &bundle->value;
    size_t heads = bundle->heads, read = value->read.count, write = value->write.count;
    json_t *to = json_object();
    set(to, "read", columns_json(value->read));
    set(to, "write", columns_json(value->write));
    if (value->v.data != NULL && value->d_head == 0) {
        put(writing, to, "OV", matrices(value->v, heads, read, write));
    } else if (value->d_head > 0) {
        put(writing, to, "W_V", matrices(value->v, heads, read, value->d_head));
        put(writing, to, "b_V", vectors(value->inner_bias, heads, value->d_head));
        put(writing, to, "W_O", matrices(value->o, heads, value->d_head, write));
        set(to, value_is_sign(value) ? "sign" : "scale", json_real(value->scale));
    } else if (value->unit != 0) {
        set(to, "unit", json_integer(value->unit));
        set(to, "scale", json_real(value->scale));
    }
    if (value->bias_row != 0) {
        set(to, "bias_row", json_real(value->bias_row));
    }
    put(writing, to, "bias", (Kept){value->bias, 1, {write, 0, 0}, {1, 0, 0}, ""});
    if (value->diagonal != 0) {
        set(to, "diagonal", json_integer(value->diagonal));
    }
    return to;
}

static json_t *sublayer_json(Writing *writing, const PlainSublayer *sublayer)
{
    json_t *bundles = json_array();
    writing->kept_count = 0;
    for (size_t b = 0; b < sublayer->bundle_count; b++) {
        const Bundle *bundle = &sublayer->bundles[b];
        json_t *to = json_object();
        writing->bundle = b;
        set(to, "heads", json_integer((json_int_t)bundle->heads));
        set(to, "score", score_json(writing, bundle));
        set(to, "value", value_json(writing, bundle));
        json_array_append_new(bundles, to);
    }
    return bundles;
}

void shared_heads_put(SafetensorsWriter *writer, const PlainModel *frame)
{
    Writing writing = {.writer = writer, .frame = frame};
    json_t *blocks = json_array();
    for (size_t s = 0; s < frame->sublayer_count; s++) {
        writing.sublayer = s;
        safetensors_writer_part(writer, s);
        json_array_append_new(blocks, sublayer_json(&writing, &frame->sublayers[s]));
    }
    safetensors_writer_part(writer, SIZE_MAX);
    char *text = json_dumps(blocks, JSON_COMPACT);
    safetensors_writer_metadata(writer, "headproof.heads", text);
    free(text);
    free(writing.kept);
    json_decref(blocks);
}
