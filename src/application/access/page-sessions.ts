import { hash, randomBytes } from 'node:crypto';
import { createId } from '@paralleldrive/cuid2';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { LRUCache } from 'lru-cache';
import { hashKey } from '#domain/api-key/secret.ts';
import type { Caller } from '#domain/shared/access.ts';
import type { RecordStore } from '#records/record-store.ts';
import { clock } from '#shared/clock.ts';
import type { Json } from '#shared/json/json.ts';
import type { KeyResolver, KeyUse } from './key-resolver.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export const maxSessionMs = 12 * hourMs;
/** A session ends after this time without a request. */
export const maxRestMs = hourMs;
/** The oldest ends when another one begins. */
const maxSessionsOfKey = 20;
const maxEndedAtATime = 100;
/** Minimum time between two stored uses of a session. */
const noteUseMs = minuteMs;
/**
 * A session that was read is used this long without reading it again. Its end on another node takes effect within this
 * time.
 */
const freshMs = 1_000;
const maxCached = 10_000;
/** Each sign-in looks at this number of stored sessions, to remove those that are over. */
const sweptAtATime = 20;

const tokenBytes = 32;
/** 32 random bytes in base64url. */
export const tokenForm = /^[A-Za-z0-9_-]{43}$/;

const StoredSession = t.type({ keyId: t.string, secretHash: t.string, startedAt: t.number });
const StoredUse = t.type({ usedAt: t.string });
const StoredSessionOfKey = t.type({ id: t.string, startedAt: t.number });

/** A time that no session reaches, in ms since 1970. Times before it have as many digits when they are counted back from it. */
const lastTime = 9_999_999_999_999;

interface SessionPlace extends t.TypeOf<typeof StoredSessionOfKey> {
  readonly keyId: string;
}

/** A session whose times are in ms since 1970. */
interface KnownSession extends t.TypeOf<typeof StoredSession> {
  usedAt: number;
  notedAt: number;
}

export interface PageSessionsOptions {
  readonly records: Pick<RecordStore, 'read' | 'get' | 'put' | 'delete' | 'page'>;
  readonly keys: Pick<KeyResolver, 'resolve' | 'resolveSecret'>;
}

/**
 * The sessions of the dashboard. A session is opened with a key and lasts as long as the secret that opened it, 12 hours,
 * and an hour without a request at most. Only the SHA-256 of its token is stored, in rows that every node reads.
 */
