/* The report's view of parameters: for each value what it allowed; see report.h. */
#include <math.h>
#include <string.h>

#include "marks.h"
#include "plot.h"
#include "report.h"

/* The slowest median of an implementation's values, over its best: the scale's end. */
static double scale_of(const struct findings *f, size_t implementation) {
  double most = 1.1;
  for (size_t i = 0; i < f->effect_count; i++)
    for (size_t v = 0; f->effects[i].implementation == implementation && v < f->effects[i].value_count; v++)
      most = fmax(most, f->effects[i].values[v].median / f->implementations[implementation].best->cost);
  return most;
}

static void write_value(const struct page *p, size_t implementation, const struct effect_value *value, double scale) {
  double least = p->f->implementations[implementation].best->cost, best = value->best / least,
         median = value->median / least;
  bool well = effects_known_well(p->f, implementation, value);
  fputs("<div><code>", p->out);
  page_put(p, value->text);
  fputs("</code><span class=\"track\">", p->out);
  if (well)
    fprintf(p->out, "<i class=\"median\" style=\"left:%.1f%%\"></i>", 100 * log(fmax(median, 1)) / log(scale));
  fprintf(p->out, "<i class=\"%s%s\" style=\"left:%.1f%%\"></i></span>", marks_class(implementation).text,
          well ? "" : " few", 100 * log(fmax(best, 1)) / log(scale));
  if (well)
    fprintf(p->out, "<span><b>%.2f</b> \u00b7 %.2f</span></div>\n", best, median);
  else
    fprintf(p->out, "<span><b>%.2f</b> of %zu</span></div>\n", best, value->count);
}

/* Characters for which there is room beside a value's track; on a line of its own; in a heading. */
enum { SHORT_VALUE = 9, LONG_VALUE = 34, LONG_NAME = 28 };

static const char *class_of(const struct effect *effect) {
  size_t most = 0;
  for (size_t v = 0; v < effect->value_count; v++)
    if (strlen(effect->values[v].text) > most) most = strlen(effect->values[v].text);
  const bool whole = most > LONG_VALUE || strlen(effect->name) > LONG_NAME;
  if (most > SHORT_VALUE) return whole ? "effect long whole" : "effect long";
  return whole ? "effect whole" : "effect";
}

static void write_effect(const struct page *p, const struct effect *effect, double scale) {
  fprintf(p->out, "<div class=\"%s\">\n<h4>", class_of(effect));
  page_put(p, effect->name);
  if (effect->few)
    fputs("<span>too few to tell</span></h4>\n", p->out);
  else if (effect->weight > 1.005)
    fprintf(p->out, "<span>up to %.2f\u00d7</span></h4>\n", effect->weight);
  else
    fputs("<span>no difference</span></h4>\n", p->out);
  for (size_t v = 0; v < effect->value_count; v++) write_value(p, effect->implementation, &effect->values[v], scale);
  fputs("</div>\n", p->out);
}

/* How many parameters of the implementation have an effect to show, and of how many the data tell something. */
static size_t count_effects(const struct findings *f, size_t implementation, size_t *told) {
  size_t count = 0;
  *told = 0;
  for (size_t i = 0; i < f->effect_count; i++) {
    if (f->effects[i].implementation != implementation) continue;
    count++;
    *told += !f->effects[i].few;
  }
  return count;
}

static void write_implementation_effects(const struct page *p, size_t at) {
  const struct implementation *implementation = &p->f->implementations[at];
  size_t told;
  if (!count_effects(p->f, at, &told)) return;
  fprintf(p->out, "<h3><span class=\"key %s\"></span>", marks_class(at).text);
  page_put(p, implementation->name);
  if (!told) { /* what can be said of so few the tables say */
    fprintf(p->out, " <span class=\"note\">%s variants: too few to tell</span></h3>\n",
            print_count(implementation->right).text);
    return;
  }
  fprintf(p->out, " <span class=\"note\">%s variants, the best %s</span></h3>\n<div class=\"effects\">\n",
          print_count(implementation->right).text, print_seconds(implementation->best->seconds).text);
  for (size_t i = 0; i < p->f->effect_count; i++)
    if (p->f->effects[i].implementation == at) write_effect(p, &p->f->effects[i], scale_of(p->f, at));
  fputs("</div>\n", p->out);
}

/* Whether a hollow dot is drawn. */
static bool has_few(const struct findings *f) {
  for (size_t i = 0; i < f->effect_count; i++) {
    const struct effect *effect = &f->effects[i];
    size_t told;
    count_effects(f, effect->implementation, &told);
    for (size_t v = 0; told && v < effect->value_count; v++)
      if (!effects_known_well(f, effect->implementation, &effect->values[v])) return true;
  }
  return false;
}

void report_effects(const struct page *p) {
  if (!p->f->effect_count) return;
  const char *time = page_by_rate(p) ? "time for each unit of work" : "time";
  fprintf(
      p->out,
      "<section>\n<h2>What each parameter does%s</h2>\n<p class=\"note\">For each value the best %s with it (dot, "
      "first number) and the median (line, second), as multiples of the implementation\u2019s best. The one that "
      "matters most comes first: \u201cup to\u201d is the best %s with its worst value over the best.%s</p>\n",
      page_predicted(p, ", predicted"), time, time,
      has_few(p->f) ? " A hollow dot is the best of one or two variants, too few to tell: it does not count for "
                      "\u201cup to\u201d."
                    : "");
  for (size_t i = p->f->implementation_count; i-- > 0;) write_implementation_effects(p, i);
  fputs("</section>\n", p->out);
}
