import assert from 'node:assert/strict';
import { newEvent } from '#domain/shared/event.ts';
import { diffFlowVersions } from '#queries/flow-version/diff-flow-versions.ts';
import { diffTemplateVersions } from '#queries/template-version/diff-template-versions.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { begunFlow, flowCreated, versionOf } from '#test/support/events/flow-events.ts';
import { templateCreated, templateVersionCreated, templateVersionOf } from '#test/support/events/template-events.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { givenLog } from '#test/support/harness/query-harness.ts';
import { field, payload, payloadFlow } from '#test/support/inputs/template-payload.ts';

/** Compares two schemas as versions of one flow. */
async function diff(before: unknown, after: unknown) {
  const versions = [before, after].map((flowSchema, index) =>
    newEvent('FlowVersionCreated', {
      ...{ id: versionOf(ids.flow, index + 1), flowId: ids.flow, version: index + 1, tag: 'v' },
      flowSchema,
    }),
  );
  const log = givenLog({ [`flow-${ids.flow}`]: [flowCreated(), ...versions] });
  const input = { versionId: versionOf(ids.flow, 1), otherVersionId: versionOf(ids.flow, 2) };
  return (await log.ask(diffFlowVersions, input)).body as {
    readonly patch: ReadonlyArray<JsonObject>;
    readonly summary: string;
  };
}

describe('diff_flow_versions', () => {
  it('names added, changed and removed nodes of a graph', async () => {
    const before = { start: 'greet', nodes: { greet: { say: 'hi' }, ask: { say: 'what?' }, bye: {} } };
    const after = { start: 'ask', nodes: { greet: { say: 'hello' }, ask: { say: 'what?' }, thank: {} } };
    const { patch, summary } = await diff(before, after);
    assert.equal(summary, 'Nodes added: thank. Nodes changed: greet. Nodes removed: bye. Also changed: start.');
    assert.deepEqual(patch.map(({ op, path }) => `${op} ${path}`).toSorted(), [
      'add /nodes/thank',
      'remove /nodes/bye',
      'replace /nodes/greet/say',
      'replace /start',
    ]);
  });

  it('matches the nodes of a list by their ids', async () => {
    const [one, two] = [{ id: 'one', say: 1 }, { id: 'two' }];
    assert.equal((await diff({ nodes: [one, two] }, { nodes: [two] })).summary, 'Nodes removed: one.');
    assert.equal(
      (await diff({ nodes: [one, two] }, { nodes: [two, one] })).summary,
      'Only the order of parts changed.',
    );
    const changed = await diff({ nodes: [one, two] }, { nodes: { one: { id: 'one', say: 2 }, two } });
    assert.equal(changed.summary, 'Nodes changed: one.');
  });

  it('names the changed members of a schema that is not a graph', async () => {
    assert.equal((await diff({ say: 'a', next: 1 }, { say: 'b', next: 1 })).summary, 'Members changed: say.');
    assert.equal((await diff(null, { say: 'b' })).summary, 'The whole schema was replaced.');
  });

  it('returns an empty patch for equal versions', async () => {
    const schema = { nodes: { greet: { say: 'hi' } } };
    assert.deepEqual(await diff(schema, structuredClone(schema)), { patch: [], summary: 'The versions are equal.' });
  });

  it('refuses a comparison with an unknown version or another tenant’s version', async () => {
    const log = givenLog({ [`flow-${ids.flow}`]: begunFlow() });
    const known = versionOf(ids.flow, 1);
    const unknown = versionOf(ids.flow, 9);
    for (const [versionId, otherVersionId] of [
      [known, unknown],
      [unknown, known],
    ] as const) {
      const { refusal } = await log.ask(diffFlowVersions, { versionId, otherVersionId });
      assert.equal(refusal, 'flow-version-not-found');
    }
    const stranger = callerOf('project', tenants.stranger);
    const input = { versionId: known, otherVersionId: known };
    assert.equal((await log.ask(diffFlowVersions, input, stranger)).refusal, 'flow-version-not-found');
  });
});

describe('diff_template_versions', () => {
  it('names added, changed and removed fields and flows', async () => {
    const version = (number: number, contents: object) => {
      const { type, data } = templateVersionCreated(number);
      return { type, data: { ...data, ...contents } };
    };
    const stream = [
      templateCreated(),
      version(1, { payload: payload(), fieldsSchema: [field({ key: 'name' }), field({ key: 'old' })] }),
      version(2, {
        payload: { ...payload(), flows: [payloadFlow(), payloadFlow({ key: 'extra' })] },
        fieldsSchema: [field({ key: 'name', label: 'Your name' }), field({ key: 'new' })],
      }),
    ];
    const log = givenLog({ [`template-${ids.template}`]: stream });
    const input = { versionId: templateVersionOf(ids.template, 1), otherVersionId: templateVersionOf(ids.template, 2) };
    const { summary } = (await log.ask(diffTemplateVersions, input)).body as { readonly summary: string };
    assert.equal(summary, 'Fields added: new. Fields changed: name. Fields removed: old. Flows added: extra.');
  });
});
