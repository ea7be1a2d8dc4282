-- Probabilistic record linkage, SIZE x SIZE inputs: a search space published for auto-tuners (Kernel Tuner benchmark
-- hub; arXiv 2509.26253). For a SIZE of 2 1,200 of 36,864 combinations are valid, for 4 10,800 of 9,437,184, for 8
-- 48,720 of 2,415,919,104. Only counted, never generated. `/` of two sizes is exact wherever it is tried, because the
-- remainders are ruled out before; 1.0 / x is the true division of the original. The test puts SIZE in front.
local function upto(last)
  local values = {}
  for i = 1, last do values[i] = i end
  return values
end

kernel "atf_prl" {
  output "out" { dtype = "f32", shape = { 1 } }, -- a config has one
  reference "none",
  implementation "published" {
    template "none.cu",
    tunable "CACHE_L_CB" { 0, 1 },
    tunable "CACHE_P_CB" { 0, 1 },
    tunable "G_CB_RES_DEST_LEVEL" { 2 },
    tunable "L_CB_RES_DEST_LEVEL" { 2, 1, 0 },
    tunable "P_CB_RES_DEST_LEVEL" { 2, 1, 0 },
    tunable "INPUT_SIZE_L_1" { SIZE },
    tunable "L_CB_SIZE_L_1" (upto(SIZE)),
    tunable "P_CB_SIZE_L_1" (upto(SIZE)),
    tunable "OCL_DIM_L_1" { 0, 1 },
    tunable "NUM_WG_L_1" (upto(SIZE)),
    tunable "NUM_WI_L_1" (upto(SIZE)),
    tunable "INPUT_SIZE_R_1" { SIZE },
    tunable "L_CB_SIZE_R_1" (upto(SIZE)),
    tunable "P_CB_SIZE_R_1" (upto(SIZE)),
    tunable "OCL_DIM_R_1" { 0, 1 },
    tunable "NUM_WG_R_1" (upto(SIZE)),
    tunable "NUM_WI_R_1" (upto(SIZE)),
    tunable "L_REDUCTION" { 1 },
    tunable "P_WRITE_BACK" { 0 },
    tunable "L_WRITE_BACK" { 1 },
    where "L_CB_RES_DEST_LEVEL <= G_CB_RES_DEST_LEVEL",
    where "P_CB_RES_DEST_LEVEL <= L_CB_RES_DEST_LEVEL",
    where "INPUT_SIZE_L_1 % L_CB_SIZE_L_1 == 0",
    where "L_CB_SIZE_L_1 % P_CB_SIZE_L_1 == 0",
    where "(INPUT_SIZE_L_1 / L_CB_SIZE_L_1) % NUM_WG_L_1 == 0",
    where "(L_CB_SIZE_L_1 / P_CB_SIZE_L_1) % NUM_WI_L_1 == 0",
    where "NUM_WI_L_1 <= (INPUT_SIZE_L_1 + NUM_WG_L_1 - 1.0 / NUM_WG_L_1)",
    where "INPUT_SIZE_R_1 % L_CB_SIZE_R_1 == 0",
    where "L_CB_SIZE_R_1 % P_CB_SIZE_R_1 == 0",
    where "OCL_DIM_R_1 ~= OCL_DIM_L_1",
    where "(INPUT_SIZE_R_1 / L_CB_SIZE_R_1) % NUM_WG_R_1 == 0",
    where "(L_CB_SIZE_R_1 / P_CB_SIZE_R_1) % NUM_WI_R_1 == 0",
    where "NUM_WI_R_1 <= (INPUT_SIZE_R_1 + NUM_WG_R_1 - 1.0 / NUM_WG_R_1)",
    where "NUM_WG_R_1 == 1 or (NUM_WG_R_1 % L_CB_SIZE_R_1 == 0)",
    grid { "1" },
    block { "1" },
  },
}
