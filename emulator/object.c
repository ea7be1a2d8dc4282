/* Reading the dynamic section (System V ABI, "Dynamic Linking"); see object.h. Objects are
   linked without the compiler's start files, so that anything named by such an entry comes from
   the source. */
#include "object.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct object {
  const char *bytes;
  size_t length;
  size_t at, count; /* offset of the dynamic section, and number of its entries */
};

static const void *object_part(const struct object *o, uint64_t offset, uint64_t length) {
  return offset <= o->length && length <= o->length - offset ? o->bytes + offset : NULL;
}

static struct object open_object(const void *image, size_t length) {
  struct object o = {.bytes = image, .length = length};
  Elf64_Ehdr header;
  if (!object_part(&o, 0, sizeof header)) return o;
  memcpy(&header, image, sizeof header);
  for (size_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    const void *at = object_part(&o, header.e_phoff + i * sizeof segment, sizeof segment);
    if (!at) return o;
    memcpy(&segment, at, sizeof segment);
    if (segment.p_type != PT_DYNAMIC || !object_part(&o, segment.p_offset, segment.p_filesz))
      continue;
    o.at = segment.p_offset;
    o.count = segment.p_filesz / sizeof(Elf64_Dyn);
  }
  return o;
}

static Elf64_Dyn entry_at(const struct object *o, size_t i) {
  Elf64_Dyn entry;
  memcpy(&entry, o->bytes + o->at + i * sizeof entry, sizeof entry);
  return entry;
}

static bool runs_code(const Elf64_Dyn *entry) {
  static const Elf64_Sxword tags[] = {DT_INIT, DT_FINI, DT_INIT_ARRAY, DT_FINI_ARRAY,
                                      DT_PREINIT_ARRAY};
  for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
    if (entry->d_tag == tags[i]) return true;
  return false;
}

/* ---- Checking what the loader reads ----

   Sections that an asm of the source defines may be merged into the linker's: entries of
   .dynamic, relocations, symbols. Therefore each entry must be one that the linker makes for
   such an object, and only once; the tables that entries point to must be in memory that nothing
   writes to; and a relocation must be of a kind that runs no code, and changes neither the
   entries nor anything outside of the object. */

static const uint64_t single_tags[] = {
    DT_STRTAB,     DT_STRSZ,       DT_SYMTAB,       DT_SYMENT,       DT_HASH,       DT_GNU_HASH,
    DT_RELA,       DT_RELASZ,      DT_RELAENT,      DT_RELACOUNT,    DT_JMPREL,     DT_PLTRELSZ,
    DT_PLTREL,     DT_PLTGOT,      DT_VERSYM,       DT_VERNEED,      DT_VERNEEDNUM, DT_SYMBOLIC,
    DT_FLAGS,      DT_FLAGS_1,     DT_TLSDESC_PLT,  DT_INIT,         DT_FINI,       DT_INIT_ARRAY,
    DT_FINI_ARRAY, DT_TLSDESC_GOT, DT_INIT_ARRAYSZ, DT_FINI_ARRAYSZ,
};
enum { SINGLE_TAGS = sizeof single_tags / sizeof *single_tags };
static const uint64_t read_only_tags[] = {DT_STRTAB, DT_SYMTAB, DT_HASH,   DT_GNU_HASH,
                                          DT_RELA,   DT_JMPREL, DT_VERSYM, DT_VERNEED};

struct loader {
  const struct object *o;
  Elf64_Ehdr header;
  Elf64_Addr dynamic; /* address of the dynamic section */
  uint64_t value[SINGLE_TAGS];
  bool has[SINGLE_TAGS];
};

static size_t tag_at(uint64_t tag) {
  size_t i = 0;
  while (i < SINGLE_TAGS && single_tags[i] != tag) i++;
  return i;
}

static uint64_t object_value_of(const struct loader *l, uint64_t tag) {
  return l->value[tag_at(tag)];
}

static bool segment_at(const struct object *o, const Elf64_Ehdr *header, size_t i,
                       Elf64_Phdr *out) {
  const void *at =
      i < header->e_phnum ? object_part(o, header->e_phoff + i * sizeof *out, sizeof *out) : NULL;
  if (at) memcpy(out, at, sizeof *out);
  return at != NULL;
}

/* Finds the loaded segment that contains all of these bytes in memory. */
static bool find_segment(const struct loader *l, uint64_t address, uint64_t bytes,
                         Elf64_Phdr *out) {
  for (size_t i = 0; segment_at(l->o, &l->header, i, out); i++)
    if (out->p_type == PT_LOAD && address >= out->p_vaddr && bytes <= out->p_memsz &&
        address - out->p_vaddr <= out->p_memsz - bytes)
      return true;
  return false;
}

