/* Reads how a kernel's body uses its parameters; see uses.h. A local variable stands for its first
   value, and a pointer that begins as a parameter plus an offset stands for that parameter. */
#include "uses.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LOCALS = 64, DEPTH_MOST = 8, TOKENS_MOST = 1 << 20 };

enum { AXIS_BLOCK = 8 }; /* 1, 2 and 4 are the axes of threadIdx, times AXIS_BLOCK of blockIdx */

struct local {
  struct source_token name;
  struct source_reader value; /* the expression behind the first = */
  struct signature_bound bound;
  int parameter; /* into which the value points; -1: none */
};

struct body {
  struct signature *out;
  struct local locals[LOCALS];
  size_t local_count;
  bool named[KERNEL_MAX_ARGUMENTS]; /* the text names the scalar parameter */
  size_t tokens; /* in expressions so far: beyond TOKENS_MOST no more are read, as expressions may
                    nest, and locals stand for others */
};

/* What an expression consists of. */
struct expression {
  struct signature_index *index; /* takes strides and bounds; NULL: only the axes are wanted */
  unsigned axes;
  bool plain; /* only numbers and blockIdx.x, .y or .z */
  long largest;
};

static struct local *find_local(struct body *body, struct source_token word) {
  for (size_t i = 0; i < body->local_count; i++)
    if (source_same(body->locals[i].name, word)) return &body->locals[i];
  return NULL;
}

/* Returns the index of the parameter of that name; -1: there is none. */
static int find_parameter(const struct signature *out, struct source_token word, bool pointer) {
  for (int i = 0; i < out->parameter_count && i < KERNEL_MAX_ARGUMENTS; i++)
    if (source_same(out->parameters[i].name, word))
      return out->parameters[i].pointer == pointer ? i : -1;
  return -1;
}

/* Returns the index of the scalar of that name if its type may be that of a size; -1: there is
   none. */
static int find_size(const struct signature *out, struct source_token word) {
  static const char *const others[] = {"float", "double", "half", "bool", "char", "complex"};
  const int found = find_parameter(out, word, false);
  for (size_t i = 0; found >= 0 && i < sizeof others / sizeof *others; i++)
    if (strstr(out->parameters[found].type, others[i])) return -1;
  return found;
}

