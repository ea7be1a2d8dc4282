/* Writing the input of the C++ compiler: the shim, the source as C++, an exported entry for each
   kernel; and beside it the CUDA headers that the source may include. */
#ifndef EMULATOR_UNIT_H
#define EMULATOR_UNIT_H

#include "runtime/device.h"

/* Writes the unit and the headers into the folder, under the names in runtime/compile/advice.h. */
int unit_write(const struct compile_request *request, const char *folder, cugen_error *err);

/* Appends C code without comments, empty lines and trailing spaces, which do not change the
   compiled result. */
void cpu_add_code(const char *text, struct text *out);

/* Appends the code that may stand in front of a source or be included by a source: the shim and
   the headers. */
void unit_add_shim(struct text *out);

/* Whether the text has one of the words, whose list ends with NULL. */
bool unit_mentions(const char *text, const char *const *words);

#endif
