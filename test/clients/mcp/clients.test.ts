import assert from 'node:assert/strict';
import { mcpService } from '../../mcp/support/mcp-service.ts';
import { messageForm } from '../../mcp/support/message-form.ts';
import { adminKey } from '../../support/service/admin-key.ts';
import { Recorder } from '../support/recorder.ts';
import { type ConnectedClient, connect, dialects } from './official-clients.ts';

describe('MCP with the official clients', function () {
  this.timeout(60_000);

  const service = mcpService();
  const recorder = new Recorder('mcp', messageForm);

  for (const dialect of dialects)
    it(`lists everything, calls a tool and reads, by ${dialect}`, () =>
      recorder.record(dialect).step(async () => {
        const client = await connect(dialect, service.mcpUrl, adminKey);
        for (const list of ['tools', 'resources', 'templates', 'prompts'] as const)
          assert.notDeepEqual(await client[list](), []);
        const { structuredContent: me } = await client.call('introspect_key');
        assert.deepEqual((await client.read('switchyard://me')).keyType, me.keyType);
        await client.close();
        return me.keyType;
      }));

  for (const dialect of dialects) {
    describe(dialect, () => {
      let client: ConnectedClient;
      let projectId: string;

      before(async () => {
        client = await connect(dialect, service.mcpUrl, adminKey);
        // A client checks answers against the schemas of the tools that it has listed.
        await client.tools();
      });
      after(() => client.close());

      async function done(name: string, given: Record<string, unknown> = {}) {
        const answer = await client.call(name, given);
        assert.equal(answer.isError ?? false, false, JSON.stringify(answer));
        return answer;
      }

      it('agrees on the protocol', () => {
        assert.equal(client.protocol, dialect.slice(0, 10));
      });

      it('runs the tour of the README, from a project to a deleted flow', async () => {
        const me = await done('introspect_key');
        assert.equal(me.structuredContent.keyType, 'admin');
        projectId = (await done('create_project', { name: 'Front desk' })).structuredContent.id;
        const created = await done('create_flow', {
          projectId,
          name: 'Opening hours',
          flowSchema: { say: 'We open at nine.' },
        });
        const flowId = created.structuredContent.id;
        const second = await done('create_flow_version', { flowId, flowSchema: { say: 'We open at eight.' } });
        const versionId = second.structuredContent.id;
        const active = await done('activate_flow_version', { versionId });
        assert.equal(active.structuredContent.isActive, true);

        const number = await done('create_phone_number', { projectId, name: 'Reception', number: numberOf(dialect) });
        const phoneNumberId = number.structuredContent.id;
        await done('set_phone_number_flow', { phoneNumberId, flowId });
        await done('create_agent_profile', {
          ...{ projectId, name: 'Receptionist', flowIds: [flowId], isDefault: true },
          ...{ supportedInputLanguages: ['en'], reasoningMode: 'balanced', outputVoiceId: 'narrator' },
        });

        const page = await done('list_flow_versions', { flowId, limit: 1 });
        assert.equal(page.structuredContent.versions.length, 1);
        const rest = await done('list_flow_versions', { flowId, cursor: page.structuredContent.nextCursor });
        assert.deepEqual(
          rest.structuredContent.versions.map(({ version }: { version: number }) => version),
          [2],
        );

        await done('delete_flow', { flowId });
        const detached = await done('get_phone_number', { phoneNumberId });
        assert.equal(detached.structuredContent.flowId, null);
      });

      it('answers a refusal with its code, its pointers and advice', async () => {
        const refused = await client.call('create_flow', { projectId, name: '', type: 'round' });
        assert.equal(refused.isError, true);
        const [{ text = '' } = {}] = refused.content;
        assert.match(text, /^invalid-input \(422\)/);
        assert.match(text, /- \/name must have at least 1 character/);
        assert.match(text, /- \/flowSchema is required/);
        assert.match(text, /What to do: correct the arguments/);
        const problem = refused._meta?.['switchyard/problem'] as { code: string; status: number };
        assert.deepEqual([problem.code, problem.status], ['invalid-input', 422]);
      });

      it('answers with the revision that ifMatch expects', async () => {
        const project = await done('get_project', { projectId });
        const ifMatch = project._meta?.['switchyard/revision'] as number;
        const renamed = await done('update_project', { projectId, name: 'Back desk', ifMatch });
        assert.equal(renamed._meta?.['switchyard/revision'], ifMatch + 1);
        const stale = await client.call('update_project', { projectId, name: 'Side desk', ifMatch });
        assert.match(stale.content[0]?.text ?? '', /^precondition-failed \(412\)/);
        assert.match(stale.content[0]?.text ?? '', /send its revision as ifMatch/);
        const large = { projectId, name: 'Side desk', ifMatch: Number.MAX_SAFE_INTEGER };
        const never = await client.call('update_project', large);
        assert.match(never.content[0]?.text ?? '', /asks for revision 9007199254740991/);
      });

      it('answers a repeated idempotencyKey with the first answer', async () => {
        const given = { projectId, name: 'Once', flowSchema: {}, idempotencyKey: `once ${dialect}` };
        const first = await done('create_flow', given);
        const again = await done('create_flow', given);
        assert.deepEqual(again.structuredContent, first.structuredContent);
        const other = await client.call('create_flow', { ...given, name: 'Twice' });
        assert.match(other.content[0]?.text ?? '', /^idempotency-key-reused/);
      });

      it('tries a write, and changes nothing', async () => {
        const flowId = (await done('create_flow', { projectId, name: 'Kept', flowSchema: {} })).structuredContent.id;
        const tried = await done('delete_flow', { flowId, dryRun: true });
        assert.deepEqual([tried.structuredContent.dryRun, tried.structuredContent.answer], [true, null]);
        assert.equal((await done('get_flow', { flowId })).structuredContent.name, 'Kept');
      });

      it('reads a flow, its versions and its history as resources', async () => {
        const flowId = (await done('create_flow', { projectId, name: 'Read', flowSchema: {} })).structuredContent.id;
        assert.equal((await client.read(`switchyard://flows/${flowId}`)).name, 'Read');
        assert.equal((await client.read(`switchyard://flows/${flowId}/versions`)).versions.length, 1);
        const { events } = await client.read(`switchyard://flows/${flowId}/history?limit=1`);
        assert.equal(events[0].type, 'FlowCreated');
        assert.equal((await client.read(`switchyard://flows/${flowId}?asOf=0`)).name, 'Read');
        await assert.rejects(client.read(`switchyard://flows/${flowId}?asOf=nonsense`), { code: -32_602 });
        await assert.rejects(client.read('switchyard://flows/cnothere12345'), { code: -32_602 });
        await assert.rejects(client.read('file:///etc/passwd'), { code: -32_602 });
      });
    });
  }
});

function numberOf(dialect: string): string {
  return `+44 20 7183 875${dialects.indexOf(dialect as (typeof dialects)[number])}`;
}
