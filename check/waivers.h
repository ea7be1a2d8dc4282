/* Findings that the config waives, each by its kind and by what stands in its line. A line is known
   by its text, since a number would be another line's after the next edit of the template. */
#ifndef CHECK_WAIVERS_H
#define CHECK_WAIVERS_H

#include "gen/config/config.h"
#include "runtime/cpu/lines.h"

/* The first of the config's waivers for such a finding in that line; NULL: there is none. source is
   what was compiled, with #line. Blanks make no difference. */
const struct config_waiver *waiver_of(const struct config *config, cugen_finding_kind kind, const char *source,
                                      const struct source_place *here);

#endif
