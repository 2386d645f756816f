import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FakeProvider } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { parsedBody } from '#test/gateway/support/strict-provider.ts';
import { goodKey } from '#test/http/support/fake-service.ts';
import { agentEnvironment, agents, describeWithAgent } from '#test/support/service/agents.ts';
import { documentedLines } from './support/documented-lines.ts';
import { answerWithFile, content } from './support/file-reader.ts';

describeWithAgent(agents.openCode, function () {
  this.timeout(120_000);
  let chats: FakeProvider;
  let service: GatewayService;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-opencode-'));
    await writeFile(join(folder, 'hours.txt'), content);
    chats = await FakeProvider.start();
    const read = { name: 'read', arguments: JSON.stringify({ filePath: join(folder, 'hours.txt') }) };
    chats.answers((res, seen) => answerWithFile(parsedBody(seen), read)(res, seen));
    service = await startGateway({
      providers: { chats: { kind: 'openai-compatible', baseUrl: chats.baseUrl } },
      models: { sandbox: { targets: [{ provider: 'chats', model: 'local-x' }] } },
    });
    const lines = documentedLines('OpenCode', 'json').replaceAll('http://127.0.0.1:8080', service.url);
    await writeFile(join(folder, 'opencode.json'), lines);
  });
  after(async () => {
    await service.stop();
    await chats.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('reads a file with its tool, and sends back what the model thought', async () => {
    const running = promisify(execFile)(agents.openCode.program, ['run', '--format', 'json', 'When is it open?'], {
      cwd: folder,
      env: { ...agentEnvironment(folder), OPENCODE_DISABLE_AUTOUPDATE: '1', SWITCHYARD_API_KEY: goodKey },
    });
    running.child.stdin?.end();
    const { stdout } = await running;
    const events = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
    const texts = events.flatMap(({ type, part }) => (type === 'text' ? [part.text] : []));
    assert.deepEqual(texts, [`The file says: ${content}`], stdout);
    const sent = chats.seen.map((seen) => seen.body.toString());
    assert.ok(sent.some((body) => body.includes('"reasoning_content":"Where is it?"')));
  });
});
