/* The cpu device: runs CUDA sources on the host's processor to find out whether they are right, not
   how fast a GPU would run them. Code that is not known to be right must run in a process of its
   own: see guard.h. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/system.h"
#include "compile.h"
#include "detector/arrays.h"
#include "detector/watch.h"
#include "fibers.h"
#include "guard.h"
#include "object.h"
#include "runtime/device.h"
#include "runtime/devices.h"
#include "shared_zone.h"

/* DYNAMIC_SHARED: a block's limit on compute capability 9.0; cpu_facts gives configs less. */
enum {
  BUFFER_ALIGNMENT = 4096,
  PITCH_ALIGNMENT = 512,
  DYNAMIC_SHARED = 232448,
  CACHE_LINE = 64,
  MOST_CACHES = 64 << 20
};

struct cpu_device {
  struct device base;
  struct fibers *fibers;
  struct shared_zone shared; /* dynamic shared memory of a cluster's blocks */
  /* protects `fibers` and `shared`, and the variables of loaded objects such as threadIdx */
  pthread_mutex_t lock;
  bool embedded; /* in the application's process, without signal handlers */
  const atomic_bool *stop;
  struct watch *watch; /* NULL: the device was opened without a report */
  /* processor seconds for a launch in reverse order; 0: usual order */
  double reversed;
  void (*before_launch)(void *context); /* NULL: none, or already called */
  void *before_context;
};

struct entry {
  void (*run)(void **parameters); /* NULL: not looked up yet */
  int (*takes)(int *sizes, int capacity);
  const struct loaded *of;
  const unsigned *cluster; /* NULL, or the cluster's size in three dimensions */
};

struct loaded {
  void *library;
  bool watched, aligned;       /* aligned: its shared memory may need an alignment above 16 */
  bool cooperative;            /* blocks of a grid may wait for each other */
  struct observed_image image; /* where the image was loaded */
  int file;                    /* the file that the library was loaded from */
  const struct compiled *compiled;
  struct cpu_builtins *builtins;
  struct entry entries[KERNEL_MAX_ENTRIES];
  struct static_array *statics; /* static shared memory, if blocks can run together */
  size_t static_count, static_bytes;
};

/* ---- Describing the device ------------------------------------------------------------------ */

static int cpu_count_devices(const struct toolkit *toolkit, cugen_error *err) {
  (void)toolkit;
#if defined(__x86_64__) || defined(__aarch64__)
  (void)err;
  return 1;
#else
  error_set(err, CUGEN_ERROR_MISSING, "the cpu device needs an x86-64 or aarch64 processor");
  return 0;
#endif
}

/* Appends "model name" of /proc/cpuinfo, or "processor". */
static void processor_name(struct text *out) {
  struct text info = {0};
  cugen_error ignored;
  const char *line =
      file_read("/proc/cpuinfo", &info, &ignored) ? NULL : strstr(text_get(&info), "model name");
  const char *colon = line ? strchr(line, ':') : NULL;
  if (colon)
    text_add_n(out, colon + 2, strcspn(colon + 2, "\n"));
  else
    text_add(out, "processor");
  text_free(&info);
}

static void device_copy_text(char *to, size_t size, const struct text *from) {
  size_t length = from->length < size ? from->length : size - 1;
  memcpy(to, text_get(from), length);
  to[length] = '\0';
}

/* Limits of compute capability 8.0, with the shared memory of 8.6, which has less (CUDA C++
   Programming Guide, "Technical Specifications per Compute Capability"). */
