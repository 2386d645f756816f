import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { AnyCommand } from '#application/commands/command.ts';
import { writeSnapshot } from '#application/streams/stream-snapshots.ts';
import { emptyStream, foldStream, requestAnswered } from '#application/streams/stream-state.ts';
import { projectAgentProfiles } from '#domain/agent-profile/agent-profile.ts';
import { agentProfileEvents } from '#domain/agent-profile/events.ts';
import { apiKey, keyCutoff, keyCutoffEvents } from '#domain/api-key/api-key.ts';
import { apiKeyEvents } from '#domain/api-key/events.ts';
import { batch } from '#domain/batch/batch.ts';
import { batchEvents } from '#domain/batch/events.ts';
import { eventCodecs } from '#domain/event-codecs.ts';
import { fileEvents } from '#domain/file/events.ts';
import { file } from '#domain/file/file.ts';
import { flowEvents } from '#domain/flow/events.ts';
import { flow } from '#domain/flow/flow.ts';
import { instanceEvents } from '#domain/instance/events.ts';
import { instance } from '#domain/instance/instance.ts';
import { eventControl, eventControlEvents, skippedEventsId } from '#domain/operator/event-control.ts';
import { processControl, processEvents } from '#domain/operator/process-control.ts';
import { projectionControl, projectionEvents } from '#domain/operator/projection-control.ts';
import { organization, organizationEvents } from '#domain/organization/organization.ts';
import { phoneNumberClaimEvents, phoneNumberEvents } from '#domain/phone-number/events.ts';
import { phoneNumber, phoneNumberClaim } from '#domain/phone-number/phone-number.ts';
import { project, projectEvents } from '#domain/project/project.ts';
import { streamName } from '#domain/shared/entity.ts';
import { store, storeEvents } from '#domain/store/store.ts';
import { templateEvents } from '#domain/template/events.ts';
import { template } from '#domain/template/template.ts';
import { upcasters } from '#domain/upcasters.ts';
import { usageEvents } from '#domain/usage/events.ts';
import { webhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import { webhookEndpoint } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { isChained, seal } from '#event-store/hash-chain.ts';
import { newestVersion, upcastWith } from '#event-store/recorded-event.ts';
import { isOperatorRequest, operatorRequestTypes } from '#projection-engine/operator-progress.ts';

/** Every map of events, with the entity that folds it and the first events of its streams. */
const entities: ReadonlyArray<{
  readonly entity: AnyCommand['entity'];
  readonly events: Readonly<Record<string, t.Mixed>>;
  readonly begun: ReadonlyArray<string>;
}> = [
  { entity: flow, events: flowEvents, begun: ['FlowCreated', 'FlowVersionCreated'] },
  { entity: phoneNumber, events: phoneNumberEvents, begun: ['PhoneNumberCreated'] },
  { entity: phoneNumberClaim, events: phoneNumberClaimEvents, begun: [] },
  { entity: projectAgentProfiles, events: agentProfileEvents, begun: ['AgentProfileCreated'] },
  { entity: organization, events: organizationEvents, begun: ['CustomerCreated'] },
  { entity: project, events: projectEvents, begun: ['ProjectCreated'] },
  { entity: apiKey, events: apiKeyEvents, begun: ['ApiKeyCreated'] },
  { entity: keyCutoff, events: keyCutoffEvents, begun: [] },
  { entity: template, events: templateEvents, begun: ['TemplateCreated', 'TemplateVersionCreated'] },
  { entity: instance, events: instanceEvents, begun: ['InstanceCreated'] },
  { entity: file, events: fileEvents, begun: ['FileCreated', 'FileHeld'] },
  { entity: batch, events: batchEvents, begun: ['BatchCreated'] },
  { entity: store, events: storeEvents, begun: ['StoreCreated', 'StoreFileAdded'] },
  { entity: webhookEndpoint, events: webhookEndpointEvents, begun: ['WebhookEndpointCreated'] },
  { entity: processControl, events: processEvents, begun: [] },
  { entity: projectionControl, events: projectionEvents, begun: [] },
  { entity: eventControl, events: eventControlEvents, begun: [] },
];

/** Maps of events that no entity folds. */
const unfolded: ReadonlyArray<Readonly<Record<string, t.Mixed>>> = [usageEvents];

const folder = new URL('../fixtures/events/', import.meta.url);

/** An event as it was once stored. Fixtures are never edited, so that stored events stay readable. */
function fixture(name: string): RecordedEvent {
  return { position: 1, ...JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) };
}

const upcast = upcastWith(upcasters);

