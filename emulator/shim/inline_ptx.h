/* Part of cuda_shim.h: inline PTX, where unit.c defines CUGEN_PTX. asm_text.c writes `asm
   volatile("text" : "=r"(x) : "r"(y) : "memory");` as cugen_asm("text", cugen_out("=r", x),
   cugen_in("r", y)), which passes it to an interpreter. */
#ifdef CUGEN_PTX
/* Each operand becomes two arguments of cugen_asm_run, not an element of an array, whose writes
   would be watched. A constraint names the kind that the value must have: f is a float, d a double,
   others are bits. */
#define CUGEN_PTX_OUTPUT 0x80000000u
#define cugen_out(constraint, value) \
  (unsigned)sizeof(value) | CUGEN_PTX_OUTPUT, (unsigned long long)__builtin_addressof(value)
#define cugen_in(constraint, value)                        \
  (constraint)[0] == 'h'                             ? 2u  \
  : (constraint)[0] == 'r' || (constraint)[0] == 'f' ? 4u  \
                                                     : 8u, \
      cugen_input((constraint)[0], value)
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
template <class Value> CUGEN_INLINE unsigned long long cugen_input(char kind, Value value) {
  return kind == 'f'   ? cugen_word((float)value)
         : kind == 'd' ? cugen_word((double)value)
                       : cugen_word(value);
}
template <class Value> CUGEN_INLINE unsigned long long cugen_input(char, Value *value) {
  return cugen_word(value);
}
/* The list of operands ends with a size of 0. */
__attribute__((__noinline__, __no_sanitize__("thread"), __no_sanitize__("alignment"))) static void
cugen_asm_run(cpu_ptx_place *place, const char *text, ...) {
  cpu_ptx_operand operands[CPU_PTX_OPERANDS];
  unsigned count = 0, bytes;
  __builtin_va_list words;
  __builtin_va_start(words, text);
  while ((bytes = __builtin_va_arg(words, unsigned)) != 0 && count < CPU_PTX_OPERANDS)
    operands[count++] = {__builtin_va_arg(words, unsigned long long), bytes & ~CUGEN_PTX_OUTPUT,
                         bytes & CUGEN_PTX_OUTPUT ? 1 : 0};
  __builtin_va_end(words);
#ifdef CUGEN_WATCH
  const cpu_watch *watch = cugen_own_watch;
#else
  const cpu_watch *watch = nullptr;
#endif
  cugen_own_hooks->async->ptx(place, text, operands, count, watch, __builtin_return_address(0));
}
#define cugen_asm(text, ...)                                                              \
  do {                                                                                    \
    static cpu_ptx_place cugen_place = {nullptr, __FILE__ ":" CUGEN_TEXT(__LINE__) ": "}; \
    cugen_asm_run(&cugen_place, text, ##__VA_ARGS__, 0u);                                 \
    __asm__ volatile("" ::: "memory");                                                    \
  } while (0)
#endif
