/*
 * The trained GPT-2 of cases/models/chargpt: what is read is what another program reads, and where
 * nobody may be silent somebody is asked.
 */
#include "given.h"
#include "printed.h"

#include "../harness/models/model_file.h"
#include "unit.h"

#include <string.h>

#define FOLDER "cases/models/chargpt"

static void check_layer(const ModelFileLayer *layer)
{
    const Printed printed[] = {
        {"W_Q", layer->attn.W_Q, 4096, 0x1.52d594p-4, 0x1.3511ecp-4, -0x1.783384p-4,
         -0x1.e9927213fp+1},
        {"W_K", layer->attn.W_K, 4096, 0x1.2d472ep-3, 0x1.2a87a6p-4, 0x1.24e21ep-6,
         -0x1.cbc84293458p+3},
        {"W_V", layer->attn.W_V, 4096, 0x1.450458p-5, 0x1.2feab4p-6, -0x1.dd3962p-9,
         -0x1.6c63bb3152bp+3},
        {"b_Q", layer->attn.b_Q, 64, -0x1.bac8f4p-4, 0x1.5c8b2ap-3, -0x1.3134c8p-4,
         -0x1.609a21c7p+2},
        {"b_K", layer->attn.b_K, 64, -0x1.ad21a8p-20, -0x1.a006f6p-11, 0x1.fb6ce2p-17,
         0x1.447d4da56p-6},
        {"b_V", layer->attn.b_V, 64, 0x1.32a8fp-6, 0x1.3c1fbp-6, 0x1.7c0d9cp-8, 0x1.29cf943ep-2},
        {"W_O", layer->attn.W_O, 4096, -0x1.7abd6ep-8, 0x1.3d4c6cp-7, 0x1.4a0bfcp-5,
         0x1.d470689c3fp+2},
        {"b_O", layer->attn.b_O, 64, 0x1.850e7ap-8, 0x1.3f7d72p-4, 0x1.9dd958p-4, 0x1.a16ebd48p-2},
        {"ln1.w", layer->ln1.w, 64, 0x1.08f17ap+0, 0x1.1f065ep+0, 0x1.06a6fep+0, 0x1.058c5e0dp+8},
        {"ln1.b", layer->ln1.b, 64, 0x1.24a1aap-5, -0x1.f8a478p-8, -0x1.23bd3ep-4,
         -0x1.42d05b2c5p-1},
        {"ln2.w", layer->ln2.w, 64, 0x1.03ff4cp+0, 0x1.279306p+0, 0x1.22fac8p+0, 0x1.077037bp+8},
        {"ln2.b", layer->ln2.b, 64, 0x1.a809e6p-5, 0x1.89c792p-4, 0x1.ee32acp-4, 0x1.c70b439cp-1},
        {"W_in", layer->mlp.W_in, 16384, 0x1.469ef4p-4, -0x1.a9d5aap-5, 0x1.2eed82p-7,
         -0x1.7927ed5b13ap+3},
        {"b_in", layer->mlp.b_in, 256, -0x1.2219eep-5, -0x1.acb74ap-6, -0x1.ecd0bep-5,
         -0x1.d1838f4d5p+5},
        {"W_out", layer->mlp.W_out, 16384, 0x1.5abfa6p-7, -0x1.20a762p-5, 0x1.fc99b6p-7,
         0x1.4fe3e0ab554p+2},
        {"b_out", layer->mlp.b_out, 64, -0x1.945afcp-6, 0x1.b4ef56p-5, 0x1.e1dd14p-6,
         0x1.0747fe24cp-1},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        check_printed(&printed[i]);
    }
}

static void test_values(void **state)
{
    ModelFile *model;
    assert_int_equal(model_file_read(&model, FOLDER, false), 0);
    const Printed printed[] = {
        {"W_E", model->W_E, 5888, -0x1.e5696p-3, -0x1.d06ceap-6, -0x1.b2d186p-10,
         0x1.5f00d4f17b8p+3},
        {"W_pos", model->W_pos, 4096, -0x1.61c632p-2, 0x1.3d1f74p-7, 0x1.23ce9cp-3,
         -0x1.9f33438af6p+2},
        {"ln_final.w", model->ln_final.w, 64, 0x1.ce0f02p+0, 0x1.cc4d5cp+0, 0x1.a5cd66p+0,
         0x1.bcb0be52p+8},
        {"ln_final.b", model->ln_final.b, 64, 0x1.66036cp-2, 0x1.4a997p-2, 0x1.6df1aep-2,
         0x1.1d356p-1},
        {"W_U", model->W_U, 5888, -0x1.e5696p-3, 0x1.5edbecp-3, -0x1.b2d186p-10,
         0x1.5f00d4f17b8p+3},
    };
    for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
        check_printed(&printed[i]);
    }
    check_layer(&model->layers[1]);
    assert_true(model->depth == 2 && model->heads == 4 && model->d_head == 16);
    assert_true(model->vocabulary == 92 && model->classes == 92 && model->context == 64);
    assert_true(model->eps == 1e-5 && model->path_count == 2);
    model_file_clear(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GIVEN_TEST(test_values),
    };
    return cmocka_run_group_tests_name("chargpt_file", tests, NULL, NULL);
}
