/* Expands a small config whose templates are in a folder of its own. */
#ifndef TESTS_EXPANDING_H
#define TESTS_EXPANDING_H

#include "base/system.h"
#include "gen/template/expand.h"
#include "tests/testing.h"

extern const struct device_facts expanding_facts;

struct expanding {
  struct text folder;
  struct sources sources;
  struct config *config;
  struct problem problem;
  struct space *space;
  struct expander *expander;
};

void expanding_check(int status, const cugen_error *err);
void expanding_add(struct expanding *bench, const char *name, const char *content);
void expanding_add_bytes(struct expanding *bench, const char *name, const void *bytes,
                         size_t length);
/* body: the declarations inside kernel "k". The test adds templates before it expands anything. */
struct expanding *expanding_open(const char *body, const char *const *settings,
                                 size_t setting_count);
void expanding_close(struct expanding *bench);
CLOSABLE(expanding, expanding_close);
int expanding_try(struct expanding *bench, uint64_t index, struct kernel_spec *out,
                  cugen_error *err);
struct kernel_spec expanding_one(struct expanding *bench, uint64_t index);
/* In `expected`, paths that #line names are written as T/name. */
void expanding_text(const struct expanding *bench, const char *got, const char *expected);

/* ---- Short forms ---------------------------------------------------------------------------- */

#define IN_OUT                                                                                     \
  "problem 'n' (1000), problem 'dtype' { 'f32', 'f64', 'f16' },"                                   \
  "input 'x' { dtype = 'dtype', shape = { 'n' } }, output 'y' { dtype = 'dtype', shape = { 'n' "   \
  "}, tolerance = '0' "                                                                            \
  "},"                                                                                             \
  "reference 'none',"

#define ONE_LAUNCH "template 't.cu', grid { 'ceil_div(n, 256)' }, block { '256' }"

#define TUNED(...) IN_OUT "implementation 'a' { " __VA_ARGS__ ONE_LAUNCH " }"

/* Expects the source of the first variant, without its title lines. */
void expanding_source(const char *body, const char *template, const char *expected);
void expanding_error(const char *body, const char *template, int status, const char *expected);

#endif
