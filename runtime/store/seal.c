/* The key and the MAC (libsodium's keyed BLAKE2b, RFC 7693); see seal.h. */
#include "seal.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"

_Static_assert(SEAL_BYTES == crypto_generichash_KEYBYTES, "as BLAKE2b-256's key");
_Static_assert(SEAL_BYTES == crypto_generichash_BYTES, "as BLAKE2b-256");

/* ---- The MAC -------------------------------------------------------------------------------- */

/* Adds the length first, so that no byte can move from one part to the next. */
static void seal_add_part(crypto_generichash_state *state, const void *data, size_t length) {
  unsigned char size[8];
  for (size_t i = 0; i < sizeof size; i++) size[i] = (unsigned char)((uint64_t)length >> 8 * i);
  crypto_generichash_update(state, size, sizeof size);
  crypto_generichash_update(state, data, length);
}

void seal_make(const struct seal *seal, const struct text *facts, const void *data, size_t length,
               unsigned char mac[SEAL_BYTES]) {
  crypto_generichash_state state;
  crypto_generichash_init(&state, seal->key, SEAL_BYTES, SEAL_BYTES);
  seal_add_part(&state, text_get(facts), facts->length);
  seal_add_part(&state, data ? data : "", length);
  crypto_generichash_final(&state, mac, SEAL_BYTES);
}

bool seal_holds(const struct seal *seal, const struct text *facts, const void *data, size_t length,
                const unsigned char mac[SEAL_BYTES]) {
  unsigned char own[SEAL_BYTES];
  if (!seal->known || facts->failed) return false;
  seal_make(seal, facts, data, length, own);
  return sodium_memcmp(own, mac, SEAL_BYTES) == 0;
}

/* The id is also a MAC, of a text that no image has. */
static void know(struct seal *seal) {
  static const char name[] = "cugen: which key";
  unsigned char mac[SEAL_BYTES];
  crypto_generichash(mac, sizeof mac, (const unsigned char *)name, sizeof name, seal->key,
                     SEAL_BYTES);
  sodium_bin2hex(seal->id, sizeof seal->id, mac, SEAL_ID / 2);
  seal->known = true;
}

void seal_fresh(struct seal *out) {
  *out = (struct seal){0};
  if (sodium_init() < 0) return;
  randombytes_buf(out->key, SEAL_BYTES);
  know(out);
}

void seal_forget(struct seal *seal) {
  sodium_memzero(seal, sizeof *seal);
}

/* ---- The place of the key ------------------------------------------------------------------- */

static const char file_name[] = "image.key";

/* Returns false if there is no place for the key. As root, another user's HOME does not count, as
   under sudo, because that user would be left with a key that only root can read. */
static bool find_folder(struct text *out) {
  const char *xdg = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  struct stat info;
  if (xdg && *xdg == '/') /* the specification says to ignore relative paths */
    text_addf(out, "%s/cugen", xdg);
  else if (home && *home == '/' && (geteuid() || (stat(home, &info) == 0 && info.st_uid == 0)))
    text_addf(out, "%s/.local/state/cugen", home);
  return out->length && !out->failed;
}

/* ---- Reading the key ------------------------------------------------------------------------ */

/* The folder may be readable for others, because the key's own mode protects the key. */
static const char *folder_wrong(int folder) {
  struct stat info;
  if (fstat(folder, &info)) return strerror(errno);
  if (info.st_uid != geteuid()) return "this folder belongs to another user";
  return info.st_mode & 022 ? "others may write to this folder" : NULL;
}

static const char *read_key(int fd, struct seal *out) {
  struct stat info;
  if (fstat(fd, &info)) return strerror(errno);
  if (!S_ISREG(info.st_mode)) return "it is not a file";
  if (info.st_uid != geteuid()) return "it belongs to another user";
  if (info.st_mode & 077) return "others may read or write it";
  if (info.st_size != SEAL_BYTES) return "it is not 32 bytes long";
  if (read(fd, out->key, SEAL_BYTES) != SEAL_BYTES) return "it cannot be read";
  return sodium_is_zero(out->key, SEAL_BYTES) ? "it is empty" : NULL;
}

/* Reads the key into *out. Returns what is wrong, or NULL. *missing: there is no key. O_NONBLOCK,
   because somebody may have put a pipe in the key's place. */
static const char *open_key(int folder, bool *missing, struct seal *out) {
  int fd = openat(folder, file_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  *missing = fd < 0 && errno == ENOENT;
  if (fd < 0) return *missing ? NULL : errno == ELOOP ? "it is a link" : strerror(errno);
  const char *wrong = read_key(fd, out);
  close(fd);
  return wrong;
}

/* ---- Making the key ------------------------------------------------------------------------- */

/* Creates the key atomically: the file gets its name by link when it is on disk, unless another
   process has made a key first. */
static void make_key(int folder, const char *path) {
  struct text name = {0};
  text_addf(&name, "%s/%s", path, file_name);
  if (!name.failed) file_sweep(text_get(&name));
  text_clear(&name);
  text_addf(&name, "%s.%ld-%u.new", file_name, (long)getpid(), (unsigned)randombytes_random());
  int fd = name.failed ? -1
                       : openat(folder, text_get(&name),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) {
    unsigned char key[SEAL_BYTES];
    randombytes_buf(key, sizeof key);
    bool good = fchmod(fd, 0600) == 0 && write(fd, key, sizeof key) == sizeof key && fsync(fd) == 0;
    sodium_memzero(key, sizeof key);
    if (close(fd) == 0 && good && linkat(folder, text_get(&name), folder, file_name, 0) == 0)
      fsync(folder);
    unlinkat(folder, text_get(&name), 0);
  }
  text_free(&name);
}

/* Returns -1 if the folder cannot be opened. Of the folders that are made, only the last of the
   path gets a private mode. */
static int open_folder(const char *path, bool make) {
  struct text parent = {0};
  if (make) {
    path_folder(path, &parent);
    if (!parent.failed && !folder_make(text_get(&parent), NULL)) mkdir(path, 0700);
    text_free(&parent);
  }
  return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void seal_open(bool make, struct seal *out, struct text *why) {
  struct text path = {0};
  bool missing = true;
  *out = (struct seal){0};
  int folder = sodium_init() >= 0 && find_folder(&path) ? open_folder(text_get(&path), make) : -1;
  const char *closed = folder < 0 ? NULL : folder_wrong(folder);
  const char *wrong = folder < 0 || closed ? NULL : open_key(folder, &missing, out);
  if (folder >= 0 && !closed && !wrong && missing && make) {
    make_key(folder, text_get(&path));
    wrong = open_key(folder, &missing, out);
  }
  if (folder >= 0) close(folder);
  if (closed && why)
    text_addf(why,
              "%s: %s, so the key of compiled kernels in it is not used: compiled kernels are not "
              "kept, and every run compiles them anew. Make the folder yours alone to write to "
              "(chown, chmod go-w), or set XDG_STATE_HOME to a folder of your own",
              text_get(&path), closed);
  if (wrong && why)
    text_addf(why,
              "%s/%s: the key of compiled kernels is not used (%s): compiled kernels are not kept, "
              "and every run compiles them anew. Remove the file, and cugen makes another",
              text_get(&path), file_name, wrong);
  if (closed || wrong || missing)
    sodium_memzero(out, sizeof *out);
  else
    know(out);
  text_free(&path);
}
