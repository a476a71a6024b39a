"""The same programs in C with pthreads and in C++ with its library have as many executions: what the library does
besides is nobody else's business."""

from __future__ import annotations

from pathlib import Path

import pytest

import mazurka
from mazurka import Verdict

C_HEADER = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#define START(name, function, argument) pthread_t name; pthread_create(&name, 0, function, argument)
#define JOIN(name) pthread_join(name, 0)
"""
CPP_HEADER = """
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
"""

PAIRS = {
    "lost update": (
        """
        int x;
        void *count(void *u) { x++; return u; }
        int main(void) { START(a, count, 0); START(b, count, 0); JOIN(a); JOIN(b); }
        """,
        """
        int x;
        int main() { std::thread a([] { x++; }), b([] { x++; }); a.join(); b.join(); }
        """,
    ),
    "mutex": (
        """
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
        void *count(void *u) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return u; }
        int main(void) {
            pthread_t t[3];
            for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, count, 0);
            for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
            assert(x == 3);
        }
        """,
        """
        std::mutex m; int x;
        int main() {
            std::vector<std::thread> t;
            for (int i = 0; i < 3; i++) t.emplace_back([] { std::lock_guard<std::mutex> g(m); x++; });
            for (auto &each : t) each.join();
            assert(x == 3);
        }
        """,
    ),
    "two mutexes": (
        """
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER; int x, y;
        void *count(void *u) {
            pthread_mutex_lock(&m); x++; pthread_mutex_lock(&n); y++;
            pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);
            return u;
        }
        void *look(void *u) { pthread_mutex_lock(&n); int seen = y; pthread_mutex_unlock(&n); return seen < 3 ? u : 0; }
        int main(void) { START(a, count, 0); START(b, count, 0); START(c, look, 0); JOIN(a); JOIN(b); JOIN(c); }
        """,
        """
        std::mutex m, n; int x, y;
        void count() { std::unique_lock<std::mutex> g(m); x++; std::unique_lock<std::mutex> h(n); y++; }
        void look() { std::lock_guard<std::mutex> g(n); int seen = y; (void)seen; }
        int main() { std::thread a(count), b(count), c(look); a.join(); b.join(); c.join(); }
        """,
    ),
    "condition": (
        """
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready, data;
        void *wait(void *u) {
            pthread_mutex_lock(&m);
            while (!ready) pthread_cond_wait(&c, &m);
            assert(data == 1);
            pthread_mutex_unlock(&m);
            return u;
        }
        int main(void) {
            START(a, wait, 0); START(b, wait, 0);
            data = 1;
            pthread_mutex_lock(&m); ready = 1; pthread_mutex_unlock(&m);
            pthread_cond_broadcast(&c);
            JOIN(a); JOIN(b);
        }
        """,
        """
        std::mutex m; std::condition_variable c; bool ready; int data;
        void wait() {
            std::unique_lock<std::mutex> lock(m);
            c.wait(lock, [] { return ready; });
            assert(data == 1);
        }
        int main() {
            std::thread a(wait), b(wait);
            data = 1;
            { std::lock_guard<std::mutex> g(m); ready = true; }
            c.notify_all();
            a.join(); b.join();
        }
        """,
    ),
    "results": (
        """
        int sums[2];
        void *add(void *u) { int i = *(int *)u; for (int k = 0; k < 3; k++) sums[i] += k; return u; }
        int main(void) {
            int one = 0, two = 1;
            START(a, add, &one); START(b, add, &two); JOIN(a); JOIN(b);
            assert(sums[0] + sums[1] == 6);
        }
        """,
        """
        int sums[2];
        void add(const int &i) { for (int k = 0; k < 3; k++) sums[i] += k; }
        int main() {
            int one = 0, two = 1;
            std::thread a(add, std::cref(one)), b(add, std::cref(two)); a.join(); b.join();
            assert(sums[0] + sums[1] == 6);
        }
        """,
    ),
    "message": (
        """
        atomic_int flag; int data;
        void *send(void *u) { data = 1; atomic_store(&flag, 1); return u; }
        int main(void) { START(a, send, 0); while (!atomic_load(&flag)) {} assert(data == 1); JOIN(a); }
        """,
        """
        std::atomic<int> flag; int data;
        int main() { std::thread a([] { data = 1; flag = 1; }); while (!flag) {} assert(data == 1); a.join(); }
        """,
    ),
    "heap": (
        """
        atomic_int total;
        void *use(void *u) { int *number = u; atomic_fetch_add(&total, *number); free(number); return 0; }
        int main(void) {
            int *x = malloc(sizeof *x), *y = malloc(sizeof *y); *x = 1; *y = 2;
            START(a, use, x); START(b, use, y); JOIN(a); JOIN(b); assert(total == 3);
        }
        """,
        """
        std::atomic<int> total;
        void use(std::unique_ptr<int> number) { total.fetch_add(*number); }
        int main() {
            auto x = std::make_unique<int>(1), y = std::make_unique<int>(2);
            std::thread a(use, std::move(x)), b(use, std::move(y)); a.join(); b.join(); assert(total == 3);
        }
        """,
    ),
    "trylock": (
        """
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
        void *try(void *u) { if (pthread_mutex_trylock(&m) == 0) { x++; pthread_mutex_unlock(&m); } return u; }
        int main(void) { START(a, try, 0); START(b, try, 0); try(0); JOIN(a); JOIN(b); assert(x > 0); }
        """,
        """
        std::mutex m; int x;
        void attempt() { std::unique_lock<std::mutex> lock(m, std::try_to_lock); if (lock) x++; }
        int main() { std::thread a(attempt), b(attempt); attempt(); a.join(); b.join(); assert(x > 0); }
        """,
    ),
    "thread-local": (
        """
        _Thread_local int own; atomic_int sum;
        void *count(void *u) { own++; own++; atomic_store(&sum, atomic_load(&sum) + own); return u; }
        int main(void) { START(a, count, 0); START(b, count, 0); JOIN(a); JOIN(b); }
        """,
        """
        thread_local int own; std::atomic<int> sum;
        void count() { own++; own++; sum = sum + own; }
        int main() { std::thread a(count), b(count); a.join(); b.join(); }
        """,
    ),
    "buffer": (
        """
        pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
        int full, item;
        void *produce(void *u) {
            for (int i = 1; i <= 2; i++) {
                pthread_mutex_lock(&m);
                while (full) pthread_cond_wait(&emptied, &m);
                item = i; full = 1;
                pthread_cond_signal(&filled);
                pthread_mutex_unlock(&m);
            }
            return u;
        }
        int main(void) {
            START(a, produce, 0);
            for (int i = 1; i <= 2; i++) {
                pthread_mutex_lock(&m);
                while (!full) pthread_cond_wait(&filled, &m);
                assert(item == i); full = 0;
                pthread_cond_signal(&emptied);
                pthread_mutex_unlock(&m);
            }
            JOIN(a);
        }
        """,
        """
        std::mutex m; std::condition_variable filled, emptied; bool full; int item;
        void produce() {
            for (int i = 1; i <= 2; i++) {
                std::unique_lock<std::mutex> lock(m);
                emptied.wait(lock, [] { return !full; });
                item = i; full = true;
                filled.notify_one();
            }
        }
        int main() {
            std::thread a(produce);
            for (int i = 1; i <= 2; i++) {
                std::unique_lock<std::mutex> lock(m);
                filled.wait(lock, [] { return full; });
                assert(item == i); full = false;
                emptied.notify_one();
            }
            a.join();
        }
        """,
    ),
    "detached": (
        """
        atomic_int done;
        void *work(void *u) { atomic_store(&done, 1); return u; }
        int main(void) { START(a, work, 0); pthread_detach(a); while (!atomic_load(&done)) {} }
        """,
        """
        std::atomic<int> done;
        int main() { std::thread([] { done = 1; }).detach(); while (!done) {} }
        """,
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_same_program_in_both_languages(name: str, tmp_path: Path) -> None:
    in_c, in_cpp = PAIRS[name]
    files = tmp_path / "program.c", tmp_path / "program.cpp"
    files[0].write_text(C_HEADER + in_c)
    files[1].write_text(CPP_HEADER + in_cpp)
    counts = []
    for file in files:
        result = mazurka.check(file, symmetry=False, timeout=60)
        assert result.verdict is Verdict.OK, result.bug or result.reason
        counts.append(result.executions.complete + result.executions.blocked)
    assert counts[0] == counts[1] > 0
