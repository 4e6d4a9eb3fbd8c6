/*
 * The words and colours of conclusions.
 */
#include "conclusion.h"

const ConclusionInfo conclusions[CONCLUSIONS] = {
    [CONCLUSION_FAIL] = {"fail", "FAIL", COLOR_BAD},
    [CONCLUSION_EVALUATED] = {"evaluated", "evaluated, nothing judged: no tolerance", COLOR_NONE},
    [CONCLUSION_SAVED] = {"saved", "saved, nothing compared", COLOR_NONE},
    [CONCLUSION_PASS] = {"pass", "PASS", COLOR_GOOD},
};
