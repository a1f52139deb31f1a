// The dynamic programmes of chains against all labellings, one by one: scores so far apart that probabilities
// underflow, masks, ties, weights of sequences, and steps with scores of their own.
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "check.hpp"
#include "pegasos/data/random.hpp"
#include "pegasos/structured/forward_backward.hpp"

using namespace pegasos;
using namespace pegasos::structured;

namespace {

enum class Scores { moderate, far_apart, whole };

// One sequence of n tokens, each with a feature of its own; every other one may have a feature of transitions as well,
// of one of two values.
struct Chain {
  int64_t K, n;
  std::vector<int64_t> indptr{0}, begins{0};
  std::vector<int32_t> indices, chosen;
  std::vector<double> values, w;
  std::vector<uint8_t> steps, first, last;
  Chains chains;
  std::optional<Layout> layout;
  std::optional<TransitionFeatures> features;

  Chain(Stream draws, int64_t labels, int64_t length, Scores scores, bool masked, bool own_steps)
      : K(labels), n(length) {
    uint64_t at = 0;
    const auto draw = [&](uint64_t below) { return int64_t(draws.below(at++, below)); };
    if (masked) {
      for (auto [mask, size] : {std::pair{&steps, K * K}, {&first, K}, {&last, K}})
        for (int64_t k = 0; k < size; ++k) mask->push_back(draw(3) > 0);
    }
    lay_out(own_steps, [&] { return own_steps ? draw(3) : 0; });
    const double far[] = {0, -150, -290, -400, -800, 300}, near_by[] = {0, -1, -145, -290};
    for (int64_t place = 0; place < layout->size; ++place) {
      const bool emission = place < layout->transitions;
      double x = draws.uniform(at++) - 0.5;
      if (scores == Scores::far_apart) x += emission ? far[draw(6)] : near_by[draw(4)];
      if (scores == Scores::whole) x = double(draw(2));
      w.push_back(layout->live(place) ? x : 0);
    }
  }

  // Scores of the labels of each token, and of the steps from x to, `never` where they are forbidden. The labels have
  // other numbers here: label k is number[k].
  Chain(const std::vector<std::vector<double>>& tokens, const std::vector<double>& step,
        const std::vector<uint8_t>& begins_with, const std::vector<uint8_t>& ends_with,
        const std::vector<Label>& number)
      : K(int64_t(number.size())), n(int64_t(tokens.size())) {
    steps.resize(step.size());
    first.resize(number.size());
    last.resize(number.size());
    for (size_t a = 0; a < number.size(); ++a) {
      first[number[a]] = begins_with[a];
      last[number[a]] = ends_with[a];
      for (size_t b = 0; b < number.size(); ++b)
        steps[number[a] * number.size() + number[b]] = step[a * number.size() + b] > never;
    }
    lay_out(false, [] { return 0; });
    w.resize(size_t(layout->size));
    for (size_t a = 0; a < number.size(); ++a) {
      for (int32_t t = 0; t < int32_t(n); ++t) w[size_t(layout->emission(t, number[a]))] = tokens[size_t(t)][a];
      for (size_t b = 0; b < number.size(); ++b)
        if (const double x = step[a * number.size() + b]; x > never)
          w[size_t(layout->transition(number[a], number[b]))] = x;
    }
  }

  void lay_out(bool own_steps, const std::function<int64_t()>& value_of_own) {
    for (int64_t t = 0; t < n; ++t) {
      indices.push_back(int32_t(t));
      values.push_back(1);
      if (const int64_t value = value_of_own()) {
        indices.push_back(int32_t(n));
        values.push_back(double(value));
      }
      indptr.push_back(int64_t(indices.size()));
    }
    begins.push_back(n);
    chains = {indptr, indices, values, begins, n + 1};
    if (own_steps) chosen.push_back(int32_t(n));
    layout.emplace(n + 1, K, std::span<const int64_t>{}, std::span<const Label>{}, true, true, allowed(), chosen);
    if (own_steps) features.emplace(chains, *layout);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  Allowed allowed() const { return {steps, first, last}; }
  Emissions emissions() const { return {chains, *layout, nullptr, features ? &*features : nullptr}; }

  double step_score(int64_t t, Label from, Label to) const {
    double sum = w[size_t(layout->transition(from, to))];
    const Token token = chains[t];
    for (int64_t j = 0; j < token.n && features; ++j)
      if (const int64_t block = layout->block(token.index[j]); block >= 0)
        sum += token.at(j) * w[size_t(layout->in_block(block, from, to))];
    return sum;
  }

  // Minus infinity where it is forbidden.
  double score(const std::vector<Label>& y) const {
    if (!allowed().begins(y.front()) || !allowed().ends(y.back())) return never;
    double sum = w[size_t(layout->starting(y.front()))] + w[size_t(layout->ending(y.back()))];
    for (int64_t t = 0; t < n; ++t) {
      const Token token = chains[t];
      for (int64_t j = 0; j < token.n; ++j)
        sum += token.at(j) * w[size_t(layout->emission(token.index[j], y[size_t(t)]))];
      if (t == 0) continue;
      if (!allowed().step(y[size_t(t - 1)], y[size_t(t)], K)) return never;
      sum += step_score(t, y[size_t(t - 1)], y[size_t(t)]);
    }
    return sum;
  }

  // take(y, score) for all labellings: the last label changes slowest, so that of ties the first is the one wanted.
  template <class Take>
  void each(const Take& take) const {
    std::vector<Label> y(size_t(n), Label(0));
    for (;;) {
      take(y, score(y));
      size_t t = 0;
      while (t < y.size() && ++y[t] == Label(K)) y[t++] = 0;
      if (t == y.size()) return;
    }
  }
};

// What a chain's labellings sum up to.
struct Sums {
  double top = never, log_z = never;
  std::vector<Label> best;
  std::vector<double> marginals, steps, own;  // tokens x labels; from x to; the same for tokens of kind 0

