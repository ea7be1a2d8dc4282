/* Guesses a config from a kernel's text; see draft.h. Comments mark what is guessed. */
#include "draft.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/dtype.h"
#include "base/input.h"
#include "base/system.h"
#include "draft_script.h"
#include "gen/config/names.h"
#include "gen/sources/signature.h"

static const size_t MOST_BYTES = (size_t)16 << 20;

enum { SIZES_MOST = KERNEL_MAX_ARGUMENTS, TUNABLES_MOST = SIGNATURE_MACROS + SIGNATURE_TEMPLATES };

struct tunable_guess {
  struct source_token name;
  bool truth;  /* the tunable's values are false and true */
  bool toggle; /* the tunable's values are 0 and 1 */
  bool zero;   /* the macro's value in the kernel's text is 0 */
  long value;  /* the macro's value in the kernel's text; 0: unknown, unless `zero` */
};

struct draft {
  const struct signature *in;
  api_draft *out;
  const struct script *script; /* NULL: none */
  const char *file;            /* the kernel's file without its folder; with a script, relative to
                                  the script's folder */
  bool several;                /* the file has several kernels */
  size_t sizes[SIZES_MOST], size_count; /* indices of the parameters that are sizes */
  struct tunable_guess tunables[TUNABLES_MOST];
  size_t tunable_count;
  struct text text;
};

static void guess(struct draft *d, const char *what) {
  text_addf(&d->text, "  -- guess%s%s\n", *what ? ": " : "", what);
  d->out->guess_count++;
}

/* Adds a comment that says what the user has to write. */
static void add_to_do(struct draft *d, const char *what) {
  text_addf(&d->text, "-- to do: %s\n", what);
  d->out->guess_count++;
}

static bool is_type(const struct signature_template *parameter) {
  return strcmp(parameter->type, "typename") == 0 || strcmp(parameter->type, "class") == 0;
}

static void draft_copy(char *out, size_t size, struct source_token word) {
  snprintf(out, size, "%.*s", (int)word.length, word.at ? word.at : "");
}

/* Returns whether the word contains the part, ignoring case. */
static bool has_part(struct source_token word, const char *part) {
  const size_t length = strlen(part);
  for (size_t i = 0; i + length <= word.length; i++)
    if (strncasecmp(word.at + i, part, length) == 0) return true;
  return false;
}

/* ---- Parameters ----------------------------------------------------------------------------- */

static const char *kind_of(const struct draft *d, size_t i) {
  const struct signature_parameter *p = &d->in->parameters[i];
  if (!p->pointer) return "scalar";
  if (p->constant) return "input";
  switch (d->in->uses[i]) {
  case SIGNATURE_READ: return "input";
  case SIGNATURE_CHANGED: return "inout";
  case SIGNATURE_UNUSED:
  case SIGNATURE_WRITTEN: break;
  }
  return "output";
}

/* Returns whether the name is that of a size, as nx and row_count. */
static bool names_size(const char *name) {
  static const char *const parts[] = {"size",  "dim",    "num",   "count",
                                      "width", "height", "depth", "len"};
  const struct source_token word = {.at = name, .length = strlen(name)};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (has_part(word, parts[i])) return true;
  return word.length == 2 && tolower(*name) == 'n' && strchr("xyz", tolower(name[1]));
}

/* Returns whether the parameter is a size: a scalar integer of at least 4 bytes with which the
   kernel computes or bounds an index, or with the name of one. Without such ones, all integers are
   taken for sizes. */
static bool is_size(const struct draft *d, size_t i) {
  const api_draft_parameter *p = &d->out->parameters[i];
  const struct dtype *dtype = dtype_find(p->dtype);
  bool known = false;
  for (int k = 0; k < d->in->parameter_count; k++) known |= d->in->sizes[k];
  return !p->pointer && dtype && !dtype->floating && dtype->bytes >= 4 &&
         (!known || d->in->sizes[i] || names_size(p->name));
}

/* Returns whether the type is a parameter of the template. */
static bool is_open_type(const struct draft *d, const char *type) {
  for (size_t i = 0; i < d->in->template_count; i++) {
    const struct signature_template *t = &d->in->templates[i];
    if (is_type(t) && strlen(type) == t->name.length &&
        memcmp(type, t->name.at, t->name.length) == 0)
      return true;
  }
  return false;
}

/* Returns the dtype of a type in the kernel's text, f32 for a parameter of the template; NULL:
   cugen has no such type. */
static const struct dtype *draft_type(const struct draft *d, const char *type, int *elements) {
  const struct dtype *dtype = script_type(type, elements);
  return dtype || !is_open_type(d, type) ? dtype : dtype_find("f32");
}

