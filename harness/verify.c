#include <stdio.h> /* before mpfr.h: declares mpfr_printf */

#include "commands.h"
#include "decimal.h"
#include "ensemble.h"
#include "inputs.h"
#include "logits.h"
#include "message.h"
#include "output.h"
#include "predict.h"
#include "schedule.h"
#include "table.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The largest errors after one layer over all inputs, and which input has the largest judged. */
typedef struct {
    RefCell worst[ERROR_KINDS];
    size_t worst_input;
    double log2_worst;
    Status status;
} LayerWorst;

/* One template (a point of the grid, whatever its Omega) over all inputs. */
typedef struct {
    const RunOptions *options;
    const Point *template;
    const ModelFile *model;
    Inputs inputs;
    GivenWeights *given; /* [inputs.count] */
    Point *points;       /* [inputs.count] */
    Ensemble ensemble;
    Logits logits;
    bool has_logits;
    LayerWorst *layers;   /* [depth], of the Omega at hand */
    pthread_mutex_t lock; /* of layers */
    bool passed;
    Output *output;
} Verify;

static void complain_memory(void)
{
    fprintf(stderr, "headproof: memory is short\n");
}

/* Everything that does not depend on Omega but the reference. */
static bool prepare(Verify *verify, int threads)
{
    size_t count = verify->inputs.count, depth = verify->model->depth;
    size_t stream = verify->inputs.n * verify->model->d;
    verify->given = calloc(count, sizeof *verify->given);
    verify->points = calloc(count, sizeof *verify->points);
    verify->layers = calloc(depth, sizeof *verify->layers);
    bool room = ensemble_init(&verify->ensemble, count, threads);
    if (!room || verify->given == NULL || verify->points == NULL || verify->layers == NULL) {
        return false;
    }
    for (size_t l = 0; l < depth; l++) {
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            mpfr_init2(verify->layers[l].worst[kind].value, REF_CELL_BITS);
        }
    }
    for (size_t i = 0; i < count; i++) {
        verify->given[i] = verify->template->source->given;
        verify->given[i].x = verify->inputs.x + i * stream;
        verify->points[i] = *verify->template;
        verify->points[i].spec.n = verify->inputs.n;
        verify->points[i].spec.given = &verify->given[i];
        ensemble_add(&verify->ensemble, &verify->points[i]);
    }
    return true;
}

static void clear(Verify *verify)
{
    ensemble_clear(&verify->ensemble);
    if (verify->has_logits) {
        logits_clear(&verify->logits);
    }
    for (size_t l = 0; verify->layers != NULL && l < verify->model->depth; l++) {
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            mpfr_clear(verify->layers[l].worst[kind].value);
        }
    }
    free(verify->given);
    free(verify->points);
    free(verify->layers);
    inputs_clear(&verify->inputs);
}

/* One input's rows on their way into the layers' worst. */
typedef struct {
    Verify *verify;
    size_t input;
} InputRows;

static double log2_of(const RefCell *cell)
{
    long exponent;
    if (cell->state == CELL_NONFINITE) {
        return INFINITY;
    }
    if (cell->state == CELL_ABSENT || cell->state == CELL_ZERO) {
        return -INFINITY;
    }
    double mantissa = mpfr_get_d_2exp(&exponent, cell->value, MPFR_RNDN);
    return log2(mantissa) + (double)exponent;
}

static void worsen(RefCell *worst, const RefCell *cell)
{
    bool first = worst->state == CELL_ABSENT;
    bool larger = worst->state == CELL_ZERO || cell->state == CELL_NONFINITE ||
                  (worst->state != CELL_NONFINITE && cell->state != CELL_ZERO &&
                   mpfr_greater_p(cell->value, worst->value));
    if (cell->state != CELL_ABSENT && (first || larger)) {
        worst->state = cell->state;
        mpfr_set(worst->value, cell->value, MPFR_RNDN);
    }
}

static bool take_row(void *context, const Point *point, const Row *row)
{
    InputRows *rows = context;
    LayerWorst *layer = &rows->verify->layers[row->layer - 1];
    const RefCell *judged = &row->errors.error[point->judge][point->norm];
    pthread_mutex_lock(&rows->verify->lock);
    for (int kind = 0; kind < ERROR_KINDS; kind++) {
        worsen(&layer->worst[kind], &row->errors.error[kind][NORM_MAX]);
    }
    if (log2_of(judged) > layer->log2_worst) {
        layer->log2_worst = log2_of(judged);
        layer->worst_input = rows->input;
    }
    layer->status = row->status < layer->status ? row->status : layer->status;
    pthread_mutex_unlock(&rows->verify->lock);
    return true;
}

