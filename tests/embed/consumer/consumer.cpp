// The headers are C++17 as they are.
#include <cstdio>
#include <cugen_tools.h>
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
  std::puts(cugen_strategy(0, nullptr));
  return 0;
}