static void read_parameters(struct draft *d) {
  d->out->parameter_count = (size_t)d->in->parameter_count;
  for (size_t i = 0; i < d->out->parameter_count; i++) {
    const struct signature_parameter *p = &d->in->parameters[i];
    api_draft_parameter *out = &d->out->parameters[i];
    int elements;
    const struct dtype *dtype = draft_type(d, p->type, &elements);
    draft_copy(out->name, sizeof out->name, p->name);
    if (!*out->name)
      snprintf(out->name, sizeof out->name, "argument%zu", i + 1);
    else if (names_refused(out->name, true)) /* a config cannot have the parameter's name */
      snprintf(out->name, sizeof out->name, "my_%.*s", (int)p->name.length, p->name.at);
    snprintf(out->type, sizeof out->type, "%s", p->plain ? p->type : "");
    snprintf(out->dtype, sizeof out->dtype, "%s", dtype ? dtype->name : "");
    out->kind = kind_of(d, i);
    out->pointer = p->pointer;
    if (is_size(d, i)) d->sizes[d->size_count++] = i;
  }
}

/* Ends the line of an argument by what is guessed of it, and by why the kernel's name cannot be
   its name. */
static void end_argument(struct draft *d, size_t i, const char *guessed) {
  char name[64];
  draft_copy(name, sizeof name, d->in->parameters[i].name);
  const char *const refused = names_refused(name, true);
  if (*guessed || refused) text_add(&d->text, "  -- ");
  if (*guessed) text_addf(&d->text, "guess: %s%s", guessed, refused ? "; " : "");
  if (refused) text_addf(&d->text, "not '%s': %s", name, refused);
  text_add_char(&d->text, '\n');
  d->out->guess_count += *guessed != '\0';
}

static const char *size_name(const struct draft *d, size_t i) {
  return d->size_count ? d->out->parameters[d->sizes[i]].name : "n";
}

/* Returns the index in `sizes` of the size with that name, ignoring case; -1: none. */
static int find_size(const struct draft *d, const char *name) {
  for (size_t i = 0; i < d->size_count; i++)
    if (strcasecmp(size_name(d, i), name) == 0) return (int)i;
  return -1;
}

/* ---- Problem and arguments ------------------------------------------------------------------ */

/* Guesses the rank of the buffers from the dimensions of grid and block: 1 or 2. */
static size_t draft_rank(const struct draft *d) {
  return d->in->grid_dimensions > 1 && d->in->block_dimensions > 1 ? 2 : 1;
}

/* Returns whether the grid is computed from sizes with which the kernel compares nothing. */
static bool is_unguarded(const struct draft *d) {
  return !d->in->guarded && d->size_count && d->in->grid_dimensions;
}

static void add_problems(struct draft *d) {
  /* sizes of problems with one, two, and three or more dimensions */
  static const int defaults[] = {1 << 20, 1024, 256};
  static const int small[] = {1003, 97, 45}, whole[] = {4096, 128, 64};
  const size_t count = d->size_count ? d->size_count : 1, rank = draft_rank(d),
               most = count > rank ? count : rank, at = most > 3 ? 2 : most - 1;
  const bool unguarded = is_unguarded(d);
  for (size_t i = 0; i < count; i++) {
    text_addf(&d->text, "  problem \"%s\" (%d),", size_name(d, i), defaults[at]);
    guess(d, "");
  }
  text_add(&d->text, "  check {");
  for (size_t i = 0; i < count; i++)
    text_addf(&d->text, "%s %s = %d", i ? "," : "", size_name(d, i),
              unguarded ? whole[at] + 64 * (int)i : small[at] + 2 * (int)i);
  text_add(&d->text, " },");
  guess(d, unguarded ? "small, what must come out right first"
                     : "small and ragged, what must come out right first");
}

/* Returns whether the kernel has the sizes and the three buffers of a product of matrices. */
static bool is_product(const struct draft *d) {
  size_t buffers = 0;
  for (size_t i = 0; i < d->out->parameter_count; i++)
    buffers += d->out->parameters[i].pointer != 0;
  return buffers == 3 && d->size_count == 3 && find_size(d, "m") >= 0 && find_size(d, "n") >= 0 &&
         find_size(d, "k") >= 0;
}

/* Returns the config's name of a parameter that the kernel calls so; "": there is none. */
static const char *config_name(const struct draft *d, struct source_token word) {
  for (size_t i = 0; i < d->out->parameter_count; i++)
    if (source_same(d->in->parameters[i].name, word)) return d->out->parameters[i].name;
  return "";
}

static void add_bound(struct draft *d, const struct signature_bound *bound) {
  const struct source_token *times = bound->times;
  text_add(&d->text, config_name(d, bound->size));
  for (size_t i = 0; i < 2 && times[i].length; i++)
    text_addf(&d->text, " * %s", config_name(d, times[i]));
  if (bound->divisor.length) text_addf(&d->text, " // %ld", strtol(bound->divisor.at, NULL, 0));
}

static bool is_stride(const struct signature_index *index, struct source_token size) {
  for (size_t i = 0; i < index->stride_count; i++)
    if (source_same(index->strides[i], size)) return true;
  return false;
}

