    // Included in the kernel: how a consumer computes its results from the sums, and stores them.
//@ -- Word w of a part's results, as it is stored: two neighbouring results of 2 bytes, or one of 4 bytes.
//@ function words_of(sums, part, w, line, column)
//@   if sizeof(result) == 4 then
//@     return (result == "i32" and "static_cast<unsigned>" or "__float_as_uint") .. "(result_of(" .. sums .. "[" .. part .. "][" .. w .. "], " .. line .. ", " .. column ..
//@            " + (" .. w .. ") / 4 * 8, (" .. w .. ") % 4))"
//@   end
//@   local one = ", " .. line .. ", " .. column .. " + (" .. w .. ") / 2 * 8, (" .. w .. ") % 2 * 2"
//@   return "pack(result_of(" .. sums .. "[" .. part .. "][2 * (" .. w .. ")]" .. one .. "), result_of(" .. sums ..
//@          "[" .. part .. "][2 * (" .. w .. ") + 1]" .. one .. " + 1))"
//@ end
//@ -- The value to store for a sum at a line and a column of C. A line or column outside of C, whose value is not stored, becomes the last.
//@ function stored_in_line(acc, line, column)
//@   line = "min(" .. line .. ", static_cast<int>(" .. C_lines .. ") - 1)"
//@   column = "min(" .. column .. ", static_cast<int>(" .. C_columns .. ") - 1)"
//@   return stored(acc, by_rows and line or column, by_rows and column or line, "z")
//@ end
//@ if batch > 1 then
    int z = 0; // of the product that is stored
//@ end
    // Returns the element of C for number e of the thread's four sums of 8 columns, which begin at `column`; the part's 64 lines begin
    // at `line`.
    const auto result_of = [&](${wgmma_sum} acc, int line, int column, int e) {
      line += warp * 16 + lane / 4 + e / 2 * 8;
      column += lane % 4 * 2 + e % 2;
      return static_cast<${result == "i32" and "int" or "float"}>(${stored_in_line("acc", "line", "column")});
    };
    // Stores store_n columns of 64 lines, from (line, column) on; word(w) is the thread's w-th word, of two results or one.
    const auto store = [&](int line, int column, auto word) {
      const int slot = consumer * store_buffers + buffer;
      if (thread == 0) bulk_wait_read<store_buffers - 1>();
      named_sync(6 + consumer, 128);
//@ if sizeof(result) == 4 and swap then
      // Transposed, in two parts of 32 lines.
#pragma unroll
      for (int w = 0; w < store_n / 2; ++w) {
        staged.as<unsigned>(2 * slot + warp / 2, w / 4 * 8 + lane % 4 * 2 + w % 2, warp % 2 * 16 + lane / 4 + w / 2 % 2 * 8) = word(w);
      }
//@ elseif sizeof(result) == 4 then
#pragma unroll
      for (int w = 0; w < store_n / 2; w += 2) {
        staged.as<uint2>(slot, warp * 16 + lane / 4 + w / 2 % 2 * 8, w / 4 * 8 + lane % 4 * 2) = {word(w), word(w + 1)};
      }
//@ else
//@ local at = swap and "w * 4 + lane / 16 * 8 + lane % 8, warp * 16 + lane / 8 % 2 * 8" or "warp * 16 + lane % 16, w * 4 + lane / 16 * 8"
#pragma unroll
      for (int w = 0; w < store_n / 4; w += 4) {
        store_matrices(shared_address(staged.at(slot, ${at})), word(w), word(w + 1), word(w + 2), word(w + 3));
      }
//@ end
      tensor_fence();
      named_sync(6 + consumer, 128);
//@ local across, down = swap and "line" or "column", swap and "column" or "line"
//@ local z = batch > 1 and ", z" or ""
//@ if sizeof(result) == 4 and swap then
      if (thread == 0) {
        tensor_store(${C_map}, shared_address(staged.at(2 * slot, 0, 0)), ${across}, ${down}${z});
        tensor_store(${C_map}, shared_address(staged.at(2 * slot + 1, 0, 0)), ${across} + 32, ${down}${z});
      }
//@ else
      if (thread == 0) tensor_store(${C_map}, shared_address(staged.at(slot, 0, 0)), ${across}, ${down}${z});
//@ end
      if (++buffer == store_buffers) buffer = 0;
    };
//@ if split_k == 1 then
    constexpr int words = store_n * sizeof(C_t) / 8; // of a thread, in one store
//@ end