export class PageSessions {
  readonly #options: PageSessionsOptions;
  /** Sessions by the SHA-256 of the token; null for a session that does not exist. */
  readonly #known = new LRUCache<string, { readonly session: KnownSession | null }>({
    max: maxCached,
    ttl: freshMs,
    ttlResolution: 0,
  });

  constructor(options: PageSessionsOptions) {
    this.#options = options;
  }

  /** @returns its token; null for an invalid key @throws UnavailableError */
  async open(presentedKey: string): Promise<string | null> {
    const caller = await this.#options.keys.resolve(presentedKey, 'query');
    if (caller === null) return null;
    const token = randomBytes(tokenBytes).toString('base64url');
    const id = idOf(token);
    const startedAt = clock.time();
    const { keyId } = caller;
    const session = { keyId, secretHash: hashKey(presentedKey), startedAt };
    await this.#options.records.put('sessions', new Map([[id, session]]));
    await this.#list(keyId, [{ id, startedAt }]);
    await this.#endOldest(keyId);
    await this.#sweep();
    return token;
  }

  /** Null if the session is over. @throws UnavailableError */
  async callerOf(token: string, use: KeyUse): Promise<Caller | null> {
    const id = idOf(token);
    const session = await this.#read(id);
    if (session === null) return null;
    const now = clock.time();
    if (isOver(session, now)) {
      await this.#end([{ id, ...session }]);
      return null;
    }
    const caller = await this.#options.keys.resolveSecret(session, use);
    if (caller !== null) this.#noteUse(id, session, now);
    return caller;
  }

  /** True if the session is valid. This is not a use of the session. @throws UnavailableError */
  async isValid(token: string): Promise<boolean> {
    const session = await this.#read(idOf(token));
    if (session === null || isOver(session, clock.time())) return false;
    return (await this.#options.keys.resolveSecret(session, 'query')) !== null;
  }

  /** @throws UnavailableError */
  async end(token: string): Promise<void> {
    const id = idOf(token);
    const session = await this.#read(id);
    if (session !== null) await this.#end([{ id, ...session }]);
  }

  async #read(id: string): Promise<KnownSession | null> {
    const known = this.#known.get(id);
    if (known !== undefined) return known.session;
    const [stored, use] = await this.#options.records.read([
      { kind: 'sessions', key: id },
      { kind: 'session-uses', key: id },
    ]);
    const decoded = StoredSession.decode(stored);
    const session = E.isRight(decoded) ? knownSession(decoded.right, usedAtOf(use)) : null;
    this.#known.set(id, { session });
    return session;
  }

  /**
   * Stores the use once a minute. It is a row of its own: a write that comes after the end of the session cannot
   * restore the session.
   */
  #noteUse(id: string, session: KnownSession, now: number): void {
    session.usedAt = now;
    if (now - session.notedAt < noteUseMs) return;
    session.notedAt = now;
    const use = new Map([[id, { usedAt: new Date(now).toISOString() }]]);
    // The next use is stored in a minute.
    void this.#options.records.put('session-uses', use, { keep: 'greater' }).catch(() => undefined);
  }

  /** The rows of the key go last, so that a crash leaves no session that is not counted. */
  async #end(places: ReadonlyArray<SessionPlace>): Promise<void> {
    if (places.length === 0) return;
    await this.#delete(places.map(({ id }) => id));
    await this.#options.records.delete('sessions-of-keys', places.map(rowOf));
  }

  async #delete(ids: ReadonlyArray<string>): Promise<void> {
    for (const id of ids) this.#known.delete(id);
    await this.#options.records.delete('sessions', ids);
    await this.#options.records.delete('session-uses', ids);
  }

  #list(keyId: string, sessions: ReadonlyArray<t.TypeOf<typeof StoredSessionOfKey>>): Promise<void> {
    const rows = sessions.map(({ id, startedAt }) => [rowOf({ id, startedAt, keyId }), { id, startedAt }] as const);
    return this.#options.records.put('sessions-of-keys', new Map(rows));
  }

  /**
   * Ends the sessions of a key that are too many or too old. Each sign-in adds its row before it comes here, so of many at
   * the same time the last one finds the rows of all.
   */
  async #endOldest(keyId: string): Promise<void> {
    const { records } = this.#options;
    const now = clock.time();
    const limit = maxSessionsOfKey + maxEndedAtATime;
    for (let found = limit; found === limit; ) {
      const rows = await records.page('sessions-of-keys', { after: `${keyId}/`, before: `${keyId}0`, limit });
      const listed = [...rows.values()].filter(StoredSessionOfKey.is);
      const over = listed.filter(
        ({ startedAt }, place) => place >= maxSessionsOfKey || now - startedAt >= maxSessionMs,
      );
      await this.#end(over.map(({ id, startedAt }) => ({ id, startedAt, keyId })));
      found = listed.length;
    }
  }

  /** Removes old sessions, whoever has opened them. */
  async #sweep(): Promise<void> {
    const now = clock.time();
    const isOld = (startedAt: number) => now - startedAt >= maxSessionMs;
    const over: string[] = [];
    for (const [id, stored] of await this.#someOf('sessions'))
      if (!StoredSession.is(stored) || isOld(stored.startedAt)) over.push(id);
    for (const [id, use] of await this.#someOf('session-uses')) if (isOld(usedAtOf(use))) over.push(id);
    if (over.length > 0) await this.#delete(over);
    const unlisted: string[] = [];
    for (const [row, stored] of await this.#someOf('sessions-of-keys'))
      if (!StoredSessionOfKey.is(stored) || isOld(stored.startedAt)) unlisted.push(row);
    if (unlisted.length > 0) await this.#options.records.delete('sessions-of-keys', unlisted);
  }

  /** Reads some rows from a random place on; those at the beginning follow the last one. */
  async #someOf(kind: 'sessions' | 'session-uses' | 'sessions-of-keys'): Promise<ReadonlyMap<string, Json>> {
    const { records } = this.#options;
    const after = kind === 'sessions-of-keys' ? `c${createId()}` : randomBytes(tokenBytes).toString('hex');
    const found = await records.page(kind, { after, limit: sweptAtATime });
    if (found.size === sweptAtATime) return found;
    return new Map([...found, ...(await records.page(kind, { limit: sweptAtATime - found.size }))]);
  }
}

function idOf(token: string): string {
  return hash('sha256', token);
}

/** The key of a session's row. The newest session of a key comes first. */
function rowOf({ id, keyId, startedAt }: SessionPlace): string {
  return `${keyId}/${lastTime - startedAt}/${id}`;
}

function knownSession(stored: t.TypeOf<typeof StoredSession>, usedAt: number): KnownSession {
  const lastUse = Math.max(stored.startedAt, usedAt);
  return { ...stored, usedAt: lastUse, notedAt: lastUse };
}

/** In ms since 1970; 0 for a session that was not used. */
function usedAtOf(stored: unknown): number {
  const decoded = StoredUse.decode(stored);
  const usedAt = E.isRight(decoded) ? Date.parse(decoded.right.usedAt) : 0;
  return Number.isNaN(usedAt) ? 0 : usedAt;
}

function isOver({ startedAt, usedAt }: KnownSession, now: number): boolean {
  return now - startedAt >= maxSessionMs || now - usedAt >= maxRestMs;
}
