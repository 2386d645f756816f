import type { Socket } from 'node:net';

/**
 * Resets a connection. Node 24 may never close a socket that is reset while bytes or its end are being sent, so such a
 * socket is only closed.
 */
export function resetConnection(socket: Socket): void {
  if (socket.writableEnded || socket.writableLength > 0) socket.destroy();
  else socket.resetAndDestroy();
}
