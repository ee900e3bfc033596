/* Included once with REAL float (XGBoost compares in single precision) and once with REAL double (the others). */

/* One inner node: value = x <= threshold ? left : right, where left and right are values of leaves, or what the nodes
   before it left on the stack. */
typedef struct {
    REAL threshold, left, right;
    int32_t column; /* 2 * feature, or the one after it, in which missing values are below all others */
    int32_t kind;
} NAME(step);

#ifndef LEFT_IS_LEAF
#define LEFT_IS_LEAF 1
#define RIGHT_IS_LEAF 2
#define TWO_LEVELS 4   /* a subtree of at most two levels: 3 steps, the root, then its children */
#define THREE_LEVELS 5 /* a subtree of at most three levels: 7 steps, level after level */
#endif

/* The nodes of a forest; node i of tree t is entry offsets[t] + i. */
typedef struct {
    const int32_t *left, *right, *feature;
    const REAL *threshold, *value;
    const uint8_t *missing_left;
} NAME(nodes);

INLINE NAME(nodes) NAME(tree_from)(NAME(nodes) n, int64_t offset) {
    return (NAME(nodes)){n.left + offset,      n.right + offset, n.feature + offset,
                         n.threshold + offset, n.value + offset, n.missing_left + offset};
}

static int NAME(has_levels)(const NAME(nodes) * n, int32_t i, int at_most) {
    return n->left[i] < 0 || (at_most > 0 && NAME(has_levels)(n, n->left[i], at_most - 1) &&
                              NAME(has_levels)(n, n->right[i], at_most - 1));
}

static NAME(step) NAME(step_of)(const NAME(nodes) * n, int32_t i) {
    if (n->left[i] < 0) return (NAME(step)){.left = n->value[i], .right = n->value[i]}; /* whatever the row */
    return (NAME(step)){.threshold = n->threshold[i],
                        .left = n->value[n->left[i]],
                        .right = n->value[n->right[i]],
                        .column = 2 * n->feature[i] + (n->missing_left[i] != 0)};
}

/* Write the subtree below node i as a full one of 3 or 7 steps, where a leaf too high up is repeated. */
static int NAME(write_levels)(const NAME(nodes) * n, int32_t i, int n_levels, NAME(step) * steps) {
    const int n_steps = (1 << n_levels) - 1;
    int32_t at[7] = {i};
    for (int k = 0; k < n_steps; k++) {
        const int is_leaf = n->left[at[k]] < 0;
        steps[k] = NAME(step_of)(n, at[k]);
        if (2 * k + 2 >= n_steps) continue;
        at[2 * k + 1] = is_leaf ? at[k] : n->left[at[k]];
        at[2 * k + 2] = is_leaf ? at[k] : n->right[at[k]];
    }
    steps->kind = n_levels == 2 ? TWO_LEVELS : THREE_LEVELS;
    return n_steps;
}

/* Inner nodes of all trees, each after its children: step k of tree t is steps[starts[t] + k].
   `pending` has room for two entries per node of the largest tree, `steps` for two per node. */
EXPORT int NAME(dips_order)(const int32_t *left, const int32_t *right, const int32_t *feature, const REAL *threshold,
                            const REAL *value, const uint8_t *missing_left, const int64_t *offsets, int64_t n_trees,
                            int32_t *pending, NAME(step) * steps, int64_t *starts) {
    const NAME(nodes) forest = {left, right, feature, threshold, value, missing_left};
    int64_t n_steps = 0;
    for (int64_t t = 0; t < n_trees; t++) {
        const NAME(nodes) n = NAME(tree_from)(forest, offsets[t]);
        int64_t depth = 0;
        starts[t] = n_steps;
        pending[depth++] = 0;
        while (depth > 0) {
            const int32_t entry = pending[--depth];
            const int32_t i = entry < 0 ? ~entry : entry;
            const int32_t l = n.left[i], r = n.right[i];
            if (l < 0) continue;
            const int left_leaf = n.left[l] < 0, right_leaf = n.left[r] < 0;
            if (entry < 0 || (left_leaf && right_leaf)) {
                steps[n_steps] = NAME(step_of)(&n, i);
                steps[n_steps++].kind = (left_leaf ? LEFT_IS_LEAF : 0) | (right_leaf ? RIGHT_IS_LEAF : 0);
            } else if (NAME(has_levels)(&n, i, 3)) {
                n_steps += NAME(write_levels)(&n, i, NAME(has_levels)(&n, i, 2) ? 2 : 3, steps + n_steps);
            } else { /* come back once the children are done, left before right */
                pending[depth++] = ~i;
                if (!right_leaf) pending[depth++] = r;
                if (!left_leaf) pending[depth++] = l;
            }
        }
    }
    starts[n_trees] = n_steps;
    return 0;
}

