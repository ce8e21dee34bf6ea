// What kernels and references may use of <stdlib.h>.
#pragma once

static inline int abs(int x) { return x < 0 ? -x : x; }
static inline long labs(long x) { return x < 0 ? -x : x; }
