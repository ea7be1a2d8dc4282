/* ---- The library ----------------------------------------------------------------------------- */

struct bundle_library {
  struct driver driver;
  void *context;
  int ordinal, primary;
  bundle_device device;
  char name[128];
  char *capture; /* a file; NULL: nothing is captured */
};

static int enter(const bundle_library *l, bundle_error *error) {
  return CALL(&l->driver, context_push, (l->context), error);
}

static int leave(const bundle_library *l, int status) {
  void *popped;
  l->driver.context_pop(&popped);
  return status;
}

static int ask_device(bundle_library *l, bundle_error *error) {
  const struct driver *driver = &l->driver;
  int major = 0, minor = 0, count = 0;
  int status = CALL(driver, device_name, (l->name, (int)sizeof l->name, l->ordinal), error);
  if (!status)
    status = CALL(driver, device_attribute, (&major, ATTRIBUTE_MAJOR, l->ordinal), error);
  if (!status)
    status = CALL(driver, device_attribute, (&minor, ATTRIBUTE_MINOR, l->ordinal), error);
  if (!status)
    status = CALL(driver, device_attribute, (&count, ATTRIBUTE_MULTIPROCESSORS, l->ordinal), error);
  l->device = (bundle_device){l->name, 10 * major + minor, count};
  return status;
}

static int use_context(bundle_library *l, bundle_error *error) {
  int status = enter(l, error);
  if (!status) status = leave(l, CALL(&l->driver, context_device, (&l->ordinal), error));
  return status;
}

static int use_primary(bundle_library *l, int ordinal, bundle_error *error) {
  int status = CALL(&l->driver, device_get, (&l->ordinal, ordinal), error);
  if (!status) status = CALL(&l->driver, context_retain, (&l->context, l->ordinal), error);
  l->primary = !status;
  return status;
}

static int open_on(bundle_library *l, void *context, int ordinal, bundle_error *error) {
  int status = driver_open(&l->driver, error);
  if (!status) status = CALL(&l->driver, init, (0), error);
  l->context = context;
  if (!status && !context && ordinal < 0)
    status = CALL(&l->driver, context_current, (&l->context), error);
  if (!status)
    status = l->context ? use_context(l, error) : use_primary(l, ordinal < 0 ? 0 : ordinal, error);
  return status ? status : ask_device(l, error);
}

static char *capture_file(void) {
  const char *named = getenv("CUGEN_CAPTURE");
  char *copy = named && *named ? malloc(strlen(named) + 1) : NULL;
  return copy ? strcpy(copy, named) : NULL;
}

static int open_any(void *context, int ordinal, bundle_library **out, bundle_error *error) {
  if (!out) return is_null("bundle_open: out", error);
  *out = NULL;
  bundle_library *l = calloc(1, sizeof *l);
  if (!l) return fail(error, BUNDLE_ERROR_MEMORY, "@name: out of memory");
  l->capture = capture_file();
  int status = open_on(l, context, ordinal, error);
  if (status)
    bundle_close(l);
  else
    *out = l;
  return status;
}

int bundle_open(void *context, bundle_library **out, bundle_error *error) {
  return open_any(context, -1, out, error);
}

int bundle_open_device(int ordinal, bundle_library **out, bundle_error *error) {
  if (!out) return is_null("bundle_open_device: out", error);
  *out = NULL;
  if (ordinal < 0)
    return fail(error, BUNDLE_ERROR_USAGE, "@name: device %d: they are counted from 0", ordinal);
  return open_any(NULL, ordinal, out, error);
}

void bundle_close(bundle_library *l) {
  if (!l) return;
  if (l->primary) l->driver.context_give_back(l->ordinal);
  if (l->driver.handle) dlclose(l->driver.handle);
  free(l->capture);
  free(l);
}

const bundle_device *bundle_about_device(const bundle_library *l) {
  return l ? &l->device : NULL;
}
