// expect: refused cds::gc::hp::smr::construct
// Only headers are installed, and a compiled library.
#include <cds/container/treiber_stack.h>
#include <cds/gc/hp.h>
#include <cds/init.h>
#include <cassert>
#include <thread>
int main() {
    cds::Initialize();
    {
        cds::gc::HP gc;
        cds::threading::Manager::attachThread();
        cds::container::TreiberStack<cds::gc::HP, int> stack;
        stack.push(1);
        cds::threading::Manager::detachThread();
    }
    cds::Terminate();
}
