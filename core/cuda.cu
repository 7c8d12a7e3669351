#include "core/cuda.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/lanes.h"
#include "core/launch.h"

#ifdef RENAR_CUDA
#include <nvtx3/nvToolsExt.h>
#endif

namespace renar {

#ifdef RENAR_CUDA

namespace {

constexpr const char* kTakesLess = "; a smaller --memory-budget, --batch or --hidden takes less";

void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next launch would be blamed for it
  throw Error(message_of("[cuda] {}: {}{}", what, cudaGetErrorString(status),
                         status == cudaErrorMemoryAllocation ? kTakesLess : ""));
}

bool silent = false;  // launches are left out; the device has one queue, fed by one thread

std::int64_t mebibytes(std::size_t bytes) { return static_cast<std::int64_t>(bytes >> 20); }

constexpr int kOldestMajor = 8;  // the first of the architectures that CMakeLists.txt names
constexpr int kA100Major = 8;    // and minor 0

/// Why the kernels cannot run on the first GPU, which is there; empty: they can.
std::string problem_of_gpu() {
  cudaDeviceProp gpu;
  const cudaError_t status = cudaGetDeviceProperties(&gpu, 0);
  if (status != cudaSuccess) return message_of("the GPU: {}", cudaGetErrorString(status));
  if (gpu.major >= kOldestMajor) return "";
  return message_of("the {} has compute capability {}.{}, the kernels need {}.0 or newer", gpu.name,
                    gpu.major, gpu.minor, kOldestMajor);
}

/// Events are made as they are needed and used again.
class Events {
 public:
  explicit Events(unsigned flags) : flags_(flags) {}
  cudaEvent_t operator[](std::size_t at) {
    while (events_.size() <= at) {
      cudaEvent_t made = nullptr;
      check_cuda(cudaEventCreateWithFlags(&made, flags_), "making an event");
      events_.push_back(made);
    }
    return events_[at];
  }

 private:
  unsigned flags_;
  std::vector<cudaEvent_t> events_;
};

cudaEvent_t event_of(std::size_t point) {
  static Events events(cudaEventDefault);
  return events[point];
}

// Not asked of CUDA: what is collected is started on machines without a GPU too, by tests.
bool recording = false;

/// The queue is the first lane; the others are used in recordings alone.
struct Lanes {
  cudaStream_t streams[kLanes] = {};
  bool begun[kLanes] = {};
  int entered = 0;
  Events marks{cudaEventDisableTiming};

  Lanes() {
    for (cudaStream_t& made : streams) {
      check_cuda(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "making a stream");
    }
    marks[kBegin + kLanes - 1];  // nothing is made while a recording is
  }
  // Events behind those of launches: this one, and the ends of the lanes but the first.
  static constexpr std::size_t kBegin = kMostLaunches;
};
Lanes& lanes() {
  static Lanes all;
  return all;
}
void mark_event(std::size_t event) {
  check_cuda(cudaEventRecord(lanes().marks[event], stream()), "marking a launch");
}
void wait_for_event(std::size_t event) {
  check_cuda(cudaStreamWaitEvent(stream(), lanes().marks[event], 0), "waiting for a launch");
}

}  // namespace

std::string cuda_problem() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count == 0 ? "this machine has no GPU" : problem_of_gpu();
  cudaGetLastError();
  if (status == cudaErrorNoDevice) return "this machine has no GPU, or shows none to this program";
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  if (driver == 0) return "this machine has no GPU or no driver for it";
  return message_of("{} (the driver serves CUDA {}.{}, this build needs {}.{})",
                    cudaGetErrorString(status), driver / 1000, driver % 1000 / 10, runtime / 1000,
                    runtime % 1000 / 10);
}

std::string cuda_version() {
  int runtime = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "asking for its version");
  return message_of("{}.{}", runtime / 1000, runtime % 1000 / 10);
}

std::string cuda_model() {
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, 0), "asking for its name");
  return message_of("{}, CUDA {}", properties.name, cuda_version());
}

