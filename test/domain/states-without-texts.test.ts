import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { flow } from '#domain/flow/flow.ts';
import { phoneNumber } from '#domain/phone-number/phone-number.ts';
import { project } from '#domain/project/project.ts';
import { store } from '#domain/store/store.ts';
import { template } from '#domain/template/template.ts';
import { profileCreated, profileReplaced } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, versionCreated, versionOf } from '#test/support/events/flow-events.ts';
import { templateCreated, templateVersionCreated } from '#test/support/events/template-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { type ExampleEvent, foldEvents } from '#test/support/harness/recorded-events.ts';

const text = 'a text of a client';
const versionId = versionOf(ids.flow, 1);
const contents = { name: text, supportedInputLanguages: [text], reasoningMode: text, outputVoiceId: text };

const cases: ReadonlyArray<readonly [string, Parameters<typeof foldEvents>[0], ReadonlyArray<ExampleEvent>]> = [
  [
    'flow',
    flow as never,
    [
      ...begunFlow({ name: text, description: text }),
      { ...versionCreated(2), data: { ...versionCreated(2).data, tag: text, flowSchema: { say: text } } },
      { type: 'FlowRenamed', data: { id: ids.flow, name: text } },
      { type: 'FlowDescribed', data: { id: ids.flow, description: text } },
      { type: 'FlowVersionTagged', data: { id: versionId, flowId: ids.flow, tag: text } },
    ],
  ],
  [
    'template',
    template as never,
    [
      templateCreated({ name: text, description: text }),
      templateVersionCreated(1, { tag: text, payload: { flows: [], [text]: text } as never }),
      { type: 'TemplateRenamed', data: { id: ids.template, name: text } },
      { type: 'TemplateDescribed', data: { id: ids.template, description: text } },
    ],
  ],
  [
    'agent profiles',
    projectAgentProfiles as never,
    [
      profileCreated({ ...contents, flowIds: [text] }),
      profileReplaced({ ...contents, flowIds: [text] }),
      { type: 'AgentProfileRevised', data: { id: ids.profile, ...contents } },
    ],
  ],
  [
    'phone number',
    phoneNumber as never,
    [
      {
        type: 'PhoneNumberCreated',
        data: {
          id: ids.number,
          projectId: ids.project,
          type: 'external',
          name: text,
          number: text,
          status: 'enabled',
          flowId: null,
          externalPhoneFields: { [text]: text },
        },
      },
      { type: 'PhoneNumberRenamed', data: { id: ids.number, name: text } },
    ],
  ],
  [
    'project',
    project as never,
    [
      { type: 'ProjectCreated', data: { id: ids.project, organizationId: ids.partner, name: text } },
      { type: 'ProjectRenamed', data: { name: text } },
    ],
  ],
  [
    'store',
    store as never,
    [
      { type: 'StoreCreated', data: { id: ids.store, projectId: ids.project, name: text, description: text } },
      { type: 'StoreDescribed', data: { id: ids.store, name: `${text}.`, description: text } },
    ],
  ],
];

describe('entity states', () => {
  for (const [what, entity, events] of cases) {
    it(`keeps no text of a client in the state of a ${what}`, () => {
      const { state } = foldEvents(entity, events);
      const held = inspect(state, { depth: null, maxArrayLength: null, maxStringLength: null });
      assert.ok(held.includes('revision') || held.includes('Revision'), held);
      assert.ok(!held.includes(text), held);
    });
  }
});
