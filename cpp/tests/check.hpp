// The least a test needs: a list of named cases, and checks that say where they failed.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

struct Case {
  const char* name;
  std::function<void()> run;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Register {
  Register(const char* name, std::function<void()> run) { cases().push_back({name, std::move(run)}); }
};

#define TEST(name)                                    \
  static void name();                                 \
  static const Register register_##name(#name, name); \
  static void name()

#define CHECK(what)                                                                                             \
  do {                                                                                                          \
    if (!(what)) throw std::runtime_error(std::string(__FILE__) + ":" + std::to_string(__LINE__) + ": " #what); \
  } while (false)

inline bool near(double a, double b, double rtol = 1e-10) {
  return std::abs(a - b) <= rtol * std::max({1.0, std::abs(a), std::abs(b)});
}
