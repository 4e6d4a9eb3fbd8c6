/*
 * A command: its name and help, its flags and operands, and the function that runs it.
 *
 * The rows are in commands/commands.c.  This room asks the row that it is handed, and never which
 * command it is.
 */
#ifndef HEADPROOF_HARNESS_GRID_COMMAND_H
#define HEADPROOF_HARNESS_GRID_COMMAND_H

#include "../point/axes.h"
#include "../point/model_source.h"

#include <stdio.h>

struct Grid;
struct RunOptions;

/* Runs a command on a grid that is read and checked.  Returns an exit code. */
typedef int RunCommand(const struct Grid *grid, const struct RunOptions *run)
    __attribute__((warn_unused_result));

/* Settles what a weights file leaves open by its witness.  0; 2 or 99 after a message. */
typedef int SettleModel(ModelSource *source, const Point *point, const struct RunOptions *run);

/* The operands behind the flags. */
typedef enum {
    OPERANDS_CASES,  /* case files: the points of a grid are evaluated */
    OPERANDS_MODEL,  /* one model, which brings its inputs */
    OPERANDS_SIZES,  /* a model, a preset or neither: sizes are counted, and need not fit */
    OPERANDS_EITHER, /* a model or none; what is said of it holds for every input */
    OPERANDS_TABLES  /* one table or more: grid->tables; it takes no axes */
} Operands;

/* The default of an axis, where the command has its own. */
typedef struct {
    Axis axis;
    AxisValue value;
} OwnDefault;

#define OWN_DEFAULTS_MOST 2

/* What else there is to know of a command. */
typedef enum {
    SHARES_POINTS = 1 << 0,   /* the ranks of an MPI job share its points */
    SEARCHES_OMEGA = 1 << 1,  /* Omega is unset in its points, and a tolerance is required */
    PROVES_OMEGA = 1 << 2,    /* without --omega, the smallest that is proven for every input */
    SUBTRACTS = 1 << 3,       /* it writes r(T') with all the digits that a subtraction needs */
    JUDGES_LOGITS = 1 << 4,   /* --judge may be of a model's logits */
    READS_TABLES = 1 << 5,    /* .csv in place of case files: grid->tables */
    NEEDS_ROWS = 1 << 6,      /* of its one model, though nothing is evaluated */
    WRITES_TENSORS = 1 << 7,  /* what it writes is no table */
    LAYER_BY_LAYER = 1 << 8,  /* not all weights need be there at once */
    BLAS_TO_MEASURE = 1 << 9, /* it calls BLAS with --measure or for a witness alone, or never */
    WRITES_PAGES = 1 << 10,   /* what it writes is a picture or a page, and has no sidecar */
} Trait;

/* A command takes the axes of the roles wanted (0: any), but none of a role refused. */
typedef struct {
    const char *name, *summary;
    const char *usage;                       /* what stands behind the name */
    RunCommand *run;                         /* NULL: it takes no flags and no files */
    int (*run_words)(int argc, char **argv); /* runs it in that case */

    SettleModel *settle; /* NULL: what a file leaves open is refused */

    /* Of its table, with the columns asked for; NULL: it writes none. */
    void (*write_header)(FILE *file, const struct RunOptions *run);

    Operands operands;
    unsigned wanted, refused;          /* roles of axes */
    unsigned traits;                   /* Trait */
    const char *why_not;               /* the verb for an axis refused; NULL: does not take */
    OwnDefault own[OWN_DEFAULTS_MOST]; /* defaults; own_count of them */
    size_t own_count;

    /* How long a point takes, in seconds of a thread; NULL: as long as its evaluation. */
    double (*seconds)(const Point *point);
} CommandInfo;

/* Has it one of these traits? */
bool command_has(const CommandInfo *command, unsigned traits);

/* Does it take axes, and the flags of all that do? */
bool command_takes_axes(const CommandInfo *command);

/* False for an axis that means nothing to the command, or that it sets itself. */
bool command_takes(const CommandInfo *command, Axis axis);

/* May an axis have several values in a section?  A search is for one tolerance, and there may be
 * several. */
bool command_takes_list(const CommandInfo *command, Axis axis);

/* Does the command evaluate the points that it is given?  Others bring their own inputs, or need
 * none. */
bool command_evaluates_points(const CommandInfo *command);

/* The default of an axis as a table has it: `depth` has 96 layers. */
AxisValue command_standard(const CommandInfo *command, Axis axis);

/* The same for a point: command_standard, or what point_default makes of it. */
AxisValue command_default(const CommandInfo *command, const Point *point, Axis axis);

#endif
