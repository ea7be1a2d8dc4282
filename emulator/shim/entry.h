/* Part of cuda_shim.h: constants, and the code after the user's source. */
/* ---- Constants of math_constants.h ----------------------------------------------------------- */

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF   __builtin_inf()
#define CUDART_NAN   __builtin_nan("")
#define CUDART_PI_F  3.141592654f
#define CUDART_PI    3.1415926535897931e+0

/* ---- Entries: after the user's source, one for each kernel that is wanted ------------------- */

template <unsigned... index> struct cugen_indices {};
template <unsigned count, unsigned... index>
struct cugen_count_up : cugen_count_up<count - 1, count - 1, index...> {};
template <unsigned... index> struct cugen_count_up<0, index...> {
  typedef cugen_indices<index...> type;
};
/* Reading a thread's parameters is not an access of the kernel. */
#ifdef CUGEN_WATCH
#define CUGEN_PLAIN __attribute__((__no_sanitize__("thread")))
#else
#define CUGEN_PLAIN
#endif
template <class... Parameter, unsigned... index>
CUGEN_PLAIN static inline void cugen_call(void (*kernel)(Parameter...), void **parameters,
                                          cugen_indices<index...>) {
  (void)parameters;
  kernel(*static_cast<Parameter *>(parameters[index])...);
}
template <class... Parameter>
CUGEN_PLAIN static inline void cugen_launch(void (*kernel)(Parameter...), void **parameters) {
  cugen_call(kernel, parameters, typename cugen_count_up<sizeof...(Parameter)>::type());
}
template <class... Parameter>
static inline int cugen_describe(void (*)(Parameter...), int *sizes, int capacity) {
  const int all[] = {0, (int)sizeof(Parameter)...};
  for (int i = 0; i < (int)sizeof...(Parameter) && i < capacity; ++i) sizes[i] = all[i + 1];
  return sizeof...(Parameter);
}
/* CUGEN_ENTRY(0, reduce<4>) runs one CUDA thread; parameters[i] points at the i-th parameter's
   value. A second function gives the number of the kernel's parameters and their sizes. */
#define CUGEN_ENTRY(number, ...)                                                               \
  extern "C" CUGEN_PLAIN __attribute__((__visibility__("default"))) void cugen_entry_##number( \
      void **cugen_parameters) {                                                               \
    cugen_launch(&__VA_ARGS__, cugen_parameters);                                              \
  }                                                                                            \
  extern "C" __attribute__((__visibility__("default"))) int cugen_entry_##number##_takes(      \
      int *cugen_sizes, int cugen_capacity) {                                                  \
    return cugen_describe(&__VA_ARGS__, cugen_sizes, cugen_capacity);                          \
  }
/* CUGEN_NUMBERS(0, cluster, 2, 1, 1) is for a kernel with __cluster_dims__(2, 1, 1). For the
   instance of a template: CUGEN_NUMBERS_OF(0, cluster, (template <int n>), (<2>), n, 1, 1). */
#define CUGEN_NUMBERS(number, what, ...)                          \
  extern "C" __attribute__((__visibility__("default"), __used__)) \
  const unsigned cugen_entry_##number##_##what[3] = {__VA_ARGS__};
#define CUGEN_BARE(...) __VA_ARGS__
#define CUGEN_NUMBERS_OF(number, what, parameters, instance, ...)                        \
  CUGEN_BARE parameters struct cugen_##what##_of_##number {                              \
    static constexpr unsigned value[3] = {__VA_ARGS__};                                  \
  };                                                                                     \
  CUGEN_NUMBERS(number, what, cugen_##what##_of_##number CUGEN_BARE instance ::value[0], \
                cugen_##what##_of_##number CUGEN_BARE instance ::value[1],               \
                cugen_##what##_of_##number CUGEN_BARE instance ::value[2])
/* For a source whose blocks may wait for each other. */
#define CUGEN_COOPERATIVE \
  extern "C" __attribute__((__visibility__("default"))) const char cugen_cooperative = 1;
/* For a source that mentions alignment: its dynamic shared memory may need a larger alignment
   than CUDA guarantees. */
#define CUGEN_ALIGNED \
  extern "C" __attribute__((__visibility__("default"))) const char cugen_aligned = 1;
