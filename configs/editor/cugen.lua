---@meta
-- The config language of cugen, for editors with the Lua language server (LuaLS): names complete, and what is misspelt
-- or in the wrong place is marked while it is typed. This file is never run. A config is Lua without Lua's library; the few
-- functions of it that a config has stand at the end. docs/config.md describes the language and how to set up an editor.

-- ---- Where a declaration may stand ----

---A declaration that stands in the file itself.
---@class cugen.in_file

---A declaration in the braces of a kernel.
---@class cugen.in_kernel

---A declaration in the braces of an implementation.
---@class cugen.in_implementation

---A declaration in the braces of a launch.
---@class cugen.in_launch

---A declaration in the braces of a loop.
---@class cugen.in_loop

---@class cugen.include: cugen.in_file, cugen.in_kernel, cugen.in_implementation, cugen.in_launch, cugen.in_loop
---@class cugen.kernel: cugen.in_file
---@class cugen.problem: cugen.in_kernel
---@class cugen.problems: cugen.in_kernel
---@class cugen.check: cugen.in_kernel, cugen.in_implementation
---@class cugen.waive: cugen.in_kernel
---@class cugen.policy: cugen.in_kernel
---@class cugen.input: cugen.in_kernel
---@class cugen.output: cugen.in_kernel
---@class cugen.inout: cugen.in_kernel
---@class cugen.scratch: cugen.in_kernel
---@class cugen.scalar: cugen.in_kernel, cugen.in_implementation
---@class cugen.constant: cugen.in_kernel
---@class cugen.formula: cugen.in_kernel
---@class cugen.reference: cugen.in_kernel
---@class cugen.verify: cugen.in_kernel
---@class cugen.flops: cugen.in_kernel
---@class cugen.products: cugen.in_kernel
---@class cugen.bytes: cugen.in_kernel
---@class cugen.objective: cugen.in_kernel
---@class cugen.measure: cugen.in_kernel
---@class cugen.implementation: cugen.in_kernel
---@class cugen.tunable: cugen.in_kernel, cugen.in_implementation
---@class cugen.derive: cugen.in_kernel, cugen.in_implementation
---@class cugen.where: cugen.in_kernel, cugen.in_implementation
---@class cugen.heuristic: cugen.in_implementation
---@class cugen.requires: cugen.in_implementation
---@class cugen.try: cugen.in_implementation
---@class cugen.library: cugen.in_implementation
---@class cugen.tensor: cugen.in_implementation
---@class cugen.options: cugen.in_kernel, cugen.in_implementation
---@class cugen.include_dirs: cugen.in_kernel, cugen.in_implementation
---@class cugen.template: cugen.in_implementation
---@class cugen.loop: cugen.in_implementation
---@class cugen.launch: cugen.in_implementation, cugen.in_loop
---@class cugen.grid: cugen.in_implementation, cugen.in_launch
---@class cugen.block: cugen.in_implementation, cugen.in_launch
---@class cugen.shared: cugen.in_implementation, cugen.in_launch
---@class cugen.carveout: cugen.in_implementation, cugen.in_launch
---@class cugen.entry: cugen.in_implementation, cugen.in_launch
---@class cugen.overlap: cugen.in_implementation, cugen.in_launch
---@class cugen.cooperative: cugen.in_implementation, cugen.in_launch
---@class cugen.steps: cugen.in_implementation, cugen.in_launch, cugen.in_loop
---@class cugen.pass: cugen.in_implementation, cugen.in_launch

-- ---- Values ----

---A value of a problem or tunable: a number, `true` or `false`, or a word in quotes.
---@alias cugen.value number|boolean|string

---An expression in quotes, such as `"ceil_div(N, tile)"`, or a plain number or boolean. It has the operators of Lua, the
---functions `ceil_div round_up pow ceil_log select min max abs is_pow2 log2 sqrt exp log tanh erf sin cos floor ceil f32 sizeof eps`, the names of the config, and `device.…`.
---@alias cugen.expression string|number|boolean

