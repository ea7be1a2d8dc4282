#pragma once
// `Width` neighbouring elements that move in one access. Memory instructions move at most 16 bytes a thread, and an
// access of Width elements needs an address that is a multiple of their size.
template <typename T, int Width> struct alignas(Width * sizeof(T)) pack {
  T at[Width];
};

template <int Width, typename T> __device__ __forceinline__ void check_pack(const T *at) {
#ifdef __CUGEN_CPU__
  if (reinterpret_cast<size_t>(at) % (Width * sizeof(T))) __trap(); // a GPU traps here, other processors would not
#endif
}

template <int Width, typename T> __device__ __forceinline__ pack<T, Width> load_pack(const T *from) {
  check_pack<Width>(from);
  return *reinterpret_cast<const pack<T, Width> *>(from);
}

template <int Width, typename T> __device__ __forceinline__ void store_pack(T *to, const pack<T, Width> &values) {
  check_pack<Width>(to);
  *reinterpret_cast<pack<T, Width> *>(to) = values;
}

// These two functions load a pack into an array and store a pack from an array, whose elements may stand in separate registers.
template <int Width, typename T> __device__ __forceinline__ void load_elements(T *to, const T *from) {
  const pack<T, Width> elements = load_pack<Width>(from);
#pragma unroll
  for (int e = 0; e < Width; ++e) to[e] = elements.at[e];
}

template <int Width, typename T> __device__ __forceinline__ void store_elements(T *to, const T *from) {
  pack<T, Width> elements;
#pragma unroll
  for (int e = 0; e < Width; ++e) elements.at[e] = from[e];
  store_pack(to, elements);
}

// Returns whether packs may start at base and at base plus any multiple of stride. Packs of one element always may.
template <int Width, typename T> __device__ __forceinline__ bool packs_fit(const T *base, index_t stride) {
  return Width == 1 || (stride % Width == 0 && reinterpret_cast<size_t>(base) % (Width * sizeof(T)) == 0);
}
