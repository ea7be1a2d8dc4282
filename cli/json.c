/* Devices and records as JSON (docs/json.md). */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "cli.h"
#include "print.h"

json_t *json_device(const void *info) {
  const cugen_device_info *device = info;
  return JSON_NEW(
      MEMBER(string, device, id), MEMBER(string, device, name),
      MEMBER(optional_string, device, uuid), MEMBER(optional_string, device, arch),
      MEMBER(known_integer, device, driver_version), MEMBER(known_integer, device, nvrtc_version),
      MEMBER(known_integer, device, sm_count), MEMBER(known_integer, device, clock_khz),
      MEMBER(known_integer, device, memory_clock_khz),
      MEMBER(known_integer, device, memory_bus_bits), MEMBER(known_integer, device, memory_bytes),
      MEMBER(known_integer, device, l2_bytes),
      MEMBER(known_integer, device, shared_bytes_per_block));
}

json_t *json_extents(const int64_t *numbers, int count) {
  json_t *array = json_array();
  for (int i = 0; i < count; i++) json_array_append_new(array, json_integer(numbers[i]));
  return array;
}

json_t *json_size(const unsigned int size[3]) {
  return json_extents((const int64_t[]){size[0], size[1], size[2]}, 3);
}

json_t *json_kernel(const struct cli *cli) {
  return JSON_NEW({"kernel", json_string(cugen_kernel_name(cli->kernel))},
                  {"problem", json_string(cugen_kernel_problem(cli->kernel))},
                  {"device", json_device(cugen_kernel_device(cli->kernel))});
}

json_t *json_implementation(const void *item) {
  const cugen_implementation_info *info = item;
  return JSON_NEW(MEMBER(string, info, name), MEMBER(count, info, cartesian),
                  MEMBER(count, info, valid), {"needs", json_optional_string(info->unavailable)});
}

json_t *json_record(const void *item) {
  const cugen_record *record = item;
  json_t *object = json_record_plain(record);
  if (*record->reason)
    json_object_set_new(object, "reason", json_optional_string(message_own(record->reason).text));
  return object;
}

json_t *json_failure(const cugen_error *from, int status) {
  const struct message own =
      message_own(*from->message ? from->message : cugen_status_text(status));
  json_t *error = JSON_NEW(
      {"status", json_integer(status)}, {"text", json_string(cugen_status_text(status))},
      {"message", json_text(own.text)}, {"file", from->line ? json_text(from->file) : json_null()},
      MEMBER(known_integer, from, line));
  return JSON_NEW({"error", error});
}

/* jansson's allocator has no context. */
static atomic_bool memory_failed;

static void *json_allocate(size_t size) {
  void *block = malloc(size);
  if (!block) atomic_store(&memory_failed, true);
  return block;
}

void json_watch_memory(void) {
  json_set_alloc_funcs(json_allocate, free);
}

bool json_lost_memory(void) {
  return atomic_exchange(&memory_failed, false);
}

int json_print(json_t *object, FILE *out, cugen_error *error) {
  json_t *whole = json_document(object);
  char *text = whole ? json_dumps(whole, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  json_decref(whole);
  if (!text || json_lost_memory()) {
    free(text);
    *error =
        (cugen_error){.status = CUGEN_ERROR_MEMORY, .message = "out of memory while writing JSON"};
    return CUGEN_ERROR_MEMORY;
  }
  fputs(text, out); /* main reports a failure of stdout at the end */
  fputc('\n', out);
  free(text);
  return CUGEN_OK;
}
