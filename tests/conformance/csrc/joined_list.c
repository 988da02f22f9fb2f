static void joined_list(const joined_list_args *a, int64_t begin, int64_t end) {
    float *y = a->y;
    for (int64_t i = 0; i < a->n && begin < end; i++) {
        *y++ = a->x[i];
    }
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        for (int64_t j = 0; j < a->s[i]; j++) {
            *y++ = a->xs[i][j];
        }
    }
}
