/* ---- Calls ----------------------------------------------------------------------------------- */

struct bundle_call {
  bundle_plan *plan;
  union {
    long long align;
    address pointer;
    unsigned char bytes[MOST_VALUE_BYTES];
  } values[BUNDLE_ARGUMENTS];
  struct tensor_map *maps;                /* one for each argument; NULL: no argument needs one */
  void *parameters[BUNDLE_ARGUMENTS + 1]; /* of launches without lists of their own */
  void **passed; /* the lists of the launches that have lists of their own, each ended by NULL */
  void ***launch_parameters;
  struct {
    address device;
    void *host;
  } owned[BUNDLE_ARGUMENTS];
  address addresses[BUNDLE_ARGUMENTS]; /* device memory with a buffer's address, for its symbol */
  struct {
    address symbol, buffer;
    size_t bytes;
    int before, after; /* copied before, or after, the launches */
  } copies[BUNDLE_ARGUMENTS];
  size_t copy_count;
};

static int allocate(const struct driver *driver, bundle_call *call, size_t at,
                    bundle_error *error) {
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  size_t bytes = (size_t)(a->elements * a->bytes);
  enum { PORTABLE = 1, MAPPED = 2, ATTACH_GLOBAL = 1 };
  address *out = &call->owned[at].device;
  void **host = &call->owned[at].host;
  int status;
  if (a->memory == MEMORY_DEVICE) return CALL(driver, allocate, (out, bytes), error);
  if (a->memory == MEMORY_MANAGED)
    return CALL(driver, allocate_managed, (out, bytes, ATTACH_GLOBAL), error);
  status = CALL(driver, host_allocate,
                (host, bytes, a->memory == MEMORY_PINNED ? PORTABLE : MAPPED), error);
  if (!status) status = CALL(driver, host_address, (out, *host, 0), error);
  return status;
}

static int find_symbol(bundle_plan *plan, size_t at, size_t bytes, address *symbol,
                       bundle_error *error) {
  const char *name = arguments_of_kernel[at].name;
  size_t room = 0;
  int status =
      CALL(&plan->library->driver, module_global, (symbol, &room, plan->module, name), error);
  if (!status && room < bytes)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: argument '%s' has %zu bytes, the kernel's symbol %zu", name, bytes, room);
  return status;
}

int bundle_symbol(const bundle_plan *plan, const char *name, void **out, size_t *bytes,
                  bundle_error *error) {
  address at = 0;
  size_t room = 0;
  if (out) *out = NULL;
  if (bytes) *bytes = 0;
  if (!plan || !name) return is_null(plan ? "bundle_symbol: name" : "bundle_symbol: plan", error);
  int status = enter(plan->library, error);
  if (!status)
    status = leave(plan->library, CALL(&plan->library->driver, module_global,
                                       (&at, &room, plan->module, name), error));
  if (out) *out = status ? NULL : (void *)(uintptr_t)at;
  if (bytes) *bytes = status ? 0 : room;
  return status;
}

/* Has launches copy the address of a buffer to its symbol. */
static int bind_pointer(bundle_call *call, size_t at, address symbol, address buffer,
                        bundle_error *error) {
  const struct driver *driver = &call->plan->library->driver;
  address *from = &call->addresses[at];
  int status = CALL(driver, allocate, (from, sizeof buffer), error);
  if (!status)
    status = CALL(driver, copy, (*from, (address)(uintptr_t)&buffer, sizeof buffer, NULL), error);
  if (status) return status;
  call->copies[call->copy_count].symbol = symbol;
  call->copies[call->copy_count].buffer = *from;
  call->copies[call->copy_count].bytes = sizeof buffer;
  call->copies[call->copy_count++].before = 1;
  return CALL(driver, synchronize, (), error);
}

