/* Plans and calls over a device that only records: which entries are asked for, how parameters
   are packed, and that a call does nothing but launch. */
#include "runtime/devices.h"
#include "runtime/plan.h"
#include "tests/testing.h"

/* ---- A device that records ------------------------------------------------------------------ */

struct loaded {
  const struct compiled *compiled;
};

struct entry {
  size_t index;
  int64_t dynamic_shared;
};

enum { MAX_RECORDS = 16 };

static struct record {
  int loads, unloads, entries, launches, symbols;
  struct loaded loaded;
  struct entry entry[MAX_RECORDS];
  const struct entry *launched[MAX_RECORDS];
  void **parameters[MAX_RECORDS];
  int takes; /* number of parameters; -1: not known */
  int sizes[MAX_RECORDS];
  int fail_launch; /* index of the launch that fails; -1: none */
  int fail_entry;
  double constant[4];
  size_t constant_bytes;
  char symbol[32];
  bool symbol_written;                /* the symbol is to be written */
  double copy[4];                     /* the memory that alloc gives */
  int copies, textures, updates;      /* copies and textures that exist now; updates so far */
  int updates_at_launch[MAX_RECORDS]; /* number of updates before each launch */
  bool fail_texture, fail_update;
} record;

static int record_load(struct device *device, const struct compiled *compiled, struct loaded **out,
                       cugen_error *err) {
  record.loads++;
  record.loaded.compiled = compiled;
  *out = &record.loaded;
  return CUGEN_OK;
}

static void record_unload(struct device *device, struct loaded *loaded) {
  assert_ptr_equal(loaded, &record.loaded);
  record.unloads++;
}

static int record_entry(struct device *device, struct loaded *loaded, size_t index,
                        int64_t dynamic_shared, struct entry **out, cugen_error *err) {
  if (record.entries == record.fail_entry) return error_set(err, CUGEN_ERROR_DEVICE, "no entry");
  struct entry *entry = &record.entry[record.entries++];
  *entry = (struct entry){index, dynamic_shared};
  *out = entry;
  return CUGEN_OK;
}

static int record_symbol(struct device *device, struct loaded *loaded, const char *name,
                         bool written, void **address, size_t *bytes, cugen_error *err) {
  record.symbols++;
  record.symbol_written = written;
  strncpy(record.symbol, name, sizeof record.symbol - 1);
  *address = record.constant;
  *bytes = record.constant_bytes;
  return CUGEN_OK;
}

static int record_alloc(struct device *device, enum memory_kind kind, size_t bytes, bool guard,
                        struct memory *out, cugen_error *err) {
  assert_in_range(bytes, 1, sizeof record.copy);
  record.copies++;
  *out = (struct memory){.kind = kind, .device = record.copy, .bytes = bytes, .base = record.copy};
  return CUGEN_OK;
}

static void record_free(struct device *device, struct memory *memory) {
  record.copies--;
  *memory = (struct memory){0};
}

static int record_texture_make(struct device *device, const struct kernel_argument *argument,
                               void *place, struct texture *out, cugen_error *err) {
  if (record.fail_texture) return error_set(err, CUGEN_ERROR_USAGE, "no texture");
  record.textures++;
  *out = (struct texture){.object = 7, .argument = argument, .buffer = place};
  if (argument->access == ACCESS_ARRAY) out->array = record.copy;
  return CUGEN_OK;
}

static void record_texture_free(struct device *device, struct texture *texture) {
  record.textures--;
  *texture = (struct texture){0};
}

static int record_texture_update(struct device *device, const struct texture *texture,
                                 void *const *stream, cugen_error *err) {
  assert_null(stream);
  assert_ptr_equal(texture->array, record.copy);
  if (record.fail_update) return error_set(err, CUGEN_ERROR_DEVICE, "no copy");
  record.updates++;
  return CUGEN_OK;
}

static int record_tensor_make(struct device *device, const struct kernel_argument *argument,
                              void *place, struct tensor_map *out, cugen_error *err) {
  if (record.fail_texture) return error_set(err, CUGEN_ERROR_USAGE, "no map");
  assert_int_equal(argument->access, ACCESS_TENSOR);
  assert_int_equal((uintptr_t)out % 64, 0);
  memset(out, 0x5a, sizeof *out);
  memcpy(out->bytes, &place, sizeof place);
  return CUGEN_OK;
}

static int record_copy_2d(struct device *device, void *to, size_t to_pitch, const void *from,
                          size_t from_pitch, size_t width, size_t rows, cugen_error *err) {
  for (size_t i = 0; i < rows; i++)
    memcpy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
  return CUGEN_OK;
}