static struct device_facts cpu_facts(void) {
  long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return (struct device_facts){.compute_capability = 80,
                               .sm_count = cpu_count(),
                               .warp_size = 32,
                               .max_threads_per_block = 1024,
                               .max_threads_per_sm = 2048,
                               .max_blocks_per_sm = 32,
                               .registers_per_block = 65536,
                               .registers_per_sm = 65536,
                               .shared_per_block = 49152,
                               .shared_per_block_optin = 101376,
                               .shared_per_sm = 102400,
                               .shared_reserved_per_block = 1024,
                               .constant_bytes = 65536,
                               .l2_bytes = l2 > 0 ? l2 : 0,
                               .memory_bytes =
                                   (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
                               .pitch_alignment = PITCH_ALIGNMENT};
}

static int check_ordinal(int ordinal, cugen_error *err) {
  return ordinal ? error_set(err, CUGEN_ERROR_USAGE, "there is one cpu device: 'cpu'") : CUGEN_OK;
}

static int cpu_describe(const struct toolkit *toolkit, int ordinal, struct device_description *out,
                        cugen_error *err) {
  int status = check_ordinal(ordinal, err);
  if (status) return status;
  *out = (struct device_description){.id = "cpu", .arch = "cpu", .facts = cpu_facts()};
  struct text name = {0}, compiler = {0}, fingerprint = {0};
  processor_name(&name);
  cpu_compiler_identity(toolkit, &compiler);
  const char *first_flag = strstr(text_get(&compiler), " -");
  size_t compiler_length =
      first_flag ? (size_t)(first_flag - text_get(&compiler)) : compiler.length;
  /* Flags are long and the fingerprint is short, so a hash represents the flags. */
  text_addf(&fingerprint, "cpu %s, %.*s, flags %.8s", text_get(&name), (int)compiler_length,
            text_get(&compiler), hash_bytes(text_get(&compiler), compiler.length).hex);
  bool failed = fingerprint.failed || name.failed;
  device_copy_text(out->name, sizeof out->name, &name);
  device_copy_text(out->fingerprint, sizeof out->fingerprint, &fingerprint);
  text_free(&name);
  text_free(&compiler);
  text_free(&fingerprint);
  return failed ? error_memory(err) : CUGEN_OK;
}

static void cpu_close(struct device *device) {
  struct cpu_device *d = (struct cpu_device *)device;
  if (!d) return;
  if (!d->embedded) guard_uninstall();
  fibers_close(d->fibers);
  watch_close(d->watch);
  pthread_mutex_destroy(&d->lock);
  shared_zone_free(&d->shared);
  free(d);
}

static int cpu_open(const struct device_options *options, struct device **out, cugen_error *err) {
  *out = NULL;
  struct cpu_device *d = calloc(1, sizeof *d);
  if (!d) return error_memory(err);
  d->base.ops = &cpu_device_ops;
  d->base.description =
      (struct device_description){.id = "cpu", .arch = "cpu", .facts = cpu_facts()};
  d->embedded = true; /* until signal handlers are installed */
  d->stop = options->stop;
  d->before_launch = options->before_launch;
  d->before_context = options->before_context;
  pthread_mutex_init(&d->lock, NULL);
  int status = check_ordinal(options->ordinal, err);
  if (!status) status = fibers_open(&d->fibers, err);
  if (!status && options->report)
    status = watch_open(options->report, options->fork, &d->watch, err);
  if (!status && !options->embedded) status = guard_install(options->fault, err);
  if (status) {
    cpu_close(&d->base);
    return status;
  }
  d->embedded = d->shared.soft = options->embedded;
  if (!d->embedded) guard_shared(&d->shared);
  *out = &d->base;
  return CUGEN_OK;
}

/* ---- Memory, which is the host's ------------------------------------------------------------ */

static int cpu_alloc(struct device *device, enum memory_kind kind, size_t bytes, bool guarded,
                     struct memory *out, cugen_error *err) {
  *out = (struct memory){0};
  if (guarded) {
    int status = guard_alloc(bytes, ((struct cpu_device *)device)->embedded, out, err);
    out->kind = kind;
    return status;
  }
  void *at;
  if (posix_memalign(&at, BUFFER_ALIGNMENT, bytes ? bytes : 1))
    return error_set(err, CUGEN_ERROR_MEMORY, "%zu bytes: out of memory", bytes);
  *out = (struct memory){.kind = kind, .device = at, .host = at, .bytes = bytes, .base = at};
  return CUGEN_OK;
}

/* base_bytes is 0 unless the memory is guarded. */
static void cpu_free(struct device *device, struct memory *memory) {
  if (!memory->base) return;
  if (memory->base_bytes) {
    guard_free(memory, ((struct cpu_device *)device)->embedded);
    return;
  }
  free(memory->base);
  *memory = (struct memory){0};
}

static int cpu_alloc_pitched(struct device *device, size_t width, size_t rows, size_t *pitch,
                             struct memory *out, cugen_error *err) {
  *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
  if (rows && *pitch > SIZE_MAX / rows) return error_memory(err);
  return cpu_alloc(device, MEMORY_DEVICE, *pitch * rows, false, out, err);
}

static int cpu_memory_check(struct device *device, const struct memory *memory, cugen_error *err) {
  return memory->base_bytes ? guard_check(memory, ((struct cpu_device *)device)->embedded, err)
                            : CUGEN_OK;
}

static int refuse_stream(cugen_error *err) {
  return error_set(err, CUGEN_ERROR_USAGE,
                   "the cpu device has no streams: pass NULL; work has ended on return");
}

/* Takes the lock because either side may be a symbol of a running kernel. */
static int cpu_copy(struct device *device, void *to, const void *from, size_t bytes,
                    void *const *stream, cugen_error *err) {
  struct cpu_device *d = (struct cpu_device *)device;
  if (stream && *stream) return refuse_stream(err);
  pthread_mutex_lock(&d->lock);
  memcpy(to, from, bytes);
  pthread_mutex_unlock(&d->lock);
  return CUGEN_OK;
}

static int cpu_copy_now(struct device *device, void *to, const void *from, size_t bytes,
                        cugen_error *err) {
  return cpu_copy(device, to, from, bytes, NULL, err);
}

static int cpu_copy_2d(struct device *device, void *to, size_t to_pitch, const void *from,
                       size_t from_pitch, size_t width, size_t rows, cugen_error *err) {
  if (width > to_pitch || width > from_pitch)
    return error_set(err, CUGEN_ERROR_USAGE, "rows of %zu bytes do not fit pitches of %zu and %zu",
                     width, to_pitch, from_pitch);
  struct cpu_device *d = (struct cpu_device *)device;
  pthread_mutex_lock(&d->lock);
  for (size_t i = 0; i < rows; i++)
    memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
  pthread_mutex_unlock(&d->lock);
  return CUGEN_OK;
}

static int cpu_fill(struct device *device, void *to, unsigned char byte, size_t bytes,
                    cugen_error *err) {
  (void)device, (void)err;
  memset(to, byte, bytes);
  return CUGEN_OK;
}

/* Returns the size of the caches of level 2 and 3, if known and at most MOST_CACHES, else
   MOST_CACHES. */
static size_t cpu_cache_bytes(const struct device *device) {
  (void)device;
  const long levels[] = {sysconf(_SC_LEVEL2_CACHE_SIZE), sysconf(_SC_LEVEL3_CACHE_SIZE)};
  size_t bytes = 0;
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (levels[i] > 0) bytes += (size_t)levels[i];
  return bytes && bytes < MOST_CACHES ? bytes : MOST_CACHES;
}

/* Writes line by line, because memset may bypass the caches. */
static int cpu_flush(struct device *device, const struct memory *memory, cugen_error *err) {
  (void)device, (void)err;
  volatile unsigned char *bytes = memory->device;
  for (size_t i = 0; i < memory->bytes; i += CACHE_LINE) bytes[i] = 0;
  return CUGEN_OK;
}

/* ---- Textures ------------------------------------------------------------------------------- */

/* The texture and the copy of its data, for ACCESS_ARRAY, are in one allocation. */
static int cpu_texture_make(struct device *device, const struct kernel_argument *argument,
                            void *buffer, struct texture *out, cugen_error *err) {
  (void)device;
  static const int addresses[ADDRESS_KIND_COUNT] = {[ADDRESS_CLAMP] = CPU_ADDRESS_CLAMP,
                                                    [ADDRESS_BORDER] = CPU_ADDRESS_BORDER,
                                                    [ADDRESS_WRAP] = CPU_ADDRESS_WRAP,
                                                    [ADDRESS_MIRROR] = CPU_ADDRESS_MIRROR};
  const struct texture_extent extent = texture_extent(argument);
  size_t copied = argument->access == ACCESS_ARRAY ? (size_t)kernel_argument_bytes(argument) : 0;
  struct cpu_texture *texture = malloc(sizeof *texture + copied);
  *out = (struct texture){.argument = argument, .buffer = buffer};
  if (!texture) return error_memory(err);
  if (copied) out->array = texture + 1;
  *texture = (struct cpu_texture){.base = copied ? out->array : buffer,
                                  .width = extent.width,
                                  .height = extent.height,
                                  .depth = extent.depth,
                                  .row = extent.row,
                                  .slice = extent.slice,
                                  .address = addresses[argument->address],
                                  .half_float = argument->dtype->texel == TEXEL_HALF};
  out->object = (unsigned long long)(uintptr_t)texture;
  return CUGEN_OK;
}

static void cpu_texture_free(struct device *device, struct texture *texture) {
  (void)device;
  free((void *)(uintptr_t)texture->object);
  *texture = (struct texture){0};
}

static int cpu_texture_update(struct device *device, const struct texture *texture,
                              void *const *stream, cugen_error *err) {
  (void)device, (void)stream, (void)err;
  memcpy(texture->array, texture->buffer, (size_t)kernel_argument_bytes(texture->argument));
  return CUGEN_OK;
}

/* ---- Tensor maps, refused where the driver would refuse them -------------------------------- */

static int refuse_map(const struct kernel_argument *argument, const char *why, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_DEVICE, "tensor map of '%s': %s", argument->name, why);
}

