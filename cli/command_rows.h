/* Every command, in the order of help. A new command is a row here and a function command_NAME. Who
   includes this file defines COMMAND(ID, name, ...), whose further arguments initialise a struct
   cli_command. */
COMMAND(
    TUNE, tune, .name = "tune", .operand = "CONFIG",
    .summary = "find the fastest variant on this device and remember it",
    .details = "Compiles variants of the config's kernel, verifies each against the reference, "
               "times the correct ones and remembers every result. Ctrl-C loses nothing: run the "
               "same command again to resume. Without a GPU it predicts for a described one.",
    .more = "--set M=64,128,256 tunes a problem for each value, several lists all combinations, "
            "all within one budget. --device model:NAME names the described GPU. The best "
            "prediction is verified on the cpu device; if it is wrong, the next one (--verify). "
            "With --device cpu variants run on the processor, with the config's check problem.",
    .example = "cugen tune matmul --set M=8192 --set dtype=bf16 --budget 5m",
    .device = "cuda:0, cpu, H200, model:H200; a list of these; all (default: first GPU, else "
              "model:A100, predicted)",
    .options =
        (const enum cli_option[]){
            OPTION_PROBLEM_FILE, OPTION_FROM,     OPTION_PORTFOLIO,      OPTION_BUDGET,
            OPTION_PATIENCE,     OPTION_STRATEGY, OPTION_OBJECTIVE,      OPTION_MEASURE,
            OPTION_PREFER,       OPTION_SEED,     OPTION_BITWISE,        OPTION_BASELINE,
            OPTION_AGAIN,        OPTION_PATTERN,  OPTION_IMPLEMENTATION, OPTION_WHERE,
            OPTION_EVERY,        OPTION_THREADS,  OPTION_TIMEOUT,        OPTION_COMPILE_TIMEOUT,
            OPTION_VERIFY,       OPTION_TOP,      OPTION_WIDE,           OPTION_COUNT},
    .common = true)
COMMAND(
    RUN, run, .name = "run", .operand = "CONFIG",
    .summary = "verify and time one variant: the remembered best",
    .details = "Verifies and times one variant in a process of its own. Nothing is remembered. "
               "Without --variant it takes what an application's plan would use: the best "
               "remembered for this problem. Else it is, in this order, the best for the policy's "
               "problem, a similar GPU's best, the model's choice, or the config's default.",
    .more = "The timed launches lie between cuProfilerStart and cuProfilerStop, for profilers:\n  "
            "ncu --profile-from-start off --target-processes all -c 1 cugen run CONFIG",
    .example = "cugen run matmul --set M=8192 --set dtype=bf16",
    .device = "cuda:0, cpu (default: the first GPU, else cpu)",
    .options = (const enum cli_option[]){OPTION_VARIANT, OPTION_OBJECTIVE, OPTION_MEASURE,
                                         OPTION_PREFER, OPTION_TIMEOUT, OPTION_WIDE, OPTION_COUNT},
    .common = true, .own_fallback = true)
COMMAND(
    CHECK, check, .name = "check", .operand = "[CONFIG]",
    .summary = "find races, bad accesses and bank conflicts",
    .details = "Runs variants on the cpu device, watches every memory access and compares the "
               "results. It finds races, uninitialised reads, accesses out of bounds, divergent "
               "barriers and hangs, with the template's line, block, thread and array. It counts "
               "passes over banks and sectors. Exit code 11: something was found.",
    .more = "Without --variant, --all, --branches or --sample it takes variants that show every "
            "value of every tunable, on several sizes, types and layouts. Without CONFIG it checks "
            "all kernels that ship, by --branches. It names what cannot run on the cpu device, and "
            "does not check that.",
    .example = "cugen check matmul --variant \"tiled tile=16\"",
    .device = "cpu: what is checked runs there", .own_device = true,
    .options = (const enum cli_option[]){OPTION_VARIANT, OPTION_IMPLEMENTATION, OPTION_WHERE,
                                         OPTION_ALL, OPTION_BRANCHES, OPTION_SAMPLE, OPTION_SEED,
                                         OPTION_THREADS, OPTION_TIMEOUT, OPTION_STRICT,
                                         OPTION_NO_TRAFFIC, OPTION_WIDE, OPTION_COUNT},
    .common = true, .own_fallback = true)
