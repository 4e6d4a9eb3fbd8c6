/*
 * Every tensor of both families with an axis too many or too few: one message that names the
 * tensor, its shape and the one expected.
 */
#include "fixture.h"
#include "gpt2_files.h"
#include "safetensors_fixture.h"

#include "../harness/models/model_file.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

/* The same values with one axis more, behind or in front, or with one less.  False: as it was. */
static bool reshape(Gpt2Tensor *tensor, size_t way)
{
    size_t *shape = tensor->shape, last = tensor->rank - 1;
    switch (way) {
    case 0: shape[tensor->rank++] = 1; return true;
    case 1:
        memmove(shape + 1, shape, tensor->rank++ * sizeof *shape);
        shape[0] = 1;
        return true;
    default:
        if (last > 0) {
            shape[last - 1] *= shape[last];
        }
        tensor->rank = last;
        return last > 0 || shape[0] == 1;
    }
}

static void expect_refused(FileFixture *fixture, const Gpt2Model *model, const Gpt2Tensor *tensor)
{
    char culprit[200];
    size_t used = (size_t)snprintf(culprit, sizeof culprit, "tensor '%s': shape [", tensor->name);
    for (size_t i = 0; i < tensor->rank; i++) {
        used += (size_t)snprintf(culprit + used, sizeof culprit - used, "%s%zu", i > 0 ? ", " : "",
                                 tensor->shape[i]);
    }
    snprintf(culprit + used, sizeof culprit - used, "]: expected [");
    gpt2_write(fixture->path, model, "F64", NULL, 0, 1);
    ModelFile *read;
    hold(fixture);
    int status = model_file_read_with(&read, fixture->path, &(ModelFileFlags){.heads = 2});
    expect_message(fixture, status, fixture->path, culprit);
    assert_null(read);
}

static void test_ranks(void **state)
{
    static Gpt2Model model;
    for (int family = 0; family < 3; family++) {
        if (family == 0) {
            gpt2_make_lens(&model, true);
        } else {
            gpt2_make(&model, family == 1 ? "" : "transformer.", true, false);
        }
        for (size_t t = 0; t < model.count; t++) {
            const Gpt2Tensor whole = model.tensors[t];
            for (size_t way = 0; way < 3; way++) {
                if (reshape(&model.tensors[t], way)) {
                    expect_refused(*state, &model, &model.tensors[t]);
                }
                model.tensors[t] = whole;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {MODEL_TEST(test_ranks)};
    return cmocka_run_group_tests_name("model_shapes", tests, NULL, NULL);
}
