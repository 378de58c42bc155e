#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <string>
#include <thread>

#include <perp/lcp/solver.hpp>

#include <perp/tests/lcp/random_problems.hpp>
#include <perp/tests/lcp/reference_problems.hpp>

using namespace perp;

namespace {

/// The methods of the adapter; none if perp is built without it.
std::vector<const MlcpSolver*> methods() {
  std::vector<const MlcpSolver*> result;
  for (const MlcpSolver* method : solvers())
    if (std::string(method->name).starts_with("siconos_")) result.push_back(method);
  return result;
}

/// What is written to the file descriptors 1 and 2 while it lives.
class Capture {
 public:
  Capture() : file_(std::tmpfile()) {
    std::fflush(nullptr);
    for (const int descriptor : {1, 2}) {
      saved_[descriptor - 1] = dup(descriptor);
      dup2(fileno(file_), descriptor);
    }
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    restore();
    std::fclose(file_);
  }
  std::string text() {
    restore();
    std::rewind(file_);
    std::string result(4096, '\0');
    result.resize(std::fread(result.data(), 1, result.size(), file_));
    return result;
  }

 private:
  void restore() {
    std::fflush(nullptr);
    for (const int descriptor : {1, 2}) {
      int& saved = saved_[descriptor - 1];
      if (saved < 0) continue;
      dup2(saved, descriptor);
      close(saved);
      saved = -1;
    }
  }
  std::FILE* file_;
  int saved_[2] = {-1, -1};
};

Mlcp dense(std::mt19937& engine, int p, int m, const Law& law, bool definite) {
  std::normal_distribution<double> normal;
  const auto matrix = [&](int rows, int columns) {
    Matrix result(rows, columns);
    for (double& entry : result.reshaped()) entry = normal(engine);
    return result;
  };
  Mlcp problem{.M11 = matrix(p, p),
               .M12 = matrix(p, m),
               .q1 = matrix(p, 1),
               .M21 = matrix(m, p),
               .M22 = matrix(m, m),
               .q2 = matrix(m, 1),
               .laws = std::vector<Law>(static_cast<std::size_t>(m), law)};
  if (definite) {
    problem.M22 = Matrix(problem.M22 * problem.M22.transpose()) + 0.1 * Matrix::Identity(m, m);
    problem.M11.setIdentity();
    problem.M12 = -problem.M21.transpose();
  }
  return problem;
}

std::vector<Mlcp> many_problems() {
  std::vector<Mlcp> problems;
  for (const test::ReferenceProblem& reference : test::reference_problems())
    problems.push_back(reference.problem);
  test::RandomProblems random(5);
  for (const std::string& family : test::RandomProblems::families())
    for (int k = 0; k < 20; ++k) problems.push_back(random.make(family));
  std::mt19937 engine(5);
  for (int k = 0; k < 40; ++k) {
    const Law law = k % 3 == 0 ? sign() : k % 3 == 1 ? complementarity() : box(-1, 1);
    problems.push_back(dense(engine, k % 4, 1 + k % 8, law, k % 2 == 0));
  }
  return problems;
}

}  // namespace

