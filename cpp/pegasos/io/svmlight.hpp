// A text in svmlight's format, in blocks as they come, to the arrays of a CSR matrix.
//
// Each block is cut into pieces at ends of lines. A first look counts the lines and colons of every piece, so that a
// second one can read all pieces at once, each into its own part of the arrays, without a copy of them. The text is
// never in memory beyond a block, or the longest line.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "pegasos/io/growing.hpp"
#include "pegasos/io/svmlight_lines.hpp"
#include "pegasos/run/team.hpp"

namespace pegasos {

struct BadText : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// How many of the bytes are c: in lanes of a byte each, which compilers turn into vectors.
inline int64_t count_bytes(const char* p, const char* end, char c) {
  constexpr int64_t lanes = 32, turns = 255;
  int64_t total = 0;
  while (end - p >= lanes) {
    uint8_t counts[lanes] = {};
    for (int64_t turn = std::min(turns, (end - p) / lanes); turn > 0; --turn, p += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane) counts[lane] = uint8_t(counts[lane] + (p[lane] == c));
    for (const uint8_t count : counts) total += count;
  }
  return total + std::count(p, end, c);
}

template <class T>
class SvmlightReader {
 public:
  // name: of the file, for messages. skip_bad: so many malformed lines are left out.
  SvmlightReader(std::string name, const TextFormat& format, int64_t skip_bad, int threads)
      : name_(std::move(name)), format_(format), skip_bad_(skip_bad), team_(threads) {}

  Growing<T> values;
  Growing<int32_t> columns;
  Growing<int64_t> ends, label_ends, queries;  // as in TextRows, counted from the first row of the text
  Growing<double> labels;
  int32_t smallest = std::numeric_limits<int32_t>::max(), largest = -1;  // of the columns
  std::vector<std::string> bad;                                          // what is wrong with the lines left out
  size_t longest_line = 1 << 30;                                         // bytes; beyond them it is no text
  int64_t piece = 1 << 17;                                               // bytes that one thread takes at a time

  // The text begins at this byte of the file, in the middle of a line that belongs to others.
  void begin_at(int64_t offset) {
    position_ = offset;
    inside_ = true;
  }
  // No line is read that begins behind this byte of the file.
  void end_at(int64_t limit) { limit_ = limit; }
  bool done() const { return done_; }

  // The next bytes of the text.
  void feed(std::string_view text) {
    std::copy(text.begin(), text.end(), text_.room(text.size()));
    took(text.size());
  }

  // The same from a file, up to n bytes from `offset` on; returns how many there were. Reading, and not mapping, since
  // a mapped file that somebody else cuts short ends the process.
  int64_t read(int file, int64_t offset, int64_t n) {
    constexpr int64_t slice = 1 << 20;
    const int64_t slices = (n + slice - 1) / slice;
    char* const to = text_.room(size_t(n));
    std::vector<int64_t> got(size_t(slices), 0);
    team_.each(slices, [&](int64_t i) {
      got[size_t(i)] = read_slice(file, offset + i * slice, std::min(slice, n - i * slice), to + i * slice);
    });
    int64_t total = 0;
    for (int64_t i = 0; i < slices && total == i * slice; ++i) total += got[size_t(i)];
    took(size_t(total));
    return total;
  }

  // There is no more text.
  void finish() {
    if (text_.size() > 0 && !done_) {
      text_.append('\n');
      lines(text_.size());
    }
    if (format_.query_id && with_query_ > 0 && without_query_ > 0)
      throw BadText(name_ + ":" + std::to_string(without_query_) + ":1: expected 'qid:' after the label, as on line " +
                    std::to_string(with_query_) + "; query_id=True needs one on every line.");
    values.trim();
    columns.trim();
    for (Growing<int64_t>* each : {&ends, &label_ends, &queries}) each->trim();
    labels.trim();
    if (with_query_ < 0) queries.resize(0);
  }

 private:
  struct Piece {
    const char *begin, *end;
    int64_t lines = 0, entries = 0, labels = 0;  // at most
  };

  static int64_t read_slice(int file, int64_t offset, int64_t n, char* to) {
    int64_t done = 0;
    while (done < n) {
      const ssize_t got = ::pread(file, to + done, size_t(n - done), off_t(offset + done));
      if (got == 0) break;
      if (got > 0) done += got;
      if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category());
    }
    return done;
  }

  // n bytes more are in text_. Reads the whole lines, and moves what is behind them to the front.
  void took(size_t n) {
    const size_t before = text_.size();
    text_.resize(before + n);
    if (done_) return;
    const char* const text = text_.data();
    const std::string_view fresh(text + before, n);
    const size_t last = fresh.rfind('\n');
    if (last != fresh.npos) lines(before + last + 1);
    if (text_.size() > longest_line)
      throw BadText(name_ + ":" + std::to_string(lines_ + 1) + ":1: this line has more than " +
                    std::to_string(longest_line) + " bytes. Is the file a text?");
  }

  // The first n bytes are whole lines.
  void lines(size_t n) {
    const char *begin = text_.data(), *end = begin + n;
    if (inside_) {
      begin = static_cast<const char*>(std::memchr(begin, '\n', n)) + 1;
      inside_ = false;
    } else if (position_ == 0 && n >= 3 && std::memcmp(begin, "\xef\xbb\xbf", 3) == 0) {
      begin += 3;  // a byte order mark
    }
    if (limit_ >= 0 && limit_ - position_ < int64_t(n)) {
      const char* const last = text_.data() + std::max<int64_t>(0, limit_ - position_);
      end = static_cast<const char*>(std::memchr(last, '\n', size_t(end - last))) + 1;
      done_ = true;
    }
    if (begin < end) block(begin, end);
    std::memmove(text_.data(), text_.data() + n, text_.size() - n);
    text_.resize(text_.size() - n);
    position_ += int64_t(n);
  }

