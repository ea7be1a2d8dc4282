/* Reads configs/devices/NAME.lua; see device_file.h. Each figure is a global function, so that an
   error names the line of the figure. */
#include "device_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <lauxlib.h>
#include <lua.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/capability.h"
#include "base/device_name.h"
#include "gen/sandbox/sandbox.h"

/* Figures of the kind FIGURE_TIMING may be left out for GPUs for which NVRTC has no target. For a
   FIGURE_LIMIT or FIGURE_LANE that is left out, the figure of the compute capability is used, if
   base/capability.h knows it. Figures of the other kinds are required. */
enum figure_kind {
  FIGURE_FACT,
  FIGURE_LIMIT,
  FIGURE_LANE,
  FIGURE_RATE,
  FIGURE_TIMING,
  FIGURE_ID,
  FIGURE_NAME
};

/* A figure with the range of accepted values. */
struct figure {
  const char *name;
  enum figure_kind kind;
  size_t offset;
  int64_t least, most;
};

#define FIGURE(kind, part, name, least, most)                                                      \
  { #name, FIGURE_##kind, offsetof(struct gpu_model, part.name), least, most }
#define FACT(name, least, most)   FIGURE(FACT, facts, name, least, most)
#define LIMIT(name, least, most)  FIGURE(LIMIT, facts, name, least, most)
#define LANE(name, least, most)   FIGURE(LANE, rates, name, least, most)
#define TIMING(name, least, most) FIGURE(TIMING, rates, name, least, most)
#define RATE(name, least, most)   FIGURE(RATE, rates, name, least, most)
#define KIB                       INT64_C(1024)
#define MIB                       (1024 * KIB)
#define GIB                       (1024 * MIB)

static const struct figure figures[] = {
    {"gpu", FIGURE_ID, offsetof(struct gpu_model, id), 0, 0},
    {"name", FIGURE_NAME, offsetof(struct gpu_model, name), 0, 0},
    FACT(compute_capability, 30, 199),
    FACT(sm_count, 1, 1024),
    FACT(clock_khz, 100000, 10000000),
    FACT(memory_clock_khz, 100000, 50000000),
    FACT(memory_bus_bits, 32, 65536),
    FACT(memory_bytes, 64 * MIB, 16384 * GIB),
    FACT(l2_bytes, 16 * KIB, 16 * GIB),
    LIMIT(max_threads_per_sm, 32, 8192),
    LIMIT(max_blocks_per_sm, 1, 256),
    LIMIT(registers_per_sm, 1024, 4194304),
    LIMIT(shared_per_sm, KIB, 16 * MIB),
    LIMIT(shared_per_block_optin, KIB, 16 * MIB),
    LANE(fp32_lanes, 1, 4096),
    LANE(fp64_lanes, 1, 4096),
    LANE(fp16_lanes, 0, 16384),
    LANE(bf16_lanes, 0, 16384),
    LANE(int32_lanes, 1, 4096),
    LANE(special_lanes, 1, 4096),
    LANE(tensor_flops, 0, 1048576),
    LANE(tensor_f64_flops, 0, 1048576),
    LANE(tensor_tf32_flops, 0, 1048576),
    LANE(tensor_bf16_flops, 0, 1048576),
    LANE(tensor_fp8_flops, 0, 1048576),
    LANE(tensor_i8_flops, 0, 1048576),
    RATE(l1_bytes, KIB, 16 * MIB),
    TIMING(l2_bytes_per_clock, 16, 1048576),
    RATE(memory_gb_per_second, 1, 200000),
    TIMING(shared_latency, 1, 10000),
    TIMING(l1_latency, 1, 10000),
    TIMING(l2_latency, 1, 10000),
    TIMING(memory_latency, 1, 10000),
};
enum { FIGURES = sizeof figures / sizeof *figures };

struct reader {
  struct gpu_model *out;
  int lines[FIGURES]; /* line of each figure; 0: not given yet */
};

/* ---- One figure ----------------------------------------------------------------------------- */

static int line_here(lua_State *L) {
  lua_Debug at;
  if (!lua_getstack(L, 1, &at) || !lua_getinfo(L, "l", &at)) return 1;
  return at.currentline > 0 ? at.currentline : 1;
}

static void device_file_take_text(lua_State *L, const struct figure *figure,
                                  struct gpu_model *out) {
  size_t length, room = figure->kind == FIGURE_ID ? sizeof out->id - strlen(DEVICE_NAME_MODEL)
                                                  : sizeof out->name;
  char *to = (char *)out + figure->offset;
  if (lua_type(L, 1) != LUA_TSTRING)
    luaL_error(L, "%s takes a text, not a %s", figure->name, luaL_typename(L, 1));
  const char *text = lua_tolstring(L, 1, &length);
  if (!length || length >= room || strlen(text) != length)
    luaL_error(L, "%s has 1 to %d characters", figure->name, (int)room - 1);
  for (size_t i = 0; i < length; i++)
    if (!isprint((unsigned char)text[i]) || (figure->kind == FIGURE_ID && text[i] == ' '))
      luaL_error(L, "%s has a character that is not printable%s", figure->name,
                 figure->kind == FIGURE_ID ? " or is a space" : "");
  if (figure->kind == FIGURE_ID) {
    memcpy(to, DEVICE_NAME_MODEL, strlen(DEVICE_NAME_MODEL));
    to += strlen(DEVICE_NAME_MODEL);
  }
  memcpy(to, text, length + 1);
}

static void device_file_take_number(lua_State *L, const struct figure *figure,
                                    struct gpu_model *out) {
  int whole;
  if (lua_type(L, 1) != LUA_TNUMBER)
    luaL_error(L, "%s takes a number, not a %s", figure->name, luaL_typename(L, 1));
  double number = lua_tonumber(L, 1);
  if (!(number >= (double)figure->least) || !(number <= (double)figure->most))
    luaL_error(L, "%s is %f, should be %I to %I", figure->name, number, (LUAI_UACINT)figure->least,
               (LUAI_UACINT)figure->most);
  if (figure->kind != FIGURE_FACT && figure->kind != FIGURE_LIMIT) {
    memcpy((char *)out + figure->offset, &number, sizeof number);
    return;
  }
  int64_t value = lua_tointegerx(L, 1, &whole);
  if (!whole) luaL_error(L, "%s is a whole number, not %f", figure->name, number);
  memcpy((char *)out + figure->offset, &value, sizeof value);
}

/* The C function that is called for each figure. */
static int take_figure(lua_State *L) {
  struct reader *reader = lua_touserdata(L, lua_upvalueindex(1));
  lua_Integer index = lua_tointeger(L, lua_upvalueindex(2));
  const struct figure *figure = &figures[index];
  if (lua_gettop(L) != 1) return luaL_error(L, "%s takes one value", figure->name);
  if (reader->lines[index])
    return luaL_error(L, "%s stands here twice: it is at line %d already", figure->name,
                      reader->lines[index]);
  reader->lines[index] = line_here(L);
  if (figure->kind == FIGURE_ID || figure->kind == FIGURE_NAME)
    device_file_take_text(L, figure, reader->out);
  else
    device_file_take_number(L, figure, reader->out);
  return 0;
}

static int unknown_figure(lua_State *L, const char *name) {
  const char *names[FIGURES];
  for (int i = 0; i < FIGURES; i++) names[i] = figures[i].name;
  const char *nearest = text_nearest(name, names, FIGURES);
  if (nearest) return luaL_error(L, "unknown figure '%s' (nearest '%s')", name, nearest);
  return luaL_error(L, "unknown figure '%s'; docs/model.md has a list", name);
}

/* Pushes a new function for the figure of that name. */
static int find_figure(lua_State *L) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
  int index = 0;
  while (index < FIGURES && strcmp(figures[index].name, name) != 0) index++;
  if (index == FIGURES) return unknown_figure(L, name);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushinteger(L, index);
  lua_pushcclosure(L, take_figure, 2);
  return 1;
}

