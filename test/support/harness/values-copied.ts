/**
 * How many values some work reads out of maps by iterating over them: to copy a map, one must.
 * @param work runs at once; nothing else does meanwhile
 */
export function valuesIterated(work: () => void): number {
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