/* The file's content at an address that nothing writes to; NULL: there is none, or it may be
   written. */
static const void *constant_at(const struct loader *l, uint64_t address, uint64_t bytes) {
  Elf64_Phdr segment;
  if (!find_segment(l, address, bytes, &segment) || segment.p_flags & PF_W) return NULL;
  const uint64_t offset = address - segment.p_vaddr;
  return bytes <= segment.p_filesz && offset <= segment.p_filesz - bytes
             ? object_part(l->o, segment.p_offset + offset, bytes)
             : NULL;
}

/* Copies, thread-local storage, addresses; not R_*_COPY or R_*_IRELATIVE. */
static bool is_plain_relocation(unsigned machine, uint64_t type) {
  static const uint16_t x86[] = {R_X86_64_NONE,      R_X86_64_64,       R_X86_64_GLOB_DAT,
                                 R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE, R_X86_64_DTPMOD64,
                                 R_X86_64_DTPOFF64,  R_X86_64_TPOFF64};
  static const uint16_t arm[] = {R_AARCH64_NONE,       R_AARCH64_ABS64,     R_AARCH64_GLOB_DAT,
                                 R_AARCH64_JUMP_SLOT,  R_AARCH64_RELATIVE,  R_AARCH64_TLS_DTPMOD,
                                 R_AARCH64_TLS_DTPREL, R_AARCH64_TLS_TPREL, R_AARCH64_TLSDESC};
  const uint16_t *types = machine == EM_X86_64 ? x86 : arm;
  const size_t count = machine == EM_X86_64 ? sizeof x86 / sizeof *x86 : sizeof arm / sizeof *arm;
  for (size_t i = 0; i < count; i++)
    if (types[i] == type) return true;
  return false;
}

static bool is_plain_symbol(const struct loader *l, uint64_t number) {
  Elf64_Sym symbol;
  const void *at =
      constant_at(l, object_value_of(l, DT_SYMTAB) + number * sizeof symbol, sizeof symbol);
  if (!at) return false;
  memcpy(&symbol, at, sizeof symbol);
  return symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC;
}

static const char *check_relocation(const struct loader *l, const Elf64_Rela *r) {
  Elf64_Phdr segment;
  const uint64_t dynamic_end = l->dynamic + l->o->count * sizeof(Elf64_Dyn);
  if (!is_plain_relocation(l->header.e_machine, ELF64_R_TYPE(r->r_info)) ||
      !is_plain_symbol(l, ELF64_R_SYM(r->r_info)))
    return "a relocation that runs code";
  const bool pair =
      l->header.e_machine == EM_AARCH64 && ELF64_R_TYPE(r->r_info) == R_AARCH64_TLSDESC;
  const uint64_t written = (pair ? 2 : 1) * sizeof(Elf64_Addr);
  const bool inside = find_segment(l, r->r_offset, written, &segment) && segment.p_flags & PF_W;
  if (!inside || (r->r_offset < dynamic_end && r->r_offset + written > l->dynamic))
    return "a relocation of what is not the kernel's";
  return NULL;
}

static const char *check_relocations(const struct loader *l, uint64_t table, uint64_t bytes) {
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= bytes; at += sizeof(Elf64_Rela)) {
    Elf64_Rela relocation;
    const void *entry = constant_at(l, table + at, sizeof relocation);
    if (!entry) return "relocations that can be written";
    memcpy(&relocation, entry, sizeof relocation);
    const char *wrong = check_relocation(l, &relocation);
    if (wrong) return wrong;
  }
  return NULL;
}

/* Checks that a needed library is given by its name alone: the system's. */
static const char *check_needed(const struct loader *l, uint64_t name) {
  const uint64_t bytes = object_value_of(l, DT_STRSZ);
  const char *strings = constant_at(l, object_value_of(l, DT_STRTAB), bytes);
  const char *end = strings && name < bytes ? memchr(strings + name, '\0', bytes - name) : NULL;
  return end && !memchr(strings + name, '/', (size_t)(end - strings - (ptrdiff_t)name))
             ? NULL
             : "a library's path";
}

static const char *object_read_entries(struct loader *l) {
  for (size_t i = 0; i < l->o->count; i++) {
    const Elf64_Dyn entry = entry_at(l->o, i);
    const size_t at = tag_at((uint64_t)entry.d_tag);
    if (entry.d_tag == DT_NULL) return NULL;
    if (entry.d_tag == DT_NEEDED || (entry.d_tag >= DT_LOPROC && entry.d_tag <= DT_HIPROC))
      continue;
    if (at == SINGLE_TAGS || l->has[at])
      return "an entry for the loader that the linker does not make";
    l->has[at] = true;
    l->value[at] = entry.d_un.d_val;
  }
  return "no end of its entries for the loader";
}

