/* Running the shipped kernels; see kernels.h. */
#include "kernels.h"
#include "api/tuning.h"
#include "base/system.h"
#include "tests/opening.h"

int open_library(void **state) {
  cugen *lib = OPEN_LIBRARY(.device = "cpu", .cache = "none", .worker = getenv("CUGEN_WORKER"));
  *state = lib;
  return 0;
}

int close_library(void **state) {
  cugen_close(*state);
  return 0;
}

cugen_kernel *open_kernel(cugen *lib, const char *config, const char *const *settings,
                          size_t most) {
  size_t count = 0;
  while (count < most && settings[count]) count++;
  return kernel_of(lib, config, settings, count);
}

double run_variant(cugen_kernel *kernel, const char *variant) {
  cugen_error error = {0};
  cugen_record record;
  if (api_kernel_run(kernel, variant, 60, &record, &error))
    fail_msg("%s, %s: %s", variant, cugen_kernel_problem(kernel), error.message);
  if (record.outcome != CUGEN_OUTCOME_OK)
    fail_msg("%s, %s: %s: %s", record.variant, cugen_kernel_problem(kernel),
             outcome_text((int)record.outcome), record.reason);
  return record.error;
}

struct text read_text(const char *path) {
  struct text text = {0};
  WORKS(file_read(path, &text, &err));
  return text;
}

void replace(struct text *text, const char *after, const char *from, const char *to) {
  struct text out = {0};
  const char *start = text_get(text), *at = strstr(start, after);
  at = at ? strstr(at, from) : NULL;
  if (!at) {
    fail_msg("no %s behind %s", from, after);
    return;
  }
  text_add_n(&out, start, (size_t)(at - start));
  text_add(&out, to);
  text_add(&out, at + strlen(from));
  text_free(text);
  *text = out;
}

void add_text(cugen *lib, const char *name, const struct text *text) {
  assert_false(text->failed);
  WORKS(cugen_add_file(lib, name, text_get(text), text->length, &err));
}

/* Rewrites the config, which is Lua: in front of the file's first line a global replaces the
   functions that declare tunables and implementations. It is a global because a file that the
   config includes sees no local. */
void add_choice(cugen *lib, const struct choice *choice) {
  FREED(text) config = {0}, shipped = read_text(choice->config);
  text_addf(&config,
            "local tunables, only = tunable, { %s } function tunable(name) return function(values) "
            "return tunables(name)(only[name] ~= nil and { only[name] } or values) end end ",
            choice->tunables ? choice->tunables : "");
  if (choice->implementation)
    text_addf(&config,
              "local all = implementation function implementation(name) return function(parts) "
              "if name ~= \"%s\" then parts[#parts + 1] = requires \"false\" end return "
              "all(name)(parts) end end ",
              choice->implementation);
  text_add(&config, text_get(&shipped));
  add_text(lib, "chosen.lua", &config);
}

cugen_plan *open_choice(cugen *lib, const struct choice *choice, const char *const *settings,
                        size_t most) {
  cugen_error error;
  cugen_plan *plan;
  add_choice(lib, choice);
  cugen_kernel *kernel = open_kernel(lib, "chosen.lua", settings, most);
  if (cugen_plan_open(kernel, NULL, &plan, &error))
    fail_msg("%s: %s", choice->config, error.message);
  cugen_kernel_close(kernel);
  const char *wanted = choice->implementation ? choice->implementation : "";
  assert_memory_equal(cugen_plan_about(plan)->variant, wanted, strlen(wanted));
  return plan;
}

void launch_once(cugen_plan *plan, void *const *arguments, size_t count) {
  CLOSED(cugen_call) *call = call_of(plan, arguments, count);
  WORKS(cugen_call_launch(call, NULL, &err));
}

cugen_kernel *open_made_up(cugen *lib, const struct made_up *made, const char *body) {
  struct text config = {0}, template = {0}, reference = {0}, source = {0};
  text_addf(&config, "%s.lua", made->name);
  text_addf(&template, "%s.cu", made->name);
  text_add(&reference, made->reference);
  text_addf(&source, "%s%s\n}\n", made->head, body);
  struct text declared = {0};
  text_add(&declared, made->config);
  add_text(lib, text_get(&config), &declared);
  add_text(lib, "reference.cu", &reference);
  add_text(lib, text_get(&template), &source);
  cugen_kernel *kernel = open_kernel(lib, text_get(&config), &made->setting, 1);
  struct text *const all[] = {&config, &template, &reference, &source, &declared};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) text_free(all[i]);
  return kernel;
}

/* A line of runs.txt, "variant: settings". */
static void run_line(cugen *lib, const char *config, char *line) {
  enum { MOST = 16 };
  char *at = strchr(line, ':');
  const char *settings[MOST];
  size_t count = 0;
  if (!at) fail_msg("no settings: %s", line);
  *at++ = 0;
  for (char *word; count < MOST && (word = strtok_r(NULL, " ", &at));) settings[count++] = word;
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, config, settings, count);
  run_variant(kernel, line);
}

void run_section(cugen *lib, const char *name) {
  FREED(text) all = read_text("tests/cpu/runs.txt"), head = {0};
  const char *config = "";
  size_t runs = 0;
  text_addf(&head, "\n== %s\n", name);
  char *section = strstr(all.data, text_get(&head));
  if (!section) fail_msg("runs.txt has no section %s", name);
  section += head.length;
  char *end = strstr(section, "\n=="), *rest = section;
  if (end) *end = 0;
  for (char *line; (line = strtok_r(NULL, "\n", &rest));)
    if (strncmp(line, "config ", 7) == 0)
      config = line + 7;
    else if (*line != '#')
      run_line(lib, config, line), runs++;
  assert_true(runs > 0);
}