/* Evaluates all inputs at one Omega. */
static bool evaluate_inputs(Verify *verify, double omega)
{
    Ensemble *ensemble = &verify->ensemble;
    bool ok = true, passed = true;
    for (size_t l = 0; l < verify->model->depth; l++) {
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            verify->layers[l].worst[kind].state = CELL_ABSENT;
        }
        verify->layers[l].log2_worst = -INFINITY;
        verify->layers[l].worst_input = 0;
        verify->layers[l].status = STATUS_OK;
    }
#pragma omp parallel for schedule(dynamic) num_threads(ensemble->threads) reduction(&& : ok, passed)
    for (size_t i = 0; i < ensemble->count; i++) {
        Point point = *ensemble->points[i];
        InputRows rows = {verify, i};
        bool input_passed = false;
        ref_thread_setup();
        point.omega = omega;
        ok = point_evaluate(&input_passed, ensemble->shared[i], &point, take_row, &rows) ==
                 EVALUATE_OK &&
             ok;
        passed = input_passed && passed;
    }
    verify->passed = verify->passed && passed;
    return ok;
}

static const char csv_header[] =
    "model,construction,kernel,omega,inputs,layer,approximation_max,construction_max,rounding_max,"
    "native_max,total_max,observed_max,worst_input,logit_error,logit_margin,safety_factor,"
    "predictions_changed,status\n";

static int write_rows(const Verify *verify, double omega, const LogitErrors *logits)
{
    FILE *file = output_file(verify->output);
    const Point *point = &verify->points[0];
    char text[DECIMAL_TEXT];
    int status = 0;
    decimal_print(text, omega);
    for (size_t l = 0; l < point->spec.depth; l++) {
        const LayerWorst *layer = &verify->layers[l];
        bool last = l + 1 == point->spec.depth && verify->has_logits;
        fprintf(file, "%s,%s,%s,%s,%zu,%zu", verify->template->source->path,
                construction_info(point->spec.construction)->name,
                point->kernel == KERNEL_DENSE ? "dense" : "structured", text, verify->inputs.count,
                l + 1);
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            fputc(',', file);
            status |= table_write_cell(file, &layer->worst[kind]);
        }
        fprintf(file, ",%zu", layer->worst_input + 1);
        if (last) {
            double margin = verify->logits.margin;
            fprintf(file, ",%.16e,%.16e,%.16e,%zu", logits->error, margin, margin / logits->error,
                    logits->changed);
        } else {
            fputs(",,,,", file);
        }
        fprintf(file, ",%s\n", status_name(layer->status));
    }
    return status != 0 || ferror(file) ? -1 : 0;
}

static void print_cell(const char *name, const RefCell *cell)
{
    if (cell->state == CELL_ZERO) {
        printf("  %s 0", name);
    } else if (cell->state != CELL_ABSENT) {
        mpfr_printf("  %s %.2Re", name, cell->value);
    }
}

/* What a reader needs of one Omega. */
static void print_omega(const Verify *verify, double omega, const LogitErrors *logits)
{
    static const char *const names[ERROR_KINDS] = {[ERROR_APPROXIMATION] = "approximation",
                                                   [ERROR_CONSTRUCTION] = "construction",
                                                   [ERROR_ROUNDING] = "rounding",
                                                   [ERROR_NATIVE] = "native",
                                                   [ERROR_TOTAL] = "total",
                                                   [ERROR_OBSERVED] = "observed"};
    char text[DECIMAL_TEXT];
    decimal_print(text, omega);
    for (size_t l = 0; l < verify->points[0].spec.depth; l++) {
        printf("omega %s, layer %zu:", text, l + 1);
        for (int kind = 0; kind < ERROR_KINDS; kind++) {
            print_cell(names[kind], &verify->layers[l].worst[kind]);
        }
        printf("  %s\n", status_name(verify->layers[l].status));
    }
    if (verify->has_logits) {
        double margin = verify->logits.margin;
        printf("omega %s, predictions: %zu of %zu changed; largest logit error %.2e, smallest "
               "margin %.3g, safety factor %.2g\n",
               text, logits->changed, verify->inputs.count, logits->error, margin,
               margin / logits->error);
    }
}

