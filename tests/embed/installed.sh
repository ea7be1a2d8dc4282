#!/bin/sh
# installed.sh BUILD: installs the build into a folder of its own, then uses what is there as a stranger would: the
# program, the CMake package from C and C++, shared and static, and pkg-config.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
prefix=$top/prefix
CMAKE_GENERATOR=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
export CMAKE_GENERATOR # make need not be there

run() { # shows the output of what fails
  if ! "$@" >"$top/log" 2>&1; then
    cat "$top/log"
    echo "failed: $*"
    exit 1
  fi
}

run cmake --install "$build" --prefix "$prefix"
cd "$top"
run "$prefix/bin/cugen" --version
run "$prefix/bin/cugen" gen matmul
for file in share/cugen/configs/matmul.lua share/cugen/lua/cugen.lua include/cugen.h \
  share/man/man1/cugen.1 share/doc/cugen/README.md share/doc/cugen/docs/json.md \
  share/bash-completion/completions/cugen share/zsh/site-functions/_cugen share/fish/vendor_completions.d/cugen.fish; do
  test -f "$prefix/$file" || { echo "not installed: $file"; exit 1; }
done

run cmake -S "$here/consumer" -B "$top/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
run cmake --build "$top/consumer"
for program in c_cugen c_cugen_static cpp_cugen cpp_cugen_static; do
  run "$top/consumer/$program"
done

if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name cugen.pc)")
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046 # flags are words
  run cc -std=c11 "$here/consumer/consumer.c" -o "$top/plain" $(pkg-config --cflags --libs cugen)
  run env LD_LIBRARY_PATH="$(pkg-config --variable=libdir cugen)" "$top/plain"
fi
echo "installed and used"
