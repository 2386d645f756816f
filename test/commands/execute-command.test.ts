import assert from 'node:assert/strict';
import * as E from 'fp-ts/lib/Either.js';
import { requestAnswered } from '#application/streams/stream-state.ts';
import { createAgentProfile } from '#commands/agent-profile/create-agent-profile.ts';
import { deleteAgentProfile } from '#commands/agent-profile/delete-agent-profile.ts';
import { createApiKey } from '#commands/api-key/create-api-key.ts';
import { revokeApiKey } from '#commands/api-key/revoke-api-key.ts';
import { rotateApiKey } from '#commands/api-key/rotate-api-key.ts';
import { changeFlowTier } from '#commands/flow/change-flow-tier.ts';
import { createFlow } from '#commands/flow/create-flow.ts';
import { deleteFlow } from '#commands/flow/delete-flow.ts';
import { updateFlow } from '#commands/flow/update-flow.ts';
import { activateFlowVersion } from '#commands/flow-version/activate-flow-version.ts';
import { createFlowVersion } from '#commands/flow-version/create-flow-version.ts';
import { deleteFlowVersion } from '#commands/flow-version/delete-flow-version.ts';
import { tagFlowVersion } from '#commands/flow-version/tag-flow-version.ts';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { updatePhoneNumber } from '#commands/phone-number/update-phone-number.ts';
import { createProject } from '#commands/project/create-project.ts';
import { failure } from '#domain/shared/failure.ts';
import { callerOf, ids, tenants } from '#test/support/events/tenants.ts';
import { AppendableEventStore } from '#test/support/fakes/appendable-event-store.ts';
import { Service } from '#test/support/harness/in-memory-service.ts';
import { seedProjects } from '#test/support/harness/seed.ts';
import { profileInput } from '#test/support/inputs/profile-input.ts';

const path = { projectId: ids.project };
const body = { name: 'Opening hours', flowSchema: { say: 'hello' } };

async function startService(now: () => Date = () => new Date()): Promise<Service> {
  const service = new Service(undefined, { now });
  await seedProjects(service.store);
  return service;
}

const makeFlow = async (service: Service) => String((await service.ok(createFlow, path, { body })).body.id);
const never = () => Promise.reject(new Error('the input must not be read'));
const stranger = callerOf('organization', tenants.stranger);

