/* Part of cuda_shim.h: textures. */
/* clang-format off */
/* ---- Textures: point-sampled, one channel ---------------------------------------------------------------------- */

typedef unsigned long long cudaTextureObject_t;

/* The element that a coordinate means along a dimension; -1: none, zero is read. */
CUGEN_INLINE long long cugen_texel_index(const cpu_texture *texture, float at, long long count) {
  const bool unit = texture->address == CPU_ADDRESS_WRAP || texture->address == CPU_ADDRESS_MIRROR;
  const double place = floor(unit ? (double)at * (double)count : (double)at);
  /* 2^62; hexadecimal literals are C++17's */
  const long long index = !(place > -4611686018427387904.0) ? -1 : !(place < 4611686018427387904.0) ? count : (long long)place;
  const long long period = texture->address == CPU_ADDRESS_MIRROR ? 2 * count : count;
  if (texture->address == CPU_ADDRESS_CLAMP) return index < 0 ? 0 : index < count ? index : count - 1;
  if (texture->address == CPU_ADDRESS_BORDER) return index < 0 || index >= count ? -1 : index;
  const long long within = (index % period + period) % period;
  return within < count ? within : period - 1 - within;
}
template <class Value> struct cugen_texel {
  static Value load(const cpu_texture *texture, long long at) { return static_cast<const Value *>(texture->base)[at]; }
};
template <> struct cugen_texel<float> {
  static float load(const cpu_texture *texture, long long at) {
    if (!texture->half_float) return static_cast<const float *>(texture->base)[at];
    return cugen_binary16::decode(static_cast<const unsigned short *>(texture->base)[at]);
  }
};
template <class Value> CUGEN_INLINE Value tex3D(cudaTextureObject_t object, float x, float y, float z) {
  const cpu_texture *texture = reinterpret_cast<const cpu_texture *>(object);
  const long long i = cugen_texel_index(texture, x, texture->width);
  const long long j = cugen_texel_index(texture, y, texture->height);
  const long long k = cugen_texel_index(texture, z, texture->depth);
  return i < 0 || j < 0 || k < 0 ? Value() : cugen_texel<Value>::load(texture, i + j * texture->row + k * texture->slice);
}
template <class Value> CUGEN_INLINE Value tex2D(cudaTextureObject_t object, float x, float y) {
  return tex3D<Value>(object, x, y, 0);
}
template <class Value> CUGEN_INLINE Value tex1D(cudaTextureObject_t object, float x) {
  return tex3D<Value>(object, x, 0, 0);
}
