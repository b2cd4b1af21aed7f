/** Functions of a file of kernels, at their own lines (`vite.config.ts`). */
declare module "*.py?functions=attended,attention_f16" {
  const text: string;
  export default text;
}
declare module "*.py?functions=layer_norm_forward" {
  const text: string;
  export default text;
}
declare module "*.py?functions=turned,transpose_halves" {
  const text: string;
  export default text;
}
