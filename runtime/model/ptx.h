/* PTX read back: the program that NVRTC made of one kernel, parsed just far enough to walk its integer arithmetic, its
   control flow and its addresses; see ptx_walk.h. PTX ISA 9.0 is the reference for every name here. */
#ifndef RUNTIME_MODEL_PTX_H
#define RUNTIME_MODEL_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What an instruction does, as far as walking is concerned. */
enum ptx_op {
  PTX_FLOAT, /* arithmetic whose values are not followed: nothing that decides an address or a branch */
  PTX_NOTHING,
  PTX_MOV,
  PTX_CVT,
  PTX_CVTA,
  PTX_ADD,
  PTX_SUB,
  PTX_MUL,
  PTX_MAD,
  PTX_DIV,
  PTX_REM,
  PTX_MIN,
  PTX_MAX,
  PTX_ABS,
  PTX_NEG,
  PTX_AND,
  PTX_OR,
  PTX_XOR,
  PTX_NOT,
  PTX_SHL,
  PTX_SHR,
  PTX_SHF,
  PTX_BFE,
  PTX_BFI,
  PTX_LOP3,
  PTX_POPC,
  PTX_CLZ,
  PTX_SETP,
  PTX_SELP,
  PTX_SHFL,
  PTX_VOTE,
  PTX_LOAD,
  PTX_STORE,
  PTX_ATOMIC,
  PTX_TEXTURE,
  PTX_ASYNC,        /* cp.async: global to shared by each thread */
  PTX_BULK_LOAD,    /* cp.async.bulk, global to shared */
  PTX_BULK_STORE,   /* and back */
  PTX_EXPECT,       /* mbarrier: how many bytes copies will bring */
  PTX_TENSOR_LOAD,  /* cp.async.bulk.tensor: what its box holds stands in the map; PTX_EXPECT says it */
  PTX_TENSOR_STORE, /* and back: nothing says it */
  PTX_COMMIT,
  PTX_WAIT,
  PTX_WAIT_BARRIER, /* mbarrier: until what was asked for in bulk is there */
  PTX_MATRIX_LOAD,
  PTX_MATRIX_STORE,
  PTX_MMA,
  PTX_WGMMA, /* asynchronous, by four warps */
  PTX_WGMMA_COMMIT,
  PTX_WGMMA_WAIT,
  PTX_BARRIER,
  PTX_BRANCH,
  PTX_BRANCH_TABLE, /* brx.idx: to one of a table's labels */
  PTX_EXIT,
  PTX_FAIL,  /* trap, and what a failed assert calls: never reached by a kernel that is right */
  PTX_PRINT, /* a call of printf */
  PTX_CALL   /* any other call that was not inlined */
};

/* The units of a multiprocessor that an instruction keeps busy. */
enum ptx_pipe {
  PTX_PIPE_NONE, /* costs an issue slot at most */
  PTX_PIPE_INT,
  PTX_PIPE_FP32,
  PTX_PIPE_FP64,
  PTX_PIPE_FP16,
  PTX_PIPE_BF16,
  PTX_PIPE_SPECIAL, /* square roots, reciprocals, conversions */
  PTX_PIPE_TENSOR,
  PTX_PIPE_TEXTURE,
  PTX_PIPE_CONSTANT, /* constants by an index, one word after the other */
  PTX_PIPE_MEMORY,   /* loads and stores: 128 bytes a cycle */
  PTX_PIPE_COUNT
};

/* PTX_DISTANT: another block's shared memory, or a barrier of all blocks of a cluster. */
enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_CONST, PTX_PARAM, PTX_DISTANT };

enum ptx_operand_kind { PTX_REGISTER, PTX_NUMBER, PTX_ADDRESS, PTX_SPECIAL, PTX_SINK };

struct ptx_operand {
  enum ptx_operand_kind kind;
  int slot;      /* register; of an address its base, -1: none; of a special register which one */
  int64_t value; /* number, or an address's offset */
};