static int verify_omega(Verify *verify, double omega)
{
    LogitErrors logits = {0};
    if (!evaluate_inputs(verify, omega) ||
        (verify->has_logits &&
         !logits_compare(&logits, &verify->logits, &verify->ensemble, omega))) {
        complain_memory();
        return 99;
    }
    if (verify->options->output != NULL &&
        (write_rows(verify, omega, &logits) != 0 || output_commit(verify->output) != 0)) {
        fprintf(stderr, "headproof: %s: cannot write: %s\n", verify->options->output,
                strerror(errno));
        return 99;
    }
    if (!verify->options->quiet) {
        print_omega(verify, omega, &logits);
    }
    return 0;
}

/* The smallest Omega that keeps every prediction, to a thousandth: doubling, then bisection. */
static bool keeping_omega(Verify *verify, double *omega)
{
    LogitErrors logits;
    double low = 0, high = 0.125;
    do {
        low = high;
        high *= 2;
        if (!logits_compare(&logits, &verify->logits, &verify->ensemble, high)) {
            return false;
        }
    } while (logits.changed > 0 && high < 1e6);
    while (logits.changed == 0 && high - low > 1e-3 * high) {
        double middle = (low + high) / 2;
        LogitErrors there;
        if (!logits_compare(&there, &verify->logits, &verify->ensemble, middle)) {
            return false;
        }
        *(there.changed == 0 ? &high : &low) = middle;
    }
    *omega = logits.changed == 0 ? high : INFINITY;
    return true;
}

/* Which Omegas meet the tolerance. */
static bool print_search(Verify *verify)
{
    double tolerance = verify->template->tolerance;
    Found found;
    found_init(&found);
    bool ok = ensemble_search(&verify->ensemble, &found);
    const OmegaSearch *s = &found.search;
    if (ok && !s->found) {
        printf("no omega meets the tolerance %.3g: the best, %.4g, leaves ", tolerance,
               s->best.omega);
        mpfr_printf("%.2Re\n", s->best.error);
    } else if (ok && s->has_max) {
        printf("omega from %.7g to %.7g meets the tolerance %.3g; the best is %.4g\n", s->min.omega,
               s->max.omega, tolerance, s->best.omega);
    } else if (ok) {
        printf("omega from %.7g up meets the tolerance %.3g\n", s->min.omega, tolerance);
    }
    found_clear(&found);
    return ok;
}

static bool print_keeping(Verify *verify)
{
    double omega;
    if (!keeping_omega(verify, &omega)) {
        return false;
    }
    if (isfinite(omega)) {
        printf("omega from %.4g keeps every prediction\n", omega);
    } else {
        printf("no omega keeps every prediction\n");
    }
    return true;
}

static void print_model(const Verify *verify)
{
    static const char *const activations[] = {
        [MODEL_FILE_SILU] = "silu", [MODEL_FILE_RELU] = "relu", [MODEL_FILE_GELU] = "gelu"};
    const ModelFile *model = verify->model;
    printf("%s: %zu layer%s, D = %zu", verify->template->source->path, model->depth,
           model->depth == 1 ? "" : "s", model->d);
    if (model->heads > 0) {
        printf(", %zu heads, scores scaled by %s", model->heads,
               model->scaled ? "1/sqrt(d_head)" : "1");
    }
    if (model->hidden > 0) {
        printf(", H = %zu, %s", model->hidden, activations[model->activation]);
    }
    printf(", mask %s; %zu input%s of %zu tokens; `%s` in double, %s\n",
           model->causal ? "causal" : "none", verify->inputs.count,
           verify->inputs.count == 1 ? "" : "s", verify->inputs.n,
           construction_info(verify->template->spec.construction)->name,
           verify->template->kernel == KERNEL_DENSE ? "dense" : "structured");
}