static int device_check_map(const struct kernel_argument *argument, const struct cpu_tensor *map,
                            cugen_error *err) {
  const unsigned line = (unsigned)map->box[0] * map->element;
  if (line % 16) return refuse_map(argument, "a line of the box is no multiple of 16 bytes", err);
  if (map->swizzle && line > map->swizzle)
    return refuse_map(argument, "a line of the box is longer than the swizzle", err);
  for (int i = 0; i < map->rank; i++) {
    if (map->box[i] < 1 || map->box[i] > 256)
      return refuse_map(argument, "a box has 1 to 256 elements in each direction", err);
    if (i && map->stride[i] % 16)
      return refuse_map(argument, "lines are no multiple of 16 bytes apart", err);
  }
  return CUGEN_OK;
}

static int cpu_tensor_make(struct device *device, const struct kernel_argument *argument,
                           void *buffer, struct tensor_map *out, cugen_error *err) {
  (void)device;
  const struct tensor_extent extent = kernel_argument_tensor(argument);
  struct cpu_tensor map = {.base = buffer,
                           .rank = (unsigned char)extent.rank,
                           .element = (unsigned char)argument->dtype->bytes,
                           .swizzle = (unsigned char)argument->swizzle};
  _Static_assert(sizeof map <= sizeof *out, "a map is passed by value");
  if ((uintptr_t)buffer % 16)
    return error_set(
        err, CUGEN_ERROR_USAGE,
        "argument '%s' is reached through a tensor map: its address must be a multiple of 16 bytes",
        argument->name);
  for (int i = 0; i < extent.rank; i++) {
    map.shape[i] = (unsigned)extent.shape[i];
    map.stride[i] = extent.stride[i];
    map.box[i] = (unsigned short)extent.box[i];
  }
  memset(out, 0, sizeof *out);
  memcpy(out, &map, sizeof map);
  return device_check_map(argument, &map, err);
}