#define GOES_LEFT(k) (x##k[r] <= t##k)
#define NODE(k) \
    const REAL *restrict x##k = columns + (size_t)s[k].column * BLOCK; \
    const REAL t##k = s[k].threshold;
#define LAST_NODE(k) NODE(k) const REAL a##k = s[k].left, b##k = s[k].right;
#define OF_LAST(k) (GOES_LEFT(k) ? a##k : b##k)

INLINE void NAME(select_two_levels)(const NAME(step) * s, const REAL *columns, REAL *restrict o) {
    NODE(0) LAST_NODE(1) LAST_NODE(2)
    for (int r = 0; r < BLOCK; r++) {
        const REAL left = OF_LAST(1), right = OF_LAST(2);
        o[r] = GOES_LEFT(0) ? left : right;
    }
}

INLINE void NAME(select_three_levels)(const NAME(step) * s, const REAL *columns, REAL *restrict o) {
    NODE(0) NODE(1) NODE(2) LAST_NODE(3) LAST_NODE(4) LAST_NODE(5) LAST_NODE(6)
    for (int r = 0; r < BLOCK; r++) {
        const REAL v3 = OF_LAST(3), v4 = OF_LAST(4), v5 = OF_LAST(5), v6 = OF_LAST(6);
        const REAL left = GOES_LEFT(1) ? v3 : v4, right = GOES_LEFT(2) ? v5 : v6;
        o[r] = GOES_LEFT(0) ? left : right;
    }
}

/* Add a small tree's values for a block of rows: a stack machine whose entries are values of the whole block. */
INLINE void NAME(add_small_tree)(const NAME(step) * steps, int64_t n_steps, const REAL *restrict columns,
                                 REAL *restrict stack, REAL *restrict margin) {
    const NAME(step) *s = steps;
    REAL *restrict top = stack;
    while (s < steps + n_steps) {
        switch (s->kind) {
        case THREE_LEVELS:
            NAME(select_three_levels)(s, columns, top);
            s += 7;
            break;
        case TWO_LEVELS:
            NAME(select_two_levels)(s, columns, top);
            s += 3;
            break;
#define SELECT(KIND, POPPED, LEFT, RIGHT)                                         \
        case KIND: {                                                              \
            const REAL left = s->left, right = s->right;                          \
            NODE(0)                                                               \
            (void)left, (void)right;                                              \
            top -= POPPED * BLOCK;                                                \
            for (int r = 0; r < BLOCK; r++) top[r] = GOES_LEFT(0) ? LEFT : RIGHT; \
            s++;                                                                  \
            break;                                                                \
        }
        SELECT(LEFT_IS_LEAF | RIGHT_IS_LEAF, 0, left, right)
        SELECT(LEFT_IS_LEAF, 1, left, top[r])
        SELECT(RIGHT_IS_LEAF, 1, top[r], right)
        SELECT(0, 2, top[r], top[r + BLOCK])
#undef SELECT
        }
        top += BLOCK;
    }
    for (int r = 0; r < BLOCK; r++) margin[r] += stack[r];
}

#undef GOES_LEFT
#undef NODE
#undef LAST_NODE
#undef OF_LAST

/* The columns that steps ask for, each once; `asked` has room for two numbers per feature. */
static int64_t NAME(list_columns)(const NAME(step) * steps, int64_t n_steps, int64_t n_features, int32_t *asked) {
    int64_t n_asked = 0;
    memset(asked, 0, (size_t)n_features * 2 * sizeof(int32_t));
    for (int64_t k = 0; k < n_steps; k++) asked[steps[k].column] = 1;
    for (int32_t c = 0; c < 2 * n_features; c++)
        if (asked[c]) asked[n_asked++] = c;
    return n_asked;
}

/* Put m rows where steps look for them, column after column. */
INLINE void NAME(fill_columns)(const REAL *rows, int m, int64_t row_step, int64_t column_step, const int32_t *asked,
                               int64_t n_asked, REAL *restrict columns) {
    for (int64_t k = 0; k < n_asked; k++) {
        const REAL *x = rows + asked[k] / 2 * column_step;
        REAL *restrict column = columns + (size_t)asked[k] * BLOCK;
        if (row_step == 1)
            memcpy(column, x, (size_t)m * sizeof(REAL));
        else
            for (int r = 0; r < m; r++) column[r] = x[r * row_step];
        if (asked[k] % 2)
            for (int r = 0; r < BLOCK; r++) column[r] = column[r] != column[r] ? -(REAL)INFINITY : column[r];
    }
}

