/* Parsing PTX: one kernel of a program that NVRTC made is parsed just far enough to follow the
   kernel's integer arithmetic, control flow and addresses; see ptx_walk.h. Opcodes and registers
   have the names of the PTX ISA 9.0. */
#ifndef RUNTIME_MODEL_PTX_H
#define RUNTIME_MODEL_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What an instruction does, as far as the walk needs to know. */
enum ptx_op {
  /* arithmetic whose values are not followed, because it seldom decides an address or a branch:
     floats, and opcodes that ptx_opcode.c does not list */
  PTX_FLOAT,
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
  PTX_ASYNC,      /* cp.async: global to shared by each thread */
  PTX_BULK_LOAD,  /* cp.async.bulk to shared memory */
  PTX_BULK_STORE, /* cp.async.bulk, shared to global */
  PTX_EXPECT,     /* mbarrier: the number of bytes that copies will bring */
  /* cp.async.bulk.tensor, global to shared; a PTX_EXPECT tells the size */
  PTX_TENSOR_LOAD,
  PTX_TENSOR_STORE, /* cp.async.bulk.tensor, shared to global; no instruction tells the size */
  PTX_COMMIT,
  PTX_WAIT,
  PTX_WAIT_BARRIER, /* mbarrier: a wait, taken to be for bulk copies */
  PTX_MATRIX_LOAD,
  PTX_MATRIX_STORE,
  PTX_MMA,
  PTX_WGMMA, /* asynchronous, executed by four warps */
  PTX_WGMMA_COMMIT,
  PTX_WGMMA_WAIT,
  PTX_BARRIER,
  PTX_BRANCH,
  PTX_BRANCH_TABLE, /* brx.idx: branches to one of a table's labels */
  PTX_EXIT,
  PTX_FAIL,  /* trap, or the call of a failed assert: a correct kernel never gets here */
  PTX_PRINT, /* a call of printf */
  PTX_CALL   /* any other call that was not inlined */
};

/* The unit of a multiprocessor that an instruction keeps busy. */
enum ptx_pipe {
  PTX_PIPE_NONE, /* at most an issue slot */
  PTX_PIPE_INT,
  PTX_PIPE_FP32,
  PTX_PIPE_FP64,
  PTX_PIPE_FP16,
  PTX_PIPE_BF16,
  PTX_PIPE_SPECIAL, /* for example square roots and conversions of floats */
  PTX_PIPE_TENSOR,
  PTX_PIPE_TEXTURE,
  PTX_PIPE_CONSTANT, /* constants with a variable index, read one word after the other */
  PTX_PIPE_MEMORY,   /* for example loads and stores: 128 bytes a cycle */
  PTX_PIPE_COUNT
};

/* PTX_DISTANT: shared memory of a block of the cluster, or a barrier of all blocks of a cluster. */
enum ptx_space {
  PTX_GENERIC,
  PTX_GLOBAL,
  PTX_SHARED,
  PTX_LOCAL,
  PTX_CONST,
  PTX_PARAM,
  PTX_DISTANT
};

enum ptx_operand_kind { PTX_REGISTER, PTX_NUMBER, PTX_ADDRESS, PTX_SPECIAL, PTX_SINK };

struct ptx_operand {
  enum ptx_operand_kind kind;
  /* number of a register or of an address's base register, or enum ptx_special; else -1 */
  int slot;
  int64_t value; /* a number, the value of a name, or the offset of an address */
};

/* The role of a load in a group that may be one access: the first load in program order leads. */
enum ptx_part { PTX_ALONE, PTX_LEADS, PTX_FOLLOWS };

enum ptx_compare { PTX_EQ, PTX_NE, PTX_LT, PTX_LE, PTX_GT, PTX_GE };

