/*
 * The table of machine arithmetics.
 */
#include "arithmetic.h"

#include "pass.h"

#include <string.h>

const char *const arithmetic_names[ARITHMETIC_COUNT] = {
    [ARITHMETIC_NONE] = "none",
    [ARITHMETIC_F64] = "f64",
    [ARITHMETIC_F32] = "f32",
    [ARITHMETIC_BF16] = "bf16",
    [ARITHMETIC_FP16] = "fp16",
    [ARITHMETIC_BF16_FLASH] = "bf16-flash",
    [ARITHMETIC_FP16_FLASH] = "fp16-flash",
    [ARITHMETIC_BF16_AUTOCAST] = "bf16-autocast",
};

/* Storage, stream, operands of products, scores. */
#define ALL_F64 FORMAT_F64, FORMAT_F64, FORMAT_F64, FORMAT_F64
#define ALL_F32 FORMAT_F32, FORMAT_F32, FORMAT_F32, FORMAT_F32
#define ALL_BF16 FORMAT_BF16, FORMAT_BF16, FORMAT_BF16, FORMAT_BF16
#define ALL_FP16 FORMAT_FP16, FORMAT_FP16, FORMAT_FP16, FORMAT_FP16

static const ArithmeticInfo arithmetics[ARITHMETIC_COUNT] = {
    [ARITHMETIC_F64] = {"double", {ALL_F64}, &kernel_f64, 0.06e-9, 10e-9},
    [ARITHMETIC_F32] = {"float", {ALL_F32}, &kernel_f32, 0.03e-9, 5e-9},
    [ARITHMETIC_BF16] = {"bfloat16", {ALL_BF16}, &kernel_f32, 0.04e-9, 8e-9},
    [ARITHMETIC_FP16] = {"half", {ALL_FP16}, &kernel_f32, 0.04e-9, 8e-9},
    [ARITHMETIC_BF16_FLASH] = {"bfloat16 with scores in float",
                               {FORMAT_BF16, FORMAT_BF16, FORMAT_BF16, FORMAT_F32},
                               &kernel_f32,
                               0.04e-9,
                               7e-9},
    [ARITHMETIC_FP16_FLASH] = {"half with scores in float",
                               {FORMAT_FP16, FORMAT_FP16, FORMAT_FP16, FORMAT_F32},
                               &kernel_f32,
                               0.04e-9,
                               7e-9},
    [ARITHMETIC_BF16_AUTOCAST] = {"float with products of bfloat16",
                                  {FORMAT_F32, FORMAT_F32, FORMAT_BF16, FORMAT_F32},
                                  &kernel_f32,
                                  0.04e-9,
                                  7e-9},
};

Arithmetic arithmetic_find(const char *name)
{
    Arithmetic found = ARITHMETIC_NONE;
    while (found < ARITHMETIC_COUNT && strcmp(arithmetic_names[found], name) != 0) {
        found++;
    }
    return found;
}

const ArithmeticInfo *arithmetic_info(Arithmetic arithmetic)
{
    KERNEL_CHECK(arithmetic > ARITHMETIC_NONE && arithmetic < ARITHMETIC_COUNT);
    return &arithmetics[arithmetic];
}