static int record_copy(struct device *device, void *to, const void *from, size_t bytes,
                       void *const *stream, cugen_error *err) {
  assert_null(stream);
  if (record.fail_update) return error_set(err, CUGEN_ERROR_DEVICE, "no copy");
  record.updates++;
  memcpy(to, from, bytes);
  return CUGEN_OK;
}

static int record_launch(struct device *device, struct entry *entry,
                         const struct kernel_launch *launch, void **parameters, cugen_error *err) {
  if (record.launches == record.fail_launch)
    return error_set(err, CUGEN_ERROR_DEVICE, "it trapped");
  record.updates_at_launch[record.launches] = record.updates;
  record.parameters[record.launches] = parameters;
  record.launched[record.launches++] = entry;
  return CUGEN_OK;
}

static int record_parameters(struct entry *entry, int *sizes, int capacity) {
  for (int i = 0; i < capacity && i < MAX_RECORDS; i++) sizes[i] = record.sizes[i];
  return record.takes;
}

static const struct device_ops record_ops = {.kind = "record",
                                             .load = record_load,
                                             .unload = record_unload,
                                             .entry = record_entry,
                                             .symbol = record_symbol,
                                             .alloc = record_alloc,
                                             .free = record_free,
                                             .texture_make = record_texture_make,
                                             .texture_free = record_texture_free,
                                             .texture_update = record_texture_update,
                                             .tensor_make = record_tensor_make,
                                             .copy = record_copy,
                                             .copy_2d = record_copy_2d,
                                             .launch = record_launch,
                                             .parameters = record_parameters};
static const struct device_ops bare_ops = {.kind = "bare",
                                           .load = record_load,
                                           .unload = record_unload,
                                           .entry = record_entry,
                                           .launch = record_launch};
static struct device recorder = {.ops = &record_ops}, bare = {.ops = &bare_ops};

FIXTURE(reset) {
  record = (struct record){.takes = -1, .fail_launch = -1, .fail_entry = -1, .constant_bytes = 32};
  return 0;
}

/* ---- Kernels -------------------------------------------------------------------------------- */

static struct kernel_argument buffer(const char *name) {
  return (struct kernel_argument){.name = name,
                                  .kind = CUGEN_ARGUMENT_INPUT,
                                  .dtype = dtype_find("f32"),
                                  .rank = 1,
                                  .shape = {4},
                                  .elements = 4};
}

static struct kernel_argument scalar(const char *name, const char *dtype, struct value value) {
  return (struct kernel_argument){
      .name = name, .kind = CUGEN_ARGUMENT_SCALAR, .dtype = dtype_find(dtype), .value = value};
}

static struct kernel_argument constant(const char *name) {
  return (struct kernel_argument){.name = name,
                                  .kind = CUGEN_ARGUMENT_CONSTANT,
                                  .access = ACCESS_CONSTANT,
                                  .dtype = dtype_find("f64"),
                                  .rank = 1,
                                  .shape = {4},
                                  .elements = 4};
}

static struct kernel_launch one_launch = {.entry = "work", .grid = {1, 1, 1}, .block = {32, 1, 1}};

static struct kernel_spec spec_of(struct kernel_argument *arguments, size_t count) {
  return (struct kernel_spec){
      .arguments = arguments, .argument_count = count, .launches = &one_launch, .launch_count = 1};
}

static const struct compiled nothing;
static float data[3][4];
static struct memory memory[8] = {{.device = data[0]},
                                  {.device = data[1]},
                                  {.device = data[2]},
                                  {.device = data[0]},
                                  {.device = data[1]}};

/* Of the test that runs; closed when the next one is bound, and behind the test. */
static struct plan *plan;
static struct call *call;

static void unbind(void) {
  call_free(call);
  plan_close(plan);
  call = NULL, plan = NULL;
}

static int bind(const struct kernel_spec *spec, void *const *extra, size_t extra_count,
                cugen_error *err) {
  unbind();
  assert_int_equal(plan_open(&recorder, spec, &nothing, &plan, err), CUGEN_OK);
  return call_bind(plan, memory, extra, extra_count, &call, err);
}

FIXTURE(leave) {
  unbind();
  return 0;
}

/* ---- Entries -------------------------------------------------------------------------------- */

static struct kernel_launch three_launches[] = {{.entry = "first<4>", .shared_bytes = 16},
                                                {.entry = "second"},
                                                {.entry = "first<4>", .shared_bytes = 64}};

