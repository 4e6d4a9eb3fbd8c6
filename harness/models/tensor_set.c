/*
 * Which files a path stands for, and their tensors as one list.
 */
#define _XOPEN_SOURCE 700 /* realpath */

#include "tensor_set.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "regular_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char index_end[] = ".index.json", file_end[] = ".safetensors";

char *path_beside(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = need_room(size, 1);
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

static bool is_there(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0;
}

static bool is_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* The folder of a model's files: path itself where it is a folder, else the one that the file lies
 * in, "." where path names none. */
static char *model_folder(const char *path)
{
    if (is_folder(path)) {
        return need_copy(path);
    }
    const char *slash = strrchr(path, '/');
    char *folder = need_copy(slash == NULL ? "." : slash == path ? "/" : path);
    if (slash != NULL && slash != path) {
        folder[slash - path] = '\0';
    }
    return folder;
}

static char *config_beside(const char *path)
{
    char *folder = model_folder(path), *config = path_beside(folder, "config.json");
    free(folder);
    return config;
}

char *model_config_path(const char *path)
{
    struct stat found;
    char *config = config_beside(path), *real = realpath(path, NULL);
    if (lstat(config, &found) != 0 && real != NULL) {
        char *other = config_beside(real);
        if (lstat(other, &found) == 0) {
            free(config);
            config = other;
        } else {
            free(other);
        }
    }
    free(real);
    return config;
}

bool is_of_pytorch(const char *path)
{
    static const char *const ends[] = {".pt", ".pth", ".bin", ".ckpt"};
    bool is = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        is = is || text_ends_in(path, ends[i]);
    }
    return is;
}

/* asked: the file, or the folder that it lies in. */
static int refuse_pytorch(const char *asked, const char *file)
{
    char first[32];
    int fd;
    struct stat found;
    int status = regular_file_open(&fd, &found, file, false);
    if (status != 0) {
        return status;
    }
    ssize_t count = read(fd, first, sizeof first);
    close(fd);
    bool torch = count > 1 && (memcmp(first, "PK", 2) == 0 || *first == '\x80');
    const char *kind = count > 0 && !torch ? regular_file_kind(first, (size_t)count) : NULL;
    if (kind != NULL) {
        return complain_of(file, NULL, NULL, "%s", kind);
    }
    return complain_of(asked, NULL, NULL,
                       "a file of PyTorch's own: expected one of safetensors, which python3 -m "
                       "headproof save %s -o MODEL.safetensors writes (docs/python.md)",
                       asked);
}

/* The file or the index in a folder. */
static int choose_in_folder(TensorSet *set)
{
    char *file = path_beside(set->folder, "model.safetensors");
    char *index = path_beside(set->folder, "model.safetensors.index.json");
    char *own = path_beside(set->folder, "pytorch_model.bin");
    bool whole = is_there(file), sharded = is_there(index);
    int status = 0;
    if (!whole && !sharded && is_there(own)) {
        status = refuse_pytorch(set->folder, own);
    } else if (whole == sharded) {
        status = complain_of(
            set->folder, NULL, NULL,
            whole ? "has model.safetensors and model.safetensors.index.json: expected one "
                    "of them, or its path"
                  : "expected model.safetensors or model.safetensors.index.json in it");
    }
    set->path = sharded ? index : file;
    free(own);
    free(sharded ? file : index);
    return status;
}

/* Sets path and folder. */
static int choose(TensorSet *set, const char *path)
{
    const char *name = strrchr(path, '/');
    name = name == NULL ? path : name + 1;
    size_t stem = shard_stem(name);
    set->folder = model_folder(path);
    if (is_folder(path)) {
        return choose_in_folder(set);
    }
    if (stem > 0) { /* "NAME-00001-of-00002.safetensors": the index that lists it */
        size_t before = (size_t)(name - path), size = strlen(path) + 32;
        set->path = need_room(size, 1);
        snprintf(set->path, size, "%.*s%s%s", (int)(before + stem), path, file_end, index_end);
        return is_there(set->path)
                   ? 0
                   : complain_of(path, NULL, NULL,
                                 "is one of several files: expected '%.*s%s%s' beside it",
                                 (int)stem, name, file_end, index_end);
    }
    if (is_of_pytorch(path) && is_there(path)) {
        return refuse_pytorch(path, path);
    }
    set->path = need_copy(path);
    return 0;
}

