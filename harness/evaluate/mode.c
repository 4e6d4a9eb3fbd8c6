/*
 * How a point is evaluated, by what it asks for: bits, threads.
 */
#include "mode.h"

#include <math.h>
#include <omp.h>

/* Bits beside an error's digits, with room for what rounding errors grow by as a rule, in a stack
 * and in one layer; for how deep a machine's errors lie; and for as much as a stack is known to
 * take. */
#define BITS_BESIDE 68
#define BITS_BESIDE_SHALLOW 32
#define BITS_MACHINE 53
#define BITS_BEYOND 2
#define BITS_MOST 512

/* So often at most is the precision raised. */
enum { PRECISION_RAISES = 3 };

static double whole_limbs(double bits)
{
    return 64 * ceil(bits / 64);
}

/* Products in a layer from which threads within a kernel are worth starting; and from which an
 * evaluation is so long that it is not to be begun with too few bits. */
#define THREADS_WORTH 0x1p22
#define LONG 0x1p26

static double layer_products(const CaseSpec *spec)
{
    double hidden = (double)(spec->d_ff > spec->d ? spec->d_ff : spec->d);
    double keys = case_reads_out(spec) ? (double)spec->n : 1; /* each has a score as wide */
    return (double)spec->n * (double)spec->d * hidden * keys;
}

PointBits point_bits(const Point *point)
{
    bool difference = point->reference == REFERENCE_DIFFERENCE;
    double cap = (double)point->max_bits;
    double digits = ceil(point_digits(point) * 3.3219) + BITS_BESIDE;
    double hidden = difference ? 0 : 2.886 * point_omega(point); /* 2 Omega log2 e */
    double machine = whole_limbs(BITS_MACHINE + digits);
    double all = fmax(machine, whole_limbs(hidden + digits));
    double likely = fmin(cap, all <= cap ? all : machine);
    double few = digits - BITS_BESIDE + BITS_BESIDE_SHALLOW;
    bool is_long = difference && layer_products(&point->spec) >= LONG;
    PointBits bits = {likely,
                      difference ? fmin(likely, whole_limbs(digits)) : likely,
                      fmin(cap, BITS_MOST + hidden),
                      is_long ? likely : fmin(likely, whole_limbs(BITS_MACHINE + few)),
                      BITS_MACHINE + digits - BITS_BESIDE + BITS_BEYOND,
                      hidden + few};
    if (point->precision > 0) {
        bits.likely = bits.difference = bits.begin = (double)point->precision;
        bits.most = fmax(bits.most, bits.likely);
    }
    return bits;
}

mpfr_prec_t point_bits_next(const Point *point, mpfr_prec_t bits, double more, double lost,
                            int raises)
{
    bool hopeless = lost == INFINITY && point->precision == 0;
    double next = fmin((double)bits + 64 * ceil(more / 64), (double)point->max_bits);
    bool raised = raises < PRECISION_RAISES && !hopeless && next > (double)bits;
    return raised ? (mpfr_prec_t)next : 0;
}

size_t point_threads(const Point *point)
{
    return layer_products(&point->spec) >= THREADS_WORTH ? (size_t)omp_get_max_threads() : 1;
}

/* Bits that a layer of large weights loses to coarse norms, about. */
#define LOST_COARSELY 25

bool point_tries_coarse(const Point *point)
{
    PointBits bits = point_bits(point);
    return point->precision == 0 && point->spec.d >= REF_COARSE_LEAST &&
           LOST_COARSELY * (double)point->spec.depth <= bits.begin - bits.machine;
}
