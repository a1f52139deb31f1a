// The systems of paper/native under sanitizers: each ends at the same minimum, whatever it keeps in memory.
#include <cmath>
#include <limits>
#include <vector>

#include "../../paper/native/dca.hpp"
#include "../../paper/native/kernel_stochastic.hpp"
#include "../../paper/native/lasvm.hpp"
#include "../../paper/native/svm_light.hpp"
#include "../../paper/native/svm_perf.hpp"
#include "check.hpp"

namespace {

constexpr double forever = std::numeric_limits<double>::infinity();
constexpr double lam = 0.02;
constexpr int64_t features = 6, many = 120;

struct Data {
  std::vector<float> value;
  std::vector<int32_t> column;
  std::vector<int64_t> start{0};
  std::vector<double> y;
};

// Rows of three features or none, labels by the first two, some of them wrong.
Data make() {
  Data data;
  const pegasos::Stream draws(3);
  uint64_t n = 0;
  for (int64_t i = 0; i < many; ++i) {
    double score = 0;
    for (int32_t j = 0; j < features; ++j) {
      const double x = 2 * draws.uniform(n++) - 1;
      if (draws.uniform(n++) < 0.5 || i == 7) continue;
      data.value.push_back(float(x));
      data.column.push_back(j);
      if (j < 2) score += x;
    }
    data.start.push_back(int64_t(data.value.size()));
    data.y.push_back((score > 0) != (draws.uniform(n++) < 0.1) ? 1 : -1);
  }
  return data;
}

// f of coefficients of rows.
double objective(const paper::Rows& rows, double gamma, const std::vector<double>& b) {
  paper::Kernel kernel(rows, gamma);
  double sum = 0;
  for (int64_t i = 0; i < many; ++i) {
    double score = 0;
    for (int64_t j = 0; j < many; ++j)
      if (b[size_t(j)] != 0) score += b[size_t(j)] * kernel(i, j);
    sum += lam / 2 * b[size_t(i)] * score + std::max(0.0, 1 - rows.y(i) * score) / double(many);
  }
  return sum;
}

template <class System>
System& run(System& system, int64_t steps = INT64_MAX) {
  paper::advance(system, forever, steps);
  return system;
}

}  // namespace

TEST(the_kernel_systems_of_the_papers_end_at_one_minimum) {
  const Data data = make();
  const paper::Rows rows(data.value, data.column, data.start, data.y, features);
  for (const double gamma : {0.0, 0.7}) {
    paper::KernelDca dca(rows, gamma, lam, 1);
    const double best = objective(rows, gamma, run(dca, 20'000).weights());
    paper::KernelPegasos pegasos(rows, gamma, lam, 1);
    CHECK(objective(rows, gamma, run(pegasos, 20'000).weights()) < best + 0.02);
    for (const int64_t kept : {0, 10, 1000}) {
      paper::Lasvm lasvm(rows, gamma, lam, {1e-5, 2, kept});
      CHECK(std::abs(objective(rows, gamma, run(lasvm).weights()) - best) < 1e-4);
      CHECK(lasvm.spent().ended);
      for (const bool shrinking : {true, false}) {
        paper::SvmLight light(rows, gamma, lam, {1e-5, kept > 10 ? 10 : 2, kept > 0 ? 1.0 : 0.0, shrinking});
        CHECK(std::abs(objective(rows, gamma, run(light).weights()) - best) < 1e-4);
        CHECK(light.spent().ended && light.active() == many);
      }
    }
  }
}

TEST(the_linear_systems_of_the_papers_end_at_one_minimum) {
  const Data data = make();
  const paper::Rows rows(data.value, data.column, data.start, data.y, features);
  paper::LinearDca dca(rows, lam, 1);
  paper::SvmPerf perf(rows, lam, 1e-6);
  const auto w = run(dca, 50'000).weights(), v = run(perf).weights();
  CHECK(perf.spent().ended && perf.violation() <= 1e-6);
  double apart = 0;
  for (size_t j = 0; j < w.size(); ++j) apart += (w[j] - v[j]) * (w[j] - v[j]);
  CHECK(lam / 2 * apart < 1e-5);  // f is strongly convex
}

TEST(rows_of_the_papers_systems_are_checked) {
  const Data data = make();
  Data bad = data;
  bad.column[3] = features;
  bool refused = false;
  try {
    const paper::Rows rows(bad.value, bad.column, bad.start, bad.y, features);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}
