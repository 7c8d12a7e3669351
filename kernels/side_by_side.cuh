// side_by_side: what several ops do to their rows, by one kernel.
//
// A time step has a softmax and a loss for each hint, of a few hundred rows: less work than it is
// to start a kernel. None needs another's results, so they are collected (core/launch.h) until one
// comes that does, or anything else.
//
// A job is a named functor that holds pointers and numbers:
//   std::int64_t rows
//   Touched touched()               what it reads and writes of what another job might write
//   void operator()(std::int64_t r)     does row r, by the lanes of a warp: rows are a few classes
//                                       or up to some hundred nodes long
#pragma once

#include <utility>

#include "core/launch.h"

namespace renar {

struct Touched {
  Stretch reads[2] = {}, writes[2] = {};

  bool spoils(const Touched& other) const {
    for (const Stretch& mine : writes) {
      for (const Stretch& theirs : other.reads) {
        if (mine.meets(theirs)) return true;
      }
      for (const Stretch& theirs : other.writes) {
        if (mine.meets(theirs)) return true;
      }
    }
    return false;
  }
};

constexpr int kMostJobs = 16;

/// The jobs of one kind that wait for company.
template <class Job>
struct Jobs {
  int count;
  Job job[kMostJobs];
};
template <class Job>
Jobs<Job>& waiting_jobs() {
  static Jobs<Job> only{};
  return only;
}

// The jobs' rows lie one after the other in the grid.
template <class Job>
__global__ void do_jobs(const Jobs<Job> RENAR_GIVEN all) {
  std::int64_t r = warp_index();
  for (int j = 0; j < all.count; ++j) {
    if (r < all.job[j].rows) return all.job[j](r);
    r -= all.job[j].rows;
  }
}

template <class Job>
void start_jobs() {
  const Jobs<Job> all = std::exchange(waiting_jobs<Job>(), {});
  std::int64_t rows = 0;
  for (int j = 0; j < all.count; ++j) rows += all.job[j].rows;
  launch(one_warp_each(rows), do_jobs<Job>, all);
}

template <class Job>
void add_job(const Job& job) {
  static_assert(sizeof(Jobs<Job>) <= 4096);  // what a kernel can be given
  Jobs<Job>& all = waiting_jobs<Job>();
  bool fits = all.count < kMostJobs;
  for (int j = 0; j < all.count; ++j) {
    const Touched mine = job.touched(), theirs = all.job[j].touched();
    fits = fits && !mine.spoils(theirs) && !theirs.spoils(mine);
  }
  if (!fits) start_collected();
  if (all.count == 0) collect(start_jobs<Job>);
  all.job[all.count++] = job;
}

}  // namespace renar
