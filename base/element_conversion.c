/* Elements of any dtype; see element_conversion.h. */
#include "element_conversion.h"

/* The sign of a NaN of a small float is dropped, because the NaN is printed and its bits may be
   anything. */
#define ELEMENT_FUNCTIONS(name, kind, stored, ...)                                                 \
  static double load_##name(const void *from, int64_t index) {                                     \
    const double value = name##_to_double(((const stored *)from)[index]);                          \
    return DTYPE_##kind == DTYPE_SMALL && isnan(value) ? (double)NAN : value;                      \
  }                                                                                                \
  static void store_##name(void *to, int64_t index, double value) {                                \
    ((stored *)to)[index] = double_to_##name(value);                                               \
  }                                                                                                \
  static bool get_##name(const void *from, int64_t index, int64_t *value) {                        \
    *value = (int64_t)((const stored *)from)[index];                                               \
    return DTYPE_##kind == DTYPE_SIGNED || *value >= 0;                                            \
  }
DTYPES(ELEMENT_FUNCTIONS)

#define ELEMENT_ROW(name, ...) {load_##name, store_##name, get_##name},
static const struct {
  element_loader *load;
  element_storer *store;
  element_getter *get;
} conversions[DTYPE_COUNT] = {DTYPES(ELEMENT_ROW)};

element_loader *element_load_of(const struct dtype *dtype) {
  return conversions[dtype->id].load;
}

element_storer *element_store_of(const struct dtype *dtype) {
  return conversions[dtype->id].store;
}

element_getter *element_get_of(const struct dtype *dtype) {
  return dtype->floating ? NULL : conversions[dtype->id].get;
}

double element_load(const struct dtype *dtype, const void *from, int64_t index) {
  return element_load_of(dtype)(from, index);
}

void element_store(const struct dtype *dtype, void *to, int64_t index, double value) {
  element_store_of(dtype)(to, index, value);
}

void element_widen(const struct dtype *dtype, const void *from, int64_t at, void *to,
                   int64_t index) {
  const size_t bytes = (size_t)dtype->bytes;
  if (dtype->wide == dtype)
    memcpy((char *)to + bytes * (size_t)index, (const char *)from + bytes * (size_t)at, bytes);
  else
    element_store(dtype->wide, to, index, element_load(dtype, from, at));
}

/* ---- Numbers given by the user -------------------------------------------------------------- */

static double conversion_number_of(const struct value *value) {
  return value->type == VALUE_INT ? (double)value->integer : value->real;
}

/* Returns whether the float type can hold the value: a finite number must stay finite; an infinity
   or NaN must stay one. */
static bool float_holds(const struct dtype *dtype, double value) {
  if (dtype->kind == DTYPE_SMALL) return small_float_holds(dtype->format, value);
  return dtype->bytes == sizeof(double) || isnan(value) ||
         isfinite(value) == isfinite((float)value);
}

static bool conversion_is_number(const struct value *value) {
  return value->type == VALUE_INT || value->type == VALUE_FLOAT;
}

bool element_put(const struct dtype *dtype, void *to, int64_t index, const struct value *value) {
  if (!dtype->floating && value->type == VALUE_INT) {
    const bool fits = dtype_fits(dtype, value->integer);
    /* Every machine with a CUDA driver is little-endian. */
    if (fits) memcpy((char *)to + index * dtype->bytes, &value->integer, (size_t)dtype->bytes);
    return fits;
  }
  const double number = conversion_number_of(value);
  if (!dtype->floating && isnan(number)) return false;
  element_store(dtype, to, index, number);
  return dtype->floating ? float_holds(dtype, number) : element_load(dtype, to, index) == number;
}

bool element_pack(const struct dtype *dtype, struct value value, unsigned char *out) {
  int64_t aligned;
  if (value.type == VALUE_BOOL) value = value_int(value.boolean);
  if (!conversion_is_number(&value)) return false;
  if (!element_put(dtype, &aligned, 0, &value) && !dtype->floating) return false;
  memcpy(out, &aligned, (size_t)dtype->bytes);
  return true;
}

bool element_overflows(const struct dtype *dtype, struct value value) {
  if (value.type == VALUE_BOOL || !conversion_is_number(&value) || !dtype->floating) return false;
  const double number = conversion_number_of(&value);
  return isfinite(number) && !float_holds(dtype, number);
}
