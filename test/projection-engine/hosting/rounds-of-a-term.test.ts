import assert from 'node:assert/strict';
import { NodeLeases } from '#leases/node-leases.ts';
import type { EndedCommand } from '#mongodb/command-monitor.ts';
import { MongoDbAvailability } from '#mongodb/mongodb-availability.ts';
import { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { runProjectionsUnderLease } from '#projection-engine/hosting/leased-projections.ts';
import { openMongoDbReadStoreWriter } from '#read-store/mongodb/mongodb-read-store-writer.ts';
import type { ProjectionPositions } from '#read-store/published-positions.ts';
import { openMongoDbRecordStore } from '#records/mongodb/mongodb-record-store.ts';
import { clock } from '#shared/clock.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { describeOnOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { TcpProxy } from '#test/support/service/tcp-proxy.ts';
import { flowsAndVersions, history } from './flows-and-versions.ts';

/** The delay of each answer. It is longer than what the engine and the machine need for a command. */
const lateMs = 200;
/** Commands that wait for one another, from the beginning of a term until its first commit is published. */
const maxRounds = 13;

interface Command {
  readonly name: string;
  readonly begunAt: number;
  readonly endedAt: number;
}

describeOnOwnMongoDb('a term of the projections on a slow MongoDB', (mongoDb) => {
  it('publishes its first commit after few commands that wait for one another', async () => {
    await using opened = new AsyncDisposableStack();
    const events = new InMemoryEventStore();
    const leases = new InMemoryLeaseStore();
    const proxy = new TcpProxy(mongoDb.port);
    await proxy.listen();
    opened.defer(() => proxy.close());
    const url = proxy.through(mongoDb.newUrl());
    const commands: Command[] = [];
    const onCommand = ({ command, milliseconds }: EndedCommand) =>
      commands.push({ name: command, begunAt: clock.now() - milliseconds, endedAt: clock.now() });
    const availability = new MongoDbAvailability({ url });
    opened.defer(() => availability.close());
    const connection = new MongoDbConnection({ url, availability, onCommand });
    opened.defer(() => connection.close());
    const records = openMongoDbRecordStore({ connection });
    // Each event changes a document of every projection.
    const projections = flowsAndVersions.flatMap((projection) =>
      ['one', 'two', 'three'].map((copy) => ({ ...projection, name: `${projection.name}-${copy}` })),
    );
    let hasPublished = false;
    const noteEnd = async ({ projections: served }: ProjectionPositions) => {
      const end = await events.lastPosition();
      hasPublished = served.every(({ position }) => position >= end);
    };
    /** Holds a term until the end of the log is published. @returns what to count */
    const holdOnce = async () => {
      const ending = new AbortController();
      hasPublished = false;
      const ended = runProjectionsUnderLease({
        ...{ projections, events, tail: events.tail, holder: 'node', signal: ending.signal },
        leases: new NodeLeases({ store: leases }),
        openWriter: (fence, signal) => {
          const writer = openMongoDbReadStoreWriter({ connection, records, fence, signal });
          const save = writer.savePositions.bind(writer);
          const savePositions = async (positions: ProjectionPositions) => {
            await save(positions);
            await noteEnd(positions);
          };
          return Object.assign(writer, { savePositions });
        },
        log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      });
      await eventually(() => hasPublished, 'the end of the log is published', 30_000);
      const made = commands.splice(0);
      ending.abort();
      await ended;
      commands.length = 0;
      return made;
    };
    // A removal by an index waits for what comes before it, so it is left out.
    const puts = (from: number) => history(40, from).filter(({ type }) => type !== 'FlowDeleted');
    events.append(...puts(0));
    await holdOnce();
    events.append(...puts(40));
    proxy.delay(lateMs);
    const rounds = chainOf(await holdOnce());
    const shown = rounds.map(({ name }) => name).join(', ');
    assert.ok(rounds.length <= maxRounds, `${rounds.length} rounds: ${shown}`);
  }).timeout(60_000);
});

/** A chain as long as possible: each of its commands began after the end of the one before it. */
function chainOf(commands: ReadonlyArray<Command>): ReadonlyArray<Command> {
  const chain: Command[] = [];
  for (const command of commands.toSorted((one, other) => one.endedAt - other.endedAt)) {
    // The driver gives whole milliseconds.
    if (command.begunAt >= (chain.at(-1)?.endedAt ?? 0) - 2) chain.push(command);
  }
  return chain;
}