struct ptx_instruction {
  enum ptx_op op;
  enum ptx_pipe pipe;
  enum ptx_space space;
  enum ptx_compare compare;
  int guard; /* slot of the guard's predicate; -1: no guard */
  bool guard_not;
  bool is_signed, from_signed, is_float; /* of the instruction's type; from_: of the source's */
  bool high;                             /* takes the upper half of a product; or a cvta.to */
  bool wide, left;                       /* a product of twice the size; a shf to the left */
  bool past_l1;                          /* the access bypasses L1, as ld.global.cg does */
  bool swaps;                            /* the atomic operation is a compare-and-swap */
  bool leader;                           /* the instruction begins a basic block */
  int size, from_size;                   /* bytes of one element */
  int operand_size;                      /* bytes of an element of mma's operand A */
  int vector;                            /* elements in a lane's access; matrices of ldmatrix */
  int weight;                            /* machine instructions that the PTX instruction becomes */
  int64_t immediate;                     /* mma: operations; shfl: 1 bfly, 2 down, 3 up; a call: its
                                            index in `called` */
  size_t first;                          /* index of the first operand */
  int results, count; /* numbers of results and of all operands; results come first */
  /* role of the load in a group of loads of 16 bytes together, and of 8 bytes: see ptx_join.c */
  enum ptx_part quad, pair;
  int line;              /* line of the PTX */
  int file, source_line; /* place in the source, by .loc; 0: not known */
};

/* A word of the PTX, such as a name or a number: a slice of its text, without a terminating 0. */
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
  /* names of the functions that are called; the call's `immediate` is the index */
  struct ptx_name *called;
  struct ptx_file *files;
  size_t called_count, file_count;
  int slots;       /* number of registers */
  bool *valueless; /* by slot: the register is a float, whose values are not kept */
  int parameters;
  int cluster; /* blocks of a cluster, 1: no clusters */
  int64_t static_shared;
};

/* The special registers whose values are followed. */
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

/* Addresses of symbols. A generic address of shared or local memory carries the space's tag.
   Parameter i begins at i << PTX_PARAM_SHIFT. */
#define PTX_SHARED_TAG (INT64_C(1) << 60)
#define PTX_LOCAL_TAG  (INT64_C(1) << 59)
#define PTX_CONST_BASE (INT64_C(1) << 56)
enum { PTX_PARAM_SHIFT = 16 };

/* Addresses of the caller's buffers, far apart: buffer i begins at (i + 1) << PTX_BUFFER_SHIFT. */
enum { PTX_BUFFER_SHIFT = 40 };

/* Parses the kernel with the lowered name `entry`. CUGEN_ERROR_COMPILE: there is no such kernel, or
   it is not understood. text must live until ptx_close. */
int ptx_open(const char *text, const char *entry, struct ptx_kernel *out, cugen_error *err);
void ptx_close(struct ptx_kernel *kernel);

/* The labels that a branch may jump to, as operands whose values are indices of instructions;
   count 0: none. */
struct ptx_targets {
  const struct ptx_operand *first;
  size_t count;
};
struct ptx_targets ptx_targets_of(const struct ptx_kernel *kernel,
                                  const struct ptx_instruction *in);

/* ptx_opcode.c: sets the members that follow from an opcode such as "ld.global.nc.v4.f32"; results
   is 1 if the first operand is the result, else 0. An unknown opcode counts as arithmetic whose
   value is not followed. */
void ptx_opcode_read(const char *text, size_t length, struct ptx_instruction *out);

/* ptx_join.c: marks in each basic block the loads from shared memory that together fill 16 or 8
   bytes at offsets from one base. The walk decides whether such a group is one access. */
void ptx_join(struct ptx_kernel *kernel);
/* Returns the number of loads in the PTX, before joining, that bring a lane `bytes` bytes of shared
   memory. */
int ptx_join_count(const struct ptx_kernel *kernel, int bytes);

/* Adds the instruction's place in the source to an error, ", k.cu:12", if the place is known. */
void ptx_append_place(const struct ptx_kernel *kernel, const struct ptx_instruction *in,
                      cugen_error *err);

#endif
