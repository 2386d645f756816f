import { describeOnFerretDb } from '#test/support/ferretdb.ts';
import { expectProblem, expectStatus } from './expect.ts';
import { FaultyStores } from './faulty-stores.ts';
import { inTime } from './settling-load.ts';
import { expectVerified } from './sound-stores.ts';

/** Longer than an append is waited for. */
const lateMilliseconds = 6_000;

describeOnFerretDb('nodes whose event store fails', (ferret) => {
  let stores: FaultyStores;
  let projectId: string;

  before(async function () {
    this.timeout(120_000);
    stores = await FaultyStores.start(ferret);
    projectId = expectStatus(await stores.client.post<{ id: string }>('/v1/projects', { name: 'P' }), 201).id;
  });
  after(() => stores?.end());
  beforeEach(() => stores.begin());
  afterEach(() => stores.rest());

  /** What needs the event store is refused in time; what does not goes on. */
  async function expectRefused(): Promise<void> {
    const path = `/v1/projects/${projectId}`;
    const [created, read] = await Promise.all([
      inTime(() => stores.client.post(`${path}/flows`, { name: 'F', flowSchema: {} }), 'creating'),
      inTime(() => stores.client.get(path), 'reading'),
      stores.expectNotReady('event-store'),
      stores.expectUnavailable(),
    ]);
    expectProblem(created, 503, 'unavailable');
    expectStatus(read, 200);
  }

  it('go on when it was killed and started again', async () => {
    await stores.double.order({ call: 'kill' });
    await expectRefused();
    await stores.double.order({ call: 'start' });
    await stores.expectRecovery();
  });

  it('go on when it was stopped and started again', async () => {
    await stores.double.order({ call: 'stop' });
    await stores.double.order({ call: 'start' });
    await stores.expectRecovery();
  });

  it('go on when it was frozen', async () => {
    stores.double.freeze();
    try {
      await expectRefused();
    } finally {
      stores.double.thaw();
    }
    await stores.expectRecovery();
  });

  it('go on when connections are cut in the middle of appends', async () => {
    for (let cut = 0; cut < 5; cut += 1) {
      await stores.double.order({ faults: { nextAppends: [{ kind: 'store-and-cut' }, { kind: 'store-and-cut' }] } });
      await stores.expectMore(5);
      stores.control.events.cut();
      await stores.expectMore(5);
    }
    await stores.expectRecovery();
  });

  it('go on when connections are cut in the middle of subscriptions', async () => {
    const { events } = stores.projecting;
    for (let cut = 0; cut < 5; cut += 1) {
      events.cut();
      await stores.expectMore(5);
      events.cutAfter(3);
      await stores.expectMore(5);
      events.cutAfter(Number.POSITIVE_INFINITY);
      await stores.double.order({ call: 'dropSubscribers' });
    }
    await stores.expectRecovery();
  });

  it('go on when its answers come too late', async () => {
    const proxies = [stores.control.events, stores.projecting.events];
    for (const proxy of proxies) proxy.delay(lateMilliseconds);
    await expectRefused();
    for (const proxy of proxies) proxy.delay(0);
    await stores.expectRecovery();
  });

  it('go on when its answers are lost on the way', async () => {
    for (const { events } of [stores.control, stores.projecting]) events.mute();
    await stores.expectRecovery();
  });

  it('go on when it stores what it does not answer', async () => {
    await stores.double.order({ faults: { everyAppend: { kind: 'store-and-drop-answer' } } });
    await stores.expectUnavailable();
    await stores.double.order({ faults: { everyAppend: null } });
    await stores.expectRecovery();
  });

  it('leave a log whose chains hold', async () => {
    await stores.rest();
    await expectVerified(stores.urls);
  });
});
