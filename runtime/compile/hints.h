/* The words of advice on compilers' diagnostics. The facts are passed in: nothing here reads a
   source, a folder or a file. advice.c finds the facts. */
#ifndef RUNTIME_COMPILE_HINTS_H
#define RUNTIME_COMPILE_HINTS_H

#include "base/source_place.h"
#include "blame.h"
#include "passed.h"
#include "standard.h"

/* folder: the toolkit's headers. */
void hints_missing(enum standard_lack lack, const char *header, const char *folder,
                   struct text *out);
/* A header that the cpu device lacks, in place of the diagnostic. */
void hints_for_gpus(const char *path, int line, const char *header, struct text *out);
/* A header that does not compile. ours: the cpu device has a part of the header. */
void hints_header(bool cpu, bool ours, const char *header, struct text *out);
/* A name that is not declared. Returns false if there is no advice. */
bool hints_name(const char *name, struct text *out);
/* A diagnostic that asks for a flag that NVRTC lacks, or that a config can set. Returns false if
   the line names none. */
bool hints_flag(const char *line, size_t length, struct text *out);
/* A diagnostic about host code. */
void hints_function(const struct blamed_function *function, struct text *out);
/* A name that is no constant. passed: it is computed from this size; NULL: not known. */
void hints_constant(const struct passed *passed, struct text *out);
/* A limit of ptxas. */
void hints_limit(enum source_cause cause, struct text *out);

#endif
