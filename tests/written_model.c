/*
 * Small models as safetensors files, number by number; nothing here uses the writer under test.
 */
#include "written_model.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

void written_model(const Scratch *scratch, const char *name, const char *tensors,
                   const double *data, size_t count)
{
    char header[1024], path[SCRATCH_PATH], bytes[4096];
    const char *positions = strstr(tensors, "pos_embed") != NULL ? "learned" : "none",
               *norms = strstr(tensors, ".ln1.") == NULL
                            ? "none"
                            : "rmsnorm\",\"normalization-place\":\"pre\",\"eps\":\"1e-5";
    int length = snprintf(header, sizeof header,
                          "{\"__metadata__\":{\"activation\":\"silu\",\"blocks\":\"sequential\","
                          "\"positions\":\"%s\",\"scale\":\"1\",\"mask\":\"none\","
                          "\"normalization\":\"%s\"},%s}",
                          positions, norms, tensors);
    uint64_t size = (uint64_t)(length + 7) / 8 * 8;
    memset(bytes, ' ', sizeof bytes);
    memcpy(bytes, &size, sizeof size);
    memcpy(bytes + 8, header, (size_t)length);
    memcpy(bytes + 8 + size, data, count * sizeof *data);
    scratch_path(path, scratch, name);
    file_write(path, bytes, 8 + size + count * sizeof *data);
}
