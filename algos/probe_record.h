// The frames of one probe in the course of a run.
//
// Every frame is kept in the smallest numbers that hold its kind exactly: a mask in bytes, pointers
// in ints, of each row of a one-hot only the class that is marked. A frame that equals the one
// before it is not kept again. Most frames do, and small ones are cheap to compare, to check and to
// copy: that is most of the time that making data takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "algos/matrix.h"
#include "algos/spec.h"

namespace renar {

/// `count` zeros but for a 1 at `index`: a mask_one, or the class of a categorical graph probe.
struct OneHot {
  int index;
  int count;

  operator std::vector<double>() const;
  operator Mask() const;
};

/// The rows (R,C) of R one-hots: row i marks class classes_of[i] of C = classes. ~class in place of
/// class marks it with -1 (masked out). A view.
struct OneHotRows {
  std::span<const int> classes_of;
  int classes;

  /// Throws renar::Error for a class that is none of C.
  operator std::vector<double>() const;
};

/// What a probe shows: a view of whatever the algorithm holds, of the temporaries in the same
/// statement too. It must not outlive that statement.
class ProbeValue {
 public:
  ProbeValue(double value) : value_(value) {}
  ProbeValue(const OneHot& value) : value_(value) {}
  ProbeValue(const OneHotRows& value) : value_(value) {}
  template <class Number>
  ProbeValue(const std::vector<Number>& values) : value_(std::span<const Number>(values)) {}
  template <class Number>
  ProbeValue(const Table<Number>& values) : ProbeValue(values.values()) {}

  std::vector<double> numbers() const;

 private:
  friend class ProbeRecord;
  std::variant<double, OneHot, OneHotRows, std::span<const double>, std::span<const int>,
               std::span<const Mark>>
      value_;
};

class ProbeRecord {
 public:
  /// An empty record. The probe must outlive it.
  ProbeRecord(const Probe& probe, int nodes);

  /// Adds a frame. Throws renar::Error, see check_value, if the probe does not allow the value.
  void add(const ProbeValue& value);

  /// Appends the numbers of frame t, counted from 0.
  void append_frame(std::size_t t, std::vector<double>& values) const;

 private:
  /// Frames of `count` numbers each, in chunks that never move: tables of many frames would be
  /// copied again and again as one vector grows.
  template <class Number>
  class Frames {
   public:
    explicit Frames(std::size_t count) : count_(count) {}

    /// Whether the last frame is these numbers, to the bit.
    bool end_with(std::span<const Number> value) const;
    void push(std::span<const Number> value);
    void repeat_last() { places_.push_back(places_.back()); }
    std::span<const Number> operator[](std::size_t t) const;

   private:
    struct Place {
      std::uint32_t chunk, offset;
    };
    std::size_t count_;
    std::vector<std::vector<Number>> chunks_;  // each value that differs from the one before it
    std::vector<Place> places_;                // where in them each frame starts
    std::vector<Number> single_;               // instead of both if count = 1
  };

  template <class Number>
  std::span<const Number> as_kept(const ProbeValue& value) const;
  template <class Number>
  std::vector<Number> converted(const ProbeValue& value) const;
  template <class Number>
  void check(std::span<const Number> kept) const;
  template <class Number>
  void append(std::span<const Number> kept, std::vector<double>& values) const;

  const Probe* probe_;
  int nodes_;
  std::size_t row_;   // the elements of a row of which the class is kept; 0 if all numbers are
  std::size_t kept_;  // the numbers kept of a frame
  std::variant<Frames<double>, Frames<int>, Frames<Mark>> frames_;
};

}  // namespace renar
