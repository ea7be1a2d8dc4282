/* Finds the calls in front of accesses; see sites.h. These are direct calls of functions with the
   sanitizer's names (__tsan_...). Any bytes that decode as such a call count. */
#include "sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "elf_file.h"

/* Addresses of functions that report accesses. */
struct targets {
  uint64_t *all;
  size_t count;
};

static bool take_target(void *context, const char *name, const Elf64_Sym *symbol) {
  static const char *const others[] = {"__tsan_func", "__tsan_init"};
  struct targets *targets = context;
  bool reports = strncmp(name, "__tsan_", 7) == 0;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    reports &= strncmp(name, others[i], strlen(others[i])) != 0;
  return !reports || ARRAY_ADD(targets->all, targets->count, symbol->st_value);
}

static bool is_target(const struct targets *targets, uint64_t address) {
  for (size_t i = 0; i < targets->count; i++)
    if (targets->all[i] == address) return true;
  return false;
}

/* Returns the length of the call instruction at `at` and sets *target; returns 0 if there is no
   call. */
static size_t sites_read_call(unsigned machine, const unsigned char *at, size_t left,
                              uint64_t address, uint64_t *target) {
  if (machine == EM_X86_64 && left >= 5 && *at == 0xe8) { /* CALL rel32 */
    int32_t distance;
    memcpy(&distance, at + 1, sizeof distance);
    *target = address + 5 + (uint64_t)(int64_t)distance;
    return 5;
  }
  uint32_t word = 0;
  if (machine != EM_AARCH64 || left < sizeof word || address % sizeof word) return 0;
  memcpy(&word, at, sizeof word);
  if (word >> 26 != 0x25) return 0; /* BL imm26 */
  const int64_t words = (int64_t)((uint64_t)word << 38) >> 38;
  *target = address + (uint64_t)(words * 4);
  return sizeof word;
}

static bool scan(const struct elf_file *elf, const struct targets *targets, const Elf64_Shdr *code,
                 uint64_t **out, size_t *count) {
  const unsigned char *bytes = elf_part(elf, code->sh_offset, code->sh_size);
  for (size_t i = 0; bytes && i < code->sh_size; i++) {
    uint64_t target = 0;
    const size_t length = sites_read_call(elf->header.e_machine, bytes + i, code->sh_size - i,
                                          code->sh_addr + i, &target);
    if (!length || !is_target(targets, target)) continue;
    if (!ARRAY_ADD(*out, *count, code->sh_addr + i + length)) return false;
  }
  return true;
}

int sites_find(const void *bytes, size_t length, uint64_t **out, size_t *count, cugen_error *err) {
  const struct elf_file elf = elf_open(bytes, length);
  struct targets targets = {0};
  Elf64_Shdr code;
  *out = NULL;
  *count = 0;
  bool done = elf_symbols(&elf, STT_FUNC, take_target, &targets);
  for (size_t i = 0; done && elf_section(&elf, i, &code); i++)
    if (code.sh_type == SHT_PROGBITS && code.sh_flags & SHF_EXECINSTR)
      done = scan(&elf, &targets, &code, out, count);
  free(targets.all);
  return done ? CUGEN_OK : error_memory(err);
}
