// The safetensors format (huggingface/safetensors): weights without code in them.
//
//   8 bytes: header size, little endian | header: JSON | the tensors, one after another
//   {"__metadata__": {"step": "500"}, "h/w": {"dtype": "F32", "shape": [128, 3],
//                                             "data_offsets": [0, 1536]}}
//
// A file may come from anywhere. It is read only if every tensor has a known type, its offsets
// agree with its shape, and the tensors fill the data without gaps or overlap. What is written here
// has a checksum of the whole file among its metadata, so that a bit that a disk or a copy lost is
// noticed; a file without one is read as it is.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/stored_array.h"

namespace renar {

struct SafetensorsFile {
  struct Tensor {
    std::string name;
    StoredArray array;
  };
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // in the order of their bytes

  /// The tensor of that name. Throws renar::Error if there is none.
  const StoredArray& tensor(std::string_view name) const;
};

/// Reads a file. Throws renar::Error naming the path and what is wrong with it.
SafetensorsFile read_safetensors(const std::string& path);

/// Writes a file in one step (see write_file_atomically). Throws if a name stands twice.
void write_safetensors(const std::string& path, const SafetensorsFile& file);

/// The same, in memory; `where` names the bytes in errors.
SafetensorsFile decode_safetensors(std::string_view bytes, const std::string& where);
std::string encode_safetensors(const SafetensorsFile& file);

}  // namespace renar
