import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { adminKey } from '#test/support/service/admin-key.ts';
import { temporaryFolder } from '#test/support/service/service-process.ts';
import { mcpService } from './support/mcp-service.ts';

const bin = resolve(import.meta.dirname, '../../src/cli/switchyard-mcp.mjs');

describe('switchyard-mcp', function () {
  this.timeout(60_000);

  const service = mcpService();
  const started: ChildProcess[] = [];
  after(() => {
    for (const child of started) child.kill('SIGKILL');
  });

  function start(words: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) {
    const { SWITCHYARD_API_KEY: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [bin, ...words], { env: { ...inherited, ...environment } });
    started.push(child);
    const output = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.err += text;
    });
    return { child, output, ended: once(child, 'close').then(([code]) => code as number) };
  }

  /** Sends lines, ends the input, and reads the output. */
  async function exchange(lines: ReadonlyArray<string>, words: ReadonlyArray<string> = [], key = adminKey) {
    const { child, output, ended } = start(['--url', service.url, ...words], { SWITCHYARD_API_KEY: key });
    child.stdin.end(lines.map((line) => `${line}\n`).join(''));
    const code = await ended;
    const messages = output.out.split('\n').filter((line) => line !== '');
    return { code, err: output.err, messages: messages.map((line) => JSON.parse(line)) };
  }

  const message = (id: unknown, method: string, params: object = {}) =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const call = (id: unknown, name: string) => message(id, 'tools/call', { name, arguments: {} });

  it('offers the tools that its arguments allow, and reads resources', async () => {
    const read = { uri: 'switchyard://me' };
    const { messages } = await exchange(
      [message('tools', 'tools/list'), message('me', 'resources/read', read)],
      ['--readonly', '--tools', 'flows'],
    );
    const resultOf = (id: string) => messages.find((answer) => answer.id === id).result;
    const tools: ReadonlyArray<{ name: string; annotations?: { readOnlyHint?: boolean } }> = resultOf('tools').tools;
    assert.ok(tools.some(({ name }) => name === 'get_flow'));
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    assert.equal(resultOf('me').contents.length, 1);
  });

  it('answers every request before it exits at the end of its input, and writes only messages', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => index);
    const { code, messages, err } = await exchange(ids.map((id) => call(id, 'introspect_key')));
    assert.equal(code, 0, err);
    assert.deepEqual(
      messages.map(({ id }) => id).sort((left, right) => left - right),
      ids,
    );
    assert.ok(messages.every(({ result }) => result.structuredContent.keyType === 'admin'));
  });

  it('answers an invalid message as the service does, and continues with the next line', async () => {
    const { code, messages } = await exchange(['nonsense', '[]', '', call('a', 'introspect_key')]);
    assert.equal(code, 0);
    const byId = (id: unknown) => messages.filter((message) => message.id === id);
    assert.deepEqual(
      byId(null)
        .map(({ error }) => error.code)
        .sort(),
      [-32_600, -32_700],
    );
    assert.equal(byId('a').length, 1);
  });

  it('answers a refused key as an error of the request, without showing the key', async () => {
    const key = `sy_live_${'zyxwvuts98'.repeat(4)}`;
    const { code, messages, err } = await exchange([call(1, 'introspect_key')], [], key);
    assert.equal(code, 0);
    assert.match(messages[0]?.error.message, /key-invalid/);
    assert.equal(messages[0]?.error.data.status, 401);
    assert.ok(!JSON.stringify(messages).includes(key) && !err.includes(key));
  });

  it('answers an error when the service cannot be reached', async () => {
    const { child, output, ended } = start(['--url', 'http://127.0.0.1:9'], { SWITCHYARD_API_KEY: adminKey });
    child.stdin.end(`${call(7, 'introspect_key')}\n`);
    assert.equal(await ended, 0);
    const answer = JSON.parse(output.out);
    assert.equal(answer.id, 7);
    assert.match(answer.error.message, /cannot be reached/);
  });

  it('reads the key from a file, and refuses to start without one', async () => {
    const folder = temporaryFolder();
    const file = join(folder.path, 'mcp-key');
    writeFileSync(file, `${adminKey}\n`);
    const { child, output, ended } = start(['--url', service.url, '--key-file', file]);
    child.stdin.end(`${call(1, 'introspect_key')}\n`);
    assert.equal(await ended, 0);
    folder.remove();
    assert.equal(JSON.parse(output.out).result.structuredContent.keyType, 'admin');

    const without = start(['--url', service.url]);
    assert.equal(await without.ended, 1);
    assert.match(without.output.err, /SWITCHYARD_API_KEY/);
    assert.equal(without.output.out, '');
  });

  it('refuses a key as an argument', async () => {
    const { ended, output } = start(['--key', adminKey]);
    assert.equal(await ended, 1);
    assert.match(output.err, /^switchyard-mcp: Unknown option '--key'\. See: switchyard-mcp --help$/m);
    assert.ok(!output.err.includes(adminKey));
  });
});
