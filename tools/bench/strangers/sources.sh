#!/bin/bash
# The kernels that others published, beside their configs:
# sources.sh BENCHMARK_HUB KTT KERNEL_TUNER FOLDER [CUDA_SAMPLES PARBOIL RODINIA]
# The first three are clones of AutoTuningAssociation/benchmark_hub, HiPerCoRe/KTT and KernelTuner/kernel_tuner. FOLDER gets the configs
# and references of this folder, which are cugen's, and the kernels' sources, which are not. Three are changed so that they stand
# alone: gemm_milo is put together from its parts, dedispersion has the two constants of its header that are no tunables, and
# convolution_cugen may be told the size of the image.
# With clones of NVIDIA/cuda-samples, abduld/Parboil and yuhc/gpu-rodinia FOLDER gets the five kernels of more/, too: their defines
# that are tunables, their host code and headers of samples are left out.
set -eu
[[ $# == 4 || $# == 7 ]] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0" >&2 && exit 2; }
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
[[ $# == 7 ]] || exit 0

samples=$5/Samples parboil=$6/benchmarks rodinia=$7/cuda
cp "$(dirname "$0")"/more/*.lua "$(dirname "$0")"/more/*_reference.cu "$to"
columns=$samples/2_Concepts_and_Techniques/convolutionSeparable/convolutionSeparable.cu
{
  printf '#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n'
  printf '#define KERNEL_RADIUS 8\n#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)\n__constant__ float c_Kernel[KERNEL_LENGTH];\n'
  sed -n '/^__global__ void convolutionColumnsKernel/,/^}/p' "$columns"
} >"$to/convolution_columns.cu"
grep -v 'FDTD3dGPU.h' "$samples/5_Domain_Specific/FDTD3d/inc/FDTD3dGPUKernel.cuh" >"$to/fdtd3d.cu"
grep -v '^#define ACCUM_N' "$samples/2_Concepts_and_Techniques/scalarProd/scalarProd_kernel.cuh" >"$to/scalar_product.cu"
sed -e '/^#define TILE_N/d' -e '/^#define TILE_TB_HEIGHT/d' -e '/^void regtileSgemm/,$d' "$parboil/sgemm/src/cuda/sgemm_kernel.cu" >"$to/parboil_sgemm.cu"
sed -n '/^__global__/,/^}/p' "$rodinia/hotspot3D/opt1.cu" >"$to/hotspot3d.cu"
