/** Kernels to begin with, in the texts that Triton's front end prints, and what each of them teaches. */

import matmulSource from "../../../../examples/matmul.py?raw";
import matmul from "../../../../examples/matmul.ttir?raw";
import racingCountSource from "../../../../examples/racing_count.py?raw";
import racingCount from "../../../../examples/racing_count.ttir?raw";
import rowSoftmaxSource from "../../../../examples/row_softmax.py?raw";
import rowSoftmax from "../../../../examples/row_softmax.ttir?raw";
import spinDeadlockSource from "../../../../examples/spin_deadlock.py?raw";
import spinDeadlock from "../../../../examples/spin_deadlock.ttir?raw";
import tiledTransposeSource from "../../../../examples/tiled_transpose.py?raw";
import tiledTranspose from "../../../../examples/tiled_transpose.ttir?raw";
import vectorAddSource from "../../../../examples/vector_add.py?raw";
import vectorAdd from "../../../../examples/vector_add.ttir?raw";
import layerNormSource from "../../../../kernels/normalisation.py?functions=layer_norm_forward";
import layerNorm from "../../../../kernels/layer_norm_forward.ttir?raw";
import attentionSource from "../../../../kernels/tensor_cores.py?functions=attended,attention_f16";
import attention from "../../../../kernels/attention_f16.ttir?raw";
import transposeHalvesSource from "../../../../kernels/transposes.py?functions=turned,transpose_halves";
import transposeHalves from "../../../../kernels/transpose_halves.ttir?raw";
import rowSoftmaxTriton from "../../../../kernels/ttgir/row_softmax.80.ttgir?raw";
import tiledTransposeTriton from "../../../../kernels/ttgir/tiled_transpose.80.ttgir?raw";

export interface Preset {
  id: string;
  name: string;
  /** What there is to see, in a sentence or two. */
  teaches: string;
  text: string;
  source: string;
  /** A run on the simulator: blocks, and `NAME=VALUE` of each argument. */
  grid: string;
  args: string;
  /** The same kernel with the layouts that Triton 3.9 chose for sm_80. */
  triton?: string;
}

export const PRESETS: readonly Preset[] = [
  {
    id: "row_softmax", name: "Softmax", text: rowSoftmax, source: rowSoftmaxSource, triton: rowSoftmaxTriton,
    teaches: "One row, two reductions. Every value keeps one layout; only the partial results of four warps meet in shared memory.",
    grid: "4", args: "x=random:f32[4x1024] out=empty:f32[4x1024] n=1024",
  },
  {
    id: "tiled_transpose", name: "Transpose", text: tiledTranspose, source: tiledTransposeSource, triton: tiledTransposeTriton,
    teaches: "Rows are loaded and columns are stored, each 16 bytes a lane. Between the two the tile passes a swizzled shared memory without a conflict.",
    grid: "2x2", args: "x=random:f32[128x128] out=empty:f32[128x128] m=128 n=128",
  },
  {
    id: "matmul", name: "Matmul", text: matmul, source: matmulSource,
    teaches: "Both tiles are copied ahead into a ring of swizzled shared memory, with one barrier a round. Pin the product's sum to another layout and see what that costs.",
    grid: "1x1", args: "a=random:f32[64x64] b=random:f32[64x64] c=empty:f32[64x64] m=64 n=64 k=64",
  },
  {
    id: "attention_f16", name: "Attention", text: attention, source: attentionSource,
    teaches: "Two products in one loop: the sum of the first becomes a factor of the second where it is, without a movement.",
    grid: "1", args: "q=random:f16[64x32] k=random:f16[64x32] v=random:f16[64x32] out=empty:f16[64x32] n=64",
  },
  {
    id: "spin_deadlock", name: "A deadlock", text: spinDeadlock, source: spinDeadlockSource,
    teaches: "Every block waits for one arrival more than will come. Run it: the simulator names the loop that nobody leaves.",
    grid: "4", args: "arrivals=zeros:i32[1] out=empty:i32[4]",
  },
  {
    id: "racing_count", name: "A race", text: racingCount, source: racingCountSource,
    teaches: "Blocks add to one counter without an atomic operation. Run it: the simulator names both lines, and the sum is wrong.",
    grid: "8", args: "x=random:f32[8192] count=zeros:i32[1] n=8192",
  },
  {
    id: "vector_add", name: "Vector sum", text: vectorAdd, source: vectorAddSource,
    teaches: "Memory is all that counts: 16 bytes a lane, and every sector is used in full.",
    grid: "4", args: "x=random:f32[4096] y=random:f32[4096] out=empty:f32[4096] n=4096",
  },
  {
    id: "transpose_halves", name: "Transpose, f16", text: transposeHalves, source: transposeHalvesSource,
    teaches: "Elements of two bytes: bits below the bank's word turn with the tile.",
    grid: "2x1", args: "x=random:f16[100x64] out=empty:f16[50x112] m=100 n=50 x_row=64 out_row=112",
  },
  {
    id: "layer_norm_forward", name: "Layer norm", text: layerNorm, source: layerNormSource,
    teaches: "Three passes over a row: loops carry sums in the layout in which they are loaded.",
    grid: "1",
    args: "x=random:f16[1x1504] weight=random:f32[1500] bias=random:f32[1500] out=empty:f16[1x1504] means=empty:f32[1] inverses=empty:f32[1] columns=1500 stride=1504 epsilon=1e-5",
  },
];
