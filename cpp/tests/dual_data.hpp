// Rows for tests of the dual solvers.
#pragma once

#include <cstdint>
#include <vector>

#include "pegasos/data/problem.hpp"
#include "pegasos/data/random.hpp"
#include "pegasos/data/rows.hpp"

// Noisy rows in dense and sparse form; arrays have exactly the size they need.
template <class T = double, class I = int32_t>
struct Data {
  int64_t m, d;
  std::vector<T> dense, data;
  std::vector<I> indices;
  std::vector<int64_t> indptr{0};
  std::vector<int32_t> codes;
  std::vector<double> s;
  std::vector<uint32_t> listed;

  Data(int64_t rows, int64_t features, double density = 1, uint64_t seed = 1) : m(rows), d(features) {
    const pegasos::Stream draws(seed);
    uint64_t n = 0;
    for (int64_t i = 0; i < m; ++i) {
      double sum = 0.3 * (draws.uniform(n++) - 0.5);
      for (int64_t j = 0; j < d; ++j) {
        const bool there = draws.uniform(n++) < density;
        const T x = there ? T(draws.uniform(n++) - 0.4) : T(0);
        dense.push_back(x);
        if (there) data.push_back(x), indices.push_back(I(j)), sum += double(x) * (j % 2 == 0 ? 1 : -1);
      }
      indptr.push_back(int64_t(data.size()));
      codes.push_back(i < 2 ? int32_t(i) : (sum > 0) != (draws.uniform(n++) < 0.1));
    }
    data.shrink_to_fit(), indices.shrink_to_fit(), dense.shrink_to_fit();
  }
  void weigh() {
    for (int64_t i = 0; i < m; ++i) {
      s.push_back(i % 40 == 7 ? 0.0 : 0.2 + double(i % 5));
      if (s.back() > 0) listed.push_back(uint32_t(i));
    }
  }
  template <class Rows>
  pegasos::Problem<Rows> problem(Rows rows, double lam) const {
    pegasos::Problem<Rows> p{rows, {{}, codes, 1}, lam};
    p.s = s;
    p.listed = listed;
    for (int64_t i = 0; i < m; ++i) p.total += p.weight(i);
    return p;
  }
  auto on_dense(double lam) const { return problem(pegasos::DenseRows<T>{dense.data(), m, d, 1}, lam); }
  auto on_csr(double lam) const {
    return problem(
        pegasos::CsrRows<T, I>{data.data(), indices.data(), pegasos::Indptr{nullptr, indptr.data()}, m, d, 1}, lam);
  }
};
