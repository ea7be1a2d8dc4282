// What cugen is compared with. A peer reads the inputs of one of our sets and writes an output of
// its own.
#pragma once
#include "cases.h"

struct Rival {
  virtual ~Rival() = default;
  virtual void run(size_t set, cudaStream_t stream) = 0;
  virtual const Buffer *result() const { // of set 0; null: it is not to be compared
    return nullptr;
  }
  virtual std::string remark() const {
    return "";
  }
};

std::unique_ptr<Rival> make_memcpy(const Case &c, Ours &ours);
std::unique_ptr<Rival> make_own_copy(Program &program, const Case &c, Ours &ours);
std::unique_ptr<Rival> make_geam(Ours &ours);
std::unique_ptr<Rival> make_cub(const Case &c, Ours &ours);
std::unique_ptr<Rival> make_lt(const Case &c, Ours &ours, Stopwatch &watch);
int cub_version();
