/* Reading ELF; see elf_file.h. */
#include "elf_file.h"

#include <string.h>

struct elf_file elf_open(const void *image, size_t length) {
  struct elf_file elf = {.bytes = image, .length = length};
  if (length >= sizeof elf.header) memcpy(&elf.header, image, sizeof elf.header);
  return elf;
}

const void *elf_part(const struct elf_file *elf, uint64_t offset, uint64_t length) {
  return offset <= elf->length && length <= elf->length - offset ? elf->bytes + offset : NULL;
}

static bool take(const struct elf_file *elf, uint64_t offset, void *out, size_t bytes) {
  const void *at = elf_part(elf, offset, bytes);
  if (at) memcpy(out, at, bytes);
  return at != NULL;
}

bool elf_section(const struct elf_file *elf, size_t i, Elf64_Shdr *out) {
  return i < elf->header.e_shnum &&
         take(elf, elf->header.e_shoff + i * sizeof *out, out, sizeof *out);
}

bool elf_segment(const struct elf_file *elf, size_t i, Elf64_Phdr *out) {
  return i < elf->header.e_phnum &&
         take(elf, elf->header.e_phoff + i * sizeof *out, out, sizeof *out);
}

bool elf_symbols(const struct elf_file *elf, int type, elf_visitor *visit, void *context) {
  Elf64_Shdr table, names;
  for (size_t i = 0; elf_section(elf, i, &table); i++) {
    if (table.sh_type != SHT_SYMTAB || !elf_section(elf, table.sh_link, &names)) continue;
    const char *text = elf_part(elf, names.sh_offset, names.sh_size);
    const char *symbols = elf_part(elf, table.sh_offset, table.sh_size);
    if (!text || !symbols || !names.sh_size || text[names.sh_size - 1]) continue;
    for (uint64_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); k++) {
      Elf64_Sym symbol;
      memcpy(&symbol, symbols + k * sizeof symbol, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == type && symbol.st_name < names.sh_size &&
          !visit(context, text + symbol.st_name, &symbol))
        return false;
    }
  }
  return true;
}
