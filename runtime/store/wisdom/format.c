/* Functions shared by writing and reading wisdom; see format.h. */
#include "format.h"

#include <string.h>

const char wisdom_checksum_mark[] = ",\"checksum\":\"";
const char *const wisdom_key_names[WISDOM_KEYS] = {"device", "config", "problem", "options"};

const char **wisdom_key_part(struct cache_key *key, int i) {
  const char **const parts[WISDOM_KEYS] = {&key->device, &key->config, &key->problem,
                                           &key->options};
  return parts[i];
}

const char *wisdom_entry_wrong(const struct cache_entry *entry, const char **name) {
  int column = entry->record.wrong_column;
  const char *wrong = cache_key_wrong(&entry->key, name);
  if (wrong) return wrong;
  wrong = entry->record.wrong ? entry->record.wrong : cache_record_wrong(&entry->record, &column);
  *name = cache_columns[column].name;
  return wrong;
}
