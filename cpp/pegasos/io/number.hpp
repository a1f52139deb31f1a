// Decimal numbers as text, to the nearest double: the same bits as Python's float().
//
// Text here has a newline somewhere behind the place that is read: every loop stops there at the latest.
#pragma once

#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace pegasos {

inline bool is_digit(char c) { return unsigned(c) - unsigned('0') < 10; }

// std::from_chars where the library has it for double: libstdc++ since g++ 11 (since 12 without a detour through
// strtod), libc++ not for long. It leaves out what overflows or vanishes, which strtod makes infinity or zero of.
inline double read_slowly(const char* begin, const char* end) {
#ifdef __cpp_lib_to_chars
  double value = 0;
  if (std::from_chars(begin, end, value).ec == std::errc()) return value;
#endif
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", locale_t());
  return strtod_l(std::string(begin, end).c_str(), nullptr, plain);
}

// Behind `word`, in letters of either case, if it stands at p; else nullptr. word: in small letters.
inline const char* behind(const char* p, const char* word) {
  for (; *word; ++p, ++word)
    if ((*p | 32) != *word) return nullptr;
  return p;
}

// Behind infinity or "not a number" if one stands at p; else nullptr.
inline const char* read_word(const char* p, double& value) {
  if (const char* end = behind(p, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
    return end;
  }
  const char* end = behind(p, "inf");
  if (!end) return nullptr;
  value = std::numeric_limits<double>::infinity();
  const char* longer = behind(end, "inity");
  return longer ? longer : end;
}

// Behind the number that begins at p, which may have a sign; nullptr if there is none.
inline const char* read_number(const char* p, double& value) {
  static constexpr std::array<double, 23> tens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const bool negative = *p == '-';
  if (negative || *p == '+') ++p;
  const char* const begin = p;
  uint64_t digits = 0;  // wraps beyond 19 of them: then nobody looks at it
  for (; is_digit(*p); ++p) digits = 10 * digits + uint64_t(*p - '0');
  int64_t count = p - begin, exponent = 0;
  if (*p == '.') {
    const char* const point = ++p;
    for (; is_digit(*p); ++p) digits = 10 * digits + uint64_t(*p - '0');
    exponent = point - p;
    count += p - point;
  }
  if (count == 0) {
    p = *begin == '.' ? nullptr : read_word(begin, value);
    if (p && negative) value = std::copysign(value, -1.0);
    return p;
  }
  if ((*p | 32) == 'e') {
    const char* q = p + 1;
    const bool down = *q == '-';
    if (down || *q == '+') ++q;
    if (is_digit(*q)) {
      int64_t written = 0;
      for (; is_digit(*q); ++q) written = std::min<int64_t>(10 * written + (*q - '0'), 1'000'000);
      exponent += down ? -written : written;
      p = q;
    }
  }
  // Both numbers are exact, so that the one rounding is that of the quotient or product.
  if (count <= 19 && digits <= (uint64_t(1) << 53) && exponent >= -22 && exponent <= 22)
    value = exponent < 0 ? double(digits) / tens[size_t(-exponent)] : double(digits) * tens[size_t(exponent)];
  else
    value = read_slowly(begin, p);
  if (negative) value = -value;
  return p;
}

}  // namespace pegasos