/* Has launches copy between `given` and the argument's symbol; given NULL: copies nothing. */
static int bind_symbol(bundle_call *call, size_t at, void *given, bundle_error *error) {
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  const size_t bytes = (size_t)(a->elements * a->bytes);
  address symbol = 0;
  int status = find_symbol(call->plan, at, a->pointer ? sizeof symbol : bytes, &symbol, error);
  if (status || !given) return status;
  if (a->pointer) return bind_pointer(call, at, symbol, (address)(uintptr_t)given, error);
  call->copies[call->copy_count].symbol = symbol;
  call->copies[call->copy_count].buffer = (address)(uintptr_t)given;
  call->copies[call->copy_count].bytes = bytes;
  call->copies[call->copy_count].before = arguments_of_kernel[at].kind != BUNDLE_OUTPUT;
  call->copies[call->copy_count++].after = arguments_of_kernel[at].kind != BUNDLE_INPUT;
  return BUNDLE_OK;
}

/* Copies a constant's values into its symbol, or into memory that the call owns. */
static int copy_constant(bundle_call *call, size_t at, const void *from, bundle_error *error) {
  const struct driver *driver = &call->plan->library->driver;
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  size_t bytes = (size_t)(a->elements * a->bytes);
  address to = 0;
  int status = a->copied ? allocate(driver, call, at, error)
                         : find_symbol(call->plan, at, bytes, &to, error);
  if (a->copied) to = call->values[at].pointer = call->owned[at].device;
  if (!status) status = CALL(driver, copy, (to, (address)(uintptr_t)from, bytes, NULL), error);
  return status ? status : CALL(driver, synchronize, (), error);
}

/* Sets the fields of a struct that are addresses of buffers; the buffers are bound already. */
static void fill_fields(bundle_call *call, size_t at) {
  for (size_t i = 0; i < at; i++) {
    const struct argument_sizes *a = &call->plan->sizes.arguments[i];
    if (a->holder == 1 + at)
      memcpy(call->values[at].bytes + a->offset, &call->values[i].pointer, sizeof(address));
  }
}

static int bind_scalar(bundle_call *call, size_t at, const void *given, bundle_error *error) {
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  memcpy(call->values[at].bytes, a->value, sizeof a->value);
  if (!given) return fill_fields(call, at), BUNDLE_OK;
  if (!a->passed && memcmp(given, a->value, (size_t)a->bytes) != 0)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: scalar '%s' is compiled in and was given another value: pass NULL",
                arguments_of_kernel[at].name);
  memcpy(call->values[at].bytes, given, (size_t)a->bytes);
  fill_fields(call, at);
  return BUNDLE_OK;
}

/* Allocates scratch and zeroes it: a kernel may count in it from zero, and leaves zeros behind. */
static int own_scratch(bundle_call *call, size_t at, bundle_error *error) {
  const struct driver *driver = &call->plan->library->driver;
  const struct argument_sizes *a = &call->plan->sizes.arguments[at];
  int status = allocate(driver, call, at, error);
  call->values[at].pointer = call->owned[at].device;
  if (!status)
    status = CALL(driver, fill, (call->owned[at].device, 0, (size_t)(a->elements * a->bytes), NULL),
                  error);
  if (!status) status = CALL(driver, synchronize, (), error);
  if (!status && a->tensor)
    status = encode_tensor(call->plan, at, (void *)(uintptr_t)call->owned[at].device,
                           &call->maps[at], error);
  if (!status && a->symbol)
    status = bind_symbol(call, at, (void *)(uintptr_t)call->owned[at].device, error);
  return status;
}

static int bind_argument(bundle_call *call, size_t at, void *given, bundle_error *error) {
  bundle_argument_kind kind = arguments_of_kernel[at].kind;
  if (!call->plan->sizes.arguments[at].passed && kind != BUNDLE_SCALAR)
    return given ? fail(error, BUNDLE_ERROR_USAGE,
                        "@name: argument '%s' is none of this problem's: pass NULL",
                        arguments_of_kernel[at].name)
                 : BUNDLE_OK;
  if (kind == BUNDLE_SCALAR) return bind_scalar(call, at, given, error);
  if (!given && kind == BUNDLE_SCRATCH) return own_scratch(call, at, error);
  if (!given && !call->plan->sizes.arguments[at].symbol)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: argument '%s' was given no memory",
                arguments_of_kernel[at].name);
  if ((uintptr_t)given % (uintptr_t)call->plan->sizes.arguments[at].bytes)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name: argument '%s' was given %p, which is no multiple of its element's %d bytes",
                arguments_of_kernel[at].name, given, call->plan->sizes.arguments[at].bytes);
  if (kind == BUNDLE_CONSTANT) return copy_constant(call, at, given, error);
  if (call->plan->sizes.arguments[at].symbol) return bind_symbol(call, at, given, error);
  if (call->plan->sizes.arguments[at].tensor)
    return encode_tensor(call->plan, at, given, &call->maps[at], error);
  call->values[at].pointer = (address)(uintptr_t)given;
  return BUNDLE_OK;
}

