#!/bin/sh
# bundle.sh BUILD [CC]: docs/examples/bundle as its README says it. Without a GPU: it is exported, built without a warning,
# and says why it does not run. With one also: exact, near and default variants, and PTX for a device nobody named.
set -eu
build=$1
cc=${2:-cc}
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export CUGEN_CACHE="$top/cache.db"
example=$(cd "$(dirname "$0")/../../docs/examples/bundle" && pwd)

make() { # make NAME EXPORT-OPTIONS...
  name=$1
  shift
  "$build/cugen" export matmul -q -o "$top/$name" "$@"
  "$cc" -std=c11 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -D_DEFAULT_SOURCE -I"$top/$name" \
    "$example/main.c" "$top/$name/matmul.c" -lm -ldl -o "$top/$name/main"
}

run() { # run NAME WORDS: right, and it says the words
  "$top/$1/main" >"$top/said" || { cat "$top/said"; exit 1; }
  cat "$top/said"
  grep -q "$2" "$top/said" || { echo "bundle.sh: expected '$2'"; exit 1; }
}

if "$build/cugen" devices | grep -q 'cuda:0'; then
  "$build/cugen" tune matmul -s M=512 -s N=512 -s K=512 --budget 5s -q
  make tuned
  run tuned 'the best measured'
  run tuned 'the best of a near problem'
  run tuned 'the default, never measured'
  make ptx --cache none --devices sm_80 --ptx
  run ptx 'as compute_'
else
  make named --devices sm_90a --ptx
  status=0
  "$top/named/main" || status=$?
  test "$status" = 77
fi
