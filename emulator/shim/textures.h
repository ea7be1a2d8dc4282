/* Part of cuda_shim.h: textures, where unit.c defines CUGEN_TEXTURES. */
#ifdef CUGEN_TEXTURES
/* ---- Textures: point-sampled, one channel ---------------------------------------------------- */

typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;

/* Returns the element that a coordinate selects along a dimension; -1: none, and zero is read. */
CUGEN_INLINE long long cugen_texel_index(const cpu_texture *texture, float at, long long count) {
  const bool unit = texture->address == CPU_ADDRESS_WRAP || texture->address == CPU_ADDRESS_MIRROR;
  const double place = floor(unit ? (double)at * (double)count : (double)at);
  /* 2^62; hexadecimal literals need C++17 */
  const long long index = !(place > -4611686018427387904.0)  ? -1
                          : !(place < 4611686018427387904.0) ? count
                                                             : (long long)place;
  const long long period = texture->address == CPU_ADDRESS_MIRROR ? 2 * count : count;
  if (texture->address == CPU_ADDRESS_CLAMP)
    return index < 0 ? 0 : index < count ? index : count - 1;
  if (texture->address == CPU_ADDRESS_BORDER) return index < 0 || index >= count ? -1 : index;
  const long long within = (index % period + period) % period;
  return within < count ? within : period - 1 - within;
}
template <class Value> struct cugen_texel {
  static Value load(const cpu_texture *texture, long long at) {
    return static_cast<const Value *>(texture->base)[at];
  }
};
template <> struct cugen_texel<float> {
  static float load(const cpu_texture *texture, long long at) {
    if (!texture->half_float) return static_cast<const float *>(texture->base)[at];
    return cugen_binary16::decode(static_cast<const unsigned short *>(texture->base)[at]);
  }
};
template <class Value>
CUGEN_INLINE Value tex3D(cudaTextureObject_t object, float x, float y, float z) {
  const cpu_texture *texture = reinterpret_cast<const cpu_texture *>(object);
  const long long i = cugen_texel_index(texture, x, texture->width);
  const long long j = cugen_texel_index(texture, y, texture->height);
  const long long k = cugen_texel_index(texture, z, texture->depth);
  return i < 0 || j < 0 || k < 0
             ? Value()
             : cugen_texel<Value>::load(texture, i + j * texture->row + k * texture->slice);
}
template <class Value> CUGEN_INLINE Value tex2D(cudaTextureObject_t object, float x, float y) {
  return tex3D<Value>(object, x, y, 0);
}
template <class Value> CUGEN_INLINE Value tex1D(cudaTextureObject_t object, float x) {
  return tex3D<Value>(object, x, 0, 0);
}
/* A texture has one level of detail; a layer is an index along the third dimension. */
template <class Value> CUGEN_INLINE Value tex1DLod(cudaTextureObject_t object, float x, float) {
  return tex3D<Value>(object, x, 0, 0);
}
template <class Value>
CUGEN_INLINE Value tex2DLod(cudaTextureObject_t object, float x, float y, float) {
  return tex3D<Value>(object, x, y, 0);
}
template <class Value>
CUGEN_INLINE Value tex3DLod(cudaTextureObject_t object, float x, float y, float z, float) {
  return tex3D<Value>(object, x, y, z);
}
template <class Value>
CUGEN_INLINE Value tex1DLayered(cudaTextureObject_t object, float x, int layer) {
  return tex3D<Value>(object, x, 0, (float)layer);
}
template <class Value>
CUGEN_INLINE Value tex2DLayered(cudaTextureObject_t object, float x, float y, int layer) {
  return tex3D<Value>(object, x, y, (float)layer);
}
/* Reads by index; outside of the texture, zero. */
template <class Value> CUGEN_INLINE Value tex1Dfetch(cudaTextureObject_t object, int i) {
  const cpu_texture *texture = reinterpret_cast<const cpu_texture *>(object);
  return i < 0 || i >= texture->width ? Value() : cugen_texel<Value>::load(texture, i);
}

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* A surface is the memory of a texture, addressed by byte along x. In the default mode, as in CUDA,
   an access outside of a surface ends the launch. */

enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
template <class Value>
CUGEN_INLINE Value *cugen_surface(cudaSurfaceObject_t object, int x, int y, int z,
                                  cudaSurfaceBoundaryMode mode) {
  const cpu_texture *surface = reinterpret_cast<const cpu_texture *>(object);
  long long i = x / (long long)sizeof(Value), j = y, k = z;
  const bool inside =
      x >= 0 && i < surface->width && j >= 0 && j < surface->height && k >= 0 && k < surface->depth;
  if (!inside && mode == cudaBoundaryModeTrap)
    cugen_own_hooks->trap("an access outside of a surface");
  if (!inside && mode == cudaBoundaryModeZero) return 0;
  i = i < 0 ? 0 : i < surface->width ? i : surface->width - 1;
  j = j < 0 ? 0 : j < surface->height ? j : surface->height - 1;
  k = k < 0 ? 0 : k < surface->depth ? k : surface->depth - 1;
  return const_cast<Value *>(static_cast<const Value *>(surface->base)) + i + j * surface->row +
         k * surface->slice;
}
#ifdef CUGEN_SURFACES
#define CUGEN_SURFACE(name, x_y_z, ...)                                                      \
  template <class Value>                                                                     \
  CUGEN_INLINE Value surf##name##read(cudaSurfaceObject_t object, __VA_ARGS__,               \
                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    const Value *at = cugen_surface<Value> x_y_z;                                            \
    return at ? *at : Value();                                                               \
  }                                                                                          \
  template <class Value>                                                                     \
  CUGEN_INLINE void surf##name##read(Value *to, cudaSurfaceObject_t object, __VA_ARGS__,     \
                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {  \
    const Value *at = cugen_surface<Value> x_y_z;                                            \
    *to = at ? *at : Value();                                                                \
  }                                                                                          \
  template <class Value>                                                                     \
  CUGEN_INLINE void surf##name##write(Value value, cudaSurfaceObject_t object, __VA_ARGS__,  \
                                      cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) { \
    Value *at = cugen_surface<Value> x_y_z;                                                  \
    if (at) *at = value;                                                                     \
  }
CUGEN_SURFACE(1D, (object, x, 0, 0, mode), int x)
CUGEN_SURFACE(2D, (object, x, y, 0, mode), int x, int y)
CUGEN_SURFACE(3D, (object, x, y, z, mode), int x, int y, int z)
CUGEN_SURFACE(2DLayered, (object, x, y, z, mode), int x, int y, int z)
#undef CUGEN_SURFACE
#endif
#endif
