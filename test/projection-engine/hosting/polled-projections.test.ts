import assert from 'node:assert/strict';
import {
  type PolledProjections,
  type PollLimits,
  startPolledProjections,
} from '#projection-engine/hosting/polled-projections.ts';
import type { PublishedPositions } from '#projection-engine/progress/published-positions.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/fakes/in-memory-event-store.ts';

const facts = [
  { name: 'flows', types: ['FlowCreated'] },
  { name: 'projects', types: ['ProjectCreated'] },
];

const statusOf = (name: string, fields: Partial<ProjectionStatus> = {}): ProjectionStatus => ({
  name,
  version: 1,
  state: 'running',
  ready: true,
  begunAt: 0,
  position: 0,
  failure: null,
  rebuild: null,
  ...fields,
});

/** What a node that runs the projections tells in the store, as the test says. */
class Telling {
  told: PublishedPositions | null = null;
  statuses: ReadonlyArray<ProjectionStatus> = [];
  down = false;
  looks = 0;
  atOnce = 0;
  mostAtOnce = 0;

  tell(flows: number, projects: number, fields: Partial<PublishedPositions> & { readonly live?: boolean } = {}): void {
    const { live = true, ...rest } = fields;
    this.told = {
      token: this.told?.token ?? 1,
      beat: (this.told?.beat ?? 0) + 1,
      ready: true,
      projections: [
        { name: 'projects', position: projects, live },
        { name: 'flows', position: flows, live },
      ],
      ...rest,
    };
  }

  positions = async (): Promise<PublishedPositions | null> => {
    this.looks += 1;
    this.atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    this.atOnce -= 1;
    if (this.down) throw new UnavailableError('It is down.');
    return this.told;
  };

  status = async (): Promise<ReadonlyArray<ProjectionStatus>> => {
    if (this.down) throw new UnavailableError('It is down.');
    return this.statuses;
  };
}

const long = 60_000;

