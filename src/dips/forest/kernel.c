/* The watch pass over boosted trees, compiled.

   For a block of 64 rows at a time, all trees are evaluated one after another, and after every boosting round the class
   probabilities are computed and added to the statistics that were asked for. A block's columns, scores and sums stay in
   the first-level cache; the table is read once and the statistics are written once.

   A small tree is not walked row by row. Every one of its inner nodes is evaluated for all 64 rows, children before
   parents: value = x <= threshold ? value of the left child : value of the right child. That is more comparisons than a
   walk makes, but no branch and no random access, so the compiler turns each node into a few vector instructions. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64        /* rows evaluated together */
#define SMALL_TREE 192  /* inner nodes up to which evaluating them all is quicker than walking; measured */

enum { CONFIDENCE, ALEATORIC, VARIANCE, CORRECTNESS, LOSS, FLUCTUATION, ENTROPY, N_STATISTICS };

/* One binary serves old and new processors: the loader picks the widest vectors that the machine has. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define WIDEST_VECTORS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WIDEST_VECTORS
#endif

#if defined(_MSC_VER)
#define EXPORT __declspec(dllexport)
#define INLINE static __forceinline
#else
#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))
#endif

/* exp and log without a branch or a call, so that they vectorize; relative error about 1e-7 (Cephes polynomials). */
INLINE float exp_of(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 87.0f ? 87.0f : x;
    const float shifted = x * 1.44269504088896341f + 12582912.0f; /* rounds to a whole number in its last bits */
    const float n = shifted - 12582912.0f;
    const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float y = 1.9875691500e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1.0f;
    uint32_t power, bits;
    memcpy(&power, &shifted, 4);
    memcpy(&bits, &y, 4);
    bits += power << 23;
    memcpy(&y, &bits, 4);
    return y;
}

INLINE float log_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    const uint32_t above = bits - 0x3f3504f3u; /* mantissa in [sqrt(1/2), sqrt(2)) */
    const float n = (float)((int32_t)above >> 23);
    bits = (above & 0x007fffffu) + 0x3f3504f3u;
    float m;
    memcpy(&m, &bits, 4);
    const float r = m - 1.0f, square = r * r;
    float y = 7.0376836292e-2f;
    y = y * r - 1.1514610310e-1f;
    y = y * r + 1.1676998740e-1f;
    y = y * r - 1.2420140846e-1f;
    y = y * r + 1.4249322787e-1f;
    y = y * r - 1.6668057665e-1f;
    y = y * r + 2.0000714765e-1f;
    y = y * r - 2.4999993993e-1f;
    y = y * r + 3.3333331174e-1f;
    y = y * r * square + n * -2.12194440e-4f - 0.5f * square;
    return r + y + n * 0.693359375f;
}

#define LEAST 2.220446e-16f /* a probability of 0 costs 36, not infinity */

/* Class probabilities (C, BLOCK) from raw scores: one row of scores for two classes, else one a class. */
INLINE void probabilities_of(const float *margin, int n_classes, int n_outputs, float *p) {
    if (n_outputs == 1) {
        for (int r = 0; r < BLOCK; r++) {
            p[BLOCK + r] = 1.0f / (1.0f + exp_of(-margin[r]));
            p[r] = 1.0f - p[BLOCK + r];
        }
        return;
    }
    float highest[BLOCK], sum[BLOCK];
    for (int r = 0; r < BLOCK; r++) {
        highest[r] = margin[r];
        sum[r] = 0.0f;
    }
    for (int c = 1; c < n_classes; c++)
        for (int r = 0; r < BLOCK; r++) {
            const float m = margin[c * BLOCK + r];
            highest[r] = m > highest[r] ? m : highest[r];
        }
    for (int c = 0; c < n_classes; c++)
        for (int r = 0; r < BLOCK; r++) {
            p[c * BLOCK + r] = exp_of(margin[c * BLOCK + r] - highest[r]);
            sum[r] += p[c * BLOCK + r];
        }
    for (int c = 0; c < n_classes; c++)
        for (int r = 0; r < BLOCK; r++) p[c * BLOCK + r] /= sum[r];
}

