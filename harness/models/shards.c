/*
 * A model in several files: what the index says, checked against what they have.
 *
 * An index is somebody else's, so that it names files beside it and nothing else: no path, and no
 * link that leads elsewhere.  (The cache of Hugging Face's hub has links, into its own "blobs".)
 */
#include "tensor_set.h"

#include "../../memory/need.h"
#include "../base/message.h"
#include "../base/text_stream.h"
#include "regular_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many as a header (SAFETENSORS_HEADER_MOST). */
enum { INDEX_MOST = SAFETENSORS_HEADER_MOST, SHARDS_MOST = 1000 };

static const char file_end[] = ".safetensors";

size_t shard_stem(const char *name)
{
    /* "-00001-of-00002.safetensors" */
    enum { DIGITS = 5, TAIL = 1 + DIGITS + 4 + DIGITS };
    size_t length = strlen(name), end = strlen(file_end);
    if (length <= TAIL + end || !text_ends_in(name, file_end)) {
        return 0;
    }
    size_t stem = length - end - TAIL;
    const char *tail = name + stem, *of = tail + 1 + DIGITS;
    bool fits = tail[0] == '-' && strspn(tail + 1, "0123456789") == DIGITS &&
                strncmp(of, "-of-", 4) == 0 && strspn(of + 4, "0123456789") == DIGITS;
    return fits ? stem : 0;
}

