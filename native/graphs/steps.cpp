// Steps of threads on the machine, as a graph says what they read.
#include <utility>

#include "graphs/explorer.hpp"

namespace mazurka {

void GraphExploration::sync(Node length) {
    for (; synced_ < length; ++synced_) replay(synced_);
}

// Have the machine execute an event that is in the graph: the whole step, when it is complete.
void GraphExploration::replay(Node node) {
    GraphEvent& event = graph_[node];
    event.mark = machine_.mark();
    if (!event.completes || event.kind == EventKind::fence) return;
    choices_.clear();
    const std::span<const Node> step = graph_.step_of(node);
    for (const Node one : step) {
        if (graph_[one].kind == EventKind::choice) choices_.push_back(graph_[one].choice);
        if (graph_[one].kind == EventKind::read) {
            const Part& part = graph_.parts(one)[0];
            show(part.cell, content_of(part.cell, part.source));
        }
    }
    machine_.take(event.thread, choices_, effect_);
    for (const Node one : step)
        for (const Part& part : graph_.parts(one))
            show(part.cell, content_of(part.cell, newest_before(part.cell, node + 1)));
}

Machine::Content GraphExploration::content_of(u32 cell, Node write) const {
    if (write == initially) return {graph_.cells()[cell].value, graph_.cells()[cell].undefined};
    const Part* const part = graph_.part(write, cell);
    return {part->value, part->undefined};
}

Node GraphExploration::newest_before(u32 cell, Node limit) const {
    const std::vector<Node>& writes = graph_.cells()[cell].writes;
    for (std::size_t i = writes.size(); i-- > 0;)
        if (writes[i] < limit) return writes[i];
    return initially;
}

// Whether there is such a place: who reads a wild pointer fails, but that is an event, too.
bool GraphExploration::is_there(const Cell& cell) const {
    const Object* const object = machine_.object(cell.address);
    const u64 offset = cell.address - (object_of(cell.address) << offset_bits);
    return object != nullptr && offset + cell.size <= object->size;
}

void GraphExploration::show(u32 cell, Machine::Content content) {
    const Cell& place = graph_.cells()[cell];
    if (!is_there(place)) return;
    if (machine_.content(place.address, place.size) == content) return;
    machine_.poke(place.address, place.size, content.value, content.undefined);
}

// After a step of a thread: memory holds the newest writes.
void GraphExploration::settle(Slot thread) {
    for (const Node node : graph_.step_of(graph_.last_of(thread)))
        for (const Part& part : graph_.parts(node))
            show(part.cell, content_of(part.cell, newest_before(part.cell, graph_.size())));
}

// Nothing comes of an attempt.
void GraphExploration::withdraw() {
    if (!open_) return;
    machine_.rewind(mark_);
    open_ = false;
}

// Let the machine take the step of a thread: what is in the graph of it, then what is given, and otherwise what is
// newest. Whether it is enabled; the machine is in the middle of it if not.
bool GraphExploration::attempt(Slot thread, const Todo* given) {
    withdraw();
    mark_ = machine_.mark();
    open_ = true;
    const std::span<const Node> partial = graph_.partial(thread);
    step_ = partial.empty() ? graph_.next_index(thread) : graph_[partial[0]].step;
    choices_.clear();
    for (const Node node : partial)
        if (graph_[node].kind == EventKind::choice) choices_.push_back(graph_[node].choice);
    if (given != nullptr && given->kind == Todo::Kind::choose) choices_.push_back(given->choice);
    const bool gives = given != nullptr && given->kind != Todo::Kind::choose;
    // What is there at the start depends on what was chosen before there were several threads.
    u64 beginning = 1;
    for (Node node = 0; (first_threads_ & (first_threads_ - 1)) == 0 && node < graph_.size(); ++node) {
        if (graph_[node].kind == EventKind::choice) beginning = graph_[node].number + 1;
        if (!graph_[node].acts.empty()) break;
    }
    bool enabled = false;
    for (bool again = true; again;) {
        again = false;
        for (const Node node : partial)
            if (graph_[node].kind == EventKind::read) {
                const Part& part = graph_.parts(node)[0];
                show(part.cell, content_of(part.cell, part.source));
            }
        for (const auto& [cell, source] : narrowed_) show(cell, content_of(cell, source));
        if (gives) show(given->cell, content_of(given->cell, given->source));
        enabled = machine_.take(thread, choices_, effect_);
        if (!classify(thread)) {
            divided_ = true;
            return false;
        }
        look_for_names(thread);
        if (divided_) return false;
        // What is in a cell at the start is what was there before its first event.
        const auto look = [&](u32 number) {
            Cell& cell = graph_.cells()[number];
            if (!cell.writes.empty() || !cell.readers.empty() || cell.captured == beginning) return;
            // That is still there if the step only reads it.
            const auto is_it = [&](const Part& part) { return part.cell == number; };
            if (!again && (!is_there(cell) || !ended_.empty() || std::ranges::any_of(writes_, is_it))) {
                machine_.rewind(mark_);
                again = true;
            }
            cell.captured = beginning;
            if (is_there(cell)) {
                const Machine::Content content = machine_.content(cell.address, cell.size);
                cell.value = content.value;
                cell.undefined = content.undefined;
            } else {
                cell.value = 0;
                cell.undefined = ~u64{0} >> (64 - 8 * cell.size);
            }
        };
        for (const Decision& decision : decisions_)
            if (!decision.chooses) look(decision.part.cell);
        for (const Part& part : writes_) look(part.cell);
        // Where writes are not in order, memory need not hold the one after which a read can come last.
        for (std::size_t i = partial.size() + (gives ? 1 : 0); i < decisions_.size() && !again; ++i) {
            const u32 number = decisions_[i].part.cell;
            const auto is_narrowed = [&](const auto& narrowed) { return narrowed.first == number; };
            if (decisions_[i].chooses || graph_.cells()[number].ordered ||
                last_write(number) == newest_before(number, graph_.size()) ||
                std::ranges::any_of(narrowed_, is_narrowed))
                continue;
            narrowed_.emplace_back(number, last_write(number));
            machine_.rewind(mark_);
            again = true;
        }
    }
    // Objects come and go; those of the program itself do not.
    const auto keep = [&](u32 number) {
        Cell& cell = graph_.cells()[number];
        if (owner_of(object_of(cell.address)) != 0) cell.captured = 0;
    };
    u32 chosen = 0;
    for (u32 i = 0; i < decisions_.size(); ++i) {
        Decision& decision = decisions_[i];
        if (decision.chooses) {
            decision.choice = chosen < choices_.size() ? choices_[chosen] : 0;
            ++chosen;
            continue;
        }
        keep(decision.part.cell);
        if (i < partial.size())
            decision.part.source = graph_.parts(partial[i])[0].source;
        else if (i == partial.size() && gives)
            decision.part.source = given->source;
        else
            decision.part.source = newest_before(decision.part.cell, graph_.size());
        for (const auto& [cell, source] : narrowed_)
            if (i >= partial.size() && cell == decision.part.cell) decision.part.source = source;
    }
    for (Part& part : writes_) {
        keep(part.cell);
        const Cell& cell = graph_.cells()[part.cell];
        const Machine::Content content =
            is_there(cell) ? machine_.content(cell.address, cell.size) : Machine::Content{};
        part.value = content.value;
        part.undefined = content.undefined;
        for (const Decision& decision : decisions_)
            if (part.updates && !decision.chooses && decision.part.cell == part.cell)
                part.source = decision.part.source;
    }
    return enabled;
}

// The same, where a section that has read something older reads only what can come before it.
bool GraphExploration::attempt_newest(Slot thread, const Todo* given) {
    narrowed_.clear();
    consistent_from_ = ~u32{0};
    bool enabled = attempt(thread, given);
    const Node length = graph_.size();
    const auto begin = static_cast<u32>(graph_.partial(thread).size());
    const bool gives = given != nullptr && given->kind != Todo::Kind::choose;
    const bool older = gives && given->source != newest_before(given->cell, graph_.size());
    if (divided_ || !section_ || (is_late(thread) && !older)) return enabled;
    if (given != nullptr && begin + 1 >= decisions_.size()) return enabled;  // there is nothing else to be read
    for (bool again = true; again;) {
        again = false;
        for (u32 i = begin; i < decisions_.size() && !again; ++i) {
            Decision decision = decisions_[i];
            // What is given is what it is.
            const bool is_given = given != nullptr && i == begin;
            if (decide(thread, decision, 0, is_given) || is_given) continue;
            u32 place = graph_.place_of(decision.part.source, decision.part.cell);
            bool possible = false;
            while (!possible && place > 0) {
                graph_.pop_to(graph_.size() - 1);
                decision.part.source = graph_.write_at(decision.part.cell, --place);
                possible = decide(thread, decision, 0, false);
            }
            graph_.pop_to(length);
            synced_ = length;
            if (!possible) return false;
            narrowed_.emplace_back(decision.part.cell, decision.part.source);
            enabled = attempt(thread, given);
            again = !divided_;
        }
        graph_.pop_to(length);
        synced_ = length;
    }
    consistent_from_ = begin + (given != nullptr ? 1 : 0);
    return enabled;
}

// What the step decides and writes, by cells. False: they have to be others.
bool GraphExploration::classify(Slot thread) {
    decisions_.clear();
    writes_.clear();
    ended_.clear();
    // What the library only looks at it does not look at in one moment, unless that is about locks and the like.
    const bool looks = std::ranges::none_of(effect_.accesses, &Access::writes) && !effect_.own_section &&
                       effect_.enabled && effect_.guard_accesses == 0 && options_.memory != MemoryModel::sc;
    const bool whole = effect_.section && !effect_.guarded;
    u32 chosen = 0;
    const auto choose = [&](u32 accesses) {
        for (; chosen < effect_.ranges.size() && effect_.chosen_after[chosen] <= accesses; ++chosen)
            decisions_.push_back({.chooses = true, .part = {}, .range = effect_.ranges[chosen]});
    };
    const auto reads = [&](u32 cell) -> Decision* {
        for (Decision& decision : decisions_)
            if (!decision.chooses && decision.part.cell == cell) return &decision;
        return nullptr;
    };
    const auto writes = [&](u32 cell) -> Part* {
        for (Part& part : writes_)
            if (part.cell == cell) return &part;
        return nullptr;
    };
    u32 places = 0;
    begun_.clear();
    for (u32 i = 0; i < effect_.accesses.size(); ++i) {
        const Access& access = effect_.accesses[i];
        const u64 object = object_of(access.address);
        choose(i);
        if (access.life == Life::ends) {
            ended_.push_back(object);
        } else if (access.life == Life::begins) {
            // It is as if everything in it were written.
            for (u32 cell = 0; cell < graph_.cells().size(); ++cell)
                if (object_of(graph_.cells()[cell].address) == object && !graph_.cells()[cell].writes.empty())
                    begun_.push_back(cell);
        } else if (access.ordering != Ordering::lifetime && access.address != process_byte(thread)) {
            const bool atomic = !whole && synchronises(access.ordering);
            if (!graph_.find_cells(access.address, static_cast<u32>(access.size), atomic, found_)) return false;
            const Ordering ordering = access.ordering;
            for (const u32 cell : found_) {
                // Who writes a part of it leaves the rest as it was.
                const Cell& place = graph_.cells()[cell];
                const bool in_part =
                    place.address < access.address || place.address + place.size > access.address + access.size;
                if (access.writes && in_part && !graph_.make_ordered(cell)) return false;
                Decision* const read = reads(cell);
                Part* const written = writes(cell);
                if (access.reads && read == nullptr && written == nullptr) {
                    decisions_.push_back({.chooses = false, .part = {cell, ordering, true, false}});
                    ++places;
                }
                if (access.writes && written == nullptr) {
                    places += read == nullptr && !access.reads ? 1 : 0;
                    writes_.push_back({cell, ordering, false, true});
                }
            }
        }
    }
    choose(static_cast<u32>(effect_.accesses.size()));
    // Where others touch only a part of what it touches, it is made place by place; unless it is an atomic access of
    // more than a word, or one that reads and writes.
    const bool one = options_.memory == MemoryModel::sc || (!decisions_.empty() && !writes_.empty()) ||
                     std::ranges::any_of(effect_.accesses, [](const Access& access) {
                         return access.size > 8 && synchronises(access.ordering);
                     });
    section_ = (whole && !looks) || (places > 1 && one && !(whole && looks));
    for (const Decision& decision : decisions_)
        section_ |= !decision.chooses && graph_.cells()[decision.part.cell].sectioned;
    for (const Part& part : writes_) section_ |= graph_.cells()[part.cell].sectioned;
    if (whole && !section_)
        for (Decision& decision : decisions_) decision.part.ordering = Ordering::relaxed;
    if (section_) {
        // What it writes without reading it, it could have read: that makes no difference but for who comes first.
        for (const Part& part : writes_)
            if (reads(part.cell) == nullptr) {
                Part read{part.cell, part.ordering, true, false};
                read.blind = true;
                decisions_.push_back({.chooses = false, .part = read});
            }
        for (const Decision& decision : decisions_)
            if (!decision.chooses && !graph_.make_sectioned(decision.part.cell)) return false;
    } else {
        // Who waits sees which write is the last.
        for (const Decision& decision : decisions_)
            if (!decision.chooses && (effect_.guarded || !effect_.enabled) && !graph_.make_ordered(decision.part.cell))
                return false;
        for (const Decision& decision : decisions_)
            if (!decision.chooses && !graph_.make_used(decision.part.cell)) return false;
        for (const Part& part : writes_)
            if (!graph_.make_used(part.cell)) return false;
    }
    for (const Part& part : writes_)
        if (!graph_.make_changing(part.cell)) return false;
    for (Part& part : writes_)
        if (Decision* const read = reads(part.cell)) {
            read->part.updates = part.updates = true;
            part.blind = read->part.blind;
        }
    for (const u32 cell : begun_)
        if (!graph_.make_ordered(cell)) return false;
    for (const u32 cell : begun_)
        if (reads(cell) == nullptr && writes(cell) == nullptr)
            writes_.push_back({cell, Ordering::lifetime, false, true});
    return true;
}

}  // namespace mazurka
