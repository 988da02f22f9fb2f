/* What the files that stand in for PyTorch share: objects are counted, and steps may fail. */
#ifndef FAKE_OBJECTS_H
#define FAKE_OBJECTS_H

#include "fake.h"

/* A step of a function that returns 1 where it fails. */
#define STEP(name)                                                                                                     \
    if (fake_fails(name)) {                                                                                            \
        return 1;                                                                                                      \
    }

void *fake_allocate(fake_kind kind, size_t bytes);
void fake_release(fake_kind kind, void *memory);

/* Whether this step of the registration, which is before main(), is the one that fails. */
bool fake_registration_fails(void);

/* Forgets what the attempt before it made and raised. */
void fake_torch_begin_attempt(void);

int64_t fake_dtype_size(int32_t dtype);
void fake_delete_tensor(AtenTensorHandle tensor);

#endif
