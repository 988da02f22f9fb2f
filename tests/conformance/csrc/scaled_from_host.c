static void scaled_from_host(const scaled_from_host_args *a, int64_t begin, int64_t end) {
    acc_t sum = 0;
    for (int64_t i = 0; i < a->m; i++) {
        sum += load(a->factors + a->order[i] * a->factors_stride[0]);
    }
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, load(a->x + i) * sum);
    }
}
