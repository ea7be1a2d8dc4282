/* Connection strings; see address.h. libpq takes the part before the first '@' for user and
   password, unless a '/' comes first. A password that contains one of "@/?#" without
   percent-encoding would be taken for host, port or database, which libpq quotes in its messages.
   Therefore an address is refused before libpq sees it if it has an '@' in another place, a ':' in
   the database's name, a '#' before any '?', a port that is not a number, or a wrong
   percent-encoding. */
#define _GNU_SOURCE /* strcasestr */
#include "address.h"

#include <ctype.h>
#include <string.h>

static const char *const schemes[] = {"postgresql://", "postgres://"};

/* Returns the part after the scheme, or NULL if the path has neither scheme. */
static const char *behind_scheme(const char *path) {
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
    if (strncmp(path, schemes[i], strlen(schemes[i])) == 0) return path + strlen(schemes[i]);
  return NULL;
}

bool postgres_takes(const char *path) {
  return behind_scheme(path) != NULL;
}

static bool is_encoded(const char *text) {
  for (; (text = strchr(text, '%')); text++)
    if (!isxdigit((unsigned char)text[1]) || !isxdigit((unsigned char)text[2])) return false;
  return true;
}

/* Whether there may be a password, sslpassword or passfile option. Any percent-encoding counts,
   because it may spell such an option. */
static bool has_secret(const char *options) {
  return strcasestr(options, "pass") || strchr(options, '%');
}

/* Whether each port, which may be empty, has only digits: "host", "host:1234", "[::1]:1234", or
   several of these with commas between. */
static bool has_ports(const char *hosts, const char *end) {
  bool brackets = false, port = false;
  for (; hosts < end; hosts++) {
    if (port && !brackets && *hosts != ',' && !isdigit((unsigned char)*hosts)) return false;
    brackets = *hosts == '[' || (brackets && *hosts != ']');
    port = !brackets && (*hosts == ':' || (port && *hosts != ','));
  }
  return true;
}

bool pg_address_show(const char *path, struct text *shown) {
  const char *start = behind_scheme(path);
  const char *options = start + strcspn(start, "?#"), *place = start + strcspn(start, "/?#");
  const char *at = memchr(start, '@', (size_t)(place - start)), *host = at ? at + 1 : start;
  text_add(shown, schemes[0]);
  if (strchr(host, '@') || memchr(place, ':', (size_t)(options - place)) || *options == '#' ||
      !is_encoded(start) || !has_ports(host, place))
    return false;
  if (at) {
    text_add_clean(shown, start, strcspn(start, ":@"));
    text_add_char(shown, '@');
  }
  text_add_clean(shown, host, has_secret(options) ? (size_t)(options - host) : strlen(host));
  return true;
}