/* The base trajectories of all inputs, with bits for every Omega asked for. */
static bool open_inputs(Verify *verify, const Grid *grid)
{
    const Point *template = verify->template;
    double most = template->judged ? omega_ahead(template->tolerance) : 0;
    for (size_t i = 0; i < grid->count; i++) {
        most = fmax(most, grid->points[i].omega);
    }
    if (!ensemble_open(&verify->ensemble, most)) {
        return false;
    }
    if (verify->model->W_U != NULL) {
        verify->has_logits = true;
        return logits_make(&verify->logits, &verify->ensemble, verify->model);
    }
    return true;
}

static bool same_template(const Point *a, const Point *b)
{
    return points_share_base(a, b) && a->shrink == b->shrink && a->arithmetic == b->arithmetic &&
           a->kernel == b->kernel && a->precision == b->precision && a->max_bits == b->max_bits;
}

/* Every Omega that the grid has for the template, then the searches. */
static int run_template(Verify *verify, const Grid *grid, int threads)
{
    bool quiet = verify->options->quiet;
    int status = inputs_make(&verify->inputs, verify->model, verify->template->source->path,
                             verify->options->tokens);
    if (status != 0) {
        return status;
    }
    bool ok = prepare(verify, threads);
    if (ok && !quiet) {
        print_model(verify);
    }
    ok = ok && open_inputs(verify, grid);
    for (size_t i = 0; ok && i < grid->count && status == 0; i++) {
        if (same_template(verify->template, &grid->points[i])) {
            status = verify_omega(verify, grid->points[i].omega);
        }
    }
    if (ok && status == 0 && !quiet) {
        ok = (!verify->template->judged || print_search(verify)) &&
             (!verify->has_logits || print_keeping(verify));
    }
    if (!ok) {
        complain_memory();
        return 99;
    }
    return status;
}

static void print_verdict(const Point *point, bool passed)
{
    if (point->judged) {
        printf("verdict: %s: the error is %s %.3g\n", passed ? "PASS" : "FAIL",
               passed ? "within" : "not within", point->tolerance);
    } else {
        printf("verdict: %s (no tolerance given)\n", passed ? "evaluated" : "FAIL");
    }
}

static bool is_first_of_template(const Grid *grid, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (same_template(&grid->points[j], &grid->points[i])) {
            return false;
        }
    }
    return true;
}

static int run_templates(const Grid *grid, const RunOptions *run, Output *output, int threads)
{
    bool passed = true;
    int status = 0;
    for (size_t i = 0; i < grid->count && status == 0; i++) {
        if (!is_first_of_template(grid, i)) {
            continue;
        }
        const Point *template = &grid->points[i];
        Verify verify = {.options = run,
                         .template = template,
                         .model = template->source->file,
                         .passed = true,
                         .output = output};
        pthread_mutex_init(&verify.lock, NULL);
        status = run_template(&verify, grid, threads);
        pthread_mutex_destroy(&verify.lock);
        passed = passed && verify.passed;
        clear(&verify);
    }
    if (status == 0 && !run->quiet) {
        print_verdict(&grid->points[0], passed);
    }
    return status != 0 ? status : !passed;
}

/* A verdict is about a machine. */
static int check_arithmetic(const Grid *grid)
{
    for (size_t i = 0; i < grid->count; i++) {
        if (grid->points[i].arithmetic == ARITHMETIC_NONE) {
            complain((Origin){.flag = "arithmetic"}, "none",
                     "expected f64: verify judges a machine's arithmetic");
            return 2;
        }
    }
    return 0;
}

int command_verify(const Grid *grid, const RunOptions *run, int argc, char **argv)
{
    int threads = run->threads > 0 ? run->threads : omp_get_num_procs();
    Output *output = NULL;
    ref_thread_setup();
    double *seconds = calloc(grid->count + 1, sizeof *seconds);
    int status = check_arithmetic(grid);
    if (status == 0) {
        status = seconds == NULL ? 99 : grid_predict(grid, &threads);
    }
    if (status == 0 && run->output != NULL) {
        status = output_open(&output, run->output);
        if (status == 0 && fputs(csv_header, output_file(output)) == EOF) {
            status = 99;
        }
    }
    if (status == 0) {
        status = run_templates(grid, run, output, threads);
    }
    if (status <= 1 && output != NULL) {
        int finished = output_finish(output, argc, argv, grid, seconds);
        status = finished != 0 ? finished : status;
    }
    output_clear(output);
    free(seconds);
    ref_thread_clear();
    return status;
}
