import assert from 'node:assert/strict';
import { FlowRecord } from '#domain/flow/record.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { startService, temporaryFolder } from '#test/support/service/service-process.ts';

interface History {
  readonly events: ReadonlyArray<{ readonly summary: string; readonly changes: unknown }>;
}

const languageOf = (flow: object) => (flow as { readonly language?: string | null }).language;

it('shows the language of a flow in answers, read models, its history and the example', async function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  const service = await startService({ dataDir: folder.path });
  try {
    const { client } = service;
    const { id: projectId } = expectStatus(await client.post<{ id: string }>('/v1/projects', { name: 'Desk' }), 201);
    const body = { name: 'Hours', flowSchema: {} };
    const flow = expectStatus(await client.post<FlowRecord>(`/v1/projects/${projectId}/flows`, body), 201);
    assert.equal(languageOf(flow), null);

    const path = `/v1/flows/${flow.id}`;
    const changed = expectStatus(await client.patch<FlowRecord>(path, { language: 'pt-BR' }), 200);
    assert.equal(languageOf(changed), 'pt-BR');
    assert.deepEqual(expectStatus(await client.get<FlowRecord>(path), 200), changed);

    const { events } = expectStatus(await client.get<History>(`${path}/history`), 200);
    assert.equal(events.at(-1)?.summary, 'The flow speaks “pt-BR”.');
    assert.equal(languageOf(FlowRecord.example), 'en');
  } finally {
    await service.stop();
    folder.remove();
  }
});