---A type of elements.
---@alias cugen.dtype
---| "f64" # double
---| "f32" # float
---| "f16" # __half
---| "bf16" # __nv_bfloat16
---| "e4m3" # __nv_fp8_e4m3
---| "e5m2" # __nv_fp8_e5m2
---| "i8"
---| "i16"
---| "i32"
---| "i64"
---| "u8"
---| "u16"
---| "u32"
---| "u64"

---A type of scalars.
---@alias cugen.scalar_dtype
---| "index" # 32 bits, or 64 where a buffer of the problem needs that
---| "f64" # double
---| "f32" # float
---| "f16" # __half
---| "bf16" # __nv_bfloat16
---| "i8"
---| "i16"
---| "i32"
---| "i64"
---| "u8"
---| "u16"
---| "u32"
---| "u64"

---@alias cugen.layout
---| "row" # the last dimension is contiguous
---| "col" # the first dimension is contiguous

---Test data.
---@alias cugen.fill
---| "uniform" # fractions in [-1, 1), integers in [-8, 8], unsigned in [0, 16]
---| "identity"
---| "index" # 0, 1, 2, ...
---| "ones"
---| "zero"

---@alias cugen.memory
---| "device"
---| "pinned" # of the host, page-locked
---| "mapped" # of the host, read and written by the device in place
---| "managed" # moved by the driver
---| "registered" # of the host, from malloc, page-locked and mapped afterwards

---How the kernel reads an input.
---@alias cugen.access
---| "global" # by its address
---| "texture" # through a texture over the buffer itself
---| "array" # through a texture over a CUDA array that the buffer is copied into before each launch
---| "symbol" # as the `__device__` variable of its name, which the buffer is copied into before the launches
---| "pointer" # by its address in the variable of its name, `__device__ float *A`

---How the kernel reaches an output or inout.
---@alias cugen.result_access
---| "global" # by its address
---| "symbol" # as the `__device__` variable of its name, which is copied to the buffer after the launches
---| "pointer" # by its address in the variable of its name, `__device__ float *C`

---How the kernel reaches scratch.
---@alias cugen.scratch_access
---| "global" # by its address
---| "pointer" # by its address in the variable of its name, `__device__ float *partials`

---How the kernel reads a constant.
---@alias cugen.constant_access
---| "global" # by the address of a copy
---| "constant" # as the `__constant__` variable of its name
---| "symbol" # as the `__device__` variable of its name

---What a texture gives outside of its bounds.
---@alias cugen.address
---| "clamp" # the nearest element
---| "border" # zero
---| "wrap" # the texture repeated
---| "mirror" # the texture reflected, its edge twice

-- ---- Attributes ----

---What every buffer has.
---@class cugen.buffer_attributes
---@field dtype cugen.dtype|string the type of its elements, or an expression that gives one
---@field shape cugen.expression[] 1 to 4 expressions, each 1 or more
---@field layout? cugen.layout|string `row` by default; `col`, `row+8`, `row/32x8:col`, ...: docs/layouts.md
---@field pitch? cugen.expression elements from one row (or column) to the next; packed by default
---@field strides? cugen.expression[] elements from one index to the next in each dimension, in place of layout and pitch: a view of a larger array

---What every buffer has that cugen fills.
---@class cugen.data_attributes: cugen.buffer_attributes
---@field fill? cugen.fill|string `uniform` by default
---@field values? cugen.expression|number[] an expression of `index`, `i0` to `i3` and elements of inputs before it, or the elements in a list
---@field file? string `.npy` or raw bytes, found like a template
---@field generator? string `file.cu` or `file.cu:entry`: a kernel that makes the data

---@class cugen.input_attributes: cugen.data_attributes
---@field memory? cugen.memory|string `device` by default
---@field access? cugen.access|string `global` by default
---@field address? cugen.address|string of a texture; `clamp` by default
---@field overwrite? cugen.expression whether the kernel may write to it; `false` by default
---@field when? cugen.expression of which problems it is an argument; of all by default

---@class cugen.output_attributes: cugen.buffer_attributes
---@field memory? cugen.memory|string `device` by default
---@field access? cugen.result_access|string `global` by default
---@field tolerance? cugen.expression right is a difference of at most `tolerance * max(1, abs(wanted))`; 0 by default
---@field norm? cugen.expression right is, besides, a Euclidean norm of all differences of at most `norm` times the wanted result's