/* Returns the name of the first size by which the kernel multiplies no index of these parameters;
   NULL: none. */
static const char *outer_size(const struct draft *d, const struct signature_index *indices,
                              size_t count) {
  for (size_t i = 0; i < d->size_count; i++) {
    size_t k = 0;
    while (k < count && !is_stride(&indices[k], d->in->parameters[d->sizes[i]].name)) k++;
    if (k == count) return size_name(d, i);
  }
  return NULL;
}

static void add_grid_size(struct draft *d, int dimension);
static void add_blocks(struct draft *d, int dimension);

/* Adds the dimensions that the indices of a buffer tell: the sizes by which they are multiplied,
   behind a bound of the variable that is multiplied. Returns false if they tell nothing. */
static bool add_indexed(struct draft *d, const struct signature_index *index) {
  const size_t strides = index->stride_count;
  const struct signature_bound *outer = NULL;
  const char *const other = outer_size(d, index, 1);
  for (size_t i = 0; i < index->bound_count && !outer; i++)
    if (!is_stride(index, index->bounds[i].size) && !(strides && index->bounds[i].times->length))
      outer = &index->bounds[i];
  const int axis = signature_axis(index->blocks);
  if (!outer && !strides && axis >= 0) outer = &d->in->grid_bounds[axis];
  if ((!outer || !outer->size.length) && (!strides || is_product(d))) return false;
  text_add(&d->text, " \"");
  if (outer)
    add_bound(d, outer);
  else if (axis == 1)
    add_grid_size(d, axis);
  else if (other)
    text_add(&d->text, other);
  else
    text_add(&d->text, config_name(d, index->strides[0]));
  for (size_t i = !outer && !other && strides > 1; i < strides; i++)
    text_addf(&d->text, "\", \"%s", config_name(d, index->strides[i]));
  text_add_char(&d->text, '"');
  return true;
}

/* Adds the shape of a buffer: what its indices tell, else two of m, n and k for a product's A, B or
   C (buffer 0 to 2), else up to three sizes. */
static void add_shape(struct draft *d, size_t i, size_t buffer) {
  static const char product[3][2] = {"mk", "kn", "mn"};
  const struct signature_index *index = &d->in->indices[i];
  text_add(&d->text, "shape = {");
  if (index->seen && index->plain && index->axis < 0) {
    text_addf(&d->text, " %ld", index->largest + 1);
  } else if (index->seen && index->plain) {
    text_add(&d->text, " \"");
    add_blocks(d, index->axis);
    text_add_char(&d->text, '"');
  } else if (add_indexed(d, index)) {
    return;
  } else if (is_product(d)) {
    for (int k = 0; k < 2; k++) {
      const char letter[2] = {product[buffer][k], '\0'};
      text_addf(&d->text, "%s \"%s\"", k ? "," : "", size_name(d, (size_t)find_size(d, letter)));
    }
  } else {
    const size_t most = 3, count = !d->size_count ? 1 : d->size_count < most ? d->size_count : most;
    if (count < draft_rank(d)) text_addf(&d->text, " \"%s\",", size_name(d, 0));
    for (size_t k = 0; k < count; k++)
      text_addf(&d->text, "%s \"%s\"", k ? "," : "", size_name(d, k));
  }
}

/* Returns whether the word stands in the text, other than at its begin. */
static bool names_word(const char *text, const char *word) {
  const size_t length = strlen(word);
  for (const char *at = text + 1; (at = strstr(at, word)) != NULL; at++)
    if (!text_is_word(at[-1]) && !text_is_word(at[length])) return true;
  return false;
}

/* Returns the size of an input that is none of a result's shape, since the kernel may sum over it;
   "": none. */
static const char *summed_size(const struct draft *d, const char *shape) {
  for (size_t i = 0; i < d->out->parameter_count; i++) {
    const struct signature_index *index = &d->in->indices[i];
    if (strcmp(d->out->parameters[i].kind, "input") != 0) continue;
    for (size_t k = 0; k < index->stride_count; k++)
      if (!names_word(shape, config_name(d, index->strides[k])))
        return config_name(d, index->strides[k]);
    for (size_t k = 0; k < index->bound_count; k++)
      if (!names_word(shape, config_name(d, index->bounds[k].size)))
        return config_name(d, index->bounds[k].size);
  }
  return "";
}

/* Adds the tolerance of a result with that shape: the rounding of a few operations, or of a sum. */
static void add_tolerance(struct draft *d, const char *name, const char *shape) {
  const char *const sum = summed_size(d, shape);
  if (*sum)
    text_addf(&d->text, ", tolerance = \"2 * %s * eps('%s')\", norm = \"%s * eps('%s')\"", sum,
              name, sum, name);
  else
    text_addf(&d->text, ", tolerance = \"16 * eps('%s')\", norm = \"16 * eps('%s')\"", name, name);
}