static int check_entry(const TensorSet *set, const char *tensor, const json_t *value)
{
    const char *file = json_string_value(value);
    if (file == NULL) {
        return complain_of(set->path, "tensor", tensor, "expected the name of a file, a string");
    }
    bool beside = strchr(file, '/') == NULL && file[0] != '.';
    if (beside && text_ends_in(file, file_end) && strlen(file) <= 255) {
        return 0;
    }
    return complain_of(set->path, "tensor", tensor, "'%.255s': expected %s", file,
                       beside ? "a name that ends in .safetensors"
                              : "a file beside the index, not a path");
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* names [*count]: the files of the map, each once, in order. */
static int list_names(const char ***names, size_t *count, const TensorSet *set, json_t *map)
{
    size_t used = 0;
    *count = 0;
    *names = need_zeros(json_object_size(map) + 1, sizeof(const char *));
    for (void *i = json_object_iter(map); i != NULL; i = json_object_iter_next(map, i)) {
        int status = check_entry(set, json_object_iter_key(i), json_object_iter_value(i));
        if (status != 0) {
            return status;
        }
        (*names)[used++] = json_string_value(json_object_iter_value(i));
    }
    qsort(*names, used, sizeof **names, by_name);
    for (size_t i = 0; i < used; i++) {
        if (i == 0 || strcmp((*names)[i], (*names)[*count - 1]) != 0) {
            (*names)[(*count)++] = (*names)[i];
        }
    }
    if (*count > SHARDS_MOST) {
        return complain_of(set->path, "key", "weight_map", "%zu files: expected at most %d", *count,
                           SHARDS_MOST);
    }
    return 0;
}

/* Is a link's text a file in the same folder, or in the hub's blobs? */
static bool leads_here(const char *target)
{
    static const char blobs[] = "../../blobs/";
    size_t skip = strncmp(target, blobs, sizeof blobs - 1) == 0 ? sizeof blobs - 1 : 0;
    return target[skip] != '\0' && target[skip] != '.' && strchr(target + skip, '/') == NULL;
}

/* Refuses a link that leads elsewhere, or to another link. */
static int check_link(const TensorSet *set, const char *path)
{
    enum { TARGET_MOST = 512 };
    char target[TARGET_MOST] = "";
    struct stat found;
    if (lstat(path, &found) != 0 || !S_ISLNK(found.st_mode)) {
        return 0; /* what cannot be opened is complained of there */
    }
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    char *real = path_beside(set->folder, target);
    bool here = length > 0 && length < TARGET_MOST - 1 && leads_here(target) &&
                lstat(real, &found) == 0 && !S_ISLNK(found.st_mode);
    free(real);
    if (!here) {
        return complain_of(path, NULL, NULL, "expected a file in its folder, not a link out of it");
    }
    return 0;
}

/* Opens the next file; every tensor in it is one that the map has there. */
static int open_shard(TensorSet *set, const char *name, json_t *map)
{
    char *path = path_beside(set->folder, name);
    int status = check_link(set, path);
    status = status != 0 ? status : safetensors_open(&set->files[set->file_count], path);
    free(path);
    if (status != 0) {
        return status;
    }
    const SafetensorsFile *file = set->files[set->file_count++];
    for (size_t i = 0; i < file->count; i++) {
        const char *tensor = file->tensors[i].name;
        const char *where = json_string_value(json_object_get(map, tensor));
        if (where == NULL) {
            return complain_of(file->path, "tensor", tensor,
                               "expected those alone that the index '%.255s' lists", set->path);
        }
        if (strcmp(where, name) != 0) {
            return complain_of(file->path, "tensor", tensor,
                               "expected it in '%.255s' alone, as the index '%.255s' says", where,
                               set->path);
        }
    }
    return 0;
}

static size_t place_of(const char *const *names, size_t count, const char *name)
{
    const char *const *found = bsearch(&name, names, count, sizeof *names, by_name);
    return found == NULL ? count : (size_t)(found - names);
}

/* Every tensor that the map has is in its file. */
static int check_complete(const TensorSet *set, json_t *map, const char *const *names)
{
    for (void *i = json_object_iter(map); i != NULL; i = json_object_iter_next(map, i)) {
        const char *tensor = json_object_iter_key(i);
        const char *name = json_string_value(json_object_iter_value(i));
        const SafetensorsFile *file = set->files[place_of(names, set->file_count, name)];
        if (!safetensors_has(file, tensor)) {
            return complain_of(file->path, "tensor", tensor,
                               "missing: expected it, as the index '%.255s' says", set->path);
        }
    }
    return 0;
}

/* Refuses a file named as those of the index that it does not list: an older one's, perhaps. */
static int check_strays(const TensorSet *set, const char *const *names)
{
    size_t stem = shard_stem(names[0]);
    int status = 0;
    DIR *directory = stem > 0 ? opendir(set->folder) : NULL;
    const struct dirent *entry;
    while (directory != NULL && status == 0 && (entry = readdir(directory)) != NULL) {
        if (shard_stem(entry->d_name) == stem && strncmp(entry->d_name, names[0], stem) == 0 &&
            place_of(names, set->file_count, entry->d_name) == set->file_count) {
            status =
                complain_of(set->path, "file", entry->d_name,
                            "is beside the index, which does not list it: expected all or another "
                            "folder");
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    return status;
}

static int open_all(TensorSet *set, json_t *map)
{
    const char **names;
    size_t count;
    int status = list_names(&names, &count, set, map);
    if (status == 0) {
        set->files = need_zeros(count, sizeof(SafetensorsFile *));
    }
    for (size_t i = 0; i < count && status == 0; i++) {
        status = open_shard(set, names[i], map);
    }
    status = status != 0 ? status : check_complete(set, map, names);
    status = status != 0 ? status : check_strays(set, names);
    free(names);
    return status;
}

int shards_open(TensorSet *set)
{
    int status = json_file_read(&set->index, set->path, INDEX_MOST, false);
    if (status != 0) {
        return status;
    }
    json_t *map = json_object_get(set->index, "weight_map");
    const json_t *metadata = json_object_get(set->index, "metadata");
    if (!json_is_object(map) || json_object_size(map) == 0) {
        return complain_of(set->path, "key", "weight_map",
                           "expected an object: the name of a file for every tensor");
    }
    if (metadata != NULL && !json_is_object(metadata)) {
        return complain_of(set->path, "key", "metadata", "expected an object");
    }
    return open_all(set, map);
}