/* The tensor of a file that an entry of its metadata gives a second name; NULL: it does not. */
static const SafetensorsTensor *tensor_of_alias(const SafetensorsFile *file, const char *key,
                                                const json_t *value)
{
    for (size_t t = 0; t < file->count && !safetensors_has(file, key); t++) {
        if (strcmp(file->tensors[t].name, json_string_value(value)) == 0) {
            return &file->tensors[t];
        }
    }
    return NULL;
}

static void list_aliases(TensorSet *set, const SafetensorsFile *file)
{
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(file->header, "__metadata__"), key, value)
    {
        const SafetensorsTensor *tensor = tensor_of_alias(file, key, value);
        if (tensor != NULL) {
            SafetensorsTensor *alias = &set->aliases[set->alias_count++];
            *alias = *tensor;
            alias->name = key;
            set->tensors[set->count++] = (SetTensor){.file = file, .tensor = alias};
        }
    }
}

bool tensor_set_is_alias(const TensorSet *set, const char *key)
{
    size_t i = 0;
    while (i < set->alias_count && strcmp(set->aliases[i].name, key) != 0) {
        i++;
    }
    return i < set->alias_count;
}

static void list_tensors(TensorSet *set)
{
    size_t total = 0, keys = 0;
    for (size_t i = 0; i < set->file_count; i++) {
        total += set->files[i]->count;
        keys += json_object_size(json_object_get(set->files[i]->header, "__metadata__"));
    }
    set->aliases = need_zeros(keys + 1, sizeof *set->aliases);
    set->tensors = need_zeros(total + keys + 1, sizeof *set->tensors);
    for (size_t i = 0; i < set->file_count; i++) {
        const SafetensorsFile *file = set->files[i];
        for (size_t t = 0; t < file->count; t++) {
            set->tensors[set->count++] = (SetTensor){.file = file, .tensor = &file->tensors[t]};
        }
    }
    for (size_t i = 0; i < set->file_count; i++) {
        list_aliases(set, set->files[i]);
    }
}

/* Those of one more file, whose names all begin so. */
static int add_witness(TensorSet *set, const char *path)
{
    set->files = need_more(set->files, set->file_count + 1, sizeof(SafetensorsFile *));
    int status = safetensors_open(&set->files[set->file_count], path);
    if (status != 0) {
        return status;
    }
    const SafetensorsFile *file = set->files[set->file_count++];
    for (size_t t = 0; t < file->count; t++) {
        const char *name = file->tensors[t].name;
        if (strncmp(name, WITNESS_PREFIX, strlen(WITNESS_PREFIX)) != 0) {
            return complain_of(path, "tensor", name, "expected names that begin with '%s' alone",
                               WITNESS_PREFIX);
        }
    }
    return 0;
}

int tensor_set_open(TensorSet *set, const char *path, const char *witness)
{
    *set = (TensorSet){0};
    int status = choose(set, path);
    if (status != 0) {
        return status;
    }
    if (text_ends_in(set->path, index_end)) {
        status = shards_open(set);
    } else {
        set->files = need_zeros(1, sizeof(SafetensorsFile *));
        status = safetensors_open(&set->files[0], set->path);
        set->file_count = status == 0;
    }
    if (status == 0 && witness != NULL) {
        status = add_witness(set, witness);
    }
    if (status == 0) {
        list_tensors(set);
    }
    return status;
}

void tensor_set_clear(TensorSet *set)
{
    for (size_t i = 0; i < set->file_count; i++) {
        safetensors_close(set->files[i]);
    }
    json_decref(set->index);
    free(set->files);
    free(set->tensors);
    free(set->aliases);
    free(set->folder);
    free(set->path);
    *set = (TensorSet){0};
}

int tensor_set_recheck(const TensorSet *set, bool header)
{
    int status = 0;
    for (size_t i = 0; i < set->file_count && status == 0; i++) {
        status = safetensors_recheck(set->files[i], header);
    }
    return status;
}
