/* Formats numbers for people; see print.h. */
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "clean.h"

/* ---- Numbers -------------------------------------------------------------------------------- */

struct shown print_format(const char *format, ...) {
  struct shown shown;
  va_list args;
  va_start(args, format);
  vsnprintf(shown.text, sizeof shown.text, format, args);
  va_end(args);
  return shown;
}

struct shown print_many(size_t n, const char *what) {
  return print_format("%.24s %.20s%s", print_count(n).text, what, n == 1 ? "" : "s");
}

struct shown print_count(uint64_t n) {
  char digits[24];
  struct shown shown = {0};
  int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
  char *to = shown.text;
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) *to++ = ',';
    *to++ = digits[i];
  }
  return shown;
}

/* Prints about four significant digits, with the largest unit in which the number is at least 1. */
static struct shown print_scaled(double value, const double *scales, const char *const *units,
                                 size_t count) {
  size_t i = 0;
  while (i + 1 < count && value < scales[i] * 0.99995) i++;
  const double scaled = value / scales[i];
  const int decimals = scaled < 9.9995 ? 3 : scaled < 99.995 ? 2 : scaled < 999.95 ? 1 : 0;
  return print_format("%.*f %s", decimals, scaled, units[i]);
}

struct shown print_seconds(double seconds) {
  static const double scales[] = {1, 1e-3, 1e-6, 1e-9};
  static const char *const units[] = {"s", "ms", "us", "ns"};
  return print_scaled(seconds, scales, units, 4);
}

struct shown print_joules(double joules) {
  static const double scales[] = {1, 1e-3, 1e-6, 1e-9};
  static const char *const units[] = {"J", "mJ", "uJ", "nJ"};
  return print_scaled(joules, scales, units, 4);
}

struct shown print_clock(double seconds) {
  const long whole = seconds < 0 ? 0 : lround(fmin(seconds, 1e9));
  const long hours = whole / 3600, minutes = whole / 60 % 60;
  return hours ? print_format("%ld:%02ld:%02ld", hours, minutes, whole % 60)
               : print_format("%ld:%02ld", minutes, whole % 60);
}

struct shown print_bytes(int64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = (double)bytes;
  size_t unit = 0;
  while (value >= 1024 && unit < 4) value /= 1024, unit++;
  return print_format("%.*f %s", value == floor(value) ? 0 : 1, value, units[unit]);
}

struct shown print_flops(double rate) {
  static const double scales[] = {1e12, 1e9, 1e6};
  static const char *const units[] = {"TFLOP/s", "GFLOP/s", "MFLOP/s"};
  return rate > 0 ? print_scaled(rate, scales, units, 3) : (struct shown){"-"};
}

struct shown print_bandwidth(double rate) {
  if (!(rate > 0)) return (struct shown){"-"};
  return print_format("%.40s GB/s", print_number(rate * 1e-9).text);
}

struct shown print_number(double value) {
  return value >= 999.5 && value < 1e18 ? print_count((uint64_t)llround(value))
                                        : print_format("%.3g", value);
}

struct shown print_percent(double fraction) {
  return print_format("%.0f%%", 100 * fraction);
}

struct shown print_clusters(int blocks, int active) {
  return active > 0   ? print_format("%d of %d", active, blocks)
         : blocks > 1 ? print_format("? of %d", blocks)
                      : (struct shown){"-"};
}

struct shown print_moment(int64_t seconds) {
  struct shown shown = {"-"};
  time_t moment = (time_t)seconds;
  struct tm local;
  if (seconds > 0 && localtime_r(&moment, &local))
    strftime(shown.text, sizeof shown.text, "%Y-%m-%d %H:%M", &local);
  return shown;
}

struct shown print_version(int version) {
  return version ? print_format("%d.%d", version / 1000, version % 1000 / 10) : (struct shown){"-"};
}

const char *print_rate_unit(double flops, double bytes) {
  return flops > 0 ? "GFLOP/s" : bytes > 0 ? "GB/s" : NULL;
}

struct shown print_rate(double flops, double bytes, double seconds) {
  const double rate = (flops > 0 ? flops : bytes) / seconds * 1e-9;
  if (!(seconds > 0) || !isfinite(rate)) return (struct shown){""};
  if (rate >= 1000) return print_count((uint64_t)llround(rate));
  return print_format("%.*f", rate < 1 ? 4 : rate < 10 ? 3 : rate < 100 ? 2 : 1, rate);
}

char *print_clean(const char *text, size_t length) {
  struct text clean = {0};
  text_add_clean(&clean, text, length);
  return text_take(&clean);
}

void print_printed(const char *text, const char *when) {
  if (!*text) return;
  printf("Printed by the kernel%s:\n", when);
  clean_kind(WRAP_NOTHING);
  for (size_t length; *text; text += length + (text[length] == '\n')) {
    length = strcspn(text, "\n");
    printf("  | %.*s\n", (int)length, text);
  }
  clean_kind(WRAP_PROSE);
}

void print_tried(const cugen_tune_result *result) {
  const struct {
    size_t count;
    const char *what;
  } parts[] = {{result->failed, "failed"},
               {result->refuted, "came out wrong"},
               {result->unpredicted, "without a prediction"},
               {result->unsupported, "not run"}};
  const char *between = " (";
  printf("\nTried %s", print_count(result->tried).text);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (!parts[i].count) continue;
    printf("%s%s %s", between, print_count(parts[i].count).text, parts[i].what);
    between = ", ";
  }
  if (*between == ',') putchar(')');
}