static void add_buffer(struct draft *d, size_t i, size_t buffer) {
  const api_draft_parameter *p = &d->out->parameters[i];
  int elements;
  const struct dtype *dtype = draft_type(d, d->in->parameters[i].type, &elements);
  const char *const name = dtype ? dtype->name : "f32";
  const bool rounded = strcmp(p->kind, "input") != 0 && dtype_find(name)->floating;
  char guessed[128];
  text_addf(&d->text, "  %s \"%s\" { dtype = \"%s\", ", p->kind, p->name, name);
  const size_t start = d->text.length;
  add_shape(d, i, buffer);
  char *shape = strdup(text_get(&d->text) + start);
  d->text.failed |= !shape;
  text_addf(&d->text, elements > 1 ? ", %d }" : " }", elements);
  if (rounded && shape) add_tolerance(d, name, shape);
  free(shape);
  text_add(&d->text, " },");
  snprintf(guessed, sizeof guessed, "%sshape%s%s%s",
           !dtype || is_open_type(d, p->type) ? "type, " : "", rounded ? ", tolerance" : "",
           strcmp(p->kind, "inout") == 0 ? "; read and written" : "",
           !dtype && *p->type ? "; the kernel's type is not one of cugen's" : "");
  end_argument(d, i, guessed);
}

static void add_scalar(struct draft *d, size_t i) {
  const api_draft_parameter *p = &d->out->parameters[i];
  const struct dtype *dtype = *p->dtype ? dtype_find(p->dtype) : NULL;
  if (!dtype) {
    text_addf(&d->text, "  -- %s %s\n",
              *p->type ? p->type : "of a type that is not plain:", p->name);
    text_add(&d->text, "  ");
    add_to_do(d, "the parameter above: \"Structs by value\" in docs/config.md");
  } else if (!is_size(d, i)) {
    text_addf(&d->text, "  scalar \"%s\" { dtype = \"%s\", value = \"%s\" },", p->name, dtype->name,
              dtype->floating ? "1.5" : "1");
    end_argument(d, i, is_open_type(d, p->type) ? "type and value" : "value");
  } else {
    text_addf(&d->text, "  scalar \"%s\" { dtype = \"%s\" },", p->name, dtype->name);
    end_argument(d, i, "");
  }
}

static void add_arguments(struct draft *d) {
  size_t first = 0, seen = 0, results = 0;
  while (first < d->out->parameter_count && !d->out->parameters[first].pointer) first++;
  /* A product's result may stand in front of or behind its operands. */
  const bool in_front = is_product(d) && first < d->out->parameter_count &&
                        strcmp(d->out->parameters[first].kind, "input") != 0;
  for (size_t i = 0; i < d->out->parameter_count; i++) {
    if (!d->out->parameters[i].pointer) {
      add_scalar(d, i);
      continue;
    }
    results += strcmp(d->out->parameters[i].kind, "input") != 0;
    add_buffer(d, i, in_front ? (seen + 2) % 3 : seen);
    seen++;
  }
  if (results) return;
  text_add(&d->text, "  ");
  add_to_do(d, "the output, since no parameter is one: access = \"symbol\" in docs/config.md");
}

/* ---- Tunables ------------------------------------------------------------------------------- */

static void read_tunables(struct draft *d) {
  for (size_t i = 0; i < d->in->macro_count; i++) {
    const struct signature_macro *macro = &d->in->macros[i];
    const bool pad = has_part(macro->name, "pad");
    d->tunables[d->tunable_count++] = (struct tunable_guess){
        .name = macro->name,
        .toggle = (macro->condition || pad) && (macro->value == 0 || macro->value == 1),
        .zero = macro->defined && macro->value == 0,
        .value = macro->value};
  }
  for (size_t i = 0; i < d->in->template_count; i++) {
    const struct signature_template *t = &d->in->templates[i];
    if (is_type(t)) continue;
    d->tunables[d->tunable_count++] = (struct tunable_guess){
        .name = t->name, .truth = strcmp(t->type, "bool") == 0, .toggle = has_part(t->name, "pad")};
  }
}

/* Returns whether the value may be a number of threads, or an edge of a tile. */
static bool is_large(const struct draft *d, const struct tunable_guess *t) {
  for (int axis = 0; axis < 3; axis++)
    if (source_same(d->in->block_extents[axis], t->name)) return true;
  static const char *const parts[] = {"block", "thread", "tile", "bs", "wg", "dim"};
  if (has_part(t->name, "per")) return false;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (has_part(t->name, parts[i])) return true;
  return t->value >= 16;
}

/* The first value is the text's, or a usual one if the text has none. If the first value is a power
   of two, its half, double and quadruple follow; a limit holds for the larger two. 1, 2 and 4
   follow a 0. */