---@class cugen.inout_attributes: cugen.data_attributes
---@field memory? cugen.memory|string `device` by default
---@field access? cugen.result_access|string `global` by default
---@field tolerance? cugen.expression right is a difference of at most `tolerance * max(1, abs(wanted))`; 0 by default
---@field norm? cugen.expression right is, besides, a Euclidean norm of all differences of at most `norm` times the wanted result's

---@class cugen.scratch_attributes: cugen.buffer_attributes
---@field fill? cugen.fill|string `zero`: zeroed once, and every launch leaves it zero
---@field memory? cugen.memory|string `device` by default
---@field access? cugen.scratch_access|string `global` by default
---@field when? cugen.expression of which problems it is an argument; of all by default

---@class cugen.constant_attributes: cugen.data_attributes
---@field access? cugen.constant_access|string `constant` by default
---@field when? cugen.expression of which problems it is an argument; of all by default

---@class cugen.scalar_attributes
---@field dtype? cugen.scalar_dtype|string `index` by default
---@field value? cugen.expression the problem or tunable of the same name by default
---@field specialize? cugen.expression whether the value is part of the source instead of a parameter; `false` by default
---@field struct? string a struct passed by value: its name in the template, which defines it
---@field fields? table[] of the struct, `{ "dt", dtype = "f32", value = "0.1" }`, `{ "stride", dtype = "i32", pitch = "A" }` or `{ "elements", buffer = "A" }`
---@field when? cugen.expression of which problems it is an argument; of all by default

---@class cugen.waive_attributes
---@field at string part of the line that the finding names; blanks make no difference
---@field reason string why it is meant

---@class cugen.nearest_attributes
---@field distance number the largest |log2(a / b)| over the sizes: 1 is twice or half

---Fields of cublasLt: c = activation(alpha * a * b + beta * added + bias)
---@class cugen.library_fields
---@field a string the argument with the first factor
---@field b string the second factor
---@field c string the result
---@field added? string a matrix like c
---@field bias? string a number for each column of a c by rows
---@field alpha? string a scalar; 1 where it is left out
---@field beta? string a scalar; 1 where it is left out
---@field batch? cugen.expression products, whose matrices lie behind each other; default 1
---@field algorithm? cugen.expression the place in the list of the library's heuristics; default 0
---@field activation? cugen.expression `'none'` (the default), `'relu'` or `'gelu'`
---@field math? cugen.expression `'exact'` (the default), `'tf32'`, or `'fast'`: sums of 8-bit products with fewer bits

---@class cugen.tensor_attributes
---@field into? string the shared array that a copy writes or reads, which gives box and swizzle
---@field shared_by? cugen.expression blocks that each move a part of that array's lines; 1 by default
---@field box? cugen.expression[] without `into`: what one copy moves, an extent for each dimension of the argument, 1 to 256
---@field swizzle? cugen.expression 0, the default, 32, 64 or 128 bytes
---@field when? cugen.expression where it is false the argument is a pointer
---@field parts? cugen.expression equal parts along the outermost dimension, which become a dimension of their own; 1 by default

---What a shared array is.
---@class cugen.shared_attributes
---@field dtype cugen.expression
---@field shape cugen.expression[] 1 to 4 extents
---@field layout? cugen.expression where its elements lie: "row", "row+8", "row/32x8", "row^128"; "row" by default
---@field stages? cugen.expression so many equal arrays behind one another; the first index is the stage
---@field align? cugen.expression bytes, 16 by default
---@field dynamic? cugen.expression whether it lies in dynamic shared memory whatever its size

---How the compiler is called. Values may be expressions over tunables.
---@class cugen.options_attributes
---@field fast_math? cugen.expression `--use_fast_math`
---@field fmad? cugen.expression whether products and sums are contracted; the compiler does by default
---@field ftz? cugen.expression whether denormal floats are flushed to zero
---@field prec_div? cugen.expression whether divisions of floats are correctly rounded
---@field prec_sqrt? cugen.expression whether square roots of floats are correctly rounded
---@field restrict? cugen.expression all pointer parameters are `__restrict__`
---@field vectorize? cugen.expression `--extra-device-vectorization`
---@field maxrregcount? cugen.expression the most registers of a thread; 0: no limit
---@field opt_level? cugen.expression of ptxas, 0 to 3
---@field register_usage_level? cugen.expression of ptxas, 0 to 10
---@field load_cache? cugen.load_cache|string
---@field store_cache? cugen.store_cache|string
---@field std? cugen.std|string the version of C++; `c++17` by default
---@field define? table macros in front of the source: `"NAME"`, `"NAME=value"`, or `NAME = "expression"`, not defined where it is false
---@field flags? string[] flags of NVRTC, such as `"--device-int128"`

