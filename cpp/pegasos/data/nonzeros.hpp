// A table written out in full that is nearly all zeros, as sparse rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pegasos {

template <class T>
struct Nonzeros {
  std::vector<T> data;
  std::vector<int32_t> indices;
  std::vector<int64_t> indptr;
};

// The entries of m rows of d <= 2^31 - 1 numbers each that are not zero. In one pass: another thread that writes to x
// meanwhile cannot lead it outside its arrays.
template <class T>
Nonzeros<T> nonzeros(const T* x, int64_t m, int64_t d) {
  Nonzeros<T> out;
  out.indptr.reserve(size_t(m) + 1);
  out.indptr.push_back(0);
  size_t n = 0;
  for (int64_t i = 0; i < m; ++i, x += d) {
    if (out.data.size() < n + size_t(d)) {
      const size_t room = std::max(n + size_t(d), n + n / 2);
      out.data.resize(room);
      out.indices.resize(room);
    }
    T* const data = out.data.data();
    int32_t* const indices = out.indices.data();
    for (int64_t j = 0; j < d; ++j) {  // written in any case: there is no branch to guess
      const T value = x[j];
      data[n] = value;
      indices[n] = int32_t(j);
      n += value != 0;
    }
    out.indptr.push_back(int64_t(n));
  }
  out.data.resize(n);
  out.indices.resize(n);
  return out;
}

// Of a hundred rows or fewer, spread over all: which part of their entries is not zero.
template <class T>
double fill(const T* x, int64_t m, int64_t d) {
  const int64_t step = std::max<int64_t>(1, m / 100);
  int64_t seen = 0, found = 0;
  for (int64_t i = 0; i < m; i += step, seen += d)
    for (int64_t j = 0; j < d; ++j) found += x[i * d + j] != 0;
  return seen > 0 ? double(found) / double(seen) : 1;
}

}  // namespace pegasos
