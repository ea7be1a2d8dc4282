/* Findings that the config waives; see waivers.h. */
#include "waivers.h"

#include <stdlib.h>
#include <string.h>

static bool waivers_is_blank(char c) {
  return c == ' ' || c == '\t';
}

/* Whether the text begins with `part`, blanks of both apart. */
static bool begins_with(const char *at, const char *end, const char *part) {
  for (; *part; part++) {
    if (waivers_is_blank(*part)) continue;
    while (at < end && waivers_is_blank(*at)) at++;
    if (at == end || *at++ != *part) return false;
  }
  return true;
}

static bool waivers_has_part(const char *line, size_t length, const char *part) {
  for (size_t i = 0; i < length; i++)
    if (begins_with(line + i, line + length, part)) return true;
  return false;
}

/* Reads `#line 12 "k.cu"`, which sets the number and file of the next line. Returns false for
   any other line. */
static bool waivers_read_directive(const char *text, int *line, const char **file) {
  char *end;
  if (strncmp(text, "#line ", 6) != 0) return false;
  *line = (int)strtol(text + 6, &end, 10);
  if (end[0] == ' ' && end[1] == '"') *file = end + 2;
  return true;
}

/* A loop of the template brings a line several times. */
static bool is_in_line(const char *source, const struct source_place *here, const char *part) {
  const size_t length = strlen(here->file);
  const char *file = "";
  int line = 0;
  for (const char *at = source; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    if (waivers_read_directive(at, &line, &file)) continue;
    const bool meant =
        line++ == here->line && strncmp(file, here->file, length) == 0 && file[length] == '"';
    if (meant && waivers_has_part(at, strcspn(at, "\n"), part)) return true;
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
