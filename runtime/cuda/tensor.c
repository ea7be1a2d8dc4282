/* Encoding tensor maps with the driver; see tensor.h. */
#include "tensor.h"

_Static_assert(sizeof(struct tensor_map) == sizeof(CUtensorMap), "what the kernel is passed");

_Static_assert((int)TENSOR_UINT8 == CU_TENSOR_MAP_DATA_TYPE_UINT8 &&
                   (int)TENSOR_UINT16 == CU_TENSOR_MAP_DATA_TYPE_UINT16 &&
                   (int)TENSOR_UINT32 == CU_TENSOR_MAP_DATA_TYPE_UINT32 &&
                   (int)TENSOR_INT32 == CU_TENSOR_MAP_DATA_TYPE_INT32 &&
                   (int)TENSOR_UINT64 == CU_TENSOR_MAP_DATA_TYPE_UINT64 &&
                   (int)TENSOR_INT64 == CU_TENSOR_MAP_DATA_TYPE_INT64 &&
                   (int)TENSOR_FLOAT16 == CU_TENSOR_MAP_DATA_TYPE_FLOAT16 &&
                   (int)TENSOR_FLOAT32 == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 &&
                   (int)TENSOR_FLOAT64 == CU_TENSOR_MAP_DATA_TYPE_FLOAT64 &&
                   (int)TENSOR_BFLOAT16 == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
               "the driver's numbers");

static CUtensorMapSwizzle swizzle_mode(int bytes) {
  switch (bytes) {
  case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
  case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
  case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
  default: return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

/* An extent as the driver takes it: the pitches from the second dimension on, with every element
   read. */
struct driver_extent {
  cuuint64_t shape[KERNEL_MAX_RANK + 1], stride[KERNEL_MAX_RANK + 1];
  cuuint32_t box[KERNEL_MAX_RANK + 1], step[KERNEL_MAX_RANK + 1];
};

static struct driver_extent driver_extent(const struct tensor_extent *extent) {
  struct driver_extent out = {{0}, {0}, {0}, {0}};
  for (int i = 0; i < extent->rank; i++) {
    out.shape[i] = (cuuint64_t)extent->shape[i];
    if (i) out.stride[i - 1] = (cuuint64_t)extent->stride[i];
    out.box[i] = (cuuint32_t)extent->box[i];
    out.step[i] = 1;
  }
  return out;
}

int tensor_encode(const struct driver *driver, const struct kernel_argument *argument, void *buffer,
                  struct tensor_map *out, cugen_error *err) {
  const struct tensor_extent tensor = kernel_argument_tensor(argument);
  struct driver_extent extent = driver_extent(&tensor);
  if (!driver->tensor_encode)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "argument '%s' is reached through a tensor map, and this driver makes none: "
                     "it supports CUDA "
                     "%d.%d, tensor maps came with 12.0",
                     argument->name, driver->version / 1000, driver->version % 1000 / 10);
  if ((uintptr_t)buffer % 16)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "argument '%s' is reached through a tensor map: its address must be a multiple of 16 bytes",
        argument->name);
  int status =
      DRIVER_CALL(driver, err, tensor_encode,
                  ((CUtensorMap *)(void *)out, (CUtensorMapDataType)argument->dtype->tensor,
                   (cuuint32_t)tensor.rank, buffer, extent.shape, extent.stride, extent.box,
                   extent.step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_mode(argument->swizzle),
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  if (status) error_prefix(err, "tensor map of '%s'", argument->name);
  return status;
}
