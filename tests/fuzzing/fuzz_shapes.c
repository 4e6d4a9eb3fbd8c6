/*
 * Shapes: whatever well-formed files say of a model's tensors, and what stands beside them, every
 * command that reads models ends in a result or in one message, and leaves nothing else behind.
 *
 * Input: lines "NAME TYPE SIZE..." of a tensor, and KEY=VALUE of the metadata.  What they say
 * becomes a file whose data are as long as the shapes say; any character is a type.  Which command
 * reads it is the text's own.
 */
#include "fuzz.h"

#include "../../harness/models/safetensors.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MOST = 24, LINE_MOST = 256, DATA_MOST = 1 << 14, TENSOR_MOST = 1 << 12 };

static const char input[] = "m.safetensors", output[] = "out.safetensors";

/* chooses: what is said of inputs where the file has none. */
static const struct {
    const char *chooses[2], *words[12];
} calls[] = {
    {{"--n", "2"}, {"cost", input}},
    {{"--n", "2"}, {"convert", input, "-o", output, "--quiet", "--omega", "20"}},
    {{"--n", "2"},
     {"convert", input, "-o", output, "--quiet", "--omega", "20", "--layout", "shared",
      "--ignore-extra"}},
    {{"--n", "2"}, {"sweep", "--weights", input, "--omega", "20", "--reference", "none", "-q"}},
    {{"--n", "2"}, {"depth", "--weights", input, "--omega", "20", "--arithmetic", "none", "-q"}},
    {{"--n", "2"}, {"export", "--weights", input, "--omega", "20", "-o", output, "--quiet"}},
    {{"--n", "2"}, {"min-omega", "--weights", input, "--tolerance", "1", "--quiet"}},
    {{"--n", "2"}, {"check", "--weights", input, "--omega", "20", "--tolerance", "1"}},
    {{"--tokens", "0/1,2"}, {"attribute", input, "--omega", "20", "--quiet"}},
    {{"--tokens", "0/1,2"}, {"verify", input, "--omega", "20", "--tolerance", "1"}},
    {{"--tokens", "0/1,2"}, {"verify", input, "--quiet"}},
};
enum { CALLS = sizeof calls / sizeof *calls };

typedef struct {
    json_t *header, *metadata;
    char data[DATA_MOST];
    size_t used;
    bool given; /* it has inputs */
} Said;

/* What floats are 1 and more of is 0x3c everywhere; integers are 0 and 1. */
static void add_data(Said *said, const char *dtype, size_t width, size_t count)
{
    bool floats = *dtype == 'F' || strncmp(dtype, "BF", 2) == 0;
    for (size_t i = 0; i < count * width; i++) {
        said->data[said->used++] = (char)(floats ? 0x3c : i % width == 0 && i / width % 2 == 1);
    }
}

/* The rest of a line behind a name. */
static void add_tensor(Said *said, const char *name, char *rest)
{
    static const char *const dtypes[] = {"F16", "F32", "F64", "BF16", "I16", "I64", "BOOL", "F8"};
    const char *type = strtok_r(rest, " ", &rest), *word;
    const char *dtype = dtypes[type == NULL ? 0 : (unsigned char)*type % 8];
    size_t width = strtoul(dtype + strcspn(dtype, "0123456789"), NULL, 10) / 8, count = 1;
    json_t *shape = json_array();
    width = width > 0 ? width : 1;
    while ((word = strtok_r(rest, " ", &rest)) != NULL) {
        long long size = strtoll(word, NULL, 10);
        fuzz_need(json_array_append_new(shape, json_integer(size)) == 0, "json");
        count = size < 0 || size > TENSOR_MOST ? 0 : count * (size_t)size;
        count = count * width > TENSOR_MOST ? 0 : count;
    }
    size_t begin = said->used, room = DATA_MOST - said->used;
    add_data(said, dtype, width, count * width < room ? count : 0);
    said->given = said->given || strcmp(name, "X") == 0 || strcmp(name, "tokens") == 0;
    json_t *tensor = json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtype, "shape", shape,
                               "data_offsets", (json_int_t)begin, (json_int_t)said->used);
    if (tensor == NULL || json_object_set_new(said->header, name, tensor) != 0) {
        said->used = begin; /* no name in UTF-8 */
    }
}

/* The file, but for lines that are too long. */
static bool write_file(const uint8_t *bytes, size_t size)
{
    static Said said;
    char line[LINE_MOST];
    said = (Said){.header = json_object(), .metadata = json_object()};
    for (size_t length; size > 0; bytes += length, size -= length) {
        const uint8_t *newline = memchr(bytes, '\n', size);
        length = newline == NULL ? size : (size_t)(newline - bytes) + 1;
        size_t shown = length - (newline != NULL);
        if (shown == 0 || shown >= sizeof line) {
            continue;
        }
        memcpy(line, bytes, shown);
        line[shown] = '\0';
        char *rest = line, *equal = strchr(line, '=');
        if (equal != NULL) {
            *equal = '\0';
            (void)json_object_set_new(said.metadata, line, json_string(equal + 1));
        } else if (strtok_r(rest, " ", &rest) != NULL) {
            add_tensor(&said, line, rest);
        }
    }
    fuzz_need(json_object_set_new(said.header, "__metadata__", said.metadata) == 0, "json");
    FuzzText file;
    FILE *out = open_memstream(&file.bytes, &file.size);
    char *header = json_dumps(said.header, JSON_COMPACT);
    fuzz_need(out != NULL && header != NULL, "memory");
    for (size_t i = 0; i < 8; i++) {
        fputc((int)(strlen(header) >> (8 * i) & 255), out);
    }
    fputs(header, out);
    fwrite(said.data, 1, said.used, out);
    fuzz_need(fclose(out) == 0, "open_memstream");
    fuzz_write(input, file.bytes, file.size);
    free(file.bytes);
    free(header);
    json_decref(said.header);
    return said.given;
}

static int call(Fuzz *fuzz, size_t number, bool given)
{
    const char *argv[WORDS_MOST];
    size_t count = 0;
    for (; calls[number].words[count] != NULL; count++) {
        argv[count] = calls[number].words[count];
    }
    for (size_t i = 0; !given && i < 2; i++) {
        argv[count++] = calls[number].chooses[i];
    }
    argv[count] = NULL;
    return fuzz_run(fuzz, argv);
}

static const char *expect_output(Fuzz *fuzz, int status)
{
    static const char *const left[] = {input, output, NULL}, *const none[] = {input, NULL};
    SafetensorsFile *file;
    if (status == 2 || !file_exists(output)) {
        return fuzz_expect_files(fuzz, none);
    }
    fuzz_listen(fuzz);
    status = safetensors_open(&file, output);
    fuzz_hear(fuzz);
    safetensors_close(file);
    return status == 0 ? fuzz_expect_files(fuzz, left)
                       : fuzz_broken(fuzz, "its output is refused: %s", fuzz->said);
}

static const char *run(Fuzz *fuzz, const uint8_t *bytes, size_t size)
{
    size_t number = size;
    for (size_t i = 0; i < size; i++) {
        number = 31 * number + bytes[i];
    }
    bool given = write_file(bytes, size);
    int status = call(fuzz, number % CALLS, given);
    const char *why = status == 2   ? fuzz_expect_refusal(fuzz, "")
                      : status <= 1 ? NULL
                                    : fuzz_broken(fuzz, "status %d: %.800s", status, fuzz->said);
    why = why == NULL ? expect_output(fuzz, status) : why;
    fuzz_remove(input);
    fuzz_remove(output);
    return why;
}

const FuzzSubject fuzz_shapes = {.name = "shapes", .run = run};
