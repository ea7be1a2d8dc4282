#pragma once
// The ring of stages of matmul_wgmma and matmul_wgmma_stream: in a stage lie BM lines of X and BN of Y, 128 bytes of k each.
//@ -- A_map, B_map and C_map are the tensor maps of A, B and C, or of their padded copies. X is the operand whose
//@ -- lines are C's, Y the other one; C_lines and C_columns are the sizes of C along its lines' numbers and columns'.
//@ A_map, B_map, C_map = pads_a and "padded_a" or "A", pads_b and "padded_b" or "B", pads_c and "padded_c" or "C"
//@ local a = { map = A_map, tile = "tile_a", along_k = A_layout == "row" }
//@ local b = { map = B_map, tile = "tile_b", along_k = B_layout == "col" }
//@ X, Y = by_rows and a or b, by_rows and b or a
//@ -- The element of an operand's tile at a line and a k, as indices.
//@ function tile_indices(operand, line, k)
//@   return "stage, " .. (operand.along_k and line .. ", " .. k or k .. ", " .. line)
//@ end
//@ C_lines, C_columns = by_rows and "M" or "N", by_rows and "N" or "M"
//@ include "lib/tma.cuh"
//@ include "lib/wgmma.cuh"

constexpr int sharers = pingpong ? 1 : consumers;
constexpr int parts = BM / 64 / sharers; // of 64 rows, for each consumer
constexpr int stage_bytes = 128 * (BM + BN);
constexpr int producer_registers = consumers == 3 ? 32 : 40;
constexpr int consumer_registers = consumers == 3 ? 160 : 232;
