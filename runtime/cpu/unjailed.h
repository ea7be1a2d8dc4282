/* Compiling where the kernel has no Landlock: then nothing keeps a compiler from opening files, and what it opened is
   looked at before anything is made of it or said about it. */
#ifndef RUNTIME_CPU_UNJAILED_H
#define RUNTIME_CPU_UNJAILED_H

#include "base/jail.h"
#include "base/text.h"

/* The log of a compiler under -H, which says what it includes: those lines are taken out. CUGEN_ERROR_COMPILE: a file lies
   outside of the places. */
int unjailed_check_log(struct text *log, const struct jail_place *places, size_t count, cugen_error *err);
/* The assembly that it made. CUGEN_ERROR_COMPILE: something in it has the assembler read a file, or may spell that. */
int unjailed_check_assembly(const char *path, cugen_error *err);

#endif
