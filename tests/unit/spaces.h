/* The space of a config that a test writes; the config is k.lua. */
#ifndef TESTS_UNIT_SPACES_H
#define TESTS_UNIT_SPACES_H

#include "gen/space/space.h"

struct spaced {
  struct config *config;
  struct problem problem;
  struct space *space;
  cugen_error err; /* of opening the space */
};

/* Returns the status of opening the space; the config must be right. facts NULL: the space
   stays closed. */
int spaced_open(struct spaced *s, const char *config, const struct device_facts *facts,
                const cugen_filter *filter);
/* Like spaced_open, and the space must open. */
void spaced_make(struct spaced *s, const char *config, const struct device_facts *facts);
void spaced_free(struct spaced *s);

void expect_variant(const struct space *space, uint64_t index, const char *want);

#endif
