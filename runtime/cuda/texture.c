/* Textures and tensor maps of the cuda backend. A texture is an object of the driver over the
   buffer itself, or over a CUDA array that is filled from the buffer before each call. A tensor
   map is the driver's encoding of an argument for Hopper's tensor memory accelerator. */
#include "cuda_device.h"

_Static_assert((int)TEXEL_UINT8 == CU_AD_FORMAT_UNSIGNED_INT8 &&
                   (int)TEXEL_UINT16 == CU_AD_FORMAT_UNSIGNED_INT16 &&
                   (int)TEXEL_UINT32 == CU_AD_FORMAT_UNSIGNED_INT32 &&
                   (int)TEXEL_INT8 == CU_AD_FORMAT_SIGNED_INT8 &&
                   (int)TEXEL_INT16 == CU_AD_FORMAT_SIGNED_INT16 &&
                   (int)TEXEL_INT32 == CU_AD_FORMAT_SIGNED_INT32 &&
                   (int)TEXEL_HALF == CU_AD_FORMAT_HALF && (int)TEXEL_FLOAT == CU_AD_FORMAT_FLOAT,
               "the driver's numbers");

static int find_format(const struct kernel_argument *argument, CUarray_format *out,
                       cugen_error *err) {
  *out = (CUarray_format)argument->dtype->texel;
  if (argument->dtype->texel) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_INTERNAL, "textures have no elements of dtype %s",
                   argument->dtype->name);
}

/* ---- Textures over the buffer itself -------------------------------------------------------- */

static int texture_check_alignment(struct cuda_device *cuda, const struct kernel_argument *argument,
                                   const void *buffer, size_t row_bytes, cugen_error *err) {
  int base = 1, pitch = 1;
  int status = CHECK(cuda, err, device_attribute,
                     (&base, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, cuda->handle));
  if (!status)
    status = CHECK(cuda, err, device_attribute,
                   (&pitch, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, cuda->handle));
  if (status) return status;
  if ((uintptr_t)buffer % (size_t)base)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "argument '%s' is read as a texture: its address must be a multiple of %d bytes, as all "
        "memory of the driver's is; with access = \"array\" any address will do",
        argument->name, base);
  if (row_bytes % (size_t)pitch)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "argument '%s' is read as a texture: its rows must be a multiple of %d bytes "
                     "apart, not %zu; with access = \"array\" any pitch will do",
                     argument->name, pitch, row_bytes);
  return CUGEN_OK;
}

static int describe_buffer(struct cuda_device *cuda, const struct kernel_argument *argument,
                           void *buffer, CUDA_RESOURCE_DESC *out, cugen_error *err) {
  struct texture_extent extent = texture_extent(argument);
  size_t row_bytes = (size_t)(extent.row * argument->dtype->bytes);
  out->resType = CU_RESOURCE_TYPE_PITCH2D;
  out->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)buffer;
  out->res.pitch2D.numChannels = 1;
  out->res.pitch2D.width = (size_t)extent.width;
  out->res.pitch2D.height = (size_t)extent.height;
  out->res.pitch2D.pitchInBytes = row_bytes;
  int status = find_format(argument, &out->res.pitch2D.format, err);
  return status ? status : texture_check_alignment(cuda, argument, buffer, row_bytes, err);
}

/* ---- Textures over an array ----------------------------------------------------------------- */

/* Dimensions that the argument does not have are 0. */
static int describe_array(struct cuda_device *cuda, struct texture *texture,
                          CUDA_RESOURCE_DESC *out, cugen_error *err) {
  const struct kernel_argument *argument = texture->argument;
  struct texture_extent extent = texture_extent(argument);
  CUDA_ARRAY3D_DESCRIPTOR description = {.Width = (size_t)extent.width,
                                         .Height = argument->rank > 1 ? (size_t)extent.height : 0,
                                         .Depth = argument->rank > 2 ? (size_t)extent.depth : 0,
                                         .NumChannels = 1};
  CUarray array = NULL;
  int status = find_format(argument, &description.Format, err);
  if (!status) status = CHECK(cuda, err, array_create, (&array, &description));
  texture->array = array;
  out->resType = CU_RESOURCE_TYPE_ARRAY;
  out->res.array.hArray = array;
  return status;
}

int cuda_texture_update(struct device *device, const struct texture *texture, void *const *stream,
                        cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  struct texture_extent extent = texture_extent(texture->argument);
  size_t element = (size_t)texture->argument->dtype->bytes;
  CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                        .srcDevice = (CUdeviceptr)(uintptr_t)texture->buffer,
                        .srcPitch = (size_t)extent.row * element,
                        .srcHeight = (size_t)(extent.slice / extent.row),
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = texture->array,
                        .WidthInBytes = (size_t)extent.width * element,
                        .Height = (size_t)extent.height,
                        .Depth = (size_t)extent.depth};
  int status = enter(cuda, err);
  return status ? status
                : leave(cuda, CHECK(cuda, err, copy_3d, (&copy, stream ? *stream : cuda->stream)));
}

