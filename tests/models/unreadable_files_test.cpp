#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/folder.hpp>

namespace {

namespace fs = std::filesystem;
using perp::FileError;
using perp::InvalidInput;
using perp::ModelError;

std::string message_of(const std::string& text) {
  try {
    perp::read_model_text(text, "m.toml");
  } catch (const ModelError& error) {
    return error.what();
  }
  return "no error";
}

std::string text_of(const std::string& zoo_name) {
  std::ifstream file(perp::find_model(zoo_name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_SUITE("models/unreadable_files") {
  TEST_CASE("text that is not text is refused where it stops being text") {
    using std::string;
    const string nothing =
        "m.toml:1:1: there is nothing in the file; expected [parameters], [variables], [system], "
        "[run]";
    CHECK(message_of("") == nothing);
    CHECK(message_of(" \n\t\r\n") == nothing);
    CHECK(message_of("# only a comment [system]\n") == nothing);
    CHECK(message_of("\xEF\xBB\xBF") == nothing);
    CHECK(message_of(string("name = 1\n\0", 10)) ==
          "m.toml:2:1: control character 0x00; expected a text file");
    CHECK(message_of("\x7F"
                     "ELF") == "m.toml:1:1: control character 0x7F; expected a text file");
    CHECK(message_of("name = \"\xE9t\xE9\"") ==
          "m.toml:1:9: byte 0xE9 is not UTF-8; expected a text file");
    CHECK(message_of("\xFF\xFEn\0") == "m.toml:1:1: the file is UTF-16; expected UTF-8");
    // Overlong, a surrogate, beyond U+10FFFF, cut off.
    for (const char* bytes :
         {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"})
      CHECK(message_of("a = 1 # " + string(bytes)).starts_with("m.toml:1:9: byte 0x"));
    std::mt19937 random(7);
    string junk;
    for (int k = 0; k < 4096; ++k) junk += static_cast<char>(random());
    CHECK(message_of(junk).starts_with("m.toml:1:"));
  }

  TEST_CASE("a byte order mark and Windows line ends change nothing") {
    const std::string text = text_of("switching_dae_crossing");
    std::string windows;
    for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
    const perp::Model plain = perp::read_model_text(text, "m.toml");
    for (const std::string& other : {"\xEF\xBB\xBF" + text, windows}) {
      const perp::Model model = perp::read_model_text(other, "m.toml");
      CHECK(model.lcs().A == plain.lcs().A);
      CHECK(model.laws() == plain.lcs().laws);
      CHECK(model.x0() == plain.x0());
      CHECK(model.hash != plain.hash);
    }
    CHECK(message_of("\xEF\xBB\xBFnaem = 1").starts_with("m.toml:1:1: unknown key 'naem'"));
    CHECK(message_of("[variables]\r\nx = \"2 +\r\"\r\n").starts_with("m.toml:2:9: not TOML"));
  }

  TEST_CASE("a place inside text counts characters of the file") {
    const auto place = [](const std::string& literal) {
      const std::string message = message_of("[variables]\nx = " + literal + "\n");
      return message.substr(0, message.find(": "));
    };
    CHECK(place("\"1 + q\"") == "m.toml:2:10");
    CHECK(place("'1 + q'") == "m.toml:2:10");
    CHECK(place("\"1\\t+ q\"") == "m.toml:2:11");
    CHECK(place("\"\\u0031 + q\"") == "m.toml:2:15");
    CHECK(place("\"\"\"1 +\nq\"\"\"") == "m.toml:3:1");
    CHECK(place("\"\"\"\n1 + q\"\"\"") == "m.toml:3:5");
    CHECK(place("\"\"\"1 + \\\n   q\"\"\"") == "m.toml:3:4");
    CHECK(message_of("[variables] # \u00E4\u00F6\nx = { unit = \"\u03A9\", start = \"q\" }\n")
              .starts_with("m.toml:2:28: "));
  }

  TEST_CASE("an error shows its line with a caret under the place") {
    try {
      perp::read_model_text("[variables]\nx = { unit = \"\u03A9\", start = \"1 + q\" }\n",
                            "m.toml");
      FAIL("no error");
    } catch (const ModelError& error) {
      CHECK(error.excerpt() ==
            "x = { unit = \"\u03A9\", start = \"1 + q\" }\n" + std::string(31, ' ') + "^");
    }
    const std::string wide = "[variables]\nx = \"1" + std::string(5000, ' ') + "+ q\"\n";
    try {
      perp::read_model_text(wide, "m.toml");
      FAIL("no error");
    } catch (const ModelError& error) {
      CHECK(std::string(error.what()).starts_with("m.toml:2:5009: "));
      CHECK(error.excerpt().size() < 250);
      CHECK(error.excerpt().find("+ q\"\n") != std::string::npos);
    }
  }

  TEST_CASE("what is not a file of reasonable size is refused") {
    const perp::test::Folder folder;
    const auto message = [](const std::string& file) -> std::string {
      try {
        perp::read_model(file);
      } catch (const InvalidInput& error) {
        return error.what();
      } catch (const FileError& error) {
        return error.what();
      }
      return "no error";
    };
    CHECK(message(folder / "") ==
          (folder / "") + ":1:1: is a directory; expected a model file");
    CHECK(message(folder / "none.toml") ==
          (folder / "none.toml") + ":1:1: cannot be opened; expected a model file");
    CHECK_THROWS_AS(perp::read_model(folder / "none.toml"), FileError);
    const std::string huge = folder / "huge.toml";
    std::ofstream(huge) << "#";
    fs::resize_file(huge, (64UL << 20U) + 1);  // sparse
    CHECK(message(huge) == huge + ":1:1: is larger than 64 MiB; expected a model file");
    // A device without an end.
    CHECK(message("/dev/zero") == "/dev/zero:1:1: is larger than 64 MiB; expected a model file");
  }

  TEST_CASE("malformed text on which the TOML parser asserts is refused at its place") {
    // Found by mutation of the files of the zoo.
    const std::string expected = "; expected a key or a value";
    CHECK(message_of("[.a]\n") == "m.toml:1:2: not TOML: found '.'" + expected);
    CHECK(message_of("a = 1\n[ =]\n") == "m.toml:2:3: not TOML: found '='" + expected);
    CHECK(message_of("a = 1\n\n[\nb = 2\n") ==
          "m.toml:3:2: not TOML: found the end of the line" + expected);
    CHECK(message_of("[ # header\n") == "m.toml:1:3: not TOML: found '#'" + expected);
    CHECK(message_of("[\u20811]") == "m.toml:1:2: not TOML: found '\u2081'" + expected);
    CHECK(message_of("a = [1, 2]\n[{]") == "m.toml:2:2: not TOML: found '{'" + expected);
    // Letters between the ranges of the parser's tables of white space.
    CHECK(message_of("i\u0307 = 1").starts_with("m.toml:1:2: not TOML: "));
    CHECK(message_of("\u30A2 = 1").starts_with("m.toml:1:1: not TOML: "));
  }

  TEST_CASE("deep nesting is refused and not followed into the ground") {
    for (const std::string opening : {"[", "{a=", "[{a=["}) {
      std::string text = "name = ";
      for (int k = 0; k < 100'000; ++k) text += opening;
      CHECK(message_of(text).starts_with("m.toml:1:"));
    }
    std::string keys = "a";
    for (int k = 0; k < 100'000; ++k) keys += ".a";
    CHECK(message_of(keys + " = 1").starts_with("m.toml:1:"));
    CHECK(message_of("[" + keys + "]").starts_with("m.toml:1:"));
  }

  TEST_CASE("whatever is done to a file of the zoo, it is read or refused in one line") {
    std::mt19937 random(20240607);
    const auto pick = [&](std::size_t count) {
      return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    const std::vector<std::string> bits{
        "[",      "]",   "{",   "}",  "\"", "'",   "=",           ",",        ".",    "\n", "\\",
        "#",      "nan", "inf", "0x", "1e", "-",   "+",           "_",        "(",    ")",  "^",
        "\"\"\"", "'''", "[[",  "]]", "t",  "\\u", "1979-05-27T", "07:32:00", "true", "\r", "\t"};
    int read = 0;
    int refused = 0;
    for (const std::string& name : perp::zoo()) {
      const std::string text = text_of(name);
      for (int trial = 0; trial < 60; ++trial) {
        std::string spoiled = text;
        for (std::size_t k = pick(4) + 1; k > 0; --k) {
          const std::size_t at = pick(spoiled.size());
          const std::size_t length = std::min(pick(8), spoiled.size() - at);
          switch (pick(4)) {
            case 0: spoiled.erase(at, length); break;
            case 1: spoiled.insert(at, bits[pick(bits.size())]); break;
            case 2: spoiled.replace(at, length, bits[pick(bits.size())]); break;
            default: spoiled.insert(at, text.substr(pick(text.size()), pick(20)));
          }
          if (spoiled.empty()) spoiled = " ";
        }
        try {
          perp::read_model_text(spoiled, "m.toml");
          ++read;
        } catch (const ModelError& error) {
          ++refused;
          const std::string message = error.what();
          CHECK(message.starts_with("m.toml:"));
          CHECK(message.find('\n') == std::string::npos);
        }
      }
    }
    CHECK(read > 100);
    CHECK(refused > 500);
  }
}
