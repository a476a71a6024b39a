// expect: ok
// weakened: -DANNOUNCE=std::memory_order_release -> memory; sc: ok; tso: memory
// weakened: -DCONFIRM=std::memory_order_acquire -> memory; sc: ok
// weakened: -DREPLACE=std::memory_order_acq_rel -> memory; sc: ok
// weakened: -DSCAN=std::memory_order_acquire -> memory; sc: ok
// weakened: -DCLEAR=std::memory_order_relaxed -> race; sc: race
// One hazard pointer by accesses that are seq_cst: a reader says what it looks at and confirms that it is still there,
// the writer replaces it and looks whether anybody looks at the old one.
#include <atomic>
#include <cassert>
#include <thread>

// Store buffering: all four have to be in the one order.
#ifndef ANNOUNCE
#define ANNOUNCE std::memory_order_seq_cst
#endif
#ifndef CONFIRM
#define CONFIRM std::memory_order_seq_cst
#endif
#ifndef REPLACE
#define REPLACE std::memory_order_seq_cst
#endif
#ifndef SCAN
#define SCAN std::memory_order_seq_cst
#endif
// Releases what was read.
#ifndef CLEAR
#define CLEAR std::memory_order_release
#endif

struct Config {
    int width, height;
    Config(int width, int height) : width(width), height(height) {}
    ~Config() { width = height = -1; }
};

static std::atomic<Config*> current;
static std::atomic<Config*> hazard{nullptr};

static void read() {
    Config* seen = current.load(std::memory_order_relaxed);
    for (;;) {
        hazard.store(seen, ANNOUNCE);
        Config* const again = current.load(CONFIRM);
        if (again == seen) break;
        seen = again;
    }
    int width = seen->width, height = seen->height;
    assert(height == 2 * width);
    hazard.store(nullptr, CLEAR);
}

static void write() {
    Config* const old = current.exchange(new Config(2, 4), REPLACE);
    while (hazard.load(SCAN) == old)
        ;
    delete old;
}

int main() {
    current = new Config(1, 2);
    std::thread reader(read), writer(write);
    reader.join();
    writer.join();
    delete current.load();
}
