/* Declarations that the writer and the reader of wisdom share. */
#ifndef RUNTIME_STORE_WISDOM_FORMAT_H
#define RUNTIME_STORE_WISDOM_FORMAT_H

#include "runtime/store/wisdom.h"

#define WISDOM_FORMAT "cugen wisdom"
/* A line ends with this mark, the checksum's digits, a quote and a brace. */
#define WISDOM_CHECKSUM_MARK ",\"checksum\":\""
enum { WISDOM_MARK = sizeof WISDOM_CHECKSUM_MARK - 1, WISDOM_CHECKSUM = WISDOM_MARK + 32 + 2 };

/* plain.c: checks an entry by the gate of record.h. Returns what is wrong, and sets *name to the
   wrong part; NULL: nothing is wrong. */
const char *wisdom_entry_wrong(struct cache_entry *entry, const char **name);

/* Reads a record's line that has exactly the form that cugen writes. The entry's strings lie in
   *scratch, so they must not be freed with the entry. Returns false for any other line, right or
   wrong. */
bool wisdom_read_plain(const char *line, size_t length, int format, struct text *scratch,
                       struct cache_entry *out);

#endif
