/* What a check says of findings: their order, messages and waivers, and which lines have run. */
#ifndef EMULATOR_CHECK_FINDINGS_H
#define EMULATOR_CHECK_FINDINGS_H

#include "check.h"

/* ---- order.c: the order in which findings, and skipped variants, are reported --------------- */

/* Sorts findings: kinds that are likely to cause others come first; then by file and line. */
void findings_sort(cugen_check_finding *findings, size_t count);
/* Adds the variants of `more` to the set. Both sets have `words` words. */
void variants_join(struct check_variants *set, const struct check_variants *more, size_t words);
/* Joins findings with one cause. The findings must be sorted, and each set of variants must have
   `words` words. Returns the number of findings left. */
size_t findings_join(cugen_check_finding *findings, size_t count, size_t words);
void finding_free(cugen_check_finding *finding);
/* Appends a skip whose variants are not known yet; NULL: no memory. */
cugen_check_skip *skip_new(cugen_check *check, const char *what, size_t number, const char *why);
void skip_free(cugen_check_skip *skip);
/* Sorts skips by the number of their first variant. */
void skips_sort(cugen_check_skip *skips, size_t count);

/* ---- messages.c: describing findings -------------------------------------------------------- */

/* Returns the finding's description, without its place, to be freed. NULL: no memory. */
char *check_message(cugen_finding_kind kind, const struct check_detail *finding);
/* Returns why a source that the host's compiler refused is not checked, to be freed: the
   unsupported instruction, or else the compiler's error. NULL: no memory. */
char *check_not_emulated(const char *source, cugen_cause cause, const char *refusal);

/* ---- waivers.c: findings that the config waives ----------------------------------------------

   Each by its kind and by the text of its line, which stays when an edit of the template changes
   the line's number. */

/* Returns the first of the config's waivers that matches a finding of this kind in that line; NULL:
   none. source: the compiled source. Blanks are ignored. */
const struct config_waiver *waiver_of(const struct config *config, cugen_finding_kind kind,
                                      const char *source, const struct source_place *here);

/* ---- reached.c: which lines of the templates, among those that access memory, have run ------ */

/* The accesses of the image that was read last, with their lines. */
struct reached_image {
  struct hash hash;
  uint64_t *sites;
  struct source_place *places;
  size_t count;
};

/* Reads the accesses of the compiled image into *image, unless *image holds them already. */
int reached_look(struct reached_image *image, const struct compiled *compiled, cugen_error *err);
void reached_image_free(struct reached_image *image);

/* Adds to the check the lines of the image's accesses, and whether each ran by the report. */
int reached_add(cugen_check *check, const struct reached_image *image,
                const struct watch_report *report, cugen_error *err);
/* Sorts the lines: first those that did not run, then those that ran, each by file and line. Counts
   the lines that ran. */
void reached_sort(cugen_check *check);

#endif
