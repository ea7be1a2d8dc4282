/* Prints the files beside a bundle's code: README.md, CMakeLists.txt and an example. */
#include <inttypes.h>
#include <string.h>

#include "export.h"

/* ---- README.md ------------------------------------------------------------------------------ */

/* Adds the row to the table, unless the table has it. Frees the row. */
static void add_row(struct text *row, size_t table, struct text *out) {
  if (!strstr(text_get(out) + table, text_get(row))) text_add(out, text_get(row));
  out->failed |= row->failed;
  text_free(row);
}

static void add_tuned_rows(const struct exporter *x, struct text *out) {
  const size_t table = out->length;
  text_add(out, "| device | tuned for | variant | time | how |\n|---|---|---|---|---|\n");
  for (size_t i = 0; i < x->tuned_count; i++)
    for (size_t m = 0; m < x->tuned[i].count; m++) {
      const struct export_measured *measured = &x->measured[x->tuned[i].first + m];
      struct text row = {0};
      text_addf(&row, "| %s | %s | `%s` | ", x->devices[x->tuned[i].device].text, x->tuned[i].text,
                x->codes[measured->code].variant);
      const bool long_run = measured->seconds >= 1e-3;
      text_addf(&row, "%.4g %s | %s |\n", measured->seconds * (long_run ? 1e3 : 1e6),
                long_run ? "ms" : "us", measured->how);
      add_row(&row, table, out);
    }
}

static void add_default_rows(const struct exporter *x, struct text *out) {
  const size_t table = out->length;
  text_addf(out, "| device | code | %svariant | for |\n|---|---|---|---|\n",
            x->options->variant ? "" : "default ");
  for (size_t i = 0; i < x->default_count; i++) {
    const struct export_code *code = &x->codes[x->defaults[i].code];
    struct text row = {0};
    text_addf(&row, "| %s | %s | `%s` | ", x->devices[x->defaults[i].device].text,
              x->devices[x->defaults[i].device].lookup.arch, code->variant);
    if (code->label.length)
      text_addf(&row, "`%s`", text_get(&code->label));
    else
      text_add(&row, code->pinned ? "some problems: sizes are compiled in" : "all problems");
    if (code->wide) text_add(&row, ", offsets of 64 bits");
    if (code->rounds)
      text_addf(&row, ", whose loop of launches has %" PRId64 " rounds", code->rounds);
    text_add(&row, " |\n");
    add_row(&row, table, out);
  }
}

static void add_use(const char *name, const struct text *upper, const struct exporter *x,
                    struct text *out) {
  const struct config *config = x->base->lookup.config;
  text_addf(
      out,
      "```c\n#include \"%s.h\"\n\n%s_problem problem = %s_PROBLEM_INIT; /* then its values */\n"
      "%s_library *library;\n%s_plan *plan;\n%s_call *call;\n%s_error error;\n"
      "void *arguments[] = {",
      name, name, text_get(upper), name, name, name, name);
  for (size_t i = 0; i < config->argument_count; i++) {
    bool pointer = config->arguments[i].kind != CUGEN_ARGUMENT_SCALAR &&
                   config->arguments[i].kind != CUGEN_ARGUMENT_SCRATCH;
    text_addf(out, "%s%s", i ? ", " : "", pointer ? config->arguments[i].name : "NULL");
  }
  text_addf(
      out,
      "};\n\nif (%s_open(NULL, &library, &error) || %s_pick(library, &problem, &plan, &error) ||\n"
      "    %s_bind(plan, arguments, %s_ARGUMENTS, &call, &error))\n  fail(error.message);\n"
      "%s_launch(call, stream, &error); /* as often as wanted "
      "*/\n%s_release(call);\n%s_drop(plan);\n"
      "%s_close(library);\n```\n\n",
      name, name, name, text_get(upper), name, name, name, name);
}