TEST_WITH(test_distinct_entries, reset, leave) {
  struct kernel_spec spec = {.launches = three_launches, .launch_count = 3};
  const char *entries[KERNEL_MAX_ENTRIES];
  assert_int_equal(plan_entries(&spec, entries), 2);
  assert_string_equal(entries[0], "first<4>");
  assert_string_equal(entries[1], "second");
}

TEST_WITH(test_each_launch_gets_its_entry, reset, leave) {
  struct kernel_spec spec = {.launches = three_launches, .launch_count = 3};
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  assert_int_equal(record.entries, 3);
  static const struct entry want[] = {{0, 16}, {1, 0}, {0, 64}};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(record.entry[i].index, want[i].index);
    assert_int_equal(record.entry[i].dynamic_shared, want[i].dynamic_shared);
  }
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_int_equal(record.launches, 3);
  for (int i = 0; i < 3; i++) assert_ptr_equal(record.launched[i], &record.entry[i]);
  unbind();
  assert_int_equal(record.unloads, 1);
}

/* A call makes the launches of its sequence, each as often as the sequence has it. */
TEST_WITH(test_a_sequence_is_launched, reset, leave) {
  static uint32_t sequence[] = {1, 0, 2, 0, 2};
  struct kernel_spec spec = {
      .launches = three_launches, .launch_count = 3, .sequence = sequence, .sequence_count = 5};
  size_t times[3];
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  assert_int_equal(record.entries, 3);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_int_equal(record.launches, 5);
  for (int i = 0; i < 5; i++) assert_ptr_equal(record.launched[i], &record.entry[sequence[i]]);
  kernel_spec_times(&spec, times);
  assert_true(times[0] == 2 && times[1] == 1 && times[2] == 2);
}

TEST_WITH(test_a_failed_open_owes_nothing, reset, leave) {
  struct kernel_spec spec = {.launches = three_launches, .launch_count = 3};
  plan = (struct plan *)&record;
  record.fail_entry = 1;
  FAILS(plan_open(&recorder, &spec, &nothing, &plan, &err), CUGEN_ERROR_DEVICE);
  assert_null(plan);
  assert_int_equal(record.loads, 1);
  assert_int_equal(record.unloads, 1);
  plan_close(NULL);
  call_free(NULL);
}

TEST_WITH(test_launching_stops_at_a_failure, reset, leave) {
  struct kernel_spec spec = {.launches = three_launches, .launch_count = 3};
  record.fail_launch = 1;
  WORKS(bind(&spec, NULL, 0, &err));
  FAILS_WITH(call_launch(call, &err), CUGEN_ERROR_DEVICE, "it trapped");
  assert_int_equal(record.launches, 1);
}

/* ---- Parameters ----------------------------------------------------------------------------- */

/* Each launch has a list of its own. A value in the list replaces the argument's, whatever is
   bound to the argument. */
TEST_WITH(test_lists, reset, leave) {
  struct kernel_argument arguments[] = {buffer("A"), scalar("n", "i32", value_int(7)), buffer("B")};
  struct kernel_parameter parameters[] = {{.argument = 2},
                                          {.argument = 1, .value = value_int(5)},
                                          {.argument = 0},
                                          {.argument = 1},
                                          {.argument = 1, .value = value_int(6)}};
  struct kernel_launch launches[] = {one_launch, one_launch, one_launch, one_launch};
  struct kernel_spec spec = spec_of(arguments, 3);
  int given = 9;
  spec.launches = launches, spec.launch_count = 4;
  spec.parameters = parameters, spec.parameter_count = 5;
  launches[0].listed = true, launches[0].parameter_count = 3;
  launches[2].listed = true, launches[2].first_parameter = 3, launches[2].parameter_count = 2;
  launches[3].listed = true;
  memory[1].host = &given;
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  memory[1].host = NULL;
  void ***got = record.parameters;
  assert_ptr_equal(*(void **)got[0][0], data[2]);
  assert_int_equal(*(int *)got[0][1], 5);
  assert_ptr_equal(*(void **)got[0][2], data[0]);
  assert_ptr_equal(*(void **)got[1][0], data[0]);
  assert_int_equal(*(int *)got[1][1], 9);
  assert_ptr_equal(*(void **)got[1][2], data[2]);
  assert_int_equal(*(int *)got[2][0], 9);
  assert_int_equal(*(int *)got[2][1], 6);
  assert_null(got[0][3]), assert_null(got[1][3]), assert_null(got[2][2]), assert_null(got[3][0]);
}

