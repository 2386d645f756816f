import { setImmediate as nextTurn } from 'node:timers/promises';

/** Items that one caller handles between two turns of the event loop: loading a cached stream for each is quick. */
const itemsPerTurn = 50;

/** The items one by one. After every fifty the event loop has a turn, because there may be thousands of them. */
export async function* inTurns<Item>(items: Iterable<Item>): AsyncGenerator<Item, void, void> {
  let handled = 0;
  for (const item of items) {
    yield item;
    handled += 1;
    if (handled % itemsPerTurn === 0) await nextTurn();
  }
}
