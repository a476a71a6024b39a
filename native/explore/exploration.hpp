// The front door: a search with the chosen algorithm, that can be watched and stopped from another thread.
#pragma once

#include <memory>

#include "explore/search.hpp"

namespace mazurka {

class Exploration {
public:
    Exploration(const Code& code, SearchOptions options);

    void run();  // once
    void stop() { stopping_ = true; }
    bool finished() const { return finished_; }  // everything was covered
    const Progress& progress() const { return progress_; }
    const std::optional<Bug>& bug() const { return search_->bug(); }
    const std::vector<DataRace>& races() const { return search_->races(); }
    const std::vector<std::vector<Step>>& executions() const { return search_->executions(); }
    const Machine& machine() const { return search_->machine(); }
    Algorithm algorithm() const { return options_.algorithm; }  // that was used in the end

private:
    const Code& code_;
    SearchOptions options_;
    Progress progress_;
    std::atomic<bool> stopping_ = false;
    bool finished_ = false;
    std::unique_ptr<Search> search_;
};

}  // namespace mazurka
