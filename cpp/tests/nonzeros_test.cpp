// Tables that are nearly all zeros, as sparse rows.
#include "pegasos/data/nonzeros.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"

using namespace pegasos;

TEST(a_table_without_its_zeros_has_everything_else) {
  const int64_t m = 250, d = 30;
  std::vector<float> x(size_t(m * d));
  for (size_t k = 0; k < x.size(); k += 11) x[k] = float(k) - 40;
  x.back() = std::numeric_limits<float>::quiet_NaN();  // for the validator to find
  const Nonzeros<float> found = nonzeros(x.data(), m, d);
  CHECK(int64_t(found.indptr.size()) == m + 1 && size_t(found.indptr.back()) == found.data.size());
  std::vector<float> again(x.size());
  for (int64_t i = 0; i < m; ++i)
    for (auto k = size_t(found.indptr[size_t(i)]); k < size_t(found.indptr[size_t(i) + 1]); ++k)
      again[size_t(i * d + found.indices[k])] = found.data[k];
  CHECK(std::equal(x.begin(), x.end() - 1, again.begin()) && again.back() != again.back());
  CHECK(fill(x.data(), m, d) > 0.07 && fill(x.data(), m, d) < 0.11);
  CHECK(nonzeros(x.data(), 0, d).indptr.size() == 1 && fill(x.data(), 0, d) == 1);
  const std::vector<double> full(100, 1.0);
  CHECK(nonzeros(full.data(), 4, 25).data == full);
}
