import assert from 'node:assert/strict';
import type { AgentProfileRecord } from '#domain/agent-profile/record.ts';
import type { FlowRecord, FlowVersionRecord } from '#domain/flow/record.ts';
import type { PhoneNumberRecord } from '#domain/phone-number/record.ts';
import { expectProblem, expectStatus } from '#test/e2e/support/expect.ts';
import { runningService } from '#test/e2e/support/running-service.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { describeOnEngines } from '#test/support/service/engines.ts';
import { until } from '#test/support/service/service-process.ts';

/** Effects on other resources show within this time (DECISIONS.md, "Every control-plane operation"). */
const effectsLimitMilliseconds = 2_000;

describeOnEngines('rules over many resources, under racing requests', (engines) => {
  const running = runningService(engines);
  let client: Client;
  let projectId: string;

  before(() => {
    client = running.client;
  });

  beforeEach(async () => {
    projectId = await newProject(client);
  });

  const newFlow = async () => {
    const reply = await client.post<FlowRecord>(`/v1/projects/${projectId}/flows`, { name: 'Flow', flowSchema: 1 });
    return expectStatus(reply, 201).id;
  };
  const newNumber = (body: object, inProject = projectId) =>
    client.post<PhoneNumberRecord>(`/v1/projects/${inProject}/phone-numbers`, { name: 'N', ...body });
  const newProfile = async (body: object) => {
    const reply = await client.post<AgentProfileRecord>(`/v1/projects/${projectId}/agent-profiles`, contents(body));
    return expectStatus(reply, 201);
  };
  const flows = async () =>
    expectStatus(await client.get<{ flows: FlowRecord[] }>(`/v1/projects/${projectId}/flows`), 200).flows;
  const numbers = async () =>
    expectStatus(
      await client.get<{ phoneNumbers: PhoneNumberRecord[] }>(`/v1/projects/${projectId}/phone-numbers`),
      200,
    ).phoneNumbers;
  const profiles = async () =>
    expectStatus(
      await client.get<{ agentProfiles: AgentProfileRecord[] }>(`/v1/projects/${projectId}/agent-profiles`),
      200,
    ).agentProfiles;

  describe('one holder of a number', () => {
    it('wins among twenty that ask at once, in any writing of it', async () => {
      const projects = [projectId, await newProject(client)];
      const writings = ['+442071838760', '+44 20 7183 8760', '+44 (0)20 7183 8760', '+44-20-7183-8760'];
      const replies = await times(20, (index) =>
        newNumber({ number: writings[index % 4], type: index % 3 === 0 ? 'partner' : 'platform' }, projects[index % 2]),
      );
      expectOneWinner(replies);
    });

    it('is judged on the raw text where there is no E.164 form', async () => {
      expectOneWinner(await times(20, () => newNumber({ number: 'reception' })));
      expectStatus(await newNumber({ number: 'Reception' }), 201);
    });

    it('is apart for external numbers, and there for each project', async () => {
      const other = await newProject(client);
      const number = '+44 20 7183 8761';
      expectStatus(await newNumber({ number }), 201);
      expectProblem(await newNumber({ number, type: 'partner' }, other), 409, 'phone-number-taken');
      for (const inProject of [projectId, other]) {
        const external = { number, type: 'external' };
        expectOneWinner(await times(5, () => newNumber(external, inProject)));
        const again = await newNumber({ number: '+442071838761', type: 'external' }, inProject);
        expectProblem(again, 409, 'phone-number-taken');
      }
    });

    it('frees it as soon as its DELETE has answered, for one of twenty', async () => {
      for (let round = 0; round < 5; round += 1) {
        for (const { id } of await numbers()) expectStatus(await client.remove(`/v1/phone-numbers/${id}`), 200);
        expectOneWinner(await times(20, () => newNumber({ number: '+442071838762' })));
      }
    });

    it('leaves nothing claimed by requests that were refused for their flow', async () => {
      const number = '+442071838763';
      const refused = await newNumber({ number, flowId: 'cnothing0was0ever0here00' });
      expectProblem(refused, 404, 'flow-not-found');
      expectStatus(await newNumber({ number }), 201);
    });

    it('holds while some create and others delete', async () => {
      const number = '+442071838764';
      let created = 0;
      let refused = 0;
      await times(8, async () => {
        for (let round = 0; round < 10; round += 1) {
          const reply = await newNumber({ number });
          if (reply.status === 409) {
            expectProblem(reply, 409, 'phone-number-taken');
            refused += 1;
            continue;
          }
          const { id } = expectStatus(reply, 201);
          created += 1;
          const holders = (await numbers()).filter((holder) => holder.id !== id);
          // A list may still show who was deleted before this one began, but no two that live.
          for (const holder of holders) expectStatus(await client.get(`/v1/phone-numbers/${holder.id}`), 404);
          expectStatus(await client.remove(`/v1/phone-numbers/${id}`), 200);
        }
      });
      assert.ok(created >= 1, 'every request was refused');
      assert.equal(created + refused, 80);
      expectStatus(await newNumber({ number }), 201);
      expectProblem(await newNumber({ number }), 409, 'phone-number-taken');
    });
  });

  describe('one default agent profile', () => {
    it('is left by racing requests that each want to be it', async () => {
      const ids = (await times(6, () => newProfile({}))).map(({ id }) => id);
      const replies = await times(30, (index) =>
        client.put(`/v1/agent-profiles/${ids[index % 6]}`, contents({ isDefault: true })),
      );
      for (const reply of replies) expectStatus(reply, 200);
      await times(10, () => newProfile({ isDefault: true }));
      const all = await profiles();
      assert.equal(all.length, 16);
      assert.equal(all.filter(({ isDefault }) => isDefault).length, 1);
    });

    it('is kept while some move it, some give it up and some delete', async () => {
      const ids = (await times(8, (index) => newProfile({ isDefault: index === 0 }))).map(({ id }) => id);
      const replies = await times(60, (index) => {
        const target = `/v1/agent-profiles/${ids[index % 8]}`;
        if (index % 10 === 9) return client.remove(target);
        return client.put(target, contents({ isDefault: index % 3 === 0 }));
      });
      for (const { status, text } of replies) assert.ok([200, 404, 409].includes(status), text);
      const all = await profiles();
      assert.ok(all.length > 0);
      assert.equal(all.filter(({ isDefault }) => isDefault).length, 1);
    });
  });

  describe('a flow that is deleted', () => {
    it('has no numbers within two seconds, though they were being attached', async () => {
      for (let round = 0; round < 5; round += 1) {
        const doomed = await newFlow();
        const ids = await times(12, async (index) =>
          expectStatus(
            await newNumber({ number: `round ${round} line ${index}`, flowId: index % 2 ? doomed : null }),
            201,
          ),
        );
        const attached = times(12, (index) =>
          client.patch(`/v1/phone-numbers/${ids[index]?.id}/flow`, { flowId: doomed }),
        );
        const added = times(6, (index) => newNumber({ number: `round ${round} late ${index}`, flowId: doomed }));
        expectStatus(await client.remove(`/v1/flows/${doomed}`), 204);
        for (const { status, text } of await attached) assert.ok([200, 404].includes(status), text);
        for (const { status, text } of await added) assert.ok([201, 404].includes(status), text);
        const left = async () => (await numbers()).filter(({ flowId }) => flowId === doomed).length;
        assert.ok(
          await until(async () => (await left()) === 0, effectsLimitMilliseconds),
          `${await left()} numbers still point at it`,
        );
      }
    });
  });

  describe('the relation of profiles and flows', () => {
    it('settles within two seconds, and both sides agree', async () => {
      for (let round = 0; round < 4; round += 1) {
        const flowIds = await times(8, newFlow);
        const ids = (await times(4, () => newProfile({}))).map(({ id }) => id);
        const replies = await times(48, (index) => {
          const [flowId = '', profileId = ''] = [flowIds[index % 8], ids[(index * 7) % 4]];
          switch (index % 4) {
            case 0:
              return client.put(
                `/v1/agent-profiles/${profileId}`,
                contents({ flowIds: flowIds.slice(index % 5, (index % 5) + 4) }),
              );
            case 1:
              return client.patch(`/v1/flows/${flowId}`, { agentProfileId: ids[(index * 3) % 4] ?? null });
            case 2:
              return client.patch(`/v1/flows/${flowId}`, { agentProfileId: null });
            default: {
              const doomed = index > 40 && index % 8 === 7 ? `/v1/agent-profiles/${profileId}` : null;
              return doomed ? client.remove(doomed) : client.get(`/v1/flows/${flowId}`);
            }
          }
        });
        for (const { status, text } of replies) assert.ok([200, 404].includes(status), text);
        assert.ok(await until(agree, effectsLimitMilliseconds), 'flows and profiles tell different stories');
      }
    });

    /** Whether each side tells what the other does, and no flow has a profile that is gone. */
    async function agree(): Promise<boolean> {
      const [allProfiles, allFlows] = [await profiles(), await flows()];
      const told = allProfiles.flatMap(({ id, flowIds }) => flowIds.map((flowId) => `${flowId} ${id}`));
      const owned = allFlows.flatMap(({ id, agentProfileId }) => (agentProfileId ? [`${id} ${agentProfileId}`] : []));
      return told.sort().join() === owned.sort().join();
    }
  });

  describe('one stream', () => {
    it('takes 64 writes at once, all of them, with versions numbered without a gap', async () => {
      const flowId = await newFlow();
      const replies = await times(64, (index) =>
        index % 4 === 3
          ? client.patch<{ id: string }>(`/v1/flows/${flowId}`, { name: `Name ${index}` })
          : client.post<FlowVersionRecord>(`/v1/flows/${flowId}/versions`, { flowSchema: index }),
      );
      for (const reply of replies) assert.ok([200, 201].includes(reply.status), reply.text);
      assert.equal(new Set(replies.map(({ headers }) => headers.etag)).size, 64, 'each has a revision of its own');
      const { versions } = expectStatus(
        await client.get<{ versions: FlowVersionRecord[] }>(`/v1/flows/${flowId}/versions`),
        200,
      );
      assert.deepEqual(
        versions.map(({ version }) => version),
        Array.from({ length: 49 }, (_, index) => index + 1),
      );
    });

    it('has one winner among twenty with the same If-Match', async () => {
      const flowId = await newFlow();
      const { etag = '' } = (await client.get(`/v1/flows/${flowId}`)).headers;
      const replies = await times(20, (index) =>
        client.patch(`/v1/flows/${flowId}`, { name: `Name ${index}` }, { 'if-match': etag }),
      );
      assert.equal(replies.filter(({ status }) => status === 200).length, 1);
      for (const reply of replies) if (reply.status !== 200) expectProblem(reply, 412, 'precondition-failed');
    });

    it('carries out one of twenty with the same Idempotency-Key', async () => {
      const flowId = await newFlow();
      const path = `/v1/flows/${flowId}/versions`;
      const send = () => client.post<FlowVersionRecord>(path, { flowSchema: 1 }, { 'idempotency-key': 'once' });
      const replies = await times(20, send);
      for (const reply of replies) {
        if (reply.status !== 201) expectProblem(reply, 409, 'idempotency-key-in-progress');
      }
      const first = expectStatus(await send(), 201);
      for (const { status, body } of replies) if (status === 201) assert.deepEqual(body, first);
      assert.ok(replies.some(({ status }) => status === 201));
      const { versions } = expectStatus(await client.get<{ versions: unknown[] }>(path), 200);
      assert.equal(versions.length, 2);
    });
  });
});

function contents(more: object): object {
  const fields = { name: 'P', isDefault: false, supportedInputLanguages: [], reasoningMode: 'fast' };
  return { ...fields, outputVoiceId: 'v', flowIds: [], ...more };
}

function times<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => make(index)));
}

function expectOneWinner(replies: ReadonlyArray<Reply<unknown>>): void {
  assert.equal(replies.filter(({ status }) => status === 201).length, 1);
  for (const reply of replies) if (reply.status !== 201) expectProblem(reply, 409, 'phone-number-taken');
}
