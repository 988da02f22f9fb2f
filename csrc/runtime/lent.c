#include "lent.h"

static dtype of_width(uint8_t bits, const dtype *of) {
    switch (bits) {
    case 8:
        return of[0];
    case 16:
        return of[1];
    case 32:
        return of[2];
    case 64:
        return of[3];
    default:
        return DTYPE_OTHER;
    }
}

static dtype dtype_from_dlpack(DLDataType d) {
    static const dtype ints[] = {DTYPE_INT8, DTYPE_INT16, DTYPE_INT32, DTYPE_INT64};
    static const dtype uints[] = {DTYPE_UINT8, DTYPE_UINT16, DTYPE_UINT32, DTYPE_UINT64};
    static const dtype floats[] = {DTYPE_OTHER, DTYPE_FLOAT16, DTYPE_FLOAT32, DTYPE_FLOAT64};
    if (d.lanes != 1) {
        return DTYPE_OTHER;
    }
    switch (d.code) {
    case kDLInt:
        return of_width(d.bits, ints);
    case kDLUInt:
        return of_width(d.bits, uints);
    case kDLFloat:
        return of_width(d.bits, floats);
    case kDLBfloat:
        return d.bits == 16 ? DTYPE_BFLOAT16 : DTYPE_OTHER;
    case kDLComplex:
        return d.bits == 32    ? DTYPE_COMPLEX32
               : d.bits == 64  ? DTYPE_COMPLEX64
               : d.bits == 128 ? DTYPE_COMPLEX128
                               : DTYPE_OTHER;
    case kDLBool:
        return d.bits == 8 ? DTYPE_BOOL : DTYPE_OTHER;
    case kDLFloat8_e4m3fn:
        return DTYPE_FLOAT8_E4M3FN;
    case kDLFloat8_e4m3fnuz:
        return DTYPE_FLOAT8_E4M3FNUZ;
    case kDLFloat8_e5m2:
        return DTYPE_FLOAT8_E5M2;
    case kDLFloat8_e5m2fnuz:
        return DTYPE_FLOAT8_E5M2FNUZ;
    case kDLFloat8_e8m0fnu:
        return DTYPE_FLOAT8_E8M0FNU;
    default:
        return DTYPE_OTHER;
    }
}

bool lent_read(tensor *t) {
    const DLTensor *const described = t->lent;
    t->dtype = dtype_from_dlpack(described->dtype);
    t->dim = described->ndim;
    t->sizes = described->shape;
    t->strides = described->strides;
    switch (described->device.device_type) {
    case kDLCPU:
    case kDLCUDAHost: /* pinned memory of the host */
        t->device = (device){.type = aoti_torch_device_type_cpu(), .index = -1};
        return true;
    case kDLCUDA:
        t->device = (device){.type = device_type_cuda, .index = described->device.device_id};
        return true;
    default:
        return false;
    }
}

void *lent_data(const tensor *t) {
    char *const data = t->lent->data;
    return data == NULL ? NULL : data + t->lent->byte_offset;
}

bool lent_handle(error *e, const tensor *t, tensor *made, AtenTensorHandle *handle) {
    *handle = t->handle;
    if (t->lent == NULL) {
        return true;
    }
    const int32_t index = t->device.index < 0 ? 0 : t->device.index;
    if (aoti_torch_create_tensor_from_blob(lent_data(t), t->dim, t->sizes, t->strides, 0, dtype_to_torch(t->dtype),
                                           t->device.type, index, &made->handle) != 0) {
        made->handle = NULL;
        return fail_abi(e, "aoti_torch_create_tensor_from_blob");
    }
    *handle = made->handle;
    return true;
}
