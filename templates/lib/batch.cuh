//@ -- Returns an expression for this block's matrix of a batch, of number blockIdx.z. The matrices follow each other in memory:
//@ -- matrices stored by rows stand below each other, matrices stored by columns side by side.
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
//@ -- The body of a kernel that prepares A and B: the first `before` blocks run the statement `on_a`, the later ones `on_b`. If one
//@ -- of the statements is missing, all blocks run the other one.
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
