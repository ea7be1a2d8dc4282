  // The block's barriers, and its place in the cluster. Included in the kernel.
  __shared__ __align__(8) unsigned long long full[stages], empty[stages];
  const unsigned full_0 = shared_address(full), empty_0 = shared_address(empty);

  const int rank = cluster_rank();
  const int in_x = rank % cluster_x, in_y = rank / cluster_x % cluster_y, in_k = rank / (cluster_x * cluster_y);
  const int all_steps = static_cast<int>((K + (BK - 1)) / BK);
