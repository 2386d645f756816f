import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isDiskFull } from '#application/operations/unexpected-error.ts';

export interface LockOwner {
  readonly pid: number;
  /** RFC 3339 UTC. */
  readonly startedAt: string;
  /** The URL on which the service listens; undefined before that. */
  readonly url?: string;
}

export interface LockFiles {
  /**
   * A SQLite transaction on this file is the lock (a POSIX record lock), so the system releases it however the process
   * ends. The owning process must not open the file in any other way, because closing it would release the lock.
   */
  readonly lock: string;
  /** The file that names the owner in JSON. This is only a hint, because only the lock decides. */
  readonly owner: string;
}

/** A lock that this process holds until it is released. */
export interface OwnedLock {
  /** Records where the service listens. */
  announce(url: string): void;
  /** May be called again. */
  release(): void;
}

/** Keeps a reference to each held lock, because garbage collection would release it. */
const held = new Set<DatabaseSync>();

/**
 * Records this process as the owner.
 * @param prepare runs while the lock is held; if it fails, the lock is released
 * @returns null if another process, or this one, holds the lock
 * @throws Error of the file system or of SQLite if a file cannot be created or written
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

/** @throws Error of the file system or of SQLite if the file cannot be opened */
export function isLocked(files: LockFiles): boolean {
  const lock = takeLock(files.lock);
  lock?.close();
  return lock === null;
}

/** The recorded owner, whether or not it still runs; null without one. Does not touch the lock. */
export function readLockOwner(files: LockFiles): LockOwner | null {
  try {
    const owner: unknown = JSON.parse(readFileSync(files.owner, 'utf8'));
    return isOwner(owner) ? owner : null;
  } catch {
    return null;
  }
}

/** Describes the owner in an error's text. */
export function describeOwner(files: LockFiles): string {
  const owner = readLockOwner(files);
  return owner === null ? 'another process' : `process ${owner.pid}, running since ${owner.startedAt}`;
}

/** Null if another process holds it. */
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

/**
 * On a full disk it writes nothing, and removes the record of an earlier owner. Only the lock decides who the owner is.
 */
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
