/* Makes the data of inputs and right results; see data.h. Each kind of data (expression, list,
   file) has a section. Elements are numbered in row-major order and stored by the argument's layout
   and row pitch. Threads share the elements of an expression or a file. */
#include "data.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/npy.h"
#include "base/system.h"
#include "dataset_buffers.h"
#include "elements.h"
#include "gen/config/evaluate.h"
#include "gen/sources/sources.h"
#include "parallel_for.h"
#include "results.h"

struct making {
  const struct data_request *request;
  size_t i; /* index of the argument */
  const struct kernel_argument *argument;
  const struct config_data *data;
  bool is_answer;  /* the right result of the argument is made, not its data */
  size_t readable; /* number of leading arguments that an expression may read */
  char *to;        /* the buffer that is filled */
  /* Buffers of the arguments that the expression reads. */
  struct expr_buffer buffers[KERNEL_MAX_ARGUMENTS];
  /* The buffers that were made only for this expression. */
  void *made[KERNEL_MAX_ARGUMENTS];
  struct expr *bound; /* the expression with values for all slots but the element's number and
                         coordinates */
  int slot_count;
  double begin;        /* clock_seconds at the beginning */
  pthread_t caller;    /* the thread that may call request->stop */
  atomic_bool stopped; /* request->stop has returned true */
  /* For a right result, `argument` points here: a copy of the output with packed rows. */
  struct kernel_argument own;
  cugen_error *err;
};

static int data_prefix(const struct making *m, int status) {
  static const char *const names[] = {[DATA_VALUES] = "values",
                                      [DATA_LIST] = "values",
                                      [DATA_FILE] = "file",
                                      [DATA_GENERATOR] = "generator"};
  const struct config *config = m->request->config;
  const struct config_line line =
      m->is_answer ? config->reference_line : config->arguments[m->i].line;
  if (status)
    error_prefix_at(m->err, line.path, line.number, "%s of \"%s\"",
                    m->is_answer ? "reference" : names[m->data->kind], m->argument->name);
  return status;
}

/* Sets the strides of packed rows, and returns the number of elements. */
static int64_t pack_rows(int rank, const int64_t *shape, int64_t *stride) {
  int64_t count = 1;
  for (int i = rank - 1; i >= 0; count *= shape[i--]) stride[i] = count;
  return count;
}

static void print_shape(int rank, const int64_t *shape, struct text *out) {
  for (int i = 0; i < rank; i++) text_addf(out, "%s%lld", i ? " x " : "", (long long)shape[i]);
}

/* ---- Walking over a part of the elements ---------------------------------------------------- */

struct walk {
  const struct kernel_argument *argument;
  int64_t flat, at[KERNEL_MAX_RANK], offset;
};

static void walk_begin(struct walk *w, const struct kernel_argument *a, int64_t flat) {
  *w = (struct walk){.argument = a, .flat = flat, .offset = element_offset(a, flat)};
  element_coordinates(a, flat, w->at);
}

/* Advances by `run` elements, at most to the first element of the next row. */
static void walk_next(struct walk *w, int64_t run) {
  const struct kernel_argument *a = w->argument;
  w->flat += run;
  for (int i = a->rank - 1; i >= 0; i--, run = 1) {
    w->offset += run * a->stride[i];
    if ((w->at[i] += run) < a->shape[i]) break;
    w->offset -= a->shape[i] * a->stride[i];
    w->at[i] = 0;
  }
  if (a->map.count) w->offset = layout_offset(&a->map, w->at);
}

/* Returns the offset of the element that lies k further along the walk's row. */
static int64_t walk_offset(const struct walk *w, int64_t k) {
  const struct kernel_argument *a = w->argument;
  int64_t at[KERNEL_MAX_RANK];
  if (!a->map.count) return w->offset + k * a->stride[a->rank - 1];
  memcpy(at, w->at, sizeof at);
  at[a->rank - 1] += k;
  return layout_offset(&a->map, at);
}

