/* Printing and parsing of the names of devices; see device_name.h. */
#include "device_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *before; /* the prefix of the text */
  const char *ends;   /* the character that may follow the prefix; "" allows any */
  cugen_device_kind kind;
} kinds[] = {
    {DEVICE_NAME_CPU, " ", CUGEN_DEVICE_CPU},
    {DEVICE_NAME_CUDA, ":", CUGEN_DEVICE_CUDA},
    {DEVICE_NAME_MODEL, "", CUGEN_DEVICE_MODEL},
};

/* Tells whether the text is "cpu", "cuda", or "cuda:" with digits. */
static bool device_name_is_id(const char *text, size_t length) {
  static const size_t cpu = sizeof DEVICE_NAME_CPU - 1, cuda = sizeof DEVICE_NAME_CUDA - 1;
  if (length == cpu && strncmp(text, DEVICE_NAME_CPU, cpu) == 0) return true;
  if (length < cuda || strncmp(text, DEVICE_NAME_CUDA, cuda) != 0) return false;
  return length == cuda ||
         (text[cuda] == ':' && strspn(text + cuda + 1, "0123456789") >= length - cuda - 1);
}

/* Tells whether a part of a list, behind its first comma, names a device: "model:H200", or a word
   that directly follows the comma, such as "H200". */
static bool names_next(const char *part, size_t length) {
  static const size_t model = sizeof DEVICE_NAME_MODEL - 1;
  return strncmp(part, DEVICE_NAME_MODEL, model) == 0 ||
         (length && part[-1] == ',' && strcspn(part, " ./") >= length);
}

/* A comma alone does not make a list, because the text of a processor has commas, too, with a blank
   behind each. */
static bool is_list(const char *text) {
  const bool processor = strncmp(text, DEVICE_NAME_CPU " ", sizeof DEVICE_NAME_CPU) == 0;
  if (strcmp(text, DEVICE_NAME_ALL) == 0) return true;
  bool list = false;
  const char *at = text;
  for (size_t length; strchr(text, ',') && !list; at += length + 1) {
    if (!processor) at += strspn(at, " ");
    length = strcspn(at, ",");
    list = device_name_is_id(at, length) || (at > text && names_next(at, length));
    if (!at[length]) break;
  }
  return list;
}

cugen_device_name device_parse(const char *text) {
  static const size_t mark = sizeof DEVICE_NAME_PREDICTED - 1;
  cugen_device_name out = {CUGEN_DEVICE_NAMED, 0, text ? text : ""};
  out.predicted = strncmp(out.name, DEVICE_NAME_PREDICTED, mark) == 0;
  if (out.predicted) out.name += mark;
  if (is_list(out.name)) {
    out.kind = CUGEN_DEVICE_LIST;
    return out;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !out.predicted; i++) {
    const size_t length = strlen(kinds[i].before);
    const char *rest = out.name + length;
    if (strncmp(out.name, kinds[i].before, length) != 0) continue;
    if (*kinds[i].ends && *rest && *rest != *kinds[i].ends) continue;
    out.kind = kinds[i].kind;
    out.name = rest + (*kinds[i].ends && *rest);
    break;
  }
  return out;
}

void device_gpu_print(const struct device_gpu *gpu, char *out, size_t size) {
  snprintf(out, size, "%.*s sm_%d %d SMs", gpu->name_length, gpu->name, gpu->capability,
           gpu->sm_count);
}

/* Reads a number without a sign; 0 if it is missing or exceeds 99999. *end becomes the position
   after the number. */
static int device_digits(const char *text, const char **end) {
  char *stop = NULL;
  long value = isdigit((unsigned char)*text) ? strtol(text, &stop, 10) : 0;
  *end = stop ? stop : text;
  return value < 100000 ? (int)value : 0;
}

bool device_gpu_parse(const char *text, struct device_gpu *out) {
  static const char capability[] = " sm_";
  const char *mark = NULL, *end;
  for (const char *at = text; (at = strstr(at, capability)); at++) mark = at;
  if (!mark || mark == text || device_parse(text).predicted) return false;
  *out = (struct device_gpu){.name = text, .name_length = (int)(mark - text)};
  out->capability = device_digits(mark + sizeof capability - 1, &end);
  out->sm_count = *end == ' ' ? device_digits(end + 1, &end) : 0;
  return out->sm_count && strcmp(end, " SMs") == 0;
}

size_t device_processor_length(const char *rest) {
  return strcspn(rest, ",");
}