  Sums(const Chain& chain, const Scratch& s) : marginals(size_t(chain.n * chain.layout->width)) {
    const int64_t width = chain.layout->width;
    steps.assign(size_t(chain.K * width), 0);
    own = steps;
    chain.each([&](const std::vector<Label>& y, double score) {
      if (score > top) top = score, best = y;
    });
    if (top == never) return;
    double z = 0;
    chain.each([&](const std::vector<Label>&, double score) { z += std::exp(score - top); });
    log_z = top + std::log(z);
    chain.each([&](const std::vector<Label>& y, double score) {
      const double p = std::exp(score - log_z);
      for (size_t t = 0; t < y.size(); ++t) {
        marginals[t * size_t(width) + y[t]] += p;
        if (t == 0) continue;
        const size_t step = size_t(y[t - 1]) * size_t(width) + y[t];
        steps[step] += p;
        if (s.kind(int64_t(t)) == 0) own[step] += p;
      }
    });
  }
};

bool all_near(const std::vector<double>& a, const std::vector<double>& b, size_t n) {
  for (size_t at = 0; at < n; ++at)
    if (!near(a[at], b[at], 1e-9)) return false;
  return true;
}

// quick: probabilities are in range, so that no sum needs to be taken in log space.
void compare(const Chain& chain, bool quick = false) {
  const Reach reach(chain.allowed(), chain.K, chain.n);
  Edges edges(*chain.layout, chain.allowed(), chain.w.data());
  edges.exponentiate();
  Scratch s;
  score_tokens(chain.emissions(), 0, edges, chain.w.data(), 1, nullptr, nullptr, s);
  const Sums sums(chain, s);
  CHECK(reach.possible(chain.n) == (sums.top > never));
  if (sums.top == never) return;

  constexpr double times = 2;  // of a sequence that counts as two
  StepCounts counts(edges);
  CHECK(near(forward_backward(edges, reach, chain.n, s, times, counts), sums.log_z));
  CHECK(all_near(s.best, sums.marginals, sums.marginals.size()));
  if (quick) CHECK(counts.direct == std::vector<double>(counts.direct.size()));
  std::vector<double> steps(edges.step.size());
  counts.add_to(edges, 1 / times, steps.data());
  CHECK(all_near(steps, sums.steps, steps.size()));
  if (chain.features && chain.features->kinds(0) > 0) CHECK(all_near(s.kinds[0].expected, sums.own, steps.size()));

  std::vector<Label> y(size_t(chain.n));  // with what the sums have left in s
  CHECK(near(viterbi(edges, chain.n, s, y.data()), sums.top));
  CHECK(near(chain.score(y), sums.top));
}

}  // namespace

TEST(sums_over_labellings_and_the_best_of_them_are_those_of_all_labellings) {
  const Stream draws(11);
  uint64_t problem = 0;
  for (const auto scores : {Scores::moderate, Scores::far_apart})
    for (const bool masked : {false, true})
      for (const bool own_steps : {false, true})
        for (int64_t K = 1; K <= 4; ++K)
          for (int64_t n = 1; n <= (K < 4 ? 6 : 4); ++n)
            for (int repeat = 0; repeat < 6; ++repeat)
              compare(Chain(draws.split(problem++), K, n, scores, masked, own_steps),
                      scores == Scores::moderate && !own_steps);
}

// Where the best labelling, or all of them, pass through a label whose probability underflowed on the way there or
// back: found among 200,000 chains drawn at random, whatever the labels are numbered.
TEST(probabilities_that_underflow_and_come_back_are_noticed) {
  using Tokens = std::vector<std::vector<double>>;
  using Ends = std::vector<uint8_t>;
  const auto in_all_orders = [](const Tokens& tokens, const std::vector<double>& steps, const Ends& first,
                                const Ends& last) {
    std::vector<Label> number;
    for (size_t k = 0; k < first.size(); ++k) number.push_back(Label(k));
    do compare(Chain(tokens, steps, first, last, number));
    while (std::next_permutation(number.begin(), number.end()));
  };
  in_all_orders({{0, -800}, {0, 0}, {0, 0}, {0, 0}}, {-290, never, never, 0}, {1, 1}, {1, 1});
  in_all_orders(
      {{-144.6, -144.4, 0.7}, {-600.3, -0.3, -799.9}, {-599.6, 0, 0.1}, {0.1, -0.5, 0}, {-290.6, -799.7, 0.2}},
      {0.07, -144.5, 0.2, 0.39, never, -289.6, never, never, -289.6}, {1, 1, 1}, {1, 0, 0});
  in_all_orders(
      {{-600.3, -145, -579.7}, {-0.4, -290.2, -0.2}, {0.2, 0, -289.6}, {-800.3, -290.2, 0.2}, {0, -0.2, -799.7}},
      {-289.7, -145.1, never, 0.35, 0.4, never, -290.3, never, -0.46}, {1, 1, 1}, {0, 0, 1});
  in_all_orders({{0.4, -600.1, -0.4},
                 {0.1, -289.6, 0.2},
                 {-289.8, -0.1, 0.1},
                 {-290.4, -599.8, -289.5},
                 {-599.8, -600.2, -289.5}},
                {never, 0.05, -290.1, 0.23, -289.9, -0.36, never, never, -290.2}, {0, 0, 1}, {1, 1, 1});
  in_all_orders(
      {{0.3, -800.1}, {0.1, -0.5}, {0.3, 0.2}, {0.1, -599.7}, {-0.4, -800.1}, {-799.6, -800.2}, {-599.8, -799.5}},
      {-290.2, never, -145.5, 0.45}, {1, 0}, {1, 1});
}

TEST(of_equal_labellings_the_one_whose_last_labels_come_first) {
  const Stream draws(12);
  for (uint64_t problem = 0; problem < 200; ++problem) {
    const Chain chain(draws.split(problem), 2 + int64_t(problem % 3), 1 + int64_t(problem % 5), Scores::whole,
                      problem % 2 == 0, problem % 3 == 0);
    Edges edges(*chain.layout, chain.allowed(), chain.w.data());
    edges.exponentiate();
    Scratch s;
    score_tokens(chain.emissions(), 0, edges, chain.w.data(), 1, nullptr, nullptr, s);
    const Sums sums(chain, s);
    if (sums.top == never) continue;
    std::vector<Label> y(size_t(chain.n));
    const Reach reach(chain.allowed(), chain.K, chain.n);
    StepCounts counts(edges);
    forward_backward(edges, reach, chain.n, s, 1, counts);
    CHECK(viterbi(edges, chain.n, s, y.data()) == sums.top);
    CHECK(y == sums.best);
  }
}

// A -> B -> C -> A: a labelling of so many tokens begins and ends where it may, or there is none.
TEST(lengths_that_a_mask_forbids_are_known) {
  const std::vector<uint8_t> steps = {0, 1, 0, 0, 0, 1, 1, 0, 0}, first = {1, 0, 0}, last = {0, 0, 1};
  const Reach reach({steps, first, last}, 3, 12);
  CHECK(reach.possible(0));
  for (int64_t n = 1; n <= 12; ++n) CHECK(reach.possible(n) == (n % 3 == 0));
}

// Steps of one size, too large for an exponential; and none at all.
TEST(scores_of_steps_are_taken_relative_to_the_highest) {
  for (const auto& steps : {std::vector<uint8_t>{}, std::vector<uint8_t>(16, 0)}) {
    const Allowed allowed{steps, {}, {}};
    const Layout layout(1, 4, {}, {}, false, false, allowed);
    std::vector<double> w(size_t(layout.size));
    for (Label a = 0; a < 4 && steps.empty(); ++a)
      for (Label b = 0; b < 4; ++b) w[size_t(layout.transition(a, b))] = 800;
    Edges edges(layout, allowed, w.data());
    edges.exponentiate();
    const Reach reach(allowed, 4, 2);
    for (int64_t n = 1; n <= (steps.empty() ? 2 : 1); ++n) {
      Scratch s;
      s.fit(n, layout.width);
      std::fill(s.score.begin(), s.score.end(), 0.0);
      StepCounts counts(edges);
      CHECK(near(forward_backward(edges, reach, n, s, 1, counts), double(n) * std::log(4.0) + 800 * double(n - 1)));
    }
  }
}
