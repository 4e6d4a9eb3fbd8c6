/*
 * Values of an axis, and which of them it accepts.
 */
#ifndef HEADPROOF_HARNESS_BASE_DOMAIN_H
#define HEADPROOF_HARNESS_BASE_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { FORM_INTEGER, FORM_REAL, FORM_WORD, FORM_MULTIPLE, FORM_PATH } ValueForm;

typedef struct {
    ValueForm form;
    uint64_t integer; /* the integer, the multiple, or the word's index */
    double real;      /* of FORM_REAL */
    const char *path; /* of FORM_PATH; its owner is the maker of the value */
} AxisValue;

typedef enum {
    DOMAIN_WORDS,   /* words only */
    DOMAIN_INTEGER, /* integers from least to most, or words */
    DOMAIN_POSITIVE /* doubles > 0, or words */
} DomainKind;

typedef struct {
    DomainKind kind;
    uint64_t least, most;
    const char *const *words; /* [word_count] */
    size_t word_count;
    bool all;        /* "all" stands for every word, */
    size_t all_from; /* from this one on */
    char unit;       /* 'D': "4D" is FORM_MULTIPLE 4; 0: none */
    bool paths;      /* a path is a value: a file that is there, or what contains '/' or ends in
                        .safetensors, or as an index of several does */
} Domain;

/* Orders values of one domain; 0 when they are the same. */
int value_compare(const AxisValue *a, const AxisValue *b);

/* The values that the domain accepts, for messages and help: "an integer from 1 to 9", "one of a,
 * b". */
void domain_describe(char *text, size_t size, const Domain *domain);

/* The longest path, and its end. */
#define VALUE_TEXT 4096

/* As it would be written; text [VALUE_TEXT]. */
void value_print(char *text, const Domain *domain, AxisValue value);

#endif
