import { clock } from '#shared/clock.ts';

/** Number of items of one caller in one turn of the event loop. Loading a cached stream for each is quick. */
const itemsPerTurn = 50;

/** Yields the items. After every fifty the event loop has a turn, because there may be thousands. */
export async function* inTurns<Item>(items: Iterable<Item>): AsyncGenerator<Item, void, void> {
  let handled = 0;
  for (const item of items) {
    yield item;
    handled += 1;
    if (handled % itemsPerTurn === 0) await clock.nextTurn();
  }
}