/* Returns the text up to the comma, semicolon or bracket that ends the expression. */
static struct source_reader expression_at(struct body *body, struct source_reader text) {
  struct source_reader whole = text;
  for (int depth = 0;;) {
    whole.end = text.at;
    const struct source_token token = source_next_solid(&text);
    if (token.kind == SOURCE_END || source_is_mark(token, ';')) return whole;
    if (body->tokens++ > TOKENS_MOST) return whole;
    if (depth == 0 && source_is_mark_of(token, ",)]}")) return whole;
    depth += source_is_mark_of(token, "([{") - source_is_mark_of(token, ")]}");
  }
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static void add_stride(struct signature_index *index, struct source_token size) {
  for (size_t i = 0; i < index->stride_count; i++)
    if (source_same(index->strides[i], size)) return;
  if (index->stride_count < SIGNATURE_STRIDES) index->strides[index->stride_count++] = size;
}

static void mark_sizes(struct signature *out, const struct signature_bound *bound) {
  const struct source_token sizes[] = {bound->size, bound->times[0], bound->times[1]};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    if (sizes[i].length) out->sizes[find_parameter(out, sizes[i], false)] = true;
}

static void add_bound(struct signature *out, struct signature_index *index,
                      const struct signature_bound *bound) {
  if (!bound->size.length) return;
  mark_sizes(out, bound);
  for (size_t i = 0; i < index->bound_count; i++)
    if (source_same(index->bounds[i].size, bound->size)) return;
  if (index->bound_count < SIGNATURE_STRIDES) index->bounds[index->bound_count++] = *bound;
}

/* Returns whether the factor beside a size may vary within the kernel: an expression in brackets, a
   local variable, or blockIdx and threadIdx, of which the text may be the last token, x. */
static bool varies(struct body *body, struct source_token factor) {
  return source_is_mark_of(factor, "()") || find_local(body, factor) ||
         source_is(factor, "blockIdx") || source_is(factor, "threadIdx") ||
         (factor.length == 1 && factor.at[-1] == '.');
}

/* Returns whether the size between the tokens is a factor of what varies. Behind a product, the
   other size of z * ny * nx counts. */
static bool is_stride(struct body *body, const struct source_token *before,
                      struct source_reader text) {
  const struct source_token next = source_next_solid(&text);
  const int other = find_size(body->out, before[1]);
  if (source_is_mark(before[0], '*') &&
      (varies(body, before[1]) || (other >= 0 && source_is_mark(before[2], '*'))))
    return true;
  return source_is_mark(next, '*') && varies(body, source_next_solid(&text));
}

/* Reads and returns the x of blockIdx.x or threadIdx.x. */
static struct source_token read_axis(struct source_reader *text, bool block,
                                     struct expression *out) {
  source_next_solid(text);
  const struct source_token axis = source_next_solid(text);
  if (axis.length == 1 && strchr("xyz", *axis.at))
    out->axes |= 1U << (*axis.at - 'x') << (block ? 3 : 0);
  out->plain &= block;
  return axis;
}

static void read_expression(struct body *body, struct source_reader text, int depth,
                            struct expression *out) {
  struct source_token before[3] = {{0}}, token = source_next_solid(&text);
  while (token.kind != SOURCE_END && body->tokens++ <= TOKENS_MOST) {
    const bool block = source_is(token, "blockIdx");
    if (block || source_is(token, "threadIdx")) {
      token = read_axis(&text, block, out);
    } else if (token.kind == SOURCE_NUMBER) {
      const long value = strtol(token.at, NULL, 0);
      if (value > out->largest && value < LONG_MAX) out->largest = value;
    } else if (token.kind == SOURCE_WORD && !source_is_mark(before[0], '.')) {
      const struct local *local = find_local(body, token);
      const int scalar = find_size(body->out, token);
      const bool stride = out->index && scalar >= 0 && is_stride(body, before, text);
      out->plain &= local && !local->bound.size.length;
      if (stride) add_stride(out->index, token);
      if (out->index && scalar >= 0 && (stride || source_is_mark_of(before[0], "/%")))
        body->out->sizes[scalar] = true;
      if (out->index && local) add_bound(body->out, out->index, &local->bound);
      if (local && depth < DEPTH_MOST) read_expression(body, local->value, depth + 1, out);
    } else if (!source_is_mark_of(token, "()")) {
      out->plain = false;
    }
    memmove(before + 1, before, sizeof before - sizeof *before);
    before[0] = token;
    token = source_next_solid(&text);
  }
}

static void note_index(struct body *body, int parameter, struct source_reader text) {
  struct signature_index *index = &body->out->indices[parameter];
  struct expression found = {.index = index, .plain = true};
  read_expression(body, text, 0, &found);
  const bool first = !index->seen;
  const int axis = signature_axis(found.axes / AXIS_BLOCK);
  index->blocks |= found.axes / AXIS_BLOCK;
  index->plain = found.plain && (first || (index->plain && index->axis == axis));
  if (first || found.largest > index->largest) index->largest = found.largest;
  index->axis = axis;
  index->seen = true;
}

/* ---- Bounds --------------------------------------------------------------------------------- */

/* Reads the bound at the head of the text, which may be the name of a local variable. */
static struct signature_bound bound_at(struct body *body, struct source_reader text, int depth) {
  struct signature_bound bound = {.size = {0}};
  struct source_token token = source_next_solid(&text);
  while (source_is_mark(token, '(')) token = source_next_solid(&text);
  const struct local *local = find_local(body, token);
  if (local && depth < DEPTH_MOST) return bound_at(body, local->value, depth + 1);
  if (find_size(body->out, token) < 0) return bound;
  bound.size = token;
  struct source_token sign = source_next_solid(&text);
  for (size_t i = 0; i < 2 && source_is_mark(sign, '*'); i++) {
    token = source_next_solid(&text);
    if (find_size(body->out, token) < 0) return (struct signature_bound){.size = {0}};
    bound.times[i] = token;
    sign = source_next_solid(&text);
  }
  token = source_next_solid(&text);
  if (source_is_mark(sign, '/') && token.kind == SOURCE_NUMBER && strtol(token.at, NULL, 0) > 0)
    bound.divisor = token;
  return bound;
}

/* Notes that the word is compared with what stands at the text. */
static void note_bound(struct body *body, struct source_token word, struct source_reader text) {
  struct local *local = find_local(body, word);
  const struct signature_bound bound = bound_at(body, text, 0);
  if (!bound.size.length || (local && local->bound.size.length)) return;
  struct expression found = {0};
  if (local) read_expression(body, local->value, 0, &found);
  const unsigned blocks = found.axes / AXIS_BLOCK;
  const int axis = blocks & 1 ? 0 : signature_axis(blocks);
  if (!local || found.axes) {
    mark_sizes(body->out, &bound);
    body->out->guarded = true;
  }
  if (local) local->bound = bound;
  if (axis < 0) return;
  if (found.axes & 1U << axis) body->out->grid_by_threads[axis] = true;
  if (!body->out->grid_bounds[axis].size.length) body->out->grid_bounds[axis] = bound;
}

/* ---- Buffers -------------------------------------------------------------------------------- */

/* Returns the parameter into which the word points; -1: none. */
static int points_into(struct body *body, struct source_token word) {
  const struct local *local = find_local(body, word);
  return local ? local->parameter : find_parameter(body->out, word, true);
}

/* Returns how an element is used by what stands behind the element. */
static enum signature_use use_of(struct source_reader behind) {
  struct source_token first = source_next_solid(&behind);
  while (source_is_mark(first, '.') && source_next_solid(&behind).kind == SOURCE_WORD)
    first = source_next_solid(&behind); /* a[i].x */
  const char *const next = first.at + first.length;
  if (source_is_mark(first, '=')) return *next == '=' ? SIGNATURE_READ : SIGNATURE_WRITTEN;
  if (source_is_mark_of(first, "+-*/%&|^") &&
      (*next == '=' || (strchr("+-", *first.at) && *next == *first.at)))
    return SIGNATURE_CHANGED;
  return SIGNATURE_READ;
}

static void note_use(struct signature *out, int parameter, enum signature_use use) {
  enum signature_use *seen = &out->uses[parameter];
  *seen = *seen == SIGNATURE_UNUSED || *seen == use ? use : SIGNATURE_CHANGED;
}

/* Notes the parameter that the last of the tokens names, newest first: a[i], *a, a + i, and the
   first argument of an atomic operation. */
static void note_buffer(struct body *body, const struct source_token *window,
                        struct source_reader text) {
  const int parameter = points_into(body, window[0]);
  const bool star = source_is_mark(window[1], '*') && window[2].kind != SOURCE_WORD,
             atomic = source_is_mark(window[1], '(') && window[2].length > 6 &&
                      memcmp(window[2].at, "atomic", 6) == 0;
  struct source_reader behind = text;
  if (parameter < 0 || source_is_mark(window[1], '.')) return;
  const struct source_token next = source_next_solid(&behind);
  const struct source_reader index = expression_at(body, behind);
  if (source_is_mark(next, '[')) {
    note_index(body, parameter, index);
    behind.at = index.end;
    source_next_solid(&behind);
    const bool addressed = source_is_mark(window[1], '&');
    if (!addressed || !source_is_mark(window[2], '=')) /* else p = &a[i], whose uses count */
      note_use(body->out, parameter, addressed ? SIGNATURE_CHANGED : use_of(behind));
  } else if (source_is_mark(next, '-') && *behind.at == '>') { /* a->x */
    source_next_solid(&behind);
    source_next_solid(&behind);
    note_use(body->out, parameter, use_of(behind));
  } else if (source_is_mark(next, '+')) {
    note_index(body, parameter, index);
  } else if (star || atomic) {
    note_index(body, parameter, (struct source_reader){text.at, text.at});
    if (!atomic) note_use(body->out, parameter, use_of(text));
  }
  if (atomic) note_use(body->out, parameter, SIGNATURE_CHANGED);
}

/* ---- Statements ----------------------------------------------------------------------------- */

static void note_local(struct body *body, struct source_token name, struct source_reader text) {
  if (find_local(body, name) || body->local_count == LOCALS ||
      find_parameter(body->out, name, false) >= 0 || find_parameter(body->out, name, true) >= 0)
    return;
  const struct source_reader value = expression_at(body, text);
  struct source_reader rest = value;
  struct source_token pointer = source_next_solid(&rest);
  const bool addressed = source_is_mark(pointer, '&');
  if (addressed) pointer = source_next_solid(&rest);
  const struct source_token behind = source_next_solid(&rest);
  const bool points = behind.kind == SOURCE_END || source_is_mark(behind, addressed ? '[' : '+');
  body->locals[body->local_count++] = (struct local){
      .name = name, .value = value, .parameter = points ? points_into(body, pointer) : -1};
}

static void read_statements(struct body *body, struct source_reader text, bool buffers) {
  struct source_token window[3] = {{0}};
  for (int depth = 0;;) {
    memmove(window + 1, window, sizeof window - sizeof *window);
    window[0] = source_next_solid(&text);
    depth += source_is_mark(window[0], '{') - source_is_mark(window[0], '}');
    if (window[0].kind == SOURCE_END || (depth == 0 && source_is_mark_of(window[0], "};"))) return;
    struct source_reader ahead = text;
    const bool equal = source_is_mark(source_next_solid(&ahead), '=');
    const int scalar = find_parameter(body->out, window[0], false);
    if (scalar >= 0) body->named[scalar] = true;
    if (buffers && window[0].kind == SOURCE_WORD)
      note_buffer(body, window, text);
    else if (!buffers && source_is_mark(window[0], '=') && !equal && window[1].kind == SOURCE_WORD)
      note_local(body, window[1], text);
    else if (!buffers && source_is_mark_of(window[0], "<>") &&
             !source_is_mark_of(window[1], "<>-]"))
      note_bound(body, window[1], equal ? ahead : text);
  }
}

void uses_read(struct source_reader text, struct signature *out) {
  struct body body = {.out = out};
  read_statements(&body, text, false);
  read_statements(&body, text, true);
  for (int i = 0; i < out->parameter_count && i < KERNEL_MAX_ARGUMENTS; i++)
    out->sizes[i] |= !out->parameters[i].pointer && !body.named[i];
}
