/* Included once with REAL float (XGBoost compares in single precision) and once with REAL double (the others). */

typedef struct {
    REAL threshold, left, right; /* values of the children that are leaves */
    int32_t feature;
    int32_t kind; /* LEFT_IS_LEAF, RIGHT_IS_LEAF, MISSING_GOES_LEFT */
} NAME(step);

#ifndef LEFT_IS_LEAF
#define LEFT_IS_LEAF 1
#define RIGHT_IS_LEAF 2
#define MISSING_GOES_LEFT 4
#endif

/* Inner nodes of all trees, each after its children: step k of tree t is steps[starts[t] + k].
   `pending` has room for two entries per node of the largest tree. */
EXPORT int NAME(dips_order)(const int32_t *left, const int32_t *right, const int32_t *feature, const REAL *threshold,
                             const REAL *value, const uint8_t *missing_left, const int64_t *offsets, int64_t n_trees,
                             int32_t *pending, NAME(step) * steps, int64_t *starts) {
    int64_t n_steps = 0;
    for (int64_t t = 0; t < n_trees; t++) {
        const int64_t o = offsets[t];
        int64_t depth = 0;
        starts[t] = n_steps;
        pending[depth++] = 0;
        while (depth > 0) {
            const int32_t entry = pending[--depth];
            const int32_t i = entry < 0 ? ~entry : entry;
            const int32_t l = left[o + i], r = right[o + i];
            if (l < 0) continue;
            const int left_leaf = left[o + l] < 0, right_leaf = left[o + r] < 0;
            if (entry >= 0) { /* come back once the children are done, left before right */
                pending[depth++] = ~i;
                if (!right_leaf) pending[depth++] = r;
                if (!left_leaf) pending[depth++] = l;
                continue;
            }
            NAME(step) *s = steps + n_steps++;
            s->feature = feature[o + i];
            s->threshold = threshold[o + i];
            s->left = value[o + l];
            s->right = value[o + r];
            s->kind = (left_leaf ? LEFT_IS_LEAF : 0) | (right_leaf ? RIGHT_IS_LEAF : 0) |
                      (missing_left[o + i] ? MISSING_GOES_LEFT : 0);
        }
    }
    starts[n_trees] = n_steps;
    return 0;
}

/* Add a small tree's values for a block of rows: a stack machine whose entries are 64 values. */
INLINE void NAME(add_small_tree)(const NAME(step) * steps, int64_t n_steps, const REAL *restrict columns,
                                 REAL *restrict stack, REAL *restrict margin) {
    REAL *top = stack;
    for (int64_t k = 0; k < n_steps; k++) {
        const NAME(step) *s = steps + k;
        const REAL t = s->threshold, a = s->left, b = s->right;
        const REAL *restrict x = columns + (size_t)s->feature * BLOCK;
        REAL *restrict o;
        switch (s->kind) {
#define SELECT(KIND, WHERE, GOES_LEFT, LEFT, RIGHT)                     \
    case KIND:                                                          \
        o = WHERE;                                                      \
        for (int r = 0; r < BLOCK; r++) o[r] = (GOES_LEFT) ? (LEFT) : (RIGHT); \
        top = o + BLOCK;                                                \
        break;
#define SELECT_ALL(MISSING, GOES_LEFT)                                              \
    SELECT((MISSING) | LEFT_IS_LEAF | RIGHT_IS_LEAF, top, GOES_LEFT, a, b)          \
    SELECT((MISSING) | LEFT_IS_LEAF, top - BLOCK, GOES_LEFT, a, o[r])               \
    SELECT((MISSING) | RIGHT_IS_LEAF, top - BLOCK, GOES_LEFT, o[r], b)              \
    SELECT((MISSING), top - 2 * BLOCK, GOES_LEFT, o[r], o[r + BLOCK])
            SELECT_ALL(0, x[r] <= t)
            SELECT_ALL(MISSING_GOES_LEFT, !(x[r] > t))
#undef SELECT_ALL
#undef SELECT
        }
    }
    for (int r = 0; r < BLOCK; r++) margin[r] += stack[r];
}

