// The module perp_petsc: complementarity in boxes on many ranks by PETSc, see PerpPetsc. It stands alone, so that nothing else is
// linked with PETSc and MPI.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <petscsnes.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <perp/lcp/libraries/petsc_module.hpp>

namespace {

/// What PETSc says of an error, from where it came first.
std::string& fault() {
  static std::string text;
  return text;
}

PetscErrorCode keep_fault(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type, const char* message, void*) {
  if (type == PETSC_ERROR_INITIAL) fault() = message != nullptr ? message : "unknown error";
  return code;
}

/// Null, or the error of a call.
const char* text_of(PetscErrorCode code) { return code == 0 ? nullptr : fault().c_str(); }

/// Unless MPI has ended already, with which PETSc has.
void end() {
  int is_ended = 0;
  MPI_Finalized(&is_ended);
  if (is_ended == 0) PetscFinalize();
}

/// Without files of the user's and without its own handling of signals. A first factor or hierarchy that is not named is the
/// program's choice, see `choose`.
const char* begin(const char* options) {
  PetscOptionsSetValue(nullptr, "-skip_petscrc", nullptr);
  PetscOptionsSetValue(nullptr, "-no_signal_handler", nullptr);
  if (PetscInitializeNoArguments() != 0) return "PETSc cannot be started";
  std::atexit(end);
  PetscPushErrorHandler(keep_fault, nullptr);
  return text_of(PetscOptionsInsertString(nullptr, options));
}

const char* unused() {
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  static std::string first;
  first.clear();
  if (PetscOptionsLeftGet(nullptr, &count, &names, &values) != 0) return nullptr;
  for (PetscInt k = 0; k < count; ++k)
    if (std::string(names[k]) != "skip_petscrc" && std::string(names[k]) != "no_signal_handler") first = names[k];
  PetscOptionsLeftRestore(nullptr, &count, &names, &values);
  return first.empty() ? nullptr : first.c_str();
}

void range(int n, int* first, int* behind) {
  int rank = 0, size = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  *first = static_cast<int>(static_cast<long>(n) * rank / size);
  *behind = static_cast<int>(static_cast<long>(n) * (rank + 1) / size);
}

/// A system with what PETSc keeps of it.
struct System {
  int n = 0, first = 0, behind = 0;
  std::vector<PetscInt> start, columns;
  Mat A = nullptr, free_part = nullptr;
  Vec right = nullptr, y = nullptr, F = nullptr, lower = nullptr, upper = nullptr, all = nullptr;
  Vec free_right = nullptr, free_y = nullptr;
  VecScatter to_all = nullptr;
  IS free = nullptr;
  std::vector<char> held;  // of the last correction
  KSP ksp = nullptr;
  bool has_diagonal = true;  // has each row its own unknown?
  bool is_new = true;        // has A changed since the last correction?
};

/// The numbers of this rank's rows.
PetscErrorCode put(Vec vector, const double* values, int count) {
  PetscScalar* place = nullptr;
  PetscCall(VecGetArray(vector, &place));
  for (int i = 0; i < count; ++i) place[i] = values[i];
  PetscCall(VecRestoreArray(vector, &place));
  return 0;
}

/// To all ranks.
PetscErrorCode gather(System& system, double* y_all) {
  PetscCall(VecScatterBegin(system.to_all, system.y, system.all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(system.to_all, system.y, system.all, INSERT_VALUES, SCATTER_FORWARD));
  const PetscScalar* values = nullptr;
  PetscCall(VecGetArrayRead(system.all, &values));
  for (int i = 0; i < system.n; ++i) y_all[i] = values[i];
  PetscCall(VecRestoreArrayRead(system.all, &values));
  return 0;
}

/// What is solved where no option says otherwise: by algebraic multigrid where all unknowns are of one kind, else, where rows have
/// no unknown of their own, by MUMPS.
PetscErrorCode choose(const System& system, KSP ksp) {
  constexpr double tolerance = 1e-10;
  PC pc = nullptr;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPSetType(ksp, KSPGMRES));
  PetscCall(KSPSetTolerances(ksp, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  if (system.has_diagonal) {
    PetscCall(PCSetType(pc, PCGAMG));
  } else {
    PetscCall(PCSetType(pc, PCLU));
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  }
  return 0;
}

PetscErrorCode residual_of(SNES, Vec y, Vec F, void* data) {
  const System& system = *static_cast<System*>(data);
  PetscCall(MatMultAdd(system.A, y, system.right, F));
  return 0;
}

PetscErrorCode jacobian_of(SNES, Vec, Mat, Mat, void*) { return 0; }

/// Anew for each set of rows: their number is another one.
PetscErrorCode make_ksp(System& system) {
  PetscCall(KSPDestroy(&system.ksp));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &system.ksp));
  PetscCall(choose(system, system.ksp));
  PetscCall(KSPSetFromOptions(system.ksp));
  return 0;
}

/// Anew for each search: what it keeps of a set of active bounds is of another size in the next one.
PetscErrorCode make_snes(System& system, double tolerance, SNES* made) {
  constexpr PetscInt most = 1000;  // a set of active bounds may move by one layer of a grid at a time
  SNES snes = nullptr;
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  *made = snes;
  PetscCall(SNESSetFunction(snes, system.F, residual_of, &system));
  PetscCall(SNESSetJacobian(snes, system.A, system.A, jacobian_of, &system));
  PetscCall(SNESSetType(snes, SNESVINEWTONRSLS));
  PetscCall(SNESSetTolerances(snes, tolerance, PETSC_DEFAULT, 0, most, PETSC_DEFAULT));
  KSP ksp = nullptr;
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(choose(system, ksp));
  PetscCall(SNESVISetVariableBounds(snes, system.lower, system.upper));
  PetscCall(SNESSetFromOptions(snes));
  return 0;
}

PetscErrorCode make_vectors(System& system) {
  PetscCall(MatCreateVecs(system.A, &system.y, &system.right));
  for (Vec* vector : {&system.F, &system.lower, &system.upper}) PetscCall(VecDuplicate(system.y, vector));
  PetscCall(VecScatterCreateToAll(system.y, &system.to_all, &system.all));
  return 0;
}

PetscErrorCode make(System& system) {
  const PetscInt own = system.behind - system.first;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &system.A));
  PetscCall(MatSetSizes(system.A, own, own, system.n, system.n));
  PetscCall(MatSetType(system.A, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(system.A, system.start.data(), system.columns.data(), nullptr));
  PetscCall(MatMPIAIJSetPreallocationCSR(system.A, system.start.data(), system.columns.data(), nullptr));
  PetscCall(make_vectors(system));
  SNES snes = nullptr;  // reads the options, which are judged before it is needed
  PetscCall(make_snes(system, 0, &snes));
  PetscCall(SNESDestroy(&snes));
  return 0;
}