COMMAND(GEN, gen, .name = "gen", .operand = "CONFIG",
        .summary = "print the specialised source of a variant",
        .details =
            "Prints the expanded .cu of one variant, as the compiler gets it; nvcc compiles it "
            "as it stands. Without --variant it takes what an application's plan would use: the "
            "best remembered for this problem. Else it is the best for the policy's problem or "
            "of a similar GPU, then what ships, the model's choice, the config's default. --ptx "
            "prints what NVRTC makes of it; the GPU need not be here.",
        .example = "cugen gen matmul --variant \"tiled tile=16\" -o tiled.cu",
        .options = (const enum cli_option[]){OPTION_VARIANT, OPTION_BEST, OPTION_OBJECTIVE,
                                             OPTION_MEASURE, OPTION_PREFER, OPTION_PTX,
                                             OPTION_OUTPUT, OPTION_COUNT},
        .common = true, .prints_data = true)
COMMAND(
    EXPORT, export, .name = "export", .operand = "CONFIG",
    .summary = "write tuned variants as C that needs only the driver",
    .details = "Writes a folder with a header, a source that contains the compiled variants, and "
               "how to build and use them. At run time they need no compiler, toolkit or cugen. It "
               "takes what is measured of the config, for every device and problem, and default "
               "variants for the rest. Nothing is measured, and no GPU is needed. A device for "
               "which NVRTC has no target is left out.",
    .more =
        "--set takes the problems with these values alone. --variant takes one variant, measured "
        "or not, and --portfolio the few of portfolios and their rules, and nothing else.",
    .example = "cugen export matmul --devices sm_90a -o kernels",
    .options = (const enum cli_option[]){OPTION_OUTPUT, OPTION_DEVICES, OPTION_PROBLEMS,
                                         OPTION_VARIANT, OPTION_ONLY_PORTFOLIO, OPTION_DISTANCE,
                                         OPTION_PREDICTED, OPTION_OBJECTIVE, OPTION_MEASURE,
                                         OPTION_PREFER, OPTION_PTX, OPTION_FORCE, OPTION_COUNT},
    .common = true)
COMMAND(NEW, new, .name = "new", .operand = "KERNEL",
        .summary = "write a first config for a kernel that you have",
        .details =
            "KERNEL is FILE.cu, or FILE.cu:NAME where a file has several. Reads parameters, "
            "template parameters and macros under #ifndef, and writes FILE.lua and a reference to "
            "fill in beside it. What is guessed is marked, and nothing is overwritten. --json "
            "prints both texts and writes nothing. With --kernel-tuner, KERNEL is a script in T1 "
            "(JSON), whose tunables, restrictions, arguments and launch the config takes.",
        .example = "cugen new blur.cu",
        .options = (const enum cli_option[]){OPTION_KERNEL_TUNER, OPTION_JSON, OPTION_QUIET,
                                             OPTION_HELP, OPTION_COUNT})
COMMAND(SPACE, space, .name = "space", .operand = "CONFIG",
        .summary = "count the variants, and what each rule removes",
        .details = "Counts all combinations of tunables, and the valid ones. For each restriction "
                   "it counts those that it was the first to remove; likewise for what the device "
                   "cannot launch, what heuristics leave out and what the options leave out. "
                   "'cugen gen CONFIG --variant TEXT' names the rule that a variant breaks.",
        .example = "cugen space matmul --list 20",
        .options = (const enum cli_option[]){OPTION_PATTERN, OPTION_IMPLEMENTATION, OPTION_WHERE,
                                             OPTION_EVERY, OPTION_LIST, OPTION_WIDE, OPTION_COUNT},
        .common = true)
COMMAND(
    LAYOUT, layout, .name = "layout", .operand = "CONFIG",
    .summary = "draw the arrays, count bank conflicts and sectors",
    .details = "Shows where the elements of a variant's arguments and shared arrays lie, and "
               "counts from their layouts alone what an access of a warp touches: passes over the "
               "banks of shared memory, sectors of global memory. Nothing is compiled or run.",
    .more = "Lanes go along the last index (row) or the one before it (col), an element each or "
            "--bytes, or ask for four matrices of 8 rows of 16 bytes (ldmatrix).",
    .example = "cugen layout transpose --variant \"padded tile=32\" --array part",
    .options = (const enum cli_option[]){OPTION_VARIANT, OPTION_ARRAY, OPTION_ACCESS, OPTION_BYTES,
                                         OPTION_WIDE, OPTION_COUNT},
    .common = true)
