#!/bin/bash
# The kernels that others published, beside their configs: sources.sh BENCHMARK_HUB KTT KERNEL_TUNER FOLDER
# The first three are clones of AutoTuningAssociation/benchmark_hub, HiPerCoRe/KTT and KernelTuner/kernel_tuner. FOLDER gets the configs
# and references of this folder, which are cugen's, and the kernels' sources, which are not. Three are changed so that they stand
# alone: gemm_milo is put together from its parts, dedispersion has the two constants of its header that are no tunables, and
# convolution_cugen may be told the size of the image.
set -eu
[[ $# == 4 ]] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2; }
hub=$1 ktt=$2/Examples tuner=$3/examples/cuda to=$4
for folder in "$hub/kernels" "$ktt" "$tuner"; do
  [[ -d $folder ]] || { echo "sources.sh: there is no $folder" >&2 && exit 2; }
done
mkdir -p "$to"
cp "$(dirname "$0")"/*.lua "$(dirname "$0")"/*_reference.cu "$to"
cp "$hub"/kernels/{hotspot,convolution}_milo.cu "$hub"/currently_unused/kernels/pnpoly.cu "$to"
cat "$hub"/kernels/gemm_milo/{cl_to_cuda.h,common.opencl,xgemm_part{1,2,3,4}.opencl} >"$to/gemm_milo.cu"
{
  grep -E 'dm_(first|step)' "$hub/kernels/dedisp_milo/dedispersion.h"
  grep -v 'include "dedispersion.h"' "$hub/kernels/dedisp_milo/dedispersion.cu"
} >"$to/dedispersion_cugen.cu"
sed -e '1i #ifndef image_height' -e '2a #endif' "$hub/kernels/convolution_milo.cu" >"$to/convolution_cugen.cu"
cp "$tuner/expdist.cu" "$to/expdist_cugen.cu"
cp "$tuner/reduction.cu" "$ktt"/{CoulombSum3d/CoulombSum3d,Nbody/Nbody,Transpose/Transpose,Reduction/Reduction,Bicg/Bicg,ClTuneGemm/ClTuneGemm}.cu "$to"
