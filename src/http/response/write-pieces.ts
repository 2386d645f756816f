import type { ServerResponse } from 'node:http';

/**
 * Writes the pieces of an answer that has begun, and ends it. The next piece is made when the socket has taken the one
 * before, so that an unread answer holds one piece. If the client leaves, the pieces end.
 * @throws what the pieces throw; the connection is then closed, so that a part does not look like the whole
 */
export async function writePieces(res: ServerResponse, pieces: AsyncIterable<string | Uint8Array>): Promise<void> {
  let onLeft = ignore;
  const onClose = () => onLeft();
  res.once('close', onClose);
  const isTaken = (piece: string | Uint8Array) =>
    new Promise<boolean>((resolve) => {
      onLeft = () => resolve(false);
      res.write(piece, (error) => resolve(error === null || error === undefined));
    });
  try {
    for await (const piece of pieces) {
      if (res.destroyed) return;
      // An empty piece would end a chunked answer.
      if (piece.length > 0 && !(await isTaken(piece))) return;
    }
    res.end();
  } catch (error) {
    res.destroy();
    throw error;
  } finally {
    res.off('close', onClose);
  }
}

function ignore(): void {}
