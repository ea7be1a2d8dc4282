/* Fuzz target: any bytes as a connection string with a password, in any place of the user's name
   and the password. What is shown of the string contains no part of the password, whatever libpq
   would take for the password. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "runtime/store/postgres/address.h"

static const char secret[] = "Zq7!xW";

/* The string is "postgresql://" + front + ":" + secret + back. A password is what follows a
   colon, up to an '@' behind it. */
static void check(const char *front, const char *back) {
  if (strstr(front, secret) || strstr(back, secret)) return; /* a user of that name may be shown */
  struct text address = {0}, shown = {0};
  text_addf(&address, "postgresql://%s:%s%s", front, secret, back);
  if (address.failed || !postgres_takes(text_get(&address))) abort();
  pg_address_show(text_get(&address), &shown);
  if (strstr(text_get(&shown), secret) &&
      strpbrk(text_get(&address) + strlen("postgresql://"), "/?#@[") == NULL)
    abort();
  if (strchr(back, '@') && !strpbrk(front, "/?#@") && strstr(text_get(&shown), secret)) abort();
  text_free(&address);
  text_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct text front = {0}, back = {0}, any = {0}, shown = {0};
  const size_t half = size / 2;
  text_add_n(&front, (const char *)data, half);
  text_add_n(&back, (const char *)data + half, size - half);
  check(text_get(&front), text_get(&back));
  text_add(&any, "postgres://");
  text_add_n(&any, (const char *)data, size);
  pg_address_show(text_get(&any), &shown);
  text_free(&front);
  text_free(&back);
  text_free(&any);
  text_free(&shown);
  return 0;
}