static void add_values(struct draft *d, const struct tunable_guess *t) {
  const long first = t->value         ? t->value
                     : is_large(d, t) ? d->in->block_dimensions > 1 ? 16 : 128
                                      : 1;
  const long most = is_large(d, t) ? d->in->block_dimensions > 1 ? 32 : 1024 : 16;
  if (t->zero && !is_large(d, t)) text_add(&d->text, "0, ");
  text_addf(&d->text, "%ld", first);
  if (first < 1 || first > 1 << 20 || (first & (first - 1))) return;
  if (first > 1) text_addf(&d->text, ", %ld", first / 2);
  for (long value = 2 * first; value <= 4 * first && value <= most; value *= 2)
    text_addf(&d->text, ", %ld", value);
}

static void add_tunables(struct draft *d) {
  for (size_t i = 0; i < d->tunable_count; i++) {
    const struct tunable_guess *t = &d->tunables[i];
    text_addf(&d->text, "    tunable \"%.*s\" { ", (int)t->name.length, t->name.at);
    if (t->truth)
      text_add(&d->text, "false, true");
    else if (t->toggle)
      text_add(&d->text, t->value ? "1, 0" : "0, 1");
    else
      add_values(d, t);
    text_add(&d->text, " },");
    guess(d, "values");
  }
  if (d->tunable_count) return;
  text_add(&d->text, "    ");
  add_to_do(d, "for each number X that may vary put #ifndef X, #define X 16, #endif into the");
  text_add(&d->text, "    -- kernel, and here tunable \"X\" { 16, 32 },\n");
}

/* Returns the NAME of a buffer with elements of that type, so that a config can write NAME_t; NULL:
   none. */
static const char *argument_of_type(const struct draft *d, struct source_token type) {
  for (size_t i = 0; i < d->out->parameter_count; i++)
    if (d->out->parameters[i].pointer && strlen(d->in->parameters[i].type) == type.length &&
        memcmp(d->in->parameters[i].type, type.at, type.length) == 0)
      return d->out->parameters[i].name;
  return NULL;
}

/* Adds the kernel's name and a template's arguments; nothing if the kernel is the only one of its
   file and no template. */
static void add_entry(struct draft *d) {
  struct text entry = {0};
  const char *between = "<";
  bool guessed = false;
  if (!d->several && !d->in->template_count) return;
  text_add(&entry, d->out->kernel);
  for (size_t i = 0; i < d->in->template_count; i++) {
    const struct signature_template *t = &d->in->templates[i];
    const bool type = is_type(t);
    const char *argument = type ? argument_of_type(d, t->name) : NULL;
    guessed |= type && !argument;
    if (argument)
      text_addf(&entry, "%s%s_t", between, argument);
    else
      text_addf(&entry, "%s%.*s", between, type ? 5 : (int)t->name.length,
                type ? "float" : t->name.at);
    between = ", ";
  }
  if (d->in->template_count) text_add_char(&entry, '>');
  snprintf(d->out->entry, sizeof d->out->entry, "%s", text_get(&entry));
  text_free(&entry);
  if (!*d->out->entry) return;
  text_addf(&d->text, "    entry \"%s\",", d->out->entry);
  if (guessed)
    guess(d, "float");
  else
    text_add_char(&d->text, '\n');
}

/* ---- The launch ----------------------------------------------------------------------------- */

/* Returns the tunable of that name; NULL: none. */
static const struct tunable_guess *find_tunable(const struct draft *d, struct source_token name) {
  for (size_t i = 0; i < d->tunable_count; i++)
    if (source_same(d->tunables[i].name, name)) return &d->tunables[i];
  return NULL;
}

/* Returns whether the tunable is a factor by which the dimension's blockIdx is multiplied. */
static bool is_step(const struct draft *d, int dimension, const struct tunable_guess *t) {
  for (size_t i = 0; i < SIGNATURE_FACTORS; i++)
    if (source_same(d->in->grid_steps[dimension][i], t->name)) return true;
  return false;
}

/* Returns the tunable that a block's extent is or seems to be; NULL: none. */
static const struct tunable_guess *extent_of(const struct draft *d, int dimension) {
  const struct tunable_guess *found = find_tunable(d, d->in->block_extents[dimension]);
  if (found) return found;
  for (size_t i = 0; i < d->tunable_count; i++) {
    const struct tunable_guess *t = &d->tunables[i];
    const char last = t->name.at[t->name.length - 1];
    const bool axis = tolower(last) == "xyz"[dimension];
    if (t->truth || t->toggle) continue;
    if (!is_large(d, t) && !(axis && is_step(d, dimension, t))) continue;
    if (axis) return t;
    if (!found && !strchr("xyzXYZ", last)) found = t;
  }
  return found;
}

static void add_extent(struct draft *d, int dimension) {
  const struct source_token number = d->in->block_extents[dimension];
  const struct tunable_guess *t = extent_of(d, dimension);
  if (number.kind == SOURCE_NUMBER)
    text_addf(&d->text, "%.*s", (int)number.length, number.at);
  else if (t)
    text_addf(&d->text, "%.*s", (int)t->name.length, t->name.at);
  else
    text_addf(&d->text, "%d", d->in->block_dimensions > 1 ? 16 : 256);
}