TEST_SUITE("lcp/siconos") {
  TEST_CASE("no method prints anything, whatever it is given") {
    const std::vector<Mlcp> problems = many_problems();
    for (const MlcpSolver* method : methods()) {
      Capture capture;
      for (const Mlcp& problem : problems) static_cast<void>(solve(*method, problem));
      const std::string printed = capture.text();
      CAPTURE(method->name);
      CHECK(printed.empty());
    }
  }

  TEST_CASE("an answer does not depend on what was solved before") {
    const std::vector<Mlcp> problems = many_problems();
    for (const MlcpSolver* method : methods()) {
      std::vector<SolveResult> forward, backward;
      for (const Mlcp& problem : problems) forward.push_back(solve(*method, problem));
      for (std::size_t k = problems.size(); k-- > 0;)
        backward.push_back(solve(*method, problems[k]));
      CAPTURE(method->name);
      for (std::size_t k = 0; k < problems.size(); ++k) {
        const SolveResult& again = backward[problems.size() - 1 - k];
        CHECK(forward[k].status == again.status);
        CHECK(forward[k].message == again.message);
        if (again.status != Status::solved) continue;
        CHECK(forward[k].solution.lambda == again.solution.lambda);
        CHECK(forward[k].solution.u == again.solution.u);
      }
    }
  }

  TEST_CASE("threads do not disturb each other") {
    std::vector<Mlcp> problems = many_problems();
    problems.resize(60);
    for (const MlcpSolver* method : methods()) {
      std::vector<Status> alone(problems.size());
      for (std::size_t k = 0; k < problems.size(); ++k)
        alone[k] = solve(*method, problems[k]).status;
      std::vector<std::vector<Status>> found(3, alone);
      std::vector<std::thread> threads;
      for (auto& own : found)
        threads.emplace_back([&, method] {
          for (std::size_t k = 0; k < problems.size(); ++k)
            own[k] = solve(*method, problems[k]).status;
        });
      for (std::thread& thread : threads) thread.join();
      CAPTURE(method->name);
      for (const auto& own : found) CHECK(own == alone);
    }
  }

  TEST_CASE("every method that takes complementarity solves the positive definite problems") {
    std::mt19937 engine(1);
    for (const int m : {1, 2, 4, 7})
      for (int k = 0; k < 20; ++k) {
        const Mlcp problem = dense(engine, k % 3, m, complementarity(), true);
        for (const MlcpSolver* method : methods()) {
          const SolveResult result = solve(*method, problem);
          if (result.status == Status::not_supported) continue;
          CAPTURE(method->name);
          CAPTURE(m);
          CAPTURE(k);
          CHECK(result.status == Status::solved);
          CHECK(result.solution.residual <= 1e-13);
        }
      }
  }

  TEST_CASE("the relay methods solve every definite relay problem") {
    std::mt19937 engine(2);
    for (int k = 0; k < 60; ++k) {
      // sign has λ grow with w: definite here means -M22 positive definite
      Mlcp problem = dense(engine, 0, 1 + k % 7, sign(), true);
      problem.M22 *= -1;
      for (const MlcpSolver* method : methods())
        if (std::string(method->name).find("relay") != std::string::npos) {
          CAPTURE(method->name);
          CAPTURE(k);
          CHECK(solve(*method, problem).status == Status::solved);
        }
    }
  }

  TEST_CASE("a division by zero is not a success") {
    // w = -1 + 0 λ: Siconos' own shortcut for one unknown divides by M.
    const Mlcp problem{.M11 = Matrix(0, 0),
                       .M12 = Matrix(0, 1),
                       .q1 = Vector(0),
                       .M21 = Matrix(1, 0),
                       .M22 = Matrix{{0}},
                       .q2 = Vector{{-1}},
                       .laws = {complementarity()}};
    for (const MlcpSolver* method : methods()) {
      const Status status = solve(*method, problem).status;
      CAPTURE(method->name);
      CHECK((status == Status::not_solved || status == Status::not_supported));
    }
  }

  TEST_CASE("methods that may stop the program are not run where they may") {
    std::mt19937 engine(3);
    Mlcp indefinite = dense(engine, 0, 3, complementarity(), false);
    indefinite.M22(0, 0) = -1;
    for (const char* name : {"siconos_lcp_pivot", "siconos_lcp_newton_fb", "siconos_lcp_newton_min",
                             "siconos_mcp_newton_fb", "siconos_mcp_newton_min"})
      for (const MlcpSolver* method : methods())
        if (std::string(method->name) == name) {
          const SolveResult result = solve(*method, indefinite);
          CHECK(result.status == Status::not_supported);
          CHECK(result.message.find("P-matrix") != std::string::npos);
        }
  }

  TEST_CASE("enumeration is not offered for more modes than it can try") {
    std::mt19937 engine(4);
    const Mlcp problem = dense(engine, 0, 8, sign(), true);  // 16 pairs
    for (const MlcpSolver* method : methods())
      if (std::string(method->name) == "siconos_mlcp_enum")
        CHECK(solve(*method, problem).message == "it tries 2^16 modes; offered up to 2^14");
  }
}
