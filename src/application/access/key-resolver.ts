import type { StreamWriter } from '#application/streams/stream-writer.ts';
import { type ApiKeyState, allKeys, apiKey, keyCutoff } from '#domain/api-key/api-key.ts';
import { hashKey, maxKeyCharacters } from '#domain/api-key/secret.ts';
import { type Caller, effectiveScopes, type Tenant } from '#domain/shared/access.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { countedCache } from '#shared/memory/counted-cache.ts';
import type { KeyFollower } from './key-follower.ts';
import type { KeyUsage } from './key-usage.ts';

/**
 * While the event store is unavailable, gateway calls and reads use remembered keys for some time; a command needs the
 * store anyway.
 */
export type KeyUse = 'streaming' | 'query' | 'command';

export interface KeyResolverOptions {
  readonly writer: Pick<StreamWriter, 'load'>;
  readonly follower: Pick<KeyFollower, 'hasBegun' | 'seenEndAt' | 'isStoreAway' | 'seeEnd'>;
  readonly documents: Pick<ReadStore, 'get'>;
  readonly usage: Pick<KeyUsage, 'touch'>;
}

const maxHolders = 10_000;
/** Maximum number of remembered secrets. Others are looked up in the read model. */
const maxSecrets = 100_000;
/**
 * A cached key is used this long without reading the log. A revocation on another node takes effect within this time.
 */
const freshMs = 1_000;
/** While the event store is unavailable, a key that was valid within this time is accepted. */
const rememberedMs = 5 * 60_000;
/** Maximum wait of a request with a remembered key for the event store. */
const maxReadWaitMs = 1_000;
/** Maximum number of reads of a stream in a row, while the follower gets events that the reads lack. */
const maxReads = 5;

interface Load {
  readonly startedAt: number;
  readonly holder: Promise<CachedKey>;
  /** The next read, for callers who need what was stored after this read began. */
  next: Promise<CachedKey> | null;
}

interface KnownSecret {
  readonly keyId: string;
  /** From this revision on, the key's stream has the event that issued the secret. */
  readonly revision: number;
}

/**
 * Finds the caller of a presented key by the SHA-256 of its text, so that secrets are never compared character by
 * character. The key's own stream decides whether it is valid; read models only map old secrets to keys.
 */
export class KeyResolver {
  readonly #options: KeyResolverOptions;
  /** Secrets by their SHA-256, from the log or from a read model. */
  readonly #secrets = countedCache<KnownSecret>(maxSecrets);
  /** The SHA-256 of texts that no read model showed within the last second, so that guesses cost little. */
  readonly #unknown = countedCache<true>(maxHolders, { ttl: freshMs, ttlResolution: 0, perf: clock });
  readonly #holders = countedCache<CachedKey>(maxHolders);
  /** The revision of each key's stream. An older read is not current. */
  readonly #revisions = countedCache<number>(maxHolders);
  readonly #loads = new Map<string, Load>();
  /** Secrets issued before it have expired. In ms since 1970; null until it is read. */
  #issuedBefore: number | null = null;

  constructor(options: KeyResolverOptions) {
    this.#options = options;
  }

  /** Null for an invalid key. @throws UnavailableError if this cannot be decided */
  resolve = async (presented: string, use: KeyUse): Promise<Caller | null> => {
    if (presented.length > maxKeyCharacters) return null;
    const secretHash = hashKey(presented);
    const keyId = this.#secrets.get(secretHash)?.keyId ?? (await this.#findKeyId(secretHash));
    return keyId === null ? null : this.resolveSecret({ keyId, secretHash }, use);
  };

