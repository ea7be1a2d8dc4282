/* Reading a recorded space; see recorded.h. */
#include <string.h>

#include "base/input.h"
#include "formats.h"

static int read_file(const char *path, struct process_stop stop, struct text *out,
                     cugen_error *err) {
  const struct input_limits limits = {.most = (size_t)1 << 30, .stop = stop};
  struct input input;
  int status = input_open(&input, path, &limits, err);
  if (!status) status = input_rest(&input, out, err);
  input_close(&input);
  return status;
}

/* Reads the cache of a Kernel Tuner that was stopped, which lacks the last two braces. */
static json_t *load_unfinished(const struct text *text) {
  struct text whole = {0};
  size_t length = text->length;
  while (length > 0 && strchr(" \t\r\n,", text->data[length - 1])) length--;
  text_add_n(&whole, text_get(text), length);
  text_add(&whole, "}}");
  json_t *root = whole.failed ? NULL : json_loadb(whole.data, whole.length, 0, NULL);
  text_free(&whole);
  return root;
}

static int load(const char *path, const struct text *text, json_t **root, cugen_error *err) {
  json_error_t why;
  if (text->length > 1 && (unsigned char)text->data[0] == 0x1f &&
      (unsigned char)text->data[1] == 0x8b)
    return error_set(err, CUGEN_ERROR_USAGE, "%s is compressed: gunzip -c %s | bench_replay -",
                     path, path);
  *root = json_loadb(text_get(text), text->length, 0, &why);
  if (!*root) *root = load_unfinished(text);
  if (*root) return CUGEN_OK;
  return error_set_at(err, CUGEN_ERROR_CACHE, path, why.line, "not JSON: %s", why.text);
}

static const struct recorded_format *format_of(const json_t *root) {
  const struct recorded_format *format = recorded_formats;
  while (format->name && !json_is_array(json_object_get(root, format->mark)) &&
         !json_is_object(json_object_get(root, format->mark)))
    format++;
  return format->name ? format : NULL;
}

static int read_root(const char *path, const json_t *root, struct recorded *out, cugen_error *err) {
  struct recording recording = {.path = path, .kernel = "", .device = ""};
  const struct recorded_format *format = format_of(root);
  if (!format)
    return error_set(err, CUGEN_ERROR_CACHE,
                     "%s: not a recorded space: neither T4 ('results'), nor a Kernel Tuner cache "
                     "('cache'), nor KTT's "
                     "('Results')",
                     path);
  out->format = format->name;
  out->all_compile = out->all_else = -1;
  int status = format->read(&recording, root, err);
  if (!status) status = recording_finish(&recording, out, err);
  recording_free(&recording);
  return status;
}

int recorded_read(const char *path, struct process_stop stop, struct recorded *out,
                  cugen_error *err) {
  struct text text = {0};
  json_t *root = NULL;
  *out = (struct recorded){0};
  int status = read_file(path, stop, &text, err);
  if (!status) status = load(path, &text, &root, err);
  text_free(&text);
  if (!status) status = read_root(path, root, out, err);
  json_decref(root);
  if (status) recorded_free(out);
  return status;
}