void* create(int n, const int* start, const int* columns) {
  auto* system = new System;
  system->n = n;
  range(n, &system->first, &system->behind);
  const int own = system->behind - system->first;
  system->start.assign(start, start + own + 1);
  system->columns.assign(columns, columns + start[own]);
  int lacks = 0, lacks_any = 0;
  for (int i = 0; i < own; ++i) {
    bool has_own = false;
    for (int k = start[i]; k < start[i + 1]; ++k) has_own = has_own || columns[k] == system->first + i;
    lacks = lacks != 0 || !has_own ? 1 : 0;
  }
  MPI_Allreduce(&lacks, &lacks_any, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD);
  system->has_diagonal = lacks_any == 0;
  if (make(*system) == 0) return system;
  delete system;
  return nullptr;
}

PetscErrorCode put_values(System& system, const double* values) {
  for (int i = 0; i < system.behind - system.first; ++i) {
    const PetscInt row = system.first + i, from = system.start[static_cast<std::size_t>(i)],
                   count = system.start[static_cast<std::size_t>(i) + 1] - from;
    PetscCall(MatSetValues(system.A, 1, &row, count, system.columns.data() + from, values + from, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(system.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(system.A, MAT_FINAL_ASSEMBLY));
  system.is_new = true;
  return 0;
}

void set(void* system, const double* values) { put_values(*static_cast<System*>(system), values); }

PetscErrorCode search_from(System& system, const double* right, const double* lower_all, const double* upper_all, double tolerance,
                           double* y_all, long* iterations, SNESConvergedReason* reason) {
  const int own = system.behind - system.first;
  PetscCall(put(system.right, right, own));
  PetscCall(put(system.lower, lower_all + system.first, own));
  PetscCall(put(system.upper, upper_all + system.first, own));
  PetscCall(put(system.y, y_all + system.first, own));
  SNES snes = nullptr;
  PetscCall(make_snes(system, tolerance, &snes));
  PetscCall(SNESSolve(snes, nullptr, system.y));
  PetscInt count = 0;
  PetscCall(SNESGetIterationNumber(snes, &count));
  PetscCall(SNESGetConvergedReason(snes, reason));
  PetscCall(SNESDestroy(&snes));
  *iterations = count;
  PetscCall(gather(system, y_all));
  return 0;
}

const char* search(void* data, const double* right, const double* lower_all, const double* upper_all, double tolerance, double* y_all,
                   long* iterations) {
  System& system = *static_cast<System*>(data);
  SNESConvergedReason reason = SNES_CONVERGED_ITERATING;
  if (const PetscErrorCode code = search_from(system, right, lower_all, upper_all, tolerance, y_all, iterations, &reason); code != 0)
    return text_of(code);
  return reason < 0 ? SNESConvergedReasons[reason] : nullptr;
}

/// The rows and unknowns that are not held, as a system of their own.
PetscErrorCode take_free_part(System& system, const char* held_all) {
  std::vector<PetscInt> rows;
  for (int i = system.first; i < system.behind; ++i)
    if (held_all[i] == 0) rows.push_back(i);
  PetscCall(ISDestroy(&system.free));
  PetscCall(MatDestroy(&system.free_part));
  PetscCall(VecDestroy(&system.free_right));
  PetscCall(VecDestroy(&system.free_y));
  PetscCall(ISCreateGeneral(PETSC_COMM_WORLD, static_cast<PetscInt>(rows.size()), rows.data(), PETSC_COPY_VALUES, &system.free));
  PetscCall(MatCreateSubMatrix(system.A, system.free, system.free, MAT_INITIAL_MATRIX, &system.free_part));
  PetscCall(MatCreateVecs(system.free_part, &system.free_y, &system.free_right));
  PetscCall(make_ksp(system));
  PetscCall(KSPSetOperators(system.ksp, system.free_part, system.free_part));
  system.held.assign(held_all, held_all + system.n);
  system.is_new = false;
  return 0;
}

PetscErrorCode correct_from(System& system, const char* held_all, const double* residual, double* d_all, KSPConvergedReason* reason) {
  const bool is_same = !system.is_new && std::vector<char>(held_all, held_all + system.n) == system.held;
  if (!is_same) PetscCall(take_free_part(system, held_all));
  PetscScalar *place = nullptr, *d = nullptr;
  PetscCall(VecGetArray(system.free_right, &place));
  for (int i = system.first, k = 0; i < system.behind; ++i)
    if (held_all[i] == 0) place[k++] = residual[i - system.first];
  PetscCall(VecRestoreArray(system.free_right, &place));
  PetscCall(KSPSolve(system.ksp, system.free_right, system.free_y));
  PetscCall(KSPGetConvergedReason(system.ksp, reason));
  PetscCall(VecSet(system.y, 0));
  PetscCall(VecGetArray(system.y, &d));
  PetscCall(VecGetArray(system.free_y, &place));
  for (int i = system.first, k = 0; i < system.behind; ++i)
    if (held_all[i] == 0) d[i - system.first] = place[k++];
  PetscCall(VecRestoreArray(system.free_y, &place));
  PetscCall(VecRestoreArray(system.y, &d));
  PetscCall(gather(system, d_all));
  return 0;
}

const char* correct(void* data, const char* held_all, const double* residual, double* d_all) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  if (const PetscErrorCode code = correct_from(*static_cast<System*>(data), held_all, residual, d_all, &reason); code != 0)
    return text_of(code);
  return reason < 0 ? KSPConvergedReasons[reason] : nullptr;
}

double largest(double value) {
  double most = 0;
  MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return most;
}

void destroy(void* data) {
  auto* system = static_cast<System*>(data);
  KSPDestroy(&system->ksp);
  for (Mat* matrix : {&system->A, &system->free_part}) MatDestroy(matrix);
  for (Vec* vector : {&system->right, &system->y, &system->F, &system->lower, &system->upper, &system->all, &system->free_right, &system->free_y})
    VecDestroy(vector);
  VecScatterDestroy(&system->to_all);
  ISDestroy(&system->free);
  delete system;
}

constexpr PerpPetsc library{begin, unused, range, create, set, search, correct, largest, destroy};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PerpPetsc* perp_petsc() { return &library; }
