// The text reader, on any bytes: nothing is read or written out of bounds, what it accepts is a matrix, and the same
// text gives the same rows however it is cut into blocks and pieces.
//
// The first byte chooses options, the second where blocks end; the rest is the text.
#include "pegasos/io/svmlight.hpp"

#include <cstdio>
#include <optional>

namespace {

using namespace pegasos;
using Reader = SvmlightReader<double>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Refused text has no reader, and a message.
struct Outcome {
  std::optional<Reader> reader;
  std::string said;
};

void read(Outcome& to, std::string_view text, uint8_t options, size_t block, int64_t piece) {
  const TextFormat format{(options & 1) != 0, (options & 2) != 0, options >> 2 & 1};
  to.reader.emplace("text", format, options >> 3 & 3, 1);
  to.reader->piece = piece;
  if (options & 32) to.reader->begin_at(3);
  if (options & 64) to.reader->end_at(20);
  try {
    for (; !text.empty() && !to.reader->done(); text.remove_prefix(std::min(block, text.size())))
      to.reader->feed(text.substr(0, block));
    to.reader->finish();
  } catch (const BadText& error) {
    to.said = error.what();
    to.reader.reset();
  }
}

void check(const Reader& reader, int32_t lowest) {
  const auto rows = reader.ends.size();
  require(reader.values.size() == reader.columns.size(), "a column for every value");
  require(reader.values.size() == (rows ? size_t(reader.ends[rows - 1]) : 0), "rows end where the numbers do");
  int64_t begin = 0;
  for (size_t i = 0; i < rows; ++i) {
    require(reader.ends[i] >= begin, "rows follow one another");
    for (int64_t j = begin; j < reader.ends[i]; ++j) {
      const int32_t column = reader.columns[size_t(j)];
      require(column >= lowest && (j == begin || column > reader.columns[size_t(j - 1)]), "columns increase");
      require(column >= reader.smallest && column <= reader.largest, "no column is outside of what was found");
    }
    begin = reader.ends[i];
  }
}

template <class T>
bool same(const Growing<T>& a, const Growing<T>& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  Outcome whole, cut;
  read(whole, text, data[0], text.size() + 1, 1 << 17);
  read(cut, text, data[0], data[1] % 64 + size_t(1), data[1] / 64 * 7 + 1);
  require(whole.said == cut.said, "the same is wrong");
  if (!whole.reader) return 0;
  const Reader &a = *whole.reader, &b = *cut.reader;
  check(a, data[0] >> 2 & 1);
  require(same(a.values, b.values) && same(a.columns, b.columns) && same(a.ends, b.ends), "the same rows");
  require(same(a.labels, b.labels) && same(a.label_ends, b.label_ends), "the same labels");
  require(same(a.queries, b.queries) && a.bad == b.bad && a.largest == b.largest, "the same of the rest");
  return 0;
}
