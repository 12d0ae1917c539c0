// The size limit of LRU caches that are nearly empty in most installations.

/**
 * Options that limit an `LRUCache` to a number of entries, as `max` does. With `max`, the cache allocates the memory for all
 * of them when it is created.
 */
export const atMost = (
  entries: number,
): { readonly maxSize: number; readonly sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
})
