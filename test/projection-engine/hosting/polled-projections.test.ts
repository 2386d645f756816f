import assert from 'node:assert/strict';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { Admission } from '#exchange/admission.ts';
import type { PolledPositions, PollLimits } from '#positions/position-poll.ts';
import { Positions } from '#positions/positions.ts';
import { PolledProjections } from '#projection-engine/hosting/polled-projections.ts';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { PublishedPositions } from '#read-store/published-positions.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { eventually } from '#test/support/run/eventually.ts';

const projectionInfos = [
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
  incompleteStreams: noIncompleteStreams,
  ...fields,
});

/** A node that runs the projections, and publishes the test's positions in the store. */
class ProjectingNode {
  published: PublishedPositions | null = null;
  statuses: ReadonlyArray<ProjectionStatus> = [];
  down = false;
  polls = 0;
  atOnce = 0;
  maxAtOnce = 0;

  publish(
    flows: number,
    projects: number,
    fields: Partial<PublishedPositions> & { readonly live?: boolean } = {},
  ): void {
    const { live = true, ...rest } = fields;
    this.published = {
      token: this.published?.token ?? 1,
      beat: (this.published?.beat ?? 0) + 1,
      ready: true,
      statusChanges: 0,
      read: nothingRead,
      projections: [
        { name: 'projects', position: projects, live, generation: 1 },
        { name: 'flows', position: flows, live, generation: 1 },
      ],
      ...rest,
    };
  }

