#!/bin/sh
# installed.sh BUILD: installs the build into a folder of its own, moves that, then uses what is there as a stranger would:
# the program, the CMake package from C and C++, shared and static, pkg-config, and Python. No variable of cugen's is set.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
prefix=$top/prefix
CMAKE_GENERATOR=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")
export CMAKE_GENERATOR # make need not be there
unset CUGEN_WORKER CUGEN_CACHE CUGEN_DEVICE CUGEN_CXX CUGEN_TEST_PROGRAM

run() { # shows the output of what fails
  if ! "$@" >"$top/log" 2>&1; then
    cat "$top/log"
    echo "failed: $*"
    exit 1
  fi
}

expect() { # WORDS COMMAND...: that is all it prints
  words=$1
  shift
  run "$@"
  test "$(cat "$top/log")" = "$words" || { echo "not '$words': $*"; cat "$top/log"; exit 1; }
}

run cmake --install "$build" --prefix "$top/first"
mv "$top/first" "$prefix"
cd "$top"
run "$prefix/bin/cugen" --version
run "$prefix/bin/cugen" gen matmul
for file in share/cugen/configs/matmul.lua share/cugen/lua/cugen.lua include/cugen.h \
  share/man/man1/cugen.1 share/doc/cugen/README.md share/doc/cugen/README.zh.md share/doc/cugen/docs/json.md share/doc/cugen/docs/speed-dark.svg \
  share/bash-completion/completions/cugen share/zsh/site-functions/_cugen share/fish/vendor_completions.d/cugen.fish; do
  test -f "$prefix/$file" || { echo "not installed: $file"; exit 1; }
done

run cmake -S "$here/consumer" -B "$top/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
run cmake --build "$top/consumer"
for program in c_cugen c_cugen_static cpp_cugen cpp_cugen_static; do
  run "$top/consumer/$program"
done
for program in tune_c_cugen tune_c_cugen_static tune_cpp_cugen tune_cpp_cugen_static; do
  expect "tuned 1" "$top/consumer/$program"
done

library=$(find "$prefix" -name libcugen.so)
if command -v pkg-config >/dev/null; then
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name cugen.pc)")
  export PKG_CONFIG_PATH
  # shellcheck disable=SC2046 # flags are words
  run cc -std=c11 "$here/consumer/consumer.c" -o "$top/plain" $(pkg-config --cflags --libs cugen)
  run env LD_LIBRARY_PATH="$(pkg-config --variable=libdir cugen)" "$top/plain"
  # shellcheck disable=SC2046
  run cc -std=c11 "$here/consumer/tune.c" -o "$top/tune" $(pkg-config --cflags --libs cugen)
  expect "tuned 1" env LD_LIBRARY_PATH="$(pkg-config --variable=libdir cugen)" "$top/tune"
  # shellcheck disable=SC2046
  run cc -std=c11 "$here/consumer/tune.c" -o "$top/static" $(pkg-config --cflags cugen) "$(dirname "$library")/libcugen.a" \
    $(pkg-config --libs-only-l --static cugen | sed 's/-lcugen//')
  expect "tuned 1" "$top/static"
fi
run env CUGEN_DEVICE=cpu CUGEN_CACHE=none CUGEN_LIBRARY="$library" PYTHONPATH="$here/../../python" python3 "$here/../../docs/examples/matmul.py"

# Without the worker: where it was looked for, and what to do.
worker=$(find "$prefix" -name cugen-worker)
mv "$worker" "$worker.away"
for program in tune_c_cugen tune_c_cugen_static; do
  if "$top/consumer/$program" >"$top/log" 2>&1; then echo "$program tunes without a worker"; exit 1; fi
  grep -q "not found; looked at .*/libexec/cugen/cugen-worker" "$top/log" || { cat "$top/log"; exit 1; }
  grep -q CUGEN_TUNE_IN_PROCESS "$top/log" || { cat "$top/log"; exit 1; }
done
# Another program in its place.
printf '#!/bin/sh\nexit 7\n' >"$worker"
chmod +x "$worker"
if "$top/consumer/tune_c_cugen" >"$top/log" 2>&1; then echo "tunes with a stranger as its worker"; exit 1; fi
grep -q "/libexec/cugen/cugen-worker does not answer as the worker of this cugen .*(exit code 7)" "$top/log" || { cat "$top/log"; exit 1; }
echo "installed and used"