/* A list and its kernel must agree in number and sizes. */
TEST_WITH(test_lists_that_do_not_agree, reset, leave) {
  struct kernel_argument arguments[] = {buffer("A"), scalar("n", "i32", value_int(7))};
  struct kernel_parameter parameters[] = {{.argument = 1}, {.argument = 0}};
  struct kernel_launch launch = {.entry = "work", .line = 12, .listed = true, .parameter_count = 2};
  struct kernel_spec spec = spec_of(arguments, 2);
  spec.launches = &launch;
  spec.parameters = parameters, spec.parameter_count = 2;
  record.takes = 3;
  FAILS_WITH(bind(&spec, NULL, 0, &err), CUGEN_ERROR_CONFIG,
             "kernel 'work' (launch at line 12) takes 3 parameters but is passed 2 (n, A): its "
             "parameter list and the config's pass must agree");
  record.takes = 2, record.sizes[0] = 8, record.sizes[1] = 8;
  FAILS_WITH(
      bind(&spec, NULL, 0, &err), CUGEN_ERROR_CONFIG,
      "argument 'n' has 4 bytes, but its parameter (number 1) in kernel 'work' (launch at line 12) "
      "has 8: their types must agree");
  record.sizes[0] = 4;
  WORKS(bind(&spec, NULL, 0, &err));
  parameters[0].value = value_int(INT64_C(1) << 40);
  FAILS_WITH(bind(&spec, NULL, 0, &err), CUGEN_ERROR_CONFIG,
             "kernel 'work' (launch at line 12): scalar 'n': 1099511627776 is not a value of i32");
}