/* Prints the rules as C expressions, with the numbers of the variants. */
static void add_portfolio_rows(const struct exporter *x, bool shipped, struct text *out) {
  for (size_t i = 0; i < x->portfolio_count; i++) {
    const struct export_portfolio *p = &x->portfolios[i];
    if (p->shipped != shipped) continue;
    struct text class = {0};
    problem_print_class(x->base->lookup.config, p->class, &class);
    text_addf(out, "\n%s%s%s: `%s` of\n\n", x->devices[p->device].text, class.length ? ", " : "",
              text_get(&class), text_get(&p->rule));
    if (p->doubted > 0)
      text_add(out,
               "(What the rule names does not serve where its time is far above another's.)\n\n");
    for (size_t k = 0; k < p->count; k++) {
      const struct export_member *member = &x->members[p->first + k];
      text_addf(out, "%zu. %s", k,
                member->count ? x->codes[x->member_codes[member->first]].variant : "(left out)");
      if (member->count > 1) text_addf(out, ", compiled for %zu classes of sizes", member->count);
      text_add_char(out, '\n');
    }
    out->failed |= class.failed;
    text_free(&class);
  }
}

/* Describes the order in which choose() in templates/bundle/choose.c tries variants. */
static void add_order(const struct exporter *x, struct text *out) {
  if (x->tuned_count)
    text_addf(
        out,
        "the best variant for the problem on this device.\nFailing that it takes %swhat the "
        "kernel's policy lends from another problem, then %sthe default variant.",
        export_portfolio_count(x, false) ? "what the rule of a portfolio below picks, then " : "",
        export_portfolio_count(x, true) ? "what the rule that ships with cugen picks, then " : "");
  else if (x->portfolio_count)
    text_addf(out, "what the rule of a portfolio below picks for the problem%s.",
              x->default_count ? ";\nfailing that the first default below that is valid for it"
                               : "");
  else
    text_add(out, "the first below that is valid for the problem.");
}

/* Describes the function for TVM-FFI, which templates/bundle/tvm_ffi.c defines. */
static void add_tensors(const struct exporter *x, const char *name, struct text *out) {
  struct text given = {0};
  export_given(x->base->lookup.config, &given);
  text_addf(out,
            "\n## From Python\n\n```\ncc -std=c11 -O2 -shared -fPIC %s.c -o %s.so -ldl\n```\n\n"
            "makes a library that torch, JAX and NumPy load with the package `apache-tvm-ffi`, "
            "without cugen or a compiler:\n\n"
            "```python\nimport tvm_ffi\n%s = tvm_ffi.load_module(\"./%s.so\").%s\n%s(%s)\n```\n\n"
            "The top of `%s.h` says how the problem follows from the arguments.\n",
            name, name, name, name, name, name, text_get(&given), name);
  out->failed |= given.failed;
  text_free(&given);
}

static void readme_add_portfolios(const struct exporter *x, struct text *out) {
  if (export_portfolio_count(x, false))
    text_addf(
        out,
        "\n%s served by a portfolio: its rule gives the number of a variant, and least the one of "
        "the least time. Where that is not valid, the valid one of the least time serves.\n",
        x->tuned_count ? "Sizes that are not tuned are" : "All sizes are");
  add_portfolio_rows(x, false, out);
  if (export_portfolio_count(x, true))
    text_add(out, "\nWhere nothing measured serves, the portfolio that ships with cugen does, as "
                  "far as it was learnt:\n");
  add_portfolio_rows(x, true, out);
}

