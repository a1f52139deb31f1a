// Marks the functions a loss is made of, so that one file serves g++ and nvcc alike.
#pragma once

#ifdef __CUDACC__
#define PEG_HD __host__ __device__
#else
#define PEG_HD
#endif
