#pragma once
//@ include "lib/pack.cuh"

// Memory moved as bits, whatever the elements are: an access of 1 to 16 bytes has one unsigned type, so that a NaN or
// an infinity is moved like any other value, and a modifier for the cache can be named on each access.
template <int Bytes> struct bits_of;
template <> struct bits_of<1> { using type = unsigned char; };
template <> struct bits_of<2> { using type = unsigned short; };
template <> struct bits_of<4> { using type = unsigned int; };
template <> struct bits_of<8> { using type = uint2; };
template <> struct bits_of<16> { using type = uint4; };

// Returns whether accesses of Bytes may start at base and at base plus any multiple of step bytes.
template <int Bytes> __device__ __forceinline__ bool accesses_fit(const void *base, long long step) {
  return (reinterpret_cast<size_t>(base) | static_cast<size_t>(step)) % Bytes == 0;
}

//@ local loads = {
//@   l1 = "__ldca(from)",         -- through L1 and L2: what a plain load does
//@   l2 = "__ldcg(from)",         -- past L1
//@   read_only = "__ldg(from)",   -- through L1 by the read-only path: nobody writes the memory while the kernel runs
//@   streaming = "__ldcs(from)",  -- read once: the first to leave the caches
//@ }
//@ local stores = { plain = "*to = value", streaming = "__stcs(to, value)" }
template <typename Bits> __device__ __forceinline__ Bits load_bits(const Bits *from) {
  check_pack<1>(from);
  return ${loads[load_through]};
}

template <typename Bits> __device__ __forceinline__ void store_bits(Bits *to, Bits value) {
  check_pack<1>(to);
  ${stores[store_as]};
}