COMMAND(SHOW, show, .name = "show", .operand = "[CONFIG]",
        .summary = "show the problem, the arguments, how to call the kernel",
        .details = "Shows what the config describes for this problem and device: its policy, "
                   "implementations, arguments with type, shape, strides and bytes, and the "
                   "launches of one variant. Without --variant it is the one that a plan would "
                   "use. Without CONFIG it lists the configs that ship.",
        .more = "--trace shows how tuning went instead: the best so far over the time spent, of "
                "the records that 'cugen report' takes. The device need not be here.",
        .example = "cugen show matmul --set dtype=f16",
        .options = (const enum cli_option[]){OPTION_VARIANT, OPTION_OBJECTIVE, OPTION_MEASURE,
                                             OPTION_PREFER, OPTION_TRACE, OPTION_WIDE,
                                             OPTION_COUNT},
        .common = true)
COMMAND(
    REPORT, report, .name = "report", .operand = "CONFIG",
    .summary = "write what is remembered of a kernel as an HTML page",
    .details =
        "Writes one self-contained HTML page for the problem of --set, to a file (-o) or a pipe: "
        "roofline, best of each implementation, convergence, effect of each parameter, best "
        "variants, failures, machine. It is made from the cache: the device need not be here.",
    .more = "Of the devices that --device means it takes a GPU before the cpu device, measurements "
            "before predictions, and the latest. Without a GPU, and where nothing is remembered of "
            "the kernel, it predicts a few variants on the spot.",
    .example = "cugen report matmul --set M=8192 -o matmul.html",
    .device = "cuda:0, cpu, model:H200, part of a device's name (default: all)",
    .options = (const enum cli_option[]){OPTION_OUTPUT, OPTION_TOP, OPTION_OBJECTIVE,
                                         OPTION_MEASURE, OPTION_PREFER, OPTION_SET, OPTION_DEVICE,
                                         OPTION_CACHE, OPTION_CONFIG_DIR, OPTION_TEMPLATE_DIR,
                                         OPTION_DEVICE_DIR, OPTION_QUIET, OPTION_HELP,
                                         OPTION_COUNT},
    .prints_data = true, .own_fallback = true)
COMMAND(
    ROOFLINE, roofline, .name = "roofline", .operand = "[CONFIG]",
    .summary = "measure what bounds kernels here; with CONFIG, draw it",
    .details = "Measures how fast device memory is copied and how fast multiply-adds run, each "
               "once. Every table's 'roofline' is in percent of these. With CONFIG it measures "
               "nothing: it draws the roofline with all that is remembered of the kernel, in the "
               "terminal or as a page (-o FILE.html).",
    .more =
        "What it measures are the configs peak_copy and peak_fma. Problem and device are chosen as "
        "in 'cugen report'. Each variant lies at the operations for each byte that it requests of "
        "global memory. Where nothing is remembered, without a GPU or with --device model:NAME, it "
        "predicts one variant of each implementation, or the first that the options name.",
    .example = "cugen roofline matmul --device model:H200 -o roofline.html",
    .device =
        "cuda:0, cpu, model:H200 (default: the first GPU, else cpu; with CONFIG: as for report)",
    .options = (const enum cli_option[]){OPTION_PATTERN, OPTION_IMPLEMENTATION, OPTION_WHERE,
                                         OPTION_EVERY, OPTION_OUTPUT, OPTION_AGAIN, OPTION_WIDE,
                                         OPTION_COUNT},
    .common = true, .own_fallback = true)
COMMAND(OCCUPANCY, occupancy, .name = "occupancy", .operand = "[CONFIG]",
        .summary = "how many blocks a multiprocessor holds, on each GPU",
        .details = "Shows how many blocks of a kernel a multiprocessor holds, what limits that, "
                   "and which block size would hold most. The kernel is given by its registers, "
                   "threads and bytes of shared memory. With CONFIG it starts from what the "
                   "remembered best variant (or --variant) takes.",
        .more = "It does so for this machine's GPUs and for some that are not here, or for the "
                "--device given. Where nothing is remembered for a described GPU, it predicts one "
                "variant of each implementation.",
        .example = "cugen occupancy --registers 64 --block 256 --shared 32768",
        .device = "cuda:0, model:H200 (default: this machine's GPUs and all that are described)",
        .options = (const enum cli_option[]){OPTION_VARIANT, OPTION_IMPLEMENTATION, OPTION_WHERE,
                                             OPTION_EVERY, OPTION_REGISTERS, OPTION_BLOCK,
                                             OPTION_SHARED, OPTION_WIDE, OPTION_COUNT},
        .common = true)
