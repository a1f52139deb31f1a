// Lines of svmlight's and LIBSVM's text format, read into arrays that have room for them:
//
//   line     = [labels] ["qid:" number] {column ":" value} ["#" comment]
//   labels   = number, or several with commas between them, or none (multilabel)
//
// Columns increase within a line. Blank lines and lines of comment are no rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "pegasos/io/number.hpp"

namespace pegasos {

struct TextFormat {
  bool multilabel = false;  // any number of labels a line, none included
  bool query_id = false;    // keep the numbers after "qid:"
  int32_t lowest = 0;       // column that may occur: 0 or 1
};

// A line that is none of the format, counted from 0; the byte in it, from 1; what is wrong there.
struct BadLine {
  int64_t line, column;
  std::string said;
};

// Where rows go. `ends`: behind the last entry and the last label of each row.
template <class T>
struct TextRows {
  T* values;
  int32_t* columns;
  int64_t* ends;
  double* labels;
  int64_t* label_ends;
  int64_t* queries;
};

inline bool ends_line(char c) { return c == '\n' || c == '#'; }
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
inline bool ends_token(char c) { return is_space(c) || ends_line(c); }

// The token at p, for a message: in quotes, cut where it is long, bytes that cannot be shown by their number.
inline std::string found(const char* p) {
  constexpr int longest = 24;
  if (ends_token(*p)) return "found " + std::string(is_space(*p) ? "a space" : "the end of the line");
  std::string shown = "found '";
  for (int i = 0; !ends_token(*p); ++p, ++i) {
    if (i == longest) return shown + "...'";
    if (*p >= ' ' && *p <= '~') {
      shown += *p;
    } else {
      constexpr const char* hex = "0123456789abcdef";
      shown += {'\\', 'x', hex[uint8_t(*p) >> 4], hex[uint8_t(*p) & 15]};
    }
  }
  return shown + "'";
}

template <class T>
class LineReader {
 public:
  LineReader(const TextFormat& format, const TextRows<T>& to) : format_(format), to_(to) {}

  int64_t rows = 0, entries = 0, labels = 0, lines = 0;
  int32_t smallest = std::numeric_limits<int32_t>::max(), largest = -1;  // of the columns
  int64_t with_query = -1, without_query = -1;                           // the first lines of these kinds
  std::vector<BadLine> bad;

  // All lines from p to end, which is behind a newline. Gives up where more than `tolerated` of them are bad.
  void read(const char* p, const char* end, int64_t tolerated) {
    for (; p != end && int64_t(bad.size()) <= tolerated; ++lines) {
      const char* stopped = line(p);
      p = static_cast<const char*>(std::memchr(stopped ? stopped : p, '\n', size_t(end - (stopped ? stopped : p)))) + 1;
    }
  }

 private:
  // Reads the row that begins at p, if it is one, and stops at the end of the line or at a comment; nullptr: it is bad,
  // and nothing of it counts.
  const char* line(const char* p) {
    begin_ = p;
    p = behind_space(p);
    if (ends_line(*p)) return p;
    int64_t n = entries, n_labels = labels, query = 0;
    p = format_.multilabel ? several_labels(p, n_labels) : one_label(p, n_labels);
    if (!p) return nullptr;
    p = behind_space(p);
    const bool has_query = p[0] == 'q' && p[1] == 'i' && p[2] == 'd';
    if (has_query && !(p = read_query(p, query))) return nullptr;
    if (!(p = read_entries(p, n))) return nullptr;
    if (n > entries) {
      smallest = std::min(smallest, to_.columns[entries]);
      largest = std::max(largest, to_.columns[n - 1]);
    }
    to_.ends[rows] = entries = n;
    labels = n_labels;
    if (format_.multilabel) to_.label_ends[rows] = labels;
    if (format_.query_id) to_.queries[rows] = query;
    int64_t& first = has_query ? with_query : without_query;
    if (first < 0) first = lines;
    ++rows;
    return p;
  }

