#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace perp::cli {

struct Command;

/// An argument as people read of it.
struct ArgumentText {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument that has its place its name
  std::string placeholder;         ///< "FILE"; empty of a flag
  std::string meaning;
  bool has_place = false;  ///< it is told by its place, as MODEL
};

/// The arguments that a command takes: its `configure` says which, `read` reads them.
class CommandLine {
 public:
  /// One argument as it was added; says more about it.
  class Argument {
   public:
    Argument& required();
    /// What stands for its value in --help: "FILE".
    Argument& type_name(const std::string& name);
    Argument& default_text(const std::string& text);  ///< of --help
    Argument& one_at_a_time();                        ///< of a list: --vary A --vary B
    Argument& between(int least, int most);
    Argument& positive();

   private:
    friend class CommandLine;
    explicit Argument(void* option) : option_(option) {}
    void* option_;
  };

  explicit CommandLine(const Command& command);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// `names` as "-o,--output", or "MODEL" for an argument that has its place. Values that are given
  /// are written to `value`, which must live as long as the command line is read.
  Argument add_option(const std::string& names, std::string& value, const std::string& meaning);
  Argument add_option(const std::string& names, std::vector<std::string>& values,
                      const std::string& meaning);
  Argument add_option(const std::string& names, int& value, const std::string& meaning);
  Argument add_option(const std::string& names, long& value, const std::string& meaning);
  Argument add_option(const std::string& names, double& value, const std::string& meaning);
  Argument add_option(const std::string& names, std::optional<int>& value,
                      const std::string& meaning);
  Argument add_option(const std::string& names, std::optional<long>& value,
                      const std::string& meaning);
  Argument add_option(const std::string& names, std::optional<unsigned>& value,
                      const std::string& meaning);
  Argument add_option(const std::string& names, std::optional<double>& value,
                      const std::string& meaning);
  void add_flag(const std::string& name, bool& value, const std::string& meaning);
  /// A flag that writes "true" where it is given.
  void add_flag(const std::string& name, std::string& value, const std::string& meaning);

  [[nodiscard]] std::string help() const;
  /// All arguments, in the order of --help.
  [[nodiscard]] std::vector<ArgumentText> arguments() const;
  /// The names of all options, "-o" and "--output".
  [[nodiscard]] std::vector<std::string> option_names() const;
  /// Reads the arguments after the verb. Throws InvalidInput.
  void read(std::vector<std::string> arguments);

 private:
  void join_options_of_others(std::vector<std::string>& arguments) const;
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace perp::cli
