/** Kernels to begin with, in the texts that Triton's front end prints. */

import matmul from "../../../../examples/matmul.ttir?raw";
import rowSoftmax from "../../../../examples/row_softmax.ttir?raw";
import tiledTranspose from "../../../../examples/tiled_transpose.ttir?raw";
import vectorAdd from "../../../../examples/vector_add.ttir?raw";
import attention from "../../../../kernels/attention_f16.ttir?raw";
import layerNorm from "../../../../kernels/layer_norm_forward.ttir?raw";
import transposeHalves from "../../../../kernels/transpose_halves.ttir?raw";

export interface Preset {
  id: string;
  name: string;
  text: string;
}

export const PRESETS: readonly Preset[] = [
  { id: "row_softmax", name: "Softmax of a row", text: rowSoftmax },
  { id: "tiled_transpose", name: "Transpose of a tile, f32", text: tiledTranspose },
  { id: "vector_add", name: "Sum of two vectors", text: vectorAdd },
  { id: "transpose_halves", name: "Transpose, f16", text: transposeHalves },
  { id: "layer_norm_forward", name: "Layer normalisation", text: layerNorm },
  { id: "matmul", name: "Product of matrices", text: matmul },
  { id: "attention_f16", name: "Attention, f16", text: attention },
];