void export_readme(const struct exporter *x, struct text *out) {
  const char *name = text_get(&x->base->export_name);
  struct text upper = {0};
  export_upper(x->base->lookup.config, &upper);
  text_addf(out,
            "# %s\n\nTuned variants of one CUDA kernel as plain C, made by `cugen export` %s. At "
            "run time it needs the NVIDIA\ndriver (libcuda.so.1) and nothing else: no compiler, no "
            "CUDA toolkit, no cugen.\n\n"
            "## Building\n\n```\ncc -std=c11 -O2 -c %s.c\n```\n\nand link with `-ldl`, or with "
            "CMake: `add_subdirectory(...)` and `target_link_libraries(app %s)`. No CUDA headers "
            "are needed.\n`%s.h` is C11 and C++17. `example.c` is a whole program: `cc -std=c11 "
            "example.c %s.c -ldl -o example`.\n\n## Using it\n\n",
            x->base->lookup.config->name, CUGEN_VERSION, name, name, name, name);
  add_use(name, &upper, x, out);
  text_addf(out, "`%s.h` documents every function. `%s_pick` takes ", name, name);
  add_order(x, out);
  text_addf(out, "\n`%s_about(plan)` says which and why, `%s_choose` the same without a driver.\n",
            name, name);
  add_tensors(x, name, out);
  const size_t before = out->length;
  export_overwritten(x->base->lookup.config, "\n", out);
  text_add(out, out->length > before ? "\n\n" : "\n");
  text_add(out, "## What is in it\n\n");
  if (x->tuned_count) {
    text_add(out, "The variants of each problem, the fastest first; a slower one is taken where a "
                  "faster one is not valid.\n\n");
    add_tuned_rows(x, out);
  } else if (x->options->variant) {
    text_addf(
        out,
        "One variant, %s, whatever was measured. Sizes that it is not valid for are refused.\n\n",
        text_get(&x->named));
  } else if (!export_portfolio_count(x, false)) {
    text_add(out, "None of its variants was measured or predicted.\n");
  }
  readme_add_portfolios(x, out);
  if (x->default_count && !x->options->variant)
    text_add(out, "\nWhere none of these serves, the first of the following that is valid:\n\n");
  if (x->default_count) add_default_rows(x, out);
  if (x->notes->length) {
    text_add(out, "\n## What is not\n\n");
    for (const char *line = text_get(x->notes); *line;) {
      size_t length = strcspn(line, "\n");
      text_addf(out, "- %.*s\n", (int)length, line);
      line += length + (line[length] == '\n');
    }
  }
  text_free(&upper);
}

/* ---- CMakeLists.txt ------------------------------------------------------------------------- */

void export_cmake(const struct exporter *x, struct text *out) {
  const char *name = text_get(&x->base->export_name);
  text_addf(
      out,
      "# add_subdirectory(this folder), then target_link_libraries(app PRIVATE %s).\n"
      "cmake_minimum_required(VERSION 3.16)\nproject(%s LANGUAGES C)\n\n"
      "add_library(%s STATIC %s.c)\ntarget_compile_features(%s PRIVATE c_std_11)\n"
      "target_include_directories(%s PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n"
      "target_link_libraries(%s PUBLIC ${CMAKE_DL_LIBS})\n"
      "set_target_properties(%s PROPERTIES POSITION_INDEPENDENT_CODE ON)\n\n"
      "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n"
      "  add_executable(example example.c)\n  target_link_libraries(example PRIVATE %s)\nendif()\n",
      name, name, name, name, name, name, name, name, name);
}

/* ---- example.c ------------------------------------------------------------------------------ */

void export_example(const struct exporter *x, struct text *out) {
  const char *name = text_get(&x->base->export_name);
  struct text upper = {0};
  export_upper(x->base->lookup.config, &upper);
  text_addf(out,
            "/* What is chosen here for the default problem, and its arguments. */\n#include "
            "<stdio.h>\n\n"
            "#include \"%s.h\"\n\nint main(void) {\n  %s_problem problem = %s_PROBLEM_INIT;\n  "
            "%s_library *library;\n"
            "  %s_plan *plan = NULL;\n  %s_error error;\n"
            "  int status = %s_open(NULL, &library, &error);\n"
            "  if (!status) status = %s_pick(library, &problem, &plan, &error);\n",
            name, name, text_get(&upper), name, name, name, name, name);
  text_addf(
      out,
      "  if (status) {\n    fprintf(stderr, \"%%s\\n\", error.message);\n    %s_close(library);\n"
      "    return status == %s_ERROR_MISSING ? 77 : 1;\n  }\n"
      "  const %s_info *info = %s_about(plan);\n"
      "  const char *from = info->tuned_for ? info->tuned_for : \"the default, never measured\";\n"
      "  if (info->choice == %s_PORTFOLIO) from = \"by the rule of a portfolio\";\n"
      "  printf(\"%%s on %%s: %%s\\n\", info->variant, info->device, from);\n",
      name, text_get(&upper), name, name, text_get(&upper));
  text_addf(out,
            "  for (size_t i = 0; i < %s_ARGUMENTS; i++) {\n    %s_argument_info argument;\n"
            "    if (%s_argument(plan, i, &argument, NULL) == %s_OK)\n"
            "      printf(\"  %%s: %%s, %%lld bytes\\n\", argument.name, argument.dtype, "
            "argument.bytes);\n  }\n"
            "  %s_drop(plan);\n  %s_close(library);\n  return 0;\n}\n",
            text_get(&upper), name, name, text_get(&upper), name, name);
  text_free(&upper);
}
