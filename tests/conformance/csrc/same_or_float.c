static void same_or_float(const same_or_float_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store_V(a->y + i, (V_acc_t)((double)load_V(a->v + i) + (double)load(a->x + i)));
        store_W(a->z + i, load_W(a->w + i));
        store_U(a->r + i, a->u == NULL ? 1 : load_U(a->u + i));
    }
}
