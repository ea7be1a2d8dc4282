-- GEMM of CLBlast: a search space published for auto-tuners (Kernel Tuner benchmark hub; arXiv 2509.26253). Of
-- 663,552 combinations 116,928 are valid. Only counted, never generated. `/` is exact here: every operand is a power
-- of two and the product is never less than the divisor.
kernel "gemm" {
  output "out" { dtype = "f32", shape = { 1 } }, -- a config has one
  reference "none",
  implementation "published" {
    template "none.cu",
    tunable "GEMMK" { 0 },
    tunable "MWG" { 16, 32, 64, 128 },
    tunable "NWG" { 16, 32, 64, 128 },
    tunable "KWG" { 16, 32 },
    tunable "MDIMC" { 8, 16, 32 },
    tunable "NDIMC" { 8, 16, 32 },
    tunable "MDIMA" { 8, 16, 32 },
    tunable "NDIMB" { 8, 16, 32 },
    tunable "KWI" { 2 },
    tunable "VWM" { 1, 2, 4, 8 },
    tunable "VWN" { 1, 2, 4, 8 },
    tunable "STRM" { 0, 1 },
    tunable "STRN" { 0, 1 },
    tunable "SA" { 0, 1 },
    tunable "SB" { 0, 1 },
    tunable "KREG" { 1 },
    tunable "PRECISION" { 32 },
    where "KWG % KWI == 0",
    where "MWG % (MDIMC * VWM) == 0",
    where "NWG % (NDIMC * VWN) == 0",
    where "MWG % (MDIMA * VWM) == 0",
    where "NWG % (NDIMB * VWN) == 0",
    where "KWG % ((MDIMC * NDIMC) / MDIMA) == 0",
    where "KWG % ((MDIMC * NDIMC) / NDIMB) == 0",
    where "(MWG ~= 128 or NWG ~= 128 or MDIMC ~= 8 or NDIMC ~= 8)",
    grid { "1" },
    block { "1" },
  },
}
