#include <lcp_cst.h>
#include <SolverOptions.h>
#include <algorithm>
#include <cmath>
#include <EulerMoreauOSI.hpp>
#include <limits>
#include <SiconosKernel.hpp>
#include <SiconosVectorIterator.hpp>

#include <perp/bench/peers/siconos_kernel.hpp>

namespace perp::bench {
namespace {

SP::SimpleMatrix matrix(unsigned rows, unsigned columns, const std::vector<double>& from) {
  auto to = std::make_shared<SimpleMatrix>(rows, columns);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j) (*to)(i, j) = from[i * columns + j];
  return to;
}

SP::SiconosVector vector(const std::vector<double>& from) {
  auto to = std::make_shared<SiconosVector>(static_cast<unsigned>(from.size()));
  for (unsigned i = 0; i < from.size(); ++i) (*to)(i) = from[i];
  return to;
}

}  // namespace

struct SiconosKernel::Parts {
  SP::FirstOrderLinearDS system;
  SP::LCP lcp;
  SP::TimeStepping simulation;
  std::vector<double> start, best;
};

SiconosKernel::SiconosKernel(const KernelProblem& problem, Solver solver)
    : parts_(std::make_unique<Parts>()) {
  const unsigned n = problem.n, m = problem.m;
  SP::FirstOrderLinearDS system;
  if (problem.b_of_t == nullptr) {
    system = std::make_shared<FirstOrderLinearTIDS>(vector(problem.x0), matrix(n, n, problem.A));
    system->setbPtr(vector(problem.b));
  } else {
    system = std::make_shared<FirstOrderLinearDS>(vector(problem.x0), matrix(n, n, problem.A));
    system->setComputebFunction(problem.b_of_t);
  }
  if (!problem.E.empty()) system->setMPtr(matrix(n, n, problem.E));

  auto relation =
      std::make_shared<FirstOrderLinearTIR>(matrix(m, n, problem.C), matrix(n, m, problem.B));
  relation->setDPtr(matrix(m, m, problem.D));
  relation->setePtr(vector(problem.q));
  auto law = std::make_shared<ComplementarityConditionNSL>(m);
  auto interaction = std::make_shared<Interaction>(law, relation);

  const double end = problem.h * (static_cast<double>(problem.steps) + 2);
  auto model = std::make_shared<NonSmoothDynamicalSystem>(0.0, end);
  model->insertDynamicalSystem(system);
  model->link(interaction, system);

  parts_->system = system;
  parts_->lcp =
      std::make_shared<LCP>(solver == Solver::lemke ? SICONOS_LCP_LEMKE : SICONOS_LCP_ENUM);
  parts_->simulation =
      std::make_shared<TimeStepping>(model, std::make_shared<TimeDiscretisation>(0.0, problem.h),
                                     std::make_shared<EulerMoreauOSI>(problem.theta), parts_->lcp);
  parts_->simulation->initialize();
}

SiconosKernel::~SiconosKernel() = default;

void SiconosKernel::step() {
  parts_->simulation->computeOneStep();
  parts_->simulation->nextStep();
}

void SiconosKernel::step_nearest(int seeds) {
  SiconosVector& x = *parts_->system->x();
  parts_->start.assign(x.begin(), x.end());
  double least = std::numeric_limits<double>::infinity();
  for (int seed = 0; seed < seeds; ++seed) {
    parts_->lcp->numericsSolverOptions()->iparam[SICONOS_LCP_IPARAM_ENUM_SEED] = seed;
    parts_->simulation->computeOneStep();
    const double norm = std::hypot(x(0) - parts_->start[0], x(1) - parts_->start[1]);
    if (norm < least) {
      least = norm;
      parts_->best.assign(x.begin(), x.end());
    }
  }
  std::copy(parts_->best.begin(), parts_->best.end(), x.begin());
  parts_->simulation->nextStep();
}

std::vector<double> SiconosKernel::x() const {
  const SiconosVector& x = *parts_->system->x();
  return {x.begin(), x.end()};
}

}  // namespace perp::bench