/* ---- Images --------------------------------------------------------------------------------- */

static void *device_find_symbol(struct loaded *loaded, const char *name, cugen_error *err) {
  void *at = dlsym(loaded->library, name);
  if (!at) error_set(err, CUGEN_ERROR_DEVICE, "the compiled kernel has no symbol '%s'", name);
  return at;
}

/* dlopen needs a path, so the image is in an unnamed file. The file stays open as long as the
   library, because dlopen takes equal paths for the same library. */
static int open_image(struct loaded *loaded, cugen_error *err) {
  const struct compiled *compiled = loaded->compiled;
  size_t done = 0;
  loaded->file = memfd_create("cugen-kernel", MFD_CLOEXEC);
  while (loaded->file >= 0 && done < compiled->image_length) {
    ssize_t wrote =
        write(loaded->file, (const char *)compiled->image + done, compiled->image_length - done);
    if (wrote <= 0) break;
    done += (size_t)wrote;
  }
  if (loaded->file >= 0) object_disarm(compiled->image, compiled->image_length, loaded->file);
  if (loaded->file < 0 || done < compiled->image_length) {
    error_set(err, CUGEN_ERROR_MEMORY, "memory for a kernel's image: %s", strerror(errno));
    return CUGEN_ERROR_MEMORY;
  }
  struct text path = {0};
  text_addf(&path, "/proc/self/fd/%d", loaded->file);
  loaded->library = dlopen(text_get(&path), RTLD_NOW | RTLD_LOCAL);
  text_free(&path);
  if (loaded->library) return CUGEN_OK;
  error_set(err, CUGEN_ERROR_DEVICE, "loading the compiled kernel: %s", dlerror());
  return CUGEN_ERROR_DEVICE;
}