COMMAND(DEVICES, devices, .name = "devices",
        .summary = "list the devices, and what cugen found where",
        .details = "Lists what --device takes, then where the driver, NVRTC, the CUDA headers, the "
                   "C++ compiler and the cache were found or looked for.",
        .example = "cugen devices",
        .options = (const enum cli_option[]){OPTION_CACHE, OPTION_DEVICE_DIR, OPTION_TOOLKIT,
                                             OPTION_COMPILER, OPTION_WIDE, OPTION_JSON,
                                             OPTION_QUIET, OPTION_HELP, OPTION_COUNT})
COMMAND(TRANSFER, transfer, .name = "transfer",
        .summary = "measure transfers between host and device",
        .details =
            "Measures both directions for each kind of host memory. Needs a GPU; Ctrl-C prints "
            "what was measured.\n\n  pageable    malloc; the driver copies through pinned memory "
            "of its own\n  registered  malloc, page-locked afterwards: cuMemHostRegister, "
            "portable\n  pinned      page-locked: cuMemHostAlloc, portable\n  combined    "
            "page-locked and write-combined: slow to read for the host\n  pitched     pinned, "
            "copied between packed and pitched rows (2-D)\n  pitched3d   pinned, copied between "
            "packed and pitched slices (3-D)\n  default     pinned, the direction found from the "
            "addresses (UVA)\n  mapped      zero-copy: cuMemHostAlloc, device map; a kernel "
            "accesses it\n  managed     cuMemAllocManaged: pages move when kernel or host touches "
            "them\n  prefetch    managed, moved ahead of that by cuMemPrefetchAsync",
        .example = "cugen transfer --memory \"pinned, mapped\" --sizes \"4KiB, 64MiB\"",
        .device = "cuda:0 (default: the first GPU)",
        .options = (const enum cli_option[]){OPTION_MEMORY, OPTION_SIZES, OPTION_DEVICE,
                                             OPTION_TOOLKIT, OPTION_WIDE, OPTION_JSON, OPTION_QUIET,
                                             OPTION_HELP, OPTION_COUNT})
COMMAND(CACHE_LS, cache_ls, .name = "cache ls", .operand = "[CONFIG]",
        .summary = "list what is remembered, by kernel, problem and device",
        .details =
            "Lists the sets of records in the cache, of every kernel or of CONFIG's: how many, the "
            "best, when it was last measured. CONFIG is a kernel's name or a config. --device is "
            "an identifier such as cuda:0 or model:H200, or part of a device's text in the list.",
        .example = "cugen cache ls matmul --device H200",
        .device = "cuda:0, cpu, model:H200, part of a device's text (default: all)",
        .own_device = true,
        .options = (const enum cli_option[]){
            OPTION_PROBLEM, OPTION_MEASURE, OPTION_DEVICE, OPTION_CACHE, OPTION_CONFIG_DIR,
            OPTION_DEVICE_DIR, OPTION_WIDE, OPTION_JSON, OPTION_QUIET, OPTION_HELP, OPTION_COUNT})
COMMAND(CACHE_SHOW, cache_show, .name = "cache show", .operand = "CONFIG",
        .summary = "show every record of a kernel for a problem and device",
        .details = "Shows all that is remembered of the kernel for this problem, device and "
                   "options. It includes stale records, which a look-up does not take because the "
                   "kernel has changed since.",
        .example = "cugen cache show matmul --set M=8192",
        .options = (const enum cli_option[]){OPTION_HISTORY, OPTION_OBJECTIVE, OPTION_MEASURE,
                                             OPTION_PREFER, OPTION_WIDE, OPTION_COUNT},
        .common = true)
COMMAND(CACHE_WHY, cache_why, .name = "cache why", .operand = "CONFIG",
        .summary = "explain what a look-up finds, or why it finds nothing",
        .details =
            "Explains a hit or a miss for this kernel, problem, device and options: the record "
            "that is taken, or the nearest ones and what keeps each of them from being taken.",
        .example = "cugen cache why matmul --set M=8192",
        .options = (const enum cli_option[]){OPTION_VARIANT, OPTION_OBJECTIVE, OPTION_MEASURE,
                                             OPTION_PREFER, OPTION_WIDE, OPTION_COUNT},
        .common = true)
