// Device memory: filling it with random data, and comparing two results. Types have the names of
// cugen's configs.
#pragma once
#include <cstddef>
#include <utility>

struct Buffer {
  void *at = nullptr;
  size_t bytes = 0;
  Buffer() = default;
  explicit Buffer(size_t bytes);
  Buffer(Buffer &&other) noexcept {
    std::swap(at, other.at), std::swap(bytes, other.bytes);
  }
  Buffer &operator=(Buffer &&other) noexcept {
    return std::swap(at, other.at), std::swap(bytes, other.bytes), *this;
  }
  ~Buffer();
  // Of floating point fractions in [-1, 1), of integers numbers in [-1000, 1000), of bytes any.
  void fill(const char *dtype, unsigned seed);
  void poison();
};

size_t type_bytes(const char *dtype);

// Elements of got that are off by more than tolerance * max(1, |wanted|); NaN is.
unsigned long long count_differing(const Buffer &got, const Buffer &wanted, const char *dtype,
                                   double tolerance);
