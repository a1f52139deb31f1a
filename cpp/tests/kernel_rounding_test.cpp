// What rounding may do to the certificate of a kernel model, against the formulas above kernel/rounding.hpp.
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pegasos/data/random.hpp"
#include "pegasos/kernel/rounding.hpp"
#include "pegasos/loss/all.hpp"

using namespace pegasos;

namespace {

struct Model {
  std::vector<double> y, p, a, g, V, lengths, left, right;
  RoundingTerms terms{0.25, 0, 0, 40, false, false};

  RoundingState state() const { return {y, p, a, g, V, lengths, left, right}; }
  double c(size_t i) const { return p[i] * a[i]; }
};

// Rows on both sides of the margin. errors: about how large those of kernel values are.
Model drawn(uint64_t seed, size_t rows, size_t kinds, double errors) {
  const Stream draws(seed);
  uint64_t at = 0;
  const auto between = [&](double low, double high) { return low + (high - low) * double(draws.uniform(at++)); };
  Model model;
  for (size_t i = 0; i < rows; ++i) {
    const double y = i % 3 ? 1 : -1;
    model.y.push_back(y);
    model.p.push_back(between(0.1, 2));
    model.a.push_back(i % 5 ? y * between(0, 1) : 0);
    model.g.push_back(between(-3, 3));
    model.V.push_back(std::abs(model.c(i)) + between(0, 1));
    model.lengths.push_back(between(0.5, 2));
  }
  for (size_t k = 0; k < kinds * rows; ++k) {
    model.left.push_back(between(0, errors));
    model.right.push_back(between(0, 1));
  }
  model.terms.bias = between(-1, 1);
  return model;
}

// The formulas, a sum at a time. `n` and `m` count a few operations more than the comment does.
template <class L>
Rounding expected(const L& loss, const Model& model) {
  const RoundingTerms& t = model.terms;
  const size_t rows = model.y.size(), kinds = model.left.size() / rows;
  const double u = 0x1p-53, n = (t.chain + 8) * u, m = (2 * double(rows) + 16) * u, b = std::abs(t.bias);
  const auto sum = [rows](const auto& term) {
    double all = 0;
    for (size_t i = 0; i < rows; ++i) all += term(i);
    return all;
  };
  const auto e = [&](size_t i) {
    double found = n * model.lengths[i] * sum([&](size_t j) { return model.lengths[j] * model.V[j]; });
    for (size_t k = 0; k < kinds; ++k)
      found += model.left[k * rows + i] * sum([&](size_t j) { return model.right[k * rows + j] * model.V[j]; });
    return found + 4 * u * (std::abs(model.g[i]) + b + std::abs(model.y[i]) + 1);
  };
  const auto q = [&](size_t i) { return t.lam * model.p[i]; };
  const auto size = [&](size_t i) { return std::abs(model.c(i)); };
  const auto score = [&](size_t i) { return model.g[i] + t.bias; };
  const auto slope = [&](size_t i, double s) { return std::abs(loss.slope(s, model.y[i])); };
  const auto steepest = [&](size_t i) { return std::max(slope(i, score(i) + e(i)), slope(i, score(i) - e(i))); };
  const double ce = sum([&](size_t i) { return size(i) * e(i); });
  const double cg = sum([&](size_t i) { return size(i) * std::abs(model.g[i]); });
  const double square = t.lam / 2 * (ce + 2 * m * cg);
  const double conjugates = sum([&](size_t i) {
    const double a = std::abs(model.a[i]);
    return q(i) * (a * (std::abs(model.y[i]) + 1 + t.parameter + a / 4) + 1);
  });
  Rounding found{square, square + m * conjugates};
  found.above += sum([&](size_t i) { return q(i) * steepest(i) * e(i); });
  found.above += m * sum([&](size_t i) { return q(i) * loss.value(score(i), model.y[i]); });
  const double total = sum(size);
  if (t.free_bias) {
    const double rho = 2 * (std::abs(sum([&](size_t i) { return model.c(i); })) + m * total) / total;
    const double length = sum([&](size_t i) { return model.lengths[i] * size(i); });
    found.below += rho * (conjugates + t.lam * (cg + ce) + t.lam / 2 * rho * length * length);
  }
  if (t.penalised) {
    found.above += t.lam * m * b * b;
    found.below += t.lam / 2 * (2 * b + m * total) * (m * total);
  }
  return {1.01 * found.above, 1.01 * found.below};
}

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

template <class L>
void check(const L& loss, const Model& model) {
  const Rounding found = rounding_of(loss, model.state(), model.terms), wanted = expected(loss, model);
  CHECK(same(found.above, wanted.above));
  CHECK(same(found.below, wanted.below));
}

// A model whose dual variables nearly balance: the part by which they do not is far below one, and far above rounding.
Model nearly_balanced(double errors) {
  Model model = drawn(9, 30, 2, errors);
  double sum = 0;
  for (size_t i = 1; i < 30; ++i) sum += model.c(i);
  model.a[0] = (1e-2 - sum) / model.p[0];
  model.terms.free_bias = true;
  return model;
}

}  // namespace

