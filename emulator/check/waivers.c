/* Findings that the config waives; see findings.h. */
#include "findings.h"

#include <string.h>

#include "base/source_place.h"

static bool waivers_is_blank(char c) {
  return c == ' ' || c == '\t';
}

/* Returns true if the text begins with `part`; blanks in both texts are ignored. */
static bool begins_with(const char *at, const char *end, const char *part) {
  for (; *part; part++) {
    if (waivers_is_blank(*part)) continue;
    while (at < end && waivers_is_blank(*at)) at++;
    if (at == end || *at++ != *part) return false;
  }
  return true;
}

/* Returns true if an expansion of the line contains `part`. A template's line within a `//@ for`
   has several expansions. */
static bool is_in_line(const char *source, const struct source_place *here, const char *part) {
  struct source_line place;
  for (const char *at = source_line_first(source, &place); *at; at = source_line_next(at, &place)) {
    if (!source_line_is(&place, here->file, here->line)) continue;
    const char *end = at + strcspn(at, "\n");
    for (const char *begin = at; begin < end; begin++)
      if (begins_with(begin, end, part)) return true;
  }
  return false;
}

const struct config_waiver *waiver_of(const struct config *config, cugen_finding_kind kind,
                                      const char *source, const struct source_place *here) {
  for (size_t i = 0; i < config->waiver_count && here->line; i++) {
    const struct config_waiver *waiver = &config->waivers[i];
    if (waiver->kind == kind && is_in_line(source, here, waiver->at)) return waiver;
  }
  return NULL;
}
