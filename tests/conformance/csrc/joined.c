static void joined(const joined_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++)
        store(a->y + i, (load(a->x + i) + load(a->r + i)) * load(a->w + i));
}
