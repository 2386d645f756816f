import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { createInstance } from '#commands/instance/create-instance.ts';
import { retryInstance } from '#commands/instance/retry-instance.ts';
import { upgradeInstance } from '#commands/instance/upgrade-instance.ts';
import { instance } from '#domain/instance/instance.ts';
import { project } from '#domain/project/project.ts';
import type { TemplateVersionRecord } from '#domain/template/record.ts';
import {
  activeInstance,
  ended,
  instanceCreated,
  operationFailed,
  wantedVersion,
} from '#test/support/events/instance-events.ts';
import { projectCreated } from '#test/support/events/tenant-events.ts';
import { callerOf, ids, newIds, tenants } from '#test/support/events/tenants.ts';
import { decidedAt, givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';
import { field, payload, payloadFlow } from '#test/support/inputs/template-payload.ts';

/** Two flows with a hundred placeholders of the field "text" each. */
const contents = {
  payload: payload({
    flows: ['one', 'two'].map((key) => payloadFlow({ key, flowSchema: '{{fields.text}}'.repeat(100) })),
  }) as unknown as TemplateVersionRecord['payload'],
  fieldsSchema: [field({ key: 'text' })] as unknown as TemplateVersionRecord['fieldsSchema'],
};
/** The flows have 2 × (100 × 1,000 + 2) bytes when they are filled with this text. */
const text = 'x'.repeat(1_000);
const filledBytes = 2 * (100 * 1_000 + 2);
const present = { isThere: () => true, flow: () => null, agentProfile: null };
const common = {
  caller: callerOf('partner'),
  newIds,
  newSecrets: { apiKey: '', webhookSecret: '' },
  subject: { state: null, tenant: tenants.project },
  time: decidedAt,
};

const place = {
  state: stateOf(project, projectCreated(ids.customerProject, ids.customer)),
  tenant: tenants.customer,
};
const { id: templateVersionId } = wantedVersion().version;

const deciders = {
  create_instance: (maxFilledBytes: number) =>
    createInstance.decide(
      { templateVersionId, projectId: ids.customerProject, name: 'Weber', fieldValues: { text } },
      null,
      { ...common, related: { wanted: wantedVersion(1, contents), project: place }, maxFilledBytes },
    ),
  upgrade_instance: (maxFilledBytes: number) =>
    upgradeInstance.decide(
      { instanceId: ids.instance, targetTemplateVersionId: templateVersionId, newFieldValues: { text } },
      stateOf(instance, ...activeInstance()),
      { ...common, related: { wanted: wantedVersion(2, contents), present }, maxFilledBytes } as never,
    ),
  retry_instance: (maxFilledBytes: number) =>
    retryInstance.decide(
      { instanceId: ids.instance },
      stateOf(instance, instanceCreated({ fieldValues: { text } }), operationFailed(1), ended(1, 'failed')),
      { ...common, related: { wanted: wantedVersion(1, contents), present }, maxFilledBytes } as never,
    ),
};

describe('maxFilledBytes', () => {
  for (const [name, decide] of Object.entries(deciders)) {
    it(`lets ${name} fill schemas up to the limit, and not a byte more`, () => {
      assert.ok(E.isRight(decide(filledBytes)));
      const refused = decide(filledBytes - 1);
      assert.ok(E.isLeft(refused));
      assert.equal(refused.left.code, 'invalid-input');
      const pointer = name === 'upgrade_instance' ? '/newFieldValues/text' : '/fieldValues/text';
      assert.deepEqual(
        refused.left.errors?.map((error) => error.pointer),
        [pointer],
      );
    });
  }

  it('limits filled schemas to 16 MiB by default', () => {
    const fieldValues = { text: 'x'.repeat(100_000) };
    givenHistory()
      .when(
        createInstance,
        { templateVersionId, projectId: ids.customerProject, name: 'Weber', fieldValues },
        { caller: callerOf('partner'), related: { wanted: wantedVersion(1, contents), project: place } },
      )
      .then('invalid-input');
  });
});
