/*
 * Numbers of a table read as digits and exponent, and compared exactly.
 */
#include "number.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Beyond every exponent that MPFR has, 2^62 log10(2) = 1.4e18, within a long. */
#define EXPONENT_MOST 2000000000000000000L

/* Reads digits up to the exponent; *point: how many stand before the decimal point, without
 * leading zeros (negative: zeros after the point).  NULL when it is no number. */
static const char *read_digits(Number *number, const char *text, long *point)
{
    int significant = 0;
    bool seen = false, fraction = false;
    *point = 0;
    for (;; text++) {
        if (*text == '.' && !fraction && seen && isdigit((unsigned char)text[1])) {
            fraction = true;
            continue;
        }
        if (!isdigit((unsigned char)*text)) {
            return seen ? text : NULL;
        }
        seen = true;
        significant += significant > 0 || *text != '0';
        if (significant > NUMBER_DIGITS) {
            return NULL;
        }
        number->digits = 10 * number->digits + (uint64_t)(*text - '0');
        *point += significant > 0 ? !fraction : -(long)fraction;
    }
}

static bool read_exponent(long *exponent, const char *text)
{
    *exponent = 0;
    if (*text == '\0') {
        return true;
    }
    const char *digits = text + 1 + (text[1] == '-' || text[1] == '+');
    size_t length = strlen(digits);
    if (*text != 'e' || length == 0 || strspn(digits, "0123456789") != length || length > 19) {
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
    long point, exponent;
    const char *rest = read_digits(number, magnitude, &point);
    if (rest == NULL || !read_exponent(&exponent, rest) || exponent > EXPONENT_MOST ||
        exponent < -EXPONENT_MOST) {
        return false;
    }
    if (number->digits != 0) {
        while (number->digits < 10000000000000000) {
            number->digits *= 10;
        }
        number->exponent = exponent + point - 1;
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