  poll = async (): Promise<PolledPositions> => {
    this.polls += 1;
    this.atOnce += 1;
    this.maxAtOnce = Math.max(this.maxAtOnce, this.atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    this.atOnce -= 1;
    if (this.down) throw new UnavailableError('It is down.');
    return { published: this.published, processes: null };
  };

  status = async (): Promise<ReadonlyArray<ProjectionStatus>> => {
    if (this.down) throw new UnavailableError('It is down.');
    return this.statuses;
  };
}

const long = 60_000;

describe('PolledProjections', () => {
  let node: ProjectingNode;
  let warnings: number;
  let holders: Map<number, string>;
  let positions: Positions;
  const open: PolledProjections[] = [];
  const passedBy = (types: ReadonlyArray<string>, position: number, ms = long) =>
    positions.passed({ types }, position, { ms });
  const passedByNamed = (name: string, position: number, ms: number) =>
    positions.passed({ names: [name] }, position, { strict: true, ms });

  beforeEach(() => {
    node = new ProjectingNode();
    positions = new Positions(new Admission());
    warnings = 0;
    holders = new Map([[1, 'node-a']]);
  });
  afterEach(async () => {
    positions.close();
    for (const one of open.splice(0)) await one.close();
  });

  const warned = () => {
    warnings += 1;
  };
  const start = async (
    limits: Partial<PollLimits> = {},
    holder = async (token: number) => holders.get(token) ?? null,
  ) => {
    const log = { info: () => undefined, warn: () => warned(), error: assert.fail };
    const projections = new PolledProjections({
      projections: projectionInfos,
      positions,
      source: node,
      store: node,
      holder,
      log,
      limits: { busy: 1, idle: 5, silence: long, ...limits },
    });
    open.push(projections);
    await projections.start();
    return projections;
  };

  it('ends a wait when the projections that handle the event have passed its position', async () => {
    node.publish(5, 5);
    await start();
    assert.equal(await passedBy(['FlowCreated'], 5, long), 'reached');
    const wait = passedBy(['FlowCreated'], 6, long);
    node.publish(5, 6);
    node.publish(6, 6);
    assert.equal(await wait, 'reached');
  });

  it('ends a wait with timeout after the requested time', async () => {
    node.publish(5, 5);
    await start();
    assert.equal(await passedBy(['FlowCreated'], 6, 20), 'timeout');
    assert.equal(await passedByNamed('projects', 6, 20), 'timeout');
  });

  it('skips a projection that is not live in a wait by event type, but waits for it when it is named', async () => {
    node.publish(5, 5, { live: false });
    await start();
    assert.equal(await passedBy(['FlowCreated'], 6, long), 'reached');
    assert.equal(await passedByNamed('flows', 6, 20), 'timeout');
  });

  it('skips a projection that the projecting node does not know, but waits for it when it is named', async () => {
    node.publish(5, 5);
    node.published = { ...(node.published as PublishedPositions), projections: [] };
    await start();
    assert.equal(await passedBy(['FlowCreated'], 6, long), 'reached');
    assert.equal(await passedByNamed('flows', 6, 20), 'timeout');
  });

  it('polls immediately when a wait begins, and never twice at the same time', async () => {
    node.publish(5, 5);
    await start({ idle: long });
    const polls = node.polls;
    node.publish(6, 6);
    const waits = Array.from({ length: 50 }, () => passedBy(['FlowCreated'], 6, long));
    assert.deepEqual(new Set(await Promise.all(waits)), new Set(['reached']));
    assert.ok(node.polls > polls);
    assert.equal(node.maxAtOnce, 1);
  });

  it('polls on while it asks which node runs the projections, and asks once at a time', async () => {
    node.publish(5, 5);
    const { promise: gate, resolve: answer } = Promise.withResolvers<string>();
    let asked = 0;
    const projections = await start({}, () => {
      asked += 1;
      return gate;
    });
    node.publish(6, 6);
    assert.equal(await passedBy(['FlowCreated'], 6, long), 'reached');
    assert.equal(asked, 1);
    answer('node-a');
    await eventually(() => projections.following().detail === 'live on node-a, token 1', 'the node is named');
  });

  it('ends waits when the projecting node publishes nothing any more', async () => {
    node.publish(5, 5);
    const projections = await start({ silence: 200 });
    assert.equal(await passedBy(['FlowCreated'], 6, long), 'reached');
    assert.match(projections.following().detail, /no sign of life \(last on node-a, token 1\)/);
    const isLive = (detail: string) => () => {
      node.publish(6, 6, { token: 2 });
      return projections.following().live && projections.following().detail === detail;
    };
    await eventually(isLive('live token 2'), 'another node has taken over');
    holders.set(2, 'node-b');
    await eventually(isLive('live on node-b, token 2'), 'its name is known');
  });

  it('is not live on positions that were published before its first poll', async () => {
    node.publish(5, 5);
    const projections = await start();
    assert.equal(projections.following().live, false);
    node.publish(5, 5);
    await eventually(() => projections.following().live, 'the projections are live');
    node.publish(5, 5, { ready: false });
    await eventually(() => projections.following().detail === 'catching up on node-a, token 1', 'the node catches up');
    assert.equal(projections.following().live, false);
  });

  it('reports no projection as long as no node has ever run them', async () => {
    const projections = await start();
    assert.deepEqual(projections.following(), { live: false, detail: 'no node has run them yet' });
    assert.deepEqual(projections.status(), []);
    assert.equal(await passedBy(['FlowCreated'], 1, long), 'reached');
    assert.equal(await passedByNamed('flows', 1, 20), 'timeout');
  });

  it('notifies listeners of changed statuses but not of new positions, and reports the newest positions', async () => {
    node.publish(5, 5);
    node.statuses = [statusOf('flows', { ready: false }), statusOf('projects')];
    const projections = await start();
    const reported: Array<ReadonlyArray<ProjectionStatus>> = [];
    projections.onStatus((statuses) => reported.push(statuses));
    node.statuses = [statusOf('flows', { ready: false, position: 6 }), statusOf('projects')];
    node.publish(7, 8, { statusChanges: 1 });
    await eventually(() => projections.status()[0]?.position === 7, 'the positions are read');
    assert.equal(reported.length, 0);
    node.statuses = [statusOf('flows', { position: 6 }), statusOf('projects')];
    node.publish(7, 8, { statusChanges: 2 });
    await eventually(() => reported.length === 1, 'the change is reported');
    assert.deepEqual(
      reported[0]?.map(({ ready, position }) => [ready, position]),
      [
        [true, 7],
        [true, 8],
      ],
    );
  });

  it('keeps the last status and warns once while the read store is unavailable, and recovers by itself', async () => {
    node.publish(5, 5);
    node.statuses = [statusOf('flows')];
    const projections = await start();
    node.down = true;
    await eventually(() => !projections.following().live && warnings > 0, 'the failure is noticed');
    assert.equal(projections.following().detail, 'the read store does not answer');
    assert.equal(projections.status().length, 1);
    assert.equal(await passedBy(['FlowCreated'], 6, 20), 'timeout');
    const wait = passedBy(['FlowCreated'], 6, long);
    node.publish(6, 6);
    node.down = false;
    assert.equal(await wait, 'reached');
    await eventually(() => projections.following().live, 'the projections are live');
    assert.equal(warnings, 1);
  });

  it('stops polling when it is closed', async () => {
    node.publish(5, 5);
    const projections = await start({ idle: 5 });
    await projections.close();
    const { polls } = node;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(node.polls, polls);
  });
});
