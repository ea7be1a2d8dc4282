/* What is the same in writing and reading wisdom; see format.h. */
#include "format.h"

#include <string.h>

const char wisdom_checksum_mark[] = ",\"checksum\":\"";
const char *const wisdom_key_names[WISDOM_KEYS] = {"device", "config", "problem", "options"};

const char **wisdom_key_part(struct cache_key *key, int i) {
  const char **const parts[WISDOM_KEYS] = {&key->device, &key->config, &key->problem, &key->options};
  return parts[i];
}

const char *wisdom_entry_wrong(struct cache_entry *entry, const char **name) {
  for (int i = 0; i < WISDOM_KEYS; i++) {
    const char *part = *wisdom_key_part(&entry->key, i);
    *name = wisdom_key_names[i];
    if (cache_has_control(part, "")) return "has a control character";
    if (!*part && strcmp(wisdom_key_names[i], "problem") != 0) return "is empty";
  }
  return cache_record_wrong(&entry->record, name);
}
