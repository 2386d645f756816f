import { createRequire } from 'node:module';
import type { Duplex } from 'node:stream';
import { MongoNetworkError } from 'mongodb';

type ConnectionClass = new (stream: Duplex, options: object) => object;

// The driver exports this class as a type only.
const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  readonly Connection: ConnectionClass;
};

/**
 * A connection of the driver whose writes end when it is closed. The driver (7.9.0) waits until a stream drains, and a
 * stream that is closed meanwhile never does: its call would never end and keep its place in the pool, and a
 * monitor would never check its server again. Clients use it as their `connectionType`.
 */
export class DriverConnection extends Connection {
  constructor(stream: Duplex, options: object) {
    super(stream, options);
    endWritesWhenClosed(stream);
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
