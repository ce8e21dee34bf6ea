// memcpy, memmove, memset and memcmp stand in kernel.h, which every source sees before.
#pragma once
