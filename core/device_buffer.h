// A block of a device's memory that one object owns: parameters and gradients of a net that runs
// there.
#pragma once

#include <cstdint>
#include <utility>

#include "core/device.h"

namespace renar {

template <class T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(Device device) : device_(device) {}
  ~DeviceBuffer() { device_release(device_, data_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : device_(other.device_),
        data_(std::exchange(other.data_, nullptr)),
        room_(std::exchange(other.room_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  /// Room for `count` numbers; what was there before may be lost. Throws renar::Error where the
  /// device has not enough.
  T* fit(std::int64_t count) {
    if (count > room_) {
      room_ = 0;
      device_release(device_, std::exchange(data_, nullptr));
      data_ = static_cast<T*>(device_allocate(device_, bytes(count)));
      room_ = count;
    }
    return data_;
  }
  /// The same, filled with zeros.
  T* zeros(std::int64_t count) {
    fill_bytes(device_, fit(count), 0, bytes(count));
    return data_;
  }
  /// A copy of numbers of the host.
  T* upload(const T* from, std::int64_t count) {
    copy_to_device(device_, fit(count), from, bytes(count));
    return data_;
  }
  T* data() const { return data_; }
  void download(T* to, std::int64_t count) const { copy_to_host(device_, to, data_, bytes(count)); }

 private:
  static std::size_t bytes(std::int64_t count) {
    return static_cast<std::size_t>(count) * sizeof(T);
  }

  Device device_;
  T* data_ = nullptr;
  std::int64_t room_ = 0;
};

}  // namespace renar