---@alias cugen.load_cache
---| "ca"
---| "cg"
---| "cs"
---| "lu"
---| "cv"

---@alias cugen.store_cache
---| "wb"
---| "cg"
---| "cs"
---| "wt"

---@alias cugen.std
---| "c++11"
---| "c++14"
---| "c++17"
---| "c++20"

---A scalar that has a value of its own in a launch: `{ "n", value = "ceil_div(N, tile)" }`.
---@class cugen.passed
---@field [1] string the scalar's name, or an expression that gives it
---@field value cugen.expression

---The parts of a launch; they may also stand as declarations.
---@class cugen.launch_attributes
---@field grid? cugen.expression[] 1 to 3 expressions
---@field block? cugen.expression[] 1 to 3 expressions
---@field shared? cugen.expression bytes of dynamic shared memory; 0 by default
---@field carveout? cugen.expression percent of what L1 and shared memory share; -1, the driver's choice, by default
---@field overlap? cugen.expression whether it may begin before the launch in front of it has ended; `false` by default
---@field cooperative? cugen.expression whether all of its blocks run at once, for `grid.sync()`; `false` by default
---@field steps? cugen.expression how many launches it makes, which see `step` and `steps`; 1 by default, 0: none
---@field pass? (string|cugen.passed)[] the kernel's parameters; every argument by default
---@field entry? string the `__global__` function, where the source has several

-- ---- In the file ----

---The declarations of another file, in this place. The file is named relative to this one; its declarations stand one after the other,
---without commas between them.
---```lua
---include "matmul/tiled.lua"
---```
---@param file string
---@return cugen.include
function include(file) end

---The one declaration of the file: a kernel and all that belongs to it.
---```lua
---kernel "matmul" { ... }
---```
---@param name string letters, digits, `_`, `-` and `.`; what the cache remembers
---@return fun(declarations: cugen.in_kernel[]): cugen.kernel
function kernel(name) end

-- ---- In a kernel ----

---A size, type or switch that the kernel is asked for. A list allows only its values, the first being the default.
---```lua
---problem "M" (4096)
---problem "dtype" { "f32", "f64" }
---```
---@param name string
---@return fun(default_or_list: cugen.value|cugen.value[]): cugen.problem
function problem(name) end

---Problems that `cugen tune CONFIG` tunes together: all combinations of these values. Several of them add up.
---```lua
---problems { M = { 64, 256 }, N = 4096 }
---```
---@param values table<string, cugen.value|cugen.value[]>
---@return cugen.problems
function problems(values) end

---The small problem that every variant must get right before it is timed. In an implementation: one of its own, for `cugen check`.
---```lua
---check { M = 96 }
---```
---@param values table<string, cugen.value>
---@return cugen.check
function check(values) end

---A finding of `cugen check` that is meant: of this kind, in a line that has this text.
---```lua
---waive "uninitialised read" { at = "sum += tail[i]", reason = "the sums of the tail are dropped" }
---```
---@param kind "uninitialised read"|"barrier after exit"|"same value written"
---@return fun(attributes: cugen.waive_attributes): cugen.waive
function waive(kind) end

---Which tuned problem, or portfolio, lends its variant to one that was not tuned.
---```lua
---policy "exact"
---policy "nearest" { distance = 1 }
---policy "buckets" { M = { 256, 1024, 4096 } }
---policy "portfolio" { distance = 1 }
---```
---@overload fun(name: "exact"): cugen.policy
---@overload fun(name: "nearest"): fun(attributes: cugen.nearest_attributes): cugen.policy
---@overload fun(name: "buckets"): fun(bounds: table<string, integer[]>): cugen.policy
---@overload fun(name: "portfolio"): cugen.policy
---@overload fun(name: "portfolio"): fun(attributes: cugen.nearest_attributes): cugen.policy
---@param name "exact"|"nearest"|"buckets"|"portfolio"
---@return any
function policy(name) end

