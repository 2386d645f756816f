import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { ClientDisconnectedError, Held } from '#exchange/held.ts';
import { inexactIntegers, parseJsonObject, scanJsonObject } from '#exchange/json-body.ts';
import { turn, workOfTurn } from '#exchange/turns.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';

/** The seconds of processor time that work takes. */
async function processorSeconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}

describe('a JSON body', () => {
  it('with many runs of digits takes little longer to read than one without', async () => {
    const withRuns = Buffer.from(`{"text":"${`${'9'.repeat(209)} `.repeat(40_000)}"}`);
    const without = Buffer.from(`{"text":"${`${'x'.repeat(209)} `.repeat(40_000)}"}`);
    const read = async (bytes: Buffer) => assert.ok(E.isRight(await parseJsonObject(bytes, 10)));
    await read(without);
    const plain = await processorSeconds(() => read(without));
    assert.ok((await processorSeconds(() => read(withRuns))) < 0.3 + 4 * plain);
  });

  it('with many runs of fifteen digits is soon found to have exact integers alone', async () => {
    const bytes = Buffer.from(`{"text":"${`${'9'.repeat(15)} `.repeat(500_000)}"}`);
    assert.ok((await processorSeconds(() => inexactIntegers(bytes))) < 1);
  });

  it('that is scanned in slices takes turns for its size, not for its size in each slice', async () => {
    const bytes = Buffer.from(`{"text":"${'x'.repeat(8 * 1024 * 1024)}"}`);
    let isScanned = false;
    const scanned = new Held('a').run(async () => {
      await scanJsonObject(bytes, 10);
      isScanned = true;
    });
    const other = new Held('b');
    let turnsOfOthers = 0;
    const takeTurns = async () => {
      for (; !isScanned; turnsOfOthers += 1) await turn(other, 'list', workOfTurn / 2);
    };
    await Promise.all([scanned, takeTurns(), takeTurns()]);
    // Half of each turn is for lists: as many halves as the body has.
    assert.ok(turnsOfOthers < (4 * bytes.length) / workOfTurn, `${turnsOfOthers} pieces of lists`);
  });

  it('that is large and waits for its turn is not read when its client leaves meanwhile', async () => {
    const bytes = Buffer.from(`{"text":"${'x'.repeat(1024 * 1024)}"}`);
    await turn(currentWorkOwner(), 'body', workOfTurn);
    const client = new Held('a');
    const left = client.run(() => parseJsonObject(bytes, 10));
    const stays = new Held('a').run(() => parseJsonObject(bytes, 10));
    client.leave();
    await assert.rejects(left, ClientDisconnectedError);
    assert.ok(E.isRight(await stays));
  });

  it('that is malformed after a megabyte names the byte, and before that the line and the column', async () => {
    const late = await parseJsonObject(Buffer.from(`${'\n'.repeat(2_000_000)}x`), 10);
    assert.ok(E.isLeft(late));
    assert.match(late.left.detail, /\(byte 2000000\)/);
    const early = await parseJsonObject(Buffer.from('{\n "a": x}'), 10);
    assert.ok(E.isLeft(early));
    assert.match(early.left.detail, /\(line 2, column 7\)/);
  });
});
