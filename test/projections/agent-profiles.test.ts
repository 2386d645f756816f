import assert from 'node:assert/strict';
import type { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import { type AgentProfileDocument, agentProfiles } from '#projections/agent-profiles.ts';
import {
  defaultMoved,
  profileCreated,
  profileDeleted,
  profileReplaced,
  profileRevised,
} from '#test/support/events/agent-profile-events.ts';
import { begunFlow, flowDeleted, profileAssigned } from '#test/support/events/flow-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const of = (profiles: ReadonlyArray<ExampleEvent>, flow: ReadonlyArray<ExampleEvent> = []) =>
  projectStreams(agentProfiles, { [`agentProfiles-${ids.project}`]: profiles, [`flow-${ids.flow}`]: flow });
const document = (id: string, change: Partial<AgentProfileRecord>, created: number, revision = created) => ({
  [id]: {
    claims: change.isDefault === true ? ids.project : '',
    ...tenants.project,
    revision,
    record: {
      ...profileCreated({ id }).data,
      flowIds: [],
      isDefault: false,
      createdAt: timeOf(created),
      updatedAt: timeOf(revision),
      ...change,
    },
  },
});
const other = profileCreated({ id: ids.otherProfile });

describe('agent profiles projection', () => {
  it('shows a new agent profile without the flows that were only requested', () => {
    assert.deepEqual(of([profileCreated({ flowIds: [ids.flow] })]), document(ids.profile, {}, 0));
  });

  it('shows revised contents, and leaves the flows and the default flag of the agent profile as they are', () => {
    const events = [profileCreated(), defaultMoved(ids.profile, null), profileRevised({ name: 'Night desk' })];
    const [shownDocument] = Object.values(of(events, begunFlow({ agentProfileId: ids.profile })));
    const { record } = shownDocument as AgentProfileDocument;
    assert.deepEqual([record.name, record.isDefault, record.flowIds], ['Night desk', true, [ids.flow]]);
  });

  it('shows replaced contents, and increases the revision of only that agent profile', () => {
    const nightDesk = { name: 'Night desk', supportedInputLanguages: [] };
    const replaced = profileReplaced({ ...nightDesk, flowIds: [ids.flow] });
    assert.deepEqual(of([profileCreated(), other, replaced]), {
      ...document(ids.profile, nightDesk, 0, 2),
      ...document(ids.otherProfile, {}, 1),
    });
  });

  it('shows one default agent profile, and increases the revision of both when the default moves', () => {
    const events = [profileCreated(), other, defaultMoved(ids.profile, null)];
    assert.deepEqual(of(events), {
      ...document(ids.profile, { isDefault: true }, 0, 2),
      ...document(ids.otherProfile, {}, 1),
    });
    assert.deepEqual(of([...events, defaultMoved(ids.otherProfile, ids.profile)]), {
      ...document(ids.profile, {}, 0, 3),
      ...document(ids.otherProfile, { isDefault: true }, 1, 3),
    });
  });

  it('claims its project as the default, and its flows', () => {
    const flow = begunFlow({ agentProfileId: ids.profile });
    const claimsAfter = (...events: ReadonlyArray<ExampleEvent>) =>
      Object.values(of([profileCreated(), other, defaultMoved(ids.profile, null)], [...flow, ...events])).map(
        (value) => (value as AgentProfileDocument).claims,
      );
    assert.deepEqual(claimsAfter(), [`${ids.project} ${ids.flow}`, '']);
    assert.deepEqual(claimsAfter(profileAssigned(ids.otherProfile, ids.profile)), [ids.project, ids.flow]);
  });

  it('shows no deleted agent profile, whatever events its flows have later', () => {
    const flow = [...begunFlow({ agentProfileId: ids.profile }), profileAssigned(null, ids.profile)];
    assert.deepEqual(of([profileCreated(), other, profileDeleted()], flow), document(ids.otherProfile, {}, 1));
  });

  it('shows the flows of an agent profile by the flows’ own events, without a new revision', () => {
    const flowIds = (...flow: ReadonlyArray<ExampleEvent>) =>
      Object.values(of([profileCreated(), other], flow)).map((value) => {
        const { record, revision } = value as AgentProfileDocument;
        assert.equal(revision, record.id === ids.profile ? 0 : 1);
        assert.equal(record.updatedAt, timeOf(revision));
        return record.flowIds;
      });
    const begun = begunFlow({ agentProfileId: ids.profile });
    assert.deepEqual(flowIds(...begun), [[ids.flow], []]);
    assert.deepEqual(flowIds(...begunFlow(), profileAssigned(ids.profile, null)), [[ids.flow], []]);
    assert.deepEqual(flowIds(...begun, profileAssigned(ids.otherProfile, ids.profile, 5)), [[], [ids.flow]]);
    assert.deepEqual(flowIds(...begun, profileAssigned(null, ids.profile)), [[], []]);
    assert.deepEqual(flowIds(...begun, flowDeleted(ids.flow, ids.profile)), [[], []]);
  });
});
