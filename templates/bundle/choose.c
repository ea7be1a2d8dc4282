/* ---- Choosing -------------------------------------------------------------------------------- */

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int launch_fits(const struct launch_sizes *l, int max_threads) {
  static const long long grid[3] = {INT_MAX, 65535, 65535}, block[3] = {1024, 1024, 64};
  for (int i = 0; i < 3; i++)
    if (l->grid[i] < 1 || l->grid[i] > grid[i] || l->block[i] < 1 || l->block[i] > block[i])
      return 0;
  if (l->carveout < -1 || l->carveout > 100) return 0;
  return l->block[0] * l->block[1] * l->block[2] <= max_threads && l->shared >= 0 &&
         l->shared <= INT_MAX;
}

/* Returns whether the code is right for the problem, and fills in the code's sizes for it. */
static int usable(const struct code *code, const struct device *device, const bundle_problem *p,
                  struct sizes *s) {
  sizes_restart(s);
  if (!code->serves(p)) return 0;
  code->sizes(p, s);
  if (s->failed || s->wide != code->wide) return 0;
  if (!s->launch_count || count_launches(s) > MOST_LAUNCHES) return 0;
  for (size_t i = 0; i < s->launch_count; i++)
    if (!launch_fits(&s->launches[i], device->max_threads)) return 0;
  return 1;
}

struct chosen {
  const struct device *device;
  const struct code *code;
  const struct tuned *tuned;
  const struct measured *measured;
  bundle_choice how;
  double ratio;
};

/* Takes the variant of least cost that serves the problem, or of the variants within half a percent
   of that cost, the variant of least `order`. */
static int choose_measured(const struct tuned *t, const bundle_problem *p, struct sizes *s,
                           struct chosen *out) {
  const struct measured *best = NULL;
  double limit = 0;
  for (size_t i = t->first; i < t->first + t->count; i++) {
    const struct measured *m = &measurements[i];
    if (best && (m->cost > limit || m->order > best->order)) continue;
    if (!usable(&codes[m->code], &devices[t->device], p, s)) continue;
    if (!best) limit = m->cost * 1.005;
    best = m;
  }
  if (!best) return 0;
  out->code = &codes[best->code];
  out->tuned = t;
  out->measured = best;
  return usable(out->code, &devices[t->device], p, s);
}

static int same_sizes(const long long *a, const long long *b) {
  return memcmp(a, b, SIZES * sizeof *a) == 0;
}

static int choose_exact(const struct device *device, const bundle_problem *p,
                        const long long *sizes, struct sizes *s, struct chosen *out) {
  for (size_t i = 0; i < tuned_count; i++) {
    long long others[SIZES + 1] = {0};
    sizes_of(&tuned[i].problem, others);
    if (&devices[tuned[i].device] == device && same_class(&tuned[i].problem, p) &&
        same_sizes(sizes, others) && choose_measured(&tuned[i], p, s, out))
      return 1;
  }
  return 0;
}

/* How far apart two problems are: the largest ratio of two sizes, and the product of all ratios.
   Sizes below 1 have no ratio: they are equal, or the problems are too far apart. */
struct distance {
  double largest, product;
};

static struct distance distance_between(const long long *a, const long long *b) {
  struct distance d = {1, 1};
  for (size_t i = 0; i < size_count; i++) {
    if (a[i] == b[i]) continue;
    if (a[i] < 1 || b[i] < 1) return (struct distance){1e300, 1e300};
    double ratio = a[i] > b[i] ? (double)a[i] / (double)b[i] : (double)b[i] / (double)a[i];
    if (ratio > d.largest) d.largest = ratio;
    d.product *= ratio;
  }
  return d;
}

static int farther(struct distance a, struct distance b) {
  return a.largest != b.largest ? a.largest > b.largest : a.product > b.product;
}

/* Returns the next tuned problem by distance: the nearest of those that are farther than
   `after`, or as far and later in the table than after_at; tuned_count: there is none. */
static size_t next_nearest(const struct device *device, const bundle_problem *p,
                           const long long *sizes, struct distance after, size_t after_at,
                           struct distance *found) {
  size_t best = tuned_count;
  for (size_t i = 0; i < tuned_count; i++) {
    long long others[SIZES + 1] = {0};
    if (&devices[tuned[i].device] != device || !same_class(&tuned[i].problem, p)) continue;
    sizes_of(&tuned[i].problem, others);
    struct distance d = distance_between(sizes, others);
    if (d.largest > FARTHEST || farther(after, d)) continue;
    if (!farther(d, after) && after_at != tuned_count && i <= after_at) continue;
    if (best == tuned_count || farther(*found, d)) best = i, *found = d;
  }
  return best;
}