---A buffer that the kernel reads.
---```lua
---input "A" { dtype = "f32", shape = { "M", "N" } }
---```
---@param name string
---@return fun(attributes: cugen.input_attributes): cugen.input
function input(name) end

---A buffer that the kernel writes, all of it.
---```lua
---output "C" { dtype = "f32", shape = { "M", "N" } }
---```
---@param name string
---@return fun(attributes: cugen.output_attributes): cugen.output
function output(name) end

---A buffer that the kernel reads and writes.
---```lua
---inout "C" { dtype = "f32", shape = { "M", "N" } }
---```
---@param name string
---@return fun(attributes: cugen.inout_attributes): cugen.inout
function inout(name) end

---A buffer for the kernel's own use, which cugen allocates.
---```lua
---scratch "partials" { dtype = "f32", shape = { "blocks" } }
---```
---@param name string
---@return fun(attributes: cugen.scratch_attributes): cugen.scratch
function scratch(name) end

---A number, passed by value or compiled in. In an implementation: a number of its own, which its launches pass.
---```lua
---scalar "M" {}
---```
---@param name string of a problem or tunable, where there is no `value`
---@return fun(attributes: cugen.scalar_attributes): cugen.scalar
function scalar(name) end

---A `__constant__` symbol of that name, which is no parameter; with `access = "global"` a pointer. Its values are those at
---bind.
---```lua
---constant "weights" { dtype = "f32", shape = { 9 } }
---```
---@param name string
---@return fun(attributes: cugen.constant_attributes): cugen.constant
function constant(name) end

---A scalar function as an expression, which templates and the reference call: `${combine("sum", "x")}`. The first parameter
---gives the type; `exp`, `log`, `tanh`, `erf`, `gelu`, `fast_gelu`, `relu` are there, scalar arguments by name, elements of inputs as `bias[n]`.
---```lua
---formula "combine(a, b)" "a + b"
---```
---@param head string
---@return fun(expression: string): cugen.formula
function formula(head) end

---What is right: a template that computes one output element a thread (`"file.cu:entry"` names the kernel where the file
---has several), or for each output and inout an expression or an `.npy` file; `"none"` says that nothing does.
---```lua
---reference "matmul_reference.cu"
---reference { out = "2.5 * x[i0] + y[i0]" }
---```
---@param right string|table<string, string>
---@return cugen.reference
function reference(right) end

---A kernel that judges results that are right in many ways: in place of the reference, or beside it. Thread t < count stores in
---`error[t]` how far element t of the largest output is off, in parts of what is allowed: right is at most 1.
---```lua
---verify "sort_verify.cu"
---```
---@param template string
---@return cugen.verify
function verify(template) end

---Floating-point operations of the problem.
---```lua
---flops "2 * M * N * K"
---```
---@param expression cugen.expression
---@return cugen.flops
function flops(expression) end

---The work is products of matrices of this type: a dtype, `"tf32"` or `"fp8"`. Where tensor cores multiply it, they are the
---ceiling.
---```lua
---products "dtype"
---```
---@param expression cugen.expression
---@return cugen.products
function products(expression) end

---The least bytes that must move.
---```lua
---bytes "2 * M * N * sizeof(dtype)"
---```
---@param expression cugen.expression
---@return cugen.bytes
function bytes(expression) end

---What variants are ranked by: time, energy, their product, the declared operations or bytes in a second, or an expression of them, such as "flops / energy".
---```lua
---objective "flops"
---```
---@param what "time"|"flops"|"bytes"|"energy"|"energy_delay"|string
---@return cugen.objective
function objective(what) end

---How variants are timed: in short batches, in a CUDA graph, under continuous load, or with cold caches.
---```lua
---measure "graph"
---```
---@param way "burst"|"graph"|"sustained"|"cold"
---@return cugen.measure
function measure(way) end