/* Add one checkpoint's probabilities to the sums (n_statistics, C, BLOCK) of those statistics whose output is wanted. */
INLINE void add_checkpoint(const float *restrict p, const float *restrict before, int first_class, int n_classes,
                           float *const *wanted, double *restrict sums) {
    const int stride = n_classes * BLOCK;
    for (int c = first_class; c < n_classes; c++) {
        const float *restrict q = p + c * BLOCK;
        double *restrict s = sums + c * BLOCK;
        if (wanted[CONFIDENCE] || wanted[VARIANCE])
            for (int r = 0; r < BLOCK; r++) s[CONFIDENCE * stride + r] += q[r];
        if (wanted[ALEATORIC])
            for (int r = 0; r < BLOCK; r++) s[ALEATORIC * stride + r] += q[r] * (1.0f - q[r]);
        if (wanted[VARIANCE])
            for (int r = 0; r < BLOCK; r++) s[VARIANCE * stride + r] += (double)q[r] * q[r];
        if (wanted[LOSS])
            for (int r = 0; r < BLOCK; r++) s[LOSS * stride + r] -= log_of(q[r] > LEAST ? q[r] : LEAST);
        if (wanted[FLUCTUATION] && before)
            for (int r = 0; r < BLOCK; r++)
                s[FLUCTUATION * stride + r] += (before[c * BLOCK + r] > 0.5f) & (q[r] < 0.5f) ? 1.0 : 0.0;
    }
    if (wanted[CORRECTNESS]) {
        float best[BLOCK];
        int32_t winner[BLOCK];
        for (int r = 0; r < BLOCK; r++) {
            best[r] = p[r];
            winner[r] = 0;
        }
        for (int c = 1; c < n_classes; c++)
            for (int r = 0; r < BLOCK; r++) {
                const float q = p[c * BLOCK + r];
                winner[r] = q > best[r] ? c : winner[r];
                best[r] = q > best[r] ? q : best[r];
            }
        for (int c = 0; c < n_classes; c++) {
            double *restrict s = sums + CORRECTNESS * stride + c * BLOCK;
            for (int r = 0; r < BLOCK; r++) s[r] += winner[r] == c ? 1.0 : 0.0;
        }
    }
    if (wanted[ENTROPY])
        for (int c = 0; c < n_classes; c++)
            for (int r = 0; r < BLOCK; r++) {
                const float q = p[c * BLOCK + r];
                sums[ENTROPY * stride + r] -= q * log_of(q > LEAST ? q : LEAST);
            }
}

/* Write the averages of `m` rows from `row` on, (n, C) each; two classes mirror each other where only one was summed. */
INLINE void write_averages(const double *sums, int n_classes, int first_class, int n_averaged, int64_t row, int m,
                           float *const *wanted) {
    const int stride = n_classes * BLOCK;
    for (int k = 0; k < N_STATISTICS; k++) {
        if (!wanted[k]) continue;
        const double *s = sums + k * stride;
        if (k == ENTROPY) {
            for (int r = 0; r < m; r++) wanted[k][row + r] = (float)(s[r] / n_averaged);
            continue;
        }
        for (int c = first_class; c < n_classes; c++)
            for (int r = 0; r < m; r++) {
                const int i = c * BLOCK + r;
                double value = k == FLUCTUATION ? s[i] : s[i] / n_averaged;
                if (k == VARIANCE) {
                    const double mean = sums[i] / n_averaged;
                    value = value > mean * mean ? value - mean * mean : 0.0;
                }
                wanted[k][(row + r) * n_classes + c] = (float)value;
                if (first_class == 1) wanted[k][(row + r) * 2] = (float)(k == CONFIDENCE ? 1.0 - value : value);
            }
    }
}

#define REAL float
#define NAME(x) x##_f32
#include "kernel_trees.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(x) x##_f64
#include "kernel_trees.h"

/* The functions are called through ctypes; the module itself is empty. */
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&module); }
