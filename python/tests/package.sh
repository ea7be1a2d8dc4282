#!/bin/bash
# package.sh BUILD: a wheel that pip makes without a network holds all that is needed.
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
for file in libcugen.so cugen-worker include/cugen.h share/configs/matmul.lua share/templates/matmul_naive.cu; do
  if [[ ! -f site/cugen/files/$file ]]; then echo "the wheel lacks $file" && exit 1; fi
done
# A wheel for other machines must need no newer glibc than it names.
wheel_for() { # PLATFORM
  "$python" -m pip wheel --quiet --no-deps --wheel-dir "$top/other" --config-settings "build=$build" --config-settings "platform=$1" "$root"
}
arch=$(uname -m)
if wheel_for "manylinux_2_1_$arch" 2>"$top/refused"; then echo "the wheel's functions of glibc are not compared" && exit 1; fi
grep -q 'cannot be in a wheel for .* because it needs .*@GLIBC_2' "$top/refused"
wheel_for "manylinux_2_99_$arch"
"$python" -m zipfile -e "$top"/other/cugen-*-py3-none-manylinux_2_99_"$arch".whl "$top/unpacked"
grep -q '^Requires-Dist: cuda-toolkit\[cccl,crt,cudart,nvrtc\]' "$top"/unpacked/cugen-*.dist-info/METADATA
for file in py.typed _kernel.py; do if [[ ! -f site/cugen/$file ]]; then echo "the wheel lacks $file" && exit 1; fi; done

# NVIDIA's packages lie beside the package: those of CUDA 12, and before them those of CUDA 13.
where() { "$top/site/bin/cugen" devices | sed -n "s|^$1: $top/site/||p"; }
put() { for file in "$@"; do mkdir -p "$(dirname "$top/site/nvidia/$file")" && touch "$top/site/nvidia/$file"; done; }
export PYTHONPATH=$top/site
put cuda_nvrtc/lib/libnvrtc.so.12 cuda_runtime/include/cuda_fp16.h
[[ $(where nvrtc) == *nvidia/cuda_nvrtc/lib/libnvrtc.so.12 && $(where headers) == *nvidia/cuda_runtime/include ]]
put cu13/lib/libnvrtc.so.13 cu13/include/cuda_fp16.h
[[ $(where nvrtc) == *nvidia/cu13/lib/libnvrtc.so.13 && $(where headers) == *nvidia/cu13/include ]]
rm -r "$top/site/nvidia"

export CUGEN_CACHE=$top/cache.db CUGEN_DEVICE=cpu
grep -q "^  version: $(sed -n 's/^#define CUGEN_VERSION "\(.*\)"/\1/p' "$root/include/cugen.h")$" "$root/tools/packaging/conda/recipe.yaml"
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
