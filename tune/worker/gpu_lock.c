/* The lock is a file in /tmp named by the GPU's UUID, under flock; see gpu_lock.h. */
#include "gpu_lock.h"

#include <fcntl.h>
#include <sys/file.h>

int gpu_lock_open(const struct device_description *device) {
  if (!device->uuid[0]) return -1;
  struct text path = {0};
  text_addf(&path, "/tmp/cugen-%s.lock", device->uuid);
  int lock =
      path.failed ? -1 : open(text_get(&path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  text_free(&path);
  return lock;
}

void gpu_lock_take(int lock) {
  if (lock >= 0) flock(lock, LOCK_EX);
}

void gpu_lock_give(int lock) {
  if (lock >= 0) flock(lock, LOCK_UN);
}
