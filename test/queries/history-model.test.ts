import assert from 'node:assert/strict';
import fc from 'fast-check';
import patches, { type Operation } from 'fast-json-patch';
import type { AnyCommand } from '#application/commands/command.ts';
import { StreamHistory } from '#application/history/stream-history.ts';
import type { AnyQuery } from '#application/queries/query.ts';
import { changeFlowTier } from '#commands/flow/change-flow-tier.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { activateFlowVersion } from '#commands/flow-version/activate-flow-version.ts';
import { createFlowVersion } from '#commands/flow-version/create-flow-version.ts';
import { deleteFlowVersion } from '#commands/flow-version/delete-flow-version.ts';
import { restoreFlowVersion } from '#commands/flow-version/restore-flow-version.ts';
import { tagFlowVersion } from '#commands/flow-version/tag-flow-version.ts';
import { archiveTemplate } from '#commands/template/archive-template.ts';
import { createTemplate } from '#commands/template/create-template.ts';
import { updateTemplate } from '#commands/template/update-template.ts';
import { createTemplateVersion } from '#commands/template-version/create-template-version.ts';
import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import { restoreTemplateVersion } from '#commands/template-version/restore-template-version.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { getFlow } from '#queries/flow/get-flow.ts';
import { diffFlowVersions } from '#queries/flow-version/diff-flow-versions.ts';
import { getFlowVersion } from '#queries/flow-version/get-flow-version.ts';
import { listFlowVersions } from '#queries/flow-version/list-flow-versions.ts';
import { getFlowHistory, getTemplateHistory } from '#queries/histories.ts';
import { getTemplate } from '#queries/template/get-template.ts';
import { getTemplateVersion } from '#queries/template-version/get-template-version.ts';
import { listTemplateVersions } from '#queries/template-version/list-template-versions.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { ReadModel } from '#test/support/fakes/in-memory-read-store.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { queriesOn } from '#test/support/harness/query-harness.ts';
import { seedProjects } from '#test/support/harness/seed.ts';
import { patchableJson } from '#test/support/inputs/patchable-json.ts';
import { payload } from '#test/support/inputs/template-payload.ts';
import { itInRounds } from '#test/support/run/long.ts';

/** A command of a random story: its number, the version that it names, and its input. */
interface Step {
  readonly command: number;
  readonly version: number;
  readonly text: string;
  readonly value: Json;
}

const steps = fc.array(
  fc.record({
    command: fc.nat(99),
    version: fc.nat(99),
    text: fc.string({ minLength: 1, maxLength: 12 }),
    value: patchableJson(2),
  }),
  { minLength: 1, maxLength: 25 },
);

/** The commands on one kind of resource and its versions, and their reads. */
interface Kind {
  readonly create: (service: Service) => Promise<string>;
  /** The request of each command. */
  readonly commands: ReadonlyArray<(step: Step, id: string, versionId: string) => Request>;
  readonly parameter: string;
  readonly category: string;
  readonly one: AnyQuery;
  readonly version: AnyQuery;
  readonly versions: AnyQuery;
  readonly history: AnyQuery;
}

interface Request {
  readonly command: AnyCommand;
  readonly parameters: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
}

const partner = callerOf('partner', tenants.project);

const flows: Kind = {
  create: async (service) => {
    const body = { name: 'Hours', flowSchema: { nodes: {} } };
    return String((await service.ok(createFlow, { projectId: ids.project }, { body })).body.id);
  },
  commands: [
    ({ text }, flowId) => ({ command: updateFlow, parameters: { flowId }, body: { name: text } }),
    ({ text }, flowId) => ({ command: updateFlow, parameters: { flowId }, body: { description: text } }),
    ({ version }, flowId) => ({
      command: changeFlowTier,
      parameters: { flowId },
      body: { tier: version % 2 ? 'pro' : 'standard' },
    }),
    ({ value }, flowId) => ({ command: createFlowVersion, parameters: { flowId }, body: { flowSchema: value } }),
    (_, __, versionId) => ({ command: activateFlowVersion, parameters: { versionId } }),
    ({ text }, __, versionId) => ({ command: tagFlowVersion, parameters: { versionId }, body: { tag: text } }),
    (_, __, versionId) => ({ command: deleteFlowVersion, parameters: { versionId } }),
    (_, __, versionId) => ({ command: restoreFlowVersion, parameters: { versionId } }),
    ({ version }, flowId, versionId) =>
      version > 90
        ? { command: deleteFlow, parameters: { flowId } }
        : { command: activateFlowVersion, parameters: { versionId } },
  ],
  parameter: 'flowId',
  category: 'flow',
  one: getFlow,
  version: getFlowVersion,
  versions: listFlowVersions,
  history: getFlowHistory,
};

