declare module 'cluster-key-slot' {
  /** The hash slot of a key, from what stands between its first braces where there is something. */
  export default function keySlot(key: string): number;
}
