import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { GatewayConfiguration } from '#gateway/config/configuration.ts';
import { ConfigurationFile } from '#gateway/config/configuration-file.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { loggerOn } from '#shared/logging/pino-logger.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';

const withModel = (name: string) =>
  JSON.stringify({
    providers: { s: { kind: 'sandbox' } },
    models: { [name]: { targets: [{ provider: 's', model: 'm' }] } },
  });

describe('ConfigurationFile', () => {
  let folder: string;
  let path: string;
  let file: ConfigurationFile;
  let lines: string[];
  const seen: string[][] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchyard-configuration-'));
    path = join(folder, 'gateway.json');
    lines = [];
    seen.length = 0;
    const sink = new Writable({
      write: (line, _encoding, taken) => {
        lines.push(String(line));
        taken();
      },
    });
    file = new ConfigurationFile(path, { KEY: 'secret-value' }, loggerOn('info', sink));
  });
  afterEach(async () => {
    file.close();
    await rm(folder, { recursive: true });
  });

  const watched = () => file.watch(({ models }: GatewayConfiguration) => void seen.push(Object.keys(models)));

  const refused = async (text: string | null) => {
    if (text !== null) await writeFile(path, text);
    try {
      await file.load();
    } catch (error) {
      assert.ok(error instanceof StartupError);
      return error.message;
    }
    return assert.fail('it is taken');
  };

  it('accepts a byte order mark at the start of the file', async () => {
    await writeFile(path, `\uFEFF${withModel('m')}`);
    assert.deepEqual(Object.keys((await file.load()).models), ['m']);
  });

  it('fails a start with one line that names the file and the issues', async () => {
    assert.equal(await refused(null), `GATEWAY_CONFIG=${path}: the file cannot be read (ENOENT)`);
    assert.match(await refused('{"models":'), /: the file is not JSON: /);
    assert.match(await refused('[]'), /: the file must be an object$/);
    assert.match(
      await refused('{"modells":{},"voices":7}'),
      /: \/modells is not a setting: .*; \/voices must be an object$/,
    );
    assert.match(await refused(JSON.stringify({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1 })), /; 2 more$/);
  });

  it('applies a changed file, and reads it again on request', async () => {
    await writeFile(path, withModel('one'));
    assert.deepEqual(Object.keys((await file.load()).models), ['one']);
    watched();
    await writeFile(path, withModel('second'));
    await eventually(() => seen.length === 1, 'the change');
    await writeFile(path, withModel('3'));
    await file.reload();
    assert.deepEqual(seen, [['second'], ['3']]);
    await file.reload();
    assert.equal(seen.length, 2, 'the same again is not a change');
  });

  it('applies a file that is replaced through a link', async () => {
    await writeFile(join(folder, 'a.json'), withModel('one'));
    await writeFile(join(folder, 'b.json'), withModel('two'));
    await symlink('a.json', path);
    await file.load();
    watched();
    await symlink('b.json', join(folder, 'new'));
    await rename(join(folder, 'new'), path);
    await eventually(() => seen.length === 1, 'the change');
    assert.deepEqual(seen, [['two']]);
  });

  it('keeps the running configuration while the file is invalid or missing, logs that, and applies the next valid one', async () => {
    await writeFile(path, withModel('one'));
    await file.load();
    watched();
    await writeFile(path, JSON.stringify({ providers: { p: { kind: 'x', apiKeyEnv: 'KEY' } } }));
    await file.reload();
    await rm(path);
    await file.reload();
    assert.deepEqual(seen, []);
    assert.match(lines[0] ?? '', /\/providers\/p\/kind must be one of .*refused: the running one is kept/);
    assert.match(lines.join(''), /cannot be read \(ENOENT\)/);
    assert.doesNotMatch(lines.join(''), /secret-value/);
    await writeFile(path, withModel('two'));
    await file.reload();
    assert.deepEqual(seen, [['two']]);
  });

  it('applies a file that its writer has half written when it is read, and logs no refusal', async () => {
    const whole = withModel('two');
    await writeFile(path, withModel('one'));
    await file.load();
    watched();
    await writeFile(path, whole.slice(0, 20));
    const reloaded = file.reload();
    await setTimeout(20);
    // Written synchronously, so that the file is complete before the timer of the second read fires on a busy machine.
    writeFileSync(path, whole);
    await reloaded;
    assert.deepEqual(seen, [['two']]);
    assert.doesNotMatch(lines.join(''), /refused/);
  });

  it('reports no change after it is closed', async () => {
    await writeFile(path, withModel('one'));
    await file.load();
    watched();
    file.close();
    await writeFile(path, withModel('two'));
    await file.reload();
    assert.deepEqual(seen, []);
  });

  it('refuses a file that is not read in time, and reads a later one', async () => {
    await writeFile(path, withModel('one'));
    await file.load();
    watched();
    const silent = `${path}.silent`;
    execFileSync('mkfifo', [silent]);
    await rename(silent, path);
    {
      using time = new SimulatedTime(new Random(1)).install();
      const reading = file.reload();
      // The second read in a row finds the same.
      await time.pass(70_000);
      await reading;
    }
    assert.match(lines.join(''), /the file was not read within 30 s/);
    // Ends the reads.
    await writeFile(path, '');
    await rm(path);
    await writeFile(path, withModel('two'));
    await file.reload();
    assert.deepEqual(seen, [['two']]);
  });
});