static int make_maps(bundle_call *call, bundle_error *error) {
  int wanted = 0;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++) wanted |= call->plan->sizes.arguments[i].tensor;
  if (wanted)
    call->maps = aligned_alloc(_Alignof(struct tensor_map), BUNDLE_ARGUMENTS * sizeof *call->maps);
  if (wanted && !call->maps) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  return BUNDLE_OK;
}

/* Returns the address of the value that the kernel is passed for this argument. */
static void *place(bundle_call *call, size_t at) {
  return call->plan->sizes.arguments[at].tensor ? (void *)&call->maps[at]
                                                : (void *)call->values[at].bytes;
}

static int list_launches(bundle_call *call, bundle_error *error) {
  const struct sizes *s = &call->plan->sizes;
  call->passed = calloc(s->passed_count + s->launch_count, sizeof *call->passed);
  call->launch_parameters = calloc(s->launch_count, sizeof *call->launch_parameters);
  if (!call->passed || !call->launch_parameters)
    return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  void **out = call->passed;
  for (size_t l = 0; l < s->launch_count; l++) {
    const struct launch_sizes *launch_of = &s->launches[l];
    call->launch_parameters[l] = launch_of->listed ? out : call->parameters;
    for (size_t i = 0; i < launch_of->count; i++) {
      const size_t at = s->passed[launch_of->first + i];
      *out++ =
          at < BUNDLE_ARGUMENTS ? place(call, at) : (void *)s->own[at - BUNDLE_ARGUMENTS].bytes;
    }
    out += launch_of->listed;
  }
  return BUNDLE_OK;
}

static int bind_all(bundle_call *call, void *const *arguments, bundle_error *error) {
  size_t passed = 0;
  int status = make_maps(call, error);
  if (status) return status;
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++) {
    status = bind_argument(call, i, arguments[i], error);
    if (status) return status;
    const struct argument_sizes *a = &call->plan->sizes.arguments[i];
    if (a->passed && !a->symbol && !a->holder &&
        (arguments_of_kernel[i].kind != BUNDLE_CONSTANT || a->copied))
      call->parameters[passed++] = place(call, i);
  }
  return list_launches(call, error);
}

int bundle_bind(bundle_plan *plan, void *const *arguments, size_t count, bundle_call **out,
                bundle_error *error) {
  if (!out) return is_null("bundle_bind: out", error);
  *out = NULL;
  if (!plan || !arguments)
    return is_null(plan ? "bundle_bind: arguments" : "bundle_bind: plan", error);
  if (count != BUNDLE_ARGUMENTS)
    return fail(error, BUNDLE_ERROR_USAGE,
                "@name takes %d arguments (@arguments) and was given %zu", (int)BUNDLE_ARGUMENTS,
                count);
  bundle_call *call = calloc(1, sizeof *call);
  if (!call) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  call->plan = plan;
  int status = enter(plan->library, error);
  if (!status) status = leave(plan->library, bind_all(call, arguments, error));
  if (status)
    bundle_release(call);
  else
    *out = call;
  return status;
}

