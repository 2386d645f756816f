import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { endWithRun } from '#test/support/run/end-with-run.ts';
import { freePort } from '#test/support/run/free-port.ts';
import { long } from '#test/support/run/long.ts';
import { skipOptionalSuite } from '#test/support/run/skipped-suites.ts';
import { composeService, type ServiceInProcess } from '#test/support/service/service-in-process.ts';
import { adminKey, poll, type TemporaryFolder, temporaryFolder } from '#test/support/service/service-process.ts';
import { expectStatus } from './support/expect.ts';

const examples = resolve(import.meta.dirname, '../../examples/feed');
const waitMs = 60_000;

/** A consumer of the feed, as its user runs it. */
class Consumer {
  readonly #child: ChildProcess;
  #output = '';

  constructor(command: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) {
    const [program = '', ...args] = command;
    const env = { PATH: process.env.PATH, ...environment };
    this.#child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    endWithRun(this.#child, 'SIGKILL');
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
  }

  /** The lines so far, without their positions. */
  get lines(): ReadonlyArray<string> {
    return this.#output
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/^\d+ /, ''));
  }

  async kill(): Promise<void> {
    const ended = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

function describeConsumer(name: string, command: ReadonlyArray<string>): void {
  describe(name, function () {
    this.timeout(180_000);
    let folder: TemporaryFolder;
    let service: ServiceInProcess;
    let port: number;

    const start = () => composeService({ dataDir: join(folder.path, 'data'), environment: { PORT: String(port) } });

    before(async () => {
      folder = temporaryFolder();
      port = await freePort();
      service = await start();
    });
    after(async () => {
      await service?.stop();
      folder?.remove();
    });

    it('prints each event once, over restarts of itself and of the service', async () => {
      const environment = {
        API_URL: `http://127.0.0.1:${port}`,
        API_KEY: adminKey,
        POSITION_FILE: join(folder.path, 'position'),
      };
      const named = (of: Consumer) => of.lines.filter((line) => line.startsWith('ProjectCreated'));
      const create = async (project: string) =>
        expectStatus(await service.client.post('/v1/projects', { name: project }), 201);
      const sees = (of: Consumer, count: number) => poll(async () => named(of).length >= count || null, waitMs);

      const first = new Consumer(command, environment);
      // The feed of a consumer without a position begins when it connects.
      const follows = async () => {
        await create('Begin');
        return first.lines.length > 0 && existsSync(environment.POSITION_FILE);
      };
      assert.ok(await poll(follows, waitMs), 'it follows');
      await first.kill();
      await create('While it is down');

      const second = new Consumer(command, environment);
      assert.ok(await sees(second, 1), 'it resumes');
      await service.stop();
      service = await start();
      await create('After a restart');
      const wanted = ['While it is down', 'After a restart'];
      const isDone = () => wanted.every((project) => named(second).some((line) => line.includes(project)));
      assert.ok(await poll(async () => isDone() || null, waitMs), second.lines.join('\n'));
      for (const project of wanted)
        assert.equal(named(second).filter((line) => line.includes(`“${project}”`)).length, 1, project);
      await second.kill();
    });
  });
}

describeConsumer('the consumer of the feed in Node', [process.execPath, join(examples, 'follow-feed.mjs')]);

if (spawnSync('python3', ['--version']).status === 0)
  describeConsumer(`the consumer of the feed in Python ${long}`, ['python3', join(examples, 'follow_feed.py')]);
else skipOptionalSuite(`the consumer of the feed in Python ${long}`, 'install Python 3');
