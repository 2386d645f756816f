import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FedPages, feedTail } from '#event-store/log-feed.ts';
import type { LogPages } from '#event-store/log-pages.ts';
import { LogTail } from '#event-store/log-tail.ts';
import { asStored, LazyEvent } from '#event-store/recorded-event.ts';
import { InMemoryPages } from '#test/support/fakes/in-memory-pages.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { Random } from '#test/support/run/random.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the feed of a tail', () => {
  let events: LazyEvent[];
  let pages: InMemoryPages;
  let tail: LogTail;
  let fed: FedPages;

  function append(count = 1, characters = 10): void {
    for (let appended = 0; appended < count; appended += 1) {
      const number = events.length + 1;
      const data = JSON.stringify({ text: 'x'.repeat(characters) });
      const stored = { stream: 'flow-one', revision: number - 1, id: `${number}`, type: 'Numbered', metadata: '{}' };
      events.push(new LazyEvent({ ...stored, position: number * 3, data }, asStored));
    }
    pages.grown();
  }

  /** @param meanwhile runs on the way of each answer */
  function feed(meanwhile: (call: 'readPage' | 'lastPosition') => Promise<void>): void {
    const log: LogPages = {
      changes: pages.changes,
      readPage: async (request) => {
        const page = await pages.readPage(request);
        await meanwhile('readPage');
        return page;
      },
      lastPosition: async () => {
        const position = await pages.lastPosition();
        await meanwhile('lastPosition');
        return position;
      },
      eventAt: (position) => pages.eventAt(position),
    };
    tail = new LogTail({ pages: log, log: quiet, graceMs: 0 });
    fed = new FedPages(feedTail(tail, pages.changes), asStored);
  }

  beforeEach(() => {
    events = [];
    pages = new InMemoryPages(() => events);
  });
  afterEach(async () => {
    fed.close();
    await tail.close();
  });

  const end = () => events.at(-1)?.position ?? 0;
  const hasAnnounced = () => fed.changes.position === end();

  /** @returns how many places of the log the fed pages continue */
  function checkEachPlace(round: string): number {
    let found = 0;
    for (const after of [0, ...events.map(({ position }) => position)]) {
      const page = fed.find({ after, maxEvents: 1_000 });
      if (page === null) continue;
      found += 1;
      const wanted = events.filter(({ position }) => position > after && position <= page.position);
      assert.deepEqual(
        page.events.map(({ position }) => position),
        wanted.map(({ position }) => position),
        `${round}, after ${after}`,
      );
    }
    return found;
  }

  it('gives nothing of what was stored before an event that comes while it begins', async () => {
    append(10);
    let asked = 0;
    feed(async () => {
      asked += 1;
      if (asked === 1) append();
    });
    await eventually(hasAnnounced);
    assert.equal(fed.find({ after: 0, maxEvents: 1_000 }), null);
    append();
    await eventually(hasAnnounced);
    checkEachPlace('the second event');
  });

  for (const stored of [0, 10])
    itInRounds(
      `gives no page with a gap, whatever comes when, in a log that has ${stored} events`,
      { few: 10, many: 200 },
      async (rounds) => {
        let found = 0;
        for (let round = 0; round < rounds; round += 1) {
          events = [];
          append(stored);
          const random = new Random(round);
          const happen = async () => {
            if (random.below(10) < 4) append(random.between(1, 3), random.pick([10, 10, 10, 900_000]));
            if (random.below(10) === 0) pages.changes.notifyDoubt();
            for (let turns = random.below(4); turns > 0; turns -= 1) await nextTurn();
          };
          feed(happen);
          for (let step = 0; step < 30; step += 1) {
            await happen();
            found += checkEachPlace(`round ${round}`);
          }
          await eventually(hasAnnounced);
          found += checkEachPlace(`round ${round}`);
          fed.close();
          await tail.close();
        }
        assert.ok(found > 3 * rounds, `${found} pages`);
      },
    );
});
