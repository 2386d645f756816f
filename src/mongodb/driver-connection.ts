import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import { MongoNetworkError } from 'mongodb';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { CallScope } from './call-scope.ts';
import { isMongoDbAnswer } from './mongodb-failure.ts';

/** An answer of the server, even a refusal. */
export interface ServerAnswer {
  readonly tookMs: number;
  /** True if it answers a ping, or a step of the handshake of a connection. */
  readonly isSmall: boolean;
}

/** It never throws. */
export type OnAnswer = (answer: ServerAnswer) => void;

type ConnectionClass = new (stream: Duplex, options: object) => ConnectionOfDriver;

interface ConnectionOfDriver {
  /** A number; a text for a connection that monitors its server. */
  readonly id: unknown;
  /** True when the handshake is over. */
  readonly established: boolean;
  command(namespace: object, command: object, options: object, answerType?: unknown): Promise<unknown>;
}

// The driver exports this class as a type only.
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  readonly Connection: ConnectionClass;
};

/**
 * A connection of the driver whose writes end when it is closed. The driver (7.9.0) waits until a stream drains, and a
 * stream that is closed meanwhile never does: its call would never end and keep its place in the pool, and a
 * monitor would never check its server again. For a call that is over it only closes cursors. It is closed when it is
 * silent for too long for the call.
 */
export class DriverConnection extends Connection {
  constructor(stream: Duplex, options: object) {
    super(stream, options);
    endWritesWhenClosed(stream);
  }

  override command(namespace: object, command: object, options: object, answerType?: unknown): Promise<unknown> {
    // A handshake or a monitor belongs to no call, although it begins during one.
    const scope = this.established && typeof this.id === 'number' ? CallScope.current : undefined;
    if (scope === undefined) return super.command(namespace, command, options, answerType);
    // The server keeps a cursor that nobody closes for ten minutes.
    const isSent = !scope.isOver || 'killCursors' in command;
    if (!isSent) return Promise.reject(new UnavailableError('The call is over.'));
    return super.command(namespace, command, { ...options, socketTimeoutMS: scope.maxSilenceMs }, answerType);
  }
}

/** After each write the driver checks whether its connection is closed, and throws the cause. */
function endWritesWhenClosed(stream: Duplex): void {
  const write: (bytes: Uint8Array) => boolean = stream.write.bind(stream);
  stream.write = (bytes: Uint8Array) => {
    // The stream may have been closed since the driver's last check.
    if (stream.destroyed) throw new MongoNetworkError('The connection is closed');
    return write(bytes);
  };
  stream.once('close', () => stream.emit('drain'));
}

export function connectionTypeFor(onAnswer: OnAnswer): typeof DriverConnection {
  return class extends DriverConnection {
    override async command(namespace: object, command: object, options: object, answerType?: unknown) {
      // A monitor's server keeps its answer back until something changes.
      if (typeof this.id !== 'number') return super.command(namespace, command, options, answerType);
      const isSmall = !this.established || 'ping' in command;
      const askedAt = clock.now();
      const answered = () => onAnswer({ tookMs: clock.now() - askedAt, isSmall });
      try {
        const answer = await super.command(namespace, command, options, answerType);
        answered();
        return answer;
      } catch (error) {
        if (isMongoDbAnswer(error)) answered();
        throw error;
      }
    }
  };
}
