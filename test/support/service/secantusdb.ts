import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { MongoDbProcess, type ServerPlace } from './mongodb-process.ts';

const requirements = readFileSync(join(import.meta.dirname, '../../../.ci/secantusdb.txt'));
const digest = createHash('sha256').update(requirements).digest('hex').slice(0, 12);
/** The Python that `.ci/secantusdb` makes. */
const python = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'switchyard',
  `secantusdb-${digest}`,
  'bin/python',
);

/** MongoDB's code for a disk without space. */
const outOfDiskSpace = 14031;

export interface SecantusDbOptions {
  /** Whether what was acknowledged outlives a kill. */
  readonly syncOnCommit?: boolean;
  /** Whether `configureFailPoint` is answered. */
  readonly testCommands?: boolean;
  /** Whether clients must authenticate. Start once without it to create users, because none is allowed to with it. */
  readonly auth?: boolean;
}

/** A SecantusDB: MongoDB's protocol and semantics on WiredTiger, as the only member of a replica set. */
export class SecantusDb extends MongoDbProcess {
  readonly #options: SecantusDbOptions;

  constructor(options: SecantusDbOptions = {}) {
    super();
    this.#options = options;
  }

  static get isInstalled(): boolean {
    return existsSync(python);
  }

  async startFull(): Promise<void> {
    await this.run((place) => spawnServer(place, { ...this.#options, testCommands: true }));
    const client = new MongoClient(this.newUrl());
    try {
      const data = { failCommands: ['insert', 'update', 'findAndModify', 'create'], errorCode: outOfDiskSpace };
      await client.db('admin').command({ configureFailPoint: 'failCommand', mode: 'alwaysOn', data });
    } finally {
      await client.close();
    }
  }

  protected spawn(place: ServerPlace): ChildProcess {
    return spawnServer(place, this.#options);
  }
}

function spawnServer({ host, port, folder }: ServerPlace, options: SecantusDbOptions): ChildProcess {
  const { syncOnCommit = false, testCommands = false, auth = false } = options;
  const place = ['--host', host, '--port', `${port}`, '--storage-path', folder];
  const switches = [
    ...(syncOnCommit ? ['--sync-on-commit'] : []),
    ...(testCommands ? ['--enable-test-commands'] : []),
    ...(auth ? ['--auth'] : []),
  ];
  // `-I`: a folder or a variable of this machine adds no module.
  return spawn(python, ['-I', '-m', 'secantus', ...place, '--log-level', 'ERROR', ...switches], { stdio: 'ignore' });
}
