/* Reading the ELF file (System V ABI) of an image in memory, whose offsets need not be right. */
#ifndef EMULATOR_ELF_FILE_H
#define EMULATOR_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
  const char *bytes;
  size_t length;
  Elf64_Ehdr header; /* zero: the image is too short */
};

struct elf_file elf_open(const void *image, size_t length);
/* Returns the bytes at an offset; NULL: they are not all in the image. */
const void *elf_part(const struct elf_file *elf, uint64_t offset, uint64_t length);
/* Return false if there is no i-th section or segment. */
bool elf_section(const struct elf_file *elf, size_t i, Elf64_Shdr *out);
bool elf_segment(const struct elf_file *elf, size_t i, Elf64_Phdr *out);

/* Called for each symbol; returns false to stop. */
typedef bool elf_visitor(void *context, const char *name, const Elf64_Sym *symbol);
/* Visits the symbols of a type in the symbol table for debuggers, which also has static symbols.
   Returns false if `visit` did. */
bool elf_symbols(const struct elf_file *elf, int type, elf_visitor *visit, void *context);

#endif
