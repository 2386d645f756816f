import { LRUCache } from 'lru-cache';

/** Its option `max` would make `lru-cache` take the memory of all entries at the start. */
type Options<Value extends object | boolean | number> = Omit<
  LRUCache.OptionsBase<string, Value, unknown>,
  'max' | 'maxSize' | 'sizeCalculation'
>;

/** A cache that drops the least recently used entry when it has a number of entries. */
export function countedCache<Value extends object | boolean | number>(
  maxEntries: number,
  options: Options<Value> = {},
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
}
