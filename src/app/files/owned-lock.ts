import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isDiskFull } from '#application/operations/disk-full.ts';

/** Who holds a lock, as it says itself. */
export interface LockOwner {
  readonly pid: number;
  /** RFC 3339 UTC. */
  readonly startedAt: string;
  /** Where the running service listens, once it does. */
  readonly url?: string;
}

/** The two files of a lock. */
export interface LockFiles {
  /**
   * A SQLite transaction on it is the lock (a POSIX record lock), so the system releases it however the process ends.
   * It must never be opened by other means in the owning process: closing it there would drop the lock.
   */
  readonly lock: string;
  /** Names the owner, in JSON. Only a hint: the lock alone decides. */
  readonly owner: string;
}

/** A lock that this process holds until it is released. */
export interface OwnedLock {
  /** Says where the service listens. */
  announce(url: string): void;
  /** Gives the lock up. May be called again. */
  release(): void;
}

/** Refers to each lock while it is held: collected as garbage, it would be let go. */
const held = new Set<DatabaseSync>();

/**
 * Takes a lock for this process and names it as the owner.
 * @param prepare runs once the lock is held; where it fails, the lock is given up
 * @returns null when another process, or this one, holds it
 * @throws Error of the file system or of SQLite when a file cannot be made or written
 */
export function takeOwnedLock(files: LockFiles, prepare: () => void = () => undefined): OwnedLock | null {
  const lock = takeLock(files.lock);
  if (lock === null) return null;
  const owner: LockOwner = { pid: process.pid, startedAt: new Date().toISOString() };
  try {
    prepare();
    writeOwner(files.owner, owner);
  } catch (error) {
    lock.close();
    throw error;
  }
  held.add(lock);
  return {
    announce: (url) => writeOwner(files.owner, { ...owner, url }),
    release() {
      if (!lock.isOpen) return;
      rmSync(files.owner, { force: true });
      lock.close();
      held.delete(lock);
    },
  };
}

/**
 * Whether a process holds a lock just now.
 * @throws Error of the file system or of SQLite when the file cannot be opened
 */
export function isLocked(files: LockFiles): boolean {
  const lock = takeLock(files.lock);
  lock?.close();
  return lock === null;
}

/** Who a lock's owner says it is, whether or not it still runs; null where there is none. The lock is left alone. */
export function ownerOf(files: LockFiles): LockOwner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(files.owner, 'utf8'));
    return isOwner(owner) ? owner : null;
  } catch {
    return null;
  }
}

/** Names the owner of a lock for an error's text. */
export function describeOwner(files: LockFiles): string {
  const owner = ownerOf(files);
  return owner === null ? 'another process' : `process ${owner.pid}, running since ${owner.startedAt}`;
}

/** Null when it is held. */
function takeLock(file: string): DatabaseSync | null {
  let lock: DatabaseSync | null = null;
  try {
    lock = new DatabaseSync(file, { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  // https://sqlite.org/rescode.html#busy
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;
}

/** On a full disk nothing is written, and what an earlier owner wrote is removed: the lock alone decides who owns it. */
function writeOwner(file: string, owner: LockOwner): void {
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    for (const left of [`${file}.new`, file]) rmSync(left, { force: true });
  }
}

function isOwner(value: unknown): value is LockOwner {
  if (typeof value !== 'object' || value === null) return false;
  return 'pid' in value && typeof value.pid === 'number' && 'startedAt' in value && typeof value.startedAt === 'string';
}