const templates: Kind = {
  create: async (service) =>
    String((await service.ok(createTemplate, {}, { caller: partner, body: { name: 'Practice' } })).body.id),
  commands: [
    ({ text }, templateId) => ({ command: updateTemplate, parameters: { templateId }, body: { name: text } }),
    ({ text }, templateId) => ({ command: updateTemplate, parameters: { templateId }, body: { description: text } }),
    ({ text }, templateId) => ({
      command: createTemplateVersion,
      parameters: { templateId },
      body: { payload: payload(), tag: text },
    }),
    (_, __, versionId) => ({ command: publishTemplateVersion, parameters: { versionId } }),
    (_, __, versionId) => ({ command: restoreTemplateVersion, parameters: { versionId } }),
    ({ version }, templateId) =>
      version > 80
        ? { command: archiveTemplate, parameters: { templateId } }
        : { command: updateTemplate, parameters: { templateId }, body: { name: `${version}` } },
  ],
  parameter: 'templateId',
  category: 'template',
  one: getTemplate,
  version: getTemplateVersion,
  versions: listTemplateVersions,
  history: getTemplateHistory,
};

/** Carries out a story, which may include refusals. @returns the resource, and all versions that ever existed */
async function play(kind: Kind, story: ReadonlyArray<Step>) {
  let time = Date.UTC(2026, 0, 1);
  // Some events have the same time.
  const now = () => {
    time += 250;
    return new Date(time - (time % 1000));
  };
  const service = new Service(undefined, { now });
  await seedProjects(service.store);
  const id = await kind.create(service);
  const stream = () => service.store.streamOf(`${kind.category}-${id}`);
  const versionIds = () => [
    ...new Set(stream().flatMap(({ type, data }) => (type.endsWith('VersionCreated') ? [String(data.id)] : []))),
  ];
  for (const step of story) {
    const known = versionIds();
    const request = kind.commands[step.command % kind.commands.length]?.(
      step,
      id,
      known[step.version % known.length] ?? id,
    );
    if (request === undefined) continue;
    const { command, parameters, body } = request;
    await service.send(command, parameters, {
      caller: kind === templates ? partner : callerOf('admin'),
      ...(body && { body }),
    });
  }
  return { service, id, stream: stream(), versionIds: versionIds() };
}

type Story = Awaited<ReturnType<typeof play>>;

/** Returns the answer to a query: its body, or the code of its refusal. */
async function answerOf(queries: ReturnType<typeof queriesOn>, query: AnyQuery, input: JsonObject): Promise<unknown> {
  const answer = await queries.ask(query, input);
  try {
    return answer.body;
  } catch {
    return answer.refusal;
  }
}

/** Reads all answers about a resource and its versions. */
async function allOf(kind: Kind, { id, versionIds }: Story, queries: ReturnType<typeof queriesOn>, asOf?: string) {
  const more = asOf === undefined ? {} : { asOf };
  return [
    await answerOf(queries, kind.one, { [kind.parameter]: id, ...more }),
    await answerOf(queries, kind.versions, { [kind.parameter]: id, ...more }),
    ...(await Promise.all(versionIds.map((versionId) => answerOf(queries, kind.version, { versionId, ...more })))),
  ];
}