---One way to do it: a template, its tunables and its launch. Those that come first win ties.
---```lua
---implementation "tiled" { ... }
---```
---@param name string
---@return fun(declarations: cugen.in_implementation[]): cugen.implementation
function implementation(name) end

-- ---- In an implementation; the first three also in the kernel, for all implementations ----

---A name with its values, in the order in which they are tried.
---```lua
---tunable "tile" { 16, 32 }
---```
---@param name string
---@return fun(values: (integer|boolean|string)[]): cugen.tunable
function tunable(name) end

---A name for an expression, in later expressions and in the template.
---```lua
---derive "threads" "tile * tile"
---```
---@param name string
---@return fun(expression: cugen.expression): cugen.derive
function derive(name) end

---A restriction: only combinations for which it is true are variants.
---```lua
---where "tile % vec == 0"
---```
---@param expression cugen.expression
---@return cugen.where
function where(expression) end

---As where, but by experience: the fastest variants of GPUs of this architecture are among those for which it is true. On other
---devices, and with `--all`, it leaves out nothing.
---```lua
---heuristic "sm_90" "tile >= 32"
---```
---@param arch string
---@return fun(expression: cugen.expression): cugen.heuristic
function heuristic(arch) end

---What the implementation asks of the device or the problem; where it is not met, it has no variants.
---```lua
---requires "device.compute_capability >= 80"
---```
---@param expression cugen.expression
---@return cugen.requires
function requires(expression) end

---A variant that is known to be good somewhere: tuning begins with it where it is one. What is left out has the first
---value that makes a variant.
---```lua
---try { tile = 32 }
---```
---@param values table<string, cugen.value>
---@return cugen.try
function try(values) end

---How the kernel is compiled, in a kernel for all its implementations.
---```lua
---options { fast_math = true, maxrregcount = 64 }
---```
---@param options cugen.options_attributes
---@return cugen.options
function options(options) end

---Folders of headers, relative to the config and inside its folder. Headers beside the template need none.
---```lua
---include_dirs { "include" }
---```
---@param folders string[]
---@return cugen.include_dirs
function include_dirs(folders) end

---The .cu file that is expanded.
---```lua
---template "matmul_tiled.cu"
---```
---@param file string
---@return cugen.template
function template(file) end

---A library's kernel, in place of a template and its launch. Where the library is not installed, the implementation has no variants.
---```lua
---library "cublasLt" { a = "A", b = "B", c = "C" }
---```
---@param name "cublasLt"
---@return fun(fields: cugen.library_fields): cugen.library
function library(name) end

---A buffer that the implementation reaches through a tensor map, for the tensor memory accelerator: the kernel's parameter is
---`const __grid_constant__ tensor_map A`.
---```lua
---tensor "A" { into = "As" }
---```
---@param name string of the argument
---@return fun(attributes: cugen.tensor_attributes): cugen.tensor
function tensor(name) end

---Launches that are made again and again: `steps` says how many rounds, and each round makes all of them in order. Their expressions see
---`step` (0, 1, ...) and `steps`.
---```lua
---loop { steps "tmax", launch { ... }, launch { ... } }
---```
---@param parts cugen.in_loop[]
---@return cugen.loop
function loop(parts) end

---One of several launches, in order. It takes the place of `grid`, `block`, `shared`, `carveout`, `overlap`, `cooperative`,
---`steps`, `pass` and `entry`.
---```lua
---launch { entry = "pass_1", grid = { "M" }, block = { 256 } }
---```
---@param parts cugen.launch_attributes|cugen.in_launch[]
---@return cugen.launch
function launch(parts) end

---Blocks in the grid: 1 to 3 expressions.
---```lua
---grid { "ceil_div(N, tile)" }
---```
---@param extents cugen.expression[]
---@return cugen.grid
function grid(extents) end

---Threads in a block: 1 to 3 expressions.
---```lua
---block { "tile", "tile" }
---```
---@param extents cugen.expression[]
---@return cugen.block
function block(extents) end

---An array in shared memory, whose elements the template names by their indices: `As(r, c)`. Without a table, the bytes of dynamic
---shared memory that the kernel carves itself; 0 by default.
---```lua
---shared "As" { dtype = "f32", shape = { "BM", "BK" } }
---```
---@param name cugen.expression
---@return cugen.shared|fun(attributes: cugen.shared_attributes): cugen.shared
function shared(name) end