/* Of loads that may be one access the first one in the program's order leads. */
enum ptx_part { PTX_ALONE, PTX_LEADS, PTX_FOLLOWS };

enum ptx_compare { PTX_EQ, PTX_NE, PTX_LT, PTX_LE, PTX_GT, PTX_GE };

struct ptx_instruction {
  enum ptx_op op;
  enum ptx_pipe pipe;
  enum ptx_space space;
  enum ptx_compare compare;
  int guard; /* predicate's slot; -1: none */
  bool guard_not;
  bool is_signed, from_signed, is_float, high, wide, left;
  bool past_l1;             /* ld.global.cg and the like */
  bool swaps;               /* an atomic compare-and-swap */
  bool leader;              /* begins a basic block */
  int size, from_size;      /* bytes of one element */
  int operand_size;         /* bytes of an element of mma's A */
  int vector;               /* elements of a lane's access */
  int weight;               /* instructions that the machine needs for it */
  int64_t immediate;        /* lop3's table, wait's groups, mma's flops, matrices */
  size_t first;             /* of its operands */
  int results, count;       /* operands: results first */
  enum ptx_part quad, pair; /* whether the load may be part of one of 16 bytes, and of 8: see ptx_join.h */
  int line;                 /* of the PTX */
  int file, source_line;    /* of the source, by .loc; 0: the PTX was made without */
};

/* A name in the PTX, or in the source. */
struct ptx_name {
  const char *text;
  size_t length;
};

struct ptx_file { /* .file 1 "k.cu" */
  int number;
  struct ptx_name name;
};

struct ptx_kernel {
  struct ptx_instruction *instructions;
  size_t count;
  struct ptx_operand *operands;
  size_t operand_count;
  struct ptx_name *called; /* the functions of PTX_CALL, by its immediate */
  struct ptx_file *files;
  size_t called_count, file_count;
  int slots;       /* registers */
  bool *valueless; /* by slot: floats, whose values are not kept */
  int parameters;
  int cluster; /* blocks, 1: none */
  int64_t static_shared;
};

/* The special registers that are followed. */
enum ptx_special {
  PTX_TID_X,
  PTX_TID_Y,
  PTX_TID_Z,
  PTX_NTID_X,
  PTX_NTID_Y,
  PTX_NTID_Z,
  PTX_CTAID_X,
  PTX_CTAID_Y,
  PTX_CTAID_Z,
  PTX_NCTAID_X,
  PTX_NCTAID_Y,
  PTX_NCTAID_Z,
  PTX_LANEID,
  PTX_WARPID,
  PTX_OTHER_SPECIAL
};

/* Where symbols lie; a generic address of shared memory carries its tag. Parameter i begins at i << PTX_PARAM_SHIFT. */
#define PTX_SHARED_TAG  (INT64_C(1) << 60)
#define PTX_LOCAL_TAG   (INT64_C(1) << 59)
#define PTX_CONST_BASE  (INT64_C(1) << 56)
#define PTX_GLOBAL_BASE (INT64_C(1) << 55)
enum { PTX_PARAM_SHIFT = 16 };

/* The caller's buffers lie apart: buffer i begins at (i + 1) << PTX_BUFFER_SHIFT. */
enum { PTX_BUFFER_SHIFT = 40 };

/* The kernel called entry (as lowered). CUGEN_ERROR_COMPILE names the line of what is not understood. text is kept until ptx_close. */
int ptx_open(const char *text, const char *entry, struct ptx_kernel *out, cugen_error *err);
void ptx_close(struct ptx_kernel *kernel);

/* The labels that a branch may lead to; 0: it is no branch. Their values are instructions. */
struct ptx_targets {
  const struct ptx_operand *first;
  size_t count;
};
struct ptx_targets ptx_targets_of(const struct ptx_kernel *kernel, const struct ptx_instruction *in);

/* Adds the instruction's place to an error, ", k.cu:12", where the PTX has lines of the source. */
void ptx_append_place(const struct ptx_kernel *kernel, const struct ptx_instruction *in, cugen_error *err);

#endif
