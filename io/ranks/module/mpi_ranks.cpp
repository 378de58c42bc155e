// The module perp_mpi: the ranks of a command by MPI, see PerpRanks. It stands alone, so that nothing else is linked with MPI.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <perp/io/ranks/ranks_module.hpp>

namespace {

/// MPI is called by one thread at a time: not every way of its counters may be used by several.
struct Calls {
  std::mutex mutex;
  std::thread helper;  // of rank 0, see `help`
  std::atomic<bool> is_helped = false;
  MPI_Win window = MPI_WIN_NULL;
  bool is_own = false;  // was MPI begun here?
};

Calls& calls() {
  static Calls all;
  return all;
}

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// Where the network cannot count by itself the counter moves only while its owner calls MPI, and that one makes long runs.
void help() {
  while (calls().is_helped) {
    {
      const std::lock_guard lock(calls().mutex);
      int is_there = 0;
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    }
    pause();
  }
}

void join(int* rank, int* size) {
  int is_there = 0, level = 0;
  MPI_Initialized(&is_there);
  if (is_there == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
  calls().is_own = is_there == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
}

/// One number in the memory of rank 0.
void open_counter() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  long* number = nullptr;
  const MPI_Aint bytes = rank == 0 ? sizeof(long) : 0;
  MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&number), &calls().window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, calls().window);
  if (rank == 0) {
    *number = 0;
    MPI_Win_sync(calls().window);
    calls().is_helped = true;
    calls().helper = std::thread(help);
  }
  const std::lock_guard lock(calls().mutex);
  MPI_Barrier(MPI_COMM_WORLD);
}

long add_to_counter(long count) {
  const std::lock_guard lock(calls().mutex);
  long before = 0;
  MPI_Fetch_and_op(&count, &before, MPI_LONG, 0, 0, MPI_SUM, calls().window);
  MPI_Win_flush(0, calls().window);
  return before;
}

/// It sleeps while it waits: MPI would take the whole processor from those that still compute.
void smallest(long value, long* least, int* rank) {
  struct {
    long value;
    int rank;
  } own{value, 0}, result{0, 0};
  MPI_Request request = MPI_REQUEST_NULL;
  {
    const std::lock_guard lock(calls().mutex);
    MPI_Comm_rank(MPI_COMM_WORLD, &own.rank);
    MPI_Iallreduce(&own, &result, 1, MPI_LONG_INT, MPI_MINLOC, MPI_COMM_WORLD, &request);
  }
  for (int is_done = 0; is_done == 0; pause()) {
    const std::lock_guard lock(calls().mutex);
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
  }
  *least = result.value;
  *rank = result.rank;
}

void leave() {
  if (calls().window != MPI_WIN_NULL) {
    long least = 0;
    int rank = 0;
    smallest(0, &least, &rank);  // the helper works until nobody counts any more
    calls().is_helped = false;
    if (calls().helper.joinable()) calls().helper.join();
    MPI_Win_unlock_all(calls().window);
    MPI_Win_free(&calls().window);
  }
  if (calls().is_own) MPI_Finalize();
}

constexpr PerpRanks ranks{join, open_counter, add_to_counter, smallest, leave};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PerpRanks* perp_ranks() { return &ranks; }
