#pragma once

#include <algorithm>
#include <boost/multiprecision/cpp_dec_float.hpp>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <perp/tests/cli/program.hpp>
#include <set>
#include <string>
#include <vector>

namespace perp::test {

/// Decimal numbers of tables and references are compared as they are written.
using Decimal = boost::multiprecision::number<boost::multiprecision::cpp_dec_float<60>>;

/// The tables of an enclosure against one reference: points of the set whose solutions are known to
/// many digits have to lie in the rows and their events in intervals of their type; claims have to
/// be those of the reference, and widths within its limits. What is wrong, a line each.
class EnclosureCheck {
 public:
  EnclosureCheck(const nlohmann::json& reference, const Csv& rows, const Csv& events)
      : case_(reference), rows_(rows), events_(events) {
    for (const auto& name : case_["columns"]) names_.push_back(name);
    until_ = Decimal(case_["expect"]["until"].get<std::string>());
    const std::string text = case_["toml"];
    for (const std::string& name : names_)
      differential_.push_back(text.find("der(" + name + ")") != std::string::npos);
  }

  std::vector<std::string> operator()() {
    const auto& times = case_["times"];
    for (std::size_t k = 0; k < times.size(); ++k) check_time(k, times[k]);
    check_lost();
    check_events();
    return wrong_;
  }

 private:
  using Box = std::vector<std::pair<Decimal, Decimal>>;
  struct Event {
    Decimal from, to;
    std::string type, proof, branch;
  };

  static std::string kind(const std::string& type) {
    static const std::map<std::string, std::string> same{{"kink", "crossing"},
                                                         {"mode_change", "crossing"},
                                                         {"reset", "jump"},
                                                         {"impact", "jump"}};
    const auto found = same.find(type);
    return found == same.end() ? type : found->second;
  }
  static bool is_optional(const std::string& type) {
    return type == "kink" || type == "mode_change";
  }

  void wrong(const std::string& text) { wrong_.push_back(text); }

  [[nodiscard]] Box box_of(const std::vector<std::string>& row) const {
    Box box;
    for (const std::string& name : names_)
      box.emplace_back(Decimal(row[rows_.column(name + "_lo")]),
                       Decimal(row[rows_.column(name + "_hi")]));
    return box;
  }

  [[nodiscard]] bool near_event(const Decimal& t, const nlohmann::json& member) const {
    for (const auto& event : member["events"])
      if (abs(Decimal(event["t"].get<std::string>()) - t) < Decimal("1e-9")) return true;
    return false;
  }

  void check_time(std::size_t k, const std::string& time) {
    const Decimal t(time);
    std::vector<Box> boxes;
    for (const auto& row : rows_.rows) {
      if (Decimal(row[rows_.column("t")]) != t) continue;
      boxes.push_back(box_of(row));
      check_flag(t, row[rows_.column("flag")]);
    }
    if (boxes.empty()) {
      if (t <= until_) wrong("no row at t = " + time);
      return;
    }
    bool near = false;
    for (const auto& member : case_["members"]) {
      const bool at_event = near_event(t, member);
      near = near || at_event;
      const bool inside = std::any_of(boxes.begin(), boxes.end(), [&](const Box& box) {
        return holds(box, member["states"][k], at_event);
      });
      if (!inside) wrong("a member is outside of all rows at t = " + time);
    }
    if (t <= until_) check_width(k, boxes, near);
  }

  [[nodiscard]] bool holds(const Box& box, const nlohmann::json& state, bool at_event) const {
    const Decimal accuracy(case_["accuracy"].get<std::string>());
    for (std::size_t j = 0; j < box.size(); ++j) {
      const Decimal x(state[j].get<std::string>());
      if (at_event && !differential_[j]) continue;  // it jumps there
      if (x < box[j].first - accuracy || x > box[j].second + accuracy) return false;
    }
    return true;
  }

  void check_flag(const Decimal& t, const std::string& flag) {
    const std::string wanted = case_["expect"]["flag"];
    if (wanted == "unique" && t <= until_ && flag != "unique")
      wrong("not unique at t = " + t.str(6));
    if (wanted == "all" && t > 0 && flag == "unique")
      wrong("claimed to be unique at t = " + t.str(6));
  }

  [[nodiscard]] Decimal hull(std::size_t k, std::size_t j) const {
    const auto& ends = case_["hull"][k][j];
    return Decimal(ends[1].get<std::string>()) - Decimal(ends[0].get<std::string>());
  }