/* ---- The file ------------------------------------------------------------------------------- */

static int open_figures(lua_State *L) {
  lua_pushglobaltable(L);
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, find_figure, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  return 0;
}

/* Sets the figures that are equal on all described GPUs or follow from other figures: CUDA C++
   Programming Guide, "Technical Specifications per Compute Capability". pitch_alignment is the
   value that cuMemAllocPitch gave on every GPU tried. */
static void add_common(struct gpu_model *out) {
  struct device_facts *f = &out->facts;
  f->architecture_specific = f->compute_capability >= 90;
  f->warp_size = 32;
  f->max_threads_per_block = 1024;
  f->registers_per_block = f->registers_per_sm;
  f->shared_per_block = 49152;
  f->shared_reserved_per_block = f->compute_capability >= 80 ? 1024 : 0;
  f->constant_bytes = 65536;
  f->pitch_alignment = 512;
  f->is_gpu = 1;
}

/* Sets the limits and lanes that were not given to those of the compute capability, if known. */
static void add_capability(struct reader *reader) {
  struct device_facts facts = {0};
  struct gpu_rates rates = {0};
  struct gpu_model *out = reader->out, usual;
  bool known = capability_limits(out->facts.compute_capability, &facts);
  known = known && capability_rates(out->facts.compute_capability, out->name, &rates) &&
          rates.fp32_lanes > 0;
  usual = (struct gpu_model){.facts = facts, .rates = rates};
  for (int i = 0; i < FIGURES && known; i++) {
    if (reader->lines[i] || (figures[i].kind != FIGURE_LIMIT && figures[i].kind != FIGURE_LANE))
      continue;
    memcpy((char *)out + figures[i].offset, (const char *)&usual + figures[i].offset,
           sizeof(double));
    reader->lines[i] = 1;
  }
}

