#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string_view>

#include <perp/core/base/digest.hpp>
#include <perp/core/base/error.hpp>
#include <perp/io/files/input_text.hpp>
#include <perp/io/files/output_file.hpp>
#include <perp/io/sweep/sweep_store.hpp>

namespace perp::io {
namespace {

constexpr std::chrono::milliseconds pause{500};  // between two times that chunks are written

std::string digest_of(std::string_view text) {
  Digest digest;
  digest.add(text);
  return digest.text();
}

/// A number that JSON has no word for is a text.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }
double number(const Json& json) { return json.is_text() ? std::strtod(json.text().c_str(), nullptr) : json.number(); }

template <class List>
Json numbers(const List& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

Json states_json(const std::vector<SectionPoint>& states) {
  Json list = Json::array();
  for (const SectionPoint& state : states) list.push_back(Json{{"t", number(state.t)}, {"x", numbers(state.x)}, {"mode", state.mode}});
  return list;
}

std::vector<SectionPoint> states_of(const Json& list) {
  std::vector<SectionPoint> states;
  for (const Json& item : list.list()) {
    SectionPoint state{number(item["t"]), Vector(static_cast<Eigen::Index>(item["x"].size()))};
    for (Eigen::Index j = 0; j < state.x.size(); ++j) state.x[j] = number(item["x"][static_cast<std::size_t>(j)]);
    for (const Json& branch : item["mode"].list()) state.mode.push_back(static_cast<int>(branch.whole()));
    states.push_back(std::move(state));
  }
  return states;
}

Json to_json(const SweepRun& run) {
  Json json{{"point", run.point},   {"down", run.is_down ? 1 : 0},  {"values", numbers(run.values)},
            {"status", static_cast<int>(run.status)},       {"message", run.message},
            {"t_end", number(run.t_end)}};
  Json measures = Json::array();
  for (const MeasureResult& measure : run.measures)
    measures.push_back(measure.value ? number(*measure.value) : Json{{"reason", measure.reason}});
  json["measures"] = measures;
  json["section"] = states_json(run.section);
  json["kept"] = states_json(run.kept);
  return json;
}

SweepRun run_of(const Json& json) {
  SweepRun run{.point = json["point"].whole(),
               .values = {},
               .is_down = json["down"].whole() == 1,
               .status = static_cast<Status>(json["status"].whole()),
               .message = json["message"].text(),
               .t_end = number(json["t_end"])};
  for (const Json& value : json["values"].list()) run.values.push_back(number(value));
  for (const Json& measure : json["measures"].list())
    if (measure.is_table())
      run.measures.push_back({{}, measure["reason"].text()});
    else
      run.measures.push_back({number(measure), {}});
  run.section = states_of(json["section"]);
  run.kept = states_of(json["kept"]);
  return run;
}

std::vector<std::string> texts(const Json& json) {
  std::vector<std::string> list;
  for (const Json& text : json.list()) list.push_back(text.text());
  return list;
}

Json description(const SweepTable& head, long chunks) {
  Json shape = Json::array();
  for (const long count : head.shape) shape.push_back(count);
  return {{"names", head.names},         {"directions", head.has_directions ? 1 : 0}, {"measures", head.measures},
          {"section", head.has_section ? 1 : 0}, {"kept", head.has_kept ? 1 : 0},     {"variables", head.variables}, {"shape", shape},
          {"chunks", chunks},            {"provenance", head.provenance}};
}

/// What a sweep is, wherever its model's file stands.
std::string identity_of(Json description) {
  description["provenance"]["model"].erase("file");
  return digest_of(description.dump());
}

SweepTable head_of(const Json& json) {
  SweepTable head{.names = texts(json["names"]),
                  .has_directions = json["directions"].whole() == 1,
                  .measures = texts(json["measures"]),
                  .has_section = json["section"].whole() == 1,
                  .has_kept = json["kept"].whole() == 1,
                  .variables = texts(json["variables"]),
                  .shape = {},
                  .provenance = json["provenance"],
                  .runs = {}};
  for (const Json& count : json["shape"].list()) head.shape.push_back(count.whole());
  return head;
}

/// Reads a file; false where there is none. Throws FileError where it cannot be read.
bool read_text(const std::string& file, std::string& text) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return false;
  text = read_file(file);
  return true;
}

/// The second line of a text whose first is the digest of the rest; empty where it is not.
std::string_view body_of(std::string_view text) {
  constexpr std::size_t length = 16;
  if (text.size() <= length || text[length] != '\n' || text.back() != '\n') return {};
  const std::string_view body = text.substr(length + 1);
  return digest_of(body) == text.substr(0, length) ? body : std::string_view();
}

/// Hidden ones are what another process is just writing.
bool holds_files(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator files(folder, error);
  return std::any_of(begin(files), end(files), [](const auto& entry) { return !entry.path().filename().string().starts_with('.'); });
}

void write_with_digest(const std::string& file, const Json& json) {
  const std::string body = json.dump() + "\n";
  write_file(file, digest_of(body) + "\n" + body);
}

}  // namespace

SweepStore::SweepStore(std::string folder, const SweepTable& head, long chunks)
    : folder_(std::move(folder)), head_(head), chunks_(chunks), flushed_(std::chrono::steady_clock::now()) {
  const Json own = description(head, chunks);
  identity_ = identity_of(own);
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) throw FileError(fmt::format("{}: {}", folder_, error.message()));
  std::string text;
  const bool has_files = holds_files(folder_);  // looked at first: another process may write sweep.json just now
  if (read_text(description_file(), text)) {
    const std::string_view body = body_of(text);
    if (body.empty() || identity_of(parse_json(body)) != identity_)
      throw InvalidInput(fmt::format("{}: it is of another sweep (model, options or points differ) or damaged; remove "
                                     "the folder or give another name",
                                     description_file()));
  } else if (!has_files) {
    write_with_digest(description_file(), own);
  } else {
    throw InvalidInput(fmt::format("{}: other files stand in it; expected a new folder, or that of this sweep", folder_));
  }
}

