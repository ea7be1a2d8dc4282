/* ---- Tensor maps: arguments that a kernel reaches through the tensor memory accelerator ------ */

/* Returns a CUtensorMapDataType. For a type that is not in the list, an unsigned type of its size
   serves: the type decides only what is read outside of the bounds, which is zero in every type. */
static int tensor_type(const struct argument_sizes *a) {
  static const struct {
    const char *dtype;
    int type;
  } types[] = {{"i32", 3}, {"i64", 5}, {"f16", 6}, {"f32", 7}, {"f64", 8}, {"bf16", 9}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].dtype, a->dtype) == 0) return types[i].type;
  return a->bytes == 1 ? 0 : a->bytes == 2 ? 1 : a->bytes == 4 ? 2 : 4;
}

/* A tensor's dimensions as the driver takes them: the contiguous one first, strides in bytes from
   the second on, and equal parts of the outermost dimension as one more dimension. */
struct tensor_extent {
  unsigned rank;
  unsigned long long shape[BUNDLE_MAX_RANK + 1], stride[BUNDLE_MAX_RANK + 1];
  unsigned box[BUNDLE_MAX_RANK + 1];
};

static struct tensor_extent tensor_extent(const struct argument_sizes *a) {
  struct tensor_extent out = {(unsigned)a->rank, {0}, {0}, {0}};
  for (int i = 0; i < a->rank; i++) {
    const int at = a->order[a->rank - 1 - i];
    out.shape[i] = (unsigned long long)a->shape[at];
    out.stride[i] = (unsigned long long)(a->stride[at] * a->bytes);
    out.box[i] = (unsigned)a->box[at];
  }
  if (a->parts <= 1) return out;
  unsigned last = out.rank++;
  out.shape[last - 1] /= (unsigned long long)a->parts;
  out.shape[last] = (unsigned long long)a->parts;
  out.stride[last] = out.stride[last - 1] * out.shape[last - 1];
  out.box[last] = 1;
  return out;
}

static int encode_tensor(const bundle_plan *plan, size_t at, void *given, struct tensor_map *out,
                         bundle_error *error) {
  static const unsigned steps[BUNDLE_MAX_RANK + 1] = {1, 1, 1, 1, 1};
  const struct driver *driver = &plan->library->driver;
  const struct argument_sizes *a = &plan->sizes.arguments[at];
  const struct tensor_extent extent = tensor_extent(a);
  const char *name = arguments_of_kernel[at].name;
  enum { PROMOTE_TO_256_BYTES = 3 };
  int swizzle = a->swizzle == 32 ? 1 : a->swizzle == 64 ? 2 : a->swizzle == 128 ? 3 : 0;
  if (!driver->tensor_encode)
    return fail(error, BUNDLE_ERROR_MISSING,
                "@name: argument '%s' is reached through a tensor map, and this driver makes none: "
                "they came with "
                "CUDA 12.0",
                name);
  if ((uintptr_t)given % 16)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: argument '%s' is reached through a tensor map: its address must be a "
                "multiple of 16 bytes, "
                "not %p",
                name, given);
  return CALL(driver, tensor_encode,
              (out, tensor_type(a), extent.rank, given, extent.shape, extent.stride + 1, extent.box,
               steps, 0, swizzle, PROMOTE_TO_256_BYTES, 0),
              error);
}
