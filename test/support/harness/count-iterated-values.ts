/**
 * Counts the values that work reads by iterating over maps, as copying a map does.
 * @param work runs synchronously, so nothing else is counted
 */
export function countIteratedValues(work: () => void): number {
  let count = 0;
  const original = Map.prototype[Symbol.iterator];
  const counting = function (this: Map<unknown, unknown>): MapIterator<[unknown, unknown]> {
    const iterator = original.call(this);
    const next = iterator.next.bind(iterator);
    iterator.next = () => {
      count += 1;
      return next();
    };
    return iterator;
  };
  const setIterator = (value: typeof original) =>
    Object.defineProperty(Map.prototype, Symbol.iterator, { configurable: true, writable: true, value });
  setIterator(counting);
  try {
    work();
  } finally {
    setIterator(original);
  }
  return count;
}