// Errors of values as small as a unit, where every term of a sum counts, and as large as the scores.
TEST(every_term_of_the_rounding_of_a_kernel_model_counts) {
  for (const double errors : {1e-16, 0.05}) {
    for (const size_t kinds : {size_t{0}, size_t{1}, size_t{3}}) {
      Model model = drawn(7, 25, kinds, errors);
      check(Hinge{}, model), check(SquaredHinge{}, model), check(Log{}, model);
      model.terms.parameter = 0.5;
      check(EpsilonInsensitive{0.5}, model);
      model.terms.penalised = true;
      check(Hinge{}, model), check(Log{}, model);
    }
    const Model free = nearly_balanced(errors);
    check(Hinge{}, free), check(SquaredHinge{}, free);
  }
}

// Where the sum of the dual variables vanishes exactly, what is left is how sure that is.
TEST(a_balance_of_zero_is_sure_up_to_rounding) {
  Model model = drawn(5, 8, 1, 1e-16);
  for (size_t i = 0; i < 8; i += 2) {
    model.y[i] = 1, model.y[i + 1] = -1;
    model.p[i + 1] = model.p[i];
    model.a[i] = 0.125 * double(i + 1), model.a[i + 1] = -model.a[i];
  }
  model.terms.free_bias = true;
  check(Hinge{}, model);
}

TEST(few_rows_of_large_bias_round_as_the_formula_says) {
  Model model = drawn(3, 2, 1, 0);
  model.terms.bias = -1e3, model.terms.penalised = true, model.terms.chain = 0;
  check(Hinge{}, model);
  model.a = {0, 0};
  check(Hinge{}, model);
}

TEST(no_rows_and_models_of_zero_have_finite_bounds) {
  RoundingTerms terms{1, 0, 0, 1, true, false};
  const Rounding nothing = rounding_of(Hinge{}, RoundingState{}, terms);
  CHECK(nothing.above == 0 && nothing.below == 0);
  Model zero = drawn(1, 4, 0, 0);
  for (size_t i = 0; i < 4; ++i) zero.a[i] = zero.V[i] = 0;
  zero.terms.free_bias = true;
  const Rounding found = rounding_of(Hinge{}, zero.state(), zero.terms);
  CHECK(found.above > 0 && found.above < 1e-13 && found.below > 0 && found.below < 1e-13);
}

TEST(dual_variables_that_are_far_from_balanced_prove_nothing) {
  Model model = drawn(2, 6, 0, 0);
  model.terms.free_bias = true;
  for (double& a : model.a) a = 1;
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(rounding_of(Hinge{}, model.state(), model.terms).below == inf);
  model.g[0] = inf;
  CHECK(rounding_of(Hinge{}, model.state(), model.terms).above == inf);
}
