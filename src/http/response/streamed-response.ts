import type { ServerResponse } from 'node:http';
import type { TextStream } from '#exchange/client.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import type { RequestContext } from '#http/request/request-context.ts';
import { apiSecurityHeaders, noStoreHeaders, startResponse } from './response.ts';

/**
 * Writes a stream as fast as the client reads it.
 * @param onFailure gets the error that interrupted the answer; a client that leaves is not an error
 */
export async function writeStream(
  { ctx, limitHeaders, ignoredHeaders }: RequestContext,
  { contentType, chunks }: TextStream,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...limitHeaders, ...ignoredHeaders];
  if (!startResponse(ctx, 200, [...fields, 'Content-Type', contentType, 'Vary', 'Accept'])) return;
  if (ctx.req.method === 'HEAD') {
    ctx.res.end();
    return;
  }
  try {
    await writePieces(ctx.res, chunks);
  } catch (error) {
    if (!(error instanceof ClientDisconnectedError)) onFailure(error);
  }
}

/**
 * Writes pieces. The head is written already, and the answer ends here. The next piece is made when the socket has
 * taken the one before, so that an unread answer holds one piece. If the client leaves, the pieces end.
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