  void block(const char* begin, const char* end) {
    std::vector<Piece> pieces = cut(begin, end);
    const auto count = int64_t(pieces.size());
    team_.each(count, [&](int64_t i) {
      Piece& piece = pieces[size_t(i)];
      piece.lines = piece.labels = count_bytes(piece.begin, piece.end, '\n');
      piece.entries = count_bytes(piece.begin, piece.end, ':');
      if (format_.multilabel) piece.labels += count_bytes(piece.begin, piece.end, ',');
    });
    Piece all{begin, end};
    for (const Piece& piece : pieces) {
      all.lines += piece.lines;
      all.entries += piece.entries;
      all.labels += piece.labels;
    }
    TextRows<T> to = room(all);
    std::vector<LineReader<T>> readers;
    readers.reserve(pieces.size());
    for (const Piece& piece : pieces) {
      readers.emplace_back(format_, to);
      to.values += piece.entries;
      to.columns += piece.entries;
      to.ends += piece.lines;
      to.labels += piece.labels;
      if (format_.multilabel) to.label_ends += piece.lines;
      if (format_.query_id) to.queries += piece.lines;
    }
    team_.each(count, [&](int64_t i) {
      readers[size_t(i)].read(pieces[size_t(i)].begin, pieces[size_t(i)].end, skip_bad_ - int64_t(bad.size()));
    });
    join(pieces, readers);
  }

  // Pieces of about as many bytes, whatever the number of threads.
  std::vector<Piece> cut(const char* begin, const char* end) const {
    std::vector<Piece> pieces;
    while (begin < end) {
      const char* to = begin + std::min<int64_t>(piece, end - begin) - 1;
      to = static_cast<const char*>(std::memchr(to, '\n', size_t(end - to))) + 1;
      pieces.push_back({begin, to});
      begin = to;
    }
    return pieces;
  }

  TextRows<T> room(const Piece& all) {
    TextRows<T> to{};
    to.values = values.room(size_t(all.entries));
    to.columns = columns.room(size_t(all.entries));
    to.ends = ends.room(size_t(all.lines));
    to.labels = labels.room(size_t(all.labels));
    if (format_.multilabel) to.label_ends = label_ends.room(size_t(all.lines));
    if (format_.query_id) to.queries = queries.room(size_t(all.lines));
    return to;
  }

  // Puts the rows of all pieces side by side, where some have fewer than there was room for.
  void join(const std::vector<Piece>& pieces, const std::vector<LineReader<T>>& readers) {
    Piece from{};  // where the rows of a piece are
    const size_t entries = values.size(), rows = ends.size(), n_labels = labels.size();
    for (size_t i = 0; i < pieces.size(); ++i) {
      const LineReader<T>& read = readers[i];
      report(read);
      const auto n = size_t(read.rows), e = size_t(from.entries), r = size_t(from.lines);
      const auto shift = int64_t(values.size()), label_shift = int64_t(labels.size());
      append(values, entries + e, size_t(read.entries));
      append(columns, entries + e, size_t(read.entries));
      append(labels, n_labels + size_t(from.labels), size_t(read.labels));
      append(ends, rows + r, n, shift);
      if (format_.multilabel) append(label_ends, rows + r, n, label_shift);
      if (format_.query_id) append(queries, rows + r, n);
      smallest = std::min(smallest, read.smallest);
      largest = std::max(largest, read.largest);
      const auto first = [&](int64_t& all, int64_t one) {
        if (all < 0 && one >= 0) all = lines_ + one + 1;
      };
      first(with_query_, read.with_query);
      first(without_query_, read.without_query);
      lines_ += pieces[i].lines;
      from.entries += pieces[i].entries;
      from.lines += pieces[i].lines;
      from.labels += pieces[i].labels;
    }
  }

  // n items that lie behind the end of an array become its next ones; the same is added to each.
  template <class U>
  static void append(Growing<U>& array, size_t from, size_t n, U plus = U()) {
    U* const to = array.data() + array.size();
    if (n > 0 && from != array.size()) std::memmove(to, array.data() + from, n * sizeof(U));
    if (plus != U())
      for (size_t i = 0; i < n; ++i) to[i] = U(to[i] + plus);
    array.resize(array.size() + n);
  }

  void report(const LineReader<T>& read) {
    for (const BadLine& each : read.bad) {
      const int64_t line = lines_ + each.line + 1;
      std::string said =
          name_ + ":" + std::to_string(line) + ":" + std::to_string(each.column) + ": " + each.said + ".";
      if (int64_t(bad.size()) >= skip_bad_) {
        if (skip_bad_ > 0)
          said += " " + std::to_string(skip_bad_) + " bad " + (skip_bad_ == 1 ? "line was" : "lines were") +
                  " left out before it, as many as skip_bad allows; the first is line " + first_bad_ + ".";
        throw BadText(said);
      }
      if (bad.empty()) first_bad_ = std::to_string(line);
      bad.push_back(std::move(said));
    }
  }

  std::string name_, first_bad_;
  TextFormat format_;
  int64_t skip_bad_;
  Team team_;
  Growing<char> text_;  // the beginning of a line whose end has not come yet
  int64_t position_ = 0, limit_ = -1, lines_ = 0, with_query_ = -1, without_query_ = -1;
  bool inside_ = false, done_ = false;
};

}  // namespace pegasos
