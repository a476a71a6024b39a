#include "explore/access_index.hpp"

#include <utility>

namespace mazurka {

u32 AccessIndex::head(u64 place) const {
    const std::size_t last = lists_.size() - 1;
    for (std::size_t i = hash(place) & last;; i = (i + 1) & last) {
        if (lists_[i].place == place) return lists_[i].head;
        if (lists_[i].place == everything) return none;
    }
}

u32& AccessIndex::list(u64 place) {
    const std::size_t last = lists_.size() - 1;
    std::size_t at = hash(place) & last;
    while (lists_[at].place != place) {
        if (lists_[at].place == everything) {
            if (2 * ++places_ > lists_.size()) {
                std::vector<List> old = std::exchange(lists_, std::vector<List>(2 * lists_.size()));
                places_ = 0;
                for (const List& kept : old)
                    if (kept.place != everything) list(kept.place) = kept.head;
                return list(place);
            }
            lists_[at].place = place;
            break;
        }
        at = (at + 1) & last;
    }
    return lists_[at].head;
}

void AccessIndex::add(Position event, const Access& access) {
    if (access.size > wide) {
        wide_.push_back(static_cast<u32>(entries_.size()));
        entries_.push_back({access, event, none, none, none, everything});
        return;
    }
    for (u64 place = access.address / unit; place <= (access.address + access.size - 1) / unit; ++place) {
        u32& head = list(place);
        const u32 write = head == none || entries_[head].access.writes ? head : entries_[head].previous_write;
        const bool last_plain = head == none || entries_[head].access.ordering == Ordering::plain;
        const u32 plain = last_plain ? head : entries_[head].previous_plain;
        entries_.push_back({access, event, head, write, plain, place});
        head = static_cast<u32>(entries_.size() - 1);
    }
}

void AccessIndex::remove_from(Position event) {
    while (!entries_.empty() && entries_.back().event >= event) {
        const Entry& entry = entries_.back();
        if (entry.place == everything)
            wide_.pop_back();
        else
            list(entry.place) = entry.previous;
        entries_.pop_back();
    }
}

}  // namespace mazurka
