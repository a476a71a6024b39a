#include "explore/exploration.hpp"

#include "explore/exhaustive.hpp"
#include "explore/optimal.hpp"
#include "explore/pop.hpp"
#include "explore/random.hpp"

namespace mazurka {

Exploration::Exploration(const Code& code, SearchOptions options) : code_(code), options_(options) {
    switch (options.algorithm) {
        case Algorithm::exhaustive: search_ = std::make_unique<Exhaustive>(code, options, progress_, stopping_); break;
        case Algorithm::optimal: search_ = std::make_unique<Optimal>(code, options, progress_, stopping_); break;
        case Algorithm::random: search_ = std::make_unique<RandomWalk>(code, options, progress_, stopping_); break;
        case Algorithm::pop: search_ = std::make_unique<Pop>(code, options, progress_, stopping_); break;
    }
}

void Exploration::run() {
    finished_ = search_->run();
    const auto* pop = dynamic_cast<const Pop*>(search_.get());
    if (pop == nullptr || !pop->gave_up()) return;
    options_.algorithm = Algorithm::optimal;
    for (std::atomic<u64>* counter : {&progress_.complete, &progress_.blocked, &progress_.bounded, &progress_.assumed, &progress_.redundant, &progress_.steps}) *counter = 0;
    search_ = std::make_unique<Optimal>(code_, options_, progress_, stopping_);
    finished_ = search_->run();
}

}  // namespace mazurka
