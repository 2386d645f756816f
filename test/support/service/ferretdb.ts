import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { MongoDbProcess, type ServerPlace } from './mongodb-process.ts';

/** The binary that `.ci/ferretdb` builds. */
const binary = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'switchyard',
  'ferretdb-v1.24.2',
  'ferretdb',
);

/** A FerretDB on SQLite. It finds only single documents by an index, and its updates are not atomic. */
export class FerretDb extends MongoDbProcess {
  static get isInstalled(): boolean {
    return existsSync(binary);
  }

  startFull(): Promise<void> {
    // SQLite raises the limit to the current length of the file.
    return this.run((place) => this.#spawn(place, '?_pragma=max_page_count(1)'));
  }

  protected spawn(place: ServerPlace): ChildProcess {
    return this.#spawn(place, '');
  }

  #spawn({ host, port, folder }: ServerPlace, parameters: string): ChildProcess {
    const options = {
      handler: 'sqlite',
      'sqlite-url': `file:${folder}/${parameters}`,
      'state-dir': folder,
      'listen-addr': `${host}:${port}`,
      'debug-addr': '-',
      telemetry: 'disable',
      'log-level': 'error',
    };
    return spawn(
      binary,
      Object.entries(options).map(([name, value]) => `--${name}=${value}`),
      // A test has little data, so frequent garbage collection would only cost time.
      { stdio: 'ignore', env: { ...process.env, DO_NOT_TRACK: '1', GOGC: '400' } },
    );
  }
}