  const char* read_entries(const char* p, int64_t& n) {
    for (int64_t previous = -1;;) {
      p = behind_space(p);
      if (ends_line(*p)) return p;
      const char* const token = p;
      if (*p == '+') ++p;
      const char* const first = p;
      uint64_t column = 0;
      for (; is_digit(*p); ++p) column = 10 * column + uint64_t(*p - '0');
      if (*p != ':' || p == first) return not_a_column(token);
      if (p - first > 18 || column > uint64_t(std::numeric_limits<int32_t>::max()))
        return fail(token, "a column is at most 2147483647, " + found(token));
      if (int64_t(column) <= previous || column < uint64_t(format_.lowest)) return wrong_order(token, column, previous);
      double value = 0;
      const char* const end = read_number(p + 1, value);
      if (!end || !ends_token(*end)) return fail(p + 1, "expected a number after the colon, " + found(p + 1));
      to_.values[n] = T(value);
      to_.columns[n++] = int32_t(column);
      previous = int64_t(column);
      p = end;
    }
  }

  const char* one_label(const char* p, int64_t& n) {
    const char* const end = read_number(p, to_.labels[n]);
    if (!end || !ends_token(*end)) {
      const char* const rest = behind_token(p);
      const auto has = [&](char c) { return std::find(p, rest, c) != rest; };
      const char* advice = "";
      if (has(',')) advice = "; several labels need multilabel=True";
      if (has(':')) advice = "; lines without a label need multilabel=True";
      return fail(p, "expected a label, which is a number, " + found(p) + advice);
    }
    ++n;
    return end;
  }

  const char* several_labels(const char* p, int64_t& n) {
    const char* const rest = behind_token(p);
    if (std::find(p, rest, ':') != rest) return p;  // no label at all
    const int64_t begin = n;
    for (;; ++p) {
      const char* const end = read_number(p, to_.labels[n]);
      if (!end || (*end != ',' && !ends_token(*end)))
        return fail(p, "expected a label, or several with commas between them, " + found(p));
      ++n;
      p = end;
      if (*p != ',') break;
    }
    std::sort(to_.labels + begin, to_.labels + n, [](double a, double b) {
      return a < b || (std::isnan(b) && !std::isnan(a));  // an order even where there are NaNs
    });
    return p;
  }

  const char* read_query(const char* p, int64_t& query) {
    if (p[3] != ':') return fail(p, "expected 'qid:' and a whole number, " + found(p));
    p += 4;
    const char* const end = behind_token(p);
    if (!format_.query_id && end != p) return end;
    const std::from_chars_result read = std::from_chars(p, end, query);
    if (read.ec != std::errc() || read.ptr != end)
      return fail(p, "expected a whole number of at most 64 bits after 'qid:', " + found(p));
    return end;
  }

  const char* not_a_column(const char* token) {
    const char* const rest = behind_token(token);
    const char* const colon = std::find(token, rest, ':');
    if (colon == rest) return fail(token, "expected column:value, " + found(token));
    if (*token == '-' && std::all_of(token + 1, colon, is_digit) && colon - token > 1)
      return fail(token, "a column cannot be negative, " + found(token));
    return fail(token, "expected a column, a whole number, before the colon, " + found(token));
  }

  const char* wrong_order(const char* token, uint64_t column, int64_t previous) {
    const std::string name = "column " + std::to_string(column);
    if (column < uint64_t(format_.lowest)) return fail(token, name + " in a file whose columns begin with 1");
    if (int64_t(column) == previous) return fail(token, name + " is there twice");
    return fail(token, name + " behind column " + std::to_string(previous) + "; columns must increase within a line");
  }

  const char* fail(const char* at, std::string said) {
    bad.push_back({lines, at - begin_ + 1, std::move(said)});
    return nullptr;
  }

  static const char* behind_space(const char* p) {
    while (is_space(*p)) ++p;
    return p;
  }
  static const char* behind_token(const char* p) {
    while (!ends_token(*p)) ++p;
    return p;
  }

  TextFormat format_;
  TextRows<T> to_;
  const char* begin_ = nullptr;  // of the line
};

}  // namespace pegasos