static void cpu_unload(struct device *device, struct loaded *loaded) {
  (void)device;
  if (!loaded) return;
  free(loaded->statics);
  if (loaded->library) dlclose(loaded->library);
  if (loaded->file >= 0) close(loaded->file);
  free(loaded);
}

/* Notes where the image was loaded. Sets the variable cugen_watch, which only a watched image has,
   to the table of hooks. */
static int watch_image(const struct cpu_device *d, struct loaded *loaded, cugen_error *err) {
  const struct cpu_watch **hooks = dlsym(loaded->library, "cugen_watch");
  struct link_map *map = NULL;
  if (dlinfo(loaded->library, RTLD_DI_LINKMAP, &map) != 0)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "cannot find out where the compiled kernel was loaded: %s", dlerror());
  loaded->image =
      (struct observed_image){loaded->compiled->image, loaded->compiled->image_length, map->l_addr};
  if (!hooks) return CUGEN_OK;
  if (!d->watch)
    return error_set(err, CUGEN_ERROR_INTERNAL, "a watched kernel on a device that does not watch");
  *hooks = watch_hooks(d->watch);
  loaded->watched = true;
  return CUGEN_OK;
}

static int cpu_load(struct device *device, const struct compiled *compiled, struct loaded **out,
                    cugen_error *err) {
  *out = NULL;
  struct loaded *loaded = calloc(1, sizeof *loaded);
  if (!loaded) return error_memory(err);
  loaded->compiled = compiled;
  int status = open_image(loaded, err);
  const struct cpu_hooks **hooks = status ? NULL : device_find_symbol(loaded, "cugen_hooks", err);
  loaded->builtins = hooks ? device_find_symbol(loaded, "cugen_builtins", err) : NULL;
  if (!status && !loaded->builtins) status = CUGEN_ERROR_DEVICE;
  if (!status) status = watch_image((const struct cpu_device *)device, loaded, err);
  if (status) {
    cpu_unload(device, loaded);
    return status;
  }
  *hooks = fibers_hooks();
  loaded->aligned = dlsym(loaded->library, "cugen_aligned") != NULL;
  loaded->cooperative = dlsym(loaded->library, "cugen_cooperative") != NULL;
  *out = loaded;
  return CUGEN_OK;
}

