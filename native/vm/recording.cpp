#include "vm/recording.hpp"

#include <algorithm>
#include <iterator>

namespace mazurka {

namespace {
// A long local computation is no part of a trace: of accesses that nobody else can see, only the latest half is kept.
void forget_local(std::vector<Operation>& operations) {
    const auto half = operations.begin() + static_cast<std::ptrdiff_t>(operations.size() / 2);
    const auto kept = std::remove_if(operations.begin(), half, [](const Operation& old) {
        return !old.visible && (old.kind == OperationKind::load || old.kind == OperationKind::store);
    });
    operations.erase(kept, half);
}
}  // namespace

void Recording::add(Operation operation) {
    operation.step = step_;
    if (operation.kind == OperationKind::allocate && allocated_.size() < most_known) {
        if (made_.insert_or_assign(operation.address, operation).second)
            allocated_.push_back(operation.address);
        else
            freed_.erase(operation.address);  // it is used again
    }
    if (operation.kind == OperationKind::free_ && freed_.size() < most_known)
        freed_.emplace(operation.address, operation);
    if (operation.kind == OperationKind::output && output_.size() < most_output)
        output_.push_back(static_cast<u8>(*operation.written));
    std::vector<Operation>& operations = full_ ? last_ : first_;
    operations.push_back(std::move(operation));
    if (operations.size() < (full_ ? 2 * most_kept : most_kept)) return;
    forget_local(operations);
    if (!full_) {
        full_ = operations.size() > most_kept * 3 / 4;
    } else if (operations.size() > most_kept * 3 / 2) {
        const auto kept = operations.end() - static_cast<std::ptrdiff_t>(most_kept);
        keep_latest({operations.begin(), kept});
        operations.erase(operations.begin(), kept);
    }
}

void Recording::add_pointer(Address word, Address block) {
    if (known_pointers_.size() < most_known && known_pointers_.emplace(word, block).second)
        pointers_.emplace_back(word, block);
}

void Recording::add_use(u32 pc, Address block, Address address) {
    if (known_uses_.size() < most_known && known_uses_.emplace(pc, block).second) uses_.emplace_back(pc, address);
}

void Recording::keep_latest(std::span<Operation> dropped) {
    for (Operation& operation : dropped) {
        ++dropped_;
        const bool writes = is_access(operation.kind) && operation.written && operation.visible;
        if (!writes && operation.kind != OperationKind::spawn) continue;
        // Where something was written to by different accesses, one of them stands for all of them.
        const std::pair key{writes ? OperationKind::store : operation.kind, operation.address};
        if (between_.size() < most_kept || between_.contains(key))
            between_.insert_or_assign(key, std::pair{dropped_, std::move(operation)});
    }
}

std::vector<Operation> Recording::take() {
    std::vector<Operation> all = std::exchange(first_, {});
    std::vector<std::pair<u64, Operation>> between;
    for (auto& [key, kept] : between_) between.push_back(std::move(kept));
    std::ranges::sort(between, {}, [](const auto& kept) { return kept.first; });
    const auto steps_since = [&all](const Operation& operation) {
        const u32 before = all.empty() ? 0 : all.back().step;
        return operation.step > before ? operation.step - before : 0;
    };
    for (auto& [when, operation] : between) {
        operation.left_out = std::max(1u, steps_since(operation)) - 1;
        all.push_back(std::move(operation));
    }
    if (dropped_ > 0) last_.front().left_out = std::max(1u, steps_since(last_.front()));
    all.insert(all.end(), std::make_move_iterator(last_.begin()), std::make_move_iterator(last_.end()));
    last_.clear();
    between_.clear();
    dropped_ = 0;
    full_ = false;
    return all;
}

}  // namespace mazurka
