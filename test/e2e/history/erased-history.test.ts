import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { long } from '#test/support/run/long.ts';
import type { Client } from '#test/support/service/client.ts';
import { startEventsTool, type ToolExit, toolExit } from '#test/support/service/events-tool.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { poll, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';

const customers = '/v1/partner/customers';
const person = { name: 'Wilhelmina Quixote-Zebedee', clientEmail: 'wilhelmina@quixote-zebedee.example' };
const traces = /quixote|wilhelmina/i;

/** The limit of a wait for a read model. It only keeps a test from hanging. */
const maxWaitMs = 60_000;

interface Listed {
  readonly type: string;
  readonly resource: { readonly id: string };
  readonly changes: ReadonlyArray<{ readonly value: Readonly<Record<string, unknown>> }> | null;
}

describe('history of a customer whose personal data was erased', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  let service: ServiceInProcess;
  let environment: Record<string, string>;
  let id: string;
  const inFolder = (name: string) => join(folder.path, name);
  const events = (...args: ReadonlyArray<string>): Promise<ToolExit> =>
    toolExit(startEventsTool(args, { DATA_DIR: inFolder('data'), ...environment }));
  const succeeds = async (...args: ReadonlyArray<string>): Promise<ToolExit> => {
    const exit = await events(...args);
    assert.equal(exit.code, 0, `${args.join(' ')}: ${exit.stderr}`);
    return exit;
  };

  before(async () => {
    folder = temporaryFolder();
    const { stdout } = await toolExit(startEventsTool(['digest-key'], {}));
    writeFileSync(inFolder('key.pem'), stdout, { mode: 0o600 });
    environment = { DIGEST_SIGNING_KEY: inFolder('key.pem'), DIGEST_DIR: inFolder('outside') };
    service = await composeService({ dataDir: inFolder('data'), environment });
    const { client } = service;
    id = expectStatus(await client.post<{ organizationId: string }>(customers, person), 201).organizationId;
    // The log is checked later against a digest from before the erasure.
    await succeeds('digest');
    for (const path of [`/v1/organizations/${id}/history`, `/v1/audit?resource=${id}`]) {
      assert.match(await textWith(client, path, 'CustomerCreated'), traces, 'before its erasure it shows the data');
    }
    expectStatus(await client.remove(`${customers}/${id}/personal-data`), 200);
  });

  after(async () => {
    await service?.stop();
    folder.remove();
  });

  it('shows personal data as erased, even in the patch of the creation', async () => {
    const text = await textWith(service.client, `/v1/organizations/${id}/history`, 'PersonalDataErased');
    assert.doesNotMatch(text, traces);
    const { events: listed } = JSON.parse(text) as { events: Listed[] };
    assertErased(listed);
    const asOf = await service.client.get(`/v1/organizations/${id}?asOf=0`);
    assert.equal(expectStatus(asOf, 200).name, 'erased');
  });

  it('shows personal data as erased in the audit and in its NDJSON and CSV exports', async () => {
    const path = `/v1/audit?resource=${id}`;
    const page = await textWith(service.client, path, 'PersonalDataErased');
    assert.doesNotMatch(page, traces);
    const { entries } = JSON.parse(page) as { entries: Listed[] };
    assertErased(entries.toReversed());
    const ndjson = expectExport(await service.client.get(path, { accept: 'application/x-ndjson' }));
    assert.deepEqual(
      ndjson
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
      entries,
    );
    const csv = expectExport(await service.client.get(path, { accept: 'text/csv' }));
    assert.match(csv, /"name"":""erased"/);
    assert.doesNotMatch(expectExport(await service.client.get('/v1/audit', { accept: 'text/csv' })), traces);
  });

  it(`leaves no trace of personal data in an export of the log, and shows it as erased after an import ${long}`, async () => {
    await succeeds('export', inFolder('log.ndjson'));
    const exported = readFileSync(inFolder('log.ndjson'), 'utf8');
    assert.ok(exported.includes(`"stream":"organization-${id}"`));
    assert.doesNotMatch(exported, traces);
    await succeeds('import', inFolder('log.ndjson'), '--store', `sqlite:${inFolder('imported.db')}`);
    const moved = await composeService({
      dataDir: inFolder('moved'),
      environment: { EVENT_STORE_URL: `sqlite:${inFolder('imported.db')}` },
    });
    try {
      const customer = expectStatus(await moved.client.get(`${customers}/${id}`), 200);
      assert.deepEqual([customer.name, customer.clientEmail], ['erased', 'erased']);
      const text = await textWith(moved.client, `/v1/organizations/${id}/history`, 'PersonalDataErased');
      assertErased((JSON.parse(text) as { events: Listed[] }).events);
    } finally {
      await moved.stop();
    }
  });

  it('matches its hash chain and the digests from before and after the erasure', async () => {
    await succeeds('digest');
    await succeeds('verify');
    const { stdout } = await succeeds('verify', '--digests', inFolder('outside'));
    assert.match(stdout, /held against \d+ digests, the last of /);
  });
});

/** Waits until an answer contains this word. @returns its text */
async function textWith(client: Client, path: string, word: string): Promise<string> {
  const text = await poll(async () => {
    const reply = await client.get(path);
    expectStatus(reply, 200);
    return reply.text.includes(word) && reply.text;
  }, maxWaitMs);
  assert.ok(text !== null, `${word} does not come up in ${path}`);
  return text;
}

/** @param listed oldest first */
function assertErased(listed: ReadonlyArray<Listed>): void {
  assert.deepEqual(
    listed.map(({ type }) => type),
    ['CustomerCreated', 'PersonalDataErased'],
  );
  const created = listed[0]?.changes?.[0]?.value;
  assert.deepEqual([created?.name, created?.clientEmail], ['erased', 'erased']);
}

function expectExport(reply: Awaited<ReturnType<Client['get']>>): string {
  expectStatus(reply, 200);
  assert.doesNotMatch(reply.text, traces);
  return reply.text;
}
