import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ArrivingBodies } from './arriving-bodies.ts';

/** What the connections of a server share. */
export interface ConnectionPlaces {
  readonly bodies: ArrivingBodies;
  readonly takePlace: (connection: Connection, projectId: string) => boolean;
}

const known = new WeakMap<Socket, Connection>();

/** A connection of a client. */
export class Connection {
  readonly socket: Socket;
  readonly all: ConnectionPlaces;
  /** Whether it may do more than ask for the state of the node. */
  hasPlace: boolean;
  /** When it began, or its latest request did, on `performance.now()`'s clock. */
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

/** The connection of a socket; undefined outside of a server with limits. */
export function connectionOf(socket: Socket): Connection | undefined {
  return known.get(socket);
}

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
