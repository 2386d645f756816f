import assert from 'node:assert/strict';
import type { DeliveryLog, LoggedDelivery } from '#webhooks/delivery-log.ts';

const timeOf = (seconds: number) => new Date(Date.UTC(2026, 0, 5) + seconds * 1_000).toISOString();

const tryAt = (seconds: number, id: string, endpointId = 'one'): LoggedDelivery => ({
  endpointId,
  id,
  messageId: `message-${id}`,
  type: 'FlowRenamed',
  position: seconds,
  attempt: 1,
  outcome: 'failed',
  status: 500,
  error: 'status',
  durationMs: 12,
  time: timeOf(seconds),
});

/** Declares the tests of every delivery log. @param open opens a new, empty log */
export function deliveryLogContract(
  name: string,
  open: () => Promise<{ readonly log: DeliveryLog; dispose(): Promise<void> }>,
): void {
  describe(`${name}: delivery log contract`, () => {
    let place: Awaited<ReturnType<typeof open>>;
    let log: DeliveryLog;
    beforeEach(async () => {
      place = await open();
      log = place.log;
    });
    afterEach(async () => {
      await log.close();
      await place.dispose();
    });

    const idsOf = async (endpointId: string, limit = 10) => {
      const { deliveries } = await log.page(endpointId, limit, null);
      return deliveries.map(({ messageId }) => messageId.replace('message-', ''));
    };

    it('lists the tries of one endpoint, newest first', async () => {
      await log.add([tryAt(1, 'a'), tryAt(2, 'b'), tryAt(3, 'c', 'two')]);
      await log.add([tryAt(4, 'd')]);
      assert.deepEqual(await idsOf('one'), ['d', 'b', 'a']);
      assert.deepEqual(await idsOf('three'), []);
    });

    it('returns a try as it was stored', async () => {
      await log.add([tryAt(1, 'a')]);
      const { endpointId: _, id: __, ...delivery } = tryAt(1, 'a');
      assert.deepEqual(await log.page('one', 10, null), { deliveries: [delivery], next: null });
    });

    it('pages through tries without a gap, even when tries have the same time', async () => {
      const tries = Array.from({ length: 9 }, (_, index) => tryAt(Math.floor(index / 3), `t${index}`));
      await log.add(tries);
      const seen: string[] = [];
      let after: Parameters<DeliveryLog['page']>[2] = null;
      do {
        const page: Awaited<ReturnType<DeliveryLog['page']>> = await log.page('one', 2, after);
        seen.push(...page.deliveries.map(({ messageId }) => messageId));
        after = page.next;
      } while (after !== null);
      assert.deepEqual(seen, tries.map(({ messageId }) => messageId).toReversed());
    });

    it('stores a try once when it is added twice', async () => {
      await log.add([tryAt(1, 'a'), tryAt(2, 'b')]);
      await log.add([tryAt(1, 'a'), tryAt(3, 'c')]);
      assert.deepEqual(await idsOf('one'), ['c', 'b', 'a']);
    });

    it('removes the tries that ended before a time, and keeps the others', async () => {
      await log.add([tryAt(1, 'a'), tryAt(2, 'b'), tryAt(3, 'c'), tryAt(1, 'd', 'two')]);
      while (await log.removeBefore(timeOf(3)));
      assert.deepEqual([await idsOf('one'), await idsOf('two')], [['c'], []]);
    });
  });
}
