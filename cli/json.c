/* Devices and records as JSON, for --json; docs/json.md describes it. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "option_names.h"
#include "print.h"

json_t *json_device(const cugen_device_info *device) {
  json_t *object = json_object();
  json_object_set_new(object, "id", json_string(device->id));
  json_object_set_new(object, "name", json_string(device->name));
  json_object_set_new(object, "uuid", json_optional_string(device->uuid));
  json_object_set_new(object, "arch", json_optional_string(device->arch));
  json_object_set_new(object, "driver_version", json_known_integer(device->driver_version));
  json_object_set_new(object, "nvrtc_version", json_known_integer(device->nvrtc_version));
  json_object_set_new(object, "sm_count", json_known_integer(device->sm_count));
  json_object_set_new(object, "clock_khz", json_known_integer(device->clock_khz));
  json_object_set_new(object, "memory_clock_khz", json_known_integer(device->memory_clock_khz));
  json_object_set_new(object, "memory_bus_bits", json_known_integer(device->memory_bus_bits));
  json_object_set_new(object, "memory_bytes", json_known_integer(device->memory_bytes));
  json_object_set_new(object, "l2_bytes", json_known_integer(device->l2_bytes));
  json_object_set_new(object, "shared_bytes_per_block",
                      json_known_integer(device->shared_bytes_per_block));
  return object;
}

json_t *json_implementation(const cugen_implementation_info *info) {
  json_t *object = json_object();
  json_object_set_new(object, "name", json_string(info->name));
  json_object_set_new(object, "cartesian", json_integer((json_int_t)info->cartesian));
  json_object_set_new(object, "valid", json_integer((json_int_t)info->valid));
  json_object_set_new(object, "needs", json_optional_string(info->unavailable));
  return object;
}

json_t *json_record(const cugen_record *record) {
  json_t *object = json_record_plain(record);
  if (*record->reason)
    json_object_set_new(object, "reason", json_optional_string(message_own(record->reason).text));
  return object;
}

json_t *json_failure(const cugen_error *from, int status) {
  const struct message own =
      message_own(*from->message ? from->message : cugen_status_text(status));
  json_t *error = json_object(), *object = json_object();
  json_object_set_new(error, "status", json_integer(status));
  json_object_set_new(error, "text", json_string(cugen_status_text(status)));
  json_object_set_new(error, "message", json_text(own.text));
  json_object_set_new(error, "file", from->line ? json_text(from->file) : json_null());
  json_object_set_new(error, "line", from->line ? json_integer(from->line) : json_null());
  json_object_set_new(object, "error", error);
  return object;
}

int json_print(json_t *object, FILE *out, cugen_error *error) {
  json_t *whole = json_document(object);
  bool good = whole && json_dumpf(whole, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0;
  json_decref(whole);
  fputc('\n', out);
  if (good || ferror(out)) return CUGEN_OK; /* main reports a failure of stdout at the end */
  *error =
      (cugen_error){.status = CUGEN_ERROR_MEMORY, .message = "out of memory while writing JSON"};
  return CUGEN_ERROR_MEMORY;
}
