#include <cvode/cvode.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <algorithm>
#include <array>
#include <memory>

#include <perp/bench/hybrid.hpp>

namespace perp::bench {
namespace {

constexpr long most_steps = 1'000'000;  // between two returns
std::array<int, 2> falling() { return {-1, -1}; }

/// What both codes need; freed in the opposite order of making.
struct Workspace {
  SUNContext context = nullptr;
  N_Vector x = nullptr, xdot = nullptr;
  SUNMatrix J = nullptr;
  SUNLinearSolver solver = nullptr;

  explicit Workspace(const Hybrid& system) {
    SUNContext_Create(nullptr, &context);
    x = N_VNew_Serial(system.n, context);
    xdot = N_VNew_Serial(system.n, context);
    J = SUNDenseMatrix(system.n, system.n, context);
    solver = SUNLinSol_Dense(x, J, context);
    std::copy(system.x0.begin(), system.x0.end(), N_VGetArrayPointer(x));
  }
  ~Workspace() {
    SUNLinSolFree(solver);
    SUNMatDestroy(J);
    N_VDestroy(xdot);
    N_VDestroy(x);
    SUNContext_Free(&context);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

/// The system in its present mode, for the callbacks.
struct Present {
  const Hybrid& system;
  int mode;
};

Present& present(void* data) { return *static_cast<Present*>(data); }

int cvode_rate(double t, N_Vector x, N_Vector xdot, void* data) {
  const Present& now = present(data);
  now.system.rate(now.mode, t, N_VGetArrayPointer(x), N_VGetArrayPointer(xdot));
  return 0;
}

int cvode_roots(double t, N_Vector x, double* g, void* data) {
  const Present& now = present(data);
  now.system.roots(now.mode, t, N_VGetArrayPointer(x), g);
  return 0;
}

int ida_residual(double t, N_Vector x, N_Vector xdot, N_Vector residual, void* data) {
  const Present& now = present(data);
  double* r = N_VGetArrayPointer(residual);
  now.system.rate(now.mode, t, N_VGetArrayPointer(x), r);
  for (int j = 0; j < now.system.n; ++j) r[j] = N_VGetArrayPointer(xdot)[j] - r[j];
  return 0;
}

int ida_roots(double t, N_Vector x, N_Vector /*xdot*/, double* g, void* data) {
  return cvode_roots(t, x, g, data);
}

/// Notes the event and sets the mode after it.
void pass_event(Present& now, const std::array<int, 2>& found, double t, const double* x,
                HybridRun& run) {
  run.event_times.push_back(t);
  now.mode = now.system.next(now.mode, found[0] != 0 ? 0 : 1, t, x);
}

HybridRun finished(HybridRun run, const Workspace& work, const Hybrid& system, bool solved) {
  const double* x = N_VGetArrayPointer(work.x);
  run.x.assign(x, x + system.n);
  run.solved = solved;
  return run;
}

}  // namespace

HybridRun run_cvode(const Hybrid& system, double end, double tol) {
  Workspace work(system);
  Present now{system, system.mode0};
  void* memory = CVodeCreate(CV_BDF, work.context);
  const auto free = [](void* pointer) { CVodeFree(&pointer); };
  const std::unique_ptr<void, decltype(free)> owner(memory, free);
  CVodeInit(memory, cvode_rate, 0, work.x);
  CVodeSStolerances(memory, tol, tol);
  CVodeSetUserData(memory, &now);
  CVodeSetLinearSolver(memory, work.solver, work.J);
  CVodeSetMaxNumSteps(memory, most_steps);
  CVodeRootInit(memory, 2, cvode_roots);
  CVodeSetRootDirection(memory, falling().data());
  CVodeSetNoInactiveRootWarn(memory);
  if (system.max_step > 0) CVodeSetMaxStep(memory, system.max_step);
  HybridRun run;
  double t = 0;
  for (;;) {
    CVodeSetStopTime(memory, end);
    const int result = CVode(memory, end, work.x, &t, CV_NORMAL);
    if (result != CV_ROOT_RETURN) return finished(run, work, system, result >= 0);
    std::array<int, 2> found{};
    CVodeGetRootInfo(memory, found.data());
    long steps = 0;
    CVodeGetNumSteps(memory, &steps);
    run.steps += steps;
    pass_event(now, found, t, N_VGetArrayPointer(work.x), run);
    CVodeReInit(memory, t, work.x);
  }
}

HybridRun run_ida(const Hybrid& system, double end, double tol) {
  Workspace work(system);
  Present now{system, system.mode0};
  void* memory = IDACreate(work.context);
  const auto free = [](void* pointer) { IDAFree(&pointer); };
  const std::unique_ptr<void, decltype(free)> owner(memory, free);
  const auto set_rate = [&](double t) {
    system.rate(now.mode, t, N_VGetArrayPointer(work.x), N_VGetArrayPointer(work.xdot));
  };
  set_rate(0);
  IDAInit(memory, ida_residual, 0, work.x, work.xdot);
  IDASStolerances(memory, tol, tol);
  IDASetUserData(memory, &now);
  IDASetLinearSolver(memory, work.solver, work.J);
  IDASetMaxNumSteps(memory, most_steps);
  IDARootInit(memory, 2, ida_roots);
  IDASetRootDirection(memory, falling().data());
  IDASetNoInactiveRootWarn(memory);
  if (system.max_step > 0) IDASetMaxStep(memory, system.max_step);
  HybridRun run;
  double t = 0;
  for (;;) {
    IDASetStopTime(memory, end);
    const int result = IDASolve(memory, end, &t, work.x, work.xdot, IDA_NORMAL);
    if (result != IDA_ROOT_RETURN) return finished(run, work, system, result >= 0);
    std::array<int, 2> found{};
    IDAGetRootInfo(memory, found.data());
    long steps = 0;
    IDAGetNumSteps(memory, &steps);
    run.steps += steps;
    pass_event(now, found, t, N_VGetArrayPointer(work.x), run);
    set_rate(t);
    IDAReInit(memory, t, work.x, work.xdot);
  }
}

}  // namespace perp::bench
