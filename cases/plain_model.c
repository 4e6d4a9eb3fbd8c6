/*
 * Plain matrices as a Model, which every arithmetic evaluates: of each sublayer its heads, and
 * behind them its norm.
 */
#include "plain_model.h"

#include "arena.h"

/* A sublayer's heads as a bundle of an original model's. */
static Bundle as_bundle(const PlainSublayer *plain, size_t width)
{
    Columns all = {0, width};
    size_t rank = plain->rank, stride = width * rank;
    return (Bundle){.heads = plain->heads,
                    .score = {.kind = SCORE_BILINEAR,
                              .read = all,
                              .d_head = rank,
                              .q = {plain->w_q, rank, stride},
                              .k = {plain->w_k, rank, stride},
                              .scale = {1, 1, 1},
                              .visible = plain->causal ? VISIBLE_EARLIER : VISIBLE_ALL},
                    .value = {.kind = VALUE_FACTORED,
                              .read = all,
                              .write = all,
                              .d_head = rank,
                              .v = {plain->w_v, rank, stride},
                              .o = {plain->w_o, width, stride},
                              .scale = 1}};
}

void plain_model_make(PlainModel *plain)
{
    size_t most = 2 * plain->sublayer_count, count = 0;
    Sublayer *sublayers = arena_take(plain->memory, most, sizeof *sublayers);
    Bundle *bundles = arena_take(plain->memory, plain->sublayer_count, sizeof *bundles);
    size_t *layer_end = arena_take(plain->memory, plain->depth, sizeof *layer_end);
    bool alike = true;
    for (size_t s = 0, layer = 0; s < plain->sublayer_count; s++) {
        const PlainSublayer *own = &plain->sublayers[s];
        bundles[s] = as_bundle(own, plain->width);
        sublayers[count++] = (Sublayer){.bundles = &bundles[s], .bundle_count = 1};
        if (own->norm.kind != NORMALIZATION_NONE && own->norm_behind) {
            Columns columns = own->norm.columns;
            Direct direct = {.kind = DIRECT_NORM, .read = columns, .write = columns};
            sublayers[count++] = (Sublayer){.norm = own->norm, .direct = direct};
        } else {
            sublayers[count - 1].norm = own->norm;
        }
        alike = alike && own->norm.beta == NULL && !own->norm.tokens_only;
        if (s + 1 == plain->layer_end[layer]) {
            layer_end[layer++] = count;
        }
    }
    plain->model = (Model){{.n = plain->rows, .d = plain->width},
                           sublayers,
                           alike ? count : 0,
                           layer_end,
                           alike ? plain->depth : 0,
                           NULL};
}
