import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { long } from '#test/support/run/long.ts';
import { skipOptionalSuite } from '#test/support/run/skipped-suites.ts';
import { adminKey, ServiceProcess } from '#test/support/service/service-process.ts';

/** Mounts a small file system in memory. @returns null when mounting is not permitted */
function mountSmallDisk(): string | null {
  const path = mkdtempSync(join(tmpdir(), 'switchyard-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', path], { stdio: 'ignore' });
    return path;
  } catch {
    rmdirSync(path);
    return null;
  }
}

/** Fills the remaining space. */
function fill(path: string): void {
  for (let bytes = 1024 * 1024, index = 0; bytes >= 1024; index += 1) {
    try {
      writeFileSync(join(path, `filler-${index}`), Buffer.alloc(bytes, 1));
    } catch {
      bytes /= 4;
    }
  }
}

function unmount(path: string): void {
  execFileSync('umount', [path]);
  rmdirSync(path);
}

function canMount(): boolean {
  const path = mountSmallDisk();
  if (path !== null) unmount(path);
  return path !== null;
}

const suite = 'a service on a full disk';
if (canMount()) describe(suite, define);
else skipOptionalSuite(suite, 'run the tests where a file system may be mounted');

function define(this: Mocha.Suite): void {
  this.timeout(240_000);
  let disk: string | null = null;
  let service: ServiceProcess | null = null;

  before(() => {
    disk = mountSmallDisk();
    assert.ok(disk !== null);
  });
  after(async () => {
    await service?.kill();
    if (disk !== null) unmount(disk);
  });

  const start = async (path: string) => {
    service = new ServiceProcess({ dataDir: path, environment: { SPOOL_DIR: tmpdir() } });
    await service.announced();
    return service;
  };
  const get = (path: string) => ask('GET', path);
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${service?.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      json: (await answer.json()) as never,
    };
  };

  it(`starts on a full disk, answers reads, refuses writes with 503, and accepts writes once there is space ${long}`, async () => {
    const path = disk ?? '';
    await (await start(path)).listening();
    const me = (await get('/v1/me')).json as { readonly projectId: string };
    const creation = { name: 'Reception', flowType: 'graph', flowSchema: { text: 'x'.repeat(50_000) } };
    const flows = `/v1/projects/${me.projectId}/flows`;
    assert.equal((await ask('POST', flows, creation)).status, 201);
    assert.equal((await service?.stop())?.code, 0);
    fill(path);
    await start(path);
    assert.equal((await get('/v1/me')).status, 200);
    const list = await get(flows);
    assert.equal(list.status, 200, JSON.stringify(list.json));
    let refused = await ask('POST', flows, creation);
    for (let tries = 0; refused.status === 201 && tries < 100; tries += 1) refused = await ask('POST', flows, creation);
    assert.equal(refused.status, 503, JSON.stringify(refused.json));
    assert.ok(Number(refused.retryAfter) >= 1);
    assert.equal((await get(flows)).status, 200);
    for (const name of readdirSync(path)) if (name.startsWith('filler-')) rmSync(join(path, name));
    assert.equal((await ask('POST', flows, creation)).status, 201);
    assert.equal((await service?.stop())?.code, 0);
  });
}