/* ---- values = "expression" ------------------------------------------------------------------ */

enum { LOOK_EVERY = 1 << 10 }; /* blocks of elements between two calls of check_stop */

static int data_refuse_element(const struct making *m, int64_t flat, int status, cugen_error *err) {
  struct text text = {0};
  struct walk w;
  walk_begin(&w, m->argument, flat);
  for (int i = 0; i < w.argument->rank; i++)
    text_addf(&text, "%s%lld", i ? ", " : "", (long long)w.at[i]);
  error_prefix(err, "element [%s]", text_get(&text));
  text_free(&text);
  return status;
}

/* Stores a value. A value that the type cannot hold is an error. */
static int store_value(const struct making *m, int64_t flat, int64_t offset,
                       const struct value *value, cugen_error *err) {
  /* A right result is stored as dtype->wide, but an integer must fit the output's own type. */
  const struct dtype *own = m->request->spec->arguments[m->i].dtype;
  struct text text = {0};
  const bool number = value->type == VALUE_INT || value->type == VALUE_FLOAT,
             fits = own->floating || value->type != VALUE_INT || dtype_fits(own, value->integer);
  if (number && fits && element_put(m->argument->dtype, m->to, offset, value)) return CUGEN_OK;
  value_print(*value, &text);
  error_set(err, CUGEN_ERROR_CONFIG, "the value %s is no number of dtype %s", text_get(&text),
            own->name);
  text_free(&text);
  return data_refuse_element(m, flat, CUGEN_ERROR_CONFIG, err);
}

/* Fails after the time limit, or after request->stop has returned true. Only the caller's thread
   calls request->stop. */
static int check_stop(struct making *m, cugen_error *err) {
  const struct data_request *request = m->request;
  if (request->stop && pthread_equal(m->caller, pthread_self()) && request->stop(request->context))
    atomic_store(&m->stopped, true);
  if (atomic_load(&m->stopped))
    return error_set(err, CUGEN_ERROR_INTERRUPTED, "they were still being made");
  if (!(request->timeout > 0) || clock_seconds() < m->begin + request->timeout) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "not computed within %g s; a longer timeout or a smaller problem may help",
                   request->timeout);
}

/* Fills the columns in `own` of the number and the coordinates with the next elements of the walk,
   and `offsets` with the elements' places in the buffer. Returns the number of elements. */
static size_t next_block(struct walk *w, int64_t last, const bool *seen, struct value *own,
                         int64_t *offsets) {
  const struct kernel_argument *a = w->argument;
  const int inner = a->rank - 1;
  size_t count = 0;
  while (w->flat < last && count < EXPR_BLOCK) {
    int64_t run = a->shape[inner] - w->at[inner];
    if (run > last - w->flat) run = last - w->flat;
    if (run > EXPR_BLOCK - (int64_t)count) run = EXPR_BLOCK - (int64_t)count;
    for (int64_t k = 0; k < run; k++) offsets[count + (size_t)k] = walk_offset(w, k);
    for (int i = 0; i <= a->rank; i++) {
      struct value *column = &own[(size_t)i * EXPR_BLOCK + count];
      const int64_t from = i ? w->at[i - 1] : w->flat, step = i == 0 || i == a->rank;
      for (int64_t k = 0; k < run && seen[i]; k++) column[k].integer = from + k * step;
    }
    walk_next(w, run);
    count += (size_t)run;
  }
  return count;
}

