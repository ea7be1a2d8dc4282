/* Reads the header of a .npy file; see npy.h. The header is a Python dictionary in one line,
   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, which must have exactly these three
   keys. */
#include "npy.h"

#include <string.h>

struct reader {
  const char *at, *end;
  struct npy *out;
  unsigned seen; /* bit i is set when keys[i] was read */
  const char *wrong;
};

static bool npy_refuse(struct reader *r, const char *why) {
  if (!r->wrong) r->wrong = why;
  return false;
}

/* ---- Tokens --------------------------------------------------------------------------------- */

static void npy_skip_blanks(struct reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n')) r->at++;
}

static bool npy_take(struct reader *r, char c) {
  npy_skip_blanks(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

static bool npy_take_word(struct reader *r, const char *word) {
  size_t length = strlen(word);
  npy_skip_blanks(r);
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

/* Reads 'text' or "text", without escapes. */
static bool npy_read_string(struct reader *r, char *out, size_t size) {
  npy_skip_blanks(r);
  if (r->at == r->end || (*r->at != '\'' && *r->at != '"')) return false;
  const char *begin = r->at + 1, *close = memchr(begin, *r->at, (size_t)(r->end - begin));
  if (!close || (size_t)(close - begin) >= size) return false;
  memcpy(out, begin, (size_t)(close - begin));
  out[close - begin] = '\0';
  r->at = close + 1;
  return true;
}

static bool npy_read_number(struct reader *r, int64_t *out) {
  npy_skip_blanks(r);
  *out = 0;
  if (r->at == r->end || *r->at < '0' || *r->at > '9') return false;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
    if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *r->at - '0', out))
      return false;
  return true;
}

/* ---- The three keys ------------------------------------------------------------------------- */

static bool read_descr(struct reader *r) {
  char text[16];
  struct npy *out = r->out;
  if (!npy_read_string(r, text, sizeof text))
    return npy_refuse(r, "its elements are no plain numbers");
  if (text[0] == '>')
    return npy_refuse(r, "its elements are big-endian: save it with .astype('<...')");
  const char *type = text[0] == '<' || text[0] == '|' || text[0] == '=' ? text + 1 : text;
  size_t length = strlen(type);
  bool known = length == 2 && strchr("fiuVb", type[0]) && strchr("1248", type[1]);
  if (!known) return npy_refuse(r, "its elements are no numbers of 1, 2, 4 or 8 bytes");
  memcpy(out->type, type, length + 1);
  out->bytes = type[1] - '0';
  return true;
}

static bool read_order(struct reader *r) {
  r->out->fortran = npy_take_word(r, "True");
  return r->out->fortran || npy_take_word(r, "False") ||
         npy_refuse(r, "its fortran_order is neither True nor False");
}

static bool npy_read_shape(struct reader *r) {
  struct npy *out = r->out;
  bool comma = true;
  if (!npy_take(r, '(')) return npy_refuse(r, "its shape cannot be read");
  while (!npy_take(r, ')')) {
    if (!comma) return npy_refuse(r, "its shape cannot be read");
    if (out->rank == NPY_MOST_RANK) return npy_refuse(r, "it has more than 4 dimensions");
    int64_t *extent = &out->shape[out->rank++];
    if (!npy_read_number(r, extent)) return npy_refuse(r, "its shape cannot be read");
    if (*extent < 1) return npy_refuse(r, "it has no elements");
    comma = npy_take(r, ',');
  }
  if (out->rank == 0) return npy_refuse(r, "it has no dimensions");
  /* without a comma, (3) is not a tuple */
  return out->rank > 1 || comma || npy_refuse(r, "its shape cannot be read");
}

static const struct {
  const char *name;
  bool (*read)(struct reader *r);
} keys[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", npy_read_shape}};
enum { KEY_COUNT = sizeof keys / sizeof *keys, ALL_KEYS = (1 << KEY_COUNT) - 1 };

static bool read_pair(struct reader *r) {
  char name[16];
  if (!npy_read_string(r, name, sizeof name) || !npy_take(r, ':'))
    return npy_refuse(r, "its header cannot be read");
  for (int i = 0; i < KEY_COUNT; i++) {
    if (strcmp(keys[i].name, name) != 0) continue;
    if (r->seen >> i & 1) return npy_refuse(r, "its header has a key twice");
    r->seen |= 1u << i;
    return keys[i].read(r);
  }
  return npy_refuse(r, "its header has an unknown key");
}

static bool npy_read_header(struct reader *r) {
  bool comma = true;
  if (!npy_take(r, '{')) return npy_refuse(r, "its header cannot be read");
  while (!npy_take(r, '}')) {
    if (!comma) return npy_refuse(r, "its header cannot be read");
    if (!read_pair(r)) return false;
    comma = npy_take(r, ',');
  }
  npy_skip_blanks(r);
  if (r->at != r->end) return npy_refuse(r, "its header cannot be read");
  return r->seen == ALL_KEYS || npy_refuse(r, "its header lacks descr, fortran_order or shape");
}

/* ---- The file ------------------------------------------------------------------------------- */

/* Finds the header by the magic string, the version and the length at the start of the file. */
static bool npy_find_header(const unsigned char *data, size_t length, struct reader *r) {
  static const char magic[] = "\x93NUMPY";
  if (length < 10 || memcmp(data, magic, 6) != 0) return npy_refuse(r, "it does not begin as one");
  if (data[6] < 1 || data[6] > 2 || data[7] != 0)
    return npy_refuse(r, "it has another version than 1.0 and 2.0");
  size_t begin = data[6] == 1 ? 10 : 12;
  if (length < begin) return npy_refuse(r, "it ends in its header");
  size_t size = data[8] | (size_t)data[9] << 8;
  if (begin == 12) size |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
  if (size > NPY_MOST_HEADER) return npy_refuse(r, "its header has more than 4096 bytes");
  if (size > length - begin) return npy_refuse(r, "it ends in its header");
  r->at = (const char *)data + begin;
  r->end = r->at + size;
  r->out->offset = begin + size;
  return true;
}

static bool check_length(struct reader *r, size_t length) {
  int64_t bytes = r->out->bytes;
  for (int i = 0; i < r->out->rank; i++)
    if (__builtin_mul_overflow(bytes, r->out->shape[i], &bytes))
      return npy_refuse(r, "its shape is too large");
  if ((uint64_t)bytes > length - r->out->offset)
    return npy_refuse(r, "it ends before its last element");
  return (uint64_t)bytes == length - r->out->offset ||
         npy_refuse(r, "it goes on behind its last element");
}

int npy_parse(const void *head, size_t head_length, size_t length, struct npy *out,
              cugen_error *err) {
  *out = (struct npy){0};
  struct reader r = {.out = out};
  if (npy_find_header(head, head_length, &r) && npy_read_header(&r) && check_length(&r, length))
    return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_CONFIG, "no .npy file that can be read: %s", r.wrong);
}

bool npy_is_name(const char *name) {
  const size_t length = strlen(name);
  return length >= 4 && strcmp(name + length - 4, ".npy") == 0;
}
