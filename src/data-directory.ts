import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartFailure } from '#src/start-failure.ts';
import { isDiskFull } from './disk-full.ts';
import { keepDiskReserve } from './disk-reserve.ts';

/** Who owns a folder, as it says itself. */
export interface DataDirectoryOwner {
  readonly pid: number;
  /** RFC 3339 UTC. */
  readonly startedAt: string;
  /** Where the running service listens, once it does. */
  readonly url?: string;
}

/** The folder of the embedded stores, owned by this process until it is released. */
export interface DataDirectory {
  readonly path: string;
  /** Says in `owner.json` where the service listens, for command-line tools. */
  announce(url: string): void;
  /** Gives the folder up. May be called again. */
  release(): void;
}

// A SQLite transaction holds the lock (a POSIX record lock), so the system releases it however the process ends. The
// file must never be opened by other means in the owning process: closing it there would drop the lock.
const lockFile = 'lock.sqlite';

/** Nobody else may refer to a lock any more while it is held: collected as garbage, it would be let go. */
const held = new Set<DatabaseSync>();
const ownerFile = 'owner.json';

/**
 * Makes the folder if need be (for its owner alone) and takes it for this process.
 * @param path of the folder
 * @throws StartFailure when a running process owns it, or when it cannot be made or written
 */
export function openDataDirectory(path: string): DataDirectory {
  makeFolder(path);
  const lock = takeLock(path);
  if (lock === null) throw new StartFailure(`${path} is in use by ${describeOwner(path)}; stop it, or set DATA_DIR.`);
  held.add(lock);
  const owner: DataDirectoryOwner = { pid: process.pid, startedAt: new Date().toISOString() };
  try {
    keepDiskReserve(path);
    writeOwner(path, owner);
  } catch (error) {
    lock.close();
    held.delete(lock);
    throw cannotBeUsed(path, error);
  }
  return {
    path,
    announce: (url) => writeOwner(path, { ...owner, url }),
    release() {
      if (!lock.isOpen) return;
      rmSync(join(path, ownerFile), { force: true });
      lock.close();
      held.delete(lock);
    },
  };
}

/**
 * The running process that owns a folder, for tools that would rather talk to it.
 * @returns null when none runs (or the folder does not exist)
 * @throws StartFailure when the folder cannot be read, or its owner has not said who it is
 */
export function runningOwner(path: string): DataDirectoryOwner | null {
  if (statSync(join(path, lockFile), { throwIfNoEntry: false }) === undefined) return null;
  const lock = takeLock(path);
  if (lock !== null) {
    lock.close();
    return null;
  }
  const owner = announcedOwner(path);
  if (owner === null) throw new StartFailure(`${path} is in use by another process; try again when it has started.`);
  return owner;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw cannotBeUsed(path, error);
  }
}

/** Null when another process holds it. */
function takeLock(path: string): DatabaseSync | null {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(join(path, lockFile), { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (isBusy(error)) return null;
    throw cannotBeUsed(path, error);
  }
}

function isBusy(error: unknown): boolean {
  // https://sqlite.org/rescode.html#busy
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

/** On a full disk nothing is written, and what an earlier owner wrote is removed: the lock alone decides who owns it. */
function writeOwner(path: string, owner: DataDirectoryOwner): void {
  const file = join(path, ownerFile);
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    for (const left of [`${file}.new`, file]) rmSync(left, { force: true });
  }
}

/** Who a folder's owner says it is, whether or not it still runs; null where nobody does. The lock is left alone. */
export function announcedOwner(path: string): DataDirectoryOwner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(join(path, ownerFile), 'utf8'));
    return isOwner(owner) ? owner : null;
  } catch {
    return null;
  }
}

function isOwner(value: unknown): value is DataDirectoryOwner {
  if (typeof value !== 'object' || value === null) return false;
  return 'pid' in value && typeof value.pid === 'number' && 'startedAt' in value && typeof value.startedAt === 'string';
}

function describeOwner(path: string): string {
  const owner = announcedOwner(path);
  return owner === null ? 'another process' : `process ${owner.pid}, running since ${owner.startedAt}`;
}

function cannotBeUsed(path: string, error: unknown): StartFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return new StartFailure(`${path} cannot be used as the data folder (${reason}); set DATA_DIR to another.`, {
    cause: error,
  });
}
