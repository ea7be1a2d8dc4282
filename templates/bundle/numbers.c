/* ---- Whole numbers: an overflow, a division by zero or another error sets *e ----------------- */

MAYBE_UNUSED static long long add(int *e, long long a, long long b) {
  long long sum = 0;
  *e |= __builtin_add_overflow(a, b, &sum);
  return sum;
}

MAYBE_UNUSED static long long subtract(int *e, long long a, long long b) {
  long long difference = 0;
  *e |= __builtin_sub_overflow(a, b, &difference);
  return difference;
}

MAYBE_UNUSED static long long multiply(int *e, long long a, long long b) {
  long long product = 0;
  *e |= __builtin_mul_overflow(a, b, &product);
  return product;
}

/* Rounds down, whatever the signs. */
MAYBE_UNUSED static long long divide(int *e, long long a, long long b) {
  if (b == 0 || (b == -1 && a == LLONG_MIN)) return *e = 1, 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

MAYBE_UNUSED static long long modulo(int *e, long long a, long long b) {
  if (b == 0) return *e = 1, 0;
  if (b == -1) return 0;
  long long rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

MAYBE_UNUSED static long long divide_exactly(int *e, long long a, long long b) {
  *e |= b != 0 && modulo(e, a, b) != 0;
  return divide(e, a, b);
}

MAYBE_UNUSED static long long ceil_div(int *e, long long a, long long b) {
  if (b <= 0) return *e = 1, 0;
  return divide(e, a, b) + (a % b != 0);
}

MAYBE_UNUSED static long long round_up(int *e, long long a, long long b) {
  return multiply(e, ceil_div(e, a, b), b);
}

MAYBE_UNUSED static long long power(int *e, long long a, long long b) {
  long long result = 1;
  if (b < 0) return *e = 1, 0;
  for (; b; b /= 2) {
    if (b % 2) result = multiply(e, result, a);
    if (b > 1) a = multiply(e, a, a);
  }
  return result;
}

MAYBE_UNUSED static long long ceil_log(int *e, long long a, long long b) {
  long long steps = 0;
  if (b < 2) return *e = 1, 0;
  for (; a > 1; steps++) a = (a - 1) / b + 1;
  return steps;
}

MAYBE_UNUSED static int is_pow2(long long a) {
  return a > 0 && (a & (a - 1)) == 0;
}

MAYBE_UNUSED static long long log2_exact(int *e, long long a) {
  long long power = 0;
  if (!is_pow2(a)) return *e = 1, 0;
  while (a > 1) a /= 2, power++;
  return power;
}

MAYBE_UNUSED static long long absolute(int *e, long long a) {
  return a < 0 ? subtract(e, 0, a) : a;
}

MAYBE_UNUSED static long long lesser(long long a, long long b) {
  return a < b ? a : b;
}

MAYBE_UNUSED static long long greater(long long a, long long b) {
  return a > b ? a : b;
}

/* The square root by Newton's method, whose values fall until they reach the root; -infinity if a
   is negative, above 1e300 or no number. */
MAYBE_UNUSED static double root(double a) {
  double x = a > 1 ? a : 1, next;
  if (!(a > 0) || a > 1e300) return a == 0 ? 0 : -1.0 / 0.0;
  while ((next = 0.5 * (x + a / x)) < x) x = next;
  return x;
}

/* whole_below is floor, whole_above ceil. */
MAYBE_UNUSED static long long whole_below(int *e, double x) {
  if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) return *e = 1, 0;
  const long long whole = (long long)x;
  return whole - ((double)whole > x);
}

MAYBE_UNUSED static long long whole_above(int *e, double x) {
  if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0)) return *e = 1, 0;
  const long long whole = (long long)x;
  return whole + ((double)whole < x);
}

MAYBE_UNUSED static int word_is(const char *word, const char *wanted) {
  return word && strcmp(word, wanted) == 0;
}
