/* Compiling where Linux has no Landlock: the files that the compiler opened are checked before its
   output is used or shown. */
#ifndef EMULATOR_UNJAILED_H
#define EMULATOR_UNJAILED_H

#include "base/jail.h"
#include "base/text.h"

/* Checks the log of a compiler with -H, which lists the included files, and removes from the log
   what -H adds. CUGEN_ERROR_COMPILE: a file is outside of the places. */
int unjailed_check_log(struct text *log, const struct jail_place *places, size_t count,
                       cugen_error *err);
/* Checks the assembly that the compiler made. CUGEN_ERROR_COMPILE: a directive makes the
   assembler read a file, or may expand to such a directive. */
int unjailed_check_assembly(const char *path, cugen_error *err);

#endif
