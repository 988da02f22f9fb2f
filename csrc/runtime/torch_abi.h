/* The part of libtorch's C ABI that this library uses, declared by hand: no PyTorch header is read at build time.
 *
 * Names, argument order and meaning are PyTorch's own, so that each can be looked up in its sources. All of them are
 * in libtorch_cpu since 2.10 or earlier. The build reads this file too: every name on a line that starts with
 * TORCH_ABI becomes a symbol of the stub that the library is linked against, so keep one declaration to a line.
 * Names on TORCH_ABI_WEAK lines are newer than 2.10, may be null at run time, and are tested before use.
 *
 * Ownership: a handle that comes back through a `ret` pointer belongs to the caller, sizes, strides and data pointers
 * are borrowed from their tensor. Functions that return AOTITorchError return 0 on success. */
#ifndef RUNTIME_TORCH_ABI_H
#define RUNTIME_TORCH_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TORCH_ABI extern
#define TORCH_ABI_WEAK extern __attribute__((weak))

typedef int32_t AOTITorchError;
typedef struct AtenTensorOpaque *AtenTensorHandle;
typedef struct TorchLibraryOpaque *TorchLibraryHandle;
typedef struct StableListOpaque *StableListHandle;
typedef struct StringOpaque *StringHandle;

/* One slot of the boxed stack: a tensor, list or string handle, or the bytes of a number, always 64 bits wide. */
typedef uint64_t StableIValue;
typedef void BoxedKernel(StableIValue *stack, uint64_t num_args, uint64_t num_outputs);

/* The version whose encoding of the stack this code speaks (2.10), whatever the running version is. */
#define TORCH_ABI_VERSION UINT64_C(0x020a000000000000)

/* clang-format off */
/* Registration. A library object lives as long as the process: what it registered goes away with it. */
TORCH_ABI AOTITorchError aoti_torch_library_init_def(const char *ns, const char *file, uint32_t line, TorchLibraryHandle *ret);
TORCH_ABI AOTITorchError aoti_torch_library_init_impl(const char *ns, const char *key, const char *file, uint32_t line, TorchLibraryHandle *ret);
TORCH_ABI AOTITorchError aoti_torch_library_def(TorchLibraryHandle self, const char *schema);
TORCH_ABI AOTITorchError torch_library_impl(TorchLibraryHandle self, const char *name, BoxedKernel *kernel, uint64_t version);
TORCH_ABI AOTITorchError aoti_torch_delete_library_object(TorchLibraryHandle self);

/* Tensors. */
TORCH_ABI AOTITorchError aoti_torch_get_dim(AtenTensorHandle tensor, int64_t *ret_dim);
TORCH_ABI AOTITorchError aoti_torch_get_sizes(AtenTensorHandle tensor, int64_t **ret_sizes);
TORCH_ABI AOTITorchError aoti_torch_get_strides(AtenTensorHandle tensor, int64_t **ret_strides);
TORCH_ABI AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, int32_t *ret_dtype);
TORCH_ABI AOTITorchError aoti_torch_get_device_type(AtenTensorHandle tensor, int32_t *ret_device_type);
TORCH_ABI AOTITorchError aoti_torch_get_device_index(AtenTensorHandle tensor, int32_t *ret_device_index);
TORCH_ABI AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void **ret_data);
TORCH_ABI AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void **ret_data);
TORCH_ABI AOTITorchError aoti_torch_empty_strided(int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype, int32_t device_type, int32_t device_index, AtenTensorHandle *ret);
TORCH_ABI AOTITorchError aoti_torch_create_tensor_from_blob(void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides, int64_t storage_offset, int32_t dtype, int32_t device_type, int32_t device_index, AtenTensorHandle *ret);
TORCH_ABI AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle *ret);
TORCH_ABI AOTITorchError aoti_torch_copy_(AtenTensorHandle self, AtenTensorHandle src, int32_t non_blocking);
TORCH_ABI AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor, AtenTensorHandle *ret);
TORCH_ABI AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle self, int64_t ndim, const int64_t *sizes, const int64_t *strides, int64_t storage_offset, AtenTensorHandle *ret);
TORCH_ABI AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor);

/* Calls an operator: its arguments on the stack are handed over, its results come back there. */
TORCH_ABI AOTITorchError torch_call_dispatcher(const char *name, const char *overload, StableIValue *stack, uint64_t version);

/* Lists on the boxed stack; elements are StableIValues. */
TORCH_ABI AOTITorchError torch_new_list_reserve_size(size_t size, StableListHandle *ret);
TORCH_ABI AOTITorchError torch_list_push_back(StableListHandle list, StableIValue element);
TORCH_ABI AOTITorchError torch_list_size(StableListHandle list, size_t *ret_size);
TORCH_ABI AOTITorchError torch_list_get_item(StableListHandle list, size_t index, StableIValue *ret_element);
TORCH_ABI AOTITorchError torch_delete_list(StableListHandle list);

/* Strings on the boxed stack; the characters are borrowed from the handle. */
TORCH_ABI AOTITorchError torch_new_string_handle(const char *data, size_t length, StringHandle *ret);
TORCH_ABI AOTITorchError torch_string_length(StringHandle handle, size_t *ret_length);
TORCH_ABI AOTITorchError torch_string_c_str(StringHandle handle, const char **ret_data);
TORCH_ABI AOTITorchError torch_delete_string(StringHandle handle);