static int check_complete(const struct reader *reader, const char *path, cugen_error *err) {
  bool predicted = reader->out->facts.compute_capability >= GPU_OLDEST_TARGET;
  for (int i = 0; i < FIGURES; i++)
    if (!reader->lines[i] && (predicted || figures[i].kind != FIGURE_TIMING))
      return error_set(err, CUGEN_ERROR_CONFIG,
                       "%s: '%s' is missing: a description has all of its figures", path,
                       figures[i].name);
  const struct device_facts *f = &reader->out->facts;
  if (f->shared_per_block_optin > f->shared_per_sm)
    return error_set(err, CUGEN_ERROR_CONFIG,
                     "%s: a block cannot have more shared memory than a multiprocessor has", path);
  return CUGEN_OK;
}

int device_file_parse(const char *path, const char *content, size_t length, struct gpu_model *out,
                      cugen_error *err) {
  struct sandbox *sandbox;
  struct reader reader = {.out = out};
  *out = (struct gpu_model){0};
  int status = sandbox_open(0, 0, &sandbox, err);
  if (status) return status;
  status =
      sandbox_run(sandbox, open_figures, &reader, path, content, length, CUGEN_ERROR_CONFIG, err);
  sandbox_close(sandbox);
  if (!status) add_capability(&reader);
  if (!status) status = check_complete(&reader, path, err);
  if (!status) add_common(out);
  return status;
}

/* ---- Finding a description ------------------------------------------------------------------ */

static int by_age(const void *a, const void *b) {
  const struct gpu_model *x = a, *y = b;
  int64_t older = x->facts.compute_capability - y->facts.compute_capability;
  return older ? (older > 0) - (older < 0) : strcmp(x->id, y->id);
}

/* Replaces the model of the same id, or adds the model at the end. Models beyond `count` are only
   counted. */