  /**
   * The caller of a secret whose key was found before; null if it is not valid any more.
   * @throws UnavailableError if this cannot be decided
   */
  resolveSecret = async (
    { keyId, secretHash }: { readonly keyId: string; readonly secretHash: string },
    use: KeyUse,
  ): Promise<Caller | null> => {
    const known = this.#freshHolder(keyId) ?? (await this.#confirmedHolder(keyId, use));
    const holder = this.#decides(known, secretHash) ? known : await this.#readAfterIssue(keyId, secretHash);
    if (holder.secrets.has(secretHash)) this.#remember(secretHash, keyId, holder);
    // An event may have made the cutoff unknown while the key was read.
    const issuedBefore = this.#issuedBefore ?? (await this.#loadCutoff());
    const time = clock.time();
    const caller = authenticate(holder, secretHash, issuedBefore, time);
    if (caller !== null) this.#options.usage.touch(keyId, time);
    return caller;
  };

  /**
   * Receives events of this node and of others. They may come twice and in any order. An event that this release cannot
   * read counts as a change too: the next reader of its stream finds it.
   */
  see = (events: ReadonlyArray<RecordedEvent>): void => {
    for (const event of events) {
      const keyId = event.stream.slice(event.stream.indexOf('-') + 1);
      switch (event.type) {
        case 'ApiKeySecretsEnded':
          this.#endSecrets(event);
          break;
        case 'ApiKeyCreated':
        case 'ApiKeyRotated':
          this.#issueSecret(event, keyId);
          this.#change(keyId, event.revision);
          break;
        case 'ApiKeyRevoked':
          this.#change(keyId, event.revision);
          this.#holders.set(keyId, revokedHolder(event.revision));
      }
    }
  };

