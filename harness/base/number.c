/*
 * Numbers of a table read as digits and exponent, and compared exactly.
 */
#include "number.h"

#include <stdlib.h>
#include <string.h>

/* Beyond every exponent that MPFR has, 2^62 log10(2) = 1.4e18, within a long. */
#define EXPONENT_MOST 2000000000000000000L

#define DECIMALS "0123456789"

/* Reads digits up to the exponent; *exponent: that of the first that is not 0.  NULL when it is no
 * number, or has too many. */
static const char *read_digits(Number *number, const char *text, long *exponent)
{
    size_t whole = strspn(text, DECIMALS), significant = 0, zeros = 0;
    size_t places = text[whole] == '.' ? strspn(text + whole + 1, DECIMALS) : 0;
    const char *end = text + whole + (places > 0) + places;
    for (const char *c = text; c < end && significant <= NUMBER_DIGITS; c++) {
        if (*c != '.') {
            significant += significant > 0 || *c != '0';
            zeros += significant == 0;
            number->digits = 10 * number->digits + (uint64_t)(*c - '0');
        }
    }
    *exponent = (long)whole - (long)zeros - 1;
    return whole > 0 && significant <= NUMBER_DIGITS ? end : NULL;
}

static bool read_exponent(long *exponent, const char *text)
{
    *exponent = 0;
    if (*text == '\0') {
        return true;
    }
    const char *digits = text + 1 + (text[1] == '-' || text[1] == '+');
    size_t length = strlen(digits);
    if (*text != 'e' || length == 0 || strspn(digits, DECIMALS) != length || length > 19) {
        return false;
    }
    *exponent = strtol(text + 1, NULL, 10);
    return true;
}

bool number_read(Number *number, const char *text)
{
    *number = (Number){.text = text, .kind = NUMBER_FINITE, .negative = *text == '-'};
    if (*text == '\0') {
        number->kind = NUMBER_BLANK;
        return true;
    }
    const char *magnitude = text + number->negative;
    if (strcmp(magnitude, "nan") == 0 || strcmp(magnitude, "inf") == 0) {
        number->kind = NUMBER_NONFINITE;
        return true;
    }
    if (strcmp(text, "0") == 0) {
        number->kind = NUMBER_ZERO;
        return true;
    }
    long first, exponent;
    const char *rest = read_digits(number, magnitude, &first);
    if (rest == NULL || !read_exponent(&exponent, rest) || exponent > EXPONENT_MOST ||
        exponent < -EXPONENT_MOST) {
        return false;
    }
    if (number->digits != 0) {
        while (number->digits < 10000000000000000) {
            number->digits *= 10;
        }
        number->exponent = exponent + first;
    }
    return true;
}

bool number_agrees(const Number *a, const Number *b, int digits)
{
    uint64_t unit = 1, left = a->digits, right = b->digits;
    for (int i = digits; i < NUMBER_DIGITS; i++) {
        unit *= 10;
    }
    if (a->negative != b->negative || labs(a->exponent - b->exponent) > 1) {
        return false;
    }
    /* In units of the last digit of the smaller; 10^18 fits. */
    if (a->exponent > b->exponent) {
        left *= 10;
    } else if (a->exponent < b->exponent) {
        right *= 10;
        unit *= 10;
    }
    return (left > right ? left - right : right - left) < unit;
}

void number_value(mpfr_ptr value, const Number *number)
{
    if (number->kind == NUMBER_BLANK) {
        mpfr_set_nan(value);
    } else {
        mpfr_strtofr(value, number->text, NULL, 10, MPFR_RNDN);
    }
}

int number_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
