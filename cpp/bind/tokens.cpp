// Tokens as people have them, dicts or lists of features, to rows. The convention is crfsuite's.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string>

#include "arrays.hpp"
#include "pegasos/structured/vocabulary.hpp"

using namespace nb::literals;
using pegasos::structured::hash_of;
using pegasos::structured::Vocabulary;

namespace {

class Reader {
 public:
  // hashed: so many columns, and no vocabulary.
  Reader(Vocabulary& vocabulary, bool grow, int64_t hashed) : vocabulary_(vocabulary), grow_(grow), hashed_(hashed) {}

  nb::tuple read(nb::handle X) {
    const nb::object sequences = fast(X, "X must be a list of sequences");
    for (sequence_ = 0; sequence_ < size_of(sequences);
         ++sequence_) {  // a value may be an object that changes the list
      token_ = -1;
      const nb::object given = item_of(sequences, sequence_);
      if (PyDict_Check(given.ptr()) || PyUnicode_Check(given.ptr()))
        fail("must be a list of tokens, got " + type_of(given) + ". X is a list of sequences, not one sequence");
      const nb::object tokens = fast(given, "must be a list of tokens");
      for (token_ = 0; token_ < size_of(tokens); ++token_) {
        add_token(item_of(tokens, token_));
        indptr_.push_back(int64_t(indices_.size()));
        if (indptr_.size() % 1024 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
      }
      begins_.push_back(int64_t(indptr_.size()) - 1);
    }
    nb::object values = nb::none();
    if (!values_.empty()) values = nb::cast(to_numpy(std::move(values_)));
    return nb::make_tuple(to_numpy(std::move(indptr_)), to_numpy(std::move(indices_)), values,
                          to_numpy(std::move(begins_)), unknown_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    std::string where = "X[" + std::to_string(sequence_) + "]";
    if (token_ >= 0) where += "[" + std::to_string(token_) + "]";
    throw nb::value_error((where + " " + what + ".").c_str());
  }
  static std::string type_of(nb::handle x) { return nb::cast<std::string>(x.type().attr("__name__")); }

  // Of a list or tuple, without the macros that a stable ABI lacks.
  static Py_ssize_t size_of(nb::handle x) {
    return PyList_Check(x.ptr()) ? PyList_Size(x.ptr()) : PyTuple_Size(x.ptr());
  }
  static nb::object item_of(nb::handle x, Py_ssize_t i) {
    PyObject* item = PyList_Check(x.ptr()) ? PyList_GetItem(x.ptr(), i) : PyTuple_GetItem(x.ptr(), i);
    if (item == nullptr) throw nb::python_error();
    return nb::borrow(item);
  }

  nb::object fast(nb::handle x, const char* said) const {
    PyObject* list = PySequence_Fast(x.ptr(), said);
    if (list == nullptr) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      if (sequence_ < 0) throw nb::value_error((std::string(said) + ", got " + type_of(x) + ".").c_str());
      fail(std::string(said) + ", got " + type_of(x));
    }
    return nb::steal(list);
  }

  void add_token(const nb::object& token) {
    if (PyUnicode_Check(token.ptr()) || PyBytes_Check(token.ptr()))
      fail("must be a dict of features or a list of strings, got " + type_of(token));
    name_.clear();
    add_features(token, 0);
  }

  // All of a dict or list; their names begin with name_.
  void add_features(const nb::object& features, int depth) {
    if (depth > 50) fail("is nested too deeply");
    const size_t prefix = name_.size();
    if (PyDict_Check(features.ptr())) {
      Py_ssize_t at = 0;
      PyObject *key = nullptr, *value = nullptr;
      while (PyDict_Next(features.ptr(), &at, &key, &value)) {
        const nb::object held_key = nb::borrow(key), held = nb::borrow(value);
        append(held_key);
        add_value(held, depth);
        name_.resize(prefix);
      }
      return;
    }
    if (!PyList_Check(features.ptr()) && !PyTuple_Check(features.ptr()) && !PyAnySet_Check(features.ptr()))
      fail("must be a dict of features or a list of strings, got " + type_of(features));
    const nb::object ordered = PyAnySet_Check(features.ptr()) ? sorted(features) : features;
    const nb::object items = nb::steal(PyObject_GetIter(ordered.ptr()));
    if (!items.is_valid()) throw nb::python_error();
    while (PyObject* next = PyIter_Next(items.ptr())) {
      const nb::object item = nb::steal(next);
      append(item);
      add(1);
      name_.resize(prefix);
    }
    if (PyErr_Occurred() != nullptr) throw nb::python_error();
  }

  // A set has another order in every process: the model would have other bytes.
  static nb::object sorted(const nb::object& set) {
    nb::object list = nb::steal(PySequence_List(set.ptr()));
    if (!list.is_valid()) throw nb::python_error();
    if (PyList_Sort(list.ptr()) != 0) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();  // of different kinds: some of them is no string, and refused by its kind
    }
    return list;
  }

