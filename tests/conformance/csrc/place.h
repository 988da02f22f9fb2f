/* Where element number `at` of the dims of a tensor lies. */
static int64_t place(int64_t at, int64_t dims, const int64_t *sizes, const int64_t *strides) {
    int64_t found = 0;
    for (int64_t d = dims - 1; d >= 0; d--) {
        found += at % sizes[d] * strides[d];
        at /= sizes[d];
    }
    return found;
}
