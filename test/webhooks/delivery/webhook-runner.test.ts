import assert from 'node:assert/strict';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
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
});