static int evaluate_range(struct making *m, int64_t begin, int64_t end, struct value *slots,
                          cugen_error *err) {
  const int first = config_data_slot(m->request->config);
  struct value *own = slots + (size_t)first * EXPR_BLOCK, values[EXPR_BLOCK];
  int64_t offsets[EXPR_BLOCK], looks = 0;
  bool seen[1 + KERNEL_MAX_RANK];
  struct walk w;
  for (int i = 0; i <= KERNEL_MAX_RANK; i++) seen[i] = expr_sees(m->bound, first + i);
  for (int i = 0; i < (1 + KERNEL_MAX_RANK) * EXPR_BLOCK; i++) own[i] = value_int(0);
  walk_begin(&w, m->argument, begin);
  while (w.flat < end) {
    const int64_t flat = w.flat;
    if (looks++ % LOOK_EVERY == 0 && check_stop(m, err)) return err->status;
    size_t done, count = next_block(&w, end, seen, own, offsets);
    int status = expr_eval_block(m->bound, slots, m->buffers, count, values, &done, err);
    for (size_t i = 0; i < done; i++)
      if (store_value(m, flat + (int64_t)i, offsets[i], &values[i], err)) return err->status;
    if (status) return data_refuse_element(m, flat + (int64_t)done, status, err);
  }
  return CUGEN_OK;
}

static int evaluate_part(void *context, int part, int64_t first, int64_t last, cugen_error *err) {
  struct making *m = context;
  (void)part;
  /* Only the slots of the element's number and coordinates are set: m->bound contains the values of
     all other slots. */
  struct value *slots = malloc((size_t)m->slot_count * EXPR_BLOCK * sizeof *slots);
  int status = slots ? evaluate_range(m, first, last, slots, err) : error_memory(err);
  free(slots);
  return status;
}

/* ---- The arguments that values read --------------------------------------------------------- */

/* Replaces the data of a tiled or swizzled array by a packed copy, because expressions read
   elements by strides. */
static int open_mapped(struct making *m, size_t k) {
  const struct kernel_argument *a = &m->request->spec->arguments[k];
  struct expr_buffer *buffer = &m->buffers[k];
  const int64_t count = pack_rows(a->rank, a->shape, buffer->stride), bytes = a->dtype->bytes;
  char *packed = malloc((size_t)(count * bytes));
  if (!packed) return error_memory(m->err);
  for (int64_t i = 0; i < count; i++)
    memcpy(packed + i * bytes, (const char *)buffer->data + element_offset(a, i) * bytes,
           (size_t)bytes);
  free(m->made[k]);
  buffer->data = m->made[k] = packed;
  return CUGEN_OK;
}

static int open_buffer(struct making *m, size_t k, const char *shared) {
  const struct kernel_argument *a = &m->request->spec->arguments[k];
  struct expr_buffer *buffer = &m->buffers[k];
  buffer->load = element_load_of(a->dtype);
  buffer->get = element_get_of(a->dtype);
  if (a->absent) return CUGEN_OK; /* an absent argument has no elements; reading one is an error */
  buffer->data = shared + dataset_data_offset(m->request->spec, k);
  if (!a->data) {
    m->made[k] = malloc((size_t)kernel_argument_bytes(a));
    if (!m->made[k]) return error_memory(m->err);
    element_fill(a, m->request->seed, k, m->made[k]);
    buffer->data = m->made[k];
  }
  memcpy(buffer->shape, a->shape, sizeof buffer->shape);
  memcpy(buffer->stride, a->stride, sizeof buffer->stride);
  return a->map.count ? open_mapped(m, k) : CUGEN_OK;
}

static int make_values(struct making *m, const char *shared) {
  const int first = config_data_slot(m->request->config);
  m->slot_count = first + 1 + KERNEL_MAX_RANK;
  bool *known = malloc((size_t)m->slot_count * sizeof *known);
  if (!known) return error_memory(m->err);
  for (int i = 0; i < m->slot_count; i++) known[i] = i < first;
  int status = expr_bind(m->data->values, m->request->slots, known, (size_t)m->slot_count,
                         &m->bound, m->err);
  free(known);
  for (size_t k = 0; k < m->readable && !status; k++)
    if (m->data->reads >> k & 1) status = open_buffer(m, k, shared);
  if (!status) status = parallel_for(element_count(m->argument), 1, evaluate_part, m, m->err);
  for (size_t k = 0; k < m->readable; k++) free(m->made[k]);
  expr_free(m->bound);
  return status;
}

