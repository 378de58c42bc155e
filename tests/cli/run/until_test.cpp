#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <perp/tests/cli/program.hpp>

using nlohmann::json;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

TEST_SUITE("cli/until") {
  TEST_CASE("a run until an event is the beginning of the run without end, byte for byte, up to the event") {
    const Folder folder;
    struct Case {
      std::string model, event;
      std::vector<std::string> options;
    };
    for (const Case& of : {Case{"stick_slip", "sliding_entry:2", {"--scheme", "located"}},
                           Case{"stick_slip", "sliding_exit", {}},
                           Case{"switching_dae_crossing", "lambda1:mode 3 (sliding)->*", {"--h", "0.07"}},
                           Case{"bouncing_ball_contact", "jump:3", {"--scheme", "moreau_jean"}},
                           Case{"three_tank_binaries", "mode_change", {}},
                           Case{"switching_dae_jump", "jump", {}}}) {
      CAPTURE(of.model + " " + of.event);
      std::vector<std::string> whole{"run", of.model, "--events", "whole.events", "-o", "whole.csv", "--quiet"};
      whole.insert(whole.end(), of.options.begin(), of.options.end());
      perp_program(folder, whole);
      std::vector<std::string> cut{"run", of.model, "--events", "cut.events", "-o", "cut.csv", "--until", of.event};
      cut.insert(cut.end(), of.options.begin(), of.options.end());
      const Outcome run = perp_program(folder, cut);
      CHECK(run.status == 0);
      CHECK(run.out.find("status      solved: reached the event ") != std::string::npos);
      const std::string rows = read_text(folder / "cut.csv");
      const std::string events = read_text(folder / "cut.events");
      CHECK(read_text(folder / "whole.csv").starts_with(rows));
      CHECK(read_text(folder / "whole.events").starts_with(events));
      CHECK(rows.size() < read_text(folder / "whole.csv").size());
      const Csv table = parse_csv(rows);
      const Csv log = parse_csv(events);
      const std::size_t last = log.rows.size() - 1;
      CHECK(table.number(table.rows.size() - 1, "t") >= log.number(last, "t_after"));
      CHECK(table.number(table.rows.size() - 2, "t") <= log.number(last, "t_after"));
    }
  }

  TEST_CASE("measures of a run that ends with an event are of its own length") {
    const Folder folder;
    const Outcome run = perp_program(
        folder, {"run", "stick_slip", "--scheme", "located", "--until", "sliding_exit", "--measure", "T=integral(1)",
                 "--measure", "stuck=duration(sliding)", "--measure", "t=t(sliding_exit, 1)", "-o", "m.csv"});
    CHECK(run.status == 0);
    const json measures = json::parse(read_text(folder / "m.csv.json"))["measures"];
    CHECK(measures[0]["value"].get<double>() == doctest::Approx(measures[2]["value"].get<double>()).epsilon(1e-13));
    CHECK(measures[1]["value"].get<double>() == doctest::Approx(4.926525380655342 - 4.339679767481757).epsilon(1e-9));
  }

  TEST_CASE("an event that does not happen ends with the span, everything written, and the status 3") {
    const Folder folder;
    const Outcome run =
        perp_program(folder, {"run", "switching_dae_crossing", "--until", "sliding_exit:2", "-o", "r.csv", "--quiet"});
    CHECK(run.status == 3);
    CHECK(run.err == "perp run: --until: the event sliding_exit, number 2 did not happen\n");
    CHECK(parse_csv(read_text(folder / "r.csv")).rows.size() == 101);
  }

  TEST_CASE("events that are none, and numbers that are none, are wrong input") {
    const Folder folder;
    const auto message = [&](const std::string& event) {
      const Outcome run = perp_program(folder, {"run", "switching_dae_crossing", "--until", event});
      CHECK(run.status == 2);
      return run.err;
    };
    CHECK(message("sliding_exti").find("did you mean 'sliding_exit'?") != std::string::npos);
    CHECK(message("jump:0") == "perp run: the number of the event 'jump:0' is 0; expected 1, 2, ... up to 999999999\n");
    CHECK(message("jump:-1").find("is -1; expected 1, 2, ...") != std::string::npos);
    CHECK(perp_program(folder, {"run", "chatter", "--scheme", "enclosure", "--until", "kink"}).status == 2);
  }
}
