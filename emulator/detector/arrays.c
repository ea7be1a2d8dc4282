/* Reading arrays and variables out of a symbol table; see arrays.h. */
#include "arrays.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emulator/elf_file.h"

static size_t keep_name(const char *name, size_t length, char out[WATCH_NAME]) {
  if (length >= WATCH_NAME) length = WATCH_NAME - 1;
  memcpy(out, name, length);
  out[length] = '\0';
  return length;
}

/* Gets the last part of a local variable's name: "tile" of _ZZ9transposePfE4tile (Itanium C++ ABI,
   <local-name>), with or without a discriminator at the end. */
static bool local_name(const char *symbol, char out[WATCH_NAME]) {
  const char *found = NULL;
  size_t length = 0;
  for (const char *at = symbol; (at = strchr(at, 'E')) != NULL; at++) {
    char *name;
    unsigned long digits = isdigit((unsigned char)at[1]) ? strtoul(at + 1, &name, 10) : 0;
    if (!digits || digits > strlen(name)) continue;
    if (name[digits] == '\0' || name[digits] == '_' || name[digits] == '.')
      found = name, length = digits;
  }
  return found && keep_name(found, length, out);
}

/* Gets the last part of the name of a variable outside of functions: "s" of s, _ZL1s and
   _ZN2nsL1sE. */
static bool outer_name(const char *symbol, char out[WATCH_NAME]) {
  const char *at = symbol + 2;
  *out = '\0';
  if (strncmp(symbol, "_Z", 2) != 0) return keep_name(symbol, strlen(symbol), out);
  for (at += *at == 'N'; *at == 'L' || isdigit((unsigned char)*at);) {
    char *name;
    const unsigned long digits = strtoul(at + (*at == 'L'), &name, 10);
    if (!digits || digits > strlen(name)) return false;
    keep_name(name, digits, out);
    at = name + digits;
  }
  return *out;
}

/* The meanings of symbols. Gaps are those of shim/language.h. */
enum kind {
  KIND_NONE,
  KIND_ARRAY,     /* an array of shared memory */
  KIND_GAP,       /* before an array in a function */
  KIND_OUTER_GAP, /* before an array outside of functions */
  KIND_END_GAP,   /* after the arrays of a declaration outside of functions */
  KIND_OUTER,     /* a variable outside of functions, which may turn out to be an array */
  KIND_CONSTANT,  /* "cugen_constant_s": marks the variable s as a constant */
  KIND_OTHER      /* of cugen or the compiler */
};

static enum kind arrays_kind_of(const char *symbol, char name[WATCH_NAME]) {
  static const char gap[] = "cugen_gap_", end[] = "cugen_gap_end_", constant[] = "cugen_constant_";
  const bool local = strncmp(symbol, "_ZZ", 3) == 0;
  /* the guard of a function's static variable */
  if (strncmp(symbol, "_ZGV", 4) == 0) return KIND_OTHER;
  if (!(local ? local_name(symbol, name) : outer_name(symbol, name))) return KIND_NONE;
  if (strncmp(name, end, sizeof end - 1) == 0) return KIND_END_GAP;
  if (strncmp(name, gap, sizeof gap - 1) == 0) return local ? KIND_GAP : KIND_OUTER_GAP;
  if (strncmp(name, constant, sizeof constant - 1) == 0) return KIND_CONSTANT;
  if (strncmp(name, "cugen_", 6) == 0) return KIND_OTHER;
  return local ? KIND_ARRAY : KIND_OUTER;
}

struct symbol {
  char name[WATCH_NAME];
  uint64_t start, end;
  enum kind kind;
};

