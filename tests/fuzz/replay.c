/* Runs a fuzz target in a build without libFuzzer: NAME FOLDER passes each file of the folder to
   it once, so that found faults stay mended. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/system.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

static void replay(const char *folder, const char *name) {
  struct text path = {0}, content = {0};
  text_addf(&path, "%s/%s", folder, name);
  if (path.failed || file_read(text_get(&path), &content, NULL)) abort();
  /* the last name printed is that of the file that failed */
  fprintf(stderr, "%s\n", text_get(&path));
  LLVMFuzzerTestOneInput((const uint8_t *)text_get(&content), content.length);
  text_free(&path);
  text_free(&content);
}

int main(int argc, char **argv) {
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
  DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
  int count = 0;
  if (!folder) return fprintf(stderr, "%s FOLDER: runs every file in it once\n", argv[0]), 2;
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (entry->d_name[0] == '.') continue;
    replay(argv[1], entry->d_name);
    count++;
  }
  closedir(folder);
  printf("%d inputs\n", count);
  return count ? 0 : 1;
}
