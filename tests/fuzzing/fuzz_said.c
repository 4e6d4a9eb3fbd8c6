/*
 * The model that was drawn, as files: safetensors written by hand, an index, a config.
 */
#include "fuzz.h"
#include "fuzz_grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { HEADER = 1 << 15, DATA = 1 << 16, TENSOR_DATA = 1 << 12, SMALL = 7, BIG = 1 << 14 };

typedef struct {
    char text[HEADER + DATA];
    size_t used;
} Text;

static void put(Text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(Text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to->text + to->used, HEADER - to->used, format, arguments);
    va_end(arguments);
    fuzz_need(length >= 0 && to->used + (size_t)length < HEADER, "a header that is too long");
    to->used += (size_t)length;
}

static size_t width_of(const char *dtype)
{
    static const char *const widths[] = {"F64 I64 U64", "F32 I32 U32", "F16 BF16 I16 U16",
                                         "I8 U8 BOOL"};
    size_t width = 8;
    for (size_t i = 0; i < 4; i++, width /= 2) {
        if (*dtype != '\0' && strstr(widths[i], dtype) != NULL) {
            return width;
        }
    }
    return 1;
}

/* The bits of a small multiple of 1/16 or of BIG, which every format has. */
static uint64_t bits_of(double value, const char *dtype)
{
    float narrow = (float)value;
    uint32_t bits;
    uint64_t wide;
    memcpy(&bits, &narrow, sizeof bits);
    memcpy(&wide, &value, sizeof wide);
    if (strcmp(dtype, "F64") == 0) {
        return wide;
    }
    if (strcmp(dtype, "BF16") == 0) {
        return bits >> 16;
    }
    if (strcmp(dtype, "F16") == 0) {
        uint32_t exponent = bits >> 23 & 255;
        return (bits >> 16 & 32768) |
               (exponent == 0 ? 0 : ((exponent - 112) << 10 | (bits >> 13 & 1023)));
    }
    return bits;
}

/* Value number i of a tensor. */
static uint64_t value_bits(const SaidTensor *tensor, size_t i)
{
    size_t side = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    bool seen = tensor->fill == FILL_ONES || (side > 0 && i % side <= i / side);
    double pattern = (double)((SMALL * i + 3 * strlen(tensor->name) + tensor->of) % 13) - 6;
    if (tensor->fill == FILL_CAUSAL || tensor->fill == FILL_ONES) {
        bool floats = *tensor->dtype == 'F' || strcmp(tensor->dtype, "BF16") == 0;
        return floats ? bits_of(seen, tensor->dtype) : seen;
    }
    if (*tensor->dtype != 'F' && *tensor->dtype != 'B') {
        return tensor->fill == 3 ? UINT64_MAX : tensor->fill == 1 ? 0 : i % 3;
    }
    switch (tensor->fill) {
    case 1: return 0;
    case 2: return bits_of(1, tensor->dtype);
    case 3: return UINT64_MAX; /* NaN */
    case 4: return bits_of(pattern > 0 ? BIG : -BIG, tensor->dtype);
    case 5: return 1; /* subnormal */
    case FILL_MASKED: return bits_of(-BIG, tensor->dtype);
    default: return bits_of(pattern / 16, tensor->dtype);
    }
}

/* Its bytes, as many as the shape says, where that is little. */
static size_t put_data(Text *data, const SaidTensor *tensor)
{
    size_t width = width_of(tensor->dtype), count = tensor->loose ? 8 : 1;
    for (size_t i = 0; i < tensor->rank && !tensor->loose; i++) {
        count = tensor->shape[i] > TENSOR_DATA ? 0 : count * tensor->shape[i];
        count = count * width > TENSOR_DATA ? TENSOR_DATA / width : count;
    }
    for (size_t i = 0; i < count && data->used + width <= DATA; i++) {
        uint64_t bits = value_bits(tensor, i);
        for (size_t b = 0; b < width; b++) {
            data->text[data->used++] = (char)(bits >> (8 * b) & 255);
        }
    }
    return data->used;
}

static void put_list(Text *to, const SaidList *list, const char *before)
{
    for (size_t i = 0; i < list->count; i++) {
        put(to, "%s\"%s\": %s", i == 0 ? before : ", ", list->entries[i].key,
            list->entries[i].value);
    }
}

static void write_part(const SaidModel *model, size_t part)
{
    static Text header, data;
    header.used = 8;
    data.used = 0;
    put(&header, "{\"__metadata__\": {");
    put_list(&header, &model->metadata, "");
    put(&header, "}");
    for (size_t t = 0; t < model->count; t++) {
        const SaidTensor *tensor = &model->tensors[t];
        if (tensor->file != part) {
            continue;
        }
        size_t begin = data.used, end = put_data(&data, tensor);
        put(&header, ", \"%s\": {\"dtype\": \"%s\", \"shape\": [", tensor->name, tensor->dtype);
        for (size_t i = 0; i < tensor->rank; i++) {
            put(&header, "%s%zu", i > 0 ? ", " : "", tensor->shape[i]);
        }
        put(&header, "], \"data_offsets\": [%zu, %zu]}", begin + tensor->before,
            end + tensor->behind);
    }
    put(&header, "}");
    for (size_t i = 0; i < 8; i++) {
        header.text[i] = (char)((header.used - 8) >> (8 * i) & 255);
    }
    memcpy(header.text + header.used, data.text, data.used);
    fuzz_write(said_file(model, part), header.text, header.used + data.used);
}

const char *said_file(const SaidModel *model, size_t part)
{
    static const char *const one[] = {"model-00001-of-00001.safetensors"};
    static const char *const two[] = {"model-00001-of-00002.safetensors",
                                      "model-00002-of-00002.safetensors"};
    static const char *const strange[] = {"../model.safetensors", "/dev/null", "",
                                          "model-00009-of-00009.safetensors", "x.json"};
    return part >= SAID_STRANGE ? strange[(part - SAID_STRANGE) % 5]
           : model->parts == 0  ? "model.safetensors"
           : model->parts == 1  ? one[0]
                                : two[part % 2];
}

static void write_index(const SaidModel *model)
{
    static Text index;
    index.used = 0;
    put(&index, "{\"metadata\": {\"total_size\": 1}, \"weight_map\": {");
    for (size_t t = 0; t < model->count; t++) {
        const SaidTensor *tensor = &model->tensors[t];
        put(&index, "%s\"%s\": \"%s\"", t > 0 ? ", " : "", tensor->name,
            said_file(model, tensor->listed));
    }
    put(&index, "}}");
    fuzz_write("model.safetensors.index.json", index.text, index.used);
}

void said_write(const SaidModel *model)
{
    static Text config;
    config.used = 0;
    for (size_t part = 0; part < (model->parts > 0 ? model->parts : 1); part++) {
        write_part(model, part);
    }
    if (model->parts > 0) {
        write_index(model);
    }
    if (model->configured) {
        put_list(&config, &model->config, "{");
        put(&config, "%s", model->config.count > 0 ? "}" : "{}");
        fuzz_write("config.json", config.text, config.used);
    }
}
