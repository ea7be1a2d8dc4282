#!/bin/sh
# own_kernel.sh BUILD: docs/examples/own_kernel as its README says it: tune, run, and the application that uses it.
set -eu
build=$1
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export CUGEN_CACHE="$top/cache.db"
cd "$(dirname "$0")/../../docs/examples/own_kernel"

smooth() { # smooth WORDS: it is right, and says how its variant was chosen
  "$build/examples/smooth" smooth.lua 10000 >"$top/said" || { cat "$top/said"; exit 1; }
  cat "$top/said"
  grep -q "$1" "$top/said"
}

smooth 'the default, never measured'
"$build/cugen" tune smooth.lua --set n=10000 --budget 3 -q
"$build/cugen" run smooth.lua --set n=10000
smooth 'the best remembered'
