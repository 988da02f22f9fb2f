/* Outputs keep what they start at, but for the first elements, where inputs are not empty. */
static void either_shape(const either_shape_args *a, int64_t begin, int64_t end) {
    const bool some = begin < end && a->p > 0 && a->q > 0;
    const acc_t more = some && a->c != NULL ? load(a->c) : 0, last = some && a->d != NULL ? load(a->d) : 0;
    if (some && a->y != NULL) {
        store(a->y, load(a->a) + more);
    }
    if (some && a->z != NULL) {
        store(a->z, load(a->b) + last);
    }
}
