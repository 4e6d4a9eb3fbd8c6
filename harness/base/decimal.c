/*
 * Decimals and doubles, each turned into the other exactly or to the nearest.
 */
#include "decimal.h"

#include "../../memory/need.h"

#include <mpfr.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest exact decimal expansion of a double has 767 significant digits. */
#define DIGITS_MOST 1100
#define EXPONENT_MOST 9999 /* as good as infinite */

#define DECIMALS "0123456789"

/* An exponent's [+-]digits, up to EXPONENT_MOST, to the end of the text; false: it is none. */
static bool read_exponent(long *exponent, const char *text)
{
    const char *digits = text + (*text == '-' || *text == '+');
    long value = strtol(text, NULL, 10);
    *exponent = value > EXPONENT_MOST    ? EXPONENT_MOST
                : value < -EXPONENT_MOST ? -EXPONENT_MOST
                                         : value;
    return *digits != '\0' && digits[strspn(digits, DECIMALS)] == '\0';
}

/* value = digits 10^exponent */
static DecimalStatus set_scientific(mpq_t value, const char *digits, long exponent)
{
    mpq_set_ui(value, 0, 1);
    if (*digits == '\0') {
        return DECIMAL_OK;
    }
    /* The value lies in [10^(magnitude - 1), 10^magnitude). */
    long magnitude = exponent + (long)strlen(digits);
    if (magnitude > 310) {
        return DECIMAL_OVERFLOW;
    }
    if (magnitude < -310) {
        return DECIMAL_UNDERFLOW;
    }
    mpz_t power;
    mpz_init(power);
    mpz_ui_pow_ui(power, 10, (unsigned long)labs(exponent));
    (void)mpz_set_str(mpq_numref(value), digits, 10); /* they are digits */
    if (exponent < 0) {
        mpz_set(mpq_denref(value), power);
        mpq_canonicalize(value);
    } else {
        mpz_mul(mpq_numref(value), mpq_numref(value), power);
    }
    mpz_clear(power);
    return DECIMAL_OK;
}

/* The text changes. */
static DecimalStatus read_text(mpq_t value, char *text)
{
    long exponent = 0;
    if (strncmp(text, "2^", 2) == 0) {
        if (text[2] == '+' || !read_exponent(&exponent, text + 2)) {
            return DECIMAL_JUNK;
        }
        mpq_set_ui(value, 1, 1);
        (exponent < 0 ? mpq_div_2exp : mpq_mul_2exp)(value, value, (mp_bitcnt_t)labs(exponent));
        return DECIMAL_OK;
    }
    const bool negative = *text == '-';
    text += negative || *text == '+';
    const size_t whole = strspn(text, DECIMALS), point = text[whole] == '.';
    char *fraction = text + whole + point;
    const size_t places = point ? strspn(fraction, DECIMALS) : 0;
    const char *rest = fraction + places;
    bool fine = whole + places > 0;
    if (*rest == 'e' || *rest == 'E') {
        fine = fine && read_exponent(&exponent, rest + 1);
    } else {
        fine = fine && *rest == '\0';
    }
    memmove(text + whole, fraction, places); /* the point goes */
    text[whole + places] = '\0';
    text += strspn(text, "0");
    if (!fine || strlen(text) > DIGITS_MOST) {
        return DECIMAL_JUNK;
    }
    DecimalStatus status = set_scientific(value, text, exponent - (long)places);
    if (negative) {
        mpq_neg(value, value);
    }
    return status;
}

DecimalStatus decimal_read(mpq_t value, const char *text)
{
    char *copy = need_copy(text);
    DecimalStatus status = read_text(value, copy);
    free(copy);
    return status;
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
