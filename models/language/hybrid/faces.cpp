#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/models/language/hybrid/faces.hpp>

namespace perp {

Faces::Faces(const HybridModel& model)
    : tape_(model.closed(rows_)),
      equations_(static_cast<int>(model.f.size())),
      first_binary_(model.binary_input(0)),
      reader_(tape_),
      known_(model.g.size()) {
  for (int l = 0; l < static_cast<int>(model.g.size()); ++l) {
    std::vector<int> binaries;
    for (const int k : lines_below(tape_, rows_[at(equations_ + l)]))
      if (tape_[k].operation == Operation::input && tape_[k].a >= first_binary_)
        binaries.push_back(tape_[k].a - first_binary_);
    std::sort(binaries.begin(), binaries.end());
    binaries_.push_back(std::move(binaries));
  }
}

bool Faces::holds(int constraint, int binary) const {
  const std::vector<int>& list = binaries_of(constraint);
  return std::binary_search(list.begin(), list.end(), binary);
}

const SparsePolynomial* Faces::face(int constraint, const std::vector<int>& z) {
  std::vector<int> values;
  for (const int i : binaries_of(constraint)) values.push_back(z[at(i)]);
  auto& known = known_[at(constraint)];
  auto place = known.find(values);
  if (place == known.end()) {
    const std::vector<double> numbers(z.begin(), z.end());
    place = known
                .emplace(values,
                         reader_.read(rows_[at(equations_ + constraint)], first_binary_, numbers))
                .first;
  }
  return place->second ? &*place->second : nullptr;
}

bool Faces::is_void(int constraint, const std::vector<int>& z) {
  const SparsePolynomial* polynomial = face(constraint, z);
  return polynomial != nullptr && polynomial->is_zero();
}

}  // namespace perp
