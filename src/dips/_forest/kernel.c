/* The watch pass over boosted trees, compiled.

   For a block of rows at a time, all trees are evaluated one after another, and after every boosting round the class
   probabilities are computed and added to the statistics that were asked for. A block's columns, scores and sums stay in
   the first-level cache; the table is read once and the statistics are written once.

   A small tree is not walked row by row. Every one of its inner nodes is evaluated for all rows of the block, children
   before parents: value = x <= threshold ? value of the left child : value of the right child. That is more comparisons
   than a walk makes, but no branch and no random access, so the compiler turns each node into a few vector instructions.
   Subtrees of two or three levels are evaluated at once, without leaving the registers. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_statistics.h"

/* Python compares it with its own, so that functions of older sources are not called with other arguments. */
EXPORT const int32_t dips_interface = 2;

#define SMALL_TREE 192 /* inner nodes up to which evaluating them all is quicker than walking; measured */

#define REAL float
#define NAME(x) x##_f32
#include "kernel_trees.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_f64
#include "kernel_trees.h"

/* Watch n rows whose leaf in every tree is known, leaves (n, n_rounds); a round is one tree, whose leaves have n_outputs
   values each, from values[starts[e]] on. Otherwise as dips_watch. */
EXPORT WIDEST_VECTORS int dips_watch_leaves(const uint32_t *leaves, int64_t n, const double *values,
                                            const int64_t *starts, int64_t n_rounds, int64_t first, int64_t last,
                                            const double *base, int64_t n_outputs, int64_t n_classes, float *p_out,
                                            float *const *wanted) {
    sink s;
    double *margin = malloc((size_t)n_outputs * BLOCK * sizeof(double));
    float *scores = malloc((size_t)n_outputs * BLOCK * sizeof(float));
    const int out_of_memory =
        open_sink(&s, n_classes, n_outputs, n_rounds, first, last, p_out, wanted) || !margin || !scores;
    for (int64_t row = 0; row < n && !out_of_memory; row += BLOCK) {
        const int m = n - row < BLOCK ? (int)(n - row) : BLOCK;
        begin_block(&s);
        for (int k = 0; k < n_outputs; k++)
            for (int r = 0; r < BLOCK; r++) margin[k * BLOCK + r] = base[k];
        for (int64_t e = 0; e < n_rounds; e++) {
            for (int r = 0; r < m; r++) {
                const double *value = values + starts[e] + leaves[(row + r) * n_rounds + e] * n_outputs;
                for (int k = 0; k < n_outputs; k++) margin[k * BLOCK + r] += value[k];
            }
            if (!is_asked_for(&s, e)) continue;
            for (int i = 0; i < n_outputs * BLOCK; i++) scores[i] = (float)margin[i];
            add_round(&s, e, scores);
        }
        end_block(&s, row, m);
    }
    close_sink(&s);
    free(margin), free(scores);
    return out_of_memory ? -1 : 0;
}

/* The functions are called through ctypes; the module itself is empty. */
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&module); }
