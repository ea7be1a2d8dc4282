#pragma once
// A view of an image that has an element at any row and column: outside of the image, `boundary` says which element.
// Needs the problem's boundary, the arguments `image` and `weights`, and the tunable image_in.

// Returns the index that is read in place of index i; negative: none, and the value is zero. With "mirror" or "wrap", an index
// further out than the image's size is reflected or repeated several times.
__device__ __forceinline__ index_t inside(index_t i, index_t count) {
//@ if boundary == "clamp" then
  return min(max(i, static_cast<index_t>(0)), count - 1);
//@ elseif boundary == "zero" then
  return i < count ? i : -1;
//@ elseif boundary == "mirror" then
  while (i < 0 || i >= count) i = i < 0 ? -1 - i : count - 1 - (i - count);
  return i;
//@ else
  while (i < 0) i += count;
  while (i >= count) i -= count;
  return i;
//@ end
}

struct image_view {
//@ if image_in == "global" then
  const image_t *base;
  index_t stride;
//@ else
  cudaTextureObject_t texture;
//@ end
  index_t height, width;

  __device__ __forceinline__ weights_t at(index_t row, index_t col) const {
//@ if image_in == "global" then
    const index_t r = inside(row, height);
    const index_t c = inside(col, width);
//@   if boundary == "zero" then
    if (r < 0 || c < 0) return 0;
//@   end
    return static_cast<weights_t>(base[r * stride + c]);
//@ elseif boundary == "mirror" or boundary == "wrap" then
    // The hardware repeats and reflects only with normalised coordinates, by which the image reaches from 0 to 1.
    return tex2D<float>(texture, (static_cast<float>(col) + 0.5f) / static_cast<float>(width),
                        (static_cast<float>(row) + 0.5f) / static_cast<float>(height));
//@ else
    return tex2D<float>(texture, static_cast<float>(col) + 0.5f, static_cast<float>(row) + 0.5f);
//@ end
  }
};
//@ function view()
//@   return image_in == "global" and "{image, image_stride0, rows, cols}" or "{image, rows, cols}"
//@ end
