/** Who waits for a turn, in order. */
const waiting: (() => void)[] = [];

/**
 * Waits for a turn of the event loop of its own: of all who wait, one goes on in each, the first first. Between two
 * pieces of long work everything else is served in between, however many do such work at once.
 */
export function ownTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  if (waiting.length === 1) setImmediate(next);
  return promise;
}

function next(): void {
  waiting.shift()?.();
  // What an immediate asks for in turn comes after the loop has looked at its connections.
  if (waiting.length > 0) setImmediate(next);
}
