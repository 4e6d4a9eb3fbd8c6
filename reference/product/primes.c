/*
 * Primes below 2^22 by a sieve, and inverses modulo them.
 */
#include "primes.h"

#include "../../memory/need.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 13 }; /* divisors up to here settle numbers below 2^26 */

/* Strikes the multiples of p from composite[i] for the odd numbers high - 2 i. */
static void strike(unsigned char *composite, size_t count, uint32_t high, uint32_t p)
{
    /* high - 2 i = 0 (mod p): i = high / 2 (mod p). */
    uint64_t half = (p + 1) / 2;
    for (size_t i = (size_t)(high % p * half % p); i < count; i += p) {
        composite[i] = 1;
    }
}

size_t primes_below(uint32_t *prime, size_t count, uint32_t high)
{
    /* Odd primes near 2^22 lie 7.7 odd numbers apart on average. */
    size_t window = 16 * count + 512, found = 0;
    unsigned char *composite = need_zeros(window, 1), *small = need_zeros(SMALL, 1);
    high -= high % 2 == 0;
    if (high > 2 * window + SMALL) {
        for (uint32_t p = 3; p < SMALL; p += 2) {
            if (!small[p]) {
                for (uint32_t i = p * p; i < SMALL; i += 2 * p) {
                    small[i] = 1;
                }
                strike(composite, window, high, p);
            }
        }
        for (size_t i = 0; i < window && found < count; i++) {
            if (!composite[i]) {
                prime[found++] = high - 2 * (uint32_t)i;
            }
        }
    }
    free(composite);
    free(small);
    return found;
}

uint64_t power_of_two(uint64_t exponent, uint64_t q)
{
    uint64_t power = 1, square = 2 % q;
    for (; exponent != 0; exponent /= 2) {
        power = exponent % 2 ? power * square % q : power;
        square = square * square % q;
    }
    return power;
}

uint64_t inverse(uint64_t x, uint64_t q)
{
    uint64_t result = 1, square = x % q;
    for (uint64_t exponent = q - 2; exponent != 0; exponent /= 2) {
        result = exponent % 2 ? result * square % q : result;
        square = square * square % q;
    }
    return result;
}