describe('the projections of a shared read store, polled', () => {
  let telling: Telling;
  let warnings: number;
  let holders: Map<number, string>;
  const open: PolledProjections[] = [];

  beforeEach(() => {
    telling = new Telling();
    warnings = 0;
    holders = new Map([[1, 'node-a']]);
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  const warned = () => {
    warnings += 1;
  };
  const start = async (limits: Partial<PollLimits> = {}) => {
    const log = { info: () => undefined, warn: () => warned(), error: assert.fail };
    const projections = await startPolledProjections({
      facts,
      store: telling,
      holder: async (token) => holders.get(token) ?? null,
      log,
      limits: { busy: 1, idle: 5, silence: long, ...limits },
    });
    open.push(projections);
    return projections;
  };

  it('ends a wait when what handles the event has passed its position', async () => {
    telling.tell(5, 5);
    const projections = await start();
    assert.equal(await projections.waitFor(5, ['FlowCreated'], long), 'reached');
    const wait = projections.waitFor(6, ['FlowCreated'], long);
    telling.tell(5, 6);
    telling.tell(6, 6);
    assert.equal(await wait, 'reached');
  });

  it('waits for no longer than asked', async () => {
    telling.tell(5, 5);
    const projections = await start();
    assert.equal(await projections.waitFor(6, ['FlowCreated'], 20), 'timeout');
    assert.equal(await projections.waitForProjections(['projects'], 6, 20), 'timeout');
  });

  it('does not wait for what does not follow the log, but does when it is named', async () => {
    telling.tell(5, 5, { live: false });
    const projections = await start();
    assert.equal(await projections.waitFor(6, ['FlowCreated'], long), 'reached');
    assert.equal(await projections.waitForProjections(['flows'], 6, 20), 'timeout');
  });

  it('does not wait for a projection that the node which runs them does not know', async () => {
    telling.tell(5, 5);
    telling.told = { ...(telling.told as PublishedPositions), projections: [] };
    const projections = await start();
    assert.equal(await projections.waitFor(6, ['FlowCreated'], long), 'reached');
    assert.equal(await projections.waitForProjections(['flows'], 6, 20), 'timeout');
  });

  it('looks at once when somebody begins to wait, and one look at a time', async () => {
    telling.tell(5, 5);
    const projections = await start({ idle: long });
    const looks = telling.looks;
    telling.tell(6, 6);
    const waits = Array.from({ length: 50 }, () => projections.waitFor(6, ['FlowCreated'], long));
    assert.deepEqual(new Set(await Promise.all(waits)), new Set(['reached']));
    assert.ok(telling.looks > looks);
    assert.equal(telling.mostAtOnce, 1);
  });

  it('takes a node that tells nothing any more for dead: nobody waits for it', async () => {
    telling.tell(5, 5);
    const projections = await start({ silence: 200 });
    assert.equal(await projections.waitFor(6, ['FlowCreated'], long), 'reached');
    assert.match(projections.following().detail, /no sign of life \(last on node-a, token 1\)/);
    const toldLive = (detail: string) => () => {
      telling.tell(6, 6, { token: 2 });
      return projections.following().live && projections.following().detail === detail;
    };
    await eventually('another has gone on', toldLive('live token 2'));
    holders.set(2, 'node-b');
    await eventually('it is known by name', toldLive('live on node-b, token 2'));
  });

  it('is not live by what was told before it began to look', async () => {
    telling.tell(5, 5);
    const projections = await start();
    assert.equal(projections.following().live, false);
    telling.tell(5, 5);
    await eventually('it lives', () => projections.following().live);
    telling.tell(5, 5, { ready: false });
    await eventually('it catches up', () => projections.following().detail === 'catching up on node-a, token 1');
    assert.equal(projections.following().live, false);
  });

  it('knows nothing where no node has ever run them', async () => {
    const projections = await start();
    assert.deepEqual(projections.following(), { live: false, detail: 'no node has run them yet' });
    assert.deepEqual(projections.status(), []);
    assert.equal(await projections.waitFor(1, ['FlowCreated'], long), 'reached');
    assert.equal(await projections.waitForProjections(['flows'], 1, 20), 'timeout');
  });

  it('tells of changes of the status, not of positions alone, and knows the newest of these', async () => {
    telling.tell(5, 5);
    telling.statuses = [statusOf('flows', { ready: false }), statusOf('projects')];
    const projections = await start();
    const heard: Array<ReadonlyArray<ProjectionStatus>> = [];
    projections.onStatus((statuses) => heard.push(statuses));
    telling.tell(7, 8);
    telling.statuses = [statusOf('flows', { ready: false, position: 6 }), statusOf('projects')];
    await eventually('positions are told', () => projections.status()[0]?.position === 7);
    assert.equal(heard.length, 0);
    telling.statuses = [statusOf('flows', { position: 6 }), statusOf('projects')];
    await eventually('the change is told', () => heard.length === 1);
    assert.deepEqual(
      heard[0]?.map(({ ready, position }) => [ready, position]),
      [
        [true, 7],
        [true, 8],
      ],
    );
  });

  it('keeps what it knows while the store is down, says that it is, and goes on by itself', async () => {
    telling.tell(5, 5);
    telling.statuses = [statusOf('flows')];
    const projections = await start();
    telling.down = true;
    await eventually('it is known', () => !projections.following().live && warnings > 0);
    assert.equal(projections.following().detail, 'the read store does not answer');
    assert.equal(projections.status().length, 1);
    assert.equal(await projections.waitFor(6, ['FlowCreated'], 20), 'timeout');
    const wait = projections.waitFor(6, ['FlowCreated'], long);
    telling.tell(6, 6);
    telling.down = false;
    assert.equal(await wait, 'reached');
    await eventually('it is live', () => projections.following().live);
    assert.equal(warnings, 1);
  });

  it('ends its waits when it is closed, and looks no more', async () => {
    telling.tell(5, 5);
    const projections = await start({ idle: long });
    const wait = projections.waitForProjections(['flows'], 6, long);
    await projections.close();
    assert.equal(await wait, 'timeout');
    const { looks } = telling;
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(telling.looks, looks);
  });
});
