import assert from 'node:assert/strict';
import type { AnyQuery } from '#application/queries/query.ts';
import type { AnyProjection } from '#projection-engine/projection.ts';
import { listAgentProfiles } from '#queries/agent-profile/list-agent-profiles.ts';
import { getFlowVersion } from '#queries/flow-version/get-flow-version.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { queries } from '#queries/table.ts';
import type { DocumentValue, PageRequest, ReadStore, Where } from '#read-store/read-store.ts';
import { defaultMoved, profileCreated } from '#test/support/events/agent-profile-events.ts';
import {
  begunFlow,
  profileAssigned,
  versionActivated,
  versionCreated,
  versionOf,
} from '#test/support/events/flow-events.ts';
import { projectCreated } from '#test/support/events/tenant-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { queriesOn } from '#test/support/harness/query-harness.ts';
import { type ExampleEvent, recorded } from '#test/support/harness/recorded-events.ts';

type Log = ReadonlyArray<readonly [stream: string, event: ExampleEvent]>;

const flowStream = `flow-${ids.flow}`;
const profileStream = `agentProfiles-${ids.project}`;
const inFlow = (...events: ReadonlyArray<ExampleEvent>): Log => events.map((event) => [flowStream, event]);
const inProfiles = (...events: ReadonlyArray<ExampleEvent>): Log => events.map((event) => [profileStream, event]);

/** Read models in the middle of a commit: documents named here are as the last event left them, all others as before. */
class HalfCommitted extends ReadModel {
  readonly #written: ReadonlySet<string>;
  readonly #before: ReadStore;

  constructor(log: AppendableEventStore['log'], written: ReadonlyArray<string>) {
    super(log);
    this.#written = new Set(written);
    this.#before = new ReadModel(log.slice(0, -1));
  }

  override async list<Value extends DocumentValue>(collection: string, where: Where, page: PageRequest) {
    const after = await super.list<Value>(collection, where, page);
    const before = await this.#before.list<Value>(collection, where, page);
    const documents = before.documents.map((old, index) => (this.#written.has(old.id) ? after.documents[index] : old));
    return { documents: documents.filter((document) => document !== undefined), next: null };
  }
}

/** Asks a query after a log, of whose last event only these documents are stored. */
async function ask(query: AnyQuery, input: Readonly<Record<string, string>>, log: Log, written: ReadonlyArray<string>) {
  const store = new AppendableEventStore();
  const streams = Map.groupBy(
    [[`project-${ids.project}`, projectCreated(ids.project, ids.partner)], ...log] as Log,
    ([stream]) => stream,
  );
  const byStream = new Map(
    [...streams].map(([stream, events]) => [
      stream,
      [
        ...recorded(
          stream,
          events.map(([, event]) => event),
        ),
      ],
    ]),
  );
  for (const stream of [`project-${ids.project}`, ...log.map(([name]) => name)]) {
    const event = byStream.get(stream)?.shift();
    if (event !== undefined) store.log.push({ ...event, position: store.log.length + 1 });
  }
  return (await queriesOn({ store, documents: new HalfCommitted(store.log, written) }).ask(query, input)).body;
}

describe('a list in the middle of a commit', () => {
  const versions = inFlow(...begunFlow(), versionCreated(2), versionActivated(2, 1));
  const activeAfter = async (log: Log, written: ReadonlyArray<string>) => {
    const body = await ask(listFlowVersions, { flowId: ids.flow }, log, written);
    return (body as { versions: ReadonlyArray<{ id: string; isActive: boolean }> }).versions
      .filter(({ isActive }) => isActive)
      .map(({ id }) => id);
  };

  it('shows a newer version as the only active one', async () => {
    const [one, two] = [versionOf(ids.flow, 1), versionOf(ids.flow, 2)];
    assert.deepEqual(await activeAfter(versions, []), [one]);
    assert.deepEqual(await activeAfter(versions, [two]), [two]);
    assert.deepEqual(await activeAfter(versions, [two, one]), [two]);
  });

  it('shows an older version that is activated again as the only active one', async () => {
    const one = versionOf(ids.flow, 1);
    assert.deepEqual(await activeAfter([...versions, ...inFlow(versionActivated(1, 2))], [one]), [one]);
  });

  const profiles = inProfiles(
    profileCreated(),
    profileCreated({ id: ids.otherProfile }),
    defaultMoved(ids.profile, null),
  );
  const profilesAfter = async (log: Log, written: ReadonlyArray<string>) => {
    const body = await ask(listAgentProfiles, { projectId: ids.project }, log, written);
    return (
      body as { agentProfiles: ReadonlyArray<{ isDefault: boolean; flowIds: ReadonlyArray<string> }> }
    ).agentProfiles.map(({ isDefault, flowIds }) => [isDefault, flowIds]);
  };

  it('shows one default agent profile, the new one', async () => {
    const moved = [...profiles, ...inProfiles(defaultMoved(ids.otherProfile, ids.profile))];
    assert.deepEqual(await profilesAfter(moved, [ids.otherProfile]), [
      [false, []],
      [true, []],
    ]);
    const movedBack = [...moved, ...inProfiles(defaultMoved(ids.profile, ids.otherProfile))];
    assert.deepEqual(await profilesAfter(movedBack, [ids.profile]), [
      [true, []],
      [false, []],
    ]);
  });

  it('shows a flow under its new agent profile only, and leaves the default as it is', async () => {
    const flow = [...profiles, ...inFlow(...begunFlow({ agentProfileId: ids.profile }))];
    const moved = [...flow, ...inFlow(profileAssigned(ids.otherProfile, ids.profile))];
    assert.deepEqual(await profilesAfter(moved, [ids.otherProfile]), [
      [true, []],
      [false, [ids.flow]],
    ]);
    const movedBack = [...moved, ...inFlow(profileAssigned(ids.profile, ids.otherProfile))];
    assert.deepEqual(await profilesAfter(movedBack, [ids.profile]), [
      [true, [ids.flow]],
      [false, []],
    ]);
  });
});

describe('an answer with the ETag of another document', () => {
  it('reads the ETag first and then the version, so that the ETag is never newer', async () => {
    const store = new AppendableEventStore();
    store.log.push(...recorded(flowStream, begunFlow()));
    const reads: string[] = [];
    const noting = new (class extends ReadModel {
      override get<Value extends DocumentValue>(collection: string, id: string) {
        reads.push(collection);
        return super.get<Value>(collection, id);
      }
    })(store.log);
    await queriesOn({ store, documents: noting }).ask(getFlowVersion, { versionId: versionOf(ids.flow, 1) });
    assert.deepEqual(reads, ['flow-versions', 'flows', 'flow-versions']);
  });

  it('has it from a read model that is stored after the others', () => {
    const wholes = queries.flatMap(({ reads }) => ('wholes' in reads ? [reads.wholes as AnyProjection] : []));
    assert.deepEqual(
      wholes.map(({ name, holdsETags }) => [name, holdsETags]),
      [
        ['flows', true],
        ['templates', true],
      ],
    );
  });
});