/** An event in the newest version of its type. */
const newestFixture = (type: string) => fixture(`${type}.v${newestVersion(upcasters, type)}`);

const stateFolder = new URL('../fixtures/states/', import.meta.url);

/** By event type, the snapshot of an entity's state after one event of that type. */
async function snapshotsByType({ entity, events, begun }: (typeof entities)[number]): Promise<object> {
  const snapshots: Record<string, unknown> = {};
  for (const type of Object.keys(events)) {
    const history = [...begun.filter((each) => each !== type), type].map(newestFixture);
    const snapshot = await writeSnapshot(foldStream(entity, emptyStream(entity), history), Number.POSITIVE_INFINITY);
    snapshots[type] = snapshot?.map((line) => JSON.parse(line));
  }
  return snapshots;
}

describe('snapshots of entity states', () => {
  for (const each of entities.filter(({ entity }) => entity.stateVersion !== undefined)) {
    const { category, stateVersion } = each.entity;
    const name = `${category}.v${stateVersion}.json`;
    it(`keeps the snapshots of ${category} unchanged for stateVersion ${stateVersion}`, async () => {
      const snapshots = await snapshotsByType(each);
      const file = new URL(name, stateFolder);
      if (!existsSync(file) && process.env.WRITE_FIXTURES === '1')
        writeFileSync(file, `${JSON.stringify(snapshots, null, 2)}\n`);
      assert.ok(existsSync(file), `fixtures/states/${name} is not there: run this test once with WRITE_FIXTURES=1.`);
      assert.deepEqual(
        snapshots,
        JSON.parse(readFileSync(file, 'utf8')),
        `A ${category} is folded into another state than before: raise its stateVersion, so that old snapshots are not used.`,
      );
    });
  }
});

describe('fixtures of stored events', () => {
  it('has a fixture for each event type, and no others', () => {
    const maps = [...entities.map(({ events }) => events), ...unfolded];
    const types = [...maps.flatMap((events) => Object.keys(events)), requestAnswered];
    assert.deepEqual(Object.keys(eventCodecs).toSorted(), types.toSorted());
    const files = readdirSync(folder).map((file) => file.replace(/\.v\d+\.json$/, ''));
    assert.deepEqual([...new Set(files)].toSorted(), types.toSorted());
  });

  for (const events of [...entities.map((each) => each.events), ...unfolded]) {
    for (const [type, codec] of Object.entries(events)) {
      for (let version = 1; version <= newestVersion(upcasters, type); version += 1)
        it(`reads ${type} as it was written in version ${version}`, () => {
          const { data: written, metadata } = fixture(`${type}.v${version}`);
          assert.equal(metadata.schemaVersion, version);
          const data = upcast(type, version, written);
          const decoded = codec.decode(data);
          assert.ok(E.isRight(decoded), JSON.stringify(decoded));
          assert.deepEqual(decoded.right, data);
        });
    }
  }

  for (const { entity, events, begun } of entities) {
    // An operator's requests are only counted, so any event changes that state. The next test checks these requests.
    if (entity.category === projectionControl.category) continue;
    for (const type of Object.keys(events)) {
      it(`changes the state of ${entity.category} with ${type}`, () => {
        const before = foldStream(
          entity,
          emptyStream(entity),
          begun.filter((each) => each !== type).map(newestFixture),
        );
        const after = foldStream(entity, before, [newestFixture(type)]);
        assert.notDeepEqual(after.state, before.state);
      });
    }
  }

  it('has every request type that the projection runner handles, in the streams that it reads', () => {
    const types = [...Object.keys(projectionEvents), ...Object.keys(eventControlEvents)];
    assert.deepEqual(operatorRequestTypes.toSorted(), types.toSorted());
    for (const type of operatorRequestTypes) {
      const event = newestFixture(type);
      assert.ok(isOperatorRequest(event));
      const isForAll = event.type === 'EventSkipped';
      const stream = isForAll ? streamName(eventControl, skippedEventsId) : `projection-${event.data.projection}`;
      assert.equal(event.stream, stream);
    }
  });

  for (const file of readdirSync(folder)) {
    it(`matches the hash stored in ${file}`, () => {
      const { stream, revision, id, type, data, metadata } = fixture(file.replace(/\.json$/, ''));
      if (!isChained(stream)) return assert.equal(metadata.hash, undefined);
      const { hash, prevHash, ...unsealed } = metadata;
      assert.equal(seal(stream, revision, prevHash, { id, type, data }, unsealed).hash, hash);
    });
  }
});
