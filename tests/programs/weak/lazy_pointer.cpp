// expect: ok
// weakened: -DINSTALL=std::memory_order_relaxed -> race; sc: race
// weakened: -DLOOK=std::memory_order_relaxed -> race; sc: race
// weakened: -DBEATEN=std::memory_order_relaxed -> race; sc: race
// Something that is made when it is first needed, without a lock: several may make one, of which one is installed, and
// the others throw theirs away.
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>

// Releases what was made.
#ifndef INSTALL
#define INSTALL std::memory_order_release
#endif
// Acquires it, for who finds it, and
#ifndef LOOK
#define LOOK std::memory_order_acquire
#endif
// for who comes too late with his own. The order of a failed compare-exchange is easily forgotten.
#ifndef BEATEN
#define BEATEN std::memory_order_acquire
#endif

struct Table {
    int squares[2];
    Table() : squares{1, 4} {}
};

static std::atomic<const Table*> table{nullptr};

static const Table& get() {
    const Table* found = table.load(LOOK);
    if (found == nullptr) {
        auto mine = std::make_unique<Table>();
        if (table.compare_exchange_strong(found, mine.get(), INSTALL, BEATEN)) found = mine.release();
    }
    return *found;
}

int main() {
    std::thread first([] { assert(get().squares[0] == 1); });
    std::thread second([] { assert(get().squares[1] == 4); });
    first.join();
    second.join();
    delete table.load();
}
