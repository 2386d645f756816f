import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { failure } from '#domain/shared/failure.ts';
import type { Arrival } from '#exchange/body.ts';
import { ArrivingBodies, type ArrivingBody, type BodyRate } from '#http/request/arriving-bodies.ts';

/** Paths that the reserved connections answer. */
export const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/**
 * Why a connection is not served or ends early: all are taken; too many have no complete head; its request got no place;
 * it was idle; its unfinished body made room for another project; its body came too slowly.
 */
export const refusalReasons = ['all-taken', 'no-head', 'no-place', 'idle', 'body-ended', 'body-slow'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

export interface ConnectionFigures {
  readonly open: number;
  readonly withoutHead: number;
  readonly arrivingBodies: number;
  readonly refused: Readonly<Record<RefusalReason, number>>;
}

export const connectionsFull = failure(
  'connections-full',
  'All connections that this node may have are taken. Try again later, or at another node.',
  { retryAfterSeconds: 1 },
);

export const defaultBodyRate: BodyRate = { minBytesPerSecond: 1_024, measuredMs: 30_000 };
/** Number of checks in the time over which the rate of bodies is measured. */
const checksOfRate = 6;
const maxEndedInTurn = 20;
const maxReserved = 32;
/** The share of connections that may have no complete head, and the largest share that is reserved for health checks. */
const tenth = 10;
/** A connection that is idle for less time may be used again at any moment, so unfinished bodies give way before it. */
const restMs = 5_000;
/** Minimum time between two searches; `maxRemembered` connections are remembered. */
const searchEveryMs = 50;
const maxRemembered = 64;
/** Maximum number of connections beyond the limit, with heads that are not read yet. */
const maxExcess = 512;
/** Connections without heads that close in one turn of the event loop. */
const maxTrimmedInTurn = 100;
/** How soon the search for connections to close is repeated. */
const trimAgainMs = 50;
/** How long a head may take while too many connections have none and half of the places are taken, and while there are more connections than may be. */
const headMs = 1_000;
const scarceHeadMs = 100;
/** How long the search for the key of a request may take while there are more connections than may be. */
const askingMs = 1_000;

/**
 * All connections of a server but a few are places, in which any request is answered. A connection beyond them is read
 * up to its first head: by then it is known whose it is, and whether it asks only for the state of the node.
 */
export class Connections implements ConnectionPlaces {
  readonly bodies = new ArrivingBodies();
  readonly #maxConnections: number;
  readonly #maxExcess: number;
  readonly #places: number;
  readonly #maxWithoutHead: number;
  readonly #bodyRate: BodyRate;
  readonly #withoutHead = new Set<ClientConnection>();
  readonly #withHead = new Set<ClientConnection>();
  readonly #refused = Object.fromEntries(refusalReasons.map((reason) => [reason, 0])) as Record<RefusalReason, number>;
  #taken = 0;
  #isTrimming = false;
  #slowBodyCheck: NodeJS.Timeout | null = null;
  /** The idle connections, the oldest first. */
  #idle: ClientConnection[] = [];
  /** Whether the search found more than it remembers. */
  #isMoreIdle = false;
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(maxConnections: number, rate: BodyRate) {
    const share = Math.floor(maxConnections / tenth);
    this.#maxConnections = maxConnections;
    this.#places = maxConnections - Math.min(maxReserved, share);
    // Without a reserve, no connection beyond the places could be answered.
    this.#maxExcess = share === 0 ? 0 : Math.min(maxExcess, maxConnections);
    this.#maxWithoutHead = Math.max(1, share);
    this.#bodyRate = rate;
  }

  /** The number of accepted connections. Those beyond the limit stay open only for as long as their heads take. */
  get maxAccepted(): number {
    return this.#maxConnections + this.#maxExcess;
  }

  get figures(): ConnectionFigures {
    return {
      open: this.#open,
      withoutHead: this.#withoutHead.size,
      arrivingBodies: this.bodies.size,
      refused: this.#refused,
    };
  }

  add(socket: Socket): void {
    const hasPlace = this.#taken < this.#places;
    if (hasPlace) this.#taken += 1;
    const connection = new ClientConnection(socket, this, hasPlace);
    this.#withoutHead.add(connection);
    socket.once('close', () => this.#remove(connection));
    if (this.#isHalfTaken) this.#watchBodies();
    if (this.#isPressed) this.#trimSoon();
  }

  /** Notes that the head of the request has arrived. */
  begin({ socket }: IncomingMessage, res: ServerResponse): void {
    const connection = connectionOf(socket);
    if (connection === undefined) return;
    if (connection.last === null) {
      this.#withoutHead.delete(connection);
      if (!socket.destroyed) this.#withHead.add(connection);
    }
    connection.last = res;
    connection.usedAt = performance.now();
    // The next request on this connection may need what is not free.
    if (!connection.hasPlace) res.shouldKeepAlive = false;
  }

  countDropped(): void {
    this.#refused['all-taken'] += 1;
  }

  /** Takes a place for a connection. @returns false if there is none */
  takePlace(connection: ClientConnection, projectId: string): boolean {
    if (connection.hasPlace) return true;
    const isFree = this.#taken < this.#places || this.#freePlaceFor(projectId);
    if (!isFree) {
      this.#refused['no-place'] += 1;
      return false;
    }
    connection.hasPlace = true;
    this.#taken += 1;
    return true;
  }

  close(): void {
    if (this.#slowBodyCheck !== null) clearTimeout(this.#slowBodyCheck);
  }

  get #open(): number {
    return this.#withoutHead.size + this.#withHead.size;
  }

  /** Connections beyond the limit whose heads are not read yet. */
  get #excess(): number {
    return this.#open - this.#maxConnections;
  }

  get #tooManyWithoutHead(): number {
    return this.#withoutHead.size - this.#maxWithoutHead;
  }

  /** True while many places are taken. While few are, connections without heads disturb nobody. */
  get #isPressed(): boolean {
    return this.#excess > 0 || (this.#isHalfTaken && this.#tooManyWithoutHead > 0);
  }

  get #isHalfTaken(): boolean {
    return this.#taken > this.#places / 2;
  }

  /** Watches bodies while more than half of the places are taken. */
  #watchBodies(): void {
    this.#slowBodyCheck ??= setTimeout(() => {
      this.#slowBodyCheck = null;
      if (!this.#isHalfTaken) return;
      this.#watchBodies();
      void this.#endSlowBodies();
    }, this.#bodyRate.measuredMs / checksOfRate).unref();
  }

  async #endSlowBodies(): Promise<void> {
    let ended = 0;
    for (const body of this.bodies.slowBodies(this.#bodyRate)) {
      if (!this.bodies.has(body)) continue;
      this.#endBody(body, 'body-slow', 'too-slow');
      ended += 1;
      // Each is answered in the same turn of the event loop.
      if (ended % maxEndedInTurn === 0) await nextTurn();
    }
  }

  #remove(connection: ClientConnection): void {
    if (connection.last === null) this.#withoutHead.delete(connection);
    else this.#withHead.delete(connection);
    this.#leavePlace(connection);
  }

  #leavePlace(connection: ClientConnection): void {
    if (connection.hasPlace) this.#taken -= 1;
    connection.hasPlace = false;
  }

  /** Closes connections after the heads that have arrived already are read, which takes one more turn. */
  #trimSoon(): void {
    if (this.#isTrimming) return;
    this.#isTrimming = true;
    setImmediate(() => setImmediate(() => this.#trim()));
  }

  /**
   * Closes the connections that have waited longest for a head, until enough places are free: who sends one immediately is not among them, however
   * many others connect. To refuse the new ones instead would keep everybody out for as long as the old ones may take.
   */
  #trim(): void {
    this.#isTrimming = false;
    const now = performance.now();
    for (const connection of oldestOf(this.#withoutHead, Math.min(this.#tooManyWithoutHead, maxTrimmedInTurn)))
      if (this.#isPressed && now - connection.usedAt > headMs) this.#close(connection, 'no-head');
    this.#closeExcess();
    if (!this.#isPressed) return;
    this.#isTrimming = true;
    setTimeout(() => this.#trim(), trimAgainMs).unref();
  }

  /** Closes what has no place and is answered, or has exceeded its time: none if much more may still come. */
  #closeExcess(): void {
    if (this.#excess <= 0) return;
    const now = this.#excess > this.#maxExcess / 2 ? Number.POSITIVE_INFINITY : performance.now();
    const answered = itemsOf(this.#withHead, ({ hasPlace, last }) => !hasPlace && isWritten(last));
    const late = itemsOf(this.#withoutHead, ({ usedAt }) => now - usedAt > scarceHeadMs);
    const asking = itemsOf(
      this.#withHead,
      ({ hasPlace, usedAt, last }) => !hasPlace && !isWritten(last) && now - usedAt > askingMs,
    );
    // These are served, so nothing is refused.
    for (const connection of answered) if (this.#excess > 0) this.#drop(connection);
    for (const connection of oldestFirst(late)) if (this.#excess > 0) this.#close(connection, 'no-head');
    for (const connection of oldestFirst(asking)) if (this.#excess > 0) this.#close(connection, 'no-place');
  }

  #close(connection: ClientConnection, reason: RefusalReason): void {
    this.#refused[reason] += 1;
    this.#drop(connection);
  }

  #drop(connection: ClientConnection): void {
    this.#remove(connection);
    connection.socket.destroy();
  }

  /**
   * @param minMs since its latest request began
   * @returns false if there is none
   */
  #closeIdle(minMs: number): boolean {
    const now = performance.now();
    const oldest = this.#oldestIdle(now);
    if (oldest === undefined || now - oldest.usedAt < minMs) return false;
    this.#close(oldest, 'idle');
    return true;
  }

  #oldestIdle(now: number): ClientConnection | undefined {
    this.#idle = oldestFirst(this.#idle.filter(isIdleInPlace));
    const [oldest] = this.#idle;
    // One that was used again since the search is newer than all that the search left out.
    if (oldest === undefined || oldest.usedAt > this.#searchedAt) this.#searchIdle(now);
    return this.#idle[0];
  }

  #searchIdle(now: number): void {
    if (!this.#isMoreIdle && now - this.#searchedAt < searchEveryMs) return;
    const idle = itemsOf(this.#withHead, isIdleInPlace);
    this.#idle = oldestFirst(idle).slice(0, maxRemembered);
    this.#searchedAt = now;
    // Beyond those that are remembered, more are found immediately.
    this.#isMoreIdle = idle.length > maxRemembered;
  }

  /** Ends what keeps another place; never for a project that has its share of unfinished bodies. */
  #freePlaceFor(projectId: string): boolean {
    if (this.bodies.hasShare(projectId, this.#places)) return false;
    return this.#closeWithoutHead() || this.#closeIdle(restMs) || this.#endNewestBody() || this.#closeIdle(0);
  }

  /** Closes the oldest connection with a place and without a head. @returns false if there are not too many of them */
  #closeWithoutHead(): boolean {
    if (this.#tooManyWithoutHead <= 0) return false;
    const [oldest] = oldestFirst(itemsOf(this.#withoutHead, ({ hasPlace }) => hasPlace));
    if (oldest === undefined) return false;
    this.#close(oldest, 'no-head');
    return true;
  }

  /** @returns false if no project exceeds its share */
  #endNewestBody(): boolean {
    const body = this.bodies.newestBeyondShare(this.#places);
    if (body === null) return false;
    this.#endBody(body, 'body-ended', 'gave-way');
    return true;
  }

  /** Ends a body. Its connection no longer has a place: it is answered, and closes. */
  #endBody(body: ArrivingBody, reason: RefusalReason, how: Arrival): void {
    const connection = connectionOf(body.req.socket);
    if (connection === undefined) return;
    this.#refused[reason] += 1;
    this.#leavePlace(connection);
    if (connection.last !== null) connection.last.shouldKeepAlive = false;
    this.bodies.finish(body);
    body.end(how);
  }
}

function isIdleInPlace({ hasPlace, isIdle }: ClientConnection): boolean {
  return hasPlace && isIdle;
}

/** Whether an answer waits for nothing but the end of its connection. */
function isWritten(answer: ServerResponse | null): boolean {
  return answer?.headersSent === true && answer.writableLength === 0;
}

function itemsOf(
  connections: ReadonlySet<ClientConnection>,
  fits: (connection: ClientConnection) => boolean,
): ClientConnection[] {
  return [...connections].filter(fits);
}

function oldestOf(connections: ReadonlySet<ClientConnection>, count: number): ReadonlyArray<ClientConnection> {
  return count <= 0 ? [] : oldestFirst([...connections]).slice(0, count);
}

function oldestFirst(connections: ClientConnection[]): ClientConnection[] {
  return connections.sort((one, other) => one.usedAt - other.usedAt);
}

/** What the connections of a server share. */
export interface ConnectionPlaces {
  readonly bodies: ArrivingBodies;
  readonly takePlace: (connection: ClientConnection, projectId: string) => boolean;
}

const known = new WeakMap<Socket, ClientConnection>();

export class ClientConnection {
  readonly socket: Socket;
  readonly all: ConnectionPlaces;
  /** Whether it may do more than ask for the state of the node. */
  hasPlace: boolean;
  /** The start of the connection, or of its latest request, on `performance.now()`'s clock. */
  usedAt = performance.now();
  /** The answer to its latest request; null before its first complete head. */
  last: ServerResponse | null = null;

  constructor(socket: Socket, all: ConnectionPlaces, hasPlace: boolean) {
    this.socket = socket;
    this.all = all;
    this.hasPlace = hasPlace;
    known.set(socket, this);
  }

  /** Whether all of its requests are answered. */
  get isIdle(): boolean {
    return this.last?.writableFinished === true;
  }
}

/** The connection; undefined outside of a server with limits. */
export function connectionOf(socket: Socket): ClientConnection | undefined {
  return known.get(socket);
}

/** The answer to the latest request of a connection; undefined before the first one. */
export function lastAnswerOn(socket: Socket): ServerResponse | undefined {
  return known.get(socket)?.last ?? undefined;
}

/** True if all places were taken when its connection began. */
export function isWithoutPlace({ socket }: IncomingMessage): boolean {
  return known.get(socket)?.hasPlace === false;
}

/**
 * Takes a place for a request without one. It is answered as others are, and its connection ends with the answer.
 * @returns false if there is none
 */
export function takePlace({ socket }: IncomingMessage, projectId: string): boolean {
  const connection = known.get(socket);
  return connection === undefined || connection.all.takePlace(connection, projectId);
}

/** The arriving bodies; null outside of a server with limits. */
export function arrivingBodiesBeside({ socket }: IncomingMessage): ArrivingBodies | null {
  return known.get(socket)?.all.bodies ?? null;
}
