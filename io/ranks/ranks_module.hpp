#pragma once

/// What the module perp_mpi offers to the program, which loads it where it is one of several processes: see Ranks. MPI's own
/// errors end all of them.
struct PerpRanks {
  void (*join)(int* rank, int* size);             ///< begins MPI; by all ranks
  void (*open_counter)();                         ///< a number at rank 0, which is 0; by all ranks
  long (*add_to_counter)(long count);             ///< what it was before; by any thread of any rank
  void (*smallest)(long value, long* least, int* rank);  ///< of all ranks and the first that has it; waits for all of them
  void (*leave)();                                ///< ends MPI; by all ranks
};

/// The name of the function of the module that returns them.
inline constexpr const char* perp_ranks_name = "perp_ranks";
