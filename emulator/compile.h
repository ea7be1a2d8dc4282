/* Compiling CUDA C++ for the cpu device with the system's C++ compiler. Each step has a file of its
   own. */
#ifndef EMULATOR_COMPILE_H
#define EMULATOR_COMPILE_H

#include "base/jail.h"
#include "base/text.h"
#include "runtime/device.h"

/* ---- compile.c: running the compiler -------------------------------------------------------- */

/* The compile function of the cpu backend: the image is a shared object, entry i is
   "cugen_entry_i". */
int cpu_compile(const struct compile_request *request, struct compiled *out, cugen_error *err);

/* Appends the first line of the compiler's --version or "no C++ compiler", the flags for kernels
   that are not watched, and a hash of the shim. */
void cpu_compiler_identity(const struct toolkit *toolkit, struct text *out);

/* ---- unit.c: the compiler's input -----------------------------------------------------------

   The shim, the source as C++, an exported entry for each kernel; and beside it the CUDA headers
   that the source may include. */

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

/* ---- translate.c: parts of CUDA C++ that the shim's macros cannot express ------------------- */

/* Appends the source with each `extern __shared__ TYPE name[];` as a pointer to the block's
   dynamic shared memory, launches as refusals, and asm as calls. Line numbers do not change. */
void cpu_translate(const char *source, struct text *out);

/* Appends the numbers of an attribute of the entry's kernel, such as `__cluster_dims__(n, 1, 1)`,
   in the form that shim/entry.h exports. Appends nothing if the kernel has no such attribute.
   always: append the numbers even if an #if may exclude the attribute. */
void cpu_translate_numbers(const char *source, const char *entry, size_t index, const char *word,
                           const char *what, bool always, struct text *out);

/* ---- asm_text.c: `asm` as calls of the shim ------------------------------------------------- */

/* Translates `asm volatile("text" : "=r"(x) : "r"(y) : "memory")`, which begins at `at`: writes the
   replacement, with as many line ends, and returns the place behind the closing parenthesis.
   Returns NULL if no such statement begins there, if it has no instruction, or if its operands have
   another form. *refused: the number of refusals so far. */
const char *asm_translate(const char *at, unsigned *refused, struct text *out);

/* Copies the ends of lines, with the backslashes that continue a macro. */
void asm_keep_lines(const char *at, const char *end, struct text *out);

/* ---- diagnostics.c: the compiler's diagnostics as CUGEN_ERROR_COMPILE ------------------------ */

/* Reports the compiler's crash, or else the first diagnostics of the log with advice, without the
   folder's name, context lines and quotes of other files. code: the compiler's exit status. */
int cpu_refuse(const struct compile_request *request, const char *log, const char *folder, int code,
               cugen_error *err);

/* ---- unjailed.c: checks where Linux has no Landlock ------------------------------------------

   The files that the compiler opened are checked before its output is used or shown. */

/* Checks the log of a compiler with -H, which lists the included files, and removes from the log
   what -H adds. CUGEN_ERROR_COMPILE: a file is outside of the places. */
int unjailed_check_log(struct text *log, const struct jail_place *places, size_t count,
                       cugen_error *err);
/* Checks the assembly that the compiler made. CUGEN_ERROR_COMPILE: a directive makes the
   assembler read a file, or may expand to such a directive. */
int unjailed_check_assembly(const char *path, cugen_error *err);

#endif
