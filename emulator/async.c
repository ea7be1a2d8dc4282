/* Asynchronous operations: copies, products of warpgroups, and the barriers that wait for them.
   This file opens their state and has the table of hooks (async.h). */
#include "async.h"

#include <stdlib.h>
#include <string.h>

#include "inline_ptx.h"

/* ---- Opening; a cluster of blocks ----------------------------------------------------------- */

int async_open(struct async **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? copies_open(&(*out)->copies, err) : error_memory(err);
}

void async_close(struct async *async) {
  if (!async) return;
  iptx_close(async->programs);
  copies_close(async->copies);
  for (size_t i = 0; i < ASYNC_WARPGROUPS; i++) warpgroup_close(async->warpgroups[i]);
  free(async);
}

void async_begin(struct async *async) {
  if (!async->used) return;
  async->used = false;
  memset(async->mbarrier_count, 0, sizeof async->mbarrier_count);
  memset(async->named, 0, sizeof async->named);
  memset(async->cluster_phase_of, 0, sizeof async->cluster_phase_of);
  memset(async->remote, 0, sizeof async->remote);
  async->cluster_arrived = async->cluster_phase = 0;
  async->cluster_queue = (struct wait_queue){0};
  copies_begin(async->copies);
  for (size_t i = 0; i < ASYNC_WARPGROUPS; i++)
    if (async->warpgroups[i]) warpgroup_begin(async->warpgroups[i]);
}

void async_end(struct async *async) {
  if (!async->used) return;
  async_check_remote(async);
  copies_end(async->copies);
}

const struct cpu_async async_hooks = {.address = async_address,
                                      .pointer = async_pointer,
                                      .map = async_map,
                                      .fence = barriers_fence,
                                      .cluster_barrier = barriers_cluster,
                                      .named_barrier = barriers_named,
                                      .mbarrier_init = mbarrier_init,
                                      .mbarrier_arrive = mbarrier_arrive,
                                      .mbarrier_wait = mbarrier_wait,
                                      .bulk_load = copies_bulk_load,
                                      .bulk_store = copies_bulk_store,
                                      .bulk_commit = copies_commit,
                                      .bulk_wait = copies_wait,
                                      .mbarrier_phase = mbarrier_phase,
                                      .mbarrier_expect = mbarrier_expect,
                                      .copy_begin = copies_own_add,
                                      .copy_commit = copies_own_commit,
                                      .copy_next = copies_own_next,
                                      .ptx = iptx_call};
