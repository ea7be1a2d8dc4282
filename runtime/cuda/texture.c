/* Making texture objects with the driver; see texture.h. */
#include "texture.h"

#define CHECK(driver, err, member, arguments) DRIVER_CALL(driver, err, member, arguments)

_Static_assert((int)TEXEL_UNSIGNED_INT8 == CU_AD_FORMAT_UNSIGNED_INT8 &&
                   (int)TEXEL_UNSIGNED_INT16 == CU_AD_FORMAT_UNSIGNED_INT16 &&
                   (int)TEXEL_UNSIGNED_INT32 == CU_AD_FORMAT_UNSIGNED_INT32 &&
                   (int)TEXEL_SIGNED_INT8 == CU_AD_FORMAT_SIGNED_INT8 &&
                   (int)TEXEL_SIGNED_INT16 == CU_AD_FORMAT_SIGNED_INT16 &&
                   (int)TEXEL_SIGNED_INT32 == CU_AD_FORMAT_SIGNED_INT32 &&
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

static int texture_check_alignment(const struct driver *driver, CUdevice handle,
                                   const struct kernel_argument *argument, const void *buffer,
                                   size_t row_bytes, cugen_error *err) {
  int base = 1, pitch = 1;
  int status =
      CHECK(driver, err, device_attribute, (&base, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, handle));
  if (!status)
    status = CHECK(driver, err, device_attribute,
                   (&pitch, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, handle));
  if (status) return status;
  if ((uintptr_t)buffer % (size_t)base)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "argument '%s' is read as a texture: its address must be a multiple of %d "
                     "bytes, as all memory "
                     "of the driver's is; with access = \"array\" any address will do",
                     argument->name, base);
  if (row_bytes % (size_t)pitch)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "argument '%s' is read as a texture: its rows must be a multiple of %d bytes "
                     "apart, not %zu; "
                     "with access = \"array\" any pitch will do",
                     argument->name, pitch, row_bytes);
  return CUGEN_OK;
}

static int describe_buffer(const struct driver *driver, CUdevice handle,
                           const struct kernel_argument *argument, void *buffer,
                           CUDA_RESOURCE_DESC *out, cugen_error *err) {
  struct texture_extent extent = texture_extent(argument);
  size_t row_bytes = (size_t)(extent.row * argument->dtype->bytes);
  out->resType = CU_RESOURCE_TYPE_PITCH2D;
  out->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)buffer;
  out->res.pitch2D.numChannels = 1;
  out->res.pitch2D.width = (size_t)extent.width;
  out->res.pitch2D.height = (size_t)extent.height;
  out->res.pitch2D.pitchInBytes = row_bytes;
  int status = find_format(argument, &out->res.pitch2D.format, err);
  return status ? status
                : texture_check_alignment(driver, handle, argument, buffer, row_bytes, err);
}

/* ---- Textures over an array ----------------------------------------------------------------- */

/* Dimensions that the argument does not have are 0. */
static int make_array(const struct driver *driver, const struct kernel_argument *argument,
                      void **out, cugen_error *err) {
  struct texture_extent extent = texture_extent(argument);
  CUDA_ARRAY3D_DESCRIPTOR description = {.Width = (size_t)extent.width,
                                         .Height = argument->rank > 1 ? (size_t)extent.height : 0,
                                         .Depth = argument->rank > 2 ? (size_t)extent.depth : 0,
                                         .NumChannels = 1};
  CUarray array = NULL;
  int status = find_format(argument, &description.Format, err);
  if (!status) status = CHECK(driver, err, array_create, (&array, &description));
  *out = array;
  return status;
}

static int describe_array(const struct driver *driver, struct texture *texture,
                          CUDA_RESOURCE_DESC *out, cugen_error *err) {
  int status = make_array(driver, texture->argument, &texture->array, err);
  out->resType = CU_RESOURCE_TYPE_ARRAY;
  out->res.array.hArray = texture->array;
  return status;
}

int texture_copy(const struct driver *driver, const struct texture *texture, CUstream stream,
                 cugen_error *err) {
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
  return CHECK(driver, err, copy_3d, (&copy, stream));
}

/* ---- Both kinds ----------------------------------------------------------------------------- */

static const CUaddress_mode address_modes[ADDRESS_KIND_COUNT] = {
    [ADDRESS_CLAMP] = CU_TR_ADDRESS_MODE_CLAMP,
    [ADDRESS_BORDER] = CU_TR_ADDRESS_MODE_BORDER,
    [ADDRESS_WRAP] = CU_TR_ADDRESS_MODE_WRAP,
    [ADDRESS_MIRROR] = CU_TR_ADDRESS_MODE_MIRROR};

/* Integers are not converted to floats. The hardware repeats and reflects only coordinates from
   0 to 1 (CUDA Driver API, cuTexObjectCreate). */
static CUDA_TEXTURE_DESC describe_reading(const struct kernel_argument *argument) {
  CUDA_TEXTURE_DESC out = {.filterMode = CU_TR_FILTER_MODE_POINT};
  for (int i = 0; i < 3; i++) out.addressMode[i] = address_modes[argument->address];
  if (!argument->dtype->floating) out.flags |= CU_TRSF_READ_AS_INTEGER;
  if (argument->address == ADDRESS_WRAP || argument->address == ADDRESS_MIRROR)
    out.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  return out;
}

int texture_open(const struct driver *driver, CUdevice handle,
                 const struct kernel_argument *argument, void *buffer, struct texture *out,
                 cugen_error *err) {
  CUDA_RESOURCE_DESC resource = {.flags = 0};
  CUDA_TEXTURE_DESC reading = describe_reading(argument);
  CUtexObject object = 0;
  *out = (struct texture){.argument = argument, .buffer = buffer};
  int status = argument->access == ACCESS_ARRAY
                   ? describe_array(driver, out, &resource, err)
                   : describe_buffer(driver, handle, argument, buffer, &resource, err);
  if (!status) status = CHECK(driver, err, texture_create, (&object, &resource, &reading, NULL));
  out->object = object;
  if (status) {
    if (status == CUGEN_ERROR_DEVICE) error_prefix(err, "texture '%s'", argument->name);
    texture_close(driver, out);
  }
  return status;
}

void texture_close(const struct driver *driver, struct texture *texture) {
  if (texture->object) driver->texture_destroy(texture->object);
  if (texture->array) driver->array_destroy(texture->array);
  *texture = (struct texture){0};
}
