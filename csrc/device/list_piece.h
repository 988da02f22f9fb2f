/* What bodies on a GPU see of lists of tensors goes there as arguments of small kernels: see csrc/runtime/list.h. */
#ifndef DEVICE_LIST_PIECE_H
#define DEVICE_LIST_PIECE_H

#include <stdint.h>

/* A launch takes 4,096 bytes of arguments. */
enum { LIST_PIECE_WORDS = 480 };

typedef struct list_piece {
    int64_t *to;
    int64_t count;
    int64_t words[LIST_PIECE_WORDS];
} list_piece;

#endif