MAYBE_UNUSED static int choose_nearest(const struct device *device, const bundle_problem *p,
                                       const long long *sizes, struct sizes *s,
                                       struct chosen *out) {
  struct distance at = {1, 1}, found = {1, 1};
  for (size_t i = next_nearest(device, p, sizes, at, tuned_count, &found); i < tuned_count;
       i = next_nearest(device, p, sizes, at, i, &found)) {
    at = found;
    out->ratio = found.largest;
    if (choose_measured(&tuned[i], p, s, out)) return 1;
  }
  return 0;
}

/* Rounds each size up to its next bound (a size above the last bound: down to that bound), and
   takes what was tuned for the rounded sizes. */
MAYBE_UNUSED static int choose_bucket(const struct device *device, const bundle_problem *p,
                                      const long long *sizes, struct sizes *s, struct chosen *out) {
  long long rounded[SIZES + 1] = {0};
  for (size_t i = 0; i < size_count; i++) {
    size_t at = 0;
    rounded[i] = sizes[i];
    if (!buckets[i].count || sizes[i] < 1) continue;
    while (at + 1 < buckets[i].count && buckets[i].bounds[at] < sizes[i]) at++;
    rounded[i] = buckets[i].bounds[at];
  }
  out->ratio = distance_between(sizes, rounded).largest;
  return choose_exact(device, p, rounded, s, out);
}

static int choose_member(const struct device *device, size_t member, const bundle_problem *p,
                         struct sizes *s, struct chosen *out) {
  for (size_t i = 0; i < members[member].count; i++) {
    const struct code *code = &codes[member_codes[members[member].first + i]];
    if (!usable(code, device, p, s)) continue;
    out->code = code;
    return 1;
  }
  return 0;
}

/* Returns the untried member of least time, or the first untried member if times are not known. */
static size_t next_member(const double *times, const unsigned char *tried, size_t count) {
  size_t best = count;
  for (size_t k = 0; k < count; k++)
    if (!tried[k] && (best == count || times[k] < times[best])) best = k;
  return best;
}

/* Takes the member that the rule names, unless another member's predicted time is far below that
   member's (portfolio.doubted). If the member does not serve, takes the next by time that does. */
static int choose_portfolio(const struct device *device, int shipped, const bundle_problem *p,
                            struct sizes *s, struct chosen *out) {
  for (size_t i = 0; i < portfolio_count; i++) {
    const struct portfolio *portfolio = &portfolios[i];
    double times[MOST_MEMBERS];
    unsigned char tried[MOST_MEMBERS] = {0};
    if (&devices[portfolio->device] != device || portfolio->shipped != shipped ||
        !same_class(&portfolio->class, p))
      continue;
    const long long says = portfolio->rule(p, times);
    size_t next = says >= 0 && (size_t)says < portfolio->count ? (size_t)says : portfolio->count;
    if (next == portfolio->count && shipped) continue; /* beyond the portfolio's limit */
    if (next < portfolio->count && times[next] < NO_TIME && portfolio->doubted > 0) {
      times[next] /= portfolio->doubted;
      next = portfolio->count;
    }
    for (size_t k = 0; k < portfolio->count; k++, next = portfolio->count) {
      if (next == portfolio->count) next = next_member(times, tried, portfolio->count);
      if (choose_member(device, portfolio->first + next, p, s, out)) return 1;
      tried[next] = 1;
    }
  }
  return 0;
}

static int choose_default(const struct device *device, const bundle_problem *p, struct sizes *s,
                          struct chosen *out) {
  for (size_t i = 0; i < fallback_count; i++) {
    if (&devices[fallbacks[i].device] != device || !usable(&codes[fallbacks[i].code], device, p, s))
      continue;
    out->code = &codes[fallbacks[i].code];
    return 1;
  }
  return 0;
}

/* Returns the table's device that is `asked`, or else, with *same 0, a device whose code runs on
   `asked`; NULL: there is none. */
static const struct device *find_device(const bundle_device *asked, int *same) {
  const struct device *alike = NULL, *ptx = NULL;
  *same = 1;
  for (size_t i = 0; i < COUNT(devices); i++) {
    const struct device *d = &devices[i];
    if (d->ptx) {
      if (!ptx && d->capability <= asked->capability) ptx = d;
    } else if (d->capability == asked->capability) {
      if (d->name && asked->name && strcmp(d->name, asked->name) == 0 &&
          d->multiprocessors == asked->multiprocessors)
        return d;
      if (!alike) alike = d;
    }
  }
  *same = 0;
  return alike ? alike : ptx;
}

static int no_device(const bundle_device *asked, bundle_error *error) {
  char known[512] = "";
  size_t length = 0;
  for (size_t i = 0; i < COUNT(devices) && length < sizeof known; i++)
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "",
                               devices[i].text);
  return fail(error, BUNDLE_ERROR_MISSING,
              "@name: this bundle has no code for %s (compute capability %d.%d); it was made for "
              "%s. Export it for "
              "that device too, or with --ptx",
              asked->name ? asked->name : "this device", asked->capability / 10,
              asked->capability % 10, known);
}

