// Vectors for the parts of a pass (run/passes.hpp), and their sum, which has the same bytes for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "pegasos/linalg/simd.hpp"
#include "pegasos/run/passes.hpp"

namespace pegasos {

// A vector for each part of a pass: sums, or room to work in.
class PartVectors {
 public:
  PartVectors() = default;
  PartVectors(int64_t parts, size_t n, double* first = nullptr) { resize(parts, n, first); }

  // first: where the first part has its n numbers, if not here.
  void resize(int64_t parts, size_t n, double* first = nullptr) {
    parts_ = parts;
    n_ = n;
    first_ = first;
    stride_ = n + 8;  // a line of the cache between two threads
    const size_t wanted = size_t(parts - (first ? 1 : 0)) * stride_;
    if (wanted <= capacity_) return;
    capacity_ = 0;
    numbers_.reset();  // first: nobody needs both
    numbers_ = std::make_unique_for_overwrite<double[]>(wanted);
    capacity_ = wanted;
  }

  double* of(int64_t part) {
    if (!first_) return numbers_.get() + size_t(part) * stride_;
    return part == 0 ? first_ : numbers_.get() + size_t(part - 1) * stride_;
  }

  // By who does the part: memory is best near the core that touches it first.
  void clear(int64_t part) { std::fill_n(of(part), n_, 0.0); }

  // The sums of all parts, added up in their order into those of the first: by slices that stay in the cache, shared by
  // the team where they are many.
  std::span<double> total(Team& team) {
    if (parts_ > 1) {
      constexpr size_t slice = 2048;
      const Pass pass = Pass::over(int64_t((n_ + slice - 1) / slice), double(slice) * double(parts_ - 1));
      team.each(pass.parts, [&](int64_t piece) {
        for (int64_t which = pass.first(piece); which < pass.first(piece + 1); ++which) {
          const size_t from = size_t(which) * slice, count = std::min(slice, n_ - from);
          for (int64_t part = 1; part < parts_; ++part) simd::axpy(1.0, of(part) + from, int64_t(count), of(0) + from);
        }
      });
    }
    return {of(0), n_};
  }

 private:
  int64_t parts_ = 0;
  size_t n_ = 0, stride_ = 0, capacity_ = 0;
  double* first_ = nullptr;
  std::unique_ptr<double[]> numbers_;
};

}  // namespace pegasos
