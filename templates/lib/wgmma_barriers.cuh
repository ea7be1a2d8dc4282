  // Makes the barriers, and waits for the cluster and for the launch before. Included in the kernel.
  if (threadIdx.x == 0) {
    for (int i = 0; i < stages; ++i) {
      barrier_init(full_0 + i * 8, 1);
      barrier_init(empty_0 + i * 8, sharers * cluster_x * cluster_y);
    }
    barrier_fence_init();
    tensor_prefetch(${A_map});
    tensor_prefetch(${B_map});
    tensor_prefetch(${C_map});
  }
  launch_next();
  ${(swap or stream) and "cluster_start" or "cluster_sync"}();
  wait_for_launch();

  // All lanes have the same value; __shfl_sync tells the compiler so.
  const int warpgroup = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / 128, 0);
