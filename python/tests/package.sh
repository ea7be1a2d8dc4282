#!/bin/bash
# package.sh BUILD: the wheel, made by pip without a network and without what was built fetching anything, holds all that is needed.
# It is installed into a folder of its own, away from checkout and build.
set -euo pipefail
build=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INDEX=1
unset CUGEN_LIBRARY CUGEN_WORKER PYTHONPATH

python=
for name in python3 /usr/bin/python3; do
  if "$name" -m pip --version >/dev/null 2>&1; then python=$name && break; fi
done
if [[ -z $python ]]; then
  echo "skipped: no Python here has pip (Debian, Ubuntu: apt-get install python3-pip)"
  exit 77
fi

"$python" -m pip wheel --quiet --no-deps --wheel-dir "$top" --config-settings "build=$build" --config-settings toolkit=none "$root"
"$python" -m pip install --quiet --no-deps --target "$top/site" "$top"/cugen-*.whl
cd "$top"
for file in libcugen.so cugen-worker cugen share/configs/matmul.lua share/templates/matmul_naive.cu; do
  if [[ ! -f site/cugen/files/$file ]]; then echo "the wheel lacks $file" && exit 1; fi
done
for file in py.typed _kernel.py; do if [[ ! -f site/cugen/$file ]]; then echo "the wheel lacks $file" && exit 1; fi; done

export PYTHONPATH=$top/site CUGEN_CACHE=$top/cache.db CUGEN_DEVICE=cpu
[[ $("$python" -m cugen --version) == "$("$build/cugen" --version)" ]]
"$top/site/bin/cugen" tune matmul --set M=16 --set N=16 --set K=16 --budget 1 >/dev/null
"$python" - <<'PYTHON'
import array
import cugen
matmul = cugen.kernel("matmul", M=16, N=16, K=16)
one = array.array("f", [float(i % 17 == 0) for i in range(256)])
a, c = array.array("f", range(256)), array.array("f", [0] * 256)
matmul(a, one, c)
assert c == a, c
assert len(matmul.records()) == 1 and len(cugen.records("matmul")) == 1
assert matmul.tune(count=1).tried == 1
assert cugen.where().count("/site/cugen/files/cugen-worker") == 1, cugen.where()
PYTHON
echo "built, installed and used by $("$python" --version)"