TEST_WITH(test_order, reset, leave) {
  struct kernel_argument arguments[] = {buffer("A"), scalar("n", "i32", value_int(7)),
                                        scalar("tile", "i32", value_int(16)), buffer("B"),
                                        constant("factors")};
  arguments[2].compiled_in = true;
  struct kernel_spec spec = spec_of(arguments, 5);
  long long count = 99;
  void *extra[] = {&count};
  assert_int_equal(bind(&spec, extra, 1, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  void **parameters = record.parameters[0];
  assert_ptr_equal(*(void **)parameters[0], memory[0].device);
  assert_int_equal(*(int32_t *)parameters[1], 7);
  assert_ptr_equal(*(void **)parameters[2], memory[3].device);
  assert_ptr_equal(parameters[3], &count);
  assert_null(parameters[4]);
}

/* A tensor map is passed by value and made at bind. */
TEST_WITH(test_tensor_maps, reset, leave) {
  struct kernel_argument arguments[] = {buffer("A"), buffer("B"), scalar("n", "i32", value_int(7)),
                                        buffer("C")};
  arguments[1].access = arguments[3].access = ACCESS_TENSOR;
  struct kernel_spec spec = spec_of(arguments, 4);
  record.takes = 4;
  record.sizes[0] = 8, record.sizes[1] = 128, record.sizes[2] = 4, record.sizes[3] = 128;
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  void **parameters = record.parameters[0];
  assert_ptr_equal(*(void **)parameters[0], memory[0].device);
  assert_ptr_equal(*(void **)parameters[1], memory[1].device);
  assert_int_equal(((unsigned char *)parameters[1])[127], 0x5a);
  assert_int_equal(*(int32_t *)parameters[2], 7);
  assert_ptr_equal(*(void **)parameters[3], memory[3].device);
  bool moved;
  record.fail_texture = true;
  FAILS(call_move(call, memory, &moved, &err), CUGEN_ERROR_USAGE);
  assert_false(moved);
  record.fail_texture = false;
  WORKS(call_move(call, memory, &moved, &err));
  assert_true(moved);
  record.sizes[1] = 8;
  FAILS(bind(&spec, NULL, 0, &err), CUGEN_ERROR_CONFIG,
        "argument 'B' has 128 bytes, but its parameter in kernel 'work' has 8");
  record.takes = -1;
  record.fail_texture = true;
  FAILS(bind(&spec, NULL, 0, &err), CUGEN_ERROR_USAGE);
  assert_null(call);
  unbind();
  assert_int_equal(plan_open(&bare, &spec, &nothing, &plan, NULL), CUGEN_OK);
  FAILS(call_bind(plan, memory, NULL, 0, &call, &err), CUGEN_ERROR_DEVICE,
        "argument 'B' is reached through a tensor map");
}

/* Returns the bytes of the i-th scalar as a kernel would find them. */
static uint64_t packed(const char *dtype, struct value value, int *status, cugen_error *err) {
  struct kernel_argument argument = scalar("x", dtype, value);
  struct kernel_spec spec = spec_of(&argument, 1);
  uint64_t bits = 0;
  record.launches = record.entries = 0;
  *status = bind(&spec, NULL, 0, err);
  if (!*status) {
    assert_int_equal(call_launch(call, NULL), CUGEN_OK);
    memcpy(&bits, record.parameters[0][0], (size_t)argument.dtype->bytes);
  }
  return bits;
}

TEST_WITH(test_scalars, reset, leave) {
  const struct {
    const char *dtype;
    struct value value;
    uint64_t bits;
  } rows[] = {
      {"i32", value_int(-1), 0xffffffff},
      {"i8", value_int(-128), 0x80},
      {"u8", value_int(255), 0xff},
      {"i64", value_int(INT64_MIN), UINT64_C(0x8000000000000000)},
      {"u64", value_int(INT64_MAX), UINT64_C(0x7fffffffffffffff)},
      {"u32", value_float(4294967295.0), 0xffffffff},
      {"i32", value_bool(true), 1},
      {"f64", value_float(1.5), UINT64_C(0x3ff8000000000000)},
      {"f32", value_float(-2.5), 0xc0200000},
      {"f32", value_int(3), 0x40400000},
      /* binary16: exact values, rounding to even in both directions, the largest value,
         overflow, subnormals, NaN. */
      {"f16", value_float(1.0), 0x3c00},
      {"f16", value_float(-0.0), 0x8000},
      {"f16", value_float(1.0 + 0x1p-11), 0x3c00},
      {"f16", value_float(1.0 + 0x1.8p-10), 0x3c02},
      {"f16", value_float(2.0 - 0x1p-12), 0x4000},
      {"f16", value_float(65504.0), 0x7bff},
      {"f16", value_float(65519.0), 0x7bff},
      {"f16", value_float(65520.0), 0x7c00},
      {"f16", value_float(-1e30), 0xfc00},
      {"f16", value_float(0x1p-24), 0x0001},
      {"f16", value_float(0x1p-25), 0x0000},
      {"f16", value_float(0x1.8p-25), 0x0001},
      {"f16", value_float(0x1p-14 - 0x1p-26), 0x0400},
      {"f16", value_float(1.0 / 0.0), 0x7c00},
      {"bf16", value_float(1.0), 0x3f80},
      {"bf16", value_float(3.140625), 0x4049},
      {"bf16", value_float(1.0 + 0x1p-8), 0x3f80},
      {"bf16", value_float(1.0 + 0x1.8p-7), 0x3f82},
      {"bf16", value_float(-1e39), 0xff80},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int status;
    cugen_error err = {0};
    uint64_t bits = packed(rows[i].dtype, rows[i].value, &status, &err);
    if (status) fail_msg("row %zu: %s", i, err.message);
    if (bits != rows[i].bits)
      fail_msg("row %zu: %s is %llx, expected %llx", i, rows[i].dtype, (unsigned long long)bits,
               (unsigned long long)rows[i].bits);
  }
}

TEST_WITH(test_scalars_that_do_not_fit, reset, leave) {
  const struct {
    const char *dtype;
    struct value value;
    const char *message;
  } rows[] = {
      {"i32", value_int(INT64_C(2147483648)), "scalar 'x': 2147483648 is not a value of i32"},
      {"i8", value_int(-129), "scalar 'x': -129 is not a value of i8"},
      {"u8", value_int(256), "scalar 'x': 256 is not a value of u8"},
      {"u64", value_int(-1), "scalar 'x': -1 is not a value of u64"},
      {"i64", value_float(0.5), "scalar 'x': 0.5 is not a value of i64"},
      {"i64", value_float(1e300), NULL},
      {"i64", value_float(0.0 / 0.0), NULL},
      {"f32", value_string("many"), "scalar 'x': many is not a value of f32"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int status;
    cugen_error err = {0};
    packed(rows[i].dtype, rows[i].value, &status, &err);
    assert_int_equal(status, CUGEN_ERROR_CONFIG);
    if (rows[i].message) assert_string_equal(err.message, rows[i].message);
  }
}

/* ---- What the kernel takes ------------------------------------------------------------------ */

static int bind_two(int takes, int first, int second, cugen_error *err) {
  struct kernel_argument arguments[] = {buffer("A"), scalar("n", "i64", value_int(7))};
  struct kernel_spec spec = spec_of(arguments, 2);
  record.takes = takes;
  record.sizes[0] = first;
  record.sizes[1] = second;
  record.entries = 0;
  int status = bind(&spec, NULL, 0, err);
  return status;
}

TEST_WITH(test_parameter_lists_must_agree, reset, leave) {
  WORKS(bind_two(2, 8, 8, &err));
  WORKS(bind_two(-1, 0, 0, &err));
  FAILS_WITH(bind_two(3, 8, 8, &err), CUGEN_ERROR_CONFIG,
             "kernel 'work' takes 3 parameters but is passed 2 (A, n): its parameter list and "
             "the config's arguments must agree");
  FAILS(bind_two(0, 0, 0, &err), CUGEN_ERROR_CONFIG);
  FAILS_WITH(bind_two(2, 8, 4, &err), CUGEN_ERROR_CONFIG,
             "argument 'n' has 8 bytes, but its parameter in kernel 'work' has 4: their types "
             "must agree");
  FAILS(bind_two(2, 4, 8, &err), CUGEN_ERROR_CONFIG);
}

TEST_WITH(test_a_row_that_never_knows, reset, leave) {
  struct kernel_argument argument = buffer("A");
  struct kernel_spec spec = spec_of(&argument, 1);
  assert_int_equal(plan_open(&bare, &spec, &nothing, &plan, NULL), CUGEN_OK);
  assert_int_equal(call_bind(plan, memory, NULL, 0, &call, NULL), CUGEN_OK);
}

TEST_WITH(test_a_buffer_needs_memory, reset, leave) {
  struct kernel_argument argument = buffer("A");
  struct kernel_spec spec = spec_of(&argument, 1);
  struct memory none = {0};
  assert_int_equal(plan_open(&recorder, &spec, &nothing, &plan, NULL), CUGEN_OK);
  FAILS_WITH(call_bind(plan, &none, NULL, 0, &call, &err), CUGEN_ERROR_USAGE,
             "argument 'A' was given no memory");
  assert_null(call);
}

/* ---- Constants ------------------------------------------------------------------------------ */

TEST_WITH(test_constants_are_copied_at_bind, reset, leave) {
  struct kernel_argument arguments[] = {constant("factors"), buffer("A")};
  struct kernel_spec spec = spec_of(arguments, 2);
  double factors[4] = {1, 2, 3, 4};
  struct memory given[] = {{.device = factors}, {.device = data[0]}};
  assert_int_equal(plan_open(&recorder, &spec, &nothing, &plan, NULL), CUGEN_OK);
  assert_int_equal(call_bind(plan, given, NULL, 0, &call, NULL), CUGEN_OK);
  assert_string_equal(record.symbol, "factors");
  assert_memory_equal(record.constant, factors, sizeof factors);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_int_equal(record.symbols, 1);
  assert_ptr_equal(*(void **)record.parameters[0][0], data[0]);
  assert_null(record.parameters[0][1]);
}

TEST_WITH(test_a_constant_must_fit, reset, leave) {
  struct kernel_argument argument = constant("factors");
  struct kernel_spec spec = spec_of(&argument, 1);
  record.constant_bytes = 24;
  FAILS_WITH(bind(&spec, NULL, 0, &err), CUGEN_ERROR_CONFIG,
             "kernel 'work': variable 'factors' has 24 bytes, but the "
             "config's argument 32; make it as large");
}

/* Returns an argument that the kernel reaches as a __device__ variable. */
static struct kernel_argument symbol(cugen_argument_kind kind) {
  struct kernel_argument argument = buffer("sums");
  argument.kind = kind;
  argument.access = ACCESS_SYMBOL;
  return argument;
}

/* The variable is set before each launch, also when another call was bound since. */
TEST_WITH(test_an_address_in_a_symbol, reset, leave) {
  struct kernel_argument arguments[] = {buffer("A"), buffer("B")};
  struct kernel_spec spec = spec_of(arguments, 2);
  void *at;
  arguments[0].access = ACCESS_POINTER;
  record.constant_bytes = 8;
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  for (int launch = 0; launch < 2; launch++) {
    record.constant[0] = 0;
    assert_int_equal(call_launch(call, NULL), CUGEN_OK);
    assert_int_equal(record.updates_at_launch[launch], launch + 1);
    memcpy(&at, record.constant, sizeof at);
    assert_ptr_equal(at, data[0]);
    assert_ptr_equal(*(void **)record.parameters[launch][0], data[1]);
    assert_null(record.parameters[launch][1]);
  }
  unbind();
  assert_int_equal(record.copies, 0);
  record.constant_bytes = 16;
  FAILS_WITH(bind(&spec, NULL, 0, &err), CUGEN_ERROR_CONFIG,
             "kernel 'work': variable 'A' has 16 bytes and is to hold an "
             "address: declare it float *A");
}

/* The struct is the only parameter; its own bytes may be the caller's. */
TEST_WITH(test_addresses_in_a_struct, reset, leave) {
  unsigned char given[24] = {1};
  struct kernel_argument arguments[] = {buffer("A"),
                                        buffer("B"),
                                        {.name = "s",
                                         .kind = CUGEN_ARGUMENT_SCALAR,
                                         .dtype = &kernel_struct_dtype,
                                         .struct_bytes = sizeof given,
                                         .packed = {2}}};
  struct kernel_spec spec = spec_of(arguments, 3);
  for (int i = 0; i < 2; i++)
    arguments[i].access = ACCESS_FIELD, arguments[i].holder = 2, arguments[i].offset = 8 + 8 * i;
  memory[2] = (struct memory){0};
  for (int own = 0; own < 2; own++) {
    reset(NULL);
    memory[2].host = own ? given : NULL;
    assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
    assert_int_equal(call_launch(call, NULL), CUGEN_OK);
    const unsigned char *passed = record.parameters[0][0];
    assert_int_equal(passed[0], own ? 1 : 2);
    for (int i = 0; i < 2; i++) {
      void *at;
      memcpy(&at, passed + 8 + 8 * i, sizeof at);
      assert_ptr_equal(at, data[i]);
    }
    assert_null(record.parameters[0][1]);
  }
  memory[2] = (struct memory){.device = data[2]};
}

/* Into it what the kernel reads, out of it what the kernel writes; a poison comes by itself. Not
   a parameter. */
TEST_WITH(test_a_symbol_is_copied_at_each_call, reset, leave) {
  static const struct {
    cugen_argument_kind kind;
    int poisons, before, after;
  } cases[] = {{CUGEN_ARGUMENT_INPUT, 0, 1, 1},
               {CUGEN_ARGUMENT_OUTPUT, 1, 1, 2},
               {CUGEN_ARGUMENT_INOUT, 0, 1, 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    reset(NULL);
    struct kernel_argument arguments[] = {symbol(cases[i].kind), buffer("A")};
    struct kernel_spec spec = spec_of(arguments, 2);
    data[0][0] = 3.5f;
    assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
    assert_int_equal(record.updates, 0);
    assert_true(record.symbol_written);
    assert_int_equal(call_poison(call, NULL), CUGEN_OK);
    assert_int_equal(record.updates, cases[i].poisons);
    assert_int_equal(call_launch(call, NULL), CUGEN_OK);
    assert_int_equal(record.updates_at_launch[0], cases[i].before);
    assert_int_equal(record.updates, cases[i].after);
    assert_memory_equal(record.constant, data[0], 16);
    assert_ptr_equal(*(void **)record.parameters[0][0], data[1]);
    assert_null(record.parameters[0][1]);
  }
}

TEST_WITH(test_a_symbol_without_memory_stays, reset, leave) {
  struct kernel_argument argument = symbol(CUGEN_ARGUMENT_INOUT);
  struct kernel_spec spec = spec_of(&argument, 1);
  struct memory none = {.device = NULL};
  assert_int_equal(plan_open(&recorder, &spec, &nothing, &plan, NULL), CUGEN_OK);
  assert_int_equal(call_bind(plan, &none, NULL, 0, &call, NULL), CUGEN_OK);
  assert_int_equal(call_poison(call, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_int_equal(record.symbols, 1);
  assert_false(record.symbol_written);
  assert_int_equal(record.updates, 0);
}

TEST_WITH(test_a_symbol_that_cannot_be, reset, leave) {
  struct kernel_argument argument = symbol(CUGEN_ARGUMENT_OUTPUT);
  struct kernel_spec spec = spec_of(&argument, 1);
  record.constant_bytes = 12;
  FAILS_WITH(bind(&spec, NULL, 0, &err), CUGEN_ERROR_CONFIG,
             "kernel 'work': variable 'sums' has 12 bytes, but the config's "
             "argument 16; make it as large");
  record.constant_bytes = 16;
  record.fail_update = true;
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  assert_int_equal(call_poison(call, NULL), CUGEN_ERROR_DEVICE);
  assert_int_equal(call_launch(call, NULL), CUGEN_ERROR_DEVICE);
  assert_int_equal(record.launches, 1);
}

TEST_WITH(test_a_constant_read_by_its_address, reset, leave) {
  struct kernel_argument arguments[] = {constant("factors"), buffer("A")};
  struct kernel_spec spec = spec_of(arguments, 2);
  double factors[4] = {1, 2, 3, 4};
  struct memory given[] = {{.device = factors}, {.device = data[0]}};
  arguments[0].access = ACCESS_GLOBAL;
  assert_int_equal(plan_open(&recorder, &spec, &nothing, &plan, NULL), CUGEN_OK);
  assert_int_equal(call_bind(plan, given, NULL, 0, &call, NULL), CUGEN_OK);
  assert_memory_equal(record.copy, factors, sizeof factors);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_int_equal(record.symbols, 0);
  assert_ptr_equal(*(void **)record.parameters[0][0], record.copy);
  assert_ptr_equal(*(void **)record.parameters[0][1], data[0]);
  assert_int_equal(record.copies, 1);
  unbind();
  assert_int_equal(record.copies, 0);
}

/* ---- Textures ------------------------------------------------------------------------------- */

TEST_WITH(test_a_texture_is_passed_as_its_object, reset, leave) {
  struct kernel_argument arguments[] = {buffer("A"), buffer("B")};
  struct kernel_spec spec = spec_of(arguments, 2);
  arguments[1].access = ACCESS_TEXTURE;
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_ptr_equal(*(void **)record.parameters[0][0], data[0]);
  assert_int_equal(*(unsigned long long *)record.parameters[0][1], 7);
  assert_int_equal(record.updates, 0);
  assert_int_equal(record.textures, 1);
  unbind();
  assert_int_equal(record.textures, 0);
}

TEST_WITH(test_an_array_is_filled_before_each_call, reset, leave) {
  struct kernel_argument argument = buffer("A");
  struct kernel_launch launches[] = {one_launch, one_launch};
  struct kernel_spec spec = spec_of(&argument, 1);
  argument.access = ACCESS_ARRAY;
  spec.launches = launches;
  spec.launch_count = 2;
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_OK);
  assert_int_equal(record.updates, 0);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  const int before[] = {1, 1, 2, 2};
  assert_memory_equal(record.updates_at_launch, before, sizeof before);
  record.fail_update = true;
  assert_int_equal(call_launch(call, NULL), CUGEN_ERROR_DEVICE);
  assert_int_equal(record.launches, 4);
}

TEST_WITH(test_a_texture_that_cannot_be, reset, leave) {
  struct kernel_argument arguments[] = {buffer("A"), buffer("B")};
  struct kernel_spec spec = spec_of(arguments, 2);
  arguments[0].access = arguments[1].access = ACCESS_TEXTURE;
  record.fail_texture = true;
  assert_int_equal(bind(&spec, NULL, 0, NULL), CUGEN_ERROR_USAGE);
  assert_null(call);
}

/* ---- Finding devices ------------------------------------------------------------------------ */

static void assert_device(const char *id, const struct device_ops *want, int want_ordinal) {
  const struct device_ops *ops;
  int ordinal = -1;
  assert_int_equal(device_find(id, &ops, &ordinal, NULL), CUGEN_OK);
  assert_ptr_equal(ops, want);
  assert_int_equal(ordinal, want_ordinal);
}

static void assert_no_device(const char *id, const char *message) {
  const struct device_ops *ops;
  int ordinal;
  FAILS_WITH(device_find(id, &ops, &ordinal, &err), CUGEN_ERROR_USAGE, message);
  assert_null(ops);
}

TEST(test_device_ids) {
  assert_device("cuda:0", &cuda_device_ops, 0);
  assert_device("cuda:12", &cuda_device_ops, 12);
  assert_device("cuda", &cuda_device_ops, 0);
  assert_device("cpu", &cpu_device_ops, 0);
  assert_no_device(
      "coda:0",
      "no device 'coda:0' (did you mean 'cuda'?): there are cuda:0, cuda:1 and so on, cpu, "
      "and described ones such as model:H200");
  assert_no_device(
      "cuda:-1",
      "no device 'cuda:-1' (did you mean 'cuda'?): there are cuda:0, cuda:1 and so on, cpu, "
      "and described ones such as model:H200");
  assert_no_device(
      "cuda:",
      "no device 'cuda:' (did you mean 'cuda'?): there are cuda:0, cuda:1 and so on, cpu, and "
      "described ones such as model:H200");
  assert_no_device("tpu_device", "no device 'tpu_device': there are cuda:0, cuda:1 and so on, cpu, "
                                 "and described ones such as model:H200");
}
