/*
 * Rows of the stream for the structured form: tiles of products, biases on token rows.
 */
#include "rows.h"

#include "each.h"
#include "gemm.h"

Rows rows_take(Scratch *scratch, const Layout *layout, double columns)
{
    Rows rows = {NULL, NULL, (size_t)columns};
    rows.tokens = scratch_take(scratch, (Scalar)layout->n, columns);
    if (layout->bias_row != BIAS_ROW_NONE) {
        rows.bias = scratch_take(scratch, 1, columns);
    }
    return rows;
}

Rows rows_from(Rows rows, size_t first)
{
    Scalar *bias = rows.bias == NULL ? NULL : rows.bias + first;
    return (Rows){rows.tokens + first, bias, rows.ld};
}

ConstRows rows_const(Rows rows)
{
    return (ConstRows){rows.tokens, rows.bias, rows.ld};
}

ConstRows rows_const_from(ConstRows rows, size_t first)
{
    const Scalar *bias = rows.bias == NULL ? NULL : rows.bias + first;
    return (ConstRows){rows.tokens + first, bias, rows.ld};
}

/* A product is cut into tiles so large that a dgemm a tile is as fast as one for all. */
enum { TILE_ROWS = 256, TILE_COLUMNS = 1024 };

typedef struct {
    Rows out;
    ConstRows x;
    Weight weight;
    Extents size;
    Ending ending;
    size_t row_tiles, column_tiles; /* of the tokens; the bias row is a row of tiles more */
} Product;

static size_t tiles(size_t extent, size_t tile)
{
    return extent / tile + (extent % tile != 0);
}

static size_t tile_extent(size_t extent, size_t first, size_t tile)
{
    return extent - first < tile ? extent - first : tile;
}

/* Rows of the product's result, once they are multiplied; bias: NULL, or that of these columns. */
static void end_rows(Scalar *out, size_t ld, const Scalar *bias, size_t rows, size_t columns,
                     NumberFormat format)
{
    for (size_t i = 0; i < rows; i++) {
        Scalar *row = out + i * ld;
        for (size_t c = 0; bias != NULL && c < columns; c++) {
            row[c] += bias[c];
        }
        scalar_round(format, row, columns);
    }
}

static void multiply_tile(const void *context, size_t item, size_t thread)
{
    const Product *product = context;
    const Extents *size = &product->size;
    size_t rows_of_tiles = product->row_tiles + (product->x.bias != NULL);
    size_t column = item % product->column_tiles * TILE_COLUMNS,
           tile = item / product->column_tiles;
    size_t head = tile / rows_of_tiles, row = tile % rows_of_tiles * TILE_ROWS;
    Weight weight = head_weight(product->weight, head);
    Rows out = rows_from(product->out, head * size->width + column);
    size_t columns = tile_extent(size->width, column, TILE_COLUMNS);
    const Ending *ending = &product->ending;
    const GemmFactor factor = {weight.data + column, weight.ld};
    (void)thread;
    if (tile % rows_of_tiles == product->row_tiles) {
        blas_gemm((GemmMatrix){out.bias, out.ld}, (GemmFactor){product->x.bias, product->x.ld},
                  factor, (GemmTask){1, columns, size->depth, ending->alpha, ending->beta});
        end_rows(out.bias, out.ld, NULL, 1, columns, ending->format);
        return;
    }
    size_t rows = tile_extent(size->n, row, TILE_ROWS);
    blas_gemm((GemmMatrix){out.tokens + row * out.ld, out.ld},
              (GemmFactor){product->x.tokens + row * product->x.ld, product->x.ld}, factor,
              (GemmTask){rows, columns, size->depth, ending->alpha, ending->beta});
    end_rows(out.tokens + row * out.ld, out.ld,
             ending->bias != NULL ? ending->bias + head * size->width + column : NULL, rows,
             columns, ending->format);
}

void rows_multiply(Rows out, ConstRows x, Weight weight, Extents size, Ending ending,
                   size_t threads)
{
    if (size.heads > 1 && weight.head_stride == size.width &&
        weight.ld >= size.heads * size.width) {
        size.width *= size.heads; /* side by side: one matrix */
        size.heads = 1;
    }
    Product product = {out, x, weight, size, ending, 0, 0};
    product.row_tiles = tiles(size.n, TILE_ROWS);
    product.column_tiles = tiles(size.width, TILE_COLUMNS);
    each(size.heads * (product.row_tiles + (x.bias != NULL)) * product.column_tiles, threads,
         multiply_tile, &product);
}

size_t rows_count(Rows rows, size_t n)
{
    return n + (rows.bias != NULL);
}

Scalar *rows_row(Rows rows, size_t n, size_t i)
{
    return i < n ? rows.tokens + i * rows.ld : rows.bias;
}
