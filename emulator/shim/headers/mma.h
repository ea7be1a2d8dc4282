/* <mma.h>: nvcuda::wmma. CUDA does not say which lane holds which element. Here a lane holds other
   elements than it fills in a loop such as i = lane; i += 32, so that a missing barrier has an
   effect. The lane that comes last multiplies for all. */
#ifndef CUGEN_MMA
#define CUGEN_MMA
namespace nvcuda {
namespace wmma {
struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
} // namespace precision
template <class Element> struct cugen_element { typedef Element type, number; };
template <> struct cugen_element<precision::tf32> { typedef float type; };
template <class Use, int m, int n, int k> struct cugen_matrix;
template <int m, int n, int k> struct cugen_matrix<matrix_a, m, n, k> {
  static constexpr int rows = m, columns = k;
};
template <int m, int n, int k> struct cugen_matrix<matrix_b, m, n, k> {
  static constexpr int rows = k, columns = n;
};
template <int m, int n, int k> struct cugen_matrix<accumulator, m, n, k> {
  static constexpr int rows = m, columns = n;
};
template <class Use, int m, int n, int k, class Element, class Layout = void> struct fragment {
  typedef cugen_matrix<Use, m, n, k> cugen_shape;
  typedef typename cugen_element<Element>::type element_type, storage_element_type;
  static constexpr int num_elements = cugen_shape::rows * cugen_shape::columns / 32,
                       num_storage_elements = num_elements;
  element_type x[num_elements];
};

/* Waits for all lanes; does not order memory. */
CUGEN_INLINE void cugen_meet() {
  int nothing = 0;
  [[maybe_unused]] const unsigned came =
      cugen_own_hooks->warp(~0u, cugen_combine_nothing, &nothing);
#ifdef CUGEN_WATCH
  if (~came) cugen_own_watch->lane(~0u, (unsigned)__builtin_ctz(~came));
#endif
}
template <class Layout> struct cugen_is_row { static constexpr bool value = true; };
template <> struct cugen_is_row<col_major> { static constexpr bool value = false; };

/* Element e of lane l is number 32 e + (l ^ twist), row by row. */
CUGEN_INLINE int cugen_twist(int element) { return (element * 11 + 5) & 31; }
template <class Fragment>
CUGEN_INLINE size_t cugen_place(int element, bool by_rows, unsigned leading) {
  const int i = element * 32 + ((int)cugen_lane() ^ cugen_twist(element)),
            row = i / Fragment::cugen_shape::columns, column = i % Fragment::cugen_shape::columns;
  return by_rows ? (size_t)row * leading + column : (size_t)column * leading + row;
}
template <class Fragment, class Element>
CUGEN_INLINE void cugen_load(Fragment &to, const Element *from, unsigned leading, bool by_rows) {
  cugen_meet();
  for (int e = 0; e < Fragment::num_elements; ++e)
    to.x[e] = from[cugen_place<Fragment>(e, by_rows, leading)];
}
template <class Use, int m, int n, int k, class Element, class Layout, class From>
CUGEN_INLINE void load_matrix_sync(fragment<Use, m, n, k, Element, Layout> &to, const From *from,
                                   unsigned leading) {
  cugen_load(to, from, leading, cugen_is_row<Layout>::value);
}
template <int m, int n, int k, class Element, class From>
CUGEN_INLINE void load_matrix_sync(fragment<accumulator, m, n, k, Element> &to, const From *from,
                                   unsigned leading, layout_t layout) {
  cugen_load(to, from, leading, layout == mem_row_major);
}
template <int m, int n, int k, class Element, class To>
CUGEN_INLINE void store_matrix_sync(To *to, const fragment<accumulator, m, n, k, Element> &from,
                                    unsigned leading, layout_t layout) {
  typedef fragment<accumulator, m, n, k, Element> Fragment;
  cugen_meet();
  for (int e = 0; e < Fragment::num_elements; ++e)
    to[cugen_place<Fragment>(e, layout == mem_row_major, leading)] = from.x[e];
}
template <class Use, int m, int n, int k, class Element, class Layout, class Value>
CUGEN_INLINE void fill_fragment(fragment<Use, m, n, k, Element, Layout> &to, const Value &value) {
  for (auto &x : to.x) x = value;
}
CUGEN_INLINE float __float_to_tf32(float x) {
  return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
}

template <class Element> struct cugen_sum { typedef float type; };
template <> struct cugen_sum<double> { typedef double type; };
template <> struct cugen_sum<int> { typedef int type; };

template <class D, class A, class B, class C, int m, int n, int k, bool tf32> struct cugen_product {
  D *d;
  const A *a;
  const B *b;
  const C *c;
  typedef typename cugen_sum<typename D::element_type>::type Sum;
  template <class Fragment> static Sum at(const Fragment *const *all, int row, int column) {
    const int i = row * Fragment::cugen_shape::columns + column;
    const Sum value = (Sum)all[i % 32 ^ cugen_twist(i / 32)]->x[i / 32];
    /* the bits that reach the multiplier */
    if constexpr (tf32)
      return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
    else
      return value;
  }
  static void multiply(void **slots, unsigned) {
    const A *a[32];
    const B *b[32];
    D result[32];
    for (int lane = 0; lane < 32; ++lane) {
      const cugen_product *own = static_cast<const cugen_product *>(slots[lane]);
      if (!own) return;
      a[lane] = own->a;
      b[lane] = own->b;
    }
    for (int i = 0; i < m * n; ++i) {
      Sum sum = (Sum) static_cast<const cugen_product *>(slots[i % 32 ^ cugen_twist(i / 32)])
                    ->c->x[i / 32];
      for (int t = 0; t < k; ++t) sum += at(a, i / n, t) * at(b, t, i % n);
      result[i % 32 ^ cugen_twist(i / 32)].x[i / 32] = (typename D::element_type)sum;
    }
    for (int lane = 0; lane < 32; ++lane)
      *static_cast<cugen_product *>(slots[lane])->d = result[lane];
  }
};
template <class Element> struct cugen_is_tf32 { static constexpr bool value = false; };
template <> struct cugen_is_tf32<precision::tf32> { static constexpr bool value = true; };
template <int m, int n, int k, class DE, class AE, class AL, class BE, class BL, class CE>
CUGEN_INLINE void mma_sync(fragment<accumulator, m, n, k, DE> &d,
                           const fragment<matrix_a, m, n, k, AE, AL> &a,
                           const fragment<matrix_b, m, n, k, BE, BL> &b,
                           const fragment<accumulator, m, n, k, CE> &c) {
  typedef fragment<accumulator, m, n, k, DE> D;
  typedef fragment<matrix_a, m, n, k, AE, AL> A;
  typedef fragment<matrix_b, m, n, k, BE, BL> B;
  typedef fragment<accumulator, m, n, k, CE> C;
  typedef cugen_product<D, A, B, C, m, n, k, cugen_is_tf32<AE>::value> Product;
  Product own = {&d, &a, &b, &c};
  [[maybe_unused]] const unsigned came = cugen_own_hooks->warp(~0u, Product::multiply, &own);
#ifdef CUGEN_WATCH
  if (~came) cugen_own_watch->lane(~0u, (unsigned)__builtin_ctz(~came));
#endif
}
} // namespace wmma
} // namespace nvcuda
#endif
