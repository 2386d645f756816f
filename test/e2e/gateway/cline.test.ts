import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { parsedBody } from '#test/gateway/support/strict-provider.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { agentEnvironment, agents, describeWithAgent } from '#test/support/service/agents.ts';
import { documentedLines } from './support/documented-lines.ts';
import { answerWithFile, content } from './support/file-reader.ts';

describeWithAgent(agents.cline, function () {
  this.timeout(120_000);
  let chats: FakeProvider;
  let service: GatewayService;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-cline-'));
    await writeFile(join(folder, 'hours.txt'), content);
    chats = await FakeProvider.start();
    const read = { name: 'read_files', arguments: JSON.stringify({ files: [{ path: join(folder, 'hours.txt') }] }) };
    chats.answers((res, seen) => answerWithFile(parsedBody(seen), read)(res, seen));
    service = await startGateway({
      providers: { chats: { kind: 'openai-compatible', baseUrl: chats.baseUrl } },
      models: { sandbox: { targets: [{ provider: 'chats', model: 'local-x' }] } },
    });
  });
  after(async () => {
    await service.stop();
    await chats.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('reads a file with its tool, by the lines of docs/clients.md', async () => {
    const lines = documentedLines('Cline', 'bash').replaceAll('http://127.0.0.1:8080', service.url);
    const path = `${dirname(agents.cline.program)}:${process.env.PATH}`;
    const running = promisify(execFile)('bash', ['-c', lines], {
      cwd: folder,
      // Without this mode it leaves a process of its own running.
      env: {
        ...agentEnvironment(folder),
        ...{ PATH: path, SWITCHYARD_API_KEY: goodKey, CLINE_SESSION_BACKEND_MODE: 'local' },
      },
    });
    running.child.stdin?.end();
    const { stdout } = await running;
    assert.ok(stdout.includes(`The file says: ${content}`), stdout);
  });
});
