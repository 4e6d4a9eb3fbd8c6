/*
 * Decimals and doubles, each turned into the other exactly or to the nearest.
 */
#include "decimal.h"

#include <ctype.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest exact decimal expansion of a double has 767 significant digits. */
#define DIGITS_MOST 1100
#define EXPONENT_MOST 9999

/* sign * digits * 10^exponent */
typedef struct {
    bool negative;
    char digits[DIGITS_MOST + 1];
    size_t count;
    long exponent;
} Scientific;

/* Reads digits with at most one point; false when there is no digit, or are too many. */
static bool read_significand(Scientific *number, const char **text, const char *end)
{
    bool any = false, point = false;
    for (; *text < end; (*text)++) {
        char c = **text;
        if (c == '.' && !point) {
            point = true;
        } else if (isdigit((unsigned char)c)) {
            any = true;
            number->exponent -= point;
            if (number->count > 0 || c != '0') {
                if (number->count == DIGITS_MOST) {
                    return false;
                }
                number->digits[number->count++] = c;
            }
        } else {
            break;
        }
    }
    return any;
}

/* Reads an optional e[+-]digits; exponents beyond EXPONENT_MOST are as good as infinite. */
static bool read_exponent(Scientific *number, const char **text, const char *end)
{
    if (*text == end || (**text != 'e' && **text != 'E')) {
        return true;
    }
    (*text)++;
    bool negative = *text < end && **text == '-';
    *text += *text < end && (**text == '-' || **text == '+');
    long exponent = 0;
    const char *first = *text;
    for (; *text < end && isdigit((unsigned char)**text); (*text)++) {
        exponent = exponent * 10 + (**text - '0');
        exponent = exponent < EXPONENT_MOST ? exponent : EXPONENT_MOST;
    }
    number->exponent += negative ? -exponent : exponent;
    return *text > first;
}

static DecimalStatus to_rational(mpq_t value, Scientific *number)
{
    mpq_set_ui(value, 0, 1);
    if (number->count == 0) {
        return DECIMAL_OK;
    }
    /* The value lies in [10^(magnitude - 1), 10^magnitude). */
    long magnitude = number->exponent + (long)number->count;
    if (magnitude > 310) {
        return DECIMAL_OVERFLOW;
    }
    if (magnitude < -310) {
        return DECIMAL_UNDERFLOW;
    }
    number->digits[number->count] = '\0';
    if (mpz_set_str(mpq_numref(value), number->digits, 10) != 0) {
        return DECIMAL_JUNK;
    }
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)labs(number->exponent));
    if (number->exponent < 0) {
        mpz_set(mpq_denref(value), power);
        mpq_canonicalize(value);
    } else {
        mpz_mul(mpq_numref(value), mpq_numref(value), power);
    }
    if (number->negative) {
        mpq_neg(value, value);
    }
    mpz_clear(power);
    return DECIMAL_OK;
}

/* 2^[-]digits. */
static DecimalStatus read_power(mpq_t value, const char *text, const char *end)
{
    bool negative = text < end && *text == '-';
    unsigned long exponent = 0;
    const char *first = text += negative;
    for (; text < end && isdigit((unsigned char)*text); text++) {
        exponent = exponent * 10 + (unsigned long)(*text - '0');
        exponent = exponent < EXPONENT_MOST ? exponent : EXPONENT_MOST;
    }
    mpq_set_ui(value, 1, 1);
    (negative ? mpq_div_2exp : mpq_mul_2exp)(value, value, exponent);
    return text == first || text != end ? DECIMAL_JUNK : DECIMAL_OK;
}

DecimalStatus decimal_read(mpq_t value, const char *text, size_t length)
{
    const char *end = text + length;
    if (length > 2 && text[0] == '2' && text[1] == '^') {
        return read_power(value, text + 2, end);
    }
    Scientific number = {.negative = length > 0 && *text == '-'};
    text += length > 0 && (*text == '-' || *text == '+');
    if (!read_significand(&number, &text, end) || !read_exponent(&number, &text, end) ||
        text != end) {
        return DECIMAL_JUNK;
    }
    return to_rational(value, &number);
}

const char *decimal_expected(DecimalStatus status)
{
    static const char *const expected[] = {
        [DECIMAL_JUNK] = "a finite decimal number",
        [DECIMAL_OVERFLOW] = "a number that does not overflow a double",
        [DECIMAL_UNDERFLOW] = "a number that does not underflow a double's normal range",
    };
    return expected[status];
}

DecimalStatus decimal_round(double *result, const mpq_t value)
{
    DecimalStatus status = DECIMAL_OK;
    mpfr_t rounded;
    mpfr_init2(rounded, 53);
    mpfr_set_q(rounded, value, MPFR_RNDN);
    /* MPFR's significand lies in [1/2, 1): doubles have exponents -1021 to 1024. */
    if (mpfr_regular_p(rounded) && mpfr_get_exp(rounded) > 1024) {
        status = DECIMAL_OVERFLOW;
    } else if (mpfr_regular_p(rounded) && mpfr_get_exp(rounded) < -1021) {
        status = DECIMAL_UNDERFLOW;
    } else {
        *result = mpfr_get_d(rounded, MPFR_RNDN);
    }
    mpfr_clear(rounded);
    return status;
}

void decimal_print(char *text, double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, DECIMAL_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            return;
        }
    }
}
