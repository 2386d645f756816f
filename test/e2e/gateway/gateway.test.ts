import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { completion, FakeProvider, json, saying, stream } from '#test/gateway/support/fake-provider.ts';
import { multipart, SlowClient, transcriptionOf, transcriptions } from '#test/gateway/support/slow-client.ts';
import { long } from '#test/support/run/long.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import {
  adminKey,
  poll,
  type ServiceEnvironment,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

describe('gateway of the service', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  let service: ServiceInProcess | ServiceProcess;
  let provider: FakeProvider;
  const chat = { model: 'auto', messages: [{ role: 'user', content: 'hello' }] };

  before(async () => {
    provider = await FakeProvider.start();
    folder = temporaryFolder();
  });
  after(async () => {
    await provider.stop();
    folder.remove();
  });

  /** Ends the service, and gives the next one an empty folder. */
  const end = async () => {
    await service?.stop();
    folder.remove();
    folder = temporaryFolder();
  };

  const start = async (environment: ServiceEnvironment = {}) => {
    const started = await startService({ dataDir: folder.path, environment });
    service = started;
    return started;
  };
  const ask = (body: unknown, key = adminKey, path = '/v1/chat/completions') =>
    fetch(service.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const configuration = (model: string) =>
    JSON.stringify({
      providers: { p: { kind: 'openai-compatible', baseUrl: provider.baseUrl, apiKeyEnv: 'PROVIDER_KEY' } },
      models: { [model]: { targets: [{ provider: 'p', model: 'x' }] } },
      auto: { chat: { balanced: model } },
    });

  describe('gateway of the service, without a configuration', () => {
    before(async () => {
      service = await composeService({ dataDir: folder.path, environment: { LOG_LEVEL: 'info' } });
    });
    after(() => end());

    it('answers from the sandbox without a configuration, and logs the use of the sandbox', async () => {
      assert.ok(await poll(async () => service.log.includes('the sandbox answers, and no model'), 20_000));
      const answer = (await (await ask(chat)).json()) as { model: string; choices: { message: { content: string } }[] };
      assert.equal(answer.model, 'switchyard-sandbox');
      assert.match(answer.choices[0]?.message.content ?? '', /sandbox and no model\. You said: hello/);
      const streamed = await (await ask({ ...chat, stream: true })).text();
      assert.ok(streamed.startsWith('data: {') && streamed.endsWith('data: [DONE]\n\n'));
      const { data } = (await (
        await fetch(`${service.url}/v1/models`, { headers: { 'x-api-key': adminKey } })
      ).json()) as { data: { id: string; owned_by: string }[] };
      assert.deepEqual(
        data.map(({ id, owned_by }) => `${id} ${owned_by}`),
        ['auto switchyard', 'sandbox sandbox'],
      );
      const speech = await ask({ input: 'hello', voice: 'alloy' }, adminKey, '/v1/audio/speech');
      assert.equal(Buffer.from(await speech.arrayBuffer()).toString('latin1', 0, 4), 'RIFF');
      const paths = ((await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: object }).paths;
      for (const path of ['/v1/chat/completions', '/v1/audio/speech', '/v1/audio/transcriptions', '/v1/models'])
        assert.ok(path in paths, path);
    });

    it('refuses an unknown key, a key without the scope and a key that was just revoked', async () => {
      const errorOf = async (answer: Response) => {
        const { error } = (await answer.json()) as { error: { code: string; type: string } };
        return `${answer.status} ${error.type} ${error.code}`;
      };
      assert.equal(await errorOf(await ask(chat, `sy_live_${'z'.repeat(40)}`)), '401 authentication_error key_invalid');
      const { projectId } = expectStatus(await service.client.get<{ projectId: string }>('/v1/me'), 200);
      const made = async (scopes: ReadonlyArray<string>) => {
        const body = { name: 'Key', keyType: 'project', scopes };
        return expectStatus(
          await service.client.post<{ id: string; key: string }>(`/v1/projects/${projectId}/keys`, body),
          201,
        );
      };
      const reading = await made(['gateway:read']);
      assert.equal(await errorOf(await ask(chat, reading.key)), '403 permission_error scope_required');
      const writing = await made(['gateway:write']);
      assert.equal((await ask(chat, writing.key)).status, 200);
      expectStatus(await service.client.remove(`/v1/keys/${writing.id}`), 200);
      assert.equal((await ask(chat, writing.key)).status, 401);
    });
  });

  describe('gateway of the service, with a configuration file', () => {
    let file: string;
    let running: ServiceProcess;
    before(async () => {
      file = join(folder.path, 'gateway.json');
      writeFileSync(file, configuration('first'));
      running = await start({ GATEWAY_CONFIG: file, PROVIDER_KEY: 'k', LOG_LEVEL: 'info' });
    });
    after(() => end());

    it('reloads its configuration file on a change and on SIGHUP, and keeps the last valid one', async () => {
      provider.answers(json(completion('from the provider')));
      assert.match(await (await ask(chat)).text(), /from the provider/);
      assert.equal((await ask({ ...chat, model: 'second' })).status, 404);

      writeFileSync(file, configuration('second'));
      assert.ok(await poll(async () => (await ask({ ...chat, model: 'second' })).status === 200, 20_000));
      assert.equal((await ask({ ...chat, model: 'first' })).status, 404);

      writeFileSync(file, '{"models":7}');
      process.kill(running.pid, 'SIGHUP');
      assert.ok(await poll(async () => running.log.includes('/models must be an object'), 20_000));
      assert.equal((await ask({ ...chat, model: 'second' })).status, 200);

      writeFileSync(file, configuration('third'));
      process.kill(running.pid, 'SIGHUP');
      assert.ok(await poll(async () => (await ask({ ...chat, model: 'third' })).status === 200, 20_000));
    });

    // The last test, because the service ends.
    it('ends a running stream before it stops', async () => {
      provider.answers(stream(saying('one', ' two', ' three'), { gapMs: 200 }));
      const answer = await ask({ ...chat, stream: true });
      const stopped = running.stop();
      assert.ok((await answer.text()).endsWith('data: [DONE]\n\n'));
      assert.equal((await stopped).code, 0);
    });
  });

  describe('gateway of the service, with other limits or an invalid configuration', () => {
    afterEach(() => end());

    it(`accepts a slow upload up to a separate limit ${long}`, async () => {
      await start({ HEADERS_TIMEOUT_MS: '200', REQUEST_TIMEOUT_MS: '300', UPLOAD_TIMEOUT_MS: '6000' });
      const body = transcriptionOf('auto', 100_000);
      const port = Number(new URL(service.url).port);
      const [coming, waiting] = [new SlowClient(port, adminKey), new SlowClient(port, adminKey)];
      for (const client of [coming, waiting]) client.begin(transcriptions, multipart, body.length);
      waiting.write(body.subarray(0, 1_000));
      await coming.writeSlowly(body, 1_000);
      assert.equal((await coming.answer()).status, 200);
      assert.equal((await waiting.answer()).status, 408);
      await waiting.closed;
      coming.leave();
    });

    it('refuses to start with an invalid configuration', async () => {
      const file = join(folder.path, 'gateway.json');
      writeFileSync(file, configuration('first'));
      const message = `GATEWAY_CONFIG=${file}: /providers/p/apiKeyEnv names PROVIDER_KEY, which is not set in the environment`;
      await assert.rejects(composeService({ dataDir: folder.path, environment: { GATEWAY_CONFIG: file } }), {
        message,
      });
    });
  });
});
