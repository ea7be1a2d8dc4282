/* Variants of what ships, and what they come out as. Of some the whole text is kept,
   tests/golden/expected/NAME.cu: they show the template language. Of all there is a line in
   tests/golden/shipped.txt: the hash of the normalised source (no comments, #line or spacing),
   and what the compiler made of it for an H200. golden/expansions holds the texts and the
   hashes, nvrtc/shipped the rest.

   After a deliberate change of a template, or of expansion: tests/golden/shipped.py write. */
#ifndef TESTS_GOLDEN_SHIPPED_H
#define TESTS_GOLDEN_SHIPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"
#include "runtime/device.h"

#define SHIPPED_TABLE "tests/golden/shipped.txt"

struct shipped_case {
  const char *name, *config; /* a shipped config's name, or a path */
  const char *variant;       /* NULL: the reference */
  const char *settings;      /* with blanks between them */
  bool text;                 /* the whole text is kept */
};

extern const struct shipped_case shipped_cases[];
extern const size_t shipped_count;

/* The described GPU of that name (configs/devices). */
void shipped_device(const char *name, struct device_description *out);
/* Expands the case for that GPU. Returns false if the GPU has no such variant; another error fails
   the test with its message. The caller frees with kernel_spec_free. */
bool shipped_expand_for(const struct shipped_case *shipped, const struct device_description *device,
                        struct kernel_spec *out);
/* Expands the case for an H200, which has all variants. */
void shipped_expand(const struct shipped_case *shipped, struct kernel_spec *out);

/* Returns whether CUGEN_GOLDEN=write asks for writing the files anew. */
bool shipped_is_writing(void);
/* Finds the line of the case in the table: its hash, and the text behind the hash. Returns false
   if there is none. */
bool shipped_row(const char *table, const char *name, struct text *hash, struct text *code);

#endif