/* Returns whether the text of the problem contains all words of the text of the class. */
static int is_of_class(const char *problem, const char *class) {
  while (*class) {
    const size_t length = strcspn(class, " ");
    const char *at = problem;
    while (*at && (strncmp(at, class, length) != 0 || (at[length] && at[length] != ' '))) {
      at += strcspn(at, " ");
      at += *at == ' ';
    }
    if (!*at) return 0;
    class += length;
    class += *class == ' ';
  }
  return 1;
}

/* Explains that no code serves these sizes; the types and flags of the problem are known. */
static int no_such_sizes(const struct device *device, const char *asked, bundle_error *error) {
  char rounds[256] = "";
  size_t length = 0;
  for (size_t i = 0; i < COUNT(codes) && length < sizeof rounds; i++) {
    size_t first = 0;
    while (codes[first].rounds != codes[i].rounds) first++;
    if (codes[i].rounds && first == i)
      length += (size_t)snprintf(
          rounds + length, sizeof rounds - length, "%s%lld",
          length ? ", "
                 : ". Variants whose loop of launches was written for one number of rounds serve "
                   "the sizes that have as many: ",
          codes[i].rounds);
  }
  return fail(error, BUNDLE_ERROR_USAGE,
              "@name %s: this bundle has no code for these sizes on %s. A size below 1 has none, "
              "nor one that is too large for a "
              "buffer, a grid or so many launches; of others some variant must be exported that "
              "takes them (--problems)%s",
              asked, device->text, rounds);
}

static int no_code(const struct device *device, const bundle_problem *p, bundle_error *error) {
  char asked[256], known[256] = "";
  print_problem(p, asked, sizeof asked);
  for (size_t i = 0; i < COUNT(classes); i++)
    if (is_of_class(asked, classes[i])) return no_such_sizes(device, asked, error);
  for (size_t i = 0, length = 0; i < COUNT(classes) && length < sizeof known; i++)
    length +=
        (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? "; " : "", classes[i]);
  return fail(error, BUNDLE_ERROR_USAGE, "@name %s: this bundle has no code for it on %s%s%s",
              asked, device->text, *known ? "; it was made for " : "", known);
}

static int choose(const bundle_device *asked, const bundle_problem *p, struct sizes *s,
                  struct chosen *out, bundle_error *error) {
  long long sizes[SIZES + 1] = {0};
  int same;
  memset(out, 0, sizeof *out);
  out->ratio = 1;
  out->how = BUNDLE_EXACT;
  out->device = find_device(asked, &same);
  if (!out->device) return no_device(asked, error);
  sizes_of(p, sizes);
  if (same && choose_exact(out->device, p, sizes, s, out)) return BUNDLE_OK;
  out->how = BUNDLE_PORTFOLIO;
  if (same && choose_portfolio(out->device, 0, p, s, out)) return BUNDLE_OK;
  out->how = BUNDLE_NEAR;
  if (same && CHOOSE_NEAR(out->device, p, sizes, s, out)) return BUNDLE_OK;
  out->how = BUNDLE_DEFAULT;
  out->ratio = 1;
  if (choose_portfolio(out->device, 1, p, s, out)) return BUNDLE_OK;
  return choose_default(out->device, p, s, out) ? BUNDLE_OK : no_code(out->device, p, error);
}

/* log2 of a ratio from 1 up: its powers of two, then twice the artanh of (x - 1) / (x + 1). */
static double log2_of(double x) {
  double power = 0, sum = 0;
  while (x >= 2) x /= 2, power += 1;
  double y = (x - 1) / (x + 1), term = y;
  for (int i = 1; i < 60; i += 2, term *= y * y) sum += term / i;
  return power + 2 * sum / 0.69314718055994530942;
}

static void describe(const struct chosen *from, const struct sizes *s, bundle_info *out) {
  memset(out, 0, sizeof *out);
  out->variant = from->code->variant;
  out->choice = from->how;
  out->tuned_for = from->tuned ? from->tuned->text : NULL;
  out->distance = log2_of(from->ratio);
  out->seconds = from->measured ? from->measured->seconds : 0;
  out->device = from->device->text;
  out->arch = from->device->arch;
  out->code_bytes = images[from->code->image].bytes;
  out->launches = (size_t)count_launches(s);
}

int bundle_choose(const bundle_device *device, const bundle_problem *problem, bundle_info *out,
                  bundle_error *error) {
  struct sizes sizes = {.launches = NULL};
  struct chosen chosen;
  if (!out) return is_null("bundle_choose: out", error);
  memset(out, 0, sizeof *out);
  if (!device || !problem)
    return is_null(device ? "bundle_choose: problem" : "bundle_choose: device", error);
  int status = choose(device, problem, &sizes, &chosen, error);
  if (!status) describe(&chosen, &sizes, out);
  sizes_free(&sizes);
  return status;
}
