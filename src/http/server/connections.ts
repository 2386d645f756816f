import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failure } from '#domain/shared/failure.ts';
import type { Arrival } from '#exchange/body-source.ts';
import { ArrivingBodies, type ArrivingBody, type BodyRate } from '#http/request/arriving-bodies.ts';
import { UnorderedList, type UnorderedListItem } from '#shared/memory/unordered-list.ts';

/** The paths that the reserved connections answer. */
export const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/**
 * Why a connection is not served or ends early: all are taken; too many have no complete head; its request got no place;
 * it was idle; its unfinished body made room for another project; its body came too slowly.
 */
export const refusalReasons = ['all-taken', 'no-head', 'no-place', 'idle', 'body-ended', 'body-slow'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** What an operator sees of the connections. */
export interface ConnectionFigures {
  readonly open: number;
  readonly withoutHead: number;
  readonly arrivingBodies: number;
  readonly refused: Readonly<Record<RefusalReason, number>>;
}

/** The failure of a request for which no connection is left. */
export const connectionsFull = failure(
  'connections-full',
  'All connections that this node may have are taken. Try again later, or at another node.',
  { retryAfterSeconds: 1 },
);

/** A connection of a client. */
class Connection implements UnorderedListItem {
  /** For the list of connections with, or without, a complete head. */
  listIndex: number | null = null;
  readonly socket: Socket;
  readonly all: Connections;
  /** Whether it may do more than ask for the state of the node. */
  hasPlace: boolean;
  /** Lower for one that has rested, or has had no head, for longer. */
  turn: number;
  /** The answer to its latest request; null before its first complete head. */
  last: ServerResponse | null = null;

  constructor(socket: Socket, all: Connections, hasPlace: boolean, turn: number) {
    this.socket = socket;
    this.all = all;
    this.hasPlace = hasPlace;
    this.turn = turn;
  }

  /** Whether all of its requests are answered. */
  get isIdle(): boolean {
    return this.last?.writableFinished === true;
  }
}

const known = new WeakMap<Socket, Connection>();

/** The answer to the latest request of a connection; undefined before the first one. */
export function lastAnswerOn(socket: Socket): ServerResponse | undefined {
  return known.get(socket)?.last ?? undefined;
}

/** Whether a request waits for a place: all were taken when its connection began. */
export function isWithoutPlace({ socket }: IncomingMessage): boolean {
  return known.get(socket)?.hasPlace === false;
}

/**
 * Takes a place for a request that has none. It is answered as others are, and its connection ends with the answer.
 * @param projectId whose request it is
 * @returns false if there is none
 */
export function takePlace({ socket }: IncomingMessage, projectId: string): boolean {
  const connection = known.get(socket);
  return connection === undefined || connection.all.takePlace(connection, projectId);
}

/** The bodies that arrive at the server of a request; null outside of a server with limits. */
export function arrivingBodiesBeside({ socket }: IncomingMessage): ArrivingBodies | null {
  return known.get(socket)?.all.bodies ?? null;
}

/** The default of the least rate of a body. */
export const defaultBodyRate: BodyRate = { minBytesPerSecond: 1_024, measuredMs: 30_000 };
/** How often slow bodies are searched for in the time in which their rate is measured. */
const checksOfRate = 6;
const maxReserved = 32;
/** The share of connections that may have no complete head, and the largest share that is reserved for health checks. */
const tenth = 10;
/** Idle connections are searched for this often at most, and this many are remembered. */
const searchEveryMs = 50;
const maxRemembered = 64;
/** How soon the reserved connections are looked at again when none could be freed. */
const trimAgainMs = 20;

/**
 * The connections of a server. All but a few are places, in which any request is answered. A connection beyond them is
 * read up to its first head: by then it is known whose it is, and whether it asks only for the state of the node.
 */
export class Connections {
  readonly bodies = new ArrivingBodies();
  readonly #maxConnections: number;
  readonly #reserved: number;
  readonly #places: number;
  readonly #maxWithoutHead: number;
  readonly #bodyRate: BodyRate;
  readonly #withoutHead = new UnorderedList<Connection>();
  readonly #withHead = new UnorderedList<Connection>();
  readonly #refused = Object.fromEntries(refusalReasons.map((reason) => [reason, 0])) as Record<RefusalReason, number>;
  #taken = 0;
  #turns = 0;
  #isTrimming = false;
  #slowBodyCheck: NodeJS.Timeout | null = null;
  /** The newest first. */
  #idle: Connection[] = [];
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(maxConnections: number, rate: BodyRate) {
    const share = Math.floor(maxConnections / tenth);
    this.#maxConnections = maxConnections;
    this.#reserved = Math.min(maxReserved, share);
    this.#places = maxConnections - this.#reserved;
    this.#maxWithoutHead = Math.max(1, share);
    this.#bodyRate = rate;
  }

  get figures(): ConnectionFigures {
    return {
      open: this.#open,
      withoutHead: this.#withoutHead.size,
      arrivingBodies: this.bodies.size,
      refused: this.#refused,
    };
  }

  /** Notes a new connection. */
  add(socket: Socket): void {
    const hasPlace = this.#taken < this.#places;
    if (hasPlace) this.#taken += 1;
    const connection = new Connection(socket, this, hasPlace, this.#nextTurn());
    known.set(socket, connection);
    this.#withoutHead.add(connection);
    socket.once('close', () => this.#remove(connection));
    if (this.#isHalfTaken) this.#watchBodies();
    if (this.#withoutHead.size > this.#maxWithoutHead || this.#inReserve > 0) this.#trimSoon();
  }

  /** Notes that the head of a request has arrived. */
  begin({ socket }: IncomingMessage, res: ServerResponse): void {
    const connection = known.get(socket);
    if (connection === undefined) return;
    if (connection.last === null) {
      this.#withoutHead.remove(connection);
      if (!socket.destroyed) this.#withHead.add(connection);
    }
    connection.last = res;
    connection.turn = this.#nextTurn();
    // The next connection may need what it has.
    if (!connection.hasPlace) res.shouldKeepAlive = false;
  }

  /** Notes a connection that was closed because all are taken. */
  countDropped(): void {
    this.#refused['all-taken'] += 1;
  }

  /** Only for `takePlace`. */
  takePlace(connection: Connection, projectId: string): boolean {
    if (connection.hasPlace) return true;
    const isFree = this.#taken < this.#places || this.#closeIdle() || this.#endBodyFor(projectId);
    if (!isFree) {
      this.#refused['no-place'] += 1;
      return false;
    }
    connection.hasPlace = true;
    this.#taken += 1;
    return true;
  }

  /** Stops looking for slow bodies. */
  close(): void {
    if (this.#slowBodyCheck !== null) clearTimeout(this.#slowBodyCheck);
  }

  get #open(): number {
    return this.#withoutHead.size + this.#withHead.size;
  }

  /** The connections that take more than half of what is reserved, so that a health check may soon find none. */
  get #inReserve(): number {
    if (this.#reserved === 0) return 0;
    return this.#open - (this.#maxConnections - Math.ceil(this.#reserved / 2));
  }

  get #isHalfTaken(): boolean {
    return this.#taken > this.#places / 2;
  }

  /** Ends slow bodies from time to time, while more than half of the places are taken. */
  #watchBodies(): void {
    this.#slowBodyCheck ??= setTimeout(() => {
      this.#slowBodyCheck = null;
      if (!this.#isHalfTaken) return;
      for (const body of this.bodies.slowBodies(this.#bodyRate)) this.#endBody(body, 'body-slow', 'too-slow');
      this.#watchBodies();
    }, this.#bodyRate.measuredMs / checksOfRate).unref();
  }

  #nextTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }

  #remove(connection: Connection): void {
    if (connection.last === null) this.#withoutHead.remove(connection);
    else this.#withHead.remove(connection);
    this.#leavePlace(connection);
  }

  #leavePlace(connection: Connection): void {
    if (connection.hasPlace) this.#taken -= 1;
    connection.hasPlace = false;
  }

  /** Closes connections after the heads that have arrived already are read, which takes one more turn. */
  #trimSoon(): void {
    if (this.#isTrimming) return;
    this.#isTrimming = true;
    setImmediate(() => setImmediate(() => this.#trim(false)));
  }

  /**
   * Closes the connections that have waited longest for a head: who sends one immediately is not among them, however
   * many others connect. To refuse the new ones instead would keep everybody out for as long as the old ones may take.
   * @param isAgain whether the reserved connections are taken for some time: then what has no place is not waited for
   */
  #trim(isAgain: boolean): void {
    this.#isTrimming = false;
    const tooMany = this.#withoutHead.size - this.#maxWithoutHead;
    for (const connection of oldestOf(this.#withoutHead, tooMany)) this.#close(connection, 'no-head');
    const answered = itemsOf(this.#withHead, ({ hasPlace, last }) => !hasPlace && (isAgain || isWritten(last)));
    for (const connection of oldestFirst(answered).slice(0, Math.max(0, this.#inReserve)))
      this.#close(connection, 'no-place');
    for (const connection of oldestOf(this.#withoutHead, this.#inReserve)) this.#close(connection, 'no-head');
    if (this.#inReserve <= 0) return;
    this.#isTrimming = true;
    setTimeout(() => this.#trim(true), trimAgainMs).unref();
  }

  #close(connection: Connection, reason: RefusalReason): void {
    this.#refused[reason] += 1;
    this.#remove(connection);
    connection.socket.destroy();
  }

  /** Closes the connection that has been idle for longest. @returns false if none is idle */
  #closeIdle(): boolean {
    if (this.#idle.length === 0) this.#searchIdle();
    for (let oldest = this.#idle.pop(); oldest !== undefined; oldest = this.#idle.pop()) {
      if (!oldest.hasPlace || !oldest.isIdle) continue;
      this.#close(oldest, 'idle');
      return true;
    }
    return false;
  }

  #searchIdle(): void {
    const now = performance.now();
    if (now - this.#searchedAt < searchEveryMs) return;
    this.#searchedAt = now;
    const idle = itemsOf(this.#withHead, ({ hasPlace, isIdle }) => hasPlace && isIdle);
    this.#idle = oldestFirst(idle).slice(0, maxRemembered).reverse();
  }

  /** Ends an unfinished body for a project. Its connection is answered, and closes. @returns false if none has to end */
  #endBodyFor(projectId: string): boolean {
    const body = this.bodies.newestBeyondShare(projectId, this.#places);
    const connection = body === null ? undefined : known.get(body.req.socket);
    if (body === null || connection === undefined) return false;
    this.#leavePlace(connection);
    this.#endBody(body, 'body-ended', 'gave-way');
    return true;
  }

  #endBody(body: ArrivingBody, reason: RefusalReason, how: Arrival): void {
    this.#refused[reason] += 1;
    const last = lastAnswerOn(body.req.socket);
    if (last !== undefined) last.shouldKeepAlive = false;
    this.bodies.finish(body);
    body.end(how);
  }
}

/** Whether an answer waits for nothing but the end of its connection. */
function isWritten(answer: ServerResponse | null): boolean {
  return answer?.headersSent === true && answer.writableLength === 0;
}

function itemsOf(list: UnorderedList<Connection>, fits: (connection: Connection) => boolean): Connection[] {
  const found: Connection[] = [];
  list.visit((connection) => {
    if (fits(connection)) found.push(connection);
  });
  return found;
}

function oldestOf(list: UnorderedList<Connection>, count: number): ReadonlyArray<Connection> {
  return count <= 0 ? [] : oldestFirst(itemsOf(list, () => true)).slice(0, count);
}

function oldestFirst(connections: Connection[]): Connection[] {
  return connections.sort((one, other) => one.turn - other.turn);
}
