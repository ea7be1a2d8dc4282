#include "tune.c" // the same from C++