---How much of what L1 and shared memory share the kernel prefers as shared memory: 0 to 100 percent, or -1 for the
---driver's choice.
---```lua
---carveout "50"
---```
---@param percent cugen.expression
---@return cugen.carveout
function carveout(percent) end

---Whether the launch may begin before what stands in front of it in the stream has ended. The kernel waits for that itself, by
---`griddepcontrol.wait`.
---```lua
---overlap "true"
---```
---@param condition cugen.expression
---@return cugen.overlap
function overlap(condition) end

---Whether the launch is a cooperative one: all of its blocks run at once, so that they may wait for each other by `grid.sync()`. A grid of
---more blocks than the device holds at a time cannot be launched so.
---```lua
---cooperative "true"
---```
---@param condition cugen.expression
---@return cugen.cooperative
function cooperative(condition) end

---How many launches this one makes, one after the other; 0: none. Its other expressions see `step` (0, 1, ...) and `steps`.
---```lua
---steps "ceil_log(N, 2 * threads)"
---```
---@param count cugen.expression
---@return cugen.steps
function steps(count) end

---What the kernel is passed, in order: names of arguments, expressions that give one, scalars with a value of their own.
---```lua
---pass { "x", "y", { "n", value = 32 } }
---```
---@param parameters (string|cugen.passed)[]
---@return cugen.pass
function pass(parameters) end

---The `__global__` function to launch, where the source has several or it is a C++ template. Tunables and other names work as
---in the template's text, `${expression}` puts in a value: `"reduce<${tile // 2}, half>"`.
---```lua
---entry "matmul"
---```
---@param name string
---@return cugen.entry
function entry(name) end

-- ---- Functions of Lua's library ----

---Ends with the message, at its line, when the value is false or nil.
---@generic T
---@param value T
---@param message? any
---@param ... any
---@return T
---@return any ...
function assert(value, message, ...) end

---Ends the config with a message.
---@param message any
---@param level? integer
function error(message, level) end

---@generic T
---@param list T[]
---@return fun(list: T[], index?: integer): integer, T
---@return T[]
---@return integer
function ipairs(list) end

---Numbers, then strings, then booleans, each in rising order.
---@generic K, V
---@param of table<K, V>
---@return fun(of: table<K, V>, key?: K): K, V
---@return table<K, V>
---@return nil
function pairs(of) end

---@param from integer|"#"
---@param ... any
---@return any ...
function select(from, ...) end

---@param value any
---@param base? integer
---@return number?
function tonumber(value, base) end

---Of numbers, strings, booleans and nil only.
---@param value number|string|boolean|nil
---@return string
function tostring(value) end

---@param value any
---@return "nil"|"boolean"|"number"|"string"|"table"|"function"|"userdata"
function type(value) end

math = {}

---@generic N: number
---@param x N
---@return N
function math.abs(x) end

---@param x number
---@return integer
function math.ceil(x) end

---@param x number
---@return integer
function math.floor(x) end

---@param x number
---@param y number
---@return number
function math.fmod(x, y) end

---@generic N: number
---@param x N
---@param ... N
---@return N
function math.max(x, ...) end

---@generic N: number
---@param x N
---@param ... N
---@return N
function math.min(x, ...) end

---@param x any
---@return integer?
function math.tointeger(x) end

---@param x any
---@return "integer"|"float"|nil
function math.type(x) end

table = {}

---@param list (string|number)[]
---@param separator? string
---@param first? integer
---@param last? integer
---@return string
function table.concat(list, separator, first, last) end

---@overload fun(list: any[], value: any)
---@param list any[]
---@param position integer
---@param value any
function table.insert(list, position, value) end

---@generic T
---@param list T[]
---@param position? integer
---@return T?
function table.remove(list, position) end

---A stable sort.
---@generic T
---@param list T[]
---@param before? fun(a: T, b: T): boolean
function table.sort(list, before) end

---@generic T
---@param list T[]
---@param first? integer
---@param last? integer
---@return T ...
function table.unpack(list, first, last) end