for (const [name, kind] of Object.entries({ flows, templates })) {
  describe(`the past of ${name} and their versions`, () => {
    itInRounds(
      'equals what the read models showed at every revision and time',
      { few: 15, many: 300 },
      async (rounds) => {
        const property = fc.asyncProperty(steps, async (story) => {
          const played = await play(kind, story);
          const { store } = played.service;
          const queries = queriesOn({ store, history: new StreamHistory(store) });
          for (const [index, event] of played.stream.entries()) {
            const then = queriesOn({ store, documents: new ReadModel(upTo(store.log, event)) });
            const expected = await allOf(kind, played, then);
            assert.deepEqual(await allOf(kind, played, queries, String(event.revision)), expected);
            // Of events at the same time the last one counts.
            const { time } = event.metadata;
            if (played.stream[index + 1]?.metadata.time !== time) {
              assert.deepEqual(await allOf(kind, played, queries, time), expected);
            }
          }
        });
        await fc.assert(property, { numRuns: rounds });
      },
    );

    itInRounds('follows from the patches of the history alone', { few: 15, many: 300 }, async (rounds) => {
      const property = fc.asyncProperty(steps, async (story) => {
        const played = await play(kind, story);
        const queries = queriesOn({ store: played.service.store });
        const { body } = await queries.ask(kind.history, { [kind.parameter]: played.id });
        const { events } = body as unknown as {
          readonly events: ReadonlyArray<{
            revision: number;
            type: string;
            resource: { id: string };
            changes: Operation[];
          }>;
        };
        let record: unknown = null;
        for (const { revision, type, resource, changes } of events) {
          const was = await answerOf(queries, kind.one, { [kind.parameter]: played.id, asOf: String(revision) });
          // The first publication publishes the template too: its patch is the version's.
          if (type === 'TemplateVersionPublished') record = was;
          if (resource.id !== played.id) continue;
          const moved = changes.map((change) => ({ ...change, path: `/value${change.path}` }));
          record = patches.applyPatch({ value: structuredClone(record) }, moved).newDocument.value;
          assert.deepEqual(record, typeof was === 'string' ? null : was);
        }
      });
      await fc.assert(property, { numRuns: rounds });
    });
  });
}

describe('restored and compared flow versions', () => {
  itInRounds(
    'are inverse: a restored version equals its original, and a diff leads from one to the other',
    { few: 20, many: 300 },
    async (rounds) => {
      const schema = patchableJson(3);
      const property = fc.asyncProperty(schema, schema, async (one, two) => {
        const service = new Service();
        await seedProjects(service.store);
        const body = { name: 'Hours', flowSchema: one };
        const { id } = (await service.ok(createFlow, { projectId: ids.project }, { body })).body;
        const flowId = String(id);
        const other = (await service.ok(createFlowVersion, { flowId }, { body: { flowSchema: two } })).body;
        const first = String(service.store.log.find(({ type }) => type === 'FlowVersionCreated')?.data.id);
        const restored = (await service.ok(restoreFlowVersion, { versionId: first })).body;
        const queries = queriesOn({ store: service.store });
        const diff = async (versionId: Json, otherVersionId: Json) => {
          const input = { versionId: versionId as string, otherVersionId: otherVersionId as string };
          return ((await queries.ask(diffFlowVersions, input)).body as unknown as { patch: Operation[] }).patch;
        };
        assert.deepEqual(restored.flowSchema, one);
        assert.deepEqual(await diff(first, restored.id as Json), []);
        for (const [from, to, before, after] of [
          [first, other.id, one, two],
          [other.id, restored.id, two, one],
        ] as const) {
          const moved = (await diff(from as Json, to as Json)).map((change) => ({
            ...change,
            path: `/value${change.path}`,
          }));
          assert.deepEqual(patches.applyPatch({ value: before }, moved, true, false, false).newDocument.value, after);
        }
      });
      await fc.assert(property, { numRuns: rounds });
    },
  );
});

/** Returns the log up to an event. */
function upTo(log: ReadonlyArray<RecordedEvent>, { position }: RecordedEvent): ReadonlyArray<RecordedEvent> {
  return log.filter((event) => event.position <= position);
}
