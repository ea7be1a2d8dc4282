/* Reading shared arrays out of a symbol table; see arrays.h. */
#include "arrays.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct image {
  const char *bytes;
  size_t length;
};

static const void *part(const struct image *image, uint64_t offset, uint64_t length) {
  return offset <= image->length && length <= image->length - offset ? image->bytes + offset : NULL;
}

static const Elf64_Shdr *section_at(const struct image *image, const Elf64_Ehdr *header, size_t index) {
  return index < header->e_shnum ? part(image, header->e_shoff + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr))
                                 : NULL;
}

static const Elf64_Shdr *symbols_of(const struct image *image, const Elf64_Ehdr *header) {
  for (size_t i = 0; i < header->e_shnum; i++) {
    const Elf64_Shdr *section = section_at(image, header, i);
    if (section && section->sh_type == SHT_SYMTAB) return section;
  }
  return NULL;
}

/* The last part of a local variable's name: "tile" of _ZZ9transposePfE4tile (Itanium C++ ABI, <local-name>), with or
   without a discriminator behind it; "" of a gap. False: it is no such name. */
static bool variable_name(const char *symbol, char out[WATCH_NAME]) {
  if (strncmp(symbol, "_ZZ", 3) != 0) return false;
  const char *found = NULL;
  size_t length = 0;
  for (const char *at = symbol; (at = strchr(at, 'E')) != NULL; at++) {
    char *name;
    unsigned long digits = isdigit((unsigned char)at[1]) ? strtoul(at + 1, &name, 10) : 0;
    if (!digits || digits > strlen(name)) continue;
    if (name[digits] == '\0' || name[digits] == '_' || name[digits] == '.') found = name, length = digits;
  }
  if (!found) return false;
  if (strncmp(found, "cugen_gap_", 10) == 0) length = 0;
  if (length >= WATCH_NAME) length = WATCH_NAME - 1;
  memcpy(out, found, length);
  out[length] = '\0';
  return true;
}

static int by_address(const void *a, const void *b) {
  const struct shared_array *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

/* Behind an array, up to where the next thing begins; a gap too. */
static uint64_t free_after(const Elf64_Sym *symbols, size_t count, uint64_t end) {
  enum { MOST = 256 };
  uint64_t next = end + MOST;
  for (size_t i = 0; i < count; i++) {
    const uint64_t at = symbols[i].st_value;
    if (symbols[i].st_shndx != SHN_UNDEF && at >= end && at < next) next = at;
  }
  return next;
}

int arrays_read(const void *bytes, size_t length, uintptr_t base, struct shared_array **out, size_t *count,
                cugen_error *err) {
  const struct image image = {bytes, length};
  const Elf64_Ehdr *header = part(&image, 0, sizeof *header);
  const Elf64_Shdr *table = header ? symbols_of(&image, header) : NULL;
  const Elf64_Shdr *names = table ? section_at(&image, header, table->sh_link) : NULL;
  const Elf64_Sym *symbols = table ? part(&image, table->sh_offset, table->sh_size) : NULL;
  const char *text = names ? part(&image, names->sh_offset, names->sh_size) : NULL;
  size_t symbol_count = symbols && text ? table->sh_size / sizeof *symbols : 0;
  *count = 0;
  *out = calloc(2 * symbol_count + 1, sizeof **out);
  if (!*out) return error_memory(err);
  for (size_t i = 0; i < symbol_count; i++) {
    const Elf64_Shdr *home = section_at(&image, header, symbols[i].st_shndx);
    struct shared_array *array = &(*out)[*count];
    bool variable = ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT && home && home->sh_flags & SHF_WRITE;
    if (!variable || symbols[i].st_name >= names->sh_size) continue;
    if (!variable_name(text + symbols[i].st_name, array->name)) continue;
    array->start = base + symbols[i].st_value;
    array->end = array->start + symbols[i].st_size;
    const uint64_t end = symbols[i].st_value + symbols[i].st_size;
    const uint64_t next = array->name[0] ? free_after(symbols, symbol_count, end) : end;
    ++*count;
    if (next > end) (*out)[(*count)++] = (struct shared_array){.start = base + end, .end = base + next};
  }
  qsort(*out, *count, sizeof **out, by_address);
  return CUGEN_OK;
}
