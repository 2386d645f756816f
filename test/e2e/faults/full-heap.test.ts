import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { newProject } from '#test/e2e/support/tenants.ts';
import { long } from '#test/support/run/long.ts';
import {
  type ServiceEnvironment,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';

const growing = resolve(import.meta.dirname, '../../support/memory/growing-heap.mjs');
const maxHeapMb = 160;

/** The service in a process whose main thread runs out of memory on a signal. */
describe('a main thread that runs out of memory', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  const started: ServiceProcess[] = [];

  beforeEach(() => {
    folder = temporaryFolder();
  });

  afterEach(async () => {
    for (const service of started.splice(0)) await service.kill();
    folder.remove();
  });

  const start = async (variables: ServiceEnvironment = {}) => {
    const environment = { NODE_OPTIONS: `--import=${growing}`, ...variables };
    const service = await startService({ dataDir: folder.path, maxHeapMb, environment });
    started.push(service);
    return service;
  };

  it(`ends the process with one line that names it and its bound, and loses nothing that was acknowledged ${long}`, async () => {
    const service = await start();
    const projectId = await newProject(service.client);
    process.kill(service.pid, 'SIGUSR2');
    const { code, signal } = await service.ended();
    assert.deepEqual([code, signal, service.stderr], [1, null, '']);
    const lines = service.stdout.trim().split('\n');
    assert.equal(lines.length, 1, service.stdout);
    const { level, msg } = JSON.parse(lines[0] ?? '');
    assert.equal(level, 'fatal');
    assert.equal(msg, `The main thread has run out of memory: its heap may have ${maxHeapMb} MB.`);
    const next = await start();
    expectStatus(await next.client.get(`/v1/projects/${projectId}`), 200);
  });

  it(`is not one that makes garbage ${long}`, async () => {
    const service = await start({ GARBAGE: 'true' });
    process.kill(service.pid, 'SIGUSR2');
    await sleep(3_000);
    expectStatus(await service.client.get('/healthz'), 200);
    assert.equal((await service.stop()).code, 0);
    assert.equal(service.stdout + service.stderr, '');
  });
});