/* ---- values = { ... } ----------------------------------------------------------------------- */

static int make_list(struct making *m) {
  const struct kernel_argument *a = m->argument;
  int64_t elements = element_count(a);
  struct walk w;
  if ((uint64_t)elements != m->data->list_count) {
    struct text shape = {0};
    print_shape(a->rank, a->shape, &shape);
    error_set(m->err, CUGEN_ERROR_CONFIG,
              "the list has %zu numbers, and the shape of this problem, %s, has %lld",
              m->data->list_count, text_get(&shape), (long long)elements);
    text_free(&shape);
    return CUGEN_ERROR_CONFIG;
  }
  int status = CUGEN_OK;
  for (walk_begin(&w, a, 0); w.flat < elements && !status; walk_next(&w, 1))
    status = store_value(m, w.flat, w.offset, &m->data->list[w.flat], m->err);
  return status;
}

/* ---- file = "points.npy" -------------------------------------------------------------------- */

static int data_refuse_file(struct making *m, const char *has, const struct npy *npy) {
  struct text text = {0}, shape = {0};
  print_shape(m->argument->rank, m->argument->shape, &shape);
  print_shape(npy->rank, npy->shape, &text);
  error_set(m->err, CUGEN_ERROR_CONFIG, "'%s' has %s %s %s, and \"%s\" is %s of %s", m->data->file,
            text_get(&text), has, npy->type, m->argument->name, text_get(&shape),
            m->request->spec->arguments[m->i].dtype->name);
  text_free(&text);
  text_free(&shape);
  return CUGEN_ERROR_CONFIG;
}

static int check_npy(struct making *m, const struct npy *npy) {
  const struct kernel_argument *a = m->argument;
  bool large = npy->rank == a->rank;
  for (int i = 0; i < a->rank && large; i++)
    large = m->is_answer ? npy->shape[i] == a->shape[i] : npy->shape[i] >= a->shape[i];
  const bool booleans = strcmp(npy->type, "b1") == 0 && a->dtype->id == DTYPE_u8;
  if (strcmp(npy->type, a->dtype->npy) != 0 && !booleans)
    return data_refuse_file(m, "elements of type", npy);
  if (large) return CUGEN_OK;
  data_refuse_file(m, "elements of type", npy);
  return error_append(
      m->err, m->is_answer
                  ? "; a file is right for one problem: leave `check` out, or give an expression"
                  : "; a file has as many dimensions, each at least as large: its leading part is "
                    "taken");
}

/* Returns an argument whose buffer has the layout of the file. */
static struct kernel_argument file_layout(const struct kernel_argument *a, const struct npy *npy) {
  struct kernel_argument out = {.rank = npy->rank, .dtype = a->dtype};
  int64_t stride = 1;
  if (!npy->fortran) {
    pack_rows(npy->rank, npy->shape, out.stride);
    return out;
  }
  for (int i = 0; i < npy->rank; i++) {
    out.stride[i] = stride;
    stride *= npy->shape[i];
  }
  return out;
}

/* A file that is being read. Elements that are contiguous in both the file and the buffer form a
   run, which is read in one call. If runs are short, the needed part of the file is read at once
   into `gathered`, and elements are copied from there. */
struct reading {
  struct making *making;
  const struct source_data *file;
  size_t offset; /* offset of the elements in the file, in bytes */
  const struct kernel_argument *layout;
  const char *gathered; /* NULL: each run is read into its place */
  int64_t run;          /* length of a run in elements */
};

/* Returns by how many elements the walk's element lies behind the first element in the file. */
static int64_t file_offset(const struct reading *r, const struct walk *w) {
  int64_t offset = 0;
  for (int i = 0; i < w->argument->rank; i++) offset += w->at[i] * r->layout->stride[i];
  return offset;
}

/* Returns the length of a run in elements: from each multiple of the length on, so many elements
   are contiguous in both the file and the buffer. */
