// Text of svmlight's format: several threads, files that are cut short, the slow road of numbers.
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "check.hpp"
#include "pegasos/io/svmlight.hpp"

using namespace pegasos;

namespace {

std::string many_lines(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    text += std::to_string(i);
    // Piece by piece: g++ 12 warns of its own library where a string is put in front of another one.
    for (int j = i % 5; j < 40; j += i % 7 + 1)
      text.append(" ").append(std::to_string(j)).append(":").append(std::to_string(i * 0.37 + j));
    text += i % 3 ? "\n" : " # a: comment\r\n";
  }
  return text;
}

template <class T>
bool same(const Growing<T>& a, const Growing<T>& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

struct TemporaryFile {
  std::FILE* file = std::tmpfile();
  explicit TemporaryFile(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
  }
  ~TemporaryFile() { std::fclose(file); }
  int number() const { return fileno(file); }
};

}  // namespace

TEST(text_gives_the_same_rows_for_any_number_of_threads_and_any_pieces) {
  const std::string text = many_lines(3000);
  SvmlightReader<double> one("text", {}, 0, 1);
  one.feed(text);
  one.finish();
  CHECK(one.ends.size() == 3000);
  for (const int64_t piece : {1, 100, 5000}) {
    SvmlightReader<double> many("text", {}, 0, 4);
    many.piece = piece;
    const TemporaryFile file(text);
    int64_t at = 0;
    for (int64_t got = 0; (got = many.read(file.number(), at, 70'001)) > 0;) at += got;
    many.finish();
    CHECK(at == int64_t(text.size()));
    CHECK(same(one.values, many.values) && same(one.columns, many.columns) && same(one.ends, many.ends));
    CHECK(same(one.labels, many.labels));
  }
}

TEST(of_bad_lines_in_several_pieces_the_first_is_told) {
  std::string text = many_lines(500);
  text += "x\n" + many_lines(500) + "y\n";
  SvmlightReader<float> reader("text", {}, 0, 4);
  reader.piece = 64;
  std::string said;
  try {
    reader.feed(text);
  } catch (const BadText& error) {
    said = error.what();
  }
  CHECK(said == "text:501:1: expected a label, which is a number, found 'x'.");
}

TEST(a_line_without_an_end_is_refused_before_it_fills_the_memory) {
  SvmlightReader<double> reader("text", {}, 0, 1);
  reader.longest_line = 100;
  reader.feed("1 1:2\n" + std::string(99, '1'));
  std::string said;
  try {
    reader.feed("11");
  } catch (const BadText& error) {
    said = error.what();
  }
  CHECK(said == "text:2:1: this line has more than 100 bytes. Is the file a text?");
}

TEST(a_file_that_cannot_be_read_is_the_systems_error) {
  SvmlightReader<double> reader("text", {}, 0, 2);
  bool refused = false;
  try {
    reader.read(-1, 0, 1 << 22);
  } catch (const std::system_error& error) {
    refused = error.code().value() == EBADF;
  }
  CHECK(refused);
}

TEST(both_roads_of_a_number_end_at_the_same_bits) {
  uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int digits = int(state >> 60) + 1, exponent = int(state >> 40 & 63) - 32;
    std::string text = std::to_string(state >> 3).substr(0, size_t(digits)) + "e" + std::to_string(exponent);
    double value = 0;
    const std::string line = text + "\n";
    CHECK(read_number(line.c_str(), value) == line.c_str() + text.size());
    CHECK(value == std::strtod(text.c_str(), nullptr));
    CHECK(value == read_slowly(text.data(), text.data() + text.size()));
  }
}
