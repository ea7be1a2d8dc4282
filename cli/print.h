/* Formats numbers for people, and records as JSON. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "api/json.h"
#include "api/kernel.h"

/* A short text that is returned by value. */
struct shown {
  char text[48];
};

struct shown print_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
struct shown print_many(size_t n, const char *what); /* 1 record; 3,412 records */
struct shown print_count(uint64_t n);                /* 3,412 */
struct shown print_seconds(double seconds);          /* 1.234 ms */
struct shown print_joules(double joules);            /* 1.234 mJ */
struct shown print_clock(double seconds);            /* 1:05 */
struct shown print_bytes(int64_t bytes);             /* 48 KiB, 1.5 GiB; 100 B */
struct shown print_flops(double rate);               /* 66.91 TFLOP/s; - for 0 */
struct shown print_bandwidth(double rate);           /* 4,213 GB/s; - for 0 */
struct shown print_number(double value);             /* 1,164; 12.5; 0.25 */
struct shown print_percent(double fraction);
/* "66 of 2": 66 clusters of two blocks each run at once; "? of 2": their number is not known; "-":
   no clusters. */
struct shown print_clusters(int blocks, int active);
/* Seconds since the epoch as local time: 2027-03-01 14:05; - for 0. */
struct shown print_moment(int64_t seconds);
struct shown print_version(int version); /* 13.0 from 13000; - for 0 */
/* The unit of the rate that is shown for a kernel: GFLOP/s if operations are declared, else
   GB/s. */
const char *print_rate_unit(double flops, double bytes); /* NULL when neither is declared */
struct shown print_rate(double flops, double bytes, double seconds);

/* Prints the output of kernels line by line; nothing for "". when: " in its first launch", or
   "". */
void print_printed(const char *text, const char *when);

/* Returns a copy cleaned by text_add_clean; the caller frees it; NULL: out of memory. */
char *print_clean(const char *text, size_t length);

/* ---- JSON ----------------------------------------------------------------------------------- */

json_t *json_device(const void *device); /* a cugen_device_info */
json_t *json_extents(const int64_t *numbers, int count);
json_t *json_size(const unsigned int size[3]); /* x, y, z of a grid, a block or a place in one */
struct cli;
/* Begins an object with the kernel, its problem and its device. */
json_t *json_kernel(const struct cli *cli);
json_t *json_implementation(const void *info);
/* Returns JSON null if the variant was named. */
json_t *json_choice(const cugen_choice *choice);
/* The member "reason" names options as the command line does. */
json_t *json_record(const void *record); /* a cugen_record */
/* Returns {"error": {...}}. */
json_t *json_failure(const cugen_error *error, int status);
/* Prints the object, with the version of the format as its first member, and a line end, and
   releases the object. object NULL: memory ran out while it was made. */
int json_print(json_t *object, FILE *out, cugen_error *error);
/* An object whose member or item could not be allocated lacks it, and jansson's callers here do not
   look at each. json_watch_memory notes such a failure, and json_lost_memory returns, once, whether
   there was one. */
void json_watch_memory(void);
bool json_lost_memory(void);

/* Prints the beginning of a line: "Tried 13 (2 failed, 1 came out wrong)". */
void print_tried(const cugen_tune_result *result);

#endif