static int64_t common_run(const struct kernel_argument *a, const struct kernel_argument *layout) {
  int64_t run = 1;
  for (int i = a->rank - 1;
       i >= 0 && !a->map.count && a->stride[i] == run && layout->stride[i] == run; i--)
    run *= a->shape[i];
  return run;
}

static int read_runs(void *context, int part, int64_t first, int64_t last, cugen_error *err) {
  const struct reading *r = context;
  const struct kernel_argument *a = r->making->argument;
  const size_t bytes = (size_t)a->dtype->bytes;
  int status = CUGEN_OK;
  (void)part;
  for (int64_t run = first; run < last && !status; run++) {
    struct walk w;
    walk_begin(&w, a, run * r->run);
    status =
        sources_data_read(r->file, r->offset + (size_t)file_offset(r, &w) * bytes,
                          r->making->to + (size_t)w.offset * bytes, (size_t)r->run * bytes, err);
  }
  return status;
}

static int gather_elements(void *context, int part, int64_t first, int64_t last, cugen_error *err) {
  const struct reading *r = context;
  const size_t bytes = (size_t)r->making->argument->dtype->bytes;
  struct walk w;
  (void)part, (void)err;
  for (walk_begin(&w, r->making->argument, first); w.flat < last; walk_next(&w, 1))
    memcpy(r->making->to + (size_t)w.offset * bytes,
           r->gathered + (size_t)file_offset(r, &w) * bytes, bytes);
  return CUGEN_OK;
}

/* Several runs shorter than SHORT_RUN bytes are not read one by one, because the calls would take
   longer than reading the whole range. A run longer than LONG_RUN elements is halved, while its
   length is even, so that several threads share it. */
enum { SHORT_RUN = 4096, LONG_RUN = 1 << 18 };

static int copy_elements(struct making *m, const struct source_data *file, size_t offset,
                         const struct kernel_argument *layout) {
  const struct kernel_argument *a = m->argument;
  const int64_t elements = element_count(a), bytes = a->dtype->bytes;
  struct reading r = {
      .making = m, .file = file, .offset = offset, .layout = layout, .run = common_run(a, layout)};
  if (r.run * bytes >= SHORT_RUN || r.run == elements) {
    while (r.run > LONG_RUN && r.run % 2 == 0) r.run /= 2;
    return parallel_for(elements / r.run, r.run, read_runs, &r, m->err);
  }
  int64_t reach = 1;
  for (int i = 0; i < a->rank; i++) reach += (a->shape[i] - 1) * layout->stride[i];
  char *all = malloc((size_t)(reach * bytes));
  int status = all ? sources_data_read(file, offset, all, (size_t)(reach * bytes), m->err)
                   : error_memory(m->err);
  r.gathered = all;
  if (!status) status = parallel_for(elements, 1, gather_elements, &r, m->err);
  free(all);
  return status;
}

static int copy_npy(struct making *m, const struct source_data *file) {
  char head[NPY_HEAD];
  const size_t length = file->bytes < NPY_HEAD ? file->bytes : NPY_HEAD;
  struct npy npy;
  int status = sources_data_read(file, 0, head, length, m->err);
  if (!status) status = npy_parse(head, length, file->bytes, &npy, m->err);
  if (status) return error_prefix(m->err, "'%s'", m->data->file), status;
  if (m->is_answer && strcmp(npy.type, m->argument->dtype->wide->npy) == 0)
    m->own.dtype = m->own.dtype->wide;
  status = check_npy(m, &npy);
  if (status) return status;
  struct kernel_argument layout = file_layout(m->argument, &npy);
  return copy_elements(m, file, npy.offset, &layout);
}

/* Reads a raw file, which begins with the elements in row-major order, without a head. */
static int copy_raw(struct making *m, const struct source_data *file) {
  const struct kernel_argument *a = m->argument;
  struct kernel_argument layout = {.rank = a->rank, .dtype = a->dtype};
  const int64_t bytes = pack_rows(a->rank, a->shape, layout.stride) * a->dtype->bytes;
  if ((uint64_t)bytes > file->bytes)
    return error_set(m->err, CUGEN_ERROR_CONFIG, "'%s' has %zu bytes, and this problem needs %lld",
                     m->data->file, file->bytes, (long long)bytes);
  return copy_elements(m, file, 0, &layout);
}