/* The leaf that a row ends in. */
INLINE int32_t NAME(leaf_of)(NAME(nodes) n, const REAL *row, int64_t column_step) {
    int32_t i = 0;
    while (n.left[i] >= 0) {
        const REAL x = row[n.feature[i] * column_step];
        const int goes_left = (x <= n.threshold[i]) | ((x != x) & n.missing_left[i]);
        i = goes_left ? n.left[i] : n.right[i];
    }
    return i;
}

/* Add the leaves of all trees to the scores (n, n_outputs), row by row. */
EXPORT int NAME(dips_margins)(const REAL *X, int64_t n, int64_t n_features, const int32_t *left, const int32_t *right,
                              const int32_t *feature, const REAL *threshold, const REAL *value,
                              const uint8_t *missing_left, const int64_t *offsets, const int32_t *outputs,
                              int64_t n_trees, double *scores, int64_t n_outputs) {
    const NAME(nodes) forest = {left, right, feature, threshold, value, missing_left};
    for (int64_t r = 0; r < n; r++)
        for (int64_t t = 0; t < n_trees; t++) {
            const NAME(nodes) tree = NAME(tree_from)(forest, offsets[t]);
            scores[r * n_outputs + outputs[t]] += tree.value[NAME(leaf_of)(tree, X + r * n_features, 1)];
        }
    return 0;
}

/* Watch n rows of X, whose rows and columns are so many values apart: the last checkpoint's probabilities (n, C), and in
   wanted[k], where it is not NULL, statistic k averaged over the checkpoints first..last-1. Returns 0, or -1 where memory
   ran out. */
EXPORT WIDEST_VECTORS int NAME(dips_watch)(
    const REAL *X, int64_t n, int64_t n_features, int64_t row_step, int64_t column_step, const int32_t *left,
    const int32_t *right, const int32_t *feature, const REAL *threshold, const REAL *value, const uint8_t *missing_left,
    const int64_t *offsets, const NAME(step) * steps, const int64_t *starts, const int32_t *outputs,
    const int64_t *rounds, int64_t n_rounds, int64_t first, int64_t last, const REAL *base, int64_t n_outputs,
    int64_t n_classes, float *p_out, float *const *wanted) {
    const NAME(nodes) forest = {left, right, feature, threshold, value, missing_left};
    sink s;
    REAL *columns = calloc((size_t)n_features * 2 * BLOCK, sizeof(REAL));
    int32_t *asked = malloc((size_t)n_features * 2 * sizeof(int32_t));
    REAL *stack = malloc((size_t)(SMALL_TREE + 1) * BLOCK * sizeof(REAL));
    REAL *margin = malloc((size_t)n_outputs * BLOCK * sizeof(REAL));
    float *scores = malloc((size_t)n_outputs * BLOCK * sizeof(float));
    const int out_of_memory = open_sink(&s, n_classes, n_outputs, n_rounds, first, last, p_out, wanted) || !columns ||
                              !asked || !stack || !margin || !scores;
    const int64_t n_asked =
        out_of_memory ? 0 : NAME(list_columns)(steps, starts[rounds[n_rounds]], n_features, asked);
    for (int64_t row = 0; row < n && !out_of_memory; row += BLOCK) {
        const int m = n - row < BLOCK ? (int)(n - row) : BLOCK;
        const REAL *rows = X + row * row_step;
        begin_block(&s);
        NAME(fill_columns)(rows, m, row_step, column_step, asked, n_asked, columns);
        for (int k = 0; k < n_outputs; k++)
            for (int r = 0; r < BLOCK; r++) margin[k * BLOCK + r] = base[k];
        for (int64_t e = 0; e < n_rounds; e++) {
            for (int64_t t = rounds[e]; t < rounds[e + 1]; t++) {
                const int64_t n_steps = starts[t + 1] - starts[t];
                REAL *own = margin + (size_t)outputs[t] * BLOCK;
                if (n_steps > 0 && n_steps <= SMALL_TREE) {
                    NAME(add_small_tree)(steps + starts[t], n_steps, columns, stack, own);
                } else {
                    const NAME(nodes) tree = NAME(tree_from)(forest, offsets[t]);
                    for (int r = 0; r < m; r++)
                        own[r] += tree.value[NAME(leaf_of)(tree, rows + r * row_step, column_step)];
                }
            }
            if (!is_asked_for(&s, e)) continue;
            for (int i = 0; i < n_outputs * BLOCK; i++) scores[i] = (float)margin[i];
            add_round(&s, e, scores);
        }
        end_block(&s, row, m);
    }
    close_sink(&s);
    free(columns), free(asked), free(stack), free(margin), free(scores);
    return out_of_memory ? -1 : 0;
}
