#include <doctest/doctest.h>
#include <limits>
#include <string>

#include <perp/io/json.hpp>

using namespace perp;
using namespace perp::io;

TEST_SUITE("io") {
  TEST_CASE("what is written as JSON is read as the same value, members in their order") {
    Json json{{"z", {{"b", 1}, {"a", -2.5}}}, {"list", {1, 2, 3}}, {"none", nullptr}};
    json["text"] = "a \"word\" \n of ẋ";
    json["deep"]["er"].push_back(true);
    for (const int indent : {-1, 0, 1, 3})
      CHECK(parse_json(json.dump(indent)).dump() == json.dump());
    CHECK(json.dump() == "{\"z\":{\"b\":1,\"a\":-2.5},\"list\":[1,2,3],\"none\":null,"
                         "\"text\":\"a \\\"word\\\" \\n of ẋ\",\"deep\":{\"er\":[true]}}");
    json.erase("z");
    CHECK_FALSE(json.contains("z"));
    CHECK(json["list"].size() == 3);
  }

  TEST_CASE("members that are added without a look at the others are those of the table") {
    Json table;
    for (int k = 0; k < 1000; ++k) table.add("key" + std::to_string(k), k);
    CHECK(table.size() == 1000);
    CHECK(table["key517"].whole() == 517);
    const Json read = parse_json(table.dump());
    CHECK(read.members().back().key == "key999");
    CHECK(read.dump() == table.dump());
  }

  TEST_CASE("numbers of JSON are the doubles and whole numbers that were written, to the last bit") {
    for (const double value : {0.1, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 1.0 / 3})
      CHECK(parse_json(to_json(value).dump()).number() == value);
    for (const long long value : {0LL, -1LL, std::numeric_limits<long long>::min(),
                                  std::numeric_limits<long long>::max()})
      CHECK(parse_json(Json(value).dump()).whole() == value);
    CHECK(Json(std::numeric_limits<unsigned long long>::max()).dump() == "18446744073709551615");
    CHECK(Json(1.0).dump() == "1.0");
    CHECK(to_json(perp::inf).text() == "inf");
    CHECK(to_json(perp::nan).is_null());
  }

  TEST_CASE("what is no JSON is refused, however deep it is nested or where a key stands twice") {
    CHECK_THROWS_AS(parse_json("{\"a\": 1,}"), JsonError);
    CHECK_THROWS_WITH_AS(parse_json("{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}"),
                         "the key 'a' stands twice", JsonError);
    for (const int depth : {1000, 200'000})
      CHECK_THROWS_WITH_AS(parse_json(std::string(static_cast<std::size_t>(depth), '[')),
                           "not JSON that can be read: nested more than 100 deep", JsonError);
  }
}
