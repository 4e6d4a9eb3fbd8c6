/*
 * VectorOperations of doubles, in the tier in use.
 */
#include "vectors.h"

#include "../numbers/tier.h"

static const VectorOperations *vectors(void)
{
    TIER_TABLES(VectorOperations, vectors);
    return vectors_of[tier_in_use()];
}

double vector_sum(const double *a, size_t count)
{
    return vectors()->sum(a, count);
}

double vector_dot(const double *a, const double *b, size_t count)
{
    return vectors()->dot(a, b, count);
}

void vector_multiply(double *c, const double *a, const double *b, size_t count)
{
    vectors()->multiply(c, a, b, count);
}

double vector_largest(const double *a, const double *b, size_t count)
{
    return vectors()->largest(a, b, count);
}

void vector_add_scaled(double *y, double weight, const double *v, size_t count)
{
    vectors()->add_scaled(y, weight, v, count);
}

double vector_distance(const double *a, const double *b, size_t count)
{
    return vectors()->distance(a, b, count);
}

bool vector_distances(double *product, const double *square, double own, size_t width, size_t count)
{
    return vectors()->distances(product, square, own, width, count);
}
