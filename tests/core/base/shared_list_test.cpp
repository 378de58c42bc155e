#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/shared_list.hpp>

namespace perp {

TEST_SUITE("core/base/shared_list") {
  TEST_CASE("copies share their entries until one of them is changed, which leaves the others as they were") {
    const SharedList<std::string> given{"a", "b"};
    SharedList<std::string> pushed = given, one = given, all = given, none = given;
    CHECK(pushed.data() == given.data());
    pushed.push_back("c");
    one.changed(1) = "d";
    all.change([](std::vector<std::string>& list) { list.insert(list.begin(), "e"); });
    none.clear();
    CHECK(pushed == SharedList<std::string>{"a", "b", "c"});
    CHECK(one == SharedList<std::string>{"a", "d"});
    CHECK(all == SharedList<std::string>{"e", "a", "b"});
    CHECK(none.empty());
    CHECK(given == SharedList<std::string>{"a", "b"});
  }

  TEST_CASE("what no copy shares is changed where it stands") {
    SharedList<int> list{1, 2, 3};
    const int* place = list.data();
    list.changed(0) = 4;
    CHECK(list.data() == place);
    CHECK(list == SharedList<int>{4, 2, 3});
  }

  TEST_CASE("reading is that of a vector, and nothing is left where a list was moved from") {
    SharedList<int> list(std::vector<int>{1, 2, 3});
    const std::vector<int>& entries = list;
    CHECK(entries == std::vector<int>{1, 2, 3});
    CHECK(std::vector<int>(list.begin(), list.end()) == entries);
    CHECK(list.front() == 1);
    CHECK(list.back() == 3);
    CHECK_THROWS_AS((void)list.at(3), std::out_of_range);
    SharedList<int> other = std::move(list);
    CHECK(other.size() == 3);
    CHECK(list.empty());  // NOLINT: asked for
    CHECK(list == SharedList<int>());
    CHECK(SharedList<std::string>(2, "a") == SharedList<std::string>{"a", "a"});
    list.assign(2, 7);
    CHECK(list == SharedList<int>{7, 7});
  }
}

}  // namespace perp
