// A problem small enough for the sanitizers, in every form of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "pegasos/data/random.hpp"
#include "pegasos/data/rows.hpp"
#include "pegasos/data/sampler.hpp"

inline constexpr pegasos::Sampling every_sampling[] = {pegasos::Sampling::iid,    pegasos::Sampling::permutation,
                                                       pegasos::Sampling::fixed,  pegasos::Sampling::subsets,
                                                       pegasos::Sampling::blocks, pegasos::Sampling::runs};

// A small problem in dense and sparse form; arrays have exactly the size they need, so that ASan sees every overrun.
template <class T, class I>
struct Small {
  static constexpr int64_t m = 37, d = 11;
  std::vector<T> dense, data;
  std::vector<I> indices;
  std::vector<int32_t> narrow{0};
  std::vector<int64_t> wide{0};
  std::vector<int32_t> codes;

  Small() {
    const pegasos::Stream draws(7);
    uint64_t n = 0;
    for (int64_t i = 0; i < m; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < d; ++j) {
        const bool there = i % 9 != 3 && draws.below(n++, 3) == 0;  // some rows are empty
        const T x = there ? T(draws.uniform(n++) - 0.5) : T(0);
        dense.push_back(x);
        if (there) data.push_back(x), indices.push_back(I(j)), sum += double(x) * (j % 2 == 0 ? 1 : -1);
      }
      narrow.push_back(int32_t(data.size()));
      wide.push_back(int64_t(data.size()));
      codes.push_back(sum > 0 ? 1 : 0);
    }
    data.shrink_to_fit(), indices.shrink_to_fit(), dense.shrink_to_fit();
  }
  pegasos::DenseRows<T> dense_rows() const { return {dense.data(), m, d, 1}; }
  pegasos::CsrRows<T, I> csr(bool use_wide) const {
    return {data.data(),
            indices.data(),
            use_wide ? pegasos::Indptr{nullptr, wide.data()} : pegasos::Indptr{narrow.data(), nullptr},
            m,
            d,
            1};
  }
};
