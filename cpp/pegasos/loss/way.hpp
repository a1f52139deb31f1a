// How far a dual variable may move in one direction while its dual objective is one quadratic function.
#pragma once

namespace pegasos {

struct Way {
  double end;    // of the dual variable
  double level;  // the score at which it would not gain any more
};

}  // namespace pegasos