COMMAND(CACHE_RM, cache_rm, .name = "cache rm", .operand = "[CONFIG]",
        .summary = "remove records, and compiled kernels without one",
        .details = "Removes the records that match all the given options, with their history, and "
                   "the compiled kernels that no remaining record needs. On a terminal it shows "
                   "what would go, and asks; otherwise --yes is needed.",
        .more = "CONFIG is a kernel's name or a config; with a config, records that were measured "
                "from another config file stay. --device is an identifier such as cuda:0 or "
                "model:H200, or part of a device's text in 'cugen cache ls'.",
        .example = "cugen cache rm --older-than 30d --yes",
        .device = "cuda:0, cpu, model:H200, part of a device's text (default: all)",
        .own_device = true,
        .options = (const enum cli_option[]){
            OPTION_PROBLEM, OPTION_MEASURE, OPTION_DEVICE, OPTION_OLDER_THAN, OPTION_FAILED,
            OPTION_ALL, OPTION_YES, OPTION_CACHE, OPTION_CONFIG_DIR, OPTION_DEVICE_DIR, OPTION_JSON,
            OPTION_QUIET, OPTION_HELP, OPTION_COUNT})
COMMAND(
    CACHE_EXPORT, cache_export, .name = "cache export", .operand = "[CONFIG]",
    .summary = "write records as text, to import them elsewhere",
    .details =
        "Writes the records that the options mean as wisdom: one line of JSON for each, complete "
        "in itself (docs/cache.md). With --format t4 or kernel_tuner it writes one kernel, problem "
        "and device for other autotuners. CONFIG and --device are as in 'cugen cache ls'.",
    .example = "cugen cache export matmul -o matmul.wisdom",
    .device = "cuda:0, cpu, model:H200, part of a device's text (default: all)", .own_device = true,
    .options = (const enum cli_option[]){OPTION_OUTPUT, OPTION_FORMAT, OPTION_PROBLEM,
                                         OPTION_MEASURE, OPTION_DEVICE, OPTION_CACHE,
                                         OPTION_CONFIG_DIR, OPTION_DEVICE_DIR, OPTION_JSON,
                                         OPTION_QUIET, OPTION_HELP, OPTION_COUNT},
    .prints_data = true)
COMMAND(
    CACHE_IMPORT, cache_import, .name = "cache import", .operand = "FILE",
    .summary = "merge records that were exported elsewhere",
    .details =
        "Merges a wisdom file into the cache: all of it, or nothing if any line is damaged. If "
        "both have a variant, the better measurement is used and both are kept. FILE - is standard "
        "input. With --map, FILE has results of Kernel Tuner, KTT, CLBlast, vLLM or SGLang: 'cugen "
        "tune' tries their variants first, and nothing else uses them (docs/cache.md).",
    .example = "cugen cache import matmul.wisdom",
    .options = (const enum cli_option[]){OPTION_MAP, OPTION_CACHE, OPTION_CONFIG_DIR, OPTION_JSON,
                                         OPTION_QUIET, OPTION_HELP, OPTION_COUNT})
COMMAND(CACHE_VERIFY, cache_verify, .name = "cache verify",
        .summary = "check the cache: file, records, compiled kernels",
        .details = "Reads the whole database and compares every compiled kernel with its checksum. "
                   "Exit code 9: something is wrong; a line names each thing.",
        .example = "cugen cache verify",
        .options = (const enum cli_option[]){OPTION_CACHE, OPTION_JSON, OPTION_QUIET, OPTION_HELP,
                                             OPTION_COUNT})
COMMAND(COMPLETION, completion, .name = "completion", .operand = "SHELL",
        .summary = "print a script that completes commands in the shell",
        .details = "SHELL is bash, fish or zsh. An installed cugen needs it only if the shell does "
                   "not look into the installation's share folder. For bash, put into ~/.bashrc: "
                   "eval \"$(cugen completion bash)\"",
        .example = "cugen completion fish >cugen.fish",
        .options = (const enum cli_option[]){OPTION_HELP, OPTION_COUNT}, .prints_data = true)
COMMAND(VERSION, version, .name = "version", .summary = "print the version", .details = "",
        .example = "cugen version", .options = (const enum cli_option[]){OPTION_HELP, OPTION_COUNT})
COMMAND(HELP, help, .name = "help", .operand = "[COMMAND]...",
        .summary = "explain a command and its options",
        .details = "Without a COMMAND it lists the commands. --all adds the options that are "
                   "rarely needed; without a COMMAND, environment variables and exit codes.",
        .example = "cugen help tune --all",
        .options = (const enum cli_option[]){OPTION_EXPLAIN_ALL, OPTION_HELP, OPTION_COUNT},
        .prints_data = true)
