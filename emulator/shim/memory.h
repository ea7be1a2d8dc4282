/* Part of cuda_shim.h: loads and stores with hints, address spaces, and atomics where unit.c
   defines CUGEN_ATOMICS. */
/* ---- Loads and stores with cache hints: plain ones ------------------------------------------- */

#define CUGEN_LOAD(name) \
  template <class Value> CUGEN_INLINE Value name(const Value *from) { return *from; }
CUGEN_LOAD(__ldg)
CUGEN_LOAD(__ldca)
CUGEN_LOAD(__ldcs)
CUGEN_LOAD(__ldlu)
#undef CUGEN_LOAD
/* Loads that bypass the L1 cache, such as __ldcg. */
#ifdef CUGEN_WATCH
#define CUGEN_LOAD(name)                                              \
  template <class Value> CUGEN_INLINE Value name(const Value *from) { \
    cugen_note(from, sizeof *from, CPU_VOLATILE);                     \
    return cugen_peek(from);                                          \
  }
#else
#define CUGEN_LOAD(name) \
  template <class Value> CUGEN_INLINE Value name(const Value *from) { return *from; }
#endif
CUGEN_LOAD(__ldcg)
CUGEN_LOAD(__ldcv)
#undef CUGEN_LOAD
template <class Value> struct cugen_same { typedef Value type; };
#define CUGEN_STORE(name)                                                     \
  template <class Value>                                                      \
  CUGEN_INLINE void name(Value *to, typename cugen_same<Value>::type value) { \
    *to = value;                                                              \
  }
CUGEN_STORE(__stwb)
CUGEN_STORE(__stcg)
CUGEN_STORE(__stcs)
CUGEN_STORE(__stwt)
#undef CUGEN_STORE

CUGEN_INLINE size_t __cvta_generic_to_shared(const void *at) {
  return cugen_own_hooks->async->address(at);
}
CUGEN_INLINE size_t __cvta_generic_to_global(const void *at) {
  return reinterpret_cast<size_t>(at);
}
CUGEN_INLINE void *__cvta_shared_to_generic(size_t at) {
  return cugen_own_hooks->async->pointer((unsigned)at);
}

/* ---- Atomics: a thread is interrupted only where it synchronises ---------------------------- */

#ifdef CUGEN_ATOMICS
CUGEN_INLINE float2 cugen_sum(float2 x, float2 y) { return {x.x + y.x, x.y + y.y}; }
CUGEN_INLINE float4 cugen_sum(float4 x, float4 y) {
  return {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
}
#define CUGEN_ATOMIC_AS(name, type, expression, kind)          \
  CUGEN_INLINE type name(type *at, type value) {               \
    cugen_note(at, sizeof *at, CPU_WRITE | CPU_ATOMIC | kind); \
    const type old = cugen_peek(at);                           \
    cugen_poke(at, (type)(expression));                        \
    return old;                                                \
  }
#define CUGEN_ATOMIC_SCOPES(name, type, expression, kind)           \
  CUGEN_ATOMIC_AS(name, type, expression, kind)                     \
  CUGEN_ATOMIC_AS(name##_block, type, expression, kind | CPU_BLOCK) \
  CUGEN_ATOMIC_AS(name##_system, type, expression, kind)
#define CUGEN_ATOMIC(name, type, expression) CUGEN_ATOMIC_SCOPES(name, type, expression, 0)

#define CUGEN_EXCHANGE(type) CUGEN_ATOMIC_SCOPES(atomicExch, type, value, CPU_REPLACES)
#define CUGEN_ATOMIC_INTEGERS(name, expression) \
  CUGEN_ATOMIC(name, int, expression)           \
  CUGEN_ATOMIC(name, unsigned, expression)      \
  CUGEN_ATOMIC(name, unsigned long long, expression)
CUGEN_ATOMIC(atomicAdd, int, (unsigned)old + (unsigned)value)
CUGEN_ATOMIC(atomicAdd, unsigned, old + value)
CUGEN_ATOMIC(atomicAdd, unsigned long long, old + value)
CUGEN_ATOMIC(atomicAdd, float, old + value)
CUGEN_ATOMIC(atomicAdd, double, old + value)
CUGEN_ATOMIC(atomicAdd, float2, cugen_sum(old, value))
CUGEN_ATOMIC(atomicAdd, float4, cugen_sum(old, value))
CUGEN_ATOMIC(atomicSub, int, (unsigned)old - (unsigned)value)
CUGEN_ATOMIC(atomicSub, unsigned, old - value)
CUGEN_EXCHANGE(int)
CUGEN_EXCHANGE(unsigned)
CUGEN_EXCHANGE(unsigned long long)
CUGEN_EXCHANGE(float)
CUGEN_ATOMIC_INTEGERS(atomicMin, value < old ? value : old)
CUGEN_ATOMIC(atomicMin, long long, value < old ? value : old)
CUGEN_ATOMIC_INTEGERS(atomicMax, old < value ? value : old)
CUGEN_ATOMIC(atomicMax, long long, old < value ? value : old)
CUGEN_ATOMIC_INTEGERS(atomicAnd, old &value)
CUGEN_ATOMIC_INTEGERS(atomicOr, old | value)
CUGEN_ATOMIC_INTEGERS(atomicXor, old ^ value)
CUGEN_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
CUGEN_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1u)
#define CUGEN_CAS(name, type, kind)                             \
  CUGEN_INLINE type name(type *at, type expected, type value) { \
    cugen_note(at, sizeof *at, CPU_WRITE | CPU_ATOMIC | kind);  \
    const type old = cugen_peek(at);                            \
    if (old == expected) cugen_poke(at, value);                 \
    return old;                                                 \
  }
#define CUGEN_CAS_SCOPES(type)  \
  CUGEN_CAS(atomicCAS, type, 0) \
  CUGEN_CAS(atomicCAS_block, type, CPU_BLOCK) CUGEN_CAS(atomicCAS_system, type, 0)
CUGEN_CAS_SCOPES(int)
CUGEN_CAS_SCOPES(unsigned)
CUGEN_CAS_SCOPES(unsigned long long)
CUGEN_CAS_SCOPES(unsigned short)
#undef CUGEN_CAS_SCOPES
#undef CUGEN_CAS
#undef CUGEN_ATOMIC_INTEGERS
#else
#define CUGEN_ATOMIC(name, type, expression)
#endif
