import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { long } from '#test/support/run/long.ts';
import {
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { expectStatus } from './support/expect.ts';

/** Returns the mode of every file and folder in a folder, by path. */
function modesIn(folder: string): ReadonlyArray<readonly [string, number, boolean]> {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const stats = statSync(join(folder, name));
    return [name, stats.mode & 0o777, stats.isDirectory()];
  });
}

describe('file modes', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  let service: ServiceProcess | null = null;
  let umask: number;

  beforeEach(() => {
    folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    umask = process.umask(0);
  });

  afterEach(async () => {
    process.umask(umask);
    await service?.kill();
    folder.remove();
  });

  function assertPrivate(...expected: string[]): void {
    const modes = modesIn(folder.path);
    for (const [name, mode, isFolder] of modes) assert.equal(mode, isFolder ? 0o700 : 0o600, name);
    const names = modes.map(([name]) => name);
    for (const name of expected) assert.ok(names.includes(name), `${name} is not there: ${names}`);
    assert.equal(statSync(folder.path).mode & 0o777, 0o755);
  }

  const made = [
    'events.db',
    'read.db',
    'subject-keys.db',
    'gateway-calls.db',
    'responses.db',
    'digest-key.pem',
    'lock.sqlite',
    'owner.json',
    'blobs/files',
  ];

  it(`restricts every file and folder to its owner under any umask, including those of an earlier release ${long}`, async () => {
    service = await startService({ dataDir: folder.path });
    expectStatus(await service.client.post('/v1/organizations', { name: 'Any', partner: true }), 201);
    assertPrivate(
      ...made,
      'events.db-wal',
      'events.db-shm',
      'read.db-wal',
      'control.sock',
      'reserve',
      'events.db.lock',
    );
    await service.kill();
    for (const [name, , isFolder] of modesIn(folder.path))
      if (!name.endsWith('.sock')) chmodSync(join(folder.path, name), isFolder ? 0o755 : 0o644);
    writeFileSync(join(folder.path, 'read.db.set-aside-2026'), '', { mode: 0o644 });
    service = await startService({ dataDir: folder.path });
    assertPrivate(...made, 'read.db.set-aside-2026');
  });
});