/* For blocks of one dimension, adds the tunables that seem to be numbers of elements per thread. */
static void add_factors(struct draft *d) {
  static const char *const parts[] = {"item", "per_thread", "coarse", "work", "unroll"};
  for (size_t i = 0; i < d->tunable_count && d->in->block_dimensions < 2; i++)
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
      if (!d->tunables[i].toggle && has_part(d->tunables[i].name, parts[k])) {
        text_addf(&d->text, " * %.*s", (int)d->tunables[i].name.length, d->tunables[i].name.at);
        break;
      }
}

/* Returns whether the factor is a number, a tunable or the threads of a block. */
static bool is_known(const struct draft *d, struct source_token factor) {
  return factor.kind == SOURCE_NUMBER || source_is(factor, "blockDim") || find_tunable(d, factor);
}

static bool has_known(const struct draft *d, const struct source_token *factors) {
  for (size_t i = 0; i < SIGNATURE_FACTORS; i++)
    if (is_known(d, factors[i])) return true;
  return false;
}

/* Adds how many elements a block takes along a dimension. Words that are no tunables are left out,
   as they may be a size by which a row is multiplied. */
static void add_step(struct draft *d, int dimension) {
  const struct source_token *factors = d->in->grid_steps[dimension];
  const struct source_token factor = d->in->grid_factors[dimension];
  const char *between = "";
  bool tunable = false;
  for (size_t i = 0; i < SIGNATURE_FACTORS; i++) {
    if (!is_known(d, factors[i])) continue;
    tunable |= find_tunable(d, factors[i]) != NULL;
    text_add(&d->text, between);
    if (source_is(factors[i], "blockDim"))
      add_extent(d, dimension);
    else
      text_addf(&d->text, "%.*s", (int)factors[i].length, factors[i].at);
    between = " * ";
  }
  if (!*between) add_extent(d, dimension);
  if (is_known(d, factor))
    text_addf(&d->text, " * %.*s", (int)factor.length, factor.at);
  else if (!tunable)
    add_factors(d);
}

/* Returns the size whose name has a word for the axis, or begins or ends with the axis' letter;
   NULL: none. */
static const char *size_of_axis(const struct draft *d, int dimension) {
  static const char *const words[3][2] = {{"col", "width"}, {"row", "height"}, {"depth", "depth"}};
  for (size_t i = 0; i < d->size_count; i++) {
    const char *name = size_name(d, i), letter = "xyz"[dimension];
    const struct source_token word = {.at = name, .length = strlen(name)};
    if (has_part(word, words[dimension][0]) || has_part(word, words[dimension][1]) ||
        tolower(*name) == letter || tolower(name[word.length - 1]) == letter)
      return name;
  }
  return NULL;
}

/* Returns the size along which a dimension of the grid runs by the sizes' names. Unless they tell,
   x runs along the last size, y along the size before. */
static const char *grid_size(const struct draft *d, int dimension) {
  const size_t count = d->size_count ? d->size_count : 1, back = (size_t)dimension + 1;
  const char *of_axis = draft_rank(d) > 1 ? size_of_axis(d, dimension) : NULL;
  if (is_product(d) && dimension < 2)
    return size_name(d, (size_t)find_size(d, dimension ? "m" : "n"));
  return of_axis ? of_axis : size_name(d, back < count ? count - back : 0);
}

/* Adds the size with which the kernel compares what it computes from blockIdx, else grid_size. */
static void add_grid_size(struct draft *d, int dimension) {
  if (d->in->grid_bounds[dimension].size.length)
    add_bound(d, &d->in->grid_bounds[dimension]);
  else
    text_add(&d->text, grid_size(d, dimension));
}

/* Returns whether a block takes one row or one element along the dimension: the kernel uses
   blockIdx of the dimension alone or times a size. */
static bool is_plain(const struct draft *d, int dimension) {
  const struct source_token *steps = d->in->grid_steps[dimension];
  char name[64];
  draft_copy(name, sizeof name, steps[0]);
  return !d->in->grid_by_threads[dimension] && !has_known(d, steps) &&
         (!steps[0].length || find_size(d, name) >= 0);
}

/* Adds the number of blocks along a dimension. */
static void add_blocks(struct draft *d, int dimension) {
  const int threads = d->in->block_dimensions;
  const bool plain = dimension >= (threads ? threads : 1) || is_plain(d, dimension);
  const char *const rows = outer_size(d, d->in->indices, d->out->parameter_count);
  if (d->in->grid_flat[dimension]) {
    text_add_char(&d->text, '1');
    return;
  }
  if (!plain) text_add(&d->text, "ceil_div(");
  if (plain && dimension == 0 && rows && !d->in->grid_bounds[0].size.length)
    text_add(&d->text, rows);
  else
    add_grid_size(d, dimension);
  if (plain) return;
  text_add(&d->text, ", ");
  add_step(d, dimension);
  text_add_char(&d->text, ')');
}