/* The leaf that a row ends in; its values are `step` apart. */
INLINE int32_t NAME(leaf_of)(const int32_t *left, const int32_t *right, const int32_t *feature, const REAL *threshold,
                             const uint8_t *missing_left, const REAL *row, size_t step) {
    int32_t i = 0;
    while (left[i] >= 0) {
        const REAL x = row[(size_t)feature[i] * step];
        const int goes_left = (x <= threshold[i]) | ((x != x) & missing_left[i]);
        i = goes_left ? left[i] : right[i];
    }
    return i;
}

/* Add the leaves of all trees to the scores (n, n_outputs), row by row. */
EXPORT int NAME(dips_margins)(const REAL *X, int64_t n, int64_t n_features, const int32_t *left, const int32_t *right,
                              const int32_t *feature, const REAL *threshold, const REAL *value,
                              const uint8_t *missing_left, const int64_t *offsets, const int32_t *outputs,
                              int64_t n_trees, double *scores, int64_t n_outputs) {
    for (int64_t r = 0; r < n; r++)
        for (int64_t t = 0; t < n_trees; t++) {
            const int64_t o = offsets[t];
            scores[r * n_outputs + outputs[t]] += value[o + NAME(leaf_of)(
                left + o, right + o, feature + o, threshold + o, missing_left + o, X + r * n_features, 1)];
        }
    return 0;
}

/* Watch n rows of X (n, n_features): the last checkpoint's probabilities (n, C), and in wanted[k], where it is not
   NULL, statistic k averaged over the checkpoints first..last-1. Returns 0, or -1 where memory ran out. */
EXPORT WIDEST_VECTORS int NAME(dips_watch)(const REAL *X, int64_t n, int64_t n_features, const int32_t *left,
                                           const int32_t *right, const int32_t *feature, const REAL *threshold,
                                           const REAL *value, const uint8_t *missing_left, const int64_t *offsets,
                                           const NAME(step) * steps, const int64_t *starts, const int32_t *outputs,
                                           const int64_t *rounds, int64_t n_rounds, int64_t first, int64_t last,
                                           const REAL *base, int64_t n_outputs, int64_t n_classes, float *p_out,
                                           float *const *wanted) {
    sink s;
    REAL *columns = calloc((size_t)n_features * BLOCK, sizeof(REAL));
    REAL *stack = malloc((size_t)(SMALL_TREE + 1) * BLOCK * sizeof(REAL));
    REAL *margin = malloc((size_t)n_outputs * BLOCK * sizeof(REAL));
    float *scores = malloc((size_t)n_outputs * BLOCK * sizeof(float));
    const int out_of_memory = open_sink(&s, n_classes, n_outputs, n_rounds, first, last, p_out, wanted) || !columns ||
                              !stack || !margin || !scores;
    for (int64_t row = 0; row < n && !out_of_memory; row += BLOCK) {
        const int m = n - row < BLOCK ? (int)(n - row) : BLOCK;
        begin_block(&s);
        for (int r = 0; r < m; r++)
            for (int64_t f = 0; f < n_features; f++) columns[f * BLOCK + r] = X[(row + r) * n_features + f];
        for (int k = 0; k < n_outputs; k++)
            for (int r = 0; r < BLOCK; r++) margin[k * BLOCK + r] = base[k];
        for (int64_t e = 0; e < n_rounds; e++) {
            for (int64_t t = rounds[e]; t < rounds[e + 1]; t++) {
                const int64_t o = offsets[t], n_steps = starts[t + 1] - starts[t];
                REAL *own = margin + (size_t)outputs[t] * BLOCK;
                if (n_steps > 0 && n_steps <= SMALL_TREE)
                    NAME(add_small_tree)(steps + starts[t], n_steps, columns, stack, own);
                else
                    for (int r = 0; r < BLOCK; r++)
                        own[r] += value[o + NAME(leaf_of)(left + o, right + o, feature + o, threshold + o,
                                                          missing_left + o, columns + r, BLOCK)];
            }
            if (!is_asked_for(&s, e)) continue;
            for (int i = 0; i < n_outputs * BLOCK; i++) scores[i] = (float)margin[i];
            add_round(&s, e, scores);
        }
        end_block(&s, row, m);
    }
    close_sink(&s);
    free(columns), free(stack), free(margin), free(scores);
    return out_of_memory ? -1 : 0;
}
