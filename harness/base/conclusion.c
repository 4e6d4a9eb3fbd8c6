/*
 * The words and colours of conclusions.
 */
#include "conclusion.h"

static const struct {
    const char *name, *words;
    Color color;
} conclusions[CONCLUSIONS] = {
    [CONCLUSION_FAIL] = {"fail", "FAIL", COLOR_BAD},
    [CONCLUSION_EVALUATED] = {"evaluated", "evaluated, nothing judged: no tolerance", COLOR_NONE},
    [CONCLUSION_SAVED] = {"saved", "saved, nothing compared", COLOR_NONE},
    [CONCLUSION_PASS] = {"pass", "PASS", COLOR_GOOD},
};

const char *conclusion_words(Conclusion conclusion)
{
    return conclusions[conclusion].words;
}

const char *conclusion_name(Conclusion conclusion)
{
    return conclusions[conclusion].name;
}

Color conclusion_color(Conclusion conclusion)
{
    return conclusions[conclusion].color;
}