static void device_file_add_model(struct gpu_model *out, size_t count, size_t *all,
                                  const struct gpu_model *model) {
  size_t i = 0;
  while (i < *all && i < count && strcasecmp(out[i].id, model->id) != 0) i++;
  if (i < count) out[i] = *model;
  if (i >= *all || i >= count) ++*all;
}

static int names_device(const struct dirent *entry) {
  const char *ending = strrchr(entry->d_name, '.');
  for (const char *at = entry->d_name; *at; at++)
    if (isupper((unsigned char)*at)) return 0; /* file names are searched in lower case */
  return ending && ending > entry->d_name && strcmp(ending, ".lua") == 0;
}

/* Adds the readable descriptions of a folder, under the names by which device_file_open finds
   them. Returns false if memory is out. */
static bool device_file_add_folder(const char *folder, struct gpu_model *out, size_t count,
                                   size_t *all) {
  struct dirent **entries = NULL;
  errno = 0;
  const int found = scandir(folder, &entries, names_device, alphasort);
  bool good = found >= 0 || errno != ENOMEM;
  for (int i = 0; i < found; i++) {
    struct gpu_model model;
    cugen_error ignored;
    char *name = entries[i]->d_name;
    name[strlen(name) - strlen(".lua")] = '\0';
    const int status = device_file_open(folder, name, &model, &ignored);
    good &= status != CUGEN_ERROR_MEMORY;
    if (!status) {
      if (strcasecmp(model.id + strlen(DEVICE_NAME_MODEL), name) != 0)
        snprintf(model.id, sizeof model.id, DEVICE_NAME_MODEL "%.*s",
                 (int)(sizeof model.id - sizeof DEVICE_NAME_MODEL), name);
      device_file_add_model(out, count, all, &model);
    }
    free(entries[i]);
  }
  free(entries);
  return good;
}

size_t device_files(const char *device_dir, struct gpu_model *out, size_t count) {
  size_t all = 0;
  for (const struct embedded_file *file = embedded_files; file->path; file++) {
    struct gpu_model model;
    cugen_error ignored;
    if (strncmp(file->path, "configs/devices/", strlen("configs/devices/")) != 0) continue;
    const int status = device_file_parse(file->path, file->data, file->length, &model, &ignored);
    if (status == CUGEN_ERROR_MEMORY) return 0;
    if (!status) device_file_add_model(out, count, &all, &model);
  }
  if (device_dir && !device_file_add_folder(device_dir, out, count, &all)) return 0;
  if (count) qsort(out, all < count ? all : count, sizeof *out, by_age);
  return all;
}

static int unknown_model(const char *device_dir, const char *name, cugen_error *err) {
  enum { MOST = 64 };
  struct gpu_model *all = calloc(MOST, sizeof *all);
  if (!all) return error_memory(err);
  const char *names[MOST];
  size_t count = device_files(device_dir, all, MOST);
  for (size_t i = 0; i < count && i < MOST; i++) names[i] = all[i].id + strlen(DEVICE_NAME_MODEL);
  const char *nearest = text_nearest(name, names, count < MOST ? count : MOST);
  error_set(err, CUGEN_ERROR_USAGE, "no device 'model:%s'%s%s%s; described are", name,
            nearest ? " (nearest '" : "", nearest ? nearest : "", nearest ? "')" : "");
  for (size_t i = 0; i < count && i < MOST; i++)
    error_append(err, "%s%s", i ? ", " : " ", all[i].id);
  error_append(err, ", and a file of yours: model:./mygpu.lua");
  free(all);
  return CUGEN_ERROR_USAGE;
}

int device_file_open(const char *device_dir, const char *name, struct gpu_model *out,
                     cugen_error *err) {
  struct text path = {0}, content = {0};
  bool found;
  int status = sources_device(device_dir, name, &path, &content, &found, err);
  if (!status && !found) status = unknown_model(device_dir, name, err);
  if (!status)
    status = device_file_parse(text_get(&path), text_get(&content), content.length, out, err);
  text_free(&path);
  text_free(&content);
  return status;
}
