/* Findings that the config waives, each by its kind and by the text of its line, which stays when
   an edit of the template changes the line's number. */
#ifndef EMULATOR_CHECK_WAIVERS_H
#define EMULATOR_CHECK_WAIVERS_H

#include "emulator/lines.h"
#include "gen/config/config.h"

/* Returns the first of the config's waivers that matches a finding of this kind in that line; NULL:
   none. source: the compiled source. Blanks are ignored. */
const struct config_waiver *waiver_of(const struct config *config, cugen_finding_kind kind,
                                      const char *source, const struct source_place *here);

#endif