static const char *check_tables(const struct loader *l) {
  for (size_t i = 0; i < sizeof read_only_tags / sizeof *read_only_tags; i++) {
    const size_t at = tag_at(read_only_tags[i]);
    if (l->has[at] && !constant_at(l, l->value[at], 1))
      return "a table for the loader that can be written";
  }
  if (object_value_of(l, DT_FLAGS) & DF_TEXTREL) return "relocations of its code";
  const char *wrong =
      check_relocations(l, object_value_of(l, DT_RELA), object_value_of(l, DT_RELASZ));
  if (!wrong)
    wrong = check_relocations(l, object_value_of(l, DT_JMPREL), object_value_of(l, DT_PLTRELSZ));
  for (size_t i = 0; !wrong && i < l->o->count && entry_at(l->o, i).d_tag != DT_NULL; i++)
    if (entry_at(l->o, i).d_tag == DT_NEEDED) wrong = check_needed(l, entry_at(l->o, i).d_un.d_val);
  return wrong;
}

/* The first thing in the object that the loader would read and no linker makes for a kernel;
   NULL: none. */
static const char *find_foreign(const struct object *o) {
  struct loader l = {.o = o};
  Elf64_Phdr segment;
  size_t sections = 0;
  if (!object_part(o, 0, sizeof l.header)) return "no header";
  memcpy(&l.header, o->bytes, sizeof l.header);
  for (size_t i = 0; segment_at(o, &l.header, i, &segment); i++) {
    if (segment.p_type != PT_DYNAMIC) continue;
    sections++;
    l.dynamic = segment.p_vaddr;
  }
  if (sections != 1 || !o->count) return "no section for the loader, or several";
  const char *wrong = object_read_entries(&l);
  return wrong ? wrong : check_tables(&l);
}

/* Whether there are STT_GNU_IFUNC symbols, whose address is found by running code, even when
   dlsym looks for one that no relocation uses: an asm of the source can declare a kernel's entry
   so. */
static bool has_choosers(const struct object *o) {
  Elf64_Ehdr header;
  memcpy(&header, o->bytes, sizeof header);
  for (size_t i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    const void *at = object_part(o, header.e_shoff + i * sizeof section, sizeof section);
    if (!at) return false;
    memcpy(&section, at, sizeof section);
    if ((section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) ||
        !object_part(o, section.sh_offset, section.sh_size))
      continue;
    for (uint64_t k = 0; k < section.sh_size / sizeof(Elf64_Sym); k++) {
      Elf64_Sym symbol;
      memcpy(&symbol, o->bytes + section.sh_offset + k * sizeof symbol, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
        return true;
    }
  }
  return false;
}

int object_refuse(cugen_error *err) {
  return error_set(err, CUGEN_ERROR_COMPILE,
                   "the source has code that runs when it is loaded, which no GPU does: a "
                   "constructor or destructor (<iostream> "
                   "has both), or a "
                   "__device__, __constant__ or __shared__ variable whose initial value is "
                   "computed at run time. Give the "
                   "variable a constant value, or write it in the kernel");
}

int object_check(const void *image, size_t length, bool watched, cugen_error *err) {
  const struct object o = open_object(image, length);
  const uint64_t own = watched ? sizeof(Elf64_Addr) : 0;
  bool runs = o.count && has_choosers(&o);
  for (size_t i = 0; i < o.count; i++) {
    const Elf64_Dyn entry = entry_at(&o, i);
    const bool array = entry.d_tag == DT_INIT_ARRAYSZ || entry.d_tag == DT_FINI_ARRAYSZ;
    runs |= entry.d_tag == DT_INIT || entry.d_tag == DT_FINI || (array && entry.d_un.d_val > own);
  }
  const char *foreign = runs ? NULL : find_foreign(&o);
  if (foreign)
    return error_set(err, CUGEN_ERROR_COMPILE,
                     "what the compiler made of the source has %s: a kernel writes nothing into "
                     "the linker's sections",
                     foreign);
  if (!runs) return CUGEN_OK;
  return object_refuse(err);
}

void object_disarm(const void *image, size_t length, int file) {
  const struct object o = open_object(image, length);
  /* the loader ignores this tag in a library */
  static const Elf64_Dyn nothing = {.d_tag = DT_DEBUG};
  for (size_t i = 0; i < o.count; i++) {
    const Elf64_Dyn entry = entry_at(&o, i);
    if (!runs_code(&entry)) continue;
    if (pwrite(file, &nothing, sizeof nothing, (off_t)(o.at + i * sizeof nothing)) < 0) return;
  }
}

/* RELRO: constants that contain addresses, which are written only while the object is loaded. */
bool object_is_const(const void *image, size_t length, uint64_t address) {
  const struct object o = {.bytes = image, .length = length};
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  bool written = false;
  if (!object_part(&o, 0, sizeof header)) return true;
  memcpy(&header, image, sizeof header);
  for (size_t i = 0; segment_at(&o, &header, i, &segment); i++) {
    if (address < segment.p_vaddr || address - segment.p_vaddr >= segment.p_memsz) continue;
    if (segment.p_type == PT_GNU_RELRO) return true;
    if (segment.p_type == PT_LOAD) written = segment.p_flags & PF_W;
  }
  return !written;
}

/* ---- Facts about kernels -------------------------------------------------------------------- */

/* Bytes of an object in memory that nothing writes to; NULL: they are in no segment of the file. */
static const void *at_address(const struct object *o, uint64_t address, uint64_t bytes) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  if (!object_part(o, 0, sizeof header)) return NULL;
  memcpy(&header, o->bytes, sizeof header);
  for (size_t i = 0; segment_at(o, &header, i, &segment); i++) {
    const uint64_t offset = address - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && offset <= segment.p_filesz &&
        bytes <= segment.p_filesz - offset)
      return object_part(o, segment.p_offset + offset, bytes);
  }
  return NULL;
}

