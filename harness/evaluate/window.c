/*
 * Rows of finished points that wait for those before them.
 */
#include "window.h"

bool window_admits(const Window *window, size_t position)
{
    return position - window->first < WINDOW_POINTS;
}

void window_put(Window *window, size_t position, PointRows *rows)
{
    window->slots[position % WINDOW_POINTS] = *rows;
    window->done[position % WINDOW_POINTS] = true;
}

const PointRows *window_first(const Window *window, bool *more)
{
    size_t slot = window->first % WINDOW_POINTS;
    *more = window->done[(slot + 1) % WINDOW_POINTS];
    return window->done[slot] ? &window->slots[slot] : NULL;
}

void window_pop(Window *window)
{
    size_t slot = window->first++ % WINDOW_POINTS;
    rows_clear(&window->slots[slot]);
    window->done[slot] = false;
}

void window_clear(Window *window)
{
    for (size_t slot = 0; slot < WINDOW_POINTS; slot++) {
        rows_clear(&window->slots[slot]);
        window->done[slot] = false;
    }
}