static int device_check_shared(int64_t bytes, cugen_error *err) {
  if (bytes <= DYNAMIC_SHARED) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "%lld bytes of dynamic shared memory a block, the device has %d",
                   (long long)bytes, DYNAMIC_SHARED);
}

/* Lists the arrays of static shared memory, of which each block of a cluster has its own copy. */
static int find_statics(struct loaded *loaded, cugen_error *err) {
  struct image_memory memory;
  const struct observed_image *image = &loaded->image;
  if (loaded->statics) return CUGEN_OK;
  int status = arrays_read(image->bytes, image->length, image->base, &memory, err);
  if (!status) loaded->statics = calloc(memory.array_count + 1, sizeof *loaded->statics);
  if (!status && !loaded->statics) status = error_memory(err);
  for (size_t i = 0; i < memory.array_count && !status; i++) {
    const struct shared_array *array = &memory.arrays[i];
    if (!array->name[0]) continue;
    loaded->statics[loaded->static_count++] = (struct static_array){array->start, array->end};
    loaded->static_bytes += array->end - array->start;
  }
  arrays_free(&memory);
  return status;
}

static int cpu_entry(struct device *device, struct loaded *loaded, size_t index,
                     int64_t dynamic_shared, struct entry **out, cugen_error *err) {
  (void)device;
  struct entry *entry = &loaded->entries[index];
  const char *name = loaded->compiled->entries[index];
  struct text takes_name = {0}, cluster_name = {0};
  *out = NULL;
  int status = device_check_shared(dynamic_shared, err);
  if (status) return status;
  *out = entry;
  if (entry->run) return CUGEN_OK;

  text_addf(&takes_name, "%s_takes", name);
  text_addf(&cluster_name, "%s_cluster", name);
  if (takes_name.failed || cluster_name.failed) status = error_memory(err);
  void *run = status ? NULL : device_find_symbol(loaded, name, err);
  void *takes = run ? device_find_symbol(loaded, text_get(&takes_name), err) : NULL;
  if (!status && !takes) status = CUGEN_ERROR_DEVICE;
  /* the image exports the cluster's size of a kernel with __cluster_dims__ */
  if (!status) entry->cluster = dlsym(loaded->library, text_get(&cluster_name));
  if (!status && (entry->cluster || loaded->cooperative)) status = find_statics(loaded, err);
  text_free(&takes_name);
  text_free(&cluster_name);
  if (status) return status;
  memcpy(&entry->run, &run, sizeof run); /* POSIX: a function's address fits a data pointer */
  memcpy(&entry->takes, &takes, sizeof takes);
  entry->of = loaded;
  return CUGEN_OK;
}

static int cpu_parameters(struct entry *entry, int *sizes, int capacity) {
  return entry->takes(sizes, capacity);
}

static int cpu_symbol(struct device *device, struct loaded *loaded, const char *name, bool written,
                      void **address, size_t *bytes, cugen_error *err) {
  (void)device;
  Dl_info info;
  const ElfW(Sym) *symbol = NULL;
  /* dlsym also finds symbols of libraries that the image needs */
  *address = dlsym(loaded->library, name);
  bool found = *address && dladdr1(*address, &info, (void **)(uintptr_t)&symbol, RTLD_DL_SYMENT) &&
               symbol && (uintptr_t)info.dli_fbase == loaded->image.base &&
               ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
  if (!found) return error_set(err, CUGEN_ERROR_CONFIG, DEVICE_NO_SYMBOL, name);
  if (written &&
      object_is_const(loaded->compiled->image, loaded->compiled->image_length, symbol->st_value))
    return error_set(err, CUGEN_ERROR_USAGE,
                     "'%s' is const: it cannot be written; declare it without const", name);
  *bytes = symbol->st_size;
  return CUGEN_OK;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* Sets a timer for this launch; seconds 0: no timer. guard.c has the handlers. */
static void set_timer(int timer, double seconds) {
  const struct timeval time = {.tv_sec = (time_t)seconds,
                               .tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6)};
  const struct timeval again = {.tv_usec = timer == ITIMER_VIRTUAL && seconds > 0 ? 1000 : 0};
  setitimer((__itimer_which_t)timer, &(struct itimerval){.it_interval = again, .it_value = time},
            NULL);
}

