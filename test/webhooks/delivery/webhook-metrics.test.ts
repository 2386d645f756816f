import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { ids } from '#test/support/events/tenants.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { watchDeliveries } from '#webhooks/delivery/webhook-metrics.ts';
import { DeliveringNode } from './delivering-node.ts';

describe('metrics of webhook deliveries', () => {
  let node: DeliveringNode;
  let registry: Registry;
  let endOfLog: () => Promise<number | null>;
  beforeEach(async () => {
    node = new DeliveringNode();
    registry = new Registry();
    endOfLog = () => node.store.lastPosition();
    watchDeliveries(registry, { figures: () => node.runner.figures(), endOfLog: () => endOfLog() });
    await node.begin();
  });
  afterEach(() => node.end());

  /** The samples of the gauges, without the common prefix of their names. */
  const samples = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith('switchyard_webhook_'))
      .map((line) => line.replace('switchyard_webhook_', ''));
  const has = (...wanted: ReadonlyArray<string>) =>
    eventually(async () => {
      const shown = await samples();
      return wanted.every((sample) => shown.includes(sample));
    }, wanted.join(', '));

  it('shows no endpoint and no lag on a node that does not deliver', async () => {
    assert.deepEqual(await samples(), ['open_retries 0']);
  });

  it('counts endpoints by state, and open retries', async () => {
    node.receive = () => ({ kind: 'failed', eventId: 'event', status: 500, error: 'status', durationMs: 1 });
    await node.start();
    await has('endpoints{state="delivering"} 0');
    await node.createEndpoint();
    await has('endpoints{state="delivering"} 1', 'open_retries 0', 'lag_positions{state="delivering"} 0');
    await node.createFlow();
    await has('endpoints{state="failing"} 1', 'endpoints{state="delivering"} 0', 'open_retries 1');
    await node.changeEndpoint('WebhookEndpointDisabled', { id: ids.webhookEndpoint, reason: 'requested' });
    await has('endpoints{state="disabled"} 1', 'endpoints{state="failing"} 0');
    assert.ok((await samples()).includes('lag_positions{state="failing"} 0'));
  });

  it('shows the lag of the endpoint that is furthest behind', async () => {
    const { promise: open, resolve } = Promise.withResolvers<void>();
    node.hold = () => open;
    await node.start();
    await has('endpoints{state="delivering"} 0');
    await node.createEndpoint();
    const positions: number[] = [];
    for (let number = 0; number < 9; number += 1) positions.push(await node.createFlow(`cflow${number}0000000001`));
    const end = await node.store.lastPosition();
    // Eight messages are running and the ninth waits, so the endpoint's position is before the ninth.
    await has(`lag_positions{state="delivering"} ${end - ((positions[8] ?? 0) - 1)}`);
    endOfLog = async () => null;
    assert.ok(!(await samples()).some((sample) => sample.startsWith('lag_positions')));
    endOfLog = () => node.store.lastPosition();
    resolve();
    await has('lag_positions{state="delivering"} 0');
  });
});