  #issueSecret(event: RecordedEvent, keyId: string): void {
    const secretHash = textIn(event, 'secretHash');
    if (secretHash === null) return;
    this.#secrets.set(secretHash, { keyId, revision: event.revision });
    this.#unknown.delete(secretHash);
  }

  #change(keyId: string, revision: number): void {
    this.#noteRevision(keyId, revision);
    const holder = this.#holders.get(keyId);
    if (holder === undefined || holder.revision >= revision) return;
    this.#holders.delete(keyId);
    // Reads now, because the event store may be unavailable at the next request.
    void this.#load(keyId).catch(() => undefined);
  }

  #noteRevision(keyId: string, revision: number): void {
    if (revision > (this.#revisions.get(keyId) ?? -1)) this.#revisions.set(keyId, revision);
  }

  #endSecrets(event: RecordedEvent): void {
    const issuedBefore = textIn(event, 'issuedBefore');
    if (issuedBefore === null) this.#forgetHolders();
    else this.#raiseCutoff(Date.parse(issuedBefore));
  }

  #forgetHolders(): void {
    this.#issuedBefore = null;
    this.#holders.clear();
  }

  #raiseCutoff(issuedBefore: number): void {
    this.#issuedBefore = Math.max(this.#issuedBefore ?? 0, issuedBefore);
  }

  /** The cached key, only if no event from more than a second ago can have changed it. */
  #freshHolder(keyId: string): CachedKey | null {
    const holder = this.#holders.get(keyId);
    if (holder === undefined) return null;
    const now = clock.now();
    if (now - Math.max(holder.asOf, this.#options.follower.seenEndAt) > freshMs) return null;
    if (holder.confirmedAt < now) holder.confirmedAt = now;
    return holder;
  }

  /** The key from its stream; while the event store is unavailable, a key that was valid recently. */
  async #confirmedHolder(keyId: string, use: KeyUse): Promise<CachedKey> {
    const remembered = use === 'command' ? null : this.#rememberedHolder(keyId);
    if (remembered === null) return this.#load(keyId);
    if (this.#options.follower.isStoreAway) return remembered;
    try {
      const loaded = await withTimeout(maxReadWaitMs, this.#load(keyId), null);
      if (loaded !== null) return loaded;
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
    }
    // The key may have been revoked meanwhile.
    return this.#rememberedHolder(keyId) ?? remembered;
  }

  #rememberedHolder(keyId: string): CachedKey | null {
    const holder = this.#holders.get(keyId);
    return holder !== undefined && clock.now() - holder.confirmedAt <= rememberedMs ? holder : null;
  }

  /**
   * A read model or another node's session may show a secret before this node gets the event that issued it: then the
   * key must be read again.
   */
  #decides(holder: CachedKey, secretHash: string): boolean {
    if (holder.secrets.has(secretHash) || holder.asOf === never) return true;
    const known = this.#secrets.get(secretHash);
    return known !== undefined && known.revision <= holder.revision;
  }

  /** Remembers a secret that a read model or a session named, so that it is looked up once. */
  #remember(secretHash: string, keyId: string, { revision }: CachedKey): void {
    if (!this.#secrets.has(secretHash)) this.#secrets.set(secretHash, { keyId, revision });
  }

  /** @throws UnavailableError */
  async #readAfterIssue(keyId: string, secretHash: string): Promise<CachedKey> {
    if (this.#options.follower.isStoreAway) throw storeAwayError();
    const holder = await this.#loadFromNow(keyId);
    // A secret that the key does not have by now has ended permanently.
    this.#secrets.set(secretHash, { keyId, revision: holder.revision });
    return holder;
  }

  /** Starts a read now. No read that runs already counts, but callers share the next one. */
  #loadFromNow(keyId: string): Promise<CachedKey> {
    const running = this.#loads.get(keyId);
    if (running === undefined || clock.now() - running.startedAt > freshMs) return this.#load(keyId);
    const load = () => this.#load(keyId);
    running.next ??= running.holder.then(load, load);
    return running.next;
  }

  /** Callers within the same second share one read. */
  #load(keyId: string): Promise<CachedKey> {
    const startedAt = clock.now();
    const running = this.#loads.get(keyId);
    if (running !== undefined && startedAt - running.startedAt <= freshMs) return running.holder;
    const load: Load = {
      startedAt,
      holder: this.#read(keyId, startedAt).finally(() => {
        if (this.#loads.get(keyId) === load) this.#loads.delete(keyId);
      }),
      next: null,
    };
    this.#loads.set(keyId, load);
    return load.holder;
  }

  async #read(keyId: string, startedAt: number, triesLeft = maxReads): Promise<CachedKey> {
    const { writer } = this.#options;
    if (triesLeft === 0)
      throw new UnavailableError(`The event store lacks events of the API key ${keyId} that were stored.`);
    const [stream, cutoffAsOf] = await Promise.all([
      writer.load(apiKey, keyId, this.#revisions.get(keyId)),
      this.#readCutoff(startedAt),
    ]);
    // An event arrived during the read.
    if (stream.revision < (this.#revisions.get(keyId) ?? -1)) return this.#read(keyId, startedAt, triesLeft - 1);
    const holder = keyHolder(stream, Math.min(startedAt, cutoffAsOf));
    this.#noteRevision(keyId, holder.revision);
    const before = this.#holders.get(keyId);
    if (before === undefined || before.revision <= holder.revision) this.#holders.set(keyId, holder);
    return holder;
  }

  async #loadCutoff(): Promise<number> {
    await this.#readCutoff(clock.now());
    return this.#issuedBefore ?? 0;
  }

  /** Cached. @returns the time of the read */
  async #readCutoff(startedAt: number): Promise<number> {
    const { writer, follower } = this.#options;
    if (this.#issuedBefore !== null && startedAt - follower.seenEndAt <= freshMs) return follower.seenEndAt;
    const { state } = await writer.load(keyCutoff, allKeys);
    this.#raiseCutoff(state.issuedBefore === null ? 0 : Date.parse(state.issuedBefore));
    return startedAt;
  }

  /** Finds the key in a read model, or in the log up to its present end. */
  async #findKeyId(secretHash: string): Promise<string | null> {
    const { follower } = this.#options;
    const { hasBegun } = follower;
    const [shown] = await Promise.allSettled([this.#findShown(secretHash)]);
    if (shown.status === 'fulfilled' && shown.value !== null) return shown.value;
    if (!(await follower.seeEnd(maxReadWaitMs))) throw storeAwayError();
    const followed = this.#secrets.get(secretHash);
    if (followed !== undefined) return followed.keyId;
    if (shown.status === 'rejected') throw shown.reason;
    // The follower has begun meanwhile, and what was stored before that is in the read model alone.
    if (!hasBegun) return this.#findKeyId(secretHash);
    this.#unknown.set(secretHash, true);
    return null;
  }

  /** Finds the key in a read model, which may lag; null without a key. @throws UnavailableError */
  async #findShown(secretHash: string): Promise<string | null> {
    if (this.#unknown.has(secretHash)) return null;
    const document = await this.#options.documents.get<{ keyId: string }>('api-key-secrets', secretHash);
    return document?.value.keyId ?? null;
  }
}

function storeAwayError(): UnavailableError {
  return new UnavailableError('The API key cannot be checked, because the event store does not answer.');
}

/** Null if this release cannot read the event. */
function textIn(event: RecordedEvent, member: string): string | null {
  try {
    return String(event.data[member]);
  } catch (error) {
    if (error instanceof UnreadableEventError) return null;
    throw error;
  }
}

/** A secret of a key. Times are in ms since 1970. */
interface HeldSecret {
  readonly issuedAt: number;
  /** When it expires because it was replaced. */
  readonly validUntil: number;
}

/** The key as it was read from its stream. */
export interface CachedKey {
  /** Null for a key that is revoked or does not exist. */
  readonly caller: Caller | null;
  readonly secrets: ReadonlyMap<string, HeldSecret>;
  /** In ms since 1970. */
  readonly expiresAt: number;
  readonly revision: number;
  /**
   * The key contains everything that was stored before this moment of the node's clock. A revoked key never changes, so
   * this is infinite.
   */
  readonly asOf: number;
  /** When the log last confirmed the key, on the node's clock. */
  confirmedAt: number;
}

const never = Number.POSITIVE_INFINITY;

/** @param stream the key's, as read @param asOf when the read began, on the node's clock */
export function keyHolder(
  stream: { readonly state: ApiKeyState; readonly tenant: Tenant | null; readonly revision: number },
  asOf: number,
): CachedKey {
  const { state, tenant, revision } = stream;
  if (state === null || tenant === null) return { ...revokedHolder(revision), asOf, confirmedAt: asOf };
  if (state.revoked) return revokedHolder(revision);
  const { id, keyType, projectId, organizationId, scopes, expiresAt } = state.record;
  return {
    caller: {
      keyId: id,
      keyType,
      projectId,
      organizationId,
      partnerId: tenant.partnerId,
      scopes: effectiveScopes(keyType, scopes),
      hasAllScopes: scopes === null,
    },
    secrets: new Map(
      state.secrets.map(({ hash, issuedAt, validUntil }) => [
        hash,
        { issuedAt: Date.parse(issuedAt), validUntil: timeOf(validUntil) },
      ]),
    ),
    expiresAt: timeOf(expiresAt),
    revision,
    asOf,
    confirmedAt: asOf,
  };
}

/** A revoked key never becomes valid again. @param revision the last known one of its stream */
function revokedHolder(revision: number): CachedKey {
  return { caller: null, secrets: new Map(), expiresAt: never, revision, asOf: never, confirmedAt: never };
}

/**
 * Null if the secret is not valid.
 * @param issuedBefore secrets issued before this time have expired, in ms since 1970
 * @param now in ms since 1970
 */
export function authenticate(
  { caller, secrets, expiresAt }: CachedKey,
  secretHash: string,
  issuedBefore: number,
  now: number,
): Caller | null {
  const secret = secrets.get(secretHash);
  if (caller === null || secret === undefined) return null;
  const works = secret.issuedAt >= issuedBefore && now < secret.validUntil && now < expiresAt;
  return works ? caller : null;
}

function timeOf(time: string | null): number {
  return time === null ? never : Date.parse(time);
}
