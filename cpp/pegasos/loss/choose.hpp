// Choices between two numbers that nobody could predict, without a branch.
//
// Written as `x > y ? x : y` g++ 12 follows each answer to where it is used, and makes a jump of it: one in two or
// three is guessed wrong, which takes longer than all else that is done with a score. So they are spelt out where there
// are instructions for them. (A fit of covertype, hinge: a tenth of its time; a line search of Newton's method: two
// thirds.)
#pragma once

#include "pegasos/loss/hd.hpp"

#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#define PEG_SPELT_OUT 1
#else
#define PEG_SPELT_OUT 0
#endif

namespace pegasos {

// x > y ? x : y
PEG_HD inline double larger(double x, double y) {
#if PEG_SPELT_OUT
  return _mm_cvtsd_f64(_mm_max_sd(_mm_set_sd(x), _mm_set_sd(y)));
#else
  return x > y ? x : y;
#endif
}

// x < y ? x : y
PEG_HD inline double smaller(double x, double y) {
#if PEG_SPELT_OUT
  return _mm_cvtsd_f64(_mm_min_sd(_mm_set_sd(x), _mm_set_sd(y)));
#else
  return x < y ? x : y;
#endif
}

// a < b ? x : 0
PEG_HD inline double if_less(double a, double b, double x) {
#if PEG_SPELT_OUT
  return _mm_cvtsd_f64(_mm_and_pd(_mm_cmplt_sd(_mm_set_sd(a), _mm_set_sd(b)), _mm_set_sd(x)));
#else
  return a < b ? x : 0;
#endif
}

}  // namespace pegasos

#undef PEG_SPELT_OUT
