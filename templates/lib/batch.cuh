//@ -- The matrices of a batch follow each other in memory, line after line: those stored by rows stand below each
//@ -- other, the others side by side. The third dimension of the grid counts them.
//@ function of_batch(name, layout, rows, columns)
//@   if batch == 1 then return name end
//@   local distance = layout == "row" and rows .. " * " .. name .. "_stride0" or columns .. " * " .. name .. "_stride1"
//@   return name .. " + static_cast<index_t>(blockIdx.z) * " .. distance
//@ end
//@ -- Returns the value to store for a sum at a row and column of C in the product of number `product`, by default the block's.
//@ -- The epilogue's formula takes the row and column in the whole batch.
//@ function stored(sum, row, col, product)
//@   product = "static_cast<index_t>(" .. (product or "blockIdx.z") .. ")"
//@   if accumulator == "i32" and result ~= "i32" then sum = "static_cast<float>(" .. sum .. ")" end
//@   if batch > 1 and C_layout == "row" then row = product .. " * M + " .. row end
//@   if batch > 1 and C_layout == "col" then col = product .. " * N + " .. col end
//@   return epilogue(sum, row, col)
//@ end
//@ -- In a launch that prepares A and B: the first `before` blocks run the statement `on_a`, those after them `on_b`. Where only one
//@ -- is there, all blocks run it.
//@ function prepare(on_a, before, on_b)
//@   if on_a and on_b then
  if (blockIdx.x < ${before}) {
    ${on_a}
  } else {
    ${on_b}
  }
//@   else
  ${on_a or on_b}
//@   end
//@ end
