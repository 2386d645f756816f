import assert from 'node:assert/strict';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { DeliveringNode } from './delivering-node.ts';

describe('WebhookRunner', () => {
  let node: DeliveringNode;
  let firstPosition: number;
  beforeEach(async () => {
    node = new DeliveringNode();
    firstPosition = await node.begin();
  });
  afterEach(() => node.end());

  const positionsTried = () => node.tried.map(({ position }) => position);
  const stored = () => eventually(() => node.state(), 'the state of the endpoint is stored');

  it('delivers the events after the creation of an endpoint', async () => {
    let isStarted = false;
    node.waitForPosition = async () => {
      isStarted = true;
      return true;
    };
    await node.createFlow('cflowbefore00001');
    await node.start();
    await eventually(() => isStarted);
    await node.createEndpoint();
    const position = await node.createFlow();
    await eventually(() => node.tried.length > 0);
    assert.deepEqual(positionsTried(), [position]);
  });

  it('loses no event of an endpoint that is created while the runner retries its first start', async () => {
    let created = 0;
    node.waitForPosition = async () => {
      if (created > 0) return true;
      await node.createEndpoint();
      created = await node.createFlow();
      throw new UnavailableError('The read models are being filled.');
    };
    await node.start();
    await eventually(() => node.tried.length > 0, 'a message is tried');
    assert.deepEqual(positionsTried(), [created]);
    assert.equal((await stored()).beganAtEndAt, null);
  });

  it('loses no event of an endpoint that is created while the node waits for its first term', async () => {
    await node.createEndpoint();
    const created = await node.createFlow();
    await node.start(firstPosition);
    await eventually(() => node.tried.length > 0, 'a message is tried');
    assert.deepEqual(positionsTried(), [created]);
    assert.equal((await stored()).beganAtEndAt, null);
  });

  it('logs once, and not as an error, that it waits for the read models of a first start', async () => {
    let tries = 0;
    node.waitForPosition = async () => {
      tries += 1;
      if (tries < 3) throw new UnavailableError('The read models are being filled.');
      return true;
    };
    await node.start();
    await eventually(() => node.runner.figures() !== null, 'it delivers');
    assert.deepEqual(
      node.logged.map(({ level, message }) => [level, message]),
      [['info', 'Webhooks wait until what their delivery needs can be used']],
    );
  });

  it('begins at the end of the log, and logs that, when the state of an endpoint is lost', async () => {
    await node.createEndpoint();
    const missed = await node.createFlow();
    await node.start();
    const { beganAtEndAt, position } = await stored();
    assert.equal(position, missed);
    assert.ok(beganAtEndAt !== null);
    assert.match(node.logged.map(({ message }) => message).join(), /is lost: delivery begins at the end of the log/);
    const next = await node.createFlow('cflownext0000001');
    await eventually(() => node.tried.length > 0);
    assert.deepEqual(positionsTried(), [next]);
  });

  it('continues before the events that the log has lost, after a restore of a backup', async () => {
    const records = new InMemoryRecordStore();
    const before = new DeliveringNode(records);
    await before.begin();
    await before.createEndpoint();
    await before.start(0);
    const kept = await before.createFlow('cflowkept0000001');
    for (let lost = 0; lost < 3; lost += 1) await before.createFlow(`cflowlost000000${lost}`);
    await eventually(() => before.tried.length === 4, 'all are delivered');
    await before.end();

    node = new DeliveringNode(records, before.store.backup(3));
    const after: number[] = [];
    for (let next = 0; next < 5; next += 1) after.push(await node.createFlow(`cflownext000000${next}`));
    await node.start();
    await eventually(() => node.tried.some(({ position }) => position === after.at(-1)), 'the last is delivered');
    assert.deepEqual(
      positionsTried(),
      [kept, ...after].filter((position) => positionsTried().includes(position)),
    );
    for (const position of after) assert.ok(positionsTried().includes(position), `${position} is delivered`);
    assert.match(node.logged.map(({ message }) => message).join(), /no longer has events that were sent to webhooks/);
  });
});
