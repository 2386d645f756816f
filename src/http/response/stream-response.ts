import type { TextStream } from '#application/responses/text-stream.ts';
import type { RequestContext } from '#http/server/request-context.ts';
import { apiSecurityHeaders, noStoreHeaders, startResponse } from './response.ts';
import { writePieces } from './write-pieces.ts';

/**
 * Writes an answer piece by piece, as fast as the client reads it.
 * @param onFailure gets the error that interrupted the answer; a client that leaves is not an error
 */
export async function writeStream(
  { ctx, limitFields }: RequestContext,
  { contentType, chunks }: TextStream,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...limitFields];
  if (!startResponse(ctx, 200, [...fields, 'Content-Type', contentType, 'Vary', 'Accept'])) return;
  if (ctx.req.method === 'HEAD') {
    ctx.res.end();
    return;
  }
  try {
    await writePieces(ctx.res, chunks);
  } catch (error) {
    onFailure(error);
  }
}
