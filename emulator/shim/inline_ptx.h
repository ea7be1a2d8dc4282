/* Part of cuda_shim.h: inline PTX, where unit.c defines CUGEN_PTX. unit.c writes `asm
   volatile("text" : "=r"(x) : "r"(y) : "memory");` as cugen_asm("text", cugen_out("=r", x),
   cugen_in("r", y)), which passes it to an interpreter. */
#ifdef CUGEN_PTX
/* A constraint names the kind that the value must have: f and d are floats, others are bits. */
template <class Value> CUGEN_INLINE cpu_ptx_operand cugen_out(const char *, Value &value) {
  return {(unsigned long long)&value, sizeof value, 1};
}
CUGEN_INLINE unsigned long long cugen_word(float value) { return cugen_bits<unsigned>(value); }
CUGEN_INLINE unsigned long long cugen_word(double value) {
  return cugen_bits<unsigned long long>(value);
}
template <class Value> CUGEN_INLINE unsigned long long cugen_word(Value *value) {
  return reinterpret_cast<unsigned long long>(value);
}
template <class Value> CUGEN_INLINE unsigned long long cugen_word(const Value &value) {
  return (unsigned long long)value;
}
template <class Value> CUGEN_INLINE cpu_ptx_operand cugen_in(const char *constraint, Value value) {
  const char kind = constraint[0];
  return {kind == 'f'   ? cugen_word((float)value)
          : kind == 'd' ? cugen_word((double)value)
                        : cugen_word(value),
          kind == 'h'                  ? 2u
          : kind == 'r' || kind == 'f' ? 4u
                                       : 8u,
          0};
}
template <class Value> CUGEN_INLINE cpu_ptx_operand cugen_in(const char *, Value *value) {
  return {cugen_word(value), 8, 0};
}
CUGEN_INLINE void cugen_asm_run(cpu_ptx_place *place, const char *text,
                                const cpu_ptx_operand *operands, unsigned count) {
#ifdef CUGEN_WATCH
  cugen_own_hooks->async->ptx(place, text, operands, count, cugen_own_watch);
#else
  cugen_own_hooks->async->ptx(place, text, operands, count, 0);
#endif
  __asm__ volatile("" ::: "memory");
}
/* The list begins with an operand of no use, because an array has at least one. */
#define cugen_asm(text, ...)                                                              \
  do {                                                                                    \
    static cpu_ptx_place cugen_place = {nullptr, __FILE__ ":" CUGEN_TEXT(__LINE__) ": "}; \
    const cpu_ptx_operand cugen_operands[] = {{}, ##__VA_ARGS__};                         \
    cugen_asm_run(&cugen_place, text, cugen_operands + 1,                                 \
                  sizeof cugen_operands / sizeof *cugen_operands - 1);                    \
  } while (0)
#endif