  void check_width(std::size_t k, const std::vector<Box>& boxes, bool near) {
    const auto& limits = case_["limits"];
    for (std::size_t j = 0; j < names_.size(); ++j) {
      if (near && !differential_[j]) continue;
      Decimal low = boxes[0][j].first, high = boxes[0][j].second, largest = 0;
      for (const Box& box : boxes) {
        low = std::min(low, box[j].first);
        high = std::max(high, box[j].second);
      }
      for (std::size_t i = 0; i < case_["hull"].size(); ++i)
        largest = std::max(largest, hull(i, j));
      const Decimal allowed = Decimal(limits["factor"].get<double>()) * hull(k, j) +
                              Decimal(limits["absolute"].get<double>()) +
                              Decimal("0.02") * largest;
      if (high - low > allowed)
        wrong(fmt::format("{} is {} wide at t = {}, allowed {}", names_[j],
                          Decimal(high - low).str(4), case_["times"][k].get<std::string>(),
                          allowed.str(4)));
    }
  }

  [[nodiscard]] std::vector<Event> events(bool lost) const {
    std::vector<Event> list;
    for (const auto& row : events_.rows) {
      const std::string type = row[events_.column("type")];
      if ((type == "lost") == lost)
        list.push_back({Decimal(row[events_.column("t_lo")]), Decimal(row[events_.column("t_hi")]),
                        type, row[events_.column("proof")], row[events_.column("branch")]});
    }
    return list;
  }

  void check_lost() {
    if (!case_["expect"].contains("lost")) return;
    const Decimal from(case_["expect"]["lost"][0].get<std::string>());
    const Decimal to(case_["expect"]["lost"][1].get<std::string>());
    for (const auto& row : rows_.rows)
      if (Decimal(row[rows_.column("t")]) > to) return;  // it went on
    for (const Event& event : events(true))
      if (event.from <= to && event.to >= from) return;
    wrong("no lost event where the proof has to end");
  }

  void check_events() {
    const std::vector<Event> found = events(false);
    std::set<std::vector<std::string>> sequences;
    for (const auto& member : case_["members"]) {
      std::vector<std::string> sequence;
      for (const auto& event : member["events"]) {
        const std::string type = event["type"];
        if (!is_optional(type)) sequence.push_back(kind(type));
        check_event(Decimal(event["t"].get<std::string>()), type, found);
      }
      sequences.insert(sequence);
    }
    std::set<std::string> branches;
    for (const Event& event : found) branches.insert(event.branch);
    if (case_["expect"]["flag"] == "unique" && sequences.size() == 1 && branches.size() <= 1)
      check_sequence(found, *sequences.begin());
  }

  void check_event(const Decimal& t, const std::string& type, const std::vector<Event>& found) {
    const Decimal tolerance =
        std::max(Decimal(case_["accuracy"].get<std::string>()), Decimal("1e-25"));
    if (t > until_) return;
    bool any = false;
    for (const Event& event : found) {
      any = any || kind(event.type) == kind(type);
      if (kind(event.type) == kind(type) && event.from - tolerance <= t &&
          t <= event.to + tolerance)
        return;
    }
    if (!is_optional(type) || any)
      wrong(fmt::format("{} at t = {} of a member is in no event", type, t.str(12)));
  }

  void check_sequence(const std::vector<Event>& found, const std::vector<std::string>& sequence) {
    std::vector<std::string> types;
    const auto& members = case_["members"];
    for (const Event& event : found) {
      if (is_optional(event.type)) continue;
      if (event.proof != "unique") wrong("an event is not unique");
      types.push_back(kind(event.type));
    }
    if (types.size() != sequence.size() && found.size() == members[0]["events"].size()) return;
    if (types != sequence) {
      wrong(fmt::format("the events are {}, expected {}", fmt::join(types, " "),
                        fmt::join(sequence, " ")));
      return;
    }
    std::size_t place = 0;
    for (const Event& event : found) {
      if (is_optional(event.type)) continue;
      check_interval(event, place++);
    }
  }

  void check_interval(const Event& event, std::size_t place) {
    Decimal low("1e999"), high("-1e999");
    for (const auto& member : case_["members"]) {
      std::size_t k = 0;
      for (const auto& other : member["events"]) {
        if (is_optional(other["type"])) continue;
        if (k++ != place) continue;
        low = std::min(low, Decimal(other["t"].get<std::string>()));
        high = std::max(high, Decimal(other["t"].get<std::string>()));
      }
    }
    const Decimal allowed =
        Decimal(case_["limits"]["factor"].get<double>()) * (high - low) +
        Decimal(case_["limits"]["event_absolute"].get<double>());
    if (event.to - event.from > allowed)
      wrong(fmt::format("event {} is {} wide, allowed {}", place + 1,
                        Decimal(event.to - event.from).str(4), allowed.str(4)));
  }

  const nlohmann::json& case_;
  const Csv& rows_;
  const Csv& events_;
  std::vector<std::string> names_, wrong_;
  std::vector<bool> differential_;
  Decimal until_;
};

}  // namespace perp::test
