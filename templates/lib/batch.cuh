//@ -- The matrices of a batch follow each other in memory, line after line: those stored by rows stand below each
//@ -- other, the others side by side. The third dimension of the grid counts them.
//@ function of_batch(name, layout, rows, columns)
//@   if batch == 1 then return name end
//@   local distance = layout == "row" and rows .. " * " .. name .. "_stride0" or columns .. " * " .. name .. "_stride1"
//@   return name .. " + static_cast<index_t>(blockIdx.z) * " .. distance
//@ end
//@ -- The value to store for a sum at a row and column of this product's C; the formula takes those of the whole batch.
//@ function stored(sum, row, col)
//@   if accumulator == "i32" and result ~= "i32" then sum = "static_cast<float>(" .. sum .. ")" end
//@   if batch > 1 and C_layout == "row" then row = "static_cast<index_t>(blockIdx.z) * M + " .. row end
//@   if batch > 1 and C_layout == "col" then col = "static_cast<index_t>(blockIdx.z) * N + " .. col end
//@   return epilogue(sum, row, col)
//@ end
