#pragma once
// Which cluster computes which tiles, if the tiles are no whole number of waves. A wave is the `wave` clusters that run at once.
// The tiles that would not fill a wave, the first `tiles` of all, are shared: several clusters divide the `steps` along k of
// each. The other tiles come after the shared tiles, each computed by one cluster.
//@ if aligned then
//
// Each shared tile has the same number of clusters, which take its steps in turn. So all tiles are at the same k at about the
// same time, and what several of them read comes from memory once.
struct sharing {
  int tiles, steps, clusters;

  __device__ __forceinline__ sharing(int all_tiles, int all_steps)
      : tiles(all_tiles % wave), steps(all_steps), clusters(wave / tiles) {}
  // The first and the last cluster that have parts of a tile.
  __device__ __forceinline__ int first_of(int tile) const { return tile * clusters; }
  __device__ __forceinline__ int last_of(int tile) const { return tile * clusters + clusters - 1; }
};
//@ else
//
// The steps of all shared tiles, tile after tile, are divided evenly among the clusters.
struct sharing {
  int tiles, steps, clusters;

  __device__ __forceinline__ sharing(int all_tiles, int all_steps)
      : tiles(all_tiles % wave), steps(all_steps), clusters(min(wave, tiles * steps)) {}
  // The step with which a cluster's share begins; steps are counted through all shared tiles.
  __device__ __forceinline__ int begin(int cluster) const {
    return static_cast<int>(static_cast<long long>(tiles) * steps * cluster / clusters);
  }
  // The cluster that has this step.
  __device__ __forceinline__ int owner(int step) const {
    return static_cast<int>(((step + 1ll) * clusters - 1) / (static_cast<long long>(tiles) * steps));
  }
  // The first and the last cluster that have parts of a tile.
  __device__ __forceinline__ int first_of(int tile) const { return owner(tile * steps); }
  __device__ __forceinline__ int last_of(int tile) const { return owner((tile + 1) * steps - 1); }
};
//@ end

// What a cluster does next: `steps` along k of a tile, from `first` on, `apart` from each other. `left` steps of the
// cluster's share come later.
struct work {
  int tile, first, steps, apart, left;
};

__device__ __forceinline__ work first_work(const sharing &shares, int cluster) {
//@ if aligned then
  const int apart = shares.clusters, first = cluster % apart;
  if (cluster >= shares.tiles * apart) return {shares.tiles + cluster, 0, shares.steps, 1, 0};
  return {cluster / apart, first, (shares.steps - first + apart - 1) / apart, apart, 0};
//@ else
  if (cluster >= shares.clusters) return {shares.tiles + cluster, 0, shares.steps, 1, 0};
  const int begin = shares.begin(cluster), left = shares.begin(cluster + 1) - begin;
  const int first = begin % shares.steps, steps = min(left, shares.steps - first);
  return {begin / shares.steps, first, steps, 1, left - steps};
//@ end
}

__device__ __forceinline__ work next_work(const work &done, const sharing &shares, int cluster) {
//@ if not aligned then
  if (done.left > 0) {
    const int steps = min(done.left, shares.steps);
    return {done.tile + 1, 0, steps, 1, done.left - steps};
  }
//@ end
  return {done.tile < shares.tiles ? shares.tiles + cluster : done.tile + wave, 0, shares.steps, 1, 0};
}
