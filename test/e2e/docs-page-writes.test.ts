import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describeInBrowser } from '#test/support/service/chromium.ts';
import { adminKey } from '#test/support/service/service-process.ts';
import { DocsPage, type FormInput } from './support/docs-page.ts';
import { DocumentedOperations } from './support/documented-operations.ts';
import { runningService } from './support/running-service.ts';
import { linesFile, refusedWrites, writableEnvironment, writeInputs } from './support/write-inputs.ts';

const signingKey = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describeInBrowser('"Try it out" on the documentation page @long', () => {
  const running = runningService(
    { environment: () => ({}) },
    { DIGEST_SIGNING_KEY: signingKey, ...writableEnvironment },
  );
  let docs: DocsPage;
  let operations: DocumentedOperations;
  let projectId: string;

  before(async () => {
    operations = await DocumentedOperations.of(running.client);
    projectId = (await running.client.get<{ projectId: string }>('/v1/me')).body.projectId;
    docs = await DocsPage.launch();
    await docs.open(running.url);
    await docs.authorize(adminKey);
  });
  after(() => docs?.close());

  const inputs = writeInputs({
    get client() {
      return running.client;
    },
    get operations() {
      return operations;
    },
    get projectId() {
      return projectId;
    },
  });

  const tryOut = (name: string, input: FormInput) =>
    docs.tryOut(operations.specification, operations.named(name), input);

  it('has a test for every write of the specification', () => {
    assert.deepEqual(
      [...operations.writes].toSorted(),
      [...Object.keys(inputs), ...Object.keys(refusedWrites)].toSorted(),
    );
  });

  for (const [name, input] of Object.entries(inputs))
    it(`executes ${name}`, async () => {
      const { status, text } = await tryOut(name, await input());
      assert.ok([200, 201, 204].includes(status), text);
    });

  for (const [name, { code, ...input }] of Object.entries(refusedWrites))
    it(`shows why ${name} is refused while nothing is stopped or waits`, async () => {
      const { status, text } = await tryOut(name, input);
      assert.ok(status === 409 || status === 404, text);
      assert.ok(text.includes(`"${code}"`), text);
    });

  it('plays speech from an answer', async () => {
    await docs.open(running.url);
    await tryOut('create_speech', {});
    assert.ok(await docs.canPlay());
  });

  it('sends an object in a form in the notation that the service reads', async () => {
    await docs.open(running.url);
    const { text } = await tryOut('create_file', { file: linesFile });
    assert.match(text, /"expires_at": \d+/);
  });

  it('runs without an error in the browser', () => assert.deepEqual(docs.faults, []));
});