SweepStore::SweepStore(std::string folder) : folder_(std::move(folder)) {
  std::string text;
  if (!read_text(description_file(), text))
    throw InvalidInput(fmt::format("{}: no sweep is kept there; expected the folder of perp sweep --slice", folder_));
  const std::string_view body = body_of(text);
  if (body.empty()) throw InvalidInput(fmt::format("{}: damaged; it must be made again", description_file()));
  const Json json = parse_json(body);
  head_ = head_of(json);
  chunks_ = static_cast<long>(json["chunks"].whole());
  identity_ = identity_of(json);
}

SweepStore::~SweepStore() {
  if (lock_ >= 0) ::close(lock_);
}

void SweepStore::lock() {
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) throw FileError(fmt::format("{}: cannot be opened", folder_));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0)
    throw InvalidInput(fmt::format("{}: another perp sweep is at work in it", folder_));
}

std::string SweepStore::description_file() const { return folder_ + "/sweep.json"; }

std::string SweepStore::file(long chunk) const { return fmt::format("{}/chunk-{}.json", folder_, chunk + 1); }

/// Every key is there in a file with the right digest and identity: this class wrote it.
std::vector<SweepRun> SweepStore::parse(long chunk, std::string& problem) const {
  std::string text;
  if (!read_text(file(chunk), text)) return {};
  const std::string_view body = body_of(text);
  if (body.empty()) {
    problem = fmt::format("{}: damaged", file(chunk));
    return {};
  }
  const Json json = parse_json(body);
  if (json["sweep"].text() != identity_ || json["chunk"].whole() != chunk + 1) {
    problem = fmt::format("{}: of another sweep", file(chunk));
    return {};
  }
  std::vector<SweepRun> runs;
  for (const Json& run : json["runs"].list()) runs.push_back(run_of(run));
  return runs;
}

std::vector<SweepRun> SweepStore::read(long chunk) const {
  std::string problem;
  return parse(chunk, problem);
}

MergedSweep SweepStore::merged() const {
  MergedSweep merged{head_, {}, {}};
  for (long chunk = 0; chunk < chunks_; ++chunk) {
    std::string problem;
    std::vector<SweepRun> runs = parse(chunk, problem);
    if (!problem.empty()) merged.damaged.push_back(problem);
    if (runs.empty()) merged.missing.push_back(chunk + 1);
    std::move(runs.begin(), runs.end(), std::back_inserter(merged.table.runs));
  }
  std::sort(merged.table.runs.begin(), merged.table.runs.end(), [](const SweepRun& a, const SweepRun& b) {
    return std::pair(a.point, a.is_down) < std::pair(b.point, b.is_down);
  });
  return merged;
}

void SweepStore::add(long chunk, std::vector<SweepRun> runs) {
  pending_.emplace_back(chunk, std::move(runs));
  if (std::chrono::steady_clock::now() - flushed_ >= pause) flush();
}

void SweepStore::flush() {
  for (const auto& [chunk, runs] : pending_) {
    Json list = Json::array();
    for (const SweepRun& run : runs) list.push_back(to_json(run));
    write_with_digest(file(chunk), {{"sweep", identity_}, {"chunk", chunk + 1}, {"runs", list}});
  }
  pending_.clear();
  flushed_ = std::chrono::steady_clock::now();
}

void SweepStore::remove() {
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  if (error) throw FileError(fmt::format("{}: {}", folder_, error.message()));
}

void keep_in(SweepStore& store, SweepRequest& request) {
  request.chunks.known = [&store](long chunk) { return store.read(chunk); };
  request.chunks.made = [&store](long chunk, const std::vector<SweepRun>& runs) { store.add(chunk, runs); };
}

}  // namespace perp::io
