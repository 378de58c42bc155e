#pragma once

/// What the module perp_petsc offers to the program, which loads it when solver petsc is asked for: linear complementarity in boxes,
/// over the rows that each rank has,
///     F = A y + r,   y_i = lower_i where F_i > 0,  y_i = upper_i where F_i < 0,  else F_i = 0.
/// Every function is called by all ranks. Vectors named `all` hold all n numbers on every rank, others those of the rank's own rows.
/// What returns a text returns null where all went well.
struct PerpPetsc {
  const char* (*begin)(const char* options);      ///< once; options as PETSc writes them
  const char* (*unused)();                        ///< an option of `begin` that nothing has read
  void (*range)(int n, int* begin, int* end);     ///< the rows of this rank
  /// A of the places where its rows have entries: those of row i stand from start[i] on. They stay the same.
  void* (*create)(int n, const int* start, const int* columns);
  void (*set)(void* system, const double* values);
  /// From y on by SNES vinewtonrsls; `tolerance`: of the norm of F.
  const char* (*search)(void* system, const double* right, const double* lower_all, const double* upper_all, double tolerance,
                        double* y_all, long* iterations);
  /// A d = residual on the rows that are not held; d is 0 where they are.
  const char* (*correct)(void* system, const char* held_all, const double* residual, double* d_all);
  double (*largest)(double value);                ///< of all ranks
  void (*destroy)(void* system);
};

/// The name of the function of the module that returns them.
inline constexpr const char* perp_petsc_name = "perp_petsc";
