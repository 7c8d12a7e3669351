#include "core/arena.h"

#include <algorithm>

namespace renar {
namespace {

constexpr std::size_t kFirstBlock = std::size_t{1} << 20;
constexpr int kNanBytes = 0xff;
constexpr std::size_t kLargestGrowth = std::size_t{256} << 20;

std::size_t round_up(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void Arena::add_block(std::size_t bytes) {
  blocks_.reserve(blocks_.size() + 1);  // before there is memory that could be lost
  void* memory =
      memory_ == Memory::kOfHost ? host_allocate(device_, bytes) : device_allocate(device_, bytes);
  blocks_.push_back({static_cast<std::byte*>(memory), bytes});
  if (memory_ == Memory::kZeroed) fill(blocks_.back().memory, 0, bytes);
}

void Arena::release() {
  for (const Block& block : blocks_) {
    memory_ == Memory::kOfHost ? host_release(device_, block.memory)
                               : device_release(device_, block.memory);
  }
  blocks_.clear();
}

void Arena::fill(std::byte* begin, int byte, std::size_t bytes) {
  fill_bytes(memory_ == Memory::kOfHost ? Device::kCpu : device_, begin, byte, bytes);
}

void* Arena::allocate(std::size_t bytes) {
  bytes = round_up(bytes);
  while (block_ < blocks_.size() && offset_ + bytes > blocks_[block_].size) {
    blocks_[block_].used = offset_;
    ++block_;
    offset_ = 0;
  }
  // Each new block doubles the whole, so that a long first trajectory costs few of them; a large
  // one does not, as the memory of a device ends at some point.
  if (block_ == blocks_.size()) {
    add_block(std::max({bytes, std::min(capacity(), kLargestGrowth), kFirstBlock}));
  }
  std::byte* place = blocks_[block_].memory + offset_;
  offset_ += bytes;
  if (poison_ && memory_ != Memory::kZeroed) fill(place, kNanBytes, bytes);
  return place;
}

void Arena::rewind(Mark mark) {
  if (poison_ && memory_ != Memory::kZeroed) fill(mark, this->mark(), kNanBytes);
  block_ = mark.block;
  offset_ = mark.offset;
}

void Arena::fill(Mark from, Mark to, int byte) {
  for (std::size_t i = from.block; i < blocks_.size() && i <= to.block; ++i) {
    const std::size_t begin = i == from.block ? from.offset : 0;
    const std::size_t end = i == to.block ? to.offset : blocks_[i].size;
    fill(blocks_[i].memory + begin, byte, end - begin);
  }
}

void Arena::reset() {
  if (memory_ == Memory::kOfHost) wait_for_sends(device_);
  if (memory_ == Memory::kZeroed && blocks_.size() == 1) zero_below(mark());
  if (blocks_.size() > 1) {
    const std::size_t total = capacity();
    release();
    block_ = offset_ = 0;
    add_block(total);
  }
  rewind({});
}

void Arena::identify(std::vector<std::uint64_t>& as) const {
  for (const Block& block : blocks_) {
    as.push_back(reinterpret_cast<std::uintptr_t>(block.memory));
    as.push_back(block.size);
  }
}

bool Arena::holds(const void* place) const {
  const auto* at = static_cast<const std::byte*>(place);
  return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
    return at >= block.memory && at < block.memory + block.size;
  });
}

std::size_t Arena::used() const {
  std::size_t total = offset_;
  for (std::size_t i = 0; i < block_; ++i) total += blocks_[i].used;
  return total;
}

std::size_t Arena::capacity() const {
  std::size_t total = 0;
  for (const Block& block : blocks_) total += block.size;
  return total;
}

}  // namespace renar