describe('command operations', () => {
  describe('response of a command', () => {
    it('answers a creation from the produced state, with status, revision and position', async () => {
      const service = await startService();
      const answer = await service.ok(createFlow, path, { body });
      const last = service.store.log.at(-1);
      assert.deepEqual([answer.status, answer.revision, answer.position], [201, 2, last?.position]);
      assert.equal(answer.body.createdAt, last?.metadata.time);
      assert.equal(answer.body.name, 'Opening hours');
    });

    it('reads the stream of a new resource if its id derives from a key, or after a conflict', async () => {
      const service = await startService();
      const reads = () => service.store.reads.filter(([stream]) => stream.startsWith('flow-')).length;
      await makeFlow(service);
      assert.equal(reads(), 0);
      await service.ok(createFlow, path, { body, idempotencyKey: 'key' });
      assert.equal(reads(), 1);
      const { beforeAppend } = service.store;
      service.store.beforeAppend = async () => {
        service.store.beforeAppend = beforeAppend;
        return { kind: 'conflict', actualRevision: 0 };
      };
      await makeFlow(service);
      assert.equal(reads(), 2);
    });

    it('answers a new and an activated version with its schema', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const flowSchema = { deep: [{ a: null }] };
      const { body: version } = await service.ok(createFlowVersion, { flowId }, { body: { flowSchema } });
      assert.deepEqual([version.version, version.tag, version.isActive], [2, 'v2', false]);
      assert.deepEqual(version.flowSchema, flowSchema);
      const activated = await service.restarted().ok(activateFlowVersion, { versionId: String(version.id) });
      assert.deepEqual(activated.body.flowSchema, flowSchema);
      assert.equal(activated.body.isActive, true);
    });

    it('answers a deletion with the record before it', async () => {
      let time = Date.UTC(2026, 0, 5, 10);
      const service = await startService(() => {
        time += 1000;
        return new Date(time);
      });
      const { body: profile } = await service.ok(createAgentProfile, path, { body: profileInput({}) });
      const profileGone = await service.ok(deleteAgentProfile, { agentProfileId: String(profile.id) });
      assert.deepEqual(profileGone.body, profile);
      const { body: key } = await service.ok(createApiKey, path, { body: { name: 'k', keyType: 'project' } });
      const { key: _, ...made } = key;
      const record = { ...made, lastUsedAt: service.keyLastUsed };
      assert.deepEqual((await service.ok(revokeApiKey, { keyId: String(key.id) })).body, record);
      const flowId = await makeFlow(service);
      const { body: version } = await service.ok(createFlowVersion, { flowId }, { body: { flowSchema: 1 } });
      const versionId = String(version.id);
      assert.deepEqual((await service.ok(deleteFlowVersion, { versionId })).body, version);
      assert.equal((await service.ok(deleteFlowVersion, { versionId })).body, null);
    });

    it('answers a deletion without a record with no content', async () => {
      const service = await startService();
      const answer = await service.ok(deleteFlow, { flowId: await makeFlow(service) });
      assert.deepEqual([answer.status, answer.body, answer.revision], [204, undefined, undefined]);
    });

    it('answers a command that changes nothing after the read models show the earlier event', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const last = service.store.log.at(-1);
      service.shown.length = 0;
      const answer = await service.ok(updateFlow, { flowId }, { body: { name: 'Opening hours' } });
      assert.deepEqual([answer.revision, answer.position], [2, last?.position]);
      assert.deepEqual(service.shown, [last]);
    });

    it('refuses a phone number that is too large to store before its number is claimed', async () => {
      const service = await startService();
      const externalPhoneFields = { numbers: Array.from({ length: 50_000 }, () => 1e20) };
      const body = { name: 'Reception', number: '+442071838750', externalPhoneFields };
      assert.equal(await service.refusal(createPhoneNumber, path, { body }), 'append-too-large');
      assert.equal(service.store.log.filter(({ type }) => type === 'PhoneNumberClaimed').length, 0);
    });
  });

  describe('refusals of a command', () => {
    const narrow = callerOf('project', { scopes: ['flows:read'] });

    it('refuses an unknown or inaccessible resource with 404 before scope and input are checked', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const sent = { caller: stranger, loadBody: never };
      assert.equal(await service.refusal(createFlow, path, sent), 'project-not-found');
      assert.equal(await service.refusal(updateFlow, { flowId }, sent), 'flow-not-found');
      assert.equal(await service.refusal(changeFlowTier, { flowId }, sent), 'flow-not-found');
      const unknown = { caller: narrow, loadBody: never };
      assert.equal(await service.refusal(updateFlow, { flowId: ids.flow }, unknown), 'flow-not-found');
      assert.equal(await service.refusal(updateFlow, { flowId: 'nonsense' }, unknown), 'flow-not-found');
      const versionId = `${flowId}missing1`;
      assert.equal(await service.refusal(tagFlowVersion, { versionId }, unknown), 'flow-version-not-found');
    });

    it('refuses a missing scope with 403 before the input is read', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const sent = { caller: narrow, loadBody: never };
      assert.equal(await service.refusal(updateFlow, { flowId }, sent), 'scope-required');
      const project = { caller: callerOf('project'), loadBody: never };
      assert.equal(await service.refusal(changeFlowTier, { flowId }, project), 'key-type-not-allowed');
      assert.equal(await service.refusal(createProject, {}, project), 'key-type-not-allowed');
    });

    it('refuses an unreadable body with its own failure, and an invalid body with 422', async () => {
      const service = await startService();
      const unreadable = async () => E.left(failure('malformed-json', 'It is not JSON.'));
      assert.equal(await service.refusal(createFlow, path, { loadBody: unreadable }), 'malformed-json');
      assert.equal(await service.refusal(createFlow, path, { body: { name: '' } }), 'invalid-input');
    });

    it('refuses a deleted resource with 404 after the input and before If-Match and the decision', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      await service.ok(deleteFlow, { flowId });
      const lost = { body: { agentProfileId: ids.profile }, ifMatch: 99 };
      assert.equal(await service.refusal(updateFlow, { flowId }, lost), 'flow-not-found');
      assert.equal(await service.refusal(updateFlow, { flowId }, { body: { name: '' } }), 'invalid-input');
      assert.equal(await service.refusal(updateFlow, { flowId }, { caller: narrow }), 'scope-required');
      assert.equal(await service.refusal(deleteFlow, { flowId }), 'flow-not-found');
    });

    it('refuses another revision than If-Match names with 412 before the decision', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const undecidable = { body: { agentProfileId: ids.profile }, ifMatch: 1 };
      assert.equal(await service.refusal(updateFlow, { flowId }, undecidable), 'precondition-failed');
      const change = (ifMatch: number, name: string) => ({ body: { name }, ifMatch });
      assert.equal((await service.ok(updateFlow, { flowId }, change(2, 'Nights'))).revision, 3);
      assert.equal(await service.refusal(updateFlow, { flowId }, change(2, 'Days')), 'precondition-failed');
    });

    it('lets one of several writers with the same If-Match succeed', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const sent = ['a', 'b', 'c', 'd'].map((name) =>
        service.send(updateFlow, { flowId }, { body: { name }, ifMatch: 2 }),
      );
      const codes = (await Promise.all(sent)).flatMap((answer) => (E.isLeft(answer) ? [answer.left.code] : []));
      assert.deepEqual(codes, Array(3).fill('precondition-failed'));
    });
  });

  it('compares If-Match for an agent profile with its own revision', async () => {
    const service = await startService();
    const first = await service.ok(createAgentProfile, path, { body: profileInput({}) });
    await service.ok(createAgentProfile, path, { body: profileInput({}) });
    const agentProfileId = String(first.body.id);
    assert.equal(first.revision, 0);
    assert.equal((await service.ok(deleteAgentProfile, { agentProfileId }, { ifMatch: 0 })).revision, 2);
  });

  describe('command with an Idempotency-Key', () => {
    const sent = { body, idempotencyKey: 'once' };

    it('gives a repeated request the first response and changes nothing, even after a restart', async () => {
      const service = await startService();
      const first = await service.ok(createFlow, path, sent);
      const { length } = service.store.log;
      await service.ok(updateFlow, { flowId: String(first.body.id) }, { body: { name: 'Changed since' } });
      for (const each of [service, service.restarted()]) {
        assert.deepEqual(await each.ok(createFlow, path, sent), { ...first, isReplay: true });
      }
      assert.equal(service.store.log.length, length + 1);
    });

    it('separates equal Idempotency-Keys by key text, path and caller', async () => {
      const service = await startService();
      const made = [
        await service.ok(createFlow, path, sent),
        await service.ok(createFlow, path, { ...sent, idempotencyKey: 'twice' }),
        await service.ok(createFlow, { projectId: ids.sibling }, sent),
        await service.ok(createFlow, path, { ...sent, caller: callerOf('partner') }),
      ];
      assert.equal(new Set(made.map((answer) => answer.body.id)).size, made.length);
    });

    it('refuses a reused Idempotency-Key with another body', async () => {
      const service = await startService();
      await service.ok(createFlow, path, sent);
      const other = { ...sent, body: { ...body, name: 'Other' } };
      assert.equal(await service.refusal(createFlow, path, other), 'idempotency-key-reused');
      assert.equal(await service.restarted().refusal(createFlow, path, other), 'idempotency-key-reused');
    });

    it('refuses a repeated request while the first one still runs', async () => {
      const service = await startService();
      const both = await Promise.all([service.send(createFlow, path, sent), service.send(createFlow, path, sent)]);
      const codes = both.map((answer) => (E.isLeft(answer) ? answer.left.code : null));
      assert.deepEqual(codes, [null, 'idempotency-key-in-progress']);
      await service.ok(createFlow, path, sent);
      assert.equal(service.store.types().filter((type) => type === 'FlowCreated').length, 1);
    });

    it('creates once when two processes get the same request at the same time', async () => {
      const service = await startService();
      const both = await Promise.all([
        service.ok(createFlow, path, sent),
        service.restarted().ok(createFlow, path, sent),
      ]);
      assert.deepEqual(both[0]?.body, both[1]?.body);
      assert.equal(service.store.types().filter((type) => type === 'FlowCreated').length, 1);
    });

    it('remembers a success without an event by one event that does not change the ETag', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const same = { body: { name: 'Opening hours' }, idempotencyKey: 'same' };
      const first = await service.ok(updateFlow, { flowId }, same);
      assert.equal(first.revision, 2);
      const again = await service.restarted().ok(updateFlow, { flowId }, same);
      assert.deepEqual([again.body, again.revision], [first.body, 2]);
      assert.deepEqual(service.store.types(`flow-${flowId}`).slice(3), [requestAnswered]);
      assert.equal((await service.ok(updateFlow, { flowId }, { body: {}, ifMatch: 2 })).revision, 2);
    });

    it('repeats null for a version deleted before, and the record for its deletion', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const { body: version } = await service.ok(createFlowVersion, { flowId }, { body: { flowSchema: 1 } });
      const versionId = String(version.id);
      for (const idempotencyKey of ['first', 'second', 'first', 'second']) {
        const answer = await service.ok(deleteFlowVersion, { versionId }, { idempotencyKey });
        assert.deepEqual(answer.body, idempotencyKey === 'first' ? version : null);
      }
    });

    it('repeats a response before deletion and If-Match are checked, but after access and scope', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const renaming = { body: { name: 'Nights' }, idempotencyKey: 'rename', ifMatch: 2 };
      const first = await service.ok(updateFlow, { flowId }, renaming);
      await service.ok(deleteFlow, { flowId }, { idempotencyKey: 'delete' });
      assert.deepEqual((await service.ok(updateFlow, { flowId }, renaming)).body, first.body);
      assert.equal((await service.ok(deleteFlow, { flowId }, { idempotencyKey: 'delete' })).status, 204);
      const reused = { ...renaming, body: { name: 'Days' } };
      assert.equal(await service.refusal(updateFlow, { flowId }, reused), 'idempotency-key-reused');
      assert.equal(await service.refusal(updateFlow, { flowId }, { ...renaming, caller: stranger }), 'flow-not-found');
    });

    it('waits for the read models before a repeated response, because the first may have been lost', async () => {
      const service = await startService();
      const creation = { body, idempotencyKey: 'lost' };
      const first = await service.ok(createFlow, path, creation);
      const restarted = service.restarted();
      const again = await restarted.ok(createFlow, path, creation);
      assert.equal(again.position, first.position);
      assert.deepEqual(restarted.shown, service.store.log.slice(-1));
    });

    it('does not remember a refusal under an Idempotency-Key', async () => {
      const service = await startService();
      const flowId = await makeFlow(service);
      const late = { body: { name: 'Nights' }, idempotencyKey: 'late' };
      assert.equal(await service.refusal(updateFlow, { flowId }, { ...late, ifMatch: 9 }), 'precondition-failed');
      assert.equal((await service.ok(updateFlow, { flowId }, late)).body.name, 'Nights');
      const other = { body: { ...body, agentProfileId: ids.profile }, idempotencyKey: 'other' };
      assert.equal(await service.refusal(createFlow, path, other), 'agent-profile-not-found');
      await service.ok(createFlow, path, { body, idempotencyKey: 'other' });
    });

    it('returns a new secret once, and not when a creation or a rotation is repeated', async () => {
      const service = await startService();
      const creation = { body: { name: 'Website', keyType: 'project' }, idempotencyKey: 'key' };
      const made = await service.ok(createApiKey, path, creation);
      assert.match(String(made.body.key), /^sy_live_[A-Za-z0-9]{40,}$/);
      const { key: _, ...record } = made.body;
      assert.deepEqual((await service.ok(createApiKey, path, creation)).body, record);
      const keyId = String(made.body.id);
      const rotation = { body: { overlapSeconds: 60 }, idempotencyKey: 'rotation' };
      const rotated = await service.ok(rotateApiKey, { keyId }, rotation);
      assert.notEqual(rotated.body.key, made.body.key);
      const { key: __, ...rotatedRecord } = rotated.body;
      assert.deepEqual((await service.restarted().ok(rotateApiKey, { keyId }, rotation)).body, rotatedRecord);
      assert.equal(service.store.types(`apiKey-${keyId}`).length, 2);
    });

    it('never stores a secret in plain text', async () => {
      const service = await startService();
      const { body: key } = await service.ok(createApiKey, path, { body: { name: 'k', keyType: 'project' } });
      assert.ok(!JSON.stringify(service.store.raw).includes(String(key.key).slice(16)));
    });

    it('creates a new resource for an Idempotency-Key older than a day, and keeps the first one', async () => {
      let time = Date.UTC(2026, 0, 5, 10);
      const service = await startService(() => new Date(time));
      const creations = [
        [createFlow, path, body],
        [createPhoneNumber, path, { name: 'Line', number: 'one' }],
        [createAgentProfile, path, profileInput({})],
        [createApiKey, path, { name: 'k', keyType: 'project' }],
      ] as const;
      const flowId = await makeFlow(service);
      const send = async () => {
        const made: string[] = [];
        for (const [command, parameters, body] of creations) {
          const number = command === createPhoneNumber ? { body: { ...body, number: `line ${time}` } } : { body };
          made.push(String((await service.ok(command, parameters, { ...number, idempotencyKey: 'k' })).body.id));
        }
        const version = { body: { flowSchema: 1 }, idempotencyKey: 'k' };
        made.push(String((await service.ok(createFlowVersion, { flowId }, version)).body.id));
        return made;
      };
      const first = await send();
      time += 25 * 60 * 60 * 1000;
      // A state forgets expired requests only when a later event is folded.
      const rename = { body: { name: 'Nights' } };
      await service.ok(updateFlow, { flowId: first[0] ?? '' }, rename);
      await service.ok(updateFlow, { flowId }, rename);
      await service.ok(createAgentProfile, path, { body: profileInput({}) });
      await service.ok(rotateApiKey, { keyId: first[3] ?? '' });
      await service.ok(updatePhoneNumber, { phoneNumberId: first[1] ?? '' }, rename);
      const second = await send();
      assert.deepEqual(
        first.filter((id) => second.includes(id)),
        [],
      );
      assert.deepEqual(await send(), second);
      assert.deepEqual(
        await service
          .restarted()
          .documents.get('flows', first[0] ?? '')
          .then((flow) => flow?.id),
        first[0],
      );
      assert.equal(service.store.types(`flow-${first[0]}`).filter((type) => type === 'FlowCreated').length, 1);
    });
  });

  it('lets 64 concurrent writers without If-Match all succeed', async () => {
    const service = await startService();
    const flowId = await makeFlow(service);
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, number) =>
        service.ok(createFlowVersion, { flowId }, { body: { flowSchema: number } }),
      ),
    );
    assert.deepEqual(
      answers.map((answer) => answer.body.version),
      Array.from({ length: 64 }, (_, number) => number + 2),
    );
  });

  it('leaves one default agent profile when many are created concurrently', async () => {
    const service = await startService();
    const profile = { body: profileInput({ isDefault: true }) };
    const services = [service, service.restarted()];
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => (services[index % 2] ?? service).ok(createAgentProfile, path, profile)),
    );
    const { documents } = await service.documents.list('agent-profiles', {}, { limit: 100, maxBytes: 1e9 });
    const defaults = documents.filter(({ value }) => (value as { record: { isDefault: boolean } }).record.isDefault);
    assert.deepEqual([documents.length, defaults.length], [12, 1]);
  });

  it('stores nothing when the event store refuses an append', async () => {
    const store = new AppendableEventStore();
    await seedProjects(store);
    const { length } = store.log;
    const service = new Service(store);
    store.beforeAppend = async () => ({ kind: 'append-too-large', bytes: 2, maxBytes: 1 });
    assert.equal(await service.refusal(createFlow, path, { body }), 'append-too-large');
    assert.equal(store.log.length, length);
  });
});
