static void counted_list(const counted_list_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->y[i] = a->x[i] * (double)(a->ks_count + a->more_count);
    }
}