/* Without guards in the kernel, each size has to be a multiple of the step of its dimension of the
   grid, or of the first one's. */
static void add_conditions(struct draft *d) {
  if (!is_unguarded(d)) return;
  for (size_t i = 0; i < d->size_count; i++) {
    int at = 0;
    while (at < d->in->grid_dimensions && strcmp(grid_size(d, at), size_name(d, i)) != 0) at++;
    if (at == d->in->grid_dimensions) at = 0;
    if (at >= d->in->block_dimensions || is_plain(d, at)) continue;
    struct text before = d->text;
    d->text = (struct text){0};
    add_step(d, at);
    struct text step = d->text;
    d->text = before;
    text_addf(&d->text,
              strchr(text_get(&step), '*') ? "    where \"%s %% (%s) == 0\","
                                           : "    where \"%s %% %s == 0\",",
              size_name(d, i), text_get(&step));
    d->text.failed |= step.failed;
    text_free(&step);
    guess(d, "the kernel guards no edge");
  }
}

static void add_launch(struct draft *d) {
  const int blocks = d->in->grid_dimensions, threads = d->in->block_dimensions;
  text_add(&d->text, "    grid { ");
  if (!blocks) text_add_char(&d->text, '1');
  for (int i = 0; i < blocks; i++) {
    text_add(&d->text, i ? ", \"" : "\"");
    add_blocks(d, i);
    text_add_char(&d->text, '"');
  }
  text_add(&d->text, " },");
  guess(d, "");
  if (d->in->dynamic_shared) {
    text_add(&d->text, "    shared \"4 * ");
    add_extent(d, 0);
    text_add(&d->text, "\",");
    guess(d, "bytes of the extern __shared__ array");
  }
  text_add(&d->text, "    block { ");
  for (int i = 0; i < (threads ? threads : 1); i++) {
    text_add(&d->text, i ? ", \"" : "\"");
    add_extent(d, i);
    text_add(&d->text, "\"");
  }
  text_add(&d->text, " },");
  guess(d, "");
}

/* ---- The files ------------------------------------------------------------------------------ */

/* Adds a file's name as a string of Lua. */
static void add_file(struct draft *d, const char *file, const char *end) {
  text_add_char(&d->text, '"');
  for (const char *at = file; *at; at++)
    text_addf(&d->text, strchr("\"\\", *at) ? "\\%c" : *at == '\n' ? "\\n" : "%c", *at);
  text_addf(&d->text, "%s\"", end);
}

static void write_config(struct draft *d) {
  const char *title = d->out->kernel + strspn(d->out->kernel, "_0123456789");
  if (!*title) title = "kernel";
  text_addf(&d->text,
            "-- The kernel %s. Written by 'cugen new': look at each line that says guess.\n"
            "kernel \"%s\" {\n",
            d->out->kernel, title);
  if (d->script)
    script_add_problem(d->script, &d->text, &d->out->guess_count);
  else
    add_problems(d), text_add_char(&d->text, '\n');
  if (d->script)
    script_add_arguments(d->script, d->out, &d->text, &d->out->guess_count);
  else
    add_arguments(d);
  text_add(&d->text, "\n  reference ");
  add_file(d, d->out->stem, "_reference.cu");
  text_addf(&d->text, ",\n\n  implementation \"%s\" {\n    template ", title);
  add_file(d, d->file, "");
  text_add(&d->text, ",\n");
  add_entry(d);
  if (d->script) {
    script_add_tunables(d->script, &d->text, &d->out->guess_count);
    script_add_launch(d->script, &d->text, &d->out->guess_count);
  } else {
    add_tunables(d);
    add_conditions(d);
    add_launch(d);
  }
  text_add(&d->text, "  },\n}\n");
}

static void write_reference(struct draft *d) {
  if (d->script) script_add_constants(d->script, &d->text);
  text_addf(
      &d->text,
      "// What is right: each thread computes element e of the results, counted row by row, in\n"
      "// double or 64-bit integers. All arguments of the config have their names here.\n"
      "__global__ void %s_reference(${params}) {\n"
      "  const long long t = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;\n"
      "  if (t >= sample_count) return;\n"
      "  const long long e = samples ? samples[t] : t;\n"
      "#error \"compute the results here, and remove this line\"\n",
      d->out->kernel);
  for (size_t i = 0; i < d->out->parameter_count; i++) {
    const api_draft_parameter *p = &d->out->parameters[i];
    if (strcmp(p->kind, "output") == 0) text_addf(&d->text, "  %s[t] = 0;\n", p->name);
    if (strcmp(p->kind, "inout") == 0)
      text_addf(&d->text, "  %s[e] = %s_before[e];\n", p->name, p->name);
  }
  text_add(&d->text, "}\n");
}

/* ---- Finding the kernel --------------------------------------------------------------------- */

