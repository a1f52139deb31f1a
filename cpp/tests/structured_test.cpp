// Chains under sanitizers: the dynamic programmes against each other, and every solver to the end.
#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "check.hpp"
#include "pegasos/structured/dual_sets.hpp"
#include "pegasos/structured/hinge.hpp"
#include "pegasos/structured/log_loss.hpp"
#include "pegasos/structured/newton.hpp"
#include "pegasos/structured/pegasos.hpp"
#include "pegasos/structured/predict.hpp"
#include "pegasos/structured/vocabulary.hpp"

using namespace pegasos;
using namespace pegasos::structured;

namespace {

// Sequences of 0 to 6 tokens; arrays have exactly the size they need.
struct Small {
  int64_t K;
  std::vector<int64_t> indptr{0}, begins{0};
  std::vector<int32_t> indices;
  std::vector<double> values, costs;
  std::vector<Label> truth;
  std::vector<uint8_t> steps;
  Chains chains;

  Small(int64_t labels, int64_t m, uint64_t seed) : K(labels) {
    const Stream draws(seed);
    uint64_t n = 0;
    for (int64_t i = 0; i < m; ++i) {
      for (uint64_t t = draws.below(n++, 7); t > 0; --t) {
        for (uint64_t f = draws.below(n++, 4); f > 0; --f) {
          indices.push_back(int32_t(draws.below(n++, 9)));
          values.push_back(draws.uniform(n++) - 0.3);
        }
        indptr.push_back(int64_t(indices.size()));
        truth.push_back(Label(draws.below(n++, uint64_t(K))));
      }
      begins.push_back(int64_t(indptr.size()) - 1);
    }
    costs.assign(size_t(K * padded(K)), 0.0);
    for (int64_t a = 0; a < K; ++a)
      for (int64_t b = 0; b < K; ++b) costs[size_t(a * padded(K) + b)] = a == b ? 0 : 1;
    chains = {indptr, indices, values, begins, 9};
    validate(chains);
  }
};

Watch forever() { return Watch(0, 1e300, {}); }

// What solvers want beside the sequences, without and with features of transitions.
struct Model {
  std::vector<int64_t> first{0};
  std::vector<Label> pairs;
  Layout layout;
  Reach reach;
  Places places;
  std::optional<TransitionFeatures> transition_features;
  Tagging task;

