// Readers of files.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <system_error>

#include "gil.hpp"
#include "pegasos/io/svmlight.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
auto to_numpy(pegasos::Growing<T>&& array) {
  auto* owned = new pegasos::Growing<T>(std::move(array));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<pegasos::Growing<T>*>(p); });
  const size_t shape[] = {owned->size()};
  static T none{};  // an empty array has no memory
  return nb::ndarray<nb::numpy, T>(owned->data() ? owned->data() : &none, 1, shape, owner);
}

// What has been read since the last time; the reader goes on without it.
template <class T>
nb::tuple take(pegasos::SvmlightReader<T>& reader) {
  return nb::make_tuple(to_numpy(std::move(reader.values)), to_numpy(std::move(reader.columns)),
                        to_numpy(std::move(reader.ends)), to_numpy(std::move(reader.labels)),
                        to_numpy(std::move(reader.label_ends)), to_numpy(std::move(reader.queries)));
}

template <class T>
nb::tuple finish(pegasos::SvmlightReader<T>& reader) {
  {
    WithoutGil nogil;
    reader.finish();
  }
  return take(reader);
}

template <class T>
void bind_reader(nb::module_& m, const char* name) {
  using Reader = pegasos::SvmlightReader<T>;
  nb::class_<Reader>(m, name)
      .def(
          "__init__",
          [](Reader* self, std::string name, bool multilabel, bool query_id, int lowest, int64_t skip_bad,
             int threads) { new (self) Reader(std::move(name), {multilabel, query_id, lowest}, skip_bad, threads); },
          "name"_a, "multilabel"_a, "query_id"_a, "lowest"_a, "skip_bad"_a, "threads"_a)
      .def("begin_at", &Reader::begin_at, "offset"_a)
      .def("end_at", &Reader::end_at, "limit"_a)
      .def(
          "feed",
          [](Reader& reader, nb::bytes text) {
            const std::string_view view(text.c_str(), text.size());
            WithoutGil nogil;
            reader.feed(view);
          },
          "text"_a)
      .def(
          "read",
          [](Reader& reader, int file, int64_t offset, int64_t size) {
            WithoutGil nogil;
            return reader.read(file, offset, size);
          },
          "file"_a, "offset"_a, "size"_a)
      .def("take", &take<T>)
      .def("finish", &finish<T>)
      .def_prop_ro("done", &Reader::done)
      .def_ro("smallest", &Reader::smallest)
      .def_ro("largest", &Reader::largest)
      .def_ro("bad", &Reader::bad);
}

// What the system refused, as Python's OSError, whose kind follows from the number.
void refuse_as_oserror() {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const std::system_error& refused) {
      nb::object pair = nb::make_tuple(refused.code().value(), refused.code().message());
      PyErr_SetObject(PyExc_OSError, pair.ptr());
    }
  });
}

}  // namespace

void bind_io(nb::module_& m) {
  refuse_as_oserror();
  bind_reader<float>(m, "SvmlightReader32");
  bind_reader<double>(m, "SvmlightReader64");
}