/* C++'s operator delete, for the boxes in which optionals arrive: they come from operator new. */
TORCH_ABI void _ZdlPv(void *box);
TORCH_ABI void *_Znwm(size_t size);

/* Threads: calls fn(begin, end, context) on pieces of [begin, end) of at least grain_size. */
TORCH_ABI AOTITorchError torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size, void (*fn)(int64_t begin, int64_t end, void *context), void *context);

/* Grad mode of this thread. */
TORCH_ABI bool aoti_torch_grad_mode_is_enabled(void);
TORCH_ABI void aoti_torch_grad_mode_set_enabled(bool enabled);

/* Raises a C++ exception with this text unless the condition holds; the only function here that throws. */
TORCH_ABI void aoti_torch_check(bool condition, const char *function, const char *file, uint32_t line, const char *text);

/* The device that is current for this thread, of the accelerator that PyTorch was built for. */
TORCH_ABI AOTITorchError aoti_torch_get_current_device_index(int32_t *ret_device_index);

/* Numbers of devices and dtypes in the running version. */
TORCH_ABI int32_t aoti_torch_device_type_cpu(void);
TORCH_ABI int32_t aoti_torch_device_type_meta(void);
TORCH_ABI int32_t aoti_torch_device_type_cuda(void);
TORCH_ABI int32_t aoti_torch_dtype_float64(void);
TORCH_ABI int32_t aoti_torch_dtype_float32(void);
TORCH_ABI int32_t aoti_torch_dtype_float16(void);
TORCH_ABI int32_t aoti_torch_dtype_bfloat16(void);
TORCH_ABI int32_t aoti_torch_dtype_float8_e4m3fn(void);
TORCH_ABI int32_t aoti_torch_dtype_float8_e5m2(void);
TORCH_ABI int32_t aoti_torch_dtype_float8_e4m3fnuz(void);
TORCH_ABI int32_t aoti_torch_dtype_float8_e5m2fnuz(void);
TORCH_ABI int32_t aoti_torch_dtype_uint8(void);
TORCH_ABI int32_t aoti_torch_dtype_uint16(void);
TORCH_ABI int32_t aoti_torch_dtype_uint32(void);
TORCH_ABI int32_t aoti_torch_dtype_uint64(void);
TORCH_ABI int32_t aoti_torch_dtype_int8(void);
TORCH_ABI int32_t aoti_torch_dtype_int16(void);
TORCH_ABI int32_t aoti_torch_dtype_int32(void);
TORCH_ABI int32_t aoti_torch_dtype_int64(void);
TORCH_ABI int32_t aoti_torch_dtype_bool(void);
TORCH_ABI int32_t aoti_torch_dtype_complex32(void);
TORCH_ABI int32_t aoti_torch_dtype_complex64(void);
TORCH_ABI int32_t aoti_torch_dtype_complex128(void);

/* Since 2.12: tags at definition; each tag is a number that its getter knows. */
TORCH_ABI_WEAK AOTITorchError torch_library_def_with_tags(TorchLibraryHandle self, const char *schema, const int32_t *tags, int32_t num_tags);
TORCH_ABI_WEAK int32_t torch_tag_core(void);
TORCH_ABI_WEAK int32_t torch_tag_cudagraph_unsafe(void);
TORCH_ABI_WEAK int32_t torch_tag_data_dependent_output(void);
TORCH_ABI_WEAK int32_t torch_tag_dynamic_output_shape(void);
TORCH_ABI_WEAK int32_t torch_tag_flexible_layout(void);
TORCH_ABI_WEAK int32_t torch_tag_generated(void);
TORCH_ABI_WEAK int32_t torch_tag_inplace_view(void);
TORCH_ABI_WEAK int32_t torch_tag_maybe_aliasing_or_mutating(void);
TORCH_ABI_WEAK int32_t torch_tag_needs_contiguous_strides(void);
TORCH_ABI_WEAK int32_t torch_tag_needs_exact_strides(void);
TORCH_ABI_WEAK int32_t torch_tag_needs_fixed_stride_order(void);
TORCH_ABI_WEAK int32_t torch_tag_nondeterministic_bitwise(void);
TORCH_ABI_WEAK int32_t torch_tag_nondeterministic_seeded(void);
TORCH_ABI_WEAK int32_t torch_tag_out_variant(void);
TORCH_ABI_WEAK int32_t torch_tag_pointwise(void);
TORCH_ABI_WEAK int32_t torch_tag_pt2_compliant_tag(void);
TORCH_ABI_WEAK int32_t torch_tag_reduction(void);
TORCH_ABI_WEAK int32_t torch_tag_view_copy(void);

/* Since 2.13: the text of the exception behind the last error code of this thread, borrowed until the next one. */
TORCH_ABI_WEAK const char *torch_exception_get_what_without_backtrace(void);

/* Since 2.11. */
TORCH_ABI_WEAK int32_t aoti_torch_dtype_float8_e8m0fnu(void);
/* clang-format on */

/* From libtorch_cuda, which a CPU build of PyTorch does not have: looked up with dlsym, never linked. */
typedef AOTITorchError aoti_torch_get_current_cuda_stream_fn(int32_t device_index, void **ret_stream);

#endif