static int find_kernel(const char *path, const char *text, const char *wanted,
                       struct source_token *out, cugen_error *err) {
  struct source_token names[SIGNATURE_KERNELS] = {{0}};
  const size_t count = signature_kernels(text, names);
  for (size_t i = 0; i < count && i < SIGNATURE_KERNELS; i++) {
    if (wanted ? !source_is(names[i], wanted) : count > 1) continue;
    *out = names[i];
    return CUGEN_OK;
  }
  if (!count) return error_set(err, CUGEN_ERROR_USAGE, "%s has no __global__ function", path);

  struct text list = {0};
  for (size_t i = 0; i < count && i < SIGNATURE_KERNELS; i++)
    text_addf(&list, "%s%.*s", i ? ", " : "", (int)names[i].length, names[i].at);
  if (list.failed)
    error_memory(err);
  else if (wanted)
    error_set(err, CUGEN_ERROR_USAGE, "%s has no kernel '%s'; it has %s", path, wanted,
              text_get(&list));
  else
    error_set(err, CUGEN_ERROR_USAGE, "%s has several kernels; name one, as %s:%.*s: %s", path,
              path, (int)names[0].length, names[0].at, text_get(&list));
  const int status = list.failed ? CUGEN_ERROR_MEMORY : CUGEN_ERROR_USAGE;
  text_free(&list);
  return status;
}

static int draft_write(const char *path, const struct script *script, const struct signature *in,
                       bool several, api_draft *out, cugen_error *err) {
  const char *named = script ? script->path : path, *slash = strrchr(named, '/');
  const char *own = slash ? slash + 1 : named, *point = strrchr(own, '.');
  struct draft d = {.in = in,
                    .out = out,
                    .script = script,
                    .file = script ? script->file : own,
                    .several = several};
  draft_copy(out->kernel, sizeof out->kernel, in->name);
  snprintf(out->stem, sizeof out->stem, "%.*s",
           (int)(point && point > own ? (size_t)(point - own) : strlen(own)), own);
  read_parameters(&d);
  read_tunables(&d);
  write_config(&d);
  out->config = text_take(&d.text);
  write_reference(&d);
  out->reference = text_take(&d.text);
  return out->config && out->reference ? CUGEN_OK : error_memory(err);
}

static int draft_read(const char *path, const char *wanted, const struct script *script,
                      api_draft *out, cugen_error *err) {
  const struct input_limits limits = {.most = MOST_BYTES};
  struct input input;
  struct text text = {0};
  struct signature in;
  struct source_token name = {0}, names[SIGNATURE_KERNELS];
  int status = input_open(&input, path, &limits, err);
  if (status) return status;
  status = input_rest(&input, &text, err);
  input_close(&input);
  const char *source = text_get(&text);
  if (strncmp(source, "\xef\xbb\xbf", 3) == 0) source += 3; /* a byte order mark */
  if (!status) status = find_kernel(path, source, wanted, &name, err);
  if (!status) signature_read(source, name, &in);
  if (!status && in.parameter_count > KERNEL_MAX_ARGUMENTS)
    status = error_set(err, CUGEN_ERROR_USAGE, "%s: kernel '%.*s' has more than %d parameters",
                       path, (int)name.length, name.at, KERNEL_MAX_ARGUMENTS);
  if (!status && in.parameter_count < 1)
    status =
        error_set(err, CUGEN_ERROR_USAGE,
                  "%s: the parameters of '%.*s' cannot be read, as a macro or a directive stands "
                  "among them, or there are none; docs/first-kernel.md writes a config by hand",
                  path, (int)name.length, name.at);
  if (!status && script) status = script_check(script, &in, err);
  if (!status)
    status = draft_write(path, script, &in, signature_kernels(source, names) > 1, out, err);
  text_free(&text);
  return status;
}

int api_draft_open(const char *kernel, api_draft *out, cugen_error *error) {
  const char *colon = access(kernel, F_OK) == 0 ? NULL : strrchr(kernel, ':');
  *out = (api_draft){.parameter_count = 0};
  char *path = colon ? strndup(kernel, (size_t)(colon - kernel)) : strdup(kernel);
  int status =
      path ? draft_read(path, colon ? colon + 1 : NULL, NULL, out, error) : error_memory(error);
  free(path);
  if (status) api_draft_free(out);
  return status;
}

int api_draft_open_script(const char *path, api_draft *out, cugen_error *error) {
  struct script script;
  struct text file = {0};
  *out = (api_draft){.parameter_count = 0};
  int status = script_open(path, &script, error);
  if (!status) path_folder(path, &file);
  if (!status) text_addf(&file, "/%s", script.file);
  if (!status && file.failed) status = error_memory(error);
  if (!status) status = draft_read(text_get(&file), script.entry, &script, out, error);
  script_close(&script);
  text_free(&file);
  if (status) api_draft_free(out);
  return status;
}

void api_draft_free(api_draft *draft) {
  free(draft->config);
  free(draft->reference);
  draft->config = draft->reference = NULL;
}