CudaPeaks cuda_peaks() {
  const auto ask = [](cudaDeviceAttr attribute) {
    int value = 0;
    check_cuda(cudaDeviceGetAttribute(&value, attribute, 0), "asking for its clocks");
    return static_cast<double>(value);
  };
  const bool is_a100 = ask(cudaDevAttrComputeCapabilityMajor) == kA100Major &&
                       ask(cudaDevAttrComputeCapabilityMinor) == 0;
  const double multiply_adds = is_a100 ? 64 : 128;  // of a multiprocessor and clock
  const double kilohertz = 1e3, of_two_edges = 2, bits = 8;
  return {ask(cudaDevAttrMultiProcessorCount) * multiply_adds * 2 * kilohertz *
              ask(cudaDevAttrClockRate),
          ask(cudaDevAttrGlobalMemoryBusWidth) / bits * of_two_edges * kilohertz *
              ask(cudaDevAttrMemoryClockRate)};
}

cudaStream_t stream() {
  const Lanes& all = lanes();
  return all.streams[all.entered];
}

bool launches_are_left_out() { return silent; }

void check_launch() { check_cuda(cudaGetLastError(), "starting a kernel"); }

std::size_t cuda_memory() {
  std::size_t available = 0, total = 0;
  check_cuda(cudaMemGetInfo(&available, &total), "asking how much memory it has");
  return total;
}

void* cuda_allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t available = 0, total = 0;
    check_cuda(cudaMemGetInfo(&available, &total), "asking how much memory is free");
    throw Error(message_of("[cuda] out of memory: {} MiB wanted, {} of {} MiB are free{}",
                           mebibytes(bytes), mebibytes(available), mebibytes(total), kTakesLess));
  }
  check_cuda(status, "allocating memory");
  return memory;
}

void cuda_release(void* memory) { cudaFree(memory); }

void* cuda_allocate_host(std::size_t bytes) {
  void* memory = nullptr;
  const std::string what = message_of("page-locking {} MiB of the host's memory", mebibytes(bytes));
  check_cuda(cudaMallocHost(&memory, bytes), what.c_str());
  return memory;
}

void cuda_release_host(void* memory) {
  if (memory == nullptr) return;
  cudaStreamSynchronize(stream());
  cudaFreeHost(memory);
}

void cuda_copy(void* to, const void* from, std::size_t bytes) {
  if (silent) return;
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream()), "copying");
}

void cuda_wait() { check_cuda(cudaStreamSynchronize(stream()), "waiting for the kernels"); }

void cuda_fill(void* to, int byte, std::size_t bytes) {
  if (silent) return;
  check_cuda(cudaMemsetAsync(to, byte, bytes, stream()), "filling memory");
}

CudaRecording::CudaRecording() {
  check_cuda(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal),
             "beginning to record");
  recording = true;
}

CudaRecording::~CudaRecording() {
  recording = false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(stream(), &status);
  if (status == cudaStreamCaptureStatusNone) return;
  cudaGraph_t given_up = nullptr;
  cudaStreamEndCapture(stream(), &given_up);
  if (given_up != nullptr) cudaGraphDestroy(given_up);
  cudaGetLastError();
}

void* CudaRecording::finish(std::size_t& size) const {
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(stream(), &graph), "recording");
  cudaGraphExec_t ready = nullptr;
  cudaError_t status = cudaGraphGetNodes(graph, nullptr, &size);
  if (status == cudaSuccess) status = cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, "making a graph of a recording");
  return ready;
}

bool is_recording() { return recording; }

CudaLanes::CudaLanes() {
  lanes().begun[0] = true;
  mark_event(Lanes::kBegin);
}
CudaLanes::~CudaLanes() {
  lanes().entered = 0;
  std::fill_n(lanes().begun, kLanes, false);
}
void CudaLanes::enter(int lane) {
  lanes().entered = lane;
  if (!std::exchange(lanes().begun[lane], true)) wait_for_event(Lanes::kBegin);
}
void CudaLanes::mark(std::size_t launch) { mark_event(launch); }
void CudaLanes::wait_for(std::size_t launch) { wait_for_event(launch); }
void CudaLanes::join() {
  for (int lane = 1; lane < kLanes; ++lane) {
    if (!lanes().begun[lane]) continue;
    const std::size_t end = Lanes::kBegin + static_cast<std::size_t>(lane);
    lanes().entered = lane;
    mark_event(end);
    lanes().entered = 0;
    wait_for_event(end);
  }
}

