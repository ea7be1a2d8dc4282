#pragma once
// The ring of stages of matmul_wgmma and matmul_wgmma_stream: in a stage lie BM lines of X and BN of Y, 128 bytes of k each.
//@ -- A_map, B_map and C_map are the tensor maps of A, B and C, or of their padded copies. X is the operand whose
//@ -- lines are C's, Y the other one; C_lines and C_columns are the sizes of C along its lines' numbers and columns'.
//@ A_map, B_map, C_map = pads_a and "padded_a" or "A", pads_b and "padded_b" or "B", pads_c and "padded_c" or "C"
//@ X, Y = by_rows and A_map or B_map, by_rows and B_map or A_map
//@ C_lines, C_columns = by_rows and "M" or "N", by_rows and "N" or "M"
//@ include "lib/tma.cuh"
//@ include "lib/wgmma.cuh"

constexpr int sharers = pingpong ? 1 : consumers;
constexpr int parts = BM / 64 / sharers;          // of 64 rows, for each consumer
constexpr int BK = 128 / sizeof(A_t);             // k of a stage
constexpr int tile_x_bytes = BM * 128, tile_y_bytes = BN * 128, stage_bytes = tile_x_bytes + tile_y_bytes;
constexpr int part_bytes = 64 * 128;              // of 64 rows along k, or of one BK x 64 elements
constexpr int producer_registers = consumers == 3 ? 32 : 40;
constexpr int consumer_registers = consumers == 3 ? 160 : 232;
// What a tile is advanced by for the next 32 bytes of k: the next elements, or the next lines.
constexpr int step_x = ${x_along_k and "32" or "32 / sizeof(A_t) * 128"};
constexpr int step_y = ${y_along_k and "32" or "32 / sizeof(A_t) * 128"};