static int launch_with(const struct driver *driver, void *function, const struct launch_sizes *l,
                       void **parameters, void *stream) {
  struct launch_attribute attributes[LAUNCH_ATTRIBUTES];
  unsigned count = 0;
  if (l->overlap) attributes[count++] = (struct launch_attribute){LAUNCH_ATTRIBUTE_EARLY, 1, {0}};
  if (l->cooperative)
    attributes[count++] = (struct launch_attribute){LAUNCH_ATTRIBUTE_COOPERATIVE, 1, {0}};
  const struct launch_config config = {
      {(unsigned)l->grid[0], (unsigned)l->grid[1], (unsigned)l->grid[2]},
      {(unsigned)l->block[0], (unsigned)l->block[1], (unsigned)l->block[2]},
      (unsigned)l->shared,
      stream,
      attributes,
      count};
  return driver->launch_with(&config, function, parameters, NULL);
}

/* Returns whether the launch has attributes, and the driver takes them. An older driver lets no
   kernels overlap; a kernel's wait for the kernel before it then returns at once. */
static int has_attributes(const struct driver *driver, const struct launch_sizes *l) {
  return (l->overlap || l->cooperative) && driver->launch_with;
}

static int launch_one(const struct driver *driver, void *function, const struct launch_sizes *l,
                      void **parameters, void *stream) {
  if (has_attributes(driver, l)) return launch_with(driver, function, l, parameters, stream);
  return driver->launch(function, (unsigned)l->grid[0], (unsigned)l->grid[1], (unsigned)l->grid[2],
                        (unsigned)l->block[0], (unsigned)l->block[1], (unsigned)l->block[2],
                        (unsigned)l->shared, stream, parameters, NULL);
}

/* Copies the caller's memory to symbols before the launches, or back after the launches. */
static int copy_symbols(const bundle_call *call, int before, void *stream, bundle_error *error) {
  const bundle_library *l = call->plan->library;
  int status = call->copy_count ? enter(l, error) : BUNDLE_OK;
  if (status || !call->copy_count) return status;
  for (size_t i = 0; i < call->copy_count && !status; i++) {
    const address symbol = call->copies[i].symbol, buffer = call->copies[i].buffer;
    if (before ? call->copies[i].before : call->copies[i].after)
      status =
          CALL(&l->driver, copy,
               (before ? symbol : buffer, before ? buffer : symbol, call->copies[i].bytes, stream),
               error);
  }
  return leave(l, status);
}

static int launch_range(const bundle_call *call, size_t first, size_t last, void *stream,
                        bundle_error *error) {
  const bundle_plan *plan = call->plan;
  const struct driver *driver = &plan->library->driver;
  for (size_t i = first; i <= last; i++) {
    const struct launch_sizes *l = &plan->sizes.launches[i];
    int result =
        launch_one(driver, plan->functions[l->kernel], l, call->launch_parameters[i], stream);
    if (result) {
      int with = has_attributes(driver, l);
      return check(driver, result, symbols[with ? DRIVER_launch_with : DRIVER_launch], error);
    }
  }
  return BUNDLE_OK;
}

int bundle_launch(const bundle_call *call, void *stream, bundle_error *error) {
  if (!call) return is_null("bundle_launch: call", error);
  const struct sizes *s = &call->plan->sizes;
  int status = copy_symbols(call, 1, stream, error);
  for (size_t i = 0; i < s->launch_count && !status; i++) {
    status = launch_range(call, i, i, stream, error);
    for (long long t = 1; t < s->launches[i].times && !status; t++)
      status = launch_range(call, i + 1 - s->launches[i].back, i, stream, error);
  }
  return status ? status : copy_symbols(call, 0, stream, error);
}

void bundle_release(bundle_call *call) {
  if (!call) return;
  const bundle_library *l = call->plan->library;
  int inside = !enter(l, NULL);
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++)
    if (call->owned[i].host)
      l->driver.host_free(call->owned[i].host);
    else if (call->owned[i].device)
      l->driver.free(call->owned[i].device);
  for (size_t i = 0; i < BUNDLE_ARGUMENTS; i++)
    if (call->addresses[i]) l->driver.free(call->addresses[i]);
  if (inside) leave(l, BUNDLE_OK);
  free(call->maps);
  free(call->passed);
  free(call->launch_parameters);
  free(call);
}