typedef void take_symbol(void *context, const char *name, const void *value, uint64_t bytes);

static void each_symbol(const struct object *o, const Elf64_Shdr *table, const Elf64_Shdr *names,
                        take_symbol *take, void *context) {
  const char *text = object_part(o, names->sh_offset, names->sh_size);
  const char *symbols = object_part(o, table->sh_offset, table->sh_size);
  if (!text || !symbols || !names->sh_size || text[names->sh_size - 1]) return;
  for (uint64_t i = 0; i < table->sh_size / sizeof(Elf64_Sym); i++) {
    Elf64_Sym symbol;
    memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_name >= names->sh_size) continue;
    const void *value = at_address(o, symbol.st_value, symbol.st_size);
    if (value) take(context, text + symbol.st_name, value, symbol.st_size);
  }
}

/* Reads the symbol table for debuggers, which also has static symbols. */
static void object_read_symbols(const struct object *o, take_symbol *take, void *context) {
  Elf64_Ehdr header;
  if (!object_part(o, 0, sizeof header)) return;
  memcpy(&header, o->bytes, sizeof header);
  for (size_t i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr table, names;
    const void *at = object_part(o, header.e_shoff + i * sizeof table, sizeof table);
    if (!at) return;
    memcpy(&table, at, sizeof table);
    const void *strings =
        table.sh_type == SHT_SYMTAB && table.sh_link < header.e_shnum
            ? object_part(o, header.e_shoff + table.sh_link * sizeof names, sizeof names)
            : NULL;
    if (!strings) continue;
    memcpy(&names, strings, sizeof names);
    each_symbol(o, &table, &names, take, context);
  }
}

struct needs_reading {
  const char *entry;
  struct kernel_needs *out;
};

static void take_need(void *context, const char *name, const void *value, uint64_t bytes) {
  const struct needs_reading *r = context;
  const size_t length = strlen(r->entry);
  const char *constant = strstr(name, "cugen_constant_");
  uint64_t size = 0;
  uint32_t numbers[3];
  if (constant && bytes == sizeof size) {
    memcpy(&size, value, sizeof size);
    r->out->constant_bytes += size < INT32_MAX ? (int64_t)size : INT32_MAX;
  }
  if (strncmp(name, r->entry, length) != 0 || bytes != sizeof numbers) return;
  memcpy(numbers, value, sizeof numbers);
  for (int i = 0; i < 3; i++) numbers[i] = numbers[i] < UINT16_MAX ? numbers[i] : UINT16_MAX;
  if (strcmp(name + length, "_bounds") == 0) r->out->max_threads = (int)numbers[0];
  for (int i = 0; i < 3 && strcmp(name + length, "_cluster") == 0; i++)
    r->out->cluster[i] = (int)(numbers[i] + !numbers[i]);
}

void object_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out) {
  const struct object o = {.bytes = compiled->image, .length = compiled->image_length};
  struct needs_reading reading = {compiled->entries[index], out};
  *out = (struct kernel_needs){0};
  object_read_symbols(&o, take_need, &reading);
}
