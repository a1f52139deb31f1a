// Labellings drawn at random, against the probabilities of all there are.
#include "pegasos/structured/likely.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"

using namespace pegasos;
using namespace pegasos::structured;

// One sequence of three tokens, three labels, of which the third may not follow the second.
TEST(labellings_are_drawn_by_how_good_they_are) {
  constexpr int draws = 20000;
  const std::vector<int64_t> indptr{0, 1, 2, 3}, begins{0, 3};
  const std::vector<int32_t> indices{0, 1, 0};
  const std::vector<double> values{1, -1, 0.5};
  const std::vector<uint8_t> steps{1, 1, 1, 1, 1, 0, 1, 1, 1};
  const Chains chains{indptr, indices, values, begins, 2};
  const Allowed allowed{steps};
  const Layout layout(2, 3, {}, {}, true, true, allowed);
  std::vector<double> w(size_t(layout.size));
  for (size_t at = 0; at < w.size(); ++at) w[at] = layout.live(int64_t(at)) ? 2 * Stream(7).uniform(at) - 1 : 0;
  const Edges edges(layout, allowed, w.data());
  for (const double tau : {1.0, 0.1, 1e-4}) {
    Scratch s;
    score_tokens({chains, layout}, 0, edges, w.data(), 1, nullptr, nullptr, s);
    std::vector<double> score(27), seen(27);
    for (size_t at = 0; at < 27; ++at) {
      const Label y[] = {Label(at / 9), Label(at / 3 % 3), Label(at % 3)};
      score[at] = score_of(edges, 3, s, y) / tau;
    }
    const double top = *std::max_element(score.begin(), score.end());
    double sum = 0;
    for (const double x : score) sum += std::exp(x - top);
    Likely likely(edges, 3, s, tau);
    for (uint64_t draw = 0; draw < draws; ++draw) {
      Label y[3];
      likely.draw(Stream(1), 3 * draw, y);
      seen[size_t(9 * y[0] + 3 * y[1] + y[2])] += 1.0 / draws;
    }
    for (size_t at = 0; at < 27; ++at) {
      CHECK(std::abs(seen[at] - std::exp(score[at] - top) / sum) < 0.02);
      CHECK(seen[at] == 0 || score[at] > never);
    }
  }
}