/* ---- Both kinds ----------------------------------------------------------------------------- */

static const CUaddress_mode address_modes[ADDRESS_KIND_COUNT] = {
    [ADDRESS_CLAMP] = CU_TR_ADDRESS_MODE_CLAMP,
    [ADDRESS_BORDER] = CU_TR_ADDRESS_MODE_BORDER,
    [ADDRESS_WRAP] = CU_TR_ADDRESS_MODE_WRAP,
    [ADDRESS_MIRROR] = CU_TR_ADDRESS_MODE_MIRROR};

static void destroy(struct cuda_device *cuda, struct texture *texture) {
  if (texture->object) cuda->driver->texture_destroy(texture->object);
  if (texture->array) cuda->driver->array_destroy(texture->array);
  *texture = (struct texture){0};
}

/* A texture over the buffer itself must have the alignments of the GPU: CUGEN_ERROR_USAGE for a
   wrong address, CUGEN_ERROR_DEVICE for a wrong pitch. */
int cuda_texture_make(struct device *device, const struct kernel_argument *argument, void *buffer,
                      struct texture *out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  CUDA_RESOURCE_DESC resource = {.flags = 0};
  CUDA_TEXTURE_DESC reading = {.filterMode = CU_TR_FILTER_MODE_POINT};
  CUtexObject object = 0;
  *out = (struct texture){0};
  int status = enter(cuda, err);
  if (status) return status;
  *out = (struct texture){.argument = argument, .buffer = buffer};
  /* Integers are not converted to floats. For wrap and mirror, coordinates go from 0 to 1, because
     the hardware repeats and reflects no others (CUDA Driver API, cuTexObjectCreate). */
  for (int i = 0; i < 3; i++) reading.addressMode[i] = address_modes[argument->address];
  if (!argument->dtype->floating) reading.flags |= CU_TRSF_READ_AS_INTEGER;
  if (argument->address == ADDRESS_WRAP || argument->address == ADDRESS_MIRROR)
    reading.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  status = argument->access == ACCESS_ARRAY
               ? describe_array(cuda, out, &resource, err)
               : describe_buffer(cuda, argument, buffer, &resource, err);
  if (!status) status = CHECK(cuda, err, texture_create, (&object, &resource, &reading, NULL));
  out->object = object;
  if (status == CUGEN_ERROR_DEVICE) error_prefix(err, "texture '%s'", argument->name);
  if (status) destroy(cuda, out);
  return leave(cuda, status);
}

void cuda_texture_free(struct device *device, struct texture *texture) {
  struct cuda_device *cuda = cuda_of(device);
  bool entered = enter(cuda, NULL) == CUGEN_OK;
  cuda->driver->context_sync(); /* launches that read the texture end first */
  destroy(cuda, texture);
  if (entered) leave(cuda, CUGEN_OK);
}

/* ---- Tensor maps ---------------------------------------------------------------------------- */

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

int cuda_tensor_make(struct device *device, const struct kernel_argument *argument, void *buffer,
                     struct tensor_map *out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  const struct tensor_extent tensor = kernel_argument_tensor(argument);
  /* The driver takes pitches from the second dimension on; a step of 1 reads every element. */
  cuuint64_t shape[KERNEL_MAX_RANK + 1] = {0}, stride[KERNEL_MAX_RANK + 1] = {0};
  cuuint32_t box[KERNEL_MAX_RANK + 1] = {0}, step[KERNEL_MAX_RANK + 1] = {0};
  for (int i = 0; i < tensor.rank; i++) {
    shape[i] = (cuuint64_t)tensor.shape[i];
    if (i) stride[i - 1] = (cuuint64_t)tensor.stride[i];
    box[i] = (cuuint32_t)tensor.box[i];
    step[i] = 1;
  }
  if (!cuda->driver->tensor_encode)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "argument '%s' is reached through a tensor map, and this driver makes none: "
                     "it supports CUDA %d.%d, tensor maps came with 12.0",
                     argument->name, cuda->driver->version / 1000,
                     cuda->driver->version % 1000 / 10);
  if ((uintptr_t)buffer % 16)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "argument '%s' is reached through a tensor map: its address must be a multiple of 16 bytes",
        argument->name);
  int status = enter(cuda, err);
  if (status) return status;
  status = CHECK(cuda, err, tensor_encode,
                 ((CUtensorMap *)(void *)out, (CUtensorMapDataType)argument->dtype->tensor,
                  (cuuint32_t)tensor.rank, buffer, shape, stride, box, step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_mode(argument->swizzle),
                  CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  if (status) error_prefix(err, "tensor map of '%s'", argument->name);
  return leave(cuda, status);
}
