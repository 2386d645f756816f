import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { StreamWriter } from '#application/streams/stream-writer.ts';
import { names, namesSet, origin } from '#test/support/events/names.ts';
import { tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { countTurns } from '#test/support/harness/turns.ts';

const ids = ['cflowlarge000001', 'cflowlarge000002', 'cflowlarge000003', 'cflowlarge000004'];
const large = 'x'.repeat(400 * 1024);

const append = async (writer: StreamWriter, id: string, text: string) => {
  const decide = () => E.right({ events: [namesSet(text)], tenant: tenants.project });
  assert.ok(E.isRight(await writer.write({ entity: names, id, origin, decide })));
};

describe('StreamWriter with large events', () => {
  it('hashes one large event in a turn of the event loop, however many commands run', async () => {
    const store = new AppendableEventStore();
    const writer = new StreamWriter({ store });
    await Promise.all(ids.map((id) => append(writer, id, 'small')));
    const turns = countTurns();
    const appendedIn: number[] = [];
    store.beforeAppend = async () => {
      appendedIn.push(turns.now());
      return null;
    };
    await Promise.all(ids.map((id) => append(writer, id, large)));
    turns.end();
    assert.equal(new Set(appendedIn).size, ids.length, `turns of the appends: ${appendedIn}`);
  });
});
