/*
 * Rows of numbers: eight at a time where that can be, and each by itself.
 */
#include "lanes.h"

#include "lanes_eight.h"

#include "../ap.h"

/* Fewer are not worth the choice. */
enum { EIGHT = 8 };

static void each_alone(const LanesRow *row, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        mpfr_srcptr a = row->a.first + i * row->a.step, b = row->b.first + i * row->b.step;
        switch (row->operation) {
        case LANES_ADD: limbs_add(row->y + i, a, b); break;
        case LANES_SUB: limbs_sub(row->y + i, a, b); break;
        case LANES_MUL: limbs_mul(row->y + i, a, b); break;
        case LANES_ADD_MUL:
            limbs_mul(row->t, a, b);
            limbs_add(row->y + i, row->y + i, row->t);
            break;
        }
    }
}

static void operate(const LanesRow *row, size_t count)
{
    if (count < EIGHT || !lanes_eights(row, count, each_alone)) {
        each_alone(row, 0, count);
    }
}

void lanes_add(mpfr_ptr y, Numbers a, Numbers b, size_t count)
{
    operate(&(LanesRow){LANES_ADD, y, a, b, NULL}, count);
}

void lanes_sub(mpfr_ptr y, Numbers a, Numbers b, size_t count)
{
    operate(&(LanesRow){LANES_SUB, y, a, b, NULL}, count);
}

void lanes_mul(mpfr_ptr y, Numbers a, Numbers b, size_t count)
{
    operate(&(LanesRow){LANES_MUL, y, a, b, NULL}, count);
}

void lanes_add_mul(mpfr_ptr y, Numbers a, Numbers b, size_t count, mpfr_ptr t)
{
    operate(&(LanesRow){LANES_ADD_MUL, y, a, b, t}, count);
}
