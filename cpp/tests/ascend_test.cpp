// The dual step of every loss: it never lowers what it maximises, whatever the curvature and wherever it starts.
#include <cmath>
#include <string>
#include <vector>

#include "check.hpp"
#include "pegasos/data/random.hpp"
#include "pegasos/loss/all.hpp"

using namespace pegasos;

namespace {

// Uniform numbers, one after the other.
class Draws {
 public:
  double uniform() { return stream_.uniform(next_++); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  // Between 0 and 1, often next to one of them.
  double chance() {
    const double u = uniform();
    if (u < 0.1) return double(u < 0.05);
    const double edge = std::pow(10, -18 * uniform());
    return u < 0.4 ? edge : u < 0.7 ? 1 - edge : uniform();
  }

 private:
  Stream stream_{7};
  uint64_t next_ = 0;
};

// What a step from `old` to a gains, relative to the size of the numbers that go into it.
double gain(double conjugates, double linear, double square, double q) {
  return (conjugates - linear - q / 2 * square) / (1 + std::abs(linear) + q * square);
}

template <Loss L>
void check(const L& loss, Draws& draws) {
  for (int trial = 0; trial < 20'000; ++trial) {
    const double y = draws.uniform() < 0.5 ? -1 : 1, q = std::pow(10, draws.between(-4, 10));
    const double old = loss.feasible(y * draws.chance(), y);
    const double s = draws.between(-2, 2) * std::pow(10, draws.between(-2, 1)) * (draws.uniform() < 0.5 ? 1 : q);
    const double a = loss.ascend(old, s, y, q), step = a - old;
    CHECK(loss.feasible(a, y) == a);
    CHECK(gain(loss.conjugate(old, y) - loss.conjugate(a, y), step * s, step * step, q) > -1e-9);
  }
}

template <JointLoss L>
void check(const L& loss, Draws& draws) {
  const auto K = size_t(loss.width());
  std::vector<double> old(K), now(K), s(K);
  for (int trial = 0; trial < 5'000; ++trial) {
    const auto y = int64_t(draws.uniform() * double(K));
    const double q = std::pow(10, draws.between(-4, 10)), size = draws.uniform() < 0.5 ? 1 : q;
    for (size_t c = 0; c < K; ++c) old[c] = -draws.chance(), s[c] = draws.between(-20, 20) * size;
    loss.feasible(old.data(), y);
    loss.ascend(old.data(), s.data(), y, q, now.data());
    double linear = 0, square = 0;
    for (size_t c = 0; c < K; ++c) {
      linear += (now[c] - old[c]) * s[c];
      square += (now[c] - old[c]) * (now[c] - old[c]);
    }
    CHECK(gain(loss.conjugate(old.data(), y) - loss.conjugate(now.data(), y), linear, square, q) > -1e-9);
  }
}

template <AnyLoss... L>
void check_all(List<L...>, const LossParameters& given) {
  Draws draws;
  (check(detail::make_loss<L>(given), draws), ...);
}

}  // namespace

TEST(no_dual_step_lowers_the_dual) {
  const std::vector<double> costs{0, 1, 2, 1, 0, 1, 3, 1, 0};
  check_all(Losses{}, {0.1, 0, {}});
  check_all(JointLosses{}, {0, 3, costs});
}

// The top of the log loss's dual: alpha = 1 / (1 + exp(y s + q (alpha - old))), by halving in long double.
TEST(the_log_loss_ascends_to_its_top) {
  Draws draws;
  for (int trial = 0; trial < 3000; ++trial) {
    const double y = draws.uniform() < 0.5 ? -1 : 1, q = std::pow(10, draws.between(-3, 12));
    const double before = draws.chance(), from = draws.between(-2, 2) * (draws.uniform() < 0.5 ? 10 : q);
    long double low = 0, high = 1;
    for (int i = 0; i < 80; ++i) {
      const long double alpha = (low + high) / 2, z = from + static_cast<long double>(q) * (alpha - before);
      (alpha < 1 / (1 + std::exp(z)) ? low : high) = alpha;
    }
    CHECK(std::abs(Log{}.ascend(y * before, y * from, y, q) * y - double(low)) < 1e-8);
  }
}

// Rounds on average, for curvatures between two powers of ten: from a score that an alpha inside nearly asks for, from
// one of any size, and from a bound.
TEST(the_log_loss_ascends_in_few_rounds) {
  Draws draws;
  const auto mean = [&](double low, double high, const auto& place) {
    int all = 0;
    for (int trial = 0; trial < 4000; ++trial) {
      const double q = std::pow(10, draws.between(low, high));
      const auto [before, from] = place(q);
      int rounds = 0;
      Log{}.ascend(before, from, 1, q, &rounds);
      CHECK(rounds < 50);  // it ends by itself
      all += rounds;
    }
    return all / 4000.0;
  };
  using Place = std::pair<double, double>;
  const auto near = [&](double) {
    const double alpha = draws.uniform();
    return Place{alpha, std::log((1 - alpha) / alpha) + draws.between(-0.1, 0.1)};
  };
  const auto anywhere = [&](double q) { return Place{draws.uniform(), q * draws.between(-2, 2)}; };
  const auto bound = [&](double) { return Place{double(draws.uniform() < 0.5), draws.between(-10, 10)}; };
  CHECK(mean(-3, 1.6, near) < 2.2 && mean(1.8, 4, near) < 3 && mean(4, 8, near) < 1.5 && mean(8, 12, near) < 1.1);
  CHECK(mean(-3, 1.6, anywhere) < 3.2 && mean(1.8, 12, anywhere) < 8);
  CHECK(mean(-3, 1.6, bound) < 3 && mean(1.8, 4, bound) < 8 && mean(4, 12, bound) < 20);
}

// The top of the multinomial loss's dual: log p_r + q (p_r - old_r) - s_r is the same number for every class. What it
// differs by is turned into what that means for p_r.
TEST(the_multinomial_loss_ascends_to_its_top) {
  Draws draws;
  for (const int64_t K : {2, 3, 6})
    for (int trial = 0; trial < 4000; ++trial) {
      const double q = std::pow(10, draws.between(-8, 10));
      const auto y = int64_t(draws.uniform() * double(K));
      const bool near = draws.uniform() < 0.5;
      std::vector<double> old(static_cast<size_t>(K)), s(old), p(old), now(old);
      double sum = 0, total = 0, largest = 0, level = 0;
      for (double& each : p) sum += each = 1e-9 + draws.chance();
      for (size_t r = 0; r < size_t(K); ++r) {
        p[r] /= sum, old[r] = double(int64_t(r) == y) - p[r];
        s[r] = near ? std::log(p[r]) + draws.between(0, 0.2) : draws.between(-10, 10);
      }
      Multinomial{K}.ascend(old.data(), s.data(), y, q, now.data());
      const auto share = [&](size_t r) { return double(int64_t(r) == y) - now[r]; };
      const auto height = [&](size_t r) {
        return double(std::log(static_cast<long double>(share(r))) + static_cast<long double>(q) * (share(r) - p[r]) -
                      s[r]);
      };
      for (size_t r = 0; r < size_t(K); ++r) {
        total += share(r);
        if (share(r) > largest) largest = share(r), level = height(r);
      }
      CHECK(std::abs(total - 1) < 1e-14);
      for (size_t r = 0; r < size_t(K); ++r)
        if (share(r) > 1e-9) CHECK(std::abs(height(r) - level) * share(r) / (1 + q * share(r)) < 2e-7);
    }
}

// Minus zero is another bit pattern, and models are compared by their bytes.
TEST(the_hinge_never_ascends_to_minus_zero) {
  for (const double y : {-1.0, 1.0})
    for (const double old : {0.0, -0.0, y}) CHECK(!std::signbit(Hinge{}.ascend(old, 5 * y, y, 1)));
}

// How fast p falls with its score: 1 / (curvature + second derivative of p log p).
TEST(the_softness_of_the_multinomial_loss) {
  const double a[] = {0.5, -0.125, -0.375};  // class 0 is right, p = (1/2, 1/8, 3/8)
  double out[3];
  Multinomial{3}.softness(a, 0, 4, out);
  CHECK(out[0] == 1.0 / 6 && out[1] == 1.0 / 12 && out[2] == 0.375 / 2.5);
}