  Model(const Small& data, bool seen, bool starts, bool ends, const std::vector<int32_t>& chosen)
      : layout(layout_of(data, seen, starts, ends, chosen)),
        reach({}, data.K, data.chains.longest()),
        places(data.chains, layout),
        task{data.chains, layout, {}, reach, data.truth, data.costs, 0.05, &places} {
    if (chosen.empty()) return;
    transition_features.emplace(data.chains, layout);
    task.transition_features = &*transition_features;
  }
  Layout layout_of(const Small& data, bool seen, bool starts, bool ends, const std::vector<int32_t>& chosen) {
    if (!seen) return Layout(9, data.K, {}, {}, starts, ends, {}, chosen);
    find_pairs(data.chains, data.truth.data(), data.K, first, pairs);
    return Layout(9, data.K, first, pairs, starts, ends, {}, chosen);
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
};

const std::vector<std::vector<int32_t>> no_or_some_features = {{}, {1, 4, 5}};
}  // namespace

TEST(the_sum_over_labellings_is_at_least_the_best_of_them) {
  for (const int64_t K : {1, 3, 4, 9, 25, 50}) {
    const Small data(K, 20, uint64_t(K));
    const Layout layout(9, K, {}, {}, true, true, {});
    const Reach reach({}, K, data.chains.longest());
    const Tagging task{data.chains, layout, {}, reach, data.truth};
    std::vector<double> w(size_t(layout.size)), scores(20), log_z(20), p(data.truth.size() * size_t(K)),
        steps(size_t(K * K));
    for (size_t at = 0; at < w.size(); ++at) w[at] = layout.live(int64_t(at)) ? 3 * Stream(7).uniform(at) - 1 : 0;
    std::vector<Label> labels(data.truth.size());
    Team team(2);
    Watch watch = forever();
    CHECK(decode(task, w, team, watch, labels, scores));
    CHECK(marginals(task, w, team, watch, p, log_z, steps));
    for (size_t i = 0; i < 20; ++i) {
      const double most = scores[i] + double(data.chains.length(int64_t(i))) * std::log(double(K));
      CHECK(log_z[i] >= scores[i] - 1e-9 && log_z[i] <= most + 1e-9);
    }
    for (size_t t = 0; t < data.truth.size(); ++t)
      CHECK(near(std::accumulate(p.begin() + int64_t(t) * K, p.begin() + int64_t(t + 1) * K, 0.0), 1));
  }
}

// Columns of very different size: every method has its turn, the one of all labellings the last.
TEST(the_hinge_is_solved_to_the_last_digits_from_any_snapshot) {
  Small data(3, 30, 5);
  for (size_t at = 0; at < data.values.size(); ++at) data.values[at] *= std::pow(10.0, data.indices[at] % 3);
  for (const auto& chosen : no_or_some_features) {
    Model model(data, true, true, false, chosen);
    model.task.lam = 1e-3;
    Team team(2);
    Watch watch = forever();
    std::vector<std::string> taken;
    const auto fit = [&](const std::string& start, std::vector<double>& w) {
      std::vector<WorkingSet> sets(30);
      HingeOptions options{1000, 1};
      options.snapshots.start = start;
      options.snapshots.due = [] { return true; };
      options.snapshots.keep = [&](const std::string& bytes) { return taken.push_back(bytes), true; };
      History history(1e-7, watch);
      int64_t visits = 0;
      w.assign(size_t(model.layout.size), 0.0);
      Hinge(model.task, options, sets, w, team, watch, history, visits).run();
      CHECK(history.converged());
      return visits;
    };
    std::vector<double> w, again;
    const int64_t visits = fit("", w);
    const std::vector<std::string> all = taken;
    CHECK(all.size() > 5);
    for (size_t at = 0; at < all.size(); at += 1 + all.size() / 4) {
      CHECK(fit(all[at], again) == visits);
      CHECK(again == w);
    }
    CHECK(fit(all.back(), again) == visits);
    CHECK(again == w);
  }
}

TEST(dual_variables_of_sequences_are_feasible_whatever_was_given) {
  const Small data(3, 4, 5);
  const Model model(data, false, true, true, {});
  DualSets given;
  std::vector<double> wanted;
  const double alphas[] = {0.75, 0.5, 0.25}, kept[] = {0.75, 0.25};  // the second is cut, nothing is left for the third
  for (int64_t i = 0; i < 4; ++i) {
    const bool some = data.chains.length(i) > 1;
    given.count.push_back(some ? 3 : 0);
    for (Label k = 0; some && k < 3; ++k) {
      given.alpha.push_back(alphas[k]);
      given.labels.insert(given.labels.end(), size_t(data.chains.length(i)), k);
    }
    if (some) wanted.insert(wanted.end(), kept, kept + 2);
  }
  CHECK(!wanted.empty());
  DualSets told;
  told.read(given.sets(model.task));
  CHECK(told.alpha == wanted);
  told.read(told.sets(model.task));
  CHECK(told.alpha == wanted && DualSets{}.sets(model.task).size() == 4);
  const auto refused = [&](const DualSets& sets) {
    try {
      sets.sets(model.task);
    } catch (const std::invalid_argument&) {
      return true;
    }
    return false;
  };
  DualSets others = given, fewer = given, wrong = given;
  others.count.pop_back(), fewer.labels.pop_back(), wrong.labels.back() = 3;
  CHECK(refused(others) && refused(fewer) && refused(wrong));
}

TEST(the_solvers_of_the_hinge_agree) {
  const Small data(4, 30, 5);
  for (const auto& chosen : no_or_some_features) {
    const Model model(data, true, true, false, chosen);
    Team team(2);
    Watch watch = forever();
    std::vector<double> w(size_t(model.layout.size)), v(w.size()), out(w.size()), counts(30);
    std::vector<WorkingSet> sets(30);
    History exact(1e-5, watch);
    int64_t visits = 0;
    Hinge(model.task, {1000, 1}, sets, w, team, watch, exact, visits).run();
    CHECK(exact.converged());
    PegasosOptions options;
    options.k = 2, options.steps = 3000, options.to_the_end = true, options.sampling = Sampling::permutation;
    StepState state{v, counts, out};
    History rough(1e-5, watch);
    StructuredPegasos(model.task, false, options, state, team, watch, rough).run();
    CHECK(rough.last().objective >= exact.last().dual);
    CHECK(rough.last().dual <= exact.last().objective);
    CHECK(rough.last().objective - exact.last().objective < 0.05);
  }
}

TEST(the_solvers_of_the_log_loss_agree) {
  const Small data(3, 30, 6);
  for (const auto& chosen : no_or_some_features) {
    const Model model(data, false, false, true, chosen);
    Team team(2);
    Watch watch = forever();
    std::vector<double> w(size_t(model.layout.size)), v(w.size()), out(w.size()), counts(30), B(w.size());
    History exact(1e-9, watch);
    int64_t visits = 0;
    LogLoss(model.task, {1000, 1, false, 1e9}, w, team, watch, exact, visits).run();
    CHECK(exact.converged());
    PegasosOptions options;
    options.k = 3, options.steps = 2000, options.to_the_end = true, options.tail = 1, options.radius = 100;
    StepState state{v, counts, out, B};
    History rough(1e-9, watch);
    StructuredPegasos(model.task, true, options, state, team, watch, rough).run();
    CHECK(rough.last().objective - exact.last().objective < 0.05);
    CHECK(rough.last().dual <= exact.last().objective);
  }
}

void check_second_derivative(const std::vector<int32_t>& chosen) {
  const Small data(5, 30, 8);
  const Model model(data, true, true, true, chosen);
  const Layout& layout = model.layout;
  const Tagging& task = model.task;
  Team team(2);
  Watch watch = forever();
  const auto n = size_t(layout.size);
  std::vector<double> w(n), v(n), near_w(n), here(n), there(n), direction, product;
  for (size_t at = 0; at < n; ++at) {
    if (!layout.live(int64_t(at))) continue;
    w[at] = 4 * Stream(1).uniform(at) - 2;
    v[at] = Stream(2).uniform(at) - 0.5;
  }
  Likelihood likelihood(task);
  Curvature curvature(task);
  double f = 0;
  const double h = 1e-6;
  for (size_t at = 0; at < n; ++at) near_w[at] = w[at] + h * v[at];
  CHECK(likelihood.evaluate(near_w, team, watch, f, there));
  CHECK(likelihood.evaluate(w, team, watch, f, here));
  const auto multiply = [&](double least, uint64_t seed) {
    CHECK(curvature.build(w, likelihood.marginals(), least, Stream(seed), team, watch));
    direction.clear();
    for (const int64_t place : curvature.places()) direction.push_back(v[size_t(place)]);
    curvature.product(direction, team, product);
    return simd::dot(direction.data(), int64_t(direction.size()), product.data());
  };
  multiply(1e-15, 0);
  for (size_t at = 0; at < product.size(); ++at) {
    const auto place = size_t(curvature.places()[at]);
    CHECK(std::abs(product[at] - (there[place] - here[place]) / h) < 1e-6);
  }
  // Labels that are drawn leave the mean where it was. What other weights add is lam alone.
  const auto of_all = [&](double of_some) {
    double rest = 0;
    for (const double x : v) rest += x * x;
    return of_some + task.lam * (rest - norm2(direction));
  };
  const double exact = of_all(multiply(1e-15, 0));
  double mean = 0;
  const int times = 2000;
  for (int i = 0; i < times; ++i) mean += of_all(multiply(0.1, uint64_t(i))) / times;
  CHECK(curvature.places().size() < n && std::abs(mean - exact) < 0.03 * exact);
}

TEST(the_second_derivative_is_the_change_of_the_gradient) {
  for (const auto& chosen : no_or_some_features) check_second_derivative(chosen);
}

TEST(a_sparse_sum_forgets_all_when_cleared) {
  SparseSum sum;
  for (int round = 0; round < 3; ++round) {
    for (int64_t place = 0; place < 300; ++place) sum.add(place * 7919 % 1000, 1);
    CHECK(sum.size() == 300 && near(sum.norm2(), 300));
    sum.add(0, 2);
    CHECK(near(sum.norm2(), 308));
    sum.clear();
    CHECK(sum.size() == 0);
  }
}

TEST(a_vocabulary_numbers_names_as_they_come) {
  Vocabulary words;
  for (int i = 0; i < 5000; ++i) CHECK(words.add("name " + std::to_string(i)) == i);
  for (int i = 0; i < 5000; ++i) CHECK(words.find("name " + std::to_string(i)) == i);
  CHECK(words.find("name") == -1 && words.add("") == 5000 && words.find("") == 5000);
}
