-- Numbers that follow from the tunables of wgmma and wgmma_stream alike.
derive "by_rows"       "(layout_c == 'row') ~= swap"       -- C's rows are the tile's rows
derive "cluster_size"  "cluster_x * cluster_y * split_k"   -- blocks
derive "threads"       "128 * (consumers + 1)"
derive "rows"          "BM // select(pingpong, 1, consumers)" -- of a consumer
derive "sums"          "rows * BN // 128"                  -- of a thread
derive "waiting"       "select(deferred, sums // 2, 0)"    -- registers of a tile that is being stored
-- Whether k is contiguous in the operand whose rows are C's lines, and in the other one.
derive "x_along_k"     "select(by_rows, layout_a == 'row', layout_b == 'col')"
derive "y_along_k"     "select(by_rows, layout_b == 'col', layout_a == 'row')"
derive "row_bytes"     "BN * sizeof(result)"
derive "cluster_lines"   "select(by_rows, M, N)"           -- of C, along the tile's rows and columns
derive "cluster_columns" "select(by_rows, N, M)"
derive "cluster_tiles" "ceil_div(cluster_lines, BM * cluster_x) * ceil_div(cluster_columns, BN * cluster_y) * batch"
derive "k_steps"       "ceil_div(K * sizeof(operand), 128)"