static int run_within(struct cpu_device *d, const struct fiber_launch *launch, int timer,
                      double seconds, cugen_error *err) {
  set_timer(timer, seconds);
  int status = fibers_run(d->fibers, launch, err);
  set_timer(timer, 0);
  return status;
}

/* Refuses a launch that a GPU supports and this device does not. The kernel is not to blame, so the
   cause is CUGEN_CAUSE_UNSUPPORTED. */
static int refuse_together(bool clusters, cugen_error *err) {
  if (clusters)
    return error_set_cause(err, CUGEN_ERROR_DEVICE, CUGEN_CAUSE_UNSUPPORTED,
                           "the cpu device has no cooperative launches with clusters");
  return error_set_cause(
      err, CUGEN_ERROR_DEVICE, CUGEN_CAUSE_UNSUPPORTED,
      "the cpu device runs at most %d blocks together, and this cooperative launch has more",
      FIBERS_BLOCKS);
}

static int cpu_launch(struct device *device, struct entry *entry,
                      const struct kernel_launch *launch, void **parameters, cugen_error *err) {
  struct cpu_device *d = (struct cpu_device *)device;
  uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
  uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  if (threads == 0 || blocks == 0 ||
      threads > (uint64_t)device->description.facts.max_threads_per_block)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "a launch of %llu blocks of %llu threads; a block may have 1 to %lld",
                     (unsigned long long)blocks, (unsigned long long)threads,
                     (long long)device->description.facts.max_threads_per_block);
  /* Blocks that may wait for each other run as one cluster. */
  const bool together = launch->cooperative && entry->of->cooperative;
  if (together && (blocks > FIBERS_BLOCKS || entry->cluster))
    return refuse_together(entry->cluster, err);
  const unsigned *cluster = entry->cluster ? entry->cluster
                            : together     ? launch->grid
                                           : (const unsigned[3]){1, 1, 1};
  const bool several = entry->cluster || together;
  int status = device_check_shared(launch->shared_bytes, err);
  if (!status)
    status = shared_zone_prepare(
        &d->shared, several ? FIBERS_BLOCKS : 1, (size_t)launch->shared_bytes,
        entry->of->aligned || several ? SHARED_ZONE_FAR : SHARED_ZONE_NEAR, err);
  if (status) return status;
  const struct fiber_launch fibers = {
      .entry = entry->run,
      .parameters = parameters,
      .builtins = entry->of->builtins,
      .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
      .block = {launch->block[0], launch->block[1], launch->block[2]},
      .cluster = {cluster[0], cluster[1], cluster[2]},
      .statics = entry->of->statics,
      .static_count = entry->of->static_count,
      .static_bytes = entry->of->static_bytes,
      .dynamic_shared = d->shared.start,
      .stop = d->stop,
      .observer = entry->of->watched && !(d->reversed > 0) ? watch_observer(d->watch) : NULL,
      .image = &entry->of->image,
      .dynamic_bytes = (size_t)launch->shared_bytes,
      .dynamic_room = SHARED_ROOM,
      .cooperative = together,
      .overlap = launch->overlap,
      .reversed = d->reversed > 0};
  void (*before)(void *context) = d->before_launch;
  d->before_launch = NULL;
  if (before) before(d->before_context);
  if (fibers.observer) /* the observer reports accesses out of bounds, without shared_zone_check */
    return run_within(d, &fibers, ITIMER_REAL, watch_limit(d->watch), err);
  status = d->reversed > 0 ? run_within(d, &fibers, ITIMER_VIRTUAL, d->reversed, err)
                           : fibers_run(d->fibers, &fibers, err);
  return status ? status : shared_zone_check(&d->shared, err);
}

