/* From the raw scores of a block of rows at every checkpoint to the running statistics of its class probabilities. */

#define BLOCK 128 /* rows worked on together; measured */

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

/* The statistics, in the order of their outputs. There is no other list: Python reads the names from dips_statistics. */
#define STATISTICS(ENTRY)                                                                                          \
    ENTRY(CONFIDENCE, "confidence") ENTRY(ALEATORIC, "aleatoric") ENTRY(VARIANCE, "variance")                      \
    ENTRY(CORRECTNESS, "correctness") ENTRY(LOSS, "loss") ENTRY(FLUCTUATION, "fluctuation") ENTRY(ENTROPY, "entropy")
#define NUMBER_OF(number, name) number,
#define NAME_OF(number, name) name " "

enum { STATISTICS(NUMBER_OF) N_STATISTICS };
EXPORT const char dips_statistics[] = STATISTICS(NAME_OF);

/* exp and log without a branch or a call, so that they vectorize; relative error about 1e-7 (Cephes polynomials).
   The powers of a block are bounded in a loop of their own, else gcc would follow the bounds through all that comes
   after. */
INLINE void bound(float *restrict x) {
    for (int r = 0; r < BLOCK; r++) {
        const float above = x[r] < -87.0f ? -87.0f : x[r];
        x[r] = above > 87.0f ? 87.0f : above;
    }
}

INLINE float exp_of(float x) {
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

/* Class probabilities (C, BLOCK) from raw scores: one row of scores for two classes, otherwise one per class. */
INLINE void probabilities_of(const float *margin, int n_classes, int n_outputs, float *p) {
    if (n_outputs == 1) {
        float *restrict q = p + BLOCK;
        for (int r = 0; r < BLOCK; r++) q[r] = -margin[r];
        bound(q);
        for (int r = 0; r < BLOCK; r++) q[r] = 1.0f / (1.0f + exp_of(q[r]));
        for (int r = 0; r < BLOCK; r++) p[r] = 1.0f - q[r];
        return;
    }
    float highest[BLOCK], sum[BLOCK];
    for (int r = 0; r < BLOCK; r++) highest[r] = margin[r];
    for (int c = 1; c < n_classes; c++) {
        const float *restrict m = margin + c * BLOCK;
        for (int r = 0; r < BLOCK; r++) highest[r] = m[r] > highest[r] ? m[r] : highest[r];
    }
    for (int r = 0; r < BLOCK; r++) sum[r] = 0.0f;
    for (int c = 0; c < n_classes; c++) {
        const float *restrict m = margin + c * BLOCK;
        float *restrict q = p + c * BLOCK;
        for (int r = 0; r < BLOCK; r++) q[r] = m[r] - highest[r];
        bound(q);
        for (int r = 0; r < BLOCK; r++) {
            q[r] = exp_of(q[r]);
            sum[r] += q[r];
        }
    }
    for (int r = 0; r < BLOCK; r++) sum[r] = 1.0f / sum[r];
    for (int c = 0; c < n_classes; c++) {
        float *restrict q = p + c * BLOCK;
        for (int r = 0; r < BLOCK; r++) q[r] *= sum[r];
    }
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

/* Where the checkpoints of a block go. */
typedef struct {
    int n_classes, n_outputs, first_class;
    int64_t n_rounds, first, last; /* statistics are over the checkpoints first..last-1 */
    float *const *wanted;          /* (n, C) outputs, NULL if not asked for; ENTROPY is (n,) */
    float *p_out;                  /* (n, C), of the last checkpoint */
    float *memory, *now, *before;  /* probabilities (C, BLOCK) of this checkpoint and the one before */
    double *sums;                  /* (N_STATISTICS, C, BLOCK) */
} sink;

INLINE int open_sink(sink *s, int64_t n_classes, int64_t n_outputs, int64_t n_rounds, int64_t first, int64_t last,
                     float *p_out, float *const *wanted) {
    s->n_classes = (int)n_classes, s->n_outputs = (int)n_outputs;
    s->n_rounds = n_rounds, s->first = first, s->last = last;
    s->p_out = p_out, s->wanted = wanted;
    /* Of two classes one is enough, except for statistics that do not mirror each other. */
    s->first_class = n_classes == 2 && !wanted[LOSS] && !wanted[FLUCTUATION] && !wanted[CORRECTNESS];
    s->memory = malloc((size_t)2 * n_classes * BLOCK * sizeof(float));
    s->sums = malloc((size_t)N_STATISTICS * n_classes * BLOCK * sizeof(double));
    return s->memory && s->sums ? 0 : -1;
}

INLINE void close_sink(sink *s) { free(s->memory), free(s->sums); }

INLINE void begin_block(sink *s) {
    s->now = s->memory, s->before = NULL;
    memset(s->sums, 0, (size_t)N_STATISTICS * s->n_classes * BLOCK * sizeof(double));
}

INLINE int is_asked_for(const sink *s, int64_t e) { return (e >= s->first && e < s->last) || e + 1 == s->n_rounds; }

/* Take in the raw scores (n_outputs, BLOCK) after round e. */
INLINE void add_round(sink *s, int64_t e, const float *scores) {
    probabilities_of(scores, s->n_classes, s->n_outputs, s->now);
    if (e < s->first || e >= s->last) return;
    add_checkpoint(s->now, s->before, s->first_class, s->n_classes, s->wanted, s->sums);
    if (e + 1 < s->n_rounds) {
        s->before = s->now;
        s->now = s->now == s->memory ? s->memory + s->n_classes * BLOCK : s->memory;
    }
}

INLINE void end_block(sink *s, int64_t row, int m) {
    for (int c = 0; c < s->n_classes; c++)
        for (int r = 0; r < m; r++) s->p_out[(row + r) * s->n_classes + c] = s->now[c * BLOCK + r];
    write_averages(s->sums, s->n_classes, s->first_class, (int)(s->last - s->first), row, m, s->wanted);
}
