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
}

interface ServerSwitches extends SecantusDbOptions {
  /** Whether clients must authenticate. */
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
    const data = { failCommands: ['insert', 'update', 'findAndModify', 'create'], errorCode: outOfDiskSpace };
    await this.#call((client) =>
      client.db('admin').command({ configureFailPoint: 'failCommand', mode: 'alwaysOn', data }),
    );
  }

  /** Starts it for clients that authenticate. @param createUsers runs before, because later it would need a user itself */
  async startWithUsers(createUsers: (client: MongoClient) => Promise<void>): Promise<void> {
    await this.start();
    await this.#call(createUsers);
    await this.stop();
    await this.run((place) => spawnServer(place, { ...this.#options, auth: true }));
  }

  protected spawn(place: ServerPlace): ChildProcess {
    return spawnServer(place, this.#options);
  }

  async #call(work: (client: MongoClient) => Promise<unknown>): Promise<void> {
    const client = new MongoClient(this.newUrl());
    try {
      await work(client);
    } finally {
      await client.close();
    }
  }
}

function spawnServer({ host, port, folder }: ServerPlace, switches: ServerSwitches): ChildProcess {
  const { syncOnCommit = false, testCommands = false, auth = false } = switches;
  const place = ['--host', host, '--port', `${port}`, '--storage-path', folder];
  const flags = [
    ...(syncOnCommit ? ['--sync-on-commit'] : []),
    ...(testCommands ? ['--enable-test-commands'] : []),
    ...(auth ? ['--auth'] : []),
  ];
  // `-I`: a folder or a variable of this machine adds no module.
  return spawn(python, ['-I', '-m', 'secantus', ...place, '--log-level', 'ERROR', ...flags], { stdio: 'ignore' });
}
