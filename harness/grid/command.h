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

#include <stdint.h>
#include <stdio.h>

struct Grid;
struct RunOptions;

/* Runs a command on a grid that is read and checked.  Returns an exit code. */
typedef int RunCommand(const struct Grid *grid, const struct RunOptions *run);

/* Settles what a weights file leaves open by its witness.  0; 2 or 99 after a message. */
typedef int SettleModel(ModelSource *source, const Point *point, const struct RunOptions *run);

/* The operands behind the flags. */
typedef enum {
    OPERANDS_CASES, /* case files: the points of a grid are evaluated */
    OPERANDS_MODEL, /* one model, which brings its inputs */
    OPERANDS_SIZES, /* a model, a preset or neither: sizes are counted, and need not fit */
    OPERANDS_EITHER /* a model or none; what is said of it holds for every input */
} Operands;

/* The default of an axis, where the command has its own. */
typedef struct {
    Axis axis;
    AxisValue value;
} OwnDefault;

#define OWN_DEFAULTS_MOST 2

/* A flag that is no axis. */
typedef struct {
    const char *name;
    const char *argument; /* what it takes; NULL: nothing */
    const char *help;
    char letter;              /* the short form, or 0 */
    const char *const *words; /* what it may be, up to a NULL; or NULL: anything */
} FlagInfo;

typedef enum { BLAS_A_THREAD, BLAS_TO_MEASURE } BlasUse;

/* A command takes the axes of the roles wanted (0: any), but none of a role refused. */
typedef struct {
    const char *name, *summary;
    const char *usage;                       /* what stands behind the name */
    RunCommand *run;                         /* NULL: it takes no grid, no axes and no flags */
    int (*run_words)(int argc, char **argv); /* runs it in that case */

    SettleModel *settle; /* NULL: what a file leaves open is refused */

    /* Of its table, with the columns asked for; NULL: it writes none. */
    void (*write_header)(FILE *file, const struct RunOptions *run);

    Operands operands;
    unsigned wanted, refused; /* roles of axes */
    BlasUse blas;
    const char *why_not;               /* the verb for an axis refused; NULL: does not take */
    OwnDefault own[OWN_DEFAULTS_MOST]; /* defaults; own_count of them */
    size_t own_count;
    uint64_t flags; /* bit f: it takes flag f (options.h) */
    /* Flags that no other takes, own_flag_count of them: run_words reads them. */
    const FlagInfo *own_flags;
    size_t own_flag_count;

    /* How long a point takes, in seconds of a thread; NULL: as long as its evaluation. */
    double (*seconds)(const Point *point);

    bool shared;         /* the ranks of an MPI job share its points */
    bool searches_omega; /* Omega is unset in its points, and a tolerance is required */
    bool proves_omega;   /* without --omega, the smallest that is proven for every input */
    bool subtracts;      /* it writes r(T') with all the digits that a subtraction needs */
    bool judges_logits;  /* --judge may be of a model's logits */
    bool reads_tables;   /* .csv in place of case files: grid->tables */
    bool needs_rows;     /* of its one model, though nothing is evaluated */
    bool writes_tensors; /* what it writes is no table */
    bool foretells;      /* it answers --dry-run itself */
    bool layers;         /* it evaluates layer by layer: not all weights need be there at once */
} CommandInfo;

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