  void add_value(const nb::object& value, int depth) {
    PyObject* v = value.ptr();
    if (PyUnicode_Check(v)) {
      name_ += ':';
      append(value);
      add(1);
    } else if (PyFloat_CheckExact(v)) {
      add(PyFloat_AsDouble(v));
    } else if (PyBool_Check(v)) {
      add(v == Py_True ? 1 : 0);
    } else if (PyDict_Check(v) || PyList_Check(v) || PyTuple_Check(v) || PyAnySet_Check(v)) {
      name_ += ':';
      add_features(value, depth + 1);
    } else {
      const double x = PyFloat_AsDouble(v);
      if (x == -1 && PyErr_Occurred() != nullptr) {
        const bool too_large = PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
        if (!too_large && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
        PyErr_Clear();
        if (too_large) fail("has the feature '" + name_ + "' with a number that is too large for a float");
        fail("has the feature '" + name_ + "' with a value of type " + type_of(value) +
             "; values are numbers, strings, bools, dicts or lists");
      }
      add(x);
    }
  }

  void append(nb::handle text) {
    if (!PyUnicode_Check(text.ptr())) fail("has a feature whose name is of type " + type_of(text) + ", not a string");
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (bytes == nullptr) {
      PyErr_Clear();
      fail("has a feature whose name is no valid Unicode");
    }
    name_.append(bytes, size_t(size));
  }

  void add(double x) {
    if (x == 0) return;
    if (!std::isfinite(x))
      fail("has the feature '" + name_ + "' with the value " + (std::isnan(x) ? "NaN" : "infinity"));
    int32_t number = 0;
    if (hashed_ > 0) {
      number = int32_t(hash_of(name_) % uint64_t(hashed_));
    } else {
      number = grow_ ? vocabulary_.add(name_) : vocabulary_.find(name_);
      if (number < 0) {
        ++unknown_;
        return;
      }
    }
    if (x != 1 && values_.empty()) values_.assign(indices_.size(), 1.0);
    const bool valued = x != 1 || !values_.empty();
    indices_.push_back(number);
    if (valued) values_.push_back(x);
  }

  Vocabulary& vocabulary_;
  bool grow_;
  int64_t hashed_, unknown_ = 0;
  Py_ssize_t sequence_ = -1, token_ = -1;
  std::string name_;
  std::vector<int64_t> indptr_{0}, begins_{0};
  std::vector<int32_t> indices_;
  std::vector<double> values_;  // empty as long as all are 1
};

nb::str text_of(std::string_view name) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(name.data(), Py_ssize_t(name.size()), "strict"));
}

}  // namespace

void bind_tokens(nb::module_& m) {
  nb::class_<Vocabulary>(m, "Vocabulary")
      .def(nb::init<>())
      .def("__len__", &Vocabulary::size)
      .def(
          "find", [](const Vocabulary& v, const std::string& name) { return v.find(name); }, "name"_a)
      .def("names",
           [](const Vocabulary& v) {
             nb::list names;
             for (int64_t i = 0; i < v.size(); ++i) names.append(text_of(v.name(i)));
             return names;
           })
      .def(
          "kept",
          [](const Vocabulary& v, Vec<uint8_t> keep) {
            if (int64_t(keep.size()) != v.size()) throw std::invalid_argument("one flag for each name");
            Vocabulary kept;
            for (int64_t i = 0; i < v.size(); ++i)
              if (keep.data()[i] != 0) kept.add(v.name(i));
            return kept;
          },
          "keep"_a.noconvert())
      .def("__getstate__",
           [](const Vocabulary& v) {
             std::string all;
             std::vector<int64_t> lengths;
             for (int64_t i = 0; i < v.size(); ++i) {
               all += v.name(i);
               lengths.push_back(int64_t(v.name(i).size()));
             }
             return nb::make_tuple(nb::bytes(all.data(), all.size()), to_numpy(std::move(lengths)));
           })
      .def("__setstate__", [](Vocabulary& v, const nb::tuple& state) {
        const auto all = nb::cast<nb::bytes>(state[0]);
        const auto lengths = nb::cast<Vec<int64_t>>(state[1]);
        new (&v) Vocabulary();
        size_t at = 0;
        for (const int64_t length : span_of(lengths)) {
          if (length < 0 || size_t(length) > all.size() - at) throw std::invalid_argument("a damaged vocabulary");
          v.add({all.c_str() + at, size_t(length)});
          at += size_t(length);
        }
      });
  // (indptr, indices, values or None where all are 1, begins, number of features not in the vocabulary)
  m.def(
      "read_tokens",
      [](nb::handle X, Vocabulary& vocabulary, bool grow, int64_t hashed) {
        if (hashed < 0 || hashed > INT32_MAX) throw std::invalid_argument("between 1 and 2^31 - 1 columns");
        return Reader(vocabulary, grow, hashed).read(X);
      },
      "X"_a, "vocabulary"_a, "grow"_a, "hashed"_a = 0);
}