static int cpu_launch_on(struct device *device, struct entry *entry,
                         const struct kernel_launch *launch, void **parameters, void *stream,
                         cugen_error *err) {
  struct cpu_device *d = (struct cpu_device *)device;
  if (stream) return refuse_stream(err);
  pthread_mutex_lock(&d->lock);
  int status = cpu_launch(device, entry, launch, parameters, err);
  pthread_mutex_unlock(&d->lock);
  return status;
}

static int cpu_watch(struct device *device, const struct watch_buffer *buffers, size_t count,
                     cugen_error *err) {
  return watch_buffers(((struct cpu_device *)device)->watch, buffers, count, err);
}

/* Has no effect on an embedded device, which has no signal handlers to end a launch. */
static void cpu_reverse_blocks(struct device *device, double seconds) {
  struct cpu_device *d = (struct cpu_device *)device;
  d->reversed = d->embedded ? 0 : seconds;
}

static int cpu_active_blocks(struct device *device, struct entry *entry, int threads,
                             int64_t dynamic_shared) {
  (void)device, (void)entry, (void)threads, (void)dynamic_shared;
  return 0;
}

static int cpu_sync(struct device *device, cugen_error *err) {
  (void)device, (void)err;
  return CUGEN_OK;
}

static int cpu_call(struct device *device,
                    int (*run)(void *context, void *stream, cugen_error *err), void *context,
                    cugen_error *err) {
  (void)device;
  return run(context, NULL, err);
}

static int cpu_time(struct device *device, bool held, int (*run)(void *context, cugen_error *err),
                    void *context, double *seconds, cugen_error *err) {
  (void)device, (void)held;
  double begin = clock_seconds();
  int status = run(context, err);
  *seconds = clock_seconds() - begin;
  return status;
}

/* A timer reads the clock, because a launch has ended when its call returns. */
struct timer {
  double begin, seconds;
};

static int cpu_timer_make(struct device *device, struct timer **out, cugen_error *err) {
  (void)device;
  *out = calloc(1, sizeof **out);
  return *out ? CUGEN_OK : error_memory(err);
}

static void cpu_timer_free(struct device *device, struct timer *timer) {
  (void)device;
  free(timer);
}

static bool cpu_timer_start(struct device *device, struct timer *timer, void *stream) {
  (void)device, (void)stream;
  timer->begin = clock_seconds();
  return true;
}

static bool cpu_timer_stop(struct device *device, struct timer *timer, void *stream) {
  (void)device, (void)stream;
  timer->seconds = clock_seconds() - timer->begin;
  return true;
}

static bool cpu_timer_read(struct device *device, struct timer *timer, double *seconds) {
  (void)device;
  *seconds = timer->seconds;
  return true;
}

/* clang-format off */
#define CPU_FUNCTIONS(X)                                                                           \
  X(describe) X(compile) X(open) X(close) X(alloc) X(free) X(alloc_pitched) X(memory_check)        \
  X(copy) X(copy_2d) X(fill) X(cache_bytes) X(flush) X(load) X(unload) X(entry) X(symbol)          \
  X(tensor_make) X(texture_make) X(texture_free) X(texture_update) X(active_blocks) X(launch)      \
  X(launch_on) X(timer_make) X(timer_free) X(timer_start) X(timer_stop) X(timer_read)              \
  X(parameters) X(watch) X(reverse_blocks) X(sync) X(call) X(time)
/* clang-format on */
#define CPU_MEMBER(member) DEVICE_MEMBER(cpu, member),
const struct device_ops cpu_device_ops = {CPU_FUNCTIONS(CPU_MEMBER).kind = "cpu",
                                          .capabilities = DEVICE_IN_PROCESS,
                                          .count = cpu_count_devices,
                                          .upload = cpu_copy_now,
                                          .download = cpu_copy_now,
                                          .needs = object_needs};
