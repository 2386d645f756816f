import assert from 'node:assert/strict';
import { loadPresentResources } from '#commands/instance/shared/present-resources.ts';
import { instance } from '#domain/instance/instance.ts';
import { profileCreated, profileDeleted, profileRevised } from '#test/support/events/agent-profile-events.ts';
import { begunFlow, flowDeleted, profileAssigned, versionOf } from '#test/support/events/flow-events.ts';
import { activeInstance, instanceCreated, targetOf } from '#test/support/events/instance-events.ts';
import { storeCreated, storeDeleted } from '#test/support/events/store-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { type ExampleEvent, stateOf } from '#test/support/harness/recorded-events.ts';
import { givenStreams } from '#test/support/harness/related-streams.ts';

const { flows, agentProfile, stores } = targetOf(1).resources;
const [welcome, bye] = flows.map(({ id }) => id) as [string, string];
const [faq] = stores.map(({ id }) => id) as [string];
const profileId = agentProfile?.id ?? '';
const active = stateOf(instance, ...activeInstance());
const contents = {
  name: 'Desk',
  supportedInputLanguages: ['en'],
  reasoningMode: 'fast',
  outputVoiceId: '',
} as const;

/** Streams with all resources of the tests' instance; `change` replaces the histories of some. */
function streamsWith(change: Readonly<Record<string, ReadonlyArray<ExampleEvent>>> = {}) {
  const all: Record<string, ReadonlyArray<ExampleEvent>> = {
    [`flow-${welcome}`]: begunFlow({ id: welcome, name: 'Welcome' }),
    [`flow-${bye}`]: begunFlow({ id: bye, name: 'Bye' }),
    [`store-${faq}`]: [storeCreated({ id: faq, name: 'Questions' })],
    [`agentProfiles-${ids.project}`]: [profileCreated({ id: profileId, ...contents })],
    ...change,
  };
  return givenStreams(Object.fromEntries(Object.entries(all).map(([name, events]) => [name, { events }])));
}

describe('loadPresentResources', () => {
  it('shows all resources of an instance while nobody has changed them', async () => {
    const present = await loadPresentResources(active, streamsWith());
    for (const id of [welcome, bye, faq, profileId]) assert.ok(present.isThere(id), id);
    assert.equal(present.isThere('cnothing0was0ever0here00'), false);
    const seen = present.flow(welcome);
    assert.deepEqual([seen?.isNamed('Welcome'), seen?.isNamed('Bye')], [true, false]);
    assert.deepEqual([seen?.agentProfileId, seen?.activeVersionId], [null, versionOf(welcome, 1)]);
    assert.equal(present.agentProfile?.holds(contents), true);
  });

  it('lacks resources that were deleted or never created', async () => {
    const streams = streamsWith({
      [`flow-${welcome}`]: [...begunFlow({ id: welcome }), flowDeleted(welcome)],
      [`flow-${bye}`]: [],
      [`store-${faq}`]: [storeCreated({ id: faq }), storeDeleted(faq)],
      [`agentProfiles-${ids.project}`]: [profileCreated({ id: profileId }), profileDeleted(profileId)],
    });
    const present = await loadPresentResources(active, streams);
    for (const id of [welcome, bye, faq, profileId]) assert.equal(present.isThere(id), false, id);
    assert.deepEqual([present.flow(welcome), present.flow(bye), present.agentProfile], [null, null, null]);
  });

  it('shows manual changes: a flow’s other agent profile, and other contents of the profile', async () => {
    const present = await loadPresentResources(
      active,
      streamsWith({
        [`flow-${welcome}`]: [...begunFlow({ id: welcome }), profileAssigned(profileId, null, null, welcome)],
        [`agentProfiles-${ids.project}`]: [
          profileCreated({ id: profileId, ...contents }),
          profileRevised({ id: profileId, ...contents, name: 'Ours' }),
        ],
      }),
    );
    assert.equal(present.flow(welcome)?.agentProfileId, profileId);
    assert.equal(present.agentProfile?.holds(contents), false);
    assert.equal(present.agentProfile?.holds({ ...contents, name: 'Ours' }), true);
  });

  it('shows and loads nothing for an instance without provisioned resources', async () => {
    const streams = streamsWith();
    for (const state of [null, stateOf(instance, instanceCreated())]) {
      const present = await loadPresentResources(state, streams);
      assert.deepEqual([present.isThere(welcome), present.agentProfile], [false, null]);
    }
    assert.deepEqual(streams.loaded, []);
  });
});