static int by_address(const void *a, const void *b) {
  const struct symbol *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

/* Returns true if the symbol's section is writable data: .data or .bss. */
static bool is_writable(const struct elf_file *elf, size_t section) {
  Elf64_Shdr home, names;
  if (!elf_section(elf, section, &home) || !elf_section(elf, elf->header.e_shstrndx, &names))
    return false;
  const char *text = elf_part(elf, names.sh_offset, names.sh_size);
  if (!(home.sh_flags & SHF_WRITE) || !text || home.sh_name >= names.sh_size) return false;
  const char *name = text + home.sh_name;
  return strncmp(name, ".bss", 4) == 0 ||
         (strncmp(name, ".data", 5) == 0 && strncmp(name, ".data.rel.ro", 12) != 0);
}

struct reading {
  const struct elf_file *elf;
  struct symbol *all;
  size_t count;
};

static bool take_symbol(void *context, const char *name, const Elf64_Sym *from) {
  struct reading *r = context;
  struct symbol s = {.start = from->st_value, .end = from->st_value + from->st_size};
  s.kind = arrays_kind_of(name, s.name);
  if (s.kind == KIND_NONE || (s.kind != KIND_CONSTANT && !is_writable(r->elf, from->st_shndx)))
    return true;
  return ARRAY_ADD(r->all, r->count, s);
}

/* Finds shared arrays outside of functions: they lie between a KIND_OUTER_GAP and a
   KIND_END_GAP. */
static void find_outer_arrays(struct symbol *all, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (all[i].kind != KIND_OUTER_GAP) continue;
    size_t end = i + 1;
    while (end < count && all[end].kind >= KIND_OUTER) end++;
    if (end == count || all[end].kind != KIND_END_GAP) continue;
    for (size_t k = i + 1; k < end; k++)
      if (all[k].kind == KIND_OUTER) all[k].kind = KIND_ARRAY;
  }
}

static bool is_constant(const struct symbol *all, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (all[i].kind == KIND_CONSTANT &&
        strcmp(all[i].name + sizeof "cugen_constant_" - 1, name) == 0)
      return true;
  return false;
}

/* Returns where the free bytes after an array end: at the next symbol, at most MOST bytes on. */
static uint64_t free_after(const struct symbol *all, size_t count, size_t i) {
  enum { MOST = 256 };
  uint64_t next = all[i].end + MOST;
  for (size_t k = i + 1; k < count; k++)
    if (all[k].kind != KIND_CONSTANT && all[k].start < next) next = all[k].start;
  return next;
}

static size_t take_arrays(const struct symbol *all, size_t count, uintptr_t base,
                          struct shared_array *out) {
  size_t taken = 0;
  for (size_t i = 0; i < count; i++) {
    const bool array = all[i].kind == KIND_ARRAY;
    if (!array && all[i].kind != KIND_GAP && all[i].kind != KIND_OUTER_GAP &&
        all[i].kind != KIND_END_GAP)
      continue;
    struct shared_array *to = &out[taken++];
    *to = (struct shared_array){.start = base + all[i].start, .end = base + all[i].end};
    if (!array) continue;
    keep_name(all[i].name, strlen(all[i].name), to->name);
    const uint64_t next = free_after(all, count, i);
    if (next > all[i].end)
      out[taken++] = (struct shared_array){.start = base + all[i].end, .end = base + next};
  }
  return taken;
}

static size_t take_variables(const struct symbol *all, size_t count, uintptr_t base,
                             struct image_variable *out) {
  size_t taken = 0;
  for (size_t i = 0; i < count; i++) {
    if (all[i].kind != KIND_OUTER) continue;
    struct image_variable *to = &out[taken++];
    *to = (struct image_variable){.start = base + all[i].start,
                                  .end = base + all[i].end,
                                  .constant = is_constant(all, count, all[i].name)};
    keep_name(all[i].name, strlen(all[i].name), to->name);
  }
  return taken;
}

int arrays_read(const void *bytes, size_t length, uintptr_t base, struct image_memory *out,
                cugen_error *err) {
  const struct elf_file elf = elf_open(bytes, length);
  struct reading r = {.elf = &elf};
  *out = (struct image_memory){.arrays = NULL};
  int status = elf_symbols(&elf, STT_OBJECT, take_symbol, &r) ? CUGEN_OK : error_memory(err);
  if (r.count) qsort(r.all, r.count, sizeof *r.all, by_address);
  if (!status) find_outer_arrays(r.all, r.count);
  if (!status) out->arrays = calloc(2 * r.count + 1, sizeof *out->arrays);
  if (!status) out->variables = calloc(r.count + 1, sizeof *out->variables);
  if (!status && (!out->arrays || !out->variables)) status = error_memory(err);
  if (!status) {
    out->array_count = take_arrays(r.all, r.count, base, out->arrays);
    out->variable_count = take_variables(r.all, r.count, base, out->variables);
  }
  free(r.all);
  if (status) arrays_free(out);
  return status;
}

void arrays_free(struct image_memory *memory) {
  free(memory->arrays);
  free(memory->variables);
  *memory = (struct image_memory){.arrays = NULL};
}
