import assert from 'node:assert/strict';
import type { CallFilter } from '#application/queries/recorded-calls.ts';
import type { PageKey } from '#read-store/read-store.ts';
import { loggedCall, recordedCall, timeOfCall } from '#test/usage/call-log/logged-calls.ts';
import type { CallLog } from '#usage/call-log/call-log.ts';

/** Declares the tests of every log of calls. @param open opens a new, empty log */
export function callLogContract(
  name: string,
  open: () => Promise<{ readonly log: CallLog; dispose(): Promise<void> }>,
): void {
  describe(`${name}: call log contract`, () => {
    let place: Awaited<ReturnType<typeof open>>;
    let log: CallLog;
    beforeEach(async () => {
      place = await open();
      log = place.log;
    });
    afterEach(async () => {
      await log.close();
      await place.dispose();
    });

    const idsOf = async (projectId: string, filter: CallFilter = {}) => {
      const { calls } = await log.page(projectId, filter, { limit: 100, maxBytes: 1e6, after: null });
      return calls.map(({ requestId }) => requestId.replace('request-', ''));
    };
    const oldest = (projectId: string) => log.oldest(projectId, 100);

    it('lists the calls of one project, newest first', async () => {
      await log.add([loggedCall(1, 'a'), loggedCall(2, 'b'), loggedCall(3, 'c', {}, 'two')]);
      await log.add([loggedCall(4, 'd')]);
      assert.deepEqual([await idsOf('one'), await idsOf('two'), await idsOf('three')], [['d', 'b', 'a'], ['c'], []]);
    });

    it('returns a call as it was stored', async () => {
      const call = recordedCall({ batchId: 'batch_1', cost: null });
      const { callsRepresented, ...stored } = call;
      await log.add([{ id: 'a', projectId: 'one', call: stored }]);
      assert.deepEqual(await log.page('one', {}, { limit: 1, maxBytes: 1e6, after: null }), {
        calls: [call],
        next: null,
      });
      assert.deepEqual(await log.ofRequest('one', call.requestId, 1), [call]);
    });

    it('finds the calls of a request id in one project, newest first', async () => {
      const again = { requestId: 'again' };
      await log.add([loggedCall(1, 'a', again), loggedCall(3, 'b', again), loggedCall(2, 'c', again, 'two')]);
      const timesOf = async (limit: number) => (await log.ofRequest('one', 'again', limit)).map(({ time }) => time);
      assert.deepEqual(await timesOf(10), [timeOfCall(3), timeOfCall(1)]);
      assert.deepEqual(await timesOf(1), [timeOfCall(3)]);
      assert.deepEqual(await log.ofRequest('one', 'other', 10), []);
    });

    it('filters by model, outcome, key and time', async () => {
      await log.add([
        loggedCall(1, 'a', { model: 'small' }),
        loggedCall(2, 'b', { outcome: 'failed' }),
        loggedCall(3, 'c', { keyId: 'ckeyother' }),
        loggedCall(4, 'd', { model: 'small', outcome: 'failed' }),
      ]);
      assert.deepEqual(await idsOf('one', { model: 'small' }), ['d', 'a']);
      assert.deepEqual(await idsOf('one', { outcome: 'failed' }), ['d', 'b']);
      assert.deepEqual(await idsOf('one', { keyId: 'ckeyother' }), ['c']);
      assert.deepEqual(await idsOf('one', { model: 'small', outcome: 'failed' }), ['d']);
      assert.deepEqual(await idsOf('one', { from: timeOfCall(2) }), ['d', 'c', 'b']);
      assert.deepEqual(await idsOf('one', { until: timeOfCall(3) }), ['b', 'a']);
      assert.deepEqual(await idsOf('one', { from: timeOfCall(2), until: timeOfCall(4) }), ['c', 'b']);
    });

    it('pages through calls without a gap, even when calls have the same time', async () => {
      const added = Array.from({ length: 9 }, (_, index) => loggedCall(Math.floor(index / 3), `c${index}`));
      await log.add(added);
      const seen: string[] = [];
      let after: PageKey | null = null;
      do {
        const page = await log.page('one', { until: timeOfCall(100) }, { limit: 2, maxBytes: 1e6, after });
        seen.push(...page.calls.map(({ requestId }) => requestId));
        after = page.next;
      } while (after !== null);
      assert.deepEqual(seen, added.map(({ call }) => call.requestId).toReversed());
    });

    it('ends a page that has too many bytes, with one call at least', async () => {
      await log.add(['a', 'b', 'c'].map((id, index) => loggedCall(index, id)));
      const [{ bytes } = assert.fail()] = await oldest('one');
      const lengthOf = async (maxBytes: number, after: PageKey | null = null) => {
        const { calls, next } = await log.page('one', {}, { limit: 10, maxBytes, after });
        return [calls.length, next === null] as const;
      };
      assert.deepEqual(
        [await lengthOf(2 * bytes), await lengthOf(1)],
        [
          [2, false],
          [1, false],
        ],
      );
      assert.deepEqual(await lengthOf(3 * bytes), [3, true]);
    });

    it('stores a call once when it is added twice, and counts its bytes once', async () => {
      await log.add([loggedCall(1, 'a'), loggedCall(2, 'b')]);
      const before = await log.bytesByProject();
      await log.add([loggedCall(1, 'a'), loggedCall(2, 'b')]);
      assert.deepEqual([await idsOf('one'), await log.bytesByProject()], [['b', 'a'], before]);
    });

    it('knows the bytes of each project', async () => {
      await log.add([loggedCall(1, 'a'), loggedCall(2, 'b'), loggedCall(1, 'c', {}, 'two')]);
      const bytes = await log.bytesByProject();
      const [of] = await oldest('two');
      assert.deepEqual([...bytes.keys()].sort(), ['one', 'two']);
      assert.ok((of?.bytes ?? 0) > 100);
      assert.deepEqual([bytes.get('one'), bytes.get('two')], [2 * (of?.bytes ?? 0), of?.bytes]);
      while (await log.removeBefore(timeOfCall(2)));
      assert.deepEqual([...(await log.bytesByProject())], [['one', of?.bytes]]);
    });

    it('reads the oldest calls of a project, oldest first', async () => {
      await log.add([loggedCall(2, 'b'), loggedCall(3, 'c'), loggedCall(1, 'a'), loggedCall(0, 'd', {}, 'two')]);
      const found = await log.oldest('one', 2);
      assert.deepEqual(
        found.map(({ id, at }) => [id, at]),
        [
          ['a', Date.parse(timeOfCall(1))],
          ['b', Date.parse(timeOfCall(2))],
        ],
      );
    });

    it('removes some calls of a project', async () => {
      await log.add(['a', 'b', 'c', 'd'].map((id, index) => loggedCall(index, id)));
      const [a, b, c, d] = await oldest('one');
      assert.ok(a && b && c && d);
      await log.remove('one', [b, d]);
      assert.deepEqual(await idsOf('one'), ['c', 'a']);
      assert.equal((await log.bytesByProject()).get('one'), a.bytes + c.bytes);
    });

    it('removes the calls that began before a time, and keeps the others', async () => {
      await log.add([loggedCall(1, 'a'), loggedCall(2, 'b'), loggedCall(3, 'c'), loggedCall(1, 'd', {}, 'two')]);
      while (await log.removeBefore(timeOfCall(3)));
      assert.deepEqual([await idsOf('one'), await idsOf('two')], [['c'], []]);
    });
  });
}
