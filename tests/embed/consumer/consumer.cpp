// The header is C++17 as it is.
#include <cstdio>
#include <cugen.h>
#include <memory>

int main() {
  cugen_error error{};
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = "cpu";
  options.cache = "none";
  cugen *opened = nullptr;
  if (cugen_open(&options, &opened, &error) != CUGEN_OK) {
    std::fprintf(stderr, "%s: %s\n", cugen_status_text(error.status), error.message);
    return 1;
  }
  const std::unique_ptr<cugen, decltype(&cugen_close)> lib(opened, cugen_close);
  std::puts(cugen_where(lib.get()));
  return 0;
}
