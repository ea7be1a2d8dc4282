/* Finding the calls in front of accesses; see sites.h. They are direct calls of functions with
   the sanitizer's names: anything in the code that looks like a call and leads to such a
   function is taken for one. */
#include "sites.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct image {
  const unsigned char *bytes;
  size_t length;
  const Elf64_Shdr *sections;
  size_t section_count;
  uint64_t *targets; /* addresses of functions that report accesses */
  size_t target_count;
};

static bool sites_has(const struct image *image, uint64_t offset, uint64_t bytes) {
  return offset <= image->length && bytes <= image->length - offset;
}

static bool reports(const char *name) {
  static const char *const others[] = {"__tsan_func", "__tsan_init"};
  if (strncmp(name, "__tsan_", 7) != 0) return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strncmp(name, others[i], strlen(others[i])) == 0) return false;
  return true;
}

static bool take_targets(struct image *image, const Elf64_Shdr *table) {
  if (table->sh_link >= image->section_count || !sites_has(image, table->sh_offset, table->sh_size))
    return true;
  const Elf64_Shdr *names = &image->sections[table->sh_link];
  if (!names->sh_size || !sites_has(image, names->sh_offset, names->sh_size)) return true;
  const char *text = (const char *)image->bytes + names->sh_offset;
  if (text[names->sh_size - 1]) return true;
  for (size_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
    Elf64_Sym symbol;
    memcpy(&symbol, image->bytes + table->sh_offset + i * sizeof symbol, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_name >= names->sh_size) continue;
    if (!reports(text + symbol.st_name)) continue;
    uint64_t *grown = array_grow(image->targets, image->target_count, sizeof *grown);
    if (!grown) return false;
    image->targets = grown;
    grown[image->target_count++] = symbol.st_value;
  }
  return true;
}

static bool is_target(const struct image *image, uint64_t address) {
  for (size_t i = 0; i < image->target_count; i++)
    if (image->targets[i] == address) return true;
  return false;
}

/* The length of a call instruction at `at`, and its target; 0: not a call. */
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

static bool scan(const struct image *image, unsigned machine, const Elf64_Shdr *code,
                 uint64_t **out, size_t *count) {
  const unsigned char *bytes = image->bytes + code->sh_offset;
  for (size_t i = 0; i < code->sh_size; i++) {
    uint64_t target = 0;
    const size_t length =
        sites_read_call(machine, bytes + i, code->sh_size - i, code->sh_addr + i, &target);
    if (!length || !is_target(image, target)) continue;
    uint64_t *grown = array_grow(*out, *count, sizeof *grown);
    if (!grown) return false;
    *out = grown;
    grown[(*count)++] = code->sh_addr + i + length;
  }
  return true;
}

int sites_find(const void *bytes, size_t length, uint64_t **out, size_t *count, cugen_error *err) {
  struct image image = {.bytes = bytes, .length = length};
  Elf64_Ehdr header;
  bool done = true;
  *out = NULL;
  *count = 0;
  if (!sites_has(&image, 0, sizeof header)) return CUGEN_OK;
  memcpy(&header, bytes, sizeof header);
  if (!sites_has(&image, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)) ||
      header.e_shoff % 8)
    return CUGEN_OK;
  image.sections = (const Elf64_Shdr *)(const void *)(image.bytes + header.e_shoff);
  image.section_count = header.e_shnum;
  for (size_t i = 0; i < image.section_count && done; i++)
    if (image.sections[i].sh_type == SHT_SYMTAB) done = take_targets(&image, &image.sections[i]);
  for (size_t i = 0; i < image.section_count && done; i++) {
    const Elf64_Shdr *code = &image.sections[i];
    if (code->sh_type == SHT_PROGBITS && code->sh_flags & SHF_EXECINSTR &&
        sites_has(&image, code->sh_offset, code->sh_size))
      done = scan(&image, header.e_machine, code, out, count);
  }
  free(image.targets);
  return done ? CUGEN_OK : error_memory(err);
}
