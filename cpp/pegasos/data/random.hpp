// Counter-based random numbers: number n of a stream is a pure function of (seed, stream, n).
// The mixing function is SplitMix64's finaliser (Steele, Lea & Flood 2014).
#pragma once

#include <cstdint>

namespace pegasos {

inline uint64_t mix64(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Stream {
 public:
  explicit Stream(uint64_t seed) : key_(mix64(seed + gamma)) {}

  uint64_t at(uint64_t n) const { return mix64(key_ + (n + 1) * gamma); }

  // Uniform in [0, bound) up to a bias of bound / 2^64.
  uint64_t below(uint64_t n, uint64_t bound) const {
    return uint64_t((static_cast<unsigned __int128>(at(n)) * bound) >> 64);
  }

  double uniform(uint64_t n) const { return double(at(n) >> 11) * 0x1p-53; }

  // A stream of its own for each n.
  Stream split(uint64_t n) const { return Stream(at(n)); }

 private:
  static constexpr uint64_t gamma = 0x9e3779b97f4a7c15u;
  uint64_t key_;
};

}  // namespace pegasos