CudaSilence::CudaSilence() { silent = true; }
CudaSilence::~CudaSilence() { silent = false; }

void cuda_play(void* recording) {
  check_cuda(cudaGraphLaunch(static_cast<cudaGraphExec_t>(recording), stream()), "playing a graph");
}

void cuda_forget(void* recording) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(recording)); }

void cuda_queue_point(std::size_t point) {
  check_cuda(cudaEventRecord(event_of(point), stream()), "queueing an event");
}

namespace {

__global__ void spin(long long clocks) {
  const long long start = clock64();
  while (clock64() - start < clocks) {
  }
}

}  // namespace

void cuda_hold_up(double seconds) {
  int kilohertz = 0;
  check_cuda(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0), "asking for its clock");
  spin<<<1, 1, 0, stream()>>>(static_cast<long long>(seconds * 1e3 * kilohertz));
  check_launch();
}

double cuda_seconds_between(std::size_t from, std::size_t to) {
  float ms = 0;
  check_cuda(cudaEventElapsedTime(&ms, event_of(from), event_of(to)), "reading an event");
  return static_cast<double>(ms) / 1e3;
}

void nvtx_push(const char* name) { nvtxRangePushA(name); }
void nvtx_pop() { nvtxRangePop(); }

#else

std::string cuda_problem() {
  return "this build has no CUDA backend; build it where a CUDA toolkit is";
}
std::string cuda_version() { return ""; }
std::string cuda_model() { return ""; }
CudaPeaks cuda_peaks() { throw Error(message_of("[cuda] {}", cuda_problem())); }
std::size_t cuda_memory() { return 0; }
void* cuda_allocate(std::size_t) { throw Error(message_of("[cuda] {}", cuda_problem())); }
void cuda_release(void*) {}
void* cuda_allocate_host(std::size_t bytes) { return cuda_allocate(bytes); }
void cuda_release_host(void*) {}
void cuda_copy(void*, const void*, std::size_t) {}
void cuda_wait() {}
void cuda_fill(void*, int, std::size_t) {}

namespace {

std::optional<simt::Recording> left_out;  // what the last silence was about

}  // namespace

CudaRecording::CudaRecording() {
  left_out.reset();
  simt::begin_recording();
}
CudaRecording::~CudaRecording() { simt::end_recording(); }
void* CudaRecording::finish(std::size_t& size) const {
  auto* recording = new simt::Recording(simt::end_recording());
  size = recording->size();
  return recording;
}
bool is_recording() { return simt::is_recording(); }

CudaLanes::CudaLanes() { simt::begin_lanes(); }
CudaLanes::~CudaLanes() { simt::end_lanes(); }
void CudaLanes::enter(int lane) { simt::enter_lane(lane); }
void CudaLanes::mark(std::size_t launch) { simt::mark_note(launch); }
void CudaLanes::wait_for(std::size_t launch) { simt::wait_for_note(launch); }
void CudaLanes::join() { simt::join_lanes(); }

CudaSilence::CudaSilence() { simt::begin_recording(); }
CudaSilence::~CudaSilence() { left_out = simt::end_recording(); }
bool launches_are_left_out() { return false; }
void cuda_play(void* recording) {
  const auto& played = *static_cast<const simt::Recording*>(recording);
  if (left_out) simt::check_same(played, *left_out);
  left_out.reset();
  simt::play(played);
}
void cuda_forget(void* recording) { delete static_cast<simt::Recording*>(recording); }

void cuda_queue_point(std::size_t) {}
double cuda_seconds_between(std::size_t, std::size_t) { return 0; }
void cuda_hold_up(double) {}
void nvtx_push(const char*) {}
void nvtx_pop() {}

#endif

}  // namespace renar
