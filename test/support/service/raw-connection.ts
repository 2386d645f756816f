import { connect, type Socket } from 'node:net';

/** A connection on which a test writes and reads any bytes. */
export class RawConnection {
  /** Resolves with the connection. A connection that reads nothing does not see that before it reads. */
  readonly closed: Promise<void>;
  protected readonly socket: Socket;

  /** @param onPiece gets each piece that was read */
  constructor(port: number, onPiece: (piece: Buffer) => void) {
    this.socket = connect(port, '127.0.0.1').setNoDelay(true);
    this.socket.on('data', onPiece);
    // Writes fail after the server has closed the connection.
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  /** Sends any bytes. */
  write(bytes: Buffer | string): void {
    this.socket.write(bytes);
  }

  leave(): void {
    this.socket.destroy();
  }
}