static int make_file(struct making *m) {
  struct source_data file;
  int status = sources_data_open(m->request->sources, m->data->file, m->request->config->path, NULL,
                                 &file, m->err);
  if (!status) status = npy_is_name(m->data->file) ? copy_npy(m, &file) : copy_raw(m, &file);
  sources_data_close(&file);
  return status;
}

/* ---- One argument, all arguments ------------------------------------------------------------ */

static int make_one(struct making *m, const char *shared) {
  if (m->argument->elements != element_count(m->argument)) /* poison the padding between rows */
    memset(m->to, 0xff, (size_t)kernel_argument_bytes(m->argument));
  switch (m->data->kind) {
  case DATA_VALUES: return make_values(m, shared);
  case DATA_LIST: return make_list(m);
  case DATA_FILE: return make_file(m);
  case DATA_FILL:
  case DATA_GENERATOR: break;
  }
  return CUGEN_OK;
}

int data_make(const struct data_request *request, char *shared, cugen_error *err) {
  const struct kernel_spec *spec = request->spec;
  for (size_t i = 0; i < spec->argument_count; i++) {
    if (spec->arguments[i].data == DATA_FILL || spec->arguments[i].data == DATA_GENERATOR) continue;
    struct making m = {.request = request,
                       .i = i,
                       .readable = i,
                       .argument = &spec->arguments[i],
                       .data = &request->config->arguments[i].data,
                       .to = shared + dataset_data_offset(spec, i),
                       .begin = clock_seconds(),
                       .caller = pthread_self(),
                       .err = err};
    int status = data_prefix(&m, make_one(&m, shared));
    if (status) return status;
  }
  return CUGEN_OK;
}

/* ---- Right results -------------------------------------------------------------------------- */

/* Makes the right result of an output, and stores the compared elements at `to`, in the wide
   type. */
static int make_answer(struct making *m, const char *shared, const struct samples *samples,
                       char *to) {
  const struct kernel_argument *output = &m->request->spec->arguments[m->i];
  const int64_t count = element_count(output);
  const struct dtype *wide = output->dtype->wide;
  m->own = *output;
  m->own.map.count = 0;
  m->own.elements = pack_rows(m->own.rank, m->own.shape, m->own.stride);
  m->argument = &m->own;
  m->to = malloc((size_t)(count * wide->bytes));
  if (!m->to) return error_memory(m->err);
  if (m->data->kind == DATA_VALUES) m->own.dtype = wide;
  int status = make_one(m, shared);
  for (int64_t i = 0; i < (samples->flat ? samples->count : count) && !status; i++)
    if (samples_due(samples, i, output))
      element_widen(m->own.dtype, m->to, samples_flat(samples, i), to, i);
  free(m->to);
  return status;
}

int data_make_answers(const struct data_request *request, char *shared, cugen_error *err) {
  const struct kernel_spec *spec = request->spec;
  struct samples samples;
  size_t bytes;
  char *to = shared + dataset_results_offset(spec);
  int status = results_layout(spec, request->seed, &samples, &bytes, err);
  for (size_t i = 0; i < spec->argument_count && !status; i++) {
    if (!results_has_output(&spec->arguments[i])) continue;
    struct making m = {.request = request,
                       .i = i,
                       .is_answer = true,
                       .readable = spec->argument_count,
                       .data = &request->config->answers[i],
                       .begin = clock_seconds(),
                       .caller = pthread_self(),
                       .err = err};
    status = data_prefix(&m, make_answer(&m, shared, &samples, to));
    to += results_bytes(&spec->arguments[i], &samples);
  }
  samples_free(&samples);
  if (!status) ((struct shared_head *)(void *)shared)->reference = 1;
  return status;
}
