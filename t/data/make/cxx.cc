
/*
 * A C++ program whose heap dump has what C cannot show: mangled names with
 * namespaces and templates, operator new between malloc() and the caller, and
 * allocators of the standard library several frames deep.
 *
 *     cxx PATH
 *
 * writes jemalloc's dump to PATH while everything is alive.
 */

#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>


#define CXX_SITE  __attribute__((noinline))


namespace shop {

namespace detail {

template <typename T, int Tag>
struct node {
    explicit node(std::unique_ptr<node> n) : next(std::move(n)) {}

    std::unique_ptr<node>  next;
    T                      value[Tag] = {};
};

}  /* namespace detail */


template <typename T>
class table {
public:
    CXX_SITE void  add(const std::string &key, T value);

private:
    std::map<std::string, std::vector<T>>  rows_;
};


template <typename T>
CXX_SITE void
table<T>::add(const std::string &key, T value)
{
    rows_[key].push_back(std::move(value));
}


template <typename T, int Tag>
CXX_SITE std::unique_ptr<detail::node<T, Tag>>
chain(int length)
{
    std::unique_ptr<detail::node<T, Tag>>  head;

    while (length-- > 0) {
        head.reset(new detail::node<T, Tag>(std::move(head)));
    }

    return head;
}


struct order {
    virtual ~order() = default;
    virtual void fill(int n) = 0;
};


struct paper_order : order {
    CXX_SITE void  fill(int n) override;

    std::vector<std::string>  lines;
};


CXX_SITE void
paper_order::fill(int n)
{
    for (int i = 0; i < n; i++) {
        lines.push_back("a line too long for the small string buffer, no "
                        + std::to_string(i));
    }
}

}  /* namespace shop */


namespace {

CXX_SITE char *
raw_array(std::size_t size)
{
    char  *p = new char[size];

    p[0] = 0;

    return p;
}

}  /* namespace */


int
main(int argc, char **argv)
{
    typedef int (*mallctl_pt)(const char *, void *, size_t *, void *, size_t);

    if (argc != 2) {
        fprintf(stderr, "usage: cxx PATH\n");
        return 1;
    }

    mallctl_pt  ctl = (mallctl_pt) dlsym(RTLD_DEFAULT, "mallctl");

    if (ctl == nullptr) {
        fprintf(stderr, "cxx: no mallctl: is libjemalloc preloaded?\n");
        return 1;
    }

    shop::table<std::string>  words;
    shop::table<double>       numbers;

    for (int i = 0; i < 2000; i++) {
        std::string  key = "a key that is not short " + std::to_string(i % 97);

        words.add(key, std::string(60 + i % 200, 'x'));
        numbers.add(key, i / 3.0);
    }

    auto  ints = shop::chain<int, 4>(3000);
    auto  longs = shop::chain<long long, 40>(1000);

    std::unique_ptr<shop::order>  paper(new shop::paper_order);
    paper->fill(3000);

    auto  pick = [](std::size_t n) {
        return std::make_shared<std::vector<char>>(n);
    };

    std::vector<std::shared_ptr<std::vector<char>>>  picked;
    std::vector<char *>                              raw;

    for (int i = 1; i < 200; i++) {
        picked.push_back(pick(i * 50));
        raw.push_back(raw_array(i * 30));
    }

    const char  *path = argv[1];

    if (ctl("prof.dump", nullptr, nullptr, &path, sizeof(path)) != 0) {
        fprintf(stderr, "cxx: prof.dump failed: MALLOC_CONF=prof:true set?\n");
        return 1;
    }

    return 0;
}
