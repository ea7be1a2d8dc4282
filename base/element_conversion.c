/* Elements of any dtype; see element_conversion.h. */
#include "element_conversion.h"

/* Tell whether a type holds `number`, which was stored as `bits`: an integer type must hold the
   number exactly; in a float type a finite number must not round beyond the largest number, and an
   infinity must exist. */
#define ELEMENT_HOLDS_FLOAT(bits, number, ...) (isnan(number) || isfinite(number) == isfinite(bits))
#define ELEMENT_HOLDS_SMALL(bits, number, ...)                                                     \
  small_float_holds((struct small_float){__VA_ARGS__}, number)
#define ELEMENT_HOLDS_INT(bits, number, ...)  ((double)(bits) == (number))
#define ELEMENT_HOLDS_UINT(bits, number, ...) ((double)(bits) == (number))

/* load_ drops the sign of a small float's NaN, which means nothing. */
#define ELEMENT_FUNCTIONS(name, kind, stored, cuda, header, exponent, fraction, infinities, ...)   \
  static double load_##name(const void *from, int64_t index) {                                     \
    const double value = name##_to_double(((const stored *)from)[index]);                          \
    return DTYPE_##kind == DTYPE_SMALL && isnan(value) ? (double)NAN : value;                      \
  }                                                                                                \
  static void store_##name(void *to, int64_t index, double value) {                                \
    ((stored *)to)[index] = double_to_##name(value);                                               \
  }                                                                                                \
  static bool get_##name(const void *from, int64_t index, int64_t *value) {                        \
    *value = (int64_t)((const stored *)from)[index];                                               \
    return DTYPE_##kind == DTYPE_INT || *value >= 0;                                               \
  }                                                                                                \
  static bool put_##name(void *to, int64_t index, const struct value *value) {                     \
    stored *out = (stored *)to + index;                                                            \
    int64_t got;                                                                                   \
    if (DTYPE_##kind >= DTYPE_INT && value->type == VALUE_INT) {                                   \
      *out = (stored)value->integer;                                                               \
      return get_##name(out, 0, &got) && got == value->integer;                                    \
    }                                                                                              \
    const double number = value_real(value);                                                       \
    if (DTYPE_##kind >= DTYPE_INT && isnan(number)) return false;                                  \
    *out = double_to_##name(number);                                                               \
    return ELEMENT_HOLDS_##kind(*out, number, exponent, fraction, infinities);                     \
  }
DTYPES(ELEMENT_FUNCTIONS)

#define ELEMENT_ROW(name, ...) {load_##name, store_##name, get_##name, put_##name},
static const struct {
  element_loader *load;
  element_storer *store;
  element_getter *get;
  bool (*put)(void *to, int64_t index, const struct value *value);
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

bool element_put(const struct dtype *dtype, void *to, int64_t index, const struct value *value) {
  return conversions[dtype->id].put(to, index, value);
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

bool element_pack(const struct dtype *dtype, struct value value, unsigned char *out) {
  int64_t aligned;
  if (value.type == VALUE_BOOL) value = value_int(value.boolean);
  if (!value_is_number(&value)) return false;
  if (!element_put(dtype, &aligned, 0, &value) && !dtype->floating) return false;
  memcpy(out, &aligned, (size_t)dtype->bytes);
  return true;
}

bool element_overflows(const struct dtype *dtype, struct value value) {
  int64_t aligned;
  return value_is_number(&value) && dtype->floating && isfinite(value_real(&value)) &&
         !element_put(dtype, &aligned, 0, &value);
}
