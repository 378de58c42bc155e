#pragma once

#include <functional>

namespace perp {

/// Calls task(index, thread) once for every index in [0, count), in increasing order of the moments
/// at which they begin; thread 0 is the caller. If tasks throw, those of higher index that have not
/// begun are left out, and the exception of the smallest index is thrown on: the same one for any
/// number of threads.
void in_parallel(int threads, std::size_t count,
                 const std::function<void(std::size_t index, int thread)>& task);

}  // namespace perp
