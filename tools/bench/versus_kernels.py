"""What Kernel Tuner is told of the kernels that versus_kernel_tuner.sh tunes: spaces, sizes and values as in the configs beside their
sources. A function a kernel, found by its name; each gets the sources (by file name) and the makers of values."""
import os


class Data:
    """Sources and values; the same in every run."""

    def __init__(self, folder):
        import numpy

        self.folder = folder
        self.numpy = numpy
        self.random = numpy.random.default_rng(1)
        self.f32, self.f64, self.i32, self.u32 = numpy.float32, numpy.float64, numpy.int32, numpy.uint32

    def uniform(self, *shape, dtype=None):
        dtype = dtype or self.f32
        return self.random.random(shape, dtype=dtype) * dtype(2) - dtype(1)

    def zero(self, *shape, dtype=None):
        return self.numpy.zeros(shape, dtype=dtype or self.f32)

    def one(self, *shape, dtype=None):
        return self.numpy.ones(shape, dtype=dtype or self.f32)

    def text(self, file):
        with open(os.path.join(self.folder, file), encoding="utf-8") as source:
            return source.read()


def hotspot(data):
    side = 4096
    return dict(
        kernel_name="calculate_temp", kernel_source=data.text("hotspot_milo.cu"), problem_size=(side, side),
        arguments=[data.uniform(side + 20, side + 20), data.uniform(side + 20, side + 20), data.zero(side, side), data.f32(0.1),
                   data.f32(0.1), data.f32(0.0512), data.f32(0.341)],
        tune_params={
            "grid_width": [side], "grid_height": [side], "temporal_tiling_factor": [4], "max_tfactor": [10],
            "block_size_x": [1, 2, 4, 8, 16] + list(range(32, 1025, 32)), "block_size_y": [1, 2, 4, 8, 16, 32],
            "tile_size_x": list(range(1, 11)), "tile_size_y": list(range(1, 11)),
            "loop_unroll_factor_t": list(range(1, 11)), "sh_power": [0, 1]},
        restrictions=[
            "block_size_x * block_size_y >= 32", "temporal_tiling_factor % loop_unroll_factor_t == 0",
            "block_size_x * block_size_y <= 1024",
            "(block_size_x * tile_size_x + temporal_tiling_factor * 2) * (block_size_y * tile_size_y + "
            "temporal_tiling_factor * 2) * (2 + sh_power) * 4 <= 49152"],
        grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"])


def gemm_milo(data):
    side = 4096
    return dict(
        kernel_name="Xgemm", kernel_source=data.text("gemm_milo.cu"), problem_size=(side, side),
        arguments=[data.i32(side), data.i32(side), data.i32(side), data.f32(1), data.f32(1), data.uniform(side, side),
                   data.uniform(side, side), data.zero(side, side), data.i32(0), data.i32(0)],
        tune_params={
            "GEMMK": [0], "MWG": [16, 32, 64, 128], "NWG": [16, 32, 64, 128], "KWG": [16, 32], "MDIMC": [8, 16, 32],
            "NDIMC": [8, 16, 32], "MDIMA": [8, 16, 32], "NDIMB": [8, 16, 32], "KWI": [2], "VWM": [1, 2, 4, 8],
            "VWN": [1, 2, 4, 8], "STRM": [0, 1], "STRN": [0, 1], "SA": [0, 1], "SB": [0, 1], "KREG": [1],
            "PRECISION": [32]},
        restrictions=[
            "KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0",
            "NWG % (NDIMB * VWN) == 0", "KWG % ((MDIMC * NDIMC)/MDIMA) == 0", "KWG % ((MDIMC * NDIMC)/NDIMB) == 0",
            "not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)"],
        grid_div_x=["MWG"], grid_div_y=["NWG"], block_size_names=["MDIMC", "NDIMC", "block_size_z"])


def mtran(data):
    side, sizes = 8192, [1, 2, 4, 8, 16, 32, 64]
    return dict(
        kernel_name="mtran", kernel_source=data.text("Transpose.cu"), problem_size=(side, side),
        arguments=[data.zero(side, side), data.uniform(side, side), data.i32(side), data.i32(side)],
        tune_params={
            "VECTOR_TYPE": [1, 2, 4], "CR": [0, 1], "LOCAL_MEM": [0, 1], "PADD_LOCAL": [0, 1], "WORK_GROUP_SIZE_X": sizes,
            "WORK_GROUP_SIZE_Y": sizes, "TILE_SIZE_X": sizes, "TILE_SIZE_Y": sizes, "DIAGONAL_MAP": [0, 1]},
        restrictions=[
            "TILE_SIZE_X == WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y <= TILE_SIZE_Y and TILE_SIZE_Y % WORK_GROUP_SIZE_Y == 0",
            "LOCAL_MEM == 0 or TILE_SIZE_Y <= WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y", "LOCAL_MEM == 1 or PADD_LOCAL == 0",
            "LOCAL_MEM == 0 or VECTOR_TYPE == 1", "TILE_SIZE_X * VECTOR_TYPE <= 64",
            "WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y >= 32"],
        grid_div_x=["TILE_SIZE_X * VECTOR_TYPE"], grid_div_y=["TILE_SIZE_Y"],
        block_size_names=["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "block_size_z"])


def nbody(data):
    n = 131072
    return dict(
        kernel_name="nbody_kernel", kernel_source=data.text("Nbody.cu"), problem_size=n,
        arguments=[data.f32(0.001), data.uniform(n, 4), data.uniform(n), data.uniform(n), data.uniform(n), data.uniform(n),
                   data.zero(n, 4), data.uniform(n, 4), data.uniform(n), data.uniform(n), data.uniform(n), data.zero(n, 4),
                   data.f32(0.5), data.f32(0.01), data.i32(n)],
        tune_params={
            "USE_SOA": [1], "WORK_GROUP_SIZE_X": [16, 32, 64, 128, 256, 512], "WORK_GROUP_SIZE_Y": [1, 2, 4, 8, 16],
            "OUTER_UNROLL_FACTOR": [1, 2, 4, 8], "INNER_UNROLL_FACTOR1": [0, 1, 2, 4, 8, 16, 32],
            "INNER_UNROLL_FACTOR2": [0, 1, 2, 4, 8, 16, 32], "LOCAL_MEM": [0, 1], "USE_CONSTANT_MEMORY": [0],
            "VECTOR_TYPE": [1, 2, 4]},
        restrictions=[
            "INNER_UNROLL_FACTOR2 <= OUTER_UNROLL_FACTOR", "INNER_UNROLL_FACTOR1 * INNER_UNROLL_FACTOR2 <= 256",
            "WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y >= 64 and WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y <= 1024",
            f"{n} % (WORK_GROUP_SIZE_X * OUTER_UNROLL_FACTOR) == 0",
            f"{n} % (WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y * VECTOR_TYPE) == 0"],
        grid_div_x=["OUTER_UNROLL_FACTOR", "WORK_GROUP_SIZE_X"], grid_div_y=[],
        block_size_names=["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "block_size_z"])


def dedispersion(data):
    dms, samples, channels, most = 2048, 25000, 1536, 650
    return dict(
        kernel_name="dedispersion_kernel", kernel_source=data.text("dedispersion_cugen.cu"), problem_size=(samples, dms),
        arguments=[data.random.integers(0, 17, (channels, samples + most), dtype=data.numpy.uint8), data.zero(dms, samples),
                   data.one(channels)],
        tune_params={
            "block_size_x": [1, 2, 4, 8, 16, 32], "block_size_y": list(range(32, 257, 8)), "block_size_z": [1],
            "tile_size_x": [1, 2, 3, 4], "tile_size_y": list(range(1, 9)), "tile_stride_x": [0, 1],
            "tile_stride_y": [0, 1], "loop_unroll_factor_channel": [0], "nr_dms": [dms], "nr_samples": [samples],
            "nr_channels": [channels], "nr_samples_per_channel": [samples + most]},
        restrictions=[
            "32 <= block_size_x * block_size_y <= 1024", "tile_size_x > 1 or tile_stride_x == 0",
            "tile_size_y > 1 or tile_stride_y == 0"],
        grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"])


def coulomb(data):
    side, atoms = 256, 64
    one = data.one(atoms)
    return dict(
        kernel_name="directCoulombSum", kernel_source=data.text("CoulombSum3d.cu"), problem_size=(side, side, side),
        arguments=[data.one(atoms, 4), one, one, one, one, data.i32(atoms), data.f32(0.3), data.i32(side),
                   data.zero(side, side, side)],
        tune_params={
            "WORK_GROUP_SIZE_X": [16, 32], "WORK_GROUP_SIZE_Y": [1, 2, 4, 8], "WORK_GROUP_SIZE_Z": [1],
            "Z_ITERATIONS": [1, 2, 4, 8, 16, 32], "INNER_UNROLL_FACTOR": [0, 1, 2, 4, 8, 16, 32],
            "USE_CONSTANT_MEMORY": [0], "USE_SOA": [0, 1], "VECTOR_SIZE": [1]},
        restrictions=["INNER_UNROLL_FACTOR < Z_ITERATIONS", "WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y >= 64"],
        grid_div_x=["WORK_GROUP_SIZE_X"], grid_div_y=["WORK_GROUP_SIZE_Y"], grid_div_z=["Z_ITERATIONS"],
        block_size_names=["WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y", "WORK_GROUP_SIZE_Z"])


def convolution(data):
    side, filter_side = 4096, 15
    return dict(
        kernel_name="convolution_kernel", kernel_source=data.text("convolution_milo.cu"), problem_size=(side, side),
        arguments=[data.zero(side, side), data.uniform(side + filter_side - 1, side + filter_side - 1),
                   data.uniform(filter_side, filter_side)],
        cmem_args={"d_filter": data.uniform(33 * 33)},
        tune_params={
            "filter_height": [filter_side], "filter_width": [filter_side], "block_size_x": list(range(16, 257, 16)),
            "block_size_y": [1, 2, 4, 8, 16], "tile_size_x": [1, 2, 3, 4], "tile_size_y": [1, 2, 3, 4], "read_only": [0, 1],
            "use_padding": [0, 1], "use_shmem": [0, 1], "use_cmem": [1]},
        restrictions=[
            "use_padding == 0 or block_size_x % 32 != 0", "block_size_x * block_size_y <= 1024",
            "use_padding == 0 or use_shmem != 0",
            "use_shmem == 0 or (block_size_x * tile_size_x + filter_width - 1) * (block_size_y * tile_size_y + "
            "filter_height - 1) < 12 * 1024"],
        grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"])


def pnpoly(data):
    n, vertices = 20000000, 600
    return dict(
        kernel_name="cn_pnpoly", kernel_source=data.text("pnpoly.cu"), problem_size=n,
        arguments=[data.zero(n, dtype=data.i32), data.uniform(n, 2), data.i32(n)],
        cmem_args={"d_vertices": data.uniform(vertices, 2), "d_slopes": data.uniform(vertices)},
        tune_params={
            "between_method": [0, 1, 2, 3], "block_size_x": list(range(32, 993, 32)),
            "tile_size": [1] + list(range(2, 21, 2)), "use_method": [0, 1, 2]},
        grid_div_x=["block_size_x", "tile_size"])


def expdist(data):
    size = 2000
    space = size + 4096  # the kernel loads whole tiles without a bound
    points = lambda: data.uniform(2, space, dtype=data.f64)
    return dict(
        kernel_name="ExpDist", kernel_source=data.text("expdist_cugen.cu"), problem_size=(size, size),
        arguments=[points(), points(), data.i32(size), data.i32(size), data.one(space, dtype=data.f64),
                   data.one(space, dtype=data.f64), data.zero(size * size, dtype=data.f64)],
        tune_params={
            "block_size_x": [32, 64, 128, 256, 512], "block_size_y": [1, 2, 4, 8, 16, 32], "tile_size_x": [1, 2, 4, 8],
            "tile_size_y": [1, 2, 4, 8], "use_shared_mem": [0, 1]},
        restrictions=["block_size_x * block_size_y <= 1024"],
        compiler_options=[f"-I{os.environ.get('CUDA_HOME', '/usr/local/cuda')}/include{part}" for part in ("", "/cccl")],
        grid_div_x=["block_size_x", "tile_size_x"], grid_div_y=["block_size_y", "tile_size_y"])


def reduction(data):
    size = 800000000
    blocks = [1 << power for power in range(5, 16)]
    return dict(
        kernel_name="sum_floats", kernel_source=data.text("reduction.cu"), problem_size="num_blocks",
        arguments=[data.zero(max(blocks)), data.uniform(size), data.i32(size)],
        tune_params={
            "block_size_x": [32, 64, 128, 256, 512, 1024], "vector": [1, 2, 4], "num_blocks": blocks,
            "loop_unroll_factor_0": [0, 1, 8, 16, 32, 64], "use_shuffle": [0, 1]},
        grid_div_x=[])


def ktt_reduction(data):
    size, multiprocessors = 67108864, 132

    def blocks(values):
        if values["UNBOUNDED_WG"] == 0:
            return (values["WG_PER_SM"] * multiprocessors,)
        return (-(-size // (values["VECTOR_SIZE"] * values["WORK_GROUP_SIZE_X"])),)

    return dict(
        kernel_name="reduce", problem_size=blocks,
        kernel_source=f"#define WG_NUM (WG_PER_SM * {multiprocessors})\n" + data.text("Reduction.cu"),
        arguments=[data.uniform(size), data.zero(1), data.u32(size), data.u32(0), data.u32(0)],
        tune_params={
            "WORK_GROUP_SIZE_X": [32, 64, 128, 256, 512], "UNBOUNDED_WG": [0, 1], "WG_PER_SM": [0, 1, 2, 4, 8, 16],
            "VECTOR_SIZE": [1, 2, 4], "USE_ATOMICS": [1]},
        restrictions=["(UNBOUNDED_WG == 1 and WG_PER_SM == 0) or (UNBOUNDED_WG == 0 and WG_PER_SM > 0)"],
        grid_div_x=[], block_size_names=["WORK_GROUP_SIZE_X", "block_size_y", "block_size_z"])


def bicg(data):
    size = 16384
    return dict(
        kernel_name="bicgFused", kernel_source=data.text("Bicg.cu"), problem_size=(size, size),
        arguments=[data.uniform(size, size), data.uniform(size), data.zero(size), data.uniform(size), data.zero(size),
                   data.i32(size), data.i32(size)],
        tune_params={
            "FUSED": [2], "BICG_BATCH": [1, 2, 4, 8, 16, 32, 64], "USE_SHARED_MATRIX": [0, 1], "USE_SHARED_VECTOR_1": [0, 1],
            "USE_SHARED_VECTOR_2": [0, 1], "USE_SHARED_REDUCTION_1": [1], "USE_SHARED_REDUCTION_2": [1], "ATOMICS": [1],
            "UNROLL_BICG_STEP": [0, 1], "ROWS_PROCESSED": [128, 256, 512, 1024], "TILE": [16, 32, 64],
            "TILE_Y": [1, 2, 4, 8, 16, 32, 64]},
        restrictions=["BICG_BATCH <= TILE", "TILE * TILE // BICG_BATCH <= 1024", "TILE_Y * BICG_BATCH == TILE"],
        grid_div_x=["TILE"], grid_div_y=["ROWS_PROCESSED"], block_size_names=["TILE", "TILE_Y", "block_size_z"])


def gemm_ktt(data):
    side = 2048
    return dict(
        kernel_name="gemm_fast", kernel_source=data.text("ClTuneGemm.cu"), problem_size=(side, side),
        arguments=[data.i32(side), data.i32(side), data.i32(side), data.uniform(side, side), data.uniform(side, side),
                   data.zero(side, side)],
        tune_params={
            "MWG": [16, 32, 64], "NWG": [16, 32, 64], "KWG": [32], "MDIMC": [8, 16, 32], "NDIMC": [8, 16, 32],
            "MDIMA": [8, 16, 32], "NDIMB": [8, 16, 32], "KWI": [2], "VWM": [1, 2, 4], "VWN": [1, 2, 4], "STRM": [0],
            "STRN": [0], "SA": [0, 1], "SB": [0, 1], "PRECISION": [32]},
        restrictions=[
            "KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0",
            "NWG % (NDIMB * VWN) == 0", "KWG % ((MDIMC * NDIMC)/MDIMA) == 0", "KWG % ((MDIMC * NDIMC)/NDIMB) == 0"],
        grid_div_x=["MWG"], grid_div_y=["NWG"], block_size_names=["MDIMC", "NDIMC", "block_size_z"])


KERNELS = {told.__name__: told for told in (
    hotspot, gemm_milo, mtran, nbody, dedispersion, coulomb, convolution, pnpoly, expdist, reduction, ktt_reduction, bicg, gemm_ktt)}
